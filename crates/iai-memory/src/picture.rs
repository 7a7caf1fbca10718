//! The memory as a picture to look at: what was decided of late, sessions by time, one of them as
//! a conversation, a memory among its neighbours, topics and who belongs to them.
//!
//! Nothing here reads every memory: the catalogue in memory says which few rows are worth reading.

mod decided;
mod sessions;
mod surroundings;
mod topics;

use iai_store::{Memory, MemoryId, MemoryNumber, Reader};
use serde::Serialize;

use crate::brief::cut;
use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};

pub use decided::{Decided, DecidedAnswer};
pub use sessions::{
    Conversation, ConversationAsk, ConversationPart, DayLine, ProjectLine, SessionCursor,
    SessionLine, SessionsAnswer, SessionsAsk,
};
pub use surroundings::{DisputedGlimpse, LinkedGlimpse, Surroundings};
pub use topics::{Cluster, MembersAnswer, MembersAsk, TopicMap};

/// What a glimpse shows of a text.
const GLIMPSE_CHARS_MAX: usize = 200;

/// A memory as it is seen from beside it.
#[derive(Debug, Clone, Serialize)]
pub struct Glimpse {
    /// Its id.
    pub record_id: MemoryId,
    /// Who said it.
    pub role: &'static str,
    /// What kind it is.
    pub tier: &'static str,
    /// When it was said.
    pub ts: String,
    /// Until when it held; `null` while it does.
    pub valid_to: Option<String>,
    /// The session.
    pub session_id: String,
    /// The project.
    pub project: Option<String>,
    /// How it begins, on one line.
    pub first_words: String,
}

impl Glimpse {
    fn of(memory: Memory) -> Self {
        Self {
            record_id: memory.id,
            role: memory.role.as_str(),
            tier: memory.tier.as_str(),
            ts: memory.turn_at.to_string(),
            valid_to: memory.valid_to.map(|at| at.to_string()),
            first_words: first_words(&memory.text),
            session_id: memory.session,
            project: memory.project,
        }
    }

    /// Reads those that exist, in the order asked for.
    pub(crate) fn read(reader: &Reader, numbers: &[MemoryNumber]) -> Result<Vec<Self>> {
        let memories = reader.numbered(numbers)?;
        Ok(memories.into_iter().map(|(_, memory)| Self::of(memory)).collect())
    }
}

impl MemoryEngine {
    /// Returns the memory an id means, by number.
    fn numbered(&self, reader: &Reader, id: MemoryId) -> Result<MemoryNumber> {
        let unknown = || MemoryError::UnknownMemory { id: id.to_string() };
        reader.number_of(id)?.ok_or_else(unknown)
    }
}

/// Returns how a text begins. Only as much of it is looked at as can be shown.
fn first_words(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        // A character has at most four bytes.
        if 4 * GLIMPSE_CHARS_MAX < line.len() {
            break;
        }
    }
    cut(&line, GLIMPSE_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glimpse_is_one_line_that_ends_between_words() {
        assert_eq!(first_words("  one\n\ttwo  "), "one two");
        let long = first_words(&"слово ".repeat(1000));
        assert!(long.chars().count() <= GLIMPSE_CHARS_MAX + 2 && long.ends_with("слово …"));
    }
}
