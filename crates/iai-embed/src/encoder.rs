//! Ids to vectors, in the two ways we know of.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Pooling;
use crate::averaging::{Averaging, AveragingShape};
use crate::bert::{Bert, BertShape, Hands};
use crate::error::EmbedError;
use crate::weights::Parts;

/// More tokens than this are no text any more.
const TOKENS_MAX: usize = 8192;

/// The weights of a model, and what to do with them.
#[derive(Clone)]
pub(crate) enum Encoder {
    Bert(Arc<Bert>),
    Averaging(Arc<Averaging>),
}

/// Its weights alone, while they are being read or written.
pub(crate) enum Weights {
    Bert(Box<Bert>),
    Averaging(Box<Averaging>),
}

/// What a model file calls them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Architecture {
    Bert,
    Averaging,
}

/// The numbers that say how large each part is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Shape {
    Bert(BertShape),
    Averaging(AveragingShape),
}

impl Shape {
    /// Says in a sentence why this is no shape we can run.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self {
            Self::Bert(shape) => shape.check(),
            Self::Averaging(shape) => shape.check(),
        }
    }

    pub(crate) fn architecture(&self) -> Architecture {
        match self {
            Self::Bert(_) => Architecture::Bert,
            Self::Averaging(_) => Architecture::Averaging,
        }
    }

    /// Returns how many bytes the weights take, for a shape that passed its check.
    pub(crate) fn n_bytes(&self) -> u64 {
        match self {
            Self::Bert(shape) => shape.n_bytes(),
            Self::Averaging(shape) => shape.n_bytes(),
        }
    }

    pub(crate) fn n_pieces(&self) -> usize {
        match self {
            Self::Bert(shape) => shape.n_pieces,
            Self::Averaging(shape) => shape.n_pieces,
        }
    }

    /// How long a vector is.
    pub(crate) fn n_hidden(&self) -> usize {
        match self {
            Self::Bert(shape) => shape.n_hidden,
            Self::Averaging(shape) => shape.n_hidden,
        }
    }

    /// The most tokens of a text that can count.
    pub(crate) fn n_tokens_max(&self) -> usize {
        match self {
            Self::Bert(shape) => shape.n_positions,
            Self::Averaging(_) => TOKENS_MAX,
        }
    }

    /// Makes room for weights, all zero; the shape has passed its check.
    pub(crate) fn empty(&self) -> Weights {
        match self.clone() {
            Self::Bert(shape) => Weights::Bert(Box::new(Bert::empty(shape))),
            Self::Averaging(shape) => Weights::Averaging(Box::new(Averaging::empty(shape))),
        }
    }
}

impl Weights {
    pub(crate) fn shape(&self) -> Shape {
        match self {
            Self::Bert(bert) => Shape::Bert(bert.shape.clone()),
            Self::Averaging(averaging) => Shape::Averaging(averaging.shape.clone()),
        }
    }

    /// Returns every part in the order of the model file.
    pub(crate) fn parts(&mut self) -> Parts<'_> {
        match self {
            Self::Bert(bert) => bert.parts(),
            Self::Averaging(averaging) => averaging.parts(),
        }
    }

    pub(crate) fn into_encoder(self) -> Encoder {
        match self {
            Self::Bert(bert) => Encoder::Bert(Arc::from(bert)),
            Self::Averaging(averaging) => Encoder::Averaging(Arc::from(averaging)),
        }
    }
}

impl Encoder {
    /// Returns how many additions and multiplications with weights one token takes.
    pub(crate) fn n_operations_per_token(&self) -> usize {
        match self {
            Self::Bert(bert) => bert.n_operations_per_token(),
            Self::Averaging(averaging) => averaging.n_operations_per_token(),
        }
    }

    /// Returns the unit vector of each text.
    pub(crate) fn forward(
        &self,
        texts: &[Vec<u32>],
        pooling: Pooling,
        hands: &Hands<'_>,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        match self {
            Self::Bert(bert) => bert.forward(texts, pooling, hands),
            // So little work that sharing it would take longer.
            Self::Averaging(averaging) => averaging.forward(texts),
        }
    }
}
