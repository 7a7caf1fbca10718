//! Which words of a memory answer what was asked: the index's own way of cutting words, which needs
//! no store.

use std::ops::Range;

/// Returns where words of the cue stand in the text, as ranges of bytes, in order.
pub(crate) fn matched_words(text: &str, cue: &str) -> Vec<Range<usize>> {
    iai_memory::matched_words(text, cue)
}
