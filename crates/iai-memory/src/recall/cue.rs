//! Understands what is asked: exact words or a meaning, which words count, which must stand
//! together.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::Serialize;

use super::named::Named;
use super::when::{Asked, Days, asks_for_anything, is_telling};
use super::{CUE_CHARS_MAX, RecallAsk};
use crate::attributes::{month_of, weekday_of};
use crate::remarks::Wording;

/// The words of a cue that are looked at; it is asked with the rarest of them.
const WORDS_MAX: usize = 256;
const PHRASES_MAX: usize = 8;
/// A cue with more words than this outside of quotation marks is a text: it may quote and tell who
/// said what, and still asks for no wording.
const WORDING_WORDS_MAX: usize = 24;
/// Quoted words that are at least this share of all are what is asked for; nothing else answers.
const QUOTATION_SHARE: f64 = 0.25;

/// Whole words that ask for exact wording.
const VERBATIM_WORDS: &[&str] = &["verbatim", "exact", "quote", "quoted", "said", "wrote"];
/// Beginnings that ask for exact wording in Russian.
const VERBATIM_STARTS: &[&str] =
    &["найди дословно", "точная цитата", "что я сказал", "что я написал"];

/// Words that greet, thank or agree and ask for nothing.
const SMALL_TALK: &[&str] = &[
    "hi",
    "hey",
    "hello",
    "thanks",
    "thank you",
    "ok",
    "okay",
    "yes",
    "no",
    "bye",
    "good morning",
    "good night",
    "hallo",
    "danke",
    "merci",
    "salut",
    "hola",
    "gracias",
    "привет",
    "спасибо",
    "你好",
    "谢谢",
    "こんにちは",
    "ありがとう",
];

/// Who asks with one of these asks for what holds now …
const PRESENT: &str = "\
     do we|do i|do they|does|can we|can i|can a|can an|can the|may we|may i|may a|may an|may the|\
     must|should|shall|will";
/// … unless one of these is among them too.
const PAST: &str = "was|were|did|had";

/// How a cue wants to be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CueMode {
    /// Exact words: what was said, not what it meant.
    Verbatim,
    /// A meaning.
    Concept,
}

/// A cue, taken apart.
#[derive(Debug, PartialEq)]
pub(crate) struct Cue {
    pub(crate) mode: CueMode,
    pub(crate) asked_at: Timestamp,
    /// The cue itself, as far as it is looked at.
    pub(crate) text: String,
    /// What memories are compared with: the cue without the name of a project, which whatever is
    /// said there may have.
    pub(crate) matter: String,
    /// What the index is asked for, as written: it folds and splits on its own.
    pub(crate) terms: Vec<String>,
    /// The days it speaks of: what was said then gains.
    pub(crate) days: Option<Days>,
    /// The times it is about, in milliseconds since 1970: nothing else is found. Set here where it
    /// asks for a time and for nothing else.
    pub(crate) said_ms: Option<(i64, i64)>,
    /// The words to look for, lower case, each once, in order.
    pub(crate) words: Vec<String>,
    /// Words that stand together in what is meant, from quotation marks.
    pub(crate) phrases: Vec<String>,
    /// How much of the cue those are, from 0 to 1.
    pub(crate) quoted_share: f64,
    is_small_talk: bool,
    /// It only asks what was, and neither when nor what about.
    pub(crate) asks_for_anything: bool,
    /// The project it names, whose memories are then preferred to those of where it is asked.
    pub(crate) project: Option<String>,
    /// It asks what was at a time: whatever was said then answers it, in whatever words.
    pub(crate) is_only_time: bool,
}

impl Cue {
    pub(crate) fn understand(text: &str, asked: impl Into<Asked>) -> Self {
        let asked = asked.into();
        let text: String = text.chars().take(CUE_CHARS_MAX).collect();
        let mut phrases = quoted_spans(&text);
        let (n_words, n_quoted) = (n_words(&text), phrases.iter().map(|span| n_words(span)).sum());
        let is_text = WORDING_WORDS_MAX < n_words.saturating_sub(n_quoted);
        if is_text {
            phrases.clear();
        }
        let mut words = words_of(&text);
        words.truncate(WORDS_MAX);
        let lower = text.trim().to_lowercase();
        let bare = lower.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        let is_verbatim = !is_text
            && (!phrases.is_empty()
                || words.iter().any(|word| VERBATIM_WORDS.contains(&word.as_str()))
                || VERBATIM_STARTS.iter().any(|start| lower.starts_with(start))
                || names_a_day(&words));
        let mut cue = Self {
            mode: if is_verbatim { CueMode::Verbatim } else { CueMode::Concept },
            asked_at: asked.at,
            is_small_talk: words.is_empty() || SMALL_TALK.contains(&bare),
            terms: terms_of(&text),
            days: Days::named_in(&text, asked).filter(|_| !is_habit(&words)),
            said_ms: None,
            is_only_time: false,
            words,
            quoted_share: if phrases.is_empty() { 0.0 } else { share(n_quoted, n_words) },
            phrases,
            asks_for_anything: false,
            project: None,
            matter: text.clone(),
            text,
        };
        cue.bind_to_time(&cue.text.clone(), asked);
        cue
    }

