//! Which files are taught: those named, and those below named folders, but for what is hidden,
//! ignored, switched off or no file.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::ignoring::{Rules, is_left_out};
use crate::capture::is_ignored;

/// Files taught at once.
const FILES_MAX: usize = 20_000;
/// Folders in each other.
const DEPTH_MAX: usize = 64;
/// What other programs unpack or compile into, whether git knows of it or not.
const MADE_FOLDERS: &[&str] = &["node_modules", "__pycache__", "venv"];

/// What was found under the names somebody gave.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) files: Vec<FoundFile>,
    /// What was left out, each with its reason.
    pub(crate) skipped: Vec<(String, String)>,
    /// The folders that were named.
    pub(crate) folders: Vec<PathBuf>,
}

/// A file to be taught.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundFile {
    /// Where it is, without any link.
    pub(crate) path: PathBuf,
    /// How it is called: what was named, and the way from there.
    pub(crate) name: String,
}

/// Finds the files that are meant. A name that means nothing is an error; what lies in a folder and
/// cannot be taught is told.
pub(crate) fn find_files(paths: &[PathBuf], switched_off: &[String]) -> anyhow::Result<Found> {
    let mut found = Found::default();
    for path in paths {
        let shown = || path.display();
        let facts =
            fs::symlink_metadata(path).with_context(|| format!("looking at {}", shown()))?;
        if facts.is_symlink() {
            bail!("{} is a symbolic link; name what it points to", shown());
        }
        let whole = fs::canonicalize(path).with_context(|| format!("looking at {}", shown()))?;
        let folder = if facts.is_dir() { Some(whole.as_path()) } else { whole.parent() };
        if folder.is_some_and(|folder| is_ignored(folder, switched_off)) {
            bail!("{} is switched off by .iai-mcp-ignore or a setting", shown());
        }
        let name = whole.file_name().map_or_else(|| "/".into(), |name| name.to_string_lossy());
        if facts.is_dir() {
            found.folders.push(whole.clone());
            gather(&whole, &name, &Rules::above(&whole), &mut found, 0)?;
        } else if facts.is_file() {
            let name = name.into_owned();
            found.files.push(FoundFile { path: whole.clone(), name });
        } else {
            bail!("{} is no file", shown());
        }
    }
    let mut seen = BTreeSet::new();
    found.files.retain(|file| seen.insert(file.path.clone()));
    Ok(found)
}

fn gather(
    folder: &Path,
    name: &str,
    above: &[Rules],
    found: &mut Found,
    depth: usize,
) -> anyhow::Result<()> {
    let mut skip = |name: String, reason: &str| found.skipped.push((name, reason.to_owned()));
    if DEPTH_MAX <= depth {
        skip(name.to_owned(), "lies too deep");
        return Ok(());
    }
    if folder.join(crate::capture::IGNORE_FILE).exists() {
        skip(name.to_owned(), "is switched off by .iai-mcp-ignore");
        return Ok(());
    }
    let mut rules = above.to_vec();
    rules.extend(Rules::of(folder));
    let entries = fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let file_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = format!("{name}/{file_name}");
        let Ok(facts) = fs::symlink_metadata(&path) else { continue };
        if let Some(reason) = why_not(&path, &file_name, &facts, &rules) {
            // Nobody wants to hear of each hidden file.
            if !file_name.starts_with('.') {
                found.skipped.push((name, reason.to_owned()));
            }
        } else if facts.is_dir() {
            gather(&path, &name, &rules, found, depth + 1)?;
        } else if FILES_MAX <= found.files.len() {
            bail!("there are more than {FILES_MAX} files; teach the folders one by one");
        } else {
            found.files.push(FoundFile { path, name });
        }
    }
    Ok(())
}

fn why_not(
    path: &Path,
    file_name: &str,
    facts: &fs::Metadata,
    rules: &[Rules],
) -> Option<&'static str> {
    if facts.is_symlink() {
        return Some("is a symbolic link");
    }
    if file_name.starts_with('.') {
        return Some("is hidden");
    }
    if facts.is_dir() && MADE_FOLDERS.contains(&file_name) {
        return Some("is made by a program");
    }
    if is_left_out(rules, path, facts.is_dir()) {
        return Some("is left out by .gitignore");
    }
    (!facts.is_dir() && !facts.is_file()).then_some("is no file")
}
