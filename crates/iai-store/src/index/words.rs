//! Text to terms: the one way words are cut and folded, for storing and for asking alike.
//!
//! Case and accents are folded, English words are stemmed, names from code are found whole and by
//! their parts, scripts that write without blanks are cut into overlapping pairs of characters.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

use super::stem::stem;
use super::terms::{Slots, TermTable};

/// Changes with anything below that changes a term or how it is counted, so that older segments are
/// made anew.
pub(crate) const VERSION: u32 = 2;

/// A term has at most this many bytes; of a longer word the beginning counts, a longer compound is
/// found by its parts only.
pub(crate) const TERM_BYTES_MAX: usize = 64;
/// A memory is found by at most this many different terms; what comes after is only counted.
const TERMS_MAX: usize = 200_000;

/// A longer memory counts as a passage of this many words. By its whole length, a word that stands
/// once in a pasted log would tell less than any "the" of a short turn, and never be found.
const PASSAGE_WORDS: u16 = 1000;

/// Room made for the terms of a memory before it is read; a longer one makes more as it goes.
const TERMS_EXPECTED_MAX: usize = 4096;
/// Bytes of text that bring a new term, about.
const BYTES_PER_TERM: usize = 8;

/// For what text is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Every way a text may be asked for.
    Storing,
    /// Only what tells: a single Han character is a term of its own only when it stands alone.
    Asking,
}

/// What a term is in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word at its place: counts towards the length, and phrases are made of it.
    Word,
    /// One more way to find words that are there already.
    Extra,
}

/// The terms of one memory, and how often each is in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryWords {
    /// Told one by one; none is looked for.
    pub(crate) terms: TermTable,
    /// By the number of the term; more often than this can hold makes no difference to a score.
    pub(crate) counts: Vec<u16>,
    /// In words, at most [`PASSAGE_WORDS`].
    pub(crate) length: u16,
}

impl MemoryWords {
    /// Reads a memory: its text, and the extra key it may have.
    pub(crate) fn of(text: &str, cue: Option<&str>) -> Self {
        Self::read(text, cue, &mut Slots::default())
    }

    /// Reads one of many memories, with slots that each uses in its turn.
    pub(crate) fn read(text: &str, cue: Option<&str>, slots: &mut Slots) -> Self {
        let n_terms = (text.len() / BYTES_PER_TERM).min(TERMS_EXPECTED_MAX);
        let slots_now = std::mem::take(slots);
        let mut words = Self {
            terms: TermTable::with_room(slots_now, n_terms, n_terms * BYTES_PER_TERM),
            counts: Vec::with_capacity(n_terms),
            length: 0,
        };
        for part in std::iter::once(text).chain(cue) {
            each_term(part, Purpose::Storing, &mut |term, kind| words.take(term, kind));
        }
        *slots = words.terms.take_slots();
        words.read_as_a_passage();
        words
    }

    /// Counts each term of a long memory as often as it is in one of its passages on average, and
    /// at least once: there is a passage that has it.
    fn read_as_a_passage(&mut self) {
        let n_words = self.length;
        if n_words <= PASSAGE_WORDS {
            return;
        }
        for count in &mut self.counts {
            let in_passage = u32::from(*count) * u32::from(PASSAGE_WORDS) / u32::from(n_words);
            *count = u16::try_from(in_passage).unwrap_or(u16::MAX).max(1);
        }
        self.length = PASSAGE_WORDS;
    }

    fn take(&mut self, term: &str, kind: Kind) {
        if kind == Kind::Word {
            self.length = self.length.saturating_add(1);
        }
        let is_full = TERMS_MAX <= self.terms.len();
        if is_full && self.terms.find(term.as_bytes()).is_none() {
            return;
        }
        let number = self.terms.intern(term.as_bytes()) as usize;
        match self.counts.get_mut(number) {
            Some(count) => *count = count.saturating_add(1),
            None => self.counts.push(1),
        }
    }
}

/// Returns the terms of a question, each once, in order.
pub(crate) fn terms_asked(text: &str) -> Vec<String> {
    let mut terms: Vec<String> = Vec::new();
    each_term(text, Purpose::Asking, &mut |term, _| {
        if !terms.iter().any(|known| known == term) {
            terms.push(term.to_owned());
        }
    });
    terms
}

