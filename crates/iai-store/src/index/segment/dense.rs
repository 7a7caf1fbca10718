//! The postings of a term that many memories have: four bits for every number of the segment. To
//! ask whether a memory has the term costs one look, however common it is.
//!
//! A count from 15 on stands behind the bits: `(number u32, count u16)…`, little-endian, in order.

/// What four bits say when the count stands elsewhere.
const LARGE: u8 = 15;
const LARGE_BYTES: usize = 6;

/// Counts by number.
#[derive(Clone, Copy)]
pub(crate) struct Dense<'a> {
    /// Two numbers a byte, the even one in the lower half.
    counts: &'a [u8],
    large: &'a [[u8; LARGE_BYTES]],
}

impl<'a> Dense<'a> {
    pub(super) fn open(bytes: &'a [u8], n_numbers: usize) -> Self {
        let (counts, large) = bytes.split_at_checked(n_numbers.div_ceil(2)).unwrap_or_default();
        Self { counts, large: large.as_chunks().0 }
    }

    #[inline]
    pub(super) fn count_of(self, memory: u32) -> u16 {
        let byte = self.counts.get(memory as usize / 2).copied().unwrap_or(0);
        let count = if memory.is_multiple_of(2) { byte & 0xf } else { byte >> 4 };
        if count == LARGE { self.large_count(memory) } else { count.into() }
    }

    /// Calls `take` with every memory from `start` on and its count, in order.
    #[inline]
    pub(super) fn for_each_from(self, start: u32, mut take: impl FnMut(u32, u16)) {
        let first = start as usize / 2;
        let mut see = |memory: u32, count: u8| match count {
            0 => {}
            LARGE => take(memory, self.large_count(memory)),
            count => take(memory, count.into()),
        };
        let bytes = self.counts.get(first..).unwrap_or_default();
        for (byte, even) in bytes.iter().zip((start & !1..).step_by(2)) {
            // Before the start there is at most one number.
            let low = if even < start { 0 } else { byte & 0xf };
            see(even, low);
            see(even | 1, byte >> 4);
        }
    }

    /// Returns the memory that has `n - 1` others behind it.
    pub(super) fn nth_from_end(self, n: u32) -> Option<u32> {
        let last = u32::try_from(self.counts.len().checked_mul(2)?).ok()?;
        let mut numbers = (0..last).rev().filter(|number| self.count_of(*number) > 0);
        numbers.nth(n.checked_sub(1)? as usize)
    }

    fn large_count(self, memory: u32) -> u16 {
        let number = |[a, b, c, d, _, _]: &[u8; LARGE_BYTES]| u32::from_le_bytes([*a, *b, *c, *d]);
        let found = self.large.binary_search_by_key(&memory, number).ok();
        let count = |[.., e, f]: &[u8; LARGE_BYTES]| u16::from_le_bytes([*e, *f]);
        found.and_then(|place| self.large.get(place)).map_or(0, count)
    }
}

/// Appends counts by number; the postings are in order, their numbers below `n_numbers`.
pub(super) fn put(to: &mut Vec<u8>, postings: &[(u32, u16)], n_numbers: usize) {
    let start = to.len();
    to.resize(start.saturating_add(n_numbers.div_ceil(2)), 0);
    let counts = to.get_mut(start..).unwrap_or_default();
    let mut large = Vec::new();
    for (memory, count) in postings {
        let small = u8::try_from(*count).unwrap_or(LARGE).min(LARGE);
        if small == LARGE {
            large.extend(memory.to_le_bytes().into_iter().chain(count.to_le_bytes()));
        }
        let shift = if memory.is_multiple_of(2) { 0 } else { 4 };
        if let Some(byte) = counts.get_mut(*memory as usize / 2) {
            *byte |= small << shift;
        }
    }
    to.append(&mut large);
}
