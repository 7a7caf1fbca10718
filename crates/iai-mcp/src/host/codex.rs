//! Codex: `~/.codex/sessions/**/rollout-*.jsonl`, lines of `{timestamp, type, payload}`.
//!
//! The same words may stand in a file in three forms. A file is read by one of them: the first
//! event form that appears, and the model's own messages only where no event form comes.

use serde_json::Value;

use crate::fields::Fields as _;

use super::json::{elements, is_blank, text_at, time_at};
use super::reading::{Form, Reading};
use super::{Meaning, NotWords, Speaker, Turn};

/// Where an event form is written, its first record comes before the third message: at the latest
/// with the first answer.
const UNDECIDED_MAX: usize = 2;

/// Beginnings of messages that Codex writes in the user's name.
const INJECTED: &[(&str, NotWords)] = &[
    ("# AGENTS.md instructions", NotWords::Injected),
    ("<environment_context>", NotWords::Injected),
    ("<user_instructions>", NotWords::Injected),
    ("<INSTRUCTIONS>", NotWords::Injected),
    ("<permissions instructions>", NotWords::Injected),
    ("<collaboration_mode>", NotWords::Injected),
    ("<apps_instructions>", NotWords::Injected),
    ("<skills_instructions>", NotWords::Injected),
    ("<plugins_instructions>", NotWords::Injected),
    ("<plugins>", NotWords::Injected),
    ("<subagents>", NotWords::Injected),
    ("<model_switch>", NotWords::Injected),
    ("<goal_context>", NotWords::Injected),
    ("<codex_internal_context", NotWords::Injected),
    ("<user_action>", NotWords::Injected),
    ("<skill>", NotWords::Command),
    ("<user_shell_command>", NotWords::Command),
    ("<turn_aborted>", NotWords::Interruption),
    ("<subagent_notification>", NotWords::Notification),
    ("<hook_prompt", NotWords::Hook),
    ("Another language model started to solve this problem", NotWords::CompactSummary),
];

/// The editor extension puts open files before the request and this heading between.
const EDITOR_CONTEXT: &str = "# Context from my IDE setup:";
const EDITOR_REQUEST: &str = "## My request for Codex:";

pub(super) fn read(reading: &mut Reading, line: &Value, out: &mut Vec<Meaning>) {
    let payload = line.at("payload");
    match line.at("type").as_str() {
        Some("session_meta") => out.push(session_meta(reading, payload)),
        Some("turn_context") => out.push(turn_context(reading, payload)),
        Some("event_msg") => event(reading, line, out),
        Some("response_item") => response_item(reading, line, payload, out),
        Some("compacted") => out.push(Meaning::Nobody(NotWords::CompactSummary)),
        Some("world_state" | "inter_agent_communication") => {
            out.push(Meaning::Nobody(NotWords::Injected));
        }
        // The first rollouts had no envelope: a bare header, then bare items and no events.
        Some("message" | "reasoning" | "function_call" | "function_call_output") => {
            choose(reading, Form::Responses, Speaker::User, out);
            response_item(reading, line, line, out);
        }
        None if line.at("id").is_string() => out.push(session_meta(reading, line)),
        None if line.at("record_type").is_string() => {
            out.push(Meaning::Nobody(NotWords::Bookkeeping));
        }
        Some(_) | None => out.push(Meaning::Nobody(NotWords::Unknown)),
    }
}

/// Decides for the model's own messages: nothing better came.
pub(super) fn let_go(reading: &mut Reading, out: &mut Vec<Meaning>) {
    if !reading.undecided.is_empty() {
        choose(reading, Form::Responses, Speaker::User, out);
    }
}

fn session_meta(reading: &mut Reading, meta: &Value) -> Meaning {
    // A forked session repeats the header of its parent; the first header is its own.
    if reading.memo.session.is_none() {
        let memo = &mut reading.memo;
        memo.session = text_at(meta, "id");
        memo.cwd = text_at(meta, "cwd");
        memo.host_version = text_at(meta, "cli_version");
        memo.git_branch = text_at(meta.at("git"), "branch");
        if meta.at("thread_source") == "subagent"
            || meta.at("source").at("subagent") != &Value::Null
        {
            let name = text_at(meta, "agent_nickname").or_else(|| text_at(meta, "id"));
            memo.agent = memo.agent.take().or(Some(name.unwrap_or_default()));
        }
    }
    Meaning::Nobody(NotWords::Bookkeeping)
}

