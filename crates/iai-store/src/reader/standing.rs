//! Reads what a new session is told: identity, pins, remarks, the latest sessions, the most used.
//!
//! Every question is asked place by place, along an index that stands in the order wanted: what a
//! project holds is never sorted, and no memory is read that is not returned. Limits are written
//! out: SQLite compiles a statement again whenever one is bound to it.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, params};

use super::{Reader, memories_from, memory_of, sql_limit};
use crate::error::Result;
use crate::record::memory::{Json, Millis};
use crate::record::{
    ExceptSessions, Memory, MemoryNumber, ProjectSeen, Remark, RemarkKind, Sequel, SessionSeen,
    UsedMemory, Uses,
};

/// Places of one project that are looked at, the newest first.
const PLACES_MAX: usize = 256;
/// Places of all projects that are looked at.
const ALL_PLACES_MAX: usize = 10_000;
/// Turns that are walked over to find the sessions they belong to, in all places together …
const WALKED_MAX: usize = 20_000;
/// … and at least so many in each.
const WALKED_IN_PLACE_MIN: usize = 200;
/// Remarks that are looked at to find what is said in several projects.
const REMARKS_WALKED_MAX: usize = 2000;
/// The plus keeps the planner from walking over all waivers by their kind: a turn has one or two.
pub(crate) const SEQUELS_OF: &str = "
    SELECT s.sequel, s.nearness, e.start_byte, r.end_byte, w.start_byte, w.end_byte
      FROM remark_sequel s
      LEFT JOIN remark_everywhere e ON e.memory = s.sequel
      LEFT JOIN remark r ON r.memory = e.memory AND r.start_byte = e.start_byte AND r.kind = e.kind
      LEFT JOIN remark w ON w.memory = s.sequel AND +w.kind = 'waiver'
     WHERE s.memory = ?1 AND s.start_byte = ?2 AND s.kind = ?3
     ORDER BY s.nearness DESC, s.sequel DESC";

impl Reader {
    /// Returns who the user is, in their own words.
    pub fn identity(&self) -> Result<Option<String>> {
        self.run("reading the identity", |c| {
            c.prepare_cached("SELECT text FROM identity")?
                .query_row([], |row| row.get(0))
                .optional()
        })
    }

    /// Counts the pinned memories.
    pub fn n_pinned(&self) -> Result<usize> {
        self.run("counting pins", |c| {
            c.prepare_cached("SELECT count(*) FROM pin")?
                .query_row([], |row| row.get::<_, i64>(0))
                .map(|n| usize::try_from(n).unwrap_or(usize::MAX))
        })
    }

    /// Returns all pinned memories, the latest pin first.
    pub fn all_pinned(&self, limit: usize) -> Result<Vec<Memory>> {
        let sql = format!("{} ORDER BY pin.pinned_at_ms DESC, pin.memory LIMIT ?", pinned());
        self.run("reading pins", |c| {
            c.prepare_cached(&sql)?.query_map([sql_limit(limit)], memory_of)?.collect()
        })
    }

    /// Returns the pinned memories that are told in this project, the latest pin first. Without a
    /// project, only those that are told everywhere or belong to no place.
    pub fn pinned(&self, project: Option<&str>, limit: usize) -> Result<Vec<Memory>> {
        let sql = format!(
            "{} WHERE pin.reach = 'everywhere' OR m.place IS NULL OR p.project = ?1
              ORDER BY pin.pinned_at_ms DESC, pin.memory LIMIT ?2",
            pinned()
        );
        self.run("reading pins", |c| {
            c.prepare_cached(&sql)?
                .query_map(params![project, sql_limit(limit)], memory_of)?
                .collect()
        })
    }

    /// Returns what was remarked lately in a project and still holds, the newest first.
    pub fn remarks(&self, kind: RemarkKind, project: &str, limit: usize) -> Result<Vec<Remark>> {
        let mut found = Vec::new();
        for place in self.places_of(project)? {
            found.extend(self.remark_keys(kind, place, limit)?);
        }
        found.sort_by_key(|key| (std::cmp::Reverse(key.turn_at_ms), key.number));
        found.truncate(limit);
        self.whole_remarks(kind, &found)
    }

