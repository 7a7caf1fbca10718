//! Writes inside one transaction: memories, links, and everything kept beside them.

mod attributes;
mod disputes;
mod forgetting;
mod importing;
mod ledger;
mod links;
mod patterns;
mod standing;
mod steps;
mod sync;
mod topics;
mod vectors;

pub use patterns::PatternPut;

use std::cell::RefCell;
use std::ops::RangeInclusive;

use jiff::Timestamp;
use rusqlite::types::{FromSql as _, ValueRef};
use rusqlite::{OptionalExtension, named_params, params};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::error::{Result, StoreError};
use crate::index::catalogue::CatalogueEntry;
use crate::index::changes::{Changes, Prepared};
use crate::index::saved;
use crate::reader::Reader;
use crate::record::forgotten::MarkKey;
use crate::record::memory::{Json, Millis, STRENGTH_NEW};
use crate::record::{
    EventId, Inserted, Memory, MemoryId, MemoryNumber, NewEvent, NewMemory, NewSetAside, Reach,
    Receipt,
};

/// A line set aside keeps at most this much of itself; the schema says so too.
const SET_ASIDE_BYTES_MAX: usize = 1024 * 1024;

/// The transaction under way. What it wrote is kept when the closure it was given to returns `Ok`.
pub struct Writing<'a> {
    reader: &'a Reader,
    changes: RefCell<Changes>,
    /// The session stored last: a batch has the same one again and again.
    last_session: RefCell<Option<(String, String, u32)>>,
    last_place: RefCell<Option<Place>>,
    /// What was forgotten is known by this key; looked for once, `Some(None)` without any.
    mark_key: RefCell<Option<Option<MarkKey>>>,
}

/// A place that is stored.
struct Place {
    project: Option<String>,
    cwd: Option<String>,
    number: u32,
}

impl<'a> Writing<'a> {
    pub(crate) fn new(reader: &'a Reader) -> Self {
        Self {
            reader,
            changes: RefCell::default(),
            last_session: RefCell::default(),
            last_place: RefCell::default(),
            mark_key: RefCell::default(),
        }
    }

    /// Returns what the index has to follow once this is committed.
    pub(crate) fn into_changes(self) -> Changes {
        self.changes.into_inner()
    }

    /// Returns the store as this transaction sees it, its own writes included.
    pub fn read(&self) -> &Reader {
        self.reader
    }

    /// Returns one memory as this transaction sees it.
    pub fn memory(&self, id: MemoryId) -> Result<Option<Memory>> {
        self.reader.memory(id)
    }

    /// Stores a memory, unless it is there already.
    pub fn insert(&self, new: &NewMemory, now: Timestamp) -> Result<Inserted> {
        self.insert_prepared(Prepared::of(new), now)
    }

    /// Stores a memory that was made ready before, unless it is there already or was forgotten on
    /// purpose.
    pub fn insert_prepared(&self, prepared: Prepared<'_>, now: Timestamp) -> Result<Inserted> {
        let Prepared { new, id, content_hash, words } = prepared;
        if !new.provenance.is_object() {
            return Err(StoreError::refused("provenance", "it must be a JSON object"));
        }
        let turn = (new.session.as_str(), new.role);
        if self.is_forgotten(id, turn, new.turn_at.as_millisecond(), &content_hash)? {
            return Ok(Inserted::Forgotten(id));
        }
        let turn_index = new.turn_index.map(|index| held("turn index", index)).transpose()?;
        let session = self.session(&new.host, &new.session)?;
        let place = self.place(new.project.as_deref(), new.cwd.as_deref())?;
        let number = self.reader.run("storing a memory", |c| {
            // By place: looking eighteen names up costs more than binding the values.
            let n_stored = c.prepare_cached(INSERT_MEMORY)?.execute(params![
                id,
                session,
                place,
                new.tier,
                new.role,
                new.turn_uuid,
                turn_index,
                Millis(new.turn_at),
                Millis(new.captured_at),
                Millis(now),
                new.language,
                new.pinned,
                STRENGTH_NEW,
                content_hash,
                Json(&new.tags),
                Json(&new.provenance),
                new.cue,
                new.text,
            ])?;
            // Not `RETURNING`: it opens a table of its own for the answer, and a journal in case
            // half of the statement fails, which cost as much as the insertion.
            (0 < n_stored)
                .then(|| MemoryNumber::column_result(ValueRef::Integer(c.last_insert_rowid())))
                .transpose()
                .map_err(Into::into)
        })?;
        let Some(number) = number else {
            let stored = self.hash_of(id)?;
            let one_text = "an id is derived from its text, so it has one text";
            assert_eq!(stored, Some(content_hash), "{one_text}: {id}");
            return Ok(Inserted::Known(id));
        };
        if new.pinned {
            self.pin(id, Reach::Project, now)?;
        }
        let entry = CatalogueEntry {
            session,
            place,
            role: new.role,
            tier: new.tier,
            turn_index: new.turn_index.map(|index| u32::try_from(index).unwrap_or(u32::MAX)),
            turn_at_ms: new.turn_at.as_millisecond(),
        };
        self.changes.borrow_mut().added.push((number, entry, words));
        Ok(Inserted::New(id))
    }

