//! Which of the best hits is the later word on what another one tells: about the same by its words
//! and by its meaning, though it does not say that anything changed and no value stands in the
//! place of another. Who asks how something is, is told the later word first.

use std::collections::BTreeSet;

use iai_store::{MemoryNumber, Reader};
use jiff::Timestamp;

use super::changes::{is_before, telling_words};
use super::echo::only_asks;
use super::rank::Ranked;
use super::stated::stated_of;
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::n_shared;
use crate::remarks::is_spoken;

/// Among how many hits is looked.
const HITS_LOOKED_AT: usize = 6;
/// The later word is at least this share as good an answer …
const SCORE_SHARE_MIN: f64 = 0.75;
/// … has this share of the words of whichever has fewer of them, in percent …
const WORDS_SHARED_MIN: usize = 25;
/// … and is so near to the other in meaning, by the yardstick of the model.
const NEARNESS_MIN: f32 = 0.5;
/// A longer text tells of more than one thing.
const TEXT_BYTES_MAX: usize = 900;
/// Parts of a text that are compared.
const PARTS_MAX: usize = 2;

/// Returns pairs of hits, what was told and the later word on it by the time of asking, where it
/// stands below. Where no model serves there are none.
pub(super) fn told_later(
    engine: &MemoryEngine,
    reader: &Reader,
    ranked: &[Ranked],
    now: Timestamp,
) -> Result<Vec<(MemoryNumber, MemoryNumber)>> {
    let best = ranked.iter().take(HITS_LOOKED_AT).filter(|hit| is_plain(hit));
    let best: Vec<(&Ranked, BTreeSet<String>)> =
        best.map(|hit| (hit, telling_words(&stated_of(&hit.memory.text)))).collect();
    let mut pairs = Vec::new();
    for (place, (newer, words)) in best.iter().enumerate() {
        if now < newer.memory.turn_at || only_asks(&newer.memory.text) {
            continue;
        }
        let above = best
            .iter()
            .take(place)
            .filter(|(older, old)| is_comparable(older, newer) && shares_words(old, words));
        let older: Vec<MemoryNumber> = above.map(|(older, _)| older.number).collect();
        if older.is_empty() {
            continue;
        }
        let near = engine.nearness_of_parts(reader, newer.number, PARTS_MAX, &older)?;
        let near = near.into_iter().filter(|(_, nearness)| NEARNESS_MIN <= *nearness);
        pairs.extend(near.map(|(older, _)| (older, newer.number)));
    }
    Ok(pairs)
}

/// Tells whether somebody says something in few words that nothing has replaced.
fn is_plain(hit: &Ranked) -> bool {
    let memory = &hit.memory;
    memory.text.len() <= TEXT_BYTES_MAX && memory.valid_to.is_none() && is_spoken(memory)
}

/// Tells whether a hit may be the later word on another, whoever says it: an assistant reports what
/// was done more often than it repeats what it read.
fn is_comparable(older: &Ranked, newer: &Ranked) -> bool {
    is_before(&older.memory, &newer.memory) && SCORE_SHARE_MIN * older.score <= newer.score
}

fn shares_words(older: &BTreeSet<String>, newer: &BTreeSet<String>) -> bool {
    let n_fewer = older.len().min(newer.len());
    let n_shared = n_shared(older, newer);
    0 < n_shared && WORDS_SHARED_MIN * n_fewer <= 100 * n_shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_about_the_same_share_words() {
        let check = |older: &str, newer: &str, expect: bool| {
            let shares = shares_words(&telling_words(older), &telling_words(newer));
            assert_eq!(shares, expect, "{older} / {newer}");
        };
        let weekly = "Weekly seasons, rolled over on Monday at six.";
        check(weekly, "Two-week seasons, rollover on Thursday at ten.", true);
        check(weekly, "The release moved to the end of the quarter, says the board.", false);
        check(weekly, "", false);
        check("", "", false);
    }
}
