//! Writes disputes: found, told, settled.

use jiff::Timestamp;
use rusqlite::params;

use super::Writing;
use crate::error::Result;
use crate::reader::sql_limit;
use crate::record::memory::Millis;
use crate::record::{MemoryNumber, NewDispute, Settlement};

/// A value is shown in one line; of a longer one the beginning tells enough. The schema says so
/// too.
const VALUE_CHARS_MAX: usize = 200;

impl Writing<'_> {
    /// Keeps a dispute, unless this pair had one or one of the two is gone; returns whether it is
    /// new.
    pub fn put_dispute(&self, new: &NewDispute, now: Timestamp) -> Result<bool> {
        let cut = |value: &str| value.chars().take(VALUE_CHARS_MAX).collect::<String>();
        let (old_value, new_value) = (cut(&new.old_value), cut(&new.new_value));
        self.reader.run("storing a dispute", |c| {
            c.prepare_cached(
                "INSERT INTO dispute
                        (earlier, later, what, old_value, new_value, found_at_ms)
                 SELECT ?1, ?2, ?3, ?4, ?5, ?6
                  WHERE (SELECT count(*) FROM memory WHERE number IN (?1, ?2)) = 2
                     ON CONFLICT (earlier, later) DO NOTHING",
            )?
            .execute(params![new.earlier, new.later, new.what, old_value, new_value, Millis(now)])
            .map(|n| n == 1)
        })
    }

    /// Says that somebody was told about the disputes of what was said later. It often stands
    /// against several earlier memories that all say the same: that is one thing to tell.
    pub fn note_hinted(&self, later: MemoryNumber, at: Timestamp) -> Result<()> {
        self.reader.run("noting a hint", |c| {
            c.prepare_cached(
                "UPDATE dispute SET hinted_at_ms = ifnull(hinted_at_ms, ?) WHERE later = ?",
            )?
            .execute(params![Millis(at), later])
            .map(drop)
        })
    }

    /// Ends every open dispute of a memory; returns how many there were.
    pub fn settle_disputes(
        &self,
        number: MemoryNumber,
        how: Settlement,
        now: Timestamp,
    ) -> Result<usize> {
        self.reader.run("settling disputes", |c| {
            c.prepare_cached(
                "UPDATE dispute SET settled_at_ms = ?2, settled_how = ?3
                  WHERE (earlier = ?1 OR later = ?1) AND settled_at_ms IS NULL",
            )?
            .execute(params![number, Millis(now), how])
        })
    }

    /// Lets go of the oldest disputes beyond `n_max`, at most `limit` of them; returns how many.
    pub fn drop_disputes(&self, n_max: usize, limit: usize) -> Result<usize> {
        self.reader.run("dropping disputes", |c| {
            let n: i64 = c.query_row("SELECT count(*) FROM dispute", [], |row| row.get(0))?;
            let n = usize::try_from(n).unwrap_or(0);
            let n_over = n.saturating_sub(n_max).min(limit);
            if n_over == 0 {
                return Ok(0);
            }
            c.prepare_cached(
                "DELETE FROM dispute WHERE (earlier, later) IN
                    (SELECT earlier, later FROM dispute ORDER BY found_at_ms, earlier, later
                      LIMIT ?)",
            )?
            .execute([sql_limit(n_over)])
        })
    }
}
