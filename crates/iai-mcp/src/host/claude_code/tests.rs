//! The policy for this host, line by line.

use serde_json::{Value, json};

use crate::host::testing::{self, turns};
use crate::host::{HostKind, LineParser, Source};

#[track_caller]
fn check(lines: &[Value], want: &[&str]) {
    testing::check(HostKind::ClaudeCode, lines, want);
}

fn user(content: &Value) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": content}})
}

fn assistant(content: &Value) -> Value {
    json!({"type": "assistant", "message": {"role": "assistant", "content": content}})
}

fn with(mut line: Value, field: &str, value: Value) -> Value {
    line[field] = value;
    line
}

#[test]
fn what_was_said_is_a_turn() {
    check(&[user(&json!("hello"))], &["user: hello"]);
    check(&[user(&json!("  as is \n"))], &["user:   as is \n"]);
    let blocks = json!([
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "a"},
        {"type": "tool_use", "name": "Bash", "input": {}},
        {"type": "text", "text": "b"},
    ]);
    check(&[assistant(&blocks)], &["assistant: a\nb"]);
    check(&[json!({"role": "user", "content": "bare"})], &["user: bare"]);
    check(&[assistant(&json!("plain"))], &["assistant: plain"]);
}

#[test]
fn what_the_line_marks_as_its_own_is_nobodys() {
    let said = user(&json!("x"));
    for (field, value, want) in [
        ("isMeta", json!(true), "- Meta"),
        ("isSynthetic", json!(true), "- Meta"),
        ("isCompactSummary", json!(true), "- CompactSummary"),
        ("isVisibleInTranscriptOnly", json!(true), "- CompactSummary"),
        ("agentId", json!("acompact-7f"), "- CompactSummary"),
        ("origin", json!({"kind": "task-notification"}), "- Notification"),
        ("origin", json!({"kind": "human"}), "user: x"),
        ("isMeta", json!(false), "user: x"),
    ] {
        check(&[with(said.clone(), field, value)], &[want]);
    }
    let answer = assistant(&json!([{"type": "text", "text": "API Error"}]));
    check(&[with(answer.clone(), "isApiErrorMessage", json!(true))], &["- HostError"]);
    let mut synthetic = answer;
    synthetic["message"]["model"] = json!("<synthetic>");
    check(&[synthetic], &["- HostError"]);
}

#[test]
fn what_nobody_said_is_named() {
    let result = json!([{"type": "tool_result", "content": "x"}]);
    let image = json!([{"type": "image", "source": {}}]);
    let call = json!([{"type": "tool_use", "name": "Bash", "input": {}}]);
    for (line, want) in [
        (user(&result), "- ToolResult"),
        (user(&image), "- Image"),
        (user(&json!("   ")), "- Blank"),
        (user(&json!(null)), "- Blank"),
        (user(&json!({"a": 1})), "- Blank"),
        (user(&json!("<command-name>/clear</command-name>")), "- Command"),
        (assistant(&json!([{"type": "thinking", "thinking": "x"}])), "- Thinking"),
        (assistant(&call), "- ToolCall"),
        (assistant(&json!([{"type": "text", "text": "\n\n"}])), "- Blank"),
        (assistant(&json!([{"type": "text", "text": "(no content)"}])), "- Blank"),
        (json!({"type": "summary", "summary": "x"}), "- Bookkeeping"),
        (json!({"type": "system", "content": "x"}), "- Bookkeeping"),
        (json!({"type": "progress", "data": {}}), "- Progress"),
        (json!({"type": "file-history-snapshot"}), "- Snapshot"),
        (json!({"type": "attachment", "attachment": {"type": "file"}}), "- Injected"),
        (json!({"type": "tomorrow"}), "- Unknown"),
        (json!([1, 2]), "!"),
        (json!("text"), "!"),
    ] {
        check(&[line], &[want]);
    }
}

