//! History: imported, proved, shown again, and what waits on its way.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Sandbox, stderr, stdout};

/// Writes Claude Code sessions into the sandbox's home, `n_turns` each.
fn write_sessions(sandbox: &Sandbox, n_sessions: usize, n_turns: usize) -> PathBuf {
    let folder = sandbox.path(".claude/projects/-home-dev-heron");
    fs::create_dir_all(&folder).unwrap();
    for session in 0..n_sessions {
        let mut text = String::new();
        for turn in 0..n_turns {
            let role = ["user", "assistant"][turn % 2];
            let line = json!({
                "type": role,
                "uuid": format!("{session}-{turn}"),
                "sessionId": format!("s{session}"),
                "timestamp": format!("2026-05-01T10:{:02}:{:02}Z", turn / 60 % 60, turn % 60),
                "cwd": "/home/dev/heron",
                "message": {"role": role, "content": format!("turn {turn} of {session}\n  kept ")},
            });
            text.push_str(&format!("{line}\n"));
            text.push_str("{\"type\":\"progress\",\"data\":{}}\n");
        }
        fs::write(folder.join(format!("s{session}.jsonl")), text).unwrap();
    }
    folder
}

#[test]
fn all_history_is_taken_in_once_and_proved() {
    let sandbox = Sandbox::new();
    let folder = write_sessions(&sandbox, 4, 30);
    let without = sandbox.run(&["import"]);
    assert_eq!(without.status.code(), Some(4), "{}", stderr(&without));
    let _daemon = sandbox.daemon();
    let first = sandbox.json(&["--json", "import"]);
    assert_eq!((&first["files"], &first["found"]), (&json!(4), &json!(120)), "{first}");
    assert_eq!((&first["stored"], &first["known"]), (&json!(120), &json!(0)));
    let second = sandbox.json(&["--json", "import"]);
    assert_eq!((&second["stored"], &second["known"]), (&json!(0), &json!(120)));
    let proof = sandbox.run(&["verify", "--transcripts"]);
    assert!(proof.status.success());
    assert!(stdout(&proof).starts_with("120 of 120 turns byte-exact"), "{}", stdout(&proof));

    let path = folder.join("s0.jsonl");
    let changed = fs::read_to_string(&path).unwrap().replace("turn 7 of 0", "turn 7 of zero");
    fs::write(&path, changed).unwrap();
    let gap = sandbox.run(&["verify", "--transcripts"]);
    assert_eq!(gap.status.code(), Some(1));
    let told = stdout(&gap);
    assert!(told.starts_with("119 of 120") && told.contains("s0.jsonl: turn 7"), "{told}");
}

#[test]
fn the_sum_of_an_import_counts_what_was_forgotten() {
    let sandbox = Sandbox::new();
    write_sessions(&sandbox, 1, 10);
    let _daemon = sandbox.daemon();
    let first = stdout(&sandbox.run(&["import"]));
    let want = "1 file · 10 turns found · 10 stored · 0 already known · 0 set aside";
    assert_eq!(first.trim(), want);
    assert!(sandbox.run(&["forget", "--match", "turn 3", "--yes"]).status.success());
    let again = stdout(&sandbox.run(&["import"]));
    assert!(again.contains("10 turns found · 0 stored · 9 already known · 1 forgotten"), "{again}");
}

#[test]
fn hooks_and_import_agree_on_what_a_turn_is() {
    let sandbox = Sandbox::new();
    let folder = write_sessions(&sandbox, 1, 10);
    let _daemon = sandbox.daemon();
    let path = folder.join("s0.jsonl");
    sandbox.capture("s0", &path);
    sandbox.settled(10);
    let imported = sandbox.json(&["--json", "import"]);
    assert_eq!((&imported["stored"], &imported["known"]), (&json!(0), &json!(10)));
}

