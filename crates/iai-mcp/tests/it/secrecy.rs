//! Plain text never rests on disk once there is a store.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::support::{Mcp, Sandbox};

const CANARY: &str = "zanzibar-lighthouse-4711";

/// Returns the files that hold the canary, in any of the ways a program might write it.
fn files_with(folder: &Path, needle: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else if let Ok(bytes) = fs::read(entry.path())
                && bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
            {
                found.push(entry.path().display().to_string());
            }
        }
    }
    found
}

#[test]
fn no_file_holds_a_captured_sentence() {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    let text = format!("the password hint is {CANARY}");
    sandbox.capture("s", &sandbox.transcript("t.jsonl", &[&text, "ok"]));
    sandbox.settled(2);
    let mut mcp = Mcp::start(&sandbox);
    mcp.ask("memory_capture", json!({"text": format!("{CANARY} again"), "cue": CANARY}));
    mcp.ask("memory_recall", json!({"cue": CANARY}));
    mcp.ask("memory_recall", json!({"cue": format!("\"{CANARY}\"")}));
    sandbox.json(&["--json", "search", CANARY]);
    let mut bad = crate::support::Line::open(&sandbox.socket()).unwrap();
    bad.call("memory_capture", json!({"text": [CANARY]}));
    bad.call(CANARY, json!({}));
    assert_eq!(files_with(&sandbox.root(), CANARY), Vec::<String>::new(), "while running");
    daemon.stop();
    assert_eq!(files_with(&sandbox.root(), CANARY), Vec::<String>::new(), "after leaving");
    daemon_killed_with_a_hot_log(&sandbox);
}

fn daemon_killed_with_a_hot_log(sandbox: &Sandbox) {
    let daemon = sandbox.daemon();
    let mut line = crate::support::Line::open(&sandbox.socket()).unwrap();
    line.call("memory_capture", json!({"text": format!("{CANARY} a third time")}));
    daemon.signal("-KILL");
    daemon.wait();
    assert_eq!(files_with(&sandbox.root(), CANARY), Vec::<String>::new(), "after a kill");
}

#[test]
fn once_there_is_a_store_hooks_seal_what_waits() {
    let sandbox = Sandbox::new();
    let transcript = sandbox.transcript("t.jsonl", &[CANARY]);
    sandbox.capture("s", &transcript);
    assert_eq!(files_with(&sandbox.root(), CANARY).len(), 1, "no key to seal to yet");
    let daemon = sandbox.daemon();
    sandbox.settled(1);
    assert_eq!(files_with(&sandbox.root(), CANARY), Vec::<String>::new(), "gone after the drain");
    daemon.stop();
    sandbox.capture("s2", &transcript);
    let mut mcp = Mcp::start(&sandbox);
    mcp.ask("memory_capture", json!({"text": CANARY}));
    assert_eq!(sandbox.spool().len(), 2);
    assert_eq!(files_with(&sandbox.root(), CANARY), Vec::<String>::new(), "sealed");
    let _daemon = sandbox.daemon();
    sandbox.settled(3);
    let found = sandbox.json(&["--json", "search", CANARY]);
    assert_eq!(found["count"], 3);
}
