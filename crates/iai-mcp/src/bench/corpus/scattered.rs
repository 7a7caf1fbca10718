//! Made-up vectors that look like a model's: a few texts are embedded by the model itself, every
//! other text gets a vector near one of those, and always the same.

use std::ops::Range;
use std::sync::Arc;

use iai_memory::{EmbedError, Embedder, ModelIdentity};

use crate::bench::chance::Chance;

/// The sessions whose first turns the model embeds: twice as many as the history has topics.
pub(super) const TEXTS_EMBEDDED: Range<usize> = 0..128;
/// How far a vector is from the one it lies around: their cosine is about 0.75, as of turns about
/// one thing.
const DISTANCE: f32 = 0.9;

/// Speaks in the name of a model without running it.
pub(super) struct Scattered {
    identity: ModelIdentity,
    /// At least one.
    centres: Arc<Vec<Vec<f32>>>,
}

impl Scattered {
    /// Takes the vectors that `model` gives these texts for centres.
    pub(super) fn around(model: &dyn Embedder, texts: &[String]) -> Result<Self, EmbedError> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let centres = Arc::new(model.embed(&texts)?);
        Ok(Self { identity: model.identity().clone(), centres })
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut chance = Chance::new(hash(text));
        let place = chance.below(self.centres.len());
        let centre = self.centres.get(place).map_or(&[][..], Vec::as_slice);
        let noise: Vec<f32> = centre.iter().map(|_| bell_shaped(&mut chance)).collect();
        let scale = DISTANCE / length(&noise);
        let moved: Vec<f32> =
            centre.iter().zip(noise).map(|(value, noise)| value + scale * noise).collect();
        let scale = 1.0 / length(&moved);
        moved.iter().map(|value| value * scale).collect()
    }
}

impl Embedder for Scattered {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }

    /// A made-up turn fits the smallest window.
    fn windows(&self, text: &str) -> Vec<Range<usize>> {
        std::iter::once(0..text.len()).collect()
    }

    fn twin(&self) -> Arc<dyn Embedder> {
        Arc::new(Self { identity: self.identity.clone(), centres: Arc::clone(&self.centres) })
    }
}

/// A sum of four even numbers is nearly normal.
fn bell_shaped(chance: &mut Chance) -> f32 {
    let drawn = chance.next().to_le_bytes();
    let quarters = drawn.as_chunks::<2>().0;
    quarters.iter().map(|two| f32::from(u16::from_le_bytes(*two)) - 32_767.5).sum()
}

fn length(vector: &[f32]) -> f32 {
    vector.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE)
}

fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use iai_memory::FakeEmbedder;

    use super::*;

    #[test]
    fn a_text_has_one_unit_vector_near_a_real_one() {
        let model = FakeEmbedder::default();
        let texts = ["one harbour", "another crane", "a third quay"].map(str::to_owned);
        let scattered = Scattered::around(&model, &texts).unwrap();
        assert_eq!(scattered.identity(), model.identity());
        let asked: Vec<String> = (0..50).map(|n| format!("text {n}")).collect();
        let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
        let vectors = scattered.embed(&asked).unwrap();
        assert_eq!(vectors, scattered.twin().embed(&asked).unwrap());
        let product = |one: &[f32], other: &[f32]| -> f32 {
            one.iter().zip(other).map(|(one, other)| one * other).sum()
        };
        for vector in &vectors {
            assert!((length(vector) - 1.0).abs() < 1e-5);
            let near = scattered.centres.iter().map(|centre| product(centre, vector));
            let nearest = near.fold(0.0, f32::max);
            assert!((0.6..0.9).contains(&nearest), "{nearest}");
        }
        assert!(vectors.windows(2).all(|two| product(&two[0], &two[1]) < 0.95));
    }
}
