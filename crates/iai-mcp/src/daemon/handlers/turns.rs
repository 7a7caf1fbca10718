//! Turns that come over the socket instead of the spool: stored, or only looked for.

use std::fmt::Display;

use iai_memory::{MemoryEngine, NewMemory};
use iai_wire::{SpoolEvent, SpoolHeader, code};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Failure;
use crate::daemon::drain::turns::{Append, Gathered};
use crate::fields::Fields as _;

/// What a client sends: turns of several sessions, or of one.
#[derive(Deserialize)]
struct Sent {
    appends: Option<Vec<SentAppend>>,
    header: Option<SpoolHeader>,
    events: Option<Vec<SpoolEvent>>,
    /// Whether to say under which ids the turns are stored.
    #[serde(default)]
    tell_ids: bool,
}

#[derive(Deserialize)]
struct SentAppend {
    header: SpoolHeader,
    events: Vec<SpoolEvent>,
}

impl Sent {
    fn appends(self) -> Result<Vec<SentAppend>, Failure> {
        match (self.appends, self.header, self.events) {
            (Some(appends), ..) => Ok(appends),
            (None, Some(header), Some(events)) => Ok(vec![SentAppend { header, events }]),
            (None, ..) => Err(no_batch("`appends`, or `header` and `events`, are missing")),
        }
    }
}

/// Answers a call whose turns were not read yet.
pub(in crate::daemon) fn answer(
    engine: &MemoryEngine,
    method: &str,
    turns: &str,
    now: Timestamp,
) -> Result<Value, Failure> {
    let sent = serde_json::from_str(turns).map_err(no_batch)?;
    match method {
        "turns_store" => store(engine, sent, now),
        _ => check_sent(engine, sent, now),
    }
}

/// Stores a batch; says which turns could not be, and why.
fn store(engine: &MemoryEngine, sent: Sent, now: Timestamp) -> Result<Value, Failure> {
    let tell_ids = sent.tell_ids;
    let batch = understand(sent.appends()?, now).recognised(engine)?;
    let ingested = engine.store_turns(&batch.turns, now)?;
    let reasons: Vec<&String> = batch.bad_lines.iter().map(|bad| &bad.reason).collect();
    let places: Vec<u64> = batch.bad_lines.iter().map(|bad| bad.line).collect();
    let mut told = json!({
        "stored": ingested.stored,
        "known": ingested.known,
        "forgotten": ingested.forgotten,
        "set_aside": reasons,
        "set_aside_places": places,
    });
    if tell_ids {
        let ids: Vec<String> = batch.turns.iter().map(|turn| turn.id().to_string()).collect();
        told.set("ids", ids);
    }
    Ok(told)
}

/// Says which turns of a batch are not stored byte for byte.
pub(super) fn check(
    engine: &MemoryEngine,
    params: &Value,
    now: Timestamp,
) -> Result<Value, Failure> {
    check_sent(engine, Sent::deserialize(params).map_err(no_batch)?, now)
}

fn check_sent(engine: &MemoryEngine, sent: Sent, now: Timestamp) -> Result<Value, Failure> {
    let batch = understand(sent.appends()?, now).recognised(engine)?;
    let found = engine.missing_turns(&batch.turns)?;
    let n_set_aside = batch.bad_lines.len();
    let n_forgotten = found.n_forgotten;
    Ok(json!({"missing": found.missing, "forgotten": n_forgotten, "set_aside": n_set_aside}))
}

/// Shows turns without storing them.
pub(in crate::daemon) fn preview(turns: &[NewMemory]) -> Value {
    let shown = turns.iter().take(PREVIEW_TURNS_MAX).map(|turn| {
        let text: String = turn.text.chars().take(PREVIEW_CHARS_MAX).collect();
        json!({"ts": turn.turn_at.to_string(), "role": turn.role.as_str(), "text": text})
    });
    json!({"turns": shown.collect::<Vec<_>>(), "count": turns.len()})
}

const PREVIEW_TURNS_MAX: usize = 200;
const PREVIEW_CHARS_MAX: usize = 400;

fn no_batch(why: impl Display) -> Failure {
    Failure::new(code::BAD_PARAMS, format!("not a batch of turns: {why}"))
}

/// Fills in what was left out. A turn that cannot be one is named by its place in the message.
fn understand(appends: Vec<SentAppend>, now: Timestamp) -> Gathered {
    let mut gathered = Gathered::new("");
    gathered.batch.turns.reserve(appends.iter().map(|append| append.events.len()).sum());
    let mut n_before = 0;
    for SentAppend { header, events } in appends {
        let n_events = events.len() as u64;
        let n_bad = gathered.batch.bad_lines.len();
        let mut append = Append::begin(header);
        for event in events {
            append.take(event, &mut gathered, now);
        }
        for bad in gathered.batch.bad_lines.iter_mut().skip(n_bad) {
            bad.line = (n_before + bad.line).saturating_sub(1);
        }
        n_before += n_events;
    }
    gathered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn append(session: &str, roles: &[&str]) -> Value {
        let header = SpoolHeader::new(session, "/p", "2026-01-01T00:00:00Z");
        let events: Vec<Value> =
            roles.iter().map(|role| json!({"text": "words", "role": role})).collect();
        json!({"header": header, "events": events})
    }

    /// Checks whose turns are taken, and at which places of the message others stand.
    #[track_caller]
    fn check(params: &Value, sessions: &[&str], bad_places: &[u64]) {
        let appends = Sent::deserialize(params).unwrap().appends().ok().unwrap();
        let batch = understand(appends, Timestamp::UNIX_EPOCH).batch;
        let taken: Vec<&str> = batch.turns.iter().map(|turn| turn.session.as_str()).collect();
        let bad: Vec<u64> = batch.bad_lines.iter().map(|bad| bad.line).collect();
        assert_eq!((taken.as_slice(), bad.as_slice()), (sessions, bad_places));
    }

    #[test]
    fn a_message_holds_one_session_or_several() {
        check(&append("a", &["user", "wizard", "user"]), &["a", "a"], &[1]);
        let several = [append("a", &["user", "wizard"]), append("b", &["user", "user", "witch"])];
        check(&json!({"appends": several}), &["a", "b", "b"], &[1, 4]);
        check(&json!({"appends": []}), &[], &[]);
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for params in [json!({}), json!({"appends": 1}), json!({"appends": [{"events": []}]})] {
            let sent = Sent::deserialize(&params).map_err(no_batch);
            let refused = sent.and_then(Sent::appends).err();
            assert_eq!(refused.map(|failure| failure.code), Some(code::BAD_PARAMS), "{params}");
        }
    }
}
