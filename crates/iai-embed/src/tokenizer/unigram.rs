//! Unigram, as SentencePiece does it: of all ways to put a text together from pieces, the most
//! likely one.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Word;
use super::charsmap::Charsmap;
use super::vocabulary::Vocabulary;

/// Stands for a space.
const SPACE: &str = "\u{2581}";
/// How much less likely an unknown character is than the least likely piece.
const UNKNOWN_PENALTY: f32 = 10.0;
/// Longer texts are cut after the last space, or anywhere, and each stretch is parted by itself.
const STRETCH_BYTES: usize = 32 * 1024;
/// A part of a text begins with a space of its own, and its first word may part differently.
pub(super) const PIECES_EXTRA: usize = 2;

/// Which pieces are special.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnigramRules {
    pub(crate) kind: Kind,
    /// Stands for characters that no piece has.
    pub(crate) unknown: String,
    /// Stands before every text.
    pub(crate) first: String,
    /// Stands after every text.
    pub(crate) last: String,
}

/// Says in a model file which rules these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Unigram,
}

/// Turns texts into ids.
pub(crate) struct Unigram {
    vocabulary: Vocabulary,
    /// The logarithm of each piece's likelihood; a piece whose score is not finite is never found
    /// in a text.
    scores: Vec<f32>,
    charsmap: Charsmap,
    rules: UnigramRules,
    unknown: u32,
    first: u32,
    last: u32,
    unknown_score: f32,
    /// No piece goes on behind a space.
    is_parting_at_spaces: bool,
}

impl Unigram {
    /// Refuses, with a reason, what does not belong together.
    pub(crate) fn new(
        vocabulary: Vocabulary,
        scores: Vec<f32>,
        charsmap: Charsmap,
        rules: UnigramRules,
    ) -> Result<Self, String> {
        let id_of = |piece: &str| {
            vocabulary.spelled(piece).ok_or_else(|| format!("the vocabulary has no `{piece}`"))
        };
        let (unknown, first, last) =
            (id_of(&rules.unknown)?, id_of(&rules.first)?, id_of(&rules.last)?);
        let finite = scores.iter().copied().filter(|score| score.is_finite());
        let least = finite.reduce(f32::min).ok_or("no piece of the vocabulary has a score")?;
        if scores.len() != vocabulary.len() {
            return Err("not every piece of the vocabulary has a score".to_owned());
        }
        let is_parting_at_spaces = vocabulary.pieces().all(|piece| next_space(piece).is_none());
        Ok(Self {
            unknown_score: least - UNKNOWN_PENALTY,
            is_parting_at_spaces,
            vocabulary,
            scores,
            charsmap,
            rules,
            unknown,
            first,
            last,
        })
    }

    pub(super) fn walk(&self, text: &str, mut take: impl FnMut(&[u32], Word) -> bool) {
        let mut reading = Reading::new(&self.charsmap, text);
        while let Some(stretch) = reading.next_stretch() {
            for (id, place) in self.pieces(&stretch.letters) {
                if !take(&[id], stretch.word(&place)) {
                    return;
                }
            }
        }
    }

    /// Returns the most likely pieces, first to last, with their places.
    fn pieces(&self, letters: &str) -> Vec<(u32, Range<usize>)> {
        let ends = self.best_ends(letters);
        let mut pieces: Vec<(u32, Range<usize>)> = Vec::new();
        let mut to = letters.len();
        while let Some(end) = ends.get(to).filter(|end| end.from < to) {
            match pieces.last_mut() {
                // Unknown characters side by side are one unknown piece.
                Some((id, place)) if *id == self.unknown && end.id == self.unknown => {
                    place.start = end.from;
                }
                _ => pieces.push((end.id, end.from..to)),
            }
            to = end.from;
        }
        pieces.reverse();
        pieces
    }

    /// For every place, the best piece that ends there.
    fn best_ends(&self, letters: &str) -> Vec<End> {
        let mut ends = vec![End::default(); letters.len() + 1];
        for (from, character) in letters.char_indices() {
            let before = ends.get(from).map_or(0.0, |end| end.score);
            let n_single = character.len_utf8();
            let mut has_single = false;
            let mut try_end = |to: usize, id: u32, score: f32| {
                if let Some(end) = ends.get_mut(to) {
                    end.improve(End { from, id, score: before + score, is_reached: true });
                }
            };
            let rest = letters.get(from..).unwrap_or_default();
            self.vocabulary.each_prefix(self.reachable(rest), |id, n_bytes| {
                let score = usize::try_from(id).ok().and_then(|id| self.scores.get(id));
                if let Some(score) = score.filter(|score| score.is_finite()) {
                    has_single = has_single || n_bytes == n_single;
                    try_end(from + n_bytes, id, *score);
                }
            });
            if !has_single {
                try_end(from + n_single, self.unknown, self.unknown_score);
            }
        }
        ends
    }

