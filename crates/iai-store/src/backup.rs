//! Backups: the whole store in one sealed file, taken while others write, and put back.
//!
//! `docs/backup-format.md` describes the file. The pages in it are those of the database, encrypted
//! as they are in the store, so that nothing is in clear at any moment.

mod header;
mod restoring;
mod sealing;

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use rusqlite::backup::{Backup, StepResult};
use uuid::Uuid;

use crate::check;
use crate::connection;
use crate::error::{Result, StoreError};
use crate::exchange;
use crate::files::{self, StorePaths};
use crate::reader::{Reader, check_no_orphan};
use crate::record::{Counts, KeyOrigin};
use crate::vault::envelope::Envelope;
use crate::vault::{KeySource, Secret, Vault};
use header::{Head, Header, Needs};
use sealing::{HASH_BYTES, Hashing, OpeningReader, SealingWriter, damaged};

pub use restoring::{Existing, RestoreAsk, Restored, restore};

/// Pages copied before the caller is told how far it is: two mebibytes.
const PAGES_PER_STEP: i32 = 512;
/// The entry that holds the database; it comes first.
const DATABASE: &str = "memory.db";
const NAME_BYTES_MAX: u16 = 1024;
/// A file beside the database is held in memory; a spool file is some kibibytes.
const ATTACHED_BYTES_MAX: u64 = 256 * 1024 * 1024;
const KEY_LABEL: &str = "iai-mcp backup key 1";

/// A file beside the database that belongs to the ground state.
pub struct Attached {
    /// Where it stands below the store's folder.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// What a backup is and holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupFacts {
    /// The name drawn for the store it is of.
    pub store: Uuid,
    /// When it was taken.
    pub created_at: Timestamp,
    /// The program that wrote it.
    pub program: String,
    /// What opens it.
    pub needs: KeyOrigin,
    /// The short name of that key.
    pub key_id: String,
    /// How many memories are in it.
    pub memories: u64,
    /// How many links.
    pub links: u64,
    /// How long the file is.
    pub bytes: u64,
}

/// How a backup was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackupChecked {
    /// Every chunk was opened, and the database in it looks like what the header says.
    Opened,
    /// Only by its hash, because its key was not there.
    HashOnly,
}

/// Takes a backup into `file`, which must not exist. Whoever writes meanwhile goes on: what they
/// write after the beginning is not in it. `watch` is told pages copied and pages in all.
pub fn back_up(
    paths: &StorePaths,
    keys: &KeySource,
    ask: &BackupAsk<'_>,
    now: Timestamp,
    watch: &mut dyn FnMut(u64, u64),
) -> Result<BackupFacts> {
    if files::length_of(ask.file)?.is_some() {
        return Err(StoreError::FileExists { path: ask.file.to_owned() });
    }
    exchange::check_no_database_waits(paths)?;
    check::check_log_is_whole(&paths.database)?;
    let Some((vault, envelope)) = Vault::open_with_envelope(paths, keys)? else {
        check_no_orphan(paths)?;
        return Err(StoreError::NoStore { path: paths.folder.clone() });
    };
    let (mut database, counts) = snapshot(paths, &vault, ask.file, watch)?;
    let head = head_of(&envelope, &counts, ask.program, now)
        .map_err(|e| StoreError::io("writing a backup", ask.file, e))?;
    let aside = files::name_aside(ask.file)?;
    let written = write(&aside, &head, &vault, &mut database, ask.attached);
    let placed = written.and_then(|()| files::place_written(&aside, ask.file));
    if placed.is_err() && aside.exists() {
        files::discard(&aside)?;
    }
    placed?;
    facts_of(ask.file, &head.header)
}

/// What is backed up, and where to.
pub struct BackupAsk<'a> {
    /// The file to be made.
    pub file: &'a Path,
    /// Files beside the database.
    pub attached: &'a [Attached],
    /// Name and version of the program.
    pub program: &'a str,
}

