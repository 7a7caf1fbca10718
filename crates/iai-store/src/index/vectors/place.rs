//! Where a vector stands: model, memory and part in one integer, the key of its row.

use std::ops::RangeInclusive;

use crate::record::{MemoryNumber, ModelNumber};

const MODEL_SHIFT: u32 = 48;
const MEMORY_SHIFT: u32 = 16;
/// A block of codes holds this many memory numbers: few enough to be packed anew when one of them
/// is forgotten, many enough that loading reads long runs. The schema knows it too.
pub(super) const BLOCK_MEMORIES: u32 = 1024;
const BLOCK_SHIFT: u32 = MEMORY_SHIFT + BLOCK_MEMORIES.ilog2();

/// The key of a vector; places of one model and memory stand next to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(i64);

impl Place {
    pub(crate) fn new(model: ModelNumber, memory: MemoryNumber, part: u16) -> Self {
        let model = i64::from(model.get()) << MODEL_SHIFT;
        Self(model | i64::from(memory.get()) << MEMORY_SHIFT | i64::from(part))
    }

    pub(crate) fn from_key(key: i64) -> Self {
        Self(key)
    }

    pub(crate) fn key(self) -> i64 {
        self.0
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "one field of it")]
    pub(crate) fn memory(self) -> MemoryNumber {
        MemoryNumber::new((self.0 >> MEMORY_SHIFT) as u32)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "one field of it")]
    pub(crate) fn part(self) -> u16 {
        self.0 as u16
    }

    /// Returns the first place of the block this one is in.
    pub(crate) fn block(self) -> Self {
        Self(self.0 >> BLOCK_SHIFT << BLOCK_SHIFT)
    }

    /// Returns the last place of the block this one is in.
    pub(crate) fn block_end(self) -> Self {
        Self(self.0 | ((1 << BLOCK_SHIFT) - 1))
    }
}

/// Returns the keys a model's vectors can have.
pub(crate) fn of_model(model: ModelNumber) -> RangeInclusive<i64> {
    let first = Place::new(model, MemoryNumber::new(0), 0).key();
    first..=first | ((1 << MODEL_SHIFT) - 1)
}

/// Returns the keys a memory's vectors can have.
pub(crate) fn of_memory(model: ModelNumber, memory: MemoryNumber) -> RangeInclusive<i64> {
    let first = Place::new(model, memory, 0).key();
    first..=first | ((1 << MEMORY_SHIFT) - 1)
}
