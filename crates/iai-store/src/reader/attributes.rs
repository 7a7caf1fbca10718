//! Reads what memories are about: by memory, by name, by use.

use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Row, ToSql, params};

use super::{Reader, sql_limit};
use crate::error::Result;
use crate::record::{
    Attribute, AttributeNumber, AttributeRole, FormalityWeek, MemoryNumber, NewAttribute,
};

const ATTRIBUTES: &str = "SELECT a.number, a.role, a.filler, a.display, a.n_memories";

impl Reader {
    /// Returns the attributes of each of these memories, by role and filler.
    pub fn attributes_of(
        &self,
        numbers: &[MemoryNumber],
    ) -> Result<Vec<(MemoryNumber, Vec<Attribute>)>> {
        let sql = format!(
            "{ATTRIBUTES} FROM memory_attribute h JOIN attribute a ON a.number = h.attribute
              WHERE h.memory = ? ORDER BY a.role, a.filler"
        );
        self.run("reading attributes", |c| {
            let mut statement = c.prepare_cached(&sql)?;
            let of = |number: &MemoryNumber| {
                let attributes = statement.query_map([number], attribute_of)?;
                Ok((*number, attributes.collect::<rusqlite::Result<_>>()?))
            };
            numbers.iter().map(of).collect()
        })
    }

    /// Returns the attribute of this name, in whatever case and spacing; without a role, in every
    /// role it has.
    pub fn attributes_named(
        &self,
        role: Option<AttributeRole>,
        written: &str,
    ) -> Result<Vec<Attribute>> {
        let sql = format!(
            "{ATTRIBUTES} FROM attribute a
              WHERE a.filler = ?1 AND (?2 IS NULL OR a.role = ?2) ORDER BY a.role"
        );
        self.run("looking for an attribute", |c| {
            c.prepare_cached(&sql)?
                .query_map(params![NewAttribute::key_of(written), role], attribute_of)?
                .collect()
        })
    }

    /// Returns the memories with an attribute, the one that came in last first.
    pub fn memories_with(
        &self,
        attribute: AttributeNumber,
        limit: usize,
    ) -> Result<Vec<MemoryNumber>> {
        self.run("reading the memories with an attribute", |c| {
            c.prepare_cached(
                "SELECT memory FROM memory_attribute
                  WHERE attribute = ? ORDER BY memory DESC LIMIT ?",
            )?
            .query_map(params![attribute, sql_limit(limit)], |row| row.get(0))?
            .collect()
        })
    }

    /// Tells for each of these memories whether it has an attribute.
    pub fn have_attribute(
        &self,
        attribute: AttributeNumber,
        numbers: &[MemoryNumber],
    ) -> Result<Vec<bool>> {
        self.run("looking for an attribute of memories", |c| {
            let mut statement = c.prepare_cached(
                "SELECT 1 FROM memory_attribute WHERE attribute = ? AND memory = ?",
            )?;
            numbers.iter().map(|number| statement.exists(params![attribute, number])).collect()
        })
    }

    /// Returns the attributes that at least `n_memories_min` memories have (three or more), the
    /// most used first.
    pub fn attributes_in_use(&self, n_memories_min: u64, limit: usize) -> Result<Vec<Attribute>> {
        let sql = format!(
            "{ATTRIBUTES} FROM attribute a WHERE a.n_memories > 2 AND a.n_memories >= ?
              ORDER BY a.n_memories DESC, a.number LIMIT ?"
        );
        let least = i64::try_from(n_memories_min).unwrap_or(i64::MAX);
        self.run("reading the attributes in use", |c| {
            c.prepare_cached(&sql)?
                .query_map(params![least, sql_limit(limit)], attribute_of)?
                .collect()
        })
    }

    /// Returns the sessions an attribute comes up in, by number, and in how many of the memories
    /// that came in last; looks at `n_memories_max` of them.
    pub fn sessions_with(
        &self,
        attribute: AttributeNumber,
        n_memories_max: usize,
    ) -> Result<Vec<(u32, u64)>> {
        self.run("reading the sessions with an attribute", |c| {
            c.prepare_cached(
                "SELECT m.session, count(*) FROM
                     (SELECT memory FROM memory_attribute
                       WHERE attribute = ? ORDER BY memory DESC LIMIT ?) h
                   JOIN memory m ON m.number = h.memory
                  GROUP BY m.session ORDER BY m.session",
            )?
            .query_map(params![attribute, sql_limit(n_memories_max)], |row| {
                Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned()))
            })?
            .collect()
        })
    }

    /// Returns the attributes that stand in the same memories, with how many of them, the most
    /// frequent first; looks at `n_memories_max` of those that came in last.
    pub fn attributes_beside(
        &self,
        attribute: AttributeNumber,
        n_memories_max: usize,
        limit: usize,
    ) -> Result<Vec<(Attribute, u64)>> {
        let sql = format!(
            "{ATTRIBUTES}, count(*) AS n_together FROM
                 (SELECT memory FROM memory_attribute
                   WHERE attribute = ?1 ORDER BY memory DESC LIMIT ?2) h
               JOIN memory_attribute o ON o.memory = h.memory AND o.attribute <> ?1
               JOIN attribute a ON a.number = o.attribute
              GROUP BY a.number ORDER BY n_together DESC, a.number LIMIT ?3"
        );
        let limits = (sql_limit(n_memories_max), sql_limit(limit));
        self.run("reading attributes that stand together", |c| {
            c.prepare_cached(&sql)?
                .query_map(params![attribute, limits.0, limits.1], |row| {
                    let n_together: i64 = row.get("n_together")?;
                    Ok((attribute_of(row)?, n_together.cast_unsigned()))
                })?
                .collect()
        })
    }

    /// Returns how formal the user's turns were, week by week, the latest first.
    pub fn formality_weeks(&self, limit: usize) -> Result<Vec<FormalityWeek>> {
        self.run("reading how formal turns were", |c| {
            c.prepare_cached(
                "SELECT week, n, sum, sum_squares FROM formality_week ORDER BY week DESC LIMIT ?",
            )?
            .query_map([sql_limit(limit)], |row| {
                let count = |column| row.get::<usize, i64>(column).map(i64::cast_unsigned);
                let (n, sum, sum_squares) = (count(1)?, count(2)?, count(3)?);
                Ok(FormalityWeek { week: row.get(0)?, n, sum, sum_squares })
            })?
            .collect()
        })
    }
}

fn attribute_of(row: &Row<'_>) -> rusqlite::Result<Attribute> {
    let filler: String = row.get("filler")?;
    let display: Option<String> = row.get("display")?;
    Ok(Attribute {
        number: row.get("number")?,
        role: row.get("role")?,
        display: display.unwrap_or_else(|| filler.clone()),
        filler,
        n_memories: row.get::<_, i64>("n_memories")?.cast_unsigned(),
    })
}

impl ToSql for AttributeNumber {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.into())
    }
}

impl FromSql for AttributeNumber {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(Self)
    }
}
