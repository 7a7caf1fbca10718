//! Checks that what is kept twice says the same twice.

use rusqlite::Connection;

/// How many rows of one kind are named.
const NAMED_MAX: &str = "20";

/// Each question, and how a row of its answer is told.
const QUESTIONS: &[(&str, &str)] = &[
    (
        "SELECT 'memory ' || number || ' is pinned in one place only' FROM memory m
          WHERE m.pinned <> EXISTS (SELECT 1 FROM pin p WHERE p.memory = m.number)",
        "pins",
    ),
    (
        "SELECT 'attribute ' || a.number || ' counts ' || a.n_memories || ' memories'
           FROM attribute a
          WHERE a.n_memories <> (SELECT count(*) FROM memory_attribute h
                                  WHERE h.attribute = a.number)",
        "attributes",
    ),
    (
        "SELECT 'week ' || w.week || ' of formality does not add up' FROM formality_week w
           LEFT JOIN (SELECT week, count(*) n, sum(thousandths) s,
                             sum(thousandths * thousandths) q FROM formality GROUP BY week) f
             ON f.week = w.week
          WHERE (w.n, w.sum, w.sum_squares) IS NOT (f.n, f.s, f.q)",
        "formality",
    ),
    (
        "SELECT 'memory ' || number || ' belongs to topic ' || community || ', which is gone'
           FROM memory m WHERE community IS NOT NULL
            AND EXISTS (SELECT 1 FROM topic)
            AND NOT EXISTS (SELECT 1 FROM topic t WHERE t.number = m.community)",
        "topics",
    ),
    (
        "SELECT 'the vector at ' || place || ' has no direction' FROM vector
          WHERE components = zeroblob(length(components))",
        "vectors",
    ),
];

/// Returns what does not fit together, each with the name of its rule.
pub(super) fn at_odds(connection: &Connection) -> rusqlite::Result<Vec<(&'static str, String)>> {
    let mut found = Vec::new();
    for (sql, name) in QUESTIONS {
        let mut statement = connection.prepare(&format!("{sql} LIMIT {NAMED_MAX}"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            found.push((*name, row.get(0)?));
        }
    }
    Ok(found)
}
