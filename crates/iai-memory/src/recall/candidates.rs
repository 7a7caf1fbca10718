//! Finds what might answer: the lexical lane over the store's index, and what has replaced what.

use std::collections::BTreeMap;

use iai_store::{Filter, LexicalQuery, LinkKind, Memory, MemoryId, Reader, Tier};

use super::cue::{Cue, CueMode};
use super::rank::Ranked;
use crate::error::Result;

/// How many memories are looked at closely.
const CANDIDATES_MAX: usize = 200;
/// A word in more than this share of all memories distinguishes nothing and costs the most.
const COMMON_SHARE: f64 = 0.02;
/// Below this many memories every word is worth its postings.
const COMMON_FLOOR: u64 = 500;

/// A memory that might answer, with the lane's score.
pub(crate) struct Candidate {
    pub(crate) memory: Memory,
    /// BM25, higher is better.
    pub(crate) bm25: f64,
}

/// What the ranked memories replaced, and what replaced them.
#[derive(Default)]
pub(crate) struct Supersession {
    /// Outdated id → the memory that holds now.
    pub(crate) successor: BTreeMap<MemoryId, MemoryId>,
    /// Memories on either side that were no candidates themselves.
    pub(crate) others: BTreeMap<MemoryId, Memory>,
}

/// What was found, and whether it is what was asked for.
pub(crate) struct Found {
    pub(crate) candidates: Vec<Candidate>,
    /// The quoted wording is nowhere; these only share its words.
    pub(crate) is_second_best: bool,
}

pub(crate) fn find(reader: &Reader, cue: &Cue, project: Option<&str>) -> Result<Found> {
    let filter = Filter {
        tiers: match cue.mode {
            CueMode::Verbatim => vec![Tier::Episodic],
            CueMode::Concept => Vec::new(),
        },
        project: project.map(str::to_owned),
        ..Filter::default()
    };
    let mut hits = Vec::new();
    if !cue.phrases.is_empty() {
        let query = LexicalQuery { words: Vec::new(), phrases: cue.phrases.clone() };
        hits = reader.lexical(&query, &filter, CANDIDATES_MAX)?;
    }
    let is_second_best = !cue.phrases.is_empty() && hits.is_empty();
    if hits.is_empty() {
        let words = telling_words(reader, &cue.words)?;
        let query = LexicalQuery { words, phrases: cue.phrases.clone() };
        hits = reader.lexical(&query, &filter, CANDIDATES_MAX)?;
    }
    let ids: Vec<MemoryId> = hits.iter().map(|hit| hit.id).collect();
    let memories = reader.memories(&ids)?;
    let scores: BTreeMap<MemoryId, f64> = hits.iter().map(|hit| (hit.id, hit.score)).collect();
    let scored = memories.into_iter().filter_map(|memory| {
        let bm25 = *scores.get(&memory.id)?;
        Some(Candidate { memory, bm25 })
    });
    Ok(Found { candidates: scored.collect(), is_second_best })
}

/// Drops words that are nearly everywhere, unless nothing else is left.
fn telling_words(reader: &Reader, words: &[String]) -> Result<Vec<String>> {
    let n_memories = reader.counts()?.memories;
    if n_memories < COMMON_FLOOR {
        return Ok(words.to_vec());
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a count, far from any limit"
    )]
    let common = (n_memories as f64 * COMMON_SHARE) as u64;
    let frequencies = reader.document_frequencies(words)?;
    let mut by_rarity: Vec<(u64, &String)> = frequencies.into_iter().zip(words).collect();
    by_rarity.sort_by_key(|(frequency, _)| *frequency);
    let telling: Vec<String> = by_rarity
        .iter()
        .filter(|(frequency, _)| (1..=common).contains(frequency))
        .map(|(_, word)| (*word).clone())
        .collect();
    if !telling.is_empty() {
        return Ok(telling);
    }
    // Only common words: the rarest of them still say the most.
    Ok(by_rarity.iter().take(4).map(|(_, word)| (*word).clone()).collect())
}

/// Looks up the corrections around the ranked memories.
pub(crate) fn supersession(reader: &Reader, ranked: &[Ranked]) -> Result<Supersession> {
    let ids: Vec<MemoryId> = ranked.iter().map(|ranked| ranked.memory.id).collect();
    let mut found = Supersession::default();
    let mut wanted = Vec::new();
    for link in reader.links_of(&ids)? {
        if link.kind == LinkKind::Contradicts {
            found.successor.insert(link.src, link.dst);
            wanted.extend([link.src, link.dst].into_iter().filter(|id| !ids.contains(id)));
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    for memory in reader.memories(&wanted)? {
        found.others.insert(memory.id, memory);
    }
    Ok(found)
}
