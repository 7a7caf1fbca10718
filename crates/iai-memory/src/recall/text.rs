//! Plain search: memories with these very words, newest first.

use iai_store::{Filter, LexicalQuery, Memory, MemoryNumber, Reader, Scope, contains_phrase};
use jiff::Timestamp;
use serde::Serialize;

use super::cue::Cue;
use super::listing::{self, Spending};
use super::{HITS_MAX, Hit, whole_hit};
use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};
use crate::projects::places_of;

/// Memories with all the words that are read for whether they stand together.
const CANDIDATES_MAX: usize = 1000;
/// A text that is no whole word is only found by reading; so many of the newest memories are read.
const READ_MAX: usize = 10_000;
/// What a hit may cost; whoever asks for more of them pays for them.
const BUDGET_TOKENS_PER_HIT: u64 = 200;
const TEXT_CHARS_MAX: usize = 400;

/// What is looked for.
#[derive(Debug, Clone)]
pub struct TextAsk {
    /// The words as they stand, upper and lower case alike.
    pub text: String,
    /// Only memories of this project.
    pub project: Option<String>,
    /// At most this many, 1 to 50.
    pub limit: usize,
}

/// What has it.
#[derive(Debug, Serialize)]
pub struct TextAnswer {
    /// The memories, newest first; long ones in part, around the text.
    pub hits: Vec<Hit>,
    /// How many.
    pub count: usize,
    /// What they cost.
    pub budget_used: u64,
}

impl MemoryEngine {
    /// Returns the newest memories with these words. Whole words come from the index; only when it
    /// knows none, the newest memories are read for a part of a word.
    pub fn find_text(&self, ask: &TextAsk, now: Timestamp) -> Result<TextAnswer> {
        let text: String = ask.text.trim().chars().take(TEXT_CHARS_MAX).collect();
        if text.is_empty() {
            return Err(MemoryError::bad("text", "is empty; give the words to look for"));
        }
        self.load_index()?;
        let limit = ask.limit.clamp(1, HITS_MAX);
        let memories = self.read(|reader| {
            let project = match &ask.project {
                Some(name) => match places_of(reader, name)?.into_iter().next() {
                    Some((_, project)) => Some(project),
                    None => return Ok(Vec::new()),
                },
                None => None,
            };
            let known = self.with_words(reader, &text, project.as_deref(), limit)?;
            if !known.is_empty() {
                return Ok(known);
            }
            let filter = Filter { project, ..Filter::default() };
            Ok(reader.containing_lately(&text, &filter, READ_MAX, limit)?)
        })?;
        let has_it = |memory: Memory| whole_hit(&memory, 1.0, "has the text".to_owned(), now);
        let hits = memories.into_iter().map(has_it).collect();
        let cue = Cue::understand(&text, now);
        let budget = BUDGET_TOKENS_PER_HIT * limit as u64;
        let listed = listing::list(&cue, hits, budget, Spending::Shared);
        Ok(TextAnswer {
            count: listed.hits.len(),
            hits: listed.hits,
            budget_used: listed.budget_used,
        })
    }

    fn with_words(
        &self,
        reader: &Reader,
        text: &str,
        project: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let query = LexicalQuery { words: Vec::new(), phrases: vec![text.to_owned()] };
        let scope = Scope { project: project.map(str::to_owned), ..Scope::default() };
        let mut numbers: Vec<(i64, MemoryNumber)> = self.with_index(|index| {
            let hits = index.search(&query, &scope, CANDIDATES_MAX);
            let at = |number| index.catalogue().entry(number).map_or(0, |entry| entry.turn_at_ms);
            hits.iter().map(|hit| (at(hit.number), hit.number)).collect()
        })?;
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        let sought = text.to_lowercase();
        let mut found = Vec::new();
        for (_, number) in numbers {
            let memory = reader.numbered(&[number])?.pop().map(|(_, memory)| memory);
            found.extend(memory.filter(|memory| {
                contains_phrase(&memory.text, text) || memory.text.to_lowercase().contains(&sought)
            }));
            if found.len() == limit {
                break;
            }
        }
        Ok(found)
    }
}