/// Tells whether the words of a phrase stand in the text next to each other, in whatever form.
pub fn contains_phrase(text: &str, phrase: &str) -> bool {
    let sought = places(phrase);
    let said = places(text);
    match sought.as_slice() {
        [] => false,
        // Asked for alone, such a character also counts inside a longer run.
        [only] if only.chars().count() == 1 && only.chars().all(is_gram) => {
            said.iter().any(|term| term.contains(only.as_str()))
        }
        _ => said.windows(sought.len()).any(|window| window == sought),
    }
}

fn places(text: &str) -> Vec<String> {
    let mut places = Vec::new();
    each_term(text, Purpose::Asking, &mut |term, kind| {
        if kind == Kind::Word {
            places.push(term.to_owned());
        }
    });
    places
}

/// Calls `take` for every term of a text, in order.
pub(crate) fn each_term(text: &str, purpose: Purpose, take: &mut dyn FnMut(&str, Kind)) {
    let mut cutter = Cutter { purpose, take, term: String::new(), whole: String::new() };
    let mut rest = text;
    while let Some((run, behind)) = next_run(rest) {
        if run.is_ascii() {
            cutter.run(run);
        } else {
            // Compatible forms may be several words: `①②`, `㎞/h`, `ﬁn…`.
            let composed: String = run.nfkc().collect();
            let mut rest = composed.as_str();
            while let Some((run, behind)) = next_run(rest) {
                cutter.run(run);
                rest = behind;
            }
        }
        rest = behind;
    }
}

/// Calls `take` for every word of a text and every word of a name, as they stand, with the byte
/// each begins at.
pub(crate) fn each_part(text: &str, take: &mut dyn FnMut(usize, &str)) {
    let mut rest = text;
    while let Some((run, behind)) = next_run(rest) {
        let mut place = text.len() - behind.len() - run.len();
        for joined in run.split(is_joiner_or_mark) {
            let mut rest = joined;
            while let Some((part, behind)) = next_part(rest) {
                take(place + joined.len() - rest.len(), part);
                rest = behind;
            }
            let behind = text.get(place + joined.len()..).unwrap_or_default();
            place += joined.len() + behind.chars().next().map_or(0, char::len_utf8);
        }
        rest = behind;
    }
}

fn is_joiner_or_mark(letter: char) -> bool {
    is_joiner(letter) || matches!(letter, '+' | '#')
}

/// Returns the next run of word characters, single joiners between them included, and what follows.
fn next_run(text: &str) -> Option<(&str, &str)> {
    let start = text.find(is_in_word)?;
    let text = text.get(start..)?;
    // Most words are plain and end at a blank.
    let n_plain = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    if 0 < n_plain && matches!(text.as_bytes().get(n_plain), None | Some(b' ' | b'\n')) {
        return text.split_at_checked(n_plain);
    }
    let mut end = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((place, letter)) = letters.next() {
        if is_in_word(letter) {
            end = place + letter.len_utf8();
        } else if !(is_joiner(letter) && letters.peek().is_some_and(|(_, next)| is_in_word(*next)))
        {
            break;
        }
    }
    // `C++` and `F#` are names.
    let marks = text.get(end..).unwrap_or_default();
    let n_marks = marks.bytes().take_while(|mark| matches!(mark, b'+' | b'#')).take(2).count();
    let is_name = !marks.get(n_marks..).is_some_and(|after| after.starts_with(is_in_word));
    text.split_at_checked(if is_name { end + n_marks } else { end })
}

fn is_in_word(letter: char) -> bool {
    if letter.is_ascii() {
        return letter.is_ascii_alphanumeric();
    }
    letter.is_alphanumeric() || is_combining_mark(letter) || is_ignorable(letter)
}

/// Characters that only steer how a word is drawn.
fn is_ignorable(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{200c}' | '\u{200d}')
}

fn is_joiner(letter: char) -> bool {
    is_wide_joiner(letter) || is_close_joiner(letter) || is_apostrophe(letter)
}

