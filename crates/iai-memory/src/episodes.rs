//! The last sessions as episodes: where, when, how long, how each began and how it ended.

use iai_store::{Catalogue, MemoryNumber, Reader, Role, Tier, Topic};
use jiff::Timestamp;
use serde::Serialize;

use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::projects::places_of;

/// Episodes of one answer at most.
const EPISODES_MAX: usize = 50;
/// What is shown of the words an episode began and ended with.
const OPENING_CHARS_MAX: usize = 240;

/// Which episodes.
#[derive(Debug, Clone)]
pub struct EpisodesAsk {
    /// Only of this project.
    pub project: Option<String>,
    /// At most this many, 1 to 50.
    pub limit: usize,
    /// Only those that ended before this time.
    pub before: Option<Timestamp>,
}

/// Episodes, the one that ended last first.
#[derive(Debug, Serialize)]
pub struct EpisodesAnswer {
    /// The episodes.
    pub episodes: Vec<Episode>,
    /// How many.
    pub count: usize,
}

/// One session, told in short.
#[derive(Debug, Serialize)]
pub struct Episode {
    /// The host's name of the session.
    pub session_id: String,
    /// The project it was about.
    pub project: Option<String>,
    /// The assistant program.
    pub host: String,
    /// When its first turn was said.
    pub began: String,
    /// When its last turn was said.
    pub ended: String,
    /// How many turns it has.
    pub n_turns: usize,
    /// The beginning of what the user said first, word for word.
    pub first_user: Option<String>,
    /// The beginning of what the assistant said last, word for word.
    pub last_assistant: Option<String>,
    /// What it was about, where topics were found.
    pub topics: Vec<String>,
}

/// A session as the catalogue sees it.
struct Lived {
    session: u32,
    began_ms: i64,
    ended_ms: i64,
    n_turns: usize,
    first_user: Option<MemoryNumber>,
    last_assistant: Option<MemoryNumber>,
}

impl MemoryEngine {
    /// Returns the sessions that ended last.
    pub fn episodes(&self, ask: &EpisodesAsk) -> Result<EpisodesAnswer> {
        self.load_index()?;
        let before_ms = ask.before.map_or(i64::MAX, Timestamp::as_millisecond);
        let episodes = self.read(|reader| {
            let places: Option<Vec<u32>> = match &ask.project {
                Some(name) => {
                    Some(places_of(reader, name)?.into_iter().map(|(place, _)| place).collect())
                }
                None => None,
            };
            let mut lived =
                self.with_index(|index| lived_sessions(index.catalogue(), places.as_deref()))?;
            lived.retain(|lived| lived.ended_ms < before_ms);
            lived.sort_by_key(|lived| std::cmp::Reverse((lived.ended_ms, lived.session)));
            lived.truncate(ask.limit.clamp(1, EPISODES_MAX));
            lived.iter().map(|lived| told(reader, lived)).collect::<Result<Vec<Episode>>>()
        })?;
        Ok(EpisodesAnswer { count: episodes.len(), episodes })
    }
}

/// Looks at each session once, in memory; what consolidation adds is nobody's turn.
fn lived_sessions(catalogue: &Catalogue, places: Option<&[u32]>) -> Vec<Lived> {
    let is_turn = |number: &MemoryNumber| {
        catalogue.entry(*number).is_some_and(|entry| {
            let is_here = places
                .as_ref()
                .is_none_or(|places| entry.place.is_some_and(|place| places.contains(&place)));
            entry.tier == Tier::Episodic && is_here
        })
    };
    let said_by = |number: &MemoryNumber, role| {
        catalogue.entry(*number).is_some_and(|entry| entry.role == role)
    };
    let at = |number: &MemoryNumber| catalogue.entry(*number).map(|entry| entry.turn_at_ms);
    let lived = catalogue.sessions().filter_map(|session| {
        let turns: Vec<MemoryNumber> = catalogue.members(session).filter(is_turn).collect();
        Some(Lived {
            session,
            began_ms: at(turns.first()?)?,
            ended_ms: at(turns.last()?)?,
            n_turns: turns.len(),
            first_user: turns.iter().find(|turn| said_by(turn, Role::User)).copied(),
            last_assistant: turns.iter().rfind(|turn| said_by(turn, Role::Assistant)).copied(),
        })
    });
    lived.collect()
}

/// What the ends of a session are about, each topic once. One that is mostly another project's has
/// its name from there, and would tell somebody of this project nothing, or something wrong.
pub(crate) fn topics_of(
    reader: &Reader,
    project: Option<&str>,
    ends: [Option<MemoryNumber>; 2],
) -> Result<Vec<String>> {
    let is_elsewhere = |topic: &Topic| match (project, topic.project.as_deref()) {
        (Some(here), Some(there)) => here != there,
        (None, _) | (_, None) => false,
    };
    let mut topics = Vec::new();
    for number in ends.into_iter().flatten() {
        let topic = match reader.topic_of(number)? {
            Some(topic) => reader.topic(topic)?.filter(|topic| !is_elsewhere(topic)),
            None => None,
        };
        let label = topic.map(|topic| topic.label);
        topics.extend(label.filter(|label| !label.is_empty() && !topics.contains(label)));
    }
    Ok(topics)
}

fn told(reader: &Reader, lived: &Lived) -> Result<Episode> {
    let (host, session_id) = reader.session_named(lived.session)?;
    let mut project = None;
    let mut opening = |number: Option<MemoryNumber>| -> Result<Option<String>> {
        let Some(number) = number else { return Ok(None) };
        let memory = reader.numbered(&[number])?.pop().map(|(_, memory)| memory);
        if project.is_none() {
            project = memory.as_ref().and_then(|memory| memory.project.clone());
        }
        Ok(memory.map(|memory| memory.text.chars().take(OPENING_CHARS_MAX).collect()))
    };
    let first_user = opening(lived.first_user)?;
    let last_assistant = opening(lived.last_assistant)?;
    let ends = [lived.first_user, lived.last_assistant];
    let topics = topics_of(reader, project.as_deref(), ends)?;
    let time = |ms| Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH).to_string();
    Ok(Episode {
        session_id,
        project,
        host,
        began: time(lived.began_ms),
        ended: time(lived.ended_ms),
        n_turns: lived.n_turns,
        first_user,
        last_assistant,
        topics,
    })
}
