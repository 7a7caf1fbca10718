//! When idle work may begin: nobody is there, and the hour is one at which nobody ever is.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

/// The day is looked at in half hours, in UTC: what is learned anew every day needs no time zone.
const BUCKETS: usize = 48;
const BUCKET_MS: i64 = 30 * 60 * 1000;
/// Days of activity that are looked at …
const DAYS_LEARNED: i64 = 14;
/// … and on how many of them somebody must have been there.
const DAYS_MIN: usize = 7;
/// A half hour with less than this share of the busiest one is quiet.
const QUIET_SHARE: usize = 5;
/// A window is at least this many half hours long, and no longer than that.
const WINDOW_BUCKETS: (usize, usize) = (6, 16);
/// A machine may sleep through its quiet window; after so long any idle time will do.
const OVERDUE: SignedDuration = SignedDuration::from_hours(20);
/// After a round that left nothing, so long: sessions end and links fade without anybody's doing.
const LOOK_AGAIN: Duration = Duration::from_secs(3600);

/// The part of the day at which the least is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct QuietWindow {
    /// The half hour it begins with, counted from midnight UTC.
    pub start_bucket: usize,
    /// How many half hours it lasts.
    pub n_buckets: usize,
}

impl QuietWindow {
    /// Learns the window from the times something was said; `None` when that is too little.
    pub(super) fn learn(said_at_ms: impl Iterator<Item = i64>, now: Timestamp) -> Option<Self> {
        let end_ms = now.as_millisecond();
        let start_ms = end_ms.saturating_sub(DAYS_LEARNED * 24 * 3_600_000);
        let mut counts = [0_usize; BUCKETS];
        let mut days = std::collections::BTreeSet::new();
        for at_ms in said_at_ms.filter(|at_ms| (start_ms..=end_ms).contains(at_ms)) {
            days.insert(at_ms.div_euclid(BUCKETS as i64 * BUCKET_MS));
            if let Some(count) = counts.get_mut(bucket_of(at_ms)) {
                *count += 1;
            }
        }
        if days.len() < DAYS_MIN {
            return None;
        }
        let threshold = (counts.iter().max().copied().unwrap_or(0) / QUIET_SHARE).max(1);
        longest_run(counts.map(|count| count < threshold))
    }

    pub(super) fn contains(self, at: Timestamp) -> bool {
        let since = (bucket_of(at.as_millisecond()) + BUCKETS - self.start_bucket) % BUCKETS;
        since < self.n_buckets
    }

    /// How long until it begins.
    fn wait(self, at: Timestamp) -> Duration {
        let into_day = at.as_millisecond().rem_euclid(BUCKETS as i64 * BUCKET_MS);
        let begins = i64::try_from(self.start_bucket).unwrap_or(0) * BUCKET_MS;
        let wait = (begins - into_day).rem_euclid(BUCKETS as i64 * BUCKET_MS);
        Duration::from_millis(wait.unsigned_abs())
    }
}

fn bucket_of(at_ms: i64) -> usize {
    let into_day = at_ms.rem_euclid(BUCKETS as i64 * BUCKET_MS);
    usize::try_from(into_day / BUCKET_MS).unwrap_or(0)
}

/// The longest run of quiet half hours around the clock; the earliest of equal ones.
fn longest_run(is_quiet: [bool; BUCKETS]) -> Option<QuietWindow> {
    let run = |start: usize| {
        let around = is_quiet.iter().cycle().skip(start).take(BUCKETS);
        around.take_while(|is_quiet| **is_quiet).count()
    };
    let mut best = (0, 0);
    for start in 0..BUCKETS {
        if best.1 < run(start) {
            best = (start, run(start));
        }
    }
    let (start_bucket, length) = best;
    let n_buckets = length.min(WINDOW_BUCKETS.1);
    // Of a long run, the middle: its edges are where somebody might still be.
    let start_bucket = (start_bucket + (length - n_buckets) / 2) % BUCKETS;
    (WINDOW_BUCKETS.0 <= length).then_some(QuietWindow { start_bucket, n_buckets })
}