    /// Returns as much of some letters as a piece may span.
    fn reachable<'a>(&self, letters: &'a str) -> &'a [u8] {
        let n_max = self.vocabulary.n_bytes_max().min(letters.len());
        let letters = letters.as_bytes().get(..n_max).unwrap_or_default();
        match next_space(letters).filter(|_| self.is_parting_at_spaces) {
            Some(space) => letters.get(..space).unwrap_or_default(),
            None => letters,
        }
    }

    pub(super) fn ends(&self) -> (u32, u32) {
        (self.first, self.last)
    }

    pub(super) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    pub(super) fn rules(&self) -> &UnigramRules {
        &self.rules
    }

    pub(crate) fn scores(&self) -> &[f32] {
        &self.scores
    }

    pub(crate) fn charsmap(&self) -> &Charsmap {
        &self.charsmap
    }
}

/// Finds the first space after the first byte.
fn next_space(letters: &[u8]) -> Option<usize> {
    let space = SPACE.as_bytes();
    let found = letters.get(1..)?.windows(space.len()).position(|window| window == space)?;
    Some(found + 1)
}

/// The best way found so far to reach a place.
#[derive(Clone, Copy, Default)]
struct End {
    from: usize,
    id: u32,
    score: f32,
    is_reached: bool,
}

impl End {
    /// Of equals, the first one stays.
    fn improve(&mut self, other: Self) {
        if !self.is_reached || other.score > self.score {
            *self = other;
        }
    }
}

/// A text being normalised.
struct Reading<'a> {
    charsmap: &'a Charsmap,
    text: &'a str,
    at: usize,
    /// A space was read and is written once something follows it.
    is_space_due: bool,
}

/// A part of a text, normalised.
#[derive(Default)]
struct Stretch {
    letters: String,
    /// Where each byte of `letters` comes from.
    sources: Vec<Range<usize>>,
}

impl<'a> Reading<'a> {
    fn new(charsmap: &'a Charsmap, text: &'a str) -> Self {
        Self { charsmap, text, at: 0, is_space_due: true }
    }

    /// Normalises on: replaces what the table says, makes one of several spaces, and drops those
    /// at the ends. `None` at the end of the text.
    fn next_stretch(&mut self) -> Option<Stretch> {
        let mut stretch = Stretch::default();
        while let Some(rest) = self.text.get(self.at..).filter(|rest| !rest.is_empty()) {
            let (replacement, n_bytes) = self.charsmap.prefix(rest);
            let source = self.at..self.at + n_bytes;
            let is_full = stretch.letters.len() >= STRETCH_BYTES;
            let is_cut = is_full && (replacement.starts_with(' ') || self.is_space_due);
            if is_cut || stretch.letters.len() >= 2 * STRETCH_BYTES {
                return Some(stretch);
            }
            for letter in replacement.chars() {
                self.add(letter, &source, &mut stretch);
            }
            self.at = source.end;
        }
        (!stretch.letters.is_empty()).then_some(stretch)
    }

    fn add(&mut self, letter: char, source: &Range<usize>, stretch: &mut Stretch) {
        if letter == ' ' {
            self.is_space_due = true;
            return;
        }
        if std::mem::take(&mut self.is_space_due) {
            // The space belongs to what follows it: a place in the text begins at a word.
            stretch.push(SPACE, &(source.start..source.start));
        }
        stretch.push(letter.encode_utf8(&mut [0; 4]), source);
    }
}

impl Stretch {
    fn push(&mut self, letters: &str, source: &Range<usize>) {
        self.letters.push_str(letters);
        self.sources.resize(self.letters.len(), source.clone());
    }

