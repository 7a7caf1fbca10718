//! Archives whose bytes depend on nothing but what is in them: sorted, owned by root, one time.
//!
//! Written here because every tool that makes them writes down who packed, when and where.

mod ar;
mod tar;
mod zip;

use std::io::Write as _;

use flate2::{Compression, GzBuilder};

pub(crate) use ar::ar;
pub(crate) use tar::tar;
#[cfg(test)]
pub(crate) use tar::tests::read as read_tar;
pub(crate) use zip::zip;

/// A file that goes into an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Relative, with `/`.
    pub(crate) path: String,
    pub(crate) mode: Mode,
    pub(crate) content: Vec<u8>,
}

/// Who may do what with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Data,
    Program,
}

impl Mode {
    fn bits(self) -> u32 {
        match self {
            Self::Data => 0o644,
            Self::Program => 0o755,
        }
    }
}

impl Entry {
    pub(crate) fn data(path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), mode: Mode::Data, content: content.into() }
    }

    pub(crate) fn program(path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), mode: Mode::Program, content: content.into() }
    }

    /// Returns it under another folder.
    pub(crate) fn below(mut self, folder: &str) -> Self {
        self.path = format!("{folder}/{}", self.path);
        self
    }
}

/// Compresses, without a name or a time in the header.
pub(crate) fn gzip(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut packed = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    let done = packed.write_all(bytes).and_then(|()| packed.finish());
    done.map_err(|error| format!("cannot compress: {error}"))
}

/// Returns the entries in the order of their paths; two of one path are a mistake.
fn sorted(entries: &[Entry]) -> Result<Vec<&Entry>, String> {
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by(|a, b| a.path.cmp(&b.path));
    let pairs = sorted.iter().zip(sorted.iter().skip(1));
    match pairs.into_iter().find(|(a, b)| a.path == b.path) {
        Some((twice, _)) => Err(format!("{} is packed twice", twice.path)),
        None => Ok(sorted),
    }
}

/// Returns every folder above the entries, parents first.
fn folders(entries: &[Entry]) -> Vec<String> {
    let above = entries.iter().flat_map(|entry| {
        entry.path.match_indices('/').filter_map(|(at, _)| entry.path.get(..at).map(str::to_owned))
    });
    let mut folders: Vec<String> = above.collect();
    folders.sort();
    folders.dedup();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_before_what_they_hold() {
        let entries = [Entry::data("b/c/x", ""), Entry::data("a", ""), Entry::data("b/y", "")];
        assert_eq!(folders(&entries), ["b", "b/c"]);
        let paths: Vec<&str> = sorted(&entries).unwrap().iter().map(|e| e.path.as_str()).collect();
        assert_eq!(paths, ["a", "b/c/x", "b/y"]);
        assert!(sorted(&[Entry::data("a", "1"), Entry::data("a", "2")]).is_err());
    }

    #[test]
    fn a_compressed_text_says_nothing_about_its_making() {
        let packed = gzip(b"hello").unwrap();
        assert_eq!(packed, gzip(b"hello").unwrap());
        assert_eq!(packed.get(3..8), Some(&[0, 0, 0, 0, 0][..]), "no name, no time");
    }
}
