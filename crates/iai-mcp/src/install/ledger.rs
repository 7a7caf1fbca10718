//! What we did to which file, so that leaving gives back the very bytes we found.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::disk;
use crate::home::{Home, ensure_private_folder};

const VERSION: u32 = 1;
const BYTES_MAX: u64 = 1024 * 1024;

/// One entry per file, under the path its host reads.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Ledger {
    version: u32,
    files: BTreeMap<String, Entry>,
}

/// What we did to one file.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Entry {
    /// `None` where there was no file.
    pub(super) sha256_before: Option<String>,
    pub(super) sha256_after: String,
    /// Where the bytes before us are kept.
    pub(super) backup: Option<PathBuf>,
    /// The folder is ours too.
    pub(super) is_folder_made: bool,
    /// And these around it, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) outer_folders_made: Vec<PathBuf>,
    /// What was there before held nothing of ours, so that it can be put back whole.
    pub(super) is_restorable: bool,
}

impl Entry {
    pub(super) fn is_created(&self) -> bool {
        self.sha256_before.is_none()
    }

    /// Returns the folders around the file that were not there before us, innermost first.
    pub(super) fn folders_made<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = &'a Path> {
        let own = path.parent().filter(|_| self.is_folder_made);
        own.into_iter().chain(self.outer_folders_made.iter().map(PathBuf::as_path))
    }

    /// Returns the bytes we found, where the backup still holds them.
    pub(super) fn original(&self) -> Option<Vec<u8>> {
        let held = disk::read(self.backup.as_deref()?).ok()??;
        (Some(sha256(&held.bytes)) == self.sha256_before).then_some(held.bytes)
    }
}

impl Ledger {
    pub(super) fn load(home: &Home) -> anyhow::Result<Self> {
        let path = home.install_ledger();
        let reading = || format!("reading the install ledger {}", path.display());
        match fs::metadata(&path) {
            Ok(metadata) if BYTES_MAX < metadata.len() => {
                anyhow::bail!("{} is too large to be our ledger; move it away", path.display())
            }
            Ok(_) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(Self { version: VERSION, files: BTreeMap::new() });
            }
            Err(error) => return Err(error).with_context(reading),
        }
        let text = fs::read_to_string(&path).with_context(reading)?;
        match serde_json::from_str::<Self>(&text) {
            Ok(ledger) if ledger.version == VERSION => Ok(ledger),
            Ok(ledger) => anyhow::bail!(
                "{} is of version {} and this program knows {VERSION}; use the newer iai-mcp",
                path.display(),
                ledger.version
            ),
            Err(error) => anyhow::bail!(
                "{} is damaged ({error}); move it away, and entries are recognised one by one",
                path.display()
            ),
        }
    }

    pub(super) fn get(&self, path: &Path) -> Option<&Entry> {
        self.files.get(&key(path))
    }

    pub(super) fn set(&mut self, path: &Path, entry: Entry) {
        self.files.insert(key(path), entry);
    }

    pub(super) fn remove(&mut self, path: &Path) {
        self.files.remove(&key(path));
    }

    /// Whether this folder was not there before us.
    pub(super) fn has_made(&self, folder: &Path) -> bool {
        let is_made = |(path, entry): (&String, &Entry)| {
            let is_own = entry.is_folder_made && Path::new(path).parent() == Some(folder);
            is_own || entry.outer_folders_made.iter().any(|outer| outer == folder)
        };
        self.files.iter().any(is_made)
    }

    /// Writes the ledger, or deletes it when there is nothing to remember.
    pub(super) fn save(&self, home: &Home) -> anyhow::Result<()> {
        let path = home.install_ledger();
        let writing = || format!("writing the install ledger {}", path.display());
        if self.files.is_empty() {
            return match disk::remove(&path) {
                // A folder with nothing else in it was made for the ledger; any other stays.
                Ok(()) => {
                    fs::remove_dir(home.root()).ok();
                    Ok(())
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                Err(error) => Err(error).with_context(writing),
            };
        }
        ensure_private_folder(home.root()).with_context(writing)?;
        let text = serde_json::to_string_pretty(self).with_context(writing)?;
        let aside = path.with_extension("json.tmp");
        disk::remove(&aside).ok();
        disk::create(&aside, text.as_bytes(), None).with_context(writing)?;
        fs::rename(&aside, &path).with_context(writing)?;
        fs::File::open(home.root()).and_then(|folder| folder.sync_all()).with_context(writing)
    }
}

/// Returns the digest as the ledger writes it.
pub(super) fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn key(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().join("store"), None);
        let mut ledger = Ledger::load(&home).unwrap();
        ledger.save(&home).unwrap();
        assert!(!home.root().exists(), "an empty ledger makes nothing");
        let entry = Entry {
            sha256_before: Some(sha256(b"a")),
            sha256_after: sha256(b"b"),
            backup: Some(folder.path().join("backup")),
            is_folder_made: false,
            outer_folders_made: Vec::new(),
            is_restorable: true,
        };
        ledger.set(Path::new("/x"), entry.clone());
        ledger.save(&home).unwrap();
        let mut again = Ledger::load(&home).unwrap();
        assert_eq!(again.get(Path::new("/x")), Some(&entry));
        again.remove(Path::new("/x"));
        again.save(&home).unwrap();
        assert!(!home.install_ledger().exists());
    }

    #[test]
    fn only_the_right_bytes_are_the_original() {
        let folder = tempfile::tempdir().unwrap();
        let backup = folder.path().join("backup");
        let entry = Entry {
            sha256_before: Some(sha256(b"right")),
            sha256_after: String::new(),
            backup: Some(backup.clone()),
            is_folder_made: false,
            outer_folders_made: Vec::new(),
            is_restorable: true,
        };
        assert_eq!(entry.original(), None);
        fs::write(&backup, "wrong").unwrap();
        assert_eq!(entry.original(), None);
        fs::write(&backup, "right").unwrap();
        assert_eq!(entry.original(), Some(b"right".to_vec()));
    }

    #[test]
    fn a_damaged_or_newer_ledger_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().to_owned(), None);
        for (text, want) in [("{", "damaged"), ("{\"version\":9,\"files\":{}}", "version 9")] {
            fs::write(home.install_ledger(), text).unwrap();
            let error = Ledger::load(&home).unwrap_err().to_string();
            assert!(error.contains(want), "{error}");
        }
    }
}
