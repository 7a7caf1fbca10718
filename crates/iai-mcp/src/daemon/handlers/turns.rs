//! Turns that come over the socket instead of the spool: stored, or only looked for.

use iai_memory::{MemoryEngine, NewMemory, SpoolBatch};
use iai_wire::{SpoolEvent, SpoolHeader, code};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Failure;
use crate::daemon::drain::turns::Append;

/// A batch as a client sends it.
#[derive(Deserialize)]
struct Sent {
    header: SpoolHeader,
    events: Vec<SpoolEvent>,
}

/// Stores a batch; says which turns could not be, and why.
pub(super) fn store(
    engine: &MemoryEngine,
    params: &Value,
    now: Timestamp,
) -> Result<Value, Failure> {
    let batch = understand(params, now)?;
    let ingested = engine.store_turns(&batch.turns, now)?;
    let reasons: Vec<&String> = batch.bad_lines.iter().map(|bad| &bad.reason).collect();
    Ok(json!({"stored": ingested.stored, "known": ingested.known, "set_aside": reasons}))
}

/// Says which turns of a batch are not stored byte for byte.
pub(super) fn check(
    engine: &MemoryEngine,
    params: &Value,
    now: Timestamp,
) -> Result<Value, Failure> {
    let batch = understand(params, now)?;
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

fn understand(params: &Value, now: Timestamp) -> Result<SpoolBatch, Failure> {
    let sent = Sent::deserialize(params).map_err(|error| {
        Failure::new(code::BAD_PARAMS, format!("not a batch of turns: {error}"))
    })?;
    let mut append = Append::begin(sent.header);
    let mut batch = SpoolBatch {
        file: String::new(),
        turns: Vec::with_capacity(sent.events.len()),
        bad_lines: Vec::new(),
        is_last: true,
    };
    for event in &sent.events {
        append.take(event, &mut batch, now);
    }
    Ok(batch)
}
