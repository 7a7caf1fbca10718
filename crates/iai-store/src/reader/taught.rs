//! Reads what was taught: passages of files and notes of other programs, by file and by set.

use rusqlite::params;

use super::{Reader, sql_limit};
use crate::error::Result;
use crate::record::memory::Millis;
use crate::record::{MemoryId, TaughtFile};

impl Reader {
    /// Returns the files something was taught from, by set and name, from the one numbered `skip`
    /// on; those of one set when one is named.
    pub fn taught_files(
        &self,
        set: Option<&str>,
        skip: usize,
        limit: usize,
    ) -> Result<Vec<TaughtFile>> {
        self.run("reading what was taught", |c| {
            c.prepare_cached(
                "SELECT s.name, ifnull(json_extract(m.provenance, '$.taught.set'), ''),
                        ifnull(json_extract(m.provenance, '$.taught.name'), s.name),
                        ifnull(json_extract(m.provenance, '$.taught.file'), ''),
                        count(*), sum(length(m.text)), max(m.stored_at_ms)
                   FROM session s JOIN memory m ON m.session = s.number
                  WHERE s.host = 'taught'
                    AND (?1 IS NULL OR json_extract(m.provenance, '$.taught.set') = ?1)
                  GROUP BY s.number ORDER BY 2, 3, 1 LIMIT ?2 OFFSET ?3",
            )?
            .query_map(params![set, sql_limit(limit), sql_limit(skip)], |row| {
                Ok(TaughtFile {
                    session: row.get(0)?,
                    set: row.get(1)?,
                    name: row.get(2)?,
                    file: row.get(3)?,
                    n_passages: row.get::<_, i64>(4)?.cast_unsigned(),
                    n_chars: row.get::<_, i64>(5)?.cast_unsigned(),
                    taught_at: row.get::<_, Millis>(6)?.0,
                })
            })?
            .collect()
        })
    }

    /// Returns the passages that were taught from one file, in the order they came in.
    pub fn taught_passages(&self, session: &str) -> Result<Vec<MemoryId>> {
        self.run("reading the passages of a file", |c| {
            c.prepare_cached(
                "SELECT m.uuid FROM session s JOIN memory m ON m.session = s.number
                  WHERE s.name = ? AND s.host = 'taught' ORDER BY m.number",
            )?
            .query_map([session], |row| row.get(0))?
            .collect()
        })
    }
}
