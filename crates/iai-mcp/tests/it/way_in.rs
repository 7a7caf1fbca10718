//! A turn's way from a transcript to an answer, daemon up or down, delivered once or often.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use serde_json::json;

use crate::support::{Mcp, Sandbox, eventually};

const CANARY: &str = "The canary sings at the Vltava bridge at half past four";

#[test]
fn a_captured_turn_is_recalled_through_mcp_byte_for_byte() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let text = "  Retry policy: 4 attempts,\n\ttabs, émojis 🦀 and \u{0} NUL kept  ";
    let transcript = sandbox.transcript("t.jsonl", &[text, "noted"]);
    sandbox.capture("s", &transcript);
    sandbox.settled(2);
    let answer = Mcp::start(&sandbox).ask("memory_recall", json!({"cue": "retry policy attempts"}));
    assert_eq!(answer["hits"][0]["literal_surface"], text);
    assert_eq!(answer["hits"][0]["role"], "user");
}

#[test]
fn turns_captured_before_any_daemon_ran_are_stored_when_one_does() {
    let sandbox = Sandbox::new();
    let transcript = sandbox.transcript("t.jsonl", &[CANARY, "yes", "use B"]);
    sandbox.capture("s", &transcript);
    let _daemon = sandbox.daemon();
    sandbox.settled(3);
    assert!(sandbox.spool().is_empty());
}

#[test]
fn delivering_a_turn_again_stores_nothing_new() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let transcript = sandbox.transcript("t.jsonl", &["yes", "and?", "yes"]);
    for _ in 0..5 {
        sandbox.capture("s", &transcript);
    }
    sandbox.settled(3);
    let path = transcript.to_str().unwrap();
    let again = sandbox.json(&["capture-transcript", "--session-id", "s", path]);
    assert_eq!((&again["inserted"], &again["reinforced"]), (&json!(0), &json!(3)));
    sandbox.settled(3);
    sandbox.capture("another session", &transcript);
    sandbox.settled(6);
}

#[test]
fn thirty_six_turns_are_thirty_six_memories() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    for session in ["a", "b", "c"] {
        let turns: Vec<String> =
            (0..12).map(|n| format!("{session}: step {n} of the plan")).collect();
        let turns: Vec<&str> = turns.iter().map(String::as_str).collect();
        let transcript = sandbox.transcript(&format!("{session}.jsonl"), &turns);
        sandbox.capture(session, &transcript);
    }
    sandbox.settled(36);
}

#[test]
fn a_bad_spool_line_costs_only_itself() {
    let sandbox = Sandbox::new();
    let transcript = sandbox.transcript("t.jsonl", &["before", "after"]);
    sandbox.capture("s", &transcript);
    let file = sandbox.spool().remove(0);
    let text = fs::read_to_string(&file).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let role = r#"{"text":"x","cue":"","tier":"episodic","role":"wizard","ts":""}"#;
    lines.splice(2..2, ["{broken", "[1,2]", role]);
    fs::write(&file, lines.join("\n")).unwrap();
    let _daemon = sandbox.daemon();
    let status = sandbox.settled(2);
    assert_eq!(status["failed"], 3);
    assert!(sandbox.spool().is_empty());
    let mut mcp = Mcp::start(&sandbox);
    let events = mcp.ask("events_query", json!({"kind": "permanent_capture_failure"}));
    assert_eq!(events["events"][0]["data"]["lines"], 3);
}

/// A spool file has its name before it is synced: what a power cut leaves of it, sealed or not,
/// must neither stay for ever nor keep its turns from being delivered again.
#[test]
fn a_spool_file_torn_by_a_power_cut_is_no_obstacle() {
    let sandbox = Sandbox::new();
    let transcript = sandbox.transcript("t.jsonl", &[CANARY, "noted"]);
    sandbox.capture("s", &transcript);
    tear(&sandbox.spool().remove(0));
    let daemon = sandbox.daemon();
    eventually("what is torn in clear is gone", || sandbox.spool().is_empty());
    daemon.stop();
    sandbox.capture("s", &transcript);
    tear(&sandbox.spool().remove(0));
    let _daemon = sandbox.daemon();
    eventually("what is torn and sealed is gone", || sandbox.spool().is_empty());
    sandbox.capture("s", &transcript);
    sandbox.settled(2);
}

