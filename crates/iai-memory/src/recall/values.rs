//! Which of the best hits tells the latest figure of what the cue asks for. "The limit is 64
//! grains", "128 grains", `MAX_GRAINS = 96`: nobody says that anything changed, and each of them is
//! as good an answer as the others; but only the last one holds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use iai_store::{Memory, MemoryNumber, Role};
use jiff::Timestamp;

use super::changes::is_before;
use super::cue::Cue;
use super::rank::Ranked;
use crate::organise::{is_alike, is_stop_word, n_shared};
use crate::remarks::{Wording, is_one_of, is_spoken};

/// Among how many hits is looked.
const HITS_LOOKED_AT: usize = 12;
/// What tells the figure is at least this share as good an answer as what told another.
const SCORE_SHARE_MIN: f64 = 0.5;
/// A longer text tells of more than one thing.
const TEXT_BYTES_MAX: usize = 1000;
/// Words before a figure and behind it that say what it is of: "port is now 8080", "96 grains".
const WORDS_BEFORE: usize = 5;
const WORDS_BEHIND: usize = 4;
/// Words that two texts share when they are about the same, whatever of the cue they have.
const SHARED_WORDS_MIN: usize = 3;
const SHARED_LETTERS_MIN: usize = 3;
const WORD_LETTERS_MIN: usize = 2;
/// Of a text so many words are read, and so many figures; and of a cue so many words may be what a
/// figure is of.
const PIECES_MAX: usize = 256;
const FIGURES_MAX: usize = 24;
const THINGS_MAX: usize = 24;

/// Returns pairs of hits, what told a figure and what told another one last.
pub(super) fn retold(
    cue: &Cue,
    ranked: &[Ranked],
    now: Timestamp,
) -> Vec<(MemoryNumber, MemoryNumber)> {
    let asked = asked_of(cue);
    let best = ranked.iter().take(HITS_LOOKED_AT);
    let telling: Vec<Telling<'_>> = best
        .filter(|hit| hit.memory.turn_at <= now && may_tell(&hit.memory))
        .map(|hit| Telling::of(hit, &asked))
        .filter(|telling| !telling.figures.is_empty())
        .collect();
    // What is told in another project is about another thing of the same name.
    let things: BTreeSet<(Option<&str>, &str)> = (telling.iter())
        .flat_map(|one| one.figures.keys().map(|thing| (one.project(), thing.as_str())))
        .collect();
    let pairs: BTreeSet<(MemoryNumber, MemoryNumber)> = (things.into_iter())
        .flat_map(|(project, thing)| pairs_about(project, thing, &telling))
        .collect();
    pairs.into_iter().collect()
}

/// The latest to tell a figure of a thing, against all who told others before.
fn pairs_about(
    project: Option<&str>,
    thing: &str,
    telling: &[Telling<'_>],
) -> Vec<(MemoryNumber, MemoryNumber)> {
    let here = || telling.iter().filter(|one| one.project() == project);
    let of_thing = || here().filter(|one| one.figures.contains_key(thing));
    let stated = of_thing().filter(|one| one.is_stated);
    let Some(last) = stated.max_by_key(|one| one.hit.memory.turn_at) else { return Vec::new() };
    let differs = |one: &Telling<'_>| {
        let (Some(was), Some(is)) = (one.figures.get(thing), last.figures.get(thing)) else {
            return false;
        };
        was.is_disjoint(is)
    };
    let before: Vec<&Telling<'_>> = of_thing()
        .filter(|one| is_before(&one.hit.memory, &last.hit.memory) && differs(one))
        .filter(|one| SCORE_SHARE_MIN * one.hit.score <= last.hit.score)
        .collect();
    // One of them must be about the very same; who told a figure before that one, or the same
    // figure, then is outdated too.
    let same: Vec<&&Telling<'_>> = (before.iter())
        .filter(|one| {
            is_identifier(thing)
                || !one.asked.is_empty()
                    && one.asked.iter().all(|word| has_alike(&last.asked, word))
                || SHARED_WORDS_MIN <= n_shared(&one.words, &last.words)
        })
        .collect();
    let same_figures: BTreeSet<&String> =
        same.iter().filter_map(|one| one.figures.get(thing)).flatten().collect();
    let same_until = same.iter().map(|one| one.hit.memory.turn_at).max();
    let is_outdated = |one: &&&Telling<'_>| {
        let mut figures = one.figures.get(thing).into_iter().flatten();
        Some(one.hit.memory.turn_at) <= same_until
            || figures.any(|figure| same_figures.contains(figure))
    };
    before.iter().filter(is_outdated).map(|one| (one.hit.number, last.hit.number)).collect()
}

/// Figures by the name from code that they stand beside.
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

