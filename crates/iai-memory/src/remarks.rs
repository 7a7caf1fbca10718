//! Sentences that hold beyond their session: preferences, what takes them back, decisions, and what
//! somebody asked to be kept. Found in new memories by a quiet step, and told at the beginning of
//! the next session.

pub(crate) mod open;
mod orders;
mod pasted;
mod phrase;
mod placed;
mod plain;
mod put_off;
mod reach;
mod rules;
mod sentences;
mod sequels;
mod stops;
mod verdicts;
mod waivers;
mod wishes;

use std::ops::Range;

use iai_store::{
    Memory, MemoryId, MemoryNumber, NewRemark, Reach, Reader, RemarkKind, Role, StepProgress,
};
use serde_json::{Value, json};

use open::n_telling;
pub(crate) use orders::languages_wanted;
pub(crate) use phrase::{Wording, is_one_of};
use placed::Place;
use put_off::{PutOff, PutOffAt};
pub(crate) use reach::is_of_one_place;
pub(crate) use rules::is_remember_request;
pub(crate) use sentences::{beginning, sentences};
pub(crate) use sequels::{FindSequels, compared_up_to, is_compared};
pub(crate) use stops::is_abbreviated;
use waivers::waived_by;
pub(crate) use waivers::{Waived, waived_in};

use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::ingest::{PAGE_HOST, TERMINAL_HOST, TOOL_HOST};
use crate::organise::{Advance, Due, Effects, Shift, Step};
use rules::Speaker;

/// Remarks of one memory; a text with more is a document, not something somebody said.
const REMARKS_MAX: usize = 4;
/// Of these beside them, which are held against what was remarked before.
const WAIVERS_MAX: usize = 2;
/// Remarks of adjoining sentences are one, up to here.
const REMARK_BYTES_MAX: usize = 200;
/// A decision that tells fewer words is told with the sentence before it.
const TELLING_MIN: usize = 3;
/// Where a reply picks something.
const PICKING_SENTENCES: usize = 2;
/// A longer reply tells more than what it picks.
const REPLY_BYTES_MAX: usize = 600;
/// What any wish may be about; one of these alone ties nothing.
pub(crate) const ANY_WISH: &str = "\
     ask|run|add|write|tell|show|check|work|code|file|change|time|start|call|commit|test|answer|\
     repo|repository|repositories|project|everywhere|anywhere|nobody|everybody|anybody|general|\
     rule|agre|decid|first|stay|fragen|frage|schreib|schreiben|zeig|zeigen|prüfen|datei|dateien|\
     preguntar|escribe|archivo|спрашивай|пиши|demande|fichier";
/// Letters of a word without its ending.
const STEM_LETTERS_MIN: usize = 3;
/// Memories looked at in one transaction …
const MEMORIES_PER_ADVANCE: usize = 256;
/// … and bytes of text.
const BYTES_PER_ADVANCE: usize = 4 * 1024 * 1024;
/// The version of the rules: with others, everything is looked at again.
const RULES: u64 = 15;

/// Returns the remarks of a memory, as far as its own words show them.
pub(crate) fn remarks_of(memory: &Memory) -> Vec<NewRemark> {
    remarks_after(None, memory)
}

