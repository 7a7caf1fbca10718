//! How long ago something was said, in words.

use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// Units from the largest down; a month and a year are means.
const UNITS: [(i64, &str); 6] = [
    (365 * DAY + DAY / 4, "year"),
    (30 * DAY + DAY / 2, "month"),
    (7 * DAY, "week"),
    (DAY, "day"),
    (HOUR, "hour"),
    (MINUTE, "minute"),
];

/// Tells how long before `now` a time was: "3 days ago", or "in 3 days" for what was said later.
pub(crate) fn in_words(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second().saturating_sub(at.as_second());
    let Some((unit, name)) = UNITS.iter().find(|(unit, _)| *unit <= seconds.abs()) else {
        return "just now".to_owned();
    };
    let n_units = seconds.abs() / unit;
    let plural = if n_units == 1 { "" } else { "s" };
    match seconds < 0 {
        true => format!("in {n_units} {name}{plural}"),
        false => format!("{n_units} {name}{plural} ago"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(seconds: i64, expect: &str) {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let at = Timestamp::from_second(1_800_000_000 - seconds).unwrap();
        assert_eq!(in_words(at, now), expect, "{seconds}");
    }

    #[test]
    fn an_age_has_one_unit() {
        check(0, "just now");
        check(59, "just now");
        check(60, "1 minute ago");
        check(7_199, "1 hour ago");
        check(86_400, "1 day ago");
        check(3 * 86_400 + 5, "3 days ago");
        check(20 * 86_400, "2 weeks ago");
        check(61 * 86_400, "2 months ago");
        check(800 * 86_400, "2 years ago");
    }

    #[test]
    fn what_was_said_later_lies_ahead() {
        check(-30, "just now");
        check(-2 * 86_400, "in 2 days");
    }

    #[test]
    fn the_ends_of_time_have_an_age() {
        assert!(in_words(Timestamp::MIN, Timestamp::MAX).ends_with(" years ago"));
        assert!(in_words(Timestamp::MAX, Timestamp::MIN).starts_with("in "));
    }
}
