//! A segment: the words of a contiguous range of memories, sealed into bytes that are searched as
//! they are stored.
//!
//! | bytes | what |
//! |---|---|
//! | 64 | header: magic, version of the words, first and last number, counts, places of sections |
//! | 2 per number | length of each memory in words; 0 where there is none |
//! | 8 per 16 terms | where the terms and their postings begin |
//! | | terms in order, each without the beginning it shares with the one before |
//! | | postings |

mod build;
mod dense;
mod postings;
mod sparse;

use super::bm25::Totals;
use super::coding::{checksum, take_short, u32_at, u64_at};
use super::words;

pub(crate) use build::{SegmentBuilder, merged, without};
pub(crate) use postings::{Postings, Probe};

/// "ilx2": the layout of the bytes below. Another layout gets another number.
const MAGIC: u32 = 0x3278_6c69;
const HEADER_BYTES: usize = 64;
/// Where the checksum stands: it covers everything else.
const CHECKSUM_AT: usize = 56;
/// Terms between two entries of the term index.
const TERMS_PER_ENTRY: usize = 16;
const ENTRY_BYTES: usize = 8;

/// The words of the memories numbered `first` to `last`.
pub(crate) struct Segment {
    /// Checked when it was opened: sections lie inside, in order.
    bytes: Vec<u8>,
    sections: Sections,
}

#[derive(Debug, Clone, Copy)]
struct Sections {
    first: u32,
    last: u32,
    n_terms: usize,
    totals: Totals,
    entries_at: usize,
    terms_at: usize,
    postings_at: usize,
}

impl Segment {
    /// Takes stored bytes; nothing when they are damaged, or made by other rules than ours.
    pub(crate) fn open(bytes: Vec<u8>) -> Option<Self> {
        if u32_at(&bytes, 0) != MAGIC || u32_at(&bytes, 4) != words::VERSION {
            return None;
        }
        if seal_of(&bytes) != u64_at(&bytes, CHECKSUM_AT) {
            return None;
        }
        let at = |place: usize| usize::try_from(u32_at(&bytes, place)).ok();
        let sections = Sections {
            first: u32_at(&bytes, 8),
            last: u32_at(&bytes, 12),
            n_terms: at(16)?,
            totals: Totals {
                n_memories: u64::from(u32_at(&bytes, 20)),
                n_words: u64_at(&bytes, 24),
            },
            entries_at: at(32)?,
            terms_at: at(36)?,
            postings_at: at(40)?,
        };
        sections.fit(bytes.len()).then_some(Self { bytes, sections })
    }

    /// Returns the bytes to store.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The first number of the range.
    pub(crate) fn first(&self) -> u32 {
        self.sections.first
    }

    /// The last number of the range.
    pub(crate) fn last(&self) -> u32 {
        self.sections.last
    }

    pub(crate) fn totals(&self) -> Totals {
        self.sections.totals
    }

    /// Returns the length of the memory this many after the first.
    #[inline]
    pub(crate) fn length(&self, local: u32) -> u16 {
        self.lengths().get(local as usize).map_or(0, |two| u16::from_le_bytes(*two))
    }

    /// Returns the lengths of the whole range, as they are stored.
    pub(crate) fn lengths(&self) -> &[[u8; 2]] {
        let bytes = self.bytes.get(HEADER_BYTES..self.sections.entries_at).unwrap_or_default();
        bytes.as_chunks::<2>().0
    }

