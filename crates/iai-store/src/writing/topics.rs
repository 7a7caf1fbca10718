//! Writes what consolidation finds about many memories: who is near whom, topics, and what
//! summaries are of.

use jiff::Timestamp;
use rusqlite::params;

use super::{Writing, held};
use crate::error::Result;
use crate::reader::sql_limit;
use crate::record::memory::{Json, Millis};
use crate::record::{MemoryNumber, Neighbour, Summary, SummaryKind, Topic};

impl Writing<'_> {
    /// Keeps who is near a memory; one that was forgotten meanwhile is passed over.
    pub fn put_nearness(&self, number: MemoryNumber, near: &[Neighbour]) -> Result<()> {
        let mut bytes = Vec::with_capacity(near.len() * 5);
        for neighbour in near {
            bytes.extend(neighbour.number.get().to_le_bytes());
            bytes.push(neighbour.nearness);
        }
        self.reader.run("keeping who is near whom", |c| {
            c.prepare_cached(
                "INSERT OR REPLACE INTO nearness SELECT number, ?2 FROM memory WHERE number = ?1",
            )?
            .execute(params![number, bytes])
            .map(drop)
        })
    }

    /// Begins a topic and returns its number.
    pub fn new_topic(&self, now: Timestamp) -> Result<u64> {
        self.reader.run("beginning a topic", |c| {
            c.prepare_cached(
                "INSERT INTO topic (label, phrases, n_members, updated_at_ms)
                 VALUES ('', '[]', 0, ?) RETURNING number",
            )?
            .query_row([Millis(now)], |row| row.get::<_, i64>(0).map(i64::cast_unsigned))
        })
    }

    /// Puts a memory into a topic, or into none; both topics are to be looked at again.
    pub fn set_topic(&self, number: MemoryNumber, topic: Option<u64>) -> Result<()> {
        let topic = topic.map(|topic| held("topic", topic)).transpose()?;
        if let Some(topic) = topic {
            self.note_summary(SummaryKind::Topic, topic)?;
        }
        self.reader.run("setting a topic", |c| {
            c.prepare_cached("UPDATE memory SET community = ? WHERE number = ?")?
                .execute(params![topic, number])
                .map(drop)
        })
    }

    /// Writes down what a topic is called; one that is gone stays gone.
    pub fn put_topic(&self, topic: &Topic, now: Timestamp) -> Result<()> {
        let number = held("topic", topic.number)?;
        let n_members = held("number of members", topic.n_members)?;
        self.reader.run("storing a topic", |c| {
            c.prepare_cached(
                "UPDATE topic SET label = ?, phrases = ?, n_members = ?, project = ?,
                        updated_at_ms = ? WHERE number = ?",
            )?
            .execute(params![
                topic.label,
                Json(&topic.phrases),
                n_members,
                topic.project,
                Millis(now),
                number
            ])
            .map(drop)
        })
    }

    /// Drops a topic that nobody belongs to any more.
    pub fn drop_topic(&self, topic: u64) -> Result<()> {
        let topic = held("topic", topic)?;
        self.reader.run("dropping a topic", |c| {
            c.prepare_cached("DELETE FROM summary WHERE kind = 'topic' AND source = ?")?
                .execute([topic])?;
            c.prepare_cached("DELETE FROM topic WHERE number = ?")?.execute([topic]).map(drop)
        })
    }

    /// Drops topics nobody was ever put into, at most `limit` of them. Returns how many.
    pub fn drop_empty_topics(&self, limit: usize) -> Result<usize> {
        self.reader.run("dropping empty topics", |c| {
            c.prepare_cached(
                "DELETE FROM topic WHERE number IN (
                     SELECT number FROM topic t
                      WHERE NOT EXISTS (SELECT 1 FROM memory m WHERE m.community = t.number)
                        AND NOT EXISTS (SELECT 1 FROM summary s
                                         WHERE s.kind = 'topic' AND s.source = t.number)
                      LIMIT ?)",
            )?
            .execute([sql_limit(limit)])
        })
    }

    /// Says that a session has to be summarised, once more or for the first time.
    pub fn note_session(&self, session: u32) -> Result<()> {
        self.note_summary(SummaryKind::Session, i64::from(session))
    }

    /// Says that every summary has to be looked at again.
    pub fn note_all_summaries(&self) -> Result<()> {
        self.reader.run("noting what is to be summarised", |c| {
            c.prepare_cached("UPDATE summary SET is_stale = 1 WHERE is_stale = 0")?
                .execute([])
                .map(drop)
        })
    }

    /// Writes down that a summary is as its members are now.
    pub fn put_summary(&self, summary: &Summary) -> Result<()> {
        let source = held("source of a summary", summary.source)?;
        let hash = summary.members_hash.map(u64::cast_signed);
        self.reader.run("storing what a summary is of", |c| {
            c.prepare_cached("INSERT OR REPLACE INTO summary VALUES (?, ?, 0, ?, ?)")?
                .execute(params![summary.kind, source, hash, summary.memory])
                .map(drop)
        })
    }

    fn note_summary(&self, kind: SummaryKind, source: i64) -> Result<()> {
        self.reader.run("noting what is to be summarised", |c| {
            c.prepare_cached(
                "INSERT INTO summary (kind, source, is_stale) VALUES (?, ?, 1)
                     ON CONFLICT (kind, source) DO UPDATE SET is_stale = 1",
            )?
            .execute(params![kind, source])
            .map(drop)
        })
    }
}
