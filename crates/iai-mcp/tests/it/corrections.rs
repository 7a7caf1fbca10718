//! Corrections through the MCP process: said, said otherwise, and told.

use serde_json::{Value, json};

use crate::support::{Mcp, Sandbox};

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
