//! Secrets that go on in the next line: a shell reads a backslash at the end of a line as if
//! neither of them were there.

use super::Found;
use super::tokens::Letters;

/// Returns a text without the ends of lines that a shell passes over.
pub(super) fn joined(text: &str) -> String {
    text.replace("\\\r\n", "").replace("\\\n", "")
}

/// Finds, by the given rules, what stands in a text as a shell reads it; nothing where it reads it
/// as it is written.
pub(super) fn across_lines(text: &str, find: fn(&str) -> Vec<Found>) -> Vec<Found> {
    let breaks = breaks(text);
    if breaks.is_empty() {
        return Vec::new();
    }
    let mut whole = String::with_capacity(text.len());
    // Where the parts meet, and how much was left out up to there.
    let mut seams = Vec::with_capacity(breaks.len());
    let mut end = 0;
    for (at, n) in breaks {
        whole.push_str(text.get(end..at).unwrap_or_default());
        end = at + n;
        seams.push((whole.len(), end - whole.len()));
    }
    whole.push_str(text.get(end..).unwrap_or_default());
    let left_out = |n_before: usize| {
        n_before.checked_sub(1).and_then(|last| seams.get(last)).map_or(0, |(_, n)| *n)
    };
    let found = find(&whole).into_iter().map(|Found { kind, range }| {
        let n_start = seams.partition_point(|(at, _)| *at <= range.start);
        let n_end = seams.partition_point(|(at, _)| *at < range.end);
        let range = range.start + left_out(n_start)..range.end + left_out(n_end);
        Found { kind, range }
    });
    found.collect()
}

/// Returns where a word is broken, and how many bytes break it.
fn breaks(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let is_in = |at: usize| bytes.get(at).is_some_and(|byte| Letters::Any.has(*byte));
    let breaks = text.match_indices('\\').filter_map(|(at, _)| {
        let n = match bytes.get(at + 1..)? {
            [b'\n', ..] => 2,
            [b'\r', b'\n', ..] => 3,
            _ => return None,
        };
        (at.checked_sub(1).is_some_and(is_in) && is_in(at + n)).then_some((at, n))
    });
    breaks.collect()
}