    /// Returns the postings of a term.
    pub(crate) fn postings(&self, term: &[u8]) -> Option<Postings<'_>> {
        let entry = self.last_entry_not_after(term)?;
        let mut terms = self.terms_from(entry);
        for _ in 0..TERMS_PER_ENTRY {
            if !terms.advance() || terms.term.as_slice() > term {
                return None;
            }
            if terms.term == term {
                return Some(terms.postings());
            }
        }
        None
    }

    /// Walks through all terms in order.
    pub(crate) fn terms(&self) -> Terms<'_> {
        self.terms_from(0)
    }

    fn terms_from(&self, entry: usize) -> Terms<'_> {
        let at = self.sections.entries_at.saturating_add(entry.saturating_mul(ENTRY_BYTES));
        let terms_at = self.sections.terms_at.saturating_add(u32_at(&self.bytes, at) as usize);
        let postings = u32_at(&self.bytes, at.saturating_add(4)) as usize;
        let postings_at = self.sections.postings_at.saturating_add(postings);
        Terms {
            rest: self.bytes.get(terms_at..self.sections.postings_at).unwrap_or_default(),
            postings: self.bytes.get(postings_at..).unwrap_or_default(),
            term: Vec::with_capacity(words::TERM_BYTES_MAX),
            here: &[],
            n_numbers: self.lengths().len(),
            n_left: self.sections.n_terms.saturating_sub(entry.saturating_mul(TERMS_PER_ENTRY)),
        }
    }

    /// Finds the group of terms where this one would stand.
    fn last_entry_not_after(&self, term: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.sections.n_terms.div_ceil(TERMS_PER_ENTRY));
        while low < high {
            let middle = low.midpoint(high);
            if self.first_term_of(middle) <= term {
                low = middle.saturating_add(1);
            } else {
                high = middle;
            }
        }
        low.checked_sub(1)
    }

    /// The first term of a group is written in full: one byte 0, its length, its bytes.
    fn first_term_of(&self, entry: usize) -> &[u8] {
        let at = self.sections.entries_at.saturating_add(entry.saturating_mul(ENTRY_BYTES));
        let start = self.sections.terms_at.saturating_add(u32_at(&self.bytes, at) as usize);
        let n_bytes = self.bytes.get(start.saturating_add(1)).map_or(0, |n| usize::from(*n));
        let start = start.saturating_add(2);
        self.bytes.get(start..start.saturating_add(n_bytes)).unwrap_or_default()
    }
}

impl Sections {
    fn fit(&self, n_bytes: usize) -> bool {
        let n_numbers = match self.last.checked_sub(self.first) {
            Some(distance) => distance as usize + 1,
            None => return false,
        };
        self.entries_at == HEADER_BYTES + 2 * n_numbers
            && self.terms_at
                == self.entries_at + ENTRY_BYTES * self.n_terms.div_ceil(TERMS_PER_ENTRY)
            && self.terms_at <= self.postings_at
            && self.postings_at <= n_bytes
    }
}

/// The checksum of everything but the checksum.
fn seal_of(bytes: &[u8]) -> u64 {
    let head = checksum(bytes.get(..CHECKSUM_AT).unwrap_or_default());
    let body = checksum(bytes.get(HEADER_BYTES..).unwrap_or_default());
    head.rotate_left(1) ^ body
}

/// The terms of a segment, one after the other.
pub(crate) struct Terms<'a> {
    rest: &'a [u8],
    /// The postings of the terms still to come.
    postings: &'a [u8],
    pub(crate) term: Vec<u8>,
    here: &'a [u8],
    /// How many numbers the segment has.
    n_numbers: usize,
    n_left: usize,
}

impl<'a> Terms<'a> {
    /// Goes to the next term; false at the end.
    pub(crate) fn advance(&mut self) -> bool {
        if self.n_left == 0 {
            return false;
        }
        self.n_left -= 1;
        let Some(([n_shared, n_own], rest)) = self.rest.split_first_chunk::<2>() else {
            self.n_left = 0;
            return false;
        };
        let (own, mut rest) = rest.split_at_checked(usize::from(*n_own)).unwrap_or((rest, &[]));
        self.term.truncate(usize::from(*n_shared));
        self.term.extend_from_slice(own);
        let n_bytes = take_short(&mut rest) as usize;
        self.rest = rest;
        let (here, behind) = self.postings.split_at_checked(n_bytes).unwrap_or_default();
        (self.here, self.postings) = (here, behind);
        true
    }

    /// Returns the postings of the term gone to.
    pub(crate) fn postings(&self) -> Postings<'a> {
        Postings::open(self.here, self.n_numbers)
    }
}

#[cfg(test)]
mod tests;
