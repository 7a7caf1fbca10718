//! A set of terms, each with a small number in order of arrival: the words of one memory while it
//! is read, the words of many while they wait for a segment.

/// The terms and where to find them. Order and numbers depend only on what came in.
#[derive(Debug, Clone, Default)]
pub(crate) struct TermTable {
    /// Open addressing: one more than a term's number, or 0; its length is a power of two and at
    /// least twice the number of terms.
    slots: Vec<u32>,
    hashes: Vec<u32>,
    /// One past the last byte of each term.
    ends: Vec<u32>,
    bytes: Vec<u8>,
}

const SLOTS_FIRST: usize = 64;

impl TermTable {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the terms in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|number| self.term(number))
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
        if self.slots.len() < 2 * (self.len() + 1) {
            self.grow();
        }
        let hash = hash_of(term);
        let (place, found) = self.slot_of(term, hash);
        if let Some(number) = found {
            return number;
        }
        let number = u32::try_from(self.len()).unwrap_or(u32::MAX);
        if let Some(slot) = self.slots.get_mut(place) {
            *slot = number.saturating_add(1);
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
            let number = match self.slots.get(place) {
                None | Some(0) => return (place, None),
                Some(taken) => taken - 1,
            };
            let is_same_hash = self.hashes.get(number as usize) == Some(&hash);
            if is_same_hash && self.term(number as usize) == term {
                return (place, Some(number));
            }
            place = place.wrapping_add(1) & mask;
        }
    }

    fn grow(&mut self) {
        let n_slots = (self.slots.len() * 2).max(SLOTS_FIRST);
        let mask = n_slots - 1;
        self.slots.clear();
        self.slots.resize(n_slots, 0);
        for (number, hash) in (1_u32..).zip(&self.hashes) {
            let mut place = *hash as usize & mask;
            while self.slots.get(place).is_some_and(|slot| *slot != 0) {
                place = place.wrapping_add(1) & mask;
            }
            if let Some(slot) = self.slots.get_mut(place) {
                *slot = number;
            }
        }
    }
}

/// Mixes eight bytes at a time; a person's words are no attack, and the table only gets slower.
fn hash_of(term: &[u8]) -> u32 {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = term.len() as u64;
    for chunk in term.chunks(8) {
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(chunk) {
            *to = *from;
        }
        hash = (hash.rotate_left(23) ^ u64::from_le_bytes(word)).wrapping_mul(SPREAD);
    }
    u32::try_from(hash >> 32).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

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
