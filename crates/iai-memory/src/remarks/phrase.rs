//! Matches wording: a sentence as lower-case words, a pattern as words with a few marks.
//!
//! In a pattern, a word with `*` at its end stands for all that begin so, and `…` for up to
//! [`GAP_WORDS_MAX`] words of any kind. Several patterns stand in one string, with `|` between.

use std::ops::Range;

/// What `…` may stand for.
const GAP_WORDS_MAX: usize = 12;
/// Nobody leads in to a sentence more often than this.
const LEAD_INS_MAX: usize = 16;

/// How people type in a hurry, and what they mean.
const HURRIED: &[(&str, &str)] = &[
    ("dont", "don't"),
    ("doesnt", "doesn't"),
    ("didnt", "didn't"),
    ("isnt", "isn't"),
    ("arent", "aren't"),
    ("wasnt", "wasn't"),
    ("cant", "can't"),
    ("wont", "won't"),
    ("neednt", "needn't"),
    ("thats", "that's"),
    ("youre", "you're"),
    ("deps", "dependencies"),
    ("msg", "message"),
    ("msgs", "messages"),
    ("pls", "please"),
    ("plz", "please"),
    ("u", "you"),
    ("ur", "your"),
];

fn is_hurried(word: &str) -> bool {
    // Nearly every word is passed over by its length or its end; these two have neither.
    matches!(word, "u" | "ur")
        || (3..=6).contains(&word.len())
            && ["nt", "ls", "lz", "ts", "re", "ps", "sg", "gs"]
                .iter()
                .any(|end| word.ends_with(end))
            && HURRIED.iter().any(|(typed, _)| *typed == word)
}

/// Writes out what was typed in a hurry.
fn written_out(lower: &str) -> String {
    let pieces = lower.split_inclusive(|letter: char| !letter.is_alphanumeric());
    let written = pieces.map(|piece| {
        let word = piece.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        let meant = HURRIED.iter().find(|(typed, _)| *typed == word);
        meant.map_or_else(
            || piece.to_owned(),
            |(typed, meant)| format!("{meant}{}", piece.get(typed.len()..).unwrap_or_default()),
        )
    });
    written.collect()
}

/// A sentence as its words.
pub(crate) struct Wording {
    /// The sentence in lower case.
    lower: String,
    /// Where the words stand in it.
    places: Vec<Range<usize>>,
    beginnings: Beginnings,
    pub(crate) is_question: bool,
}

/// How the words of a sentence begin, as one bit for two bytes. There are hundreds of patterns, and
/// nearly every one is passed over by a look at its own beginning.
#[derive(Default)]
struct Beginnings([u64; 16]);

impl Beginnings {
    fn of<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let mut all = Self::default();
        for word in words {
            let (slot, bit) = Self::place(word.as_bytes());
            if let Some(slot) = all.0.get_mut(slot) {
                *slot |= bit;
            }
        }
        all
    }

    fn place(word: &[u8]) -> (usize, u64) {
        let byte = |at: usize| usize::from(word.get(at).copied().unwrap_or_default());
        let number = byte(0) * 31 + byte(1);
        (number / 64 % 16, 1 << (number % 64))
    }

    /// Tells whether a word may be the first of the pattern. Where the pattern leaves it open, any.
    fn may_have(&self, pattern: &[u8]) -> bool {
        let first = pattern.split(|byte| *byte == b' ').next().unwrap_or_default();
        let beginning = first.strip_suffix(b"*").unwrap_or(first);
        let is_open = first == "…".as_bytes() || beginning.len() < 2 && beginning != first;
        let (slot, bit) = Self::place(beginning);
        is_open || self.0.get(slot).is_some_and(|slot| slot & bit != 0)
    }

    /// Returns those of the patterns that may begin somewhere.
    fn possible<'a>(&self, patterns: &'a str) -> impl Iterator<Item = &'a str> {
        // By bytes: searching for a character costs more than all the rest.
        let each = patterns.as_bytes().split(|byte| *byte == b'|');
        each.filter(|pattern| self.may_have(pattern))
            .filter_map(|pattern| std::str::from_utf8(pattern).ok())
    }
}