/// Checks a backup without restoring it; with its key every chunk is opened, without it the hash of
/// the whole is compared.
pub fn check_backup(
    file: &Path,
    key_file: &Path,
    keys: &KeySource,
) -> Result<(BackupFacts, BackupChecked)> {
    let backup = Opened::open(file)?;
    let facts = facts_of(file, &backup.head.header)?;
    match backup.vault(key_file, keys) {
        Ok(vault) => {
            let mut entries = backup.into_entries(&vault)?;
            while let Some(entry) = entries.next()? {
                let mut bytes = entries.body(&entry);
                io::copy(&mut bytes, &mut io::sink()).map_err(|e| unbelievable(file, e))?;
            }
            entries.finish()?;
            Ok((facts, BackupChecked::Opened))
        }
        Err(
            StoreError::Backup { .. }
            | StoreError::KeyMissing { .. }
            | StoreError::PassphraseMissing { .. }
            | StoreError::WrongKey { .. },
        ) => {
            check_hash(file)?;
            Ok((facts, BackupChecked::HashOnly))
        }
        Err(other) => Err(other),
    }
}

/// Copies the database as it is now into a file without a name beside `file`: a kill leaves
/// nothing.
fn snapshot(
    paths: &StorePaths,
    vault: &Vault,
    file: &Path,
    watch: &mut dyn FnMut(u64, u64),
) -> Result<(File, Counts)> {
    let reader = Reader::connect(&paths.database, vault)?;
    // One read transaction around all steps: every page is of the same moment, and nobody waits.
    reader.run("beginning a backup", |c| c.execute_batch("BEGIN"))?;
    let counts = reader.counts()?;
    let aside = files::name_aside(file)?;
    let copy = files::create_private(&aside)?;
    let target = connection::open_copy(&aside, vault);
    files::discard(&aside)?;
    let mut target = target?;
    reader.run("copying the store", |source| {
        let backup = Backup::new(source, &mut target)?;
        loop {
            let step = backup.step(PAGES_PER_STEP)?;
            let progress = backup.progress();
            let count = |n: i32| u64::try_from(n).unwrap_or(0);
            watch(count(progress.pagecount - progress.remaining), count(progress.pagecount));
            match step {
                StepResult::Done => return Ok(()),
                StepResult::More => {}
                // Nobody else has the copy, and a reader of a log waits for no writer.
                _ => return Err(busy()),
            }
        }
    })?;
    drop(target);
    reader.run("ending a backup", |c| c.execute_batch("COMMIT"))?;
    Ok((copy, counts))
}

fn busy() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY), None)
}

fn head_of(
    envelope: &Envelope,
    counts: &Counts,
    program: &str,
    now: Timestamp,
) -> io::Result<Head> {
    let salt: [u8; 32] = files::random().map_err(io::Error::other)?;
    Head::new(Header {
        store: envelope.store().to_string(),
        created_at: now,
        program: program.to_owned(),
        needs: Needs::of(envelope.origin()),
        key_id: envelope.key_id(),
        memories: counts.memories,
        links: counts.links,
        events: counts.events,
        set_aside: counts.set_aside,
        salt: STANDARD.encode(salt),
        vault: serde_json::from_slice(envelope.bytes())?,
    })
}

fn write(
    aside: &Path,
    head: &Head,
    vault: &Vault,
    database: &mut File,
    attached: &[Attached],
) -> Result<()> {
    let file = files::create_private(aside)?;
    let writing = || -> io::Result<()> {
        let mut output = Hashing::new(BufWriter::new(file));
        output.write_all(&head.bytes)?;
        let mut body = SealingWriter::new(output, &key_of(vault, head));
        let n_bytes = database.seek(SeekFrom::End(0))?;
        database.seek(SeekFrom::Start(0))?;
        begin_entry(&mut body, DATABASE, n_bytes)?;
        let n_copied = io::copy(&mut BufReader::new(database.take(n_bytes)), &mut body)?;
        assert_eq!(n_copied, n_bytes, "nobody else has this file, so it keeps its length");
        for file in attached {
            begin_entry(&mut body, &file.name, file.bytes.len() as u64)?;
            body.write_all(&file.bytes)?;
        }
        body.write_all(&0_u16.to_le_bytes())?;
        let file = body.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()
    };
    writing().map_err(|e| StoreError::io("writing a backup", aside, e))
}

