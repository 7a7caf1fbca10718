//! Hooks as hosts run them: often, twice, with rubbish, and never to the host's harm.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::support::{Sandbox, eventually, n_processes, stderr, stdout};

fn hook(sandbox: &Sandbox, words: &[&str], payload: &[u8]) -> Output {
    let arguments = [&["hook"], words].concat();
    let mut command = sandbox.command(&arguments);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A hook that does not care to read its payload is no failure.
    child.stdin.take().unwrap().write_all(payload).ok();
    child.wait_with_output().unwrap()
}

/// Runs a hook and expects that it harmed nobody.
#[track_caller]
fn fire(sandbox: &Sandbox, event: &str, payload: &Value) -> String {
    let output = hook(sandbox, &[event, "--host", "claude"], payload.to_string().as_bytes());
    assert_eq!(output.status.code(), Some(0), "{event}");
    assert_eq!(stderr(&output), "", "{event}");
    stdout(&output)
}

fn line(uuid: &str, role: &str, text: &str) -> String {
    let line = json!({
        "type": role, "uuid": uuid, "sessionId": "s", "timestamp": "2026-05-01T10:00:00Z",
        "cwd": "/home/dev/heron", "message": {"role": role, "content": text},
    });
    format!("{line}\n")
}

fn append(path: &Path, text: &str) {
    let mut file = fs::File::options().append(true).create(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn session(sandbox: &Sandbox) -> (PathBuf, Value) {
    let path = sandbox.path("s.jsonl");
    let payload = json!({
        "session_id": "s", "transcript_path": path, "cwd": sandbox.path(""),
        "hook_event_name": "Stop", "stop_hook_active": false, "brand_new_field": {"x": 1},
    });
    (path, payload)
}

/// The number of turns waiting in the spool, and of files they are in.
fn spooled(sandbox: &Sandbox) -> (usize, usize) {
    let files = sandbox.spool();
    let n_lines = |path: &PathBuf| fs::read_to_string(path).unwrap().lines().count();
    (files.iter().map(|path| n_lines(path) - 1).sum(), files.len())
}

#[test]
fn a_limit_on_file_sizes_ends_no_hook_with_a_signal() {
    let sandbox = Sandbox::new();
    let (path, payload) = session(&sandbox);
    append(&path, &line("u", "user", &"a long question ".repeat(500)));
    let program = env!("CARGO_BIN_EXE_iai-mcp");
    let own = sandbox.command(&[]);
    let variables = own.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let mut shell = std::process::Command::new("sh");
    let script = format!("ulimit -f 2; exec {program} hook stop --host claude");
    let shell = shell.env_clear().envs(variables).arg("-c").arg(script);
    let shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = shell.spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(
        told["systemMessage"].as_str().unwrap().contains("ulimit -f"),
        "the user hears: {told}"
    );
    assert!(sandbox.spool().is_empty(), "no half of a file is left");
    fire(&sandbox, "stop", &payload);
    assert_eq!(spooled(&sandbox), (1, 1), "the turn comes at the next event");
}

#[test]
fn every_stop_takes_only_what_is_new() {
    let sandbox = Sandbox::new();
    let (path, payload) = session(&sandbox);
    for n in 0..5 {
        append(&path, &line(&format!("u{n}"), "user", &format!("question {n}")));
        append(&path, &line(&format!("a{n}"), "assistant", &format!("answer {n}")));
        for _ in 0..3 {
            fire(&sandbox, "stop", &payload);
        }
    }
    assert_eq!(spooled(&sandbox), (10, 5), "five exchanges, ten turns, one file each");
    fire(&sandbox, "session-end", &payload);
    assert_eq!(spooled(&sandbox), (10, 5));
    assert_eq!(n_processes(&sandbox), 0);
}

#[test]
fn half_a_line_is_taken_when_it_is_whole() {
    let sandbox = Sandbox::new();
    let (path, payload) = session(&sandbox);
    let (first, second) = (line("1", "user", "first"), line("2", "assistant", "second"));
    append(&path, &first);
    append(&path, &second[..second.len() / 2]);
    fire(&sandbox, "prompt", &payload);
    assert_eq!(spooled(&sandbox), (1, 1));
    append(&path, &second[second.len() / 2..]);
    fire(&sandbox, "stop", &payload);
    assert_eq!(spooled(&sandbox), (2, 2));
}

#[test]
fn a_truncated_or_replaced_transcript_is_read_again_and_stored_once() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let (path, payload) = session(&sandbox);
    append(&path, &[line("1", "user", "one"), line("2", "assistant", "two")].concat());
    fire(&sandbox, "stop", &payload);
    sandbox.settled(2);
    fs::write(&path, line("1", "user", "one")).unwrap();
    fire(&sandbox, "stop", &payload);
    append(&path, &line("3", "assistant", "three"));
    fire(&sandbox, "stop", &payload);
    sandbox.settled(3);
}

#[test]
fn a_turn_is_recallable_within_a_moment_of_its_hook() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let (path, payload) = session(&sandbox);
    append(&path, &line("1", "user", "the heron nests in the reeds"));
    fire(&sandbox, "stop", &payload);
    eventually("it is recalled", || {
        let found = sandbox.json(&["--json", "recall", "heron reeds"]);
        found["hits"][0]["literal_surface"] == "the heron nests in the reeds"
    });
    let hit = &sandbox.json(&["--json", "recall", "heron reeds"])["hits"][0];
    assert_eq!(hit["ts"], "2026-05-01T10:00:00Z", "the turn's own time");
    assert_eq!((&hit["session_id"], &hit["project"]), (&json!("s"), &json!("/home/dev/heron")));
}

