//! Ids: derived from what they name, so that the same turn delivered twice is the same memory.

use std::fmt;
use std::str::FromStr;

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{Role, Tier};
use crate::error::StoreError;

/// The name of a memory, written as a hyphenated lower-case UUID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryId([u8; 16]);

/// The name of an event, written as a hyphenated lower-case UUID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId([u8; 16]);

/// What makes one memory differ from every other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnIdentity<'a> {
    /// The assistant program.
    pub host: &'a str,
    /// Its name for the conversation.
    pub session: &'a str,
    /// Where in the conversation.
    pub position: Position<'a>,
    /// The tier it was told to.
    pub tier: Tier,
    /// Who spoke.
    pub role: Role,
    /// The verbatim words.
    pub text: &'a str,
}

/// Where a turn stands in its conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position<'a> {
    /// The host's own id of the turn. It is unique by itself: a resumed session that repeats the
    /// turns of an earlier one repeats their ids, and they stay the same memories.
    Uuid(&'a str),
    /// The turn's index in the transcript.
    Index(u64),
    /// The host said nothing: equal words in one session are one memory.
    Unknown,
}

impl MemoryId {
    /// Derives the id of a turn: `uuid8(sha256(domain, field…))`, every field preceded by its
    /// length, so that no two lists of fields give the same bytes.
    pub fn derive(turn: &TurnIdentity<'_>) -> Self {
        let (session, kind, place): (&str, &[u8], Vec<u8>) = match turn.position {
            Position::Uuid(uuid) => ("", b"uuid", uuid.as_bytes().to_vec()),
            Position::Index(index) => (turn.session, b"index", index.to_le_bytes().to_vec()),
            Position::Unknown => (turn.session, b"unknown", Vec::new()),
        };
        Self(uuid8(
            b"iai-mcp memory id 1",
            &[
                turn.host.as_bytes(),
                session.as_bytes(),
                kind,
                &place,
                turn.tier.as_str().as_bytes(),
                turn.role.as_str().as_bytes(),
                turn.text.as_bytes(),
            ],
        ))
    }

    /// Returns the sixteen bytes of the id.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Returns the id with these sixteen bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

impl EventId {
    /// Derives the id of the event with this number in the ledger.
    pub(crate) fn derive(number: i64, kind: &str, at_ms: i64) -> Self {
        Self(uuid8(
            b"iai-mcp event id 1",
            &[&number.to_le_bytes(), kind.as_bytes(), &at_ms.to_le_bytes()],
        ))
    }
}

/// `uuid8(sha256(domain, (length, field)…))`; a domain must never name two kinds of things.
fn uuid8(domain: &[u8], fields: &[&[u8]]) -> [u8; 16] {
    let mut hash = Sha256::new();
    hash.update(domain);
    for field in fields {
        hash.update(u64::try_from(field.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(field);
    }
    let digest: [u8; 32] = hash.finalize().into();
    let mut head = [0; 16];
    for (to, from) in head.iter_mut().zip(digest) {
        *to = from;
    }
    uuid::Builder::from_custom_bytes(head).into_uuid().into_bytes()
}

macro_rules! written_as_uuid {
    ($name:ident, $what:literal) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(
                    Uuid::from_bytes(self.0).hyphenated().encode_lower(&mut Uuid::encode_buffer()),
                )
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{self}")
            }
        }

        impl FromStr for $name {
            type Err = StoreError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                // Only the written form: braces and URNs would give one id many spellings.
                match Uuid::try_parse(text) {
                    Ok(uuid) if text.len() == 36 => Ok(Self(uuid.into_bytes())),
                    _ => Err(StoreError::refused(
                        $what,
                        "it must look like 3f2a8c1e-0000-8000-8000-000000000000",
                    )),
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
            }
        }

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(self.0.as_slice().into())
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                <[u8; 16]>::column_result(value).map(Self)
            }
        }
    };
}

written_as_uuid!(MemoryId, "memory id");
written_as_uuid!(EventId, "event id");

#[cfg(test)]
mod tests {
    use super::*;

    const TURN: TurnIdentity<'_> = TurnIdentity {
        host: "claude-code",
        session: "s1",
        position: Position::Index(3),
        tier: Tier::Episodic,
        role: Role::User,
        text: "hello",
    };

    #[test]
    fn the_derivation_is_a_released_format() {
        assert_eq!(MemoryId::derive(&TURN).to_string(), "7792b53e-2b95-820d-bb8d-eeeb3d88ff10");
    }

    #[test]
    fn every_field_counts_and_none_leaks_into_the_next() {
        let mut seen = std::collections::BTreeSet::new();
        for turn in [
            TURN,
            TurnIdentity { host: "codex", ..TURN },
            TurnIdentity { host: "claude-codes", session: "1", ..TURN },
            TurnIdentity { session: "s2", ..TURN },
            TurnIdentity { position: Position::Index(4), ..TURN },
            TurnIdentity { position: Position::Uuid("3"), ..TURN },
            TurnIdentity { position: Position::Uuid(""), ..TURN },
            TurnIdentity { position: Position::Unknown, ..TURN },
            TurnIdentity { tier: Tier::Semantic, ..TURN },
            TurnIdentity { role: Role::Assistant, ..TURN },
            TurnIdentity { text: "hello ", ..TURN },
            TurnIdentity { text: "", ..TURN },
        ] {
            assert!(seen.insert(MemoryId::derive(&turn)), "{turn:?}");
            assert_eq!(MemoryId::derive(&turn), MemoryId::derive(&turn));
        }
    }

    #[test]
    fn an_id_reads_back_from_its_one_spelling() {
        let id = MemoryId::derive(&TURN);
        assert_eq!(id.to_string().parse::<MemoryId>().unwrap(), id);
        let json = serde_json::to_string(&id).unwrap();
        assert_eq!(json, format!("\"{id}\""));
        assert_eq!(serde_json::from_str::<MemoryId>(&json).unwrap(), id);
        for bad in ["", "3f2a", "{3f2a8c1e-0000-8000-8000-000000000000}", "zz"] {
            assert!(bad.parse::<MemoryId>().is_err(), "{bad}");
        }
    }
}
