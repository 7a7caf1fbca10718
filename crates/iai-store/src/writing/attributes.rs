//! Writes what memories are about, and how formal they are. Doing it twice changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{OptionalExtension as _, params};

use super::Writing;
use crate::error::Result;
use crate::record::{AttributeNumber, MemoryNumber, NewAttribute};

const EXISTS: &str = "SELECT 1 FROM memory WHERE number = ?";
const FIND: &str = "SELECT number FROM attribute WHERE filler = ? AND role = ?";
const ADD: &str = "INSERT INTO attribute (role, filler, display) VALUES (?, ?, ?) RETURNING number";
const GIVE: &str = "
    INSERT INTO memory_attribute (attribute, memory) VALUES (?, ?)
        ON CONFLICT (attribute, memory) DO NOTHING";
const HAD: &str = "SELECT attribute FROM memory_attribute WHERE memory = ?";
const TAKE: &str = "DELETE FROM memory_attribute WHERE attribute = ? AND memory = ?";

impl Writing<'_> {
    /// Gives memories their attributes instead of those they had, and returns how many were new to
    /// them. A memory that was forgotten meanwhile gets none.
    pub fn put_attributes(&self, taken: &[(MemoryNumber, Vec<NewAttribute>)]) -> Result<usize> {
        let mut known: BTreeMap<&NewAttribute, AttributeNumber> = BTreeMap::new();
        self.reader.run("storing attributes", |c| {
            let mut exists = c.prepare_cached(EXISTS)?;
            let (mut find, mut add) = (c.prepare_cached(FIND)?, c.prepare_cached(ADD)?);
            let mut give = c.prepare_cached(GIVE)?;
            let (mut had, mut take) = (c.prepare_cached(HAD)?, c.prepare_cached(TAKE)?);
            let mut n_given = 0;
            for (memory, attributes) in taken {
                if !exists.exists([memory])? {
                    continue;
                }
                let had = had.query_map([memory], |row| row.get(0))?;
                let mut gone = had.collect::<rusqlite::Result<BTreeSet<AttributeNumber>>>()?;
                for new in attributes {
                    let number = match known.get(new) {
                        Some(number) => *number,
                        None => {
                            let key = params![new.filler, new.role];
                            let found = find.query_row(key, |row| row.get(0)).optional()?;
                            let display = Some(&new.display).filter(|shown| **shown != new.filler);
                            let values = params![new.role, new.filler, display];
                            found.map_or_else(|| add.query_row(values, |row| row.get(0)), Ok)?
                        }
                    };
                    known.insert(new, number);
                    n_given += give.execute(params![number, memory])?;
                    gone.remove(&number);
                }
                for number in &gone {
                    take.execute(params![number, memory])?;
                }
                // An attribute that nobody has any more is dropped, and may be wanted again.
                if !gone.is_empty() {
                    known.clear();
                }
            }
            Ok(n_given)
        })
    }

    /// Notes how formal a turn is, in thousandths, in its ISO week (year × 100 + week). A memory
    /// that was forgotten meanwhile is not counted, one that was noted before not again.
    pub fn put_formality(&self, memory: MemoryNumber, week: u32, thousandths: u32) -> Result<()> {
        self.reader.run("storing how formal a turn is", |c| {
            c.prepare_cached(
                "INSERT INTO formality SELECT number, ?2, ?3 FROM memory WHERE number = ?1
                     ON CONFLICT (memory) DO NOTHING",
            )?
            .execute(params![memory, week, thousandths])
            .map(drop)
        })
    }
}

#[cfg(test)]
mod tests;
