//! "Before the release", "after the migration": something that happened stands for a time, when it
//! is clear which memory speaks of it.

use iai_store::{LexicalQuery, MemoryNumber, Role, Scope};
use jiff::{SignedDuration, Timestamp};

use super::when::{Anchor, Asked, Days, anchor_in};
use crate::engine::MemoryEngine;
use crate::error::Result;

/// Memories that may speak of it; where there are as many, it is not one thing.
const MATCHES_MAX: usize = 32;
/// How much of what the words tell must be in a memory that speaks of it.
const COVERAGE_MIN: f32 = 0.99;
/// Those who speak of one thing do so within this time.
const SPREAD_MAX: SignedDuration = SignedDuration::from_hours(24 * 14);
/// A memory that speaks of it and has this much of the rest of the cue is the answer: in "five
/// attempts before the dead letter queue", nothing happened.
const ANSWERING_COVERAGE: f32 = 0.5;

impl MemoryEngine {
    /// Returns the days before or after what a cue names, when that is clear, and when it is a
    /// time: not where what speaks of it answers the cue by itself.
    pub(super) fn days_of_cue(
        &self,
        cue: &str,
        project: Option<&str>,
        asked_at: Timestamp,
    ) -> Result<Option<Days>> {
        let Some(anchor) = anchor_in(cue) else { return Ok(None) };
        let speaking = self.speaking_of(&anchor, project, asked_at)?;
        let is_answer = |speaking: &Speaking| ANSWERING_COVERAGE <= speaking.of_the_rest;
        if speaking.iter().any(is_answer) {
            return Ok(None);
        }
        Ok(days_beside(&anchor, &speaking, self.asked(asked_at)))
    }

    /// Returns the days before or after what the text names, when that is clear.
    pub(super) fn days_beside_what_happened(
        &self,
        text: &str,
        project: Option<&str>,
        asked_at: Timestamp,
    ) -> Result<Option<Days>> {
        let Some(anchor) = anchor_in(text) else { return Ok(None) };
        let speaking = self.speaking_of(&anchor, project, asked_at)?;
        Ok(days_beside(&anchor, &speaking, self.asked(asked_at)))
    }

    /// Returns the days a text means that is nothing but a time.
    pub(super) fn days_meant(
        &self,
        text: &str,
        project: Option<&str>,
        asked_at: Timestamp,
    ) -> Result<Option<Days>> {
        match Days::meant_by(text, self.asked(asked_at)) {
            Some(days) => Ok(Some(days)),
            None => self.days_beside_what_happened(text, project, asked_at),
        }
    }

    /// Returns the memories that speak of what happened, the best match first; all that were
    /// looked at when it is not one thing.
    fn speaking_of(
        &self,
        anchor: &Anchor,
        project: Option<&str>,
        asked_at: Timestamp,
    ) -> Result<Vec<Speaking>> {
        let scope = Scope {
            project: project.map(str::to_owned),
            // Documents and summaries speak of it at any time.
            roles: vec![Role::User, Role::Assistant],
            said_ms: Some((0, asked_at.as_millisecond())),
            ..Scope::default()
        };
        self.with_index(|index| {
            let question = index.ask(&words(&anchor.event));
            let hits = question.search(&scope, MATCHES_MAX);
            let numbers: Vec<MemoryNumber> = hits.iter().map(|hit| hit.number).collect();
            let coverage = numbers.iter().zip(question.coverage(&numbers));
            let speaking: Vec<MemoryNumber> = coverage
                .filter(|(_, all)| COVERAGE_MIN <= *all)
                .map(|(number, _)| *number)
                .collect();
            let of_the_rest = index.ask(&words(&anchor.rest)).coverage(&speaking);
            let told = speaking.iter().zip(of_the_rest).filter_map(|(number, of_the_rest)| {
                let at_ms = index.catalogue().entry(*number)?.turn_at_ms;
                Some(Speaking { at_ms, of_the_rest })
            });
            told.collect()
        })
    }
}

/// A memory that speaks of what happened.
struct Speaking {
    at_ms: i64,
    /// How much of what the other words of the cue tell is in it, too, from 0 to 1.
    of_the_rest: f32,
}

fn days_beside(anchor: &Anchor, speaking: &[Speaking], asked: Asked) -> Option<Days> {
    let times = speaking.iter().map(|speaking| speaking.at_ms);
    let (first, last) = (times.clone().min()?, times.max()?);
    let spread = SignedDuration::from_millis(last.saturating_sub(first));
    if speaking.len() == MATCHES_MAX || SPREAD_MAX < spread {
        return None;
    }
    let best = Timestamp::from_millisecond(speaking.first()?.at_ms).ok()?;
    Days::beside(best, anchor.side, asked)
}

fn words(words: &[String]) -> LexicalQuery {
    LexicalQuery { words: words.to_vec(), phrases: Vec::new() }
}