/// Returns the names from code that are given a figure: `MAX_GRAINS = 96`, "`MAX_GRAINS` is at 96
/// now", but not "`MAX_GRAINS`, line 96".
fn assigned(pieces: &[Piece]) -> Vec<(String, String)> {
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

fn may_tell(memory: &Memory) -> bool {
    is_spoken(memory)
        && memory.role != Role::System
        && memory.valid_to.is_none()
        && memory.text.len() <= TEXT_BYTES_MAX
}

/// A hit with the figures that it tells of what is asked for.
struct Telling<'a> {
    hit: &'a Ranked,
    /// The words of the cue that it has, other than units.
    asked: BTreeSet<String>,
    /// What it is about.
    words: BTreeSet<String>,
    /// By the word of the cue that stands beside them, or by a name from code.
    figures: BTreeMap<String, BTreeSet<String>>,
    /// It is said to be so, and not asked, thought of or proposed.
    is_stated: bool,
}

impl<'a> Telling<'a> {
    fn of(hit: &'a Ranked, asked: &Asked) -> Self {
        let text = &hit.memory.text;
        let pieces = pieces_of(text);
        let mut figures: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (figure, beside) in figures_of(&pieces) {
            for thing in asked.things.iter().filter(|thing| has_alike(&beside, thing)) {
                figures.entry(thing.clone()).or_default().insert(figure.clone());
            }
        }
        let is_asked = |name: &str| {
            name.split('_').any(|part| asked.words.iter().any(|word| is_alike(word, part)))
        };
        for (name, figure) in assigned(&pieces).into_iter().filter(|(name, _)| is_asked(name)) {
            figures.entry(name).or_default().insert(figure);
        }
        let own: BTreeSet<String> = pieces.iter().flat_map(Piece::words).collect();
        let asked = asked.words.iter().filter(|word| has_alike(&own, word)).cloned().collect();
        let is_stated = !text.contains('?') && !Wording::of(text).has_any(THOUGHT_OF);
        let tells = |word: &String| {
            SHARED_LETTERS_MIN <= word.chars().count()
                && !is_stop_word(word)
                && !is_unit(word)
                && !word.starts_with(|first: char| first.is_ascii_digit())
        };
        let words = own.into_iter().filter(tells).collect();
        Self { hit, asked, words, figures, is_stated }
    }

    fn project(&self) -> Option<&str> {
        self.hit.memory.project.as_deref()
    }
}

fn has_alike(words: &BTreeSet<String>, word: &str) -> bool {
    words.contains(word) || words.iter().any(|own| is_alike(own, word))
}

/// What is asked for: words, and what figures may be of.
struct Asked {
    words: BTreeSet<String>,
    things: BTreeSet<String>,
}

fn asked_of(cue: &Cue) -> Asked {
    let pieces = pieces_of(&cue.text);
    let words = pieces.iter().map(|piece| piece.word.as_str());
    let tells = |word: &&str| WORD_LETTERS_MIN <= word.chars().count() && !is_stop_word(word);
    let words: BTreeSet<String> = words.filter(tells).take(THINGS_MAX).map(str::to_owned).collect();
    let wording = Wording::of(&cue.text);
    let meant = MEANT.iter().filter(|(forms, _)| wording.has_any(forms));
    let units = meant.flat_map(|(_, units)| units.split('|')).map(str::to_owned);
    let things = match wording.begins_any(WHEN) || wording.has_any(NAMED_DAYS) {
        true => DAYS.map(str::to_owned).into(),
        false => words.iter().cloned().chain(units).collect(),
    };
    let words = words.into_iter().filter(|word| !is_unit(word)).collect();
    Asked { words, things }
}

/// Who asks for a day or an hour asks for no other figure: how such a cue begins, what it names …
const WHEN: &str = "\
     when|until when|since when|by when|what date|which date|what day|which day|on which|wann|\
     bis wann|seit wann";
const NAMED_DAYS: &str = "\
     target date|release date|due date|launch date|start date|new date|deadline|datum";
/// … and what it is of.
const DAYS: [&str; 2] = [DATE, "o'clock"];

/// What is asked for without being named.
const MEANT: &[(&str, &str)] = &[
    ("how long|how fast|wie lange", "second|minute|hour|day|week|month"),
    ("what time|which time", "o'clock"),
    ("how much|price|cost|costs|charge|pay|paid|fee", "euro|dollar"),
    ("how big|how large|size", "kb|mb|gb"),
    (
        "timeout|time out|times out|idle|inactivity|expire|expires|ttl|retention|keep|kept",
        "second|minute|hour|day|week|month",
    ),
];

/// A word of a text with its signs taken off.
struct Piece {
    word: String,
    /// Something else begins behind it.
    is_last: bool,
}

impl Piece {
    /// Returns the words it is made of, and itself: `MAX_GRAINS` is of grains.
    fn words(&self) -> Vec<String> {
        let parts = self.word.split(['_', '-']).map(without_plural_unit);
        let whole = is_identifier(&self.word).then_some(self.word.as_str());
        parts.chain(whole).map(str::to_owned).collect()
    }
}

