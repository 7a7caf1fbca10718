//! What is kept besides memories: events, receipts of spool files, lines set aside, and counts.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::named::named;
use super::{EventId, LinkKind, MemoryId};

named! {
    /// How much an event asks for attention.
    pub enum Severity("severity") {
        /// Good to know.
        Info = "info",
        /// Worth a look.
        Warning = "warning",
        /// Needs a person.
        Critical = "critical",
    }
}

/// Something that happened, as it is handed to the store.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEvent {
    /// What kind of thing.
    pub kind: String,
    /// How much it asks for attention.
    pub severity: Option<Severity>,
    /// The part of the program it belongs to.
    pub domain: Option<String>,
    /// When; kept to the millisecond.
    pub at: Timestamp,
    /// Its details.
    pub data: Value,
    /// The session it happened in.
    pub session: Option<String>,
    /// The memories it is about.
    pub sources: Vec<MemoryId>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its name.
    pub id: EventId,
    /// What kind of thing.
    pub kind: String,
    /// How much it asks for attention.
    pub severity: Option<Severity>,
    /// The part of the program it belongs to.
    pub domain: Option<String>,
    /// When.
    pub at: Timestamp,
    /// Its details.
    pub data: Value,
    /// The session it happened in.
    pub session: Option<String>,
    /// The memories it is about.
    pub sources: Vec<MemoryId>,
}

/// Which events are meant, and how many at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFilter {
    /// Any of these kinds; empty means all.
    pub kinds: Vec<String>,
    /// Exactly this severity.
    pub severity: Option<Severity>,
    /// Exactly this domain.
    pub domain: Option<String>,
    /// Exactly this session.
    pub session: Option<String>,
    /// Not before this time.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub before: Option<Timestamp>,
    /// The most events returned.
    pub limit: usize,
}

impl EventFilter {
    /// Returns a filter for the newest events of any kind.
    pub fn newest(limit: usize) -> Self {
        Self {
            kinds: Vec::new(),
            severity: None,
            domain: None,
            session: None,
            since: None,
            before: None,
            limit,
        }
    }
}

named! {
    /// Whether a spool file is finished.
    pub enum ReceiptState("receipt state") {
        /// It will be tried again.
        Waiting = "waiting",
        /// Every line is stored, known or set aside.
        Done = "done",
    }
}

/// What became of a spool file so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The name of the spool file.
    pub file: String,
    /// Whether it is finished.
    pub state: ReceiptState,
    /// How often it was tried.
    pub attempts: u64,
    /// When it is tried next.
    pub next_attempt_at: Option<Timestamp>,
    /// How many turns it held.
    pub n_turns: u64,
    /// How many were stored.
    pub n_stored: u64,
    /// How many were there already.
    pub n_known: u64,
    /// How many lines were set aside.
    pub n_set_aside: u64,
    /// Why the last attempt ended early.
    pub last_error: Option<String>,
    /// When this was written.
    pub at: Timestamp,
}

/// A spool line nobody could read, as it is handed to the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSetAside {
    /// The spool file it stood in.
    pub file: String,
    /// Its line, counted from 1.
    pub line: u64,
    /// Why it could not be read.
    pub reason: String,
    /// Its raw bytes; the first mebibyte is kept.
    pub bytes: Vec<u8>,
    /// When it was set aside.
    pub at: Timestamp,
}

/// A spool line nobody could read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// Its number; later lines have larger ones.
    pub number: u64,
    /// The spool file it stood in.
    pub file: String,
    /// Its line, counted from 1.
    pub line: u64,
    /// Why it could not be read.
    pub reason: String,
    /// Its raw bytes, at most the first mebibyte.
    pub bytes: Vec<u8>,
    /// How long it truly was.
    pub length_bytes: u64,
    /// SHA-256 of all its bytes.
    pub sha256: [u8; 32],
    /// When it was set aside.
    pub at: Timestamp,
}

/// How much there is of everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Stored memories.
    pub memories: u64,
    /// Links of any kind.
    pub links: u64,
    /// Links by kind; kinds without links are absent.
    pub links_by_kind: BTreeMap<LinkKind, u64>,
    /// Events.
    pub events: u64,
    /// Distinct sessions.
    pub sessions: u64,
    /// Distinct projects.
    pub projects: u64,
    /// Lines set aside.
    pub set_aside: u64,
    /// Distinct communities.
    pub communities: u64,
    /// The time of the oldest turn.
    pub earliest: Option<Timestamp>,
    /// The time of the newest turn.
    pub latest: Option<Timestamp>,
}
