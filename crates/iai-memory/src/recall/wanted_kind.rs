//! Cues that ask for a kind of memory rather than for words: what the user wants, what was decided,
//! what was left open. Those gain; nothing else loses.

use iai_store::{MemoryId, Reader, RemarkKind};

use super::RecallAsk;
use super::cue::{Cue, CueMode};
use super::rank::{KIND_WEIGHT, Ranked};
use crate::brief::open_in;
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
    let project = ask.project.as_deref().or(ask.asked_from.as_deref());
    match kind_of(cue) {
        None => return Ok(()),
        Some(Kind::Wish) => lift_remarks(ranked, RemarkKind::Preference, project),
        Some(Kind::Decision) => lift_remarks(ranked, RemarkKind::Decision, project),
        Some(Kind::Open { is_all }) => {
            let Some(project) = project else { return Ok(()) };
            let open = open_in(reader, project, ask.session.as_deref().unwrap_or_default())?;
            lift_open(reader, &open, is_all, ranked)?;
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
        RemarkKind::Kept => "kept",
    }
}

fn lift_open(
    reader: &Reader,
    open: &[MemoryId],
    is_all: bool,
    ranked: &mut Vec<Ranked>,
) -> Result<()> {
    let best = ranked.iter().map(|hit| hit.score).fold(0.0, f64::max);
    for (place, id) in open.iter().rev().enumerate() {
        let known = ranked.iter().position(|hit| hit.memory.id == *id);
        let mut hit = match known {
            Some(known) => ranked.remove(known),
            None => {
                let (Some(number), Some(memory)) = (reader.number_of(*id)?, reader.memory(*id)?)
                else {
                    continue;
                };
                Ranked { number, memory, score: 0.0, reason: "scene 0.000".to_owned() }
            }
        };
        #[expect(clippy::cast_precision_loss, reason = "a few threads")]
        let above = best + MARGIN * (place + 1) as f64;
        hit.score = if is_all { above } else { hit.score.max(0.0) + KIND_WEIGHT };
        hit.reason.push_str(&format!(" → {:.3}, left open", hit.score));
        ranked.push(hit);
    }
    Ok(())
}

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
