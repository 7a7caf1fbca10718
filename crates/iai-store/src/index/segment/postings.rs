//! The postings of one term: which memories of the segment have it, and how often.
//!
//! Number of memories; the most any of them gives of the term's weight; then, by how many of the
//! segment's numbers have the term, [`super::dense`] or [`super::sparse`].

use super::dense::{self, Dense};
use super::sparse::{self, Sparse};
use crate::index::bm25::Saturation;
use crate::index::coding::{put_short, take_short};

/// The most a memory can give of a term's weight is kept in this many steps.
const SHARE_STEPS: f32 = 255.0;
/// A term that one number in so many has is kept by number: little larger, and found at once.
const DENSE_SHARE: usize = 8;
/// Fewer memories than this are found at once anyway.
const DENSE_MEMORIES_MIN: usize = 128;

/// The postings of one term.
#[derive(Clone, Copy)]
pub(crate) struct Postings<'a> {
    n_memories: u32,
    share_max: u8,
    form: Form<'a>,
}

#[derive(Clone, Copy)]
enum Form<'a> {
    Dense(Dense<'a>),
    Sparse(Sparse<'a>),
}

impl<'a> Postings<'a> {
    /// Reads what [`put`] wrote for a segment of so many numbers.
    pub(super) fn open(bytes: &'a [u8], n_numbers: usize) -> Self {
        let mut rest = bytes;
        let n_memories = take_short(&mut rest);
        let (share_max, rest) = rest.split_first().unwrap_or((&0, &[]));
        let form = if is_dense(n_memories as usize, n_numbers) {
            Form::Dense(Dense::open(rest, n_numbers))
        } else {
            Form::Sparse(Sparse::open(rest, n_memories))
        };
        Self { n_memories, share_max: *share_max, form }
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
    pub(crate) fn for_each(self, take: impl FnMut(u32, u16)) {
        self.for_each_from(0, take);
    }

    /// Calls `take` with every memory from `start` on and its count, in order.
    #[inline]
    pub(crate) fn for_each_from(self, start: u32, take: impl FnMut(u32, u16)) {
        match self.form {
            Form::Dense(dense) => dense.for_each_from(start, take),
            Form::Sparse(sparse) => sparse.for_each_from(start, take),
        }
    }

    /// Returns the memory that has `n - 1` others behind it.
    pub(crate) fn nth_from_end(self, n: u32) -> Option<u32> {
        match self.form {
            Form::Dense(dense) => dense.nth_from_end(n),
            Form::Sparse(sparse) => sparse.nth_from_end(n),
        }
    }

    /// Begins to look up memories; in ascending order it is fastest.
    pub(crate) fn probe(self) -> Probe<'a> {
        match self.form {
            Form::Dense(dense) => Probe::Dense(dense),
            Form::Sparse(sparse) => Probe::Sparse(sparse.probe()),
        }
    }
}

/// Looks memories up.
pub(crate) enum Probe<'a> {
    Dense(Dense<'a>),
    Sparse(sparse::Probe<'a>),
}

impl Probe<'_> {
    /// Returns how often the term is in this memory.
    #[inline]
    pub(crate) fn count_of(&mut self, memory: u32) -> u16 {
        match self {
            Self::Dense(dense) => dense.count_of(memory),
            Self::Sparse(probe) => probe.count_of(memory),
        }
    }
}

/// Appends the postings of a term, which must be in order; there is a length for every number.
pub(super) fn put(
    to: &mut Vec<u8>,
    postings: &[(u32, u16)],
    saturation: Saturation,
    lengths: &[u16],
) {
    put_short(to, u32::try_from(postings.len()).unwrap_or(u32::MAX));
    let length_of = |memory: u32| lengths.get(memory as usize).copied().unwrap_or(0);
    let shares =
        postings.iter().map(|(memory, count)| saturation.share(*count, length_of(*memory)));
    to.push(rounded_up(shares.fold(0.0, f32::max)));
    if is_dense(postings.len(), lengths.len()) {
        dense::put(to, postings, lengths.len());
    } else {
        sparse::put(to, postings);
    }
}

fn is_dense(n_memories: usize, n_numbers: usize) -> bool {
    DENSE_MEMORIES_MIN < n_memories && n_numbers <= n_memories.saturating_mul(DENSE_SHARE)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share is between 0 and 1, and the cast saturates"
)]
fn rounded_up(share: f32) -> u8 {
    (share * SHARE_STEPS).ceil() as u8
}
