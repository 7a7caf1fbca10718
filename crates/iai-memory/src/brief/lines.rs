//! Small pieces of text: a quotation in whole sentences, a date with its age, a project's name.

use jiff::civil::Date;
use jiff::{Timestamp, Zoned};

use crate::remarks::sentences;

/// Returns the beginning of a text on one line: whole sentences while they fit, else one cut
/// between words. Code is left out.
pub(crate) fn quoted(text: &str, chars_max: usize) -> String {
    let mut line = String::new();
    let mut is_whole = true;
    for range in sentences(text) {
        let sentence = flat(text.get(range).unwrap_or_default());
        let n_chars = line.chars().count() + sentence.chars().count() + 1;
        if chars_max < n_chars && !line.is_empty() {
            is_whole = false;
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&sentence);
    }
    let mark = if is_whole { "" } else { " …" };
    format!("“{}”{mark}", cut(&line, chars_max))
}

/// Returns a text on one line.
pub(crate) fn flat(text: &str) -> String {
    // The quotation marks around it must be the only ones of their kind.
    let text = text.replace(['“', '”'], "\"");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cuts a line between words.
pub(crate) fn cut(line: &str, chars_max: usize) -> String {
    match line.char_indices().nth(chars_max) {
        None => line.to_owned(),
        Some((end, _)) => {
            let cut = line.get(..end).unwrap_or_default();
            let cut = cut.rsplit_once(' ').map_or(cut, |(whole, _)| whole);
            format!("{cut} …")
        }
    }
}

/// Returns a day with its age: `2026-11-13 (3 days ago)`.
pub(crate) fn dated(at: Timestamp, now: &Zoned) -> String {
    format!("{} ({})", day(at, now), age(at, now))
}

/// Returns the day it was where somebody reads now.
pub(crate) fn day(at: Timestamp, now: &Zoned) -> Date {
    at.to_zoned(now.time_zone().clone()).date()
}

/// Returns how long ago it was, in days of the calendar.
pub(crate) fn age(at: Timestamp, now: &Zoned) -> String {
    let n_days = day(at, now).until(now.date()).map_or(0, |span| span.get_days());
    match n_days {
        ..=0 => "today".to_owned(),
        1 => "yesterday".to_owned(),
        2..=13 => format!("{n_days} days ago"),
        14..=59 => format!("{} weeks ago", n_days / 7),
        60..=729 => format!("{} months ago", n_days / 30),
        _ => format!("{} years ago", n_days / 365),
    }
}

/// Returns what people call a project: the last part of its path.
pub(crate) fn project_name(project: &str) -> &str {
    let name = project.trim_end_matches('/').rsplit('/').next().unwrap_or(project);
    if name.is_empty() { project } else { name }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;

    #[test]
    fn quotations_end_with_a_sentence_or_between_words() {
        assert_eq!(quoted("One\n two. Three!", 100), "“One two. Three!”");
        assert_eq!(quoted("One two. Three four five.", 12), "“One two.” …");
        assert_eq!(quoted("a\n```\ncode\n```\nb", 100), "“a b”");
        let long = quoted(&"word ".repeat(200), 50);
        assert!(long.ends_with("word …”") && long.chars().count() <= 54, "{long}");
        assert_eq!(quoted("he said “no”", 50), "“he said \"no\"”");
    }

    #[track_caller]
    fn check_age(at: &str, expect: &str) {
        let now: Timestamp = "2026-11-16T08:00:00Z".parse().unwrap();
        assert_eq!(age(at.parse().unwrap(), &now.to_zoned(TimeZone::UTC)), expect, "{at}");
    }

    #[test]
    fn days_are_those_of_the_reader() {
        let at: Timestamp = "2026-11-16T05:00:00Z".parse().unwrap();
        let now: Timestamp = "2026-11-16T23:00:00Z".parse().unwrap();
        for (hours, expect) in [(0, "2026-11-16 (today)"), (-8, "2026-11-15 (yesterday)")] {
            let zone = TimeZone::fixed(jiff::tz::offset(hours));
            assert_eq!(dated(at, &now.to_zoned(zone)), expect);
        }
    }

    #[test]
    fn ages_are_in_days_weeks_months_years() {
        check_age("2026-11-16T07:00:00Z", "today");
        check_age("2026-11-17T07:00:00Z", "today");
        check_age("2026-11-15T23:00:00Z", "yesterday");
        check_age("2026-11-13T23:00:00Z", "3 days ago");
        check_age("2026-10-26T23:00:00Z", "3 weeks ago");
        check_age("2026-05-20T00:00:00Z", "6 months ago");
        check_age("2024-05-20T00:00:00Z", "2 years ago");
    }

    #[test]
    fn a_project_is_called_by_its_last_name() {
        assert_eq!(project_name("/home/dev/heron"), "heron");
        assert_eq!(project_name("heron"), "heron");
        assert_eq!(project_name("/"), "/");
    }
}
