//! Why a file is left alone.

use std::io;

use thiserror::Error;

use super::jsonc::ScanError;

/// A file we do not touch; the message follows the file's path and says what to do.
#[derive(Debug, Error)]
pub(crate) enum Refusal {
    #[error("is not JSON at {0}; correct it, or paste the block yourself")]
    NotJson(#[from] ScanError),
    #[error(
        "is not TOML at line {line}, column {column}: {what}; correct it, or paste the block \
         yourself"
    )]
    NotToml { line: usize, column: usize, what: String },
    #[error("is not UTF-8 at byte {0}; save it as UTF-8")]
    NotUtf8(usize),
    #[error("does not hold an object at its root; paste the block yourself")]
    RootNotObject,
    #[error("has `{key}`, but it is not {wanted}; correct it, or paste the block yourself")]
    WrongType { key: String, wanted: &'static str },
    #[error("already has an MCP server named iai-mcp that is another program; rename or remove it")]
    NameTaken,
    #[error(
        "writes its MCP servers in a form that cannot be extended or cut by a machine; edit it by \
         hand"
    )]
    TomlShape,
    #[error("is larger than {0} bytes, which no settings file is; look at it by hand")]
    TooLarge(u64),
    #[error("is read-only; make it writable (chmod u+w) and run this again")]
    ReadOnly,
    #[error("is not a regular file; move it away")]
    NotAFile,
    #[error("is a link to nothing; make its target or remove the link")]
    DanglingLink,
    #[error("was changed by another program in the meantime; run this again")]
    Changed,
    #[error("could not be handled while {doing}: {source}; nothing in it was changed")]
    Disk { doing: &'static str, source: io::Error },
}

impl Refusal {
    /// Turns a disk error into a refusal that says what was being done.
    pub(super) fn during(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Disk { doing, source }
    }
}
