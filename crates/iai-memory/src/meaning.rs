//! The meaning lane: which model serves, which one is on its way, and the quiet work of giving
//! every memory its vectors.
//!
//! A memory is found by its words the moment it is stored; its vectors follow from a thread of low
//! priority. With no model there is no lane, and recall says so.

mod ahead;
mod filling;
mod passages;
mod yardstick;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use iai_embed::{Embedder, ModelIdentity};
use iai_store::{
    DenseFound, Limits, MemoryIndex, MemoryNumber, ModelState, NewModel, Part, Pooling, Reader,
    Scope, VectorIndex,
};
use serde::Serialize;

use self::ahead::{Ahead, Asked};
pub(crate) use self::yardstick::Yardstick;
use crate::bell::Bell;
use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};

/// The lanes and the thread that fills them.
#[derive(Default)]
pub(crate) struct MeaningRoom {
    lanes: RwLock<Lanes>,
    bell: Bell,
    /// The model with helper threads of its own: those that embed cues must not be kept busy.
    hands: Mutex<Option<Arc<dyn Embedder>>>,
    ahead: Ahead,
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
    yardstick: Yardstick,
    index: VectorIndex,
}

/// A cue as a model sees it.
pub(crate) struct CueVector {
    embedder: Arc<dyn Embedder>,
    vector: Vec<f32>,
    /// What embedding it took.
    pub(crate) took: Duration,
}

/// A cue beside all vectors of its model.
pub(crate) struct Meaning<'a> {
    compared: Compared<'a>,
    reader: &'a Reader,
}

/// The same for a thread that has a connection of its own.
#[derive(Clone, Copy)]
pub(crate) struct Compared<'a> {
    cue: &'a [f32],
    lane: &'a Lane,
}

/// What is nearest to a memory.
pub(crate) struct Neighbourhood {
    /// Other memories, best first, with their cosines.
    pub(crate) others: Vec<(MemoryNumber, f32)>,
    /// The mean of the cosines of all memories.
    pub(crate) mean: f32,
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
        let yardstick = Yardstick::of(embedder.as_ref())?;
        let known = self.read(|reader| Ok(reader.models()?))?;
        let is_other_serving =
            |known: &iai_store::Model| known.state == ModelState::Serving && known.facts != facts;
        let is_first = !known.iter().any(is_other_serving);
        let state = if is_first { ModelState::Serving } else { ModelState::Filling };
        let as_before = known.iter().find(|known| known.facts == facts && known.state == state);
        let number = match as_before {
            // At a start there is nothing to note, and so no sync of the disk to wait for.
            Some(known) => known.number,
            None => self.write(|writing| {
                let number = writing.put_model(&facts)?;
                writing.set_model_state(number, state)?;
                Ok(number)
            })?,
        };
        let index = self.read(|reader| Ok(VectorIndex::load(reader, number)?))?;
        let lane = Some(Lane { embedder, yardstick, index });
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

    /// Tells the lane that memories came in.
    pub(crate) fn wake_meaning(&self) {
        self.meaning.bell.ring();
    }

    /// Embeds the cue; `None` without a model.
    pub(crate) fn embed_cue(&self, cue: &str) -> Result<Option<CueVector>> {
        let (embedder, model) = match &self.meaning.read().serving {
            Some(lane) => (Arc::clone(&lane.embedder), lane.index.model().number),
            None => return Ok(None),
        };
        if self.meaning.ahead.ask(model) == Asked::First {
            self.meaning.bell.ring();
        }
        let begun = Instant::now();
        let vector = embedder.embed(&[cue])?.pop().unwrap_or_default();
        Ok(Some(CueVector { embedder, vector, took: begun.elapsed() }))
    }

