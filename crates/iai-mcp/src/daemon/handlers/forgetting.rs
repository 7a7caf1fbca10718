//! Forgetting, as far as it only looks: what would go, how far it is, what went.

use std::time::Duration;

use iai_memory::{ForgetAsk, ForgetProgress, MemoryEngine};
use serde_json::{Value, json};

use super::parameters::Parameters;
use super::{Failure, reply};
use crate::fields::Fields as _;

/// How long a call waits for the end; whoever waits longer asks again.
const PATIENCE: Duration = Duration::from_secs(10);
const RECEIPTS_LIMIT: u64 = 100;

/// Reads what is to be forgotten out of a call's parameters.
pub(in crate::daemon) fn forget_ask(params: &Value) -> Result<ForgetAsk, Failure> {
    ask_of(&Parameters::new(params)?)
}

/// Reads what is to be forgotten.
pub(super) fn ask_of(given: &Parameters<'_>) -> Result<ForgetAsk, Failure> {
    let is_given = |name| given.value(name).is_ok_and(|value| !value.is_null());
    Ok(ForgetAsk {
        ids: if is_given("ids") { given.texts("ids")? } else { Vec::new() },
        session: given.optional_text("session")?,
        project: given.optional_text("project")?,
        containing: given.optional_text("match")?,
        before: given.optional_time("before")?,
        taught: given.optional_text("taught")?,
    })
}

/// Tells how far a receipt is.
pub(super) fn status(engine: &MemoryEngine, given: &Parameters<'_>) -> Result<Value, Failure> {
    progress(engine, given.count("receipt", 0)?)
}

/// Tells how far a receipt is, at its end where that is near.
pub(in crate::daemon) fn progress(engine: &MemoryEngine, receipt: u64) -> Result<Value, Failure> {
    let progress: ForgetProgress = engine.forget_progress(receipt, PATIENCE)?;
    reply(Ok(progress))
}

pub(super) fn receipts(engine: &MemoryEngine, given: &Parameters<'_>) -> Result<Value, Failure> {
    let limit = usize::try_from(given.count("limit", RECEIPTS_LIMIT)?).unwrap_or(usize::MAX);
    let receipts = engine.forget_receipts(limit)?;
    Ok(json!({"count": receipts.len(), "receipts": receipts}))
}

pub(super) fn check(engine: &MemoryEngine) -> Result<Value, Failure> {
    let problems = engine.check_forgotten()?.problems;
    let told: Vec<&String> = problems.iter().map(|problem| &problem.detail).collect();
    let mut answer = json!({"ok": told.is_empty()});
    answer.set("problems", json!(told));
    Ok(answer)
}
