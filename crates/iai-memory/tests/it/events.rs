//! The ledger as a client reads it: by kind, newest first, within limits.

use iai_memory::EventsAsk;
use serde_json::json;

use crate::fixture::{Home, days_ago};

fn ask(kind: &str) -> EventsAsk {
    EventsAsk { kind: kind.to_owned(), since: None, severity: None, limit: 100 }
}

#[test]
fn events_of_a_kind_come_newest_first_and_within_limits() {
    let home = Home::new();
    for n in 0..5 {
        home.engine.record_event("llm_health", json!({"n": n}), days_ago(n)).unwrap();
    }
    home.engine.record_event("daemon_started", json!({}), days_ago(0)).unwrap();
    let read = |ask: &EventsAsk| {
        let answer = home.engine.events(ask).unwrap();
        let read = serde_json::to_value(&answer).unwrap();
        let ns: Vec<i64> = read["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|event| event["data"]["n"].as_i64().unwrap())
            .collect();
        assert_eq!(read["count"], ns.len());
        ns
    };
    assert_eq!(read(&ask("llm_health")), [0, 1, 2, 3, 4]);
    assert_eq!(read(&EventsAsk { limit: 2, ..ask("llm_health") }), [0, 1]);
    assert_eq!(read(&EventsAsk { limit: 0, ..ask("llm_health") }), [0], "at least one");
    assert_eq!(read(&EventsAsk { since: Some(days_ago(1)), ..ask("llm_health") }), [0, 1]);
    let of_severity =
        |severity: &str| EventsAsk { severity: Some(severity.to_owned()), ..ask("llm_health") };
    assert_eq!(read(&of_severity("info")).len(), 5);
    assert_eq!(read(&of_severity("critical")), [0; 0]);
    assert!(home.engine.events(&of_severity("grave")).is_err());
}

#[test]
fn every_kind_of_the_contract_may_be_asked_for_and_no_secret_one() {
    let home = Home::new();
    for kind in [
        "s4_contradiction",
        "schema_induction_run",
        "llm_health",
        "curiosity_silent_log",
        "curiosity_question",
        "cls_consolidation_run",
        "crypto_key_rotated",
    ] {
        assert_eq!(home.engine.events(&ask(kind)).unwrap().count, 0, "{kind}");
    }
    // Nothing measures a trajectory.
    for kind in ["retrieval_used", "trajectory_metric"] {
        let refused = home.engine.events(&ask(kind)).unwrap_err().to_string();
        assert!(refused.contains("allowed: s4_contradiction"), "{refused}");
    }
}
