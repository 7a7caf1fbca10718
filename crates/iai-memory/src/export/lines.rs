//! The lines of an export, version 1. Types of their own: they cross a restart.

use iai_store::{
    ExportChoice, ExportedDeed, ExportedMemory, LinkKind, Memory, MemoryId, Reach, Role,
    StoreError, Tier,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use thiserror::Error;

use crate::error::{MemoryError, Result};

const VERSION: u32 = 1;

/// Why a line cannot be taken.
#[derive(Debug, Error)]
pub(crate) enum LineError {
    #[error("{0}")]
    Unreadable(String),
    /// No line of this file can be taken: each may mean something else than we know.
    #[error("the export has version {version} and this program knows {VERSION}; update it")]
    Newer { version: u32 },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// One line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Line {
    #[serde(rename = "iai-mcp export")]
    Head {
        version: u32,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        project: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        session: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        since: Option<Timestamp>,
    },
    Identity {
        text: String,
        updated_at: Timestamp,
    },
    Profile {
        knob: String,
        value: Value,
        updated_at: Timestamp,
    },
    #[serde(skip)]
    Memory(Box<MemoryLine>),
    Link {
        src: MemoryId,
        dst: MemoryId,
        link: LinkKind,
        weight: String,
        created_at: Timestamp,
        touched_at: Timestamp,
    },
    LinkSession {
        src: MemoryId,
        dst: MemoryId,
        session: String,
    },
    Pin {
        memory: MemoryId,
        reach: Reach,
        pinned_at: Timestamp,
    },
    Use {
        memory: MemoryId,
        recalled: u64,
        reinforced: u64,
        last_at: Timestamp,
    },
    End {
        memories: u64,
        lines: u64,
    },
}

/// A memory, every field of it. The JSON in it is carried as it is written, not read and written
/// again; that is why this line is not one of serde's tagged ones.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemoryLine {
    kind: String,
    id: MemoryId,
    role: Role,
    text: String,
    turn_at: Timestamp,
    host: String,
    session: String,
    project: Option<String>,
    cwd: Option<String>,
    turn_uuid: Option<String>,
    turn_index: Option<u64>,
    tier: Tier,
    captured_at: Timestamp,
    stored_at: Timestamp,
    valid_from: Timestamp,
    /// For people; follows from the corrections.
    valid_to: Option<Timestamp>,
    language: Option<String>,
    cue: Option<String>,
    strength: String,
    tags: Box<RawValue>,
    provenance: Box<RawValue>,
}

#[derive(Deserialize)]
struct KindOnly {
    kind: String,
}

const MEMORY: &str = "memory";

