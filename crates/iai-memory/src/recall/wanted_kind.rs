//! Cues that ask for a kind of memory rather than for words: what the user wants, what was decided,
//! what was left open. Those gain; nothing else loses.

use iai_store::{Memory, MemoryId, Reader, RemarkKind};

use super::RecallAsk;
use super::cue::{Cue, CueMode};
use super::rank::{KIND_WEIGHT, Ranked};
use super::when::is_telling;
use crate::attributes::{month_of, weekday_of};
use crate::brief::{decisions_in, open_in};
use crate::error::Result;
use crate::organise::is_stop_word;
use crate::remarks::{Wording, remarks_of};

/// A longer cue tells a story, and asks for more than a kind.
const CUE_WORDS_MAX: usize = 14;
/// What stands above another stands this much above it.
const MARGIN: f64 = 0.0001;

/// What kind of memory a cue asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Wish,
    Decision,
    Open {
        /// Whether it names nothing else: then all that is open answers it.
        is_all: bool,
    },
}

/// Lifts what is of the kind the cue asks for; what was left open in the project one asks from, or
/// about, is added where it is not among the ranked.
pub(crate) fn lift(
    reader: &Reader,
    cue: &Cue,
    ask: &RecallAsk,
    ranked: &mut Vec<Ranked>,
) -> Result<()> {
    let project = ask.project.as_deref().or(cue.here(ask));
    match kind_of(cue) {
        None => return Ok(()),
        Some(Kind::Wish) => lift_remarks(ranked, RemarkKind::Preference, project),
        Some(Kind::Decision) => {
            lift_remarks(ranked, RemarkKind::Decision, project);
            if let Some(project) = project.filter(|_| names_nothing(cue)) {
                lift_all(reader, &decided_then(reader, cue, project)?, "decided", ranked)?;
            }
        }
        Some(Kind::Open { is_all }) => {
            let Some(project) = project else { return Ok(()) };
            let open = open_in(reader, project, ask.session.as_deref().unwrap_or_default())?;
            match is_all {
                true => lift_all(reader, &open, "left open", ranked)?,
                false => lift_open(reader, &open, ranked)?,
            }
        }
    }
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.number.cmp(&b.number)));
    Ok(())
}

/// Another project's wishes and decisions hold there.
fn lift_remarks(ranked: &mut [Ranked], kind: RemarkKind, project: Option<&str>) {
    let is_here = |hit: &&mut Ranked| project.is_none() || hit.memory.project.as_deref() == project;
    for hit in ranked.iter_mut().filter(is_here) {
        if remarks_of(&hit.memory).iter().any(|remark| remark.kind == kind) {
            hit.score += KIND_WEIGHT;
            hit.reason.push_str(&format!(" + {} {KIND_WEIGHT:.2}", word_for(kind)));
        }
    }
}

fn word_for(kind: RemarkKind) -> &'static str {
    match kind {
        RemarkKind::Preference => "a wish",
        RemarkKind::Decision => "a decision",
        RemarkKind::Waiver => "a waiver",
        RemarkKind::Open => "left open",
        RemarkKind::Kept => "kept",
    }
}

/// Returns what was decided in a project by the time of asking, on the days that the cue names.
fn decided_then(reader: &Reader, cue: &Cue, project: &str) -> Result<Vec<MemoryId>> {
    let decided = decisions_in(reader, project)?.into_iter().map(|remark| remark.memory);
    let is_meant = |memory: &Memory| memory.turn_at <= cue.asked_at && is_said_then(cue, memory);
    Ok(decided.filter(is_meant).map(|memory| memory.id).collect())
}

fn is_said_then(cue: &Cue, memory: &Memory) -> bool {
    cue.days.as_ref().is_none_or(|days| days.distance(memory.turn_at) <= 0.0)
}

/// Puts all of these first: the cue asks for nothing else.
fn lift_all(
    reader: &Reader,
    wanted: &[MemoryId],
    why: &str,
    ranked: &mut Vec<Ranked>,
) -> Result<()> {
    let best = ranked.iter().map(|hit| hit.score).fold(0.0, f64::max);
    for (place, id) in wanted.iter().rev().enumerate() {
        let Some(mut hit) = taken_out(reader, *id, ranked)? else { continue };
        #[expect(clippy::cast_precision_loss, reason = "a few threads")]
        let above = best + MARGIN * (place + 1) as f64;
        hit.score = above;
        hit.reason.push_str(&format!(" → {above:.3}, {why}"));
        ranked.push(hit);
    }
    Ok(())
}

fn lift_open(reader: &Reader, open: &[MemoryId], ranked: &mut Vec<Ranked>) -> Result<()> {
    for id in open.iter().rev() {
        let Some(mut hit) = taken_out(reader, *id, ranked)? else { continue };
        hit.score = hit.score.max(0.0) + KIND_WEIGHT;
        hit.reason.push_str(&format!(" → {:.3}, left open", hit.score));
        ranked.push(hit);
    }
    Ok(())
}

/// Takes a memory from among the ranked, or from the store where it is not one of them.
fn taken_out(reader: &Reader, id: MemoryId, ranked: &mut Vec<Ranked>) -> Result<Option<Ranked>> {
    if let Some(known) = ranked.iter().position(|hit| hit.memory.id == id) {
        return Ok(Some(ranked.remove(known)));
    }
    let found = reader.number_of(id)?.zip(reader.memory(id)?);
    let reason = || "scene 0.000".to_owned();
    Ok(found.map(|(number, memory)| Ranked { number, memory, score: 0.0, reason: reason() }))
}