    fn word(&self, place: &Range<usize>) -> Word {
        let source = |at: usize| self.sources.get(at).cloned().unwrap_or_default();
        let bytes = source(place.start).start..source(place.end.saturating_sub(1)).end;
        let piece = self.letters.get(place.clone()).unwrap_or_default();
        Word { bytes, n_pieces: 1, is_after_space: piece.starts_with(SPACE) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tokenizer;
    use super::super::charsmap::tests::of as charsmap;
    use super::*;

    const PIECES: &[(&str, f32)] = &[
        ("<unk>", f32::NEG_INFINITY),
        ("<s>", f32::NEG_INFINITY),
        ("</s>", f32::NEG_INFINITY),
        ("▁", -3.0),
        ("▁a", -2.0),
        ("a", -3.0),
        ("b", -3.0),
        ("ab", -4.0),
        ("▁ab", -6.0),
        ("s", -3.0),
        ("<", -3.0),
        (">", -3.0),
        ("漢", -3.0),
        ("##", -1.0),
    ];

    fn tokenizer() -> Tokenizer {
        let lines: String = PIECES.iter().map(|(piece, _)| format!("{piece}\n")).collect();
        let vocabulary = Vocabulary::from_lines(lines.into_bytes(), PIECES.len()).unwrap();
        let scores = PIECES.iter().map(|(_, score)| *score).collect();
        let charsmap = charsmap(&[(b'\t', " "), (b'A', "a"), (0x07, ""), (b'"', " b")]);
        Tokenizer::Unigram(Unigram::new(vocabulary, scores, charsmap, rules()).unwrap())
    }

    fn rules() -> UnigramRules {
        let [unknown, first, last] = ["<unk>", "<s>", "</s>"].map(str::to_owned);
        UnigramRules { kind: Kind::Unigram, unknown, first, last }
    }

    #[track_caller]
    fn check(text: &str, want: &str) {
        let ids = tokenizer().encode(text, 512);
        let got: Vec<&str> = ids.iter().map(|id| PIECES[*id as usize].0).collect();
        assert_eq!(got.join(" "), format!("<s> {want}").trim_end().to_owned() + " </s>");
    }

    #[test]
    fn the_most_likely_pieces_are_found() {
        check("", "");
        check(" \t\u{7} ", "");
        check("ab", "▁a b");
        check("bab", "▁ b ab");
        check("b##b", "▁ b ## b");
        check("漢a", "▁ 漢 a");
    }

    #[test]
    fn spaces_and_replacements_become_what_the_table_says() {
        check("  a \t  b  ", "▁a ▁ b");
        check("A\u{7}A", "▁a a");
        check("a\"", "▁a ▁ b");
        check(" \"", "▁ b");
    }

    #[test]
    fn unknown_characters_side_by_side_are_one_piece() {
        check("xyz", "▁ <unk>");
        check("axb🙂🙂", "▁a <unk> b <unk>");
        check("x y", "▁ <unk> ▁ <unk>");
    }

    #[test]
    fn what_looks_like_a_mark_is_text() {
        check("<s>", "▁ < s >");
        check("a</s>", "▁a < <unk> s >");
        check("<unk>", "▁ < <unk> >");
    }

    #[test]
    fn words_know_their_places() {
        let words = tokenizer().words("  ab\u{7} 漢b", 100);
        let places: Vec<_> =
            words.iter().map(|word| (word.bytes.clone(), word.is_after_space)).collect();
        assert_eq!(
            places,
            [(2..3, true), (3..4, false), (6..6, true), (6..9, false), (9..10, false)]
        );
    }

    #[test]
    fn a_text_of_any_length_is_parted_in_stretches() {
        for (text, n_pieces) in [("ab ", 2), ("漢", 1), ("a", 1)] {
            let n_times = 3 * STRETCH_BYTES / text.len();
            let words = tokenizer().words(&text.repeat(n_times), usize::MAX);
            // Where no space is, one stands before the first piece of all.
            let n_want = n_pieces * n_times;
            assert!((n_want..=n_want + 1).contains(&words.len()), "{text}: {}", words.len());
            assert!(words.windows(2).all(|pair| pair[0].bytes.end <= pair[1].bytes.start));
        }
        assert_eq!(tokenizer().encode(&"a ".repeat(100_000), 5), [1, 4, 4, 4, 2]);
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        let vocabulary = || Vocabulary::from_lines(b"<unk>\n<s>\n</s>\n".to_vec(), 3).unwrap();
        let new = |scores: &[f32], rules| {
            let charsmap = Charsmap::parse(Vec::new()).unwrap();
            Unigram::new(vocabulary(), scores.to_vec(), charsmap, rules).err().unwrap()
        };
        assert!(new(&[f32::NAN; 3], rules()).contains("no piece"));
        assert!(new(&[-1.0; 2], rules()).contains("not every piece"));
        let other = UnigramRules { last: "[SEP]".to_owned(), ..rules() };
        assert!(new(&[-1.0; 3], other).contains("no `[SEP]`"));
    }
}
