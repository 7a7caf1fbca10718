//! Finds what might answer: the words lane and the meaning lane, each asked for its best, each
//! asked about the other's; then the scene around the most promising.

use std::collections::BTreeMap;
use std::time::Duration;

use iai_store::{
    Catalogue, DenseHit, LexicalQuery, Limits, LinkKind, Memory, MemoryId, MemoryNumber, Question,
    Reader, Scope, Tier, contains_phrase,
};

use super::RecallAsk;
use super::cue::{Cue, CueMode};
use super::rank::{self, Ranked};
use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};
use crate::meaning::Meaning;

/// The best of each lane that are looked at; more changed no answer on the development sets.
const LANE_MAX: usize = 64;
/// Of those, the most promising whose scenes are read.
const SCENES_MAX: usize = 64;
/// Turns before and after that make a scene.
const SCENE_REACH: usize = 8;
/// Sign codes estimated again, and vectors compared exactly.
const LIMITS: Limits = Limits { n_scan: 640, n_estimate: LANE_MAX };
/// Quoted words may stand together in any of these.
const PHRASE_CANDIDATES_MAX: usize = 200;

/// What speaks for a memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Evidence {
    /// BM25 of its words.
    pub(crate) bm25: f32,
    /// BM25 of the turns around it, read as one text; only for the most promising.
    pub(crate) scene: f32,
    /// How much of what the cue's words tell is in it, from 0 to 1; only for the most promising.
    pub(crate) coverage: f32,
    /// The cosine between it and the cue, where there is a model that knows it.
    pub(crate) cosine: Option<f32>,
    pub(crate) session: u32,
    pub(crate) turn_at_ms: i64,
    /// When another memory took its place.
    pub(crate) ended_at_ms: Option<i64>,
}

/// What all evidence is measured against.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scale {
    /// The best BM25 of all candidates.
    pub(crate) bm25_best: f32,
    /// The most any memory could score: what the cue's words tell in all.
    pub(crate) information: f32,
    /// Mean and deviation of the cosines of all memories, where there is a model.
    pub(crate) cosines: Option<(f32, f32)>,
}

/// What the lanes found, and how well it is what was asked for.
pub(crate) struct Found {
    pub(crate) evidence: BTreeMap<MemoryNumber, Evidence>,
    pub(crate) scale: Scale,
    /// The quoted wording is nowhere; these only share its words.
    pub(crate) is_second_best: bool,
    /// A model was there to compare meanings, or quoted words made it needless.
    pub(crate) has_model: bool,
    /// What embedding the cue took.
    pub(crate) embedding: Duration,
}

/// What the ranked memories replaced, and what replaced them.
#[derive(Default)]
pub(crate) struct Supersession {
    /// Outdated id → the memory that holds now.
    pub(crate) successor: BTreeMap<MemoryId, MemoryId>,
    /// Memories on either side that were no candidates themselves.
    pub(crate) others: BTreeMap<MemoryId, Memory>,
}

/// Asks both lanes.
pub(crate) fn find(
    engine: &MemoryEngine,
    reader: &Reader,
    cue: &Cue,
    ask: &RecallAsk,
) -> Result<Found> {
    let scope = scope_of(cue, ask);
    let phrased = with_phrase(engine, reader, cue, &scope)?;
    let is_second_best = !cue.phrases.is_empty() && phrased.is_empty();
    let query = LexicalQuery { words: cue.terms.clone(), phrases: Vec::new() };
    let vector = match phrased.as_slice() {
        // A model that fails leaves the words; its trouble is told by `status`.
        [] => match engine.embed_cue(&cue.text) {
            Err(MemoryError::Embed(_)) => None,
            embedded => embedded?,
        },
        _ => None,
    };
    let (evidence, scale) = engine.with_lanes(reader, vector.as_ref(), |meaning, index| {
        Lanes { question: index.ask(&query), catalogue: index.catalogue(), meaning, scope: &scope }
            .gather(phrased)
    })?;
    let has_model = scale.cosines.is_some() || !cue.phrases.is_empty() && !is_second_best;
    let embedding = vector.map_or(Duration::ZERO, |vector| vector.took);
    Ok(Found { evidence, scale, is_second_best, has_model, embedding })
}

fn scope_of(cue: &Cue, ask: &RecallAsk) -> Scope {
    Scope {
        tiers: match cue.mode {
            CueMode::Verbatim => vec![Tier::Episodic],
            CueMode::Concept => Vec::new(),
        },
        project: ask.project.clone(),
        ..Scope::default()
    }
}

/// Returns the memories in which quoted words stand together. The index finds those with all of
/// them; whether they are neighbours only the text tells.
fn with_phrase(
    engine: &MemoryEngine,
    reader: &Reader,
    cue: &Cue,
    scope: &Scope,
) -> Result<Vec<MemoryNumber>> {
    if cue.phrases.is_empty() {
        return Ok(Vec::new());
    }
    let query = LexicalQuery { words: Vec::new(), phrases: cue.phrases.clone() };
    let hits = engine.with_index(|index| index.search(&query, scope, PHRASE_CANDIDATES_MAX))?;
    let numbers: Vec<MemoryNumber> = hits.iter().map(|hit| hit.number).collect();
    let is_in = |text: &str| cue.phrases.iter().any(|phrase| contains_phrase(text, phrase));
    let memories = reader.numbered(&numbers)?.into_iter();
    let having = memories
        .filter(|(_, memory)| is_in(&memory.text) || memory.cue.as_deref().is_some_and(is_in));
    Ok(having.map(|(number, _)| number).collect())
}

