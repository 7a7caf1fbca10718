//! Sign codes in memory, and the blocks they are packed into.

use super::place::BLOCK_MEMORIES;
use super::quantized::{n_words, push_code};
use crate::record::MemoryNumber;

/// The codes of many vectors, in no particular order, and whose they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Codes {
    /// How many words each code has.
    pub(super) n_words: usize,
    /// The codes, one after another.
    pub(super) words: Vec<u64>,
    /// The memory of each code.
    pub(super) memories: Vec<MemoryNumber>,
    /// The part of each code.
    pub(super) parts: Vec<u16>,
}

const WORD_BYTES: usize = size_of::<u64>();
/// Offset of the memory in its block, and part.
const HEAD_BYTES: usize = 2 * size_of::<u16>();

impl Codes {
    pub(super) fn new(dimension: u16) -> Self {
        let n_words = n_words(dimension);
        Self { n_words, words: Vec::new(), memories: Vec::new(), parts: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.memories.len()
    }

    /// Adds the code of one vector.
    pub(super) fn push(&mut self, memory: MemoryNumber, part: u16, components: &[u8]) {
        push_code(components, &mut self.words);
        self.memories.push(memory);
        self.parts.push(part);
    }

    /// Returns the code at a position.
    pub(super) fn code(&self, position: usize) -> &[u64] {
        let start = position.saturating_mul(self.n_words);
        self.words.get(start..start.saturating_add(self.n_words)).unwrap_or_default()
    }

    /// Takes every code of a memory out; the last codes fill the holes.
    pub(super) fn remove(&mut self, memory: MemoryNumber) {
        let mut position = 0;
        while let Some(found) = self.memories.get(position) {
            if *found == memory {
                self.swap_remove(position);
            } else {
                position = position.saturating_add(1);
            }
        }
    }

    fn swap_remove(&mut self, position: usize) {
        self.memories.swap_remove(position);
        self.parts.swap_remove(position);
        let last = self.words.len().saturating_sub(self.n_words);
        let start = position.saturating_mul(self.n_words);
        self.words.copy_within(last.., start);
        self.words.truncate(last);
    }

    /// Packs the codes, which are those of one block in order of their places:
    /// `(memory in the block u16, part u16)…, (code u64…)…`, little-endian.
    pub(super) fn pack(&self) -> Vec<u8> {
        let n_bytes = self.len().saturating_mul(self.packed_bytes());
        let mut bytes = Vec::with_capacity(n_bytes);
        for (memory, part) in self.memories.iter().zip(&self.parts) {
            let in_block = memory.get() % BLOCK_MEMORIES;
            bytes.extend(u16::try_from(in_block).unwrap_or(u16::MAX).to_le_bytes());
            bytes.extend(part.to_le_bytes());
        }
        bytes.extend(self.words.iter().flat_map(|word| word.to_le_bytes()));
        bytes
    }

    /// Makes room for as many codes as fit so many packed bytes, and no more: they are what takes
    /// the most memory in a large store.
    pub(super) fn reserve_packed(&mut self, n_bytes: usize) {
        let n_codes = n_bytes / self.packed_bytes();
        self.words.reserve_exact(n_codes.saturating_mul(self.n_words));
        self.memories.reserve_exact(n_codes);
        self.parts.reserve_exact(n_codes);
    }

    /// Adds the codes of the block that begins with `first`, or none when the bytes cannot be such
    /// a block.
    pub(super) fn unpack(&mut self, first: MemoryNumber, bytes: &[u8]) -> Unpacked {
        let n_codes = bytes.len() / self.packed_bytes();
        let (heads, words) = bytes.split_at(n_codes.saturating_mul(HEAD_BYTES));
        let n_words = n_codes.saturating_mul(self.n_words);
        if words.len() != n_words.saturating_mul(WORD_BYTES) || !are_heads_in_order(heads) {
            return Unpacked::Damaged;
        }
        for [a, b, c, d] in heads.as_chunks().0 {
            let in_block = u32::from(u16::from_le_bytes([*a, *b]));
            self.memories.push(MemoryNumber::new(first.get().saturating_add(in_block)));
            self.parts.push(u16::from_le_bytes([*c, *d]));
        }
        self.words.extend(words.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)));
        Unpacked::Whole
    }

    /// Returns how many bytes a packed code takes.
    fn packed_bytes(&self) -> usize {
        HEAD_BYTES.saturating_add(self.n_words.saturating_mul(WORD_BYTES))
    }
}

/// What became of a packed block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unpacked {
    /// Its codes were added.
    Whole,
    /// Nothing was added.
    Damaged,
}

fn are_heads_in_order(heads: &[u8]) -> bool {
    let (heads, _) = heads.as_chunks();
    let place = |[a, b, c, d]: &[u8; HEAD_BYTES]| {
        (u32::from(u16::from_le_bytes([*a, *b])), u16::from_le_bytes([*c, *d]))
    };
    heads.iter().is_sorted_by(|a, b| place(a) < place(b))
        && heads.last().is_none_or(|last| place(last).0 < BLOCK_MEMORIES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(places: &[(u32, u16)]) -> Codes {
        let mut codes = Codes::new(128);
        for (memory, part) in places {
            let seed = u8::try_from(memory % 251).unwrap();
            let components: Vec<u8> = (0..128).map(|at: u8| at.wrapping_mul(seed)).collect();
            codes.push(MemoryNumber::new(*memory), *part, &components);
        }
        codes
    }

    #[test]
    fn a_block_comes_back_as_it_was() {
        let packed = codes(&[(2048, 0), (2050, 0), (2050, 1), (3071, 7)]);
        let mut unpacked = Codes::new(128);
        let first = MemoryNumber::new(2048);
        assert_eq!(unpacked.unpack(first, &packed.pack()), Unpacked::Whole);
        assert_eq!(unpacked, packed);
    }

    #[test]
    fn bytes_that_are_no_block_add_nothing() {
        let whole = codes(&[(1, 0), (2, 0)]).pack();
        let disordered = codes(&[(2, 0), (1, 0)]).pack();
        let doubled = codes(&[(2, 0), (2, 0)]).pack();
        let mut outside = whole.clone();
        outside[5] = 0xff;
        for bytes in [&whole[..whole.len() - 1], &disordered, &doubled, &outside] {
            let mut codes = Codes::new(128);
            assert_eq!(codes.unpack(MemoryNumber::new(0), bytes), Unpacked::Damaged);
            assert_eq!(codes, Codes::new(128));
        }
    }

    #[test]
    fn a_memory_is_removed_with_all_its_parts() {
        for gone in 1..=4 {
            let places = [(4, 0), (1, 0), (3, 0), (3, 1), (2, 0), (3, 2)];
            let mut found = codes(&places);
            found.remove(MemoryNumber::new(gone));
            assert_eq!(found.words.len(), found.len() * 2);
            for (memory, part) in places.iter().filter(|(memory, _)| *memory != gone) {
                let position = (found.memories.iter().zip(&found.parts))
                    .position(|(m, p)| m.get() == *memory && p == part)
                    .unwrap();
                assert_eq!(found.code(position), codes(&[(*memory, *part)]).words);
            }
            assert!(!found.memories.contains(&MemoryNumber::new(gone)));
        }
    }
}
