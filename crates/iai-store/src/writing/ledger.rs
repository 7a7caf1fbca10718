//! Lets go of old rows of the ledger.

use jiff::Timestamp;
use rusqlite::params;

use super::Writing;
use crate::error::Result;
use crate::reader::sql_limit;
use crate::record::memory::Millis;

impl Writing<'_> {
    /// Drops events from before a time, and the oldest beyond the newest `n_kept`; at most `limit`
    /// of them. Returns how many.
    pub fn drop_events(&self, before: Timestamp, n_kept: usize, limit: usize) -> Result<usize> {
        self.reader.run("dropping old events", |c| {
            c.prepare_cached(
                "DELETE FROM event WHERE number IN (
                     SELECT number FROM event
                      WHERE at_ms < ?1
                         OR number <= (SELECT number FROM event ORDER BY number DESC
                                        LIMIT 1 OFFSET ?2)
                      ORDER BY number LIMIT ?3)",
            )?
            .execute(params![Millis(before), sql_limit(n_kept), sql_limit(limit)])
        })
    }

    /// Drops receipts of spool files that were stored whole before a time; at most `limit` of them.
    /// Returns how many.
    pub fn drop_receipts(&self, before: Timestamp, limit: usize) -> Result<usize> {
        self.reader.run("dropping old receipts", |c| {
            c.prepare_cached(
                "DELETE FROM spool_receipt WHERE file IN (
                     SELECT file FROM spool_receipt
                      WHERE state = 'done' AND at_ms < ? ORDER BY file LIMIT ?)",
            )?
            .execute(params![Millis(before), sql_limit(limit)])
        })
    }
}
