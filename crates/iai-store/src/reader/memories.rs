//! Finds memories: by id, by time, by session, by the letters in them.

use rusqlite::{OptionalExtension, Row, ToSql, named_params, params, params_from_iter};

use super::{Clause, Reader, sql_limit};
use crate::error::Result;
use crate::record::memory::{Json, Millis};
use crate::record::{Filter, Memory, MemoryId, MemoryNumber, NewMemory};

/// Returns a query for every column of the memories in `source`, which calls them `m`.
pub(crate) fn memories_from(source: &str) -> String {
    format!(
        "SELECT m.uuid, s.host, s.name AS session, m.turn_uuid, m.turn_index, m.role, m.tier,
                p.project, p.cwd, m.turn_at_ms, m.captured_at_ms, m.stored_at_ms, m.text,
                m.language, m.tags, m.provenance, m.cue, m.pinned, m.content_hash, m.strength,
                m.community, m.valid_from_ms, m.valid_to_ms
           FROM {source}
           JOIN session s ON s.number = m.session
           LEFT JOIN place p ON p.number = m.place"
    )
}

impl Reader {
    /// Returns one memory.
    pub fn memory(&self, id: MemoryId) -> Result<Option<Memory>> {
        self.run("reading a memory", |c| {
            c.prepare_cached(&format!("{} WHERE m.uuid = ?", memories_from("memory m")))?
                .query_row([id], memory_of)
                .optional()
        })
    }

    /// Returns the memories said at the time of a turn that stand at its place: of the same host,
    /// role and tier, with the same name, or the same number in the same session.
    pub fn at_place_and_time(&self, turn: &NewMemory) -> Result<Vec<Memory>> {
        self.at_place(turn, "m.turn_at_ms", &Millis(turn.turn_at))
    }

    /// Returns the memories of a turn's session that stand at its place.
    pub fn at_place_in_session(&self, turn: &NewMemory) -> Result<Vec<Memory>> {
        self.at_place(turn, "s.name", &turn.session)
    }

    fn at_place(&self, turn: &NewMemory, by: &str, value: &dyn ToSql) -> Result<Vec<Memory>> {
        // The plus keeps SQLite from going through every session of the host.
        let sql = format!(
            "{} WHERE {by} = :value AND +s.host = :host AND m.role = :role AND m.tier = :tier
                AND m.turn_uuid IS :uuid
                AND (:uuid IS NOT NULL OR (m.turn_index IS :index AND s.name = :session))
              ORDER BY m.number",
            memories_from("memory m")
        );
        self.run("looking for a turn at its place", |c| {
            c.prepare_cached(&sql)?
                .query_map(
                    named_params! {
                        ":value": value,
                        ":host": turn.host,
                        ":role": turn.role,
                        ":tier": turn.tier,
                        ":uuid": turn.turn_uuid,
                        ":index": turn.turn_index.map(u64::cast_signed),
                        ":session": turn.session,
                    },
                    memory_of,
                )?
                .collect()
        })
    }

    /// Returns those that exist, in the order asked for.
    pub fn memories(&self, ids: &[MemoryId]) -> Result<Vec<Memory>> {
        let mut found = Vec::with_capacity(ids.len());
        for id in ids {
            found.extend(self.memory(*id)?);
        }
        Ok(found)
    }

    /// Returns those that exist, by their numbers, in the order asked for.
    pub fn numbered(&self, numbers: &[MemoryNumber]) -> Result<Vec<(MemoryNumber, Memory)>> {
        let sql = format!("{} WHERE m.number = ?", memories_from("memory m"));
        self.run("reading memories", |c| {
            let mut statement = c.prepare_cached(&sql)?;
            let mut found = Vec::with_capacity(numbers.len());
            for number in numbers {
                let memory = statement.query_row([number], memory_of).optional()?;
                found.extend(memory.map(|memory| (*number, memory)));
            }
            Ok(found)
        })
    }

    /// Returns the number a memory has inside the store.
    pub fn number_of(&self, id: MemoryId) -> Result<Option<MemoryNumber>> {
        self.run("looking for a memory", |c| {
            c.prepare_cached("SELECT number FROM memory WHERE uuid = ?")?
                .query_row([id], |row| row.get(0))
                .optional()
        })
    }

    /// Returns the numbers of the sessions with this name, one for each host that used it.
    pub fn session_numbers(&self, session: &str) -> Result<Vec<u32>> {
        self.run("looking for a session", |c| {
            c.prepare_cached("SELECT number FROM session WHERE name = ?")?
                .query_map([session], |row| row.get(0))?
                .collect()
        })
    }

    /// Returns the names of sessions that begin so, in order.
    pub fn sessions_beginning(&self, beginning: &str, limit: usize) -> Result<Vec<String>> {
        // No name has the last character there is.
        let end = format!("{beginning}{}", char::MAX);
        self.run("looking for the beginning of a session's name", |c| {
            c.prepare_cached(
                "SELECT DISTINCT name FROM session WHERE name >= ? AND name < ? ORDER BY name
                  LIMIT ?",
            )?
            .query_map(params![beginning, end, sql_limit(limit)], |row| row.get(0))?
            .collect()
        })
    }

