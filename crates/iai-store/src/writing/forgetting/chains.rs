//! Closes chains of corrections over what is forgotten, so that no chain ends in nothing.
//!
//! What a forgotten memory had replaced is replaced by what replaced it, at the time of that. When
//! nothing did, the older wording is the last one known and holds again.

use rusqlite::params;

use crate::error::Result;
use crate::record::MemoryNumber;
use crate::writing::Writing;

impl Writing<'_> {
    /// Takes memories out of their chains of corrections.
    pub(super) fn close_chains(&self, leaving: &[MemoryNumber]) -> Result<()> {
        let mut touched: Vec<MemoryNumber> = Vec::new();
        self.reader.run("closing chains of corrections", |c| {
            let mut before = c.prepare_cached(BEFORE)?;
            let mut after = c.prepare_cached(AFTER)?;
            let mut join = c.prepare_cached(JOIN)?;
            let mut leave = c.prepare_cached(LEAVE)?;
            for number in leaving {
                let olds: Vec<MemoryNumber> =
                    before.query_map([number], |row| row.get(0))?.collect::<Result<_, _>>()?;
                if olds.is_empty() {
                    continue;
                }
                let news: Vec<(MemoryNumber, i64)> = after
                    .query_map([number], |row| Ok((row.get(0)?, row.get(1)?)))?
                    .collect::<Result<_, _>>()?;
                for old in &olds {
                    for (new, at_ms) in news.iter().filter(|(new, _)| new != old) {
                        join.execute(params![old, new, at_ms])?;
                    }
                }
                leave.execute([number])?;
                touched.extend(olds);
            }
            Ok(())
        })?;
        touched.sort_unstable();
        touched.dedup();
        touched.retain(|number| !leaving.contains(number));
        self.end_again(&touched)
    }

    /// Sets until when memories held by the corrections they have now.
    pub(super) fn end_again(&self, numbers: &[MemoryNumber]) -> Result<()> {
        let ends = self.reader.run("ending what was corrected", |c| {
            let mut end = c.prepare_cached(END)?;
            let ended = numbers.iter().map(|number| {
                end.query_row([number], |row| row.get::<_, Option<i64>>(0)).map(|at| (*number, at))
            });
            ended.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        self.changes.borrow_mut().reset_ends.extend(ends);
        Ok(())
    }
}

const BEFORE: &str = "SELECT src FROM link WHERE dst = ? AND kind = 'contradicts'";
const AFTER: &str = "SELECT dst, created_at_ms FROM link WHERE src = ? AND kind = 'contradicts'";
const JOIN: &str = "
    INSERT OR IGNORE INTO link (src, dst, kind, weight, created_at_ms, touched_at_ms)
    VALUES (?1, ?2, 'contradicts', 1.0, ?3, ?3)";
const LEAVE: &str = "DELETE FROM link WHERE dst = ? AND kind = 'contradicts'";
const END: &str = "
    UPDATE memory SET valid_to_ms =
           (SELECT min(created_at_ms) FROM link WHERE src = ?1 AND kind = 'contradicts')
     WHERE number = ?1 RETURNING valid_to_ms";
