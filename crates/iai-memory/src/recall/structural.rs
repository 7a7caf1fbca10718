//! Recall by attributes instead of words: role, tier, project, session, language.

use std::collections::BTreeMap;
use std::str::FromStr as _;

use iai_store::{Filter, MemoryId, Role, Tier};
use jiff::Timestamp;
use serde::Serialize;

use super::{HITS_MAX, Hit, whole_hit};
use crate::engine::MemoryEngine;
use crate::error::Result;

const CHARS_PER_TOKEN: usize = 4;

/// What is asked.
#[derive(Debug, Clone)]
pub struct StructuralAsk {
    /// Attribute → value, for example `TIER` → `semantic`.
    pub structure_query: BTreeMap<String, String>,
    /// What the hits may cost, at four characters a token.
    pub budget_tokens: u64,
    /// At most this many hits.
    pub n_hits_max: usize,
}

/// The answer.
#[derive(Debug, Serialize)]
pub struct StructuralAnswer {
    /// Memories that have every attribute, newest first.
    pub hits: Vec<Hit>,
    /// Always empty.
    pub anti_hits: Vec<Hit>,
    /// Always empty.
    pub activation_trace: Vec<MemoryId>,
    /// What the hits cost.
    pub budget_used: u64,
    /// How many attributes were asked for.
    pub structural_query_size: u64,
}

impl MemoryEngine {
    /// Returns the memories that have every attribute asked for. An attribute nobody knows matches
    /// nothing.
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
        let Some(filter) = filter_of(&ask.structure_query) else { return Ok(answer) };
        let budget = usize::try_from(ask.budget_tokens).unwrap_or(usize::MAX);
        let budget = budget.saturating_mul(CHARS_PER_TOKEN);
        let names: Vec<&str> = ask.structure_query.keys().map(String::as_str).collect();
        let reason = format!("has {}", names.join(", "));
        let mut used = 0;
        for memory in
            self.read(|reader| Ok(reader.newest(&filter, HITS_MAX.min(ask.n_hits_max))?))?
        {
            let hit = whole_hit(&memory, 1.0, reason.clone(), now);
            let cost = serde_json::to_string(&hit).map_or(0, |json| json.chars().count());
            if answer.hits.is_empty() || used + cost <= budget {
                used += cost;
                answer.hits.push(hit);
            }
        }
        answer.budget_used = used.div_ceil(CHARS_PER_TOKEN) as u64;
        Ok(answer)
    }
}

/// Returns `None` when nothing can match: no attribute, an unknown one, or a value that does not
/// exist.
fn filter_of(query: &BTreeMap<String, String>) -> Option<Filter> {
    if query.is_empty() {
        return None;
    }
    let mut filter = Filter::default();
    for (name, value) in query {
        match name.to_uppercase().as_str() {
            "ROLE" | "WHO" | "ACTOR" => {
                filter.roles = vec![Role::from_str(&value.to_lowercase()).ok()?];
            }
            "TIER" => filter.tiers = vec![Tier::from_str(&value.to_lowercase()).ok()?],
            "PROJECT" => filter.project = Some(value.clone()),
            "SESSION_ID" => filter.session = Some(value.clone()),
            "LANG" => filter.language = Some(value.clone()),
            _ => return None,
        }
    }
    Some(filter)
}
