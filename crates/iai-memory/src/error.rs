//! What can go wrong, by what the caller can do about it.

use iai_embed::EmbedError;
use iai_store::StoreError;
use thiserror::Error;

/// Why a request to the engine failed.
#[derive(Debug, Error)]
pub enum MemoryError {
    /// The store refused; its message says what to do.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The model refused; its message says what to do.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The request asks for something that cannot be.
    #[error("`{name}` {why}")]
    BadParameter {
        /// Which parameter.
        name: &'static str,
        /// What is wrong with it and what would be right.
        why: String,
    },
    /// There is no such memory.
    #[error("there is no memory {id}; `iai-mcp list` shows what there is")]
    UnknownMemory {
        /// The id or prefix asked for.
        id: String,
    },
    /// The store was opened only for reading, because no daemon runs.
    #[error("the daemon is not running and only it may change the memory; `iai-mcp daemon start`")]
    ReadOnly,
    /// An earlier change broke half-way in this process; only a restart is safe.
    #[error("the store's writer broke; the daemon restarts to recover")]
    WriterBroken,
}

impl MemoryError {
    /// Builds a complaint about a parameter.
    pub(crate) fn bad(name: &'static str, why: impl Into<String>) -> Self {
        Self::BadParameter { name, why: why.into() }
    }
}

/// The crate's result.
pub(crate) type Result<T, E = MemoryError> = std::result::Result<T, E>;
