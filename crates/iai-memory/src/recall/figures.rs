//! The figures that a text tells, and what each of them is of: the words beside it, a unit, or a
//! name from code that it is given to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::attributes::{number_of, weekday_of};
use crate::organise::is_stop_word;
use crate::remarks::is_one_of;

/// Words before a figure and behind it that say what it is of: "port is now 8080", "96 grains".
const WORDS_BEFORE: usize = 5;
const WORDS_BEHIND: usize = 4;
/// Of a text so many words are read, and so many figures.
const PIECES_MAX: usize = 256;
const FIGURES_MAX: usize = 24;

/// Shorter words do not say what a text is about.
const TELLING_LETTERS_MIN: usize = 3;

/// A word of a text with its signs taken off.
pub(super) struct Piece {
    pub(super) word: String,
    /// Something else begins behind it.
    is_last: bool,
}

impl Piece {
    /// Returns the words it is made of, and itself: `MAX_GRAINS` is of grains.
    pub(super) fn words(&self) -> Vec<String> {
        // "2.2" is a name, and its parts are not.
        if is_version(&self.word) {
            return vec![self.word.clone()];
        }
        if let Some(matter) = matter_of(&self.word) {
            return vec![matter.to_owned()];
        }
        let parts = self.word.split(['_', '-', '.']).map(without_plural_unit);
        let parts = parts.map(|part| matter_of(part).unwrap_or(part));
        let whole = is_identifier(&self.word).then_some(self.word.as_str());
        parts.chain(whole).map(str::to_owned).collect()
    }
}

pub(super) fn pieces_of(text: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for line in text.lines() {
        for raw in line.split([' ', '\t', '`', '=', '(', ')', '"', '“', '”', '*', '/']) {
            let is_last = raw.ends_with(['.', ',', ';', '!', '?']);
            let trimmed = raw.trim_matches(|letter: char| {
                !letter.is_alphanumeric() && !matches!(letter, '€' | '$' | '£' | '%')
            });
            let lower = trimmed.to_lowercase();
            // "25s" and "8€" are a figure and what it is of.
            let n_figure = lower.find(|letter: char| !is_of_figure(letter)).unwrap_or(lower.len());
            let (figure, rest) = lower.split_at(n_figure);
            for part in [figure.trim_end_matches([',', '.', ':']), rest] {
                if !part.is_empty() && pieces.len() < PIECES_MAX {
                    let word = without_plural_unit(part).to_owned();
                    pieces.push(Piece { word, is_last: false });
                }
            }
            // A sign alone stands behind a quotation mark or a bracket, and parts what it follows.
            mark_last(&mut pieces, is_last);
        }
        mark_last(&mut pieces, true);
    }
    pieces
}

fn mark_last(pieces: &mut [Piece], is_last: bool) {
    if let Some(last) = pieces.last_mut() {
        last.is_last |= is_last;
    }
}

fn is_of_figure(letter: char) -> bool {
    letter.is_ascii_digit() || matches!(letter, ',' | '.' | ':')
}

/// A figure that a text tells.
pub(super) struct Figure {
    pub(super) digits: String,
    /// The words beside it, as far as no sign parts them.
    pub(super) beside: BTreeSet<String>,
    /// It is told as what was: "from 8080", "was 8080".
    pub(super) is_former: bool,
}

/// Returns the figures that a text tells.
pub(super) fn figures_of(pieces: &[Piece]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (place, piece) in pieces.iter().enumerate() {
        if figures.len() == FIGURES_MAX {
            break;
        }
        let Some(digits) = figure_of(&piece.word) else { continue };
        let before = || {
            let before = pieces.get(..place).unwrap_or_default().iter().rev();
            before.take_while(|other| !other.is_last).take(WORDS_BEFORE)
        };
        let behind = pieces.get(place + 1..).unwrap_or_default().iter();
        let n_behind = behind.clone().take_while(|other| !other.is_last).count() + 1;
        let behind = behind.take(if piece.is_last { 0 } else { n_behind.min(WORDS_BEHIND) });
        let mut beside: BTreeSet<String> = before().chain(behind).flat_map(Piece::words).collect();
        if digits.contains(':') {
            beside.insert("o'clock".to_owned());
        }
        // A day of the week is a figure of itself, and of nothing beside it.
        if digits.starts_with(WEEKDAY) {
            beside = BTreeSet::from([WEEKDAY.to_owned()]);
        }
        // "January 2027" is no day.
        if DAY_DIGITS_MAX < digits.len() {
            beside.remove(DATE);
        }
        let is_former = is_former(before().map(|piece| piece.word.as_str()));
        figures.push(Figure { digits, beside, is_former });
    }
    figures
}

