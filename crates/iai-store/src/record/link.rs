//! A link: a weighted, typed, dated relation of two memories.

use jiff::Timestamp;

use super::MemoryId;
use super::named::named;

named! {
    /// How two memories are related.
    pub enum LinkKind("link kind") {
        /// `dst` was said right after `src`.
        TemporalNext = "temporal_next",
        /// The two mean much the same.
        Similar = "similar",
        /// The two say almost the same words.
        NearDuplicate = "near_duplicate",
        /// The two were recalled together.
        Hebbian = "hebbian",
        /// `dst` took the place of `src`.
        Contradicts = "contradicts",
        /// `src` was made from `dst`, among others.
        ConsolidatedFrom = "consolidated_from",
        /// `src` is a case of the pattern `dst`.
        SchemaInstanceOf = "schema_instance_of",
        /// The two name the same thing.
        EntityShared = "entity_shared",
    }
}

impl LinkKind {
    /// Returns whether `src` and `dst` mean different things; otherwise the smaller id is `src`.
    pub fn is_directed(self) -> bool {
        match self {
            Self::TemporalNext
            | Self::Contradicts
            | Self::ConsolidatedFrom
            | Self::SchemaInstanceOf => true,
            Self::Similar | Self::NearDuplicate | Self::Hebbian | Self::EntityShared => false,
        }
    }
}

/// One relation of two memories.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Where it starts.
    pub src: MemoryId,
    /// Where it ends.
    pub dst: MemoryId,
    /// What it says.
    pub kind: LinkKind,
    /// How strong it is, from 0 to 1.
    pub weight: f64,
    /// When it was first seen.
    pub created_at: Timestamp,
    /// When it was last seen.
    pub touched_at: Timestamp,
}

/// What became of a pair that was recalled together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strengthened {
    /// The weight now.
    pub weight: f64,
    /// Whether this call changed it; one session changes a pair once.
    pub changed: bool,
}

/// Returns the pair with the smaller id first, the way undirected links are stored.
pub(crate) fn sorted((one, other): (MemoryId, MemoryId)) -> (MemoryId, MemoryId) {
    if one <= other { (one, other) } else { (other, one) }
}
