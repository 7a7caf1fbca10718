//! A set of terms, each with a small number in order of arrival: the words of one memory while it
//! is read, the words of many while they wait for a segment.

/// The terms and where to find them. Order and numbers depend only on what came in.
#[derive(Debug, Clone, Default)]
pub(crate) struct TermTable {
    /// Open addressing; its length is a power of two and at least twice the number of terms.
    slots: Vec<Slot>,
    hashes: Vec<u32>,
    /// One past the last byte of each term.
    ends: Vec<u32>,
    bytes: Vec<u8>,
}

/// The hash stands beside the number, so that a wrong slot is passed over without another look.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    hash: u32,
    /// One more than a term's number, or 0 for none.
    taken: u32,
}

/// Slots of a table that is not used any more, for the next one.
#[derive(Default)]
pub(crate) struct Slots(Vec<Slot>);

const SLOTS_FIRST: usize = 64;

impl TermTable {
    /// Returns an empty table that need not grow for so many terms of so many bytes in all.
    pub(crate) fn with_room(mut slots: Slots, n_terms: usize, n_bytes: usize) -> Self {
        let n_slots = (2 * n_terms).next_power_of_two().max(SLOTS_FIRST);
        slots.0.clear();
        slots.0.resize(n_slots, Slot::default());
        Self {
            slots: slots.0,
            hashes: Vec::with_capacity(n_terms),
            ends: Vec::with_capacity(n_terms),
            bytes: Vec::with_capacity(n_bytes),
        }
    }

    /// Gives the slots away for another table. The terms stay, but none is found any more.
    pub(crate) fn take_slots(&mut self) -> Slots {
        Slots(std::mem::take(&mut self.slots))
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the terms in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|number| self.term(number))
    }

    /// Adds the terms of another table that are not here yet, and returns the number each of them
    /// has here, in the order of their numbers there.
    pub(crate) fn intern_all<'a>(&'a mut self, other: &'a Self) -> impl Iterator<Item = u32> + 'a {
        let hashed = other.iter().zip(&other.hashes);
        hashed.map(|(term, hash)| self.intern_hashed(term, *hash))
    }

    /// Returns the term with this number; no bytes when there is none.
    pub(crate) fn term(&self, number: usize) -> &[u8] {
        let end_of = |number: usize| self.ends.get(number).map_or(0, |end| *end as usize);
        let start = number.checked_sub(1).map_or(0, end_of);
        self.bytes.get(start..end_of(number)).unwrap_or_default()
    }

    /// Returns the number of a term.
    pub(crate) fn find(&self, term: &[u8]) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        self.slot_of(term, hash_of(term)).1
    }

    /// Returns the number of a term, which is new when it equals the number of terms before.
    pub(crate) fn intern(&mut self, term: &[u8]) -> u32 {
        self.intern_hashed(term, hash_of(term))
    }

    fn intern_hashed(&mut self, term: &[u8], hash: u32) -> u32 {
        if self.slots.len() < 2 * (self.len() + 1) {
            self.grow();
        }
        let (place, found) = self.slot_of(term, hash);
        if let Some(number) = found {
            return number;
        }
        let number = u32::try_from(self.len()).unwrap_or(u32::MAX);
        if let Some(slot) = self.slots.get_mut(place) {
            *slot = Slot { hash, taken: number.saturating_add(1) };
        }
        self.bytes.extend_from_slice(term);
        self.ends.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
        self.hashes.push(hash);
        number
    }

    /// Returns the slot where a term is or would be, and its number.
    fn slot_of(&self, term: &[u8], hash: u32) -> (usize, Option<u32>) {
        let mask = self.slots.len().wrapping_sub(1);
        let mut place = hash as usize & mask;
        loop {
            let slot = self.slots.get(place).copied().unwrap_or_default();
            let Some(number) = slot.taken.checked_sub(1) else { return (place, None) };
            if slot.hash == hash && self.term(number as usize) == term {
                return (place, Some(number));
            }
            place = place.wrapping_add(1) & mask;
        }
    }

    fn grow(&mut self) {
        let n_slots = (self.slots.len() * 2).max(SLOTS_FIRST);
        let mask = n_slots - 1;
        self.slots.clear();
        self.slots.resize(n_slots, Slot::default());
        for (taken, hash) in (1_u32..).zip(&self.hashes) {
            let mut place = *hash as usize & mask;
            while self.slots.get(place).is_some_and(|slot| slot.taken != 0) {
                place = place.wrapping_add(1) & mask;
            }
            if let Some(slot) = self.slots.get_mut(place) {
                *slot = Slot { hash: *hash, taken };
            }
        }
    }
}

/// Mixes eight bytes at a time; a person's words are no attack, and the table only gets slower.
fn hash_of(term: &[u8]) -> u32 {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(SPREAD);
    let (words, rest) = term.as_chunks::<8>();
    let mut hash = term.len() as u64;
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    if !rest.is_empty() {
        hash = mix(hash, rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
    }
    u32::try_from(hash >> 32).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_of_another_table_get_numbers_here() {
        let mut here = TermTable::with_room(Slots::default(), 2, 8);
        let mut there = TermTable::default();
        for term in ["a", "b"] {
            here.intern(term.as_bytes());
        }
        for term in ["c", "b", "a", "a word of more than eight bytes"] {
            there.intern(term.as_bytes());
        }
        assert_eq!(here.intern_all(&there).collect::<Vec<_>>(), [2, 1, 0, 3]);
        assert_eq!(here.find(b"a word of more than eight bytes"), Some(3));
    }

    #[test]
    fn every_term_keeps_its_number() {
        let mut table = TermTable::default();
        assert_eq!(table.find(b"x"), None);
        let words: Vec<String> = (0..5000).map(|n| format!("{}{n}", "w".repeat(n % 40))).collect();
        for (number, word) in (0..).zip(&words) {
            assert_eq!(table.intern(word.as_bytes()), number);
        }
        assert_eq!(table.intern(b""), 5000);
        for (number, word) in (0..).zip(&words) {
            assert_eq!(table.intern(word.as_bytes()), number);
            assert_eq!(table.find(word.as_bytes()), Some(number));
        }
        assert_eq!(table.find(b"missing"), None);
        assert_eq!(table.len(), 5001);
        assert!(table.iter().zip(&words).all(|(term, word)| term == word.as_bytes()));
    }
}
