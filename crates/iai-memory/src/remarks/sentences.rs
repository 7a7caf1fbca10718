//! Cuts a text into the sentences somebody said, as ranges of its bytes. Code, quotations and
//! tables are nobody's words.

use std::ops::Range;

use super::stops::is_abbreviated;

/// What is looked at of one text; what holds beyond a session is rarely said after so much.
const BYTES_MAX: usize = 64 * 1024;
/// A language writes its sentences' ends with one of these.
const ENDS: &[char] = &['.', '!', '?', '…'];
/// These end a sentence without a space behind them.
const WIDE_ENDS: &[char] = &['。', '！', '？'];

/// Behind a figure and a stop, one of these begins a sentence though it is written small: "the
/// limit is 30. and look at the log". "On the 3. of may" goes on.
const BEGINNINGS: &[&str] = &[
    "also", "always", "and", "but", "can", "could", "do", "don", "dont", "i", "it", "let", "lets",
    "never", "no", "not", "now", "ok", "please", "so", "that", "thats", "the", "then", "there",
    "they", "use", "we", "what", "yes", "you",
];

/// Returns the sentences of a text, in order.
pub(crate) fn sentences(text: &str) -> Vec<Range<usize>> {
    let text = beginning(text, BYTES_MAX);
    let mut found = Vec::new();
    let mut is_code = false;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let is_fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        is_code ^= is_fence;
        if !is_code && !is_fence && !trimmed.starts_with(['>', '|']) {
            let words = unmarked(line);
            let offset = start + (line.len() - words.len());
            for range in split(words) {
                found.push(offset + range.start..offset + range.end);
            }
        }
        start += line.len();
    }
    found
}

/// Returns the beginning of a text, cut between letters.
pub(crate) fn beginning(text: &str, n_bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(n_bytes_max)).unwrap_or(text)
}

/// Leaves out what marks a line as an item of a list or a heading.
fn unmarked(line: &str) -> &str {
    let line = line.trim_start();
    let line = line.trim_start_matches(['#', '-', '*', '•', '+']).trim_start();
    let line = line.strip_prefix("[ ]").or_else(|| line.strip_prefix("[x]")).unwrap_or(line);
    let after_number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_numbered = after_number.len() < line.len() && after_number.starts_with([')', '.']);
    let bare = after_number.get(1..).filter(|rest| is_numbered && rest.starts_with(' '));
    bare.unwrap_or(line).trim_start()
}

fn split(line: &str) -> Vec<Range<usize>> {
    let rest = |from: usize| line.get(from..).unwrap_or_default();
    let mut found = Vec::new();
    let mut start = 0;
    let mut letters = line.char_indices().peekable();
    while let Some((place, letter)) = letters.next() {
        let end = place + letter.len_utf8();
        let is_end = match letters.peek() {
            None => true,
            Some((_, next)) => {
                WIDE_ENDS.contains(&letter)
                    || ENDS.contains(&letter)
                        && next.is_whitespace()
                        && !goes_on(line.get(start..place).unwrap_or_default(), letter, rest(end))
            }
        };
        if is_end {
            push(&mut found, line, start..end);
            start = end;
        }
    }
    found
}

/// After "e.g.", "3." and "so …" a sentence may go on in lower case; many write all of theirs so.
fn goes_on(said: &str, end: char, rest: &str) -> bool {
    let next = rest.trim_start().chars().next();
    let last = said.rsplit(|letter: char| letter.is_whitespace() || letter == '(').next();
    let last = last.unwrap_or_default().to_lowercase();
    if end == '.' && is_abbreviated(said, rest) {
        return true;
    }
    // "so do i. and …" ends with a word.
    let is_short =
        last.chars().count() <= 1 && last != "i" || last.contains('.') && !last.contains("..");
    let word = rest.split(|letter: char| !letter.is_alphanumeric()).find(|word| !word.is_empty());
    let is_begun = word.is_some_and(|word| BEGINNINGS.contains(&word));
    let is_number = last.chars().all(|letter| letter.is_ascii_digit()) && !is_begun;
    let is_cut = end == '…' || said.ends_with('.');
    let may_go_on = is_cut || end == '.' && (is_short || is_number);
    may_go_on && next.is_some_and(char::is_lowercase)
}

fn push(found: &mut Vec<Range<usize>>, line: &str, range: Range<usize>) {
    let sentence = line.get(range.clone()).unwrap_or_default();
    let start = range.start + (sentence.len() - sentence.trim_start().len());
    let end = start + sentence.trim().len();
    if line.get(start..end).is_some_and(|words| words.chars().any(char::is_alphanumeric)) {
        found.push(start..end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let found: Vec<&str> = sentences(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn sentences_end_where_they_end() {
        check("One. Two! Three?", &["One.", "Two!", "Three?"]);
        check("Use e.g. cargo. Then stop", &["Use e.g. cargo.", "Then stop"]);
        check("Version 1.2 is out", &["Version 1.2 is out"]);
        check("fine. next the port", &["fine.", "next the port"]);
        check(
            "call it (approx. 5 of them, z.b. two) ok",
            &["call it (approx. 5 of them, z.b. two) ok"],
        );
        check("on the 3. of may", &["on the 3. of may"]);
        check("so 30. and look, it works", &["so 30.", "and look, it works"]);
        check("is it so? no. wait... it is", &["is it so?", "no.", "wait... it is"]);
        check("asked of Dr. Okonkwo. Go on", &["asked of Dr. Okonkwo.", "Go on"]);
        check("sdk 26. don't use more", &["sdk 26.", "don't use more"]);
        check("We take B. Then J. Smith", &["We take B.", "Then J. Smith"]);
        check("決めた。使う", &["決めた。", "使う"]);
        check("Да. Нет.", &["Да.", "Нет."]);
        check(" \n ... \n", &[]);
    }

    #[test]
    fn marks_of_lists_are_left_out_and_code_is_nobodys_words() {
        check("- [ ] write it\n2. Then test.\n# Plan", &["write it", "Then test.", "Plan"]);
        check("Before\n```\nAlways.\n```\n> quoted\n| a | b |\nAfter", &["Before", "After"]);
    }

    #[test]
    fn a_huge_text_is_cut_between_letters() {
        let text = "ж".repeat(BYTES_MAX);
        assert_eq!(sentences(&text).len(), 1);
    }
}
