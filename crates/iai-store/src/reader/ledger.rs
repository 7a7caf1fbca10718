//! Reads what is kept besides memories: events, profile, receipts, lines set aside, counts.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};
use serde_json::Value;

use super::{Clause, Reader, sql_limit};
use crate::error::Result;
use crate::record::memory::{Json, Millis};
use crate::record::{Counts, Event, EventFilter, LinkKind, Receipt, ReceiptState, SetAside};

/// More spool files than this are never looked at in one go; the rest waits for the next.
const RECEIPTS_MAX: usize = 10_000;

impl Reader {
    /// Returns events, newest first.
    pub fn events(&self, filter: &EventFilter) -> Result<Vec<Event>> {
        let mut clause = Clause::default();
        clause.any_of("kind", filter.kinds.iter().map(String::as_str));
        clause.equal("severity", filter.severity.map(|severity| severity.as_str()));
        clause.equal("domain", filter.domain.as_deref());
        clause.equal("session", filter.session.as_deref());
        if let Some(since) = filter.since {
            clause.and("at_ms >= ?", since.as_millisecond());
        }
        if let Some(before) = filter.before {
            clause.and("at_ms < ?", before.as_millisecond());
        }
        let sql = format!(
            "SELECT uuid, kind, severity, domain, at_ms, session, data, sources
               FROM event WHERE true{} ORDER BY at_ms DESC, number DESC LIMIT ?",
            clause.sql
        );
        self.run("reading events", |c| {
            c.prepare_cached(&sql)?
                .query_map(params_from_iter(clause.values_and(sql_limit(filter.limit))), event_of)?
                .collect()
        })
    }

    /// Returns the profile: every knob that was ever set.
    pub fn profile(&self) -> Result<BTreeMap<String, Value>> {
        self.run("reading the profile", |c| {
            c.prepare_cached("SELECT knob, value FROM profile")?
                .query_map([], |row| Ok((row.get(0)?, row.get::<_, Json<Value>>(1)?.0)))?
                .collect()
        })
    }

    /// Returns what became of a spool file.
    pub fn receipt(&self, file: &str) -> Result<Option<Receipt>> {
        self.run("reading a receipt", |c| {
            c.prepare_cached("SELECT * FROM spool_receipt WHERE file = ?")?
                .query_row([file], receipt_of)
                .optional()
        })
    }

    /// Returns the receipts of files that will be tried again, the earliest first.
    pub fn receipts_waiting(&self) -> Result<Vec<Receipt>> {
        self.run("reading waiting receipts", |c| {
            c.prepare_cached(
                "SELECT * FROM spool_receipt WHERE state = 'waiting'
                  ORDER BY next_attempt_at_ms, file LIMIT ?",
            )?
            .query_map([sql_limit(RECEIPTS_MAX)], receipt_of)?
            .collect()
        })
    }

    /// Returns lines set aside, newest first.
    pub fn set_aside(&self, limit: usize) -> Result<Vec<SetAside>> {
        self.run("reading lines set aside", |c| {
            c.prepare_cached("SELECT * FROM set_aside ORDER BY number DESC LIMIT ?")?
                .query_map([sql_limit(limit)], set_aside_of)?
                .collect()
        })
    }

    /// Counts everything.
    pub fn counts(&self) -> Result<Counts> {
        self.run("counting", |c| {
            let mut counts = c.query_row(COUNTS, [], counts_of)?;
            counts.links_by_kind = links_by_kind(c)?;
            counts.links = counts.links_by_kind.values().sum();
            Ok(counts)
        })
    }
}

impl Reader {
    /// Counts the memories: a small part of the work of [`Self::counts`].
    pub fn n_memories(&self) -> Result<u64> {
        let sql = "SELECT count(*) AS n FROM memory";
        self.run("counting memories", |c| c.query_row(sql, [], |row| count(row, "n")))
    }