fn pieces_of(text: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for line in text.lines() {
        for raw in line.split([' ', '\t', '`', '=', '(', ')', '"', '“', '”', '*', '/']) {
            let is_last = raw.ends_with(['.', ',', ';', '!', '?']);
            let trimmed = raw.trim_matches(|letter: char| {
                !letter.is_alphanumeric() && !matches!(letter, '€' | '$' | '%')
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

/// Returns each figure with the words beside it, as far as no sign parts them.
fn figures_of(pieces: &[Piece]) -> Vec<(String, BTreeSet<String>)> {
    let mut figures = Vec::new();
    for (place, piece) in pieces.iter().enumerate() {
        if figures.len() == FIGURES_MAX {
            break;
        }
        let Some(figure) = figure_of(&piece.word) else { continue };
        let before = pieces.get(..place).unwrap_or_default().iter().rev();
        let before = before.take_while(|other| !other.is_last).take(WORDS_BEFORE);
        let behind = pieces.get(place + 1..).unwrap_or_default().iter();
        let n_behind = behind.clone().take_while(|other| !other.is_last).count() + 1;
        let behind = behind.take(if piece.is_last { 0 } else { n_behind.min(WORDS_BEHIND) });
        let mut beside: BTreeSet<String> = before.chain(behind).flat_map(Piece::words).collect();
        if figure.contains(':') {
            beside.insert("o'clock".to_owned());
        }
        // "January 2027" is no day.
        if DAY_DIGITS_MAX < figure.len() {
            beside.remove(DATE);
        }
        figures.push((figure, beside));
    }
    figures
}

/// Returns what a word counts, in digits.
fn figure_of(word: &str) -> Option<String> {
    if word.starts_with(|first: char| first.is_ascii_digit()) {
        return Some(word.replace(',', ""));
    }
    let known = NUMBERS.iter().find(|(name, _)| *name == word)?;
    Some(known.1.to_owned())
}

const NUMBERS: &[(&str, &str)] = &[
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("twelve", "12"),
    ("fourteen", "14"),
    ("fifteen", "15"),
    ("twenty", "20"),
    ("thirty", "30"),
    ("sixty", "60"),
];

/// What a day in a month is of.
const DATE: &str = "date";
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
    ("percent", "%|percent|prozent"),
    (
        DATE,
        "jan|january|feb|february|apr|april|jun|june|jul|july|aug|august|sept|september|oct|\
         october|nov|november|december|januar|februar|märz|juni|juli|oktober|dezember",
    ),
    ("kb", "kb|kib"),
    ("mb", "mb|mib"),
    ("gb", "gb|gib"),
];

/// Tells whether a word is a name from code: whatever is asked, it is the same thing everywhere.
fn is_identifier(word: &str) -> bool {
    let mut parts = word.split('_').filter(|part| part.chars().any(char::is_alphabetic));
    parts.nth(1).is_some()
}

/// Returns a unit under its one name, and any other word as it is.
fn without_plural_unit(word: &str) -> &str {
    static KNOWN: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| {
        let all =
            UNITS.iter().rev().map(|(unit, names)| names.split('|').map(|name| (name, *unit)));
        all.flatten().collect()
    });
    KNOWN.get(word).copied().unwrap_or(word)
}

fn is_unit(word: &str) -> bool {
    UNITS.iter().any(|(unit, _)| *unit == word)
}

/// What is worded so is not so yet.
const THOUGHT_OF: &str = "\
     could|would|might|maybe|perhaps|i'd|we'd|suggest|propose|recommend|alternatively|shall|\
     should be|if you|if we|was|were|used to|könnte|könnten|würde|vielleicht|vorschlag|war";

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, thing: &str) -> Vec<String> {
        let figures = figures_of(&pieces_of(text)).into_iter();
        let own = figures.filter(|(_, beside)| has_alike(beside, thing));
        own.map(|(figure, _)| figure).collect()
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

    #[test]
    fn who_asks_for_a_day_asks_for_no_other_figure() {
        let things = |cue: &str| asked_of(&Cue::understand(cue, Timestamp::UNIX_EPOCH)).things;
        assert_eq!(things("when does the pilot start"), DAYS.map(str::to_owned).into());
        assert!(things("how many retries do we make when it is full").contains("retries"));
        assert!(!things("how many workers may we run").contains(DATE));
    }

    #[test]
    fn what_is_asked_for_has_a_unit_though_none_is_named() {
        let asked = |cue: &str| asked_of(&Cue::understand(cue, Timestamp::UNIX_EPOCH));
        assert!(asked("how long do we wait").things.contains("second"));
        assert!(asked("how many days are parcels held").things.contains("day"));
        assert!(!asked("how many days are parcels held").words.contains("day"));
        assert!(asked("staging port of the shop").words.contains("port"));
    }
}
