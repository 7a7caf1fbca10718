//! Chooses memories by their columns alone: numbers and counts, through an index each, up to a
//! limit.

use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use super::{Reader, sql_limit};
use crate::error::Result;
use crate::record::{MemoryNumber, Role, Tier};

/// One column and what it must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// Everything.
    Any,
    /// Said by this one.
    Role(Role),
    /// Of this kind.
    Tier(Tier),
    /// Said between these times, in milliseconds since 1970, both included.
    Said(i64, i64),
    /// Said in one of these sessions, by number.
    Sessions(Vec<u32>),
    /// Said in one of these places, by number.
    Places(Vec<u32>),
    /// Of one of these communities.
    Communities(Vec<u64>),
    /// Nothing took its place.
    Holding,
    /// Something took its place.
    Replaced,
}

/// Lists longer than this are cut: nobody means that many sessions or places.
const NUMBERS_MAX: usize = 10_000;

impl Reader {
    /// Returns the memories that all columns mean, the one said last first.
    pub fn chosen(&self, columns: &[Column], limit: usize) -> Result<Vec<MemoryNumber>> {
        let (sql, values) = chosen_sql(columns);
        self.choose(&sql, values, limit, |statement, values| {
            statement.query_map(params_from_iter(values), |row| row.get(0))?.collect()
        })
    }

    /// Counts the memories a column means, no further than `limit`.
    pub fn count_chosen(&self, column: &Column, limit: usize) -> Result<u64> {
        let (condition, values) = condition(column);
        let sql =
            format!("SELECT count(*) FROM (SELECT 1 FROM memory m WHERE {condition} LIMIT ?)");
        self.choose(&sql, values, limit, |statement, values| {
            statement
                .query_row(params_from_iter(values), |row| row.get::<_, i64>(0))
                .map(i64::cast_unsigned)
        })
    }

    /// Returns the places of every project, by number.
    pub fn places(&self) -> Result<Vec<(u32, String)>> {
        self.run("reading the projects", |c| {
            c.prepare_cached(
                "SELECT number, project FROM place WHERE project IS NOT NULL ORDER BY number",
            )?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
        })
    }

    /// Returns the sessions of a host, by number, the latest first.
    pub fn sessions_of_host(&self, host: &str, limit: usize) -> Result<Vec<u32>> {
        self.run("looking for the sessions of a host", |c| {
            c.prepare_cached(
                "SELECT number FROM session WHERE host = ? ORDER BY number DESC LIMIT ?",
            )?
            .query_map(params![host, sql_limit(limit)], |row| row.get(0))?
            .collect()
        })
    }

    /// Returns host and name of a session.
    pub fn session_named(&self, number: u32) -> Result<(String, String)> {
        self.run("reading a session", |c| {
            c.prepare_cached("SELECT host, name FROM session WHERE number = ?")?
                .query_row([number], |row| Ok((row.get(0)?, row.get(1)?)))
        })
    }

    fn choose<T>(
        &self,
        sql: &str,
        mut values: Vec<Value>,
        limit: usize,
        ask: impl FnOnce(&mut rusqlite::CachedStatement<'_>, Vec<Value>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        values.push(sql_limit(limit).into());
        self.run("choosing memories", |c: &Connection| ask(&mut c.prepare_cached(sql)?, values))
    }
}

/// The query for the memories that all columns mean; the limit is bound last.
pub(crate) fn chosen_sql(columns: &[Column]) -> (String, Vec<Value>) {
    let (conditions, values): (Vec<String>, Vec<Vec<Value>>) =
        columns.iter().map(condition).unzip();
    let sql = format!(
        "SELECT m.number FROM memory m WHERE {}
          ORDER BY m.turn_at_ms DESC, m.uuid LIMIT ?",
        conditions.join(" AND ")
    );
    (sql, values.concat())
}

fn condition(column: &Column) -> (String, Vec<Value>) {
    match column {
        Column::Any => ("true".to_owned(), Vec::new()),
        Column::Holding => ("m.valid_to_ms IS NULL".to_owned(), Vec::new()),
        // A range: it makes the index of the few worth more than the order by time.
        Column::Replaced => ("m.valid_to_ms > 0".to_owned(), Vec::new()),
        // Written out, so that SQLite sees that the index of the few is enough.
        Column::Role(role) => (format!("m.role = '{role}'"), Vec::new()),
        Column::Tier(tier) if *tier == Tier::Episodic => (format!("m.tier = '{tier}'"), Vec::new()),
        Column::Tier(tier) => {
            (format!("m.tier = '{tier}' AND m.tier <> '{}'", Tier::Episodic), Vec::new())
        }
        Column::Said(from, to) => {
            let times = vec![Value::from(*from), Value::from(*to)];
            ("m.turn_at_ms BETWEEN ? AND ?".to_owned(), times)
        }
        Column::Sessions(sessions) => any_of("m.session", sessions.iter().map(|n| i64::from(*n))),
        Column::Places(places) => any_of("m.place", places.iter().map(|n| i64::from(*n))),
        Column::Communities(communities) => {
            any_of("m.community", communities.iter().map(|n| n.cast_signed()))
        }
    }
}

fn any_of(column: &str, numbers: impl Iterator<Item = i64>) -> (String, Vec<Value>) {
    let values: Vec<Value> = numbers.take(NUMBERS_MAX).map(Value::from).collect();
    let marks = vec!["?"; values.len()].join(", ");
    (format!("{column} IN ({marks})"), values)
}
