//! The meaning lane: which model serves, which one is on its way, and the quiet work of giving
//! every memory its vectors.
//!
//! A memory is found by its words the moment it is stored; its vectors follow from a thread of low
//! priority. With no model there is no lane, and recall says so.

mod passages;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use iai_embed::{Embedder, ModelIdentity, check_vectors};
use iai_store::{
    Memory, MemoryNumber, ModelNumber, ModelState, NewModel, Part, Pooling, Reader, Scope,
    StoreError, VectorIndex,
};
use serde::Serialize;

use crate::bell::{Bell, Call};
use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};
use passages::{Passage, passages_of};

/// Memories embedded in one step; a step ends in one transaction.
const MEMORIES_PER_STEP: usize = 32;
/// Passages computed together: enough for every core, few enough to stop soon.
const PASSAGES_PER_BATCH: usize = 32;
/// So many different texts with the same vector are the model's fault.
const COLLAPSE_TEXTS_MIN: usize = 8;
/// Vectors of a retired model dropped in one transaction.
const DROPPED_PER_STEP: usize = 2000;
/// A load of turns goes first: the work begins when nothing came in for so long …
const QUIET: Duration = Duration::from_millis(250);
/// … or after so many waits, should the turns never cease.
const QUIET_WAITS_MAX: u32 = 40;

/// The lanes and the thread that fills them.
#[derive(Default)]
pub(crate) struct MeaningRoom {
    lanes: RwLock<Lanes>,
    bell: Bell,
    /// The model with helper threads of its own: those that embed cues must not be kept busy.
    hands: Mutex<Option<Arc<dyn Embedder>>>,
}

#[derive(Default)]
struct Lanes {
    /// What answers cues, complete or not.
    serving: Option<Lane>,
    /// What will take its place when every memory has its vectors.
    filling: Option<Lane>,
}

/// A model at work, and the vectors it has made.
struct Lane {
    embedder: Arc<dyn Embedder>,
    index: VectorIndex,
}

/// What a cue is compared with.
pub(crate) struct Nearest {
    /// The cue as the serving model sees it.
    pub(crate) cue: Vec<f32>,
    /// The nearest memories, best first, with their cosines.
    pub(crate) hits: Vec<(MemoryNumber, f32)>,
    /// Mean and deviation of the cosines of all memories.
    pub(crate) mean: f32,
    pub(crate) deviation: f32,
    /// What embedding the cue took.
    pub(crate) embedding: Duration,
}

/// A model the store has vectors of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelKept {
    /// Its name.
    pub name: String,
    /// The SHA-256 of its file's content, in hexadecimal.
    pub sha256: String,
    /// Whether it answers cues now; else it is being filled.
    pub is_serving: bool,
}

/// How far the meaning lane is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct MeaningStatus {
    /// The model that answers cues.
    pub model: Option<String>,
    /// Memories it has no vectors of yet.
    pub pending: u64,
    /// The model that will replace it.
    pub next_model: Option<String>,
    /// Memories that one has no vectors of yet.
    pub next_pending: u64,
}

impl MemoryEngine {
    /// Returns the models the store counts on: the daemon opens their files and attaches them.
    pub fn models_kept(&self) -> Result<Vec<ModelKept>> {
        let models = self.read(|reader| Ok(reader.models()?))?;
        let kept = models.into_iter().filter(|model| model.state != ModelState::Retired);
        Ok(kept
            .map(|model| ModelKept {
                name: model.facts.name.clone(),
                sha256: hex(&model.facts.sha256),
                is_serving: model.state == ModelState::Serving,
            })
            .collect())
    }

