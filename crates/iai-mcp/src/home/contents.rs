//! What of the store's folder is ours, so that all of it can go and nothing else does.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use super::{CAPTURE_STATE, CONFIG, EXCHANGED, Home, SPOOL};

/// Files of the root by their names.
const FILES: [&str; 13] = [
    ".daemon.lock",
    ".daemon.sock",
    ".crypto.key",
    ".identity-draft.md",
    CONFIG,
    "install-ledger.json",
    "install-ledger.json.tmp",
    "memory.db",
    "memory.db-journal",
    "memory.db-shm",
    "memory.db-wal",
    "spool.pub",
    "vault.json",
];

/// Folders of the root, and what in them is ours.
const FOLDERS: [(&str, Within); 6] = [
    (CAPTURE_STATE, Within::All),
    (SPOOL, Within::All),
    ("aside", Within::All),
    ("logs", Within::All),
    ("models", Within::Models),
    ("reflection", Within::Ignore),
];

/// How folders begin that are made for a while, or when a store is exchanged.
const FOLDER_STARTS: [&str; 4] = [".doctor-", ".next-preparing-", EXCHANGED, "replaced-"];

/// Which files of a folder are ours.
#[derive(Clone, Copy)]
enum Within {
    All,
    /// Model files, and folders they are fetched into.
    Models,
    /// The one file that keeps sessions there from being captured; the rest is not ours.
    Ignore,
}

/// Returns what in the store's folder was not made by this program: links too, whatever their
/// names, because what they lead to is somebody else's choice.
pub(crate) fn foreign_files(home: &Home) -> io::Result<Vec<PathBuf>> {
    let mut foreign = Vec::new();
    for (path, name) in entries(home.root())? {
        let facts = fs::symlink_metadata(&path)?;
        if facts.is_dir() {
            match within(&name) {
                Some(within) => gather_foreign(&path, within, &mut foreign)?,
                None => foreign.push(path),
            }
        } else if !(facts.is_file() || facts.file_type().is_socket()) || !is_ours(&name) {
            foreign.push(path);
        }
    }
    foreign.sort();
    Ok(foreign)
}

fn within(name: &str) -> Option<Within> {
    let known = FOLDERS.iter().find(|(folder, _)| *folder == name).map(|(_, within)| *within);
    let is_passing = FOLDER_STARTS.iter().any(|start| name.starts_with(start));
    known.or(is_passing.then_some(Within::All))
}

/// A file written aside has the name of the one it becomes in its own.
fn is_ours(name: &str) -> bool {
    let aside = name.strip_prefix('.').and_then(|name| name.strip_suffix(".new"));
    let becomes = aside.and_then(|name| name.rsplit_once('.')).map(|(name, _)| name);
    FILES.contains(&name) || becomes.is_some_and(|name| FILES.contains(&name))
}

fn gather_foreign(folder: &Path, within: Within, foreign: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut folders = vec![(folder.to_owned(), within)];
    while let Some((folder, within)) = folders.pop() {
        for (path, name) in entries(&folder)? {
            let kind = fs::symlink_metadata(&path)?.file_type();
            let is_fetched = name.starts_with(".fetch-");
            let is_ours = match within {
                Within::All => true,
                Within::Models => is_fetched || name.ends_with(".iai") || name.ends_with(".new"),
                Within::Ignore => name == ".iai-mcp-ignore",
            };
            if !is_ours || kind.is_symlink() {
                foreign.push(path);
            } else if kind.is_dir() {
                folders.push((path, Within::All));
            }
        }
    }
    Ok(())
}

/// Deletes the folder with everything in it, unless something in it is foreign. A folder that is
/// reached through a link stays, empty: the link is the user's. Returns what was foreign.
#[expect(clippy::disallowed_methods, reason = "only what was found to be ours")]
pub(crate) fn delete_all(home: &Home) -> io::Result<Vec<PathBuf>> {
    let foreign = match foreign_files(home) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        found => found?,
    };
    if !foreign.is_empty() {
        return Ok(foreign);
    }
    // The key and the lock go last: whatever interrupts this, what is left can be read, and is
    // nobody's but the holder's of the lock.
    let is_last = |name: &str| matches!(name, ".crypto.key" | "vault.json" | ".daemon.lock");
    let mut all = entries(home.root())?;
    all.sort_by_key(|(_, name)| (is_last(name), name == ".daemon.lock"));
    for (path, _) in all {
        match fs::symlink_metadata(&path)?.is_dir() {
            true => fs::remove_dir_all(&path)?,
            false => fs::remove_file(&path)?,
        }
    }
    if !fs::symlink_metadata(home.root())?.is_symlink() {
        fs::remove_dir(home.root())?;
    }
    let socket = home.socket();
    if fs::symlink_metadata(socket).is_ok_and(|facts| facts.file_type().is_socket()) {
        fs::remove_file(socket)?;
    }
    Ok(Vec::new())
}

fn entries(folder: &Path) -> io::Result<Vec<(PathBuf, String)>> {
    let named = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok((entry.path(), entry.file_name().to_string_lossy().into_owned()))
    };
    fs::read_dir(folder)?.map(named).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn store() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().join("store"), None);
        for name in ["logs", "models/.fetch-1/x", ".deferred-captures", "reflection", ".next"] {
            fs::create_dir_all(home.root().join(name)).unwrap();
        }
        for name in [
            "memory.db",
            "memory.db-wal",
            ".crypto.key",
            ".vault.json.00ff.new",
            "models/minilm.iai",
            "models/.fetch-1/x/a.tgz",
            "logs/daemon.log.1",
            "reflection/.iai-mcp-ignore",
        ] {
            fs::write(home.root().join(name), "x").unwrap();
        }
        (folder, home)
    }

    #[test]
    fn everything_of_ours_goes() {
        let (_folder, home) = store();
        assert_eq!(foreign_files(&home).unwrap(), Vec::<PathBuf>::new());
        assert_eq!(delete_all(&home).unwrap(), Vec::<PathBuf>::new());
        assert!(!home.root().exists());
        assert!(delete_all(&home).unwrap().is_empty(), "twice is no failure");
    }

    #[test]
    fn what_is_foreign_is_named_and_nothing_goes() {
        for name in ["notes.md", "models/notes.md", "reflection/out.txt", "own/", ".x.new"] {
            let (_folder, home) = store();
            let path = home.root().join(name.trim_end_matches('/'));
            match name.ends_with('/') {
                true => fs::create_dir(&path).unwrap(),
                false => fs::write(&path, "theirs").unwrap(),
            }
            assert_eq!(delete_all(&home).unwrap(), [path], "{name}");
            assert!(home.database().exists());
        }
    }

    #[test]
    fn a_link_is_foreign_and_a_linked_folder_stays() {
        let (folder, home) = store();
        let elsewhere = folder.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        let link = home.root().join("logs/link");
        symlink(&elsewhere, &link).unwrap();
        assert_eq!(delete_all(&home).unwrap(), std::slice::from_ref(&link));
        fs::rename(&link, folder.path().join("away")).unwrap();
        let root = folder.path().join("by-link");
        symlink(home.root(), &root).unwrap();
        let linked = Home::new(root.clone(), None);
        assert!(delete_all(&linked).unwrap().is_empty());
        assert!(home.root().is_dir() && fs::read_dir(home.root()).unwrap().next().is_none());
        assert!(fs::symlink_metadata(root).unwrap().is_symlink());
    }
}
