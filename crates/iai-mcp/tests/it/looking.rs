//! Looking for memories without a cue, through the MCP process: attributes, times, text, sessions.

use serde_json::{Value, json};

use crate::support::{Mcp, Sandbox};

fn surfaces(answer: &Value) -> Vec<&str> {
    let hits = answer["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["literal_surface"].as_str().unwrap()).collect()
}

#[test]
fn what_was_captured_is_found_by_attribute_time_text_and_session() {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    let mut mcp = Mcp::start(&sandbox);
    let text = "we moved the Heron service to Kafka, see ABC-123";
    mcp.ask("memory_capture", json!({"text": text}));
    mcp.ask("memory_capture", json!({"text": "lunch is at noon"}));
    let calls = [
        ("memory_recall_structural", json!({"structure_query": {"entity": "kafka"}})),
        ("memory_recall_structural", json!({"structure_query": {"OBJECT": "ABC-123"}})),
        ("memory_temporal_recall", json!({"cue": "heron kafka", "phrase": "today"})),
        ("memory_search", json!({"text": "heron SERVICE"})),
    ];
    for (name, arguments) in &calls {
        let answer = mcp.ask(name, arguments.clone());
        assert_eq!(surfaces(&answer).first(), Some(&text), "{name}: {answer}");
    }
    let reason = mcp.ask(calls[0].0, calls[0].1.clone())["hits"][0]["reason"].clone();
    assert!(reason.as_str().unwrap().contains("ENTITY kafka"), "{reason}");
    let nothing = mcp.ask("memory_temporal_recall", json!({"to": "2001-01-01"}));
    assert_eq!(surfaces(&nothing), [""; 0]);
    let episodes = mcp.ask("episodes_recent", json!({}));
    assert_eq!((&episodes["count"], &episodes["episodes"][0]["n_turns"]), (&json!(1), &json!(2)));
    assert_eq!(episodes["episodes"][0]["first_user"], text);
    daemon.stop();
    for (name, arguments) in calls {
        let answer = mcp.ask(name, arguments);
        assert_eq!(answer["degraded"], true, "{name}");
        assert_eq!(surfaces(&answer).first(), Some(&text), "{name} without a daemon: {answer}");
    }
}

#[test]
fn every_answer_keeps_its_budget() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let mut mcp = Mcp::start_with(&sandbox, "2025-06-18");
    for n in 0..30 {
        let text = format!("note {n} on the Harbour Crane: {}", "detail ".repeat(10 * n));
        mcp.ask("memory_capture", json!({"text": text}));
    }
    for budget in [200, 500, 1500] {
        for (name, arguments) in [
            (
                "memory_recall_structural",
                json!({"structure_query": {"ENTITY": "Harbour Crane"}, "budget_tokens": budget}),
            ),
            ("memory_temporal_recall", json!({"phrase": "today", "budget_tokens": budget})),
        ] {
            let result = mcp.tool(name, arguments);
            let n_chars = result.to_string().chars().count();
            assert!(n_chars <= 4 * budget + 400, "{name} with {budget}: {n_chars} characters");
            let n_hits = result["structuredContent"]["hits"].as_array().unwrap().len();
            assert!(0 < n_hits, "{name} with {budget} has no hits");
        }
    }
    let result = mcp.tool("memory_search", json!({"text": "harbour crane", "limit": 20}));
    assert_eq!(result["structuredContent"]["count"], 20);
    assert!(result.to_string().chars().count() <= 4 * 200 * 20 + 400);
}

/// What is said about each thing, and how somebody asks for it later, in other words.
const SAID: [(&str, &str); 12] = [
    (
        "is deployed with helm charts from the infra repository",
        "from where are the charts to deploy",
    ),
    ("keeps its passwords in the vault under team-a", "which vault has the passwords of"),
    ("retries three times with a backoff of two seconds", "how often do we retry with"),
    (
        "was renamed because marketing disliked the old name",
        "what did marketing say about the name of",
    ),
    ("listens on port 8443 behind the proxy", "on which port can one reach"),
    (
        "stores its rows in PostgreSQL, partitioned by month",
        "is PostgreSQL or something else behind",
    ),
    ("is owned by Marta until the end of the year", "does Marta still own"),
    ("must not be restarted on Fridays", "may one restart on a Friday"),
    ("logs in JSON to stdout only", "are logs plain or JSON in"),
    ("has a memory limit of 512 MB in production", "how much memory may be used by"),
    ("is tested with property tests of the parser", "what kind of tests has"),
    ("goes away when the new gateway is ready", "what happens once there is a new gateway to"),
];
const THINGS: [&str; 3] = ["heron", "osprey", "bittern"];

/// A1, A2: 36 turns of 3 sessions are 36 memories, and each is among the first five when asked for
/// in other words, beside a hundred others.
#[test]
fn every_turn_of_three_sessions_is_kept_and_found_in_other_words() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    for thing in THINGS {
        let turns: Vec<String> =
            SAID.iter().map(|(fact, _)| format!("The {thing} service {fact}.")).collect();
        let turns: Vec<&str> = turns.iter().map(String::as_str).collect();
        sandbox.capture(thing, &sandbox.transcript(&format!("{thing}.jsonl"), &turns));
    }
    let others: Vec<String> = (0..100)
        .map(|n| format!("Row {n} of the report is about item {} and looks fine.", n * 37 % 101))
        .collect();
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    sandbox.capture("others", &sandbox.transcript("others.jsonl", &others));
    sandbox.settled(136);
    let mut mcp = Mcp::start(&sandbox);
    for thing in THINGS {
        for (fact, asked) in SAID {
            let cue = format!("{asked} the {thing} service?");
            let answer = mcp.ask("memory_recall", json!({"cue": cue, "budget_tokens": 100_000}));
            let want = format!("The {thing} service {fact}.");
            let place = surfaces(&answer).iter().position(|said| *said == want);
            assert!(place.is_some_and(|place| place < 5), "{cue}: {place:?}");
        }
    }
}
