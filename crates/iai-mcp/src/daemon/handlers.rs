//! What each method does with the engine: parameters in, JSON out.
//!
//! Knows neither sockets nor threads, so that a client may use it read-only while no daemon runs.

mod forgetting;
mod keeping;
mod looking;
mod organised;
mod parameters;
mod picture;
mod standing;
pub(super) mod turns;

pub(super) use forgetting::{forget_ask, progress};

use iai_memory::{
    CaptureAsk, Certainty, EventsAsk, HandPlace, MemoryEngine, MemoryError, RecallAsk, Role,
    SetAside, ShelfFilter, StoreError, Tier, Timing,
};
use iai_wire::{BY_PERSON, code};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::capture::{SecretPolicy, fit_to_keep};
use crate::fields::Fields as _;
use parameters::Parameters;

const RECALL_BUDGET: u64 = 1500;
const BUDGET_MAX: u64 = 100_000;
const EVENTS_LIMIT: u64 = 100;
const LIST_LIMIT: u64 = 20;
const LIST_LIMIT_MAX: u64 = 1000;
/// What is told of lines set aside: the newest of them, and how each begins.
const SET_ASIDE_LIMIT: usize = 100;
const SET_ASIDE_CHARS_MAX: usize = 300;
/// Says of a correction that the user wrote it on the page.
const BY_PAGE: &str = "page";
/// A session id longer than this is somebody's mistake.
const SESSION_CHARS_MAX: usize = 256;

/// Why a call has no result.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: i64,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        let code = match &error {
            MemoryError::BadParameter { .. } => code::BAD_PARAMS,
            MemoryError::Store(StoreError::Refused { .. }) => code::BAD_PARAMS,
            MemoryError::UnknownMemory { .. } | MemoryError::Embed(_) => code::FAILED,
            // Only a client that found no daemon opens the store for reading alone.
            MemoryError::ReadOnly => code::UNREACHABLE,
            MemoryError::Store(_) | MemoryError::WriterBroken => code::STORE,
        };
        Self::new(code, error.to_string())
    }
}

/// Answers one call.
pub(crate) fn answer(
    engine: &MemoryEngine,
    secrets: &SecretPolicy,
    method: &str,
    parameters: &Value,
    now: Timestamp,
) -> Result<Value, Failure> {
    let given = Parameters::new(parameters)?;
    match method {
        "memory_recall" => recall(engine, &given, now),
        "memory_recall_structural" => looking::structural(engine, &given, now),
        "memory_temporal_recall" => looking::temporal(engine, &given, now),
        "text_search" => looking::text(engine, &given, now),
        "episodes_recent" => looking::episodes(engine, &given),
        "memory_reinforce" => reply(engine.reinforce(&given.texts("ids")?, &session(&given)?, now)),
        "memory_contradict" => contradict(engine, secrets, &given, now),
        "memory_capture" => capture(engine, secrets, &given, now),
        "memory_arrivals" => looking::arrivals(engine, &given),
        "memory_beside" => looking::beside(engine, &given),
        "memory_search" => search(engine, &given),
        "memory_list" => list(engine, &given),
        "memory_show" => show(engine, &given),
        "session_turns" => session_turns(engine, &given),
        "turns_check" => turns::check(engine, parameters, now),
        "embedding_hurry" => {
            engine.hurry_embedding();
            Ok(json!({}))
        }
        "spool_receipts" => spool_receipts(engine),
        "set_aside_list" => set_aside(engine),
        "profile_get" => match given.optional_text("knob")? {
            Some(knob) => Ok(engine.profile_knob(&knob)?),
            None => Ok(engine.profile()?),
        },
        "profile_set" => {
            let (knob, value) = (given.text("knob")?, given.value("value")?);
            Ok(engine.set_profile(&knob, value, now)?)
        }
        "events_query" => events(engine, &given),
        "topology" => reply(engine.topology()),
        "session_start_payload" => standing::brief(engine, &given, now),
        "identity_get" => standing::identity(engine),
        "identity_set" => standing::set_identity(engine, secrets, &given, now),
        "memory_pin" => standing::pin(engine, &given, now),
        "memory_unpin" => reply(engine.unpin(&given.text("id")?, now)),
        "memory_pins" => standing::pins(engine),
        "store_overview" => reply(engine.overview()),
        "memory_consolidate" => organised::consolidate(engine, &given, now),
        "curiosity_pending" => organised::questions(engine, &given, now),
        "schema_list" => organised::patterns(engine, &given),
        "topics_list" => organised::topics(engine, &given),
        "export_take" => keeping::take_export(engine, &given),
        "crypto_rotate" => keeping::rotate(engine, &given, now),
        "taught_list" => {
            let skip = usize::try_from(given.count("skip", 0)?).unwrap_or(usize::MAX);
            reply(engine.taught(given.optional_text("set")?.as_deref(), skip))
        }
        "taught_passages" => {
            let ids = engine.taught_passages(&given.text("session")?)?;
            Ok(json!({"count": ids.len(), "ids": ids}))
        }
        "forget_preview" => reply(engine.forget_preview(&forgetting::ask_of(&given)?)),
        "forget_status" => forgetting::status(engine, &given),
        "forget_receipts" => forgetting::receipts(engine, &given),
        "forget_check" => forgetting::check(engine),
        "picture_search" => picture::search(engine, &given, now),
        "picture_decided" => picture::decided(engine, &given, now),
        "picture_sessions" => picture::sessions(engine, &given),
        "picture_session" => picture::session(engine, &given),
        "picture_memory" => picture::memory(engine, &given, now),
        "picture_topics" => picture::topics(engine, &given),
        "picture_members" => picture::members(engine, &given),
        "camouflaging_status" => looking::camouflaging(engine, &given),
        _ => Err(Failure::new(code::UNKNOWN_METHOD, format!("unknown method '{method}'"))),
    }
}

