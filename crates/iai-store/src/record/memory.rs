//! A memory: the exact words of one turn, and what is known about them.

use jiff::Timestamp;
use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::named::named;
use super::{MemoryId, Position, TurnIdentity};

named! {
    /// Who spoke.
    pub enum Role("role") {
        /// The person.
        User = "user",
        /// The assistant.
        Assistant = "assistant",
        /// The host, or this program.
        System = "system",
    }
}

named! {
    /// What kind of memory it is.
    pub enum Tier("tier") {
        /// Held for the task at hand.
        Working = "working",
        /// What was said, when and where.
        Episodic = "episodic",
        /// What is known, apart from where it was said.
        Semantic = "semantic",
        /// How something is done.
        Procedural = "procedural",
        /// What the assistant is like with this person.
        Parametric = "parametric",
    }
}

/// A memory is as strong as can be when it is new.
pub(crate) const STRENGTH_NEW: f64 = 1.0;

/// A memory as it is handed to the store.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMemory {
    /// The assistant program it came from.
    pub host: String,
    /// The host's name of the conversation.
    pub session: String,
    /// The host's own id of the turn.
    pub turn_uuid: Option<String>,
    /// The turn's index in the transcript.
    pub turn_index: Option<u64>,
    /// Who spoke.
    pub role: Role,
    /// What kind of memory it is.
    pub tier: Tier,
    /// The project it belongs to.
    pub project: Option<String>,
    /// The folder the host worked in.
    pub cwd: Option<String>,
    /// When it was said; kept to the millisecond.
    pub turn_at: Timestamp,
    /// When a hook or a tool took it down; kept to the millisecond.
    pub captured_at: Timestamp,
    /// The verbatim words.
    pub text: String,
    /// The language, as a short code.
    pub language: Option<String>,
    /// Free labels.
    pub tags: Vec<String>,
    /// Where it comes from, as a JSON object.
    pub provenance: Value,
    /// An extra lexical key: searched, never part of the text.
    pub cue: Option<String>,
    /// Whether it is kept in sight for good.
    pub pinned: bool,
}

impl NewMemory {
    /// Returns what makes this memory differ from every other.
    pub fn identity(&self) -> TurnIdentity<'_> {
        TurnIdentity {
            host: &self.host,
            session: &self.session,
            position: position(self.turn_uuid.as_deref(), self.turn_index),
            tier: self.tier,
            role: self.role,
            text: &self.text,
        }
    }

    /// Returns the id this memory has, or will have.
    pub fn id(&self) -> MemoryId {
        MemoryId::derive(&self.identity())
    }

    /// Returns the memory this becomes when it is stored at a time.
    pub fn stored_at(&self, now: Timestamp) -> Memory {
        let new = self.clone();
        Memory {
            id: self.id(),
            content_hash: content_hash(&new.text),
            host: new.host,
            session: new.session,
            turn_uuid: new.turn_uuid,
            turn_index: new.turn_index,
            role: new.role,
            tier: new.tier,
            project: new.project,
            cwd: new.cwd,
            turn_at: new.turn_at,
            captured_at: new.captured_at,
            stored_at: now,
            text: new.text,
            language: new.language,
            tags: new.tags,
            provenance: new.provenance,
            cue: new.cue,
            pinned: new.pinned,
            strength: STRENGTH_NEW,
            community: None,
            valid_from: new.turn_at,
            valid_to: None,
        }
    }
}

