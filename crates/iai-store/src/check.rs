//! The integrity check: looks at everything that must be true and changes nothing.

mod derived;
mod evidence;
mod log;
mod promised;

use std::path::Path;

use rusqlite::Connection;
use sha2::{Digest, Sha256};

use crate::error::{Result, StoreError};
use crate::exchange;
use crate::index::audit;
use crate::index::vectors::check as vectors;
use crate::reader::{Reader, memories_from, memory_of};
use crate::record::memory::content_hash;
use crate::record::{Memory, MemoryId};

pub use evidence::damaged_logs;
pub(crate) use evidence::{keep_damaged_log, keep_strange_log};

/// How thorough a check is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckDepth {
    /// The tables, and a spread of [`SAMPLE`] memories.
    Sample,
    /// Every page and every memory; what is derived from them by samples.
    Whole,
    /// Every page, every memory, and everything derived from them.
    Deep,
}

/// How many memories a sample looks at, at most.
const SAMPLE: u32 = 200;
/// How many blocks of packed codes a sample looks at, at most, of each model.
const SAMPLE_BLOCKS: usize = 8;
/// A report names at most this many problems; a store with more is lost to repair by hand.
const PROBLEMS_MAX: usize = 1000;

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Everything that is not as it must be; empty means the store is sound.
    pub problems: Vec<Problem>,
    /// How many memories were compared with their hash and id.
    pub n_memories_checked: u64,
}

/// One thing that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Which rule is broken: `pages`, `cipher`, `references`, `content_hash`, `id`, `valid_to`,
    /// `lexical_index`, `vectors`, `vector_codes`, `pins`, `attributes`, `formality`, `topics`,
    /// `set_aside`, `forgotten` or `forgetting`, which is merely not finished.
    pub name: &'static str,
    /// Where, and what was found.
    pub detail: String,
}

impl CheckReport {
    /// Returns whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    pub(crate) fn note(&mut self, name: &'static str, detail: impl Into<String>) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(Problem { name, detail: detail.into() });
        }
    }

    /// Turns corruption into a problem and passes every other error on.
    pub(crate) fn note_corrupt(&mut self, name: &'static str, done: Result<()>) -> Result<()> {
        match done {
            Err(StoreError::Corrupt { what, .. }) => {
                self.note(name, format!("{what} is corrupt"));
                Ok(())
            }
            other => other,
        }
    }
}

impl Reader {
    /// Checks pages, references, hashes, ids, validity, the indexes, and that what was forgotten
    /// is gone.
    ///
    /// Everything is compared as it was at one moment: beside a writer, a memory and its place in
    /// the index would otherwise be read before and after a commit, and called damage.
    pub fn check(&self, depth: CheckDepth) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        if depth != CheckDepth::Sample {
            self.look(&mut report, "cipher", |c| lines(c, "PRAGMA cipher_integrity_check"))?;
        }
        self.at_one_moment(|| self.check_view(depth, &mut report))?;
        Ok(report)
    }

    fn check_view(&self, depth: CheckDepth, report: &mut CheckReport) -> Result<()> {
        let pages = match depth {
            CheckDepth::Sample => "PRAGMA quick_check(100)",
            CheckDepth::Whole | CheckDepth::Deep => "PRAGMA integrity_check(100)",
        };
        self.look(report, "pages", |c| lines(c, pages))?;
        if depth != CheckDepth::Sample {
            self.check_derived(report)?;
            self.look(report, "set_aside", changed_aside)?;
        }
        self.look(report, "references", dangling)?;
        self.look(report, "valid_to", wrongly_valid)?;
        self.look(report, "lexical_index", |c| audit::compare(c, step_of(c, depth)?))?;
        self.check_vectors(depth, report)?;
        for problem in self.check_forgotten()?.problems {
            report.note(problem.name, problem.detail);
        }
        let checked = self.check_memories(depth, report);
        report.note_corrupt("pages", checked)
    }

    /// Asks one question whose answer is the list of what is wrong.
    fn look(
        &self,
        report: &mut CheckReport,
        name: &'static str,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<Vec<String>>,
    ) -> Result<()> {
        match self.run("checking the store", ask) {
            Ok(details) => {
                for detail in details {
                    report.note(name, detail);
                }
                Ok(())
            }
            Err(error) => report.note_corrupt(name, Err(error)),
        }
    }

    fn check_derived(&self, report: &mut CheckReport) -> Result<()> {
        let found = self.run("checking what is derived", derived::at_odds);
        let noted = found.map(|found| {
            for (name, detail) in found {
                report.note(name, detail);
            }
        });
        report.note_corrupt("pages", noted)
    }

    fn check_vectors(&self, depth: CheckDepth, report: &mut CheckReport) -> Result<()> {
        self.look(report, "vectors", vectors::misplaced)?;
        let n_blocks_max = match depth {
            CheckDepth::Sample | CheckDepth::Whole => SAMPLE_BLOCKS,
            CheckDepth::Deep => usize::MAX,
        };
        for model in self.models()? {
            self.look(report, "vector_codes", |c| {
                vectors::wrongly_packed(c, &model, n_blocks_max)
            })?;
        }
        Ok(())
    }

    fn check_memories(&self, depth: CheckDepth, report: &mut CheckReport) -> Result<()> {
        self.run("checking memories", |c| {
            let step = if depth == CheckDepth::Whole { 1 } else { step_of(c, depth)? };
            let all = memories_from("memory m");
            let mut statement =
                c.prepare(&format!("{all} WHERE m.number % ? = 0 ORDER BY m.number"))?;
            let mut rows = statement.query([step])?;
            while let Some(row) = rows.next()? {
                check_memory(&memory_of(row)?, report);
                report.n_memories_checked = report.n_memories_checked.saturating_add(1);
            }
            Ok(())
        })
    }
}

