//! Sessions by time, a page at a time, and one of them as a conversation.

use std::collections::BTreeMap;

use iai_store::{Catalogue, MemoryNumber, Reader, Role, Tier};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::first_words;
use crate::engine::MemoryEngine;
use crate::episodes::topics_of;
use crate::error::{MemoryError, Result};
use crate::projects::places_of;
use crate::shelf::{MemoryView, views};

/// Sessions of one answer at most.
const SESSIONS_MAX: usize = 100;
/// Turns of one answer at most.
const TURNS_MAX: usize = 200;
/// Days told at once: a year, and the rest of its first week.
const DAYS_MAX: usize = 371;
/// Projects told at once, those with most sessions.
const PROJECTS_MAX: usize = 200;
/// Memories looked at from either end of a session, for the first and the last that were spoken.
const END_MEMORIES_MAX: usize = 16;
const DAY_MS: i64 = 86_400_000;
const MINUTE_MS: i64 = 60_000;

/// Which sessions.
#[derive(Debug, Clone, Default)]
pub struct SessionsAsk {
    /// Only of this project.
    pub project: Option<String>,
    /// Only those that come after this place in the list.
    pub after: Option<SessionCursor>,
    /// At most this many, 1 to 100.
    pub limit: usize,
    /// How far the asker's days begin before those of UTC, in minutes.
    pub utc_offset_minutes: i64,
}

/// A place in the list of sessions: behind this one, or behind all that ended at this time.
#[derive(Debug, Clone, Serialize)]
pub struct SessionCursor {
    /// When the session ended.
    pub ended: String,
    /// The session; `None` means the beginning of that time.
    pub session_id: Option<String>,
}

/// Sessions, the one that ended last first.
#[derive(Debug, Serialize)]
pub struct SessionsAnswer {
    /// The sessions.
    pub sessions: Vec<SessionLine>,
    /// Where the next page begins, if there is one.
    pub next: Option<SessionCursor>,
    /// How many sessions there are in all; up to a time, where one was asked for.
    pub total: usize,
    /// Projects by how many sessions they have; only on the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub projects: Option<Vec<ProjectLine>>,
    /// Days on which sessions ended, the last first; only on the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<Vec<DayLine>>,
}

/// One session of the list.
#[derive(Debug, Serialize)]
pub struct SessionLine {
    /// The host's name of the session.
    pub session_id: String,
    /// The assistant program.
    pub host: String,
    /// The project it was about.
    pub project: Option<String>,
    /// When its first turn was said.
    pub began: String,
    /// When its last turn was said.
    pub ended: String,
    /// How many memories it has.
    pub n_memories: usize,
    /// How the user began.
    pub opening: Option<String>,
    /// What it was about, where topics were found.
    pub topics: Vec<String>,
}

/// One project of the list.
#[derive(Debug, Serialize)]
pub struct ProjectLine {
    /// Its name.
    pub project: String,
    /// How many sessions it has; none where something was only taught.
    pub n_sessions: usize,
}

/// One day on which sessions ended.
#[derive(Debug, Serialize)]
pub struct DayLine {
    /// The asker's day.
    pub day: String,
    /// How many sessions ended on it.
    pub n_sessions: usize,
    /// How many memories those have.
    pub n_memories: usize,
}

/// Which part of which conversation.
#[derive(Debug, Clone)]
pub struct ConversationAsk {
    /// The host's name of the session.
    pub session: String,
    /// The host, where several used that name.
    pub host: Option<String>,
    /// Where to begin.
    pub part: ConversationPart,
    /// At most this many, 1 to 200.
    pub limit: usize,
}

/// Where a part of a conversation begins.
#[derive(Debug, Clone)]
pub enum ConversationPart {
    /// After so many turns.
    Skip(usize),
    /// A few turns before this memory.
    Around(String),
}

/// A part of a session, in the order it was said.
#[derive(Debug, Serialize)]
pub struct Conversation {
    /// The host's name of the session.
    pub session_id: String,
    /// The assistant program.
    pub host: String,
    /// The project of its first turn.
    pub project: Option<String>,
    /// How many memories the session has.
    pub n_memories: usize,
    /// How many stand before the first one shown.
    pub skip: usize,
    /// The turns.
    pub turns: Vec<MemoryView>,
}

/// A session by its two ends, as the catalogue sees it.
#[derive(Clone, Copy)]
struct Ends {
    session: u32,
    first: MemoryNumber,
    began_ms: i64,
    ended_ms: i64,
    n_memories: usize,
}

