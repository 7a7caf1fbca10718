//! The normaliser that comes with a SentencePiece model: a table of what becomes what.
//!
//! Its keys are a trie in a double array (the layout of `darts-clone`): a node's children stand at
//! its offset, each at the place that is its byte, exclusive-or that offset.

/// A table of replacements.
pub(crate) struct Charsmap {
    /// As it came, for the model file.
    bytes: Vec<u8>,
    units: Vec<u32>,
    /// Replacements, each ended by a NUL.
    texts: String,
}

impl Charsmap {
    /// Reads a table; an empty one replaces nothing. `None` when it makes no sense.
    pub(crate) fn parse(bytes: Vec<u8>) -> Option<Self> {
        let Some((n_trie, rest)) = bytes.split_first_chunk() else {
            let is_empty = bytes.is_empty();
            return is_empty.then_some(Self { bytes, units: Vec::new(), texts: String::new() });
        };
        let n_trie = usize::try_from(u32::from_le_bytes(*n_trie)).ok()?;
        let (trie, texts) = rest.split_at_checked(n_trie)?;
        let texts = std::str::from_utf8(texts).ok()?.to_owned();
        let units = trie.as_chunks().0.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
        Some(Self { bytes, units, texts })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns what the beginning of a text that is not empty becomes, and how many bytes that
    /// beginning has: the longest that is in the table, else one character as it is.
    pub(super) fn prefix<'a>(&'a self, text: &'a str) -> (&'a str, usize) {
        let found = self.longest(text.as_bytes()).and_then(|(n_bytes, at)| {
            let replacement = self.texts.get(at..)?.split('\0').next()?;
            text.is_char_boundary(n_bytes).then_some((replacement, n_bytes))
        });
        found.unwrap_or_else(|| {
            let n_bytes = text.chars().next().map_or(1, char::len_utf8);
            (text.get(..n_bytes).unwrap_or_default(), n_bytes)
        })
    }

    /// Finds the longest key: its length, and where its replacement begins.
    fn longest(&self, text: &[u8]) -> Option<(usize, usize)> {
        let mut at = offset(*self.units.first()?);
        let mut longest = None;
        for (n_before, byte) in text.iter().enumerate() {
            at ^= u32::from(*byte);
            let Some(unit) = self.unit(at).filter(|unit| label(*unit) == u32::from(*byte)) else {
                break;
            };
            at ^= offset(unit);
            if has_value(unit) {
                let value = self.unit(at)? & VALUE_MASK;
                longest = Some((n_before + 1, usize::try_from(value).ok()?));
            }
        }
        longest
    }

    fn unit(&self, at: u32) -> Option<u32> {
        self.units.get(usize::try_from(at).ok()?).copied()
    }
}

const VALUE_MASK: u32 = 0x7fff_ffff;

/// The byte that leads to a node; a value's is none.
fn label(unit: u32) -> u32 {
    unit & 0x8000_00ff
}

fn has_value(unit: u32) -> bool {
    unit & 0x100 != 0
}

fn offset(unit: u32) -> u32 {
    (unit >> 10) << ((unit & 0x200) >> 6)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A table of keys of one byte each: all of them are children of the root.
    pub(crate) fn of(pairs: &[(u8, &str)]) -> Charsmap {
        let mut units = vec![0u32; 1024];
        // The root's children begin at 256, and the value of each behind them.
        units[0] = 256 << 10;
        let mut texts = String::new();
        for (at, (byte, text)) in pairs.iter().enumerate() {
            let (place, value) = (256 ^ usize::from(*byte), 600 + at);
            let offset = u32::try_from(place ^ value).unwrap();
            units[place] = offset << 10 | 0x100 | u32::from(*byte);
            units[value] = 0x8000_0000 | u32::try_from(texts.len()).unwrap();
            texts.push_str(text);
            texts.push('\0');
        }
        let trie: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let n_trie = u32::try_from(trie.len()).unwrap().to_le_bytes();
        Charsmap::parse([&n_trie[..], &trie, texts.as_bytes()].concat()).unwrap()
    }

    #[test]
    fn what_is_in_the_table_is_replaced() {
        let map = of(&[(b'\t', " "), (b'A', "a"), (0x07, "")]);
        assert_eq!(map.prefix("\tx"), (" ", 1));
        assert_eq!(map.prefix("AB"), ("a", 1));
        assert_eq!(map.prefix("\u{7}"), ("", 1));
        assert_eq!(map.prefix("éa"), ("é", 2));
        assert_eq!(map.prefix("x"), ("x", 1));
    }

    #[test]
    fn tables_that_make_no_sense_are_refused_or_replace_nothing() {
        assert!(Charsmap::parse(vec![9]).is_none());
        assert!(Charsmap::parse(vec![4, 0, 0, 0, 1]).is_none());
        assert!(Charsmap::parse(vec![0, 0, 0, 0, 0xff]).is_none());
        assert_eq!(Charsmap::parse(Vec::new()).unwrap().prefix("ab"), ("a", 1));
        let wild = [[16, 0, 0, 0], [0xff; 4], [0xff; 4], [0xff; 4], [0xff; 4]].concat();
        assert_eq!(Charsmap::parse(wild).unwrap().prefix("ab"), ("a", 1));
    }
}
