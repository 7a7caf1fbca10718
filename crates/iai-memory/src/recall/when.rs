//! Date expressions in a cue ("last Tuesday", "vor zwei Wochen", "between May and July") as a span
//! of days, seen from the time of asking.
//!
//! English, German, French, Spanish, Russian and ISO dates; days are those where it is asked. A cue
//! without any of them has no span, and nothing changes. Words that are mostly something else
//! ("may", "march", "second", "sun") are dates only where nothing else fits.

mod parts;
mod phrases;
mod words;

use jiff::civil::{Date, Time};
use jiff::tz::Offset;
use jiff::{Timestamp, ToSpan as _};

use words::{Word, cut};

/// Before this day nobody stored anything.
const FIRST_DAY: Date = Date::constant(1970, 1, 1);

/// When somebody asks, and how far their clocks are from UTC then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) at: Timestamp,
    pub(crate) offset: Offset,
}

/// By UTC.
impl From<Timestamp> for Asked {
    fn from(at: Timestamp) -> Self {
        Self { at, offset: Offset::UTC }
    }
}

impl Asked {
    fn today(self) -> Date {
        day_of(self.at, self.offset)
    }
}

/// Days a cue speaks of: the first and the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Days {
    pub(crate) first: Date,
    pub(crate) last: Date,
    /// How far they are from those of UTC.
    offset: Offset,
}

impl Days {
    /// Returns the days the text speaks of, or nothing when it names none.
    pub(crate) fn named_in(text: &str, asked: impl Into<Asked>) -> Option<Self> {
        Self::found_in(&cut(text), asked.into()).map(|(_, (days, _))| days)
    }

    /// Returns the days that a text speaks of and of nothing else: every other word only asks what
    /// was then. What is to be then, or before, was said at another time.
    pub(crate) fn all_of(text: &str, asked: impl Into<Asked>) -> Option<Self> {
        let (words, asked) = (cut(text), asked.into());
        let (at, (days, n_words)) = Self::found_in(&words, asked)?;
        let others = words.iter().take(at).chain(words.iter().skip(at + n_words));
        let others: Vec<&str> = others.map(|word| word.lower.as_str()).collect();
        let is_past = others.contains(&"did") || !others.iter().any(|word| words::is_of_now(word));
        // What was decided for a time that goes on may have been decided before it.
        let is_aim = at.checked_sub(1).and_then(|before| words.get(before)).is_some_and(|word| {
            matches!(word.lower.as_str(), "for" | "für" | "pour" | "para" | "на")
        });
        let is_over = !is_aim || days.last < asked.today();
        let is_all = words::only_ask(&others) && is_past && is_over && days.first != FIRST_DAY;
        is_all.then_some(days)
    }

    /// The first time that is named: at which word, which days, and in how many words.
    fn found_in(words: &[Word], asked: Asked) -> Option<(usize, (Self, usize))> {
        (0..words.len()).find_map(|at| {
            let (days, n_words) = phrases::span(words.get(at..)?, asked.today())?;
            Some((at, (days.seen_from(asked), n_words)))
        })
    }

    /// Returns the days that are meant by a text that is nothing but a time: a date, a month, a
    /// range such as `2026-05-01..2026-05-31` with one side open if need be, or words.
    pub(crate) fn meant_by(text: &str, asked: impl Into<Asked>) -> Option<Self> {
        let asked = asked.into();
        let today = asked.today();
        if let Some((from, to)) = text.split_once("..") {
            let side = |text: &str, open: Date| match text.trim() {
                "" => Some(Self::one(open)),
                text => Self::meant_by(text, asked),
            };
            let (from, to) = (side(from, FIRST_DAY)?, side(to, today)?);
            return Some(Self::between(from.first, to.last)?.seen_from(asked));
        }
        let words = cut(text);
        let whole = phrases::point(&words, today).filter(|(_, n_words)| *n_words == words.len());
        let whole = whole.map(|(days, _)| days.seen_from(asked));
        whole.or_else(|| Self::named_in(text, asked))
    }

    /// Returns the days before a time, or from it on until the time of asking.
    pub(crate) fn beside(anchor: Timestamp, side: Side, asked: Asked) -> Option<Self> {
        let then = day_of(anchor, asked.offset);
        let days = match side {
            Side::Before => Self::between(FIRST_DAY, then),
            Side::After => Self::between(then, asked.today()),
        };
        Some(days?.seen_from(asked))
    }

