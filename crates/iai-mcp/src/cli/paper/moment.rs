//! How long ago something was, in words.

use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const WEEK: i64 = 7 * DAY;
/// On average; nobody counts days over months.
const MONTH: i64 = 2_629_746;
const YEAR: i64 = 12 * MONTH;

/// A length, its unit in words and in letters; the first that fits is told.
const UNITS: [(i64, &str, &str); 6] = [
    (YEAR, "year", "y"),
    (MONTH, "month", "mo"),
    (WEEK, "week", "w"),
    (DAY, "day", "d"),
    (HOUR, "hour", "h"),
    (MINUTE, "minute", "m"),
];

/// Tells how long ago a time was: `2 days ago`.
pub(in crate::cli) fn age(at: Timestamp, now: Timestamp) -> String {
    match measure(at, now) {
        None if now < at => "in the future".to_owned(),
        None => "just now".to_owned(),
        Some((1, unit, _)) => format!("1 {unit} ago"),
        Some((n, unit, _)) => format!("{n} {unit}s ago"),
    }
}

/// Tells how long ago a time was in at most four characters: `2d`.
pub(in crate::cli) fn short_age(at: Timestamp, now: Timestamp) -> String {
    match measure(at, now) {
        None => "now".to_owned(),
        Some((n, _, letters)) => format!("{}{letters}", n.min(99)),
    }
}

fn measure(at: Timestamp, now: Timestamp) -> Option<(i64, &'static str, &'static str)> {
    let n_seconds = now.as_second().saturating_sub(at.as_second());
    let (length, unit, letters) = UNITS.into_iter().find(|(length, ..)| *length <= n_seconds)?;
    Some((n_seconds / length, unit, letters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_told_in_the_largest_unit_that_fits() {
        let now: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
        for (at, want, short) in [
            ("2026-11-16T11:59:30Z", "just now", "now"),
            ("2026-11-16T12:00:05Z", "in the future", "now"),
            ("2026-11-16T11:59:00Z", "1 minute ago", "1m"),
            ("2026-11-16T09:00:00Z", "3 hours ago", "3h"),
            ("2026-11-14T11:00:00Z", "2 days ago", "2d"),
            ("2026-11-02T12:00:00Z", "2 weeks ago", "2w"),
            ("2026-05-16T12:00:00Z", "6 months ago", "6mo"),
            ("2024-11-01T12:00:00Z", "2 years ago", "2y"),
            ("1470-01-01T00:00:00Z", "556 years ago", "99y"),
        ] {
            let at = at.parse().unwrap();
            assert_eq!((age(at, now).as_str(), short_age(at, now).as_str()), (want, short));
        }
    }
}
