//! Corrections and reinforcement: what holds now wins, and nothing grows without end.

use iai_memory::{EventsAsk, MemoryError, MemoryId};
use serde_json::json;

use crate::fixture::{Home, days_ago, now, texts};

fn id_of(home: &Home, cue: &str) -> MemoryId {
    home.recall(cue).hits[0].record_id
}

#[test]
fn along_a_chain_of_corrections_the_newest_stands_first() {
    let home = Home::with_turns(&["the launch is in June", "the launch party is at the pier"]);
    let june = id_of(&home, "launch June");
    let moved =
        home.engine.contradict(&june.to_string(), "moved to September", "s", now()).unwrap();
    let september = moved.new_record_id.to_string();
    home.engine.contradict(&september, "moved to December", "s", now()).unwrap();
    let answer = home.recall("launch in June");
    let order = texts(&answer);
    let place = |text: &str| order.iter().position(|hit| *hit == text).unwrap();
    assert!(place("moved to September") < place("the launch is in June"), "{order:?}");
    let answer = home.recall("moved to September");
    assert_eq!(texts(&answer)[..2], ["moved to December", "moved to September"]);
    let reason = &answer.hits[1].reason;
    assert!(reason.contains(" × 0.5") && reason.ends_with(" · stale"), "{reason}");
}

#[test]
fn a_correction_needs_something_to_correct_and_to_say() {
    let home = Home::with_turns(&["a fact"]);
    let id = id_of(&home, "fact").to_string();
    let ghost = "00000000-0000-8000-8000-000000000000";
    let unknown = home.engine.contradict(ghost, "x", "s", now()).unwrap_err();
    assert!(matches!(unknown, MemoryError::UnknownMemory { .. }));
    let empty = home.engine.contradict(&id, "  ", "s", now()).unwrap_err();
    assert!(matches!(empty, MemoryError::BadParameter { name: "new_fact", .. }));
    assert_eq!(home.engine.overview().unwrap().memories, 1);
}

#[test]
fn a_correction_sent_twice_is_one_correction() {
    let home = Home::with_turns(&["a fact"]);
    let id = id_of(&home, "fact").to_string();
    let first = home.engine.contradict(&id, "another fact", "s", now()).unwrap();
    let second = home.engine.contradict(&id, "another fact", "s", now()).unwrap();
    assert_eq!(first.new_record_id, second.new_record_id);
    let overview = home.engine.overview().unwrap();
    assert_eq!((overview.memories, overview.links), (2, 1));
}

#[test]
fn reinforcement_is_bounded_and_once_per_session() {
    let home = Home::with_turns(&["first thing", "second thing"]);
    let ids = [id_of(&home, "first").to_string(), id_of(&home, "second").to_string()];
    let weight = |session: &str| {
        let answer = home.engine.reinforce(&ids, session, now()).unwrap();
        *answer.new_weights.values().next().unwrap()
    };
    let first = weight("a");
    assert!((first - weight("a")).abs() < f64::EPSILON);
    let weights: Vec<f64> = (0..200).map(|n| weight(&format!("session {n}"))).collect();
    let last = weights[199];
    assert!(first < last && last <= 1.0, "{last}");
    let many: Vec<String> = (0..33).map(|n| format!("id {n}")).collect();
    assert!(home.engine.reinforce(&many, "a", now()).is_err());
    assert_eq!(home.engine.topology().unwrap().N, 2);
}

#[test]
fn events_are_readable_by_kind_time_and_severity() {
    let home = Home::with_turns(&["a fact"]);
    let id = id_of(&home, "fact").to_string();
    home.engine.contradict(&id, "another", "s", now()).unwrap();
    home.engine.set_profile("masking_off", &json!(false), days_ago(3)).unwrap();
    let count = |kind: &str, since, severity: Option<&str>| {
        let severity = severity.map(str::to_owned);
        let ask = EventsAsk { kind: kind.to_owned(), since, severity, limit: 100 };
        home.engine.events(&ask).map(|answer| answer.count)
    };
    assert_eq!(count("s4_contradiction", None, None).unwrap(), 1);
    assert_eq!(count("s4_contradiction", None, Some("warning")).unwrap(), 1);
    assert_eq!(count("s4_contradiction", None, Some("critical")).unwrap(), 0);
    assert_eq!(count("profile_updated", None, None).unwrap(), 1);
    assert_eq!(count("profile_updated", Some(days_ago(1)), None).unwrap(), 0);
    assert!(count("retrieval_used", None, None).is_err(), "not for reading");
    assert!(count("llm_health", None, Some("loud")).is_err());
}
