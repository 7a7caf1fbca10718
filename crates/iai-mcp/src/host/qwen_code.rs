//! Qwen Code: `~/.qwen/projects/<folder>/chats/<session>.jsonl`, lines like Claude Code's around
//! messages like Gemini's.

use serde_json::Value;

use crate::fields::Fields as _;

use super::json::{elements, is_blank, is_set, text_at, time_at};
use super::reading::{Reading, put};
use super::{Meaning, NotWords, Speaker};

pub(super) fn read(reading: &mut Reading, line: &Value) -> Meaning {
    let speaker = match line.at("type").as_str().unwrap_or_default() {
        "user" => Speaker::User,
        "assistant" => Speaker::Assistant,
        "tool_result" => return Meaning::Nobody(NotWords::ToolResult),
        "system" if line.at("subtype") == "chat_compression" => {
            return Meaning::Nobody(NotWords::CompactSummary);
        }
        "system" => return Meaning::Nobody(NotWords::Bookkeeping),
        _ => return Meaning::Nobody(NotWords::Unknown),
    };
    // Older files have no provenance; newer ones name everything that nobody typed.
    let provenance = line.at("provenance").as_str().unwrap_or("real_user");
    if speaker == Speaker::User && (provenance != "real_user" || line.at("subtype").is_string()) {
        return Meaning::Nobody(NotWords::Notification);
    }
    spoken(reading, line, speaker)
}

fn spoken(reading: &mut Reading, line: &Value, speaker: Speaker) -> Meaning {
    let parts = elements(line.at("message").at("parts"));
    for call in parts.iter().map(|part| part.at("functionCall")) {
        reading.deeds.note(call.at("name"), call.at("args"));
    }
    let texts = parts.iter().filter(|part| !is_set(part, "thought"));
    let texts: Vec<_> = texts.filter_map(|part| part.at("text").as_str()).collect();
    let text = texts.join("\n");
    if is_blank(&text) {
        let has = |name: &str| parts.iter().any(|part| !part.at(name).is_null());
        return Meaning::Nobody(match () {
            () if has("functionCall") => NotWords::ToolCall,
            () if has("functionResponse") => NotWords::ToolResult,
            () if has("thought") => NotWords::Thinking,
            () => NotWords::Blank,
        });
    }
    let mut turn = reading.turn(speaker, text);
    turn.uuid = text_at(line, "uuid");
    turn.session = text_at(line, "sessionId");
    turn.at = time_at(line, "timestamp");
    turn.cwd = text_at(line, "cwd");
    put(&mut turn, "parent", line.at("parentUuid").as_str());
    put(&mut turn, "git_branch", line.at("gitBranch").as_str());
    put(&mut turn, "host_version", line.at("version").as_str());
    put(&mut turn, "model", line.at("model").as_str());
    turn.into()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::host::HostKind;
    use crate::host::testing::{check, turns};

    fn line(kind: &str, parts: &Value) -> Value {
        json!({
            "type": kind, "uuid": "u1", "sessionId": "s", "cwd": "/p", "version": "0.21.7",
            "message": {"parts": parts},
        })
    }

    #[test]
    fn parts_that_are_text_are_words() {
        let words = json!([{"text": "hm", "thought": true}, {"text": "a"}, {"text": "b"}]);
        let call = json!([{"functionCall": {"name": "edit", "args": {"file_path": "x"}}}]);
        let mut notification = line("user", &json!([{"text": "x"}]));
        notification["provenance"] = json!("system");
        for (line, want) in [
            (line("user", &json!([{"text": "hi"}])), "user: hi"),
            (line("assistant", &words), "assistant: a\nb"),
            (line("assistant", &call), "- ToolCall"),
            (line("assistant", &json!([words[0]])), "- Thinking"),
            (line("tool_result", &json!([])), "- ToolResult"),
            (notification, "- Notification"),
            (json!({"type": "system", "subtype": "chat_compression"}), "- CompactSummary"),
            (json!({"type": "system", "subtype": "ui_telemetry"}), "- Bookkeeping"),
            (json!({"type": "tomorrow"}), "- Unknown"),
        ] {
            check(HostKind::QwenCode, &[line], &[want]);
        }
        let told =
            turns(HostKind::QwenCode, &[line("assistant", &call), line("assistant", &words)]);
        assert_eq!((told[0].session.as_deref(), told[0].uuid.as_deref()), (Some("s"), Some("u1")));
        assert_eq!(
            Value::Object(told[0].provenance.clone()),
            json!({"host_version": "0.21.7", "tools": ["edit"], "files": ["x"]})
        );
    }
}
