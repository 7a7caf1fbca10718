//! `OpenCode`: `~/.local/share/opencode/storage`, where a session, its messages and their parts
//! are files in three folders; `opencode export` writes them as one document.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::fields::Fields as _;

use super::json::{elements, is_blank, is_set, text_at, time_at};
use super::reading::{Reading, put};
use super::{Meaning, NotWords, Speaker, WholeError, open};

/// The most messages of a session, and the most parts of a message.
const FILES_MAX: usize = 20_000;

/// Reads an exported document, or the session file of the storage with the files that belong to it.
pub(super) fn read_session(
    reading: &mut Reading,
    path: &Path,
    document: &Value,
) -> Result<Vec<Meaning>, WholeError> {
    if document.at("messages").is_array() {
        header(reading, document.at("info"));
        let messages = elements(document.at("messages"));
        return Ok(messages.iter().map(|message| read(reading, message)).collect());
    }
    header(reading, document);
    let (Some(storage), Some(session)) = (path.ancestors().nth(3), document.at("id").as_str())
    else {
        return Ok(Vec::new());
    };
    let mut out = Vec::new();
    for file in json_files(&storage.join("message").join(session)) {
        let info = match open::read_document(&file) {
            Ok(info) => info,
            Err(WholeError::Io { path, error }) => return Err(WholeError::Io { path, error }),
            // OpenCode may be writing this one; the others are whole.
            Err(WholeError::TooLarge { .. } | WholeError::NotJson { .. }) => {
                out.push(Meaning::Unreadable);
                continue;
            }
        };
        let folder = storage.join("part").join(info.at("id").as_str().unwrap_or_default());
        let parts = json_files(&folder);
        let parts: Vec<_> =
            parts.iter().filter_map(|part| open::read_document(part).ok()).collect();
        out.push(read(reading, &json!({"info": info, "parts": parts})));
    }
    Ok(out)
}

/// Names begin with the time, so their order is the order of speaking.
fn json_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let is_json = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let mut files: Vec<_> = files.filter(is_json).take(FILES_MAX).collect();
    files.sort();
    files
}

fn header(reading: &mut Reading, info: &Value) {
    let memo = &mut reading.memo;
    memo.session = text_at(info, "id");
    memo.cwd = text_at(info, "directory");
    memo.host_version = text_at(info, "version");
    // A session under another session is a sub-agent's.
    if info.at("parentID").is_string() {
        memo.agent = memo.agent.take().or_else(|| text_at(info, "id"));
    }
}

fn read(reading: &mut Reading, message: &Value) -> Meaning {
    let info = message.at("info");
    let parts = elements(message.at("parts"));
    let speaker = match info.at("role").as_str().unwrap_or_default() {
        "user" => Speaker::User,
        "assistant" => Speaker::Assistant,
        _ => return Meaning::Nobody(NotWords::Unknown),
    };
    // A session's summary of itself; for a user's message the field holds something else.
    if info.at("summary") == true {
        return Meaning::Nobody(NotWords::CompactSummary);
    }
    for part in parts.iter().filter(|part| part.at("type") == "tool") {
        reading.deeds.note(part.at("tool"), part.at("state").at("input"));
    }
    let words = parts.iter().filter(|part| is_words(part));
    let words: Vec<_> = words.filter_map(|part| part.at("text").as_str()).collect();
    let text = words.join("\n");
    if is_blank(&text) {
        return Meaning::Nobody(silent(parts));
    }
    let mut turn = reading.turn(speaker, text);
    turn.uuid = text_at(info, "id");
    turn.at = time_at(info.at("time"), "created");
    turn.cwd = text_at(info.at("path"), "cwd").or(turn.cwd);
    put(&mut turn, "parent", info.at("parentID").as_str());
    if speaker == Speaker::Assistant {
        put(&mut turn, "model", info.at("modelID").as_str());
    }
    turn.into()
}

fn is_words(part: &Value) -> bool {
    part.at("type") == "text" && !is_set(part, "synthetic") && !is_set(part, "ignored")
}

fn silent(parts: &[Value]) -> NotWords {
    let has = |kind: &str| parts.iter().any(|part| part.at("type") == kind);
    if has("tool") {
        NotWords::ToolCall
    } else if has("text") {
        NotWords::Injected
    } else if has("reasoning") {
        NotWords::Thinking
    } else {
        NotWords::Blank
    }
}

#[cfg(test)]
mod tests {
    use crate::host::testing::tell;
    use crate::host::{HostKind, Layout, Source, read_whole, whole_meanings};

    use super::*;

    fn source() -> Source {
        Source { layout: Layout::Whole, ..Source::lines(HostKind::OpenCode) }
    }

    fn message(id: &str, role: &str, parts: &Value) -> Value {
        json!({"info": {"id": id, "role": role, "time": {"created": 1_777_629_600_000_i64},
            "modelID": "m"}, "parts": parts})
    }

    fn messages() -> Vec<Value> {
        let tool = json!({"type": "tool", "tool": "edit", "state": {"input": {"filePath": "a"}}});
        vec![
            message(
                "msg_1",
                "user",
                &json!([
                    {"type": "text", "text": "hi"},
                    {"type": "text", "text": "Called the Read tool", "synthetic": true},
                    {"type": "file", "url": "data:"},
                ]),
            ),
            message("msg_2", "assistant", &json!([{"type": "reasoning", "text": "hm"}, tool])),
            message("msg_3", "assistant", &json!([{"type": "text", "text": "hello"}])),
            message("msg_4", "user", &json!([{"type": "text", "text": "x", "synthetic": true}])),
        ]
    }

    const TOLD: &[&str] = &["user: hi", "- ToolCall", "assistant: hello", "- Injected"];

    #[test]
    fn an_export_and_the_storage_mean_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let info = json!({"id": "ses_1", "directory": "/p", "version": "1.1.0"});
        let export = folder.path().join("ses_1.json");
        let document = json!({"info": info, "messages": messages()});
        fs::write(&export, document.to_string()).unwrap();
        let told = whole_meanings(&source(), &export).unwrap();
        assert_eq!(told.iter().map(tell).collect::<Vec<_>>(), TOLD);

        let write = |path: String, value: &Value| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, value.to_string()).unwrap();
        };
        write("storage/session/p/ses_1.json".to_owned(), &info);
        for message in messages() {
            let id = message.at("info").at("id").as_str().unwrap().to_owned();
            write(format!("storage/message/ses_1/{id}.json"), message.at("info"));
            for (number, part) in elements(message.at("parts")).iter().enumerate() {
                write(format!("storage/part/{id}/prt_{number}.json"), part);
            }
        }
        let stored = folder.path().join("storage/session/p/ses_1.json");
        let turns = read_whole(&source(), &stored).unwrap();
        assert_eq!(turns, read_whole(&source(), &export).unwrap());
        assert_eq!(turns[1].uuid.as_deref(), Some("msg_3"));
        assert_eq!(turns[1].cwd.as_deref(), Some("/p"));
        assert_eq!(
            Value::Object(turns[1].provenance.clone()),
            json!({"host_version": "1.1.0", "model": "m", "tools": ["edit"], "files": ["a"]})
        );
    }

    #[test]
    fn a_session_under_another_is_a_sub_agents() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ses_2.json");
        let info = json!({"id": "ses_2", "parentID": "ses_1"});
        let document = json!({"info": info, "messages": messages()});
        fs::write(&path, document.to_string()).unwrap();
        let told = whole_meanings(&source(), &path).unwrap();
        assert_eq!(tell(&told[0]), "agent: hi");
    }
}