#[test]
fn a_part_of_history_can_be_chosen() {
    let sandbox = Sandbox::new();
    let folder = write_sessions(&sandbox, 2, 10);
    let _daemon = sandbox.daemon();
    let path = folder.join("s1.jsonl");
    let path = path.to_str().unwrap();
    let since = sandbox.json(&["--json", "import", "--since", "2026-05-01T10:00:04Z", path]);
    assert_eq!((&since["files"], &since["stored"]), (&json!(1), &json!(6)), "{since}");
    assert_eq!(sandbox.json(&["--json", "import", "--host", "codex"])["files"], 0);
    fs::write(sandbox.path("notes.txt"), "no transcript").unwrap();
    let unknown = sandbox.run(&["import", "notes.txt"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(stderr(&unknown).contains("notes.txt"), "{}", stderr(&unknown));
    let wrong = sandbox.run(&["import", "--since", "long ago"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("--since"), "{}", stderr(&wrong));
    assert_eq!(sandbox.run(&["import", "--host", "bogus"]).status.code(), Some(2));
    assert_eq!(sandbox.json(&["--json", "import", "--host", "claude"])["files"], 2);
}

#[test]
fn exports_and_old_spools_are_taken_in() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let export = json!([{"uuid": "c", "chat_messages": [
        {"uuid": "1", "sender": "human", "text": "hello", "created_at": "2026-01-01T00:00:00Z"},
        {"uuid": "2", "sender": "assistant", "text": "hi", "created_at": "2026-01-01T00:00:01Z"},
    ]}]);
    fs::write(sandbox.path("conversations.json"), export.to_string()).unwrap();
    assert_eq!(sandbox.json(&["--json", "import", "conversations.json"])["stored"], 2);
    let old = sandbox.path("old-spool");
    fs::create_dir(&old).unwrap();
    let header = json!({"version": 1, "deferred_at": "t", "session_id": "p", "cwd": "/p"});
    let event = |n: u32| {
        json!({"text": "words", "cue": format!("session p turn {n}"), "tier": "episodic",
               "role": "user", "ts": "2026-01-01T00:00:00Z"})
    };
    let text = format!("{header}\n{}\n{{bad\n{}\n", event(1), event(2));
    fs::write(old.join("p-1.jsonl"), text).unwrap();
    let taken = sandbox.json(&["--json", "import", "old-spool"]);
    assert_eq!((&taken["stored"], &taken["set_aside"]), (&json!(2), &json!(1)), "{taken}");
}

#[test]
fn many_short_files_share_a_message_and_each_problem_names_its_file() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let old = sandbox.path("old-spool");
    fs::create_dir(&old).unwrap();
    for n in 0..40 {
        let session = format!("p{n}");
        let header = json!({"version": 1, "deferred_at": "t", "session_id": session, "cwd": "/p"});
        let event = |place: u64, role: &str| {
            json!({"text": format!("words of {n}"), "tier": "episodic", "role": role,
                   "ts": "2026-01-01T00:00:00Z", "index": place})
        };
        let second = if n == 23 { "wizard" } else { "assistant" };
        let text = format!("{header}\n{}\n{}\n", event(0, "user"), event(1, second));
        fs::write(old.join(format!("p-{n}.jsonl")), text).unwrap();
    }
    let taken = sandbox.json(&["--json", "import", "old-spool"]);
    assert_eq!((&taken["files"], &taken["stored"]), (&json!(40), &json!(79)), "{taken}");
    assert_eq!(taken["set_aside"], 1, "{taken}");
    let problem = taken["problems"][0].as_str().unwrap();
    assert!(problem.contains("p-23.jsonl") && problem.contains("wizard"), "{problem}");
    for (session, n_turns) in [("p0", 2), ("p23", 1), ("p39", 2)] {
        let shown = sandbox.json(&["--json", "transcript", session]);
        assert_eq!(shown["turns"].as_array().unwrap().len(), n_turns, "{shown}");
    }
}

#[test]
fn a_session_is_shown_again_as_it_was_said() {
    let sandbox = Sandbox::new();
    let folder = write_sessions(&sandbox, 2, 300);
    let _daemon = sandbox.daemon();
    sandbox.json(&["--json", "import"]);
    fs::remove_dir_all(folder).unwrap();
    let shown = sandbox.json(&["--json", "transcript", "s1"]);
    let turns = shown["turns"].as_array().unwrap();
    assert_eq!(turns.len(), 300);
    for (place, turn) in turns.iter().enumerate() {
        assert_eq!(turn["literal_surface"], format!("turn {place} of 1\n  kept "), "{place}");
    }
    assert_eq!(sandbox.run(&["transcript", "nobody"]).status.code(), Some(1));
}

#[test]
fn what_waits_is_listed_shown_and_retried() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.json(&["--json", "spool", "list"])["count"], 0);
    sandbox.daemon().stop();
    sandbox.capture("s", &sandbox.transcript("t.jsonl", &["one word", "another word"]));
    let listed = sandbox.json(&["--json", "spool", "list"]);
    assert_eq!(listed["files"][0]["turns"], 2, "{listed}");
    assert!(stdout(&sandbox.run(&["spool", "list"])).contains("2 turns"));
    assert_eq!(sandbox.run(&["spool", "retry"]).status.code(), Some(4), "no daemon to retry with");
    let _daemon = sandbox.daemon();
    sandbox.settled(2);
    assert_eq!(sandbox.json(&["--json", "spool", "retry"])["files"], 0);
    let live = sandbox.root().join(".deferred-captures/busy.live.jsonl");
    let header = json!({"version": 1, "session_id": "s", "deferred_at": "t", "cwd": "/"});
    let event: Value = json!({"text": "typing", "role": "user", "tier": "episodic", "ts": "t"});
    fs::write(&live, format!("{header}\n{event}\n")).unwrap();
    let shown = sandbox.json(&["--json", "spool", "show", "busy.live.jsonl"]);
    assert_eq!(shown["turns"][0]["text"], "typing");
    let escaped = sandbox.run(&["spool", "show", "../vault.json"]);
    assert_eq!(escaped.status.code(), Some(2), "{}", stderr(&escaped));
    let retried = sandbox.json(&["--json", "spool", "retry", "busy.live.jsonl"]);
    assert_eq!(retried["stored"], 1);
}