/// Tells whether these words, the nearest first, make what they stand before a thing of the past.
fn is_former<'a>(mut before: impl Iterator<Item = &'a str>) -> bool {
    match before.next() {
        Some("of") => before.next() == Some("instead"),
        // "From 3 to 5 days" is no change by itself.
        Some("from" | "von") => before.take(CHANGING_WORDS).any(|word| is_one_of(word, CHANGING)),
        Some(word) => is_one_of(word, "was|were|not|war|statt|nicht"),
        None => false,
    }
}

/// Tells whether a word says that a figure beside it is another one now.
pub(super) fn is_changing(word: &str) -> bool {
    is_one_of(word, CHANGING)
}

/// Who says so before "from" says that something changed, within so many words.
const CHANGING: &str = "\
     moved|moves|move|moving|raised|raise|raises|lowered|lower|changed|change|changes|went|going|\
     goes|bumped|increased|reduced|switched|slips|slipped|postponed|upgraded|upgrade|cut|dropped|\
     shifted|drops|grew|pushed|delayed|extended|shortened|doubled|halved|tightened|\
     verschoben|geändert|erhöht|gesenkt|umgestellt";
const CHANGING_WORDS: usize = 4;

/// Returns what a word counts, in digits; one alone counts nothing.
pub(super) fn figure_of(word: &str) -> Option<String> {
    if word.starts_with(|first: char| first.is_ascii_digit()) {
        return Some(word.replace(',', ""));
    }
    let round = || ROUND_NUMBERS.iter().find(|(name, _)| *name == word).map(|(_, digits)| *digits);
    let number = number_of(word).filter(|number| 1 < *number && !is_one_of(word, NO_NUMBERS));
    let number = number.map(|number| number.to_string());
    number.or_else(|| round().map(str::to_owned)).or_else(|| day_of_week(word))
}

/// Returns a day of the week by one name for all languages.
fn day_of_week(word: &str) -> Option<String> {
    let day = weekday_of(word).or_else(|| weekday_of(word.strip_suffix('s')?))?;
    Some(format!("{WEEKDAY} {day}"))
}

/// What a day of the week is of.
pub(super) const WEEKDAY: &str = "weekday";

/// Numbers in one language, and more often something else in another.
const NO_NUMBERS: &str = "once|elf|dos";
/// Numbers beyond those that are known by all their names.
const ROUND_NUMBERS: &[(&str, &str)] =
    &[("twenty", "20"), ("thirty", "30"), ("forty", "40"), ("fifty", "50"), ("sixty", "60")];

/// What a day in a month is of.
pub(super) const DATE: &str = "date";
const DAY_DIGITS_MAX: usize = 2;

/// Units by all their names.
const UNITS: &[(&str, &str)] = &[
    ("second", "s|sec|secs|second|seconds|sekunden"),
    ("minute", "min|mins|minute|minutes|minuten"),
    ("hour", "h|hour|hours|hourly|stunden"),
    ("day", "d|day|days|daily|tage"),
    ("week", "week|weeks|weekly|wochen"),
    ("month", "month|months|monthly|monate"),
    ("euro", "€|eur|euro|euros"),
    ("dollar", "$|usd|dollar|dollars"),
    ("pound", "£|gbp|pound|pounds"),
    ("krona", "kr|sek|nok|dkk|krona|kronor|kroner"),
    ("franc", "chf|franc|francs|franken"),
    ("percent", "%|percent|prozent"),
    ("attempt", "attempt|attempts|retry|retries|times|tries|versuche"),
    (
        DATE,
        "jan|january|feb|february|apr|april|jun|june|jul|july|aug|august|sep|sept|september|oct|\
         october|nov|november|dec|december|januar|februar|märz|juni|juli|oktober|dezember",
    ),
    ("kb", "kb|kib"),
    ("mb", "mb|mib"),
    ("gb", "gb|gib"),
];

