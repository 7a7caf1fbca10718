//! Where turns can be taken from: hosts' transcripts, data exports, spool folders.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context as _, bail};
use serde_json::Value;

use super::notes::Peer;
use crate::fields::Fields as _;
use crate::host;

/// What of a file is looked at to tell what it is.
const HEAD_BYTES: u64 = 4096;
const FILES_MAX: usize = 100_000;
/// What the first line of an export of ours says it is.
const OWN_EXPORT: &str = "iai-mcp export";

/// A file with turns in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Transcript {
        path: PathBuf,
        /// A plain file a host may still append to.
        is_growing: bool,
    },
    /// `conversations.json` of a ChatGPT or Claude data export.
    Export { path: PathBuf },
    /// A version 1 spool file.
    Spool { path: PathBuf },
    /// A file that `export` made.
    Own { path: PathBuf },
    /// Notes of another memory program.
    Notes { path: PathBuf, peer: Peer },
}

/// What the user asked for.
pub(crate) struct Selection<'a> {
    /// Only these files and folders; empty means every host found.
    pub(crate) paths: &'a [PathBuf],
    /// Only this host, by its stored name.
    pub(crate) host: Option<&'a str>,
}

impl Source {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Transcript { path, .. }
            | Self::Export { path }
            | Self::Spool { path }
            | Self::Own { path }
            | Self::Notes { path, .. } => path,
        }
    }

    /// The session a file is named after, for turns that do not say theirs.
    pub(crate) fn session(&self) -> Option<String> {
        host::session_named(self.path())
    }

    /// The folder of a transcript's turns, for those that do not say theirs.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        match self {
            Self::Transcript { path, .. } => host::folder_of(path),
            Self::Export { .. } | Self::Spool { .. } | Self::Own { .. } | Self::Notes { .. } => {
                None
            }
        }
    }
}

/// What was found under the places asked for.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    pub(crate) found: Vec<Source>,
    /// Files with a transcript's ending in folders that were named, which nobody can read.
    pub(crate) unknown: Vec<PathBuf>,
}

/// Finds what to take. A named file that nobody can read is an error; in a folder it is passed
/// over, and told where it looks like a transcript.
pub(crate) fn find_sources(
    user_home: Option<&Path>,
    selection: &Selection<'_>,
) -> anyhow::Result<Sources> {
    let mut sources = Sources::default();
    if selection.paths.is_empty() {
        let home = user_home.context("HOME is not set; name the files to import")?;
        for found in host::discover(home) {
            if selection.host.is_none_or(|host| host == found.source.host.name()) {
                sources.found.push(transcript(found.path));
            }
        }
        sources.found.sort_by_cached_key(|source| written_at(source.path()));
        return Ok(sources);
    }
    for path in selection.paths {
        let metadata =
            fs::metadata(path).with_context(|| format!("looking at {}", path.display()))?;
        if metadata.is_dir() {
            gather(path, &mut sources)?;
        } else {
            let Some(source) = recognise(path)? else {
                bail!(
                    "{} is no transcript, export, spool file or notes we know; `iai-mcp teach` \
                     takes any text",
                    path.display()
                );
            };
            sources.found.push(source);
        }
    }
    Ok(sources)
}

/// When a file was last written. Meaning is worked out from what was stored last on: with the
/// latest session at the end, whoever asks right after an import is understood there first.
fn written_at(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

fn gather(folder: &Path, sources: &mut Sources) -> anyhow::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).with_context(|| format!("listing {}", folder.display()))?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            if metadata.is_dir() {
                folders.push(path);
            } else if metadata.is_file() && sources.found.len() < FILES_MAX {
                match recognise(&path)? {
                    Some(source) => sources.found.push(source),
                    None if is_named_as_lines(&path) => sources.unknown.push(path),
                    None => {}
                }
            }
        }
    }
    Ok(())
}

fn is_named_as_lines(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.ends_with(".jsonl") || name.ends_with(".jsonl.zst")
}

fn recognise(path: &Path) -> anyhow::Result<Option<Source>> {
    let mut head = Vec::new();
    let opened =
        host::open_lines(path).and_then(|lines| lines.take(HEAD_BYTES * 16).read_to_end(&mut head));
    opened.with_context(|| format!("reading {}", path.display()))?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if name == "conversations.json" {
        return Ok(Some(Source::Export { path: path.to_owned() }));
    }
    if is_own_export(&head) {
        return Ok(Some(Source::Own { path: path.to_owned() }));
    }
    if is_spool_file(&head) {
        return Ok(Some(Source::Spool { path: path.to_owned() }));
    }
    if let Some(peer) = Peer::recognise(&head) {
        return Ok(Some(Source::Notes { path: path.to_owned(), peer }));
    }
    Ok(host::recognise(path, &head).ok().map(|_| transcript(path.to_owned())))
}

fn is_own_export(head: &[u8]) -> bool {
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let fields: Option<Value> = serde_json::from_slice(first).ok();
    fields.is_some_and(|fields| fields.at("kind") == OWN_EXPORT)
}

fn is_spool_file(head: &[u8]) -> bool {
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let fields: Option<serde_json::Map<_, _>> = serde_json::from_slice(first).ok();
    fields.is_some_and(|fields| fields.contains_key("deferred_at"))
}

fn transcript(path: PathBuf) -> Source {
    let is_growing =
        path.extension().is_some_and(|extension| extension == "jsonl") && File::open(&path).is_ok();
    Source::Transcript { path, is_growing }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_was_written_last_comes_last() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".claude/projects/-p");
        fs::create_dir_all(&folder).unwrap();
        for (name, days_ago) in [("a", 1), ("b", 3), ("c", 2)] {
            let path = folder.join(format!("{name}.jsonl"));
            fs::write(&path, "{\"type\":\"user\",\"sessionId\":\"s\"}\n").unwrap();
            let at = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * (9 - days_ago));
            File::options().append(true).open(&path).unwrap().set_modified(at).unwrap();
        }
        let found = find_sources(Some(home.path()), &Selection { paths: &[], host: None }).unwrap();
        let names: Vec<_> = found.found.iter().map(|source| source.session().unwrap()).collect();
        assert_eq!(names, ["b", "c", "a"]);
    }
}