/// Joins names: paths, addresses, versions.
fn is_wide_joiner(letter: char) -> bool {
    matches!(letter, '.' | '/' | '\\' | '@' | ':')
}

/// Joins the words of one name.
fn is_close_joiner(letter: char) -> bool {
    matches!(letter, '_' | '-')
}

fn is_apostrophe(letter: char) -> bool {
    matches!(letter, '\'' | '’')
}

/// Scripts that are cut into pairs of characters: Han, kana, Hangul, Thai, Lao, Myanmar, Khmer.
pub(crate) fn is_gram(letter: char) -> bool {
    is_han(letter)
        || matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}')
        || matches!(letter, '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}')
        || matches!(letter, '\u{ac00}'..='\u{d7af}' | '\u{3100}'..='\u{312f}')
        || matches!(letter, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}')
        || matches!(letter, '\u{1780}'..='\u{17ff}')
}

fn is_han(letter: char) -> bool {
    matches!(letter, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
        || matches!(letter, '\u{20000}'..='\u{3ffff}' | '々' | '〇')
}

/// What an apostrophe may leave behind that says nothing by itself.
const CONTRACTED: &[&str] = &["s", "t", "d", "m", "re", "ve", "ll"];

/// Cuts runs, with room for terms that is used again and again.
struct Cutter<'a> {
    purpose: Purpose,
    take: &'a mut dyn FnMut(&str, Kind),
    term: String,
    whole: String,
}

impl Cutter<'_> {
    /// A run: names joined widely, and the whole of them as one more term.
    fn run(&mut self, run: &str) {
        if is_plain(run) {
            self.plain(run);
            return;
        }
        let bare = run.trim_end_matches(['+', '#']);
        if bare.contains(is_wide_joiner) {
            self.term.clear();
            for letter in bare.chars().filter(|letter| !is_apostrophe(*letter)) {
                fold(letter, &mut self.term);
            }
            if self.term.len() <= TERM_BYTES_MAX {
                (self.take)(&self.term, Kind::Extra);
            }
        }
        for name in bare.split(is_wide_joiner) {
            self.name(name);
        }
        if bare.len() < run.len() {
            self.term.clear();
            run.chars().for_each(|letter| fold(letter, &mut self.term));
            if self.term.len() <= TERM_BYTES_MAX {
                (self.take)(&self.term, Kind::Extra);
            }
        }
    }

    /// What most runs are: one word and nothing else. The long way would come to the same.
    fn plain(&mut self, word: &str) {
        self.term.clear();
        self.term.push_str(word);
        self.term.make_ascii_lowercase();
        if is_stemmed(&self.term) {
            stem(&mut self.term);
        }
        cut(&mut self.term);
        (self.take)(&self.term, Kind::Word);
    }

    /// A name: its words, and all of them together when there are several.
    fn name(&mut self, name: &str) {
        let mut n_parts = 0;
        self.whole.clear();
        for (place, piece) in name.split(is_apostrophe).enumerate() {
            if 0 < place && CONTRACTED.iter().any(|known| piece.eq_ignore_ascii_case(known)) {
                continue;
            }
            for joined in piece.split(is_close_joiner) {
                let mut rest = joined;
                while let Some((part, behind)) = next_part(rest) {
                    n_parts += usize::from(self.part(part));
                    rest = behind;
                }
            }
        }
        if 1 < n_parts && self.whole.len() <= TERM_BYTES_MAX && !name.contains(is_apostrophe) {
            if is_stemmed(&self.whole) {
                stem(&mut self.whole);
            }
            (self.take)(&self.whole, Kind::Extra);
        }
    }

    /// One word, or a run of a script without blanks. Returns whether it was a word.
    fn part(&mut self, part: &str) -> bool {
        if part.starts_with(is_gram) {
            self.grams(part);
            return false;
        }
        self.term.clear();
        for letter in part.chars() {
            fold(letter, &mut self.term);
        }
        if self.whole.len() <= TERM_BYTES_MAX {
            self.whole.push_str(&self.term);
        }
        if is_stemmed(&self.term) {
            stem(&mut self.term);
        }
        cut(&mut self.term);
        if self.term.is_empty() {
            return false;
        }
        (self.take)(&self.term, Kind::Word);
        true
    }

    fn grams(&mut self, run: &str) {
        let mut letters = run.char_indices().peekable();
        let is_alone = run.chars().nth(1).is_none();
        if is_alone {
            (self.take)(run, Kind::Word);
            return;
        }
        while let Some((start, letter)) = letters.next() {
            if let Some((place, next)) = letters.peek() {
                let pair = run.get(start..place + next.len_utf8()).unwrap_or_default();
                (self.take)(pair, Kind::Word);
            }
            if self.purpose == Purpose::Storing && is_han(letter) {
                let one = run.get(start..start + letter.len_utf8()).unwrap_or_default();
                (self.take)(one, Kind::Extra);
            }
        }
    }
}

