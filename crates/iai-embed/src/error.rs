//! What can go wrong, by what the caller can do about it.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why there is no vector, or no model.
#[derive(Debug, Error)]
pub enum EmbedError {
    /// The disk refused; look at the path.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// What was being done.
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The model file is not whole: convert or install it again.
    #[error("the model file {} is damaged ({what}); install the model again", path.display())]
    Damaged {
        /// The model file.
        path: PathBuf,
        /// What does not fit.
        what: String,
    },
    /// The model file belongs to another version of this program: convert or install it again.
    #[error(
        "the model file {} has format {found}, this program reads up to {known}; \
         install the model again",
        path.display()
    )]
    OtherFormat {
        /// The model file.
        path: PathBuf,
        /// The format it says it has.
        found: u32,
        /// The newest format we read.
        known: u32,
    },
    /// The source is a model of a kind we cannot run: choose another.
    #[error("this model cannot be used: {0}; choose a BERT model with a WordPiece tokenizer")]
    Unsupported(String),
    /// The source folder lacks something or contradicts itself: get it again.
    #[error("the model source {} cannot be read ({what})", path.display())]
    BadSource {
        /// The file that cannot be read.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The table of words in the model file can no longer be read: start again, or install again.
    #[error("the model file's table of words cannot be read: {0}")]
    WordsGone(#[source] io::Error),
    /// The vectors make no sense; nothing of them may be stored.
    #[error("the model's vectors cannot be trusted: {0}")]
    Nonsense(String),
    /// A helper thread died on its work; the next call may succeed.
    #[error("the model stopped in the middle of its work")]
    Interrupted,
}

impl EmbedError {
    pub(crate) fn io(what: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { what, path: path.to_owned(), source }
    }

    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.into() }
    }

    pub(crate) fn bad_source(path: &Path, what: impl Into<String>) -> Self {
        Self::BadSource { path: path.to_owned(), what: what.into() }
    }
}