impl MemoryEngine {
    /// Returns a page of the sessions, the one that ended last first.
    pub fn picture_sessions(&self, ask: &SessionsAsk) -> Result<SessionsAnswer> {
        self.load_index()?;
        self.read(|reader| {
            let places = match &ask.project {
                Some(name) => {
                    let places = places_of(reader, name)?;
                    Some(places.into_iter().map(|(place, _)| place).collect::<Vec<u32>>())
                }
                None => None,
            };
            let all = self.with_index(|index| spoken_sessions(index.catalogue()))?;
            let (projects, days) = match &ask.after {
                None => {
                    let projects = self.with_index(|index| by_project(index.catalogue(), &all))?;
                    (Some(projects), Some(by_day(&all, ask.utc_offset_minutes)))
                }
                Some(_) => (None, None),
            };
            let mut chosen = self.with_index(|index| of_places(index.catalogue(), all, places))?;
            chosen.sort_unstable_by_key(|ends| std::cmp::Reverse((ends.ended_ms, ends.session)));
            let total = if let Some(cursor) = &ask.after {
                let bound = bound_of(reader, cursor, &chosen)?;
                let total = chosen.len();
                chosen.retain(|ends| (ends.ended_ms, ends.session) < bound);
                // A page goes on within the same list; a day begins another.
                if cursor.session_id.is_some() { total } else { chosen.len() }
            } else {
                chosen.len()
            };
            let limit = ask.limit.clamp(1, SESSIONS_MAX);
            let has_more = limit < chosen.len();
            chosen.truncate(limit);
            let sessions = chosen.iter().map(|ends| self.session_line(reader, ends));
            let sessions = sessions.collect::<Result<Vec<SessionLine>>>()?;
            let next = sessions.last().filter(|_| has_more).map(|last| SessionCursor {
                ended: last.ended.clone(),
                session_id: Some(last.session_id.clone()),
            });
            Ok(SessionsAnswer { sessions, next, total, projects, days })
        })
    }

    fn session_line(&self, reader: &Reader, ends: &Ends) -> Result<SessionLine> {
        let (host, session_id) = reader.session_named(ends.session)?;
        let (opening, project) = self.with_index(|index| {
            let catalogue = index.catalogue();
            let is_users = |number: &MemoryNumber| {
                catalogue.entry(*number).is_some_and(|entry| entry.role == Role::User)
            };
            let mut early = catalogue.members(ends.session).take(END_MEMORIES_MAX);
            (early.find(is_users), catalogue.project_name(ends.first).map(str::to_owned))
        })?;
        let words = match opening {
            Some(number) => reader.numbered(&[number])?.pop(),
            None => None,
        };
        let topics = topics_of(reader, project.as_deref(), [opening, None])?;
        Ok(SessionLine {
            session_id,
            host,
            project,
            began: time(ends.began_ms),
            ended: time(ends.ended_ms),
            n_memories: ends.n_memories,
            opening: words.map(|(_, memory)| first_words(&memory.text)),
            topics,
        })
    }

    /// Returns a part of a session, in the order it was said.
    pub fn conversation(&self, ask: &ConversationAsk) -> Result<Conversation> {
        self.load_index()?;
        let limit = ask.limit.clamp(1, TURNS_MAX);
        let around = match &ask.part {
            ConversationPart::Around(id) => Some(self.find(id)?),
            ConversationPart::Skip(_) => None,
        };
        self.read(|reader| {
            let (session, host) = named(reader, ask)?;
            let around = around.map(|id| self.numbered(reader, id)).transpose()?;
            let (skip, n_memories, numbers) = self.with_index(|index| {
                let members = || index.catalogue().members(session);
                let place = |wanted| members().position(|number| number == wanted).unwrap_or(0);
                let skip = match (&ask.part, around) {
                    (ConversationPart::Skip(n), _) => *n,
                    (_, Some(number)) => place(number).saturating_sub(limit / 4),
                    (ConversationPart::Around(_), None) => 0,
                };
                let part: Vec<MemoryNumber> = members().skip(skip).take(limit).collect();
                (skip, members().len(), part)
            })?;
            let memories = reader.numbered(&numbers)?;
            let turns = views(memories.into_iter().map(|(_, memory)| memory).collect());
            let project = turns.first().and_then(|turn| turn.project.clone());
            let session_id = ask.session.clone();
            Ok(Conversation { session_id, host, project, n_memories, skip, turns })
        })
    }
}

