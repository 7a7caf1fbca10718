//! Picks the sentences that say most of what a group of memories says, no two of them the same.

use iai_store::{Memory, MemoryNumber};

use super::sentences::{WORDS_MAX, n_words, sentences_of};
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::terms::{Direction, weigh};
use crate::recall::words_of_in_order;

/// A summary has at most so many words …
const SUMMARY_WORDS_MAX: usize = 80;
const _: () = assert!(WORDS_MAX <= SUMMARY_WORDS_MAX, "every sentence fits alone");
/// … and so many sentences.
const SUMMARY_SENTENCES_MAX: usize = 4;
/// Sentences that are looked at.
const CANDIDATES_MAX: usize = 240;
/// How much being near the centre counts; the rest is being unlike what is picked already.
const CENTRE_SHARE: f32 = 0.7;
/// A sentence as like a picked one as this says it again.
const SAME: f32 = 0.8;

/// What a group says, and where it says it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Extract {
    /// Whole sentences, one a line, in the order they were said; empty when there is none.
    pub(super) text: String,
    /// The memories its sentences stand in.
    pub(super) quoted: Vec<MemoryNumber>,
    /// Where the whole group points.
    pub(super) centre: Direction,
}

struct Candidate<'a> {
    /// The place of its memory in the group.
    said_by: usize,
    sentence: &'a str,
    direction: Direction,
}

/// Makes a summary of memories, which come in the order they were said.
pub(super) fn extract(engine: &MemoryEngine, group: &[(MemoryNumber, Memory)]) -> Result<Extract> {
    // The index is asked text by text: held for long, it would hold up whoever stores a turn.
    let direction = |text: &str| {
        let words = words_of_in_order(text);
        engine.with_index(|index| Direction::of(weigh(index, &words)))
    };
    let whole: Vec<Direction> =
        group.iter().map(|(_, memory)| direction(&memory.text)).collect::<Result<_>>()?;
    let centre = Direction::mean(whole.iter());
    let mut candidates = Vec::new();
    for (said_by, (_, memory)) in group.iter().enumerate() {
        for sentence in sentences_of(&memory.text) {
            if candidates.len() < CANDIDATES_MAX {
                candidates.push(Candidate { said_by, sentence, direction: direction(sentence)? });
            }
        }
    }
    let picked = picked(&centre, &candidates);
    let lines: Vec<&str> = picked.iter().map(|candidate| candidate.sentence).collect();
    let mut quoted: Vec<MemoryNumber> =
        picked.iter().filter_map(|candidate| group.get(candidate.said_by)).map(|m| m.0).collect();
    quoted.dedup();
    Ok(Extract { text: lines.join("\n"), quoted, centre })
}

/// Takes the best sentence again and again (maximal marginal relevance), then puts them in order.
fn picked<'a>(centre: &Direction, candidates: &'a [Candidate<'a>]) -> Vec<&'a Candidate<'a>> {
    let mut places: Vec<usize> = Vec::new();
    let mut n_words_left = SUMMARY_WORDS_MAX;
    while places.len() < SUMMARY_SENTENCES_MAX {
        let mut best: Option<(f32, usize)> = None;
        for (place, candidate) in candidates.iter().enumerate() {
            if places.contains(&place) || n_words_left < n_words(candidate.sentence) {
                continue;
            }
            let taken = places.iter().filter_map(|place| candidates.get(*place));
            let like = taken.map(|taken| taken.direction.cosine(&candidate.direction));
            let like = like.fold(0.0, f32::max);
            let near = centre.cosine(&candidate.direction);
            let worth = CENTRE_SHARE * near - (1.0 - CENTRE_SHARE) * like;
            if near > 0.0 && like < SAME && best.is_none_or(|(value, _)| value < worth) {
                best = Some((worth, place));
            }
        }
        let Some((_, place)) = best else { break };
        places.push(place);
        let n_words = candidates.get(place).map_or(0, |candidate| n_words(candidate.sentence));
        n_words_left = n_words_left.saturating_sub(n_words);
    }
    places.sort_unstable();
    places.into_iter().filter_map(|place| candidates.get(place)).collect()
}
