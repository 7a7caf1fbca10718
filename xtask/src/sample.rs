//! The bundled sample conversation: where it lies, what it says, and what to ask about it.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::repository;

/// The session id the sample is captured under.
pub(crate) const SESSION: &str = "sample";
/// What is asked about the sample.
pub(crate) const CUE: &str = "Which retry policy did we decide on for billing?";
/// How the turn begins that answers it.
const EXPECTED_START: &str = "Then we decide:";

/// One turn of the sample.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) role: String,
    pub(crate) text: String,
}

/// Returns the path of the transcript.
pub(crate) fn path() -> PathBuf {
    repository::root().join("xtask/sample/conversation.jsonl")
}

/// Returns the turns of the transcript, in order.
pub(crate) fn turns() -> Result<Vec<Turn>, String> {
    let path = path();
    let text = fs::read_to_string(&path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    text.lines()
        .map(|line| turn(line).ok_or_else(|| format!("{}: not a turn: {line}", path.display())))
        .collect()
}

/// Returns the words of the turn that answers [`CUE`].
pub(crate) fn expected(turns: &[Turn]) -> Result<&str, String> {
    let expected = turns.iter().find(|turn| turn.text.starts_with(EXPECTED_START));
    expected.map(|turn| turn.text.as_str()).ok_or_else(|| "the sample lost its answer".to_owned())
}

fn turn(line: &str) -> Option<Turn> {
    let line: Value = serde_json::from_str(line).ok()?;
    let message = line.get("message")?;
    let role = message.get("role")?.as_str()?.to_owned();
    let text = match message.get("content")? {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => return None,
    };
    Some(Turn { role, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_alternates_and_has_its_answer() {
        let turns = turns().unwrap();
        let roles: Vec<&str> = turns.iter().map(|turn| turn.role.as_str()).collect();
        assert_eq!(roles, ["user", "assistant"].repeat(4));
        assert!(expected(&turns).unwrap().contains("four attempts"));
    }

    #[test]
    fn the_sample_has_the_shape_of_a_transcript() {
        let text = fs::read_to_string(path()).unwrap();
        let mut parent = Value::Null;
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!(line["parentUuid"], parent);
            assert_eq!(line["type"], line["message"]["role"]);
            for field in ["uuid", "sessionId", "timestamp", "cwd"] {
                assert!(line[field].is_string(), "{field} in {line}");
            }
            parent = line["uuid"].clone();
        }
    }

    #[test]
    fn both_forms_of_content_are_read() {
        let want = Some(Turn { role: "user".to_owned(), text: "hi".to_owned() });
        assert_eq!(turn(r#"{"message":{"role":"user","content":"hi"}}"#), want);
        let blocks = r#"{"message":{"role":"user","content":[{"type":"text","text":"hi"}]}}"#;
        assert_eq!(turn(blocks), want);
        assert_eq!(turn("{}"), None);
    }
}
