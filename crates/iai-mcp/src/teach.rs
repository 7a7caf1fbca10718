//! Teaching: text out of files, cut into passages and handed to the daemon with where each comes
//! from. Nobody said it, and nothing here pretends that somebody did.
//!
//! [`read`] is pure: a name and bytes in, passages or a refusal out. [`Material::read`] does it for
//! what somebody may have made to break a parser, and [`send`] has the passages stored: whoever has
//! a name and bytes, from a disk or from a page, needs these two.

mod contained;
mod docx;
mod folder;
#[cfg(test)]
mod fuzz;
mod html;
mod ignoring;
mod kind;
mod markdown;
mod pdf;
mod sample;
mod sending;
mod source;
mod split;
mod telling;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub(crate) use contained::parse_alone;
pub(crate) use folder::{FoundFile, find_files};
pub(crate) use sending::{
    Lesson, Material, Origin, Removed, Taught, Vanished, digest_of, is_known, retire_lost, send,
    taught_files,
};
pub(crate) use telling::parse_set;

use contained::read_contained;
use kind::Kind;

/// A larger file is a book or a dump; it has to be split first.
pub(crate) const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Passages of one file.
const PASSAGES_MAX: usize = 20_000;

/// A piece of text that is found and shown as one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Passage {
    /// The words; of a text file, byte for byte.
    pub(crate) text: String,
    /// Which part of the file it is.
    pub(crate) part: Part,
    /// When it was written, where that is known apart from the file.
    pub(crate) at: Option<Timestamp>,
}

/// A part of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    /// The headings it stands under, the outermost first.
    pub(crate) headings: Vec<String>,
    /// Its first and last line, counted from 1.
    pub(crate) lines: Option<(usize, usize)>,
    /// Its page, counted from 1.
    pub(crate) page: Option<usize>,
}

impl Part {
    /// Names the part in a few words: `§Retry, lines 3–9`; empty for a whole without headings.
    pub(crate) fn describe(&self) -> String {
        let heading = self.headings.last().map(|heading| format!("§{heading}"));
        let page = self.page.map(|page| format!("page {page}"));
        let lines = self.lines.map(|(first, last)| format!("lines {first}–{last}"));
        let named: Vec<String> = heading.into_iter().chain(page).chain(lines).collect();
        named.join(", ")
    }
}

/// Why nothing of a file is taught.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
pub(crate) enum Refusal {
    #[error("it has {bytes} bytes, more than {FILE_BYTES_MAX}; split it first")]
    TooLarge { bytes: u64 },
    #[error("it makes more than {PASSAGES_MAX} passages; split it first")]
    TooMany,
    #[error("it holds no text")]
    NoText,
    #[error("it is no text but {what}")]
    Binary { what: String },
    #[error("it is neither UTF-8 nor UTF-16; convert it first")]
    Encoding,
    #[error("it is encrypted; save a copy without a password")]
    Encrypted,
    #[error("its pages are pictures without a text layer; have the text recognised first")]
    OnlyImages,
    #[error("it unpacks to more than {max} bytes, or to more than {ratio} times its size")]
    Bomb { max: u64, ratio: u64 },
    #[error("it declares a document type or entities of its own, which documents do not need")]
    Entities,
    #[error("it holds a part called `{name}`, which points outside of it")]
    Path { name: String },
    #[error("it cannot be read: {why}")]
    Broken { why: String },
    #[error("reading it took more than {what}, and was given up")]
    Exhausting { what: String },
}

impl Refusal {
    fn broken(why: impl std::fmt::Display) -> Self {
        // A parser's error may quote the file; one line is enough.
        let why: String = why.to_string().chars().take(200).collect();
        Self::Broken { why: why.replace(['\n', '\r'], " ") }
    }
}

/// Cuts a file into passages. The name tells what kind of text it is, where the bytes do not.
pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Vec<Passage>, Refusal> {
    let n_bytes = bytes.len() as u64;
    if FILE_BYTES_MAX < n_bytes {
        return Err(Refusal::TooLarge { bytes: n_bytes });
    }
    let passages = match kind::of(name, bytes)? {
        Kind::Markdown => markdown::passages(&kind::decoded(bytes)?),
        Kind::Text => split::of_text(&kind::decoded(bytes)?),
        Kind::Source => source::passages(&kind::decoded(bytes)?),
        Kind::Html => html::passages(&kind::decoded(bytes)?),
        Kind::Pdf => pdf::passages(bytes)?,
        Kind::Docx => docx::passages(bytes)?,
    };
    match passages.len() {
        0 => Err(Refusal::NoText),
        n if PASSAGES_MAX < n => Err(Refusal::TooMany),
        _ => Ok(passages),
    }
}

#[cfg(test)]
mod tests;