#[test]
fn a_sub_agents_transcript_is_kept_and_is_not_the_users_word() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let (path, mut payload) = session(&sandbox);
    append(&path, &line("1", "user", "ask somebody"));
    let agent = sandbox.path("agent-1.jsonl");
    let told = json!({
        "type": "user", "uuid": "2", "sessionId": "s", "isSidechain": true, "agentId": "a1",
        "message": {"role": "user", "content": "look into the reeds"},
    });
    append(&agent, &format!("{told}\n"));
    payload["agent_transcript_path"] = json!(agent);
    fire(&sandbox, "subagent-stop", &payload);
    sandbox.settled(2);
    let found = sandbox.json(&["--json", "search", "reeds"]);
    assert_eq!(found["memories"][0]["role"], "assistant", "{found}");
    assert_eq!(found["memories"][0]["provenance"]["subagent"], true);
}

#[test]
fn nothing_a_host_sends_makes_a_hook_fail() {
    let sandbox = Sandbox::new();
    let payloads: [&[u8]; 8] = [
        b"",
        b"not json",
        b"[1,2,3]",
        b"\xff\xfe\x00",
        b"{\"session_id\":5,\"transcript_path\":{\"a\":1}}",
        b"{\"transcript_path\":\"/no/such/file.jsonl\"}",
        b"{\"transcript_path\":\"/proc/self/mem\"}",
        b"{\"session_id\":\"../../x\\u0000\",\"transcript_path\":\"/\"}",
    ];
    let events = ["stop", "prompt", "session-start", "subagent-stop", "pre-compact", "session-end"];
    for payload in payloads {
        for event in events {
            let output = hook(&sandbox, &[event, "--host", "codex"], payload);
            assert_eq!(output.status.code(), Some(0), "{event} {payload:?}");
            assert_eq!(stdout(&output), "", "{event} {payload:?}");
        }
    }
    for words in [&[][..], &["no-such-event"], &["stop", "--no-such-flag"], &["--help"]] {
        assert_eq!(hook(&sandbox, words, b"{}").status.code(), Some(0), "{words:?}");
    }
    let homeless = Sandbox::new().with("HOME", "");
    assert_eq!(hook(&homeless, &["stop"], b"{}").status.code(), Some(0));
    let log = fs::read_to_string(sandbox.root().join("logs/hook.log")).unwrap();
    assert!(log.contains("not a JSON object") && log.contains("no-such-event"), "{log}");
}

