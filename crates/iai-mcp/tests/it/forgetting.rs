//! Forgetting through the real binary: shown first, gone for good, not back by any way in.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Line, Mcp, Sandbox, eventually, stderr, stdout};

const CANARY: &str = "zanzibar-lighthouse-4711";

/// Returns the files below a folder that hold a text.
fn files_with(folder: &Path, needle: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else if entry.path().to_string_lossy().contains(needle)
                || fs::read(entry.path()).is_ok_and(|bytes| {
                    bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
                })
            {
                found.push(entry.path().display().to_string());
            }
        }
    }
    found
}

/// A session of four turns, two of them with the canary, in a project named by it.
fn transcript(sandbox: &Sandbox) -> String {
    let folder = sandbox.path(".claude/projects/p");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("s1.jsonl");
    let line = |n: u32, role: &str, text: &str| {
        let line = json!({
            "type": role, "uuid": format!("00000000-0000-4000-8000-00000000000{n}"),
            "sessionId": format!("s-{CANARY}"), "timestamp": format!("2026-05-01T10:00:0{n}Z"),
            "cwd": format!("/p/p-{CANARY}"), "message": {"role": role, "content": text},
        });
        format!("{line}\n")
    };
    let text = [
        line(1, "user", &format!("the hint is {CANARY}")),
        line(2, "assistant", "noted"),
        line(3, "user", &format!("and {CANARY} again")),
        line(4, "assistant", "noted twice"),
    ];
    fs::write(&path, text.concat()).unwrap();
    path.to_str().unwrap().to_owned()
}

fn import(sandbox: &Sandbox, path: &str) -> Value {
    sandbox.json(&["--json", "import", path])
}

#[test]
fn a_session_is_shown_first_then_gone_and_does_not_come_back() {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    let path = transcript(&sandbox);
    assert_eq!(import(&sandbox, &path)["stored"], 4);
    let session = format!("s-{CANARY}");
    let shown = sandbox.run(&["forget", "--session", &session]);
    let text = stdout(&shown);
    assert!(text.contains("4 turns of 1 session would be forgotten"), "{text}");
    assert!(text.contains("Nothing was changed"), "{text}");
    assert_eq!(sandbox.json(&["--json", "search", CANARY])["count"], 2);
    let done = sandbox.json(&["--json", "forget", "--session", &session, "--yes"]);
    assert_eq!((&done["forgotten"], &done["is_finished"]), (&json!(4), &json!(true)), "{done}");
    assert_eq!(sandbox.json(&["--json", "search", CANARY])["count"], 0);
    assert_eq!(sandbox.status().unwrap()["stored"], 0);
    let again = import(&sandbox, &path);
    assert_eq!((&again["stored"], &again["forgotten"]), (&json!(0), &json!(4)), "{again}");
    let captured =
        sandbox.json(&["capture-transcript", "--no-spawn", "--session-id", &session, &path]);
    assert!(captured.is_object());
    let proof = sandbox.json(&["--json", "verify", "--transcripts", &path]);
    assert_eq!((&proof["ok"], &proof["forgotten"]), (&json!(true), &json!(4)), "{proof}");
    let receipts = sandbox.json(&["--json", "forget", "--receipts"]);
    assert_eq!(receipts["receipts"][0]["count"], 4);
    assert_eq!(receipts["receipts"][0]["selection"], "session");
    assert!(!receipts.to_string().contains(CANARY));
    let mut line = Line::open(&sandbox.socket()).unwrap();
    assert_eq!(line.call("forget_check", json!({}))["result"]["ok"], true);
    eventually("what was captured again is drained", || sandbox.spool().is_empty());
    daemon.stop();
    assert_eq!(files_with(&sandbox.root(), CANARY), Vec::<String>::new());
}

#[test]
fn what_waits_in_the_spool_is_forgotten_too() {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    daemon.stop();
    sandbox.capture("s", &sandbox.transcript("t.jsonl", &[&format!("say {CANARY}"), "ok"]));
    let aside = sandbox.root().join(".deferred-captures/s.permanent-failed-1.jsonl");
    let header = json!({"version": 1, "deferred_at": "2026-05-01T10:00:00Z", "session_id": "s",
        "cwd": "/p"});
    let turn = |text: &str| {
        json!({"text": text, "cue": "", "tier": "episodic", "role": "user",
            "ts": "2026-05-01T10:00:00Z", "source": "x", "index": 7})
    };
    fs::write(&aside, format!("{header}\n{}\n{}\n", turn(CANARY), turn("harmless"))).unwrap();
    let _daemon = sandbox.daemon();
    let done = sandbox.json(&["--json", "forget", "--match", CANARY, "--yes"]);
    assert_eq!((&done["forgotten"], &done["waiting_forgotten"]), (&json!(1), &json!(1)), "{done}");
    sandbox.settled(2);
    assert_eq!(files_with(&sandbox.root(), CANARY), Vec::<String>::new());
    let left = sandbox.json(&["--json", "list"]);
    assert!(left.to_string().contains("harmless") && !left.to_string().contains(CANARY));
}

