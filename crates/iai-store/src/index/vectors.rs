//! The vector index: finds the memories whose vectors are nearest to a cue's.
//!
//! Sign codes are in memory and all of them are scanned; the best are estimated again with the
//! whole cue, and the best of those compared exactly with their vectors in the store. There is
//! nothing to build and nothing to tune; forgetting takes a code out.

pub(crate) mod check;
mod codes;
mod estimate;
mod kept;
pub(crate) mod place;
mod quantized;
pub(crate) mod rows;
mod scan;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::error::{Result, StoreError};
use crate::reader::Reader;
use crate::record::{MemoryNumber, Model, ModelNumber, Part};
use codes::Codes;
use estimate::Estimator;
use kept::{Follows, Kept};
use place::Place;
use quantized::{Cue, check_unit, quantize};
use rows::Vectors;

/// Of a memory of many parts, at most this many are compared exactly in one search.
const PARTS_COMPARED_MAX: usize = 4;
const NUMBERS_PER_WORD: u32 = u64::BITS;
/// Memories read ahead at once: a fraction of a millisecond, for which a writer may have to wait.
const AHEAD_MEMORIES: u32 = 256;

/// How much of the index a search looks at closely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many vectors are estimated again after the scan of all.
    pub n_scan: usize,
    /// How many memories are compared exactly after that.
    pub n_estimate: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { n_scan: 2000, n_estimate: 200 }
    }
}

/// A memory near a cue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DenseHit {
    /// The memory.
    pub number: MemoryNumber,
    /// The part of it that is nearest.
    pub part: u16,
    /// The cosine of the angle between that part and the cue.
    pub cosine: f32,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseFound {
    /// The nearest memories, best first, then by number.
    pub hits: Vec<DenseHit>,
    /// The mean of the cosines of all accepted vectors, as their signs give them.
    pub mean: f32,
    /// The standard deviation of those cosines.
    pub deviation: f32,
}

/// The codes of one model's vectors, in memory.
pub struct VectorIndex {
    model: Model,
    codes: Codes,
    /// One bit per memory number: set when the memory has codes.
    present: Vec<u64>,
    kept: Kept,
}

impl VectorIndex {
    /// Loads the codes of a model.
    pub fn load(reader: &Reader, model: ModelNumber) -> Result<Self> {
        let model = reader.model(model)?;
        let codes = reader.run("loading the vector index", |c| rows::load(c, &model))?;
        let kept = Kept::new(model.facts.dimension);
        let mut index = Self { present: Vec::new(), codes: Codes::new(0), model, kept };
        for memory in &codes.memories {
            index.mark(*memory);
        }
        index.codes = codes;
        Ok(index)
    }

    /// Returns the model whose vectors these are; cues must come from it too.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns how many vectors there are; a memory has one for each of its parts.
    pub fn n_vectors(&self) -> usize {
        self.codes.len()
    }

    /// Returns how many memories have vectors.
    pub fn n_memories(&self) -> usize {
        self.present.iter().map(|bits| bits.count_ones() as usize).sum()
    }

    /// Returns whether a memory has vectors.
    pub fn has(&self, number: MemoryNumber) -> bool {
        let (word, bit) = bit_of(number);
        self.present.get(word).is_some_and(|bits| bits & bit != 0)
    }