#[test]
fn typed_blocks_are_kept_and_injected_ones_are_not() {
    let blocks = json!([
        {"type": "text", "text": "<ide_opened_file>x.rs</ide_opened_file>"},
        {"type": "text", "text": "rename it"},
        {"type": "image", "source": {}},
        {"type": "text", "text": "<system-reminder>be brief</system-reminder>"},
        {"type": "text", "text": "and test it"},
    ]);
    check(&[user(&blocks)], &["user: rename it\nand test it"]);
    let beside_a_result = json!([
        {"type": "tool_result", "content": "x"},
        {"type": "text", "text": "stop there"},
    ]);
    check(&[user(&beside_a_result)], &["user: stop there"]);
}

#[test]
fn a_person_speaks_through_a_tool_result() {
    let refused = |tail: &str| {
        let text = format!(
            "The user doesn't want to proceed with this tool use. The tool use was rejected. \
             To tell you how to proceed, the user said:\n{tail}"
        );
        user(&json!([{"type": "tool_result", "is_error": true, "content": text}]))
    };
    check(&[refused("branch first")], &["user: branch first"]);
    let note = "no\n\nNote: The user's next message may contain a correction or preference.";
    check(&[refused(note)], &["user: no"]);
    check(&[refused(" ")], &["- ToolResult"]);
    let quoted = user(&json!([{"type": "tool_result", "content": "the user said:\nhi"}]));
    check(&[quoted], &["- ToolResult"]);
    let result = user(&json!([{"type": "tool_result", "content": "User has answered"}]));
    let answers = json!({"answers": {"Which colour?": "green", "Why?": "it is calm"}});
    let answered = with(result, "toolUseResult", answers);
    check(std::slice::from_ref(&answered), &["user: green\nit is calm"]);
    let asked = turns(HostKind::ClaudeCode, &[answered])[0].provenance["asked"].clone();
    assert_eq!(asked, json!(["Which colour?", "Why?"]));
}

#[test]
fn a_sub_agent_never_speaks_as_the_user() {
    let sidechain = |line: Value| with(line, "isSidechain", json!(true));
    check(&[sidechain(user(&json!("look around")))], &["agent: look around"]);
    check(&[sidechain(assistant(&json!("found")))], &["agent: found"]);
    check(&[sidechain(user(&json!("Warmup")))], &["- Meta"]);
    check(&[user(&json!("Warmup"))], &["user: Warmup"]);
    let source = Source { agent: Some("a7".to_owned()), ..Source::lines(HostKind::ClaudeCode) };
    let said = LineParser::new(&source).read(user(&json!("go")).to_string().as_bytes());
    assert_eq!(testing::tell(&said[0]), "agent: go");
}

#[test]
fn an_accepted_plan_is_the_assistants() {
    let line = with(user(&json!("Implement the plan")), "planContent", json!("the plan"));
    check(&[line], &["assistant: Implement the plan"]);
}

fn queue(operation: &str, content: Value) -> Value {
    let mut line = json!({"type": "queue-operation", "operation": operation});
    if !content.is_null() {
        line["content"] = content;
    }
    line
}

#[test]
fn a_prompt_taken_in_by_a_running_turn_is_found_in_the_queue() {
    let put = |text: &str| queue("enqueue", json!(text));
    let none = Value::Null;
    check(&[put("also this"), queue("remove", none.clone())], &["- Queue", "user: also this"]);
    let sent = [put("later"), queue("dequeue", none.clone()), user(&json!("later"))];
    check(&sent, &["- Queue", "- Queue", "user: later"]);
    let back = [put("no"), queue("popAll", none.clone()), queue("remove", none.clone())];
    check(&back, &["- Queue"; 3]);
    let mixed = [put("/model"), put("words"), queue("remove", none.clone())];
    check(&mixed, &["- Queue"; 3]);
    let note = [put("<task-notification>x</task-notification>"), put("words")];
    let lines = [note.as_slice(), &[queue("remove", none)]].concat();
    check(&lines, &["- Queue", "- Queue", "user: words"]);
}

