//! Reads what is to be forgotten, what was, and checks that it is gone.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension as _, Row, params, params_from_iter};

use super::{Clause, Reader, sql_limit};
use crate::check::CheckReport;
use crate::error::Result;
use crate::index::segment::Segment;
use crate::record::forgotten::{Mark, MarkKey};
use crate::record::memory::Millis;
use crate::record::{Filter, ForgetReceipt, ForgetSelection, GoneNames, MemoryId, Role, Selected};

/// The rule that a check names.
const RULE: &str = "forgotten";
/// What was begun and goes on; nothing is broken.
const UNFINISHED: &str = "forgetting";

impl Reader {
    /// Returns every memory that a selection means, in the order they were stored.
    pub fn selected(&self, selection: &ForgetSelection) -> Result<Vec<Selected>> {
        let filter = Filter { session: selection.session.clone(), ..Filter::default() };
        let mut clause = Clause::of(&filter);
        if let Some(before) = selection.before {
            clause.and("m.turn_at_ms < ?", before.as_millisecond());
        }
        if let Some(places) = &selection.places {
            let places: Vec<String> = places.iter().map(u32::to_string).collect();
            clause.sql.push_str(&format!(" AND m.place IN ({})", places.join(", ")));
        }
        if let Some(set) = &selection.taught {
            clause.sql.push_str(OF_SET);
            clause.values.push(set.clone().into());
        }
        let sought = selection.containing.as_deref().map(str::to_lowercase);
        let ids: Option<BTreeSet<MemoryId>> =
            selection.ids.as_ref().map(|ids| ids.iter().copied().collect());
        let sql = format!(
            "SELECT m.number, m.session, m.turn_at_ms, m.uuid, m.cue, m.text FROM memory m
              WHERE true{} ORDER BY m.number",
            clause.sql
        );
        self.run("looking for what is to be forgotten", |c| {
            let mut statement = c.prepare(&sql)?;
            let mut rows = statement.query(params_from_iter(clause.values))?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                if let Some(ids) = &ids
                    && !ids.contains(&row.get(3)?)
                {
                    continue;
                }
                if let Some(sought) = &sought
                    && !says(row, sought)?
                {
                    continue;
                }
                let turn_at = row.get::<_, Millis>(2)?.0;
                found.push(Selected { number: row.get(0)?, session: row.get(1)?, turn_at });
            }
            Ok(found)
        })
    }

    /// Returns when the memory with the highest number was stored; what this program wrote itself
    /// and what was taught aside.
    pub fn last_stored_at(&self) -> Result<Option<jiff::Timestamp>> {
        self.run("looking for the latest capture", |c| {
            c.prepare_cached(
                "SELECT m.stored_at_ms FROM memory m JOIN session s ON s.number = m.session
                  WHERE s.host NOT IN ('iai-mcp', 'taught') ORDER BY m.number DESC LIMIT 1",
            )?
            .query_row([], |row| row.get::<_, Millis>(0).map(|at| at.0))
            .optional()
        })
    }

    /// Returns the newest receipts.
    pub fn forget_receipts(&self, limit: usize) -> Result<Vec<ForgetReceipt>> {
        self.run("reading receipts", |c| {
            c.prepare_cached(&format!("{RECEIPTS} ORDER BY number DESC LIMIT ?"))?
                .query_map([sql_limit(limit)], receipt_of)?
                .collect()
        })
    }

    /// Returns one receipt.
    pub fn forget_receipt(&self, number: u64) -> Result<Option<ForgetReceipt>> {
        self.run("reading a receipt", |c| {
            c.prepare_cached(&format!("{RECEIPTS} WHERE number = ?"))?
                .query_row([number.cast_signed()], receipt_of)
                .optional()
        })
    }

    /// Returns the receipts with something left to do, the oldest first.
    pub fn unfinished_receipts(&self) -> Result<Vec<u64>> {
        self.run("looking for what is left to forget", |c| {
            c.prepare_cached(
                "SELECT number FROM forget_receipt WHERE finished_at_ms IS NULL ORDER BY number",
            )?
            .query_map([], |row| row.get::<_, i64>(0).map(i64::cast_unsigned))?
            .collect()
        })
    }

    /// Returns how many memories of a receipt are still there.
    pub fn n_forget_pending(&self, receipt: u64) -> Result<u64> {
        self.run("counting what is left to forget", |c| {
            c.prepare_cached("SELECT count(*) FROM forget_pending WHERE receipt = ?")?
                .query_row([receipt.cast_signed()], |row| row.get::<_, i64>(0))
                .map(i64::cast_unsigned)
        })
    }

    /// Returns sessions, projects and folders that no memory has any more.
    pub fn gone_names(&self) -> Result<GoneNames> {
        self.run("looking for names nobody has", |c| {
            let names = |sql: &str| -> rusqlite::Result<Vec<String>> {
                c.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
            };
            Ok(GoneNames { sessions: names(GONE_SESSIONS)?, places: names(GONE_PLACES)? })
        })
    }

    /// Tells whether a turn, known by its id or by what was said when, was forgotten on purpose.
    pub fn was_forgotten(
        &self,
        id: MemoryId,
        turn: (&str, Role),
        turn_at: jiff::Timestamp,
        text: &str,
    ) -> Result<bool> {
        if !self.has_forgotten()? {
            return Ok(false);
        }
        let key = mark_key(self)?;
        let hash = crate::record::memory::content_hash(text);
        self.is_marked(&(key.of_id(id), key.of_turn(turn, turn_at.as_millisecond(), &hash)))
    }

    /// Checks every receipt: its marks are whole, and what they mark is in no table and in no
    /// segment of the index.
    pub fn check_forgotten(&self) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        let key = mark_key(self)?;
        for receipt in self.forget_receipts(usize::MAX)? {
            self.check_receipt(&receipt, &key, &mut report)?;
        }
        for (table, column) in HOLDERS {
            let sql = format!(
                "SELECT f.receipt FROM forgotten f
                   JOIN {table} t ON t.{column} = f.memory LIMIT 100"
            );
            self.note_found(&sql, &format!("still in {table}"), &mut report)?;
        }
        self.note_found(IN_VECTORS, "still has vectors", &mut report)?;
        self.check_returned(&key, &mut report)?;
        self.check_segments(&mut report)?;
        Ok(report)
    }

    fn check_receipt(
        &self,
        receipt: &ForgetReceipt,
        key: &MarkKey,
        report: &mut CheckReport,
    ) -> Result<()> {
        let number = receipt.number;
        let Some(digest) = receipt.digest else {
            report.note(UNFINISHED, format!("receipt {number} is not finished"));
            return Ok(());
        };
        let marks = self.marks_of(number)?;
        if marks.len() as u64 != receipt.n_memories || key.of_all(&marks) != digest {
            report.note(RULE, format!("receipt {number} does not fit its marks"));
        }
        Ok(())
    }

    fn note_found(&self, sql: &str, what: &str, report: &mut CheckReport) -> Result<()> {
        let receipts: Vec<i64> = self.run("checking receipts", |c| {
            c.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
        })?;
        for receipt in receipts {
            report.note(RULE, format!("a memory of receipt {receipt} is {what}"));
        }
        Ok(())
    }

    /// Looks whether something forgotten was stored again, under its own id or another.
    fn check_returned(&self, key: &MarkKey, report: &mut CheckReport) -> Result<()> {
        if !self.has_forgotten()? {
            return Ok(());
        }
        let mut returned = Vec::new();
        self.run("looking for what came back", |c| {
            let mut all = c.prepare(
                "SELECT m.uuid, s.name, m.role, m.turn_at_ms, m.content_hash
                   FROM memory m JOIN session s ON s.number = m.session",
            )?;
            let mut rows = all.query([])?;
            while let Some(row) = rows.next()? {
                let id: MemoryId = row.get(0)?;
                let session: String = row.get(1)?;
                let (turn, hash) = ((session.as_str(), row.get(2)?), row.get::<_, [u8; 32]>(4)?);
                let marks = (key.of_id(id), key.of_turn(turn, row.get(3)?, &hash));
                if c.prepare_cached(IS_MARKED)?.exists([marks.0, marks.1])? {
                    returned.push(id);
                }
            }
            Ok(())
        })?;
        for id in returned {
            report.note(RULE, format!("{id} was forgotten and is stored again"));
        }
        Ok(())
    }

    fn check_segments(&self, report: &mut CheckReport) -> Result<()> {
        let left: Vec<(i64, u32)> = self.run("checking the index for what was forgotten", |c| {
            let mut left = Vec::new();
            let mut forgotten =
                c.prepare("SELECT receipt, memory FROM forgotten WHERE memory BETWEEN ? AND ?")?;
            let mut stored = c.prepare("SELECT words FROM lexical_segment ORDER BY first")?;
            let mut rows = stored.query([])?;
            while let Some(row) = rows.next()? {
                let Some(segment) = Segment::open(row.get(0)?) else { continue };
                let (first, last) = (segment.first(), segment.last());
                let of_range = forgotten.query_map([first, last], |row| {
                    Ok((row.get::<_, i64>(0)?, row.get::<_, u32>(1)?))
                })?;
                for found in of_range {
                    let (receipt, number) = found?;
                    if 0 < segment.length(number.saturating_sub(first)) {
                        left.push((receipt, number));
                    }
                }
            }
            Ok(left)
        })?;
        for (receipt, number) in left {
            let what = format!("memory {number} of receipt {receipt} is still in the index");
            report.note(RULE, what);
        }
        Ok(())
    }

    pub(crate) fn marks_of(&self, receipt: u64) -> Result<Vec<Mark>> {
        self.run("reading the marks of a receipt", |c| {
            c.prepare_cached("SELECT id_mark FROM forgotten WHERE receipt = ? ORDER BY id_mark")?
                .query_map([receipt.cast_signed()], |row| row.get(0))?
                .collect()
        })
    }

    pub(crate) fn has_forgotten(&self) -> Result<bool> {
        self.run("looking for marks", |c| {
            c.prepare_cached("SELECT 1 FROM forgotten LIMIT 1")?.exists([])
        })
    }

    pub(crate) fn is_marked(&self, marks: &(Mark, Mark)) -> Result<bool> {
        self.run("looking for a mark", |c| {
            c.prepare_cached(IS_MARKED)?.exists(params![marks.0, marks.1])
        })
    }
}