    /// Returns the numbers up to `newest` that have no vectors, the highest first, whether or not
    /// they are memories. Sixty-four that have theirs cost one look.
    pub fn missing_up_to(&self, newest: MemoryNumber) -> impl Iterator<Item = MemoryNumber> + '_ {
        let words = (0..=newest.get() / NUMBERS_PER_WORD).rev();
        let missing = words.flat_map(move |word| {
            let present = self.present.get(word as usize).copied().unwrap_or(0);
            let first = word.saturating_mul(NUMBERS_PER_WORD);
            let bits = (0..NUMBERS_PER_WORD).rev().filter(move |bit| present >> bit & 1 == 0);
            let n_bits = if present == u64::MAX { 0 } else { usize::MAX };
            bits.take(n_bits).map(move |bit| first.saturating_add(bit))
        });
        missing.filter(move |number| *number <= newest.get()).map(MemoryNumber::new)
    }

    /// Adds the vectors of a memory in place of those it had; they are in the store already.
    pub fn add(&mut self, number: MemoryNumber, parts: &[Part]) -> Result<()> {
        check_parts(&self.model, parts)?;
        self.remove(number);
        for (part, index) in parts.iter().zip(0..) {
            self.codes.push(number, index, &quantize(&part.vector));
        }
        self.mark(number);
        Ok(())
    }

    /// Takes a memory out.
    pub fn remove(&mut self, number: MemoryNumber) {
        if self.has(number) {
            self.codes.remove(number);
            self.kept.remove(number);
            let (word, bit) = bit_of(number);
            if let Some(bits) = self.present.get_mut(word) {
                *bits &= !bit;
            }
        }
    }

    /// Returns the memories nearest to a cue among those that `accept` lets through.
    pub fn search(
        &self,
        reader: &Reader,
        cue: &[f32],
        accept: impl Fn(MemoryNumber) -> bool + Sync,
        limits: Limits,
    ) -> Result<DenseFound> {
        let dimension = self.model.facts.dimension;
        let cue = Cue::new(cue, dimension)?;
        let scanned = scan::scan(&self.codes, &cue.code, dimension, limits.n_scan, &accept);
        let candidates = self.estimated(&cue, &scanned.nearest, limits.n_estimate);
        let hits = self.compared(reader, &cue, candidates)?;
        let (mean, deviation) = (narrow(scanned.mean), narrow(scanned.deviation));
        Ok(DenseFound { hits, mean, deviation })
    }

    /// Returns the cosine of each memory's nearest part to the cue, or nothing where the store has
    /// no vector.
    pub fn cosines(
        &self,
        reader: &Reader,
        cue: &[f32],
        numbers: &[MemoryNumber],
    ) -> Result<Vec<Option<f32>>> {
        let cue = Cue::new(cue, self.model.facts.dimension)?;
        let mut missing = Vec::new();
        let mut cosines = Vec::with_capacity(numbers.len());
        for (at, number) in numbers.iter().enumerate() {
            let first = Place::new(self.model.number, *number, 0);
            let kept = self.kept.all_of(first, |components| cue.cosine(components));
            if kept.is_none() {
                missing.push((first, at));
            }
            cosines.push(kept.and_then(|cosines| cosines.into_iter().reduce(f32::max)));
        }
        if missing.is_empty() {
            return Ok(cosines);
        }
        // In the order they stand in the store.
        missing.sort_unstable();
        reader.run("comparing vectors", |c| {
            let mut vectors = Vectors::new(c)?;
            for (first, at) in missing {
                if let Some(cosine) = cosines.get_mut(at) {
                    *cosine = self.read_all(&mut vectors, &cue, first)?;
                }
            }
            Ok(())
        })?;
        Ok(cosines)
    }

    /// Reads the vectors of at most [`AHEAD_MEMORIES`] memories below a number before anybody asks
    /// for them, the newest first, as long as there is room that no newer one needs. Returns where
    /// to go on; nothing when all is done.
    pub fn fetch_ahead(
        &self,
        reader: &Reader,
        below: MemoryNumber,
    ) -> Result<Option<MemoryNumber>> {
        let newest = self.newest().get();
        let oldest = newest.saturating_add(1).saturating_sub(self.kept.n_slots());
        let last = below.get().min(newest.saturating_add(1));
        let first = last.saturating_sub(AHEAD_MEMORIES).max(oldest);
        if last <= first {
            return Ok(None);
        }
        let model = self.model.number;
        let keys = *place::of_memory(model, MemoryNumber::new(first)).start()
            ..=*place::of_memory(model, MemoryNumber::new(last.saturating_sub(1))).end();
        reader.run("reading vectors ahead", |c| {
            let mut vectors = Vectors::new(c)?;
            self.read_each(&mut vectors, &keys, |_| ())
        })?;
        Ok(Some(MemoryNumber::new(first)))
    }

    /// Returns the highest number that has vectors; 0 when there is none.
    fn newest(&self) -> MemoryNumber {
        let last = self.present.iter().rposition(|bits| *bits != 0).unwrap_or(0);
        let bits = self.present.get(last).copied().unwrap_or(0);
        let first = u32::try_from(last).unwrap_or(u32::MAX).saturating_mul(NUMBERS_PER_WORD);
        MemoryNumber::new(first.saturating_add(bits.checked_ilog2().unwrap_or(0)))
    }

    /// Compares every vector of the memory whose first place this is, and keeps them.
    fn read_all(
        &self,
        vectors: &mut Vectors<'_>,
        cue: &Cue,
        first: Place,
    ) -> rusqlite::Result<Option<f32>> {
        let mut best: Option<f32> = None;
        let keys = place::of_memory(self.model.number, first.memory());
        self.read_each(vectors, &keys, |components| {
            let cosine = cue.cosine(components);
            best = Some(best.map_or(cosine, |best: f32| best.max(cosine)));
        })?;
        Ok(best)
    }

    /// Shows every vector of whole memories, and keeps them.
    fn read_each(
        &self,
        vectors: &mut Vectors<'_>,
        keys: &RangeInclusive<i64>,
        mut see: impl FnMut(&[u8]),
    ) -> rusqlite::Result<()> {
        let mut last: Option<(Place, Vec<u8>)> = None;
        let is_committed = vectors.sees_what_is_committed();
        let keep = |last: Option<(Place, Vec<u8>)>, next: Option<Place>| {
            let Some((place, components)) = last.filter(|_| is_committed) else { return };
            let follows = match next.filter(|next| next.memory() == place.memory()) {
                Some(_) => Follows::Another,
                None => Follows::Nothing,
            };
            self.kept.put(place, &components, follows);
        };
        vectors.each(keys, |place, components| {
            rows::check_length(components, &self.model)?;
            see(components);
            keep(last.replace((place, components.to_vec())), Some(place));
            Ok(())
        })?;
        keep(last, None);
        Ok(())
    }

    /// Returns the places to compare exactly: those of the `n_memories` best estimated memories.
    fn estimated(&self, cue: &Cue, nearest: &[usize], n_memories: usize) -> Vec<Place> {
        let estimator = Estimator::new(&cue.components);
        let mut estimated: Vec<(Reverse<i32>, MemoryNumber, u16)> = (nearest.iter())
            .filter_map(|position| {
                let estimate = estimator.estimate(self.codes.code(*position));
                let memory = self.codes.memories.get(*position)?;
                Some((Reverse(estimate), *memory, *self.codes.parts.get(*position)?))
            })
            .collect();
        estimated.sort_unstable();
        let mut n_parts: BTreeMap<MemoryNumber, usize> = BTreeMap::new();
        let mut places = Vec::new();
        for (_, memory, part) in estimated {
            if n_parts.len() >= n_memories && !n_parts.contains_key(&memory) {
                break;
            }
            let n_parts = n_parts.entry(memory).or_default();
            if *n_parts < PARTS_COMPARED_MAX {
                *n_parts = n_parts.saturating_add(1);
                places.push(Place::new(self.model.number, memory, part));
            }
        }
        places
    }

    /// Compares vectors with the cue. One that is gone was forgotten a moment ago.
    fn compared(
        &self,
        reader: &Reader,
        cue: &Cue,
        mut places: Vec<Place>,
    ) -> Result<Vec<DenseHit>> {
        places.sort_unstable();
        let cosines = self.cosines_at(reader, cue, &places)?;
        let mut hits: Vec<DenseHit> = Vec::with_capacity(places.len());
        for (place, cosine) in places.iter().zip(cosines) {
            let Some(cosine) = cosine else { continue };
            let hit = DenseHit { number: place.memory(), part: place.part(), cosine };
            match hits.last_mut().filter(|last| last.number == hit.number) {
                Some(last) if last.cosine < cosine => *last = hit,
                Some(_) => {}
                None => hits.push(hit),
            }
        }
        hits.sort_unstable_by(|a, b| b.cosine.total_cmp(&a.cosine).then(a.number.cmp(&b.number)));
        Ok(hits)
    }

    /// Returns the cosine of each place: of those that are kept, then of the others in the order
    /// they stand in the store.
    fn cosines_at(&self, reader: &Reader, cue: &Cue, places: &[Place]) -> Result<Vec<Option<f32>>> {
        let kept = |place: &Place| self.kept.with(*place, |components| cue.cosine(components));
        let mut cosines: Vec<Option<f32>> = places.iter().map(kept).collect();
        if cosines.iter().all(Option::is_some) {
            return Ok(cosines);
        }
        reader.run("comparing vectors", |c| {
            let mut vectors = Vectors::new(c)?;
            let is_committed = vectors.sees_what_is_committed();
            let missing = places.iter().zip(&mut cosines).filter(|(_, cosine)| cosine.is_none());
            for (place, cosine) in missing {
                vectors.each(&(place.key()..=place.key()), |place, components| {
                    rows::check_length(components, &self.model)?;
                    *cosine = Some(cue.cosine(components));
                    if is_committed {
                        self.kept.put(place, components, Follows::Unknown);
                    }
                    Ok(())
                })?;
            }
            Ok(())
        })?;
        Ok(cosines)
    }

    fn mark(&mut self, number: MemoryNumber) {
        let (word, bit) = bit_of(number);
        if self.present.len() <= word {
            self.present.resize(word.saturating_add(1), 0);
        }
        if let Some(bits) = self.present.get_mut(word) {
            *bits |= bit;
        }
    }
}

/// The most parts a memory may have.
pub(crate) const PARTS_MAX: usize = 4096;

/// Refuses parts the store cannot hold: none, too many, or not unit vectors of this model.
pub(crate) fn check_parts(model: &Model, parts: &[Part]) -> Result<()> {
    if parts.is_empty() || parts.len() > PARTS_MAX {
        let why = format!("a memory has from 1 to {PARTS_MAX} of them, not {}", parts.len());
        return Err(StoreError::refused("list of parts", why));
    }
    for part in parts {
        if part.start > part.end {
            return Err(StoreError::refused("part of a text", "it ends before it begins"));
        }
        check_unit(&part.vector, model.facts.dimension)?;
    }
    Ok(())
}

fn bit_of(number: MemoryNumber) -> (usize, u64) {
    let word = usize::try_from(number.get() / NUMBERS_PER_WORD).unwrap_or(usize::MAX);
    (word, 1 << (number.get() % NUMBERS_PER_WORD))
}

#[expect(clippy::cast_possible_truncation, reason = "a cosine needs no more than seven digits")]
fn narrow(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests;
