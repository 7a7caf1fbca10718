//! Date expressions in a cue ("last Tuesday", "two weeks ago", "in March 2025") as a span of days,
//! seen from the time of asking.
//!
//! English words and ISO dates only; a cue without any of them has no span, and nothing changes.

use jiff::civil::{Date, Weekday};
use jiff::{Span, Timestamp, ToSpan as _};

use super::cue::words_of_in_order;

/// Days a cue speaks of: the first and the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Days {
    pub(crate) first: Date,
    pub(crate) last: Date,
}

const MONTHS: [&str; 12] = [
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
];
const WEEKDAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];
const NUMBERS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
];
/// "A hundred years ago" is no date anybody stored a turn on.
const COUNT_MAX: i64 = 400;

impl Days {
    /// Returns the days the text speaks of, or nothing when it names none.
    pub(crate) fn named_in(text: &str, asked_at: Timestamp) -> Option<Self> {
        let today = asked_at.to_zoned(jiff::tz::TimeZone::UTC).date();
        let words = words_of_in_order(text);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        (0..words.len()).find_map(|at| {
            let words = words.get(at..)?;
            iso_date(words)
                .or_else(|| ago(words, today))
                .or_else(|| relative(words, today))
                .or_else(|| month_and_day(words, today))
        })
    }

    /// Tells how far a time lies outside these days, in days.
    pub(crate) fn distance(&self, at: Timestamp) -> f64 {
        let day = at.to_zoned(jiff::tz::TimeZone::UTC).date();
        let outside = if day < self.first {
            days_between(day, self.first)
        } else {
            days_between(self.last, day)
        };
        outside.max(0.0)
    }

    fn one(day: Date) -> Self {
        Self { first: day, last: day }
    }

    /// An approximate count of days means the days around it too.
    fn around(day: Date, slack_days: i64) -> Option<Self> {
        Some(Self {
            first: day.checked_sub(slack_days.days()).ok()?,
            last: day.checked_add(slack_days.days()).ok()?,
        })
    }
}

fn days_between(from: Date, to: Date) -> f64 {
    from.until(to).map_or(f64::MAX, |span| f64::from(span.get_days()))
}

/// `2025-03-14`, which arrives here as three words.
fn iso_date(words: &[&str]) -> Option<Days> {
    let [year, month, day, ..] = words else { return None };
    if year.len() != 4 {
        return None;
    }
    let date = Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok()?;
    Some(Days::one(date))
}

/// "3 days ago", "two weeks ago", "a month ago".
fn ago(words: &[&str], today: Date) -> Option<Days> {
    let [count, unit, "ago", ..] = words else { return None };
    let count = match *count {
        "a" | "an" => 1,
        word => number(word)?,
    };
    let (back, slack_days) = back_by(count, unit)?;
    Days::around(today.checked_sub(back).ok()?, slack_days)
}

fn back_by(count: i64, unit: &str) -> Option<(Span, i64)> {
    match unit {
        "day" | "days" => Some((count.days(), 0)),
        "week" | "weeks" => Some((count.weeks(), 3)),
        "month" | "months" => Some((count.months(), 10)),
        "year" | "years" => Some((count.years(), 45)),
        _ => None,
    }
}

/// "today", "yesterday", "last week", "this month", "last Friday".
fn relative(words: &[&str], today: Date) -> Option<Days> {
    match words {
        ["today" | "tonight", ..] => Some(Days::one(today)),
        ["yesterday", ..] => today.yesterday().ok().map(Days::one),
        ["this" | "past", "week", ..] => since(today, 7.days()),
        ["last", "week", ..] => since(today, 10.days()),
        ["this" | "past", "month", ..] => since(today, 31.days()),
        ["last", "month", ..] => {
            let first = today.first_of_month().checked_sub(1.month()).ok()?;
            Some(Days { first, last: first.last_of_month() })
        }
        ["last", "year", ..] => whole_year(today.year() - 1),
        ["last" | "on" | "past" | "this", day, ..] => {
            let (_, weekday) = WEEKDAYS.iter().find(|(name, _)| name == day)?;
            today.nth_weekday(-1, *weekday).ok().map(Days::one)
        }
        _ => None,
    }
}

fn since(today: Date, span: Span) -> Option<Days> {
    Some(Days { first: today.checked_sub(span).ok()?, last: today })
}

fn whole_year(year: i16) -> Option<Days> {
    Some(Days { first: Date::new(year, 1, 1).ok()?, last: Date::new(year, 12, 31).ok()? })
}

