//! Where haystacks come from: a folder in the common format, or a file as its authors published it.

use std::path::{Path, PathBuf};

use super::dataset::{self, Haystack};
use super::published;
use crate::capture::Flow;

/// A place with haystacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// Folders with `corpus.jsonl` and `queries.jsonl`, at any depth.
    Folder(PathBuf),
    /// `longmemeval_s.json` and its sisters.
    LongMemEval(PathBuf),
    /// `locomo10.json`.
    Locomo(PathBuf),
}

/// How a source is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Folders in the common format
    Folder,
    /// LongMemEval's own file
    Longmemeval,
    /// LoCoMo's own file
    Locomo,
}

impl Source {
    pub(crate) fn new(path: &Path, format: Format) -> Self {
        let path = path.to_owned();
        match format {
            Format::Folder => Self::Folder(path),
            Format::Longmemeval => Self::LongMemEval(path),
            Format::Locomo => Self::Locomo(path),
        }
    }

    /// Hands out the haystacks of the sets that `is_wanted`, one set after the other.
    pub(super) fn each(
        &self,
        is_wanted: &dyn Fn(&str) -> bool,
        each: &mut dyn FnMut(Haystack) -> anyhow::Result<Flow>,
    ) -> anyhow::Result<()> {
        let path = match self {
            Self::Folder(path) | Self::LongMemEval(path) | Self::Locomo(path) => path,
        };
        let mut wanted = |haystack: Haystack| {
            if is_wanted(&haystack.set) { each(haystack) } else { Ok(Flow::On) }
        };
        match self {
            Self::LongMemEval(_) => published::longmemeval(path, &mut wanted),
            Self::Locomo(_) => published::locomo(path, &mut wanted),
            Self::Folder(_) => {
                for place in dataset::find(path)?.iter().filter(|place| is_wanted(&place.set)) {
                    if wanted(place.read()?)? == Flow::Stop {
                        break;
                    }
                }
                Ok(())
            }
        }
    }
}
