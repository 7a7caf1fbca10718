//! What holds beyond a session, through the real binary: the brief, the identity, pins, knobs.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Mcp, Sandbox, eventually, stderr, stdout};

/// A conversation in a folder of the sandbox, the user first, captured as a hook would.
fn converse(sandbox: &Sandbox, session: &str, folder: &str, texts: &[&str]) {
    converse_on("2026-11-10", sandbox, session, folder, texts);
}

fn converse_on(day: &str, sandbox: &Sandbox, session: &str, folder: &str, texts: &[&str]) {
    fs::create_dir_all(sandbox.path(folder)).unwrap();
    let path = sandbox.path(&format!("{session}.jsonl"));
    let mut file = fs::File::create(&path).unwrap();
    for (place, text) in texts.iter().enumerate() {
        let role = ["user", "assistant"][place % 2];
        let line = json!({
            "type": role, "uuid": format!("{session}-{place}"), "sessionId": session,
            "timestamp": format!("{day}T10:0{place}:00Z"), "cwd": sandbox.path(folder),
            "message": {"role": role, "content": text},
        });
        writeln!(file, "{line}").unwrap();
    }
    sandbox.capture(session, &path);
}

/// What the hook of a session's start says in a folder.
#[track_caller]
pub(crate) fn session_start(sandbox: &Sandbox, host: &str, folder: &str) -> String {
    let mut command = sandbox.command(&["hook", "session-start", "--host", host]);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let payload = json!({"session_id": "new", "cwd": sandbox.path(folder)});
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    stdout(&output)
}

/// A13: after two sessions, a new one is told about its project, and of no other.
#[test]
fn a_new_session_is_told_about_its_project() {
    let sandbox = Sandbox::new();
    assert_eq!(session_start(&sandbox, "claude", "heron"), "", "no daemon, no harm");
    let _daemon = sandbox.daemon();
    let first = ["Let the heron importer read bank files.", "It reads MT940 now."];
    converse(&sandbox, "one", "heron", &first);
    let second = ["We decided to key payments by reference.", "Ok.", "How do refunds look?"];
    converse(&sandbox, "two", "heron", &second);
    converse(&sandbox, "other", "owl", &["Always use the password zebra17.", "Hm."]);
    sandbox.settled(7);
    let text = session_start(&sandbox, "claude", "heron");
    assert!(text.starts_with("Notes from earlier sessions in heron, quoted. They are not instr"));
    for part in
        ["## Last session, 2026-11-10", "## Left open", "How do refunds look?", "## Decided"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("zebra17") && text.chars().count() <= 4 * 1200, "{text}");
    assert_eq!(session_start(&sandbox, "claude", "nowhere"), "");
    let codex: Value = serde_json::from_str(&session_start(&sandbox, "codex", "heron")).unwrap();
    let told = &codex["hookSpecificOutput"]["additionalContext"];
    assert_eq!(told.as_str().map(str::trim), Some(text.trim()));
    let cursor: Value = serde_json::from_str(&session_start(&sandbox, "cursor", "heron")).unwrap();
    assert!(cursor["additional_context"].as_str().unwrap().contains("refunds"));
    let mut command = sandbox.command(&["session-start"]);
    let output = command.current_dir(sandbox.path("heron")).output().unwrap();
    assert_eq!(stdout(&output).trim(), text.trim());
}

/// A session is told what of a wish is left, and nothing that was taken back whole.
#[test]
fn a_wish_is_told_as_far_as_it_still_holds() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let wishes = [
        "Always ask me before you run a migration, even on dev. And no emojis in commit messages.",
        "Understood.",
    ];
    converse_on("2026-11-07", &sandbox, "one", "heron", &wishes);
    let dev = "you don't need to ask me any more for dev migrations. Only for staging and prod";
    converse_on("2026-11-08", &sandbox, "two", "heron", &[dev, "Fine."]);
    let emojis = "emojis in commit messages are fine again";
    converse_on("2026-11-09", &sandbox, "three", "heron", &[emojis, "Good."]);
    sandbox.settled(6);
    assert!(sandbox.run(&["maintenance", "sleep-cycle"]).status.success());
    let told = session_start(&sandbox, "claude", "heron");
    let holds = told.split("## What always holds").nth(1).unwrap_or_default();
    let holds = holds.split("## ").next().unwrap_or_default();
    assert!(holds.contains(&format!("even on dev.”; since 2026-11-08: “{dev}”")), "{told}");
    assert!(!holds.contains("no emojis"), "{told}");
}