    /// Tells how far a time lies outside these days, in days.
    pub(crate) fn distance(&self, at: Timestamp) -> f64 {
        let day = day_of(at, self.offset);
        let outside = if day < self.first {
            days_between(day, self.first)
        } else {
            days_between(self.last, day)
        };
        outside.max(0.0)
    }

    /// The first and the last millisecond.
    pub(crate) fn millis(&self) -> (i64, i64) {
        let begin = |day: Date| {
            let midnight = self.offset.to_timestamp(day.to_datetime(Time::midnight()));
            midnight.map_or(0, Timestamp::as_millisecond)
        };
        let end = self.last.tomorrow().map_or(i64::MAX, |next| begin(next).saturating_sub(1));
        (begin(self.first), end)
    }

    /// The same days of the calendar, where it is asked.
    fn seen_from(self, asked: Asked) -> Self {
        Self { offset: asked.offset, ..self }
    }

    fn one(day: Date) -> Self {
        Self { first: day, last: day, offset: Offset::UTC }
    }

    fn between(first: Date, last: Date) -> Option<Self> {
        (first <= last).then_some(Self { first, last, offset: Offset::UTC })
    }

    /// An approximate count of days means the days around it too.
    fn around(day: Date, slack_days: i64) -> Option<Self> {
        let (first, last) =
            (day.checked_sub(slack_days.days()), day.checked_add(slack_days.days()));
        Self::between(first.ok()?, last.ok()?)
    }
}

/// On which side of something that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

/// Tells whether a word says what a cue is about, rather than that it asks.
pub(crate) fn is_telling(word: &str) -> bool {
    !words::is_small(word) && !words::is_asking(word)
}

/// Tells whether a text only asks what was, and not what about.
pub(crate) fn asks_for_anything(text: &str) -> bool {
    let words = cut(text);
    let words: Vec<&str> = words.iter().map(|word| word.lower.as_str()).collect();
    words::only_ask(&words)
}

/// Tells whether a word asks.
pub(crate) fn is_asking(word: &str) -> bool {
    words::is_asking(word)
}

/// What a cue sets itself beside: "what broke before the release".
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Anchor {
    pub(crate) side: Side,
    /// What happened: the words behind "before" or "after".
    pub(crate) event: Vec<String>,
    /// What is asked about it: all other words that tell something.
    pub(crate) rest: Vec<String>,
}

/// Returns what a cue sets itself beside, where it does.
pub(crate) fn anchor_in(text: &str) -> Option<Anchor> {
    let words = cut(text);
    let (at, side) = words.iter().enumerate().find_map(|(at, word)| {
        let side = match word.lower.as_str() {
            "before" | "avant" | "antes" | "bevor" | "vor" => Side::Before,
            "after" | "since" | "nach" | "nachdem" | "seit" | "après" | "depuis" | "después"
            | "desde" | "после" => Side::After,
            _ => return None,
        };
        Some((at, side))
    })?;
    let telling = |words: &[Word]| -> Vec<String> {
        let telling = words.iter().filter(|word| !words::is_small(&word.lower));
        telling.map(|word| word.lower.clone()).collect()
    };
    let (before, behind) = (words.get(..at)?, words.get(at + 1..)?);
    let n_clause = behind.iter().take_while(|word| !word.ends_clause_before).count();
    let (clause, after) = behind.split_at_checked(n_clause)?;
    let mut event = telling(clause);
    let beyond = event.split_off(event.len().min(ANCHOR_WORDS_MAX));
    let mut rest = [telling(before), beyond, telling(after)].concat();
    rest.retain(|word| !words::is_asking(word));
    (!event.is_empty()).then_some(Anchor { side, event, rest })
}

/// The words that name what happened; more of them say something else.
const ANCHOR_WORDS_MAX: usize = 4;

fn day_of(at: Timestamp, offset: Offset) -> Date {
    offset.to_datetime(at).date()
}

fn days_between(from: Date, to: Date) -> f64 {
    from.until(to).map_or(f64::MAX, |span| f64::from(span.get_days()))
}

#[cfg(test)]
mod tests;