    /// Returns what holds in every project because it says so, the newest first.
    pub fn remarks_for_everywhere(&self, kind: RemarkKind, limit: usize) -> Result<Vec<Remark>> {
        let sql = format!(
            "SELECT r.memory, r.start_byte, r.end_byte, r.turn_at_ms, r.words
               FROM remark_everywhere e JOIN remark r USING (memory, start_byte, kind)
              WHERE e.kind = ? ORDER BY e.turn_at_ms DESC LIMIT {}",
            sql_limit(limit)
        );
        let keys: Vec<RemarkKey> = self.run("reading remarks for everywhere", |c| {
            c.prepare_cached(&sql)?.query_map([kind], RemarkKey::of)?.collect()
        })?;
        self.whole_remarks(kind, &keys)
    }

    /// Returns what was remarked in the same words in at least two projects and still holds, the
    /// newest first.
    pub fn remarks_of_several(&self, kind: RemarkKind, limit: usize) -> Result<Vec<Remark>> {
        // Walked in the index alone: nearly all were said in one place.
        let sql = format!(
            "SELECT r.memory, r.start_byte, r.end_byte, max(r.turn_at_ms), r.words
               FROM (SELECT words FROM
                       (SELECT words, place FROM remark WHERE kind = ?1 ORDER BY words LIMIT {})
                      GROUP BY words HAVING min(place) < max(place)) said
               JOIN remark r ON r.kind = ?1 AND r.words = said.words
               JOIN place p ON p.number = r.place
              GROUP BY r.words HAVING count(DISTINCT p.project) >= 2
              ORDER BY max(r.turn_at_ms) DESC LIMIT {}",
            sql_limit(REMARKS_WALKED_MAX),
            sql_limit(limit)
        );
        let keys: Vec<RemarkKey> = self.run("reading remarks", |c| {
            c.prepare_cached(&sql)?.query_map([kind], RemarkKey::of)?.collect()
        })?;
        self.whole_remarks(kind, &keys)
    }

    /// Returns what the user said later about the same thing as a remark, the nearest first; a turn
    /// that takes back several things, or says several for every project, more than once.
    pub fn sequels(&self, kind: RemarkKind, remark: &Remark) -> Result<Vec<Sequel>> {
        let found: Vec<SequelKey> = self.run("reading sequels", |c| {
            c.prepare_cached(SEQUELS_OF)?
                .query_map(
                    params![remark.number, sql_limit(remark.start_byte), kind],
                    SequelKey::of,
                )?
                .collect()
        })?;
        let numbers: Vec<MemoryNumber> = found.iter().map(|key| key.number).collect();
        let memories: BTreeMap<MemoryNumber, Memory> =
            self.numbered(&numbers)?.into_iter().collect();
        let sequels = found.into_iter().filter_map(|key| {
            let SequelKey { number, nearness, everywhere, waiver } = key;
            let memory = memories.get(&number)?.clone();
            Some(Sequel { memory, everywhere, waiver, nearness })
        });
        Ok(sequels.collect())
    }

    /// Returns the sessions of a project that were spoken in last, the latest first.
    pub fn recent_sessions(
        &self,
        project: &str,
        except: &ExceptSessions<'_>,
        limit: usize,
    ) -> Result<Vec<SessionSeen>> {
        let places = self.places_of(project)?;
        let n_walked_max = (WALKED_MAX / places.len().max(1)).max(WALKED_IN_PLACE_MIN);
        let mut found: Vec<(Timestamp, u32)> = Vec::new();
        for place in places {
            // Whoever is found here must be later than the last of those there are.
            let since = limit.checked_sub(1).and_then(|last| found.get(last)).map(|(at, _)| *at);
            let since = since.unwrap_or(Timestamp::MIN);
            found.extend(self.sessions_at((place, since), except, (limit, n_walked_max))?);
            found.sort_unstable_by(|a, b| b.cmp(a));
            let mut seen = BTreeSet::new();
            found.retain(|(_, session)| seen.insert(*session));
            found.truncate(limit);
        }
        let sessions = found.into_iter().map(|(last_at, number)| {
            let (_, name) = self.session_named(number)?;
            Ok(SessionSeen { number, name, last_at })
        });
        sessions.collect()
    }

