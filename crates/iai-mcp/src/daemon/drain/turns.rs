//! From a spool line to a turn: fills in what older writers left out, and knows a turn again whose
//! secrets were kept otherwise.

use std::str::FromStr as _;

use iai_memory::{BadLine, MemoryEngine, MemoryError, NewMemory, Role, SpoolBatch, Tier};
use iai_wire::{SpoolEvent, SpoolHeader};
use jiff::Timestamp;
use serde_json::Value;

use crate::capture::all_marked;

/// The host name of turns whose writer did not say.
const UNKNOWN_HOST: &str = "unknown";
/// The host name of explicit captures, which are the same memory when their words are.
const TOOL_HOST: &str = "mcp";

/// Turns that were understood, on their way to the store.
pub(in crate::daemon) struct Gathered {
    pub(in crate::daemon) batch: SpoolBatch,
    /// Places of the turns in which secrets stood.
    with_secrets: Vec<usize>,
}

impl Gathered {
    pub(in crate::daemon) fn new(file: &str) -> Self {
        let (file, turns, bad_lines) = (file.to_owned(), Vec::new(), Vec::new());
        let batch = SpoolBatch { file, turns, bad_lines, is_last: false };
        Self { batch, with_secrets: Vec::new() }
    }

    /// Returns the batch, in which a turn has the words it is stored with, where it is stored with
    /// secrets kept or marked otherwise: one turn is one memory under every setting.
    pub(in crate::daemon) fn recognised(
        mut self,
        engine: &MemoryEngine,
    ) -> Result<SpoolBatch, MemoryError> {
        for place in self.with_secrets {
            let Some(turn) = self.batch.turns.get_mut(place) else { continue };
            if let Some(words) = engine.words_stored(turn, all_marked)? {
                turn.text = words;
            }
        }
        Ok(self.batch)
    }

    /// Returns the batch when it is the whole of a file and needs no looking up: no secret to be
    /// recognised, no line to be set aside.
    pub(super) fn if_whole_and_plain(self) -> Option<SpoolBatch> {
        let is_plain = self.with_secrets.is_empty() && self.batch.bad_lines.is_empty();
        (self.batch.is_last && is_plain).then_some(self.batch)
    }
}

/// The append a line belongs to.
#[derive(Default)]
pub(in crate::daemon) struct Append {
    header: Option<SpoolHeader>,
    n_events: u64,
}

impl Append {
    pub(in crate::daemon) fn begin(header: SpoolHeader) -> Self {
        Self { header: Some(header), n_events: 0 }
    }

    /// Adds the turn to the batch, or the reason why it cannot be one.
    pub(in crate::daemon) fn take(
        &mut self,
        event: SpoolEvent,
        gathered: &mut Gathered,
        now: Timestamp,
    ) {
        let Gathered { batch, with_secrets } = gathered;
        self.n_events += 1;
        if event.text.chars().all(char::is_whitespace) {
            return;
        }
        match kind_of(&event) {
            Ok(kind) => {
                with_secrets.extend(event.has_secret.then_some(batch.turns.len()));
                batch.turns.push(self.understand(event, kind, now));
            }
            Err(reason) => {
                let evidence = serde_json::to_vec(&event).unwrap_or_default();
                let n_bytes = evidence.len() as u64;
                batch.bad_lines.push(bad_line(self.n_events, reason, evidence, n_bytes));
            }
        }
    }