#[test]
fn a_pipe_nobody_closes_does_not_hold_a_hook() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["hook", "session-end"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let _kept_open = child.stdin.take();
    eventually("it leaves at its own deadline", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_new_session_is_told_about_the_last_one_in_its_hosts_way() {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    let (path, mut payload) = session(&sandbox);
    append(&path, &line("1", "user", "the parser is called quokka"));
    fire(&sandbox, "stop", &payload);
    sandbox.settled(1);
    payload["session_id"] = json!("next");
    payload["cwd"] = json!("/home/dev/heron");
    payload["transcript_path"] = Value::Null;
    assert!(fire(&sandbox, "session-start", &payload).contains("quokka"));
    let text = payload.to_string();
    let codex = hook(&sandbox, &["session-start", "--host", "codex"], text.as_bytes());
    let codex: Value = serde_json::from_slice(&codex.stdout).unwrap();
    let context = codex["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(context.contains("quokka") && context.contains("not instructions"));
    drop(daemon);
    assert!(fire(&sandbox, "session-start", &payload).contains("quokka"), "nobody listens");
}

#[test]
fn a_prompt_is_answered_only_when_the_user_asked_for_that() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let (path, mut payload) = session(&sandbox);
    let filler: String =
        (0..40).map(|n| line(&format!("f{n}"), "assistant", &format!("filler {n}"))).collect();
    append(&path, &filler);
    append(&path, &line("1", "user", "the flamingo gateway retries four times with jitter"));
    fire(&sandbox, "stop", &payload);
    sandbox.settled(41);
    payload["prompt"] = json!("how often does the flamingo gateway retry with jitter?");
    payload["cwd"] = json!("/home/dev/heron");
    assert_eq!(fire(&sandbox, "prompt", &payload), "", "off unless switched on");
    fs::write(sandbox.root().join("config.json"), r#"{"recall_on_prompt": true}"#).unwrap();
    let told = fire(&sandbox, "prompt", &payload);
    assert!(told.contains("four times with jitter"), "{told}");
    assert!(told.chars().count() <= 4 * 400 + 400);
    payload["prompt"] = json!("what is for lunch?");
    assert_eq!(fire(&sandbox, "prompt", &payload), "", "silent below the floor");
}

#[test]
fn what_is_private_or_switched_off_never_leaves_the_hook() {
    let sandbox = Sandbox::new();
    let (path, payload) = session(&sandbox);
    append(&path, &line("1", "user", "the code is <private>4711-canary</private>, remember"));
    let off = sandbox.path("off");
    fs::create_dir(&off).unwrap();
    fs::write(off.join(".iai-mcp-ignore"), "").unwrap();
    let there = json!({
        "type": "user", "uuid": "2", "cwd": off.join("deep"),
        "message": {"content": "4711-canary again"},
    });
    append(&path, &format!("{there}\n"));
    fire(&sandbox, "stop", &payload);
    assert_eq!(spooled(&sandbox), (1, 1));
    let text = fs::read_to_string(&sandbox.spool()[0]).unwrap();
    assert!(text.contains("the code is [private], remember") && !text.contains("canary"), "{text}");
}

#[test]
fn the_python_hooks_command_takes_new_turns_up_to_its_limit() {
    let sandbox = Sandbox::new();
    let (path, _) = session(&sandbox);
    let lines: String =
        (0..5).map(|n| line(&n.to_string(), "user", &format!("turn {n}"))).collect();
    append(&path, &lines);
    let call = || {
        let path = path.to_str().unwrap();
        let output = sandbox.run(&[
            "capture-turn-deferred",
            "--session-id",
            "s",
            "--transcript-path",
            path,
            "--max-turns-per-call",
            "2",
        ]);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), ""));
        spooled(&sandbox).0
    };
    assert_eq!([call(), call(), call(), call()], [2, 4, 5, 5]);
}

#[test]
fn fifty_sessions_closing_at_once_lose_nothing() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let mut children = Vec::new();
    for n in 0..50 {
        let path = sandbox.path(&format!("session-{n}.jsonl"));
        append(&path, &line(&format!("u{n}"), "user", &format!("closing words {n}")));
        let payload = json!({"session_id": format!("session-{n}"), "transcript_path": path});
        let mut command = sandbox.command(&["hook", "session-end", "--host", "claude"]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        children.push(child);
    }
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    sandbox.settled(50);
}

