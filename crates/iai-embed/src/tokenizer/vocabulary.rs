//! The pieces a model knows, found by their letters; ready after one pass over the file's bytes.

/// A piece that goes on with a word is written with this in front.
const CONTINUATION: &[u8] = b"##";
/// Slots per piece, so that a search ends soon.
const SLOTS_PER_PIECE: usize = 2;
const EMPTY: u32 = u32::MAX;

/// Pieces and their ids: an open-addressing table over the text of all of them.
pub(crate) struct Vocabulary {
    /// Every piece, ended by a newline, in the order of their ids.
    text: Vec<u8>,
    /// Where each piece starts in `text`; one more than there are pieces.
    starts: Vec<u32>,
    /// Ids; the length is a power of two, and at least half of them are `EMPTY`.
    slots: Vec<u32>,
    n_bytes_max: usize,
}

/// Where in a word a piece stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Start,
    Inside,
}

impl Vocabulary {
    /// Takes the pieces as lines; `None` when they are not `n_pieces` different ones.
    pub(crate) fn from_lines(text: Vec<u8>, n_pieces: usize) -> Option<Self> {
        let mut starts = vec![0u32];
        for (at, byte) in text.iter().enumerate() {
            if *byte == b'\n' {
                starts.push(u32::try_from(at + 1).ok()?);
            }
        }
        let is_whole = text.last() == Some(&b'\n') && starts.len() == n_pieces + 1;
        if !is_whole || std::str::from_utf8(&text).is_err() {
            return None;
        }
        let n_slots = n_pieces.checked_mul(SLOTS_PER_PIECE)?.checked_next_power_of_two()?;
        let slots = vec![EMPTY; n_slots];
        let mut vocabulary = Self { text, starts, slots, n_bytes_max: 0 };
        for id in 0..u32::try_from(n_pieces).ok()? {
            vocabulary.insert(id)?;
        }
        Some(vocabulary)
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Every piece as a line, as a model file keeps them.
    pub(crate) fn lines(&self) -> &[u8] {
        &self.text
    }

    /// Returns the id of a piece as the tokenizer file spells it.
    pub(super) fn spelled(&self, piece: &str) -> Option<u32> {
        let (place, letters) = parted(piece.as_bytes());
        self.find(place, letters)
    }

    /// Returns the id of the piece with these letters.
    pub(super) fn find(&self, place: Place, letters: &[u8]) -> Option<u32> {
        if letters.len() > self.n_bytes_max {
            return None;
        }
        self.find_hashed(hash(place, letters), place, letters)
    }

    fn find_hashed(&self, hash: u64, place: Place, letters: &[u8]) -> Option<u32> {
        let found = self
            .probe(hash)
            .find(|id| *id == EMPTY || self.piece(*id).map(parted) == Some((place, letters)))?;
        (found != EMPTY).then_some(found)
    }

    /// Hands out every piece that the text begins with, shortest first, and its length.
    pub(super) fn each_prefix(&self, text: &[u8], mut take: impl FnMut(u32, usize)) {
        let mut hash = hash_start(Place::Start);
        for (n_before, byte) in text.iter().enumerate() {
            hash = hash_step(hash, *byte);
            let is_inside = text.get(n_before + 1).is_some_and(|next| next & 0xc0 == 0x80);
            let Some(prefix) = text.get(..=n_before).filter(|_| !is_inside) else { continue };
            let id = match parted(prefix) {
                (Place::Start, letters) => self.find_hashed(hash, Place::Start, letters),
                (Place::Inside, letters) => self.find(Place::Inside, letters),
            };
            if let Some(id) = id {
                take(id, prefix.len());
            }
        }
    }

    /// Every piece as the tokenizer file spells it, in the order of the ids.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        self.text.split(|byte| *byte == b'\n').take(self.len())
    }

    /// The most bytes a piece has, its mark of continuation apart.
    pub(super) fn n_bytes_max(&self) -> usize {
        self.n_bytes_max
    }

    fn piece(&self, id: u32) -> Option<&[u8]> {
        let id = usize::try_from(id).ok()?;
        let from = usize::try_from(*self.starts.get(id)?).ok()?;
        let to = usize::try_from(*self.starts.get(id + 1)?).ok()?;
        self.text.get(from..to.checked_sub(1)?)
    }

    /// Refuses a piece that is there already.
    fn insert(&mut self, id: u32) -> Option<()> {
        let (place, letters) = parted(self.piece(id)?);
        let n_bytes = letters.len();
        let mut at = self.first_slot(hash(place, letters));
        loop {
            let other = *self.slots.get(at)?;
            if other == EMPTY {
                break;
            }
            if self.piece(other) == self.piece(id) {
                return None;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        *self.slots.get_mut(at)? = id;
        self.n_bytes_max = self.n_bytes_max.max(n_bytes);
        Some(())
    }

    fn probe(&self, hash: u64) -> impl Iterator<Item = u32> {
        let first = self.first_slot(hash);
        let (before, from) = self.slots.split_at(first.min(self.slots.len()));
        from.iter().chain(before).copied()
    }

    fn first_slot(&self, hash: u64) -> usize {
        let mixed = hash ^ (hash >> 32);
        usize::try_from(mixed & 0xffff_ffff).unwrap_or(0) & (self.slots.len() - 1)
    }
}

fn hash(place: Place, letters: &[u8]) -> u64 {
    letters.iter().fold(hash_start(place), |hash, byte| hash_step(hash, *byte))
}

fn hash_start(place: Place) -> u64 {
    match place {
        Place::Start => 0xcbf2_9ce4_8422_2325,
        Place::Inside => 0x9e37_79b9_7f4a_7c15,
    }
}

fn hash_step(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
}

fn parted(piece: &[u8]) -> (Place, &[u8]) {
    match piece.strip_prefix(CONTINUATION) {
        Some(letters) if !letters.is_empty() => (Place::Inside, letters),
        _ => (Place::Start, piece),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pieces: &[&str]) -> Option<Vocabulary> {
        let lines: String = pieces.iter().map(|piece| format!("{piece}\n")).collect();
        Vocabulary::from_lines(lines.into_bytes(), pieces.len())
    }

    #[test]
    fn every_piece_is_found_and_no_other() {
        let pieces = ["[UNK]", "a", "##a", "#", "##", "ab", "##ab", "é"];
        let vocabulary = of(&pieces).unwrap();
        for (id, piece) in pieces.iter().enumerate() {
            assert_eq!(vocabulary.spelled(piece), u32::try_from(id).ok(), "{piece}");
        }
        for absent in ["b", "##b", "abc", "", "##é"] {
            assert_eq!(vocabulary.spelled(absent), None, "{absent}");
        }
    }

    #[test]
    fn lines_that_are_no_vocabulary_are_refused() {
        assert!(of(&["a", "a"]).is_none());
        assert!(Vocabulary::from_lines(b"a\nb\n".to_vec(), 3).is_none());
        assert!(Vocabulary::from_lines(b"a\nb".to_vec(), 2).is_none());
        assert!(Vocabulary::from_lines(vec![0xff, b'\n'], 1).is_none());
        assert!(Vocabulary::from_lines(Vec::new(), 0).is_none());
    }
}
