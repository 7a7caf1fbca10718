//! A model for tests of others: texts that share words are near, and nothing has to be loaded.

use std::ops::Range;
use std::sync::Arc;

use crate::error::EmbedError;
use crate::{Embedder, ModelIdentity, N_WINDOWS_MAX, Pooling};

const DIMENSION: usize = 128;
const N_WORDS_MAX: usize = 128;
const N_WORDS_REPEATED: usize = 16;
/// Numbers of a vector that a word adds to.
const PLACES_PER_WORD: u32 = 4;

/// Adds up a hash of every word: the same on every machine, and without any meaning.
#[derive(Clone, Debug)]
pub struct FakeEmbedder {
    identity: ModelIdentity,
}

impl FakeEmbedder {
    /// Makes a fake with a name of its own, as different models have.
    pub fn new(name: &str) -> Self {
        let identity = ModelIdentity {
            name: name.to_owned(),
            sha256: format!("{:064x}", hash(name)),
            pooling: Pooling::Mean,
            prefix: String::new(),
            dimension: DIMENSION,
            n_tokens_max: N_WORDS_MAX,
        };
        Self { identity }
    }
}

impl Default for FakeEmbedder {
    fn default() -> Self {
        Self::new("fake")
    }
}

impl Embedder for FakeEmbedder {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| vector(text)).collect())
    }

    fn twin(&self) -> Arc<dyn Embedder> {
        Arc::new(self.clone())
    }

    fn windows(&self, text: &str) -> Vec<Range<usize>> {
        let words: Vec<Range<usize>> = words(text).collect();
        let mut windows = Vec::new();
        let mut first = 0;
        while windows.len() < N_WINDOWS_MAX {
            let from = if first == 0 { 0 } else { words.get(first).map_or(0, |word| word.start) };
            let end = first + N_WORDS_MAX;
            let last = words.get(end.saturating_sub(1)).filter(|_| end < words.len());
            windows.push(from..last.map_or(text.len(), |word| word.end));
            if last.is_none() {
                break;
            }
            first = end - N_WORDS_REPEATED;
        }
        windows
    }
}

fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0f32; DIMENSION];
    // Every text has this much in common, so that an empty one has a vector too.
    if let Some(first) = vector.first_mut() {
        *first = 0.1;
    }
    for word in words(text).take(N_WORDS_MAX) {
        let word = text.get(word).unwrap_or_default().to_lowercase();
        let mut bits = hash(&word);
        for _ in 0..PLACES_PER_WORD {
            let place = usize::try_from(bits % 64).unwrap_or(0);
            let sign = if bits & 64 == 0 { 1.0 } else { -1.0 };
            if let Some(value) = vector.get_mut(place) {
                *value += sign;
            }
            bits >>= 8;
        }
    }
    let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    vector.iter().map(|value| value / norm.max(f32::MIN_POSITIVE)).collect()
}

fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let is_between = |c: char| !c.is_alphanumeric();
    let start = text.as_ptr().addr();
    text.split(is_between).filter(|word| !word.is_empty()).map(move |word| {
        let from = word.as_ptr().addr() - start;
        from..from + word.len()
    })
}

fn hash(text: &str) -> u64 {
    let mixed = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (mixed ^ (mixed >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
