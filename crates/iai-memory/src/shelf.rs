//! Shows memories as they lie: one by id, the newest, those that contain a text.
//!
//! A text may be larger than a frame on the socket, so that every view shows a part and says which.

use iai_store::{Catalogue, Filter, Memory, MemoryId, MemoryNumber, Reader};
use serde::Serialize;
use serde_json::Value;

use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};
use crate::organise::OWN_HOST;
use crate::picture::Glimpse;
use crate::projects::project_named;
use crate::recall::Excerpt;
use crate::trust::distrust;

/// Less than this of a session's name is taken for the whole of it.
const SESSION_CHARS_MIN: usize = 4;
/// Sessions that are named to somebody who has to choose.
const SESSIONS_NAMED_MAX: usize = 5;
/// The most memories shown at once.
const SHOWN_MAX: usize = 1000;
/// What one view shows of a text. Escaped to the worst, it still fits a frame.
const PART_CHARS_MAX: usize = 500_000;
/// What a list shows of all its texts together.
const LIST_CHARS_MAX: usize = 400_000;
/// What a list shows of one text.
const LIST_TEXT_CHARS_MAX: usize = 20_000;
/// Memories named that took the place of one; rarely more than one did.
const SUCCESSORS_MAX: usize = 5;
/// Turns shown on each side of a memory, and of each no more than this.
const BESIDE_MAX: usize = 10;
const BESIDE_CHARS_MAX: usize = 2000;

/// Which memories.
#[derive(Debug, Clone, Default)]
pub struct ShelfFilter {
    /// Only this project: its path, or the last part of it.
    pub project: Option<String>,
    /// Only this session.
    pub session: Option<String>,
}

/// A memory with everything that is known about it.
#[derive(Debug, Clone, Serialize)]
pub struct MemoryView {
    /// Its id.
    pub record_id: MemoryId,
    /// The words, byte for byte; a part of them when `excerpt` is there.
    pub literal_surface: String,
    /// Which part of the text is shown, when it is not all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<Excerpt>,
    /// Who said it.
    pub role: &'static str,
    /// What kind it is.
    pub tier: &'static str,
    /// The assistant program it comes from.
    pub host: String,
    /// The session.
    pub session_id: String,
    /// The project.
    pub project: Option<String>,
    /// Where the host was working.
    pub cwd: Option<String>,
    /// When it was said.
    pub ts: String,
    /// When it was captured.
    pub captured_at: String,
    /// Since when it holds.
    pub valid_from: String,
    /// Until when it held.
    pub valid_to: Option<String>,
    /// What else the host said about it.
    pub provenance: Value,
    /// Its tags.
    pub tags: Vec<String>,
    /// Whether the user pinned it.
    pub pinned: bool,
    /// Why its words are not to be followed, where they give orders; judged when one is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<&'static str>,
    /// What took its place, the latest last; looked up when one is shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replaced_by: Vec<Glimpse>,
}

/// What was said around a memory, nearest last before it and nearest first after it.
#[derive(Debug, Serialize)]
pub struct BesideAnswer {
    /// The turns before it, in the order they were said.
    pub before: Vec<MemoryView>,
    /// The turns after it, in the order they were said.
    pub after: Vec<MemoryView>,
}

impl MemoryEngine {
    /// Returns the memory with this id, or the one whose id begins so, from character `start` on.
    pub fn show(&self, id: &str, start: usize) -> Result<MemoryView> {
        let found = self.find(id)?;
        let unknown = || MemoryError::UnknownMemory { id: id.to_owned() };
        let (memory, replaced_by) = self.read(|reader| {
            let memory = reader.memory(found)?.ok_or_else(unknown)?;
            let successors = match reader.number_of(found)? {
                Some(number) => reader.successors(number)?,
                None => Vec::new(),
            };
            let newest = successors.len().saturating_sub(SUCCESSORS_MAX);
            let newest: Vec<_> = successors.iter().skip(newest).map(|next| next.new).collect();
            Ok((memory, Glimpse::read(reader, &newest)?))
        })?;
        let untrusted = distrust(&memory.text);
        Ok(MemoryView { untrusted, replaced_by, ..view(memory, start, PART_CHARS_MAX) })
    }

    /// Returns the turns said right before and after a memory in its session, their beginnings.
    pub fn beside(&self, id: &str, n_each: usize) -> Result<BesideAnswer> {
        let found = self.find(id)?;
        let unknown = || MemoryError::UnknownMemory { id: id.to_owned() };
        let number = self.read(|reader| Ok(reader.number_of(found)?))?.ok_or_else(unknown)?;
        let n_each = n_each.min(BESIDE_MAX);
        let (mut before, after) = self.with_index(|index| {
            let catalogue = index.catalogue();
            let walk = |step: fn(&Catalogue, MemoryNumber) -> Option<MemoryNumber>| {
                let steps =
                    std::iter::successors(step(catalogue, number), |at| step(catalogue, *at));
                steps.take(n_each).collect::<Vec<_>>()
            };
            (walk(Catalogue::previous), walk(Catalogue::next))
        })?;
        before.reverse();
        self.read(|reader| {
            let shown = |numbers: &[MemoryNumber]| -> Result<Vec<MemoryView>> {
                let memories = reader.numbered(numbers)?.into_iter();
                Ok(memories.map(|(_, memory)| view(memory, 0, BESIDE_CHARS_MAX)).collect())
            };
            Ok(BesideAnswer { before: shown(&before)?, after: shown(&after)? })
        })
    }

