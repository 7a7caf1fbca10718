//! The assistants we serve: what a line of their transcript means.
//!
//! One file per host. A line is a turn of the user, a turn of the assistant, or neither; nothing
//! here reads files.

mod claude_code;
mod codex;

use jiff::Timestamp;
use serde_json::{Map, Value};

/// Who spoke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    User,
    Assistant,
}

impl Speaker {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// One utterance, as the host wrote it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Turn {
    pub(crate) host: &'static str,
    pub(crate) speaker: Speaker,
    /// The words, byte for byte.
    pub(crate) text: String,
    /// The host's own id of the turn.
    pub(crate) uuid: Option<String>,
    pub(crate) at: Option<Timestamp>,
    pub(crate) cwd: Option<String>,
    /// What else the host said about it: branch, model, version, parent.
    pub(crate) provenance: Map<String, Value>,
}

/// Returns the turn a transcript line holds, or `None` for everything that is nobody's words.
pub(crate) fn read_line(line: &[u8]) -> Option<Turn> {
    let fields: Map<String, Value> = serde_json::from_slice(line).ok()?;
    if codex::is_codex(&fields) {
        codex::read_turn(&fields)
    } else {
        claude_code::read_turn(&fields)
    }
}

fn text_field(fields: &Map<String, Value>, name: &str) -> Option<String> {
    fields.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn time_field(fields: &Map<String, Value>, name: &str) -> Option<Timestamp> {
    fields.get(name).and_then(Value::as_str)?.parse().ok()
}

/// Copies the named fields that are there and not null, under the names we keep them by.
fn keep(fields: &Map<String, Value>, names: &[(&str, &str)], into: &mut Map<String, Value>) {
    for (theirs, ours) in names {
        if let Some(value) = fields.get(*theirs).filter(|value| !value.is_null()) {
            into.insert((*ours).to_owned(), value.clone());
        }
    }
}

fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}
