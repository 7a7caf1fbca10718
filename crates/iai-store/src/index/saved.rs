//! The index at rest: loads it, stores segments with the columns of their memories, compares it
//! with the memories it was made from.

use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::catalogue::{Catalogue, CatalogueEntry};
use super::lexical::LexicalIndex;
use super::segment::{Segment, without};
use super::words::MemoryWords;
use super::{Made, MemoryIndex};
use crate::error::Result;
use crate::reader::Reader;
use crate::record::{MemoryNumber, Role, Tier};

/// What the index needs of a memory.
const ROWS: &str = "
    SELECT number, session, place, role, tier, turn_index, turn_at_ms, text, cue
      FROM memory WHERE number BETWEEN ?1 AND ?2 ORDER BY number";

impl Reader {
    /// Loads the index: stored segments, then the memories that are newer than those. Segments that
    /// are damaged or made by other rules are made from the memories again.
    pub fn load_index(&self) -> Result<MemoryIndex> {
        self.run(LOADING, |c| {
            let ranges = stored_ranges(c)?;
            let read = Rest::of(&ranges).read(c)?;
            load_from(c, read)
        })
    }

    /// Loads the same with a second connection, on a second thread: most of the time goes into
    /// decrypting.
    pub fn load_index_with(&self, helper: Self) -> Result<MemoryIndex> {
        let ranges = self.run(LOADING, stored_ranges)?;
        let rest = &Rest::of(&ranges);
        let read = std::thread::scope(|scope| {
            let helping = scope.spawn(move || helper.run(LOADING, |c| rest.read(c)));
            let mut read = self.run(LOADING, |c| rest.read(c))?;
            match helping.join() {
                Ok(helped) => read.extend(helped?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
            Ok(read)
        })?;
        self.run(LOADING, |c| load_from(c, read))
    }
}

const LOADING: &str = "loading the index";

/// Stored segments that nobody has begun to read.
struct Rest<'a> {
    ranges: &'a [(u32, u32)],
    next: AtomicUsize,
}

/// A stored segment with the columns of its memories; `None` when it is not as it must be.
type Read = ((u32, u32), Option<(Segment, Vec<u8>)>);

impl<'a> Rest<'a> {
    fn of(ranges: &'a [(u32, u32)]) -> Self {
        Self { ranges, next: AtomicUsize::new(0) }
    }

    /// Reads one segment after the other until none is left.
    fn read(&self, connection: &Connection) -> rusqlite::Result<Vec<Read>> {
        let sql = "SELECT words, columns FROM lexical_segment WHERE first = ? AND last = ?";
        let mut statement = connection.prepare(sql)?;
        let mut read = Vec::new();
        while let Some(range) = self.ranges.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let row = statement.query_row([range.0, range.1], |row| {
                // Words first: on the way to the columns behind them all their pages are read.
                let segment = Segment::open(row.get(0)?);
                let columns = row.get(1)?;
                Ok(segment.map(|segment| (segment, columns)))
            });
            read.push((*range, row.optional()?.flatten()));
        }
        Ok(read)
    }
}

/// Makes the index of what was read, and of the memories that are newer or not read.
fn load_from(connection: &Connection, mut read: Vec<Read>) -> rusqlite::Result<MemoryIndex> {
    read.sort_by_key(|(range, _)| *range);
    let (mut catalogue, segments) = restored(read);
    catalogue.enter_all();
    let lexical = LexicalIndex::new(segments);
    let mut index = MemoryIndex { catalogue, lexical, ..MemoryIndex::default() };
    catch_up(connection, &mut index)?;
    Ok(index)
}

/// Adds what was committed after the index was loaded.
pub(crate) fn catch_up(connection: &Connection, index: &mut MemoryIndex) -> rusqlite::Result<()> {
    index.catalogue.clear_places_and_ends();
    let mut places = connection.prepare("SELECT number, project FROM place ORDER BY number")?;
    let mut rows = places.query([])?;
    while let Some(row) = rows.next()? {
        index.catalogue.add_place(row.get(0)?, row.get_ref(1)?.as_str_or_null()?);
    }
    let ended = "SELECT number, valid_to_ms FROM memory WHERE valid_to_ms IS NOT NULL";
    let mut ended = connection.prepare(ended)?;
    let mut rows = ended.query([])?;
    while let Some(row) = rows.next()? {
        index.catalogue.end(row.get(0)?, row.get(1)?);
    }
    rows_between(connection, (index.end(), u32::MAX), |row| {
        let (number, entry) = entry_of(row)?;
        index.add(number, &entry, &words_of(row)?);
        if index.lexical.n_frozen() > 0 {
            index.settle();
        }
        Ok(())
    })
}

