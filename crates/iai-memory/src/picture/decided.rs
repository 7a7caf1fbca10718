//! What was decided of late, over all projects or in one: the sentence itself, and where it stands.

use std::cmp::Reverse;

use iai_store::{Reader, Remark};
use serde::Serialize;

use super::{Glimpse, first_words};
use crate::brief::decisions_in;
use crate::engine::MemoryEngine;
use crate::error::Result;

/// Projects that are looked through, those spoken in last.
const PROJECTS_MAX: usize = 8;
/// Decisions of one answer at most.
const DECISIONS_MAX: usize = 50;

/// What was decided and still holds, the latest first.
#[derive(Debug, Serialize)]
pub struct DecidedAnswer {
    /// The memories, each with the deciding sentence as its first words.
    pub decided: Vec<Glimpse>,
}

impl MemoryEngine {
    /// Returns what was decided of late: in one project, or in those that were spoken in last.
    pub fn picture_decided(&self, project: Option<&str>, limit: usize) -> Result<DecidedAnswer> {
        let limit = limit.clamp(1, DECISIONS_MAX);
        let mut found = self.read(|reader| decisions(reader, project))?;
        found.sort_by_key(|own| (Reverse(own.memory.turn_at), own.memory.id));
        Ok(DecidedAnswer { decided: found.into_iter().take(limit).map(seen).collect() })
    }
}

fn decisions(reader: &Reader, project: Option<&str>) -> Result<Vec<Remark>> {
    let projects = match project {
        Some(project) => vec![project.to_owned()],
        None => {
            let recent = reader.recent_projects(PROJECTS_MAX)?;
            recent.into_iter().map(|seen| seen.project).collect()
        }
    };
    let mut found = Vec::new();
    for project in &projects {
        found.extend(decisions_in(reader, project)?);
    }
    Ok(found)
}

fn seen(remark: Remark) -> Glimpse {
    let sentence = first_words(remark.sentence());
    Glimpse { first_words: sentence, ..Glimpse::of(remark.memory) }
}
