//! Text to the ids a model knows, in the two ways we know of.
//!
//! Exact against the publishers' tokenizers, but for one thing: what looks like a mark (`[SEP]`,
//! `<s>`) in a text is text. Their padding and truncation settings are ignored.

mod charsmap;
mod unicode;
mod unigram;
mod vocabulary;
mod wordpiece;

use std::ops::Range;

use serde::{Deserialize, Serialize};

pub(crate) use charsmap::Charsmap;
pub(crate) use unigram::{Kind as UnigramKind, Unigram, UnigramRules};
pub(crate) use vocabulary::Vocabulary;
pub(crate) use wordpiece::{WordPiece, WordPieceRules};

/// Turns texts into ids.
pub(crate) enum Tokenizer {
    WordPiece(WordPiece),
    Unigram(Unigram),
}

/// How a text is parted, and what stands at its ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Rules {
    WordPiece(WordPieceRules),
    Unigram(UnigramRules),
}

/// A stretch of a text that is not parted any further: where it stands and how many pieces it
/// takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) bytes: Range<usize>,
    pub(crate) n_pieces: usize,
    /// Nothing but whitespace stands directly before it.
    pub(crate) is_after_space: bool,
}

impl Tokenizer {
    /// Returns at most `n_ids_max` ids, the marks at both ends among them.
    pub(crate) fn encode(&self, text: &str, n_ids_max: usize) -> Vec<u32> {
        let n_inside = n_ids_max.saturating_sub(2);
        let (first, last) = self.ends();
        let mut ids = vec![first];
        self.walk(text, |word_ids, _| {
            ids.extend(word_ids);
            ids.len() <= n_inside
        });
        ids.truncate(n_inside + 1);
        ids.push(last);
        ids
    }

    /// Returns the words of a text with their places, until `n_pieces_max` pieces are exceeded.
    pub(crate) fn words(&self, text: &str, n_pieces_max: usize) -> Vec<Word> {
        let mut words = Vec::new();
        let mut n_pieces = 0usize;
        self.walk(text, |_, word| {
            n_pieces += word.n_pieces;
            words.push(word);
            n_pieces <= n_pieces_max
        });
        words
    }

    /// How many pieces more than [`Self::words`] says a part of a text may take by itself.
    pub(crate) fn n_pieces_extra(&self) -> usize {
        match self {
            Self::WordPiece(_) => 0,
            Self::Unigram(_) => unigram::PIECES_EXTRA,
        }
    }

    pub(crate) fn vocabulary(&self) -> &Vocabulary {
        match self {
            Self::WordPiece(tokenizer) => tokenizer.vocabulary(),
            Self::Unigram(tokenizer) => tokenizer.vocabulary(),
        }
    }

    pub(crate) fn rules(&self) -> Rules {
        match self {
            Self::WordPiece(tokenizer) => Rules::WordPiece(tokenizer.rules().clone()),
            Self::Unigram(tokenizer) => Rules::Unigram(tokenizer.rules().clone()),
        }
    }

    fn ends(&self) -> (u32, u32) {
        match self {
            Self::WordPiece(tokenizer) => tokenizer.ends(),
            Self::Unigram(tokenizer) => tokenizer.ends(),
        }
    }

    /// Hands out the text's words in order, until told to stop.
    fn walk(&self, text: &str, take: impl FnMut(&[u32], Word) -> bool) {
        match self {
            Self::WordPiece(tokenizer) => tokenizer.walk(text, take),
            Self::Unigram(tokenizer) => tokenizer.walk(text, take),
        }
    }
}
