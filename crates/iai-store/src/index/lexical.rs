//! The lexical index: which words stand in which memory, ranked by BM25. It keeps no copy of the
//! text; it points into the memory table.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use crate::reader::{Clause, sql_limit};
use crate::record::{Filter, MemoryId};

/// Changes with the words below, so that an older index is rebuilt when the store opens.
const VERSION: &str = "1";

const CREATE: &str = "
    CREATE VIRTUAL TABLE lexical USING fts5 (
        text, cue,
        content = 'memory', content_rowid = 'number',
        tokenize = 'porter unicode61 remove_diacritics 2'
    );";

/// A query has at most this many words and phrases; the rest of a longer one is not searched.
const TERMS_MAX: usize = 64;
/// A word or phrase is searched by its first kibibyte.
const TERM_BYTES_MAX: usize = 1024;
/// [`crate::Reader::document_frequencies`] stops counting a word here: a word this common says
/// nothing, and counting on would read the whole index.
pub const DOCUMENT_FREQUENCY_MAX: u64 = 20_000;

/// What is searched: memories with any of these, the more the better.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LexicalQuery {
    /// Single words, in any form; a word with punctuation inside is searched as a phrase.
    pub words: Vec<String>,
    /// Words that stand next to each other.
    pub phrases: Vec<String>,
}

/// A memory that shares words with a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LexicalHit {
    /// The memory.
    pub id: MemoryId,
    /// How well it fits: above zero, higher is better, comparable within one search.
    pub score: f64,
}

impl LexicalQuery {
    /// Returns the query in the language of FTS5, or nothing when there is nothing to search.
    /// Every term is quoted, so nothing in it can be an operator.
    fn expression(&self) -> Option<String> {
        let mut seen = BTreeSet::new();
        let terms: Vec<String> = (self.phrases.iter())
            .chain(&self.words)
            .map(|term| quoted(term))
            .filter(|term| seen.insert(term.clone()))
            .take(TERMS_MAX)
            .collect();
        if terms.is_empty() { None } else { Some(terms.join(" OR ")) }
    }
}