/// Both lanes at one moment, and what they are asked.
struct Lanes<'a> {
    question: Question<'a>,
    catalogue: &'a Catalogue,
    /// `None` where there is no model, or quoted words make it needless.
    meaning: Option<&'a Meaning<'a>>,
    scope: &'a Scope,
}

impl Lanes<'_> {
    /// Gathers what speaks for the best of each lane, or for those that have the quoted words.
    fn gather(
        &self,
        phrased: Vec<MemoryNumber>,
    ) -> Result<(BTreeMap<MemoryNumber, Evidence>, Scale)> {
        let mut scale = Scale { information: self.question.information(), ..Scale::default() };
        let (mut numbers, mut near) = (phrased, Vec::new());
        if numbers.is_empty() {
            let hits = self.question.search(self.scope, LANE_MAX);
            numbers.extend(hits.iter().map(|hit| hit.number));
            if let Some(meaning) = self.meaning {
                let found = meaning.nearest(self.scope.admits(self.catalogue), LIMITS)?;
                numbers.extend(found.hits.iter().map(|hit| hit.number));
                near = found.hits;
                scale.cosines = Some((found.mean, found.deviation));
            }
        }
        let mut evidence = self.words_of(numbers);
        let scores = evidence.values().map(|evidence| evidence.bm25);
        scale.bm25_best = scores.fold(0.0, f32::max);
        self.add_cosines(&near, &mut evidence)?;
        keep_promising(&mut evidence, &scale);
        self.add_scenes(&mut evidence);
        Ok((evidence, scale))
    }

    /// Looks up words, session and time of each memory, without reading it.
    fn words_of(&self, mut numbers: Vec<MemoryNumber>) -> BTreeMap<MemoryNumber, Evidence> {
        numbers.sort_unstable();
        numbers.dedup();
        let scores = self.question.scores(&numbers);
        let known = numbers.iter().zip(scores).filter_map(|(number, bm25)| {
            let entry = self.catalogue.entry(*number)?;
            let evidence = Evidence {
                bm25,
                scene: 0.0,
                coverage: 0.0,
                cosine: None,
                session: entry.session,
                turn_at_ms: entry.turn_at_ms,
                ended_at_ms: self.catalogue.ended_at_ms(*number),
            };
            Some((*number, evidence))
        });
        known.collect()
    }

    /// Adds the cosines: those the meaning lane found, and those of what only the words found.
    fn add_cosines(
        &self,
        near: &[DenseHit],
        evidence: &mut BTreeMap<MemoryNumber, Evidence>,
    ) -> Result<()> {
        let Some(meaning) = self.meaning else { return Ok(()) };
        for hit in near {
            if let Some(evidence) = evidence.get_mut(&hit.number) {
                evidence.cosine = Some(hit.cosine);
            }
        }
        let without = evidence.iter().filter(|(_, evidence)| evidence.cosine.is_none());
        let numbers: Vec<MemoryNumber> = without.map(|(number, _)| *number).collect();
        for (number, cosine) in numbers.iter().zip(meaning.cosines(&numbers)?) {
            if let Some(evidence) = evidence.get_mut(number) {
                evidence.cosine = cosine;
            }
        }
        Ok(())
    }

    fn add_scenes(&self, evidence: &mut BTreeMap<MemoryNumber, Evidence>) {
        let numbers: Vec<MemoryNumber> = evidence.keys().copied().collect();
        let scenes = self.question.scene_scores(self.scope, &numbers, SCENE_REACH);
        let coverage = self.question.coverage(&numbers);
        for (evidence, (scene, coverage)) in evidence.values_mut().zip(scenes.iter().zip(coverage))
        {
            evidence.scene = *scene;
            evidence.coverage = coverage;
        }
    }
}

/// Leaves those whose scenes are worth reading.
fn keep_promising(evidence: &mut BTreeMap<MemoryNumber, Evidence>, scale: &Scale) {
    let mut promise: Vec<(f64, MemoryNumber)> =
        evidence.iter().map(|(number, own)| (rank::match_score(own, scale), *number)).collect();
    promise.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for (_, number) in promise.iter().skip(SCENES_MAX) {
        evidence.remove(number);
    }
}

/// Looks up the corrections around the ranked memories.
pub(crate) fn supersession(reader: &Reader, ranked: &[Ranked]) -> Result<Supersession> {
    let ids: Vec<MemoryId> = ranked.iter().map(|ranked| ranked.memory.id).collect();
    let mut found = Supersession::default();
    let mut wanted = Vec::new();
    let numbers: Vec<MemoryNumber> = ranked.iter().filter_map(|ranked| ranked.number).collect();
    for link in reader.links_of(&numbers)? {
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
