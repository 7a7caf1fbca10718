//! The tables of vectors and packed codes: every statement that touches them.

use std::ops::RangeInclusive;

use rusqlite::{CachedStatement, Connection, OptionalExtension, Transaction, params};

use super::codes::{Codes, Unpacked};
use super::place::{self, Place};
use super::quantized::{dequantize, quantize};
use crate::reader::sql_limit;
use crate::record::{MemoryNumber, Model, ModelNumber, Part};

/// Beginning a block packs at most this many that are waiting: the one that was filled before, and
/// one that lost a memory.
const PACKED_AT_ONCE: usize = 2;

/// Stores the vectors of a memory over those it had, and packs codes when a block begins.
pub(crate) fn put(
    connection: &Connection,
    model: &Model,
    memory: MemoryNumber,
    parts: &[Part],
) -> rusqlite::Result<()> {
    let keys = place::of_memory(model.number, memory);
    delete(connection, &keys)?;
    let mut insert = connection.prepare_cached("INSERT INTO vector VALUES (?, ?, ?, ?)")?;
    for (part, index) in parts.iter().zip(0_u16..) {
        let key = Place::new(model.number, memory, index).key();
        insert.execute(params![key, part.start, part.end, quantize(&part.vector)])?;
    }
    let block = Place::from_key(*keys.start()).block();
    if is_begun_by_marking(connection, block)? {
        pack_waiting(connection, model, block)?;
    }
    Ok(())
}

/// Returns the vectors of a memory, in order.
pub(crate) fn parts(
    connection: &Connection,
    model: ModelNumber,
    memory: MemoryNumber,
) -> rusqlite::Result<Vec<Part>> {
    let keys = place::of_memory(model, memory);
    connection
        .prepare_cached(
            "SELECT start_byte, end_byte, components FROM vector
              WHERE place BETWEEN ? AND ? ORDER BY place",
        )?
        .query_map([keys.start(), keys.end()], |row| {
            let components = row.get_ref(2)?.as_blob()?;
            Ok(Part { start: row.get(0)?, end: row.get(1)?, vector: dequantize(components) })
        })?
        .collect()
}

/// Returns the byte of its text at which a part of a memory begins.
pub(crate) fn start_of(
    connection: &Connection,
    model: ModelNumber,
    memory: MemoryNumber,
    part: u16,
) -> rusqlite::Result<Option<u32>> {
    let place = Place::new(model, memory, part);
    connection
        .prepare_cached("SELECT start_byte FROM vector WHERE place = ?")?
        .query_row([place.key()], |row| row.get(0))
        .optional()
}

/// Deletes at most `limit` vectors of a model and what is packed of them; returns how many.
pub(crate) fn drop_some(
    connection: &Connection,
    model: ModelNumber,
    limit: usize,
) -> rusqlite::Result<usize> {
    let keys = place::of_model(model);
    let last: Option<i64> = connection.query_row(
        "SELECT max(place) FROM
            (SELECT place FROM vector WHERE place BETWEEN ? AND ? ORDER BY place LIMIT ?)",
        params![keys.start(), keys.end(), sql_limit(limit)],
        |row| row.get(0),
    )?;
    let Some(last) = last else {
        return drop_blocks(connection, &keys).map(|_| 0);
    };
    // The block of the last one may keep vectors: it is marked, and those before it are gone.
    let block = Place::from_key(last).block();
    is_begun_by_marking(connection, block)?;
    drop_blocks(connection, &(*keys.start()..=block.key().saturating_sub(1)))?;
    delete(connection, &(*keys.start()..=last))
}

/// Returns every code of a model: from its blocks, and from the vectors where none is packed.
pub(super) fn load(connection: &Connection, model: &Model) -> rusqlite::Result<Codes> {
    let keys = place::of_model(model.number);
    let mut codes = Codes::new(model.facts.dimension);
    let n_bytes: i64 = connection.query_row(
        "SELECT ifnull(sum(length(codes)), 0) FROM code_block WHERE place BETWEEN ? AND ?",
        [keys.start(), keys.end()],
        |row| row.get(0),
    )?;
    codes.reserve_packed(usize::try_from(n_bytes).unwrap_or(0));
    let mut statement = connection.prepare_cached(
        "SELECT place, codes FROM code_block
          WHERE place BETWEEN ? AND ? AND codes IS NOT NULL ORDER BY place",
    )?;
    // This statement stays open to the end, so that all of it is one view of the store.
    let mut blocks = statement.query([keys.start(), keys.end()])?;
    let mut next = *keys.start();
    while let Some(row) = blocks.next()? {
        let block = Place::from_key(row.get(0)?);
        derive(connection, model, next..=block.key().saturating_sub(1), &mut codes)?;
        match codes.unpack(block.memory(), row.get_ref(1)?.as_blob()?) {
            Unpacked::Whole => {}
            Unpacked::Damaged => derive(connection, model, block_keys(block), &mut codes)?,
        }
        next = block.block_end().key().saturating_add(1);
    }
    derive(connection, model, next..=*keys.end(), &mut codes)?;
    Ok(codes)
}