fn quoted(term: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in term.chars() {
        if quoted.len().saturating_add(letter.len_utf8()) > TERM_BYTES_MAX {
            break;
        }
        match letter {
            '"' => quoted.push_str("\"\""),
            // FTS5 reads its query up to the first NUL; as a blank it separates words all the same.
            '\0' => quoted.push(' '),
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// Makes the index, or makes it anew when its words have changed. Runs inside a transaction.
pub(crate) fn ensure(connection: &Connection) -> rusqlite::Result<()> {
    let found: Option<String> = connection
        .query_row("SELECT value FROM meta WHERE name = 'lexical'", [], |row| row.get(0))
        .optional()?;
    if found.as_deref() == Some(VERSION) { Ok(()) } else { rebuild(connection) }
}

/// Drops the index and makes it from the memories. Runs inside a transaction.
pub(crate) fn rebuild(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("DROP TABLE IF EXISTS lexical;")?;
    connection.execute_batch(CREATE)?;
    connection.execute_batch("INSERT INTO lexical (lexical) VALUES ('rebuild');")?;
    connection
        .execute(
            "INSERT INTO meta (name, value) VALUES ('lexical', ?1)
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            [VERSION],
        )
        .map(drop)
}

/// Adds one memory, in the transaction that stores it.
pub(crate) fn add(
    connection: &Connection,
    number: i64,
    text: &str,
    cue: Option<&str>,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT INTO lexical (rowid, text, cue) VALUES (?, ?, ?)")?
        .execute(params![number, text, cue])
        .map(drop)
}

/// Compares the index with the memories word by word; needs a connection that may write.
pub(crate) fn check(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("INSERT INTO lexical (lexical, rank) VALUES ('integrity-check', 1);")
}

pub(crate) fn search(
    connection: &Connection,
    query: &LexicalQuery,
    filter: &Filter,
    limit: usize,
) -> rusqlite::Result<Vec<LexicalHit>> {
    let Some(expression) = query.expression() else {
        return Ok(Vec::new());
    };
    let scored = best_numbers(scores(connection, expression, filter)?, limit);
    let mut id_of = connection.prepare_cached("SELECT uuid FROM memory WHERE number = ?")?;
    let mut hits = Vec::with_capacity(scored.len());
    for (score, number) in scored {
        hits.push(LexicalHit { id: id_of.query_row([number], |row| row.get(0))?, score });
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    hits.truncate(limit);
    Ok(hits)
}

pub(crate) fn frequencies(connection: &Connection, words: &[String]) -> rusqlite::Result<Vec<u64>> {
    // Matching is the one way to count that stems a word exactly as it was stemmed when stored.
    let mut count = connection.prepare_cached(
        "SELECT count(*) FROM (SELECT 1 FROM lexical WHERE lexical MATCH ? LIMIT ?)",
    )?;
    let most = i64::try_from(DOCUMENT_FREQUENCY_MAX).unwrap_or(i64::MAX);
    words
        .iter()
        .map(|word| {
            count
                .query_row(params![quoted(word), most], |row| row.get::<_, i64>(0))
                .map(i64::cast_unsigned)
        })
        .collect()
}

/// Returns score and number of every match. The memory table is read only when a filter asks for
/// it: its rows are wide, and a common word matches most of them.
fn scores(
    connection: &Connection,
    expression: String,
    filter: &Filter,
) -> rusqlite::Result<Vec<(f64, i64)>> {
    let clause = Clause::of(filter);
    let join = if clause.sql.is_empty() { "" } else { "JOIN memory m ON m.number = lexical.rowid" };
    let sql = format!(
        "SELECT -bm25(lexical), lexical.rowid FROM lexical {join}
          WHERE lexical MATCH ?{}",
        clause.sql
    );
    let values = std::iter::once(expression.into()).chain(clause.values);
    connection
        .prepare_cached(&sql)?
        .query_map(params_from_iter(values), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// Keeps the best `limit`, and everything that ties with the last of them: ids break ties later.
fn best_numbers(mut scored: Vec<(f64, i64)>, limit: usize) -> Vec<(f64, i64)> {
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let Some((cut, _)) = limit.checked_sub(1).and_then(|last| scored.get(last)).copied() else {
        return if limit == 0 { Vec::new() } else { scored };
    };
    scored.truncate(scored.partition_point(|(score, _)| *score >= cut));
    scored
}

/// The most rows [`unmatched`] names.
const UNMATCHED_MAX: usize = 100;

/// Returns the numbers that only one of memory table and index knows.
pub(crate) fn unmatched(connection: &Connection) -> rusqlite::Result<Vec<i64>> {
    connection
        .prepare(
            "SELECT number FROM memory WHERE number NOT IN (SELECT id FROM lexical_docsize)
              UNION
             SELECT id FROM lexical_docsize WHERE id NOT IN (SELECT number FROM memory)
              LIMIT ?",
        )?
        .query_map([sql_limit(UNMATCHED_MAX)], |row| row.get(0))?
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_expression(words: &[&str], phrases: &[&str], expect: Option<&str>) {
        let own = |terms: &[&str]| terms.iter().map(|&term| term.to_owned()).collect();
        let query = LexicalQuery { words: own(words), phrases: own(phrases) };
        assert_eq!(query.expression().as_deref(), expect, "{words:?} {phrases:?}");
    }

    #[test]
    fn nothing_a_person_types_is_syntax() {
        check_expression(&[], &[], None);
        check_expression(&["cat", "dog"], &["black cat"], Some(r#""black cat" OR "cat" OR "dog""#));
        check_expression(&["cat", "cat"], &[], Some(r#""cat""#));
        check_expression(&["NOT", "text:", "a*"], &[], Some(r#""NOT" OR "text:" OR "a*""#));
        check_expression(&[r#"" OR ""#], &[], Some(r#"""" OR """"#));
        check_expression(&["a\0b"], &[], Some(r#""a b""#));
    }

    #[test]
    fn a_query_has_a_most() {
        let many: Vec<String> = (0..1000).map(|n| format!("w{n}")).collect();
        let query = LexicalQuery { words: many, phrases: Vec::new() };
        assert_eq!(query.expression().unwrap().matches(" OR ").count(), TERMS_MAX - 1);
        assert!(quoted(&"ö".repeat(100_000)).len() <= TERM_BYTES_MAX + 2);
    }

    #[test]
    fn ties_at_the_cut_are_kept() {
        let scored = vec![(1.0, 1), (3.0, 2), (2.0, 3), (2.0, 4), (1.0, 5)];
        for (limit, expect) in [
            (0, vec![]),
            (1, vec![2]),
            (2, vec![2, 3, 4]),
            (3, vec![2, 3, 4]),
            (4, vec![2, 3, 4, 1, 5]),
            (9, vec![2, 3, 4, 1, 5]),
        ] {
            let kept: Vec<i64> =
                best_numbers(scored.clone(), limit).into_iter().map(|(_, number)| number).collect();
            assert_eq!(kept, expect, "{limit}");
        }
    }
}
