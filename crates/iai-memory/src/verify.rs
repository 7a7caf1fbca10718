//! Proves what is derived by deriving it once more: attributes from texts, vectors by their model.

use std::collections::BTreeSet;

use iai_store::{CheckDepth, CheckReport, Memory, MemoryNumber, Part, Problem};

use crate::attributes::{Source, taken_from, taken_up_to};
use crate::engine::MemoryEngine;
use crate::error::Result;

/// How many memories a sample takes.
const SAMPLE: u32 = 200;
/// How many memories are embedded again.
const EMBEDDED: u32 = 24;
/// Memories read at once.
const PER_READ: usize = 256;
/// A vector made again and the one that is kept in bytes are this near to each other, or one of
/// them is not of this text. Rounding to bytes alone leaves 0.999.
const COSINE_MIN: f32 = 0.98;
/// A report names at most this many.
const NAMED_MAX: usize = 100;

/// How the sample of vectors came out.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorsCompared {
    /// How many memories were embedded again; 0 without a model.
    pub n_memories: u64,
    /// The worst cosine between a kept vector and the same made again.
    pub cosine_min: f32,
    /// What is not near enough.
    pub problems: Vec<Problem>,
}

impl MemoryEngine {
    /// Checks the store, and takes attributes from texts again to compare them.
    pub fn verify(&self, depth: CheckDepth) -> Result<CheckReport> {
        let mut report = self.check(depth)?;
        // Pages that cannot be read were told already; nothing more can be learned from them.
        if report.is_clean() {
            report.problems.extend(self.wrong_attributes(depth)?);
        }
        Ok(report)
    }

    /// Embeds a few memories again, with the model that serves, and compares.
    pub fn compare_vectors(&self) -> Result<VectorsCompared> {
        let mut compared = VectorsCompared { n_memories: 0, cosine_min: 1.0, problems: Vec::new() };
        let Some((model, wanted)) = self.embedded_sample(EMBEDDED)? else { return Ok(compared) };
        for (number, made) in self.embed_again(&wanted)? {
            let kept = self.read(|reader| Ok(reader.vector_parts(model, number)?))?;
            if kept.is_empty() {
                continue;
            }
            compared.n_memories += 1;
            let worst = worst_cosine(&kept, &made);
            compared.cosine_min = compared.cosine_min.min(worst);
            if worst < COSINE_MIN && compared.problems.len() < NAMED_MAX {
                let number = number.get();
                compared.problems.push(Problem {
                    name: "vectors",
                    detail: format!(
                        "the vectors of memory number {number} are not those of its text \
                         (cosine {worst:.3})"
                    ),
                });
            }
        }
        Ok(compared)
    }

    fn wrong_attributes(&self, depth: CheckDepth) -> Result<Vec<Problem>> {
        let up_to = self.read(taken_up_to)?.get();
        let step = match depth {
            CheckDepth::Deep => 1,
            CheckDepth::Sample | CheckDepth::Whole => up_to / SAMPLE + 1,
        };
        let numbers: Vec<MemoryNumber> = (1..=up_to)
            .filter(|number| number.is_multiple_of(step))
            .map(MemoryNumber::new)
            .collect();
        let mut wrong = Vec::new();
        for some in numbers.chunks(PER_READ) {
            let memories = self.read(|reader| Ok(reader.numbered(some)?))?;
            for (number, memory) in memories {
                if wrong.len() < NAMED_MAX && !self.has_its_attributes(number, &memory)? {
                    let detail =
                        format!("the attributes of {} are not those of its text", memory.id);
                    wrong.push(Problem { name: "attributes", detail });
                }
            }
        }
        Ok(wrong)
    }

    fn has_its_attributes(&self, number: MemoryNumber, memory: &Memory) -> Result<bool> {
        let taken = taken_from(&Source::of(memory));
        let taken: BTreeSet<_> = taken.iter().map(|new| (new.role, new.filler.as_str())).collect();
        let kept = self.read(|reader| Ok(reader.attributes_of(&[number])?))?;
        let kept = kept.iter().flat_map(|(_, attributes)| attributes);
        let kept: BTreeSet<_> = kept.map(|kept| (kept.role, kept.filler.as_str())).collect();
        Ok(taken == kept)
    }
}

/// The parts of a memory in pairs; one without its like is as far away as can be.
fn worst_cosine(kept: &[Part], made: &[Part]) -> f32 {
    if kept.len() != made.len() {
        return -1.0;
    }
    let pairs = kept.iter().zip(made);
    let cosines = pairs.map(|(kept, made)| {
        if (kept.start, kept.end) == (made.start, made.end) {
            cosine(&kept.vector, &made.vector)
        } else {
            -1.0
        }
    });
    cosines.fold(1.0, f32::min)
}

fn cosine(left: &[f32], right: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let lengths = (dot(left, left) * dot(right, right)).sqrt();
    if left.len() == right.len() && lengths > 0.0 { dot(left, right) / lengths } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_compared_in_pairs() {
        let part = |start, vector: &[f32]| Part { start, end: 9, vector: vector.to_vec() };
        let (a, b) = (part(0, &[1.0, 0.0]), part(0, &[0.6, 0.8]));
        for (kept, made, expect) in [
            (vec![a.clone()], vec![a.clone()], 1.0),
            (vec![a.clone()], vec![b.clone()], 0.6),
            (vec![a.clone(), b], vec![a.clone()], -1.0),
            (vec![a.clone()], vec![part(1, &[1.0, 0.0])], -1.0),
            (vec![a], vec![part(0, &[0.0, 0.0])], -1.0),
        ] {
            assert!((worst_cosine(&kept, &made) - expect).abs() < 1e-6, "{kept:?} {made:?}");
        }
    }
}
