//! The patterns memory has found so far, in sentences.

use iai_store::{MemoryId, NewPattern, Pattern, PatternKind};
use serde::Serialize;

use crate::engine::MemoryEngine;
use crate::error::Result;

/// The most patterns told at once.
const PATTERNS_TOLD_MAX: usize = 200;

/// Which patterns.
#[derive(Debug, Clone, Default)]
pub struct PatternsAsk {
    /// Only those of this project, by its path or its name.
    pub project: Option<String>,
    /// Only those that hold in at least this share of cases.
    pub confidence_min: f64,
}

/// Patterns, the surest first.
#[derive(Debug, Clone, Serialize)]
pub struct PatternsAnswer {
    /// The patterns.
    pub schemas: Vec<PatternView>,
    /// How many fit, told or not.
    pub total: usize,
}

/// One pattern as a client sees it.
#[derive(Debug, Clone, Serialize)]
pub struct PatternView {
    /// Its name.
    pub id: String,
    /// What it says.
    pub pattern: String,
    /// The share of cases in which it holds.
    pub confidence: f64,
    /// How many sessions show it.
    pub evidence_count: u64,
    /// How many sessions should and do not.
    pub exceptions_count: u64,
    /// `auto` or `pending`.
    pub status: &'static str,
    /// Always `null`: the sentence is made of names and commands.
    pub language: Option<String>,
    /// The project it holds in.
    pub domain: Option<String>,
    /// The newest memories that show it.
    pub evidence_ids: Vec<MemoryId>,
}

impl MemoryEngine {
    /// Returns the patterns found so far.
    pub fn patterns(&self, ask: &PatternsAsk) -> Result<PatternsAnswer> {
        let found = self.read(|reader| Ok(reader.patterns(None, usize::MAX)?))?;
        let is_meant = |pattern: &Pattern| {
            let counted = &pattern.counted;
            let of_project = |wanted: &String| {
                *wanted == counted.project || name_of(&counted.project) == wanted.as_str()
            };
            ask.confidence_min <= counted.confidence && ask.project.as_ref().is_none_or(of_project)
        };
        let mut schemas: Vec<PatternView> = found.into_iter().filter(is_meant).map(view).collect();
        let total = schemas.len();
        schemas.truncate(PATTERNS_TOLD_MAX);
        Ok(PatternsAnswer { schemas, total })
    }
}

fn view(pattern: Pattern) -> PatternView {
    PatternView {
        id: format!("pattern-{}", pattern.number),
        pattern: sentence(&pattern.counted),
        confidence: pattern.counted.confidence,
        evidence_count: pattern.counted.n_evidence,
        exceptions_count: pattern.counted.n_exceptions,
        status: pattern.counted.status.as_str(),
        language: None,
        domain: Some(pattern.counted.project).filter(|project| !project.is_empty()),
        evidence_ids: pattern.evidence,
    }
}

/// Says a pattern in a few words.
pub(crate) fn sentence(pattern: &NewPattern) -> String {
    let (subject, object) = (&pattern.subject, &pattern.object);
    match pattern.kind {
        PatternKind::Habit => match name_of(&pattern.project) {
            "" => format!("usually runs {object}"),
            project => format!("usually runs {object} in {project}"),
        },
        PatternKind::Association => format!("where {subject} is, {object} is too"),
        PatternKind::Preference => object.clone(),
    }
}

/// The last part of a path.
fn name_of(project: &str) -> &str {
    let bare = project.trim_end_matches(".git").trim_end_matches('/');
    bare.rsplit('/').next().unwrap_or(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_called_by_its_folder() {
        for (path, name) in [("/home/a/web", "web"), ("/a/web/.git", "web"), ("", ""), ("x", "x")] {
            assert_eq!(name_of(path), name);
        }
    }
}
