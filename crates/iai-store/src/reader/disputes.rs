//! Reads which memories may say the opposite of each other, and which took whose place.

use rusqlite::{Row, params};

use super::{Reader, sql_limit};
use crate::error::Result;
use crate::record::memory::Millis;
use crate::record::{Correction, Dispute, MemoryNumber, NewDispute};

const OPEN_DISPUTES: &str = "
    SELECT d.earlier, d.later, a.uuid, b.uuid, d.what, d.old_value, d.new_value, d.found_at_ms,
           d.hinted_at_ms
      FROM dispute d
      JOIN memory a ON a.number = d.earlier
      JOIN memory b ON b.number = d.later
     WHERE d.settled_at_ms IS NULL";

impl Reader {
    /// Returns the open disputes of these memories, each once, by the pair.
    pub fn disputes_of(&self, numbers: &[MemoryNumber]) -> Result<Vec<Dispute>> {
        let sql = format!("{OPEN_DISPUTES} AND (d.earlier = ?1 OR d.later = ?1)");
        let mut found: Vec<Dispute> = self.run("reading disputes", |c| {
            let mut statement = c.prepare_cached(&sql)?;
            let mut found = Vec::new();
            for number in numbers {
                for dispute in statement.query_map([number], dispute_of)? {
                    found.push(dispute?);
                }
            }
            Ok(found)
        })?;
        found.sort_by_key(|dispute| (dispute.about.earlier, dispute.about.later));
        found.dedup_by_key(|dispute| (dispute.about.earlier, dispute.about.later));
        Ok(found)
    }

    /// Returns the open disputes, those found last first.
    pub fn open_disputes(&self, limit: usize) -> Result<Vec<Dispute>> {
        let sql = format!("{OPEN_DISPUTES} ORDER BY d.found_at_ms DESC, d.later DESC LIMIT ?");
        self.run("reading disputes", |c| {
            c.prepare_cached(&sql)?.query_map(params![sql_limit(limit)], dispute_of)?.collect()
        })
    }

    /// Returns what took the place of this memory, in the order it happened.
    pub fn successors(&self, number: MemoryNumber) -> Result<Vec<Correction>> {
        self.corrections("src", number)
    }

    /// Returns what this memory took the place of, in the order it happened.
    pub fn predecessors(&self, number: MemoryNumber) -> Result<Vec<Correction>> {
        self.corrections("dst", number)
    }

    fn corrections(&self, side: &str, number: MemoryNumber) -> Result<Vec<Correction>> {
        let sql = format!(
            "SELECT src, dst, created_at_ms FROM link WHERE {side} = ? AND kind = 'contradicts'
              ORDER BY created_at_ms, src, dst"
        );
        self.run("reading corrections", |c| {
            c.prepare_cached(&sql)?
                .query_map([number], |row| {
                    let at = row.get::<_, Millis>(2)?.0;
                    Ok(Correction { old: row.get(0)?, new: row.get(1)?, at })
                })?
                .collect()
        })
    }
}

fn dispute_of(row: &Row<'_>) -> rusqlite::Result<Dispute> {
    Ok(Dispute {
        about: NewDispute {
            earlier: row.get(0)?,
            later: row.get(1)?,
            what: row.get(4)?,
            old_value: row.get(5)?,
            new_value: row.get(6)?,
        },
        earlier_id: row.get(2)?,
        later_id: row.get(3)?,
        found_at: row.get::<_, Millis>(7)?.0,
        hinted_at: row.get::<_, Option<Millis>>(8)?.map(|at| at.0),
    })
}