    /// Finds what is nearest to a memory itself, and the mean of the cosines of all; `None` when it
    /// has no vectors of the serving model.
    pub(crate) fn nearest_to(
        &self,
        number: MemoryNumber,
        ask: &NearestAsk<'_>,
    ) -> Result<Option<Neighbourhood>> {
        ask.reader.widen_cache()?;
        let lanes = self.meaning.read();
        let Some(lane) = lanes.serving.as_ref().filter(|lane| lane.index.has(number)) else {
            return Ok(None);
        };
        let parts = ask.reader.vector_parts(lane.index.model().number, number)?;
        let Some(vector) = mean_of(&parts) else { return Ok(None) };
        let found = self.with_index(|index| {
            let admits = ask.scope.admits(index.catalogue());
            lane.index.search(ask.reader, &vector, admits, ask.limits)
        })??;
        let others = found.hits.iter().filter(|hit| hit.number != number);
        let others = others.map(|hit| (hit.number, hit.cosine)).collect();
        Ok(Some(Neighbourhood { others, mean: found.mean }))
    }

    /// Takes memories that were forgotten out of the lanes.
    pub(crate) fn forget_vectors(&self, numbers: &[MemoryNumber]) {
        let mut lanes = self.meaning.write();
        for lane in lanes.both() {
            numbers.iter().for_each(|number| lane.index.remove(*number));
        }
    }

    /// Asks `work` with the lane that knows the cue, and with the index, both as they are now;
    /// `None` without such a lane. Whoever needs both takes them in this order.
    pub(crate) fn with_lanes<T>(
        &self,
        reader: &Reader,
        cue: Option<&CueVector>,
        work: impl FnOnce(Option<&Meaning<'_>>, &MemoryIndex) -> Result<T>,
    ) -> Result<T> {
        if cue.is_some() {
            reader.widen_cache()?;
        }
        let lanes = self.meaning.read();
        // A model that began to serve in this moment has other vectors than this cue's.
        let meaning = lanes.serving.as_ref().zip(cue).filter(|(lane, cue)| lane.is_of(cue));
        let meaning = meaning
            .map(|(lane, cue)| Meaning { compared: Compared { cue: &cue.vector, lane }, reader });
        self.with_index(|index| work(meaning.as_ref(), index))?
    }
}

impl MemoryEngine {
    /// Returns the SHA-256 of the model that answers cues, if there is one.
    pub(crate) fn serving_model(&self) -> Option<String> {
        self.meaning.read().serving.as_ref().map(|lane| lane.embedder.identity().sha256.clone())
    }

    /// Tells whether the serving model knows a memory.
    pub(crate) fn has_vectors(&self, number: MemoryNumber) -> bool {
        self.meaning.read().serving.as_ref().is_some_and(|lane| lane.index.has(number))
    }

    /// Returns the byte at which a part of a memory begins that the serving model knows.
    pub(crate) fn start_of_part(
        &self,
        reader: &Reader,
        number: MemoryNumber,
        part: u16,
    ) -> Result<Option<usize>> {
        let lanes = self.meaning.read();
        let Some(lane) = lanes.serving.as_ref() else { return Ok(None) };
        let start = reader.start_of_part(lane.index.model().number, number, part)?;
        Ok(start.and_then(|byte| usize::try_from(byte).ok()))
    }

    /// Returns a handle to the model that serves, with helper threads of its own: for quiet work,
    /// so that no cue waits behind it.
    pub(crate) fn quiet_embedder(&self) -> Option<Arc<dyn Embedder>> {
        self.meaning.read().serving.as_ref().map(|lane| lane.embedder.twin())
    }

    /// Returns how near memories are to a vector of this model, by its yardstick; nothing of those
    /// that have no vector, and of none when another model serves by now.
    pub(crate) fn nearness_to(
        &self,
        reader: &Reader,
        (embedder, vector): (&dyn Embedder, &[f32]),
        numbers: &[MemoryNumber],
    ) -> Result<Vec<Option<f32>>> {
        let lanes = self.meaning.read();
        let is_of_it = |lane: &&Lane| lane.embedder.identity() == embedder.identity();
        let Some(lane) = lanes.serving.as_ref().filter(is_of_it) else {
            return Ok(vec![None; numbers.len()]);
        };
        let cosines = lane.index.cosines(reader, vector, numbers)?.into_iter();
        Ok(cosines.map(|cosine| Some(lane.yardstick.nearness(cosine?))).collect())
    }

