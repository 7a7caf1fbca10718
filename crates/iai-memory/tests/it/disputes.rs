//! The same sentence with another value: both are kept, the asker is told once, and a correction
//! settles it. And what is learned from use.

use iai_memory::{CaptureAsk, MemoryId, RecallAnswer, RecallAsk, Role, Tier};
use jiff::Timestamp;

use crate::fixture::{Home, days_ago, now, texts};

const OLD: &str = "The billing service listens on port 8080.";
const NEW: &str = "The billing service listens on port 9090.";

fn capture_at(home: &Home, text: &str, session: &str, at: Timestamp) -> MemoryId {
    let ask = CaptureAsk {
        text: text.to_owned(),
        cue: None,
        tier: Tier::Episodic,
        role: Role::User,
        session: session.to_owned(),
        project: None,
        cwd: None,
    };
    home.engine.capture(&ask, at).unwrap().record_id.unwrap()
}

fn disputed() -> (Home, MemoryId, MemoryId) {
    let home = Home::new();
    let old = capture_at(&home, OLD, "one", days_ago(9));
    let new = capture_at(&home, NEW, "two", days_ago(1));
    (home, old, new)
}

fn contradictions(answer: &RecallAnswer) -> Vec<&str> {
    let hints = answer.hints.iter().filter(|hint| hint.kind == "contradiction");
    hints.map(|hint| hint.text.as_str()).collect()
}

/// A3: capture a fact, capture the same sentence with another number.
#[test]
fn both_wordings_are_kept_and_the_difference_is_hinted_once() {
    let (home, old, new) = disputed();
    assert_eq!(home.engine.overview().unwrap().memories, 2);
    let answer = home.recall("billing service port");
    assert_eq!(texts(&answer), [NEW, OLD]);
    assert_eq!(
        contradictions(&answer),
        ["two memories disagree, they differ in a number: 8080 or 9090; ask which one holds, \
          memory_contradict settles it"]
    );
    assert_eq!(answer.hints[0].source_ids, [old, new]);
    assert!(contradictions(&home.recall("billing service port")).is_empty(), "told once");
}

#[test]
fn what_was_said_later_stands_above_whatever_matches_better() {
    let (home, ..) = disputed();
    let answer = home.recall("The billing service listens on port 8080");
    assert_eq!(texts(&answer), [NEW, OLD]);
    let history = home.recall("did the billing service listen on port 8080 before");
    assert_eq!(texts(&history), [OLD, NEW], "who asks how it was gets what matches");
}

#[test]
fn the_older_of_two_is_told_beside_the_hits() {
    let (home, old, new) = disputed();
    let answer = home.recall_hits("billing service port 9090", 1, 4000);
    assert_eq!(answer.hits[0].record_id, new);
    let beside: Vec<_> =
        answer.anti_hits.iter().map(|hit| (hit.record_id, hit.relation, hit.partner_id)).collect();
    assert_eq!(beside, [(old, Some("disputed_with"), Some(new))]);
}

#[test]
fn a_correction_settles_the_dispute() {
    for corrects_the_old in [true, false] {
        let (home, old, new) = disputed();
        let id = if corrects_the_old { old } else { new }.to_string();
        home.engine.contradict(&id, "billing: 7070, nothing else", "s", now()).unwrap();
        let answer = home.recall("billing service port");
        assert!(contradictions(&answer).is_empty());
        assert!(answer.anti_hits.iter().all(|hit| hit.relation != Some("disputed_with")));
    }
}

/// The fact was said twice and corrected once: the copy nobody corrected is disputed.
#[test]
fn a_correction_stands_against_copies_of_what_it_corrects() {
    let home = Home::new();
    let first = capture_at(&home, OLD, "one", days_ago(9));
    capture_at(&home, OLD, "two", days_ago(8));
    let new = home.engine.contradict(&first.to_string(), NEW, "s", now()).unwrap().new_record_id;
    let answer = home.recall("The billing service listens on port 8080");
    assert_eq!(answer.hits[0].record_id, new, "{:?}", texts(&answer));
    assert_eq!(contradictions(&answer).len(), 1);
}

