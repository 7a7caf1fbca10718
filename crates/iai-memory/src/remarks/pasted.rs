//! Which sentences of a turn its user said, where the rest is a document: a plan, a review, a log.
//! What stands in one is for the work at hand, whatever it says of "always" and "never".

use std::ops::Range;

/// A text of so many bytes in so many lines, or with so many headings, is a document …
const BYTES_MIN: usize = 1500;
const LINES_MIN: usize = 12;
const HEADINGS_MIN: usize = 2;
/// … of which somebody says what stands in the first and the last paragraph, where they are short.
const PARAGRAPH_BYTES_MAX: usize = 400;

/// Leaves the sentences that somebody said.
pub(super) fn said_of(text: &str, ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    if !is_document(text) {
        return ranges;
    }
    let bare = text.trim();
    let from = text.len() - text.trim_start().len();
    let first = bare.split("\n\n").next().unwrap_or_default();
    let last = bare.rsplit("\n\n").next().unwrap_or_default();
    let (first_end, last_start) = (from + first.len(), from + bare.len() - last.len());
    let is_said = |paragraph: &str| {
        let is_plain = |line: &str| !line.trim_start().starts_with(MARKS) && !is_numbered(line);
        paragraph.len() <= PARAGRAPH_BYTES_MAX && paragraph.lines().all(is_plain)
    };
    let (is_first, is_last) = (is_said(first), is_said(last));
    let is_kept = |range: &Range<usize>| {
        is_first && range.end <= first_end || is_last && last_start <= range.start
    };
    ranges.into_iter().filter(is_kept).collect()
}

fn is_document(text: &str) -> bool {
    let n_headings = || {
        let lines = text.lines().filter(|line| line.starts_with('#') && line.contains("# "));
        lines.take(HEADINGS_MIN).count()
    };
    let is_long = BYTES_MIN < text.len() && LINES_MIN <= text.lines().take(LINES_MIN).count();
    is_long || HEADINGS_MIN <= n_headings()
}

/// What a line of a document begins with.
const MARKS: &[char] = &['#', '-', '*', '•', '+', '|', '>', '`', '$', '{', '<', '['];

fn is_numbered(line: &str) -> bool {
    let line = line.trim_start();
    let behind = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    behind.len() < line.len() && behind.starts_with(['.', ')', ':'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remarks::sentences;

    #[test]
    fn of_a_document_only_what_stands_around_it_was_said() {
        let check = |text: &str, expect: &[&str]| {
            let said = said_of(text, sentences(text));
            let said: Vec<&str> = said.into_iter().map(|range| &text[range]).collect();
            assert_eq!(said, expect, "{text}");
        };
        let rules = "My rules:\n- always run the tests\n- never push";
        check(rules, &["My rules:", "always run the tests", "never push"]);
        let plan = "# Plan\n\nAlways keep the order.\n\n## Steps\n\n1. Never retry.";
        check(plan, &[]);
        let around = format!("Do this please.\n\n{plan}\n\nAnd never push.");
        check(&around, &["Do this please.", "And never push."]);
        let log = "worker 3 never answered in time\n".repeat(60);
        check(&log, &[]);
        check(&format!("no retries please\n\n{log}"), &["no retries please"]);
    }
}
