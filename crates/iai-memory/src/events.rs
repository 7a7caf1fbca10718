//! The ledger of what happened, and which kinds of it a client may read.

use iai_store::{EventFilter, MemoryId, NewEvent, Severity};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};

/// Kinds that say nothing about the content of a memory.
const READABLE: &[&str] = &[
    "s4_contradiction",
    "schema_induction_run",
    "llm_health",
    "curiosity_silent_log",
    "curiosity_question",
    "cls_consolidation_run",
    "crypto_key_rotated",
    "profile_updated",
    "identity_updated",
    "pin_updated",
    "permanent_capture_failure",
    "sync_exchanged",
    "daemon_started",
    "daemon_stopped",
];
const LIMIT_MAX: usize = 1000;

/// Which events.
#[derive(Debug, Clone)]
pub struct EventsAsk {
    /// One kind.
    pub kind: String,
    /// Not older than this.
    pub since: Option<Timestamp>,
    /// Only this severity.
    pub severity: Option<String>,
    /// At most this many, 1 to 1000.
    pub limit: usize,
}

/// Events, newest first.
#[derive(Debug, Serialize)]
pub struct EventsAnswer {
    /// The events.
    pub events: Vec<EventView>,
    /// How many.
    pub count: usize,
}

/// One event as a client sees it.
#[derive(Debug, Serialize)]
pub struct EventView {
    id: String,
    kind: String,
    severity: Option<&'static str>,
    domain: String,
    ts: String,
    data: Value,
    session_id: Option<String>,
    source_ids: Vec<MemoryId>,
}

impl MemoryEngine {
    /// Returns the newest events of one readable kind.
    pub fn events(&self, ask: &EventsAsk) -> Result<EventsAnswer> {
        if !READABLE.contains(&ask.kind.as_str()) {
            let why = format!("`{}` cannot be read; allowed: {}", ask.kind, READABLE.join(", "));
            return Err(MemoryError::bad("kind", why));
        }
        let severity = ask.severity.as_deref().map(parse_severity).transpose()?;
        let filter = EventFilter {
            kinds: vec![ask.kind.clone()],
            severity,
            since: ask.since,
            ..EventFilter::newest(ask.limit.clamp(1, LIMIT_MAX))
        };
        let events = self.read(|reader| Ok(reader.events(&filter)?))?;
        let events: Vec<EventView> = events
            .into_iter()
            .map(|event| EventView {
                id: event.id.to_string(),
                kind: event.kind,
                severity: event.severity.map(Severity::as_str),
                domain: event.domain.unwrap_or_default(),
                ts: event.at.to_string(),
                data: event.data,
                session_id: event.session,
                source_ids: event.sources,
            })
            .collect();
        Ok(EventsAnswer { count: events.len(), events })
    }

    /// Writes down something that happened to the program itself.
    pub fn record_event(&self, kind: &str, data: Value, now: Timestamp) -> Result<()> {
        let event = NewEvent {
            kind: kind.to_owned(),
            severity: Some(Severity::Info),
            domain: Some("ops".to_owned()),
            at: now,
            data,
            session: None,
            sources: Vec::new(),
        };
        self.write(|writing| {
            writing.event(&event)?;
            Ok(())
        })
    }
}

fn parse_severity(name: &str) -> Result<Severity> {
    [Severity::Info, Severity::Warning, Severity::Critical]
        .into_iter()
        .find(|severity| severity.as_str() == name)
        .ok_or_else(|| MemoryError::bad("severity", "must be info, warning or critical"))
}
