//! Reads how far each kind of quiet work has come, and what it has not looked at yet.

use rusqlite::{OptionalExtension as _, params};

use super::{Reader, sql_limit};
use crate::error::Result;
use crate::record::memory::Json;
use crate::record::{Memory, MemoryNumber, StepProgress};

impl Reader {
    /// Returns how far a step has come; at the beginning, nowhere.
    pub fn step(&self, name: &str) -> Result<StepProgress> {
        let found = self.run("reading how far a step has come", |c| {
            c.prepare_cached("SELECT up_to, state FROM step WHERE name = ?")?
                .query_row([name], |row| {
                    Ok(StepProgress { up_to: row.get(0)?, state: row.get::<_, Json<_>>(1)?.0 })
                })
                .optional()
        })?;
        Ok(found.unwrap_or_default())
    }

    /// Returns the first memories after this number, in order of arrival.
    pub fn after(&self, number: MemoryNumber, limit: usize) -> Result<Vec<(MemoryNumber, Memory)>> {
        let numbers: Vec<MemoryNumber> = self.run("reading what came in", |c| {
            c.prepare_cached("SELECT number FROM memory WHERE number > ? ORDER BY number LIMIT ?")?
                .query_map(params![number, sql_limit(limit)], |row| row.get(0))?
                .collect()
        })?;
        self.numbered(&numbers)
    }
}
