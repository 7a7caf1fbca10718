//! Reads links, as relations of ids or as bare pairs for the shape of the whole.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::Row;

use super::{Reader, sql_limit};
use crate::error::Result;
use crate::record::link::faded;
use crate::record::memory::Millis;
use crate::record::{Link, MemoryNumber};

impl Reader {
    /// Returns all links that touch any of these memories, each once, by source, target and kind.
    pub fn links_of(&self, numbers: &[MemoryNumber]) -> Result<Vec<Link>> {
        let sql = "
            SELECT a.uuid AS src, b.uuid AS dst, l.kind, l.weight, l.created_at_ms, l.touched_at_ms
              FROM (SELECT * FROM link WHERE src = ?1
                     UNION ALL
                    SELECT * FROM link WHERE dst = ?1) l
              JOIN memory a ON a.number = l.src
              JOIN memory b ON b.number = l.dst";
        self.run("reading links", |c| {
            let mut statement = c.prepare_cached(sql)?;
            let mut links = BTreeMap::new();
            for number in numbers {
                for link in statement.query_map([number], link_of)? {
                    let link = link?;
                    links.insert((link.src, link.dst, link.kind), link);
                }
            }
            Ok(links.into_values().collect())
        })
    }

    /// Returns the memories that learned links lead to, with their weights at this time, the
    /// strongest first.
    pub fn learned_links(
        &self,
        number: MemoryNumber,
        now: Timestamp,
    ) -> Result<Vec<(MemoryNumber, f64)>> {
        let sql = "
            SELECT dst, weight, touched_at_ms FROM link WHERE src = ?1 AND kind = 'hebbian'
             UNION ALL
            SELECT src, weight, touched_at_ms FROM link WHERE dst = ?1 AND kind = 'hebbian'";
        let mut links: Vec<(MemoryNumber, f64)> = self.run("reading learned links", |c| {
            c.prepare_cached(sql)?
                .query_map([number], |row| {
                    let touched_at = row.get::<_, Millis>(2)?.0;
                    Ok((row.get(0)?, faded(row.get(1)?, touched_at, now)))
                })?
                .collect()
        })?;
        links.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(links)
    }

    /// Returns the pairs of linked memories by internal number, the smaller first, each pair once.
    pub fn link_pairs(&self, limit: usize) -> Result<Vec<(u64, u64)>> {
        self.run("reading linked pairs", |c| {
            c.prepare_cached(
                "SELECT DISTINCT min(src, dst), max(src, dst) FROM link ORDER BY 1, 2 LIMIT ?",
            )?
            .query_map([sql_limit(limit)], |row| {
                Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get::<_, i64>(1)?.cast_unsigned()))
            })?
            .collect()
        })
    }
}

fn link_of(row: &Row<'_>) -> rusqlite::Result<Link> {
    Ok(Link {
        src: row.get("src")?,
        dst: row.get("dst")?,
        kind: row.get("kind")?,
        weight: row.get("weight")?,
        created_at: row.get::<_, Millis>("created_at_ms")?.0,
        touched_at: row.get::<_, Millis>("touched_at_ms")?.0,
    })
}
