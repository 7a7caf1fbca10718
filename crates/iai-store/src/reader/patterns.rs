//! Reads facts, the patterns counted from them, and cues that found nothing.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use rusqlite::{Row, params};

use super::{Reader, sql_limit};
use crate::error::Result;
use crate::record::memory::Millis;
use crate::record::{
    FactKind, FactSeen, MemoryId, MemoryNumber, MissedCue, NewPattern, Pattern, PatternKind,
    PatternStatus,
};

/// Memories told with a pattern.
const EVIDENCE_TOLD_MAX: usize = 5;

impl Reader {
    /// Returns which facts were seen in which memories, after this one, in order.
    pub fn facts_after(&self, last: FactSeen, limit: usize) -> Result<Vec<FactSeen>> {
        self.run("reading facts", |c| {
            c.prepare_cached(
                "SELECT memory, fact FROM fact_memory WHERE (memory, fact) > (?, ?)
                  ORDER BY memory, fact LIMIT ?",
            )?
            .query_map(params![last.memory, last.fact.cast_signed(), sql_limit(limit)], |row| {
                Ok(FactSeen { memory: row.get(0)?, fact: row.get::<_, i64>(1)?.cast_unsigned() })
            })?
            .collect()
        })
    }

    /// Returns how many times facts were seen.
    pub fn n_facts_seen(&self) -> Result<u64> {
        self.run("counting facts", |c| {
            c.prepare_cached("SELECT count(*) FROM fact_memory")?
                .query_row([], |row| row.get::<_, i64>(0).map(i64::cast_unsigned))
        })
    }

    /// Returns what these facts are.
    pub fn facts(&self, numbers: &[u64]) -> Result<BTreeMap<u64, (FactKind, String)>> {
        self.run("reading what facts are", |c| {
            let mut statement =
                c.prepare_cached("SELECT number, kind, name FROM fact WHERE number = ?")?;
            let mut facts = BTreeMap::new();
            for number in numbers {
                for fact in statement.query_map([number.cast_signed()], |row| {
                    Ok((row.get::<_, i64>(0)?.cast_unsigned(), (row.get(1)?, row.get(2)?)))
                })? {
                    let (number, fact) = fact?;
                    facts.insert(number, fact);
                }
            }
            Ok(facts)
        })
    }

    /// Returns patterns of one project or of all, the surest first.
    pub fn patterns(&self, project: Option<&str>, limit: usize) -> Result<Vec<Pattern>> {
        let mut patterns = self.patterns_alone(project, limit)?;
        for pattern in &mut patterns {
            pattern.evidence = self.evidence(pattern.number)?;
        }
        Ok(patterns)
    }

    /// Returns those of the first patterns of a project that one of these memories shows.
    pub fn patterns_shown_by(
        &self,
        numbers: &[MemoryNumber],
        project: &str,
        limit: usize,
    ) -> Result<Vec<Pattern>> {
        let shown: BTreeSet<u64> = self.run("reading what memories show", |c| {
            let mut statement =
                c.prepare_cached("SELECT pattern FROM pattern_evidence WHERE memory = ?")?;
            let mut shown = BTreeSet::new();
            for number in numbers {
                for pattern in statement.query_map([number], |row| row.get::<_, i64>(0))? {
                    shown.insert(pattern?.cast_unsigned());
                }
            }
            Ok(shown)
        })?;
        if shown.is_empty() {
            return Ok(Vec::new());
        }
        let mut patterns = self.patterns_alone(Some(project), limit)?;
        patterns.retain(|pattern| shown.contains(&pattern.number));
        for pattern in &mut patterns {
            pattern.evidence = self.evidence(pattern.number)?;
        }
        Ok(patterns)
    }

    /// Returns patterns without what shows them.
    fn patterns_alone(&self, project: Option<&str>, limit: usize) -> Result<Vec<Pattern>> {
        self.run("reading patterns", |c| {
            c.prepare_cached(
                "SELECT number, kind, subject, object, project, n_evidence, n_exceptions,
                        confidence, status, updated_at_ms
                   FROM pattern WHERE ?1 IS NULL OR project = ?1
                  ORDER BY status, n_evidence * confidence DESC, number LIMIT ?2",
            )?
            .query_map(params![project, sql_limit(limit)], pattern_from)?
            .collect()
        })
    }

    /// Returns cues that found nothing at least so often since a time, the most frequent first.
    pub fn missed_cues(
        &self,
        n_times_min: u64,
        since: Timestamp,
        limit: usize,
    ) -> Result<Vec<MissedCue>> {
        self.run("reading cues that found nothing", |c| {
            c.prepare_cached(
                "SELECT cue, project, asked, n_times, last_at_ms FROM missed_cue
                  WHERE n_times >= ? AND last_at_ms >= ?
                  ORDER BY n_times DESC, last_at_ms DESC, cue LIMIT ?",
            )?
            .query_map(
                params![n_times_min.cast_signed(), Millis(since), sql_limit(limit)],
                |row| {
                    Ok(MissedCue {
                        cue: row.get(0)?,
                        project: row.get(1)?,
                        asked: row.get(2)?,
                        n_times: row.get::<_, i64>(3)?.cast_unsigned(),
                        last_at: row.get::<_, Millis>(4)?.0,
                    })
                },
            )?
            .collect()
        })
    }

    fn evidence(&self, pattern: u64) -> Result<Vec<MemoryId>> {
        self.run("reading what shows a pattern", |c| {
            c.prepare_cached(
                "SELECT m.uuid FROM pattern_evidence e JOIN memory m ON m.number = e.memory
                  WHERE e.pattern = ? ORDER BY e.memory DESC LIMIT ?",
            )?
            .query_map(params![pattern.cast_signed(), sql_limit(EVIDENCE_TOLD_MAX)], |row| {
                row.get(0)
            })?
            .collect()
        })
    }
}

fn pattern_from(row: &Row<'_>) -> rusqlite::Result<Pattern> {
    Ok(Pattern {
        number: row.get::<_, i64>(0)?.cast_unsigned(),
        counted: NewPattern {
            kind: row.get::<_, PatternKind>(1)?,
            subject: row.get(2)?,
            object: row.get(3)?,
            project: row.get(4)?,
            n_evidence: row.get::<_, i64>(5)?.cast_unsigned(),
            n_exceptions: row.get::<_, i64>(6)?.cast_unsigned(),
            confidence: row.get(7)?,
            status: row.get::<_, PatternStatus>(8)?,
            evidence: Vec::new(),
        },
        evidence: Vec::new(),
        updated_at: row.get::<_, Millis>(9)?.0,
    })
}