/// Refuses a database whose log was cut off or removed. Whoever opened it would have SQLite forget
/// how long the log was, which the next start has to know.
pub(crate) fn check_log_is_whole(database: &Path) -> Result<()> {
    match log::is_cut(database)? {
        true => Err(StoreError::LogCut { path: exchange::beside(database, "-wal") }),
        false => Ok(()),
    }
}

/// Returns what is wrong with the write-ahead log beside a database, and where; SQLite itself would
/// forget what stands behind a changed byte without a word.
pub fn check_log(database: &Path) -> Result<Option<String>> {
    Ok(log::look(database)?.damage.map(|damage| damage.told))
}

fn check_memory(memory: &Memory, report: &mut CheckReport) {
    if content_hash(&memory.text) != memory.content_hash {
        report.note("content_hash", format!("the text of {} was changed", memory.id));
    }
    if MemoryId::derive(&memory.identity()) != memory.id {
        report.note("id", format!("{} does not follow from its fields", memory.id));
    }
}

/// Returns the distance between the numbers that are looked at.
fn step_of(connection: &Connection, depth: CheckDepth) -> rusqlite::Result<u32> {
    if depth == CheckDepth::Deep {
        return Ok(1);
    }
    let highest: u32 =
        connection.query_row("SELECT ifnull(max(number), 0) FROM memory", [], |row| row.get(0))?;
    Ok(highest.checked_div(SAMPLE).unwrap_or(0).saturating_add(1))
}

/// Returns the lines of a pragma that says `ok`, or nothing, when all is well.
fn lines(connection: &Connection, pragma: &str) -> rusqlite::Result<Vec<String>> {
    let mut found: Vec<String> =
        connection.prepare(pragma)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    found.retain(|line| line != "ok");
    Ok(found)
}

/// A line that was kept whole still has its hash.
fn changed_aside(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut changed = Vec::new();
    let mut statement =
        connection.prepare("SELECT file, line, bytes, length_bytes, sha256 FROM set_aside")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (bytes, length): (&[u8], i64) = (row.get_ref(2)?.as_blob()?, row.get(3)?);
        let is_whole = i64::try_from(bytes.len()) == Ok(length);
        if is_whole && Sha256::digest(bytes).as_slice() != row.get_ref(4)?.as_blob()? {
            let (file, line): (String, i64) = (row.get(0)?, row.get(1)?);
            changed.push(format!("line {line} set aside from {file} was changed"));
        }
    }
    Ok(changed)
}

fn dangling(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare("SELECT \"table\", parent FROM pragma_foreign_key_check LIMIT 100")?
        .query_map([], |row| {
            let (table, parent): (String, String) = (row.get(0)?, row.get(1)?);
            Ok(format!("a row of {table} points to a missing {parent}"))
        })?
        .collect()
}

/// A memory ends exactly when the first memory that contradicts it begins.
fn wrongly_valid(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare(
            "SELECT m.uuid FROM memory m
               LEFT JOIN (SELECT src, min(created_at_ms) AS at_ms FROM link
                           WHERE kind = 'contradicts' GROUP BY src) ended
                 ON ended.src = m.number
              WHERE m.valid_to_ms IS NOT ended.at_ms LIMIT 100",
        )?
        .query_map([], |row| {
            let id: MemoryId = row.get(0)?;
            Ok(format!("the end of {id} does not follow from its links"))
        })?
        .collect()
}
