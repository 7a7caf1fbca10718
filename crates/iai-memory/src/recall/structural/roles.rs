//! Understands the roles of a query: today's, and the eighteen of the founding program, each mapped
//! to something that is really known about a memory.

use std::str::FromStr as _;

use iai_store::{AttributeRole, Column, Reader, Role, Tier};
use jiff::Timestamp;

use crate::attributes::asked_for;
use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};
use crate::projects::places_of;

/// Sessions of one host that are looked at, the latest first.
const SESSIONS_MAX: usize = 10_000;

/// One role of a query, understood.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    /// The role as it is told back.
    pub(super) role: &'static str,
    /// The filler as it was asked for.
    pub(super) filler: String,
    pub(super) what: What,
}

/// What a memory must have.
#[derive(Debug, Clone)]
pub(super) enum What {
    /// It is in the columns.
    Column(Column),
    /// It is an attribute of this name; without a role, in any role.
    Attribute(Option<AttributeRole>),
    /// Nothing is known to have it; what says it may be meant.
    Words,
    /// Nobody has it.
    Nothing,
}

impl Wanted {
    /// Tells whether what is asked for is a name: where nobody has it, somebody may say it.
    pub(super) fn may_be_said(&self) -> bool {
        match self.what {
            What::Attribute(role) => role.is_none_or(|role| role == AttributeRole::Entity),
            What::Words => true,
            What::Column(_) | What::Nothing => false,
        }
    }
}

impl MemoryEngine {
    /// Understands one role. A role that is unknown names a thing: `{"service": "billing"}` looks
    /// for what is called so.
    pub(super) fn wanted(&self, role: &str, filler: &str, now: Timestamp) -> Result<Wanted> {
        let upper = role.trim().to_uppercase();
        let lower = filler.trim().to_lowercase();
        let tier = Tier::from_str(&lower).ok().map(Column::Tier);
        let speaker = Role::from_str(speaker(&lower)).ok().map(Column::Role);
        let attribute = |role| What::Attribute(Some(role));
        let (name, what) = match upper.as_str() {
            "WHEN" | "TEMPORAL_POSITION" => ("WHEN", What::Column(self.said(filler, now)?)),
            "TIER" => ("TIER", column(tier)),
            // The founding program kept the tier under these names too.
            "ROLE" | "WHO" | "ACTOR" if tier.is_none() => ("ROLE", column(speaker)),
            "WHERE" | "PROJECT" if tier.is_none() => ("PROJECT", self.in_project(filler)?),
            "ROLE" | "WHO" | "ACTOR" | "WHERE" | "PROJECT" => ("TIER", column(tier)),
            "INTENT" if tier.is_some() => ("TIER", column(tier)),
            "SESSION_ID" | "SESSION" => ("SESSION_ID", self.in_session(filler)?),
            // Nothing is anybody's child: what hangs together is a session.
            "PARENT_ID" if lower == "root" => ("PARENT_ID", What::Column(Column::Any)),
            "PARENT_ID" => ("SESSION_ID", self.in_session(filler)?),
            "SOURCE" | "HOST" => ("SOURCE", self.of_host(&lower)?),
            "TOPIC" | "COMMUNITY_ID" | "INTENT" => ("TOPIC", self.of_topic(filler)?),
            "CERTAINTY" => ("CERTAINTY", column(certainty(&lower))),
            // All memories are text, and nobody measures their mood.
            "MODALITY" => ("MODALITY", column((lower == "text").then_some(Column::Any))),
            "VALENCE" => ("VALENCE", column((lower == "neutral").then_some(Column::Any))),
            "LANG" | "LANGUAGE" => ("LANG", attribute(AttributeRole::Lang)),
            "FILE" | "PATH" => ("FILE", attribute(AttributeRole::File)),
            "COMMAND" => ("COMMAND", attribute(AttributeRole::Command)),
            "TOOL" => ("TOOL", attribute(AttributeRole::Tool)),
            "ENTITY" | "OBJECT" => ("ENTITY", attribute(AttributeRole::Entity)),
            _ => ("ENTITY", What::Attribute(None)),
        };
        let filler = match what {
            // Kept is what a command runs, without what it is given.
            What::Attribute(Some(AttributeRole::Command)) => asked_for(filler),
            _ => filler.trim().to_owned(),
        };
        Ok(Wanted { role: name, filler, what })
    }

    fn said(&self, text: &str, now: Timestamp) -> Result<Column> {
        let Some(days) = self.days_meant(text, None, now)? else {
            let shown: String = text.chars().take(60).collect();
            let why = format!(
                "asks for WHEN `{shown}`; give a date, a range such as 2026-05-01..2026-05-31, or \
                 words such as `last week`"
            );
            return Err(MemoryError::bad("structure_query", why));
        };
        let (first, last) = days.millis();
        Ok(Column::Said(first, last))
    }

    fn in_project(&self, name: &str) -> Result<What> {
        let places = self.read(|reader| places_of(reader, name.trim()))?;
        Ok(if_any(places.into_iter().map(|(place, _)| place).collect(), Column::Places))
    }

    fn in_session(&self, name: &str) -> Result<What> {
        let sessions = self.read(|reader| Ok(reader.session_numbers(name.trim())?))?;
        Ok(if_any(sessions, Column::Sessions))
    }

    fn of_host(&self, host: &str) -> Result<What> {
        let sessions = self.read(|reader| Ok(reader.sessions_of_host(host, SESSIONS_MAX)?))?;
        Ok(if_any(sessions, Column::Sessions))
    }

    fn of_topic(&self, topic: &str) -> Result<What> {
        let communities = self.read(|reader| communities_of(reader, topic))?;
        Ok(match communities.is_empty() {
            true => What::Words,
            false => What::Column(Column::Communities(communities)),
        })
    }
}

/// Topics whose names are compared.
const TOPICS_LOOKED_AT: usize = 2000;

/// The topics that are called so, or have this number.
fn communities_of(reader: &Reader, topic: &str) -> Result<Vec<u64>> {
    let topic = topic.trim().to_lowercase();
    if let Ok(number) = topic.parse() {
        return Ok(vec![number]);
    }
    let known = reader.topics(None, TOPICS_LOOKED_AT)?.into_iter();
    let named = known.filter(|known| known.label.to_lowercase().contains(&topic));
    Ok(named.map(|known| known.number).collect())
}

fn if_any<T>(numbers: Vec<T>, column: impl FnOnce(Vec<T>) -> Column) -> What {
    if numbers.is_empty() { What::Nothing } else { What::Column(column(numbers)) }
}

fn column(column: Option<Column>) -> What {
    column.map_or(What::Nothing, What::Column)
}

/// What people call those who speak.
fn speaker(filler: &str) -> &str {
    match filler {
        "me" | "i" | "human" | "person" => "user",
        "you" | "ai" | "agent" | "model" | "bot" => "assistant",
        other => other,
    }
}

fn certainty(filler: &str) -> Option<Column> {
    match filler {
        "current" | "valid" | "holds" | "certain" | "high" => Some(Column::Holding),
        "superseded" | "outdated" | "stale" | "replaced" | "low" => Some(Column::Replaced),
        _ => None,
    }
}
