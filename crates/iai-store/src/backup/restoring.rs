//! Puts a backup back: opened and checked aside, then exchanged for what is there in one rename.

use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use jiff::Timestamp;
use uuid::Uuid;

use super::{ATTACHED_BYTES_MAX, BackupFacts, DATABASE, Entries, Opened};
use super::{facts_of, refused, unbelievable};
use crate::connection;
use crate::error::{Result, StoreError};
use crate::exchange::{self, Staging};
use crate::files::{self, StorePaths};
use crate::reader::Reader;
use crate::record::KeyOrigin;
use crate::schema::{self, Progress};
use crate::vault::envelope::Envelope;
use crate::vault::{KeySource, Vault, key_file};

/// What to put back, and what may happen to what is there.
pub struct RestoreAsk<'a> {
    /// The backup.
    pub file: &'a Path,
    /// The key file that opens it, where it needs one.
    pub key_file: &'a Path,
    /// Which attached files are welcome, by their names below the store's folder.
    pub is_welcome: &'a dyn Fn(&str) -> bool,
    /// What becomes of a store that is there.
    pub existing: Existing,
    /// The folder that says how far transcripts were read. It goes with the store that is there:
    /// what was said since the backup would otherwise be taken for stored.
    pub cursors: &'a str,
    /// The folder of waiting turns. It goes with a store of another id, whose key alone opens them.
    pub spool: &'a str,
}

/// What becomes of a store that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It is a reason to refuse.
    Refuses,
    /// It is moved into a folder of its own.
    MovedAside,
}

/// What was put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// What the backup says about itself.
    pub facts: BackupFacts,
    /// Where that is now which was there: a store, how far transcripts were read, or both.
    pub replaced: Option<PathBuf>,
    /// What waited was sealed to the store that was there, and went with it.
    pub is_spool_replaced: bool,
}

/// Puts a backup in the place of the store. The caller owns the place: no daemon runs. A kill at
/// any point leaves what was there, or what is new, never half of each.
pub fn restore(
    paths: &StorePaths,
    keys: &KeySource,
    ask: &RestoreAsk<'_>,
    now: Timestamp,
) -> Result<Restored> {
    let backup = Opened::open(ask.file)?;
    let vault = backup.vault(ask.key_file, keys)?;
    let facts = facts_of(ask.file, &backup.head.header)?;
    files::ensure_folder(&paths.folder)?;
    exchange::settle(paths)?;
    let has_store = files::length_of(&paths.vault)?.is_some()
        || files::length_of(&paths.database)?.is_some_and(|length| length > 0);
    if has_store && ask.existing == Existing::Refuses {
        return Err(StoreError::StoreExists { path: paths.folder.clone() });
    }
    let staging = Staging::begin(paths)?;
    let has_cursors = paths.folder.join(ask.cursors).is_dir();
    let replaced = match has_store || has_cursors {
        true => Some(staging.keep_replaced(&now.strftime("%Y%m%d-%H%M%S").to_string())?),
        false => None,
    };
    let is_spool_replaced = is_of_another_store(paths, facts.store);
    match is_spool_replaced {
        true => staging.move_along(&[ask.cursors, ask.spool])?,
        false => staging.move_along(&[ask.cursors])?,
    }
    match stage(&staging, paths, backup, &vault, ask) {
        Ok(()) => staging.commit()?,
        Err(error) => {
            staging.drop_staged()?;
            return Err(error);
        }
    }
    Ok(Restored { facts, replaced, is_spool_replaced })
}

/// Where the vault cannot tell, waiting turns stay where they are: they may be for this store.
fn is_of_another_store(paths: &StorePaths, store: Uuid) -> bool {
    let there = Envelope::read(&paths.vault).ok().flatten();
    there.is_some_and(|envelope| envelope.store() != store)
}