    /// Has the cue mean a project that it names; the rest of it may be nothing but a time.
    pub(crate) fn bind_to_project(&mut self, named: Named, asked: Asked) {
        self.project = Some(named.project);
        self.bind_to_time(&named.rest, asked);
        let is_more = words_of(&named.rest).iter().any(|word| is_telling(word));
        if is_more && self.phrases.is_empty() {
            self.terms = terms_of(&named.rest);
            self.matter = named.rest;
        }
    }

    /// Where a text asks for a time and for nothing else, nothing else is found.
    fn bind_to_time(&mut self, text: &str, asked: Asked) {
        let is_short = self.words.len() <= WORDING_WORDS_MAX;
        if !is_short || !self.phrases.is_empty() || is_habit(&self.words) {
            return;
        }
        self.asks_for_anything = asks_for_anything(text);
        if let Some(days) = Days::all_of(text, asked) {
            self.said_ms = Some(days.millis());
            self.is_only_time = true;
        }
    }

    /// Returns the project that is meant before others: the one it names, or else the one it is
    /// asked from.
    pub(crate) fn here<'a>(&'a self, ask: &'a RecallAsk) -> Option<&'a str> {
        self.project.as_deref().or(ask.asked_from.as_deref())
    }

    /// Tells whether the cue asks for the words it quotes, so that nothing else answers it.
    pub(crate) fn is_quotation(&self) -> bool {
        QUOTATION_SHARE <= self.quoted_share
    }

    /// Tells whether the cue asks in the present: what is done, not what was. "Before" and "after"
    /// then tell no time: "how long do we wait before giving up".
    pub(crate) fn is_of_now(&self) -> bool {
        let wording = Wording::of(&self.text);
        wording.has_any(PRESENT) && !wording.has_any(PAST)
    }

    /// Tells whether the cue asks for nothing, so that silence is the right answer.
    pub(crate) fn is_trivial(&self) -> bool {
        self.is_small_talk
    }
}

/// Tells whether a weekday stands for all of its kind: "what do we deploy on Fridays". What
/// somebody did on one is asked in the past.
fn is_habit(words: &[String]) -> bool {
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let names_a_date = words
        .iter()
        .any(|word| word.chars().any(|letter| letter.is_ascii_digit()) || month_of(word).is_some());
    words.iter().any(|word| weekday_of(word).is_some())
        && has(&["do", "does"])
        && !has(&["last", "this", "next", "did", "was", "were", "had"])
        && !names_a_date
}

/// Cuts text where there is space, each piece once, in order.
fn terms_of(text: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let terms = text.split_whitespace().filter(|term| seen.insert(term.to_lowercase()));
    terms.take(WORDS_MAX).map(str::to_owned).collect()
}

/// Cuts text into lower-case words, each once, in order. Letters and digits of any script count.
pub(crate) fn words_of(text: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    words_of_in_order(text).into_iter().filter(|word| seen.insert(word.clone())).collect()
}

/// Cuts text into lower-case words as they stand, repeated ones too.
pub(crate) fn words_of_in_order(text: &str) -> Vec<String> {
    let words =
        text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn n_words(text: &str) -> usize {
    words_of_in_order(text).len()
}

#[expect(clippy::cast_precision_loss, reason = "a cue has few words")]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn quoted_spans(text: &str) -> Vec<String> {
    let mut phrases = Vec::new();
    for (open, close) in [('"', '"'), ('“', '”'), ('«', '»')] {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(open) {
            let Some((inside, behind)) = after.split_once(close) else { break };
            if inside.chars().any(char::is_alphanumeric) {
                phrases.push(inside.trim().to_owned());
            }
            rest = behind;
        }
    }
    phrases.truncate(PHRASES_MAX);
    phrases
}

