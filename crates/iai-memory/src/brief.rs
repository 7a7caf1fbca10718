//! The text a new session begins with: who the user is, what always holds, and where this project
//! stands. Composed from what is stored at the moment of asking.

mod compose;
mod decided;
mod lines;
mod material;
mod open;
mod remarked;
mod sequels;
mod telling;
mod told;
mod used;
mod waived;
mod wishes;

use std::time::Duration;

use iai_store::Reader;
use jiff::Timestamp;
use serde::Serialize;

use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::UNSAID_HOSTS;
use crate::recall::knobs::Manner;
use compose::{Reading, compose};
pub(crate) use decided::said_otherwise;
pub(crate) use lines::{age, cut, flat, project_name};
use material::Material;
pub(crate) use material::decisions_in;
pub(crate) use open::open_in;

const CHARS_PER_TOKEN: usize = 4;

/// For whom the brief is.
#[derive(Debug, Clone)]
pub struct BriefAsk {
    /// The session that begins; it is not told about itself.
    pub session: String,
    /// The project it works in; without one, no project's content is told.
    pub project: Option<String>,
}

/// Whoever begins a session most likely goes on in one of the projects they were in.
const PROJECTS_WARMED: usize = 6;

/// Of the second that a hook waits for all of it.
const INDEX_PATIENCE: Duration = Duration::from_millis(600);

/// The brief, in the contract's segments and as text.
#[derive(Debug, Default, Serialize)]
pub struct Brief {
    /// Who the user is.
    pub l0: String,
    /// What always holds: pins, wishes, and what was kept on purpose.
    pub l1: String,
    /// Where this project stands: the last session, what was left open, what was decided.
    pub l2: Vec<String>,
    /// What is recalled most.
    pub rich_club: String,
    /// What the text costs, at four characters a token.
    pub total_cached_tokens: u64,
    /// Always 0: the whole text is counted above.
    pub total_dynamic_tokens: u64,
    /// Where an old program cut the text; part of the contract.
    pub breakpoint_marker: String,
    /// Always empty: handles that only the old program could read.
    pub identity_pointer: String,
    /// Always empty.
    pub brain_handle: String,
    /// Always empty.
    pub topic_cluster_hint: String,
    /// Always empty.
    pub compact_handle: String,
    /// How much was asked for.
    pub wake_depth: String,
    /// The text, at most 10,000 characters; empty when there is nothing to tell.
    pub markdown: String,
}

impl MemoryEngine {
    /// Composes the brief from what is stored now.
    pub fn brief(&self, ask: &BriefAsk, now: Timestamp) -> Result<Brief> {
        let manner = Manner::of(&self.stored_profile()?);
        let material = self.gathered(ask, &manner, now)?;
        let now = now.to_zoned(self.zone.clone());
        let reading = Reading { project: ask.project.as_deref(), manner: &manner, now };
        Ok(compose(&material, &reading))
    }

    /// Composes the briefs of the projects spoken in last and drops them: what the next session is
    /// told is then read and decrypted before it asks.
    pub fn warm_briefs(&self, now: Timestamp) -> Result<()> {
        for seen in
            self.read(|reader| Ok(reader.recent_projects(UNSAID_HOSTS, PROJECTS_WARMED)?))?
        {
            let ask = BriefAsk { session: String::new(), project: Some(seen.project) };
            self.let_askers_by();
            self.brief(&ask, now)?;
        }
        Ok(())
    }

    /// Says in one sentence where the last session of a project stopped.
    pub(crate) fn resume_of(
        &self,
        ask: &BriefAsk,
        manner: &Manner,
        now: Timestamp,
    ) -> Result<Option<String>> {
        let material = self.gathered(ask, manner, now)?;
        Ok(compose::resume_of(&material, manner, &now.to_zoned(self.zone.clone())))
    }

    fn gathered(&self, ask: &BriefAsk, manner: &Manner, now: Timestamp) -> Result<Material> {
        // What was said since is found by it: without, the outdated would be told.
        if ask.project.is_some() {
            self.load_index_within(INDEX_PATIENCE);
        }
        self.read(|reader| {
            in_one_view(reader, || material::gather(self, reader, ask, manner.depth, now))
        })
    }
}

/// Reads much at once: the texts of eight sessions do not fit beside the pages that lead to them.
fn in_one_view<T>(reader: &Reader, read: impl FnOnce() -> Result<T>) -> Result<T> {
    reader.widen_cache()?;
    reader.at_one_moment(read)
}
