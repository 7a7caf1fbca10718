//! The postings of one term: which memories of the segment have it, and how often, in blocks of 128
//! that can be skipped.
//!
//! Number of memories; then per block its last memory, one past its last byte, and the most its
//! memories give of the term's weight (of a single block only that last byte); then per memory
//! twice the distance from the one before, plus one when its count follows instead of being 1.

use crate::index::bm25::Saturation;
use crate::index::coding::{put_short, take_short, u32_at};

pub(crate) const BLOCK: usize = 128;
const SKIP_BYTES: usize = 9;
/// The most a memory can give of a term's weight is kept in this many steps.
const SHARE_STEPS: f32 = 255.0;

/// The postings of one term.
#[derive(Clone, Copy)]
pub(crate) struct Postings<'a> {
    n_memories: u32,
    /// Empty when there is one block.
    skips: &'a [u8],
    data: &'a [u8],
    share_max: u8,
}

impl<'a> Postings<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Self {
        let mut rest = bytes;
        let n_memories = take_short(&mut rest);
        let n_blocks = (n_memories as usize).div_ceil(BLOCK);
        let n_head = if n_blocks > 1 { n_blocks.saturating_mul(SKIP_BYTES) } else { n_blocks };
        let (head, data) = rest.split_at_checked(n_head).unwrap_or_default();
        if n_blocks > 1 {
            let shares = head.iter().skip(SKIP_BYTES - 1).step_by(SKIP_BYTES);
            let share_max = shares.copied().max().unwrap_or(0);
            Self { n_memories, skips: head, data, share_max }
        } else {
            let share_max = head.first().copied().unwrap_or(0);
            Self { n_memories, skips: &[], data, share_max }
        }
    }

    /// In how many memories of the segment the term is.
    pub(crate) fn n_memories(self) -> u32 {
        self.n_memories
    }

    /// The most that any memory gives of the term's weight, at the mean length of the segment.
    pub(crate) fn share_max(self) -> f32 {
        f32::from(self.share_max) / SHARE_STEPS
    }

    /// Calls `take` with every memory and its count, in order.
    #[inline]
    pub(crate) fn for_each(self, mut take: impl FnMut(u32, u16)) {
        let mut data = self.data;
        let mut next = 0_u32;
        for _ in 0..self.n_memories {
            let (memory, count) = take_one(&mut data, next);
            next = memory.wrapping_add(1);
            take(memory, count);
        }
    }

    /// Begins to look up memories in ascending order.
    pub(crate) fn probe(self) -> Probe<'a> {
        Probe { postings: self, block: usize::MAX, memories: Vec::new(), counts: Vec::new() }
    }

    fn n_blocks(self) -> usize {
        (self.n_memories as usize).div_ceil(BLOCK)
    }

    fn last_of(self, block: usize) -> u32 {
        if self.skips.is_empty() {
            return u32::MAX;
        }
        u32_at(self.skips, block.saturating_mul(SKIP_BYTES))
    }

    fn end_of(self, block: usize) -> usize {
        if self.skips.is_empty() {
            return self.data.len();
        }
        u32_at(self.skips, block.saturating_mul(SKIP_BYTES).saturating_add(4)) as usize
    }
}

/// Takes one posting; distances count from `next`, the first memory that can come.
#[inline]
fn take_one(data: &mut &[u8], next: u32) -> (u32, u16) {
    let coded = take_short(data);
    let memory = next.wrapping_add(coded >> 1);
    if coded & 1 == 0 {
        return (memory, 1);
    }
    (memory, u16::try_from(take_short(data)).unwrap_or(u16::MAX))
}

/// Looks memories up, decoding only the blocks that may have them.
pub(crate) struct Probe<'a> {
    postings: Postings<'a>,
    block: usize,
    memories: Vec<u32>,
    counts: Vec<u16>,
}

impl Probe<'_> {
    /// Returns how often the term is in this memory.
    pub(crate) fn count_of(&mut self, memory: u32) -> u16 {
        let block = self.block_with(memory);
        if block != self.block {
            self.decode(block);
        }
        let found = self.memories.binary_search(&memory).ok();
        found.and_then(|place| self.counts.get(place)).copied().unwrap_or(0)
    }

    fn block_with(&self, memory: u32) -> usize {
        let (mut low, mut high) = (0, self.postings.n_blocks());
        if self.block < high {
            if self.postings.last_of(self.block) >= memory {
                high = self.block;
            } else {
                low = self.block.saturating_add(1);
            }
        }
        // Most questions are about the same block or the next.
        if low < high && self.postings.last_of(low) >= memory && low == self.block.wrapping_add(1) {
            return low;
        }
        while low < high {
            let middle = low.midpoint(high);
            if self.postings.last_of(middle) < memory {
                low = middle.saturating_add(1);
            } else {
                high = middle;
            }
        }
        low
    }

    fn decode(&mut self, block: usize) {
        self.block = block;
        self.memories.clear();
        self.counts.clear();
        let before = block.checked_sub(1);
        let start = before.map_or(0, |before| self.postings.end_of(before));
        let mut next = before.map_or(0, |b| self.postings.last_of(b).wrapping_add(1));
        let mut data =
            self.postings.data.get(start..self.postings.end_of(block)).unwrap_or_default();
        while !data.is_empty() {
            let (memory, count) = take_one(&mut data, next);
            next = memory.wrapping_add(1);
            self.memories.push(memory);
            self.counts.push(count);
        }
    }
}

/// Appends the postings of a term, which must be in order; `length_of` is asked for each memory.
pub(super) fn put(
    to: &mut Vec<u8>,
    postings: &[(u32, u16)],
    saturation: Saturation,
    length_of: impl Fn(u32) -> u16,
) {
    put_short(to, u32::try_from(postings.len()).unwrap_or(u32::MAX));
    let mut skips = Vec::new();
    let mut data = Vec::with_capacity(postings.len().saturating_mul(2));
    let mut next = 0;
    let is_single = postings.len() <= BLOCK;
    for block in postings.chunks(BLOCK) {
        let mut share_max = 0.0_f32;
        for (memory, count) in block {
            let distance = memory.wrapping_sub(next);
            if *count == 1 {
                put_short(&mut data, distance << 1);
            } else {
                put_short(&mut data, distance << 1 | 1);
                put_short(&mut data, u32::from(*count));
            }
            next = memory.wrapping_add(1);
            share_max = share_max.max(saturation.share(*count, length_of(*memory)));
        }
        if !is_single {
            skips.extend(next.wrapping_sub(1).to_le_bytes());
            skips.extend(u32::try_from(data.len()).unwrap_or(u32::MAX).to_le_bytes());
        }
        skips.push(rounded_up(share_max));
    }
    to.append(&mut skips);
    to.append(&mut data);
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share is between 0 and 1, and the cast saturates"
)]
fn rounded_up(share: f32) -> u8 {
    (share * SHARE_STEPS).ceil() as u8
}
