//! Learns from use: memories that one recall brought together, and that somebody then built on,
//! grow a small link by themselves. A recall alone links nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use iai_store::{Memory, MemoryId, NewMemory, Role, Writing};
use jiff::Timestamp;

use super::tokens::tokens_of;
use crate::engine::MemoryEngine;
use crate::error::Result;

/// How far one use moves a link's weight towards 1.
const USED_STEP: f64 = 0.05;
/// The best hits of a recall that are remembered until something is made of them.
const HITS_KEPT: usize = 5;
/// Sessions whose last recall is remembered.
const SESSIONS_MAX: usize = 256;
/// What is said later builds on a memory when it has so many of its telling words …
const WORDS_CITED_MIN: usize = 4;
/// … or so many, and half of them all.
const WORDS_CITED_FEW: usize = 2;
/// A telling word has so many characters, or a digit.
const TELLING_CHARS_MIN: usize = 4;
/// The beginning of an id that people cite.
const ID_CHARS: usize = 8;
/// Turns of one batch that are looked at: a session that is under way sends a few.
const TURNS_MAX: usize = 8;
/// What of a text is looked at.
const CHARS_MAX: usize = 8000;

/// The last recall of each session, in memory only.
#[derive(Default)]
pub(crate) struct TogetherRoom {
    recalled: Mutex<Recalled>,
}

#[derive(Default)]
struct Recalled {
    by_session: BTreeMap<String, (u64, Vec<MemoryId>)>,
    /// Counts recalls, so that the session asked longest ago is forgotten first.
    n_recalls: u64,
}

impl TogetherRoom {
    fn recalled(&self) -> MutexGuard<'_, Recalled> {
        self.recalled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what every session was told last.
    pub(crate) fn forget_all(&self) {
        self.recalled().by_session.clear();
    }
}

impl MemoryEngine {
    /// Remembers what a session was told last.
    pub(crate) fn note_together(&self, session: &str, ids: impl Iterator<Item = MemoryId>) {
        let mut recalled = self.together.recalled();
        recalled.n_recalls += 1;
        let at = recalled.n_recalls;
        recalled.by_session.insert(session.to_owned(), (at, ids.take(HITS_KEPT).collect()));
        if SESSIONS_MAX < recalled.by_session.len() {
            let oldest = recalled.by_session.iter().min_by_key(|(_, (at, _))| *at);
            let oldest = oldest.map(|(session, _)| session.clone());
            oldest.map(|session| recalled.by_session.remove(&session));
        }
    }

    /// Links what a session was told last with what it says now, where the one builds on the other.
    pub(crate) fn note_used(&self, turns: &[NewMemory], now: Timestamp) -> Result<()> {
        let said = turns.iter().filter(|turn| turn.role != Role::System);
        for turn in said.take(TURNS_MAX) {
            let used = self.used_by(turn)?;
            if !used.is_empty() {
                self.write(|writing| link_used(writing, turn, &used, now))?;
            }
        }
        Ok(())
    }

    /// Returns those memories a turn builds on, of what its session was told last.
    pub(crate) fn used_by(&self, turn: &NewMemory) -> Result<Vec<MemoryId>> {
        let last = self.together.recalled().by_session.get(&turn.session).cloned();
        let Some((_, ids)) = last else { return Ok(Vec::new()) };
        let (own, said) = (turn.id(), Said::of(&turn.text));
        self.read(|reader| {
            let memories = reader.memories(&ids)?.into_iter();
            let used = memories.filter(|memory| memory.id != own && said.cites(memory));
            Ok(used.map(|memory| memory.id).collect())
        })
    }
}

/// Links a turn with what it builds on, and that among itself. What is gone is passed over.
pub(crate) fn link_used(
    writing: &Writing<'_>,
    turn: &NewMemory,
    used: &[MemoryId],
    now: Timestamp,
) -> Result<()> {
    let mut linked = Vec::new();
    for id in used.iter().copied().chain([turn.id()]) {
        if writing.read().number_of(id)?.is_some() {
            linked.push(id);
        }
    }
    for (place, one) in linked.iter().enumerate() {
        for other in linked.iter().skip(place + 1) {
            writing.strengthen((*one, *other), &turn.session, USED_STEP, now)?;
        }
    }
    Ok(())
}

/// What somebody said, as far as it can cite.
struct Said {
    lower: String,
    words: BTreeSet<String>,
}

impl Said {
    fn of(text: &str) -> Self {
        let lower: String = text.chars().take(CHARS_MAX).collect::<String>().to_lowercase();
        Self { words: telling_words(&lower), lower }
    }

    fn cites(&self, memory: &Memory) -> bool {
        let id = memory.id.to_string();
        if id.get(..ID_CHARS).is_some_and(|start| self.lower.contains(start)) {
            return true;
        }
        let text: String = memory.text.chars().take(CHARS_MAX).collect();
        let theirs = telling_words(&text);
        let n_shared = theirs.intersection(&self.words).count();
        WORDS_CITED_MIN <= n_shared || WORDS_CITED_FEW <= n_shared && theirs.len() <= n_shared * 2
    }
}

fn telling_words(text: &str) -> BTreeSet<String> {
    let is_telling = |word: &String| {
        TELLING_CHARS_MIN <= word.chars().count() || word.chars().any(|c| c.is_ascii_digit())
    };
    let content = tokens_of(text).into_iter().filter(super::tokens::Token::is_content);
    content.map(|token| token.folded).filter(is_telling).collect()
}