impl Wording {
    /// Tells whether nothing but a blank stands between a word and the one before it.
    pub(crate) fn is_joined(&self, place: usize) -> bool {
        let end = place.checked_sub(1).and_then(|before| self.places.get(before)).map(|at| at.end);
        let start = self.places.get(place).map(|at| at.start);
        let between = end.zip(start).and_then(|(end, start)| self.lower.get(end..start));
        between.is_some_and(|between| between.chars().all(char::is_whitespace))
    }

    pub(crate) fn of(sentence: &str) -> Self {
        let mut lower = sentence.to_lowercase();
        if lower.contains('’') {
            lower = lower.replace('’', "'");
        }
        if lower.split(|letter: char| !letter.is_alphanumeric()).any(is_hurried) {
            lower = written_out(&lower);
        }
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '\'' | '_');
        let mut places: Vec<Range<usize>> = Vec::new();
        let is_around = |letter: char| letter == '\'' || !is_part(letter);
        let mut at = 0;
        for piece in lower.split_inclusive(|letter| !is_part(letter)) {
            let start = at + piece.len() - piece.trim_start_matches(is_around).len();
            let word = piece.trim_matches(is_around);
            if !word.is_empty() {
                places.push(start..start + word.len());
            }
            at += piece.len();
        }
        let is_question = is_question(sentence);
        let words = places.iter().filter_map(|place| lower.get(place.clone()));
        Self { beginnings: Beginnings::of(words), lower, places, is_question }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.places.iter().filter_map(|place| self.lower.get(place.clone()))
    }

    pub(crate) fn word(&self, place: usize) -> Option<&str> {
        self.lower.get(self.places.get(place)?.clone())
    }

    /// Drops words that only lead in to what is said.
    pub(crate) fn without_lead_in(mut self, lead_ins: &str) -> Self {
        let begins = |own: &Self, lead_in: &str| own.begins(lead_in).is_some();
        for _ in 0..LEAD_INS_MAX {
            let mut possible = self.beginnings.possible(lead_ins);
            let Some(lead_in) = possible.find(|lead_in| begins(&self, lead_in)) else { break };
            let n_words = lead_in.split(' ').count();
            if self.places.len() <= n_words {
                break;
            }
            self.places.drain(..n_words);
        }
        self
    }

    /// Returns those of the patterns that may stand somewhere: nearly all are left out.
    pub(crate) fn possible<'a>(&self, patterns: &'a str) -> impl Iterator<Item = &'a str> {
        self.beginnings.possible(patterns)
    }

    /// Returns how many words the pattern takes at the beginning.
    pub(crate) fn begins(&self, pattern: &str) -> Option<usize> {
        self.beginnings.may_have(pattern.as_bytes()).then(|| self.matches_at(0, pattern))?
    }

    /// Returns where the pattern stands: its first word and one past its last.
    pub(crate) fn find(&self, pattern: &str) -> Option<(usize, usize)> {
        if !self.beginnings.may_have(pattern.as_bytes()) {
            return None;
        }
        (0..self.places.len()).find_map(|at| self.matches_at(at, pattern).map(|end| (at, end)))
    }

    pub(crate) fn has_any(&self, patterns: &str) -> bool {
        self.possible(patterns).any(|pattern| self.find(pattern).is_some())
    }

    pub(crate) fn begins_any(&self, patterns: &str) -> bool {
        self.possible(patterns).any(|pattern| self.begins(pattern).is_some())
    }

    pub(crate) fn ends_any(&self, patterns: &str) -> bool {
        let is_end = |pattern: &str| {
            let start = self.places.len().checked_sub(pattern.split(' ').count());
            start.is_some_and(|start| self.matches_at(start, pattern).is_some())
        };
        self.possible(patterns).any(is_end)
    }

    /// Tells whether one pattern ends right before this word, and another begins behind it. Either
    /// may be empty; the first has no gap.
    pub(crate) fn stands_between(&self, place: usize, before: &str, after: &str) -> bool {
        let n_before = before.bytes().filter(|byte| *byte == b' ').count() + 1;
        let is_behind = || {
            let start = place.checked_sub(n_before);
            start.is_some_and(|start| self.matches_at(start, before).is_some())
        };
        (after.is_empty() || self.matches_at(place + 1, after).is_some())
            && (before.is_empty() || is_behind())
    }

    fn matches_at(&self, start: usize, pattern: &str) -> Option<usize> {
        let mut at = start;
        let mut is_gap = false;
        for wanted in pattern.as_bytes().split(|byte| *byte == b' ') {
            if wanted == "…".as_bytes() {
                is_gap = true;
                continue;
            }
            let reach = if is_gap { GAP_WORDS_MAX } else { 0 };
            let found = (at..=at + reach)
                .find(|place| self.word(*place).is_some_and(|word| fits(word, wanted)))?;
            at = found + 1;
            is_gap = false;
        }
        Some(at)
    }
}

