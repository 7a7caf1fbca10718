//! Most words are none of those looked for, and their first byte and their length tell so. A `*` at
//! the end of a word looked for stands for any ending.

/// How the words of a list begin, and how long those are.
pub(super) struct Beginnings {
    /// For each first byte, a bit for each length.
    lengths: [u64; 256],
}

impl Beginnings {
    pub(super) fn of<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let mut lengths = [0; 256];
        for word in words {
            let Some((first, length)) = of_word(word.trim_end_matches('*')) else { continue };
            if let Some(lengths) = lengths.get_mut(first) {
                // This length, or this and every longer one.
                *lengths |= if word.ends_with('*') { !(length - 1) } else { length };
            }
        }
        Self { lengths }
    }

    /// Tells whether a word may be in the list; one that is not is seldom said to be.
    pub(super) fn may_hold(&self, word: &str) -> bool {
        let Some((first, length)) = of_word(word) else { return false };
        self.lengths.get(first).is_some_and(|lengths| lengths & length != 0)
    }
}

/// The longest words share the last bit.
fn of_word(word: &str) -> Option<(usize, u64)> {
    let first = word.as_bytes().first()?;
    Some((usize::from(*first), 1 << word.len().min(63)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_list_is_never_left_out() {
        let long = "ж".repeat(40);
        let words = ["ignore", "a", "élan", long.as_str()];
        let beginnings = Beginnings::of(words.into_iter());
        assert!(words.iter().all(|word| beginnings.may_hold(word)));
        for other in ["", "b", "ignored", "xgnore", "élans"] {
            assert!(!beginnings.may_hold(other), "{other}");
        }
        let any_ending = Beginnings::of(["limit*"].into_iter());
        assert!(any_ending.may_hold("limit") && any_ending.may_hold("limitations"));
        assert!(!any_ending.may_hold("lima"));
    }
}
