//! What was taught: passages of files and notes of other programs. Nobody said them, so that no
//! step, brief or statistic takes them for words of the user or the assistant.
//!
//! They are memories of the host `taught`, the role `system` and the tier `semantic`, one session a
//! file. Cutting files into passages and sending them is done outside.

use iai_store::{MemoryId, NewMemory, TAUGHT_HOST};
use serde::Serialize;
use serde_json::Value;

use crate::engine::MemoryEngine;
use crate::error::Result;

/// Files told in one answer; whoever wants more asks again.
const FILES_MAX: usize = 2_000;
/// What is shown of the name of a source.
const SOURCE_CHARS_MAX: usize = 160;

/// A file something was taught from.
#[derive(Debug, Clone, Serialize)]
pub struct TaughtView {
    /// The set it belongs to.
    pub set: String,
    /// Its name as it was given.
    pub name: String,
    /// Its path; empty where there was none.
    pub file: String,
    /// The session its passages stand in.
    pub session_id: String,
    /// How many passages of it are stored.
    pub passages: u64,
    /// How many characters these have.
    pub chars: u64,
    /// When the latest of them was stored.
    pub taught_at: String,
}

/// What was taught.
#[derive(Debug, Clone, Serialize)]
pub struct TaughtAnswer {
    /// The files, by set and name.
    pub files: Vec<TaughtView>,
    /// How many.
    pub count: usize,
}

impl MemoryEngine {
    /// Returns the files that were taught, from the one numbered `skip` on, at most 2,000; those of
    /// one set when one is named.
    pub fn taught(&self, set: Option<&str>, skip: usize) -> Result<TaughtAnswer> {
        let files = self.read(|reader| Ok(reader.taught_files(set, skip, FILES_MAX)?))?;
        let files: Vec<TaughtView> = files
            .into_iter()
            .map(|file| TaughtView {
                set: file.set,
                name: file.name,
                file: file.file,
                session_id: file.session,
                passages: file.n_passages,
                chars: file.n_chars,
                taught_at: file.taught_at.to_string(),
            })
            .collect();
        Ok(TaughtAnswer { count: files.len(), files })
    }

    /// Returns the passages that were taught from the file of a session.
    pub fn taught_passages(&self, session: &str) -> Result<Vec<MemoryId>> {
        self.read(|reader| Ok(reader.taught_passages(session)?))
    }
}

/// Returns the set a passage on its way in belongs to.
pub(crate) fn set_of(turn: &NewMemory) -> Option<&str> {
    let set = turn.provenance.get("taught")?.get("set")?.as_str();
    set.filter(|_| turn.host == TAUGHT_HOST)
}

/// Says where a memory was taught from: `docs/x.md §Retry`; `None` for what somebody said.
pub(crate) fn source_of(provenance: &Value) -> Option<String> {
    let taught = provenance.get("taught")?;
    let text =
        |name: &str| taught.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let (name, part) = (text("name")?, text("part"));
    let source = part.map_or_else(|| name.to_owned(), |part| format!("{name} {part}"));
    let source = source.replace(['\n', '\r'], " ");
    Some(source.chars().take(SOURCE_CHARS_MAX).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_source_is_a_name_and_a_part() {
        let long = "x".repeat(500);
        for (provenance, expect) in [
            (json!({}), None),
            (json!({"taught": true}), None),
            (json!({"taught": {"name": "a.md"}}), Some("a.md".to_owned())),
            (json!({"taught": {"name": "a.md", "part": "§R\nS"}}), Some("a.md §R S".to_owned())),
            (json!({"taught": {"name": long}}), Some("x".repeat(SOURCE_CHARS_MAX))),
        ] {
            assert_eq!(source_of(&provenance), expect, "{provenance}");
        }
    }
}
