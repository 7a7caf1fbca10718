//! The store: opens or makes every part of it, and owns the one connection that writes.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{Transaction, TransactionBehavior};
use zeroize::Zeroizing;

use crate::check::{self, CheckDepth, CheckReport};
use crate::connection;
use crate::error::{Result, StoreError};
use crate::exchange;
use crate::files::{self, Placed, SmallFile, StorePaths};
use crate::index::shared::SharedIndex;
use crate::index::{IndexPace, Made, MemoryIndex, saved};
use crate::place::{self, LogFault, LogPlace, Place};
use crate::reader::{Reader, check_no_orphan};
use crate::schema;
use crate::vault::{KeyMade, KeySource, NewMaster, Vault};
use crate::writing::Writing;

/// The open store. There is one per folder at a time, and it is the one that writes.
pub struct Store {
    paths: StorePaths,
    reader: Reader,
    vault: Arc<Vault>,
    /// Follows every commit once it is loaded.
    index: Arc<SharedIndex>,
    place: Place,
    log: Arc<LogPlace>,
    /// The last commit went into a file that was no longer in its place.
    is_taken: bool,
}

/// Opens connections that read a store which is open.
pub struct ReaderDoor {
    database: PathBuf,
    /// Its data key is that of the store for as long as the store is open.
    vault: Arc<Vault>,
    place: Place,
    log: Arc<LogPlace>,
}

impl ReaderDoor {
    /// Opens a connection.
    pub fn open(&self) -> Result<Reader> {
        Reader::connect(&self.database, &self.vault)
    }

    /// Refuses when the database or the log that the store has open is no longer in its place, or
    /// the log not as it was left.
    pub fn check_place(&self) -> Result<()> {
        self.place.check()?;
        self.log.check()
    }
}

/// What opening a store had to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// Everything was there.
    Nothing,
    /// The vault or the database was made, under a key that existed.
    Store,
    /// The key file was made as well.
    StoreAndKey,
}

impl Store {
    /// Opens the store and makes what is missing, in an order in which a crash loses nothing: key,
    /// vault, database, public key of the spool.
    pub fn open(paths: &StorePaths, keys: &KeySource, now: Timestamp) -> Result<(Self, Created)> {
        files::ensure_folder(&paths.folder)?;
        exchange::settle(paths)?;
        place::check_parts(paths)?;
        let (vault, vault_made) = match Vault::open(paths, keys)? {
            Some(vault) => {
                place::check_not_lost(paths)?;
                (vault, None)
            }
            None => {
                check_no_orphan(paths)?;
                let (vault, key) = Vault::create(paths, keys, now)?;
                (vault, Some(key))
            }
        };
        files::ensure_private(&paths.vault)?;
        let database = files::ensure_private_file(&paths.database)?;
        check::keep_damaged_log(paths, now)?;
        let reader = Reader::of(connection::open_writer(&paths.database, &vault)?, &paths.database);
        schema::migrate(&reader.connection, &reader.database, vault.store(), now)?;
        ensure_spool_public(paths, &vault)?;
        let (vault, place) = (Arc::new(vault), Place::of(&paths.database)?);
        let log = Arc::new(LogPlace::of(&paths.database)?);
        let (paths, index) = (paths.clone(), Arc::default());
        let store = Self { paths, reader, vault, index, place, log, is_taken: false };
        let created = match (vault_made, database) {
            (Some(KeyMade::Now), _) => Created::StoreAndKey,
            (Some(KeyMade::Before), _) | (None, Placed::Now) => Created::Store,
            (None, Placed::Before) => Created::Nothing,
        };
        Ok((store, created))
    }