    /// Lets a model work. The first one of a store serves at once; another one takes over when it
    /// knows every memory, and until then the old one answers.
    pub fn attach_model(&self, embedder: Arc<dyn Embedder>) -> Result<()> {
        let facts = facts_of(embedder.identity())?;
        check_alive(embedder.as_ref())?;
        let is_first = self.read(|reader| {
            let models = reader.models()?;
            Ok(models
                .iter()
                .all(|known| known.state != ModelState::Serving || known.facts == facts))
        })?;
        let number = self.write(|writing| {
            let number = writing.put_model(&facts)?;
            let state = if is_first { ModelState::Serving } else { ModelState::Filling };
            writing.set_model_state(number, state)?;
            Ok(number)
        })?;
        let index = self.read(|reader| Ok(VectorIndex::load(reader, number)?))?;
        let lane = Some(Lane { embedder, index });
        let mut lanes = self.meaning.write();
        if is_first {
            lanes.serving = lane;
        } else {
            lanes.filling = lane;
        }
        drop(lanes);
        self.meaning.bell.ring();
        Ok(())
    }

    /// Says how far the lane is: cheap, and without waiting for anything to be loaded.
    pub fn meaning_status(&self) -> MeaningStatus {
        let n_memories = self.n_indexed().unwrap_or(0);
        let lanes = self.meaning.read();
        let name = |lane: &Option<Lane>| lane.as_ref().map(|lane| lane.name().to_owned());
        let pending = |lane: &Option<Lane>| {
            let n_known = lane.as_ref().map_or(n_memories, |lane| lane.index.n_memories());
            n_memories.saturating_sub(n_known) as u64
        };
        MeaningStatus {
            model: name(&lanes.serving),
            pending: pending(&lanes.serving),
            next_model: name(&lanes.filling),
            next_pending: pending(&lanes.filling),
        }
    }

    /// Gives memories their vectors as they come in, until [`Self::stop_embedding`]. The caller is
    /// a thread of low priority: its helpers inherit that.
    pub fn embed_until_stopped(&self) -> Result<()> {
        let bell = &self.meaning.bell;
        while bell.wait() == Call::Work {
            if bell.wait_for_quiet(QUIET, QUIET_WAITS_MAX) == Call::Leave {
                break;
            }
            while !bell.is_over() && self.embed_step()? {}
            // Its threads and buffers go too.
            drop(self.meaning.hands().take());
        }
        Ok(())
    }

    /// Ends [`Self::embed_until_stopped`], now or before it begins.
    pub fn stop_embedding(&self) {
        self.meaning.bell.end();
    }

    /// Tells the lane that memories came in.
    pub(crate) fn wake_meaning(&self) {
        self.meaning.bell.ring();
    }

    /// Embeds the cue and finds what is nearest; `None` without a model.
    pub(crate) fn nearest(&self, cue: &str, ask: &NearestAsk<'_>) -> Result<Option<Nearest>> {
        let embedder = match &self.meaning.read().serving {
            Some(lane) => Arc::clone(&lane.embedder),
            None => return Ok(None),
        };
        let begun = Instant::now();
        let cue = embedder.embed(&[cue])?.pop().unwrap_or_default();
        let embedding = begun.elapsed();
        let lanes = self.meaning.read();
        // A model that began to serve in this moment has other vectors than this cue's.
        let Some(lane) = lanes.serving.as_ref().filter(|lane| lane.is_of(&embedder)) else {
            return Ok(None);
        };
        let found = self.with_index(|index| {
            let admits = ask.scope.admits(index.catalogue());
            lane.index.search(ask.reader, &cue, admits, ask.limits)
        })??;
        let hits = found.hits.iter().map(|hit| (hit.number, hit.cosine)).collect();
        let (mean, deviation) = (found.mean, found.deviation);
        Ok(Some(Nearest { cue, hits, mean, deviation, embedding }))
    }

    /// Returns the cosines of memories that another lane found.
    pub(crate) fn cosines(
        &self,
        reader: &Reader,
        cue: &[f32],
        numbers: &[MemoryNumber],
    ) -> Result<Vec<Option<f32>>> {
        match &self.meaning.read().serving {
            Some(lane) if lane.embedder.identity().dimension == cue.len() => {
                Ok(lane.index.cosines(reader, cue, numbers)?)
            }
            _ => Ok(vec![None; numbers.len()]),
        }
    }