    /// Returns the id that this is, or the only one that begins so.
    pub(crate) fn find(&self, id: &str) -> Result<MemoryId> {
        if let Ok(whole) = id.parse::<MemoryId>() {
            return Ok(whole);
        }
        match self.read(|reader| Ok(reader.find_prefix(id, 2)?))?.as_slice() {
            [only] => Ok(*only),
            [] => Err(MemoryError::UnknownMemory { id: id.to_owned() }),
            _ => {
                let why = format!("`{id}` fits several memories; give more of it");
                Err(MemoryError::bad("id", why))
            }
        }
    }

    /// Returns the newest memories, newest first. What this program made itself is among them only
    /// when its session is asked for.
    pub fn list(&self, filter: &ShelfFilter, limit: usize) -> Result<Vec<MemoryView>> {
        let limit = limit.min(SHOWN_MAX);
        self.read(|reader| {
            let mut filter = store_filter(reader, filter)?;
            filter.except_host = filter.session.is_none().then(|| OWN_HOST.to_owned());
            Ok(views(reader.newest(&filter, limit)?))
        })
    }

    /// Returns a session's turns as they were said, from the one numbered `skip` on.
    pub fn session_turns(
        &self,
        session: &str,
        skip: usize,
        limit: usize,
    ) -> Result<Vec<MemoryView>> {
        let limit = limit.min(SHOWN_MAX);
        self.read(|reader| Ok(whole_views(reader.session_turns(session, skip, limit)?)))
    }

    /// Returns the name of the session that is meant by it, or by its beginning where only one
    /// begins so.
    pub fn session_called(&self, name: &str) -> Result<String> {
        self.read(|reader| session_called(reader, name))
    }

    /// Returns the newest memories that contain `text`, whatever its case.
    pub fn search(
        &self,
        text: &str,
        filter: &ShelfFilter,
        limit: usize,
    ) -> Result<Vec<MemoryView>> {
        let limit = limit.min(SHOWN_MAX);
        self.read(|reader| {
            let filter = store_filter(reader, filter)?;
            Ok(views(reader.containing(text, &filter, limit)?))
        })
    }
}

fn session_called(reader: &Reader, name: &str) -> Result<String> {
    if name.chars().count() < SESSION_CHARS_MIN || !reader.session_numbers(name)?.is_empty() {
        return Ok(name.to_owned());
    }
    let mut found = reader.sessions_beginning(name, SESSIONS_NAMED_MAX + 1)?;
    if found.len() <= 1 {
        return Ok(found.pop().unwrap_or_else(|| name.to_owned()));
    }
    let more = if SESSIONS_NAMED_MAX < found.len() { ", …" } else { "" };
    found.truncate(SESSIONS_NAMED_MAX);
    let why =
        format!("`{name}` fits several sessions: {}{more}; give more of it", found.join(", "));
    Err(MemoryError::bad("session", why))
}

fn store_filter(reader: &Reader, filter: &ShelfFilter) -> Result<Filter> {
    let project = project_named(reader, filter.project.as_deref())?;
    Ok(Filter { project, session: filter.session.clone(), ..Filter::default() })
}

/// Shows whole texts, as many as fit one answer, at least the first.
fn whole_views(memories: Vec<Memory>) -> Vec<MemoryView> {
    let mut left = LIST_CHARS_MAX;
    let mut shown: Vec<MemoryView> = Vec::new();
    for memory in memories {
        let view = view(memory, 0, PART_CHARS_MAX);
        let n_chars = view.literal_surface.chars().count();
        if left < n_chars && !shown.is_empty() {
            break;
        }
        left = left.saturating_sub(n_chars);
        shown.push(view);
    }
    shown
}

/// Shows as many memories as fit one answer, at least the first.
pub(crate) fn views(memories: Vec<Memory>) -> Vec<MemoryView> {
    let mut left = LIST_CHARS_MAX;
    let mut shown = Vec::new();
    for memory in memories {
        let view = view(memory, 0, LIST_TEXT_CHARS_MAX);
        let n_chars = view.literal_surface.chars().count();
        if left < n_chars {
            break;
        }
        left -= n_chars;
        shown.push(view);
    }
    shown
}

fn view(memory: Memory, start: usize, n_chars_max: usize) -> MemoryView {
    let total = memory.text.chars().count();
    let is_whole = start == 0 && total <= n_chars_max;
    let text = if is_whole {
        memory.text
    } else {
        memory.text.chars().skip(start).take(n_chars_max).collect()
    };
    let end = total.min(start.saturating_add(n_chars_max));
    MemoryView {
        record_id: memory.id,
        literal_surface: text,
        excerpt: (!is_whole).then_some(Excerpt { start, end, total }),
        role: memory.role.as_str(),
        tier: memory.tier.as_str(),
        host: memory.host,
        session_id: memory.session,
        project: memory.project,
        cwd: memory.cwd,
        ts: memory.turn_at.to_string(),
        captured_at: memory.captured_at.to_string(),
        valid_from: memory.valid_from.to_string(),
        valid_to: memory.valid_to.map(|at| at.to_string()),
        provenance: memory.provenance,
        tags: memory.tags,
        pinned: memory.pinned,
        untrusted: None,
        replaced_by: Vec::new(),
    }
}
