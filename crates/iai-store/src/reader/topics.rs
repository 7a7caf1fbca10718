//! Reads what consolidation keeps: who is near whom, topics, and what summaries are of.

use rusqlite::{OptionalExtension as _, Row, params, params_from_iter};

use super::{Reader, sql_limit};
use crate::error::Result;
use crate::record::memory::Json;
use crate::record::{MemoryNumber, Neighbour, Summary, SummaryKind, Topic};

/// A neighbour takes this many bytes.
const NEIGHBOUR_BYTES: usize = 5;

impl Reader {
    /// Returns memories after this number with those near them, in order.
    pub fn nearness_after(
        &self,
        number: MemoryNumber,
        limit: usize,
    ) -> Result<Vec<(MemoryNumber, Vec<Neighbour>)>> {
        self.run("reading who is near whom", |c| {
            c.prepare_cached(
                "SELECT memory, others FROM nearness WHERE memory > ? ORDER BY memory LIMIT ?",
            )?
            .query_map(params![number, sql_limit(limit)], |row| {
                Ok((row.get(0)?, neighbours_of(row.get_ref(1)?.as_blob()?)))
            })?
            .collect()
        })
    }

    /// Returns how many memories were compared with the others.
    pub fn n_compared(&self) -> Result<u64> {
        self.run("counting compared memories", |c| {
            c.prepare_cached("SELECT count(*) FROM nearness")?
                .query_row([], |row| row.get::<_, i64>(0).map(i64::cast_unsigned))
        })
    }

    /// Returns pairs of memories that are linked because they are alike or were of use together,
    /// with the weight of the link, after this pair, in order.
    pub fn affinities_after(
        &self,
        pair: (MemoryNumber, MemoryNumber),
        limit: usize,
    ) -> Result<Vec<(MemoryNumber, MemoryNumber, f64)>> {
        self.run("reading linked pairs", |c| {
            c.prepare_cached(
                "SELECT src, dst, max(weight) FROM link
                  WHERE (src, dst) > (?, ?) AND kind IN ('hebbian', 'near_duplicate', 'similar')
                  GROUP BY src, dst ORDER BY src, dst LIMIT ?",
            )?
            .query_map(params![pair.0, pair.1, sql_limit(limit)], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?
            .collect()
        })
    }

    /// Returns memories and their topics, after this topic and number, in order.
    pub fn topics_after(
        &self,
        last: (u64, MemoryNumber),
        limit: usize,
    ) -> Result<Vec<(u64, MemoryNumber)>> {
        self.run("reading who belongs to which topic", |c| {
            c.prepare_cached(
                "SELECT community, number FROM memory
                  WHERE community IS NOT NULL AND community >= ?1
                    AND (community > ?1 OR number > ?2)
                  ORDER BY community, number LIMIT ?3",
            )?
            .query_map(params![last.0.cast_signed(), last.1, sql_limit(limit)], |row| {
                Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get(1)?))
            })?
            .collect()
        })
    }

    /// Returns the topic of a memory.
    pub fn topic_of(&self, number: MemoryNumber) -> Result<Option<u64>> {
        self.run("reading the topic of a memory", |c| {
            let found = c
                .prepare_cached("SELECT community FROM memory WHERE number = ?")?
                .query_row([number], |row| row.get::<_, Option<i64>>(0))
                .optional()?;
            Ok(found.flatten().map(i64::cast_unsigned))
        })
    }

    /// Returns the memories of a topic, in order, at most `limit` of them.
    pub fn topic_members(&self, topic: u64, limit: usize) -> Result<Vec<MemoryNumber>> {
        self.run("reading the members of a topic", |c| {
            c.prepare_cached(
                "SELECT number FROM memory WHERE community = ? ORDER BY number LIMIT ?",
            )?
            .query_map(params![topic.cast_signed(), sql_limit(limit)], |row| row.get(0))?
            .collect()
        })
    }

    /// Returns the memories of a topic, the one stored last first, at most `limit` of them, from
    /// the one before a number on.
    pub fn topic_members_before(
        &self,
        topic: u64,
        before: Option<MemoryNumber>,
        limit: usize,
    ) -> Result<Vec<MemoryNumber>> {
        let before = before.map_or(i64::MAX, |number| i64::from(number.get()));
        self.run("reading the members of a topic", |c| {
            c.prepare_cached(
                "SELECT number FROM memory WHERE community = ? AND number < ?
                  ORDER BY number DESC LIMIT ?",
            )?
            .query_map(params![topic.cast_signed(), before, sql_limit(limit)], |row| row.get(0))?
            .collect()
        })
    }

    /// Returns the largest topics, of one project or of all.
    pub fn topics(&self, project: Option<&str>, limit: usize) -> Result<Vec<Topic>> {
        let sql = topics_of(project, limit);
        self.run("reading topics", |c| {
            let mut statement = c.prepare_cached(&sql)?;
            statement.query_map(params_from_iter(project), topic_from)?.collect()
        })
    }

    /// Counts topics, and the memories that belong to one.
    pub fn n_topics(&self) -> Result<(u64, u64)> {
        self.run("counting topics", |c| {
            let count = |row: &Row<'_>, at| row.get::<_, i64>(at).map(i64::cast_unsigned);
            c.prepare_cached(
                "SELECT count(*), coalesce(sum(n_members), 0) FROM topic WHERE n_members > 0",
            )?
            .query_row([], |row| Ok((count(row, 0)?, count(row, 1)?)))
        })
    }

    /// Returns one topic.
    pub fn topic(&self, number: u64) -> Result<Option<Topic>> {
        self.run("reading a topic", |c| {
            c.prepare_cached(
                "SELECT number, label, phrases, n_members, project FROM topic WHERE number = ?",
            )?
            .query_row([number.cast_signed()], topic_from)
            .optional()
        })
    }

    /// Returns summaries whose members have changed, after this source, in order.
    pub fn stale_summaries(
        &self,
        kind: SummaryKind,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Summary>> {
        let after = after.map_or(-1, u64::cast_signed);
        self.run("reading what is to be summarised", |c| {
            c.prepare_cached(
                "SELECT kind, source, members_hash, memory FROM summary
                  WHERE kind = ? AND source > ? AND is_stale = 1 ORDER BY source LIMIT ?",
            )?
            .query_map(params![kind, after, sql_limit(limit)], summary_from)?
            .collect()
        })
    }

    /// Returns the name of a session.
    pub fn session_name(&self, session: u32) -> Result<Option<String>> {
        self.run("reading the name of a session", |c| {
            c.prepare_cached("SELECT name FROM session WHERE number = ?")?
                .query_row([session], |row| row.get(0))
                .optional()
        })
    }
}