    /// Embeds a few memories, or lets the next model serve, or drops some vectors of a retired one;
    /// false when nothing of that is to be done.
    pub fn embed_step(&self) -> Result<bool> {
        let Some((embedder, model, numbers)) = self.next_step()? else {
            return Ok(self.finish_filling()? || self.drop_retired()?);
        };
        let hands = self.meaning.hands_for(&embedder);
        let passages = self.passages(hands.as_ref(), &numbers)?;
        let Some(embedded) = self.embedded(hands.as_ref(), &passages)? else { return Ok(false) };
        let kept = self.write(|writing| {
            let mut kept = Vec::new();
            for (number, parts) in embedded {
                match writing.put_vectors(model, number, &parts) {
                    Ok(()) => kept.push((number, parts)),
                    // Forgotten while it was embedded.
                    Err(StoreError::Refused { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(kept)
        })?;
        let mut lanes = self.meaning.write();
        let n_kept = kept.len();
        for lane in lanes.both().filter(|lane| lane.index.model().number == model) {
            for (number, parts) in &kept {
                lane.index.add(*number, parts)?;
            }
        }
        Ok(n_kept > 0)
    }

    /// Returns the newest memories without vectors: of the serving model, or else of the next.
    fn next_step(&self) -> Result<Option<(Arc<dyn Embedder>, ModelNumber, Vec<MemoryNumber>)>> {
        let lanes = self.meaning.read();
        for lane in [&lanes.serving, &lanes.filling].into_iter().flatten() {
            let numbers: Vec<MemoryNumber> = self.with_index(|index| {
                let missing = index.catalogue().newest_first().filter(|n| !lane.index.has(*n));
                missing.take(MEMORIES_PER_STEP).collect()
            })?;
            if !numbers.is_empty() {
                let number = lane.index.model().number;
                return Ok(Some((Arc::clone(&lane.embedder), number, numbers)));
            }
        }
        Ok(None)
    }

    /// Reads memories and cuts them into passages.
    fn passages(
        &self,
        embedder: &dyn Embedder,
        numbers: &[MemoryNumber],
    ) -> Result<Vec<(MemoryNumber, Vec<Passage>)>> {
        let before: Vec<(MemoryNumber, Option<MemoryNumber>)> = self.with_index(|index| {
            numbers.iter().map(|number| (*number, index.catalogue().previous(*number))).collect()
        })?;
        let wanted: Vec<MemoryNumber> =
            before.iter().flat_map(|(number, before)| [Some(*number), *before]).flatten().collect();
        let memories: BTreeMap<MemoryNumber, Memory> =
            self.read(|reader| Ok(reader.numbered(&wanted)?))?.into_iter().collect();
        let cut = |(number, before): &(MemoryNumber, Option<MemoryNumber>)| {
            let memory = memories.get(number)?;
            let before = before.and_then(|before| memories.get(&before));
            Some((*number, passages_of(embedder, memory, before)))
        };
        Ok(before.iter().filter_map(cut).collect())
    }

    /// Embeds the passages of several memories together; `None` when the bell said to leave.
    fn embedded(
        &self,
        embedder: &dyn Embedder,
        memories: &[(MemoryNumber, Vec<Passage>)],
    ) -> Result<Option<Vec<(MemoryNumber, Vec<Part>)>>> {
        let texts: Vec<&str> =
            memories.iter().flat_map(|(_, passages)| passages).map(|p| p.text.as_str()).collect();
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(PASSAGES_PER_BATCH) {
            if self.meaning.bell.is_over() {
                return Ok(None);
            }
            vectors.extend(embedder.embed(batch)?);
        }
        check_sound(&texts, &vectors)?;
        let mut vectors = vectors.into_iter();
        let mut part = |passage: &Passage| {
            let place = |byte: usize| u32::try_from(byte).unwrap_or(u32::MAX);
            let (start, end) = (place(passage.range.start), place(passage.range.end));
            vectors.next().map(|vector| Part { start, end, vector })
        };
        let parts = memories
            .iter()
            .map(|(number, passages)| (*number, passages.iter().filter_map(&mut part).collect()));
        Ok(Some(parts.collect()))
    }

    /// Lets the next model serve once it knows every memory.
    fn finish_filling(&self) -> Result<bool> {
        let mut lanes = self.meaning.write();
        let Some(lane) = lanes.filling.take() else { return Ok(false) };
        let number = lane.index.model().number;
        self.write(|writing| Ok(writing.set_model_state(number, ModelState::Serving)?))?;
        lanes.serving = Some(lane);
        Ok(true)
    }

    fn drop_retired(&self) -> Result<bool> {
        let models = self.read(|reader| Ok(reader.models()?))?;
        let retired = models.into_iter().filter(|model| model.state == ModelState::Retired);
        for model in retired {
            let n = self.write(|w| Ok(w.drop_vectors(model.number, DROPPED_PER_STEP)?))?;
            if n > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// How [`MemoryEngine::nearest`] looks.
pub(crate) struct NearestAsk<'a> {
    pub(crate) reader: &'a Reader,
    pub(crate) scope: &'a Scope,
    pub(crate) limits: iai_store::Limits,
}

impl MeaningRoom {
    fn hands(&self) -> MutexGuard<'_, Option<Arc<dyn Embedder>>> {
        self.hands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hands_for(&self, embedder: &Arc<dyn Embedder>) -> Arc<dyn Embedder> {
        let mut hands = self.hands();
        match &*hands {
            Some(hands) if hands.identity() == embedder.identity() => Arc::clone(hands),
            _ => Arc::clone(hands.insert(embedder.twin())),
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Lanes> {
        self.lanes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Lanes> {
        self.lanes.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lanes {
    fn both(&mut self) -> impl Iterator<Item = &mut Lane> {
        self.serving.iter_mut().chain(self.filling.iter_mut())
    }
}

impl Lane {
    fn name(&self) -> &str {
        &self.embedder.identity().name
    }

    fn is_of(&self, embedder: &Arc<dyn Embedder>) -> bool {
        self.embedder.identity() == embedder.identity()
    }
}

/// Refuses a model that says the same of everything, before anything of it is stored.
fn check_alive(embedder: &dyn Embedder) -> Result<()> {
    let texts = ["the retry policy of the billing service", "ein Brot mit Käse", "x = y + 1"];
    Ok(check_vectors(&embedder.embed(&texts)?)?)
}

/// Refuses what is no vector, and vectors that are all alike although their texts are not. A few
/// short texts may well be alike ("Done." and "done"); many are not.
fn check_sound(texts: &[&str], vectors: &[Vec<f32>]) -> Result<()> {
    let mut seen = BTreeSet::new();
    let mut distinct = Vec::new();
    for (text, vector) in texts.iter().zip(vectors) {
        check_vectors(std::slice::from_ref(vector))?;
        if seen.insert(text.to_lowercase()) {
            distinct.push(vector.clone());
        }
    }
    if distinct.len() < COLLAPSE_TEXTS_MIN {
        return Ok(());
    }
    Ok(check_vectors(&distinct)?)
}

fn facts_of(identity: &ModelIdentity) -> Result<NewModel> {
    let wrong = |why: &str| MemoryError::bad("model", why.to_owned());
    Ok(NewModel {
        name: identity.name.clone(),
        sha256: unhex(&identity.sha256).ok_or_else(|| wrong("has no SHA-256"))?,
        pooling: match identity.pooling {
            iai_embed::Pooling::Mean => Pooling::Mean,
            iai_embed::Pooling::Cls => Pooling::Cls,
        },
        prefix: identity.prefix.clone(),
        dimension: u16::try_from(identity.dimension).map_err(|_| wrong("is too wide"))?,
        n_tokens_max: u32::try_from(identity.n_tokens_max).map_err(|_| wrong("is too long"))?,
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(place * 2..place * 2 + 2)?, 16).ok()?;
    }
    Some(bytes)
}
