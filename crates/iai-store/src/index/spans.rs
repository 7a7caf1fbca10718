//! Where in a text the words of a question stand, found the way the index finds them: for those who
//! show a text and want to point.

use std::collections::BTreeSet;
use std::ops::Range;

use super::words::{Purpose, each_part, each_term, is_gram};

/// Returns where words of the question stand in the text, in order, as ranges of bytes that do not
/// touch. A part of a name counts for itself, the whole name when the question has all of it.
pub fn matched_spans(text: &str, question: &str) -> Vec<Range<usize>> {
    let mut sought = BTreeSet::new();
    each_term(question, Purpose::Asking, &mut |term, _| {
        sought.insert(term.to_owned());
    });
    let mut spans = Vec::new();
    if sought.is_empty() {
        return spans;
    }
    each_part(text, &mut |place, part| {
        if part.starts_with(is_gram) {
            grams(part, &sought, &mut |span| join(&mut spans, shifted(&span, place)));
        } else if has_any(part, &sought) {
            join(&mut spans, place..place + part.len());
        }
    });
    spans
}

fn has_any(part: &str, sought: &BTreeSet<String>) -> bool {
    let mut is_sought = false;
    each_term(part, Purpose::Storing, &mut |term, _| is_sought |= sought.contains(term));
    is_sought
}

/// Scripts without blanks are asked for by pairs, or by one character alone.
fn grams(run: &str, sought: &BTreeSet<String>, found: &mut dyn FnMut(Range<usize>)) {
    let mut letters = run.char_indices().peekable();
    while let Some((start, letter)) = letters.next() {
        let end = start + letter.len_utf8();
        let pair_end = letters.peek().map_or(end, |(place, next)| place + next.len_utf8());
        for end in [end, pair_end] {
            if run.get(start..end).is_some_and(|piece| sought.contains(piece)) {
                found(start..end);
            }
        }
    }
}

fn shifted(span: &Range<usize>, by: usize) -> Range<usize> {
    span.start + by..span.end + by
}

/// Adds a span that begins no earlier than the last one; those that touch become one.
fn join(spans: &mut Vec<Range<usize>>, span: Range<usize>) {
    match spans.last_mut() {
        Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
        _ => spans.push(span),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, question: &str, want: &[&str]) {
        let spans = matched_spans(text, question);
        let found: Vec<&str> = spans.iter().map(|span| &text[span.clone()]).collect();
        assert_eq!(found, want, "{question} in {text}");
    }

    #[test]
    fn words_are_found_in_any_form_the_index_knows() {
        check("We RETRIED twice; retries help.", "retry", &["RETRIED", "retries"]);
        check("Das Größte ist groß", "grösste", &["Größte"]);
        check("nothing here", "retry", &[]);
        check("anything", "", &[]);
        check("café and cafe", "CAFÉ", &["café", "cafe"]);
    }

    #[test]
    fn a_name_is_found_by_its_parts() {
        check("call parseHeader() in src/retry_policy.rs", "policy header", &["Header", "policy"]);
        check("see retry_policy.rs", "retry policy", &["retry", "policy"]);
        check("it's C++ code", "code", &["code"]);
    }

    #[test]
    fn scripts_without_blanks_are_found_by_pairs() {
        check("私は東京都に住む", "東京", &["東京"]);
        check("東京都", "東京都", &["東京都"]);
        check("大東京", "京", &["京"]);
    }

    #[test]
    fn spans_stand_at_boundaries_whatever_the_text() {
        for text in ["ﬁne ①② e\u{301}tude", "\u{200d}a\u{ad}b", "İstanbul ẞ", "a\u{0}b\u{1b}[31m"]
        {
            for span in matched_spans(text, text) {
                assert!(text.get(span).is_some(), "{text:?}");
            }
        }
    }
}
