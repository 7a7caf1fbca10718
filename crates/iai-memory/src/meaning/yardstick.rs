//! What a model makes of texts that have nothing to do with each other. One model puts such texts
//! at a cosine of 0, another at 0.7: only against that does a cosine say how near two texts are.

use iai_embed::{Embedder, check_vectors};

use crate::error::Result;

/// Short texts about nothing in common; whoever says the same of all of them is broken.
const UNRELATED: [&str; 16] = [
    "the retry policy of the billing service",
    "a slice of bread with cheese",
    "x = y + 1",
    "our neighbours are moving to Canada in spring",
    "the brakes of the old bicycle squeak when it rains",
    "please book two seats on the night train",
    "she practises the cello every evening",
    "the parser fails on an empty line",
    "migrating birds follow the coast",
    "how much does the new roof cost",
    "the doctor said to rest for a week",
    "git rebase --onto main feature",
    "the moon rose over the frozen lake",
    "taxes are due at the end of the month",
    "who won the match yesterday",
    "tomatoes need a lot of sun",
];

/// A model that crowds its vectors closer than this tells nothing apart by such differences.
const DEVIATION_MIN: f32 = 0.01;

/// Measures cosines of one model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Yardstick {
    /// The mean cosine of texts that have nothing to do with each other …
    unrelated: f32,
    /// … and how far such cosines are from it.
    deviation: f32,
}

impl Yardstick {
    /// Has a model embed texts that it must tell apart; refuses one that says the same of
    /// everything, before anything of it is stored.
    pub(crate) fn of(embedder: &dyn Embedder) -> Result<Self> {
        let vectors = embedder.embed(&UNRELATED)?;
        check_vectors(&vectors)?;
        let (unrelated, deviation) = mean_and_deviation(&cosines(&vectors));
        Ok(Self::new(unrelated, deviation))
    }

    pub(crate) fn new(unrelated: f32, deviation: f32) -> Self {
        Self { unrelated, deviation: deviation.max(DEVIATION_MIN) }
    }

    /// The share of the way from unrelated texts (0) to the same text (1).
    pub(crate) fn nearness(&self, cosine: f32) -> f32 {
        (cosine - self.unrelated) / (1.0 - self.unrelated).max(f32::EPSILON)
    }

    /// How far above that of unrelated texts a cosine is, in their own deviations: about 4 are
    /// rare by chance with any model, while the share of the way to 1 that is rare differs.
    pub(crate) fn deviations(&self, cosine: f32) -> f32 {
        (cosine - self.unrelated) / self.deviation
    }
}

/// The cosines of all pairs.
fn cosines(vectors: &[Vec<f32>]) -> Vec<f32> {
    let pairs = vectors.iter().enumerate().flat_map(|(place, one)| {
        let others = vectors.iter().skip(place + 1);
        others.map(move |other| one.iter().zip(other).map(|(one, other)| one * other).sum())
    });
    pairs.collect()
}

#[expect(clippy::cast_precision_loss, reason = "there are a hundred pairs")]
fn mean_and_deviation(values: &[f32]) -> (f32, f32) {
    let n = values.len().max(1) as f32;
    let mean = values.iter().sum::<f32>() / n;
    let squares: f32 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, (squares / n).sqrt())
}

#[cfg(test)]
mod tests {
    use iai_embed::FakeEmbedder;

    use super::*;

    #[test]
    fn models_that_crowd_their_vectors_are_measured_by_the_same_shares() {
        for unrelated in [0.0, 0.06, 0.73] {
            let yardstick = Yardstick::new(unrelated, 0.1);
            assert!(yardstick.nearness(unrelated).abs() < 1e-6, "{unrelated}");
            assert!((yardstick.nearness(1.0) - 1.0).abs() < 1e-6, "{unrelated}");
            let half_way = f32::midpoint(unrelated, 1.0);
            assert!((yardstick.nearness(half_way) - 0.5).abs() < 1e-6, "{unrelated}");
            assert!((yardstick.deviations(unrelated + 0.2) - 2.0).abs() < 1e-5, "{unrelated}");
        }
        assert!(Yardstick::new(1.0, 0.0).nearness(0.5).is_finite());
        assert!(Yardstick::new(1.0, 0.0).deviations(0.5).is_finite());
    }

    #[test]
    fn only_different_texts_are_compared() {
        let (east, north) = (vec![1.0, 0.0], vec![0.0, 1.0]);
        let pairs = cosines(&[east.clone(), north, east]);
        assert_eq!(pairs, [0.0, 1.0, 0.0]);
        let (mean, deviation) = mean_and_deviation(&pairs);
        assert!((mean - 1.0 / 3.0).abs() < 1e-6 && (deviation - 0.471).abs() < 1e-3);
        assert_eq!(mean_and_deviation(&[]), (0.0, 0.0));
    }

    #[test]
    fn a_model_that_works_has_one() {
        let yardstick = Yardstick::of(&FakeEmbedder::default()).unwrap();
        assert!((-0.2..0.5).contains(&yardstick.unrelated), "{yardstick:?}");
    }
}
