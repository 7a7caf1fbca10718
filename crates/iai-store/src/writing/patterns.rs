//! Writes facts, the patterns counted from them, and cues that found nothing.

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, params};

use super::{Writing, held};
use crate::error::Result;
use crate::reader::sql_limit;
use crate::record::memory::Millis;
use crate::record::{FactKind, MemoryNumber, NewPattern};

/// What became of a pattern that was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternPut {
    /// It was not known.
    New,
    /// It was known with other numbers.
    Changed,
    /// Nothing was written.
    Same,
}

impl Writing<'_> {
    /// Notes that a memory shows a fact.
    pub fn note_fact(&self, memory: MemoryNumber, kind: FactKind, name: &str) -> Result<()> {
        self.reader.run("noting a fact", |c| {
            let known: Option<i64> = c
                .prepare_cached("SELECT number FROM fact WHERE kind = ? AND name = ?")?
                .query_row(params![kind, name], |row| row.get(0))
                .optional()?;
            let fact = match known {
                Some(fact) => fact,
                None => c
                    .prepare_cached("INSERT INTO fact (kind, name) VALUES (?, ?) RETURNING number")?
                    .query_row(params![kind, name], |row| row.get(0))?,
            };
            c.prepare_cached(
                "INSERT OR IGNORE INTO fact_memory SELECT number, ?2 FROM memory WHERE number = ?1",
            )?
            .execute(params![memory, fact])
            .map(drop)
        })
    }

    /// Drops all facts: they are taken again from the texts.
    pub fn drop_facts(&self) -> Result<()> {
        self.reader.run("dropping facts", |c| c.execute("DELETE FROM fact", []).map(drop))
    }

    /// Drops facts no memory shows any more, at most `limit` of them. Returns how many.
    pub fn drop_orphan_facts(&self, limit: usize) -> Result<usize> {
        self.reader.run("dropping facts nobody shows", |c| {
            c.prepare_cached(
                "DELETE FROM fact WHERE number IN (
                     SELECT number FROM fact f WHERE NOT EXISTS
                         (SELECT 1 FROM fact_memory s WHERE s.fact = f.number) LIMIT ?)",
            )?
            .execute([sql_limit(limit)])
        })
    }

    /// Stores a pattern over what was known of it, with the memories that show it.
    pub fn put_pattern(&self, new: &NewPattern, now: Timestamp) -> Result<PatternPut> {
        let n_evidence = held("number of cases", new.n_evidence)?;
        let n_exceptions = held("number of exceptions", new.n_exceptions)?;
        self.reader.run("storing a pattern", |c| {
            let known: Option<(i64, i64, i64, String)> = c
                .prepare_cached(
                    "SELECT number, n_evidence, n_exceptions, status FROM pattern
                      WHERE kind = ? AND subject = ? AND object = ? AND project = ?",
                )?
                .query_row(params![new.kind, new.subject, new.object, new.project], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
                })
                .optional()?;
            if let Some((_, evidence, exceptions, status)) = &known
                && (*evidence, *exceptions, status.as_str())
                    == (n_evidence, n_exceptions, new.status.as_str())
            {
                return Ok(PatternPut::Same);
            }
            let number: i64 = c.prepare_cached(PUT_PATTERN)?.query_row(
                params![
                    new.kind,
                    new.subject,
                    new.object,
                    new.project,
                    n_evidence,
                    n_exceptions,
                    new.confidence,
                    new.status,
                    Millis(now)
                ],
                |row| row.get(0),
            )?;
            c.prepare_cached("DELETE FROM pattern_evidence WHERE pattern = ?")?
                .execute([number])?;
            let mut show = c.prepare_cached(
                "INSERT OR IGNORE INTO pattern_evidence
                 SELECT ?1, number FROM memory WHERE number = ?2",
            )?;
            for memory in &new.evidence {
                show.execute(params![number, memory])?;
            }
            Ok(if known.is_some() { PatternPut::Changed } else { PatternPut::New })
        })
    }

    /// Drops a pattern that no longer holds.
    pub fn drop_pattern(&self, number: u64) -> Result<()> {
        self.reader.run("dropping a pattern", |c| {
            c.prepare_cached("DELETE FROM pattern WHERE number = ?")?
                .execute([number.cast_signed()])
                .map(drop)
        })
    }

    /// Notes that a cue found nothing, and drops the oldest such notes beyond `n_kept`.
    pub fn note_missed_cue(
        &self,
        (cue, asked): (&str, &str),
        project: &str,
        now: Timestamp,
        n_kept: usize,
    ) -> Result<()> {
        self.reader.run("noting a cue that found nothing", |c| {
            c.prepare_cached(
                "INSERT INTO missed_cue VALUES (?1, ?2, ?3, 1, ?4, ?4)
                     ON CONFLICT (cue, project) DO UPDATE
                    SET n_times = n_times + 1, asked = excluded.asked,
                        last_at_ms = excluded.last_at_ms",
            )?
            .execute(params![cue, project, asked, Millis(now)])?;
            c.prepare_cached(
                "DELETE FROM missed_cue WHERE last_at_ms <
                     (SELECT last_at_ms FROM missed_cue ORDER BY last_at_ms DESC LIMIT 1 OFFSET ?)",
            )?
            .execute([sql_limit(n_kept.saturating_sub(1))])
            .map(drop)
        })
    }

    /// Drops notes of missed cues from before a time. Returns how many.
    pub fn drop_missed_cues(&self, before: Timestamp) -> Result<usize> {
        self.reader.run("dropping old notes of missed cues", |c| {
            c.prepare_cached("DELETE FROM missed_cue WHERE last_at_ms < ?")?
                .execute([Millis(before)])
        })
    }
}

const PUT_PATTERN: &str = "
    INSERT INTO pattern (kind, subject, object, project, n_evidence, n_exceptions, confidence,
                         status, updated_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (kind, subject, object, project) DO UPDATE
       SET n_evidence = excluded.n_evidence, n_exceptions = excluded.n_exceptions,
           confidence = excluded.confidence, status = excluded.status,
           updated_at_ms = excluded.updated_at_ms
    RETURNING number";
