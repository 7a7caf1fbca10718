//! What would be forgotten, told in a few lines: how many, from when to when, which sessions, the
//! first words of some, and of what would hold again.

use std::collections::{BTreeMap, BTreeSet};

use iai_store::{ForgetSelection, Memory, MemoryId, MemoryNumber, Reader, Selected, TAUGHT_HOST};
use serde::Serialize;

use crate::error::Result;
use crate::organise::OWN_HOST;

/// Memories told one by one.
const LINES_MAX: usize = 20;
/// Sessions told one by one.
const SESSIONS_MAX: usize = 20;
/// What is told of a text.
const FIRST_CHARS: usize = 80;

/// What would be forgotten.
#[derive(Debug, Clone, Serialize)]
pub struct ForgetPreview {
    /// How many memories.
    pub count: usize,
    /// When the first of them was said.
    pub oldest: Option<String>,
    /// When the last of them was said.
    pub newest: Option<String>,
    /// How many of them are turns, and of how many sessions.
    pub n_turns: usize,
    /// Sessions that somebody spoke in.
    pub n_sessions: usize,
    /// How many of them are passages of files that were taught …
    pub n_passages: usize,
    /// … and of how many files.
    pub n_files: usize,
    /// How many of them this program made of others.
    pub n_summaries: usize,
    /// The sessions with most of them.
    pub sessions: Vec<ForgetSession>,
    /// The newest of them.
    pub memories: Vec<ForgetLine>,
    /// How many memories hold again, because what replaced them would go.
    pub n_holding_again: usize,
    /// The newest of those.
    pub holds_again: Vec<ForgetLine>,
    /// Tells this selection from any other, for whoever confirms it.
    #[serde(skip)]
    pub seal: String,
}

/// A session with something in it that would go.
#[derive(Debug, Clone, Serialize)]
pub struct ForgetSession {
    /// Its name.
    pub session_id: String,
    /// How many memories of it.
    pub count: usize,
}

/// One memory that would go.
#[derive(Debug, Clone, Serialize)]
pub struct ForgetLine {
    /// Its id.
    pub record_id: MemoryId,
    /// When it was said.
    pub ts: String,
    /// Who said it.
    pub role: &'static str,
    /// Its session.
    pub session_id: String,
    /// Its project.
    pub project: Option<String>,
    /// How it begins.
    pub first_words: String,
}

pub(super) fn of(reader: &Reader, selection: &ForgetSelection) -> Result<ForgetPreview> {
    let chosen = reader.selected(selection)?;
    let mut by_session: BTreeMap<u32, usize> = BTreeMap::new();
    for one in &chosen {
        *by_session.entry(one.session).or_default() += 1;
    }
    let mut newest_first = chosen.clone();
    newest_first.sort_by_key(|one| std::cmp::Reverse((one.turn_at, one.number)));
    let shown: Vec<MemoryNumber> =
        newest_first.iter().take(LINES_MAX).map(|one| one.number).collect();
    let again = holding_again(reader, &chosen)?;
    let again_shown: Vec<MemoryNumber> = again.iter().rev().take(LINES_MAX).copied().collect();
    let kinds = Kinds::of(reader, &by_session)?;
    Ok(ForgetPreview {
        count: chosen.len(),
        n_turns: kinds.n_turns,
        n_sessions: kinds.n_sessions,
        n_passages: kinds.n_passages,
        n_files: kinds.n_files,
        n_summaries: kinds.n_summaries,
        oldest: newest_first.last().map(|one| one.turn_at.to_string()),
        newest: newest_first.first().map(|one| one.turn_at.to_string()),
        sessions: largest(reader, &by_session)?,
        memories: lines(reader, &shown)?,
        n_holding_again: again.len(),
        holds_again: lines(reader, &again_shown)?,
        seal: seal_of(selection, &chosen),
    })
}

fn lines(reader: &Reader, numbers: &[MemoryNumber]) -> Result<Vec<ForgetLine>> {
    let line = |(_, memory): (MemoryNumber, Memory)| ForgetLine {
        record_id: memory.id,
        ts: memory.turn_at.to_string(),
        role: memory.role.as_str(),
        session_id: memory.session,
        project: memory.project,
        first_words: first_words(&memory.text),
    };
    Ok(reader.numbered(numbers)?.into_iter().map(line).collect())
}

/// Returns what would hold again: the store joins a chain of corrections over what goes, so that
/// only what has nothing left after it comes back.
fn holding_again(reader: &Reader, chosen: &[Selected]) -> Result<BTreeSet<MemoryNumber>> {
    let going: BTreeSet<MemoryNumber> = chosen.iter().map(|one| one.number).collect();
    let mut again = BTreeSet::new();
    for number in &going {
        for old in reader.predecessors(*number)?.iter().map(|correction| correction.old) {
            if !going.contains(&old) && !is_still_replaced(reader, old, &going)? {
                again.insert(old);
            }
        }
    }
    Ok(again)
}

/// Tells whether something that stays took the place of a memory, maybe by way of what goes.
fn is_still_replaced(
    reader: &Reader,
    old: MemoryNumber,
    going: &BTreeSet<MemoryNumber>,
) -> Result<bool> {
    let mut seen = BTreeSet::from([old]);
    let mut ahead = vec![old];
    while let Some(number) = ahead.pop() {
        for next in reader.successors(number)?.iter().map(|correction| correction.new) {
            if !seen.insert(next) {
                continue;
            }
            if !going.contains(&next) {
                return Ok(true);
            }
            ahead.push(next);
        }
    }
    Ok(false)
}

/// What would go, counted by where it comes from.
#[derive(Default)]
struct Kinds {
    n_turns: usize,
    n_sessions: usize,
    n_passages: usize,
    n_files: usize,
    n_summaries: usize,
}

impl Kinds {
    fn of(reader: &Reader, by_session: &BTreeMap<u32, usize>) -> Result<Self> {
        let mut kinds = Self::default();
        for (session, count) in by_session {
            match reader.session_named(*session)?.0.as_str() {
                OWN_HOST => kinds.n_summaries += count,
                TAUGHT_HOST => {
                    kinds.n_passages += count;
                    kinds.n_files += 1;
                }
                _ => {
                    kinds.n_turns += count;
                    kinds.n_sessions += 1;
                }
            }
        }
        Ok(kinds)
    }
}

/// Returns what only the same wishes with the same memories give. FNV-1a: it guards against haste,
/// not against a forger, who could as well ask twice.
pub(super) fn seal_of(selection: &ForgetSelection, chosen: &[Selected]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{selection:?}").bytes().for_each(&mut add);
    for one in chosen {
        one.number.get().to_le_bytes().into_iter().for_each(&mut add);
    }
    format!("{hash:016x}")
}

fn largest(reader: &Reader, by_session: &BTreeMap<u32, usize>) -> Result<Vec<ForgetSession>> {
    let mut sessions: Vec<(u32, usize)> = by_session.iter().map(|(s, n)| (*s, *n)).collect();
    sessions.sort_by_key(|(session, count)| (std::cmp::Reverse(*count), *session));
    let mut named = Vec::new();
    for (session, count) in sessions.into_iter().take(SESSIONS_MAX) {
        let session_id = reader.session_name(session)?.unwrap_or_default();
        named.push(ForgetSession { session_id, count });
    }
    Ok(named)
}

fn first_words(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(FIRST_CHARS) {
        None => words,
        Some((end, _)) => format!("{}…", words.get(..end).unwrap_or_default()),
    }
}
