//! What was decided of late, over all projects or in one: the sentence itself, and where it stands.

use std::cmp::Reverse;

use iai_store::{Reader, Remark};
use jiff::Timestamp;
use serde::Serialize;

use super::{Glimpse, first_words};
use crate::brief::{decisions_in, said_otherwise};
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::UNSAID_HOSTS;

/// Projects that are looked through, those spoken in last.
const PROJECTS_MAX: usize = 8;
/// Decisions of one answer at most.
const DECISIONS_MAX: usize = 50;

/// What was decided and still holds, the latest first.
#[derive(Debug, Serialize)]
pub struct DecidedAnswer {
    /// The decisions.
    pub decided: Vec<Decided>,
}

/// Something that was decided.
#[derive(Debug, Serialize)]
pub struct Decided {
    /// The memory, with the deciding sentence as its first words.
    #[serde(flatten)]
    pub decision: Glimpse,
    /// What was said since that stands in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Glimpse>,
}

impl MemoryEngine {
    /// Returns what was decided of late: in one project, or in those that were spoken in last; and
    /// beside it what was said otherwise since, as the brief does.
    pub fn picture_decided(
        &self,
        project: Option<&str>,
        limit: usize,
        now: Timestamp,
    ) -> Result<DecidedAnswer> {
        // What was said since is looked for in the index.
        self.load_index()?;
        let limit = limit.clamp(1, DECISIONS_MAX);
        self.read(|reader| {
            let mut found = decisions(reader, project)?;
            found.sort_by_key(|own| (Reverse(own.memory.turn_at), own.memory.id));
            let decided = found.into_iter().take(limit).map(|remark| {
                let since = said_otherwise(self, reader, &remark, now)?.map(Glimpse::of);
                Ok(Decided { decision: seen(remark), since })
            });
            Ok(DecidedAnswer { decided: decided.collect::<Result<Vec<Decided>>>()? })
        })
    }
}

fn decisions(reader: &Reader, project: Option<&str>) -> Result<Vec<Remark>> {
    let projects = match project {
        Some(project) => vec![project.to_owned()],
        None => {
            let recent = reader.recent_projects(UNSAID_HOSTS, PROJECTS_MAX)?;
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
