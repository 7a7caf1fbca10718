//! Pi: `~/.pi/agent/sessions/<folder>/<time>_<session>.jsonl`, a header and then a tree of entries.
//!
//! All branches of the tree were spoken, so all are read.

use serde_json::Value;

use crate::fields::Fields as _;

use super::json::{elements, is_blank, text_at, time_at};
use super::reading::{Reading, put};
use super::{Meaning, NotWords, Speaker};

pub(super) fn read(reading: &mut Reading, line: &Value) -> Meaning {
    let reason = match line.at("type").as_str().unwrap_or_default() {
        "message" => return message(reading, line, line.at("message")),
        "session" => {
            reading.memo.session = text_at(line, "id");
            reading.memo.cwd = text_at(line, "cwd");
            NotWords::Bookkeeping
        }
        "model_change" | "thinking_level_change" | "session_info" | "label" => {
            NotWords::Bookkeeping
        }
        "compaction" | "branch_summary" => NotWords::CompactSummary,
        "custom" | "custom_message" => NotWords::Injected,
        _ => NotWords::Unknown,
    };
    Meaning::Nobody(reason)
}

fn message(reading: &mut Reading, line: &Value, message: &Value) -> Meaning {
    let speaker = match message.at("role").as_str().unwrap_or_default() {
        "user" => Speaker::User,
        "assistant" => Speaker::Assistant,
        other => return Meaning::Nobody(not_a_speaker(other)),
    };
    let content = message.at("content");
    for call in elements(content).iter().filter(|block| block.at("type") == "toolCall") {
        reading.deeds.note(call.at("name"), call.at("arguments"));
    }
    let texts = elements(content).iter().filter(|block| block.at("type") == "text");
    let texts: Vec<_> = texts.filter_map(|block| block.at("text").as_str()).collect();
    let text = content.as_str().map_or_else(|| texts.join("\n"), str::to_owned);
    if is_blank(&text) {
        return Meaning::Nobody(silent(content));
    }
    let mut turn = reading.turn(speaker, text);
    turn.uuid = text_at(line, "id");
    turn.at = time_at(line, "timestamp");
    put(&mut turn, "parent", line.at("parentId").as_str());
    put(&mut turn, "model", message.at("model").as_str());
    turn.into()
}

fn not_a_speaker(role: &str) -> NotWords {
    match role {
        "toolResult" => NotWords::ToolResult,
        "bashExecution" => NotWords::Command,
        "custom" | "hookMessage" => NotWords::Injected,
        "branchSummary" | "compactionSummary" => NotWords::CompactSummary,
        _ => NotWords::Unknown,
    }
}

fn silent(content: &Value) -> NotWords {
    let has = |kind: &str| elements(content).iter().any(|block| block.at("type") == kind);
    if has("toolCall") {
        NotWords::ToolCall
    } else if has("thinking") {
        NotWords::Thinking
    } else if has("image") {
        NotWords::Image
    } else {
        NotWords::Blank
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::host::HostKind;
    use crate::host::testing::{check, turns};

    fn message(role: &str, content: &Value) -> Value {
        json!({"type": "message", "id": "m1", "message": {"role": role, "content": content}})
    }

    #[test]
    fn users_and_assistants_speak_and_nobody_else() {
        let blocks = json!([
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "hello"},
            {"type": "toolCall", "name": "read", "arguments": {"path": "a"}},
        ]);
        for (line, want) in [
            (message("user", &json!("hi")), "user: hi"),
            (message("user", &json!([{"type": "text", "text": "hi"}])), "user: hi"),
            (message("assistant", &blocks), "assistant: hello"),
            (message("assistant", &json!([blocks[2]])), "- ToolCall"),
            (message("assistant", &json!([blocks[0]])), "- Thinking"),
            (message("toolResult", &json!("x")), "- ToolResult"),
            (message("bashExecution", &json!(null)), "- Command"),
            (message("compactionSummary", &json!(null)), "- CompactSummary"),
            (message("custom", &json!("x")), "- Injected"),
            (json!({"type": "compaction", "summary": "x"}), "- CompactSummary"),
            (json!({"type": "custom_message", "content": "x"}), "- Injected"),
            (json!({"type": "tomorrow"}), "- Unknown"),
        ] {
            check(HostKind::Pi, &[line], &[want]);
        }
    }

    #[test]
    fn the_header_goes_with_every_turn() {
        let lines = [
            json!({"type": "session", "version": 3, "id": "s", "cwd": "/p"}),
            message("user", &json!("hi")),
        ];
        let turn = turns(HostKind::Pi, &lines).remove(0);
        assert_eq!((turn.session.as_deref(), turn.cwd.as_deref()), (Some("s"), Some("/p")));
    }
}
