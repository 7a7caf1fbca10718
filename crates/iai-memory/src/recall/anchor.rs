//! "Before the release", "after the migration": something that happened stands for a time, when it
//! is clear which memory speaks of it.

use iai_store::{LexicalQuery, Role, Scope};
use jiff::{SignedDuration, Timestamp};

use super::when::{Days, anchor_in};
use crate::engine::MemoryEngine;
use crate::error::Result;

/// Memories that may speak of it; where there are as many, it is not one thing.
const MATCHES_MAX: usize = 32;
/// How much of what the words tell must be in a memory that speaks of it.
const COVERAGE_MIN: f32 = 0.99;
/// Those who speak of one thing do so within this time.
const SPREAD_MAX: SignedDuration = SignedDuration::from_hours(24 * 14);

impl MemoryEngine {
    /// Returns the days before or after what the text names, when that is clear.
    pub(super) fn days_beside_what_happened(
        &self,
        text: &str,
        project: Option<&str>,
        asked_at: Timestamp,
    ) -> Result<Option<Days>> {
        let Some((side, phrase)) = anchor_in(text) else { return Ok(None) };
        let words = phrase.split(' ').map(str::to_owned).collect();
        let query = LexicalQuery { words, phrases: Vec::new() };
        let scope = Scope {
            project: project.map(str::to_owned),
            // Documents and summaries speak of it at any time.
            roles: vec![Role::User, Role::Assistant],
            said_ms: Some((0, asked_at.as_millisecond())),
            ..Scope::default()
        };
        let times = self.with_index(|index| {
            let question = index.ask(&query);
            let hits = question.search(&scope, MATCHES_MAX);
            let numbers: Vec<_> = hits.iter().map(|hit| hit.number).collect();
            let coverage = question.coverage(&numbers);
            let speaking = numbers.iter().zip(coverage).filter(|(_, all)| COVERAGE_MIN <= *all);
            let time = |number| index.catalogue().entry(number).map(|entry| entry.turn_at_ms);
            speaking.filter_map(|(number, _)| time(*number)).collect::<Vec<i64>>()
        })?;
        let (Some(first), Some(last)) = (times.iter().min(), times.iter().max()) else {
            return Ok(None);
        };
        let spread = SignedDuration::from_millis(last.saturating_sub(*first));
        if times.len() == MATCHES_MAX || SPREAD_MAX < spread {
            return Ok(None);
        }
        let best = times.first().and_then(|at| Timestamp::from_millisecond(*at).ok());
        Ok(best.and_then(|at| Days::beside(at, side, asked_at)))
    }

    /// Returns the days a text means that is nothing but a time.
    pub(super) fn days_meant(
        &self,
        text: &str,
        project: Option<&str>,
        asked_at: Timestamp,
    ) -> Result<Option<Days>> {
        match Days::meant_by(text, asked_at) {
            Some(days) => Ok(Some(days)),
            None => self.days_beside_what_happened(text, project, asked_at),
        }
    }
}