/// Leaves the beginnings of a file where it was, each under a name of its own.
fn tear(file: &Path) {
    const PIECES: usize = 24;
    let whole = fs::read(file).unwrap();
    fs::remove_file(file).unwrap();
    for piece in 0..PIECES {
        let name = format!("s-{piece}-torn.jsonl");
        fs::write(file.with_file_name(name), &whole[..whole.len() * piece / PIECES]).unwrap();
    }
}

#[test]
fn the_python_programs_spool_is_read() {
    let sandbox = Sandbox::new();
    let folder = sandbox.root().join(".deferred-captures");
    fs::create_dir_all(&folder).unwrap();
    let mut file = fs::File::create(folder.join("py.live-17.jsonl")).unwrap();
    writeln!(
        file,
        r#"{{"version":1,"deferred_at":"2026-05-01T00:00:00+00:00","session_id":"py","cwd":"/p"}}"#
    )
    .unwrap();
    for second in 0..3 {
        let event = json!({
            "text": "the same words", "cue": "session py turn", "tier": "episodic", "role": "user",
            "ts": format!("2026-05-01T00:00:0{second}+00:00"),
        });
        writeln!(file, "{event}").unwrap();
    }
    fs::write(folder.join("newer.jsonl"), "{\"version\":7}\n{}\n").unwrap();
    let _daemon = sandbox.daemon();
    eventually("three turns are stored", || {
        sandbox.status().is_some_and(|status| status["stored"] == 3)
    });
    // A file goes once its turns are on disk, and they are counted from then on.
    eventually("only the file of a newer version is left", || {
        let left = sandbox.spool();
        left.len() == 1 && left[0].ends_with("newer.jsonl")
    });
}

#[test]
fn a_live_buffer_is_left_alone_until_it_falls_quiet() {
    let sandbox = Sandbox::new();
    let folder = sandbox.root().join(".deferred-captures");
    fs::create_dir_all(&folder).unwrap();
    let line = r#"{"text":"still typing","cue":"","tier":"episodic","role":"user","ts":"t"}"#;
    let text = format!("{{\"version\":1,\"session_id\":\"s\"}}\n{line}\n");
    fs::write(folder.join("busy.live.jsonl"), &text).unwrap();
    fs::write(folder.join("quiet.live.jsonl"), &text).unwrap();
    let quiet = fs::File::options().write(true).open(folder.join("quiet.live.jsonl")).unwrap();
    quiet.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let _daemon = sandbox.daemon();
    eventually("the quiet one is stored and the busy one waits", || {
        sandbox.status().is_some_and(|status| status["stored"] == 1 && status["pending"] == 1)
    });
    assert_eq!(sandbox.spool(), [folder.join("busy.live.jsonl")]);
}

#[test]
fn with_the_daemon_gone_reads_are_degraded_and_captures_wait() {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    let mut mcp = Mcp::start(&sandbox);
    let kept = mcp.ask("memory_capture", json!({"text": CANARY, "session_id": "s"}));
    assert_eq!(kept["status"], "inserted");
    let place = &sandbox.json(&["--json", "list"])["memories"][0]["project"];
    assert_eq!(place, sandbox.path("").to_str().unwrap().trim_end_matches('/'));
    assert_eq!(daemon.stop(), Some(0));

    let answer = mcp.ask("memory_recall", json!({"cue": "canary bridge"}));
    assert_eq!(answer["degraded"], true);
    let hint = &answer["hints"][0];
    assert!(hint["text"].as_str().unwrap().starts_with("the daemon is not running"), "{hint}");
    assert_eq!(answer["hits"][0]["literal_surface"], CANARY);
    let later = mcp.ask("memory_capture", json!({"text": "kept for later", "session_id": "s"}));
    assert_eq!((&later["status"], &later["degraded"]), (&json!("deferred"), &json!(true)));
    let refused = mcp.tool(
        "profile_get_set",
        json!({"operation": "set", "knob": "masking_off", "value": false}),
    );
    assert_eq!(refused["isError"], true);
    assert_eq!(sandbox.spool().len(), 1);

    let _daemon = sandbox.daemon();
    sandbox.settled(2);
    let answer = mcp.ask("memory_recall", json!({"cue": "kept for later"}));
    assert_eq!(answer["degraded"], json!(null), "the same process found the new daemon");
    assert_eq!(answer["hits"][0]["literal_surface"], "kept for later");
    let again = mcp.ask("memory_capture", json!({"text": "kept for later", "session_id": "s"}));
    assert_eq!(again["status"], "reinforced", "the spool and the socket agree on identity");
}