#[test]
fn turns_of_any_size_are_imported_and_proved() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let texts = ["small".to_owned(), "x y ".repeat(1_200_000), "\u{0}\u{1}".repeat(400_000)];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let path = sandbox.transcript("large.jsonl", &texts);
    let path = path.to_str().unwrap();
    assert_eq!(sandbox.json(&["--json", "import", path])["stored"], 3);
    let proof = sandbox.json(&["--json", "verify", "--transcripts", path]);
    assert_eq!((&proof["ok"], &proof["exact"]), (&json!(true), &json!(3)), "{proof}");
    let left = fs::read_dir(sandbox.root().join(".capture-state")).unwrap();
    let left = left.filter(|entry| {
        entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("check-")
    });
    assert_eq!(left.count(), 0);
    let unknown = sandbox.path("unknown.txt");
    fs::write(&unknown, "no transcript\n").unwrap();
    let answer = sandbox.capture("s", &unknown);
    assert!(answer["note"].as_str().unwrap().contains("no transcript"), "{answer}");
}

#[test]
fn nothing_is_imported_while_the_config_file_cannot_be_read() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let transcript = sandbox.transcript("t.jsonl", &["not while it may be switched off"]);
    fs::write(sandbox.root().join("config.json"), "{").unwrap();
    let output = sandbox.run(&["import", transcript.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("until that file is mended"), "{}", stderr(&output));
}

#[test]
fn history_that_does_not_say_its_folder_is_not_given_ours() {
    let sandbox = Sandbox::new();
    let chats = sandbox.path(".gemini/tmp/ab12/chats");
    fs::create_dir_all(&chats).unwrap();
    let said = json!({
        "sessionId": "g-1", "projectHash": "ab12",
        "messages": [{"id": "m", "type": "user", "timestamp": "2026-05-01T10:00:00Z",
                      "content": "where do terns nest?"}],
    });
    fs::write(chats.join("session-1.json"), said.to_string()).unwrap();
    let _daemon = sandbox.daemon();
    let project = || {
        sandbox.json(&["--json", "import"]);
        let told = sandbox.json(&["--json", "transcript", "g-1"]);
        told["turns"][0]["project"].as_str().unwrap().to_owned()
    };
    assert_eq!(PathBuf::from(project()), sandbox.path(".gemini/tmp/ab12"));
    let root = sandbox.path(".gemini/tmp/ab12/.project_root");
    fs::write(root, "/home/dev/terns").unwrap();
    fs::write(chats.join("session-2.json"), said.to_string().replace("g-1", "g-2")).unwrap();
    let imported = sandbox.json(&["--json", "import"]);
    assert_eq!(imported["files"], 2, "{imported}");
}

#[test]
fn a_file_of_no_host_in_a_folder_says_so() {
    let sandbox = Sandbox::new();
    let folder = write_sessions(&sandbox, 1, 2);
    fs::write(folder.join("strange.jsonl"), "{\"stream\":1,\"sequence\":2}\n").unwrap();
    fs::write(folder.join("notes.md"), "# nothing\n").unwrap();
    let _daemon = sandbox.daemon();
    // Its place says that it is a transcript, so a copy is looked at elsewhere.
    let elsewhere = sandbox.path("copies");
    fs::rename(folder, &elsewhere).unwrap();
    let told = sandbox.run(&["import", elsewhere.to_str().unwrap()]);
    assert!(told.status.success());
    let told = stdout(&told);
    assert!(told.contains("2 stored") && told.contains("strange.jsonl was passed over"), "{told}");
    let half = elsewhere.join("s0.jsonl");
    let whole = fs::read_to_string(&half).unwrap();
    fs::write(&half, format!("{whole}{}", &whole[..40])).unwrap();
    let proof = sandbox.run(&["verify", "--transcripts", half.to_str().unwrap()]);
    assert!(proof.status.success(), "{}", stdout(&proof));
}

#[test]
fn every_line_that_cannot_be_read_is_counted() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let path = sandbox.transcript("t.jsonl", &["hello", "hi"]);
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{whole}{{broken\n{{broken\n{{broken\n{whole}")).unwrap();
    let told = sandbox.json(&["--json", "import", path.to_str().unwrap()]);
    assert_eq!((&told["stored"], &told["set_aside"]), (&json!(4), &json!(3)), "{told}");
    assert!(told["problems"][0].as_str().unwrap().contains("3 lines cannot be read"), "{told}");
}