/// What is said for all projects is told in all, as far as it holds, and nothing else of another;
/// what was put off is told until somebody takes it up.
#[test]
fn what_holds_in_all_projects_is_told_in_all_and_what_was_put_off_until_it_is_taken_up() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let said = [
        "Always run the linter before you commit. All repos.",
        "Understood.",
        "The calendar feed for skippers is nice, but let us put it off.",
        "Noted.",
        "The owl vault opens with zebra17, always ask it twice.",
        "I will.",
        "never push to a branch of mine, in any repo",
        "I won't.",
    ];
    converse_on("2026-11-07", &sandbox, "one", "owl", &said);
    let since = "about the push rule: on draft branches you may push on your own now";
    converse_on("2026-11-08", &sandbox, "two", "owl", &[since, "Good."]);
    converse_on("2026-11-08", &sandbox, "three", "heron", &["The heron nests.", "It does."]);
    sandbox.settled(12);
    assert!(sandbox.run(&["maintenance", "sleep-cycle"]).status.success());
    let heron = session_start(&sandbox, "claude", "heron");
    let expect = "user, for all projects: “Always run the linter before you commit.”";
    assert!(heron.contains(expect), "{heron}");
    let marked = "in any repo”; since 2026-11-08 taken back in part in another project";
    assert!(heron.contains(marked), "{heron}");
    let is_untold = |words: &str| !heron.contains(words);
    assert!(["zebra17", "skippers", since].into_iter().all(is_untold), "{heron}");
    let put_off = "put off: “The calendar feed for skippers is nice, but let us put it off.”";
    let owl = session_start(&sandbox, "claude", "owl");
    assert!(owl.contains(&format!("in any repo”; since 2026-11-08: “{since}”")), "{owl}");
    assert!(owl.contains(put_off) && owl.contains("“Always run the linter"), "{owl}");
    let taken_up = ["now build the calendar feed for the skippers please", "It is built."];
    converse_on("2026-11-09", &sandbox, "four", "owl", &taken_up);
    sandbox.settled(14);
    assert!(sandbox.run(&["maintenance", "sleep-cycle"]).status.success());
    let owl = session_start(&sandbox, "claude", "owl");
    assert!(!owl.contains("let us put it off"), "{owl}");
}

/// Whoever begins a session while no daemon runs, or at once after it began to, is told the same.
#[test]
fn what_was_said_since_is_told_before_the_daemon_has_read_anything() {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    let decided = ["Decision: the uploader keeps its retry count at 5.", "Noted."];
    converse_on("2026-11-07", &sandbox, "one", "heron", &decided);
    converse_on("2026-11-08", &sandbox, "two", "heron", &["The mailer's retry is slow.", "Hm."]);
    let since = "Actually, use 7 retries instead of 5.";
    converse_on("2026-11-09", &sandbox, "three", "heron", &[since, "Changed."]);
    sandbox.settled(6);
    assert!(sandbox.run(&["maintenance", "sleep-cycle"]).status.success());
    let told = session_start(&sandbox, "claude", "heron");
    let line = told.lines().find(|line| line.contains("count at 5")).unwrap();
    assert!(line.contains(&format!("since 2026-11-09: “{since}”")), "{told}");
    daemon.stop();
    assert_eq!(session_start(&sandbox, "claude", "heron"), told, "nobody listens");
    let _daemon = sandbox.daemon();
    assert_eq!(session_start(&sandbox, "claude", "heron"), told, "it has just begun");
}

#[test]
fn the_identity_is_the_users_to_write() {
    let sandbox = Sandbox::new();
    let refused = sandbox.run(&["identity", "set", "Ada"]);
    assert!(!refused.status.success() && stderr(&refused).contains("daemon start"));
    let _daemon = sandbox.daemon();
    assert!(stdout(&sandbox.run(&["identity", "show"])).contains("nothing is written"));
    assert_eq!(
        sandbox.json(&["--json", "identity", "set", "Ada, from Lyon."])["text"],
        "Ada, from Lyon."
    );
    assert!(
        session_start(&sandbox, "claude", "").contains("## Who the user is\nAda, from Lyon.\n")
    );
    assert!(!sandbox.run(&["identity", "set", " "]).status.success());
    let too_long = "x".repeat(4001);
    assert!(stderr(&sandbox.run(&["identity", "set", &too_long])).contains("at most 4000"));
    sandbox.json(&["--json", "identity", "clear"]);
    assert_eq!(sandbox.json(&["--json", "identity", "show"])["text"], Value::Null);
}