/// Returns the remarks of a memory that follows another in the same talk: "moka then" decides
/// something only behind what was proposed.
pub(crate) fn remarks_after(before: Option<&Memory>, memory: &Memory) -> Vec<NewRemark> {
    let speaker = match memory.role {
        Role::User => Speaker::User,
        Role::Assistant => Speaker::Assistant,
        Role::System => return Vec::new(),
    };
    if !is_spoken(memory) {
        return Vec::new();
    }
    let is_by_hand = [TOOL_HOST, PAGE_HOST, TERMINAL_HOST].contains(&memory.host.as_str());
    let mut ranges = sentences(&memory.text);
    if speaker == Speaker::User && !is_by_hand {
        ranges = pasted::said_of(&memory.text, ranges);
    }
    let project = memory.project.as_deref().filter(|_| speaker == Speaker::User);
    let place = project.and_then(Place::of);
    let mut found = stated_in(&memory.text, &ranges, (speaker, place.as_ref()));
    let picked = picked(before, memory, &ranges).filter(|pick| {
        speaker == Speaker::User && found.iter().all(|own| own.start_byte != pick.start_byte)
    });
    found.extend(picked);
    found.truncate(REMARKS_MAX);
    if let (true, Some(first)) = (found.is_empty() && is_by_hand, ranges.first()) {
        let end_byte = ranges.last().map_or(first.end, |last| last.end);
        let (kind, words) = (RemarkKind::Kept, words_hash(&memory.text));
        found.push(remark(kind, first.start..end_byte, words));
    }
    if speaker == Speaker::User {
        found.extend(waivers_in(&memory.text, &ranges));
        found.extend(put_off::put_off_in(&memory.text, &ranges));
        reach::spread(&mut found, (&memory.text, &ranges), place.as_ref());
    }
    found
}

/// Returns what the sentences of a text state for longer than their session.
fn stated_in(
    text: &str,
    ranges: &[Range<usize>],
    (speaker, place): (Speaker, Option<&Place>),
) -> Vec<NewRemark> {
    let mut found: Vec<NewRemark> = Vec::new();
    let said = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
    let between = |before: &Range<usize>, range: &Range<usize>| said(&(before.end..range.start));
    for (idx, range) in ranges.iter().enumerate() {
        // What is beyond is not kept, and a text may have thousands.
        if REMARKS_MAX < found.len() {
            break;
        }
        let before = idx.checked_sub(1).and_then(|before| ranges.get(before));
        let sentence = said(range);
        let is_of_place = || place.is_some_and(|place| place.is_ruled_by(sentence));
        let is_user = speaker == Speaker::User;
        let kind = match kind_of(sentence, speaker) {
            Some(Stated::Remark(kind)) => kind,
            Some(Stated::Seal(seal)) => {
                // On the same line or the next one: further down it answers somebody.
                let is_near =
                    |before: &&Range<usize>| between(before, range).matches('\n').count() <= 1;
                sealed(&mut found, text, (before.filter(is_near), range), seal);
                continue;
            }
            None if is_of_place() || is_user && plain::is_announced(text, ranges, idx) => {
                RemarkKind::Preference
            }
            None => {
                if let Some(wish) = found.last_mut().filter(|last| {
                    last.kind == RemarkKind::Preference
                        && plain::goes_on_with_a_wish(sentence)
                        && goes_on(last, before, range)
                }) {
                    wish.end_byte = range.end;
                }
                continue;
            }
        };
        // On one line with nothing between them.
        let is_joined =
            |before: &&Range<usize>| between(before, range).trim_matches(' ').is_empty();
        let before = before.filter(is_joined);
        let points_back = rules::points_back(sentence);
        // Two wishes in a row stay two, because one of them may be taken back; but what tells
        // hardly anything belongs to the one before: "no deploys on Fridays. don't suggest any".
        let tells_little =
            || n_telling(sentence) < TELLING_MIN && !reach::holds_everywhere(sentence);
        let may_go_on = points_back || kind == RemarkKind::Decision || tells_little();
        let last = found.last_mut().filter(|last| may_go_on && last.kind == kind);
        if let Some(last) = last.filter(|last| goes_on(last, before, range)) {
            last.end_byte = range.end;
            continue;
        }
        let needs_more =
            points_back || kind == RemarkKind::Decision && n_telling(sentence) < TELLING_MIN;
        let is_told = |before: &Range<usize>| {
            found.iter().any(|own| own.kind == kind && own.end_byte == before.end)
        };
        let before = before.filter(|before| needs_more && !is_told(before));
        let start_byte = before.unwrap_or(range).start;
        let words = words_hash(sentence);
        found.push(remark(kind, start_byte..range.end, words));
    }
    found
}

