//! The newest memories' words, in memory only, until there are enough of them for a segment.

use super::bm25::Totals;
use super::segment::{Segment, SegmentBuilder};
use super::terms::TermTable;
use super::words::MemoryWords;

/// A tail this long becomes a segment: what a start has to read again at most.
pub(crate) const TAIL_MEMORIES_MAX: usize = 4096;
/// A tail with this many postings does too, so that a few enormous memories stay few megabytes.
const TAIL_POSTINGS_MAX: usize = 1 << 20;

/// The words of a contiguous range of numbers that grows at its end.
#[derive(Clone)]
pub(crate) struct Tail {
    first: u32,
    /// One per number of the range; 0 where there is no memory, or one without words.
    lengths: Vec<u16>,
    terms: TermTable,
    /// By the number of the term: memories counted from the first, in order.
    postings: Vec<Postings>,
    n_postings: usize,
    totals: Totals,
}

/// Where a term stands, and how often. Most terms stand in one memory only: they cost no
/// allocation of their own.
#[derive(Clone)]
enum Postings {
    One((u32, u16)),
    Many(Vec<(u32, u16)>),
}

impl Postings {
    fn as_slice(&self) -> &[(u32, u16)] {
        match self {
            Self::One(posting) => std::slice::from_ref(posting),
            Self::Many(postings) => postings,
        }
    }

    fn push(&mut self, posting: (u32, u16)) {
        match self {
            Self::One(first) => *self = Self::Many(vec![*first, posting]),
            Self::Many(postings) => postings.push(posting),
        }
    }

    fn remove(&mut self, local: u32) {
        let Ok(place) = self.as_slice().binary_search_by_key(&local, |(memory, _)| *memory) else {
            return;
        };
        match self {
            Self::One(_) => *self = Self::Many(Vec::new()),
            Self::Many(postings) => drop(postings.remove(place)),
        }
    }
}

impl Tail {
    /// Begins a range at this number.
    pub(crate) fn new(first: u32) -> Self {
        Self {
            first,
            lengths: Vec::new(),
            terms: TermTable::default(),
            postings: Vec::new(),
            n_postings: 0,
            totals: Totals::default(),
        }
    }

    pub(crate) fn first(&self) -> u32 {
        self.first
    }

    /// The first number that is not in the range.
    pub(crate) fn end(&self) -> u32 {
        self.first.saturating_add(u32::try_from(self.lengths.len()).unwrap_or(u32::MAX))
    }

    /// How many numbers are in the range.
    pub(crate) fn len(&self) -> usize {
        self.lengths.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        TAIL_MEMORIES_MAX <= self.lengths.len() || TAIL_POSTINGS_MAX <= self.n_postings
    }

    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    pub(crate) fn length(&self, local: u32) -> u16 {
        self.lengths.get(local as usize).copied().unwrap_or(0)
    }

    pub(crate) fn postings(&self, term: &[u8]) -> &[(u32, u16)] {
        let number = self.terms.find(term);
        number.and_then(|number| self.postings.get(number as usize)).map_or(&[], Postings::as_slice)
    }

    /// Adds a memory; its number is at or after the end of the range.
    pub(crate) fn add(&mut self, number: u32, words: &MemoryWords) {
        let local = number.saturating_sub(self.first);
        self.lengths.resize(local as usize, 0);
        self.lengths.push(words.length);
        for (term_number, count) in self.terms.intern_all(&words.terms).zip(&words.counts) {
            match self.postings.get_mut(term_number as usize) {
                Some(postings) => postings.push((local, *count)),
                None => self.postings.push(Postings::One((local, *count))),
            }
        }
        self.n_postings = self.n_postings.saturating_add(words.counts.len());
        self.totals.add(Totals {
            n_memories: u64::from(words.length > 0),
            n_words: u64::from(words.length),
        });
    }

    /// Takes a memory out.
    pub(crate) fn remove(&mut self, number: u32) {
        let Some(local) = number.checked_sub(self.first) else { return };
        let Some(length) = self.lengths.get_mut(local as usize) else { return };
        let n_words = std::mem::take(length);
        self.totals.n_memories -= u64::from(n_words > 0);
        self.totals.n_words -= u64::from(n_words);
        for postings in &mut self.postings {
            postings.remove(local);
        }
    }

    /// Makes a segment of the whole range, which has at least one number.
    pub(crate) fn sealed(&self) -> Segment {
        let mut builder = SegmentBuilder::new(self.first, self.lengths.clone());
        let mut order: Vec<usize> = (0..self.terms.len()).collect();
        order.sort_unstable_by(|one, other| self.terms.term(*one).cmp(self.terms.term(*other)));
        for number in order {
            let postings = self.postings.get(number).map_or(&[][..], Postings::as_slice);
            builder.add(self.terms.term(number), postings);
        }
        builder.finish()
    }
}