/// Tells whether a run is letters and digits without a capital inside.
fn is_plain(run: &str) -> bool {
    let is_small = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    run.bytes()
        .enumerate()
        .all(|(place, letter)| is_small(letter) || (place == 0 && letter.is_ascii_uppercase()))
}

/// Returns the first word of a name and what follows: words begin at a capital after a small letter
/// or digit, at the last capital of several, and where the kind of script changes.
fn next_part(name: &str) -> Option<(&str, &str)> {
    let mut letters = name.char_indices();
    let (_, first) = letters.next()?;
    let mut before = first;
    let mut end = name.len();
    while let Some((place, letter)) = letters.next() {
        let is_new_script = is_gram(letter) != is_gram(first) && !is_combining_mark(letter);
        let is_capital = letter.is_uppercase();
        let after_small = before.is_lowercase() || before.is_numeric();
        let next = letters.clone().next().map(|(_, next)| next);
        // `URLs` is one word, of which there are several.
        let is_plural = matches!(letters.clone().as_str(), "s");
        let ends_capitals =
            before.is_uppercase() && next.is_some_and(char::is_lowercase) && !is_plural;
        if is_new_script || (is_capital && (after_small || ends_capitals)) {
            end = place;
            break;
        }
        before = letter;
    }
    name.split_at_checked(end)
}

/// Appends the letter without case and accent.
fn fold(letter: char, to: &mut String) {
    if letter.is_ascii() {
        to.push(letter.to_ascii_lowercase());
        return;
    }
    if is_gram(letter) {
        to.push(letter);
        return;
    }
    for letter in letter.to_lowercase() {
        decompose_canonical(letter, |piece| match piece {
            'ß' => to.push_str("ss"),
            'æ' => to.push_str("ae"),
            'œ' => to.push_str("oe"),
            'þ' => to.push_str("th"),
            'ø' => to.push('o'),
            'đ' | 'ð' => to.push('d'),
            'ł' => to.push('l'),
            'ı' => to.push('i'),
            'ς' => to.push('σ'),
            _ if is_accent(piece) || is_ignorable(piece) => {}
            _ => to.push(piece),
        });
    }
}

/// Marks that people leave out: accents, and the points of Hebrew and Arabic. The vowel signs of
/// Indic scripts are letters.
fn is_accent(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}')
        || matches!(letter, '\u{640}' | '\u{670}' | '\u{1ab0}'..='\u{1aff}')
        || matches!(letter, '\u{fe00}'..='\u{fe0f}')
}

fn is_stemmed(term: &str) -> bool {
    term.len() <= TERM_BYTES_MAX && term.bytes().all(|letter| letter.is_ascii_lowercase())
}

fn cut(term: &mut String) {
    if TERM_BYTES_MAX < term.len() {
        let end = (0..=TERM_BYTES_MAX).rev().find(|end| term.is_char_boundary(*end));
        term.truncate(end.unwrap_or(0));
    }
}

/// Shortens what is not worth analysing to its beginning.
pub(crate) fn beginning(text: &str, bytes_max: usize) -> Cow<'_, str> {
    let end = (0..=bytes_max.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    Cow::Borrowed(text.get(..end.unwrap_or(0)).unwrap_or_default())
}

#[cfg(test)]
mod tests;
