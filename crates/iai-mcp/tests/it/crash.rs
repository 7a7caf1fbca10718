//! SIGKILL at awkward moments: everything acknowledged is there afterwards, once.

use std::collections::BTreeSet;

use serde_json::json;

use crate::support::{Line, Sandbox};

#[test]
fn what_was_acknowledged_survives_kills_in_the_middle_of_writing() {
    let sandbox = Sandbox::new();
    let mut acknowledged = BTreeSet::new();
    for round in 0..6 {
        let daemon = sandbox.daemon();
        let mut line = Line::open(&sandbox.socket()).unwrap();
        for n in 0..40 {
            let text = format!("round {round} fact {n}");
            let answer = line.call("memory_capture", json!({"text": text}));
            assert_eq!(answer["result"]["status"], "inserted", "{answer}");
            acknowledged.insert(text);
        }
        // One more is on its way while the kill arrives.
        let last = json!({
            "jsonrpc": "2.0", "id": 9, "method": "memory_capture", "params": {"text": "x"},
        });
        line.send(format!("{last}\n").as_bytes());
        daemon.signal("-KILL");
        daemon.wait();
    }
    let _daemon = sandbox.daemon();
    let found = sandbox.json(&["--json", "list", "-n", "1000"]);
    let texts: Vec<&str> = found["memories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|memory| memory["literal_surface"].as_str().unwrap())
        .filter(|text| *text != "x")
        .collect();
    let distinct: BTreeSet<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    assert_eq!(distinct, acknowledged);
    assert_eq!(texts.len(), acknowledged.len(), "none twice");
    let report = sandbox.doctor(&[]);
    assert_eq!(report["ok"], true, "{report}");
}

#[test]
fn a_drain_killed_half_way_is_finished_by_the_next_daemon() {
    let sandbox = Sandbox::new();
    let turns: Vec<String> = (0..1500).map(|n| format!("turn number {n}")).collect();
    let turns: Vec<&str> = turns.iter().map(String::as_str).collect();
    let transcript = sandbox.transcript("t.jsonl", &turns);
    let path = transcript.to_str().unwrap();
    sandbox.json(&[
        "capture-transcript",
        "--no-spawn",
        "--session-id",
        "s",
        "--max-turns",
        "9999",
        path,
    ]);
    for _ in 0..4 {
        let daemon = sandbox.daemon_starting();
        crate::support::eventually("it answers", || sandbox.status().is_some());
        daemon.signal("-KILL");
        daemon.wait();
    }
    let _daemon = sandbox.daemon();
    sandbox.settled(1500);
    assert!(sandbox.spool().is_empty());
}
