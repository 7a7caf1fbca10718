//! Compares two statements word by word: the same, the same but for one thing, or unrelated.

use iai_store::Difference;

use super::kinds::{is_name, is_path, kind_of};
use super::negations::negated;
use super::sentences::Statement;
use super::tokens::{Token, tokens_of};

/// Words two statements share at least, and how many of them have to say something …
const SHARED_MIN: usize = 4;
const CONTENT_MIN: usize = 2;
/// … and more where the difference is a word that could stand anywhere.
const CONTENT_MIN_OF_WORDS: usize = 3;
/// After these a number says which one, not how much: another number is another thing.
const LABELS: &[&str] = &[
    "step",
    "phase",
    "part",
    "issue",
    "pr",
    "commit",
    "line",
    "page",
    "chapter",
    "round",
    "iteration",
    "attempt",
    "item",
    "task",
    "day",
    "week",
    "section",
    "figure",
    "table",
    "question",
    "option",
    "case",
    "batch",
    "turn",
    "session",
    "level",
    "schritt",
    "teil",
    "шаг",
    "часть",
];
/// Two changes of one sentence lie within so many words.
const APART_TOKENS_MAX: usize = 16;
/// Behind a name that is a value, at most so many words follow: "in production", "over there".
const VALUE_AFTER_MAX: usize = 2;
/// Words that say something about what stands before them.
const SAYING_WORDS: &[&str] =
    &["is", "are", "was", "were", "has", "have", "does", "will", "ist", "est", "es"];
/// Words that say what somebody chose …
const CHOOSING_WORDS: &[&str] = &[
    "prefer",
    "prefers",
    "use",
    "uses",
    "using",
    "chose",
    "called",
    "named",
    "bevorzuge",
    "nutzen",
    "heißt",
    "используем",
    "называется",
];
/// … in so many words at most.
const CHOICE_TOKENS_MAX: usize = 2;
/// Words that say where something stands or what it rests on …
pub(super) const STANDING_WORDS: &[&str] = &[
    "runs",
    "run",
    "lives",
    "live",
    "hosted",
    "deployed",
    "built",
    "based",
    "stored",
    "managed",
    "served",
    "tracked",
    "written",
    "depends",
    "läuft",
    "laufen",
    "liegt",
    "liegen",
    "gehostet",
    "gebaut",
    "basiert",
    "tourne",
    "hébergé",
    "corre",
    "alojado",
    "работает",
];
/// … with one of these behind them: what follows is a value, however short the sentence.
const STANDING_ON: &[&str] =
    &["on", "in", "at", "by", "with", "auf", "bei", "mit", "sur", "avec", "en", "con", "на", "в"];
/// A name at the end of such a sentence, in so many words at most.
const NAME_TOKENS_MAX: usize = 2;

/// How two statements relate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// They say the same.
    Same,
    /// They say the same but for this.
    Differ(Slot),
    /// They say different things.
    Unrelated,
}

/// Where two statements differ: in one place, or in two at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) what: Difference,
    pub(crate) old_value: String,
    pub(crate) new_value: String,
}

/// Compares what was said earlier with what was said later.
pub(crate) fn compare(earlier: &Statement, later: &Statement) -> Comparison {
    let (old, new) = (earlier.tokens.as_slice(), later.tokens.as_slice());
    let n_before = shared(old.iter(), new.iter());
    let shorter = old.len().min(new.len());
    let rest_of = |all| -> &[Token] { rest(all, n_before) };
    let n_after = shared(rest_of(old).iter().rev(), rest_of(new).iter().rev());
    if n_before == old.len() && old.len() == new.len() {
        return Comparison::Same;
    }
    if shorter < SHARED_MIN {
        return Comparison::Unrelated;
    }
    if let Some(slot) = negated(old, new) {
        return Comparison::Differ(slot);
    }
    let (old_value, new_value) =
        (without_end(rest_of(old), n_after), without_end(rest_of(new), n_after));
    let around = Around { before: old.get(..n_before).unwrap_or_default(), n_after, whole: old };
    let slot = around.slot(old_value, new_value).map(|what| Slot {
        what,
        old_value: written(old_value),
        new_value: written(new_value),
    });
    let slot = slot.or_else(|| around.two_slots(old_value, new_value));
    slot.map_or(Comparison::Unrelated, Comparison::Differ)
}

