//! What would be forgotten, told in a few lines: how many, from when to when, which sessions, the
//! first words of some.

use std::collections::BTreeMap;

use iai_store::{ForgetSelection, MemoryId, MemoryNumber, Reader, Selected};
use serde::Serialize;

use crate::error::Result;

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
    /// How many sessions they are of.
    pub n_sessions: usize,
    /// The sessions with most of them.
    pub sessions: Vec<ForgetSession>,
    /// The newest of them.
    pub memories: Vec<ForgetLine>,
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
    let memories = reader.numbered(&shown)?.into_iter().map(|(_, memory)| ForgetLine {
        record_id: memory.id,
        ts: memory.turn_at.to_string(),
        role: memory.role.as_str(),
        session_id: memory.session,
        project: memory.project,
        first_words: first_words(&memory.text),
    });
    Ok(ForgetPreview {
        count: chosen.len(),
        oldest: newest_first.last().map(|one| one.turn_at.to_string()),
        newest: newest_first.first().map(|one| one.turn_at.to_string()),
        n_sessions: by_session.len(),
        sessions: largest(reader, &by_session)?,
        memories: memories.collect(),
        seal: seal_of(selection, &chosen),
    })
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