/// A statement that reads one vector after another by place, all in one view of the store.
pub(super) struct Vectors<'a> {
    statement: CachedStatement<'a>,
    /// Without a transaction every single read would lock the store and let it go.
    view: Option<Transaction<'a>>,
}

impl<'a> Vectors<'a> {
    pub(super) fn new(connection: &'a Connection) -> rusqlite::Result<Self> {
        // A writer asking in the middle of its own transaction has a view already.
        let is_outside = connection.is_autocommit();
        Ok(Self {
            statement: connection.prepare_cached(
                "SELECT place, components FROM vector WHERE place BETWEEN ? AND ? ORDER BY place",
            )?,
            view: is_outside.then(|| connection.unchecked_transaction()).transpose()?,
        })
    }

    /// Tells whether nothing of what is seen may be taken back, nor is older than this reading.
    pub(super) fn sees_what_is_committed(&self) -> bool {
        self.view.is_some()
    }

    /// Calls `see` with each vector in a range of keys and its place.
    pub(super) fn each(
        &mut self,
        keys: &RangeInclusive<i64>,
        mut see: impl FnMut(Place, &[u8]) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let mut rows = self.statement.query([keys.start(), keys.end()])?;
        while let Some(row) = rows.next()? {
            see(Place::from_key(row.get(0)?), row.get_ref(1)?.as_blob()?)?;
        }
        Ok(())
    }
}

/// Says that the codes of a block have changed; returns whether the block is new.
fn is_begun_by_marking(connection: &Connection, block: Place) -> rusqlite::Result<bool> {
    let key = block.key();
    connection
        .prepare_cached("UPDATE code_block SET codes = NULL WHERE place = ? AND codes IS NOT NULL")?
        .execute([key])?;
    let inserted = connection
        .prepare_cached("INSERT OR IGNORE INTO code_block (place) VALUES (?)")?
        .execute([key])?;
    Ok(inserted == 1)
}

fn pack_waiting(connection: &Connection, model: &Model, except: Place) -> rusqlite::Result<()> {
    let keys = place::of_model(model.number);
    let waiting: Vec<i64> = connection
        .prepare_cached(
            "SELECT place FROM code_block
              WHERE place BETWEEN ? AND ? AND codes IS NULL AND place <> ? LIMIT ?",
        )?
        .query_map(
            params![keys.start(), keys.end(), except.key(), sql_limit(PACKED_AT_ONCE)],
            |row| row.get(0),
        )?
        .collect::<Result<_, _>>()?;
    for key in waiting {
        let codes = packed(connection, model, Place::from_key(key))?;
        connection
            .prepare_cached("UPDATE code_block SET codes = ? WHERE place = ?")?
            .execute(params![codes, key])?;
    }
    Ok(())
}

/// Returns a block as it is packed from its vectors.
pub(super) fn packed(
    connection: &Connection,
    model: &Model,
    block: Place,
) -> rusqlite::Result<Vec<u8>> {
    let mut codes = Codes::new(model.facts.dimension);
    derive(connection, model, block_keys(block), &mut codes)?;
    Ok(codes.pack())
}

/// Adds the codes of the vectors in a range of keys.
fn derive(
    connection: &Connection,
    model: &Model,
    keys: RangeInclusive<i64>,
    codes: &mut Codes,
) -> rusqlite::Result<()> {
    if keys.is_empty() {
        return Ok(());
    }
    let mut statement = connection.prepare_cached(
        "SELECT place, components FROM vector WHERE place BETWEEN ? AND ? ORDER BY place",
    )?;
    let mut rows = statement.query([keys.start(), keys.end()])?;
    while let Some(row) = rows.next()? {
        let place = Place::from_key(row.get(0)?);
        let components = row.get_ref(1)?.as_blob()?;
        check_length(components, model)?;
        codes.push(place.memory(), place.part(), components);
    }
    Ok(())
}

/// A vector of another length would be compared with a part of the cue.
pub(super) fn check_length(components: &[u8], model: &Model) -> rusqlite::Result<()> {
    if components.len() == usize::from(model.facts.dimension) {
        return Ok(());
    }
    let why = format!("a vector of {} bytes", components.len());
    let kind = rusqlite::types::Type::Blob;
    Err(rusqlite::Error::FromSqlConversionFailure(0, kind, why.into()))
}

fn block_keys(block: Place) -> RangeInclusive<i64> {
    block.key()..=block.block_end().key()
}

fn delete(connection: &Connection, keys: &RangeInclusive<i64>) -> rusqlite::Result<usize> {
    connection
        .prepare_cached("DELETE FROM vector WHERE place BETWEEN ? AND ?")?
        .execute([keys.start(), keys.end()])
}

fn drop_blocks(connection: &Connection, keys: &RangeInclusive<i64>) -> rusqlite::Result<usize> {
    connection
        .prepare_cached("DELETE FROM code_block WHERE place BETWEEN ? AND ?")?
        .execute([keys.start(), keys.end()])
}

/// Returns whether a memory has this number.
pub(crate) fn is_memory(connection: &Connection, memory: MemoryNumber) -> rusqlite::Result<bool> {
    let found = connection
        .prepare_cached("SELECT 1 FROM memory WHERE number = ?")?
        .query_row([memory], |_| Ok(()))
        .optional()?;
    Ok(found.is_some())
}