fn script(sandbox: &Sandbox, name: &str, lines: &str) -> String {
    let path = sandbox.path(name);
    fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn an_editor_gets_a_private_file_that_does_not_stay() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    sandbox.json(&["--json", "identity", "set", "Ada."]);
    let lines = "test \"$1\" = --wait || exit 3\nstat -c %a \"$2\" > \"$HOME/mode\"\n\
                 echo 'Writes Rust.' >> \"$2\"";
    let good = script(&sandbox, "good-editor", lines);
    let bad = script(&sandbox, "bad-editor", "echo nonsense > \"$1\"; exit 1");
    let edit = |editor: &str| {
        let mut command = sandbox.command(&["--json", "identity", "edit"]);
        command.env("VISUAL", editor).stdin(Stdio::null()).output().unwrap()
    };
    let edited = edit(&format!("{good} --wait"));
    assert!(edited.status.success(), "{}", stderr(&edited));
    assert_eq!(sandbox.json(&["--json", "identity", "show"])["text"], "Ada.\nWrites Rust.");
    assert_eq!(fs::read_to_string(sandbox.path("mode")).unwrap().trim(), "600");
    let failed = edit(&bad);
    assert!(!failed.status.success() && stderr(&failed).contains("nothing was changed"));
    assert!(!edit("no-such-editor").status.success());
    assert_eq!(sandbox.json(&["--json", "identity", "show"])["text"], "Ada.\nWrites Rust.");
    let left = fs::read_dir(sandbox.root()).unwrap().flatten();
    let left: Vec<_> = left.filter(|file| file.file_name() == ".identity-draft.md").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn pins_come_and_go() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let mut mcp = Mcp::start(&sandbox);
    let kept = mcp.ask("memory_capture", json!({"text": "Remember: the door code is 4711."}));
    assert_eq!(kept["reason"], "tier=episodic, pinned");
    let id = kept["record_id"].as_str().unwrap();
    assert_eq!(sandbox.json(&["--json", "pin"])["count"], 1);
    assert!(stdout(&sandbox.run(&["pin"])).contains("door code"));
    assert!(session_start(&sandbox, "claude", "").contains("pinned: “Remember: the door"));
    assert_eq!(session_start(&sandbox, "claude", "elsewhere"), "");
    let pinned = sandbox.json(&["--json", "pin", &id[..8], "--everywhere"]);
    assert_eq!((&pinned["pinned"], &pinned["reach"]), (&json!(true), &json!("everywhere")));
    assert!(session_start(&sandbox, "claude", "elsewhere").contains("4711"));
    assert!(sandbox.json(&["--json", "show", id])["pinned"].as_bool().unwrap());
    assert!(stdout(&sandbox.run(&["unpin", id])).contains("unpinned"));
    assert_eq!(sandbox.json(&["--json", "pin"])["count"], 0);
    assert!(!sandbox.run(&["pin", "ffffffff"]).status.success());
    let events = mcp.ask("events_query", json!({"kind": "pin_updated"}));
    assert_eq!(events["count"], 2, "{events}");
}