/// Tells whether a method changes the store, so that nobody tries it while no daemon runs.
pub(crate) fn is_write(method: &str) -> bool {
    matches!(
        method,
        "memory_capture"
            | "memory_consolidate"
            | "memory_contradict"
            | "memory_forget"
            | "memory_forget_asked"
            | "memory_reinforce"
            | "memory_pin"
            | "memory_unpin"
            | "identity_set"
            | "profile_set"
            | "turns_store"
            | "crypto_rotate"
            | "export_take"
    )
}

/// Tells whether a method is nothing that quiet work has to make way for: it waits for that very
/// work, or is sent by a program that only follows along.
pub(crate) fn is_quiet(method: &str) -> bool {
    matches!(method, "memory_consolidate" | "memory_arrivals")
}

/// Tells whether whoever calls a method may wait for seconds, by its nature.
pub(crate) fn may_take_long(method: &str) -> bool {
    matches!(
        method,
        "memory_consolidate"
            | "memory_forget"
            | "memory_forget_asked"
            | "forget_status"
            | "secrets_scan"
            | "secrets_fix"
            | "sync_status"
            | "sync_setup"
            | "sync_invite"
            | "sync_join"
            | "reflection_run"
    )
}

/// Returns how many memories an answered call added. A correction sent twice counts twice until the
/// next start; every other call says what it did.
pub(crate) fn n_stored_by(method: &str, answer: &Value) -> u64 {
    match method {
        "memory_capture" => u64::from(answer.at("status") == "inserted"),
        "memory_contradict" => 1,
        "turns_store" | "export_take" => answer.at("stored").as_u64().unwrap_or(0),
        _ => 0,
    }
}

/// Returns how many tokens an answered call handed to an assistant; what a person looks at costs
/// none.
pub(crate) fn n_tokens_by(method: &str, params: &Value, answer: &Value) -> u64 {
    if params.at("by") == BY_PERSON {
        return 0;
    }
    let field = match method {
        "memory_recall" | "memory_recall_structural" | "memory_temporal_recall" | "text_search" => {
            "budget_used"
        }
        "session_start_payload" => "total_cached_tokens",
        _ => return 0,
    };
    answer.at(field).as_u64().unwrap_or(0)
}

fn reply<T: Serialize>(result: Result<T, MemoryError>) -> Result<Value, Failure> {
    serde_json::to_value(result?)
        .map_err(|error| Failure::new(code::INTERNAL, format!("writing the answer: {error}")))
}

fn recall(engine: &MemoryEngine, given: &Parameters<'_>, now: Timestamp) -> Result<Value, Failure> {
    let ask = RecallAsk {
        cue: given.text("cue")?,
        budget_tokens: given.count("budget_tokens", RECALL_BUDGET)?.min(BUDGET_MAX),
        project: given.optional_text("project")?,
        asked_from: given.optional_text("asked_from")?,
        session: known_session(given)?,
        certainty: match given.flag("only_confident")? {
            true => Certainty::OnlyConfident,
            false => Certainty::Any,
        },
        as_of: given.optional_time("asof")?,
        timing: match given.flag("tell_timing")? {
            true => Timing::Told,
            false => Timing::Untold,
        },
        n_hits_wanted: given.optional_count("n_hits_max")?,
    };
    reply(engine.recall(&ask, now))
}

fn contradict(
    engine: &MemoryEngine,
    secrets: &SecretPolicy,
    given: &Parameters<'_>,
    now: Timestamp,
) -> Result<Value, Failure> {
    let (id, new_fact) = (given.text("id")?, given.text("new_fact")?);
    let (new_fact, session) = (fit_to_keep(new_fact, secrets).text, session(given)?);
    let place = match given.optional_text("by")?.as_deref() {
        Some(BY_PAGE) => HandPlace::Page,
        Some(BY_PERSON) => HandPlace::Terminal,
        _ => return reply(engine.contradict(&id, &new_fact, &session, now)),
    };
    reply(engine.contradict_by_hand(&id, &new_fact, (&session, place), now))
}