    /// Returns how near these memories are to the nearest of the first parts of another, where both
    /// have vectors.
    pub(crate) fn nearness_of_parts(
        &self,
        reader: &Reader,
        number: MemoryNumber,
        n_parts_max: usize,
        others: &[MemoryNumber],
    ) -> Result<Vec<(MemoryNumber, f32)>> {
        let lanes = self.meaning.read();
        let Some(lane) = &lanes.serving else { return Ok(Vec::new()) };
        let mut near = Vec::new();
        let parts = reader.vector_parts(lane.index.model().number, number)?;
        for part in parts.iter().take(n_parts_max) {
            let cosines = lane.index.cosines(reader, &part.vector, others)?;
            let known = others.iter().zip(cosines);
            let nearness = |cosine: f32| lane.yardstick.nearness(cosine);
            near.extend(known.filter_map(|(other, cosine)| Some((*other, nearness(cosine?)))));
        }
        Ok(near)
    }

    /// Returns what is near each of the first parts of a memory, itself left out, and how near.
    pub(crate) fn near_parts(
        &self,
        reader: &Reader,
        number: MemoryNumber,
        n_parts_max: usize,
        limits: iai_store::Limits,
    ) -> Result<Vec<(MemoryNumber, f32)>> {
        let lanes = self.meaning.read();
        let Some(lane) = &lanes.serving else { return Ok(Vec::new()) };
        let mut near = Vec::new();
        let parts = reader.vector_parts(lane.index.model().number, number)?;
        for part in parts.iter().take(n_parts_max) {
            let found = lane.index.search(reader, &part.vector, |other| other != number, limits)?;
            let nearness = |cosine: f32| lane.yardstick.nearness(cosine);
            near.extend(found.hits.iter().map(|hit| (hit.number, nearness(hit.cosine))));
        }
        Ok(near)
    }
}

/// How [`MemoryEngine::nearest`] looks.
pub(crate) struct NearestAsk<'a> {
    pub(crate) reader: &'a Reader,
    pub(crate) scope: &'a Scope,
    pub(crate) limits: iai_store::Limits,
}

impl Meaning<'_> {
    /// Returns the memories nearest to the cue, and how near all are.
    pub(crate) fn nearest(
        &self,
        admits: impl Fn(MemoryNumber) -> bool + Sync,
        limits: Limits,
    ) -> Result<DenseFound> {
        let Compared { cue, lane } = self.compared;
        Ok(lane.index.search(self.reader, cue, admits, limits)?)
    }

    /// Returns how many dimensions the cue has.
    pub(crate) fn n_dimensions(&self) -> usize {
        self.compared.cue.len()
    }

    /// Returns what the cosines of this model are measured with.
    pub(crate) fn yardstick(&self) -> Yardstick {
        self.compared.lane.yardstick
    }

    /// Returns the cosines of memories that another lane found.
    pub(crate) fn cosines(&self, numbers: &[MemoryNumber]) -> Result<Vec<Option<f32>>> {
        self.compared.cosines(self.reader, numbers)
    }

    /// Returns what another thread can compare with.
    pub(crate) fn compared(&self) -> Compared<'_> {
        self.compared
    }
}

impl Compared<'_> {
    /// Returns the cosines of these memories, as this connection sees them.
    pub(crate) fn cosines(
        &self,
        reader: &Reader,
        numbers: &[MemoryNumber],
    ) -> Result<Vec<Option<f32>>> {
        Ok(self.lane.index.cosines(reader, self.cue, numbers)?)
    }
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

    fn is_of(&self, cue: &CueVector) -> bool {
        self.embedder.identity() == cue.embedder.identity()
    }
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

/// The direction in which the parts of a memory point together.
fn mean_of(parts: &[Part]) -> Option<Vec<f32>> {
    let mut sum = parts.first()?.vector.clone();
    for part in parts.iter().skip(1) {
        sum.iter_mut().zip(&part.vector).for_each(|(sum, value)| *sum += value);
    }
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    sum.iter_mut().for_each(|value| *value /= length);
    sum.iter().all(|value| value.is_finite()).then_some(sum)
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
