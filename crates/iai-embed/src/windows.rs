//! Cuts a long text into overlapping windows that a model can take whole.

use std::ops::Range;

use crate::tokenizer::{Tokenizer, Word};

/// The most windows of one text: 50,000 characters fit for a model of 256 tokens even in Korean,
/// where a character is up to three tokens.
pub const N_WINDOWS_MAX: usize = 1024;
/// The part of a window that the next one repeats, so that no thought is cut in both.
const OVERLAP_PART: usize = 8;
/// How far back from a full window's end whitespace is looked for: this part of the window.
const SEARCH_PART: usize = 4;

/// Returns the windows of a text: at most `n_pieces_max` pieces each. One covers all of a short
/// text, and each window of a long one begins and ends at a word.
pub(crate) fn cut(tokenizer: &Tokenizer, text: &str, n_pieces_max: usize) -> Vec<Range<usize>> {
    let words = tokenizer.words(text, n_pieces_max.saturating_mul(N_WINDOWS_MAX));
    let mut windows: Vec<Range<usize>> = Vec::new();
    let mut first = 0;
    while windows.len() < N_WINDOWS_MAX {
        let end = end_of(&words, first, n_pieces_max);
        let from = words.get(first).map_or(0, |word| word.bytes.start);
        let is_last = end >= words.len();
        let to = if is_last { text.len() } else { word_end(&words, end) };
        windows.push(if first == 0 { 0..to } else { from..to });
        if is_last {
            break;
        }
        first = start_after(&words, first, end, n_pieces_max);
    }
    windows
}

/// Returns the word behind the window's last one: where whitespace stands, if that is not far.
fn end_of(words: &[Word], first: usize, n_pieces_max: usize) -> usize {
    let mut n_pieces = 0;
    let mut end = first;
    while let Some(word) = words.get(end) {
        if n_pieces + word.n_pieces > n_pieces_max && end > first {
            break;
        }
        n_pieces += word.n_pieces;
        end += 1;
    }
    if end >= words.len() {
        return end;
    }
    let nearest = first + (end - first) - (end - first) / SEARCH_PART;
    let spaced = (nearest..=end).rev().find(|at| is_after_space(words, *at));
    spaced.filter(|at| *at > first).unwrap_or(end)
}

/// Returns where the next window begins: some words before the end of this one, after whitespace
/// if possible, and always further than this one began.
fn start_after(words: &[Word], first: usize, end: usize, n_pieces_max: usize) -> usize {
    let mut n_repeated = 0;
    let mut start = end;
    while start > first + 1 {
        let n_pieces = words.get(start - 1).map_or(0, |word| word.n_pieces);
        if n_repeated + n_pieces > n_pieces_max / OVERLAP_PART {
            break;
        }
        n_repeated += n_pieces;
        start -= 1;
    }
    (start..=end).find(|at| is_after_space(words, *at)).unwrap_or(start)
}

fn is_after_space(words: &[Word], at: usize) -> bool {
    words.get(at).is_some_and(|word| word.is_after_space)
}

fn word_end(words: &[Word], end: usize) -> usize {
    words.get(end.saturating_sub(1)).map_or(0, |word| word.bytes.end)
}
