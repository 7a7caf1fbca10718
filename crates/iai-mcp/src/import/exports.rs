//! `conversations.json` as ChatGPT and Claude hand it out: a list of conversations.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::capture::{Flow, Placed};
use crate::fields::Fields as _;
use crate::host::{Speaker, Turn};

/// An export is read as a whole; a larger one has to be split first.
const EXPORT_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;

/// Hands every turn of an export to `each`. Returns how many conversations could not be read.
pub(super) fn each_turn(path: &Path, mut each: impl FnMut(Placed) -> Flow) -> io::Result<u64> {
    let file = File::open(path)?;
    if EXPORT_BYTES_MAX < file.metadata()?.len() {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than 2 GiB; split it"));
    }
    let conversations: Vec<Value> = serde_json::from_reader(BufReader::new(file))?;
    let mut n_unreadable = 0;
    for conversation in &conversations {
        let turns = if conversation.at("mapping").is_object() {
            chatgpt(conversation)
        } else if conversation.at("chat_messages").is_array() {
            claude(conversation)
        } else {
            n_unreadable += 1;
            continue;
        };
        for placed in (0..).zip(turns) {
            if each(placed) == Flow::Stop {
                return Ok(n_unreadable);
            }
        }
    }
    Ok(n_unreadable)
}

/// A tree of messages; every branch was said, so every node counts, oldest first.
fn chatgpt(conversation: &Value) -> Vec<Turn> {
    let session = text(conversation, &["conversation_id", "id"]);
    let nodes = conversation.at("mapping").as_object().into_iter().flatten();
    let mut turns: Vec<Turn> = nodes
        .filter_map(|(_, node)| {
            let message = node.at("message");
            let speaker = match message.at("author").at("role").as_str()? {
                "user" => Speaker::User,
                "assistant" => Speaker::Assistant,
                _ => return None,
            };
            let parts = message.at("content").at("parts").as_array()?;
            let parts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
            let at = message.at("create_time").as_f64().and_then(from_seconds);
            turn("chatgpt", speaker, parts.join("\n"), Facts { message, session: &session, at })
        })
        .collect();
    turns.sort_by_key(|turn| turn.at);
    turns
}

fn claude(conversation: &Value) -> Vec<Turn> {
    let session = text(conversation, &["uuid"]);
    let messages = conversation.at("chat_messages").as_array().into_iter().flatten();
    let turns = messages.filter_map(|message| {
        let speaker = match message.at("sender").as_str()? {
            "human" => Speaker::User,
            "assistant" => Speaker::Assistant,
            _ => return None,
        };
        let blocks = message.at("content").as_array().into_iter().flatten();
        let blocks: Vec<&str> = blocks
            .filter(|block| block.at("type") == "text")
            .filter_map(|block| block.at("text").as_str())
            .collect();
        let words = match message.at("text").as_str() {
            Some(words) if !words.is_empty() => words.to_owned(),
            _ => blocks.join("\n"),
        };
        let at = message.at("created_at").as_str().and_then(|at| at.parse().ok());
        turn("claude-ai", speaker, words, Facts { message, session: &session, at })
    });
    turns.collect()
}

#[derive(Clone, Copy)]
struct Facts<'a> {
    message: &'a Value,
    session: &'a Option<String>,
    at: Option<Timestamp>,
}

fn turn(host: &'static str, speaker: Speaker, text: String, facts: Facts<'_>) -> Option<Turn> {
    if text.chars().all(char::is_whitespace) {
        return None;
    }
    Some(Turn {
        host,
        speaker,
        text,
        uuid: self::text(facts.message, &["id", "uuid"]),
        session: facts.session.clone(),
        at: facts.at,
        cwd: None,
        is_subagent: false,
        provenance: Map::new(),
    })
}

fn text(fields: &Value, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| fields.at(name).as_str()).map(str::to_owned)
}

fn from_seconds(seconds: f64) -> Option<Timestamp> {
    #[expect(clippy::cast_possible_truncation, reason = "milliseconds of our time fit by far")]
    let millis = (seconds * 1000.0) as i64;
    Timestamp::from_millisecond(millis).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(export: &Value, want: &[(Speaker, &str, &str)]) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("conversations.json");
        std::fs::write(&path, export.to_string()).unwrap();
        let mut got = Vec::new();
        each_turn(&path, |(_, turn)| {
            got.push((turn.speaker, turn.text, turn.session.unwrap_or_default()));
            Flow::On
        })
        .unwrap();
        let got: Vec<_> = got
            .iter()
            .map(|(who, text, session)| (*who, text.as_str(), session.as_str()))
            .collect();
        assert_eq!(got, want);
    }

    #[test]
    fn a_chatgpt_export_is_read_in_order_of_time() {
        let node = |id: &str, role: &str, at: f64, parts: Value| {
            json!({"message": {"id": id, "author": {"role": role}, "create_time": at,
                   "content": {"content_type": "text", "parts": parts}}})
        };
        let export = json!([{"conversation_id": "c", "mapping": {
            "z": node("1", "user", 1.0, json!(["hello"])),
            "a": node("2", "assistant", 2.0, json!(["hi", {"image": 1}, "there"])),
            "b": node("3", "system", 0.5, json!(["rules"])),
            "root": {"message": null},
        }}]);
        check(&export, &[(Speaker::User, "hello", "c"), (Speaker::Assistant, "hi\nthere", "c")]);
    }

    #[test]
    fn a_claude_export_is_read() {
        let export = json!([{"uuid": "c", "chat_messages": [
            {"uuid": "1", "sender": "human", "text": "hello", "created_at": "2026-01-01T00:00:00Z"},
            {"uuid": "2", "sender": "assistant", "text": "",
             "content": [{"type": "text", "text": "hi"}, {"type": "tool_use"}]},
            {"uuid": "3", "sender": "assistant", "text": ""},
        ]}, {"unknown": true}]);
        check(&export, &[(Speaker::User, "hello", "c"), (Speaker::Assistant, "hi", "c")]);
    }
}
