//! Turns that come over the socket instead of the spool: stored, or only looked for.

use iai_memory::{MemoryEngine, NewMemory};
use iai_wire::{SpoolEvent, SpoolHeader, code};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Failure;
use crate::daemon::drain::turns::{Append, Gathered};
use crate::fields::Fields as _;

/// What a client sends: turns of several sessions, or of one.
struct Sent {
    appends: Vec<SentAppend>,
    /// Whether to say under which ids the turns are stored.
    tell_ids: bool,
}

#[derive(Deserialize)]
struct SentAppend {
    header: SpoolHeader,
    events: Vec<SpoolEvent>,
}

/// Stores a batch; says which turns could not be, and why.
pub(super) fn store(
    engine: &MemoryEngine,
    params: &Value,
    now: Timestamp,
) -> Result<Value, Failure> {
    let sent = read(params)?;
    let tell_ids = sent.tell_ids;
    let batch = understand(sent, now).recognised(engine)?;
    let ingested = engine.store_turns(&batch.turns, now)?;
    let reasons: Vec<&String> = batch.bad_lines.iter().map(|bad| &bad.reason).collect();
    let places: Vec<u64> = batch.bad_lines.iter().map(|bad| bad.line).collect();
    let mut told = json!({
        "stored": ingested.stored,
        "known": ingested.known,
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
    let batch = understand(read(params)?, now).recognised(engine)?;
    let missing = engine.missing_turns(&batch.turns)?;
    Ok(json!({"missing": missing, "set_aside": batch.bad_lines.len()}))
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

fn read(params: &Value) -> Result<Sent, Failure> {
    let appends = match params.at("appends") {
        Value::Null => SentAppend::deserialize(params).map(|append| vec![append]),
        appends => Vec::deserialize(appends),
    };
    let appends = appends.map_err(|error| {
        Failure::new(code::BAD_PARAMS, format!("not a batch of turns: {error}"))
    })?;
    Ok(Sent { appends, tell_ids: params.at("tell_ids") == true })
}

/// Fills in what was left out. A turn that cannot be one is named by its place in the message.
fn understand(sent: Sent, now: Timestamp) -> Gathered {
    let mut gathered = Gathered::new("");
    gathered.batch.turns.reserve(sent.appends.iter().map(|append| append.events.len()).sum());
    let mut n_before = 0;
    for SentAppend { header, events } in sent.appends {
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
        let batch = understand(read(params).unwrap(), Timestamp::UNIX_EPOCH).batch;
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
            assert_eq!(read(&params).err().map(|failure| failure.code), Some(code::BAD_PARAMS));
        }
    }
}
