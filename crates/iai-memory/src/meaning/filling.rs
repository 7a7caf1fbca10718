//! The quiet work of the lane: gives memories their vectors step by step, lets the next model serve
//! when it knows everything, and drops what a retired one left.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use iai_embed::{Embedder, check_vectors};
use iai_store::{Memory, MemoryNumber, ModelNumber, ModelState, Part, StoreError};

use super::passages::{Passage, is_short, passages_of};
use crate::bell::Call;
use crate::engine::MemoryEngine;
use crate::error::Result;

/// Memories embedded in one step; a step ends in one transaction, and a sync of the disk.
const MEMORIES_PER_STEP: usize = 64;
/// Passages computed together: enough that no core waits long for the last of them, few enough to
/// stop soon.
const PASSAGES_PER_BATCH: usize = 64;
/// So many different texts with the same vector are the model's fault.
const COLLAPSE_TEXTS_MIN: usize = 8;
/// Vectors of a retired model dropped in one transaction.
const DROPPED_PER_STEP: usize = 2000;
/// A load of turns goes first: the work begins when nothing came in for so long …
const QUIET: Duration = Duration::from_millis(250);
/// … or after so many waits, should the turns never cease.
const QUIET_WAITS_MAX: u32 = 40;

/// What is embedded next, and by which model.
struct Step {
    embedder: Arc<dyn Embedder>,
    model: ModelNumber,
    numbers: Vec<MemoryNumber>,
}

/// Memories with the vectors of their parts.
pub(crate) type Embedded = Vec<(MemoryNumber, Vec<Part>)>;

impl MemoryEngine {
    /// Gives memories their vectors as they come in, until [`Self::stop_embedding`]. The caller is
    /// a thread of low priority: its helpers inherit that.
    pub fn embed_until_stopped(&self) -> Result<()> {
        let bell = &self.meaning.bell;
        while bell.wait() == Call::Work {
            if bell.wait_for_quiet(QUIET, QUIET_WAITS_MAX) == Call::Leave {
                break;
            }
            while !bell.is_over() && self.embed_step()? {}
            while !bell.is_over() && self.fetch_ahead_step()? {}
            // Its threads and buffers go too.
            drop(self.meaning.hands().take());
        }
        Ok(())
    }

    /// Lets [`Self::embed_until_stopped`] begin without waiting for quiet: somebody waits for it.
    pub fn hurry_embedding(&self) {
        self.meaning.bell.hurry();
    }

    /// Ends [`Self::embed_until_stopped`], now or before it begins.
    pub fn stop_embedding(&self) {
        self.meaning.bell.end();
    }

    /// Embeds a few memories, or lets the next model serve, or drops some vectors of a retired one;
    /// false when nothing of that is to be done.
    pub fn embed_step(&self) -> Result<bool> {
        self.embed_up_to(MEMORIES_PER_STEP)
    }

    /// Does the same for up to so many memories at once: faster, where nobody waits beside it.
    pub fn embed_up_to(&self, n_memories: usize) -> Result<bool> {
        let Some(Step { embedder, model, numbers }) = self.next_step(n_memories)? else {
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
        self.learn_vectors(model, &kept)?;
        Ok(!kept.is_empty())
    }

    /// Lets cues be compared with vectors that are stored now.
    pub(crate) fn learn_vectors(
        &self,
        model: ModelNumber,
        kept: &[(MemoryNumber, Vec<Part>)],
    ) -> Result<()> {
        let mut lanes = self.meaning.write();
        for lane in lanes.both().filter(|lane| lane.index.model().number == model) {
            for (number, parts) in kept {
                lane.index.add(*number, parts)?;
            }
        }
        Ok(())
    }

    /// Returns the newest memories without vectors: of the serving model, or else of the next.
    fn next_step(&self, n_memories: usize) -> Result<Option<Step>> {
        let lanes = self.meaning.read();
        for lane in [&lanes.serving, &lanes.filling].into_iter().flatten() {
            let numbers: Vec<MemoryNumber> = self.with_index(|index| {
                let catalogue = index.catalogue();
                let newest = catalogue.newest_first().next();
                let missing = newest.into_iter().flat_map(|n| lane.index.missing_up_to(n));
                let memories = missing.filter(|number| catalogue.entry(*number).is_some());
                memories.take(n_memories).collect()
            })?;
            if !numbers.is_empty() {
                let (embedder, model) = (Arc::clone(&lane.embedder), lane.index.model().number);
                return Ok(Some(Step { embedder, model, numbers }));
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
    ) -> Result<Option<Embedded>> {
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

    /// Returns the serving model and a spread of memories it has vectors of. Short ones are left
    /// out: their passages depend on the turn that stood before them at the time.
    pub(crate) fn embedded_sample(
        &self,
        n_wanted: u32,
    ) -> Result<Option<(ModelNumber, Vec<MemoryNumber>)>> {
        let lanes = self.meaning.read();
        let Some(lane) = &lanes.serving else { return Ok(None) };
        let numbers: Vec<MemoryNumber> = self.with_index(|index| {
            let catalogue = index.catalogue();
            let newest = catalogue.newest_first().next().map_or(0, MemoryNumber::get);
            let step = newest / n_wanted.saturating_mul(4).max(1) + 1;
            let spread = (1..=newest).step_by(usize::try_from(step).unwrap_or(1));
            spread.map(MemoryNumber::new).filter(|number| lane.index.has(*number)).collect()
        })?;
        let model = lane.index.model().number;
        let memories = self.read(|reader| Ok(reader.numbered(&numbers)?))?;
        let long = memories.into_iter().filter(|(_, memory)| !is_short(&memory.text));
        let n_wanted = usize::try_from(n_wanted).unwrap_or(usize::MAX);
        Ok(Some((model, long.take(n_wanted).map(|(number, _)| number).collect())))
    }

    /// Makes the vectors of memories again and keeps none of them.
    pub(crate) fn embed_again(&self, numbers: &[MemoryNumber]) -> Result<Embedded> {
        let embedder = match &self.meaning.read().serving {
            Some(lane) => Arc::clone(&lane.embedder),
            None => return Ok(Vec::new()),
        };
        let passages = self.passages(embedder.as_ref(), numbers)?;
        Ok(self.embedded(embedder.as_ref(), &passages)?.unwrap_or_default())
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
