//! Vectors that were compared lately or will be soon, as they stand in the store: whoever commits
//! anything empties the page cache of every connection, and a vector that is read is a page that is
//! read, checked and decrypted.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::place::Place;
use crate::record::MemoryNumber;

/// What is kept at most. Memory that was never written to is never taken.
const BYTES_MAX: usize = 48 << 20;
/// Parts of one memory stand this far apart, so that they do not take the slots of its neighbours.
const PART_STRIDE: usize = 7919;
/// The key of an empty slot: no model has the number 0.
const NOBODY: i64 = 0;

/// Each vector has one slot where it may be, shared with few others: the one read last has it.
pub(super) struct Kept(Mutex<Slots>);

struct Slots {
    n_bytes: usize,
    keys: Vec<i64>,
    follows: Vec<Follows>,
    /// One vector behind the other.
    components: Vec<u8>,
}

/// What is known about the part after this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follows {
    Unknown,
    Another,
    Nothing,
}

impl Kept {
    /// Makes room for vectors of so many bytes.
    pub(super) fn new(dimension: u16) -> Self {
        let n_bytes = usize::from(dimension).max(1);
        let n_slots = BYTES_MAX / n_bytes;
        Self(Mutex::new(Slots {
            n_bytes,
            keys: vec![NOBODY; n_slots],
            follows: vec![Follows::Unknown; n_slots],
            components: vec![0; n_slots * n_bytes],
        }))
    }

    /// Shows the vector of a place, if it is there.
    pub(super) fn with<T>(&self, place: Place, see: impl FnOnce(&[u8]) -> T) -> Option<T> {
        self.slots().get(place).map(|(components, _)| see(components))
    }

    /// Shows every vector of the memory whose first place this is, or nothing unless all of them
    /// are there.
    pub(super) fn all_of<T>(
        &self,
        first: Place,
        mut see: impl FnMut(&[u8]) -> T,
    ) -> Option<Vec<T>> {
        let slots = self.slots();
        let mut seen = Vec::new();
        for part in 0..=u16::MAX {
            let place = Place::from_key(first.key() | i64::from(part));
            let (components, follows) = slots.get(place)?;
            seen.push(see(components));
            match follows {
                Follows::Another => {}
                Follows::Nothing => return Some(seen),
                Follows::Unknown => return None,
            }
        }
        None
    }

    /// Keeps the vector of a place.
    pub(super) fn put(&self, place: Place, components: &[u8], follows: Follows) {
        self.slots().put(place, components, follows);
    }

    /// Returns how many memories of one part there is room for.
    pub(super) fn n_slots(&self) -> u32 {
        u32::try_from(self.slots().keys.len()).unwrap_or(u32::MAX)
    }

    /// Forgets the vectors of a memory.
    pub(super) fn remove(&mut self, memory: MemoryNumber) {
        let slots = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        let own = |key: &&mut i64| **key != NOBODY && Place::from_key(**key).memory() == memory;
        slots.keys.iter_mut().filter(own).for_each(|key| *key = NOBODY);
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slots {
    fn slot_of(&self, place: Place) -> usize {
        let own = (place.memory().get() as usize)
            .wrapping_add(usize::from(place.part()).wrapping_mul(PART_STRIDE));
        own.checked_rem(self.keys.len()).unwrap_or(0)
    }

    fn get(&self, place: Place) -> Option<(&[u8], Follows)> {
        let slot = self.slot_of(place);
        if *self.keys.get(slot)? != place.key() {
            return None;
        }
        let start = slot * self.n_bytes;
        let components = self.components.get(start..start + self.n_bytes)?;
        Some((components, *self.follows.get(slot)?))
    }

    fn put(&mut self, place: Place, components: &[u8], follows: Follows) {
        let slot = self.slot_of(place);
        let start = slot * self.n_bytes;
        let room = self.components.get_mut(start..start + self.n_bytes);
        let room = room.filter(|room| room.len() == components.len());
        let (Some(room), Some(key), Some(known)) =
            (room, self.keys.get_mut(slot), self.follows.get_mut(slot))
        else {
            return;
        };
        room.copy_from_slice(components);
        *key = place.key();
        *known = follows;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: u16 = 4;

    fn place(memory: u32, part: u16) -> Place {
        Place::from_key(1 << 48 | i64::from(memory) << 16 | i64::from(part))
    }

    fn all_of(kept: &Kept, memory: u32) -> Option<Vec<u8>> {
        kept.all_of(place(memory, 0), |own| own[0])
    }

    #[test]
    fn a_memory_is_there_when_all_its_parts_are() {
        let kept = Kept::new(BYTES);
        kept.put(place(7, 0), &[1; 4], Follows::Another);
        assert_eq!(all_of(&kept, 7), None);
        kept.put(place(7, 1), &[2; 4], Follows::Unknown);
        assert_eq!(all_of(&kept, 7), None);
        kept.put(place(7, 1), &[2; 4], Follows::Nothing);
        assert_eq!(all_of(&kept, 7), Some(vec![1, 2]));
        assert_eq!(kept.with(place(7, 1), |own| own[3]), Some(2));
        assert_eq!(kept.with(place(7, 2), |own| own[3]), None);
        assert_eq!(all_of(&kept, 8), None);
    }

    #[test]
    fn what_is_forgotten_or_pushed_out_is_gone() {
        let mut kept = Kept::new(BYTES);
        let n_slots = u32::try_from(BYTES_MAX / usize::from(BYTES)).unwrap();
        for memory in [3, 4] {
            kept.put(place(memory, 0), &[9; 4], Follows::Nothing);
        }
        kept.remove(MemoryNumber::new(3));
        assert_eq!((all_of(&kept, 3), all_of(&kept, 4)), (None, Some(vec![9])));
        kept.put(place(4 + n_slots, 0), &[5; 4], Follows::Nothing);
        assert_eq!((all_of(&kept, 4), all_of(&kept, 4 + n_slots)), (None, Some(vec![5])));
    }

    #[test]
    fn a_vector_of_another_length_is_not_kept() {
        let kept = Kept::new(BYTES);
        kept.put(place(7, 0), &[1; 5], Follows::Nothing);
        assert_eq!(all_of(&kept, 7), None);
    }
}