fn turn_context(reading: &mut Reading, context: &Value) -> Meaning {
    let memo = &mut reading.memo;
    memo.cwd = text_at(context, "cwd").or_else(|| memo.cwd.take());
    memo.model = text_at(context, "model").or_else(|| memo.model.take());
    Meaning::Nobody(NotWords::Bookkeeping)
}

fn event(reading: &mut Reading, line: &Value, out: &mut Vec<Meaning>) {
    let payload = line.at("payload");
    let item = payload.at("item");
    match payload.at("type").as_str().unwrap_or_default() {
        "user_message" => {
            // Early events named what was put in; what was typed had no name or this one.
            if payload.at("kind").as_str().is_some_and(|kind| kind != "plain") {
                out.push(Meaning::Nobody(NotWords::Injected));
                return;
            }
            let text = payload.at("message").as_str().map(str::to_owned);
            spoken(reading, Form::Events, Said::new(Speaker::User, line, text), out);
        }
        "agent_message" => {
            let text = payload.at("message").as_str().map(str::to_owned);
            spoken(reading, Form::Events, Said::new(Speaker::Assistant, line, text), out);
        }
        "item_completed" => match item.at("type").as_str().unwrap_or_default() {
            "UserMessage" => {
                let said = Said::new(Speaker::User, line, block_text(item.at("content"), ""));
                spoken(reading, Form::Items, Said { uuid: text_at(item, "id"), ..said }, out);
            }
            "AgentMessage" => {
                let said = Said::new(Speaker::Assistant, line, block_text(item.at("content"), ""));
                spoken(reading, Form::Items, Said { uuid: text_at(item, "id"), ..said }, out);
            }
            // A plan stands in no other record, whatever the form of the file.
            "Plan" => {
                let said = Said::new(Speaker::Assistant, line, text_at(item, "text"));
                out.push(meaning(reading, Said { uuid: text_at(item, "id"), ..said }));
            }
            "HookPrompt" => out.push(Meaning::Nobody(NotWords::Hook)),
            _ => out.push(Meaning::Nobody(NotWords::Progress)),
        },
        "task_complete" | "turn_complete" => {
            let_go(reading, out);
            out.push(Meaning::Nobody(NotWords::Progress));
        }
        "turn_aborted" => {
            let_go(reading, out);
            out.push(Meaning::Nobody(NotWords::Interruption));
        }
        other => out.push(Meaning::Nobody(quiet_event(other))),
    }
}

fn quiet_event(kind: &str) -> NotWords {
    match kind {
        "agent_reasoning" | "agent_reasoning_raw_content" => NotWords::Thinking,
        "token_count"
        | "task_started"
        | "turn_started"
        | "context_compacted"
        | "patch_apply_end"
        | "mcp_tool_call_end"
        | "exec_command_end"
        | "web_search_end"
        | "thread_rolled_back"
        | "undo_completed"
        | "entered_review_mode"
        | "exited_review_mode"
        | "image_generation_end"
        | "view_image_tool_call"
        | "sub_agent_activity"
        | "skill_started" => NotWords::Progress,
        "thread_name_updated" | "thread_goal_updated" => NotWords::Bookkeeping,
        "injected_message" => NotWords::Injected,
        "error" | "warning" | "stream_error" => NotWords::HostError,
        _ => NotWords::Unknown,
    }
}

/// What a record says, before it is known whether the file is read by this form.
struct Said {
    speaker: Speaker,
    text: Option<String>,
    uuid: Option<String>,
    at: Option<jiff::Timestamp>,
}

impl Said {
    fn new(speaker: Speaker, line: &Value, text: Option<String>) -> Self {
        Self { speaker, text, uuid: None, at: time_at(line, "timestamp") }
    }
}

fn spoken(reading: &mut Reading, form: Form, said: Said, out: &mut Vec<Meaning>) {
    choose(reading, form, said.speaker, out);
    if reading.memo.form == Some(form) {
        out.push(meaning(reading, said));
    } else {
        out.push(Meaning::Nobody(NotWords::Copy));
    }
}