/// Returns the figures that a text tells with a unit, by that.
pub(super) fn figures_by_unit(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut by_unit = BTreeMap::new();
    for figure in figures_of(&pieces_of(text)).into_iter().filter(|own| !own.is_former) {
        for unit in figure.beside.iter().filter(|word| is_unit(word)) {
            let figures: &mut BTreeSet<String> = by_unit.entry(unit.clone()).or_default();
            figures.insert(figure.digits.clone());
        }
    }
    by_unit
}

/// What people call by several names, and the day or the figure of it is the same: the launch that
/// slipped is the release that was promised.
const MATTERS: &[(&str, &str)] = &[
    (
        "release",
        "ship|ships|shipping|shipped|launch|launches|launched|release|releases|go-live|live|\
         cut-over|cutover|rollout|roll-out",
    ),
    ("limit", "limit|limits|quota|ceiling|cap|throttle|throttling"),
    ("port", "port|ports|listen|listens|listening|listener|binds"),
    ("deadline", "deadline|deadlines|due"),
];

/// Returns the one name of what a word calls by one of several.
fn matter_of(word: &str) -> Option<&'static str> {
    let found = MATTERS.iter().find(|(_, names)| is_one_of(word, names));
    found.map(|(matter, _)| *matter)
}

/// Returns the other names of a matter, as they may be searched for.
pub(super) fn names_of_matter(word: &str) -> impl Iterator<Item = &'static str> {
    let found = MATTERS.iter().find(|(matter, _)| *matter == word);
    let names = found.into_iter().flat_map(|(_, names)| names.split('|'));
    names.filter(|name| !name.contains('-'))
}

/// Tells whether a word is a name from code: whatever is asked, it is the same thing everywhere.
pub(super) fn is_identifier(word: &str) -> bool {
    let mut parts = word.split('_').filter(|part| part.chars().any(char::is_alphabetic));
    parts.nth(1).is_some()
}

/// Tells whether a word is the name of a release: whatever is asked of it, no other is meant.
pub(super) fn is_version(word: &str) -> bool {
    let mut parts = word.strip_prefix('v').unwrap_or(word).split('.');
    let is_number = |part: &str| !part.is_empty() && part.chars().all(|one| one.is_ascii_digit());
    parts.clone().nth(1).is_some() && parts.all(is_number)
}

/// Returns a unit under its one name, and any other word as it is.
pub(super) fn without_plural_unit(word: &str) -> &str {
    static KNOWN: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| {
        let all =
            UNITS.iter().rev().map(|(unit, names)| names.split('|').map(|name| (name, *unit)));
        all.flatten().collect()
    });
    KNOWN.get(word).copied().unwrap_or(word)
}

pub(super) fn is_unit(word: &str) -> bool {
    UNITS.iter().any(|(unit, _)| *unit == word)
}

/// Tells whether a word says what a text is about, and is no figure or unit.
pub(super) fn tells(word: &str) -> bool {
    TELLING_LETTERS_MIN <= word.chars().count()
        && !is_stop_word(word)
        && !is_unit(word)
        && figure_of(word).is_none()
}

/// Figures by what they are of: a word beside them, a unit, a name from code.
pub(super) type NamedFigures = BTreeMap<String, BTreeSet<String>>;

/// Returns the figures that stand beside names from code.
pub(super) fn named_figures(text: &str) -> NamedFigures {
    let mut figures = NamedFigures::new();
    if !text.contains('_') {
        return figures;
    }
    for (name, figure) in assigned(&pieces_of(text)) {
        figures.entry(name).or_default().insert(figure);
    }
    figures
}

