//! Antigravity: `transcript_full.jsonl` under `.system_generated/logs` of a conversation's folder
//! in `~/.gemini/antigravity/brain`, a line for each step; or `transcript.jsonl` beside it, which
//! may leave out the middle of long texts.

use serde_json::{Value, json};

use crate::fields::Fields as _;

use super::json::{elements, is_blank, text_at, time_at};
use super::reading::Reading;
use super::{Meaning, NotWords, Speaker};

const REQUEST: (&str, &str) = ("<USER_REQUEST>", "</USER_REQUEST>");

/// Elements put behind a prompt that stands in none.
const BEHIND_WORDS: &[&str] = &["<ADDITIONAL_METADATA>", "<USER_SETTINGS_CHANGE>"];

/// What its tools call the path they work on.
const PATH_FIELDS: &[&str] = &["AbsolutePath", "TargetFile"];

pub(super) fn read(reading: &mut Reading, step: &Value) -> Meaning {
    match step.at("type").as_str().unwrap_or_default() {
        "USER_INPUT" => user(reading, step),
        "PLANNER_RESPONSE" => assistant(reading, step),
        "CHECKPOINT" => Meaning::Nobody(NotWords::CompactSummary),
        "ERROR_MESSAGE" => Meaning::Nobody(NotWords::HostError),
        _ => Meaning::Nobody(match step.at("source").as_str() {
            Some("SYSTEM") => NotWords::Injected,
            // Every other step of the model is what a tool answered.
            Some("MODEL") => NotWords::ToolResult,
            Some(_) | None => NotWords::Unknown,
        }),
    }
}

fn user(reading: &mut Reading, step: &Value) -> Meaning {
    if step.at("source").as_str().is_some_and(|source| source != "USER_EXPLICIT") {
        return Meaning::Nobody(NotWords::Injected);
    }
    let text = text_of(step);
    spoken(reading, step, Speaker::User, typed(&text))
}

fn assistant(reading: &mut Reading, step: &Value) -> Meaning {
    let calls = elements(step.at("tool_calls"));
    for call in calls {
        // Arguments are JSON once more, inside their strings.
        let path = PATH_FIELDS.iter().find_map(|name| call.at("args").at(name).as_str());
        let path = path
            .map(|path| serde_json::from_str::<String>(path).unwrap_or_else(|_| path.to_owned()));
        reading.deeds.note(call.at("name"), &json!({"path": path}));
    }
    let text = text_of(step);
    if is_blank(&text) {
        let is_thought = calls.is_empty() && step.at("thinking").is_string();
        let silent = if is_thought { NotWords::Thinking } else { NotWords::ToolCall };
        return Meaning::Nobody(silent);
    }
    spoken(reading, step, Speaker::Assistant, &text)
}

fn spoken(reading: &mut Reading, step: &Value, speaker: Speaker, words: &str) -> Meaning {
    if is_blank(words) {
        return Meaning::Nobody(NotWords::Blank);
    }
    let mut turn = reading.turn(speaker, words.to_owned());
    let number = step.at("step_index").as_u64();
    turn.uuid =
        turn.session.as_ref().zip(number).map(|(session, step)| format!("{session}:{step}"));
    turn.at = time_at(step, "created_at");
    turn.into()
}

fn text_of(step: &Value) -> String {
    let content = step.at("content");
    content.as_str().map(str::to_owned).or_else(|| text_at(content, "text")).unwrap_or_default()
}

fn typed(text: &str) -> &str {
    let request = text.split_once(REQUEST.0).and_then(|(_, rest)| rest.split_once(REQUEST.1));
    if let Some((words, _)) = request {
        // The line breaks beside the tags are the program's.
        let words = words.strip_prefix('\n').unwrap_or(words);
        return words.strip_suffix('\n').unwrap_or(words);
    }
    let end = BEHIND_WORDS.iter().filter_map(|element| text.find(element)).min();
    match end.and_then(|end| text.get(..end)) {
        Some(words) => words.trim_end(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::testing::{self, turns};
    use crate::host::{HostKind, LineParser, Source};

    #[track_caller]
    fn check(steps: &[Value], want: &[&str]) {
        testing::check(HostKind::Antigravity, steps, want);
    }

    fn step(source: &str, kind: &str, content: &str) -> Value {
        json!({
            "step_index": 4, "source": source, "type": kind, "status": "DONE",
            "created_at": "2026-05-07T07:37:50Z", "content": content,
        })
    }

    fn prompt(content: &str) -> Value {
        step("USER_EXPLICIT", "USER_INPUT", content)
    }

    #[test]
    fn a_prompt_is_what_stands_in_its_element() {
        let wrapped = "<USER_REQUEST>\nfix <b>\n\n</USER_REQUEST>\n<ADDITIONAL_METADATA>\nThe \
                       current local time is: x.\n</ADDITIONAL_METADATA>";
        check(&[prompt(wrapped)], &["user: fix <b>\n"]);
        check(&[prompt("just do it")], &["user: just do it"]);
        let bare = "do it\n<USER_SETTINGS_CHANGE>\nx\n</USER_SETTINGS_CHANGE>";
        check(&[prompt(bare)], &["user: do it"]);
        check(&[json!({"step_index": 0, "type": "USER_INPUT", "content": "hi"})], &["user: hi"]);
        check(&[prompt("<USER_REQUEST>\n\n</USER_REQUEST>")], &["- Blank"]);
    }

    #[test]
    fn other_steps_are_named() {
        for (source, kind, want) in [
            ("SYSTEM", "CONVERSATION_HISTORY", "- Injected"),
            ("SYSTEM", "SYSTEM_MESSAGE", "- Injected"),
            ("SYSTEM", "CHECKPOINT", "- CompactSummary"),
            ("SYSTEM", "ERROR_MESSAGE", "- HostError"),
            ("SYSTEM", "USER_INPUT", "- Injected"),
            ("MODEL", "VIEW_FILE", "- ToolResult"),
            ("MODEL", "GENERIC", "- ToolResult"),
            ("TOMORROW", "TOMORROW", "- Unknown"),
            ("MODEL", "PLANNER_RESPONSE", "assistant: x"),
        ] {
            check(&[step(source, kind, "x")], &[want]);
        }
        let thought = json!({"type": "PLANNER_RESPONSE", "source": "MODEL", "thinking": "hm"});
        check(&[thought], &["- Thinking"]);
    }

    #[test]
    fn a_turn_knows_its_step_its_time_and_what_was_done() {
        let call = json!({
            "step_index": 3, "source": "MODEL", "type": "PLANNER_RESPONSE", "status": "DONE",
            "tool_calls": [{"name": "view_file", "args": {"AbsolutePath": "\"/p/a.rs\""}}],
        });
        let steps = [call, step("MODEL", "PLANNER_RESPONSE", "seen")];
        check(&steps, &["- ToolCall", "assistant: seen"]);
        let did = json!({"tools": ["view_file"], "files": ["/p/a.rs"]});
        let turn = turns(HostKind::Antigravity, &steps).remove(0);
        assert_eq!(Value::Object(turn.provenance), did);
        assert_eq!(turn.at.unwrap().to_string(), "2026-05-07T07:37:50Z");
        let source = Source::lines(HostKind::Antigravity);
        let source = Source { session: Some("c".to_owned()), ..source };
        let said = LineParser::new(&source).read(prompt("hi").to_string().as_bytes());
        let Meaning::Turn(turn) = &said[0] else { panic!("no turn") };
        assert_eq!(turn.uuid.as_deref(), Some("c:4"));
    }
}