/// Settles the form of the file when it is still open, and what waited for that.
fn choose(reading: &mut Reading, form: Form, by: Speaker, out: &mut Vec<Meaning>) {
    if reading.memo.form.is_some() {
        return;
    }
    reading.memo.form = Some(form);
    for (speaker, turn) in std::mem::take(&mut reading.undecided) {
        // An event form writes the prompt before the first answer. Where the answer is the first
        // event, the prompt has no event, and what waited is its only record.
        let is_unrepeated = by == Speaker::Assistant && speaker == Speaker::User;
        out.push(match form {
            Form::Events | Form::Items if !is_unrepeated => Meaning::Nobody(NotWords::Copy),
            Form::Events | Form::Items | Form::Responses => turn.into(),
        });
    }
}

fn meaning(reading: &mut Reading, said: Said) -> Meaning {
    match turn(reading, said) {
        Ok(turn) => turn.into(),
        Err(reason) => Meaning::Nobody(reason),
    }
}

fn turn(reading: &mut Reading, said: Said) -> Result<Turn, NotWords> {
    let text = said.text.unwrap_or_default();
    let text = match said.speaker {
        Speaker::User => typed(&text)?,
        Speaker::Assistant => text,
    };
    if is_blank(&text) {
        return Err(NotWords::Blank);
    }
    let mut turn = reading.turn(said.speaker, text);
    turn.uuid = said.uuid;
    turn.at = said.at;
    Ok(turn)
}

fn typed(text: &str) -> Result<String, NotWords> {
    let start = text.trim_start();
    if let Some((_, reason)) = INJECTED.iter().find(|(prefix, _)| start.starts_with(prefix)) {
        return Err(*reason);
    }
    let request =
        start.strip_prefix(EDITOR_CONTEXT).and_then(|context| context.split_once(EDITOR_REQUEST));
    Ok(request.map_or(text, |(_, request)| request.trim_start()).to_owned())
}

/// Joins the text blocks of a list. The parts of a `UserMessage` are one prompt cut up, so they
/// are put together as Codex itself does it.
fn block_text(content: &Value, between: &str) -> Option<String> {
    let texts: Vec<_> =
        elements(content).iter().filter_map(|block| block.at("text").as_str()).collect();
    (!texts.is_empty()).then(|| texts.join(between))
}

fn response_item(reading: &mut Reading, line: &Value, item: &Value, out: &mut Vec<Meaning>) {
    let reason = match item.at("type").as_str().unwrap_or_default() {
        "message" => return message(reading, line, item, out),
        "reasoning" => NotWords::Thinking,
        "function_call"
        | "custom_tool_call"
        | "local_shell_call"
        | "web_search_call"
        | "tool_search_call"
        | "image_generation_call" => {
            note_call(reading, item);
            NotWords::ToolCall
        }
        "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
            NotWords::ToolResult
        }
        "ghost_snapshot" => NotWords::Snapshot,
        "compaction" | "context_compaction" => NotWords::CompactSummary,
        "additional_tools" | "agent_message" => NotWords::Injected,
        "token_count" => NotWords::Progress,
        _ => NotWords::Unknown,
    };
    out.push(Meaning::Nobody(reason));
}

fn note_call(reading: &mut Reading, item: &Value) {
    let input = if item.at("input").is_null() { item.at("arguments") } else { item.at("input") };
    let name = if item.at("name").is_null() { item.at("type") } else { item.at("name") };
    reading.deeds.note(name, input);
    if name == "apply_patch" {
        reading.deeds.note_patch(input.as_str().unwrap_or_default());
    }
}

fn message(reading: &mut Reading, line: &Value, item: &Value, out: &mut Vec<Meaning>) {
    let speaker = match item.at("role").as_str().unwrap_or_default() {
        "user" => Speaker::User,
        "assistant" => Speaker::Assistant,
        _ => return out.push(Meaning::Nobody(NotWords::Injected)),
    };
    if matches!(reading.memo.form, Some(Form::Events | Form::Items)) {
        return out.push(Meaning::Nobody(NotWords::Copy));
    }
    let text = match speaker {
        Speaker::User => match typed_blocks(item.at("content")) {
            Ok(text) => Some(text),
            Err(reason) => return out.push(Meaning::Nobody(reason)),
        },
        Speaker::Assistant => block_text(item.at("content"), "\n"),
    };
    let said = Said { uuid: text_at(item, "id"), ..Said::new(speaker, line, text) };
    match turn(reading, said) {
        Err(reason) => out.push(Meaning::Nobody(reason)),
        Ok(turn) if reading.memo.form == Some(Form::Responses) => out.push(turn.into()),
        Ok(turn) => {
            reading.undecided.push((speaker, turn));
            if UNDECIDED_MAX < reading.undecided.len() {
                let_go(reading, out);
            }
        }
    }
}

