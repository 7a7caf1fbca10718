//! Forgets memories, and with them everything that was made from them.
//!
//! What a person asked for is written down first, as numbers, and then done in transactions of a
//! bounded size: a kill between two of them costs nothing, and readers go on meanwhile.

mod chains;
mod replacing;
mod traces;

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, params};

use super::{Writing, held};
use crate::error::{Result, StoreError};
use crate::reader::{mark_key, sql_limit};
use crate::record::forgotten::{Mark, MarkKey};
use crate::record::memory::Millis;
use crate::record::{ForgetReason, MemoryId, MemoryNumber, Role};

/// A memory on its way out: what its marks and the traces it left are known by.
struct Leaving {
    number: MemoryNumber,
    id: MemoryId,
    session: String,
    role: Role,
    turn_at_ms: i64,
    content_hash: [u8; 32],
    text: String,
}

impl Writing<'_> {
    /// Deletes memories, their words, vectors and links, and the summaries that quote them. Returns
    /// every number that is gone, for whoever keeps vectors in memory.
    pub fn forget(&self, numbers: &[MemoryNumber]) -> Result<Vec<MemoryNumber>> {
        let mut gone = numbers.to_vec();
        self.reader.run("looking for what was made from a memory", |c| {
            let mut made_from = c.prepare_cached(
                "SELECT src FROM link WHERE dst = ? AND kind = 'consolidated_from'",
            )?;
            for number in numbers {
                for made in made_from.query_map([number], |row| row.get(0))? {
                    gone.push(made?);
                }
            }
            Ok(())
        })?;
        gone.sort_unstable();
        gone.dedup();
        self.remove_from_index(&gone)?;
        self.reader.run("forgetting memories", |c| {
            let mut delete =
                c.prepare_cached("DELETE FROM memory WHERE number = ? RETURNING number")?;
            for number in &gone {
                delete.query_row([number], |_| Ok(())).optional()?;
            }
            Ok(())
        })?;
        Ok(gone)
    }

    /// Writes down that these memories are to be forgotten, and returns the number of the receipt.
    pub fn begin_forgetting(
        &self,
        numbers: &[MemoryNumber],
        selection: &str,
        reason: ForgetReason,
        now: Timestamp,
    ) -> Result<u64> {
        self.reader.run("noting what is to be forgotten", |c| {
            let receipt: i64 = c
                .prepare_cached(
                    "INSERT INTO forget_receipt (asked_at_ms, selection, reason, n_memories)
                     VALUES (?, ?, ?, 0) RETURNING number",
                )?
                .query_row(params![Millis(now), selection, reason], |row| row.get(0))?;
            // What another receipt waits for is forgotten once, under that one.
            let mut note = c.prepare_cached(
                "INSERT OR IGNORE INTO forget_pending SELECT number, ?2 FROM memory
                  WHERE number = ?1",
            )?;
            for number in numbers {
                note.execute(params![number, receipt])?;
            }
            Ok(receipt.cast_unsigned())
        })
    }

    /// Forgets at most `limit` memories of a receipt, and every trace they left in the tables.
    /// Returns every number that is gone; none when nothing of it is left.
    pub fn forget_some(&self, receipt: u64, limit: usize) -> Result<Vec<MemoryNumber>> {
        let receipt = held("receipt", receipt)?;
        let leaving = self.leaving(receipt, limit)?;
        if leaving.is_empty() {
            return Ok(Vec::new());
        }
        let key = mark_key(self.reader)?;
        self.reader.run("marking what is forgotten", |c| {
            let mut mark = c.prepare_cached(
                "INSERT OR REPLACE INTO forgotten (id_mark, turn_mark, memory, receipt)
                 VALUES (?, ?, ?, ?)",
            )?;
            for memory in &leaving {
                let (id_mark, turn_mark) = memory.marks(&key);
                mark.execute(params![id_mark, turn_mark, memory.number, receipt])?;
            }
            c.prepare_cached(
                "UPDATE forget_receipt SET n_memories = n_memories + ? WHERE number = ?",
            )?
            .execute(params![sql_limit(leaving.len()), receipt])
            .map(drop)
        })?;
        self.erase_traces(&leaving)?;
        let numbers: Vec<MemoryNumber> = leaving.iter().map(|memory| memory.number).collect();
        self.close_chains(&numbers)?;
        self.forget(&numbers)
    }

    /// Seals a receipt of which nothing is left to do, or drops it when it was only a check's.
    pub fn finish_forgetting(&self, receipt: u64, now: Timestamp) -> Result<()> {
        let number = held("receipt", receipt)?;
        let known = self.reader.forget_receipt(receipt)?;
        let known = known.ok_or_else(|| StoreError::refused("receipt", "there is none like it"))?;
        if known.reason == ForgetReason::Check {
            return self.reader.run("dropping a check's receipt", |c| {
                c.prepare_cached("DELETE FROM forget_receipt WHERE number = ?")?
                    .execute([number])
                    .map(drop)
            });
        }
        let digest = mark_key(self.reader)?.of_all(&self.reader.marks_of(receipt)?);
        self.reader.run("sealing a receipt", |c| {
            c.prepare_cached(
                "UPDATE forget_receipt SET finished_at_ms = ?, digest = ? WHERE number = ?",
            )?
            .execute(params![Millis(now), digest, number])
            .map(drop)
        })
    }

    /// Tells whether a turn was forgotten on purpose. A store that never forgot looks once.
    pub(super) fn is_forgotten(
        &self,
        id: MemoryId,
        turn: (&str, Role),
        turn_at_ms: i64,
        content_hash: &[u8; 32],
    ) -> Result<bool> {
        if self.mark_key.borrow().is_none() {
            let has_any = self.reader.has_forgotten()?;
            let key = if has_any { Some(mark_key(self.reader)?) } else { None };
            *self.mark_key.borrow_mut() = Some(key);
        }
        let key = self.mark_key.borrow();
        let Some(Some(key)) = &*key else { return Ok(false) };
        let marks = (key.of_id(id), key.of_turn(turn, turn_at_ms, content_hash));
        self.reader.is_marked(&marks)
    }

    fn leaving(&self, receipt: i64, limit: usize) -> Result<Vec<Leaving>> {
        self.reader.run("reading what is to be forgotten", |c| {
            c.prepare_cached(
                "SELECT m.number, m.uuid, s.name, m.role, m.turn_at_ms, m.content_hash, m.text
                   FROM forget_pending p
                   JOIN memory m ON m.number = p.memory
                   JOIN session s ON s.number = m.session
                  WHERE p.receipt = ? ORDER BY p.memory LIMIT ?",
            )?
            .query_map(params![receipt, sql_limit(limit)], |row| {
                Ok(Leaving {
                    number: row.get(0)?,
                    id: row.get(1)?,
                    session: row.get(2)?,
                    role: row.get(3)?,
                    turn_at_ms: row.get(4)?,
                    content_hash: row.get(5)?,
                    text: row.get(6)?,
                })
            })?
            .collect()
        })
    }
}

impl Leaving {
    fn marks(&self, key: &MarkKey) -> (Mark, Mark) {
        let turn = (self.session.as_str(), self.role);
        (key.of_id(self.id), key.of_turn(turn, self.turn_at_ms, &self.content_hash))
    }
}

#[cfg(test)]
mod tests;
