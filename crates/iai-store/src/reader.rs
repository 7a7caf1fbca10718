//! Reads the store. Every question is answered from one connection that cannot write.

mod attributes;
mod chosen;
mod disputes;
mod export;
mod filter;
mod forgotten;
mod ledger;
mod links;
mod memories;
mod patterns;
mod standing;
mod steps;
mod sync;
mod taught;
mod topics;
mod vectors;

use std::cell::Cell;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, InterruptHandle};

use crate::check;
use crate::connection;
use crate::error::{Result, StoreError};
use crate::exchange;
use crate::files::{self, StorePaths};
use crate::place;
use crate::schema::{self, Progress};
use crate::vault::{KeySource, Vault};

pub use chosen::Column;
#[cfg(test)]
pub(crate) use chosen::chosen_sql;
pub use export::Each;
pub(crate) use filter::Clause;
pub(crate) use forgotten::mark_key;
pub(crate) use memories::{memories_from, memory_of};
#[cfg(test)]
pub(crate) use standing::SEQUELS_OF;
#[cfg(test)]
pub(crate) use topics::topics_of;

/// A connection that reads; each question sees the store as it was when it was asked.
pub struct Reader {
    pub(crate) connection: Connection,
    pub(crate) database: PathBuf,
    is_wide: Cell<bool>,
}

/// The inner pages of a million memories with their vectors, and what a few answers need; beyond
/// that, a search finds few of its pages again.
const WIDE_CACHE: &str = "PRAGMA cache_size = -8192;";

/// Ends the read that is under way, from another thread.
pub struct Interrupter(InterruptHandle);

impl Reader {
    /// Opens an existing store to read it while no daemon runs; creates no store, key or vault.
    pub fn open(paths: &StorePaths, keys: &KeySource) -> Result<Self> {
        let no_store = || StoreError::NoStore { path: paths.folder.clone() };
        exchange::check_no_database_waits(paths)?;
        place::check_parts(paths)?;
        let Some(vault) = Vault::open(paths, keys)? else {
            check_no_orphan(paths)?;
            return Err(no_store());
        };
        if files::length_of(&paths.database)?.unwrap_or(0) == 0 {
            place::check_not_lost(paths)?;
            return Err(no_store());
        }
        check::check_log_is_whole(&paths.database)?;
        let reader = Self::connect(&paths.database, &vault)?;
        match schema::check_version(&reader.connection, &reader.database)? {
            Progress::Current => Ok(reader),
            // Only the writer may take the tables forward; until it has, there is nothing to read.
            Progress::Blank | Progress::Older => Err(no_store()),
        }
    }

    /// Returns a handle that ends a read with [`StoreError::Interrupted`].
    pub fn interrupter(&self) -> Interrupter {
        Interrupter(self.connection.get_interrupt_handle())
    }

    /// Runs `work` with one view of the store: each read by itself would lock it and let it go.
    pub fn at_one_moment<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let is_outside = self.connection.is_autocommit();
        let view = is_outside.then(|| self.connection.unchecked_transaction()).transpose();
        let _view = view.map_err(|e| StoreError::sqlite("beginning to read", &self.database, e))?;
        work()
    }

    /// Lets this connection keep more pages: vectors are read here and there, in every search.
    pub fn widen_cache(&self) -> Result<()> {
        if self.is_wide.replace(true) {
            return Ok(());
        }
        self.run("widening the page cache", |c| c.execute_batch(WIDE_CACHE))
    }

    pub(crate) fn connect(database: &Path, vault: &Vault) -> Result<Self> {
        Ok(Self::of(connection::open_reader(database, vault)?, database))
    }

    pub(crate) fn of(connection: Connection, database: &Path) -> Self {
        Self { connection, database: database.to_owned(), is_wide: Cell::new(false) }
    }

    /// Runs `work` on the connection and names its failure.
    pub(crate) fn run<T>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        work(&self.connection).map_err(|e| StoreError::sqlite(doing, &self.database, e))
    }
}

impl Interrupter {
    /// Ends the read that is under way; does nothing when there is none.
    pub fn interrupt(&self) {
        self.0.interrupt();
    }
}

/// Refuses a database whose vault is gone: a new vault would lock its memories away for good.
pub(crate) fn check_no_orphan(paths: &StorePaths) -> Result<()> {
    match files::length_of(&paths.database)? {
        Some(1..) => Err(StoreError::VaultDamaged {
            path: paths.vault.clone(),
            reason: "it is missing although the database exists",
        }),
        Some(0) | None => Ok(()),
    }
}

/// Returns a limit as SQL takes it.
pub(crate) fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
