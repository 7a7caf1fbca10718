//! Compares two statements word by word: the same, the same but for one thing, or unrelated.

use iai_store::Difference;

use super::sentences::Statement;
use super::tokens::{Token, tokens_of};

/// Words two statements share at least, and how many of them have to say something …
const SHARED_MIN: usize = 4;
const CONTENT_MIN: usize = 2;
/// … and more where the difference is a word that could stand anywhere.
const CONTENT_MIN_OF_WORDS: usize = 3;
/// A value has at most so many words: "the 3rd of May", "New York City".
const VALUE_TOKENS_MAX: usize = 4;
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
/// Behind a name that is a value, at most so many words follow: "in production", "over there".
const VALUE_AFTER_MAX: usize = 2;
/// Words that say something about what stands before them.
const SAYING_WORDS: &[&str] =
    &["is", "are", "was", "were", "has", "have", "does", "will", "ist", "est", "es"];
/// Words that say what somebody chose …
const CHOOSING_WORDS: &[&str] =
    &["prefer", "prefers", "use", "uses", "using", "chose", "bevorzuge", "nutzen", "используем"];
/// … in so many words at most.
const CHOICE_TOKENS_MAX: usize = 2;
/// Days and months, by how they begin: long enough to mean nothing else.
const DATE_WORDS: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "mondays",
    "tuesdays",
    "wednesdays",
    "thursdays",
    "fridays",
    "saturdays",
    "sundays",
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "sept",
    "oct",
    "nov",
    "dec",
    "montag",
    "dienstag",
    "mittwoch",
    "donnerstag",
    "freitag",
    "samstag",
    "sonntag",
    "januar",
    "februar",
    "märz",
    "mai",
    "juni",
    "juli",
    "oktober",
    "dezember",
    "понедельник",
    "вторник",
    "среда",
    "среду",
    "четверг",
    "пятница",
    "пятницу",
    "суббота",
    "субботу",
    "воскресенье",
    "января",
    "февраля",
    "марта",
    "апреля",
    "мая",
    "июня",
    "июля",
    "августа",
    "сентября",
    "октября",
    "ноября",
    "декабря",
    "lundi",
    "mardi",
    "mercredi",
    "jeudi",
    "vendredi",
    "samedi",
    "dimanche",
    "lunes",
    "martes",
    "miércoles",
    "jueves",
    "viernes",
    "sábado",
    "domingo",
    "noon",
    "midnight",
    "am",
    "pm",
];

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

/// The one place where two statements differ.
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
    let (old_value, new_value) =
        (without_end(rest_of(old), n_after), without_end(rest_of(new), n_after));
    let around = Around { before: old.get(..n_before).unwrap_or_default(), n_after, whole: old };
    match around.slot(old_value, new_value) {
        Some(what) => Comparison::Differ(Slot {
            what,
            old_value: written(old_value),
            new_value: written(new_value),
        }),
        None => Comparison::Unrelated,
    }
}

/// So many hexadecimal digits are no word.
const HASH_CHARS_MIN: usize = 12;
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

    /// Behind "uses" or "prefers" plain words are a value too: "prefers tabs", "uses blanks".
    fn choice(&self, old: &[Token], new: &[Token]) -> Option<Difference> {
        let is_short = |value: &[Token]| {
            (1..=CHOICE_TOKENS_MAX).contains(&value.len()) && value.iter().all(Token::is_content)
        };
        let is_choice = self.is_chosen() && is_short(old) && is_short(new);
        is_choice.then_some(Difference::Name)
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
            Difference::Number | Difference::Version => {
                self.before.is_empty()
                    || last.is_some_and(|token| LABELS.contains(&token.folded.as_str()))
            }
            Difference::Date | Difference::Negation => false,
        }
    }
}

