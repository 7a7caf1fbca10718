//! What consolidation finds: topics, what is summarised, facts and patterns, cues that found
//! nothing.

use jiff::Timestamp;

use super::named::named;
use super::{MemoryId, MemoryNumber};

/// A memory near another, and how near: 255 is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbour {
    /// The other memory.
    pub number: MemoryNumber,
    /// How near it is.
    pub nearness: u8,
}

/// Memories that are about the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// Its number; memories name it as their community.
    pub number: u64,
    /// What people call it.
    pub label: String,
    /// The phrases its members share.
    pub phrases: Vec<String>,
    /// How many memories it has.
    pub n_members: u64,
    /// The project of most of them.
    pub project: Option<String>,
}

named! {
    /// What a summary is of.
    pub enum SummaryKind("kind of a summary") {
        /// A topic.
        Topic = "topic",
        /// A session.
        Session = "session",
    }
}

/// A summary as far as it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// What kind of thing it is of.
    pub kind: SummaryKind,
    /// The number of the topic or session.
    pub source: u64,
    /// A hash of the members it was made from.
    pub members_hash: Option<u64>,
    /// The memory that holds its text.
    pub memory: Option<MemoryNumber>,
}

named! {
    /// What habits are counted from.
    pub enum FactKind("kind of a fact") {
        /// A command that was run or named.
        Command = "command",
        /// A name: of a program, a file, a service, a person.
        Entity = "entity",
        /// Something the user asked for in general.
        Preference = "preference",
    }
}

/// A fact of a memory, with what it is counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FactSeen {
    /// The memory.
    pub memory: MemoryNumber,
    /// The fact, by number.
    pub fact: u64,
}

named! {
    /// What a pattern says.
    pub enum PatternKind("kind of a pattern") {
        /// The object is done in most sessions of the project.
        Habit = "habit",
        /// Where the subject is, the object is too.
        Association = "association",
        /// The user asked for it.
        Preference = "preference",
    }
}

named! {
    /// How sure a pattern is.
    pub enum PatternStatus("status of a pattern") {
        /// Sure enough to be used.
        Auto = "auto",
        /// Worth a question.
        Pending = "pending",
    }
}

/// A pattern as it was counted.
#[derive(Debug, Clone, PartialEq)]
pub struct NewPattern {
    /// What it says.
    pub kind: PatternKind,
    /// Where this is …
    pub subject: String,
    /// … this is too.
    pub object: String,
    /// The project it holds in; empty for none.
    pub project: String,
    /// Sessions that show it.
    pub n_evidence: u64,
    /// Sessions that should and do not.
    pub n_exceptions: u64,
    /// The share of those that do.
    pub confidence: f64,
    /// How sure it is.
    pub status: PatternStatus,
    /// Memories that show it.
    pub evidence: Vec<MemoryNumber>,
}

/// A stored pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// Its number.
    pub number: u64,
    /// What was counted; its list of memories is empty.
    pub counted: NewPattern,
    /// The first memories that show it.
    pub evidence: Vec<MemoryId>,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A cue that found nothing, several times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissedCue {
    /// As it is compared with others.
    pub cue: String,
    /// The project it was asked in; empty for none.
    pub project: String,
    /// As it was last put.
    pub asked: String,
    /// How often.
    pub n_times: u64,
    /// When last.
    pub last_at: Timestamp,
}
