//! A link: a weighted, typed, dated relation of two memories.

use jiff::Timestamp;

use super::named::named;
use super::{MemoryId, MemoryNumber};

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

    /// Returns how many links of this kind a memory keeps; `None` where whoever makes them bounds
    /// them. One call of `memory_reinforce` may link a memory with 31 others.
    pub fn per_memory_max(self) -> Option<usize> {
        match self {
            Self::Similar | Self::NearDuplicate | Self::EntityShared => Some(8),
            Self::Hebbian => Some(32),
            Self::TemporalNext
            | Self::Contradicts
            | Self::ConsolidatedFrom
            | Self::SchemaInstanceOf => None,
        }
    }

    /// Returns whether links of this kind were learned and are forgotten when nothing renews them.
    pub fn fades(self) -> bool {
        self == Self::Hebbian
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

impl Link {
    /// Returns the weight at this time: a learned link fades from its last reinforcement on.
    pub fn effective_weight(&self, now: Timestamp) -> f64 {
        if self.kind.fades() { faded(self.weight, self.touched_at, now) } else { self.weight }
    }
}

/// One memory that took the place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Correction {
    /// What no longer holds.
    pub old: MemoryNumber,
    /// What was said instead.
    pub new: MemoryNumber,
    /// Since when.
    pub at: Timestamp,
}

/// A learned link keeps its weight for so many days …
pub(crate) const GRACE_DAYS: i64 = 90;
/// … then keeps this share of it from day to day …
const KEPT_PER_DAY: f64 = 0.9;
/// … and below this weight it is nothing.
pub const WEIGHT_MIN: f64 = 0.01;
/// After so many days of fading even a weight of 1 is nothing: 0.9^44 < 0.01.
pub(crate) const DAYS_TO_FADE_MAX: i64 = 44;
const DAY_MS: f64 = 86_400_000.0;

/// `weight · 0.9^max(0, days since touched_at − 90)`. Reading it changes nothing, so that it can be
/// asked for at any time.
pub(crate) fn faded(weight: f64, touched_at: Timestamp, now: Timestamp) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "an age in days needs few digits")]
    let n_days = now.as_millisecond().saturating_sub(touched_at.as_millisecond()) as f64 / DAY_MS;
    #[expect(clippy::cast_precision_loss, reason = "ninety")]
    let n_days_fading = (n_days - GRACE_DAYS as f64).max(0.0);
    weight * KEPT_PER_DAY.powf(n_days_fading)
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

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn a_learned_link_fades_after_ninety_days() {
        let at = |days: i64| Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24 * days);
        let check = |days: i64, expect: f64| {
            let weight = faded(0.5, at(0), at(days));
            assert!((weight - expect).abs() < 1e-9, "{days}: {weight}");
        };
        check(-1, 0.5);
        check(0, 0.5);
        check(90, 0.5);
        check(91, 0.45);
        check(180, 0.5 * 0.9_f64.powi(90));
        assert!(faded(1.0, at(0), at(GRACE_DAYS + DAYS_TO_FADE_MAX)) < WEIGHT_MIN);
        assert!(WEIGHT_MIN <= faded(1.0, at(0), at(GRACE_DAYS + DAYS_TO_FADE_MAX - 1)));
    }
}