/// Tells whether a remark goes on in the next sentence, and is not too long for that: "moka. no
/// redis, same reason as last time."
fn goes_on(remark: &NewRemark, before: Option<&Range<usize>>, next: &Range<usize>) -> bool {
    before.is_some_and(|before| before.end == remark.end_byte)
        && next.end - remark.start_byte <= REMARK_BYTES_MAX
}

/// What a sentence says by itself.
enum Stated {
    /// Something that holds beyond its session.
    Remark(RemarkKind),
    /// That the sentence before it does.
    Seal(Seal),
}

/// What somebody says of the sentence before.
#[derive(Clone, Copy)]
enum Seal {
    /// "Decided."
    Decided,
    /// "Always.", "Never."
    EveryTime,
}

fn kind_of(sentence: &str, speaker: Speaker) -> Option<Stated> {
    let is_user = speaker == Speaker::User;
    if is_user && wishes::is_preference(sentence) {
        Some(Stated::Remark(RemarkKind::Preference))
    } else if rules::is_decision(sentence, speaker) {
        Some(Stated::Remark(RemarkKind::Decision))
    } else if is_user && rules::is_only_a_seal(sentence) {
        Some(Stated::Seal(Seal::Decided))
    } else if is_user && orders::is_only_a_seal(sentence) {
        Some(Stated::Seal(Seal::EveryTime))
    } else {
        None
    }
}

/// Returns the sentence at the beginning of a reply that picks or refuses what the assistant
/// proposed.
fn picked(before: Option<&Memory>, memory: &Memory, ranges: &[Range<usize>]) -> Option<NewRemark> {
    let proposal = before.filter(|before| {
        before.role == Role::Assistant
            && before.session == memory.session
            && before.project == memory.project
            && is_spoken(before)
            && memory.text.len() <= REPLY_BYTES_MAX
    });
    let proposal = proposal?;
    let said = |range: &Range<usize>| memory.text.get(range.clone()).unwrap_or_default();
    // Further down, a list or an output is pasted.
    let is_first_line = |range: &&Range<usize>| {
        !memory.text.get(..range.start).unwrap_or_default().trim_start().contains('\n')
    };
    let first = ranges.iter().take(PICKING_SENTENCES).filter(is_first_line);
    // Behind a question nothing is picked: it has to be answered first.
    let mut first = first.take_while(|range| !Wording::of(said(range)).is_question);
    let first = first.find(|range| verdicts::picks(&proposal.text, said(range)));
    first.map(|range| {
        let words = words_hash(memory.text.get(range.clone()).unwrap_or_default());
        let kind = RemarkKind::Decision;
        remark(kind, range.start..range.end, words)
    })
}

/// Returns what takes something back, each with the sentences behind it that go on with it or say
/// what is left: "You can do that yourself from now on. Only ask for prod."
fn waivers_in(text: &str, ranges: &[Range<usize>]) -> Vec<NewRemark> {
    let said = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
    let is_one = |range: &Range<usize>| waived_by(said(range)).is_some();
    let is_near = |first: &Range<usize>, next: &Range<usize>| {
        next.end - first.start <= REMARK_BYTES_MAX && !said(&(first.end..next.start)).contains('\n')
    };
    let mut found: Vec<NewRemark> = Vec::new();
    for (place, range) in ranges.iter().enumerate() {
        let told_up_to = found.last().map_or(0, |last| last.end_byte);
        if found.len() == WAIVERS_MAX || range.start < told_up_to || !is_one(range) {
            continue;
        }
        let before = place.checked_sub(1).and_then(|before| ranges.get(before));
        let before = before.filter(|before| is_near(before, range) && told_up_to <= before.start);
        let first = before.filter(|_| waivers::is_rest(said(range))).unwrap_or(range);
        let behind = ranges.iter().skip(place + 1);
        let behind = behind.take_while(|next| {
            is_near(first, next) && (is_one(next) || waivers::is_rest(said(next)))
        });
        let end_byte = behind.last().unwrap_or(range).end;
        let (kind, words) = (RemarkKind::Waiver, words_hash(said(range)));
        found.push(remark(kind, first.start..end_byte, words));
    }
    found
}

