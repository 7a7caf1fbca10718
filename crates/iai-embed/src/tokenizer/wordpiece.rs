//! WordPiece, as BERT's `tokenizer.json` describes it: each word from the longest pieces.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use unicode_normalization::char::decompose_canonical;

use super::vocabulary::{Place, Vocabulary};
use super::{Word, unicode};

/// How a text is parted into words, and what stands at its ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "these are the four switches of the format")]
pub(crate) struct WordPieceRules {
    /// Control characters vanish.
    pub(crate) is_cleaning: bool,
    /// Every Han character is a word.
    pub(crate) is_parting_han: bool,
    /// Accents vanish.
    pub(crate) is_stripping_accents: bool,
    /// Letters become small.
    pub(crate) is_lowercasing: bool,
    /// A longer word is unknown.
    pub(crate) n_word_characters_max: usize,
    /// Pieces that mean something to the model and that no text can say, as `[SEP]`.
    pub(crate) marks: Vec<String>,
    /// Stands for a word that cannot be put together.
    pub(crate) unknown: String,
    /// Stands before every text.
    pub(crate) first: String,
    /// Stands after every text.
    pub(crate) last: String,
}

/// Turns texts into ids.
pub(crate) struct WordPiece {
    vocabulary: Vocabulary,
    rules: WordPieceRules,
    marks: Vec<u32>,
    unknown: u32,
    first: u32,
    last: u32,
}

impl WordPiece {
    /// Refuses, with a reason, rules that name pieces the vocabulary does not have.
    pub(crate) fn new(vocabulary: Vocabulary, rules: WordPieceRules) -> Result<Self, String> {
        let id_of = |piece: &str| {
            vocabulary.spelled(piece).ok_or_else(|| format!("the vocabulary has no `{piece}`"))
        };
        let mut marks = Vec::with_capacity(rules.marks.len());
        for mark in &rules.marks {
            marks.push(id_of(mark)?);
        }
        let (unknown, first, last) =
            (id_of(&rules.unknown)?, id_of(&rules.first)?, id_of(&rules.last)?);
        Ok(Self { vocabulary, rules, marks, unknown, first, last })
    }

    /// Hands out the text's words in order, until told to stop.
    pub(super) fn walk(&self, text: &str, mut take: impl FnMut(&[u32], Word) -> bool) {
        let mut reading = Reading::new();
        for (at, c) in text.char_indices() {
            if self.rules.is_cleaning && unicode::is_dropped(c) {
                continue;
            }
            let bytes = at..at + c.len_utf8();
            let is_han = self.rules.is_parting_han && unicode::is_han(c);
            if is_han && !self.finish(&mut reading, &mut take) {
                return;
            }
            let mut is_wanted = true;
            self.letters(c, |letter| {
                is_wanted = is_wanted && self.add(&mut reading, letter, &bytes, &mut take);
            });
            if !is_wanted || (is_han && !self.finish(&mut reading, &mut take)) {
                return;
            }
        }
        self.finish(&mut reading, &mut take);
    }

    /// Hands out what a character becomes: nothing, itself, or several letters.
    fn letters(&self, c: char, mut take: impl FnMut(char)) {
        if c.is_ascii() {
            take(if self.rules.is_lowercasing { c.to_ascii_lowercase() } else { c });
            return;
        }
        let mut lower = |letter: char| {
            if self.rules.is_lowercasing {
                letter.to_lowercase().for_each(&mut take);
            } else {
                take(letter);
            }
        };
        if self.rules.is_stripping_accents {
            decompose_canonical(c, |letter| {
                if !unicode::is_mark(letter) {
                    lower(letter);
                }
            });
        } else {
            lower(c);
        }
    }

    /// Adds a letter to the word being read, or ends that word.
    fn add(
        &self,
        reading: &mut Reading,
        letter: char,
        bytes: &Range<usize>,
        take: &mut impl FnMut(&[u32], Word) -> bool,
    ) -> bool {
        if letter.is_whitespace() {
            let is_wanted = self.finish(reading, take);
            reading.is_after_space = true;
            return is_wanted;
        }
        if !unicode::is_punctuation(letter) {
            reading.push(letter, bytes);
            return true;
        }
        if !self.finish(reading, take) {
            return false;
        }
        reading.push(letter, bytes);
        self.finish(reading, take)
    }

    /// Ends the word being read, if there is one, and hands it out.
    fn finish(&self, reading: &mut Reading, take: &mut impl FnMut(&[u32], Word) -> bool) -> bool {
        if reading.word.is_empty() {
            return true;
        }
        self.pieces(&reading.word, reading.n_characters, &mut reading.ids);
        let (bytes, n_pieces) = (reading.bytes.clone(), reading.ids.len());
        let is_wanted =
            take(&reading.ids, Word { bytes, n_pieces, is_after_space: reading.is_after_space });
        reading.word.clear();
        reading.n_characters = 0;
        reading.is_after_space = false;
        is_wanted
    }

    /// Puts a word together from the longest pieces, first to last; one unknown piece when it
    /// cannot be done.
    fn pieces(&self, word: &str, n_characters: usize, ids: &mut Vec<u32>) {
        ids.clear();
        let mut rest = word;
        if n_characters > self.rules.n_word_characters_max {
            rest = "";
        }
        let mut place = Place::Start;
        while !rest.is_empty() {
            let Some((id, n_bytes)) = self.longest(place, rest) else {
                ids.clear();
                break;
            };
            ids.push(id);
            rest = rest.get(n_bytes..).unwrap_or_default();
            place = Place::Inside;
        }
        if ids.is_empty() {
            ids.push(self.unknown);
        }
    }