/// Says what kind of values these are, when both are of one kind.
fn kind_of(old: &[Token], new: &[Token]) -> Option<Difference> {
    match (old, new) {
        ([], [only]) | ([only], []) => only.is_negation().then_some(Difference::Negation),
        // "is no longer used" stands against "is used".
        ([], [no, longer]) | ([no, longer], []) => {
            (no.is_negation() && longer.folded == "longer").then_some(Difference::Negation)
        }
        ([], _) | (_, []) => None,
        _ if VALUE_TOKENS_MAX < old.len().max(new.len()) => None,
        _ => {
            let both = |is: fn(&[Token]) -> bool| is(old) && is(new);
            if both(is_path) {
                Some(Difference::Path)
            } else if both(is_date) {
                Some(Difference::Date)
            } else if both(is_version) {
                Some(Difference::Version)
            } else if both(is_number) {
                Some(Difference::Number)
            } else if both(is_name) {
                Some(Difference::Name)
            } else {
                None
            }
        }
    }
}

fn is_path(value: &[Token]) -> bool {
    let is_path = |token: &Token| {
        let has_slash = token.written.contains('/') && 2 < token.written.chars().count();
        let extension = token.written.rsplit_once('.').map(|(_, end)| end);
        let has_extension = extension.is_some_and(|end| {
            (2..=5).contains(&end.len()) && end.chars().all(|letter| letter.is_ascii_lowercase())
        });
        has_slash || has_extension
    };
    matches!(value, [only] if is_path(only))
}

fn is_date(value: &[Token]) -> bool {
    let is_iso = |token: &Token| {
        let digits = token.written.split(['-', '/', '.', ':', 'T']);
        let n_groups = digits.clone().count();
        let is_clock = token.written.contains(':') && n_groups == 2;
        let all_digits = digits
            .into_iter()
            .all(|group| !group.is_empty() && group.chars().all(|letter| letter.is_ascii_digit()));
        (is_clock || 3 <= n_groups && token.written.contains('-')) && all_digits
    };
    let is_word = |token: &Token| DATE_WORDS.contains(&token.folded.as_str());
    let may_stand_beside = |token: &Token| token.has_digit() || !token.is_content();
    value.iter().any(|token| is_word(token) || is_iso(token))
        && value.iter().all(|token| is_word(token) || is_iso(token) || may_stand_beside(token))
}

fn is_version(value: &[Token]) -> bool {
    let is_version = |token: &Token| {
        let bare = token.folded.strip_prefix('v').unwrap_or(&token.folded);
        let starts = bare.chars().next().is_some_and(|letter| letter.is_ascii_digit());
        let n_dots = bare.matches('.').count();
        let is_marked = token.folded.starts_with('v') || 2 <= n_dots;
        starts && is_marked && bare.split('.').all(|part| !part.is_empty())
    };
    matches!(value, [only] if is_version(only))
}

fn is_number(value: &[Token]) -> bool {
    let is_figure = |token: &Token| {
        token.written.chars().next().is_some_and(|first| first.is_ascii_digit())
            || matches!(token.folded.as_str(), "one" | "two" | "three" | "four" | "five" | "six")
    };
    match value {
        [only] => is_figure(only),
        // "30 seconds", "2 GB": the unit may change too.
        [figure, unit] => is_figure(figure) && !unit.has_digit(),
        _ => false,
    }
}

/// Written with a capital, or with a mark only names have.
fn is_name(value: &[Token]) -> bool {
    let is_name = |token: &Token| {
        let mut letters = token.written.chars();
        let is_capital = letters.next().is_some_and(char::is_uppercase);
        let has_mark = token.written.contains(['_', '-', '.', '@'])
            || letters.any(char::is_uppercase)
            || token.has_digit();
        (is_capital || has_mark) && token.is_content() && !is_hash(token)
    };
    value.iter().all(is_name)
}

/// A hash or a random id: another one is another thing, and nobody says it twice.
fn is_hash(token: &Token) -> bool {
    let is_hex = |letter: char| letter.is_ascii_hexdigit() || letter == '-';
    HASH_CHARS_MIN <= token.written.len() && token.written.chars().all(is_hex)
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