/// Takes the sentence before "Decided." as what was decided, and the one before "Always." or
/// "Never." with that word as what is wished, unless it is a remark anyway.
fn sealed(
    found: &mut Vec<NewRemark>,
    text: &str,
    (before, range): (Option<&Range<usize>>, &Range<usize>),
    seal: Seal,
) {
    let Some(before) = before else { return };
    let sentence = text.get(before.clone()).unwrap_or_default();
    if found.iter().any(|own| own.end_byte == before.end) {
        return;
    }
    let (can_be, kind, end_byte) = match seal {
        Seal::Decided => (rules::can_be_sealed(sentence), RemarkKind::Decision, before.end),
        Seal::EveryTime => {
            let seal = text.get(range.clone()).unwrap_or_default();
            (orders::can_be_sealed(sentence, seal), RemarkKind::Preference, range.end)
        }
    };
    // "You may push branches now. Never main. All repos." is one.
    let is_right_behind =
        |own: &&mut NewRemark| text.get(own.end_byte..before.start).is_some_and(|gap| gap == " ");
    let wish = found.last_mut().filter(|own| own.kind == RemarkKind::Preference);
    if let Some(wish) = wish.filter(is_right_behind)
        && can_be
        && n_telling(sentence) < TELLING_MIN
        && range.end - wish.start_byte <= REMARK_BYTES_MAX
    {
        wish.end_byte = range.end;
        return;
    }
    if can_be {
        let words = words_hash(sentence);
        found.push(remark(kind, before.start..end_byte, words));
    }
}

/// Tells whether the user and their assistant said it to each other; what a sub-agent was told and
/// answered is not part of the conversation.
pub(crate) fn is_spoken(memory: &Memory) -> bool {
    memory.provenance.get("subagent").is_none()
}

/// Returns a word without its ending.
pub(crate) fn stem(word: &str) -> &str {
    let is_no_plural = word.ends_with("ss") || word.ends_with("us");
    let endings = if is_no_plural { &["ing", "ed"][..] } else { &["ing", "ed", "s"] };
    let stems = endings.iter().filter_map(|ending| word.strip_suffix(ending));
    stems
        .filter(|stem| STEM_LETTERS_MIN <= stem.len())
        .min_by_key(|stem| stem.len())
        .unwrap_or(word)
}

fn remark(kind: RemarkKind, range: Range<usize>, words: i64) -> NewRemark {
    let (start_byte, end_byte) = (range.start, range.end);
    NewRemark { kind, start_byte, end_byte, words, reach: Reach::Project }
}

/// FNV-1a over the lower-case words: the same for a sentence however it is written.
fn words_hash(sentence: &str) -> i64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for word in Wording::of(sentence).words() {
        for byte in word.bytes().chain([b' ']) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash.cast_signed()
}

/// Tells whether every memory was searched by the rules of today.
pub(crate) fn is_up_to_date(reader: &Reader) -> Result<bool> {
    let progress = reader.step(FindRemarks.name())?;
    Ok(has_rules_of_today(&progress) && reader.after(progress.up_to, 1)?.is_empty())
}

fn has_rules_of_today(progress: &StepProgress) -> bool {
    progress.state.get("rules").and_then(Value::as_u64) == Some(RULES)
}

/// What was found in some memories.
struct Searched {
    found: Vec<(MemoryNumber, Vec<NewRemark>)>,
    /// What was put off before and is taken up in them.
    taken_up: Vec<PutOffAt>,
}

/// Searches what came in after a number, until it was enough for one transaction or somebody else
/// goes first. Texts are read one by one: each may be as large as it likes.
fn search(
    reader: &Reader,
    after: MemoryNumber,
    mut put_off: PutOff,
    shift: &Shift<'_>,
) -> Result<Searched> {
    let (mut found, mut taken_up) = (Vec::new(), Vec::new());
    let (mut last, mut n_bytes) = (after, 0);
    let mut before = reader.numbered(&[after])?.pop().map(|(_, memory)| memory);
    while found.len() < MEMORIES_PER_ADVANCE
        && n_bytes < BYTES_PER_ADVANCE
        && shift.lets_by(found.len())
    {
        let Some((number, memory)) = reader.after(last, 1)?.into_iter().next() else { break };
        last = number;
        n_bytes += memory.text.len();
        let remarks = remarks_after(before.as_ref(), &memory);
        taken_up.extend(put_off.hear(reader, (number, &memory), &remarks)?);
        found.push((number, remarks));
        before = Some(memory);
    }
    Ok(Searched { found, taken_up })
}