fn recall_in(home: &Home, session: &str, cue: &str) -> RecallAnswer {
    let ask = RecallAsk { session: Some(session.to_owned()), ..RecallAsk::new(cue, 9000) };
    home.engine.recall(&ask, now()).unwrap()
}

/// A20: a recall adds no links and at most one event, hinted or not.
#[test]
fn a_recall_alone_links_nothing() {
    let (home, ..) = disputed();
    let before = home.engine.overview().unwrap();
    for n in 0..3 {
        recall_in(&home, &format!("asker {n}"), "billing service port");
        let after = home.engine.overview().unwrap();
        assert_eq!((after.links, after.memories), (before.links, before.memories));
        assert!(after.events <= before.events + 1);
    }
}

#[test]
fn what_is_recalled_and_then_built_on_grows_a_small_link_once() {
    let home = Home::new();
    capture_at(&home, "the staging cluster lives in Nuremberg", "a", days_ago(3));
    capture_at(&home, "the staging cluster restarts every Sunday night", "b", days_ago(2));
    capture_at(&home, "cluster headaches are painful", "b", days_ago(2));
    let n_links = || home.engine.overview().unwrap().links;
    recall_in(&home, "s", "staging cluster");
    capture_at(&home, "lunch is at noon", "s", now());
    capture_at(&home, "the staging cluster in Nuremberg restarts on Sunday", "t", now());
    assert_eq!(n_links(), 0, "neither another subject nor another session builds on it");
    let used = "the staging cluster in Nuremberg lives until it restarts every Sunday";
    capture_at(&home, used, "s", now());
    assert_eq!(n_links(), 3, "the two that were used, and what was made of them");
    capture_at(&home, &format!("{used}, as said"), "s", now());
    assert_eq!(n_links(), 5, "the pair itself gains once in a session");
}

/// What grew by itself in a session does not take the place of what somebody asks for in it.
#[test]
fn a_link_that_grew_by_use_is_raised_by_reinforcement_once() {
    let home = Home::new();
    capture_at(&home, "the staging cluster lives in Nuremberg", "a", days_ago(3));
    capture_at(&home, "the staging cluster restarts every Sunday night", "b", days_ago(2));
    recall_in(&home, "s", "staging cluster");
    let used = "the staging cluster in Nuremberg lives until it restarts every Sunday";
    capture_at(&home, used, "s", now());
    let id = |cue: &str| home.recall(cue).hits[0].record_id.to_string();
    let ids = [id("lives in Nuremberg"), id("restarts every Sunday night")];
    let weight = |expect_boosted: u64| {
        let answer = home.engine.reinforce(&ids, "s", now()).unwrap();
        assert_eq!(answer.edges_boosted, expect_boosted, "{answer:?}");
        *answer.new_weights.values().next().unwrap()
    };
    assert!((weight(1) - 0.1).abs() < 1e-9);
    assert!((weight(0) - 0.1).abs() < 1e-9);
}

#[test]
fn strong_links_bring_along_what_words_do_not_find() {
    let home = Home::with_turns(&["the retry policy is five attempts", "Grafana shows it all"]);
    let id = |cue: &str| home.recall(cue).hits[0].record_id.to_string();
    let ids = [id("retry policy"), id("Grafana")];
    assert_eq!(texts(&home.recall("retry policy")).len(), 1);
    for n in 0..4 {
        home.engine.reinforce(&ids, &format!("session {n}"), now()).unwrap();
    }
    let answer = home.recall("retry policy");
    assert_eq!(texts(&answer), ["the retry policy is five attempts", "Grafana shows it all"]);
    assert!(answer.hits[1].reason.starts_with("link 0.1"), "{}", answer.hits[1].reason);
}