/// Words of a text that are compared as wholes.
const WORDS_MAX: usize = 2000;

/// Tells whether two texts are the same words, whatever their case and punctuation.
pub(crate) fn is_same_wording(one: &str, other: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        tokens_of(text).into_iter().take(WORDS_MAX).map(|token| token.folded).collect()
    };
    one == other || words(one) == words(other)
}

/// Tells whether one of two texts has a number, a name, a path or a "not" that the other has not.
pub(crate) fn differ_in_a_fact(one: &str, other: &str) -> bool {
    let facts = |text: &str| {
        let is_fact = |token: &Token| {
            let value = std::slice::from_ref(token);
            token.is_negation() || token.has_digit() || is_path(value) || is_name(value)
        };
        let tokens = tokens_of(text).into_iter().take(WORDS_MAX);
        let mut facts: Vec<String> = tokens.filter(is_fact).map(|token| token.folded).collect();
        facts.sort();
        facts.dedup();
        facts
    };
    facts(one) != facts(other)
}

/// What the two statements have in common.
struct Around<'a> {
    before: &'a [Token],
    n_after: usize,
    whole: &'a [Token],
}

impl Around<'_> {
    /// Says in what kind of thing the two differ; nothing when it is none, or by chance.
    fn slot(&self, old: &[Token], new: &[Token]) -> Option<Difference> {
        if self.is_standing_on(old) && self.is_standing_on(new) {
            return Some(Difference::Name);
        }
        if self.before.len() + self.n_after < SHARED_MIN {
            return None;
        }
        let what = kind_of(old, new).or_else(|| self.choice(old, new))?;
        let needed = match what {
            Difference::Negation | Difference::Name => CONTENT_MIN_OF_WORDS,
            Difference::Number | Difference::Date | Difference::Version | Difference::Path => {
                CONTENT_MIN
            }
        };
        if self.n_content() < needed || self.is_about_another(what) {
            return None;
        }
        Some(what)
    }

    /// Two values may change at once: "from 3 to 20 March". Only values nobody could take for what
    /// is spoken of, and only where the words between them are the same.
    fn two_slots(&self, old: &[Token], new: &[Token]) -> Option<Slot> {
        if APART_TOKENS_MAX < old.len().max(new.len()) {
            return None;
        }
        let Run { old_start, new_start, n_tokens } = longest_run(old, new)?;
        let between = rest(old, old_start).get(..n_tokens)?;
        let first = (old.get(..old_start)?, new.get(..new_start)?);
        let second = (rest(old, old_start + n_tokens), rest(new, new_start + n_tokens));
        let what = plain_kind(first, self.before.last())?;
        plain_kind(second, between.last())?;
        let n_content = between.iter().filter(|token| token.is_content()).count();
        let n_shared = self.before.len() + self.n_after + n_tokens;
        let is_same = CONTENT_MIN_OF_WORDS <= self.n_content() + n_content;
        (SHARED_MIN < n_shared && is_same).then(|| Slot {
            what,
            old_value: format!("{} and {}", written(first.0), written(second.0)),
            new_value: format!("{} and {}", written(first.1), written(second.1)),
        })
    }

    /// Behind "uses" or "prefers" plain words are a value too: "prefers tabs", "uses blanks".
    fn choice(&self, old: &[Token], new: &[Token]) -> Option<Difference> {
        let is_short = |value: &[Token]| {
            (1..=CHOICE_TOKENS_MAX).contains(&value.len()) && value.iter().all(Token::is_content)
        };
        let is_choice = self.is_chosen() && is_short(old) && is_short(new);
        is_choice.then_some(Difference::Name)
    }

    /// "CI runs on Buildkite": a name behind "runs on" is a value.
    fn is_standing_on(&self, value: &[Token]) -> bool {
        let is_one_of = |token: &Token, words: &[&str]| words.contains(&token.folded.as_str());
        let is_led = match self.before {
            [subject @ .., verb, on] => {
                subject.iter().any(Token::is_content)
                    && is_one_of(verb, STANDING_WORDS)
                    && is_one_of(on, STANDING_ON)
            }
            _ => false,
        };
        let is_capital = |token: &Token| token.written.starts_with(char::is_uppercase);
        let is_short = (1..=NAME_TOKENS_MAX).contains(&value.len());
        let is_end = self.n_after == 0 && !self.before.iter().any(|token| token.ends_item);
        is_led && is_end && is_short && is_name(value) && value.iter().all(is_capital)
    }

    fn is_chosen(&self) -> bool {
        self.before.last().is_some_and(|token| CHOOSING_WORDS.contains(&token.folded.as_str()))
    }

    /// What stands early, or has more than a place or a time behind it, is what is spoken of.
    fn is_subject(&self) -> bool {
        let is_early = self.before.len() * 2 < self.whole.len();
        let is_verb = |token: &Token| SAYING_WORDS.contains(&token.folded.as_str());
        is_early || VALUE_AFTER_MAX < self.n_after || self.after().iter().any(is_verb)
    }

    fn after(&self) -> &[Token] {
        rest(self.whole, self.whole.len().saturating_sub(self.n_after))
    }

    fn n_content(&self) -> usize {
        self.before.iter().chain(self.after()).filter(|token| token.is_content()).count()
    }

    /// A name that something is said about, or a number behind a label, says what a sentence is
    /// about: two sentences about two things do not differ.
    fn is_about_another(&self, what: Difference) -> bool {
        let last = self.before.last();
        match what {
            Difference::Name | Difference::Path => !self.is_chosen() && self.is_subject(),
            Difference::Number | Difference::Version => is_label_or_start(last),
            Difference::Date | Difference::Negation => false,
        }
    }
}