/// Calls `take` with the row of every memory whose number is in the range, in order.
pub(super) fn rows_between(
    connection: &Connection,
    (first, last): (u32, u32),
    mut take: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut memories = connection.prepare_cached(ROWS)?;
    let mut rows = memories.query([first, last])?;
    while let Some(row) = rows.next()? {
        take(row)?;
    }
    Ok(())
}

/// Stores a segment over everything it covers. Runs inside a transaction.
pub(crate) fn store(
    connection: &Connection,
    index: &MemoryIndex,
    made: &Made,
) -> rusqlite::Result<()> {
    let segment = &made.segment;
    let columns = index.catalogue.stored(segment.first(), segment.last());
    store_row(connection, segment, &columns)
}

/// Takes memories out of the stored segments, so that their words are nowhere in the file. Runs
/// inside a transaction; returns the segments that changed.
pub(crate) fn remove(
    connection: &Connection,
    numbers: &[MemoryNumber],
) -> rusqlite::Result<Vec<Segment>> {
    let mut find = connection.prepare(
        "SELECT words, columns FROM lexical_segment
          WHERE first <= ?1 AND ?1 <= last ORDER BY first DESC LIMIT 1",
    )?;
    let mut left: Vec<u32> = numbers.iter().map(|number| number.get()).collect();
    left.sort_unstable();
    let mut rewritten = Vec::new();
    while let Some(number) = left.first().copied() {
        let found = find.query_map([number], |row| Ok((row.get(0)?, row.get(1)?)))?.next();
        let Some((words, columns)) = found.transpose()? else {
            left.remove(0);
            continue;
        };
        let opened: Option<Segment> = Segment::open(words);
        let Some(old) = opened else {
            // Damaged: it is made again from the memories at the next load.
            connection.execute(
                "DELETE FROM lexical_segment WHERE first <= ?1 AND ?1 <= last",
                [number],
            )?;
            left.remove(0);
            continue;
        };
        let covered = old.first()..=old.last();
        let segment = without(&old, |number| left.binary_search(&number).is_ok());
        let mut catalogue = Catalogue::default();
        let columns: Vec<u8> = columns;
        catalogue.restore(&columns, old.first(), old.last());
        catalogue.enter_all();
        for number in left.iter().filter(|number| covered.contains(number)) {
            catalogue.remove(MemoryNumber::new(*number));
        }
        store_row(connection, &segment, &catalogue.stored(segment.first(), segment.last()))?;
        left.retain(|number| !covered.contains(number));
        rewritten.push(segment);
    }
    Ok(rewritten)
}

fn store_row(connection: &Connection, segment: &Segment, columns: &[u8]) -> rusqlite::Result<()> {
    let (first, last) = (segment.first(), segment.last());
    connection
        .prepare_cached("DELETE FROM lexical_segment WHERE first BETWEEN ? AND ?")?
        .execute([first, last])?;
    connection
        .prepare_cached(
            "INSERT INTO lexical_segment (first, last, words, columns) VALUES (?, ?, ?, ?)",
        )?
        .execute(params![first, last, segment.bytes(), columns])
        .map(drop)
}

/// Drops every stored segment. Runs inside a transaction.
pub(crate) fn clear(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM lexical_segment", []).map(drop)
}

/// Returns which segments are stored, in order.
fn stored_ranges(connection: &Connection) -> rusqlite::Result<Vec<(u32, u32)>> {
    let mut statement =
        connection.prepare("SELECT first, last FROM lexical_segment ORDER BY first")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Takes the segments up to the first that is not as it must be.
fn restored(read: Vec<Read>) -> (Catalogue, Vec<Segment>) {
    let (mut catalogue, mut segments) = (Catalogue::default(), Vec::new());
    for ((first, last), row) in read {
        let Some((segment, columns)) = row else { break };
        let follows = segments.last().map_or(0, |before: &Segment| before.last() + 1);
        let is_in_place = first == follows && (segment.first(), segment.last()) == (first, last);
        if !is_in_place || !catalogue.restore(&columns, first, last) {
            break;
        }
        segments.push(segment);
    }
    (catalogue, segments)
}

pub(super) fn entry_of(row: &Row<'_>) -> rusqlite::Result<(MemoryNumber, CatalogueEntry)> {
    let turn_index: Option<i64> = row.get("turn_index")?;
    let entry = CatalogueEntry {
        session: row.get("session")?,
        place: row.get("place")?,
        role: row.get::<_, Role>("role")?,
        tier: row.get::<_, Tier>("tier")?,
        turn_index: turn_index.map(|index| u32::try_from(index).unwrap_or(u32::MAX)),
        turn_at_ms: row.get("turn_at_ms")?,
    };
    Ok((row.get("number")?, entry))
}

pub(super) fn words_of(row: &Row<'_>) -> rusqlite::Result<MemoryWords> {
    let cue = row.get_ref("cue")?.as_str_or_null()?;
    Ok(MemoryWords::of(row.get_ref("text")?.as_str()?, cue))
}
