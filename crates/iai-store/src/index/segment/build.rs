//! Makes segments: from sorted terms, from several segments, from one without some memories.

use super::postings::put;
use super::{CHECKSUM_AT, HEADER_BYTES, MAGIC, Segment, TERMS_PER_ENTRY, Terms, seal_of};
use crate::index::bm25::{Saturation, Totals};
use crate::index::coding::put_short;
use crate::index::words;

/// A segment in the making: terms come in order.
pub(crate) struct SegmentBuilder {
    first: u32,
    lengths: Vec<u16>,
    totals: Totals,
    saturation: Saturation,
    entries: Vec<u8>,
    terms: Vec<u8>,
    postings: Vec<u8>,
    n_terms: usize,
    before: Vec<u8>,
}

impl SegmentBuilder {
    /// Begins a segment whose first memory is numbered `first`; there is a length for every number
    /// of the range, at least one.
    pub(crate) fn new(first: u32, lengths: Vec<u16>) -> Self {
        let totals = Totals {
            n_memories: lengths.iter().filter(|length| **length > 0).count() as u64,
            n_words: lengths.iter().map(|length| u64::from(*length)).sum(),
        };
        Self {
            first,
            lengths,
            totals,
            saturation: Saturation::new(totals.mean_length()),
            entries: Vec::new(),
            terms: Vec::new(),
            postings: Vec::new(),
            n_terms: 0,
            before: Vec::new(),
        }
    }

    /// Adds the next term with its memories, counted from the first of the segment, in order.
    pub(crate) fn add(&mut self, term: &[u8], postings: &[(u32, u16)]) {
        if postings.is_empty() {
            return;
        }
        let n_shared = if self.n_terms.is_multiple_of(TERMS_PER_ENTRY) {
            for at in [self.terms.len(), self.postings.len()] {
                self.entries.extend(small(at).to_le_bytes());
            }
            0
        } else {
            self.before.iter().zip(term).take_while(|(one, other)| one == other).count()
        };
        let own = term.get(n_shared..).unwrap_or_default();
        let start = self.postings.len();
        put(&mut self.postings, postings, self.saturation, &self.lengths);
        for n_bytes in [n_shared, own.len()] {
            self.terms.push(u8::try_from(n_bytes).unwrap_or(u8::MAX));
        }
        self.terms.extend_from_slice(own);
        put_short(&mut self.terms, small(self.postings.len().saturating_sub(start)));
        self.before.clear();
        self.before.extend_from_slice(term);
        self.n_terms = self.n_terms.saturating_add(1);
    }

    /// Seals the segment.
    pub(crate) fn finish(self) -> Segment {
        let last = self.first.saturating_add(small(self.lengths.len()).saturating_sub(1));
        let entries_at = HEADER_BYTES + 2 * self.lengths.len();
        let terms_at = entries_at + self.entries.len();
        let postings_at = terms_at + self.terms.len();
        let mut bytes = Vec::with_capacity(postings_at + self.postings.len());
        let n_memories = u32::try_from(self.totals.n_memories).unwrap_or(u32::MAX);
        for number in [MAGIC, words::VERSION, self.first, last, small(self.n_terms), n_memories] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(self.totals.n_words.to_le_bytes());
        for at in [entries_at, terms_at, postings_at] {
            bytes.extend(small(at).to_le_bytes());
        }
        bytes.resize(HEADER_BYTES, 0);
        bytes.extend(self.lengths.iter().flat_map(|length| length.to_le_bytes()));
        bytes.extend(self.entries);
        bytes.extend(self.terms);
        bytes.extend(self.postings);
        let seal = seal_of(&bytes).to_le_bytes();
        for (to, from) in bytes.iter_mut().skip(CHECKSUM_AT).zip(seal) {
            *to = from;
        }
        let sealed = Segment::open(bytes);
        sealed.expect("a segment reads what it has just written")
    }
}

/// Offsets stay far below four gibibytes: merging stops long before.
fn small(number: usize) -> u32 {
    u32::try_from(number).expect("a segment is smaller than four gibibytes")
}

/// Joins segments whose ranges follow each other.
pub(crate) fn merged(segments: &[&Segment]) -> Segment {
    let first = segments.first().map_or(0, |segment| segment.first());
    let mut lengths = Vec::new();
    for segment in segments {
        // Numbers between two ranges belong to nobody.
        lengths.resize(segment.first().saturating_sub(first) as usize, 0);
        lengths.extend((0..=segment.last() - segment.first()).map(|local| segment.length(local)));
    }
    let mut builder = SegmentBuilder::new(first, lengths);
    let mut open: Vec<(u32, Terms<'_>)> = Vec::new();
    for segment in segments {
        let mut terms = segment.terms();
        if terms.advance() {
            open.push((segment.first().saturating_sub(first), terms));
        }
    }
    let mut postings = Vec::new();
    while let Some(term) = open.iter().map(|(_, terms)| &terms.term).min().cloned() {
        postings.clear();
        for (offset, terms) in open.iter().filter(|(_, terms)| terms.term == term) {
            terms.postings().for_each(|memory, count| {
                postings.push((memory.saturating_add(*offset), count));
            });
        }
        builder.add(&term, &postings);
        open.retain_mut(|(_, terms)| terms.term != term || terms.advance());
    }
    builder.finish()
}

/// Makes the segment again without some memories, whose words are then nowhere in it.
pub(crate) fn without(segment: &Segment, is_removed: impl Fn(u32) -> bool) -> Segment {
    let first = segment.first();
    let is_removed = |local: u32| is_removed(first.saturating_add(local));
    let lengths = (0..=segment.last() - first)
        .map(|local| if is_removed(local) { 0 } else { segment.length(local) })
        .collect();
    let mut builder = SegmentBuilder::new(first, lengths);
    let mut terms = segment.terms();
    let mut postings = Vec::new();
    while terms.advance() {
        postings.clear();
        terms.postings().for_each(|memory, count| {
            if !is_removed(memory) {
                postings.push((memory, count));
            }
        });
        builder.add(&terms.term, &postings);
    }
    builder.finish()
}
