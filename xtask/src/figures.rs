//! Numbers as people read them: milliseconds, megabytes, columns.

use std::time::Duration;

pub(crate) fn milliseconds(took: Duration) -> String {
    format!("{:.2} ms", took.as_secs_f64() * 1000.0)
}

pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000)
}

/// Returns `value` with its unit, or a word that says nobody measured it.
pub(crate) fn or_unknown(value: Option<impl ToString>, unit: &str) -> String {
    value.map_or("not measured on this system".to_owned(), |value| {
        format!("{}{unit}", value.to_string())
    })
}

/// Returns `rows` as two columns, the first padded to its longest entry.
pub(crate) fn table(rows: &[(String, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    rows.iter().map(|(name, value)| format!("  {name:width$}  {value}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(milliseconds(Duration::from_micros(1234)), "1.23 ms");
        assert_eq!(megabytes(12_345_678), "12.3 MB");
        assert_eq!(or_unknown(Some(5), " KiB"), "5 KiB");
        assert_eq!(or_unknown(None::<u64>, " KiB"), "not measured on this system");
    }

    #[test]
    fn columns_line_up() {
        let rows = [("a".to_owned(), "1".to_owned()), ("long".to_owned(), "2".to_owned())];
        assert_eq!(table(&rows), "  a     1\n  long  2\n");
    }
}