/// Joins the blocks a person typed; the injected ones stand in blocks of their own.
fn typed_blocks(content: &Value) -> Result<String, NotWords> {
    let texts = elements(content).iter().filter_map(|block| block.at("text").as_str());
    let (mut words, mut reason) = (Vec::new(), NotWords::Blank);
    for text in texts.filter(|text| !is_image_frame(text)) {
        match typed(text) {
            Ok(text) => words.push(text),
            Err(why) => reason = why,
        }
    }
    if words.is_empty() { Err(reason) } else { Ok(words.join("\n")) }
}

/// Codex frames an image with blocks like `<image name=[Image #1]>` and `</image>`.
fn is_image_frame(text: &str) -> bool {
    let text = text.trim();
    text == "</image>" || (text.starts_with("<image") && text.ends_with('>') && text.len() < 200)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::host::testing::{self, turns};
    use crate::host::{HostKind, LineParser, Source};

    #[track_caller]
    fn check(lines: &[Value], want: &[&str]) {
        testing::check(HostKind::Codex, lines, want);
    }

    fn line(kind: &str, payload: &Value) -> Value {
        json!({"timestamp": "2026-05-01T10:00:00Z", "type": kind, "payload": payload})
    }

    fn event(kind: &str, text: &str) -> Value {
        line("event_msg", &json!({"type": kind, "message": text}))
    }

    fn item(kind: &str, text: &str) -> Value {
        let item = json!({"type": kind, "id": "i1", "content": [{"type": "text", "text": text}]});
        line("event_msg", &json!({"type": "item_completed", "item": item}))
    }

    fn message(role: &str, text: &str) -> Value {
        let content = json!([{"type": "input_text", "text": text}]);
        line("response_item", &json!({"type": "message", "role": role, "content": content}))
    }

    #[test]
    fn events_are_the_words_and_messages_their_copies() {
        let lines = [
            message("developer", "<permissions instructions>"),
            message("user", "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>"),
            message("user", "hi"),
            event("user_message", "hi"),
            event("agent_message", "hello"),
            message("assistant", "hello"),
        ];
        let want = ["- Injected", "- Injected", "- Copy", "user: hi", "assistant: hello", "- Copy"];
        check(&lines, &want);
    }

    #[test]
    fn completed_items_are_the_words_where_they_come_first() {
        let lines = [
            message("user", "hi"),
            item("UserMessage", "hi"),
            message("assistant", "hello"),
            item("AgentMessage", "hello"),
            event("agent_message", "hello"),
            item("Reasoning", "hm"),
        ];
        let want = ["- Copy", "user: hi", "- Copy", "assistant: hello", "- Copy", "- Progress"];
        check(&lines, &want);
        assert_eq!(turns(HostKind::Codex, &lines)[0].uuid.as_deref(), Some("i1"));
    }

    #[test]
    fn messages_are_the_words_where_there_is_nothing_else() {
        let done = line("event_msg", &json!({"type": "task_complete"}));
        let lines = [message("user", "hi"), message("assistant", "hello"), done];
        check(&lines, &["user: hi", "assistant: hello", "- Progress"]);
        let three = [message("user", "a"), message("assistant", "b"), message("user", "c")];
        check(&three, &["user: a", "assistant: b", "user: c"]);
        check(&three[..2], &[]);
        let told: Vec<_> =
            turns(HostKind::Codex, &three[..2]).iter().map(|turn| turn.text.clone()).collect();
        assert_eq!(told, ["a", "b"]);
    }

    #[test]
    fn a_prompt_without_its_event_is_not_lost() {
        let lines = [message("user", "hi"), event("agent_message", "hello")];
        check(&lines, &["user: hi", "assistant: hello"]);
    }

    #[test]
    fn the_first_rollouts_had_no_envelope() {
        let lines = [
            json!({"id": "s1", "timestamp": "2025-05-01T10:00:00Z", "instructions": null}),
            json!({"record_type": "state"}),
            json!({"type": "message", "role": "user", "content": [{"text": "hi"}]}),
            json!({"type": "reasoning", "summary": []}),
        ];
        check(&lines, &["- Bookkeeping", "- Bookkeeping", "user: hi", "- Thinking"]);
        assert_eq!(turns(HostKind::Codex, &lines)[0].session.as_deref(), Some("s1"));
    }

    #[test]
    fn injected_blocks_are_left_out() {
        let content = json!([
            {"type": "input_text", "text": "<environment_context>\n</environment_context>"},
            {"type": "input_text", "text": "<image name=[Image #1]>"},
            {"type": "input_image", "image_url": "data:"},
            {"type": "input_text", "text": "</image>"},
            {"type": "input_text", "text": "what is this?"},
        ]);
        let mixed =
            line("response_item", &json!({"type": "message", "role": "user", "content": content}));
        let told = turns(HostKind::Codex, &[mixed]);
        assert_eq!(told[0].text, "what is this?");
        let editor = "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n\
                      ## My request for Codex:\nfix it\n";
        check(&[event("user_message", editor)], &["user: fix it\n"]);
        for (text, want) in [
            ("<turn_aborted>\nx", "- Interruption"),
            ("<user_shell_command>ls</user_shell_command>", "- Command"),
            ("<subagent_notification>{}", "- Notification"),
            ("<hook_prompt hook_run_id=\"1\">x</hook_prompt>", "- Hook"),
            (" ", "- Blank"),
        ] {
            check(&[event("user_message", text)], &[want]);
        }
    }

    #[test]
    fn a_sub_agents_session_has_no_user() {
        for meta in [
            json!({"id": "s2", "thread_source": "subagent"}),
            json!({"id": "s2", "source": {"subagent": {"thread_spawn": {}}}}),
        ] {
            let lines = [line("session_meta", &meta), event("user_message", "count the files")];
            check(&lines, &["- Bookkeeping", "agent: count the files"]);
        }
    }

    #[test]
    fn what_the_session_says_goes_with_every_turn_even_after_a_pause() {
        let meta = json!({
            "id": "s1", "cwd": "/p", "cli_version": "0.142.0", "git": {"branch": "main"},
            "source": "cli",
        });
        let lines = [
            line("session_meta", &meta),
            line("session_meta", &json!({"id": "parent"})),
            line("turn_context", &json!({"cwd": "/p/q", "model": "m"})),
            event("user_message", "hi"),
        ];
        let source = Source::lines(HostKind::Codex);
        let mut first = LineParser::new(&source);
        for line in &lines {
            first.read(line.to_string().as_bytes());
        }
        assert!(first.is_settled());
        let mut later = LineParser::resume(&source, &first.memo());
        assert!(later.read(message("assistant", "hello").to_string().as_bytes()).len() == 1);
        let patch = json!({
            "type": "custom_tool_call", "name": "apply_patch",
            "input": "*** Begin Patch\n*** Update File: src/a.rs\n*** End Patch",
        });
        later.read(line("response_item", &patch).to_string().as_bytes());
        assert!(!later.is_settled());
        let answer = later.read(event("agent_message", "hello").to_string().as_bytes());
        let crate::host::Meaning::Turn(turn) = &answer[0] else { panic!("no turn") };
        assert_eq!(turn.session.as_deref(), Some("s1"));
        assert_eq!(turn.cwd.as_deref(), Some("/p/q"));
        assert_eq!(
            Value::Object(turn.provenance.clone()),
            json!({
                "git_branch": "main", "host_version": "0.142.0", "model": "m",
                "tools": ["apply_patch"], "files": ["src/a.rs"],
            })
        );
    }

    #[test]
    fn other_lines_are_named() {
        for (line, want) in [
            (line("event_msg", &json!({"type": "token_count"})), "- Progress"),
            (line("event_msg", &json!({"type": "agent_reasoning"})), "- Thinking"),
            (line("event_msg", &json!({"type": "turn_aborted"})), "- Interruption"),
            (line("event_msg", &json!({"type": "tomorrow"})), "- Unknown"),
            (line("response_item", &json!({"type": "function_call", "name": "f"})), "- ToolCall"),
            (line("response_item", &json!({"type": "function_call_output"})), "- ToolResult"),
            (line("response_item", &json!({"type": "ghost_snapshot"})), "- Snapshot"),
            (line("compacted", &json!({"message": "x"})), "- CompactSummary"),
            (line("world_state", &json!({})), "- Injected"),
            (line("tomorrow", &json!({})), "- Unknown"),
        ] {
            check(&[line], &[want]);
        }
        let plan = json!({"type": "Plan", "id": "p", "text": "first this"});
        let plan = line("event_msg", &json!({"type": "item_completed", "item": plan}));
        check(&[plan], &["assistant: first this"]);
    }
}
