//! The proof that what was taught can be found: some passages are asked back by their own words.

use serde_json::{Value, json};

use crate::client::Client;
use crate::fields::Fields as _;

/// Passages asked back.
const SAMPLE_MAX: usize = 20;
/// Hits among which a passage has to be.
const HITS_MAX: u64 = 10;
/// Words it is asked back by …
const WORDS_MAX: usize = 16;
/// … a passage with fewer is not asked back …
const WORDS_MIN: usize = 4;
/// … and shorter words tell nothing.
const WORD_LETTERS_MIN: usize = 4;
/// Words by which a cue asks for what somebody said, which this is not.
const ABOUT_WORDING: &[&str] = &["verbatim", "exact", "quote", "quoted", "said", "wrote"];

/// A passage that can be asked back.
pub(super) struct Asked {
    pub(super) id: String,
    /// Where it is from.
    pub(super) source: String,
    pub(super) text: String,
}

/// What came of asking.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) n_asked: usize,
    pub(crate) n_found: usize,
    /// Where those are from that were not found.
    pub(crate) missed: Vec<String>,
}

/// Asks some passages back, spread over all of them.
pub(super) fn ask_back(client: &Client, stored: &[Asked]) -> anyhow::Result<Sample> {
    let able: Vec<(&Asked, String)> =
        stored.iter().filter_map(|asked| Some((asked, words_of(&asked.text)?))).collect();
    let step = able.len().div_ceil(SAMPLE_MAX).max(1);
    let mut sample = Sample::default();
    for (asked, cue) in able.iter().step_by(step) {
        sample.n_asked += 1;
        // Whoever checks is not whoever asks: nothing is learned from it, or counted as served.
        let ask = json!({"cue": cue, "limit": HITS_MAX});
        let answer = client.call_daemon("picture_search", &ask)?;
        let mut hits = answer.at("hits").as_array().into_iter().flatten();
        let is_it = |hit: &Value| {
            hit.at("record_id") == asked.id.as_str()
                || hit.at("literal_surface").as_str() == Some(&asked.text)
        };
        match hits.any(is_it) {
            true => sample.n_found += 1,
            false => sample.missed.push(asked.source.clone()),
        }
    }
    Ok(sample)
}

/// Chooses the words a passage is asked back by: the longest, in their order.
fn words_of(text: &str) -> Option<String> {
    let mut words: Vec<(usize, String)> = Vec::new();
    for word in text.split(|letter: char| !letter.is_alphanumeric()) {
        let lower = word.to_lowercase();
        let is_telling = WORD_LETTERS_MIN <= lower.chars().count()
            && !ABOUT_WORDING.contains(&lower.as_str())
            && !words.iter().any(|(_, known)| *known == lower);
        if is_telling {
            words.push((words.len(), lower));
        }
    }
    if words.len() < WORDS_MIN {
        return None;
    }
    words.sort_by_key(|(place, word)| (std::cmp::Reverse(word.chars().count()), *place));
    words.truncate(WORDS_MAX);
    words.sort_unstable();
    Some(words.into_iter().map(|(_, word)| word).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_words_ask_in_their_order() {
        assert_eq!(
            words_of("Retry uploads three times, then give up").unwrap(),
            "retry uploads three times then give"
        );
        assert_eq!(words_of("let x = y;"), None);
        let long: String = (0..100).map(|n| format!("w{n:05} ")).collect();
        assert_eq!(words_of(&long).unwrap().split(' ').count(), WORDS_MAX);
        assert!(!words_of("somebody said something about lighthouses").unwrap().contains("said"));
    }
}
