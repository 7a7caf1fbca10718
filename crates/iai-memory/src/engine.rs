//! The engine: one writer, a few readers, and every request's way to its room.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use iai_store::{
    CheckDepth, CheckReport, Created, KeySource, Reader, ReaderDoor, Store, StorePaths,
    TAUGHT_HOST, Writing,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::Value;

use crate::error::{MemoryError, Result};
use crate::forgetting::ForgetRoom;
use crate::index::IndexRoom;
use crate::ingest::SharingRoom;
use crate::meaning::MeaningRoom;
use crate::organise::{OWN_HOST, OrganiseRoom};
use crate::recall::ToldRoom;
use crate::relate::TogetherRoom;
use crate::uses::UseRoom;

/// Idle read connections kept for the next request: one for each thread that answers, one for who
/// captures, one for who organises; a brief takes two more. Opening one costs as much as an answer.
const READERS_KEPT_MAX: usize = 6;

/// All memories of one person, open.
pub struct MemoryEngine {
    /// `None` when the store was opened only for reading.
    writer: Option<Mutex<Store>>,
    readers: Mutex<Vec<Reader>>,
    /// The way to more of them; `None` when the store was opened only for reading.
    door: Option<ReaderDoor>,
    pub(crate) forgetting: ForgetRoom,
    pub(crate) index: IndexRoom,
    pub(crate) meaning: MeaningRoom,
    pub(crate) organise: OrganiseRoom,
    pub(crate) sharing: SharingRoom,
    pub(crate) together: TogetherRoom,
    pub(crate) uses: UseRoom,
    pub(crate) told: ToldRoom,
    /// Whose days "yesterday" counts by.
    pub(crate) zone: TimeZone,
}

/// The store in numbers.
#[derive(Debug, Clone, Serialize)]
pub struct Overview {
    /// How many memories there are.
    pub memories: u64,
    /// How many of them this program made itself: summaries and reflections.
    pub generated: u64,
    /// How many of them are passages of files that were taught.
    pub taught: u64,
    /// How many links.
    pub links: u64,
    /// How many events.
    pub events: u64,
    /// How many sessions somebody spoke in.
    pub sessions: u64,
    /// How many projects.
    pub projects: u64,
    /// How many spool lines could not be understood and are kept as evidence.
    pub set_aside: u64,
    /// When the latest turn was stored.
    pub last_captured_at: Option<String>,
    /// When the latest turn was said; history that is imported today was said long ago.
    pub last_said_at: Option<String>,
}

impl Overview {
    /// Returns how many memories came in from somebody.
    pub fn said(&self) -> u64 {
        self.memories.saturating_sub(self.generated)
    }
}

impl MemoryEngine {
    /// Opens the store for reading and writing, and makes it when there is none. The caller is the
    /// daemon.
    pub fn open(paths: &StorePaths, keys: &KeySource, now: Timestamp) -> Result<(Self, Created)> {
        let (store, created) = Store::open(paths, keys, now)?;
        let (index, door) = (IndexRoom::of(&store), Some(store.door()));
        let engine = Self::with(Some(Mutex::new(store)), Vec::new(), index);
        Ok((Self { door, ..engine }, created))
    }

    /// Opens the store only for reading: what a client may do while no daemon runs.
    pub fn open_read_only(paths: &StorePaths, keys: &KeySource) -> Result<Self> {
        Ok(Self::with(None, vec![Reader::open(paths, keys)?], IndexRoom::default()))
    }

    fn with(writer: Option<Mutex<Store>>, readers: Vec<Reader>, index: IndexRoom) -> Self {
        Self {
            writer,
            readers: Mutex::new(readers),
            door: None,
            forgetting: ForgetRoom::default(),
            index,
            meaning: MeaningRoom::default(),
            organise: OrganiseRoom::default(),
            sharing: SharingRoom::default(),
            together: TogetherRoom::default(),
            uses: UseRoom::default(),
            told: ToldRoom::default(),
            zone: TimeZone::UTC,
        }
    }

    /// Counts days as this zone does, not as UTC.
    #[must_use]
    pub fn in_zone(self, zone: TimeZone) -> Self {
        Self { zone, ..self }
    }

    /// Refuses when the database that is open was taken from its place; waits for nobody.
    pub fn check_place(&self) -> Result<()> {
        Ok(self.door.as_ref().map_or(Ok(()), ReaderDoor::check_place)?)
    }

    /// Returns the private half of the spool's key. It leaves the vault only to open spool lines.
    pub fn spool_secret(&self) -> Result<[u8; 32]> {
        self.with_writer(|store| Ok(*store.spool_secret()))
    }

    /// Counts what came in from somebody. Needs no index, unlike the rest.
    pub fn n_said(&self) -> Result<u64> {
        self.read(|reader| {
            reader.at_one_moment(|| {
                Ok(reader.n_memories()?.saturating_sub(reader.n_of_host(OWN_HOST)?))
            })
        })
    }

