//! What the page shows: a search that teaches nothing, what was decided, sessions, conversations,
//! a memory among its neighbours, topics and their members. Every answer is a page of bounded size.

use iai_memory::{
    Certainty, ConversationAsk, ConversationPart, MembersAsk, MemoryEngine, RecallAsk,
    SessionCursor, SessionsAsk, Timing,
};
use jiff::Timestamp;
use serde_json::Value;

use super::parameters::Parameters;
use super::{Failure, reply};

/// Hits of a search, and at most.
const HITS: u64 = 30;
const HITS_MAX: u64 = 100;
/// What the hits of a search may cost together: the page shows long ones in part.
const TOKENS_PER_HIT: u64 = 400;
const DECISIONS: u64 = 5;
const SESSIONS: u64 = 30;
const TURNS: u64 = 40;
const MEMBERS: u64 = 100;

/// Ranks like `memory_recall`. Whoever browses says nothing about what is of use: as of now, an
/// answer is neither counted nor missed.
pub(super) fn search(
    engine: &MemoryEngine,
    given: &Parameters<'_>,
    now: Timestamp,
) -> Result<Value, Failure> {
    let n_hits = given.count("limit", HITS)?.clamp(1, HITS_MAX);
    let ask = RecallAsk {
        cue: given.text("cue")?,
        budget_tokens: n_hits * TOKENS_PER_HIT,
        project: given.optional_text("project")?,
        asked_from: None,
        session: None,
        certainty: Certainty::Any,
        as_of: Some(now),
        timing: Timing::Told,
        n_hits_wanted: Some(size(n_hits)),
    };
    reply(engine.recall(&ask, now))
}

pub(super) fn decided(
    engine: &MemoryEngine,
    given: &Parameters<'_>,
    now: Timestamp,
) -> Result<Value, Failure> {
    let project = given.optional_text("project")?;
    let limit = size(given.count("limit", DECISIONS)?);
    reply(engine.picture_decided(project.as_deref(), limit, now))
}

pub(super) fn sessions(engine: &MemoryEngine, given: &Parameters<'_>) -> Result<Value, Failure> {
    let ended = given.optional_time("after_ended")?;
    let session_id = given.optional_text("after_session")?;
    let ask = SessionsAsk {
        project: given.optional_text("project")?,
        after: ended.map(|ended| SessionCursor { ended: ended.to_string(), session_id }),
        limit: size(given.count("limit", SESSIONS)?),
        utc_offset_minutes: given.whole_number("utc_offset_minutes")?,
    };
    reply(engine.picture_sessions(&ask))
}

pub(super) fn session(engine: &MemoryEngine, given: &Parameters<'_>) -> Result<Value, Failure> {
    let part = match given.optional_text("around")? {
        Some(id) => ConversationPart::Around(id),
        None => ConversationPart::Skip(size(given.count("skip", 0)?)),
    };
    let ask = ConversationAsk {
        session: given.text("session")?,
        host: given.optional_text("host")?,
        part,
        limit: size(given.count("limit", TURNS)?),
    };
    reply(engine.conversation(&ask))
}

pub(super) fn memory(
    engine: &MemoryEngine,
    given: &Parameters<'_>,
    now: Timestamp,
) -> Result<Value, Failure> {
    reply(engine.surroundings(&given.text("id")?, now))
}

pub(super) fn topics(engine: &MemoryEngine, given: &Parameters<'_>) -> Result<Value, Failure> {
    reply(engine.topic_map(given.optional_text("filter")?.as_deref()))
}

pub(super) fn members(engine: &MemoryEngine, given: &Parameters<'_>) -> Result<Value, Failure> {
    given.value("topic")?;
    let ask = MembersAsk {
        topic: given.count("topic", 0)?,
        before: given.optional_text("before")?,
        limit: size(given.count("limit", MEMBERS)?),
    };
    reply(engine.topic_members(&ask))
}

fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
