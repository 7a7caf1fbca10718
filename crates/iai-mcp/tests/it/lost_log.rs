//! The write-ahead log is removed or cut off under a running daemon: nothing more is acknowledged,
//! and what was stored before stays.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Daemon, Line, Sandbox, eventually, stdout};

/// A daemon with two turns in its database and two in its log.
fn running() -> (Sandbox, Daemon, PathBuf) {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    sandbox.capture("a", &sandbox.transcript("a.jsonl", &["the harbour opens at nine", "noted"]));
    sandbox.settled(2);
    daemon.stop();
    let daemon = sandbox.daemon();
    sandbox.capture("b", &sandbox.transcript("b.jsonl", &["the ferry leaves at ten", "noted"]));
    sandbox.settled(4);
    let log = sandbox.root().join("memory.db-wal");
    (sandbox, daemon, log)
}

#[track_caller]
fn verify(sandbox: &Sandbox) -> Value {
    serde_json::from_slice(&sandbox.run(&["--json", "verify"]).stdout).unwrap()
}

/// Turns that come afterwards wait, and whoever asks is told why.
#[track_caller]
fn check_refused(sandbox: &Sandbox, what: &str) {
    sandbox.capture("late", &sandbox.transcript("late.jsonl", &["said too late", "noted"]));
    let mut line = Line::open(&sandbox.socket()).unwrap();
    let refused = line.call("memory_capture", json!({"text": "by a tool"}));
    assert!(refused["error"]["message"].as_str().unwrap().contains(what), "{refused}");
    let refused = sandbox.run(&["spool", "retry"]);
    assert!(!refused.status.success(), "{}", stdout(&refused));
    assert_eq!(sandbox.spool().len(), 1, "the turns wait where they were");
    let status = sandbox.status().unwrap();
    assert!(status["store_problem"].as_str().unwrap().contains(what), "{status}");
    let report = sandbox.doctor(&[]);
    let checks = report["checks"].as_array().unwrap();
    let row = checks.iter().find(|check| check["name"] == "store files").unwrap();
    assert_eq!(row["verdict"], "fail", "{row}");
    assert!(row["next"].as_str().unwrap().contains("iai-mcp daemon restart"), "{row}");
}

#[test]
fn a_log_that_was_removed_is_noticed_and_takes_nothing_along_at_a_kill() {
    let (sandbox, daemon, log) = running();
    fs::remove_file(&log).unwrap();
    check_refused(&sandbox, "was removed or replaced");
    daemon.signal("-KILL");
    daemon.wait();
    let report = verify(&sandbox);
    assert_eq!((&report["ok"], &report["memories"]), (&json!(true), &json!(4)), "{report}");
    let _daemon = sandbox.daemon();
    eventually("what waited is stored", || {
        sandbox.run(&["spool", "retry"]);
        sandbox.status().is_some_and(|status| status["pending"] == 0)
    });
    sandbox.settled(6);
}

#[test]
fn a_log_that_was_removed_in_silence_is_saved_by_a_stop() {
    let (sandbox, daemon, log) = running();
    fs::remove_file(&log).unwrap();
    assert_eq!(daemon.stop(), Some(0));
    let report = verify(&sandbox);
    assert_eq!((&report["ok"], &report["memories"]), (&json!(true), &json!(4)), "{report}");
}

#[test]
fn a_log_that_was_cut_off_costs_what_stood_in_it_and_no_more() {
    for n_left in [0, 8_000, 20_000] {
        let (sandbox, daemon, log) = running();
        let before = fs::read(sandbox.root().join("memory.db")).unwrap();
        fs::File::options().write(true).open(&log).unwrap().set_len(n_left).unwrap();
        let n_waiting = if n_left == 8_000 { 2 } else { 0 };
        if 0 < n_waiting {
            check_refused(&sandbox, "was cut off");
        }
        assert_eq!(daemon.stop(), Some(0));
        let after = fs::read(sandbox.root().join("memory.db")).unwrap();
        assert!(after == before, "nothing was written into the database");
        // Whoever looks before the next start must not wipe the traces away.
        assert!(stdout(&sandbox.run(&["status"])).contains("was cut off"));
        assert_eq!(verify(&sandbox)["findings"][0]["what"], "log");
        let daemon = sandbox.daemon();
        sandbox.settled(2 + n_waiting);
        let report = verify(&sandbox);
        let findings = report["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 1, "{n_left}: {report}");
        assert_eq!(findings[0]["what"], "log", "{report}");
        assert!(findings[0]["do"].as_str().unwrap().contains("iai-mcp import"), "{report}");
        let kept = PathBuf::from(findings[0]["where"].as_str().unwrap());
        assert!(fs::read(kept.join("memory.db")).unwrap() == before);
        assert_eq!(sandbox.json(&["--json", "search", "harbour"])["count"], 1);
        drop(daemon);
    }
}