/// Tells whether the first hit is what a cue asks for that asks for a kind and names nothing else,
/// a time at most: "what did we decide yesterday" has no word that a decision could have.
pub(crate) fn is_answered(cue: &Cue, ranked: &[Ranked]) -> bool {
    let kind = match kind_of(cue) {
        Some(Kind::Decision) => RemarkKind::Decision,
        Some(Kind::Wish) => RemarkKind::Preference,
        Some(Kind::Open { .. }) | None => return false,
    };
    let first = ranked.first().map(|hit| &hit.memory);
    let is_of_kind = |memory: &Memory| remarks_of(memory).iter().any(|own| own.kind == kind);
    let is_said_then =
        |memory: &Memory| cue.days.as_ref().is_none_or(|days| days.distance(memory.turn_at) <= 0.0);
    names_nothing(cue) && first.is_some_and(|memory| is_of_kind(memory) && is_said_then(memory))
}

fn names_nothing(cue: &Cue) -> bool {
    cue.is_only_time
        || Wording::of(&cue.text).words().all(|word| {
            is_stop_word(word)
                || !is_telling(word)
                || KIND_WORDS.split('|').any(|own| own == word)
                || weekday_of(word).is_some()
                || month_of(word).is_some()
                || word.chars().all(|letter| letter.is_ascii_digit())
        })
}

/// Words of asking for decisions and wishes, and of time.
const KIND_WORDS: &str = "\
     decide|decided|decision|decisions|agree|agreed|settle|settled|want|prefer|like|preference|\
     preferences|yesterday|today|week|weeks|month|months|days|ago|last|lately|recently|morning|\
     evening|project|here|entscheidung|entscheidungen|entschieden|beschlossen|gestern|heute|woche|\
     monat|letzte|letzten";

fn kind_of(cue: &Cue) -> Option<Kind> {
    let wording = Wording::of(&cue.text);
    if CUE_WORDS_MAX < wording.len() || cue.mode != CueMode::Concept {
        return None;
    }
    if wording.has_any(ASKS_WHAT_IS_OPEN) {
        let names =
            |word: &str| !is_stop_word(word) && OPEN_WORDS.split('|').all(|own| own != word);
        return Some(Kind::Open { is_all: !wording.words().any(names) });
    }
    if wording.has_any(ASKS_WHAT_WAS_DECIDED) {
        return Some(Kind::Decision);
    }
    wording.has_any(ASKS_WHAT_IS_WANTED).then_some(Kind::Wish)
}

const ASKS_WHAT_IS_OPEN: &str = "\
     remains to be done|what remains|remains to do|left to do|still to do|is left|what's left|\
     are left|is still open|are still open|still open|left open|we leave open|left unfinished|\
     open thread|open threads|open questions|open points|loose ends|put off|to be done|\
     where did we stop|where did i stop|where did we leave off|where were we|still missing|\
     was ist … offen|noch offen|was bleibt|was fehlt noch|wo waren wir|что осталось|\
     что не закончено|на чём остановились|на чем остановились|reste à faire|où en étions nous|\
     queda pendiente|qué falta|dónde lo dejamos|残って|未完了|还没完成";

/// Words of asking so; whoever uses no others means all that is open.
const OPEN_WORDS: &str = "\
     remains|remain|remaining|left|leave|open|threads|thread|questions|points|loose|ends|done|\
     stop|last|time|missing|unfinished|still|off|project|here|work|list|tell|show|was|ist|offen|\
     bleibt|fehlt|wo|waren|wir|что|осталось|не|закончено|на|чём|чем|остановились|сделать|reste|\
     faire|où|en|étions|nous|queda|pendiente|qué|falta|dónde|dejamos|what's";

const ASKS_WHAT_WAS_DECIDED: &str = "\
     did we decide|did i decide|have we decided|was decided|we decided|decision|decisions|\
     entscheidung|entscheidungen|beschluss|решение|décision|decisión|\
     did we agree|have we agreed|was agreed|we agreed|did we settle|\
     haben wir entschieden|haben wir … entschieden|haben wir … beschlossen|wurde … beschlossen|\
     мы решили|решили ли|avons nous décidé|a t on décidé|decidimos|hemos decidido";

const ASKS_WHAT_IS_WANTED: &str = "\
     do i want|do i prefer|do i like|i prefer|i like|my preference|my preferences|i want|\
     did i ask you to|have i asked you|how should|how shall|what must|what has to|what should|\
     may i|am i allowed|should i use|should i run|should you|will ich|möchte ich|bevorzuge ich|\
     wie soll|was muss|darf ich|я хочу|я предпочитаю|как надо|что нужно|je veux|je préfère|\
     dois je|quiero|prefiero|debo";

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[track_caller]
    fn check(cue: &str, expect: Option<Kind>) {
        assert_eq!(kind_of(&Cue::understand(cue, Timestamp::UNIX_EPOCH)), expect, "{cue}");
    }

    #[test]
    fn a_cue_says_what_kind_it_asks_for() {
        for all in ["what remains to be done?", "What is still open?", "was ist noch offen?"] {
            check(all, Some(Kind::Open { is_all: true }));
        }
        check("что осталось сделать?", Some(Kind::Open { is_all: true }));
        check("what did we leave open about audits?", Some(Kind::Open { is_all: false }));
        check("what is still open about the audit?", Some(Kind::Open { is_all: false }));
        check("what did we decide about retries?", Some(Kind::Decision));
        check("login decision", Some(Kind::Decision));
        check("Entscheidung zum Hosting", Some(Kind::Decision));
        check("which package manager do I want?", Some(Kind::Wish));
        check("how should commit messages be written?", Some(Kind::Wish));
    }

    #[test]
    fn other_cues_ask_for_no_kind() {
        for cue in [
            "which port has the gateway?",
            "\"what remains to be done\"",
            "who owns the left sidebar",
            "open the file of the parser",
        ] {
            check(cue, None);
        }
    }
}