    /// Returns the ids that begin with these hexadecimal digits, hyphens aside, in order.
    pub fn find_prefix(&self, hex_prefix: &str, limit: usize) -> Result<Vec<MemoryId>> {
        let Some((low, high)) = prefix_range(hex_prefix) else {
            return Ok(Vec::new());
        };
        self.run("looking up the beginning of an id", |c| {
            c.prepare_cached(
                "SELECT uuid FROM memory WHERE uuid BETWEEN ? AND ? ORDER BY uuid LIMIT ?",
            )?
            .query_map(params![low, high, sql_limit(limit)], |row| row.get(0))?
            .collect()
        })
    }

    /// Returns the newest memories by the time they were said, then by id.
    pub fn newest(&self, filter: &Filter, limit: usize) -> Result<Vec<Memory>> {
        let clause = Clause::of(filter);
        let sql = format!("{} ORDER BY m.turn_at_ms DESC, m.uuid", newest_first(&clause));
        self.run("reading the newest memories", |c| {
            c.prepare_cached(&sql)?
                .query_map(params_from_iter(clause.values_and(sql_limit(limit))), memory_of)?
                .collect()
        })
    }

    /// Returns memories in the order they came in, from the one behind `after` on.
    pub fn arrived_after(
        &self,
        after: MemoryNumber,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<(MemoryNumber, Memory)>> {
        let mut clause = Clause::of(filter);
        clause.and("m.number > ?", i64::from(after.get()));
        let sql = format!(
            "SELECT m.number FROM memory m WHERE true{} ORDER BY m.number LIMIT ?",
            clause.sql
        );
        let numbers: Vec<MemoryNumber> = self.run("looking for what came in", |c| {
            c.prepare_cached(&sql)?
                .query_map(params_from_iter(clause.values_and(sql_limit(limit))), |row| row.get(0))?
                .collect()
        })?;
        self.numbered(&numbers)
    }

    /// Returns the highest number a memory has; 0 when there is none.
    pub fn last_number(&self) -> Result<MemoryNumber> {
        self.run("looking for the last memory", |c| {
            c.prepare_cached("SELECT ifnull(max(number), 0) FROM memory")?
                .query_row([], |row| row.get(0))
        })
    }

    /// Returns the memories of a session in the order they were said, from the one numbered `skip`
    /// on.
    pub fn session_turns(&self, session: &str, skip: usize, limit: usize) -> Result<Vec<Memory>> {
        let sql = format!(
            "{} WHERE s.name = ?
              ORDER BY m.turn_at_ms, m.turn_index, m.number LIMIT ? OFFSET ?",
            memories_from("memory m")
        );
        self.run("reading a session", |c| {
            c.prepare_cached(&sql)?
                .query_map(params![session, sql_limit(limit), sql_limit(skip)], memory_of)?
                .collect()
        })
    }

    /// Returns the last memories of a session, in the order they were said.
    pub fn session_tail(&self, session: &str, limit: usize) -> Result<Vec<Memory>> {
        let sql = format!(
            "{} WHERE s.name = ?
              ORDER BY m.turn_at_ms DESC, m.turn_index DESC, m.number DESC LIMIT ?",
            memories_from("memory m")
        );
        let mut tail: Vec<Memory> = self.run("reading the end of a session", |c| {
            c.prepare_cached(&sql)?
                .query_map(params![session, sql_limit(limit)], memory_of)?
                .collect()
        })?;
        tail.reverse();
        Ok(tail)
    }

    /// Returns the session of a project that was spoken in last, leaving one aside. What this
    /// program wrote itself (host `iai-mcp`) and what was taught were not spoken.
    pub fn latest_session(
        &self,
        project: &str,
        except_session: Option<&str>,
    ) -> Result<Option<String>> {
        self.run("looking for the latest session", |c| {
            c.prepare_cached(
                "SELECT s.name FROM place p
                   JOIN memory m ON m.place = p.number
                   JOIN session s ON s.number = m.session
                  WHERE p.project = ?1 AND s.name IS NOT ?2 AND s.host NOT IN ('iai-mcp', 'taught')
                  ORDER BY m.turn_at_ms DESC, m.uuid LIMIT 1",
            )?
            .query_row(params![project, except_session], |row| row.get(0))
            .optional()
        })
    }

    /// Returns the newest memories with `text` in them, upper and lower case alike.
    pub fn containing(&self, text: &str, filter: &Filter, limit: usize) -> Result<Vec<Memory>> {
        self.containing_among(text, filter, WITHOUT_LIMIT, limit)
    }

    /// Returns the same, looking only at the newest `n_read_max` memories.
    pub fn containing_lately(
        &self,
        text: &str,
        filter: &Filter,
        n_read_max: usize,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        self.containing_among(text, filter, sql_limit(n_read_max), limit)
    }

    fn containing_among(
        &self,
        text: &str,
        filter: &Filter,
        n_read_max: i64,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let sought = text.to_lowercase();
        let clause = Clause::of(filter);
        let sql = newest_first(&clause);
        self.run("searching text", |c| {
            let mut statement = c.prepare_cached(&sql)?;
            let mut rows = statement.query(params_from_iter(clause.values_and(n_read_max)))?;
            let mut found = Vec::new();
            while found.len() < limit {
                let Some(row) = rows.next()? else { break };
                // Not LIKE: it knows the letters of ASCII only, and it stops at a NUL.
                if row.get_ref("text")?.as_str()?.to_lowercase().contains(&sought) {
                    found.push(memory_of(row)?);
                }
            }
            Ok(found)
        })
    }
}

/// A limit that is none.
const WITHOUT_LIMIT: i64 = -1;

/// Returns the memories a filter means, newest first, up to a limit that is bound last. They are
/// put in order by number and only then read: sorting whole rows would hold every text at once. The
/// limit keeps SQLite from merging the two steps, `CROSS JOIN` keeps their order.
fn newest_first(clause: &Clause) -> String {
    let chosen = format!(
        "SELECT m.number FROM memory m WHERE true{} ORDER BY m.turn_at_ms DESC, m.uuid LIMIT ?",
        clause.sql
    );
    memories_from(&format!("({chosen}) chosen CROSS JOIN memory m ON m.number = chosen.number"))
}

/// Reads a row of [`memories_from`]. By place, not by name: a name is looked for among all others,
/// and a recall reads hundreds of columns.
pub(crate) fn memory_of(row: &Row<'_>) -> rusqlite::Result<Memory> {
    let at = |place| row.get::<usize, Millis>(place).map(|millis| millis.0);
    Ok(Memory {
        id: row.get(0)?,
        host: row.get(1)?,
        session: row.get(2)?,
        turn_uuid: row.get(3)?,
        turn_index: row.get::<_, Option<i64>>(4)?.map(i64::cast_unsigned),
        role: row.get(5)?,
        tier: row.get(6)?,
        project: row.get(7)?,
        cwd: row.get(8)?,
        turn_at: at(9)?,
        captured_at: at(10)?,
        stored_at: at(11)?,
        text: row.get(12)?,
        language: row.get(13)?,
        tags: row.get::<_, Json<Vec<String>>>(14)?.0,
        provenance: row.get::<_, Json<_>>(15)?.0,
        cue: row.get(16)?,
        pinned: row.get(17)?,
        content_hash: row.get(18)?,
        strength: row.get(19)?,
        community: row.get::<_, Option<i64>>(20)?.map(i64::cast_unsigned),
        valid_from: at(21)?,
        valid_to: row.get::<_, Option<Millis>>(22)?.map(|millis| millis.0),
    })
}

/// Returns the first and the last id with this beginning, or nothing when it is not hexadecimal.
fn prefix_range(hex_prefix: &str) -> Option<(MemoryId, MemoryId)> {
    let digits: Option<Vec<u8>> = hex_prefix
        .chars()
        .filter(|letter| *letter != '-')
        .map(|letter| letter.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    let digits = digits.filter(|digits| (1..=32).contains(&digits.len()))?;
    let filled = |filler: u8| {
        let mut bytes = [0_u8; 16];
        for (nibble_idx, byte) in (0..).step_by(2).zip(bytes.iter_mut()) {
            let nibble = |idx: usize| digits.get(idx).copied().unwrap_or(filler);
            *byte = nibble(nibble_idx) << 4 | nibble(nibble_idx.saturating_add(1));
        }
        MemoryId::from_bytes(bytes)
    };
    Some((filled(0), filled(15)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prefix: &str, expect: Option<(&str, &str)>) {
        let found = prefix_range(prefix).map(|(low, high)| (low.to_string(), high.to_string()));
        let expect = expect.map(|(low, high)| (low.to_owned(), high.to_owned()));
        assert_eq!(found, expect, "{prefix}");
    }

    #[test]
    fn the_beginning_of_an_id_is_a_range() {
        let (low, high) =
            ("3f2a0000-0000-0000-0000-000000000000", "3f2affff-ffff-ffff-ffff-ffffffffffff");
        check("3f2a", Some((low, high)));
        check("3F2A", Some((low, high)));
        check("3f-2a", Some((low, high)));
        check(
            "3f2",
            Some(("3f200000-0000-0000-0000-000000000000", "3f2fffff-ffff-ffff-ffff-ffffffffffff")),
        );
        check(low, Some((low, low)));
        check("", None);
        check("-", None);
        check("3g", None);
        check("%", None);
        check(&"0".repeat(33), None);
    }
}
