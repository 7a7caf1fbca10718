//! Text in, unit vector out; in process, offline.
//!
//! No model is built in yet: recall runs on the lexical lane alone. This crate holds the seam that
//! a model will fill.

/// Turns text into a vector of length 1.
pub trait Embedder: Send + Sync {
    /// Names the model, so that vectors of different models are never compared.
    fn model(&self) -> &str;

    /// Returns one unit vector for each text, in order.
    fn embed(&self, texts: &[&str]) -> Vec<Vec<f32>>;
}
