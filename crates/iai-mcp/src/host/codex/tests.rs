//! The policy for this host, line by line.

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
fn answers_that_are_completed_as_items_too_are_copies() {
    let lines = [
        event("user_message", "hi"),
        item("AgentMessage", "hello"),
        event("agent_message", "hello"),
    ];
    check(&lines, &["user: hi", "- Copy", "assistant: hello"]);
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
    for before in [
        "# Files mentioned by the user:\n\n## a.png: /tmp/a.png\n",
        "<in-app-browser-context source=\"ambient-ui-state\">x</in-app-browser-context>\n",
    ] {
        let asked = format!("{before}\n## My request for Codex:\nfix it\n");
        check(&[event("user_message", &asked)], &["user: fix it\n"]);
    }
    let quoted = "what is\n## My request for Codex:\nfor?";
    check(&[event("user_message", quoted)], &[&format!("user: {quoted}")]);
    for (text, want) in [
        ("<recommended_plugins>\nx", "- Injected"),
        ("<app-context>x</app-context>", "- Injected"),
        ("<skills_section>x", "- Injected"),
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
        (line("event_msg", &json!({"type": "plan_update"})), "- Progress"),
        (line("event_msg", &json!({"type": "thread_settings_applied"})), "- Bookkeeping"),
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
