//! The postings of a term that few memories have: distances, in blocks of 128 that can be skipped.
//!
//! Per block its last memory and one past its last byte (nothing when there is one block); then per
//! memory twice the distance from the one before, plus one when its count follows instead of being
//! 1.

use crate::index::coding::{put_short, take_short, u32_at};

const BLOCK: usize = 128;
const SKIP_BYTES: usize = 8;

/// Distances and counts.
#[derive(Clone, Copy)]
pub(super) struct Sparse<'a> {
    n_memories: u32,
    /// Empty when there is one block.
    skips: &'a [u8],
    data: &'a [u8],
}

impl<'a> Sparse<'a> {
    pub(super) fn open(bytes: &'a [u8], n_memories: u32) -> Self {
        let n_blocks = (n_memories as usize).div_ceil(BLOCK);
        let n_head = if n_blocks > 1 { n_blocks.saturating_mul(SKIP_BYTES) } else { 0 };
        let (skips, data) = bytes.split_at_checked(n_head).unwrap_or_default();
        Self { n_memories, skips, data }
    }

    /// Calls `take` with every memory from `start` on and its count, in order.
    #[inline]
    pub(super) fn for_each_from(self, start: u32, mut take: impl FnMut(u32, u16)) {
        let block = if start == 0 { 0 } else { self.block_with(start, 0..self.n_blocks()) };
        let (mut data, mut next) = self.starting_with(block);
        let n_before = block.saturating_mul(BLOCK);
        for _ in n_before..self.n_memories as usize {
            let (memory, count) = take_one(&mut data, next);
            next = memory.wrapping_add(1);
            if start <= memory {
                take(memory, count);
            }
        }
    }

    /// Returns the memory that has `n - 1` others behind it.
    pub(super) fn nth_from_end(self, n: u32) -> Option<u32> {
        let place = self.n_memories.checked_sub(n)? as usize;
        let (mut data, mut next) = self.starting_with(place / BLOCK);
        let mut found = None;
        for _ in 0..=place % BLOCK {
            let (memory, _) = take_one(&mut data, next);
            next = memory.wrapping_add(1);
            found = Some(memory);
        }
        found
    }

    /// Begins to look up memories in ascending order.
    pub(super) fn probe(self) -> Probe<'a> {
        let (memories, counts) = (Vec::new(), Vec::new());
        Probe { postings: self, block: usize::MAX, memories, counts, at: 0 }
    }

    fn n_blocks(self) -> usize {
        (self.n_memories as usize).div_ceil(BLOCK)
    }

    /// Returns the first of these blocks that ends at or behind a memory.
    fn block_with(self, memory: u32, blocks: std::ops::Range<usize>) -> usize {
        let (mut low, mut high) = (blocks.start, blocks.end);
        while low < high {
            let middle = low.midpoint(high);
            if self.last_of(middle) < memory {
                low = middle.saturating_add(1);
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the bytes from a block on, and the first memory that can be in it.
    fn starting_with(self, block: usize) -> (&'a [u8], u32) {
        let Some(before) = block.checked_sub(1) else { return (self.data, 0) };
        let data = self.data.get(self.end_of(before)..).unwrap_or_default();
        (data, self.last_of(before).wrapping_add(1))
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
    postings: Sparse<'a>,
    block: usize,
    memories: Vec<u32>,
    counts: Vec<u16>,
    /// Where the last question ended: the next is mostly about a memory not far behind.
    at: usize,
}

impl Probe<'_> {
    /// Returns how often the term is in this memory.
    pub(super) fn count_of(&mut self, memory: u32) -> u16 {
        let block = self.block_with(memory);
        if block != self.block {
            self.decode(block);
        }
        if self.memories.get(self.at).is_none_or(|here| memory < *here) {
            self.at = 0;
        }
        let behind = self.memories.get(self.at..).unwrap_or_default();
        self.at = self.at.saturating_add(behind.iter().take_while(|m| **m < memory).count());
        match self.memories.get(self.at) {
            Some(found) if *found == memory => self.counts.get(self.at).copied().unwrap_or(0),
            Some(_) | None => 0,
        }
    }

    fn block_with(&self, memory: u32) -> usize {
        let n_blocks = self.postings.n_blocks();
        if n_blocks <= self.block {
            return self.postings.block_with(memory, 0..n_blocks);
        }
        if memory <= self.postings.last_of(self.block) {
            // Most questions are about the same block.
            let before = self.block.checked_sub(1);
            let is_here = before.is_none_or(|before| self.postings.last_of(before) < memory);
            return match is_here {
                true => self.block,
                false => self.postings.block_with(memory, 0..self.block),
            };
        }
        self.postings.block_with(memory, self.block.saturating_add(1)..n_blocks)
    }

    fn decode(&mut self, block: usize) {
        self.block = block;
        self.memories.clear();
        self.counts.clear();
        self.at = 0;
        let (mut data, mut next) = self.postings.starting_with(block);
        let n_before = block.saturating_mul(BLOCK);
        let n_here = (self.postings.n_memories as usize).saturating_sub(n_before).min(BLOCK);
        for _ in 0..n_here {
            let (memory, count) = take_one(&mut data, next);
            next = memory.wrapping_add(1);
            self.memories.push(memory);
            self.counts.push(count);
        }
    }
}

/// Appends postings, which are in order.
pub(super) fn put(to: &mut Vec<u8>, postings: &[(u32, u16)]) {
    let mut skips = Vec::new();
    let mut data = Vec::with_capacity(postings.len().saturating_mul(2));
    let mut next = 0;
    for block in postings.chunks(BLOCK) {
        for (memory, count) in block {
            let distance = memory.wrapping_sub(next);
            if *count == 1 {
                put_short(&mut data, distance << 1);
            } else {
                put_short(&mut data, distance << 1 | 1);
                put_short(&mut data, u32::from(*count));
            }
            next = memory.wrapping_add(1);
        }
        if BLOCK < postings.len() {
            skips.extend(next.wrapping_sub(1).to_le_bytes());
            skips.extend(u32::try_from(data.len()).unwrap_or(u32::MAX).to_le_bytes());
        }
    }
    to.append(&mut skips);
    to.append(&mut data);
}