/// "March 14, 2025", "14 March", "in March 2025", "in 2024".
fn month_and_day(words: &[&str], today: Date) -> Option<Days> {
    match words {
        [day, name, rest @ ..] if day_of_month(day).is_some() && month(name).is_some() => {
            dated(month(name)?, day_of_month(day)?, rest, today)
        }
        [name, day, rest @ ..] if month(name).is_some() && day_of_month(day).is_some() => {
            dated(month(name)?, day_of_month(day)?, rest, today)
        }
        ["in" | "since" | "during" | "of", name, rest @ ..] if month(name).is_some() => {
            let first = latest(month(name)?, 1, rest, today)?;
            Some(Days { first, last: first.last_of_month() })
        }
        ["in" | "during", name, ..] => whole_year(year(name)?),
        _ => None,
    }
}

fn dated(month: i8, day: i8, rest: &[&str], today: Date) -> Option<Days> {
    latest(month, day, rest, today).map(Days::one)
}

/// The day in the year that follows it, or else its latest past occurrence.
fn latest(month: i8, day: i8, rest: &[&str], today: Date) -> Option<Date> {
    if let Some(year) = rest.first().and_then(|word| year(word)) {
        return Date::new(year, month, day).ok();
    }
    let this_year = Date::new(today.year(), month, day).ok()?;
    if this_year <= today { Some(this_year) } else { this_year.checked_sub(1.year()).ok() }
}

fn month(word: &str) -> Option<i8> {
    // "may" and "march" are words of their own; only with a day or "in" they are months.
    let is_month = |name: &&str| *name == word || (word.len() == 3 && name.starts_with(word));
    let at = MONTHS.iter().position(is_month)?;
    i8::try_from(at + 1).ok()
}

fn day_of_month(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let is_ordinal = matches!(word.get(digits.len()..), Some("" | "st" | "nd" | "rd" | "th"));
    digits.parse().ok().filter(|day| is_ordinal && (1..=31).contains(day))
}

fn year(word: &str) -> Option<i16> {
    word.parse().ok().filter(|year| word.len() == 4 && (1970..=2100).contains(year))
}

fn number(word: &str) -> Option<i64> {
    let spelled = NUMBERS.iter().position(|name| *name == word);
    let count = match spelled {
        Some(count) => i64::try_from(count).ok()?,
        None => word.parse().ok()?,
    };
    (0..=COUNT_MAX).contains(&count).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asked on Monday, 16 November 2026.
    #[track_caller]
    fn check(text: &str, expect: Option<(&str, &str)>) {
        let asked_at: Timestamp = "2026-11-16T10:00:00Z".parse().unwrap();
        let found = Days::named_in(text, asked_at)
            .map(|days| (days.first.to_string(), days.last.to_string()));
        let expect = expect.map(|(first, last)| (first.to_owned(), last.to_owned()));
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn days_are_seen_from_the_time_of_asking() {
        check("what did I do yesterday?", Some(("2026-11-15", "2026-11-15")));
        check("what did we decide today", Some(("2026-11-16", "2026-11-16")));
        check("the crash 3 days ago", Some(("2026-11-13", "2026-11-13")));
        check("two weeks ago we moved", Some(("2026-10-30", "2026-11-05")));
        check("a month ago", Some(("2026-10-06", "2026-10-26")));
        check("last week's plan", Some(("2026-11-06", "2026-11-16")));
        check("last month", Some(("2026-10-01", "2026-10-31")));
        check("last Friday", Some(("2026-11-13", "2026-11-13")));
        check("on Monday", Some(("2026-11-09", "2026-11-09")));
        check("last year", Some(("2025-01-01", "2025-12-31")));
    }

    #[test]
    fn a_month_without_a_year_is_the_latest_one() {
        check("in March", Some(("2026-03-01", "2026-03-31")));
        check("in December", Some(("2025-12-01", "2025-12-31")));
        check("on March 14, 2025", Some(("2025-03-14", "2025-03-14")));
        check("on 14th May", Some(("2026-05-14", "2026-05-14")));
        check("Feb 29 2024", Some(("2024-02-29", "2024-02-29")));
        check("the release of 2025-03-14", Some(("2025-03-14", "2025-03-14")));
        check("in 2024", Some(("2024-01-01", "2024-12-31")));
    }

    #[test]
    fn what_is_no_date_is_left_alone() {
        for text in [
            "",
            "may I march on",
            "the last commit",
            "500 years ago",
            "Feb 31 2024",
            "version 2024",
            "three days",
            "this weekly report",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn distance_counts_days_outside() {
        let asked_at: Timestamp = "2026-11-16T10:00:00Z".parse().unwrap();
        let days = Days::named_in("last month", asked_at).unwrap();
        for (at, expect) in [
            ("2026-09-30T23:59:59Z", 1.0),
            ("2026-10-15T00:00:00Z", 0.0),
            ("2026-11-02T00:00:00Z", 2.0),
        ] {
            assert!((days.distance(at.parse().unwrap()) - expect).abs() < 1e-9, "{at}");
        }
    }
}