    /// Counts the lines that could not become memories.
    pub fn n_set_aside(&self) -> Result<u64> {
        self.read(|reader| Ok(reader.n_set_aside()?))
    }

    /// Counts what there is.
    pub fn overview(&self) -> Result<Overview> {
        let (sessions, last_said_at) = self.sessions_and_latest()?;
        self.read(|reader| {
            let counts = reader.counts()?;
            Ok(Overview {
                memories: counts.memories,
                generated: reader.n_of_host(OWN_HOST)?,
                taught: reader.n_of_host(TAUGHT_HOST)?,
                links: counts.links,
                events: counts.events,
                sessions,
                projects: counts.projects,
                set_aside: counts.set_aside,
                last_captured_at: reader.last_stored_at()?.map(|at| at.to_string()),
                last_said_at,
            })
        })
    }

    /// Checks the whole store.
    pub fn check(&self, depth: CheckDepth) -> Result<CheckReport> {
        self.read(|reader| Ok(reader.check(depth)?))
    }

    /// Moves what the log holds into the database file; done before leaving.
    pub fn checkpoint(&self) -> Result<()> {
        self.with_writer(|store| Ok(store.checkpoint()?))
    }

    /// Tells whether a write broke half-way, after which only a restart is safe.
    pub fn is_broken(&self) -> bool {
        self.writer.as_ref().is_some_and(Mutex::is_poisoned) || self.index.is_broken()
    }

    /// Runs `work` on a read connection.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let reader = match idle {
            Some(reader) => reader,
            None => self.door.as_ref().ok_or(MemoryError::ReadOnly)?.open()?,
        };
        let result = work(&reader);
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < READERS_KEPT_MAX {
            readers.push(reader);
        }
        result
    }

    /// Runs `beside` on another thread and connection while this one does `own`; where the store is
    /// open only for reading there is one connection, and one comes after the other.
    pub(crate) fn read_beside<A, B: Send>(
        &self,
        reader: &Reader,
        own: impl FnOnce() -> Result<A>,
        beside: impl FnOnce(&Reader) -> Result<B> + Send,
    ) -> Result<(A, B)> {
        if self.is_read_only() {
            return Ok((own()?, beside(reader)?));
        }
        // Taken by whoever gets to it: where no thread can be had, that is this one.
        let beside = Mutex::new(Some(beside));
        let take = || beside.lock().unwrap_or_else(PoisonError::into_inner).take();
        std::thread::scope(|scope| {
            let helping = std::thread::Builder::new()
                .name("beside".to_owned())
                .spawn_scoped(scope, || take().map(|beside| self.read(beside)));
            let own = own()?;
            let helped = match helping.map(std::thread::ScopedJoinHandle::join) {
                Ok(Ok(helped)) => helped,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(_) => take().map(|beside| beside(reader)),
            };
            Ok((own, helped.expect("it is taken once")?))
        })
    }

    /// Runs `work` in one transaction; when it returns, the change is on disk.
    pub(crate) fn write<T>(&self, work: impl FnOnce(&Writing<'_>) -> Result<T>) -> Result<T> {
        let done = self.with_writer(|store| store.write_ahead(work))?;
        self.index.follow();
        self.after_write()?;
        Ok(done)
    }

    /// Runs `work`, which adds memories, in one transaction; vectors and order follow later.
    pub(crate) fn remember<T>(&self, work: impl FnOnce(&Writing<'_>) -> Result<T>) -> Result<T> {
        let done = self.with_writer(|store| store.write_ahead(work))?;
        self.after_remembering()?;
        Ok(done)
    }

    /// Brings what follows memories up to date, once they are on disk.
    pub(crate) fn after_remembering(&self) -> Result<()> {
        self.index.follow();
        self.after_write()?;
        self.wake_meaning();
        self.wake_organiser();
        Ok(())
    }

    /// Tells whether the store was opened only for reading.
    pub(crate) fn is_read_only(&self) -> bool {
        self.writer.is_none()
    }

    /// Returns the profile as stored: only the knobs somebody set.
    pub(crate) fn stored_profile(&self) -> Result<BTreeMap<String, Value>> {
        self.read(|reader| Ok(reader.profile()?))
    }

    /// Runs `work` on the one connection that writes.
    pub(crate) fn with_writer<T>(&self, work: impl FnOnce(&mut Store) -> Result<T>) -> Result<T> {
        let writer = self.writer.as_ref().ok_or(MemoryError::ReadOnly)?;
        // A panic inside a transaction rolled it back, but nobody can say what else it left behind.
        let mut store = writer.lock().map_err(|_| MemoryError::WriterBroken)?;
        work(&mut store)
    }
}
