//! What holds beyond its session: pins, remarks, and how often a memory was of use.

use jiff::Timestamp;

use super::named::named;
use super::{Memory, MemoryNumber};

named! {
    /// Where something is told that holds beyond its session.
    pub enum Reach("reach") {
        /// In the project it was said in.
        Project = "project",
        /// In every session.
        Everywhere = "everywhere",
    }
}

named! {
    /// What a sentence is that holds beyond its session.
    pub enum RemarkKind("kind of remark") {
        /// How the user wants things to be done.
        Preference = "preference",
        /// What was decided.
        Decision = "decision",
        /// What the user no longer asks for, or only in part.
        Waiver = "waiver",
        /// What the user put off, and nobody took up since.
        Open = "open",
        /// What somebody asked to be kept.
        Kept = "kept",
    }
}

/// A sentence of a memory, as it is handed to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewRemark {
    /// What it is.
    pub kind: RemarkKind,
    /// Its first byte in the text.
    pub start_byte: usize,
    /// One past its last byte.
    pub end_byte: usize,
    /// A hash of its words.
    pub words: i64,
    /// Where it holds, by what is said beside it.
    pub reach: Reach,
}

/// A sentence that holds beyond its session, with the memory it stands in.
#[derive(Debug, Clone, PartialEq)]
pub struct Remark {
    /// The number of the memory inside the store.
    pub number: MemoryNumber,
    /// The memory.
    pub memory: Memory,
    /// Where the sentence begins in its text.
    pub start_byte: usize,
    /// Where it ends.
    pub end_byte: usize,
    /// A hash of its words.
    pub words: i64,
    /// How often these words were said, anywhere; 1 of what nobody counts: waivers, what was put
    /// off, and what was kept.
    pub n_said: u64,
}

impl Remark {
    /// Returns the sentence.
    pub fn sentence(&self) -> &str {
        self.memory.text.get(self.start_byte..self.end_byte).unwrap_or_default()
    }
}

/// What the user said later about the same thing as a remark, as it is handed to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewSequel {
    /// Where the remark stands: the memory …
    pub memory: MemoryNumber,
    /// … its first byte in the text …
    pub start_byte: usize,
    /// … and what it is.
    pub kind: RemarkKind,
    /// What was said later.
    pub sequel: MemoryNumber,
    /// How near it is to the remark, in thousandths.
    pub nearness: u32,
}

/// What the user said later about the same thing as a remark.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequel {
    /// The memory.
    pub memory: Memory,
    /// What of its text says that it holds in every project: first byte, and one past the last.
    pub everywhere: Option<(usize, usize)>,
    /// What of its text takes something back, wholly or in part.
    pub waiver: Option<(usize, usize)>,
    /// How near it is to the remark, in thousandths.
    pub nearness: u32,
}

/// A session of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSeen {
    /// Its number inside the store.
    pub number: u32,
    /// The host's name of it.
    pub name: String,
    /// When something was said in it last.
    pub last_at: Timestamp,
}

/// Sessions that are left out.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExceptSessions<'a> {
    /// Those of this name.
    pub name: &'a str,
    /// Those of these hosts.
    pub hosts: &'a [&'a str],
}

impl ExceptSessions<'_> {
    pub(crate) fn holds(&self, host: &str, name: &str) -> bool {
        name == self.name || self.hosts.contains(&host)
    }
}

/// A project, and when something was said in it last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectSeen {
    /// Its name.
    pub project: String,
    /// When.
    pub last_at: Timestamp,
}

/// How often a memory was of use since it was last written down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Uses {
    /// As an answer.
    pub n_recalled: u32,
    /// Because somebody said that it helped.
    pub n_reinforced: u32,
}

/// A memory that was of use.
#[derive(Debug, Clone, PartialEq)]
pub struct UsedMemory {
    /// Its number.
    pub number: MemoryNumber,
    /// The memory.
    pub memory: Memory,
    /// How often.
    pub uses: Uses,
}