/// "day 12" means the wording of that day.
fn names_a_day(words: &[String]) -> bool {
    words.iter().zip(words.iter().skip(1)).any(|(first, second)| {
        first == "day" && second.chars().all(|letter| letter.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_is_asked_in_the_present() {
        let check = |cue: &str, expect: bool| {
            let cue = Cue::understand(cue, Timestamp::UNIX_EPOCH);
            assert_eq!(cue.is_of_now(), expect, "{}", cue.text);
        };
        check("how long do we wait before giving up", true);
        check("how late may a position arrive before it is dropped", true);
        check("what broke after the May release", false);
        check("what do you remember from before the release", false);
        check("which port did we use before the move", false);
    }

    #[track_caller]
    fn check(text: &str, mode: CueMode, words: &[&str], phrases: &[&str]) {
        let cue = Cue::understand(text, Timestamp::UNIX_EPOCH);
        assert_eq!(cue.mode, mode, "{text}");
        assert_eq!(cue.words, words, "{text}");
        assert_eq!(cue.phrases, phrases, "{text}");
    }

    #[test]
    fn a_question_is_about_its_words() {
        check(
            "What was the retry policy?",
            CueMode::Concept,
            &["what", "was", "the", "retry", "policy"],
            &[],
        );
        check("retry_policy RETRY", CueMode::Concept, &["retry", "policy"], &[]);
        check("Größe 東京", CueMode::Concept, &["größe", "東京"], &[]);
    }

    #[test]
    fn quotation_marks_and_some_words_ask_for_wording() {
        check("\"use B\" then", CueMode::Verbatim, &["use", "b", "then"], &["use B"]);
        check("«раз два»", CueMode::Verbatim, &["раз", "два"], &["раз два"]);
        check("what I said", CueMode::Verbatim, &["what", "i", "said"], &[]);
        check("on day 12", CueMode::Verbatim, &["on", "day", "12"], &[]);
        check("an \"open span", CueMode::Concept, &["an", "open", "span"], &[]);
    }

    #[test]
    fn a_quotation_is_what_is_asked_for_and_a_text_that_quotes_asks_for_no_wording() {
        let long = "so we went on and changed the colour again ".repeat(3);
        for (text, mode, is_quotation) in [
            ("\"use B\"".to_owned(), CueMode::Verbatim, true),
            ("who said \"plan B\"?".to_owned(), CueMode::Verbatim, true),
            ("call it \"B\" and not by its number".to_owned(), CueMode::Verbatim, false),
            (format!("{long} he said \"plan B\""), CueMode::Concept, false),
            (long, CueMode::Concept, false),
        ] {
            let cue = Cue::understand(&text, Timestamp::UNIX_EPOCH);
            assert_eq!((cue.mode, cue.is_quotation()), (mode, is_quotation), "{text}");
            assert_eq!(cue.phrases.is_empty(), mode == CueMode::Concept, "{text}");
        }
    }

    #[test]
    fn small_talk_asks_for_nothing() {
        for text in ["thanks!", "Hello", "", "  ", "???", "спасибо", "OK."] {
            assert!(Cue::understand(text, Timestamp::UNIX_EPOCH).is_trivial(), "{text}");
        }
        assert!(
            !Cue::understand("thanks for the retry policy", Timestamp::UNIX_EPOCH).is_trivial()
        );
        assert!(!Cue::understand("a", Timestamp::UNIX_EPOCH).is_trivial());
    }

    #[test]
    fn a_weekday_of_a_habit_is_no_date() {
        let has_days = |cue: &str| Cue::understand(cue, Timestamp::UNIX_EPOCH).days.is_some();
        assert!(has_days("what did we decide on friday"));
        assert!(has_days("what do we know from last friday"));
        assert!(!has_days("where do members collect their crates on friday"));
    }

    #[test]
    fn hostile_cues_stay_small() {
        let cue = Cue::understand(&"\"a b\" x ".repeat(100_000), Timestamp::UNIX_EPOCH);
        assert!(cue.words.len() <= WORDS_MAX && cue.phrases.len() <= PHRASES_MAX);
        let many: String = (0..100_000).map(|n| format!("{n} ")).collect();
        assert_eq!(Cue::understand(&many, Timestamp::UNIX_EPOCH).terms.len(), WORDS_MAX);
    }

    #[test]
    fn a_word_is_asked_once() {
        let cue = Cue::understand("Retry the retry.rs, the RETRY", Timestamp::UNIX_EPOCH);
        assert_eq!(cue.terms, ["Retry", "the", "retry.rs,"]);
    }
}
