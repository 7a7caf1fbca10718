//! A question, taken apart into terms.

use crate::index::words::{beginning, terms_asked};

/// A question has at most this many terms; the rest of a longer one is not searched.
pub(super) const TERMS_MAX: usize = 64;
/// A word or phrase is searched by its first bytes; a whole question fits.
const WORD_BYTES_MAX: usize = 16 * 1024;

/// What is searched: memories with any of the words, or with all the words of a phrase.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LexicalQuery {
    /// Words in any form, or whole questions: a text is cut into words as stored texts are, and one
    /// with punctuation inside is searched whole and by its parts.
    pub words: Vec<String>,
    /// Words that stand next to each other. The index knows no places: it finds memories that have
    /// them all, and [`crate::contains_phrase`] tells which have them together.
    pub phrases: Vec<String>,
}

/// The terms of a query, each once; bit `n` of a mask stands for term `n`.
pub(super) struct Asked {
    pub(super) terms: Vec<String>,
    /// Terms of which one suffices.
    pub(super) any: u64,
    /// Terms that are needed together, one mask for each phrase.
    pub(super) all: Vec<u64>,
}

impl Asked {
    pub(super) fn of(query: &LexicalQuery) -> Self {
        let mut asked = Self { terms: Vec::new(), any: 0, all: Vec::new() };
        for phrase in &query.phrases {
            let mask = asked.take(phrase);
            asked.all.extend(mask.filter(|mask| *mask != 0));
        }
        for word in &query.words {
            asked.any |= asked.take(word).unwrap_or(0);
        }
        asked
    }

    /// Tells whether a memory with these terms is meant.
    pub(super) fn is_met(&self, mask: u64) -> bool {
        mask & self.any != 0 || self.all.iter().any(|needed| mask & needed == *needed)
    }

    /// Adds the terms of a text and returns their mask; a text whose terms do not all fit asks for
    /// those that do.
    fn take(&mut self, text: &str) -> Option<u64> {
        let mut mask = None;
        for term in terms_asked(&beginning(text, WORD_BYTES_MAX)) {
            let known = self.terms.iter().position(|known| *known == term);
            let place = match known {
                Some(place) => place,
                None if self.terms.len() < TERMS_MAX => {
                    self.terms.push(term);
                    self.terms.len() - 1
                }
                None => break,
            };
            mask = Some(mask.unwrap_or(0) | 1_u64 << place);
        }
        mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &[&str], phrases: &[&str]) -> Asked {
        let own = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Asked::of(&LexicalQuery { words: own(words), phrases: own(phrases) })
    }

    #[test]
    fn words_are_wanted_singly_and_phrases_together() {
        let asked = asked(&["dogs", "cat"], &["black cat"]);
        assert_eq!(asked.terms, ["black", "cat", "dog"]);
        for (mask, expect) in [(0, false), (0b001, false), (0b010, true), (0b011, true)] {
            assert_eq!(asked.is_met(mask), expect, "{mask:b}");
        }
    }

    #[test]
    fn a_question_has_a_most() {
        let many: Vec<String> = (0..1000).map(|n| format!("w{n}")).collect();
        let query = LexicalQuery { words: many.clone(), phrases: vec![many.join(" ")] };
        let asked = Asked::of(&query);
        assert_eq!((asked.terms.len(), asked.any), (TERMS_MAX, u64::MAX));
        assert_eq!(asked_terms(&"x y ".repeat(100_000)), 2);
    }

    fn asked_terms(word: &str) -> usize {
        asked(&[word], &[]).terms.len()
    }
}
