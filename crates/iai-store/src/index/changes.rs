//! What a transaction changes that the index has to follow once it is committed.

use super::catalogue::CatalogueEntry;
use super::segment::Segment;
use super::terms::Slots;
use super::words::MemoryWords;
use crate::record::memory::content_hash;
use crate::record::{MemoryId, MemoryNumber, NewMemory};

/// Everything a transaction did to memories, in order.
#[derive(Default)]
pub(crate) struct Changes {
    pub(crate) added: Vec<(MemoryNumber, CatalogueEntry, MemoryWords)>,
    /// New places, and the project of each.
    pub(crate) places: Vec<(u32, Option<String>)>,
    /// Places nothing stands in any more.
    pub(crate) places_gone: Vec<u32>,
    /// Memories that were replaced, and when, in milliseconds.
    pub(crate) ended: Vec<(MemoryNumber, i64)>,
    /// Memories whose corrections changed, and when they ended by those that are left.
    pub(crate) reset_ends: Vec<(MemoryNumber, Option<i64>)>,
    pub(crate) removed: Vec<MemoryNumber>,
    /// Segments without the removed memories, stored already.
    pub(crate) rewritten: Vec<Segment>,
}

impl Changes {
    /// Tells whether there is nothing to follow.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { added, places, places_gone, ended, reset_ends, removed, rewritten } = self;
        added.is_empty()
            && places.is_empty()
            && places_gone.is_empty()
            && ended.is_empty()
            && reset_ends.is_empty()
            && removed.is_empty()
            && rewritten.is_empty()
    }

    /// Takes the first memories of many away, with what they need; nothing when there are not more
    /// than `n_max`.
    pub(crate) fn split_added(&mut self, n_max: usize) -> Option<Self> {
        if self.added.len() <= n_max {
            return None;
        }
        let rest = self.added.split_off(n_max);
        let added = std::mem::replace(&mut self.added, rest);
        Some(Self { added, places: std::mem::take(&mut self.places), ..Self::default() })
    }
}

/// A memory made ready to be stored: hashed and cut into words, which needs no store and no lock.
pub struct Prepared<'a> {
    pub(crate) new: &'a NewMemory,
    pub(crate) id: MemoryId,
    pub(crate) content_hash: [u8; 32],
    pub(crate) words: MemoryWords,
}

impl<'a> Prepared<'a> {
    /// Hashes a memory and reads its words.
    pub fn of(new: &'a NewMemory) -> Self {
        Self::with(new, &mut Slots::default())
    }

    /// Hashes many memories and reads their words.
    pub fn all(many: &'a [NewMemory]) -> Vec<Self> {
        let mut slots = Slots::default();
        many.iter().map(|new| Self::with(new, &mut slots)).collect()
    }

    fn with(new: &'a NewMemory, slots: &mut Slots) -> Self {
        Self {
            new,
            id: new.id(),
            content_hash: content_hash(&new.text),
            words: MemoryWords::read(&new.text, new.cue.as_deref(), slots),
        }
    }
}