fn stage(
    staging: &Staging<'_>,
    paths: &StorePaths,
    backup: Opened,
    vault: &Vault,
    ask: &RestoreAsk<'_>,
) -> Result<()> {
    let envelope = backup.envelope()?;
    let header = backup.head.header.clone();
    let mut entries = backup.into_entries(vault)?;
    let database = staging.path_for(&paths.database)?;
    let mut has_database = false;
    while let Some(entry) = entries.next()? {
        if entry.name == DATABASE && !has_database {
            has_database = true;
            copy_out(&mut entries, &entry, &database)?;
            continue;
        }
        let bytes = read_attached(&mut entries, &entry)?;
        if is_plain(&entry.name) && (ask.is_welcome)(&entry.name) {
            staging.put(Path::new(&entry.name), &bytes)?;
        }
    }
    entries.finish()?;
    if !has_database {
        return Err(refused(ask.file, "there is no database in it"));
    }
    staging.put(&paths.vault, envelope.bytes())?;
    // Hooks seal to it before any daemon ran here.
    staging.put(&paths.spool_public, vault.spool_public_line()?.as_bytes())?;
    if envelope.origin() == KeyOrigin::File {
        staging.put(&paths.key_file, &*key_file::load(ask.key_file)?)?;
    }
    let copy = Reader::of(connection::open_immutable(&database, vault)?, &database);
    check_pages(&copy, ask.file)?;
    match schema::check_version(&copy.connection, &copy.database)? {
        Progress::Blank => Err(refused(ask.file, "the database in it is empty")),
        Progress::Older | Progress::Current if header.has_counts(&copy.counts()?) => Ok(()),
        Progress::Older | Progress::Current => {
            Err(refused(ask.file, "the database in it holds another number of memories than said"))
        }
    }
}

fn copy_out(entries: &mut Entries, entry: &super::Entry, to: &Path) -> Result<()> {
    let path = entries.path.clone();
    let mut file = files::create_private(to)?;
    let mut body = entries.body(entry);
    let mut chunk = vec![0; super::sealing::CHUNK_BYTES];
    let mut n_left = entry.n_bytes;
    while n_left > 0 {
        let n = body.read(&mut chunk).map_err(|e| unbelievable(&path, e))?;
        if n == 0 {
            return Err(refused(&path, "it was cut off; use another backup"));
        }
        let piece = chunk.get(..n).unwrap_or_default();
        file.write_all(piece).map_err(|e| StoreError::io("writing a restored file", to, e))?;
        n_left = n_left.saturating_sub(n as u64);
    }
    file.sync_all().map_err(|e| StoreError::io("writing a restored file", to, e))
}

fn read_attached(entries: &mut Entries, entry: &super::Entry) -> Result<Vec<u8>> {
    let path = entries.path.clone();
    if ATTACHED_BYTES_MAX < entry.n_bytes {
        return Err(refused(&path, format!("the file {} in it is too large", entry.name)));
    }
    let mut bytes = Vec::new();
    entries.body(entry).read_to_end(&mut bytes).map_err(|e| unbelievable(&path, e))?;
    if bytes.len() as u64 == entry.n_bytes {
        return Ok(bytes);
    }
    Err(unbelievable(&path, io::ErrorKind::UnexpectedEof.into()))
}

/// A name may lead one folder down and nowhere else.
fn is_plain(name: &str) -> bool {
    let parts = Path::new(name).components();
    let is_down = parts.clone().all(|part| matches!(part, Component::Normal(_)));
    is_down && parts.count() <= 2
}

fn check_pages(copy: &Reader, file: &Path) -> Result<()> {
    for pragma in ["PRAGMA cipher_integrity_check", "PRAGMA quick_check(1)"] {
        let first = copy.run("checking a restored database", |c| {
            let mut statement = c.prepare(pragma)?;
            let mut rows = statement.query([])?;
            rows.next()?.map(|row| row.get::<_, String>(0)).transpose()
        })?;
        if let Some(wrong) = first.filter(|line| line != "ok") {
            return Err(refused(file, format!("the database in it is damaged ({wrong})")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_one_folder_down_at_most() {
        for (name, expect) in [
            ("config.json", true),
            (".deferred-captures/a.jsonl", true),
            ("a/b/c", false),
            ("../config.json", false),
            ("a/../../b", false),
            ("/etc/passwd", false),
        ] {
            assert_eq!(is_plain(name), expect, "{name}");
        }
    }
}