    /// Takes memories out of the index, so that none of their words is left in it. The memories
    /// themselves are for the caller to delete, in the same transaction.
    pub fn remove_from_index(&self, numbers: &[MemoryNumber]) -> Result<()> {
        let rewritten =
            self.reader.run("taking memories out of the index", |c| saved::remove(c, numbers))?;
        let mut changes = self.changes.borrow_mut();
        changes.removed.extend_from_slice(numbers);
        changes.rewritten.extend(rewritten);
        Ok(())
    }

    /// Sets how well a memory is remembered, from 0 to 1.
    pub fn set_strength(&self, id: MemoryId, strength: f64) -> Result<()> {
        let strength = weight(strength)?;
        let number = self.number(id)?;
        self.reader.run("setting a strength", |c| {
            c.prepare_cached("UPDATE memory SET strength = ? WHERE number = ?")?
                .execute(params![strength, number])
                .map(drop)
        })
    }

    /// Puts a memory into a community, or into none.
    pub fn set_community(&self, id: MemoryId, community: Option<u64>) -> Result<()> {
        let community = community.map(|community| held("community", community)).transpose()?;
        let number = self.number(id)?;
        self.reader.run("setting a community", |c| {
            c.prepare_cached("UPDATE memory SET community = ? WHERE number = ?")?
                .execute(params![community, number])
                .map(drop)
        })
    }

    /// Writes down something that happened, and returns its name.
    pub fn event(&self, new: &NewEvent) -> Result<EventId> {
        self.reader.run("storing an event", |c| {
            let number: i64 = c
                .prepare_cached(
                    "SELECT ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'event'), 0) + 1",
                )?
                .query_row([], |row| row.get(0))?;
            let id = EventId::derive(number, &new.kind, new.at.as_millisecond());
            c.prepare_cached(INSERT_EVENT)?.execute(named_params! {
                ":number": number,
                ":uuid": id,
                ":kind": new.kind,
                ":severity": new.severity,
                ":domain": new.domain,
                ":at": Millis(new.at),
                ":session": new.session,
                ":data": Json(&new.data),
                ":sources": Json(&new.sources),
            })?;
            Ok(id)
        })
    }

    /// Sets a knob of the profile.
    pub fn set_profile(&self, knob: &str, value: &Value, now: Timestamp) -> Result<()> {
        self.reader.run("setting the profile", |c| {
            c.prepare_cached("INSERT OR REPLACE INTO profile VALUES (?, ?, ?)")?
                .execute(params![knob, Json(value), Millis(now)])
                .map(drop)
        })
    }

    /// Writes down what became of a spool file, over what was written before.
    pub fn put_receipt(&self, receipt: &Receipt) -> Result<()> {
        let attempts = held("number of attempts", receipt.attempts)?;
        let n_turns = held("number of turns", receipt.n_turns)?;
        let n_stored = held("number of turns", receipt.n_stored)?;
        let n_known = held("number of turns", receipt.n_known)?;
        let n_set_aside = held("number of lines", receipt.n_set_aside)?;
        self.reader.run("storing a receipt", |c| {
            c.prepare_cached(PUT_RECEIPT)?
                .execute(named_params! {
                    ":file": receipt.file,
                    ":state": receipt.state,
                    ":attempts": attempts,
                    ":next_attempt_at": receipt.next_attempt_at.map(Millis),
                    ":n_turns": n_turns,
                    ":n_stored": n_stored,
                    ":n_known": n_known,
                    ":n_set_aside": n_set_aside,
                    ":last_error": receipt.last_error,
                    ":at": Millis(receipt.at),
                })
                .map(drop)
        })
    }

    /// Keeps a line nobody could read, once however often its file is tried.
    pub fn set_aside(&self, new: &NewSetAside) -> Result<()> {
        let line = held("line number", new.line)?;
        let length = i64::try_from(new.bytes.len()).unwrap_or(i64::MAX);
        let kept = new.bytes.get(..SET_ASIDE_BYTES_MAX).unwrap_or(&new.bytes);
        let sha256: [u8; 32] = Sha256::digest(&new.bytes).into();
        self.reader.run("setting a line aside", |c| {
            c.prepare_cached(
                "INSERT INTO set_aside (file, line, reason, bytes, length_bytes, sha256, at_ms)
                 VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (file, line, sha256) DO NOTHING",
            )?
            .execute(params![new.file, line, new.reason, kept, length, sha256, Millis(new.at)])
            .map(drop)
        })
    }

