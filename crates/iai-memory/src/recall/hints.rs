//! What the asker should know beside the hits: at most three sentences, each worded as the user
//! likes it, those about the store only once in a session.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use iai_store::MemoryId;
use jiff::Zoned;

use super::Hint;
use super::cue::Cue;
use super::doubt::is_doubtful;
use super::found::Found;
use super::knobs::{Breadth, Line, Manner, Tone};
use super::rank::Ranked;
use super::wanted_kind::is_answered;
use crate::brief::age;

/// Says that nothing found is likely to be what was asked for.
pub(crate) const LOW_CONFIDENCE: &str = "low_confidence";
/// More would drown the hits.
pub(crate) const HINTS_MAX: usize = 3;
/// Sessions and kinds that are remembered as told; the oldest go first.
const TOLD_MAX: usize = 512;

/// What was already told to which session.
#[derive(Default)]
pub(crate) struct ToldRoom(Mutex<VecDeque<(String, &'static str)>>);

impl ToldRoom {
    /// Tells whether this is the first time, and remembers it. Who has no session is told anew
    /// each time.
    pub(crate) fn is_first(&self, session: Option<&str>, what: &'static str) -> bool {
        let Some(session) = session else { return true };
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = told.iter().any(|(known, kind)| known == session && *kind == what);
        if !is_known {
            told.push_back((session.to_owned(), what));
            if TOLD_MAX < told.len() {
                told.pop_front();
            }
        }
        !is_known
    }

    /// Forgets who was told what; they may be told again.
    pub(crate) fn forget_all(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Says what there is to say about how the hits were found.
pub(crate) fn about(
    found: &Found,
    (cue, ranked): (&Cue, &[Ranked]),
    manner: &Manner,
    now: &Zoned,
    is_first: impl Fn(&'static str) -> bool,
) -> Vec<Hint> {
    if found.evidence.is_empty() || manner.breadth == Breadth::Bare {
        return Vec::new();
    }
    let tone = manner.tone;
    let mut hints = Vec::new();
    if let (Breadth::Pointed, Some(first)) = (manner.breadth, ranked.first()) {
        hints.push(start_here(first, tone, now));
    }
    if found.is_second_best {
        let fact = "nothing has that exact wording; these share its words";
        hints.push(hint("no_exact_match", tone, Line { fact, step: None }));
    }
    if is_doubtful(found) && !is_answered(cue, ranked) {
        let fact = "nothing fits the cue well; it may never have been said";
        let step = Some("ask with other words");
        hints.push(hint(LOW_CONFIDENCE, tone, Line { fact, step }));
    }
    if !found.has_model && is_first("words_only") {
        let fact = "no model is at work: only words were compared";
        let step = Some("run `iai-mcp model install`");
        hints.push(hint("words_only", tone, Line { fact, step }));
    }
    hints.truncate(HINTS_MAX);
    hints
}

/// Puts what must not be overlooked before the rest.
pub(crate) fn put_first(hints: &mut Vec<Hint>, hint: Option<Hint>) {
    hints.splice(0..0, hint);
    hints.truncate(HINTS_MAX);
}

/// Builds a hint that is about no memory.
pub(crate) fn hint(kind: &'static str, tone: Tone, line: Line<'_>) -> Hint {
    Hint { kind, severity: "info", source_ids: Vec::new(), text: tone.say(line) }
}

/// Points out the best answer, for those who overlook it.
fn start_here(first: &Ranked, tone: Tone, now: &Zoned) -> Hint {
    let (role, when) = (first.memory.role.as_str(), age(first.memory.turn_at, now));
    let fact = format!("the first fits best: said by the {role}, {when}");
    let source_ids: Vec<MemoryId> = vec![first.memory.id];
    let line = Line { fact: &fact, step: Some("begin there") };
    Hint { source_ids, ..hint("start_here", tone, line) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_session_is_told_once_and_the_list_stays_short() {
        let told = ToldRoom::default();
        assert!(told.is_first(Some("a"), "words_only"));
        assert!(!told.is_first(Some("a"), "words_only"));
        assert!(told.is_first(Some("b"), "words_only") && told.is_first(Some("a"), "resume"));
        assert!(told.is_first(None, "words_only") && told.is_first(None, "words_only"));
        for n in 0..2 * TOLD_MAX {
            told.is_first(Some(&format!("s{n}")), "words_only");
        }
        assert_eq!(told.0.lock().unwrap().len(), TOLD_MAX);
    }
}
