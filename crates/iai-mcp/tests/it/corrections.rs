//! Corrections through the MCP process: said, said otherwise, and told.

use std::io::Write as _;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::support::{Mcp, Sandbox, stderr, stdout};

fn capture(mcp: &mut Mcp, text: &str) -> String {
    let kept = mcp.ask("memory_capture", json!({"text": text}));
    kept["record_id"].as_str().unwrap().to_owned()
}

fn recall(mcp: &mut Mcp, cue: &str) -> Value {
    mcp.ask("memory_recall", json!({"cue": cue}))
}

fn contradictions(answer: &Value) -> usize {
    let hints = answer["hints"].as_array().unwrap();
    hints.iter().filter(|hint| hint["kind"] == "contradiction").count()
}

/// A3, A4, A5: another number is hinted once; a correction in any language ranks first.
#[test]
fn a_changed_fact_is_noticed_hinted_once_and_corrected_in_any_language() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let mut mcp = Mcp::start(&sandbox);
    let old = capture(&mut mcp, "The staging database listens on port 5432.");
    let new = capture(&mut mcp, "The staging database listens on port 5433.");
    let first = recall(&mut mcp, "staging database port");
    assert_eq!(first["hits"][0]["record_id"], new, "{first}");
    assert_eq!(contradictions(&first), 1, "{first}");
    assert_eq!(contradictions(&recall(&mut mcp, "staging database port")), 0);

    let russian = "порт теперь 6000";
    let done = mcp.ask("memory_contradict", json!({"id": new, "new_fact": russian}));
    let answer = recall(&mut mcp, "staging database port");
    assert_eq!(answer["hits"][0]["record_id"], done["new_record_id"], "{answer}");
    let hits = answer["hits"].as_array().unwrap();
    let stale = hits.iter().find(|hit| hit["record_id"] == new.as_str()).unwrap();
    assert!(stale["reason"].as_str().unwrap().ends_with(" · stale"), "{stale}");
    assert_eq!(stale["valid_to"], answer["hits"][0]["valid_from"]);
    assert!(hits.iter().any(|hit| hit["record_id"] == old.as_str()), "both wordings stay");
    let russian = recall(&mut mcp, "порт теперь");
    assert_eq!(russian["hits"][0]["record_id"], done["new_record_id"]);
}

/// A8, A20: a pair gains once in a session, an unknown id is told, a recall links nothing.
#[test]
fn links_come_from_use_and_not_from_looking() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let mut mcp = Mcp::start(&sandbox);
    let one = capture(&mut mcp, "the retry policy is five attempts");
    let other = capture(&mut mcp, "the queue of retries is called slow lane");
    for _ in 0..3 {
        recall(&mut mcp, "retry policy and queue of retries");
    }
    assert_eq!(mcp.ask("topology", json!({}))["links"]["hebbian"].as_u64().unwrap_or(0), 0);
    let ghost = "00000000-0000-8000-8000-000000000000";
    let ids = json!({"ids": [one, other, ghost]});
    let first = mcp.ask("memory_reinforce", ids.clone());
    let second = mcp.ask("memory_reinforce", ids);
    assert_eq!((&first["edges_boosted"], &second["edges_boosted"]), (&json!(1), &json!(0)));
    assert_eq!(first["new_weights"], second["new_weights"]);
    assert_eq!(first["skipped_ids"], json!([ghost]));
}

/// Gives a command a text on standard input.
fn run_with_input(sandbox: &Sandbox, arguments: &[&str], input: &str) -> Output {
    let mut command = sandbox.command(arguments);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_memory_is_corrected_at_the_terminal_and_shows_what_replaced_it() {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    let old = capture(&mut Mcp::start(&sandbox), "The heron listens on port 5432.");
    let done = sandbox.run(&["correct", &old[..8], "The heron listens on port 9000."]);
    assert!(done.status.success(), "{}", stderr(&done));
    let told = stdout(&done);
    let new = told.split_whitespace().next().unwrap().to_owned();
    let replaced = format!("it replaced {old}: “The heron listens on port 5432.”");
    assert!(told.starts_with(&format!("{new} holds now")) && told.contains(&replaced), "{told}");
    let seen = sandbox.json(&["--json", "show", &new]);
    assert_eq!((&seen["host"], &seen["role"]), (&"terminal".into(), &"user".into()), "{seen}");
    assert_eq!(seen["literal_surface"], "The heron listens on port 9000.");

    // What was corrected before is corrected where it holds, from standard input too.
    let last = run_with_input(&sandbox, &["--json", "correct", &old, "-"], "port 9001 it is\n");
    let last: Value = serde_json::from_slice(&last.stdout).unwrap();
    assert_eq!(last["replaced"][0]["record_id"], new.as_str(), "{last}");
    let answer = sandbox.json(&["--json", "recall", "heron port"]);
    assert_eq!(answer["hits"][0]["record_id"], last["new_record_id"], "{answer}");
    assert_eq!(answer["hits"][0]["literal_surface"], "port 9001 it is");
    for (arguments, code) in
        [(["correct", &old, " "], 2), (["correct", "00000000-0000-8000-8000-000000000000", "x"], 1)]
    {
        assert_eq!(sandbox.run(&arguments).status.code(), Some(code), "{arguments:?}");
    }
    daemon.stop();
    let refused = sandbox.run(&["correct", &old, "port 1"]);
    assert_eq!(refused.status.code(), Some(4));
    assert!(stderr(&refused).contains("iai-mcp daemon start"), "{}", stderr(&refused));
}

#[test]
fn what_was_replaced_names_what_replaced_it() {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    let mut mcp = Mcp::start(&sandbox);
    let old = capture(&mut mcp, "The heron listens on port 5432.");
    assert!(!stdout(&sandbox.run(&["show", &old])).contains("replaced"));
    let fact = "The heron listens on port 9000.";
    let done = mcp.ask("memory_contradict", json!({"id": old, "new_fact": fact}));
    let new = done["new_record_id"].as_str().unwrap();
    let line = format!("\nreplaced by {new}: “{fact}”\n");
    let shown = stdout(&sandbox.run(&["show", &old]));
    assert!(shown.contains(&line), "{shown}");
    assert!(!stdout(&sandbox.run(&["show", new])).contains("replaced"));
    daemon.stop();
    assert!(stdout(&sandbox.run(&["show", &old])).contains(&line));
}