/// Returns the key of all marks.
pub(crate) fn mark_key(reader: &Reader) -> Result<MarkKey> {
    reader.run("reading the key of the marks", |c| {
        c.prepare_cached("SELECT key FROM forgotten_key")?
            .query_row([], |row| row.get(0))
            .map(MarkKey)
    })
}

fn says(row: &Row<'_>, sought: &str) -> rusqlite::Result<bool> {
    let has = |text: &str| text.to_lowercase().contains(sought);
    let cue = row.get_ref(4)?.as_str_or_null()?;
    Ok(has(row.get_ref(5)?.as_str()?) || cue.is_some_and(has))
}

fn receipt_of(row: &Row<'_>) -> rusqlite::Result<ForgetReceipt> {
    Ok(ForgetReceipt {
        number: row.get::<_, i64>(0)?.cast_unsigned(),
        asked_at: row.get::<_, Millis>(1)?.0,
        finished_at: row.get::<_, Option<Millis>>(2)?.map(|at| at.0),
        selection: row.get(3)?,
        reason: row.get(4)?,
        n_memories: row.get::<_, i64>(5)?.cast_unsigned(),
        digest: row.get(6)?,
    })
}

/// What was taught as one set; the session comes first, so that no other provenance is read.
const OF_SET: &str = "
    AND m.session IN (SELECT number FROM session WHERE host = 'taught')
    AND json_extract(m.provenance, '$.taught.set') = ?";
