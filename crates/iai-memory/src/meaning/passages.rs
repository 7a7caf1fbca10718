//! What of a memory is embedded: who speaks and what they say, window by window; a turn too short
//! to say anything alone, together with the end of what it answers.

use std::ops::Range;

use iai_embed::Embedder;
use iai_store::Memory;

/// Below this many characters a turn ("yes, use B") means nothing without the one before it.
const SHORT_CHARS: usize = 60;
/// How much of the turn before is put in front of a short one.
const CONTEXT_CHARS: usize = 400;

/// A stretch of a memory's text, and what the model is given for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Passage {
    /// Which bytes of the text it stands for.
    pub(crate) range: Range<usize>,
    /// What is embedded.
    pub(crate) text: String,
}

/// Cuts a memory into passages; there is at least one.
pub(crate) fn passages_of(
    embedder: &dyn Embedder,
    memory: &Memory,
    before: Option<&Memory>,
) -> Vec<Passage> {
    let role = memory.role.as_str();
    if let Some(before) = before.filter(|_| is_short(&memory.text)) {
        let (said_by, said) = (before.role.as_str(), ending(&before.text));
        let text = format!("{said_by}: {said}\n{role}: {}", memory.text);
        return vec![Passage { range: 0..memory.text.len(), text }];
    }
    let windows = embedder.windows(&memory.text);
    let passage = |range: Range<usize>| {
        let said = memory.text.get(range.clone()).unwrap_or_default();
        Passage { range, text: format!("{role}: {said}") }
    };
    windows.into_iter().map(passage).collect()
}

/// Tells whether a text is embedded together with what it answers.
pub(crate) fn is_short(text: &str) -> bool {
    text.chars().count() < SHORT_CHARS
}

fn ending(text: &str) -> &str {
    let mut letters = text.char_indices().rev();
    let start = letters.nth(CONTEXT_CHARS.saturating_sub(1)).map_or(0, |(start, _)| start);
    text.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_is_cut_between_letters() {
        assert_eq!(ending("kurz"), "kurz");
        let long = "ö".repeat(CONTEXT_CHARS + 5);
        assert_eq!(ending(&long).chars().count(), CONTEXT_CHARS);
        assert_eq!(ending(""), "");
    }
}
