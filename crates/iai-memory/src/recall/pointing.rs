//! Which words of a text answer a cue, for those who show it.

use std::ops::Range;

use iai_store::matched_spans;

use super::cue::words_of;
use crate::organise::is_stop_word;

/// Returns where words of the cue stand in the text, as ranges of bytes, in order. Words that only
/// join others are no reason to look; they count when the cue has nothing else.
pub fn matched_words(text: &str, cue: &str) -> Vec<Range<usize>> {
    let tells = |piece: &&str| {
        let words = words_of(piece);
        !words.is_empty() && !words.iter().all(|word| is_stop_word(word))
    };
    let telling: Vec<&str> = cue.split_whitespace().filter(tells).collect();
    match telling.is_empty() {
        true => matched_spans(text, cue),
        false => matched_spans(text, &telling.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_only_join_are_not_pointed_at() {
        let check = |text: &str, cue: &str, want: &[&str]| {
            let spans = matched_words(text, cue);
            let found: Vec<&str> = spans.into_iter().map(|span| &text[span]).collect();
            assert_eq!(found, want, "{cue}");
        };
        let text = "the retries of the parser were what we had";
        check(text, "what was the retry policy?", &["retries"]);
        check(text, "what we", &["what", "we"]);
        check(text, "\"the parser\"", &["parser"]);
    }
}
