//! What holds for good: the brief, the identity, the pins.

use iai_memory::{BriefAsk, Consent, MemoryEngine, Reach};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::parameters::Parameters;
use super::{Failure, reply, session};
use crate::capture::{SecretPolicy, fit_to_keep};

pub(super) fn brief(
    engine: &MemoryEngine,
    given: &Parameters<'_>,
    now: Timestamp,
) -> Result<Value, Failure> {
    let project = given.optional_text("project")?.filter(|project| !project.is_empty());
    let ask = BriefAsk { session: session(given)?, project };
    reply(engine.brief(&ask, now))
}

pub(super) fn identity(engine: &MemoryEngine) -> Result<Value, Failure> {
    Ok(json!({"text": engine.identity()?}))
}

pub(super) fn set_identity(
    engine: &MemoryEngine,
    secrets: &SecretPolicy,
    given: &Parameters<'_>,
    now: Timestamp,
) -> Result<Value, Failure> {
    let text = given.optional_text("text")?.unwrap_or_default();
    engine.set_identity(&fit_to_keep(text, secrets).text, now)?;
    identity(engine)
}

pub(super) fn pin(
    engine: &MemoryEngine,
    given: &Parameters<'_>,
    now: Timestamp,
) -> Result<Value, Failure> {
    let reach = match given.flag("everywhere")? {
        true => Reach::Everywhere,
        false => Reach::Project,
    };
    let consent = match given.flag("untrusted_too")? {
        true => Consent::Given,
        false => Consent::NotAsked,
    };
    reply(engine.pin(&given.text("id")?, (reach, consent), now))
}

pub(super) fn pins(engine: &MemoryEngine) -> Result<Value, Failure> {
    let pins = engine.pins()?;
    Ok(json!({"count": pins.len(), "memories": pins}))
}