/// Says what kind of value two sides are, when it is one that only ever says how much or when.
fn plain_kind(sides: (&[Token], &[Token]), before: Option<&Token>) -> Option<Difference> {
    let what = kind_of(sides.0, sides.1)?;
    let is_plain = match what {
        Difference::Number | Difference::Version => !is_label_or_start(before),
        Difference::Date | Difference::Path => true,
        Difference::Name | Difference::Negation => false,
    };
    is_plain.then_some(what)
}

fn is_label_or_start(before: Option<&Token>) -> bool {
    before.is_none_or(|token| LABELS.contains(&token.folded.as_str()))
}

/// Tokens that two lists share, one after another.
struct Run {
    old_start: usize,
    new_start: usize,
    n_tokens: usize,
}

/// Returns the longest run, the first of several.
fn longest_run(old: &[Token], new: &[Token]) -> Option<Run> {
    let mut longest: Option<Run> = None;
    for old_start in 0..old.len() {
        for new_start in 0..new.len() {
            let n_tokens = shared(rest(old, old_start).iter(), rest(new, new_start).iter());
            if longest.as_ref().map_or(0, |run| run.n_tokens) < n_tokens {
                longest = Some(Run { old_start, new_start, n_tokens });
            }
        }
    }
    longest
}

fn shared<'a>(old: impl Iterator<Item = &'a Token>, new: impl Iterator<Item = &'a Token>) -> usize {
    old.zip(new).take_while(|(old, new)| old.folded == new.folded).count()
}

fn rest(tokens: &[Token], n: usize) -> &[Token] {
    tokens.get(n..).unwrap_or_default()
}

fn without_end(tokens: &[Token], n: usize) -> &[Token] {
    tokens.get(..tokens.len().saturating_sub(n)).unwrap_or_default()
}

fn written(tokens: &[Token]) -> String {
    let words: Vec<&str> = tokens.iter().map(|token| token.written.as_str()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests;
