//! A model file at work: tokenizer, encoder and helper threads behind one trait.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::bert::Hands;
use crate::encoder::Encoder;
use crate::error::EmbedError;
use crate::team::Team;
use crate::tokenizer::Tokenizer;
use crate::{Embedder, ModelIdentity, file, windows};

/// Tokens computed together on one thread; their activations stay in its second-level cache.
const TOKENS_PER_TASK: usize = 256;

/// A sentence model in memory.
pub struct Model {
    identity: ModelIdentity,
    tokenizer: Arc<Tokenizer>,
    encoder: Encoder,
    team: Team,
}

impl Model {
    /// Reads a model file that [`crate::convert()`] has made, and checks every bit of it.
    pub fn open(path: &Path) -> Result<Self, EmbedError> {
        let (content, identity) = file::read(path)?;
        let team = Team::new(usize::MAX);
        let tokenizer = Arc::new(content.tokenizer);
        Ok(Self { identity, tokenizer, encoder: content.weights.into_encoder(), team })
    }

    /// Uses at most this many threads from now on.
    #[must_use]
    pub fn with_threads(self, n_threads_max: NonZeroUsize) -> Self {
        Self { team: Team::new(n_threads_max.get() - 1), ..self }
    }

    /// Returns how many threads share the work.
    pub fn n_threads(&self) -> usize {
        self.team.n_threads()
    }

    /// Returns how many additions and multiplications with weights one token takes.
    pub fn n_operations_per_token(&self) -> usize {
        self.encoder.n_operations_per_token()
    }

    /// Returns the ids of a text's tokens, as the model sees them.
    pub fn token_ids(&self, text: &str) -> Vec<u32> {
        let text = format!("{}{text}", self.identity.prefix);
        self.tokenizer.encode(&text, self.identity.n_tokens_max)
    }
}

impl Embedder for Model {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let pooling = self.identity.pooling;
        let ids: Vec<Vec<u32>> = texts.iter().map(|text| self.token_ids(text)).collect();
        let batches = batched(ids);
        if let [batch] = batches.as_slice() {
            return self.encoder.forward(batch, pooling, &Hands::Together(&self.team));
        }
        let n_batches = batches.len();
        let encoder = self.encoder.clone();
        let work = move |task: usize| {
            let batch = batches.get(task).map_or(&[][..], Vec::as_slice);
            encoder.forward(batch, pooling, &Hands::Alone)
        };
        let vectors = self.team.map(n_batches, work)?;
        vectors.into_iter().try_fold(Vec::with_capacity(texts.len()), |mut all, some| {
            all.extend(some?);
            Ok(all)
        })
    }

    fn twin(&self) -> Arc<dyn Embedder> {
        Arc::new(Self {
            identity: self.identity.clone(),
            tokenizer: Arc::clone(&self.tokenizer),
            encoder: self.encoder.clone(),
            team: Team::new(usize::MAX),
        })
    }

    fn windows(&self, text: &str) -> Vec<Range<usize>> {
        let prefix = self.tokenizer.encode(&self.identity.prefix, usize::MAX).len();
        let n_taken = prefix + self.tokenizer.n_pieces_extra();
        let n_pieces_max = self.identity.n_tokens_max.saturating_sub(n_taken).max(1);
        windows::cut(&self.tokenizer, text, n_pieces_max)
    }
}

/// Puts neighbours together until a batch is large enough to be worth a task.
fn batched(texts: Vec<Vec<u32>>) -> Vec<Vec<Vec<u32>>> {
    let mut batches: Vec<Vec<Vec<u32>>> = Vec::new();
    let mut n_tokens = 0;
    for text in texts {
        n_tokens += text.len();
        match batches.last_mut() {
            Some(batch) if n_tokens <= TOKENS_PER_TASK => batch.push(text),
            _ => {
                n_tokens = text.len();
                batches.push(vec![text]);
            }
        }
    }
    batches
}
