//! What an export carries beside memories: what users did with them.

use jiff::Timestamp;

use super::{LinkKind, Memory, MemoryId, Reach};

/// Which memories an export takes; an empty choice takes all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportChoice {
    /// Only this project: its path, or the last part of it.
    pub project: Option<String>,
    /// Only this session.
    pub session: Option<String>,
    /// Only what was said since.
    pub since: Option<Timestamp>,
}

/// A memory with its JSON columns as they are written.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedMemory {
    /// The memory.
    pub memory: Memory,
    /// Its tags, byte for byte.
    pub tags: String,
    /// Its provenance, byte for byte.
    pub provenance: String,
}

/// One thing that users did, or that was learned from what they did.
#[derive(Debug, Clone, PartialEq)]
pub enum ExportedDeed {
    /// A correction, or a pair that was of use together.
    Link {
        /// From.
        src: MemoryId,
        /// To.
        dst: MemoryId,
        /// What it means.
        kind: LinkKind,
        /// From 0 to 1.
        weight: f64,
        /// When it came to be.
        created_at: Timestamp,
        /// When it was last confirmed.
        touched_at: Timestamp,
    },
    /// A session that strengthened a pair.
    LinkSession {
        /// The one.
        src: MemoryId,
        /// The other.
        dst: MemoryId,
        /// The session.
        session: String,
    },
    /// A memory that is kept in sight.
    Pin {
        /// The memory.
        memory: MemoryId,
        /// Where it is told.
        reach: Reach,
        /// Since when.
        pinned_at: Timestamp,
    },
    /// How often a memory was of use.
    Use {
        /// The memory.
        memory: MemoryId,
        /// How often it was an answer.
        n_recalled: u64,
        /// How often it was reinforced.
        n_reinforced: u64,
        /// When last.
        last_at: Timestamp,
    },
}