#[test]
fn wishes_are_needed_and_narrow_each_other() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    sandbox.capture("a", &sandbox.transcript("a.jsonl", &["sea one", "hill one"]));
    sandbox.capture("b", &sandbox.transcript("b.jsonl", &["sea two", "hill two"]));
    sandbox.settled(4);
    let refused = sandbox.run(&["forget"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("say what to forget"), "{}", stderr(&refused));
    let preview = sandbox.json(&["--json", "forget", "--session", "a", "--match", "SEA"]);
    assert_eq!((&preview["count"], &preview["dry_run"]), (&json!(1), &json!(true)));
    let id = preview["memories"][0]["record_id"].as_str().unwrap();
    assert_eq!(sandbox.json(&["--json", "forget", &id[..8], "--session", "b"])["count"], 0);
    assert_eq!(sandbox.json(&["--json", "forget", &id[..8], "--yes"])["forgotten"], 1);
    sandbox.settled(3);
}

#[test]
fn without_a_daemon_it_shows_and_changes_nothing() {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    sandbox.capture("a", &sandbox.transcript("a.jsonl", &["sea one", "hill one"]));
    sandbox.settled(2);
    daemon.stop();
    assert_eq!(sandbox.json(&["--json", "forget", "--match", "sea"])["count"], 1);
    let refused = sandbox.run(&["forget", "--match", "sea", "--yes"]);
    assert!(!refused.status.success() && stderr(&refused).contains("daemon start"));
}

#[test]
fn an_assistant_forgets_only_when_allowed_and_confirmed() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    sandbox.capture("a", &sandbox.transcript("a.jsonl", &[&format!("say {CANARY}"), "ok"]));
    sandbox.settled(2);
    let mut mcp = Mcp::start(&sandbox);
    let names = |mcp: &mut Mcp| mcp.request("tools/list", &json!({}))["result"].to_string();
    assert!(!names(&mut mcp).contains("memory_forget"), "off unless the user says so");
    assert_eq!(mcp.tool("memory_forget", json!({"match": CANARY}))["isError"], true);
    drop(mcp);
    fs::write(sandbox.root().join("config.json"), r#"{"allow_forget_tool": true}"#).unwrap();
    let mut mcp = Mcp::start(&sandbox);
    assert!(names(&mut mcp).contains("memory_forget"));
    let shown = mcp.ask("memory_forget", json!({"match": CANARY}));
    assert_eq!((&shown["status"], &shown["count"]), (&json!("dry_run"), &json!(1)), "{shown}");
    let token = shown["confirm"].as_str().unwrap().to_owned();
    let other = mcp.tool("memory_forget", json!({"match": "ok", "confirm": token}));
    assert_eq!(other["isError"], true, "a token is bound to its selection");
    let spent = mcp.tool("memory_forget", json!({"match": CANARY, "confirm": token}));
    assert_eq!(spent["isError"], true, "and is good for one try");
    let shown = mcp.ask("memory_forget", json!({"match": CANARY}));
    let done = mcp.ask("memory_forget", json!({"match": CANARY, "confirm": shown["confirm"]}));
    assert_eq!((&done["status"], &done["count"]), (&json!("forgotten"), &json!(1)), "{done}");
    assert_eq!(sandbox.json(&["--json", "search", CANARY])["count"], 0);
}

#[test]
fn what_holds_again_is_named_before_and_after() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let mut mcp = Mcp::start(&sandbox);
    let said = mcp.ask("memory_capture", json!({"text": "the heron sleeps at nine"}));
    let first = said["record_id"].as_str().unwrap().to_owned();
    let mut correct = |fact: &str| {
        let done = mcp.ask("memory_contradict", json!({"id": first, "new_fact": fact}));
        done["new_record_id"].as_str().unwrap().to_owned()
    };
    let second = correct("the heron sleeps at ten");
    let third = correct("the heron sleeps at eleven");
    let middle = sandbox.json(&["--json", "forget", &second]);
    assert_eq!(middle["holds_again"], json!([]), "the last one still holds: {middle}");
    let both = sandbox.json(&["--json", "forget", &second, &third]);
    assert_eq!(both["holds_again"][0]["record_id"], first.as_str(), "{both}");
    let line = format!(
        "what it had replaced holds again: “the heron sleeps at ten” ({})",
        second.get(..8).unwrap()
    );
    let shown = stdout(&sandbox.run(&["forget", &third]));
    assert!(shown.contains(&line), "{shown}");
    let done = stdout(&sandbox.run(&["forget", &third, "--yes"]));
    assert!(done.contains("1 memory forgotten") && done.contains(&line), "{done}");
    assert!(sandbox.json(&["--json", "show", &second])["valid_to"].is_null());
}
