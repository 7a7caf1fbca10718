//! Text in, unit vector out: a sentence model in process, offline, on the processor.
//!
//! [`convert()`] makes a model file out of what publishers ship, [`Model`] runs it. Which model to
//! use, and where its file lies, is for others to know.

mod averaging;
mod bert;
mod check;
mod convert;
mod encoder;
mod error;
mod fake;
mod file;
mod kernels;
mod model;
pub mod speed;
mod team;
mod tokenizer;
mod weights;
mod windows;

use std::ops::Range;
use std::sync::Arc;

pub use check::check_vectors;
pub use convert::convert;
pub use error::EmbedError;
pub use fake::FakeEmbedder;
pub use model::Model;
use serde::{Deserialize, Serialize};
pub use windows::N_WINDOWS_MAX;

/// Turns text into vectors of length 1.
pub trait Embedder: Send + Sync {
    /// Says which model this is, so that vectors of different models are never compared.
    fn identity(&self) -> &ModelIdentity;

    /// Returns one unit vector for each text, in order; of a text with too many tokens, the
    /// beginning counts.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// Returns the byte ranges in which a text is embedded without loss: one for a short text,
    /// else overlapping ones cut at whitespace where there is any; at most [`N_WINDOWS_MAX`].
    fn windows(&self, text: &str) -> Vec<Range<usize>>;

    /// Returns another handle to the same model, with helper threads of its own; they inherit the
    /// calling thread's priority.
    fn twin(&self) -> Arc<dyn Embedder>;
}

/// Which model made a vector. Vectors of different identities have nothing to do with each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelIdentity {
    /// What people call it.
    pub name: String,
    /// The SHA-256 of the model file's content, in hexadecimal.
    pub sha256: String,
    /// How the vectors of a text's tokens become one.
    pub pooling: Pooling,
    /// Put before every text; usually empty.
    pub prefix: String,
    /// How long a vector is.
    pub dimension: usize,
    /// How many tokens of a text count, the two special ones among them.
    pub n_tokens_max: usize,
}

/// How the vectors of a text's tokens become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// Their mean.
    Mean,
    /// The first one.
    Cls,
}