/// Returns the versions that stand right behind what they are of: "Rust 1.82".
pub(super) fn versions_in(text: &str) -> NamedFigures {
    let mut versions = NamedFigures::new();
    for [name, version] in pieces_of(text).array_windows() {
        if !name.is_last && tells(&name.word) && is_version(&version.word) {
            versions.entry(name.word.clone()).or_default().insert(version.word.clone());
        }
    }
    versions
}

/// Returns the names from code that are given a figure: `MAX_GRAINS = 96`, "`MAX_GRAINS` is at 96
/// now", but not "`MAX_GRAINS`, line 96".
pub(super) fn assigned(pieces: &[Piece]) -> Vec<(String, String)> {
    let names = pieces.iter().enumerate().filter(|(_, piece)| is_identifier(&piece.word));
    let given = names.filter_map(|(place, name)| {
        let behind = pieces.get(place + 1..).unwrap_or_default().iter().take(ASSIGNING_WORDS_MAX);
        let mut behind =
            behind.skip_while(|piece| !piece.is_last && is_one_of(&piece.word, ASSIGNING));
        let figure =
            behind.next().filter(|_| !name.is_last).and_then(|own| figure_of(&own.word))?;
        Some((name.word.clone(), figure))
    });
    given.take(FIGURES_MAX).collect()
}

/// What may stand between a name and the figure it is given.
const ASSIGNING: &str = "is|at|to|now|set|stays|raised|lowered|changed|ist|auf|jetzt";
const ASSIGNING_WORDS_MAX: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::organise::has_alike;

    fn told(text: &str, thing: &str) -> Vec<String> {
        let figures = figures_of(&pieces_of(text)).into_iter();
        let own = figures.filter(|figure| has_alike(&figure.beside, thing) && !figure.is_former);
        own.map(|figure| figure.digits).collect()
    }

    #[test]
    fn a_figure_is_of_the_words_beside_it() {
        assert_eq!(
            told("Hydrolog lists 2,310 meters since Wednesday, 470 new.", "meters"),
            ["2310"]
        );
        assert_eq!(told("`MAX_GRAINS: usize = 128`.", "grains"), ["128"]);
        assert_eq!(told("timeout 60s, threshold 30 L/h, 2,275 meters", "timeout"), ["60"]);
        assert_eq!(told("A parcel waits nine days.", "day"), ["9"]);
        assert_eq!(told("Dump runs at 04:15 now.", "o'clock"), ["04:15"]);
        for apart in
            ["The port is ready. 30 tests pass", "3 replicas. The port stays.", "- `port`\n- 30"]
        {
            assert_eq!(told(apart, "port"), Vec::<String>::new(), "{apart}");
        }
        assert_eq!(told("(the port), 30 tests", "port"), Vec::<String>::new());
        assert_eq!(told("price is 8€ a month", "euro"), ["8"]);
        assert_eq!(told("moved from 24 to 30 October", "date"), ["30"]);
        assert_eq!(told("the port is 8090, not 8080, and was 7000", "port"), ["8090"]);
        assert_eq!(told("96 grains instead of 64 grains", "grains"), ["96"]);
    }

    #[test]
    fn a_name_from_code_has_the_figure_it_is_given() {
        let given =
            |text: &str| -> Vec<String> { named_figures(text).into_values().flatten().collect() };
        assert_eq!(given("`HOOK_TIMEOUT_S=10` in settings.py"), ["10"]);
        assert_eq!(given("HOOK_TIMEOUT_S is at 25 on staging"), ["25"]);
        assert_eq!(given("HOOK_TIMEOUT_S is 45s now"), ["45"]);
        assert_eq!(given("HOOK_TIMEOUT_S is read at line 40"), Vec::<String>::new());
        assert_eq!(given("HOOK_TIMEOUT_S, 40 tests"), Vec::<String>::new());
    }
}