#[test]
fn a_prompt_delivered_as_an_attachment_is_read_there_and_only_there() {
    let delivered = |fields: Value| {
        let mut line = json!({"type": "attachment", "uuid": "u", "attachment": fields});
        line["attachment"]["type"] = json!("queued_command");
        line
    };
    let text = delivered(json!({"prompt": "also this", "commandMode": "prompt"}));
    let lines = [
        delivered(json!({"prompt": [{"type": "text", "text": "one"}]})),
        queue("enqueue", json!("also this")),
        queue("remove", json!("also this")),
        text,
    ];
    check(&lines, &["user: one", "- Queue", "- Queue", "user: also this"]);
    for (fields, want) in [
        (json!({"prompt": "x", "commandMode": "task-notification"}), "- Notification"),
        (json!({"prompt": "x", "origin": {"kind": "peer"}}), "- Notification"),
        (json!({"prompt": "x", "isMeta": true}), "- Meta"),
        (json!({"prompt": "x", "origin": {"kind": "human"}}), "user: x"),
    ] {
        check(&[delivered(fields)], &[want]);
    }
}

#[test]
fn a_turn_takes_what_was_done_before_it() {
    let call = |tool: &str, path: &str| {
        let block = json!({"type": "tool_use", "name": tool, "input": {"file_path": path}});
        assistant(&json!([block]))
    };
    let lines = [
        user(&json!("go")),
        call("Read", "a.rs"),
        call("Edit", "a.rs"),
        assistant(&json!("done")),
        assistant(&json!("really")),
        call("Bash", ""),
        user(&json!("next")),
        assistant(&json!("yes")),
    ];
    let turns = turns(HostKind::ClaudeCode, &lines);
    let done: Vec<_> = turns.iter().map(|turn| Value::Object(turn.provenance.clone())).collect();
    let none = json!({});
    let did = json!({"tools": ["Read", "Edit"], "files": ["a.rs"]});
    assert_eq!(done, [none.clone(), did, none.clone(), none.clone(), none]);
}

#[test]
fn a_turn_takes_what_was_run_before_it_and_no_words_of_it() {
    let run =
        |command: &str| json!({"type": "tool_use", "name": "Bash", "input": {"command": command}});
    let lines = [
        user(&json!("test it")),
        assistant(&json!([run("cd app && flutter test --name 'pays twice'")])),
        user(&json!([{"type": "tool_result", "content": "All tests passed"}])),
        assistant(&json!([{"type": "text", "text": "They pass."}, run("git push origin main")])),
        assistant(&json!("And now?")),
    ];
    let turns = turns(HostKind::ClaudeCode, &lines);
    let run: Vec<_> = turns.iter().map(|turn| turn.provenance.get("commands").cloned()).collect();
    assert_eq!(run, [None, Some(json!(["flutter test", "git push"])), None]);
    assert_eq!(turns[1].text, "They pass.");
}

#[test]
fn what_the_host_knows_is_kept() {
    let line = json!({
        "type": "assistant", "uuid": "u1", "parentUuid": "u0", "cwd": "/p", "gitBranch": "main",
        "version": "2.1.0", "timestamp": "2026-05-01T10:00:00.123Z", "sessionId": "s",
        "isSidechain": true, "agentId": "a7", "message": {"model": "m", "content": "x"},
    });
    let turn = turns(HostKind::ClaudeCode, &[line]).remove(0);
    assert_eq!(turn.uuid.as_deref(), Some("u1"));
    assert_eq!(turn.session.as_deref(), Some("s"));
    assert_eq!(turn.cwd.as_deref(), Some("/p"));
    assert_eq!(turn.at.unwrap().to_string(), "2026-05-01T10:00:00.123Z");
    assert_eq!(
        Value::Object(turn.provenance),
        json!({
            "agent": "a7", "parent": "u0", "git_branch": "main", "host_version": "2.1.0",
            "model": "m",
        })
    );
}
