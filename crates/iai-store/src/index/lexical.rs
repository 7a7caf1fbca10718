//! The lexical index: finds memories by the words in them, ranked by BM25.
//!
//! Segments hold what is old, frozen tails what waits to become a segment, one growing tail what is
//! new. Scores are the same however memories are spread over them.

mod asked;
mod best;
mod list;
mod resolved;
mod search;

use std::sync::Arc;

use super::bm25::Totals;
use super::segment::{Segment, merged};
use super::tail::Tail;
use super::words::{MemoryWords, terms_asked};
use crate::record::MemoryNumber;
use list::List;

pub use asked::LexicalQuery;
pub(crate) use resolved::Resolved;

/// Segments of like size are joined when there are this many in a row.
const MERGE_SEGMENTS: usize = 8;
/// No segment gets more numbers than this: joining larger ones would hold the writer too long.
const SEGMENT_NUMBERS_MAX: u32 = 131_072;
/// Nor more bytes than this, whatever its numbers.
const SEGMENT_BYTES_MAX: usize = 64 << 20;

/// A memory that shares words with a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LexicalHit {
    /// The memory.
    pub number: MemoryNumber,
    /// BM25: above zero, higher is better.
    pub score: f32,
}

/// The words of all memories.
#[derive(Clone, Default)]
pub(crate) struct LexicalIndex {
    /// By number; ranges do not overlap.
    segments: Vec<Arc<Segment>>,
    /// Full tails, behind the segments.
    frozen: Vec<Arc<Tail>>,
    /// Behind everything else.
    tail: Option<Tail>,
}

impl LexicalIndex {
    /// Takes segments in order of their numbers.
    pub(crate) fn new(segments: Vec<Segment>) -> Self {
        let segments = segments.into_iter().map(Arc::new).collect();
        Self { segments, frozen: Vec::new(), tail: None }
    }

    /// Begins an index whose first number is not 0.
    pub(crate) fn starting_at(first: u32) -> Self {
        Self { tail: Some(Tail::new(first)), ..Self::default() }
    }

    /// Makes segments of everything, up to a last number that need not be a memory.
    pub(crate) fn into_segments(mut self, last: u32) -> Vec<Arc<Segment>> {
        if self.end() <= last {
            self.add(last, &MemoryWords::default());
        }
        self.freeze();
        let tails = self.frozen.iter().map(|tail| Arc::new(tail.sealed()));
        self.segments.into_iter().chain(tails).collect()
    }

    /// Ends the growing tail, full or not.
    pub(crate) fn freeze(&mut self) {
        self.frozen.extend(self.tail.take().filter(|tail| !tail.is_empty()).map(Arc::new));
    }

    /// How many numbers the growing tail has.
    pub(crate) fn n_growing(&self) -> usize {
        self.tail.as_ref().map_or(0, Tail::len)
    }

    /// The first number that is in no segment and no tail.
    pub(crate) fn end(&self) -> u32 {
        let of_segments = self.segments.last().map_or(0, |segment| segment.last() + 1);
        let of_frozen = self.frozen.last().map_or(0, |tail| tail.end());
        of_segments.max(of_frozen).max(self.tail.as_ref().map_or(0, Tail::end))
    }

    /// Adds a memory that is newer than all others.
    pub(crate) fn add(&mut self, number: u32, words: &MemoryWords) {
        // A range begins where the one before ends: no number may ever be between two ranges.
        let begin = self.end();
        let tail = self.tail.get_or_insert_with(|| Tail::new(begin));
        tail.add(number, words);
        if tail.is_full() {
            self.freeze();
        }
    }

    /// How many tails wait to be sealed.
    pub(crate) fn n_frozen(&self) -> usize {
        self.frozen.len()
    }

    /// Returns the oldest tail that is full.
    pub(crate) fn to_seal(&self) -> Option<Arc<Tail>> {
        self.frozen.first().map(Arc::clone)
    }

    /// Returns neighbours that are due to become one segment.
    pub(crate) fn to_merge(&self) -> Option<Vec<Arc<Segment>>> {
        let run = due_run(&self.segments.iter().map(|s| size_of(s)).collect::<Vec<_>>())?;
        self.segments.get(run).map(<[Arc<Segment>]>::to_vec)
    }

    /// Puts a segment in the place of everything it covers.
    pub(crate) fn replace(&mut self, segment: Segment) {
        let (first, last) = (segment.first(), segment.last());
        self.frozen.retain(|tail| tail.first() < first || last < tail.first());
        self.segments.retain(|old| old.first() < first || last < old.first());
        let place = self.segments.partition_point(|old| old.first() < first);
        self.segments.insert(place, Arc::new(segment));
    }

