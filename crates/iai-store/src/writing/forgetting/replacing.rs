//! Gives one memory the place of another that is about to be forgotten.

use rusqlite::params;

use crate::error::Result;
use crate::record::MemoryNumber;
use crate::writing::Writing;

impl Writing<'_> {
    /// Lets `new` stand where `old` stands: in its chain of corrections and among the pins. What
    /// was derived from `old` is derived from `new` again.
    pub fn take_place(&self, old: MemoryNumber, new: MemoryNumber) -> Result<()> {
        self.reader.run("giving a memory the place of another", |c| {
            for sql in [AFTER, BEFORE, PIN] {
                c.prepare_cached(sql)?.execute(params![old, new])?;
            }
            c.prepare_cached(PINNED)?.execute([new]).map(drop)
        })?;
        self.end_again(&[new])
    }
}

const AFTER: &str = "
    INSERT OR IGNORE INTO link (src, dst, kind, weight, created_at_ms, touched_at_ms)
    SELECT ?2, dst, kind, weight, created_at_ms, touched_at_ms FROM link
     WHERE src = ?1 AND dst <> ?2 AND kind = 'contradicts'";
const BEFORE: &str = "
    INSERT OR IGNORE INTO link (src, dst, kind, weight, created_at_ms, touched_at_ms)
    SELECT src, ?2, kind, weight, created_at_ms, touched_at_ms FROM link
     WHERE dst = ?1 AND src <> ?2 AND kind = 'contradicts'";
const PIN: &str = "
    INSERT OR IGNORE INTO pin SELECT ?2, reach, pinned_at_ms FROM pin WHERE memory = ?1";
const PINNED: &str = "
    UPDATE memory SET pinned = EXISTS (SELECT 1 FROM pin WHERE memory = ?1) WHERE number = ?1";