impl Line {
    pub(crate) fn head(choice: &ExportChoice) -> Self {
        Self::Head {
            version: VERSION,
            project: choice.project.clone(),
            session: choice.session.clone(),
            since: choice.since,
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Self, LineError> {
        let bad = |error| LineError::Unreadable(format!("it cannot be read ({error})"));
        let KindOnly { kind } = serde_json::from_str(text).map_err(bad)?;
        if kind == MEMORY {
            return serde_json::from_str(text).map(Self::Memory).map_err(bad);
        }
        let line: Self = serde_json::from_str(text).map_err(bad)?;
        match &line {
            Self::Head { version, .. } if *version != VERSION => {
                Err(LineError::Newer { version: *version })
            }
            _ => Ok(line),
        }
    }

    pub(crate) fn to_text(&self) -> Result<String> {
        let written = match self {
            Self::Memory(memory) => serde_json::to_string(memory),
            other => serde_json::to_string(other),
        };
        written.map_err(|error| MemoryError::bad("export", error.to_string()))
    }

    pub(crate) fn of_memory(exported: ExportedMemory) -> Result<Self> {
        let ExportedMemory { memory, tags, provenance } = exported;
        let raw = |json| {
            RawValue::from_string(json)
                .map_err(|error| MemoryError::bad("export", error.to_string()))
        };
        Ok(Self::Memory(Box::new(MemoryLine {
            kind: MEMORY.to_owned(),
            id: memory.id,
            role: memory.role,
            text: memory.text,
            turn_at: memory.turn_at,
            host: memory.host,
            session: memory.session,
            project: memory.project,
            cwd: memory.cwd,
            turn_uuid: memory.turn_uuid,
            turn_index: memory.turn_index,
            tier: memory.tier,
            captured_at: memory.captured_at,
            stored_at: memory.stored_at,
            valid_from: memory.valid_from,
            valid_to: memory.valid_to,
            language: memory.language,
            cue: memory.cue,
            strength: memory.strength.to_string(),
            tags: raw(tags)?,
            provenance: raw(provenance)?,
        })))
    }

    pub(crate) fn of_deed(deed: ExportedDeed) -> Self {
        match deed {
            ExportedDeed::Link { src, dst, kind, weight, created_at, touched_at } => {
                let (link, weight) = (kind, weight.to_string());
                Self::Link { src, dst, link, weight, created_at, touched_at }
            }
            ExportedDeed::LinkSession { src, dst, session } => {
                Self::LinkSession { src, dst, session }
            }
            ExportedDeed::Pin { memory, reach, pinned_at } => {
                Self::Pin { memory, reach, pinned_at }
            }
            ExportedDeed::Use { memory, n_recalled, n_reinforced, last_at } => {
                Self::Use { memory, recalled: n_recalled, reinforced: n_reinforced, last_at }
            }
        }
    }

    pub(crate) fn to_deed(&self) -> Result<ExportedDeed, LineError> {
        Ok(match self {
            Self::Link { src, dst, link, weight, created_at, touched_at } => ExportedDeed::Link {
                src: *src,
                dst: *dst,
                kind: *link,
                weight: number(weight)?,
                created_at: *created_at,
                touched_at: *touched_at,
            },
            Self::LinkSession { src, dst, session } => {
                ExportedDeed::LinkSession { src: *src, dst: *dst, session: session.clone() }
            }
            Self::Pin { memory, reach, pinned_at } => {
                ExportedDeed::Pin { memory: *memory, reach: *reach, pinned_at: *pinned_at }
            }
            Self::Use { memory, recalled, reinforced, last_at } => ExportedDeed::Use {
                memory: *memory,
                n_recalled: *recalled,
                n_reinforced: *reinforced,
                last_at: *last_at,
            },
            Self::Head { .. }
            | Self::Identity { .. }
            | Self::Profile { .. }
            | Self::Memory(_)
            | Self::End { .. } => {
                return Err(LineError::Unreadable("it is nothing that was done".to_owned()));
            }
        })
    }
}

impl MemoryLine {
    pub(crate) fn to_exported(&self) -> Result<ExportedMemory, LineError> {
        let bad = |error: serde_json::Error| LineError::Unreadable(error.to_string());
        Ok(ExportedMemory {
            memory: Memory {
                id: self.id,
                host: self.host.clone(),
                session: self.session.clone(),
                turn_uuid: self.turn_uuid.clone(),
                turn_index: self.turn_index,
                role: self.role,
                tier: self.tier,
                project: self.project.clone(),
                cwd: self.cwd.clone(),
                turn_at: self.turn_at,
                captured_at: self.captured_at,
                stored_at: self.stored_at,
                text: self.text.clone(),
                language: self.language.clone(),
                tags: serde_json::from_str(self.tags.get()).map_err(bad)?,
                provenance: serde_json::from_str(self.provenance.get()).map_err(bad)?,
                cue: self.cue.clone(),
                pinned: false,
                content_hash: [0; 32],
                strength: number(&self.strength)?,
                community: None,
                valid_from: self.valid_from,
                valid_to: self.valid_to,
            },
            tags: self.tags.get().to_owned(),
            provenance: self.provenance.get().to_owned(),
        })
    }
}

/// Numbers are written as text: not every reader of JSON gives back the number it was given.
fn number(text: &str) -> Result<f64, LineError> {
    text.parse().map_err(|_| LineError::Unreadable(format!("`{text}` is no number")))
}