    /// Runs `work` in one transaction: when it returns an error nothing of it is kept, when this
    /// returns all of it is on the disk, in the file that the next opening will find.
    pub fn write<T, E: From<StoreError>>(
        &mut self,
        work: impl FnOnce(&Writing<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let done = self.write_ahead(work)?;
        self.index.follow();
        Ok(done)
    }

    /// Does what [`Self::write`] does, except that the index is left behind: whoever calls this
    /// calls [`SharedIndex::follow`] as soon as somebody else may write.
    pub fn write_ahead<T, E: From<StoreError>>(
        &mut self,
        work: impl FnOnce(&Writing<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        if self.is_taken {
            self.place.check()?;
        }
        self.check_log()?;
        let done = self.log.writing(|| self.commit(work))?;
        // Looked at after the commit: a file that was in its place before may be gone by now.
        let is_in_place = self.place.check();
        self.is_taken = is_in_place.is_err();
        is_in_place?;
        match self.log.fault() {
            // Everything is in the database now: what was asked for is done, the next is refused.
            Some(LogFault::Taken) => self.save_taken_log()?,
            Some(LogFault::Cut) => return Err(self.log.refusal(LogFault::Cut).into()),
            None => {}
        }
        Ok(done)
    }

    fn commit<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Writing<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        // `new_unchecked` borrows the connection shared, so that `Writing` can read through it;
        // `&mut self` of our callers is what keeps a second transaction out.
        let transaction =
            Transaction::new_unchecked(&self.reader.connection, TransactionBehavior::Immediate)
                .map_err(|e| self.failed("beginning to write", e))?;
        let writing = Writing::new(&self.reader);
        let done = work(&writing)?;
        let changes = writing.into_changes();
        transaction.commit().map_err(|e| self.failed("committing", e))?;
        self.index.note(changes);
        Ok(done)
    }

    /// Refuses to write where something was done to the log. One that was removed is whole in our
    /// hands: what it holds goes into the database first, for the next kill would take it along.
    fn check_log(&self) -> Result<()> {
        let Some(fault) = self.log.fault() else { return Ok(()) };
        self.place.check()?;
        let saved = match fault {
            LogFault::Taken => self.save_taken_log(),
            LogFault::Cut => Ok(()),
        };
        match saved {
            // Whoever reads keeps a part of it there; the next attempt may find them gone.
            Ok(()) | Err(StoreError::Busy) => Err(self.log.refusal(fault)),
            Err(error) => Err(error),
        }
    }

    fn save_taken_log(&self) -> Result<()> {
        self.empty_log()?;
        // The next start would write a log that is not of this database over it.
        match self.log.stranger() {
            Some(stranger) => check::keep_strange_log(&self.paths, stranger),
            None => Ok(()),
        }
    }

    /// Opens another connection, to read beside the writer.
    pub fn reader(&self) -> Result<Reader> {
        self.door().open()
    }

    /// Returns a way to such connections that does not need the store itself, so that nobody who
    /// reads waits for somebody who writes.
    pub fn door(&self) -> ReaderDoor {
        ReaderDoor {
            database: self.reader.database.clone(),
            vault: Arc::clone(&self.vault),
            place: self.place.clone(),
            log: Arc::clone(&self.log),
        }
    }

    /// Returns the writer's own connection, to read with.
    pub fn read(&self) -> &Reader {
        &self.reader
    }

    /// Returns the private key that opens what hooks sealed.
    pub fn spool_secret(&self) -> Zeroizing<[u8; 32]> {
        self.vault.spool_secret()
    }

    /// Puts a new master key around the data key. Nothing else changes: everybody who has the store
    /// open goes on, and what hooks seal meanwhile can be opened. Returns the id of the new key.
    pub fn rotate_master(&mut self, new: &NewMaster, now: Timestamp) -> Result<String> {
        let (staging, key_id) = self.vault.stage_master(&self.paths, new, now)?;
        staging.commit()?;
        Ok(key_id)
    }

    /// Moves everything from the write-ahead log into the database and empties the log.
    pub fn checkpoint(&self) -> Result<()> {
        match self.log.fault() {
            None => self.empty_log(),
            Some(LogFault::Taken) => self.save_taken_log(),
            Some(LogFault::Cut) => Err(self.log.refusal(LogFault::Cut)),
        }
    }

    fn empty_log(&self) -> Result<()> {
        let emptied = self.log.writing(|| {
            self.reader.run("emptying the write-ahead log", |c| {
                c.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            })
        });
        let is_busy: bool = emptied?;
        if is_busy { Err(StoreError::Busy) } else { Ok(()) }
    }

    /// Writes the whole database anew, so that nothing deleted is in any page of it, and empties
    /// the log. Readers go on meanwhile; whoever writes waits.
    ///
    /// `secure_delete` alone does not do: SQLite moves rows from page to page as a tree grows, and
    /// what stood in a page before stays in its unused middle.
    pub fn rewrite(&mut self) -> Result<()> {
        self.check_log()?;
        // In memory, the copy would be as large as the store; the file it goes to is encrypted by
        // the same key and has no name.
        let rewritten = self.log.writing(|| {
            self.reader.run("writing the database anew", |c| {
                c.execute_batch("PRAGMA temp_store = FILE; VACUUM;")
            })
        });
        self.reader
            .run("writing the database anew", |c| c.execute_batch("PRAGMA temp_store = MEMORY;"))?;
        rewritten?;
        self.checkpoint()
    }

    /// Moves what it can from the write-ahead log into the database, and waits for nobody.
    pub fn checkpoint_gently(&self) -> Result<()> {
        self.check_log()?;
        self.reader.run("moving the write-ahead log", |c| {
            c.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
        })
    }

    /// Makes room for a bulk load, until [`Self::end_bulk`]. Changes how fast it is, nothing else.
    pub fn begin_bulk(&mut self) -> Result<()> {
        self.reader.run("making room for a bulk load", connection::widen_cache)
    }

    /// Gives the room of a bulk load back.
    pub fn end_bulk(&mut self) -> Result<()> {
        self.reader.run("ending a bulk load", connection::narrow_cache)
    }

    /// Returns the index, which follows every write once it is loaded.
    pub fn index(&self) -> &Arc<SharedIndex> {
        &self.index
    }

    /// Loads the index unless it is loaded.
    pub fn ensure_index(&mut self) -> Result<()> {
        if self.index.is_loaded() {
            return Ok(());
        }
        let loaded = self.reader.load_index()?;
        self.adopt_index(loaded)
    }

    /// Takes over an index that was loaded while others may have written.
    pub fn adopt_index(&mut self, mut loaded: MemoryIndex) -> Result<()> {
        self.reader.run("bringing the index up to date", |c| saved::catch_up(c, &mut loaded))?;
        self.index.install(loaded);
        Ok(())
    }

    /// Stores a segment that [`SharedIndex::make_due`] made; one that is outdated is dropped.
    pub fn keep(&mut self, made: Made) -> Result<()> {
        let index = Arc::clone(&self.index);
        // Nothing may change the index between this look at it and the replacement below.
        index.follow();
        if !index.is_current(&made) {
            return Ok(());
        }
        self.in_transaction("storing a segment", |c| {
            index.with(|index| saved::store(c, index, &made)).unwrap_or(Ok(()))
        })?;
        self.index.replace(made);
        Ok(())
    }

    /// Drops the index and makes it from the memories; answers stay the same.
    pub fn rebuild_index(&mut self) -> Result<()> {
        self.in_transaction("dropping the index", saved::clear)?;
        let made = self.reader.load_index()?;
        self.index.install(made);
        while let Some(made) = self.index.make_due(IndexPace::Calm) {
            self.keep(made)?;
        }
        Ok(())
    }

    /// Checks what [`Reader::check`] checks.
    pub fn check(&self, depth: CheckDepth) -> Result<CheckReport> {
        self.reader.check(depth)
    }

    pub(crate) fn vault(&self) -> &Vault {
        &self.vault
    }

    /// Returns every page of the database as it is stored, free ones too, decrypted.
    #[cfg(any(test, feature = "raw-pages"))]
    pub fn raw_pages(&mut self) -> Result<Vec<u8>> {
        let pages = self.reader.connection.serialize("main").map(|pages| pages.to_vec());
        pages.map_err(|e| self.failed("reading every page", e))
    }

    /// Returns how many rows were written, changed or deleted since the store was opened.
    #[cfg(any(test, feature = "raw-pages"))]
    pub fn n_rows_changed(&self) -> u64 {
        self.reader.connection.total_changes()
    }

    fn in_transaction(
        &mut self,
        doing: &'static str,
        work: impl FnOnce(&rusqlite::Connection) -> rusqlite::Result<()>,
    ) -> Result<()> {
        self.check_log()?;
        let connection = &mut self.reader.connection;
        let done = self.log.writing(|| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            work(&transaction)?;
            transaction.commit()
        });
        done.map_err(|e| self.failed(doing, e))
    }

    fn failed(&self, doing: &'static str, error: rusqlite::Error) -> StoreError {
        StoreError::sqlite(doing, &self.reader.database, error)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // Closing the last connection moves the log into the database; zeros must not go there.
        if self.log.fault() == Some(LogFault::Cut) {
            connection::leave_log_alone(&self.reader.connection).ok();
        }
    }
}

/// The line is 97 bytes; a longer file is not ours and is replaced.
const SPOOL_PUBLIC_BYTES_MAX: u64 = 256;

/// Hooks seal to what stands in this file, so it is put right whenever it does not fit the vault.
fn ensure_spool_public(paths: &StorePaths, vault: &Vault) -> Result<()> {
    let line = vault.spool_public_line()?;
    match files::read_small(&paths.spool_public, SPOOL_PUBLIC_BYTES_MAX)? {
        Some(SmallFile::Whole(bytes)) if bytes == line.as_bytes() => {
            files::ensure_private(&paths.spool_public)
        }
        Some(SmallFile::Whole(_) | SmallFile::TooLong) | None => {
            files::replace(&paths.spool_public, line.as_bytes())
        }
    }
}

#[cfg(test)]
mod tests;