fn begin_entry(body: &mut impl Write, name: &str, n_bytes: u64) -> io::Result<()> {
    let n_name = u16::try_from(name.len()).unwrap_or(u16::MAX);
    if n_name == 0 || NAME_BYTES_MAX < n_name {
        return Err(io::Error::other("the name of an attached file is empty or too long"));
    }
    body.write_all(&n_name.to_le_bytes())?;
    body.write_all(name.as_bytes())?;
    body.write_all(&n_bytes.to_le_bytes())
}

/// `hkdf-sha256[salt = head](data key)`: bound to every byte of the head, fresh salt included.
fn key_of(vault: &Vault, head: &Head) -> Secret {
    vault.key_for(&head.bytes, KEY_LABEL)
}

fn facts_of(file: &Path, header: &Header) -> Result<BackupFacts> {
    let store = Uuid::try_parse(&header.store)
        .map_err(|_| refused(file, "its store has no name; it was not made by this program"))?;
    Ok(BackupFacts {
        store,
        created_at: header.created_at,
        program: header.program.clone(),
        needs: header.needs.origin(),
        key_id: header.key_id.clone(),
        memories: header.memories,
        links: header.links,
        bytes: files::length_of(file)?.unwrap_or(0),
    })
}

/// A backup whose head was read and believed.
struct Opened {
    path: PathBuf,
    file: File,
    head: Head,
}

impl Opened {
    fn open(path: &Path) -> Result<Self> {
        let failed = |e| StoreError::io("opening a backup", path, e);
        let facts = std::fs::metadata(path).map_err(failed)?;
        if facts.is_dir() {
            return Err(refused(path, "it is a folder; name the backup file itself"));
        }
        // A pipe would have us wait for its writer, and a device has no end.
        if !facts.is_file() {
            return Err(refused(path, "it is no regular file; name the backup file itself"));
        }
        let mut file = File::open(path).map_err(failed)?;
        let head = Head::read(&mut file).map_err(|e| unbelievable(path, e))?;
        Ok(Self { path: path.to_owned(), file, head })
    }

    fn envelope(&self) -> Result<Envelope> {
        let bytes = self.head.header.vault.get().as_bytes();
        let envelope = Envelope::parse(&self.path, bytes)
            .map_err(|error| refused(&self.path, error.to_string()))?;
        if envelope.store().to_string() != self.head.header.store {
            return Err(refused(&self.path, "its vault is that of another store"));
        }
        Ok(envelope)
    }

    /// Opens the vault in the head with a key file or a passphrase, whichever it asks for.
    fn vault(&self, key_file: &Path, keys: &KeySource) -> Result<Vault> {
        let envelope = self.envelope()?;
        let id = &self.head.header.key_id;
        let (master, what) = match envelope.origin() {
            KeyOrigin::File => {
                let why = format!(
                    "it needs the key file with the id {id}, and there is none at {}; give one \
                     with --key-file",
                    key_file.display()
                );
                if files::length_of(key_file)?.is_none() {
                    return Err(refused(&self.path, why));
                }
                (crate::vault::key_file::load(key_file)?, key_file.display().to_string())
            }
            KeyOrigin::Passphrase => {
                let words = keys.given().ok_or_else(|| {
                    refused(
                        &self.path,
                        "it needs the passphrase it was made under; set IAI_MCP_CRYPTO_PASSPHRASE",
                    )
                })?;
                (envelope.stretch(words)?, "the passphrase".to_owned())
            }
        };
        Vault::unwrap_from(&envelope, &master)?.ok_or_else(|| {
            let why = format!(
                "it was made under the key with the id {id}, and {what} is another; use the key \
                 of the time it was taken"
            );
            refused(&self.path, why)
        })
    }

