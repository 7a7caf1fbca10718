//! Copilot CLI: `~/.copilot/session-state/<session>/events.jsonl`, lines of `{type, data, id,
//! timestamp, parentId}`.
//!
//! `content` is what was typed; `transformedContent` is the same with the program's additions.

use serde_json::Value;

use crate::fields::Fields as _;

use super::json::{elements, is_blank, is_set, text_at, time_at};
use super::reading::{Reading, put};
use super::{Meaning, NotWords, Speaker};

pub(super) fn read(reading: &mut Reading, line: &Value) -> Meaning {
    let data = line.at("data");
    match line.at("type").as_str().unwrap_or_default() {
        "user.message" => user(reading, line, data),
        "assistant.message" => assistant(reading, line, data),
        "session.start" | "session.resume" => session(reading, data),
        "session.model_change" => {
            reading.memo.model = text_at(data, "newModel");
            Meaning::Nobody(NotWords::Bookkeeping)
        }
        other => Meaning::Nobody(quiet(other)),
    }
}

fn quiet(kind: &str) -> NotWords {
    match kind {
        "system.message" => NotWords::Injected,
        "system.notification" => NotWords::Notification,
        "assistant.reasoning" => NotWords::Thinking,
        "tool.execution_start" | "tool.user_requested" => NotWords::ToolCall,
        "tool.execution_complete" => NotWords::ToolResult,
        "session.compaction_complete" => NotWords::CompactSummary,
        "session.error" => NotWords::HostError,
        "abort" => NotWords::Interruption,
        "skill.invoked" => NotWords::Command,
        other => match other.split_once('.').map_or(other, |(family, _)| family) {
            "hook" => NotWords::Hook,
            "session" => NotWords::Bookkeeping,
            "assistant" | "tool" | "permission" | "subagent" => NotWords::Progress,
            _ => NotWords::Unknown,
        },
    }
}

fn session(reading: &mut Reading, data: &Value) -> Meaning {
    let memo = &mut reading.memo;
    let context = data.at("context");
    memo.session = text_at(data, "sessionId").or_else(|| memo.session.take());
    memo.host_version = text_at(data, "copilotVersion").or_else(|| memo.host_version.take());
    memo.cwd = text_at(context, "cwd").or_else(|| memo.cwd.take());
    memo.git_branch = text_at(context, "branch").or_else(|| memo.git_branch.take());
    Meaning::Nobody(NotWords::Bookkeeping)
}

fn user(reading: &mut Reading, line: &Value, data: &Value) -> Meaning {
    let is_typed = data.at("source").as_str().is_none_or(|source| source == "user")
        && !is_set(data, "isAutopilotContinuation");
    if !is_typed {
        return Meaning::Nobody(NotWords::Injected);
    }
    spoken(reading, line, Speaker::User)
}

fn assistant(reading: &mut Reading, line: &Value, data: &Value) -> Meaning {
    reading.deeds.belong_to(is_subagent(line));
    for call in elements(data.at("toolRequests")) {
        reading.deeds.note(call.at("name"), call.at("arguments"));
    }
    reading.memo.model = text_at(data, "model").or_else(|| reading.memo.model.take());
    match spoken(reading, line, Speaker::Assistant) {
        Meaning::Nobody(NotWords::Blank) if !elements(data.at("toolRequests")).is_empty() => {
            Meaning::Nobody(NotWords::ToolCall)
        }
        meaning => meaning,
    }
}

fn spoken(reading: &mut Reading, line: &Value, speaker: Speaker) -> Meaning {
    let Some(text) = text_at(line.at("data"), "content").filter(|text| !is_blank(text)) else {
        return Meaning::Nobody(NotWords::Blank);
    };
    let mut turn = reading.turn(speaker, text);
    if is_subagent(line) {
        turn.speaker = Speaker::Assistant;
        turn.is_subagent = true;
        put(&mut turn, "agent", line.at("agentId").as_str());
    }
    turn.uuid = text_at(line, "id");
    turn.at = time_at(line, "timestamp");
    put(&mut turn, "parent", line.at("parentId").as_str());
    turn.into()
}

/// A message inside a tool call of another message is a sub-agent's.
fn is_subagent(line: &Value) -> bool {
    line.at("agentId").is_string() || line.at("data").at("parentToolCallId").is_string()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::host::HostKind;
    use crate::host::testing::{self, turns};

    fn line(kind: &str, data: &Value) -> Value {
        json!({"type": kind, "data": data, "id": "e1", "timestamp": "2026-05-01T10:00:00Z"})
    }

    #[track_caller]
    fn check(line: Value, want: &str) {
        testing::check(HostKind::CopilotCli, &[line], &[want]);
    }

    #[test]
    fn typed_content_is_kept_and_additions_are_not() {
        let typed = json!({"content": "hi", "transformedContent": "<current_datetime>x hi"});
        check(line("user.message", &typed), "user: hi");
        check(line("assistant.message", &json!({"content": "hello"})), "assistant: hello");
        let call = json!({"content": "", "toolRequests": [{"name": "bash", "arguments": {}}]});
        check(line("assistant.message", &call), "- ToolCall");
        check(line("assistant.message", &json!({"content": ""})), "- Blank");
        check(line("user.message", &json!({"content": "x", "source": "skill"})), "- Injected");
        let agent = json!({"content": "found", "parentToolCallId": "t1"});
        check(line("assistant.message", &agent), "agent: found");
    }

    #[test]
    fn other_events_are_named() {
        for (kind, want) in [
            ("session.start", "- Bookkeeping"),
            ("session.shutdown", "- Bookkeeping"),
            ("session.compaction_complete", "- CompactSummary"),
            ("system.message", "- Injected"),
            ("system.notification", "- Notification"),
            ("hook.start", "- Hook"),
            ("tool.execution_start", "- ToolCall"),
            ("tool.execution_complete", "- ToolResult"),
            ("permission.requested", "- Progress"),
            ("assistant.turn_start", "- Progress"),
            ("abort", "- Interruption"),
            ("tomorrow.comes", "- Unknown"),
        ] {
            check(line(kind, &json!({})), want);
        }
    }

    #[test]
    fn the_session_goes_with_every_turn() {
        let context = json!({"cwd": "/p", "branch": "main"});
        let start = json!({"sessionId": "s", "copilotVersion": "1.0.64", "context": context});
        let call = json!({
            "model": "m", "content": "",
            "toolRequests": [{"name": "edit", "arguments": {"path": "a.rs"}}],
        });
        let lines = [
            line("session.start", &start),
            line("assistant.message", &call),
            line("assistant.message", &json!({"content": "done"})),
        ];
        let turn = turns(HostKind::CopilotCli, &lines).remove(0);
        assert_eq!((turn.session.as_deref(), turn.cwd.as_deref()), (Some("s"), Some("/p")));
        assert_eq!(
            Value::Object(turn.provenance),
            json!({
                "git_branch": "main", "host_version": "1.0.64", "model": "m",
                "tools": ["edit"], "files": ["a.rs"],
            })
        );
    }
}
