//! Erases what memories on their way out left in other tables: words in topics, patterns,
//! unanswered cues, unreadable lines and events, and names nothing has any more.

use std::collections::BTreeSet;

use rusqlite::Connection;

use super::Leaving;
use crate::error::Result;
use crate::record::{GoneNames, MemoryId};
use crate::writing::Writing;

/// A shorter word tells nothing about a memory.
const TELLING_CHARS_MIN: usize = 4;
/// So much of a text is looked for in lines nobody could read: they may be cut off.
const PROBE_CHARS: usize = 60;
/// A shorter text is in many lines without being what they say.
const PROBE_CHARS_MIN: usize = 8;
/// Of a name in the name of a spool file, so much is left; hooks say so too.
const FILE_NAME_CHARS_MAX: usize = 80;

impl Writing<'_> {
    /// Erases what these memories left behind, while their words are still known.
    pub(super) fn erase_traces(&self, leaving: &[Leaving]) -> Result<()> {
        self.reader.run("erasing traces of memories", |c| {
            drop_learned(c, leaving)?;
            drop_missed_cues(c, leaving)?;
            drop_set_aside(c, leaving)?;
            let ids: BTreeSet<MemoryId> = leaving.iter().map(|memory| memory.id).collect();
            drop_events_about(c, &ids)
        })
    }

    /// Drops the rows of names that no memory has; [`crate::Reader::gone_names`] says which.
    pub fn drop_names(&self, gone: &GoneNames) -> Result<()> {
        let places = self.reader.run("dropping names nobody has", |c| {
            for session in &gone.sessions {
                drop_session(c, session)?;
            }
            c.execute(DROP_SESSION_SUMMARIES, [])?;
            c.execute(DROP_SESSIONS, [])?;
            let places: Vec<u32> = c
                .prepare(DROP_PLACES)?
                .query_map([], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            for project in &gone.places {
                drop_project(c, project)?;
            }
            c.execute(DROP_FACTS, [])?;
            Ok(places)
        })?;
        self.changes.borrow_mut().places_gone.extend(places);
        Ok(())
    }
}

/// Names of topics and patterns are made of their memories' words; the steps make them again from
/// what is left.
fn drop_learned(c: &Connection, leaving: &[Leaving]) -> rusqlite::Result<()> {
    let mut statements = [
        c.prepare_cached(
            "UPDATE topic SET label = '', phrases = '[]'
              WHERE number = (SELECT community FROM memory WHERE number = ?)",
        )?,
        c.prepare_cached(
            "UPDATE summary SET is_stale = 1, members_hash = NULL
              WHERE kind = 'topic'
                AND source = (SELECT community FROM memory WHERE number = ?)",
        )?,
        c.prepare_cached(
            "DELETE FROM pattern WHERE number IN
                (SELECT pattern FROM pattern_evidence WHERE memory = ?)",
        )?,
    ];
    for memory in leaving {
        for statement in &mut statements {
            statement.execute([memory.number])?;
        }
    }
    Ok(())
}

/// A cue that shares a telling word with what is forgotten goes too. That is more than must go, and
/// costs no more than a question nobody will be asked.
fn drop_missed_cues(c: &Connection, leaving: &[Leaving]) -> rusqlite::Result<()> {
    let cues: Vec<(String, String, String)> = c
        .prepare_cached("SELECT cue, project, asked FROM missed_cue")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<Result<_, _>>()?;
    if cues.is_empty() {
        return Ok(());
    }
    let words: BTreeSet<String> =
        leaving.iter().flat_map(|memory| telling_words(&memory.text)).collect();
    let mut delete = c.prepare_cached("DELETE FROM missed_cue WHERE cue = ? AND project = ?")?;
    for (cue, project, asked) in cues {
        let is_about = telling_words(&cue).chain(telling_words(&asked)).any(|w| words.contains(&w));
        if is_about {
            delete.execute([&cue, &project])?;
        }
    }
    Ok(())
}

fn telling_words(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    let is_telling = |word: &&str| {
        TELLING_CHARS_MIN <= word.chars().count() || word.chars().any(|c| !c.is_ascii_alphabetic())
    };
    words.filter(|word| !word.is_empty()).filter(is_telling).map(str::to_lowercase)
}