    /// Counts the lines set aside.
    pub fn n_set_aside(&self) -> Result<u64> {
        let sql = "SELECT count(*) AS n FROM set_aside";
        self.run("counting what was set aside", |c| c.query_row(sql, [], |row| count(row, "n")))
    }

    /// Counts the memories that come from one program.
    pub fn n_of_host(&self, host: &str) -> Result<u64> {
        self.run("counting what comes from a program", |c| {
            c.prepare_cached(
                "SELECT count(*) AS n FROM session s JOIN memory m ON m.session = s.number
                  WHERE s.host = ?",
            )?
            .query_row([host], |row| count(row, "n"))
        })
    }
}

const COUNTS: &str = "
    SELECT (SELECT count(*) FROM memory) AS memories,
           (SELECT count(*) FROM event) AS events,
           (SELECT count(*) FROM session) AS sessions,
           (SELECT count(DISTINCT project) FROM place) AS projects,
           (SELECT count(*) FROM set_aside) AS set_aside,
           (SELECT count(DISTINCT community) FROM memory WHERE community IS NOT NULL)
               AS communities,
           (SELECT min(turn_at_ms) FROM memory) AS earliest,
           (SELECT max(turn_at_ms) FROM memory) AS latest";

fn counts_of(row: &Row<'_>) -> rusqlite::Result<Counts> {
    let at =
        |name| row.get::<&str, Option<Millis>>(name).map(|millis| millis.map(|millis| millis.0));
    Ok(Counts {
        memories: count(row, "memories")?,
        events: count(row, "events")?,
        sessions: count(row, "sessions")?,
        projects: count(row, "projects")?,
        set_aside: count(row, "set_aside")?,
        communities: count(row, "communities")?,
        earliest: at("earliest")?,
        latest: at("latest")?,
        ..Counts::default()
    })
}

fn links_by_kind(connection: &Connection) -> rusqlite::Result<BTreeMap<LinkKind, u64>> {
    connection
        .prepare_cached("SELECT kind, count(*) AS n FROM link GROUP BY kind")?
        .query_map([], |row| Ok((row.get("kind")?, count(row, "n")?)))?
        .collect()
}

/// Counts are never negative: the schema says so, or SQLite's `count` does.
fn count(row: &Row<'_>, name: &str) -> rusqlite::Result<u64> {
    row.get::<_, i64>(name).map(i64::cast_unsigned)
}

fn event_of(row: &Row<'_>) -> rusqlite::Result<Event> {
    Ok(Event {
        id: row.get("uuid")?,
        kind: row.get("kind")?,
        severity: row.get("severity")?,
        domain: row.get("domain")?,
        at: row.get::<_, Millis>("at_ms")?.0,
        session: row.get("session")?,
        data: row.get::<_, Json<_>>("data")?.0,
        sources: row.get::<_, Json<_>>("sources")?.0,
    })
}

fn receipt_of(row: &Row<'_>) -> rusqlite::Result<Receipt> {
    Ok(Receipt {
        file: row.get("file")?,
        state: row.get::<_, ReceiptState>("state")?,
        attempts: count(row, "attempts")?,
        next_attempt_at: row.get::<_, Option<Millis>>("next_attempt_at_ms")?.map(|at| at.0),
        n_turns: count(row, "n_turns")?,
        n_stored: count(row, "n_stored")?,
        n_known: count(row, "n_known")?,
        n_set_aside: count(row, "n_set_aside")?,
        last_error: row.get("last_error")?,
        at: row.get::<_, Millis>("at_ms")?.0,
    })
}

fn set_aside_of(row: &Row<'_>) -> rusqlite::Result<SetAside> {
    Ok(SetAside {
        number: count(row, "number")?,
        file: row.get("file")?,
        line: count(row, "line")?,
        reason: row.get("reason")?,
        bytes: row.get("bytes")?,
        length_bytes: count(row, "length_bytes")?,
        sha256: row.get("sha256")?,
        at: row.get::<_, Millis>("at_ms")?.0,
    })
}