    /// Takes memories out that are in no segment yet.
    pub(crate) fn remove_unsealed(&mut self, numbers: &[u32]) {
        for number in numbers {
            for tail in &mut self.frozen {
                if (tail.first()..tail.end()).contains(number) {
                    Arc::make_mut(tail).remove(*number);
                }
            }
            if let Some(tail) = &mut self.tail {
                tail.remove(*number);
            }
        }
    }

    /// Looks the words of a question up in every part.
    pub(crate) fn resolve(&self, query: &LexicalQuery) -> Resolved<'_> {
        Resolved::new(self, query)
    }

    /// Returns in how many memories a word is; one that is cut into several, as its rarest.
    pub(crate) fn document_frequency(&self, word: &str) -> u64 {
        let terms = terms_asked(word);
        terms.iter().map(|term| self.frequency(term)).min().unwrap_or(0)
    }

    pub(crate) fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for part in self.parts() {
            totals.add(part.totals());
        }
        totals
    }

    /// The bytes of all segments, and how many there are.
    pub(crate) fn n_segment_bytes(&self) -> (usize, usize) {
        (self.segments.iter().map(|segment| segment.bytes().len()).sum(), self.segments.len())
    }

    pub(crate) fn segments(&self) -> &[Arc<Segment>] {
        &self.segments
    }

    fn frequency(&self, term: &str) -> u64 {
        self.parts().map(|part| u64::from(part.list(term.as_bytes()).n_memories())).sum()
    }

    /// Everything there is, by number.
    fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let segments = self.segments.iter().map(|segment| Part::Segment(segment));
        let frozen = self.frozen.iter().map(|tail| Part::Tail(tail));
        segments.chain(frozen).chain(self.tail.iter().map(Part::Tail))
    }
}

/// Joins segments that [`LexicalIndex::to_merge`] named.
pub(crate) fn merge(run: &[Arc<Segment>]) -> Segment {
    merged(&run.iter().map(AsRef::as_ref).collect::<Vec<_>>())
}

/// Numbers and bytes of a segment.
fn size_of(segment: &Segment) -> (u32, usize) {
    (segment.last() - segment.first() + 1, segment.bytes().len())
}

/// Finds the first run of [`MERGE_SEGMENTS`] neighbours of the same tier, or fewer when they fill a
/// segment, so that the number of segments grows with the logarithm of what is small, and by one
/// for each [`SEGMENT_NUMBERS_MAX`] memories.
fn due_run(sizes: &[(u32, usize)]) -> Option<std::ops::Range<usize>> {
    let tier_of = |size: &(u32, usize)| size.0.ilog2() / 3;
    let may_grow =
        |size: &(u32, usize)| size.0 <= SEGMENT_NUMBERS_MAX / 2 && size.1 <= SEGMENT_BYTES_MAX / 2;
    let mut start = 0;
    while let Some(first) = sizes.get(start).filter(|_| start < sizes.len()) {
        let mut sum = (0_u32, 0_usize);
        let mut end = start;
        while let Some(size) = sizes.get(end) {
            let next = (sum.0.saturating_add(size.0), sum.1.saturating_add(size.1));
            let fits = next.0 <= SEGMENT_NUMBERS_MAX && next.1 <= SEGMENT_BYTES_MAX;
            if !may_grow(size) || !fits || tier_of(size) != tier_of(first) {
                break;
            }
            (sum, end) = (next, end + 1);
        }
        let is_full = end - start > 1 && SEGMENT_NUMBERS_MAX / 4 * 3 < sum.0;
        if is_full || MERGE_SEGMENTS <= end - start {
            return Some(start..end.min(start + 4 * MERGE_SEGMENTS));
        }
        start = end.max(start + 1);
    }
    None
}

/// One searched part of the index.
#[derive(Clone, Copy)]
enum Part<'a> {
    Segment(&'a Segment),
    Tail(&'a Tail),
}

impl<'a> Part<'a> {
    fn totals(self) -> Totals {
        match self {
            Part::Segment(segment) => segment.totals(),
            Part::Tail(tail) => tail.totals(),
        }
    }

    fn first(self) -> u32 {
        match self {
            Part::Segment(segment) => segment.first(),
            Part::Tail(tail) => tail.first(),
        }
    }

    fn end(self) -> u32 {
        match self {
            Part::Segment(segment) => segment.last().saturating_add(1),
            Part::Tail(tail) => tail.end(),
        }
    }

    #[inline]
    fn length(self, local: u32) -> u16 {
        match self {
            Part::Segment(segment) => segment.length(local),
            Part::Tail(tail) => tail.length(local),
        }
    }

    fn list(self, term: &[u8]) -> List<'a> {
        match self {
            Part::Segment(segment) => List::Sealed(segment.postings(term)),
            Part::Tail(tail) => List::Open(tail.postings(term)),
        }
    }
}

#[cfg(test)]
mod tests;
