//! Turns that come over the socket instead of the spool: stored, or only looked for.

use iai_memory::{MemoryEngine, NewMemory, SpoolBatch};
use iai_wire::{SpoolEvent, SpoolHeader, code};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Failure;
use crate::daemon::drain::turns::Append;
use crate::fields::Fields as _;

/// A batch as a client sends it.
#[derive(Deserialize)]
struct Sent {
    header: SpoolHeader,
    events: Vec<SpoolEvent>,
    /// Whether to say under which ids the turns are stored.
    #[serde(default)]
    tell_ids: bool,
}

/// Stores a batch; says which turns could not be, and why.
pub(super) fn store(
    engine: &MemoryEngine,
    params: &Value,
    now: Timestamp,
) -> Result<Value, Failure> {
    let sent = read(params)?;
    let tell_ids = sent.tell_ids;
    let batch = understand(sent, now);
    let ingested = engine.store_turns(&batch.turns, now)?;
    let reasons: Vec<&String> = batch.bad_lines.iter().map(|bad| &bad.reason).collect();
    let mut told =
        json!({"stored": ingested.stored, "known": ingested.known, "set_aside": reasons});
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
    let batch = understand(read(params)?, now);
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
    Sent::deserialize(params)
        .map_err(|error| Failure::new(code::BAD_PARAMS, format!("not a batch of turns: {error}")))
}

fn understand(sent: Sent, now: Timestamp) -> SpoolBatch {
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
    batch
}
