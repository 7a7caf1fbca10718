//! What came back for each question, kept so that others can compute the scores again.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::dataset::read_lines;

/// One line of a ranking file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Ranked {
    pub(super) set: String,
    pub(super) haystack: String,
    /// The question's id.
    pub(super) id: String,
    pub(super) kind: String,
    /// The corpus ids of the hits, best first.
    pub(super) ranked: Vec<String>,
    /// Their sessions, in the order of first appearance.
    pub(super) ranked_sessions: Vec<String>,
    /// The score of each hit.
    pub(super) scores: Vec<f64>,
    /// Nothing was told, or only with the remark that it is probably nothing.
    pub(super) abstained: bool,
    /// From sending the question to having the answer, in microseconds.
    pub(super) took_us: u64,
}

/// Writes the rankings of one set, each as soon as it is known.
pub(super) struct RankingFile {
    path: PathBuf,
    file: BufWriter<File>,
}

impl RankingFile {
    pub(super) fn create(folder: &Path, set: &str) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        let path = folder.join(format!("{set}.rankings.jsonl"));
        let file = File::create(&path).with_context(|| format!("writing {}", path.display()))?;
        Ok(Self { path, file: BufWriter::new(file) })
    }

    pub(super) fn append(&mut self, ranked: &[Ranked]) -> anyhow::Result<()> {
        let writing = || format!("writing {}", self.path.display());
        for ranked in ranked {
            serde_json::to_writer(&mut self.file, ranked).with_context(writing)?;
            self.file.write_all(b"\n").with_context(writing)?;
        }
        self.file.flush().with_context(writing)
    }
}

/// Reads a ranking file.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Ranked>> {
    read_lines(path)
}
