//! A tiny BERT at work: its source, its model file, its weights to compute with by hand.

use std::path::PathBuf;

use iai_embed::{Model, convert};
use tempfile::TempDir;

use crate::source::{self, Tensors};

/// The weights, and a folder with the source and the model file.
pub(crate) struct Tiny {
    pub(crate) tensors: Tensors,
    folder: TempDir,
}

impl Tiny {
    pub(crate) fn new() -> Self {
        Self::with_pooling("mean")
    }

    pub(crate) fn with_pooling(pooling: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tensors = source::write(folder.path(), pooling);
        let tiny = Self { tensors, folder };
        convert(&tiny.source(), "tiny", &tiny.path()).unwrap();
        tiny
    }

    pub(crate) fn source(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("tiny.iai")
    }

    pub(crate) fn model(&self) -> Model {
        Model::open(&self.path()).unwrap()
    }
}
