//! Reads everything that is ground state, row by row, in an order that an import keeps.

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, ToSql};
use serde_json::Value;

use super::{Reader, memories_from, memory_of};
use crate::error::{Result, StoreError};
use crate::record::memory::{Json, Millis};
use crate::record::{ExportChoice, ExportedDeed, ExportedMemory};

/// Takes one row after the other.
pub type Each<'a, T, E> = &'a mut dyn FnMut(T) -> Result<(), E>;

impl Reader {
    /// Hands over every memory that was said, in the order they came in. What this program made
    /// from others is left out: it is made again.
    pub fn export_memories<E: From<StoreError>>(
        &self,
        choice: &ExportChoice,
        each: Each<'_, ExportedMemory, E>,
    ) -> Result<(), E> {
        let all = memories_from("memory m");
        let sql = format!("{all} WHERE {} ORDER BY m.number", chosen("m", "s", "p"));
        self.each_row(&sql, choice, memory_row, each)
    }

    /// Hands over what users did with these memories, kind by kind.
    pub fn export_deeds<E: From<StoreError>>(
        &self,
        choice: &ExportChoice,
        each: Each<'_, ExportedDeed, E>,
    ) -> Result<(), E> {
        let ends = format!(
            "JOIN memory a ON a.number = x.src JOIN session sa ON sa.number = a.session
             LEFT JOIN place pa ON pa.number = a.place
             JOIN memory b ON b.number = x.dst JOIN session sb ON sb.number = b.session
             LEFT JOIN place pb ON pb.number = b.place
             WHERE {} AND {}",
            chosen("a", "sa", "pa"),
            chosen("b", "sb", "pb")
        );
        let one = format!(
            "JOIN memory m ON m.number = x.memory JOIN session s ON s.number = m.session
             LEFT JOIN place p ON p.number = m.place
             WHERE {} ORDER BY x.memory",
            chosen("m", "s", "p")
        );
        let links = format!(
            "SELECT a.uuid, b.uuid, x.kind, x.weight, x.created_at_ms, x.touched_at_ms
               FROM link x {ends} AND x.kind IN ('contradicts', 'hebbian')
              ORDER BY x.src, x.dst, x.kind"
        );
        self.each_row(&links, choice, link_row, each)?;
        let sessions = format!(
            "SELECT a.uuid, b.uuid, x.session FROM link_session x {ends}
              ORDER BY x.src, x.dst, x.session"
        );
        self.each_row(&sessions, choice, link_session_row, each)?;
        let pins = format!("SELECT m.uuid, x.reach, x.pinned_at_ms FROM pin x {one}");
        self.each_row(&pins, choice, pin_row, each)?;
        let uses = format!(
            "SELECT m.uuid, x.n_recalled, x.n_reinforced, x.last_ms FROM memory_use x {one}"
        );
        self.each_row(&uses, choice, use_row, each)
    }

    /// Returns who the user is, and since when they say so.
    pub fn export_identity(&self) -> Result<Option<(String, Timestamp)>> {
        self.run("reading the identity", |c| {
            c.query_row("SELECT text, updated_at_ms FROM identity", [], |row| {
                Ok((row.get(0)?, row.get::<_, Millis>(1)?.0))
            })
            .optional()
        })
    }

    /// Returns the knobs somebody set, and when.
    pub fn export_profile(&self) -> Result<Vec<(String, Value, Timestamp)>> {
        self.run("reading the profile", |c| {
            c.prepare("SELECT knob, value, updated_at_ms FROM profile ORDER BY knob")?
                .query_map([], |row| {
                    let value: Json<Value> = row.get(1)?;
                    Ok((row.get(0)?, value.0, row.get::<_, Millis>(2)?.0))
                })?
                .collect()
        })
    }

    fn each_row<T, E: From<StoreError>>(
        &self,
        sql: &str,
        choice: &ExportChoice,
        read: fn(&Row<'_>) -> rusqlite::Result<T>,
        each: Each<'_, T, E>,
    ) -> Result<(), E> {
        let failed = |e| StoreError::sqlite("exporting", &self.database, e);
        let since = choice.since.map(Millis);
        let values: [(&str, &dyn ToSql); 3] =
            [(":project", &choice.project), (":session", &choice.session), (":since", &since)];
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        let mut rows = statement.query(&values[..]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            each(read(row).map_err(failed)?)?;
        }
        Ok(())
    }
}

/// The condition of a choice on a memory, its session and its place.
fn chosen(memory: &str, session: &str, place: &str) -> String {
    format!(
        "ifnull(json_extract({memory}.provenance, '$.generated'), 0) <> 1
         AND (:session IS NULL OR {session}.name = :session)
         AND (:since IS NULL OR {memory}.turn_at_ms >= :since)
         AND (:project IS NULL OR {place}.project = :project
              OR substr({place}.project, -length(:project) - 1) = '/' || :project)"
    )
}

pub(super) fn memory_row(row: &Row<'_>) -> rusqlite::Result<ExportedMemory> {
    let (tags, provenance) = (row.get("tags")?, row.get("provenance")?);
    Ok(ExportedMemory { memory: memory_of(row)?, tags, provenance })
}

pub(super) fn link_row(row: &Row<'_>) -> rusqlite::Result<ExportedDeed> {
    Ok(ExportedDeed::Link {
        src: row.get(0)?,
        dst: row.get(1)?,
        kind: row.get(2)?,
        weight: row.get(3)?,
        created_at: row.get::<_, Millis>(4)?.0,
        touched_at: row.get::<_, Millis>(5)?.0,
    })
}

fn link_session_row(row: &Row<'_>) -> rusqlite::Result<ExportedDeed> {
    Ok(ExportedDeed::LinkSession { src: row.get(0)?, dst: row.get(1)?, session: row.get(2)? })
}

pub(super) fn pin_row(row: &Row<'_>) -> rusqlite::Result<ExportedDeed> {
    let pinned_at = row.get::<_, Millis>(2)?.0;
    Ok(ExportedDeed::Pin { memory: row.get(0)?, reach: row.get(1)?, pinned_at })
}

fn use_row(row: &Row<'_>) -> rusqlite::Result<ExportedDeed> {
    let count = |place| row.get::<usize, i64>(place).map(i64::cast_unsigned);
    Ok(ExportedDeed::Use {
        memory: row.get(0)?,
        n_recalled: count(1)?,
        n_reinforced: count(2)?,
        last_at: row.get::<_, Millis>(3)?.0,
    })
}
