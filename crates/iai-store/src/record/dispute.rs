//! A dispute: two memories that say the same but for one thing, and nobody said which one holds.

use jiff::Timestamp;

use super::named::named;
use super::{MemoryId, MemoryNumber};

named! {
    /// In what two memories differ.
    pub enum Difference("difference") {
        /// A count, an amount, a port.
        Number = "number",
        /// A day, a month, a time.
        Date = "date",
        /// A version of something.
        Version = "version",
        /// One says that it is so, the other that it is not.
        Negation = "negation",
        /// A name of somebody or something.
        Name = "name",
        /// A path or an address.
        Path = "path",
    }
}

named! {
    /// How a dispute ended.
    pub enum Settlement("settlement") {
        /// Somebody corrected one of the two.
        Contradicted = "contradicted",
        /// One of the two was replaced before anybody was asked.
        Superseded = "superseded",
    }
}

/// Two memories that differ in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDispute {
    /// What was said first.
    pub earlier: MemoryNumber,
    /// What was said later.
    pub later: MemoryNumber,
    /// In what they differ.
    pub what: Difference,
    /// What the earlier one says there.
    pub old_value: String,
    /// What the later one says there.
    pub new_value: String,
}

/// A dispute as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispute {
    /// What it is about.
    pub about: NewDispute,
    /// The id of what was said first.
    pub earlier_id: MemoryId,
    /// The id of what was said later.
    pub later_id: MemoryId,
    /// When it was found.
    pub found_at: Timestamp,
    /// When somebody was told.
    pub hinted_at: Option<Timestamp>,
}