    /// Returns the projects that were spoken in last, the latest first; what comes from `unsaid`
    /// hosts is nothing anybody said.
    pub fn recent_projects(&self, unsaid: &[&str], limit: usize) -> Result<Vec<ProjectSeen>> {
        // By the session, which the index knows: a project's latest memories are thousands of
        // summaries, and to learn the role of one is to read it.
        let sql = "
            SELECT p.project, max((SELECT turn_at_ms FROM memory
                                    WHERE place = p.number AND session NOT IN
                                          (SELECT s.number FROM json_each(?1) host
                                             JOIN session s ON s.host = host.value)
                                    ORDER BY turn_at_ms DESC LIMIT 1)) AS last_ms
              FROM (SELECT * FROM place WHERE project IS NOT NULL
                     ORDER BY number DESC LIMIT ?2) p
             GROUP BY p.project HAVING last_ms IS NOT NULL
             ORDER BY last_ms DESC LIMIT ?3";
        let unsaid = Json(unsaid);
        self.run("reading the latest projects", |c| {
            c.prepare_cached(sql)?
                .query_map(params![unsaid, sql_limit(ALL_PLACES_MAX), sql_limit(limit)], |row| {
                    let last_at = row.get::<_, Millis>(1)?.0;
                    Ok(ProjectSeen { project: row.get(0)?, last_at })
                })?
                .collect()
        })
    }

    /// Returns the first and the last memories of a session, each in the order they were said.
    pub fn session_ends(
        &self,
        session: u32,
        n_first: usize,
        n_last: usize,
    ) -> Result<(Vec<Memory>, Vec<Memory>)> {
        let read = |order: &str, limit: usize| {
            let sql = format!(
                "{} WHERE m.session = ? ORDER BY m.turn_at_ms {order}, m.turn_index {order},
                    m.number {order} LIMIT {limit}",
                memories_from("memory m"),
                limit = sql_limit(limit)
            );
            self.run("reading the ends of a session", |c| {
                c.prepare_cached(&sql)?
                    .query_map([session], memory_of)?
                    .collect::<rusqlite::Result<Vec<Memory>>>()
            })
        };
        let first = read("ASC", n_first)?;
        let mut last = read("DESC", n_last)?;
        last.reverse();
        Ok((first, last))
    }

    /// Returns the memories of a project that were of use most often, the most used first.
    pub fn most_used(&self, project: &str, limit: usize) -> Result<Vec<UsedMemory>> {
        let mut found: Vec<(i64, MemoryNumber, Uses)> = Vec::new();
        for place in self.places_of(project)? {
            found.extend(self.used_at(place, limit)?);
        }
        found.sort_by_key(|(worth, number, _)| (std::cmp::Reverse(*worth), *number));
        found.truncate(limit);
        let numbers: Vec<MemoryNumber> = found.iter().map(|(_, number, _)| *number).collect();
        let memories = self.numbered(&numbers)?.into_iter();
        let uses_of = |number| {
            found.iter().find(|(_, other, _)| *other == number).map_or(Uses::default(), |row| row.2)
        };
        Ok(memories
            .map(|(number, memory)| UsedMemory { number, memory, uses: uses_of(number) })
            .collect())
    }

    /// The newest come first, and last the one without a folder: summaries are kept there, and
    /// each has a session of its own.
    fn places_of(&self, project: &str) -> Result<Vec<u32>> {
        let sql = format!(
            "SELECT number FROM
                (SELECT number, cwd FROM place WHERE project = ? ORDER BY number DESC LIMIT {})
              ORDER BY cwd IS NULL, number DESC",
            sql_limit(PLACES_MAX)
        );
        self.run("looking for the places of a project", |c| {
            c.prepare_cached(&sql)?.query_map([project], |row| row.get(0))?.collect()
        })
    }

    fn remark_keys(&self, kind: RemarkKind, place: u32, limit: usize) -> Result<Vec<RemarkKey>> {
        let sql = format!(
            "SELECT r.memory, r.start_byte, r.end_byte, r.turn_at_ms, r.words
               FROM remark r
              WHERE r.place = ? AND r.kind = ? ORDER BY r.turn_at_ms DESC LIMIT {}",
            sql_limit(limit)
        );
        self.run("reading remarks", |c| {
            c.prepare_cached(&sql)?.query_map(params![place, kind], RemarkKey::of)?.collect()
        })
    }

    fn whole_remarks(&self, kind: RemarkKind, keys: &[RemarkKey]) -> Result<Vec<Remark>> {
        let mut remarks = Vec::with_capacity(keys.len());
        let numbers: Vec<MemoryNumber> = keys.iter().map(|key| key.number).collect();
        let memories: BTreeMap<MemoryNumber, Memory> =
            self.numbered(&numbers)?.into_iter().collect();
        for key in keys {
            let Some(memory) = memories.get(&key.number).filter(|own| own.valid_to.is_none())
            else {
                continue;
            };
            let n_said = match kind {
                RemarkKind::Preference | RemarkKind::Decision => self.n_said(kind, key.words)?,
                RemarkKind::Waiver | RemarkKind::Open | RemarkKind::Kept => 1,
            };
            remarks.push(Remark {
                number: key.number,
                memory: memory.clone(),
                start_byte: key.start_byte,
                end_byte: key.end_byte,
                words: key.words,
                n_said,
            });
        }
        Ok(remarks)
    }

