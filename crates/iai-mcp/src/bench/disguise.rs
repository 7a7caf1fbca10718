//! Takes from a corpus everything a ranker could recognise the right answer by, and gives it back
//! afterwards.
//!
//! Benchmarks name their gold (`answer_…`); our own ids say nothing. A keyed hash with a fixed key
//! makes them, so that two runs store the same bytes.

use std::collections::BTreeMap;

use iai_wire::SpoolEvent;
use sha2::{Digest as _, Sha256};

use super::dataset::{Haystack, Row, parse_time};

const KEY: &str = "iai-mcp bench, opaque ids, 1";
/// The host the turns are said to come from.
const HOST: &str = "bench";

/// A turn as it is stored.
pub(super) struct Disguised {
    /// The session's opaque id.
    pub(super) session: String,
    pub(super) event: SpoolEvent,
}

/// Returns the turn without anything of its ids; `None` for a turn without words, which no memory
/// keeps.
pub(super) fn disguise(haystack: &Haystack, place: usize, row: &Row) -> Option<Disguised> {
    if row.text.chars().all(char::is_whitespace) {
        return None;
    }
    let (role, text) = match row.role.as_str() {
        "user" | "assistant" => (row.role.clone(), row.text.clone()),
        name => ("user".to_owned(), format!("{name}: {}", row.text)),
    };
    let at = parse_time(&row.ts).map(|at| at.to_string());
    let event = SpoolEvent {
        text,
        tier: "episodic".to_owned(),
        role,
        ts: at.clone().unwrap_or_default(),
        turn_ts: at,
        source: Some(HOST.to_owned()),
        // The place tells two rows apart that a data set gave one id.
        uuid: Some(opaque(&["turn", &haystack.set, &haystack.name, &row.id, &place.to_string()])),
        ..SpoolEvent::default()
    };
    Some(Disguised { session: session_id(haystack, row), event })
}

fn session_id(haystack: &Haystack, row: &Row) -> String {
    opaque(&["session", &haystack.set, &haystack.name, &row.session])
}

/// Tells whether a role is somebody's name, which is kept in the text.
pub(super) fn is_name(role: &str) -> bool {
    !matches!(role, "user" | "assistant")
}

fn opaque(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in [KEY].iter().chain(parts) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Which stored memory is which row.
#[derive(Default)]
pub(super) struct Unmasking {
    rows: BTreeMap<String, usize>,
}

impl Unmasking {
    /// Remembers that a memory is this row.
    pub(super) fn learn(&mut self, memory: &str, place: usize) {
        self.rows.insert(memory.to_owned(), place);
    }

    /// Returns the row behind a memory.
    pub(super) fn row<'a>(&self, haystack: &'a Haystack, memory: &str) -> Option<&'a Row> {
        haystack.rows.get(*self.rows.get(memory)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn haystack(role: &str, text: &str) -> Haystack {
        let row = Row {
            id: "answer_1#0".to_owned(),
            session: "answer_1".to_owned(),
            role: role.to_owned(),
            ts: "2026-01-01T10:00:00".to_owned(),
            text: text.to_owned(),
        };
        let (set, name) = ("s".to_owned(), "h".to_owned());
        Haystack { set, name, rows: vec![row.clone(), row], questions: Vec::new() }
    }

    #[test]
    fn nothing_of_an_id_is_stored() {
        let haystack = haystack("assistant", "the north harbour");
        let disguised = disguise(&haystack, 0, &haystack.rows[0]).unwrap();
        let sent = format!("{} {}", disguised.session, serde_json::json!(disguised.event));
        assert!(!sent.contains("answer") && !sent.contains("#0"), "{sent}");
        assert_eq!(disguised.event.turn_ts.as_deref(), Some("2026-01-01T10:00:00Z"));
        let twin = disguise(&haystack, 1, &haystack.rows[1]).unwrap();
        assert_eq!(twin.session, disguised.session);
        assert_ne!(twin.event.uuid, disguised.event.uuid);
    }

    #[test]
    fn a_name_stays_in_the_text_and_silence_is_left_out() {
        let named = haystack("Caroline", "Hi!");
        let event = disguise(&named, 0, &named.rows[0]).unwrap().event;
        assert_eq!((event.role.as_str(), event.text.as_str()), ("user", "Caroline: Hi!"));
        let silent = haystack("user", " \n");
        assert!(disguise(&silent, 0, &silent.rows[0]).is_none());
    }

    #[test]
    fn a_memory_is_recognised_again() {
        let haystack = haystack("user", "x");
        let mut unmasking = Unmasking::default();
        unmasking.learn("m", 1);
        assert_eq!(unmasking.row(&haystack, "m"), haystack.rows.last());
        assert_eq!(unmasking.row(&haystack, "other"), None);
    }
}
