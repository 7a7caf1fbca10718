//! The postings of a term in one part, sealed or not.

use crate::index::segment::{Postings, Probe};

/// The postings of a term in one part.
#[derive(Clone, Copy)]
pub(super) enum List<'a> {
    Sealed(Option<Postings<'a>>),
    Open(&'a [(u32, u16)]),
}

impl<'a> List<'a> {
    pub(super) fn n_memories(self) -> u32 {
        match self {
            Self::Sealed(postings) => postings.map_or(0, Postings::n_memories),
            Self::Open(postings) => u32::try_from(postings.len()).unwrap_or(u32::MAX),
        }
    }

    /// The most a memory of the part gets of the term's weight.
    pub(super) fn share_max(self, drift: f32) -> f32 {
        match self {
            Self::Sealed(Some(postings)) => (postings.share_max() * drift).min(1.0),
            Self::Sealed(None) | Self::Open([]) => 0.0,
            Self::Open(_) => 1.0,
        }
    }

    /// Calls `take` with every memory from `start` on and its count, in order.
    #[inline]
    pub(super) fn for_each_from(self, start: u32, mut take: impl FnMut(u32, u16)) {
        match self {
            Self::Sealed(Some(postings)) => postings.for_each_from(start, take),
            Self::Sealed(None) => {}
            Self::Open(postings) => {
                let first = postings.partition_point(|(memory, _)| *memory < start);
                for (memory, count) in postings.get(first..).unwrap_or_default() {
                    take(*memory, *count);
                }
            }
        }
    }

    /// Returns the memory that has `n - 1` others behind it.
    pub(super) fn nth_from_end(self, n: u32) -> Option<u32> {
        match self {
            Self::Sealed(postings) => postings?.nth_from_end(n),
            Self::Open(postings) => {
                let place = postings.len().checked_sub(n as usize)?;
                postings.get(place).map(|(memory, _)| *memory)
            }
        }
    }

    /// Begins to look up memories; in ascending order it is fastest.
    pub(super) fn probe(self) -> Lookup<'a> {
        match self {
            Self::Sealed(postings) => Lookup::Sealed(postings.map(Postings::probe)),
            Self::Open(postings) => Lookup::Open(postings),
        }
    }
}

/// Looks memories up.
pub(super) enum Lookup<'a> {
    Sealed(Option<Probe<'a>>),
    Open(&'a [(u32, u16)]),
}

impl Lookup<'_> {
    /// Returns how often the term is in this memory.
    #[inline]
    pub(super) fn count_of(&mut self, local: u32) -> u16 {
        match self {
            Self::Sealed(probe) => probe.as_mut().map_or(0, |probe| probe.count_of(local)),
            Self::Open(postings) => {
                let found = postings.binary_search_by_key(&local, |(memory, _)| *memory).ok();
                found.and_then(|place| postings.get(place)).map_or(0, |(_, count)| *count)
            }
        }
    }
}