/// Tells whether a sentence asks.
pub(crate) fn is_question(sentence: &str) -> bool {
    let end = sentence.trim_end_matches(|letter: char| {
        letter.is_whitespace() || matches!(letter, '"' | '”' | '»' | ')' | '*' | '`')
    });
    end.ends_with(['?', '？']) || sentence.starts_with('¿')
}

/// Tells whether a word is one of those in the list.
pub(crate) fn is_one_of(word: &str, words: &str) -> bool {
    // By bytes: searching for a character costs more than all the rest.
    words.as_bytes().split(|byte| *byte == b'|').any(|listed| listed == word.as_bytes())
}

fn fits(word: &str, wanted: &[u8]) -> bool {
    match wanted.strip_suffix(b"*") {
        Some(beginning) => word.as_bytes().starts_with(beginning),
        None => word.as_bytes() == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sentence: &str, pattern: &str, expect: Option<(usize, usize)>) {
        assert_eq!(Wording::of(sentence).find(pattern), expect, "{sentence} / {pattern}");
    }

    #[test]
    fn patterns_are_whole_words_with_two_marks() {
        check("We've decided, finally.", "we've decided", Some((0, 2)));
        check("Well, we decided", "we decided", Some((1, 3)));
        check("Undecided", "decided", None);
        check("Мы решили использовать", "реш*", Some((1, 2)));
        check("wir haben uns für Rust entschieden", "wir haben … entschieden", Some((0, 6)));
        check("wir haben Zeit", "wir haben … entschieden", None);
        check("y ahora no", "y", Some((0, 1)));
        check("yet another", "y", None);
        check("say yet", "y*", Some((1, 2)));
        check("any two words", "… words", Some((0, 3)));
        check("dont touch it, pls", "don't touch it please", Some((0, 4)));
        check("the cants of plsql", "can't", None);
    }

    #[test]
    fn a_look_at_the_beginnings_never_loses_a_match() {
        let sentence = "Мы решили: l'été, on ne change jamais a port, ok? y";
        let wording = Wording::of(sentence);
        for (at, word) in wording.words().enumerate() {
            let letters = word.chars().count();
            for n in 1..=letters {
                let begun: String = word.chars().take(n).collect();
                let found = wording.find(&format!("{begun}*"));
                assert!(found.is_some_and(|(first, _)| first <= at), "{begun}* in {sentence}");
            }
            assert!(wording.find(word).is_some_and(|(first, _)| first <= at), "{word}");
        }
    }

    #[test]
    fn a_word_stands_between_patterns() {
        let wording = Wording::of("We renamed quoll to numbat");
        let check = |place: usize, before: &str, after: &str, expect: bool| {
            assert_eq!(wording.stands_between(place, before, after), expect, "{before} X {after}");
        };
        check(2, "renamed", "to", true);
        check(2, "we renamed", "… numbat", true);
        check(2, "", "to", true);
        check(2, "renamed", "", true);
        check(2, "so we renamed", "", false);
        check(2, "rename", "to", false);
        check(0, "so", "", false);
        check(4, "to", "again", false);
    }

    #[test]
    fn lead_ins_go_and_questions_are_known() {
        let wording = Wording::of("Ok, please always use tabs").without_lead_in("ok|please");
        assert_eq!(wording.words().collect::<Vec<_>>(), ["always", "use", "tabs"]);
        assert!(Wording::of("Really?)").is_question);
        assert!(!Wording::of("What? No.").is_question);
    }
}