    /// Counts how often words were said: each count reads a page of its own.
    fn n_said(&self, kind: RemarkKind, words: i64) -> Result<u64> {
        let counted: i64 = self.run("counting remarks", |c| {
            c.prepare_cached("SELECT count(*) FROM remark WHERE kind = ? AND words = ?")?
                .query_row(params![kind, words], |row| row.get(0))
        })?;
        Ok(counted.cast_unsigned())
    }

    /// Walks back through the turns of a place to a time, until it has met so many sessions, or so
    /// many turns.
    fn sessions_at(
        &self,
        (place, since): (u32, Timestamp),
        except: &ExceptSessions<'_>,
        (limit, n_walked_max): (usize, usize),
    ) -> Result<Vec<(Timestamp, u32)>> {
        self.run("looking for the latest sessions", |c| {
            // Walked by row: a limit would have to be bound, as it differs from store to store.
            let mut statement = c.prepare_cached(
                "SELECT turn_at_ms, session FROM memory WHERE place = ? AND turn_at_ms >= ?
                  ORDER BY turn_at_ms DESC",
            )?;
            let mut rows = statement.query(params![place, Millis(since)])?;
            let mut n_walked = 0;
            let mut host_and_name =
                c.prepare_cached("SELECT host, name FROM session WHERE number = ?")?;
            let mut seen = BTreeSet::new();
            let mut found: Vec<(Timestamp, u32)> = Vec::new();
            while n_walked < n_walked_max
                && let Some(row) = rows.next()?
            {
                n_walked += 1;
                let session = row.get(1)?;
                if seen.insert(session) {
                    let is_excepted = host_and_name.query_row([session], |row| {
                        Ok(except.holds(row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?))
                    })?;
                    if is_excepted {
                        continue;
                    }
                    found.push((row.get::<_, Millis>(0)?.0, session));
                }
                if found.len() == limit {
                    break;
                }
            }
            Ok(found)
        })
    }

    fn used_at(&self, place: u32, limit: usize) -> Result<Vec<(i64, MemoryNumber, Uses)>> {
        let sql = format!(
            "SELECT n_recalled + 3 * n_reinforced AS worth, memory, n_recalled, n_reinforced
               FROM memory_use WHERE place = ?
              ORDER BY n_recalled + 3 * n_reinforced DESC, last_ms DESC LIMIT {}",
            sql_limit(limit)
        );
        self.run("reading the most used memories", |c| {
            c.prepare_cached(&sql)?
                .query_map([place], |row| {
                    let uses = Uses { n_recalled: row.get(2)?, n_reinforced: row.get(3)? };
                    Ok((row.get(0)?, row.get(1)?, uses))
                })?
                .collect()
        })
    }
}

/// Where a remark stands.
struct RemarkKey {
    number: MemoryNumber,
    start_byte: usize,
    end_byte: usize,
    turn_at_ms: i64,
    words: i64,
}

impl RemarkKey {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        let byte = |column| row.get::<usize, u32>(column).map(|byte| byte as usize);
        Ok(Self {
            number: row.get(0)?,
            start_byte: byte(1)?,
            end_byte: byte(2)?,
            turn_at_ms: row.get(3)?,
            words: row.get(4)?,
        })
    }
}

/// Where a sequel stands.
struct SequelKey {
    number: MemoryNumber,
    nearness: u32,
    everywhere: Option<(usize, usize)>,
    waiver: Option<(usize, usize)>,
}

impl SequelKey {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        let byte = |column| {
            row.get::<usize, Option<u32>>(column).map(|byte| byte.map(|byte| byte as usize))
        };
        Ok(Self {
            number: row.get(0)?,
            nearness: row.get(1)?,
            everywhere: byte(2)?.zip(byte(3)?),
            waiver: byte(4)?.zip(byte(5)?),
        })
    }
}

fn pinned() -> String {
    memories_from("pin CROSS JOIN memory m ON m.number = pin.memory")
}
