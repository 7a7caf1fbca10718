//! Writes what holds beyond its session: identity, pins, remarks, uses.

use jiff::Timestamp;
use rusqlite::params;

use super::Writing;
use crate::error::{Result, StoreError};
use crate::reader::sql_limit;
use crate::record::memory::Millis;
use crate::record::{MemoryId, MemoryNumber, NewRemark, NewSequel, Reach, RemarkKind, Uses};

/// What the user may say about themselves; the schema says so too.
const IDENTITY_CHARS_MAX: usize = 4000;

impl Writing<'_> {
    /// Writes down who the user is, over what was written before; an empty text takes it back.
    pub fn set_identity(&self, text: &str, now: Timestamp) -> Result<()> {
        let n_chars = text.chars().count();
        if IDENTITY_CHARS_MAX < n_chars {
            let why = format!("it has {n_chars} characters; at most {IDENTITY_CHARS_MAX}");
            return Err(StoreError::refused("identity", why));
        }
        self.reader.run("storing the identity", |c| match text {
            "" => c.prepare_cached("DELETE FROM identity")?.execute([]).map(drop),
            _ => c
                .prepare_cached("INSERT OR REPLACE INTO identity VALUES (1, ?, ?)")?
                .execute(params![text, Millis(now)])
                .map(drop),
        })
    }

    /// Keeps a memory in sight.
    pub fn pin(&self, id: MemoryId, reach: Reach, now: Timestamp) -> Result<()> {
        let number = self.number(id)?;
        self.reader.run("pinning a memory", |c| {
            c.prepare_cached("INSERT OR REPLACE INTO pin VALUES (?, ?, ?)")?.execute(params![
                number,
                reach,
                Millis(now)
            ])?;
            c.prepare_cached("UPDATE memory SET pinned = 1 WHERE number = ?")?
                .execute([number])
                .map(drop)
        })
    }

    /// Lets a pinned memory go out of sight; it stays stored.
    pub fn unpin(&self, id: MemoryId) -> Result<()> {
        let number = self.number(id)?;
        self.reader.run("unpinning a memory", |c| {
            c.prepare_cached("DELETE FROM pin WHERE memory = ?")?.execute([number])?;
            c.prepare_cached("UPDATE memory SET pinned = 0 WHERE number = ?")?
                .execute([number])
                .map(drop)
        })
    }

    /// Stores the remarks of a memory, those that are not stored yet.
    pub fn put_remarks(&self, number: MemoryNumber, remarks: &[NewRemark]) -> Result<()> {
        self.reader.run("storing remarks", |c| {
            let mut insert = c.prepare_cached(
                "INSERT OR IGNORE INTO remark
                     (memory, start_byte, end_byte, kind, place, turn_at_ms, words)
                 SELECT number, ?2, ?3, ?4, place, turn_at_ms, ?5 FROM memory WHERE number = ?1",
            )?;
            // What somebody else of a team wants holds where they said it.
            let mut spread = c.prepare_cached(
                "INSERT OR IGNORE INTO remark_everywhere (memory, start_byte, kind, turn_at_ms)
                 SELECT memory, start_byte, kind, turn_at_ms FROM remark
                  WHERE memory = ?1 AND start_byte = ?2 AND kind = ?3
                    AND NOT EXISTS
                        (SELECT 1 FROM sync_carried c JOIN sync_vault v ON v.number = c.vault
                          WHERE c.memory = ?1 AND v.kind = 'team'
                            AND c.machine IS NOT (SELECT id FROM sync_machine))",
            )?;
            for remark in remarks {
                let (start, end) = (sql_limit(remark.start_byte), sql_limit(remark.end_byte));
                insert.execute(params![number, start, end, remark.kind, remark.words])?;
                match remark.reach {
                    Reach::Everywhere => spread.execute(params![number, start, remark.kind])?,
                    Reach::Project => 0,
                };
            }
            Ok(())
        })
    }

    /// Drops the remark of a kind that begins at this byte of a memory, if there is one.
    pub fn drop_remark(
        &self,
        number: MemoryNumber,
        start_byte: usize,
        kind: RemarkKind,
    ) -> Result<()> {
        self.reader.run("dropping a remark", |c| {
            c.prepare_cached("DELETE FROM remark WHERE memory = ? AND start_byte = ? AND kind = ?")?
                .execute(params![number, sql_limit(start_byte), kind])
                .map(drop)
        })
    }

    /// Drops all remarks: they are found again in the texts.
    pub fn drop_remarks(&self) -> Result<()> {
        self.reader.run("dropping remarks", |c| c.execute("DELETE FROM remark", []).map(drop))
    }

    /// Stores what was said later about the same thing as a remark; of each place, and of what
    /// takes something back, it keeps the `n_kept` nearest, and of equally near ones the newest.
    /// What is gone is passed over.
    pub fn put_sequels(&self, sequels: &[NewSequel], n_kept: usize) -> Result<()> {
        self.reader.run("storing sequels", |c| {
            let mut insert = c.prepare_cached(
                "INSERT OR REPLACE INTO remark_sequel
                 SELECT r.memory, r.start_byte, r.kind, m.number, ?5
                   FROM remark r JOIN memory m ON m.number = ?4
                  WHERE r.memory = ?1 AND r.start_byte = ?2 AND r.kind = ?3",
            )?;
            let mut drop_rest = c.prepare_cached(
                "DELETE FROM remark_sequel
                  WHERE memory = ?1 AND start_byte = ?2 AND kind = ?3 AND sequel IN
                        (SELECT sequel FROM
                            (SELECT s.sequel, row_number() OVER (
                                        PARTITION BY m.place, EXISTS
                                            (SELECT 1 FROM remark w
                                              WHERE w.memory = s.sequel AND w.kind = 'waiver')
                                        ORDER BY s.nearness DESC, s.sequel DESC) AS nth
                               FROM remark_sequel s JOIN memory m ON m.number = s.sequel
                              WHERE s.memory = ?1 AND s.start_byte = ?2 AND s.kind = ?3)
                          WHERE ?4 < nth)",
            )?;
            for new in sequels {
                let start = sql_limit(new.start_byte);
                insert.execute(params![new.memory, start, new.kind, new.sequel, new.nearness])?;
                drop_rest.execute(params![new.memory, start, new.kind, sql_limit(n_kept)])?;
            }
            Ok(())
        })
    }

    /// Drops all sequels: they are found again in the texts.
    pub fn drop_sequels(&self) -> Result<()> {
        self.reader
            .run("dropping sequels", |c| c.execute("DELETE FROM remark_sequel", []).map(drop))
    }

    /// Adds to how often memories were of use. Those that are gone are passed over.
    pub fn add_uses(&self, uses: &[(MemoryId, Uses)], now: Timestamp) -> Result<()> {
        self.reader.run("counting uses", |c| {
            let mut add = c.prepare_cached(
                "INSERT INTO memory_use (memory, place, n_recalled, n_reinforced, last_ms)
                 SELECT number, place, ?2, ?3, ?4 FROM memory WHERE uuid = ?1
                     ON CONFLICT (memory) DO UPDATE
                    SET n_recalled = n_recalled + excluded.n_recalled,
                        n_reinforced = n_reinforced + excluded.n_reinforced,
                        last_ms = max(last_ms, excluded.last_ms)",
            )?;
            for (id, uses) in uses {
                add.execute(params![id, uses.n_recalled, uses.n_reinforced, Millis(now)])?;
            }
            Ok(())
        })
    }

    /// Forgets the uses beyond the `n_kept` of latest use, and returns how many that were.
    pub fn drop_uses(&self, n_kept: usize) -> Result<usize> {
        self.reader.run("dropping old uses", |c| {
            c.prepare_cached(
                "DELETE FROM memory_use WHERE last_ms < (
                     SELECT last_ms FROM memory_use ORDER BY last_ms DESC LIMIT 1 OFFSET ?)",
            )?
            .execute([sql_limit(n_kept)])
        })
    }
}