const RECEIPTS: &str = "
    SELECT number, asked_at_ms, finished_at_ms, selection, reason, n_memories, digest
      FROM forget_receipt";
const IS_MARKED: &str = "
    SELECT 1 FROM forgotten WHERE id_mark = ?1
     UNION ALL SELECT 1 FROM forgotten WHERE turn_mark = ?2 LIMIT 1";
const GONE_SESSIONS: &str = "
    SELECT s.name FROM session s
     WHERE NOT EXISTS (SELECT 1 FROM memory m WHERE m.session = s.number)
       AND NOT EXISTS (SELECT 1 FROM session o JOIN memory m ON m.session = o.number
                        WHERE o.name = s.name)
     GROUP BY s.name";
const GONE_PLACES: &str = "
    WITH held AS (SELECT p.project, p.cwd FROM place p
                   WHERE EXISTS (SELECT 1 FROM memory m WHERE m.place = p.number)),
         gone AS (SELECT p.project, p.cwd FROM place p
                   WHERE NOT EXISTS (SELECT 1 FROM memory m WHERE m.place = p.number))
    SELECT project FROM gone WHERE project IS NOT NULL
       AND project NOT IN (SELECT project FROM held WHERE project IS NOT NULL)
     UNION
    SELECT cwd FROM gone WHERE cwd IS NOT NULL
       AND cwd NOT IN (SELECT cwd FROM held WHERE cwd IS NOT NULL)";
/// Where a memory's number may stand.
const HOLDERS: &[(&str, &str)] = &[
    ("memory", "number"),
    ("forget_pending", "memory"),
    ("link", "src"),
    ("link", "dst"),
    ("link_session", "src"),
    ("link_session", "dst"),
    ("dispute", "earlier"),
    ("dispute", "later"),
    ("memory_attribute", "memory"),
    ("formality", "memory"),
    ("nearness", "memory"),
    ("summary", "memory"),
    ("fact_memory", "memory"),
    ("pattern_evidence", "memory"),
    ("pin", "memory"),
    ("remark", "memory"),
    ("remark_everywhere", "memory"),
    ("remark_sequel", "memory"),
    ("remark_sequel", "sequel"),
    ("memory_use", "memory"),
];
const IN_VECTORS: &str = "
    SELECT f.receipt FROM forgotten f JOIN embedding_model e
      JOIN vector v ON v.place BETWEEN (e.number << 48) | (f.memory << 16)
                                   AND (e.number << 48) | (f.memory << 16) | 65535 LIMIT 100";