/// What decides whether idle work may begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) now: Timestamp,
    /// Nothing was asked and nothing came in for so long.
    pub(super) idle_for: Duration,
    /// That is long enough from here on.
    pub(super) idle_min: Duration,
    pub(super) window: Option<QuietWindow>,
    /// When the last round of idle work was finished.
    pub(super) round_at: Option<Timestamp>,
    /// Something came in since.
    pub(super) is_wanted: bool,
}

/// Returns how long to wait before idle work begins; zero means now.
pub(super) fn wait_for_idle_work(moment: &Moment) -> Duration {
    let idle = moment.idle_min.saturating_sub(moment.idle_for);
    let age = moment.round_at.map(|at| moment.now.duration_since(at));
    if let Some(age) = age.filter(|_| !moment.is_wanted) {
        let age = Duration::try_from(age).unwrap_or_default();
        return idle.max(LOOK_AGAIN.saturating_sub(age));
    }
    match moment.window {
        Some(window) if !window.contains(moment.now) => {
            let overdue = match age {
                // Nothing was ever done: what is there now must not wait for the night.
                None => SignedDuration::ZERO,
                Some(age) => OVERDUE.saturating_sub(age).max(SignedDuration::ZERO),
            };
            let overdue = Duration::try_from(overdue).unwrap_or_default();
            idle.max(window.wait(moment.now).min(overdue))
        }
        Some(_) | None => idle,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_MS: i64 = 3_600_000;

    fn at(hours: i64) -> Timestamp {
        Timestamp::from_millisecond(hours * HOUR_MS).unwrap()
    }

    /// Something said at these hours of each of so many days.
    fn learned(n_days: i64, hours: &[i64]) -> Option<(usize, usize)> {
        let said = (0..n_days).flat_map(|day| hours.iter().map(move |hour| day * 24 + hour));
        let window = QuietWindow::learn(said.map(|hour| hour * HOUR_MS), at(n_days * 24));
        window.map(|window| (window.start_bucket, window.n_buckets))
    }

    #[test]
    fn the_window_is_where_nothing_is_said() {
        let day: Vec<i64> = (8..20).collect();
        assert_eq!(learned(10, &day), Some((43, 16)), "the middle of 19:30 to 8:00");
        let night: Vec<i64> = (0..5).chain(18..24).collect();
        assert_eq!(learned(10, &night), Some((14, 16)));
        assert_eq!(learned(6, &day), None, "six days are too few");
        let always: Vec<i64> = (0..24).collect();
        assert_eq!(learned(10, &always), None, "half an hour is no window");
    }

    #[track_caller]
    fn check(change: impl Fn(&mut Moment), expect_minutes: u64) {
        let mut moment = Moment {
            now: at(12),
            idle_for: Duration::from_secs(600),
            idle_min: Duration::from_secs(300),
            window: Some(QuietWindow { start_bucket: 2, n_buckets: 8 }),
            round_at: Some(at(10)),
            is_wanted: true,
        };
        change(&mut moment);
        assert_eq!(wait_for_idle_work(&moment), Duration::from_secs(60 * expect_minutes));
    }

    #[test]
    fn idle_work_waits_for_the_window_but_not_for_ever() {
        check(|_| {}, 13 * 60);
        check(|moment| moment.now = at(26), 0);
        check(|moment| moment.now = at(30), 0);
        check(|moment| moment.window = None, 0);
        check(|moment| moment.round_at = None, 0);
        check(|moment| moment.round_at = Some(at(-6)), 2 * 60);
        let busy = |moment: &mut Moment| (moment.window, moment.idle_for) = (None, Duration::ZERO);
        check(busy, 5);
        check(|moment| moment.is_wanted = false, 0);
        let fresh =
            |moment: &mut Moment| (moment.is_wanted, moment.round_at) = (false, Some(at(12)));
        check(fresh, 60);
    }
}