/// Asks for the largest topics of a project, which stand in that order, or of all.
pub(crate) fn topics_of(project: Option<&str>, limit: usize) -> String {
    let of = if project.is_some() { "AND project = ?" } else { "" };
    format!(
        "SELECT number, label, phrases, n_members, project FROM topic
          WHERE n_members > 0 {of} ORDER BY n_members DESC, number LIMIT {}",
        sql_limit(limit)
    )
}

fn neighbours_of(bytes: &[u8]) -> Vec<Neighbour> {
    let (chunks, _) = bytes.as_chunks::<NEIGHBOUR_BYTES>();
    let neighbour = |[a, b, c, d, nearness]: &[u8; NEIGHBOUR_BYTES]| Neighbour {
        number: MemoryNumber::new(u32::from_le_bytes([*a, *b, *c, *d])),
        nearness: *nearness,
    };
    chunks.iter().map(neighbour).collect()
}

fn topic_from(row: &Row<'_>) -> rusqlite::Result<Topic> {
    Ok(Topic {
        number: row.get::<_, i64>(0)?.cast_unsigned(),
        label: row.get(1)?,
        phrases: row.get::<_, Json<_>>(2)?.0,
        n_members: row.get::<_, i64>(3)?.cast_unsigned(),
        project: row.get(4)?,
    })
}

fn summary_from(row: &Row<'_>) -> rusqlite::Result<Summary> {
    Ok(Summary {
        kind: row.get(0)?,
        source: row.get::<_, i64>(1)?.cast_unsigned(),
        members_hash: row.get::<_, Option<i64>>(2)?.map(i64::cast_unsigned),
        memory: row.get(3)?,
    })
}
