//! The founding contract, S1 to S17.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Mcp, Sandbox, eventually, n_processes, stdout};

const TURNS: [&str; 3] = ["hello world", "hi back at you", "third turn here"];

fn lines(path: &std::path::Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_deferred_capture_writes_one_private_v1_file_and_starts_nothing() {
    let sandbox = Sandbox::new();
    let transcript = sandbox.transcript("t.jsonl", &TURNS);
    let answer = sandbox.capture("test-r3", &transcript);
    assert_eq!(answer["status"], "deferred");
    assert_eq!(n_processes(&sandbox), 0);
    let files = sandbox.spool();
    let [file] = files.as_slice() else { panic!("{files:?}") };
    assert_eq!(answer["path"], file.to_str().unwrap());
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("test-r3-") && name.ends_with(".jsonl"), "{name}");
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    let lines = lines(file);
    assert_eq!(lines.len(), 4);
    assert_eq!((&lines[0]["version"], &lines[0]["session_id"]), (&json!(1), &json!("test-r3")));
    assert!(lines[0]["deferred_at"].is_string());
    assert!(!lines[0]["cwd"].as_str().unwrap().is_empty());
    for ((event, text), role) in lines[1..].iter().zip(TURNS).zip(["user", "assistant", "user"]) {
        assert_eq!((&event["text"], &event["role"]), (&json!(text), &json!(role)));
        assert_eq!(event["tier"], "episodic");
        assert!(event.get("cue").is_some() && event["ts"].is_string());
    }
}

#[test]
fn a_missing_transcript_gives_a_header_and_no_error() {
    let sandbox = Sandbox::new();
    sandbox.capture("unit-f", &sandbox.path("none.jsonl"));
    assert_eq!(lines(&sandbox.spool()[0]).len(), 1);
}

#[test]
fn the_help_names_the_flag() {
    let output = Sandbox::new().run(&["capture-transcript", "--help"]);
    assert!(output.status.success() && stdout(&output).contains("--no-spawn"));
}

#[test]
fn without_the_flag_a_missing_file_is_reported_and_nothing_is_deferred() {
    let sandbox = Sandbox::new();
    let path = sandbox.path("no-such-file.jsonl");
    let answer = sandbox.json(&["capture-transcript", path.to_str().unwrap()]);
    assert_eq!(answer["errors"], 1);
    assert!(sandbox.spool().is_empty());
}

#[test]
fn three_closings_at_once_give_three_files() {
    let sandbox = Sandbox::new();
    let transcript = sandbox.transcript("t.jsonl", &TURNS);
    let path = transcript.to_str().unwrap();
    let start = || {
        let arguments = ["capture-transcript", "--no-spawn", "--session-id", "s0", path];
        sandbox.command(&arguments).stdout(Stdio::null()).spawn().unwrap()
    };
    let children = [start(), start(), start()];
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(sandbox.spool().len(), 3);
}

#[test]
fn a_session_id_cannot_leave_the_folder() {
    let sandbox = Sandbox::new();
    let transcript = sandbox.transcript("t.jsonl", &TURNS);
    sandbox.capture("../../evil", &transcript);
    let files = sandbox.spool();
    assert_eq!(files.len(), 1);
    assert_eq!(lines(&files[0])[0]["session_id"], "../../evil");
}

#[test]
fn only_the_newest_turns_are_taken_when_asked_so() {
    let sandbox = Sandbox::new();
    let transcript = sandbox.transcript("t.jsonl", &TURNS);
    let path = transcript.to_str().unwrap();
    let answer = sandbox.json(&["capture-transcript", "--no-spawn", "--max-turns", "1", path]);
    assert_eq!((&answer["turns"], &answer["older"]), (&json!(1), &json!(2)));
    assert_eq!(lines(&sandbox.spool()[0])[1]["text"], TURNS[2]);
}

#[test]
fn without_a_daemon_the_mcp_process_answers_and_starts_none() {
    let sandbox = Sandbox::new();
    let mut mcp = Mcp::start(&sandbox);
    assert_eq!(mcp.initialized["result"]["protocolVersion"], "2025-03-26");
    let tools = mcp.request("tools/list", &json!({}));
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 15);
    let recall = mcp.tool("memory_recall", json!({"cue": "anything", "budget_tokens": 50}));
    assert_eq!(recall["isError"], true);
    assert!(recall["content"][0]["text"].as_str().unwrap().contains("daemon start"), "{recall}");
    assert_eq!(n_processes(&sandbox), 1, "the MCP process alone");
    assert_eq!(mcp.hang_up(), Some(0));
}

#[test]
fn four_short_lived_mcp_processes_share_one_daemon() {
    let sandbox = Sandbox::new().with("IAI_DAEMON_IDLE_SHUTDOWN_SECS", "120");
    let daemon = sandbox.daemon();
    for round in 0..4 {
        let mut mcp = Mcp::start(&sandbox);
        let recall = mcp.tool("memory_recall", json!({"cue": "x y", "budget_tokens": 50}));
        assert_eq!(recall["isError"], false, "round {round}: {recall}");
        std::process::Command::new("kill").arg(mcp.pid().to_string()).status().unwrap();
        mcp.wait();
        eventually("only the daemon is left", || n_processes(&sandbox) == 1);
    }
    assert_eq!(daemon.stop(), Some(0));
    assert!(!sandbox.socket().exists());
}

#[test]
fn the_socket_path_defaults_to_the_home() {
    let sandbox = Sandbox::new().with("IAI_DAEMON_SOCKET_PATH", "");
    let _daemon = sandbox.daemon_starting();
    eventually("the default socket", || sandbox.root().join(".daemon.sock").exists());
    let mut mcp = Mcp::start(&sandbox);
    mcp.ask("memory_recall", json!({"cue": "anything at all"}));
}
