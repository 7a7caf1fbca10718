//! A step that fails again and again rests for a day, so that the others come to work.

use iai_store::{Reader, StepProgress, Writing};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::error::Result;

/// So many failures in a row …
const STRIKES_MAX: u64 = 3;
/// … and it rests for so long.
const REST: SignedDuration = SignedDuration::from_hours(24);
/// What is kept of the reason.
const REASON_CHARS_MAX: usize = 200;

/// Returns until when a step rests.
pub(super) fn resting_until(
    reader: &Reader,
    step: &str,
    now: Timestamp,
) -> Result<Option<Timestamp>> {
    let state = reader.step(&key(step))?.state;
    let until = state.get("until").and_then(Value::as_str).and_then(|at| at.parse().ok());
    Ok(until.filter(|until| now < *until))
}

/// Counts a failure; the third in a row sends the step to rest.
pub(super) fn strike(
    writing: &Writing<'_>,
    step: &str,
    reason: &str,
    now: Timestamp,
) -> Result<()> {
    let before = writing.read().step(&key(step))?.state;
    let n_before = before.get("strikes").and_then(Value::as_u64).unwrap_or(0);
    let strikes = n_before + 1;
    let reason: String = reason.chars().take(REASON_CHARS_MAX).collect();
    let state = if strikes < STRIKES_MAX {
        json!({"strikes": strikes, "reason": reason})
    } else {
        // It begins anew after the rest: one more failure is then one, not four.
        json!({"until": (now + REST).to_string(), "since": now.to_string(), "reason": reason})
    };
    Ok(writing.put_step(&key(step), &StepProgress { state, ..StepProgress::default() }, now)?)
}

/// Tells whether failures are counted against a step.
pub(super) fn has_strikes(reader: &Reader, step: &str) -> Result<bool> {
    Ok(reader.step(&key(step))?.state.as_object().is_some_and(|state| !state.is_empty()))
}

/// Forgets the failures of a step that works, or that somebody wants to try again.
pub(super) fn clear(writing: &Writing<'_>, step: &str, now: Timestamp) -> Result<()> {
    Ok(writing.put_step(&key(step), &StepProgress::default(), now)?)
}

/// Kept beside the step's own progress, which the step writes whole.
fn key(step: &str) -> String {
    format!("{step}.strikes")
}
