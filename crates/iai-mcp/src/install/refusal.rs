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
    // Named in the message and not a source too: whoever tells the whole chain would tell it twice.
    #[error(
        "could not be handled while {doing}: {cause}; nothing in it was changed{}",
        room(cause)
    )]
    Disk { doing: &'static str, cause: io::Error },
}

impl Refusal {
    /// Returns how the file is broken, where it is no settings file at all: its host cannot read it
    /// either.
    pub(crate) fn broken(&self) -> Option<String> {
        match self {
            Self::NotJson(place) => Some(format!("is not JSON at {place}")),
            Self::NotToml { line, column, what } => {
                Some(format!("is not TOML at line {line}, column {column}: {what}"))
            }
            Self::NotUtf8(place) => Some(format!("is not UTF-8 at byte {place}")),
            Self::RootNotObject
            | Self::WrongType { .. }
            | Self::NameTaken
            | Self::TomlShape
            | Self::TooLarge(_)
            | Self::ReadOnly
            | Self::NotAFile
            | Self::DanglingLink
            | Self::Changed
            | Self::Disk { .. } => None,
        }
    }

    /// Turns a disk error into a refusal that says what was being done.
    pub(super) fn during(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Disk { doing, cause }
    }
}

/// What to do where there was no room for it.
fn room(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; free some space",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once_and_a_full_disk_with_what_to_do() {
        let check = |code: i32, want: &str| {
            let error = io::Error::from_raw_os_error(code);
            let refusal = Refusal::during("writing its new text beside it")(error);
            assert_eq!(format!("{:#}", anyhow::Error::from(refusal)), want);
        };
        check(
            28,
            "could not be handled while writing its new text beside it: No space left on device \
             (os error 28); nothing in it was changed; free some space",
        );
        check(
            13,
            "could not be handled while writing its new text beside it: Permission denied (os \
             error 13); nothing in it was changed",
        );
    }
}
