//! Numbers as people read them: percentiles, milliseconds, megabytes, ratios.

use std::time::Duration;

use serde_json::{Value, json};

/// Wall times of one thing done many times.
#[derive(Default)]
pub(super) struct Times(Vec<Duration>);

impl Times {
    pub(super) fn push(&mut self, took: Duration) {
        self.0.push(took);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a percentile in milliseconds, for a JSON document.
    pub(super) fn milliseconds(&self, percent: usize) -> Option<f64> {
        self.percentile(percent).map(|took| (took.as_secs_f64() * 1e6).round() / 1e3)
    }

    /// Returns the usual percentiles, for a JSON document.
    pub(super) fn document(&self) -> Value {
        json!({
            "n": self.0.len(),
            "p50_ms": self.milliseconds(50),
            "p95_ms": self.milliseconds(95),
            "p99_ms": self.milliseconds(99),
        })
    }

    /// Returns the value that `percent` of all times do not exceed (nearest rank).
    pub(super) fn percentile(&self, percent: usize) -> Option<Duration> {
        let mut sorted = self.0.clone();
        sorted.sort();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied()
    }

    /// Returns `p50 / p95 / p99` in milliseconds.
    pub(super) fn summary(&self) -> String {
        let part = |percent| self.percentile(percent).map_or("none".to_owned(), milliseconds);
        format!("p50 {}, p95 {}, p99 {}, n {}", part(50), part(95), part(99), self.0.len())
    }
}

impl FromIterator<Duration> for Times {
    fn from_iter<I: IntoIterator<Item = Duration>>(times: I) -> Self {
        Self(times.into_iter().collect())
    }
}

/// Returns how many times longer the middle of `theirs` is than the middle of `ours`.
pub(super) fn ratio(ours: &Times, theirs: &Times) -> Option<String> {
    let ours = ours.percentile(50)?.as_secs_f64();
    let theirs = theirs.percentile(50)?.as_secs_f64();
    (ours > 0.0).then(|| format!("{:.1}x", theirs / ours))
}

pub(super) fn milliseconds(took: Duration) -> String {
    format!("{:.2} ms", took.as_secs_f64() * 1000.0)
}

pub(super) fn megabytes(bytes: u64) -> String {
    format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000)
}

/// Returns `value` with its unit, or a word that says nobody measured it.
pub(super) fn or_unknown(value: Option<impl ToString>, unit: &str) -> String {
    value.map_or("not measured on this system".to_owned(), |value| {
        format!("{}{unit}", value.to_string())
    })
}

/// Returns `rows` as two columns, the first padded to its longest entry.
pub(super) fn table(rows: &[(String, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    rows.iter().map(|(name, value)| format!("  {name:width$}  {value}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(milliseconds: impl IntoIterator<Item = u64>) -> Times {
        Times(milliseconds.into_iter().map(Duration::from_millis).collect())
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let cases: &[(u64, usize, u64)] =
            &[(1, 50, 1), (1, 99, 1), (100, 50, 50), (100, 95, 95), (100, 99, 99), (3, 50, 2)];
        for &(n, percent, want) in cases {
            let got = times((1..=n).rev()).percentile(percent);
            assert_eq!(got, Some(Duration::from_millis(want)), "p{percent} of {n}");
        }
        assert_eq!(times([]).percentile(50), None);
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(milliseconds(Duration::from_micros(1234)), "1.23 ms");
        assert_eq!(megabytes(12_345_678), "12.3 MB");
        assert_eq!(or_unknown(Some(5), " KiB"), "5 KiB");
        assert_eq!(or_unknown(None::<u64>, " KiB"), "not measured on this system");
        assert_eq!(ratio(&times([2]), &times([30])), Some("15.0x".to_owned()));
        assert_eq!(ratio(&times([]), &times([30])), None);
        assert_eq!(times([1, 2]).summary(), "p50 1.00 ms, p95 2.00 ms, p99 2.00 ms, n 2");
    }

    #[test]
    fn columns_line_up() {
        let rows = [("a".to_owned(), "1".to_owned()), ("long".to_owned(), "2".to_owned())];
        assert_eq!(table(&rows), "  a     1\n  long  2\n");
    }
}
