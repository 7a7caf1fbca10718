//! Sentences that hold beyond their session: preferences, decisions, and what somebody asked to be
//! kept. Found in new memories by a quiet step, and told at the beginning of the next session.

pub(crate) mod open;
mod phrase;
mod rules;
mod sentences;

use std::ops::Range;

use iai_store::{
    Memory, MemoryId, MemoryNumber, NewRemark, Reader, RemarkKind, Role, StepProgress,
};
use serde_json::{Value, json};

pub(crate) use phrase::{Wording, is_one_of};
pub(crate) use rules::is_remember_request;
pub(crate) use sentences::{beginning, sentences};

use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::ingest::{PAGE_HOST, TERMINAL_HOST, TOOL_HOST};
use crate::organise::{Advance, Due, Effects, Shift, Step};
use rules::Speaker;

/// Remarks of one memory; a text with more is a document, not something somebody said.
const REMARKS_MAX: usize = 4;
/// Memories looked at in one transaction …
const MEMORIES_PER_ADVANCE: usize = 256;
/// … and bytes of text.
const BYTES_PER_ADVANCE: usize = 4 * 1024 * 1024;
/// The version of the rules: with others, everything is looked at again.
const RULES: u64 = 7;

/// Returns the remarks of a memory.
pub(crate) fn remarks_of(memory: &Memory) -> Vec<NewRemark> {
    let speaker = match memory.role {
        Role::User => Speaker::User,
        Role::Assistant => Speaker::Assistant,
        Role::System => return Vec::new(),
    };
    if !is_spoken(memory) {
        return Vec::new();
    }
    let mut found: Vec<NewRemark> = Vec::new();
    let ranges = sentences(&memory.text);
    let between = |before: &Range<usize>, range: &Range<usize>| {
        memory.text.get(before.end..range.start).unwrap_or_default()
    };
    for (place, range) in ranges.iter().enumerate() {
        let before = place.checked_sub(1).and_then(|place| ranges.get(place));
        let sentence = memory.text.get(range.clone()).unwrap_or_default();
        let kind = if speaker == Speaker::User && rules::is_preference(sentence) {
            RemarkKind::Preference
        } else if rules::is_decision(sentence, speaker) {
            RemarkKind::Decision
        } else if speaker == Speaker::User && rules::is_only_a_seal(sentence) {
            // On the same line or the next one: further down it answers somebody.
            let is_near =
                |before: &&Range<usize>| between(before, range).matches('\n').count() <= 1;
            sealed(&mut found, &memory.text, before.filter(is_near));
            continue;
        } else {
            continue;
        };
        let words = words_hash(sentence);
        // On one line with nothing between them.
        let is_joined =
            |before: &&Range<usize>| between(before, range).trim_matches(' ').is_empty();
        let before = before.filter(|_| rules::points_back(sentence)).filter(is_joined);
        let start_byte = before.unwrap_or(range).start;
        found.push(NewRemark { kind, start_byte, end_byte: range.end, words });
    }
    found.truncate(REMARKS_MAX);
    let is_by_hand = [TOOL_HOST, PAGE_HOST, TERMINAL_HOST].contains(&memory.host.as_str());
    if let (true, Some(first)) = (found.is_empty() && is_by_hand, ranges.first()) {
        let end_byte = ranges.last().map_or(first.end, |last| last.end);
        let (kind, words) = (RemarkKind::Kept, words_hash(&memory.text));
        found.push(NewRemark { kind, start_byte: first.start, end_byte, words });
    }
    found
}

/// Takes the sentence before "Decided." as what was decided, unless it is a remark anyway.
fn sealed(found: &mut Vec<NewRemark>, text: &str, before: Option<&Range<usize>>) {
    let Some(before) = before else { return };
    let sentence = text.get(before.clone()).unwrap_or_default();
    let is_found = found.iter().any(|own| own.end_byte == before.end);
    if !is_found && rules::can_be_sealed(sentence) {
        let (kind, words) = (RemarkKind::Decision, words_hash(sentence));
        found.push(NewRemark { kind, start_byte: before.start, end_byte: before.end, words });
    }
}

/// Tells whether the user and their assistant said it to each other; what a sub-agent was told and
/// answered is not part of the conversation.
pub(crate) fn is_spoken(memory: &Memory) -> bool {
    memory.provenance.get("subagent").is_none()
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

/// Searches what came in after a number, until it was enough for one transaction or somebody else
/// goes first. Texts are read one by one: each may be as large as it likes.
fn search(
    reader: &Reader,
    after: MemoryNumber,
    shift: &Shift<'_>,
) -> Result<Vec<(MemoryNumber, Vec<NewRemark>)>> {
    let mut found = Vec::new();
    let (mut last, mut n_bytes) = (after, 0);
    while found.len() < MEMORIES_PER_ADVANCE
        && n_bytes < BYTES_PER_ADVANCE
        && shift.lets_by(found.len())
    {
        let Some((number, memory)) = reader.after(last, 1)?.into_iter().next() else { break };
        last = number;
        n_bytes += memory.text.len();
        found.push((number, remarks_of(&memory)));
    }
    Ok(found)
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
        let found = engine.read(|reader| search(reader, progress.up_to, shift))?;
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
