//! What quiet work found, and having it done now.

use std::time::Duration;

use iai_memory::{MemoryEngine, Patience, PatternsAsk, QuestionsAsk};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::parameters::Parameters;
use super::{Failure, reply};
use crate::clock;

/// How long a call waits for the work at most, and unless it says otherwise: less than its
/// deadline.
const WAIT_MS: u64 = 15_000;

pub(super) fn consolidate(
    engine: &MemoryEngine,
    given: &Parameters<'_>,
    now: Timestamp,
) -> Result<Value, Failure> {
    if given.flag("try_resting")? {
        engine.forgive_steps(now)?;
    }
    let wait = Duration::from_millis(given.count("wait_ms", WAIT_MS)?.min(WAIT_MS));
    reply(engine.consolidate(Patience(wait), &clock::now))
}

pub(super) fn questions(
    engine: &MemoryEngine,
    given: &Parameters<'_>,
    now: Timestamp,
) -> Result<Value, Failure> {
    let ask = QuestionsAsk { session: given.optional_text("session_id")? };
    reply(engine.questions(&ask, now))
}

pub(super) fn patterns(engine: &MemoryEngine, given: &Parameters<'_>) -> Result<Value, Failure> {
    let ask = PatternsAsk {
        project: given.optional_text("domain")?,
        confidence_min: given.share("confidence_min")?,
    };
    reply(engine.patterns(&ask))
}

pub(super) fn topics(engine: &MemoryEngine, given: &Parameters<'_>) -> Result<Value, Failure> {
    let topics = engine.topics(given.optional_text("project")?.as_deref())?;
    Ok(json!({"count": topics.len(), "topics": topics}))
}
