//! Cuts what was said into whole sentences, leaving out what is no prose: code, tables, headings.

use crate::remarks::is_abbreviated;

/// Shorter sentences say nothing alone.
const WORDS_MIN: usize = 5;
/// Longer ones leave no room for another.
pub(super) const WORDS_MAX: usize = 40;
/// A sentence of few words may still be long.
const CHARS_MAX: usize = 320;
/// Of one text, the first so many sentences count: what comes later is detail.
const SENTENCES_MAX: usize = 24;

/// Returns the sentences of a text as they stand in it.
pub(super) fn sentences_of(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut sentences = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
            continue;
        }
        if is_code || is_no_prose(line) {
            continue;
        }
        each_sentence(without_marker(line), &mut |sentence| {
            if is_telling(sentence) && sentences.len() < SENTENCES_MAX {
                sentences.push(sentence);
            }
        });
    }
    sentences
}

/// How many words a sentence has; of scripts without blanks two characters make one.
pub(super) fn n_words(sentence: &str) -> usize {
    let wide = sentence.chars().filter(|letter| is_wide(*letter)).count();
    let narrow = sentence.split(|letter: char| letter.is_whitespace() || is_wide(letter));
    narrow.filter(|word| word.contains(char::is_alphanumeric)).count() + wide / 2
}

fn is_wide(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

fn is_no_prose(line: &str) -> bool {
    let is_indented_data = line.starts_with(['|', '#', '<', '{', '}', '[', '$', '>', '+', '@']);
    let n_letters = line.chars().filter(|c| c.is_alphabetic() || c.is_whitespace()).count();
    is_indented_data || line.is_empty() || n_letters * 10 < line.chars().count() * 7
}

/// Takes the mark of a list off its item.
fn without_marker(line: &str) -> &str {
    let bare = line.trim_start_matches(['-', '*', '•', ' ']);
    let digits = bare.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_numbered = digits.len() < bare.len() && digits.starts_with(['.', ')']);
    match digits.get(1..) {
        Some(item) if is_numbered && item.starts_with(' ') => item.trim_start(),
        _ => bare,
    }
}

fn each_sentence<'a>(line: &'a str, take: &mut dyn FnMut(&'a str)) {
    let mut start = 0;
    let mut letters = line.char_indices().peekable();
    while let Some((place, letter)) = letters.next() {
        let end = place + letter.len_utf8();
        let is_end = match letter {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => letters.peek().is_none_or(|(_, next)| {
                let parts = || Some((line.get(start..place)?, line.get(end..)?));
                let is_cut = || parts().is_some_and(|(said, rest)| is_abbreviated(said, rest));
                next.is_whitespace() && !(letter == '.' && is_cut())
            }),
            _ => false,
        };
        if is_end {
            take(line.get(start..end).unwrap_or_default().trim());
            start = end;
        }
    }
    // An item of a list is whole without a full stop; a line that ends in a colon is not.
    let rest = line.get(start..).unwrap_or_default().trim();
    if !rest.is_empty() && !rest.ends_with([':', ',', ';', '(']) {
        take(rest);
    }
}

fn is_telling(sentence: &str) -> bool {
    let n_words = n_words(sentence);
    (WORDS_MIN..=WORDS_MAX).contains(&n_words)
        && sentence.chars().count() <= CHARS_MAX
        && sentence.matches('`').count().is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        assert_eq!(sentences_of(text), expect);
    }

    #[test]
    fn sentences_are_whole_and_code_is_none() {
        check(
            "We moved billing to Postgres 16. It took, e.g. with indexes, two whole days! Yes.",
            &["We moved billing to Postgres 16.", "It took, e.g. with indexes, two whole days!"],
        );
        check(
            "Here is the fix for it:\n```\nlet x = retry(3).await?;\n```\nIt retries three times \
            before giving up.",
            &["It retries three times before giving up."],
        );
        check(
            "| a | b |\n# A heading with many words here\n- the list item is one sentence too\n\
            1. the second item of the list counts",
            &["the list item is one sentence too", "the second item of the list counts"],
        );
        check("我们把计费服务迁移到了新的数据库。好。", &["我们把计费服务迁移到了新的数据库。"]);
        check(
            "The index was asked for by Dr. Okonkwo in May.",
            &["The index was asked for by Dr. Okonkwo in May."],
        );
        check("", &[]);
    }

    #[test]
    fn words_are_counted_in_any_script() {
        assert_eq!(n_words("one, two — three"), 3);
        assert_eq!(n_words("計費服務 moved"), 3);
    }
}