impl MemoryEngine {
    /// Looks at one memory at once, so that the next session is told. The step finds it again.
    pub(crate) fn look_for_remarks(&self, id: MemoryId) -> Result<()> {
        let found = self.read(|reader| {
            let memory = reader.memory(id)?;
            Ok(reader.number_of(id)?.zip(memory))
        })?;
        let Some((number, memory)) = found else { return Ok(()) };
        let remarks = remarks_of(&memory);
        self.write(|writing| Ok(writing.put_remarks(number, &remarks)?))
    }
}

/// Looks for remarks in what came in.
pub(crate) struct FindRemarks;

impl Step for FindRemarks {
    fn name(&self) -> &'static str {
        "remarks"
    }

    fn due(&self) -> Due {
        Due::Soon
    }

    fn advance(&self, engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Advance> {
        let mut progress = engine.read(|reader| Ok(reader.step(self.name())?))?;
        let is_other = !has_rules_of_today(&progress);
        if is_other {
            progress.up_to = MemoryNumber::new(0);
            progress.state = json!({"rules": RULES});
        }
        // What other rules found is dropped, and must not be listened for.
        let put_off = if is_other { PutOff::anew() } else { PutOff::default() };
        let Searched { found, mut taken_up } =
            engine.read(|reader| search(reader, progress.up_to, put_off, shift))?;
        let now = shift.now;
        taken_up.extend(engine.read(|reader| engine.taken_up_before(reader, &found, now))?);
        let Some((last, _)) = found.last() else {
            let up_to = progress.up_to;
            let is_done = engine.read(|reader| Ok(reader.after(up_to, 1)?.is_empty()))?;
            return Ok(if is_done { Advance::Nothing } else { Advance::MadeWay });
        };
        progress.up_to = *last;
        engine.write(|writing| {
            if is_other {
                writing.drop_remarks()?;
            }
            for (number, remarks) in &found {
                writing.put_remarks(*number, remarks)?;
            }
            for PutOffAt { number, start_byte } in &taken_up {
                writing.drop_remark(*number, *start_byte, RemarkKind::Open)?;
            }
            Ok(writing.put_step(self.name(), &progress, shift.now)?)
        })?;
        let n_found: usize = found.iter().map(|(_, remarks)| remarks.len()).sum();
        Ok(Advance::Did(Effects::from([
            ("memories_read", found.len() as u64),
            ("remarks_found", n_found as u64),
        ])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Trial;

    #[test]
    fn a_seal_is_about_what_stands_right_before_it() {
        let trial = Trial::new();
        let check = |text: &str, expect: &[&str]| {
            let id = trial.tell(&[text])[0];
            let memory = trial.engine.read(|reader| Ok(reader.memory(id)?)).unwrap().unwrap();
            let remarks = remarks_of(&memory);
            let decided = remarks.iter().filter(|own| own.kind == RemarkKind::Decision);
            let decided: Vec<&str> =
                decided.map(|own| &memory.text[own.start_byte..own.end_byte]).collect();
            assert_eq!(decided, expect, "{text}");
        };
        let said = "The tests on Windows run every night";
        let whole = format!("{said}.");
        check(&format!("{whole} Decided."), &[whole.as_str()]);
        check(&format!("{said}\nAgreed."), &[said]);
        check(&format!("- {said}\r\n- agreed"), &[said]);
        check(&format!("{said}\n\nAgreed."), &[]);
        check(&format!("{said}\n\n```\nerror: 5\n```\n\nAgreed."), &[]);
        check(&format!("{said}\n> Shall I go on?\nAgreed."), &[]);
    }
}