/// A stored memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// Its name, derived from its identity.
    pub id: MemoryId,
    /// The assistant program it came from.
    pub host: String,
    /// The host's name of the conversation.
    pub session: String,
    /// The host's own id of the turn.
    pub turn_uuid: Option<String>,
    /// The turn's index in the transcript.
    pub turn_index: Option<u64>,
    /// Who spoke.
    pub role: Role,
    /// What kind of memory it is.
    pub tier: Tier,
    /// The project it belongs to.
    pub project: Option<String>,
    /// The folder the host worked in.
    pub cwd: Option<String>,
    /// When it was said.
    pub turn_at: Timestamp,
    /// When a hook or a tool took it down.
    pub captured_at: Timestamp,
    /// When it entered the store.
    pub stored_at: Timestamp,
    /// The verbatim words.
    pub text: String,
    /// The language, as a short code.
    pub language: Option<String>,
    /// Free labels.
    pub tags: Vec<String>,
    /// Where it comes from, as a JSON object.
    pub provenance: Value,
    /// An extra lexical key.
    pub cue: Option<String>,
    /// Whether it is kept in sight for good.
    pub pinned: bool,
    /// SHA-256 of the text.
    pub content_hash: [u8; 32],
    /// How well it is remembered, from 0 to 1.
    pub strength: f64,
    /// The community it was last found in.
    pub community: Option<u64>,
    /// When it began to hold: the time it was said.
    pub valid_from: Timestamp,
    /// When another memory took its place.
    pub valid_to: Option<Timestamp>,
}

impl Memory {
    /// Returns what makes this memory differ from every other.
    pub fn identity(&self) -> TurnIdentity<'_> {
        TurnIdentity {
            host: &self.host,
            session: &self.session,
            position: position(self.turn_uuid.as_deref(), self.turn_index),
            tier: self.tier,
            role: self.role,
            text: &self.text,
        }
    }
}

/// Whether an inserted memory was there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inserted {
    /// It was stored now.
    New(MemoryId),
    /// It was stored before, and nothing changed.
    Known(MemoryId),
    /// It was forgotten on purpose, and stays so.
    Forgotten(MemoryId),
}

impl Inserted {
    /// Returns the id, stored or not.
    pub fn id(self) -> MemoryId {
        match self {
            Self::New(id) | Self::Known(id) | Self::Forgotten(id) => id,
        }
    }
}

/// Which memories are meant; an empty filter means all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Any of these tiers; empty means all.
    pub tiers: Vec<Tier>,
    /// Any of these roles; empty means all.
    pub roles: Vec<Role>,
    /// Exactly this project.
    pub project: Option<String>,
    /// Exactly this session.
    pub session: Option<String>,
    /// Exactly this language.
    pub language: Option<String>,
    /// From any program but this one.
    pub except_host: Option<String>,
}

pub(crate) fn content_hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

fn position(turn_uuid: Option<&str>, turn_index: Option<u64>) -> Position<'_> {
    match (turn_uuid, turn_index) {
        (Some(uuid), _) => Position::Uuid(uuid),
        (None, Some(index)) => Position::Index(index),
        (None, None) => Position::Unknown,
    }
}

/// A time as the database holds it: milliseconds since 1970, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Millis(pub(crate) Timestamp);

impl ToSql for Millis {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.as_millisecond().into())
    }
}

impl FromSql for Millis {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Timestamp::from_millisecond(value.as_i64()?).map(Self).map_err(FromSqlError::other)
    }
}

/// JSON as the database holds it: text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: serde::Serialize> ToSql for Json<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        serde_json::to_string(&self.0)
            .map(ToSqlOutput::from)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    }
}

impl<T: serde::de::DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map(Self).map_err(FromSqlError::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back_and_others_are_refused() {
        for tier in Tier::ALL {
            assert_eq!(tier.as_str().parse::<Tier>().unwrap(), *tier);
        }
        for role in Role::ALL {
            assert_eq!(
                serde_json::from_value::<Role>(serde_json::to_value(role).unwrap()).unwrap(),
                *role
            );
        }
        let error = "dream".parse::<Tier>().unwrap_err().to_string();
        assert!(error.contains("`dream` is none of working, episodic"), "{error}");
    }

    #[test]
    fn the_hosts_own_turn_id_goes_before_the_index() {
        for (uuid, index, expect) in [
            (Some("u"), Some(1), Position::Uuid("u")),
            (None, Some(1), Position::Index(1)),
            (None, None, Position::Unknown),
        ] {
            assert_eq!(position(uuid, index), expect);
        }
    }
}