fn capture(
    engine: &MemoryEngine,
    secrets: &SecretPolicy,
    given: &Parameters<'_>,
    now: Timestamp,
) -> Result<Value, Failure> {
    let ask = CaptureAsk {
        text: fit_to_keep(given.text("text")?, secrets).text,
        cue: given.optional_text("cue")?.map(|cue| fit_to_keep(cue, secrets).text),
        tier: given.parsed("tier", Tier::Episodic)?,
        role: given.parsed("role", Role::User)?,
        session: session(given)?,
        project: given.optional_text("project")?,
        cwd: given.optional_text("cwd")?,
    };
    reply(engine.capture(&ask, now))
}

fn shelf_filter(given: &Parameters<'_>) -> Result<ShelfFilter, Failure> {
    Ok(ShelfFilter {
        project: given.optional_text("project")?,
        session: given.optional_text("session")?,
    })
}

fn limit(given: &Parameters<'_>) -> Result<usize, Failure> {
    let limit = given.count("limit", LIST_LIMIT)?.clamp(1, LIST_LIMIT_MAX);
    Ok(usize::try_from(limit).unwrap_or(usize::MAX))
}

fn search(engine: &MemoryEngine, given: &Parameters<'_>) -> Result<Value, Failure> {
    let text = given.text("text")?;
    let found = engine.search(&text, &shelf_filter(given)?, limit(given)?)?;
    Ok(json!({"count": found.len(), "memories": found}))
}

fn show(engine: &MemoryEngine, given: &Parameters<'_>) -> Result<Value, Failure> {
    let start = usize::try_from(given.count("start", 0)?).unwrap_or(usize::MAX);
    reply(engine.show(&given.text("id")?, start))
}

fn list(engine: &MemoryEngine, given: &Parameters<'_>) -> Result<Value, Failure> {
    let found = engine.list(&shelf_filter(given)?, limit(given)?)?;
    Ok(json!({"count": found.len(), "memories": found}))
}

fn session_turns(engine: &MemoryEngine, given: &Parameters<'_>) -> Result<Value, Failure> {
    let skip = usize::try_from(given.count("skip", 0)?).unwrap_or(usize::MAX);
    let mut session = given.text("session")?;
    // Only where a person types it: who asks about a session that is gone must not get another.
    if given.flag("or_beginning")? {
        session = engine.session_called(&session)?;
    }
    let turns = engine.session_turns(&session, skip, limit(given)?)?;
    Ok(json!({"turns": turns}))
}

fn spool_receipts(engine: &MemoryEngine) -> Result<Value, Failure> {
    let mut files = serde_json::Map::new();
    for receipt in engine.receipts_waiting()? {
        let told = json!({
            "attempts": receipt.attempts,
            "next_attempt_at": receipt.next_attempt_at.map(|at| at.to_string()),
            "last_error": receipt.last_error,
        });
        files.insert(receipt.file, told);
    }
    Ok(json!({"files": files}))
}

fn set_aside(engine: &MemoryEngine) -> Result<Value, Failure> {
    let lines = engine.set_aside(SET_ASIDE_LIMIT)?;
    let told = |line: &SetAside| {
        let words = String::from_utf8_lossy(&line.bytes);
        json!({
            "number": line.number,
            "file": line.file,
            "line": line.line,
            "at": line.at.to_string(),
            "reason": line.reason,
            "first_words": words.chars().take(SET_ASIDE_CHARS_MAX).collect::<String>(),
        })
    };
    let lines: Vec<Value> = lines.iter().map(told).collect();
    Ok(json!({"count": engine.overview()?.set_aside, "lines": lines}))
}

fn events(engine: &MemoryEngine, given: &Parameters<'_>) -> Result<Value, Failure> {
    let ask = EventsAsk {
        kind: given.text("kind")?,
        since: given.optional_time("since")?,
        severity: given.optional_text("severity")?,
        limit: usize::try_from(given.count("limit", EVENTS_LIMIT)?).unwrap_or(usize::MAX),
    };
    reply(engine.events(&ask))
}

/// The session that was named; `-` names none.
fn known_session(given: &Parameters<'_>) -> Result<Option<String>, Failure> {
    Ok(Some(session(given)?).filter(|session| session != "-"))
}

fn session(given: &Parameters<'_>) -> Result<String, Failure> {
    let session = given.optional_text("session_id")?.unwrap_or_else(|| "-".to_owned());
    Ok(session.chars().take(SESSION_CHARS_MAX).collect())
}