/// A line nobody could read may hold the same turn, as it is or as JSON writes it.
fn drop_set_aside(c: &Connection, leaving: &[Leaving]) -> rusqlite::Result<()> {
    let mut rows = c.prepare_cached("SELECT number, bytes FROM set_aside")?;
    let rows: Vec<(i64, Vec<u8>)> =
        rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    let mut delete = c.prepare_cached("DELETE FROM set_aside WHERE number = ?")?;
    for (number, bytes) in rows {
        let line = String::from_utf8_lossy(&bytes);
        if leaving.iter().any(|memory| holds(&line, &memory.text)) {
            delete.execute([number])?;
        }
    }
    Ok(())
}

fn holds(line: &str, text: &str) -> bool {
    let probe: String = text.trim().chars().take(PROBE_CHARS).collect();
    if probe.chars().count() < PROBE_CHARS_MIN {
        return false;
    }
    let escaped = serde_json::to_string(&probe).unwrap_or_default();
    line.contains(&probe) || line.contains(escaped.trim_matches('"'))
}

fn drop_events_about(c: &Connection, ids: &BTreeSet<MemoryId>) -> rusqlite::Result<()> {
    let about: Vec<(i64, String)> = c
        .prepare_cached("SELECT number, sources FROM event WHERE sources <> '[]'")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let mut delete = c.prepare_cached("DELETE FROM event WHERE number = ?")?;
    for (number, sources) in about {
        let sources: Vec<MemoryId> = serde_json::from_str(&sources).unwrap_or_default();
        if sources.iter().any(|id| ids.contains(id)) {
            delete.execute([number])?;
        }
    }
    Ok(())
}

/// Drops what is named by a session: what it did, and files it came from.
fn drop_session(c: &Connection, session: &str) -> rusqlite::Result<()> {
    c.prepare_cached("DELETE FROM link_session WHERE session = ?")?.execute([session])?;
    c.prepare_cached("DELETE FROM event WHERE session = ?")?.execute([session])?;
    let in_file_names = in_file_name(session);
    if in_file_names.chars().count() < TELLING_CHARS_MIN {
        return Ok(());
    }
    for sql in [
        "DELETE FROM spool_receipt WHERE instr(file, ?1) = 1",
        "DELETE FROM set_aside WHERE instr(file, ?1) = 1",
        "DELETE FROM event WHERE kind = 'permanent_capture_failure' AND instr(data, ?1) > 0",
    ] {
        c.prepare_cached(sql)?.execute([&in_file_names])?;
    }
    Ok(())
}

/// Returns a session's name as it stands in the name of a spool file.
fn in_file_name(session: &str) -> String {
    let safe = |letter: char| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => letter,
        _ => '_',
    };
    session.chars().take(FILE_NAME_CHARS_MAX).map(safe).collect()
}

fn drop_project(c: &Connection, project: &str) -> rusqlite::Result<()> {
    for sql in [
        "DELETE FROM pattern WHERE project = ?",
        "DELETE FROM missed_cue WHERE project = ?",
        "UPDATE topic SET project = NULL WHERE project = ?",
    ] {
        c.prepare_cached(sql)?.execute([project])?;
    }
    Ok(())
}

const DROP_SESSION_SUMMARIES: &str = "
    DELETE FROM summary WHERE kind = 'session' AND NOT EXISTS
        (SELECT 1 FROM memory m WHERE m.session = summary.source)";
const DROP_SESSIONS: &str = "
    DELETE FROM session WHERE NOT EXISTS
        (SELECT 1 FROM memory m WHERE m.session = session.number)";
const DROP_PLACES: &str = "
    DELETE FROM place WHERE NOT EXISTS (SELECT 1 FROM memory m WHERE m.place = place.number)
    RETURNING number";
const DROP_FACTS: &str = "
    DELETE FROM fact WHERE NOT EXISTS (SELECT 1 FROM fact_memory s WHERE s.fact = fact.number)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_says_the_same_is_known_however_it_is_written() {
        let text = "the \"vault\" code\nis 4711";
        for (line, expect) in [
            (r#"{"role":"wizard","text":"the \"vault\" code\nis 4711"}"#, true),
            ("garbage the \"vault\" code\nis 4711 garbage", true),
            (r#"{"role":"wizard","text":"the vault"}"#, false),
        ] {
            assert_eq!(holds(line, text), expect, "{line}");
        }
        assert!(!holds("ok then", "ok"), "too short to tell");
    }

    #[test]
    fn telling_words_are_long_or_not_plain() {
        let words: Vec<String> = telling_words("The vault-code is 47, ок?").collect();
        assert_eq!(words, ["vault", "code", "47", "ок"]);
    }
}