#[test]
fn a_long_turn_keeps_every_byte() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let text = format!("begin {} end", "lorem ipsum ".repeat(200_000));
    let transcript = sandbox.transcript("t.jsonl", &[&text]);
    sandbox.capture("s", &transcript);
    sandbox.settled(1);
    let listed = sandbox.json(&["--json", "list"]);
    let id = listed["memories"][0]["record_id"].as_str().unwrap();
    let shown = sandbox.json(&["--json", "show", id]);
    assert!(shown["literal_surface"] == text.as_str(), "the whole text, in several answers");
    let excerpt = sandbox.json(&["--json", "recall", "lorem begin", "--budget", "500"]);
    let hit = &excerpt["hits"][0];
    assert_eq!(hit["excerpt"]["total"], text.chars().count());
    assert!(text.contains(hit["literal_surface"].as_str().unwrap()));
}

/// A Cursor transcript, whose turns have no ids: where they stand tells them apart.
fn cursor_transcript(sandbox: &Sandbox, session: &str, turns: &[&str]) -> String {
    let folder = sandbox.path(".cursor/projects/p/agent-transcripts").join(session);
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{session}.jsonl"));
    let line = |(place, text): (usize, &&str)| {
        let role = ["user", "assistant"][place % 2];
        let line = json!({"role": role, "message": {"content": [{"type": "text", "text": text}]}});
        format!("{line}\n")
    };
    fs::write(&path, turns.iter().enumerate().map(line).collect::<String>()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_transcript_by_itself_is_of_the_session_that_it_names() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let one = cursor_transcript(&sandbox, "c-1", &["hello", "hi there"]);
    let two = cursor_transcript(&sandbox, "c-2", &["hello", "hi there"]);
    for path in [&one, &two] {
        let done = sandbox.json(&["capture-transcript", path]);
        assert_eq!((&done["inserted"], &done["reinforced"]), (&json!(2), &json!(0)), "{done}");
    }
    sandbox.json(&["--json", "import"]);
    sandbox.settled(4);
    sandbox.json(&["--json", "forget", "--session", "c-1", "--yes"]);
    sandbox.settled(2);
    for words in [&["capture-transcript", &one][..], &["--json", "import"]] {
        sandbox.json(words);
        sandbox.settled(2);
    }
}

#[test]
fn a_file_of_two_sessions_gives_each_its_own_and_told_older_turns() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let line = |(place, session): (usize, &str)| {
        let message = json!({"role": "user", "content": format!("turn {place}")});
        let line = json!({"type": "user", "sessionId": session, "message": message});
        format!("{line}\n")
    };
    let path = sandbox.path("both.jsonl");
    let sessions = ["old", "old", "first", "first", "second"];
    fs::write(&path, sessions.into_iter().enumerate().map(line).collect::<String>()).unwrap();
    let path = path.to_str().unwrap();
    let done = sandbox.json(&["capture-transcript", "--max-turns", "3", path]);
    assert_eq!(done, json!({"inserted": 3, "reinforced": 0, "skipped": 2, "errors": 0}));
    sandbox.json(&["--json", "forget", "--session", "second", "--yes"]);
    sandbox.settled(2);
}