    fn understand(
        &self,
        event: SpoolEvent,
        (role, tier): (Role, Tier),
        now: Timestamp,
    ) -> NewMemory {
        let header = self.header.as_ref();
        let written_at =
            parse_time(&event.ts).or_else(|| parse_time(&header?.deferred_at)).unwrap_or(now);
        let turn_at = event.turn_ts.as_deref().and_then(parse_time).unwrap_or(written_at);
        let cwd = event.cwd.or_else(|| header.map(|header| header.cwd.clone()));
        let cwd = cwd.filter(|cwd| !cwd.is_empty());
        let label = label_number(&event.cue);
        let turn_index = event.index.or(label.flatten());
        let is_placed = turn_index.is_some() || event.source.as_deref() == Some(TOOL_HOST);
        let session = header.map_or("-", |header| &header.session_id);
        NewMemory {
            session: session.to_owned(),
            // Without a place in a transcript, the moment of writing tells two equal sentences
            // apart.
            turn_uuid: event.uuid.or_else(|| {
                let session = header.map_or("", |header| &header.session_id);
                (!is_placed).then(|| format!("{session} at {}", event.ts))
            }),
            host: event.source.unwrap_or_else(|| UNKNOWN_HOST.to_owned()),
            turn_index,
            role,
            tier,
            project: event.project.or_else(|| cwd.clone()),
            cwd,
            turn_at,
            captured_at: written_at,
            text: event.text,
            cue: Some(event.cue).filter(|cue| !cue.is_empty() && label.is_none()),
            language: None,
            tags: Vec::new(),
            provenance: Value::Object(event.provenance),
            pinned: false,
        }
    }
}

/// Reads whose words they are and what kind of memory they make, or says why they make none.
fn kind_of(event: &SpoolEvent) -> Result<(Role, Tier), String> {
    let role = Role::from_str(&event.role)
        .map_err(|_| format!("the role is `{}`; it must be user or assistant", event.role))?;
    let tier = if event.tier.is_empty() { "episodic" } else { &event.tier };
    let tier = Tier::from_str(tier).map_err(|_| format!("there is no tier `{tier}`"))?;
    Ok((role, tier))
}

pub(super) fn bad_line(line: u64, reason: String, evidence: Vec<u8>, n_bytes: u64) -> BadLine {
    BadLine { line, reason, evidence, n_bytes }
}

/// The Python program wrote `session <id> turn [<line>]` as a cue: a label, with the transcript
/// line at best.
///
/// The outer `None` means the cue is no such label.
fn label_number(cue: &str) -> Option<Option<u64>> {
    let (_, behind) = cue.strip_prefix("session ")?.rsplit_once(" turn")?;
    match behind.trim() {
        "" => Some(None),
        number => number.parse().ok().map(Some),
    }
}

fn parse_time(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str, role: &str) -> SpoolEvent {
        SpoolEvent { text: text.to_owned(), role: role.to_owned(), ..SpoolEvent::default() }
    }

    #[test]
    fn labels_are_not_cues() {
        assert_eq!(label_number("session abc turn 12"), Some(Some(12)));
        assert_eq!(label_number("session abc turn"), Some(None));
        assert_eq!(label_number("the session about turn signals"), None);
        assert_eq!(label_number(""), None);
    }

    #[test]
    fn the_turns_own_time_and_place_win() {
        let header = SpoolHeader::new("s", "/header", "2026-01-01T00:00:00Z");
        let mut append = Append::begin(header);
        let mut gathered = Gathered::new("f");
        let turn = SpoolEvent {
            turn_ts: Some("2025-05-05T05:05:05Z".to_owned()),
            ts: "2026-01-02T00:00:00Z".to_owned(),
            index: Some(4),
            ..event("x", "assistant")
        };
        append.take(turn, &mut gathered, Timestamp::UNIX_EPOCH);
        let turn = &gathered.batch.turns[0];
        assert_eq!(turn.turn_at.to_string(), "2025-05-05T05:05:05Z");
        assert_eq!(turn.captured_at.to_string(), "2026-01-02T00:00:00Z");
        assert_eq!((turn.session.as_str(), turn.turn_index), ("s", Some(4)));
        assert_eq!(turn.project.as_deref(), Some("/header"));
        assert_eq!(turn.turn_uuid, None);
    }

    #[test]
    fn what_cannot_be_a_turn_is_set_aside_with_a_reason() {
        let mut append = Append::default();
        let mut gathered = Gathered::new("f");
        append.take(event("x", "wizard"), &mut gathered, Timestamp::UNIX_EPOCH);
        append.take(event("  ", "user"), &mut gathered, Timestamp::UNIX_EPOCH);
        append.take(event("kept", "user"), &mut gathered, Timestamp::UNIX_EPOCH);
        let batch = gathered.batch;
        assert_eq!((batch.turns.len(), batch.bad_lines.len()), (1, 1));
        assert!(batch.bad_lines[0].reason.contains("wizard"));
    }
}
