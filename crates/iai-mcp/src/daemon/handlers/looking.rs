//! The calls that look for memories by something else than a cue: attributes, times, plain text,
//! sessions; and what the user's wording tells.

use iai_memory::{ArrivalsAsk, EpisodesAsk, MemoryEngine, StructuralAsk, TemporalAsk, TextAsk};
use jiff::Timestamp;
use serde_json::Value;

use super::parameters::Parameters;
use super::{BUDGET_MAX, Failure, RECALL_BUDGET, reply};

const STRUCTURAL_BUDGET: u64 = 2000;
const STRUCTURAL_CANDIDATES: u64 = 5000;
const SEARCH_LIMIT: u64 = 10;
const EPISODES_LIMIT: u64 = 5;
/// Turns on each side of a memory.
const BESIDE: u64 = 2;
const WINDOW_WEEKS: u64 = 5;
const WINDOW_WEEKS_MAX: u64 = 1000;

pub(super) fn structural(
    engine: &MemoryEngine,
    given: &Parameters<'_>,
    now: Timestamp,
) -> Result<Value, Failure> {
    let ask = StructuralAsk {
        structure_query: given.text_map("structure_query")?,
        budget_tokens: given.count("budget_tokens", STRUCTURAL_BUDGET)?.min(BUDGET_MAX),
        n_candidates_max: size(given.count("max_records", STRUCTURAL_CANDIDATES)?),
    };
    reply(engine.recall_structural(&ask, now))
}

pub(super) fn temporal(
    engine: &MemoryEngine,
    given: &Parameters<'_>,
    now: Timestamp,
) -> Result<Value, Failure> {
    let ask = TemporalAsk {
        cue: given.optional_text("cue")?,
        from: given.optional_time("from")?,
        to: given.optional_time("to")?,
        phrase: given.optional_text("phrase")?,
        budget_tokens: given.count("budget_tokens", RECALL_BUDGET)?.min(BUDGET_MAX),
        project: given.optional_text("project")?,
    };
    reply(engine.recall_temporal(&ask, now))
}

pub(super) fn text(
    engine: &MemoryEngine,
    given: &Parameters<'_>,
    now: Timestamp,
) -> Result<Value, Failure> {
    let ask = TextAsk {
        text: given.text("text")?,
        project: given.optional_text("project")?,
        limit: size(given.count("limit", SEARCH_LIMIT)?),
    };
    reply(engine.find_text(&ask, now))
}

pub(super) fn episodes(engine: &MemoryEngine, given: &Parameters<'_>) -> Result<Value, Failure> {
    let ask = EpisodesAsk {
        project: given.optional_text("project")?,
        limit: size(given.count("limit", EPISODES_LIMIT)?),
        before: given.optional_time("before")?,
    };
    reply(engine.episodes(&ask))
}

/// Tells what came in; waiting for more is done before, by the connection.
pub(super) fn arrivals(engine: &MemoryEngine, given: &Parameters<'_>) -> Result<Value, Failure> {
    let after = given.optional_count("after")?.map(|after| after as u64);
    reply(engine.arrivals(&ArrivalsAsk { after, project: given.optional_text("project")? }))
}

pub(super) fn beside(engine: &MemoryEngine, given: &Parameters<'_>) -> Result<Value, Failure> {
    reply(engine.beside(&given.text("id")?, size(given.count("each", BESIDE)?)))
}

pub(super) fn camouflaging(
    engine: &MemoryEngine,
    given: &Parameters<'_>,
) -> Result<Value, Failure> {
    let n_weeks = given.count("window_size", WINDOW_WEEKS)?.clamp(1, WINDOW_WEEKS_MAX);
    reply(engine.camouflaging(size(n_weeks)))
}

fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