    /// Deletes the lines set aside that have these numbers, and returns how many those were.
    pub fn clear_set_aside(&self, numbers: RangeInclusive<u64>) -> Result<u64> {
        let first = held("number of a line", *numbers.start())?;
        let last = held("number of a line", *numbers.end())?;
        self.reader.run("clearing lines set aside", |c| {
            c.prepare_cached("DELETE FROM set_aside WHERE number BETWEEN ? AND ?")?
                .execute([first, last])
                .map(|n| n as u64)
        })
    }

    fn hash_of(&self, id: MemoryId) -> Result<Option<[u8; 32]>> {
        self.reader.run("looking for a memory", |c| {
            c.prepare_cached("SELECT content_hash FROM memory WHERE uuid = ?")?
                .query_row([id], |row| row.get(0))
                .optional()
        })
    }

    fn number(&self, id: MemoryId) -> Result<MemoryNumber> {
        let number = self.reader.run("looking for a memory", |c| {
            c.prepare_cached("SELECT number FROM memory WHERE uuid = ?")?
                .query_row([id], |row| row.get(0))
                .optional()
        })?;
        number.ok_or(StoreError::NoMemory { id })
    }

    fn session(&self, host: &str, name: &str) -> Result<u32> {
        if let Some((known_host, known_name, number)) = &*self.last_session.borrow()
            && (known_host.as_str(), known_name.as_str()) == (host, name)
        {
            return Ok(*number);
        }
        let number = self.reader.run("storing a session", |c| {
            let find = "SELECT number FROM session WHERE name = ? AND host = ?";
            match c.prepare_cached(find)?.query_row([name, host], |row| row.get(0)).optional()? {
                Some(number) => Ok(number),
                None => c
                    .prepare_cached(
                        "INSERT INTO session (name, host) VALUES (?, ?) RETURNING number",
                    )?
                    .query_row([name, host], |row| row.get(0)),
            }
        })?;
        *self.last_session.borrow_mut() = Some((host.to_owned(), name.to_owned(), number));
        Ok(number)
    }

    fn place(&self, project: Option<&str>, cwd: Option<&str>) -> Result<Option<u32>> {
        if project.is_none() && cwd.is_none() {
            return Ok(None);
        }
        if let Some(known) = &*self.last_place.borrow()
            && (known.project.as_deref(), known.cwd.as_deref()) == (project, cwd)
        {
            return Ok(Some(known.number));
        }
        let (number, is_new) = self.reader.run("storing a place", |c| {
            let find = "SELECT number FROM place WHERE project IS ? AND cwd IS ?";
            match c.prepare_cached(find)?.query_row([project, cwd], |row| row.get(0)).optional()? {
                Some(number) => Ok((number, false)),
                None => c
                    .prepare_cached(
                        "INSERT INTO place (project, cwd) VALUES (?, ?) RETURNING number",
                    )?
                    .query_row([project, cwd], |row| Ok((row.get(0)?, true))),
            }
        })?;
        let (project, cwd) = (project.map(str::to_owned), cwd.map(str::to_owned));
        if is_new {
            self.changes.borrow_mut().places.push((number, project.clone()));
        }
        *self.last_place.borrow_mut() = Some(Place { project, cwd, number });
        Ok(Some(number))
    }
}

const INSERT_MEMORY: &str = "
    INSERT INTO memory (uuid, session, place, tier, role, turn_uuid, turn_index, turn_at_ms,
                        captured_at_ms, stored_at_ms, valid_from_ms, language, pinned, strength,
                        content_hash, tags, provenance, cue, text)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?8, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
        ON CONFLICT (uuid) DO NOTHING";

const INSERT_EVENT: &str = "
    INSERT INTO event (number, uuid, kind, severity, domain, at_ms, session, data, sources)
    VALUES (:number, :uuid, :kind, :severity, :domain, :at, :session, :data, :sources)";

const PUT_RECEIPT: &str = "
    INSERT OR REPLACE INTO spool_receipt
        (file, state, attempts, next_attempt_at_ms, n_turns, n_stored, n_known, n_set_aside,
         last_error, at_ms)
    VALUES (:file, :state, :attempts, :next_attempt_at, :n_turns, :n_stored, :n_known,
            :n_set_aside, :last_error, :at)";

/// Holds a weight between 0 and 1: rounding may carry a similarity a little over the edge.
fn weight(weight: f64) -> Result<f64> {
    if weight.is_nan() {
        return Err(StoreError::refused("weight", "it is not a number"));
    }
    Ok(weight.clamp(0.0, 1.0))
}

/// Returns a number as SQLite holds it: up to 2^63 - 1.
fn held(what: &'static str, number: u64) -> Result<i64> {
    i64::try_from(number).map_err(|_| StoreError::refused(what, format!("{number} is too large")))
}