/// Finds the session that is meant; of several with one name the last.
fn named(reader: &Reader, ask: &ConversationAsk) -> Result<(u32, String)> {
    let mut found = None;
    for number in reader.session_numbers(&ask.session)? {
        let (host, _) = reader.session_named(number)?;
        if ask.host.as_ref().is_none_or(|wanted| *wanted == host) {
            found = Some((number, host));
        }
    }
    let why = || format!("names no session that is stored: `{}`", ask.session);
    found.ok_or_else(|| MemoryError::bad("session", why()))
}

impl MemoryEngine {
    /// Counts the sessions that the timeline shows, and tells when the last of them ended.
    pub(crate) fn sessions_and_latest(&self) -> Result<(u64, Option<String>)> {
        self.load_index()?;
        let all = self.with_index(|index| spoken_sessions(index.catalogue()))?;
        let latest = all.iter().map(|ends| ends.ended_ms).max();
        Ok((all.len() as u64, latest.map(time)))
    }
}

/// Looks at the two ends of each session; what consolidation adds is nobody's turn.
fn spoken_sessions(catalogue: &Catalogue) -> Vec<Ends> {
    let spoken_at = |number: MemoryNumber| {
        let entry = catalogue.entry(number).filter(|entry| entry.tier == Tier::Episodic)?;
        Some((number, entry.turn_at_ms))
    };
    let ends = catalogue.sessions().filter_map(|session| {
        let members = catalogue.members(session);
        let n_memories = members.len();
        let (first, began_ms) = members.take(END_MEMORIES_MAX).find_map(spoken_at)?;
        let last = catalogue.members(session).rev().take(END_MEMORIES_MAX).find_map(spoken_at);
        let ended_ms = last.map_or(began_ms, |(_, at_ms)| at_ms);
        Some(Ends { session, first, began_ms, ended_ms, n_memories })
    });
    ends.collect()
}

fn of_places(catalogue: &Catalogue, all: Vec<Ends>, places: Option<Vec<u32>>) -> Vec<Ends> {
    let Some(places) = places else { return all };
    let is_there = |ends: &Ends| {
        let place = catalogue.entry(ends.first).and_then(|entry| entry.place);
        place.is_some_and(|place| places.contains(&place))
    };
    all.into_iter().filter(is_there).collect()
}

fn by_project(catalogue: &Catalogue, all: &[Ends]) -> Vec<ProjectLine> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for project in all.iter().filter_map(|ends| catalogue.project_name(ends.first)) {
        *counts.entry(project).or_default() += 1;
    }
    // What was taught may stand in a project in which nobody spoke yet.
    for session in catalogue.sessions() {
        let first = catalogue.members(session).next();
        if let Some(project) = first.and_then(|first| catalogue.project_name(first)) {
            counts.entry(project).or_default();
        }
    }
    let line = |(project, n): (&str, usize)| {
        let project = project.to_owned();
        ProjectLine { project, n_sessions: n }
    };
    let mut lines: Vec<ProjectLine> = counts.into_iter().map(line).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.n_sessions));
    lines.truncate(PROJECTS_MAX);
    lines
}

fn by_day(all: &[Ends], utc_offset_minutes: i64) -> Vec<DayLine> {
    let offset_ms = utc_offset_minutes.saturating_mul(MINUTE_MS);
    let mut counts: BTreeMap<i64, (usize, usize)> = BTreeMap::new();
    for ends in all {
        let day = ends.ended_ms.saturating_add(offset_ms).div_euclid(DAY_MS);
        let (n_sessions, n_memories) = counts.entry(day).or_default();
        *n_sessions += 1;
        *n_memories += ends.n_memories;
    }
    let days = counts.into_iter().rev().take(DAYS_MAX);
    let line = |(day, (n_sessions, n_memories)): (i64, (usize, usize))| {
        let at = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24 * day);
        DayLine { day: at.strftime("%F").to_string(), n_sessions, n_memories }
    };
    days.map(line).collect()
}

/// Returns what the sessions of the next page are smaller than.
fn bound_of(reader: &Reader, cursor: &SessionCursor, all: &[Ends]) -> Result<(i64, u32)> {
    let ended: Timestamp = (cursor.ended.parse())
        .map_err(|_| MemoryError::bad("after", "must be a cursor of an earlier answer"))?;
    let ended_ms = ended.as_millisecond();
    let Some(name) = &cursor.session_id else { return Ok((ended_ms, 0)) };
    let named = reader.session_numbers(name)?;
    let is_it = |ends: &&Ends| ends.ended_ms == ended_ms && named.contains(&ends.session);
    let last = all.iter().filter(is_it).map(|ends| ends.session).min();
    Ok((ended_ms, last.unwrap_or(0)))
}

fn time(ms: i64) -> String {
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH).to_string()
}