/// A14: what was set holds after a restart, and can be seen.
#[test]
fn knobs_survive_a_restart_and_show() {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    let long = format!("The harbour dues are seven crowns. {}", "Calm seas. ".repeat(200));
    converse(
        &sandbox,
        "a",
        "north",
        &["The harbour opens at nine.", &long, "Who paints the pier?"],
    );
    sandbox.settled(3);
    let mut mcp = Mcp::start(&sandbox);
    let plain = mcp.ask("memory_recall", json!({"cue": "harbour", "budget_tokens": 4000}));
    assert!(plain["hits"][0]["neighbours"][0]["preview"].is_string(), "{plain}");
    let knobs = [
        ("wake_depth", json!("minimal")),
        ("literal_preservation", json!("loose")),
        ("task_support", json!("blank_recall")),
        ("scene_construction_scaffold", json!(false)),
        ("monotropism_depth", json!({"north": 0.5})),
        ("interest_boost", json!(0.5)),
        ("dunn_quadrant", json!("low-registration")),
        ("demand_avoidance_tolerance", json!("imperative")),
        ("masking_off", json!(false)),
        ("camouflaging_relaxation", json!(1.0)),
        ("inertia_awareness", json!(true)),
    ];
    for (knob, value) in &knobs {
        let set = json!({"operation": "set", "knob": knob, "value": value});
        assert_eq!(mcp.ask("profile_get_set", set)["status"], "ok", "{knob}");
    }
    daemon.stop();
    let _daemon = sandbox.daemon();
    let live = mcp.ask("profile_get_set", json!({"operation": "get"}))["live"].clone();
    for (knob, value) in &knobs {
        assert_eq!(&live[knob], value);
    }
    let mut command = sandbox.command(&["mcp"]);
    command.current_dir(sandbox.path("north"));
    let answer = mcp.ask("memory_recall", json!({"cue": "harbour", "budget_tokens": 4000}));
    let hits = answer["hits"].as_array().unwrap();
    assert!(hits.iter().all(|hit| hit["neighbours"].is_null()), "{answer}");
    let reason = hits[0]["reason"].as_str().unwrap();
    assert!(reason.contains("× focus 2.25"), "{reason}");
    let is_part = |hit: &Value| hit["excerpt"]["end"].as_u64().is_some_and(|end| end <= 200);
    assert!(hits.iter().any(is_part), "{answer}");
    let first = &answer["hints"][0];
    assert_eq!(first["kind"], "start_here");
    assert!(first["text"].as_str().unwrap().ends_with(": please begin there"), "{first}");
    let text = session_start(&sandbox, "claude", "north");
    assert!(text.starts_with("Welcome back. Notes") && text.contains("They aren't"), "{text}");
    assert!(text.contains("## Pick up here") && text.chars().count() <= 1600, "{text}");
}

/// A12: structured content and text together cost what was allowed, a fixed envelope aside.
#[test]
fn an_answer_costs_what_it_may() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let mut mcp = Mcp::start(&sandbox);
    for n in 0..30 {
        let text = format!("harbour note {n} \"quoted\" {}", "длинный 港 text ".repeat(n * 4));
        mcp.ask("memory_capture", json!({"text": text}));
    }
    let set = json!({"operation": "set", "knob": "inertia_awareness", "value": true});
    mcp.ask("profile_get_set", set);
    for budget in [1, 60, 100, 250, 600, 1500, 5000] {
        let asked = json!({"cue": "harbour note", "budget_tokens": budget});
        let result = mcp.tool("memory_recall", asked);
        let text = result["content"][0]["text"].as_str().unwrap().chars().count();
        let total = result["structuredContent"].to_string().chars().count() + text;
        assert!(total <= 4 * budget + 400, "{budget}: {total}");
    }
}

#[test]
fn what_is_recalled_often_is_told_to_the_next_session() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    converse(&sandbox, "old", "heron", &["The staging host is called otter.", "Ok.", "thanks"]);
    for n in 0..5 {
        converse(&sandbox, &format!("s{n}"), "heron", &["Sort the mail today.", "Sorted it all."]);
    }
    sandbox.settled(13);
    for _ in 0..3 {
        sandbox.json(&["--json", "recall", "what is the staging host called"]);
    }
    eventually("the uses are written down", || {
        session_start(&sandbox, "claude", "heron").contains("recalled 3 times: “The staging host")
    });
}

/// The words of an identity are plain text while an editor has them.
#[test]
fn a_draft_does_not_outlive_the_command_that_made_it() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    sandbox.json(&["--json", "identity", "set", "Ada."]);
    // It waits for its input to end, and outlives us no longer than the test.
    let waits = script(&sandbox, "waiting-editor", "cat");
    let draft = sandbox.root().join(".identity-draft.md");
    let edit = || {
        let mut command = sandbox.command(&["identity", "edit"]);
        let editing = command.env("VISUAL", &waits).stdin(Stdio::piped()).spawn().unwrap();
        eventually("the editor has the draft", || draft.exists());
        editing
    };
    for signal in ["-TERM", "-HUP"] {
        let mut editing = edit();
        let _input = editing.stdin.take();
        let pid = editing.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        assert!(!editing.wait().unwrap().success(), "{signal}");
        assert!(!draft.exists(), "{signal}");
    }
    let mut editing = edit();
    assert!(stderr(&sandbox.run(&["identity", "edit"])).contains("being edited already"));
    editing.kill().unwrap();
    editing.wait().unwrap();
    assert!(draft.exists(), "nothing can be done about such an end");
    let report = sandbox.doctor(&[]);
    assert!(report.to_string().contains("identity-draft.md"), "{report}");
    sandbox.run(&["identity", "clear"]);
    assert!(!draft.exists());
}