    fn into_entries(self, vault: &Vault) -> Result<Entries> {
        let n_file = files::length_of(&self.path)?.unwrap_or(0);
        let n_around = self.head.bytes.len().saturating_add(HASH_BYTES) as u64;
        let Some(n_body) = n_file.checked_sub(n_around).filter(|n| *n > 0) else {
            return Err(refused(&self.path, "it ends right behind its header; it was cut off"));
        };
        let mut head = Hashing::new(io::sink());
        let hashed = head.write_all(&self.head.bytes);
        hashed.map_err(|e| unbelievable(&self.path, e))?;
        let input = head.with(BufReader::new(self.file));
        let body = OpeningReader::new(input, &key_of(vault, &self.head), n_body);
        Ok(Entries { path: self.path, body })
    }
}

/// The files in a backup, one after the other.
struct Entries {
    path: PathBuf,
    body: OpeningReader<BufReader<File>>,
}

/// The head of one of them.
struct Entry {
    name: String,
    n_bytes: u64,
}

impl Entries {
    fn next(&mut self) -> Result<Option<Entry>> {
        self.read_next().map_err(|e| unbelievable(&self.path, e))
    }

    fn read_next(&mut self) -> io::Result<Option<Entry>> {
        let mut length = [0; 2];
        self.body.read_exact(&mut length)?;
        let n_name = u16::from_le_bytes(length);
        if n_name == 0 {
            return Ok(None);
        }
        if NAME_BYTES_MAX < n_name {
            return Err(damaged("a file in it has too long a name"));
        }
        let mut name = vec![0; usize::from(n_name)];
        self.body.read_exact(&mut name)?;
        let name = String::from_utf8(name).map_err(|_| damaged("a file in it has no name"))?;
        let mut n_bytes = [0; 8];
        self.body.read_exact(&mut n_bytes)?;
        Ok(Some(Entry { name, n_bytes: u64::from_le_bytes(n_bytes) }))
    }

    fn body(&mut self, entry: &Entry) -> impl Read {
        (&mut self.body).take(entry.n_bytes)
    }

    /// Looks whether this was all of it, and as it was written.
    fn finish(mut self) -> Result<()> {
        let mut rest = Vec::new();
        let ended = self.body.by_ref().take(1).read_to_end(&mut rest).and_then(|n| match n {
            0 => self.body.finish(),
            _ => Err(damaged("there is something behind its last file")),
        });
        ended.map_err(|e| unbelievable(&self.path, e))
    }
}

/// Compares the hash at the end with everything before it.
fn check_hash(path: &Path) -> Result<()> {
    let failed = |e| StoreError::io("reading a backup", path, e);
    let file = File::open(path).map_err(failed)?;
    let n_file = file.metadata().map_err(failed)?.len();
    let n_hashed = n_file.saturating_sub(HASH_BYTES as u64);
    let mut hashing = Hashing::new(io::sink());
    let mut input = BufReader::new(file);
    io::copy(&mut input.by_ref().take(n_hashed), &mut hashing).map_err(failed)?;
    let mut written = [0; HASH_BYTES];
    input.read_exact(&mut written).map_err(failed)?;
    if written == hashing.digest() {
        return Ok(());
    }
    Err(refused(
        path,
        "its hash does not fit: bytes were changed or it was cut off; use another backup",
    ))
}

fn refused(path: &Path, why: impl Into<String>) -> StoreError {
    StoreError::Backup { path: path.to_owned(), why: why.into() }
}

fn unbelievable(path: &Path, error: io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::InvalidData => refused(path, format!("{error}; use another backup")),
        io::ErrorKind::UnexpectedEof => refused(path, "it was cut off; use another backup"),
        _ => StoreError::io("reading a backup", path, error),
    }
}