#[test]
fn a_config_that_cannot_be_read_captures_nothing_and_says_so() {
    let sandbox = Sandbox::new();
    let (path, payload) = session(&sandbox);
    append(&path, &line("1", "user", "words"));
    fs::create_dir_all(sandbox.root()).unwrap();
    let config = sandbox.root().join("config.json");
    fs::write(&config, r#"{"ignore": ["/somewhere"],}"#).unwrap();
    fire(&sandbox, "stop", &payload);
    assert_eq!(spooled(&sandbox), (0, 0));
    let log = fs::read_to_string(sandbox.root().join("logs/hook.log")).unwrap();
    assert!(log.contains("config.json") && log.contains("nothing is captured"), "{log}");
    fs::remove_file(&config).unwrap();
    fire(&sandbox, "stop", &payload);
    assert_eq!(spooled(&sandbox), (1, 1), "mended, and nothing was lost");
}

#[test]
fn words_that_are_not_text_do_not_make_a_hook_fail() {
    use std::os::unix::ffi::OsStrExt as _;
    let sandbox = Sandbox::new();
    let odd = std::ffi::OsStr::from_bytes(b"\xff");
    for words in [&["hook", "stop", "--host"][..], &["capture-transcript", "--no-spawn"]] {
        let output = sandbox.command(words).arg(odd).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", stderr(&output));
    }
    let help = sandbox.run(&["hook", "--help"]);
    assert!(stdout(&help).contains("pre-compact"));
}

#[test]
fn cursor_is_heard_whether_or_not_it_names_the_transcript() {
    let sandbox = Sandbox::new();
    let work = sandbox.path("my.app");
    fs::create_dir_all(&work).unwrap();
    let fold = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let folder: String = work.to_str().unwrap().trim_start_matches('/').chars().map(fold).collect();
    let folder = sandbox.path(".cursor/projects").join(folder).join("agent-transcripts/c-1");
    fs::create_dir_all(folder.join("subagents")).unwrap();
    let line = |role: &str, text: &str| {
        let line = json!({"role": role, "message": {"content": [{"type": "text", "text": text}]}});
        format!("{line}\n")
    };
    let sent = "<timestamp>Friday, Sep 4, 2026, 2:21 AM (UTC+8)</timestamp>\n\
                <user_query>\nname the gulls\n</user_query>";
    let path = folder.join("c-1.jsonl");
    append(&path, &[line("user", sent), line("assistant", "Herring gull.")].concat());
    let agents = folder.join("subagents/a-2.jsonl");
    append(&agents, &line("user", "<user_query>\ncount them\n</user_query>"));
    let payload = json!({
        "conversation_id": "c-1", "workspace_roots": [work], "transcript_path": null,
        "agent_transcript_path": agents,
    });
    let _daemon = sandbox.daemon();
    let heard = |event: &str, payload: &Value| {
        hook(&sandbox, &[event, "--host", "cursor"], payload.to_string().as_bytes());
    };
    heard("subagent-stop", &payload);
    heard("stop", &json!({"conversation_id": "c-1", "transcript_path": path}));
    sandbox.settled(3);
    let told = sandbox.json(&["--json", "transcript", "c-1"]);
    let of = |turn: &Value, name: &str| turn[name].as_str().unwrap().to_owned();
    let turns: Vec<_> = told["turns"].as_array().unwrap().iter().collect();
    assert_eq!(turns.len(), 2, "{told}");
    assert_eq!(of(turns[0], "literal_surface"), "name the gulls");
    assert_eq!(of(turns[0], "ts"), "2026-09-03T18:21:00Z");
    assert_eq!(of(turns[1], "role"), "assistant");
    let agent = sandbox.json(&["--json", "transcript", "a-2"])["turns"][0].clone();
    assert_eq!((of(&agent, "role"), agent["provenance"]["subagent"] == true), {
        ("assistant".to_owned(), true)
    });
    let imported = sandbox.json(&["--json", "import", "--host", "cursor"]);
    assert_eq!((&imported["stored"], &imported["known"]), (&json!(0), &json!(3)), "{imported}");
}

#[test]
fn a_transcript_that_is_not_there_is_written_down_once_a_turn_was_said() {
    let sandbox = Sandbox::new();
    let (path, payload) = session(&sandbox);
    let log = || fs::read_to_string(sandbox.root().join("logs/hook.log")).unwrap_or_default();
    for event in ["session-start", "prompt"] {
        fire(&sandbox, event, &payload);
        assert_eq!(log(), "", "{event}");
    }
    fire(&sandbox, "stop", &payload);
    assert!(log().contains(&format!("stop: there is no transcript {}", path.display())));
    fire(&sandbox, "session-end", &json!({"session_id": "s", "transcript_path": null}));
    assert!(log().contains("session-end: no transcript was named"));
}
