//! The repository as the rules see it: every text file we keep, and every path there is.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use super::names::{self, Name};
use super::tokens::{self, Reading};

/// Folders whose content is not ours or not kept.
const SKIPPED_FOLDERS: &[&str] = &["target", "node_modules"];
/// Hidden folders that belong to the repository.
const KEPT_HIDDEN_FOLDERS: &[&str] = &[".cargo", ".ci", ".config", ".github"];
/// A larger file is data, not text somebody reads.
const TEXT_BYTES_MAX: u64 = 2 * 1024 * 1024;

/// Everything the rules look at.
pub(super) struct Tree {
    pub(super) texts: Vec<Text>,
    pub(super) sources: Vec<Source>,
    /// Every file and folder, relative to the root, data files too.
    paths: BTreeSet<String>,
}

/// A text file of any kind.
pub(super) struct Text {
    /// Relative to the repository root, with `/`.
    pub(super) path: String,
    pub(super) text: String,
}

/// A Rust file, taken apart.
pub(super) struct Source {
    pub(super) path: String,
    pub(super) text: String,
    pub(super) reading: Reading,
    pub(super) names: Vec<Name>,
    /// Lines before the inline test module; 0 in a file that is only for tests.
    pub(super) n_shipped_lines: usize,
}

impl Tree {
    pub(super) fn read(root: &Path) -> io::Result<Self> {
        let mut texts = Vec::new();
        let mut paths = BTreeSet::new();
        walk(root, "", &mut texts, &mut paths)?;
        Ok(Self::new(texts, paths))
    }

    /// Returns whether `path`, relative to the root, is a file or a folder; `*` is any one name.
    pub(super) fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        if !path.contains('*') {
            return path.is_empty() || self.paths.contains(path);
        }
        let pattern: Vec<&str> = path.split('/').collect();
        self.paths.iter().any(|candidate| {
            let parts: Vec<&str> = candidate.split('/').collect();
            parts.len() == pattern.len()
                && pattern.iter().zip(&parts).all(|(want, part)| is_match(want, part))
        })
    }

    pub(super) fn source(&self, path: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.path == path)
    }

    fn new(mut texts: Vec<Text>, paths: BTreeSet<String>) -> Self {
        texts.sort_by(|a, b| a.path.cmp(&b.path));
        let is_rust = |text: &&Text| text.path.ends_with(".rs");
        let sources = texts.iter().filter(is_rust).map(Source::new).collect();
        Self { texts, sources, paths }
    }

    /// Returns a tree that exists only in a test.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let mut paths = BTreeSet::new();
        let mut texts = Vec::new();
        for (path, text) in files {
            let folders = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
            paths.extend(folders.chain([*path]).map(str::to_owned));
            texts.push(Text { path: (*path).to_owned(), text: (*text).to_owned() });
        }
        Self::new(texts, paths)
    }
}

impl Source {
    fn new(text: &Text) -> Self {
        let reading = tokens::read(&text.text);
        let names = names::find(&reading, &module_of(&text.path));
        let n_shipped_lines = if is_for_tests(&text.path) { 0 } else { n_shipped(&text.text) };
        let (path, text) = (text.path.clone(), text.text.clone());
        Self { path, text, reading, names, n_shipped_lines }
    }

    /// Returns whether the file is `room.rs` or lies in the folder `room/`.
    pub(super) fn is_in(&self, room: &str) -> bool {
        let rest = self.path.strip_prefix(room);
        rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
    }
}

fn walk(
    folder: &Path,
    prefix: &str,
    texts: &mut Vec<Text>,
    paths: &mut BTreeSet<String>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() {
            let is_foreign = name.starts_with('.') && !KEPT_HIDDEN_FOLDERS.contains(&&*name);
            if !is_foreign && !SKIPPED_FOLDERS.contains(&&*name) {
                walk(&entry.path(), &format!("{path}/"), texts, paths)?;
                paths.insert(path);
            }
        } else if kind.is_file() {
            if entry.metadata()?.len() <= TEXT_BYTES_MAX
                && let Ok(text) = String::from_utf8(fs::read(entry.path())?)
            {
                texts.push(Text { path: path.clone(), text });
            }
            paths.insert(path);
        }
    }
    Ok(())
}

/// Returns the module a file holds, as the names below `crate`.
fn module_of(path: &str) -> Vec<String> {
    let (_, inside) = path.split_once("/src/").unwrap_or(("", path));
    let module = inside.trim_end_matches(".rs");
    if matches!(module, "main" | "lib") {
        return Vec::new();
    }
    module.split('/').map(str::to_owned).collect()
}

fn is_for_tests(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs")
}

/// Counts the lines before the first inline module that exists only in tests.
fn n_shipped(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let is_test_module = |at: &usize| {
        let mut after = lines.iter().skip(at + 1).filter(|line| !line.starts_with("#["));
        after.next().is_some_and(|line| line.contains("mod ") && line.ends_with('{'))
    };
    let marks = lines.iter().enumerate().filter(|(_, line)| **line == "#[cfg(test)]");
    marks.map(|(at, _)| at).find(is_test_module).unwrap_or(lines.len())
}

fn is_match(want: &str, part: &str) -> bool {
    match want.split_once('*') {
        Some((start, end)) => {
            part.len() >= start.len() + end.len() && part.starts_with(start) && part.ends_with(end)
        }
        None => want == part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_exist_or_match() {
        let tree = Tree::of(&[("crates/a/src/lib.rs", "//! A.\n")]);
        for path in ["crates", "crates/a/", "crates/*/src/lib.rs", "crates/a/src/*.rs"] {
            assert!(tree.has(path), "{path}");
        }
        for path in ["crate", "crates/b", "crates/*/lib.rs", "crates/a/src/*.md"] {
            assert!(!tree.has(path), "{path}");
        }
    }

    #[test]
    fn tests_are_not_shipped() {
        let cases = [
            ("a\nb\n", 2),
            ("a\n#[cfg(test)]\nmod tests {\n}\n", 1),
            ("a\n#[cfg(test)]\n#[expect(x, reason = \"y\")]\nmod tests {\n}\n", 1),
            ("#[cfg(test)]\nmod fake;\na\n", 3),
            ("#[cfg(test)]\nuse x;\na\n#[cfg(test)]\npub(crate) mod tests {\n}\n", 3),
        ];
        for (text, want) in cases {
            assert_eq!(n_shipped(text), want, "{text}");
        }
    }

    #[test]
    fn a_room_is_a_file_and_its_folder() {
        let tree = Tree::of(&[("s/mcp.rs", ""), ("s/mcp/tools.rs", ""), ("s/mcp_other.rs", "")]);
        let inside: Vec<bool> = tree.sources.iter().map(|source| source.is_in("s/mcp")).collect();
        assert_eq!(inside, [true, true, false]);
    }

    #[test]
    fn the_real_tree_is_read_without_what_was_built() {
        let tree = Tree::read(&crate::repository::root()).unwrap();
        assert!(tree.has("xtask/src/tidy/tree.rs") && tree.has("Cargo.toml"));
        assert!(!tree.has("target") && !tree.has(".git"));
    }
}
