//! Recall by what is known about a memory instead of by what it says: roles and their fillers.
//!
//! Every role is answered by an index of its own and never by reading all memories. Candidates come
//! from the rarest roles, at most as many as the asker allows; each is then tested for every role.
//! A score is the share of what the matched roles tell (their inverse document frequency), so that
//! a partial match ranks lower, and what shares only common roles is not an answer. A name that
//! nobody has as an attribute is looked up in the index of words, which has a bound of its own.

mod evidence;
mod roles;

use std::collections::BTreeMap;

use iai_store::{MemoryId, MemoryNumber};
use jiff::Timestamp;
use serde::Serialize;

use super::cue::Cue;
use super::listing::{self, Spending};
use super::{HITS_MAX, Hit, whole_hit};
use crate::engine::MemoryEngine;
use crate::error::Result;
use evidence::{Candidate, Question};

/// Candidates that are tested when the asker names no number.
const CANDIDATES: usize = 5_000;
/// Candidates that are tested at most.
const CANDIDATES_MAX: usize = 50_000;
/// Roles that are looked at.
const ROLES_MAX: usize = 32;
/// What an outdated memory keeps of its score.
const STALE_FACTOR: f64 = 0.5;

/// What is asked.
#[derive(Debug, Clone)]
pub struct StructuralAsk {
    /// Role → filler, for example `ENTITY` → `Kafka`; roles in any case.
    pub structure_query: BTreeMap<String, String>,
    /// What the hits may cost, at four characters a token.
    pub budget_tokens: u64,
    /// How many memories may be tested, 1 to 50,000; 0 means 5,000.
    pub n_candidates_max: usize,
}

/// The answer.
#[derive(Debug, Serialize)]
pub struct StructuralAnswer {
    /// Memories by how much of what was asked they have, then newest first, summaries last.
    pub hits: Vec<Hit>,
    /// Always empty.
    pub anti_hits: Vec<Hit>,
    /// Always empty.
    pub activation_trace: Vec<MemoryId>,
    /// What the hits cost.
    pub budget_used: u64,
    /// How many roles were asked for.
    pub structural_query_size: u64,
}

impl MemoryEngine {
    /// Returns the memories that have the roles asked for.
    pub fn recall_structural(
        &self,
        ask: &StructuralAsk,
        now: Timestamp,
    ) -> Result<StructuralAnswer> {
        let mut answer = StructuralAnswer {
            hits: Vec::new(),
            anti_hits: Vec::new(),
            activation_trace: Vec::new(),
            budget_used: 0,
            structural_query_size: ask.structure_query.len() as u64,
        };
        if ask.structure_query.is_empty() {
            return Ok(answer);
        }
        self.load_index()?;
        let n_candidates_max = match ask.n_candidates_max {
            0 => CANDIDATES,
            n => n.min(CANDIDATES_MAX),
        };
        let mut wanted = Vec::new();
        for (role, filler) in ask.structure_query.iter().take(ROLES_MAX) {
            wanted.push(self.wanted(role, filler, now)?);
        }
        let hits = self.read(|reader| {
            let question = Question::of(self, reader, wanted)?;
            let mut candidates = question.candidates(n_candidates_max)?;
            put_in_order(&mut candidates);
            let numbers: Vec<MemoryNumber> =
                candidates.iter().take(HITS_MAX).map(|candidate| candidate.number).collect();
            let memories = reader.numbered(&numbers)?.into_iter();
            let hits = memories.zip(&candidates).map(|((_, memory), candidate)| {
                whole_hit(&memory, candidate.score, question.reason(candidate), now)
            });
            Ok(hits.collect())
        })?;
        let words: Vec<&str> = ask.structure_query.values().map(String::as_str).collect();
        let cue = Cue::understand(&words.join(" "), now);
        let listed = listing::list(&cue, hits, ask.budget_tokens, Spending::Whole);
        answer.hits = listed.hits;
        answer.budget_used = listed.budget_used;
        Ok(answer)
    }
}

/// The best first; of equal ones what was said before what this program made of it, then the
/// newest.
fn put_in_order(candidates: &mut [Candidate]) {
    candidates.sort_by(|a, b| {
        let by_score = b.score.total_cmp(&a.score);
        let by_score = by_score.then(a.is_second_hand.cmp(&b.is_second_hand));
        by_score.then(b.turn_at_ms.cmp(&a.turn_at_ms)).then(b.number.cmp(&a.number))
    });
}