    fn longest(&self, place: Place, letters: &str) -> Option<(u32, usize)> {
        let longest = letters.len().min(self.vocabulary.n_bytes_max());
        (1..=longest).rev().filter(|n_bytes| letters.is_char_boundary(*n_bytes)).find_map(
            |n_bytes| {
                let id = self.vocabulary.find(place, letters.as_bytes().get(..n_bytes)?)?;
                // Whoever writes `[SEP]` writes text: no text may end another one's meaning.
                (!self.marks.contains(&id)).then_some((id, n_bytes))
            },
        )
    }

    pub(super) fn ends(&self) -> (u32, u32) {
        (self.first, self.last)
    }

    pub(super) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    pub(super) fn rules(&self) -> &WordPieceRules {
        &self.rules
    }
}

/// The word being read.
struct Reading {
    word: String,
    n_characters: usize,
    bytes: Range<usize>,
    is_after_space: bool,
    ids: Vec<u32>,
}

impl Reading {
    fn new() -> Self {
        Self {
            word: String::new(),
            n_characters: 0,
            bytes: 0..0,
            is_after_space: true,
            ids: Vec::new(),
        }
    }

    fn push(&mut self, letter: char, bytes: &Range<usize>) {
        if self.word.is_empty() {
            self.bytes = bytes.clone();
        }
        self.bytes.end = bytes.end;
        self.word.push(letter);
        self.n_characters += 1;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::Tokenizer;
    use super::*;

    /// The rules of the uncased BERT models.
    pub(crate) fn uncased() -> WordPieceRules {
        WordPieceRules {
            is_cleaning: true,
            is_parting_han: true,
            is_stripping_accents: true,
            is_lowercasing: true,
            n_word_characters_max: 100,
            marks: ["[UNK]", "[CLS]", "[SEP]"].map(str::to_owned).to_vec(),
            unknown: "[UNK]".to_owned(),
            first: "[CLS]".to_owned(),
            last: "[SEP]".to_owned(),
        }
    }

    const PIECES: &[&str] = &[
        "[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "hello", ",", "world", "!", "中", "文",
        "cafe", "##s", "x", "##x", "[", "]", "u", "##n",
    ];

    fn tokenizer_pieces() -> Vocabulary {
        let lines: String = PIECES.iter().map(|piece| format!("{piece}\n")).collect();
        Vocabulary::from_lines(lines.into_bytes(), PIECES.len()).unwrap()
    }

    fn tokenizer() -> Tokenizer {
        let vocabulary = tokenizer_pieces();
        Tokenizer::WordPiece(WordPiece::new(vocabulary, uncased()).unwrap())
    }

    #[track_caller]
    fn check(text: &str, want: &str) {
        let tokenizer = tokenizer();
        let ids = tokenizer.encode(text, 512);
        let got: Vec<&str> = ids.iter().map(|id| PIECES[*id as usize]).collect();
        assert_eq!(got.join(" "), format!("[CLS] {want}").trim_end().to_owned() + " [SEP]");
    }

    #[test]
    fn words_become_pieces() {
        check("", "");
        check(" \t\n ", "");
        check("Hello, WORLD!", "hello , world !");
        check("unaffable", "un ##aff ##able");
        check("unaffablq", "[UNK]");
        check("Café cafés", "cafe cafe ##s");
        check("cafe\u{301}", "cafe");
        check("中文hello中", "中 文 hello 中");
        check("hel\u{200b}lo\u{0}", "hello");
        check("hello\u{a0}world", "hello world");
        check("un[sep]", "un [ [UNK] ]");
        check(&"x".repeat(100), &format!("x{}", " ##x".repeat(99)));
        check(&"x".repeat(101), "[UNK]");
    }

    #[test]
    fn what_looks_like_a_mark_is_text() {
        check("un[SEP]un [CLS]", "un [ [UNK] ] un [ [UNK] ]");
        check("[UNK]", "[ [UNK] ]");
        let spelled = |rules| WordPiece::new(tokenizer_pieces(), rules).unwrap();
        let unmarked = WordPieceRules { marks: vec!["x".to_owned()], ..uncased() };
        let tokenizer = Tokenizer::WordPiece(spelled(unmarked));
        assert_eq!(tokenizer.encode("x unx", 9), [1, 0, 3, 15, 2], "a mark that is a plain word");
    }

    #[test]
    fn a_long_text_is_cut_and_keeps_its_end() {
        let tokenizer = tokenizer();
        assert_eq!(tokenizer.encode("hello hello hello", 4), [1, 6, 6, 2]);
        assert_eq!(tokenizer.encode("unaffable", 3), [1, 3, 2]);
        assert_eq!(tokenizer.encode("hello", 2), [1, 2]);
    }

    #[test]
    fn words_know_their_places() {
        let words = tokenizer().words(" un, Café中", 100);
        let places: Vec<_> =
            words.iter().map(|word| (word.bytes.clone(), word.is_after_space)).collect();
        assert_eq!(places, [(1..3, true), (3..4, false), (5..10, true), (10..13, false)]);
    }

    #[test]
    fn rules_that_name_unknown_pieces_are_refused() {
        let lines = Vocabulary::from_lines(b"a\n".to_vec(), 1).unwrap();
        let refused = WordPiece::new(lines, uncased()).err();
        assert_eq!(refused.as_deref(), Some("the vocabulary has no `[UNK]`"));
    }
}
