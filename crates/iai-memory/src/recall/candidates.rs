//! Finds what might answer: the lexical lane over the index, and what has replaced what.

use std::collections::BTreeMap;

use iai_store::{
    LexicalHit, LexicalQuery, LinkKind, Memory, MemoryId, MemoryIndex, MemoryNumber, Reader, Scope,
    Tier, contains_phrase,
};

use super::cue::{Cue, CueMode};
use super::rank::Ranked;
use crate::engine::MemoryEngine;
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

pub(crate) fn find(engine: &MemoryEngine, cue: &Cue, project: Option<&str>) -> Result<Found> {
    let scope = Scope {
        tiers: match cue.mode {
            CueMode::Verbatim => vec![Tier::Episodic],
            CueMode::Concept => Vec::new(),
        },
        project: project.map(str::to_owned),
        ..Scope::default()
    };
    let mut candidates = Vec::new();
    if !cue.phrases.is_empty() {
        let query = LexicalQuery { words: Vec::new(), phrases: cue.phrases.clone() };
        let hits = engine.with_index(|index| index.search(&query, &scope, CANDIDATES_MAX))?;
        candidates = read(engine, &hits)?;
        candidates.retain(|candidate| has_phrase(cue, &candidate.memory));
    }
    let is_second_best = !cue.phrases.is_empty() && candidates.is_empty();
    if candidates.is_empty() {
        let hits = engine.with_index(|index| {
            let words = telling_words(index, &cue.words);
            let query = LexicalQuery { words, phrases: cue.phrases.clone() };
            index.search(&query, &scope, CANDIDATES_MAX)
        })?;
        candidates = read(engine, &hits)?;
    }
    Ok(Found { candidates, is_second_best })
}

/// Reads the memories that were found, best first.
fn read(engine: &MemoryEngine, hits: &[LexicalHit]) -> Result<Vec<Candidate>> {
    let numbers: Vec<MemoryNumber> = hits.iter().map(|hit| hit.number).collect();
    let scores: BTreeMap<MemoryNumber, f32> =
        hits.iter().map(|hit| (hit.number, hit.score)).collect();
    let memories = engine.read(|reader| Ok(reader.numbered(&numbers)?))?;
    let scored = memories.into_iter().filter_map(|(number, memory)| {
        let bm25 = f64::from(*scores.get(&number)?);
        Some(Candidate { memory, bm25 })
    });
    Ok(scored.collect())
}

/// The index finds memories with all the words of a phrase; here they have to stand together.
fn has_phrase(cue: &Cue, memory: &Memory) -> bool {
    let is_in = |text: &str| cue.phrases.iter().any(|phrase| contains_phrase(text, phrase));
    is_in(&memory.text) || memory.cue.as_deref().is_some_and(is_in)
}

/// Drops words that are nearly everywhere, unless nothing else is left.
fn telling_words(index: &MemoryIndex, words: &[String]) -> Vec<String> {
    let n_memories = index.catalogue().len() as u64;
    if n_memories < COMMON_FLOOR {
        return words.to_vec();
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a count, far from any limit"
    )]
    let common = (n_memories as f64 * COMMON_SHARE) as u64;
    let frequencies = index.document_frequencies(words);
    let mut by_rarity: Vec<(u64, &String)> = frequencies.into_iter().zip(words).collect();
    by_rarity.sort_by_key(|(frequency, _)| *frequency);
    let telling: Vec<String> = by_rarity
        .iter()
        .filter(|(frequency, _)| (1..=common).contains(frequency))
        .map(|(_, word)| (*word).clone())
        .collect();
    if !telling.is_empty() {
        return telling;
    }
    // Only common words: the rarest of them still say the most.
    by_rarity.iter().take(4).map(|(_, word)| (*word).clone()).collect()
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
