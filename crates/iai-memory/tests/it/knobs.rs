//! A14: each of the eleven knobs changes something one can see, and none of them a memory's words.

use iai_memory::{BriefAsk, Certainty, KNOBS, NewMemory, RecallAnswer, RecallAsk, Timing};
use serde_json::{Value, json};

use crate::fixture::{Home, batch, days_ago, now, texts, turn};

fn said(session: &str, project: &str, index: u64, text: &str) -> NewMemory {
    NewMemory {
        session: session.to_owned(),
        project: Some(project.to_owned()),
        cwd: Some(project.to_owned()),
        ..turn(index, text, days_ago(2))
    }
}

/// Two projects that speak of harbours.
fn harbours() -> Home {
    let home = Home::new();
    let long = format!(
        "{} The harbour dues are seven crowns. {}",
        "Quiet. ".repeat(99),
        "Calm. ".repeat(99)
    );
    let turns = vec![
        said("north", "/w/north", 0, "Good morning to the pilots."),
        said("north", "/w/north", 1, "The harbour opens at nine."),
        said("north", "/w/north", 2, "The harbour opens at nine o'clock."),
        said("north", "/w/north", 3, "Why does the north crane squeak?"),
        said("south", "/w/south", 0, "The south harbour has a lighthouse of brick."),
        said("south", "/w/south", 1, &long),
        said("west", "/w/west", 0, "A harbour seal sleeps on the west pier."),
    ];
    home.engine.store_batch(&batch("f", turns), now()).unwrap();
    home
}

fn turned(knobs: &[(&str, Value)]) -> Home {
    let home = harbours();
    for (knob, value) in knobs {
        let set = home.engine.set_profile(knob, value, now()).unwrap();
        assert_eq!(set["status"], "ok", "{set}");
    }
    home
}

fn recall_as(home: &Home, cue: &str, session: &str) -> RecallAnswer {
    let ask = RecallAsk {
        cue: cue.to_owned(),
        budget_tokens: 4000,
        project: None,
        asked_from: Some("/w/north".to_owned()),
        session: Some(session.to_owned()),
        certainty: Certainty::Any,
        as_of: None,
        timing: Timing::Untold,
        n_hits_wanted: None,
    };
    home.engine.recall(&ask, now()).unwrap()
}

/// Asks with one knob turned; whatever is shown must be part of a memory, letter by letter.
fn recall_with(knob: &str, value: Value) -> RecallAnswer {
    let home = turned(&[(knob, value)]);
    let answer = recall_as(&home, "harbour", "s");
    for hit in &answer.hits {
        let whole = home.engine.show(&hit.record_id.to_string(), 0).unwrap().literal_surface;
        let (start, end) = hit.excerpt.map_or((0, usize::MAX), |part| (part.start, part.end));
        let part: String = whole.chars().take(end).skip(start).collect();
        assert_eq!(hit.literal_surface, part, "{knob}");
    }
    answer
}

fn default_answer() -> RecallAnswer {
    recall_with("wake_depth", json!("standard"))
}

fn dues(answer: &RecallAnswer) -> &iai_memory::Hit {
    answer.hits.iter().find(|hit| hit.literal_surface.contains("dues")).unwrap()
}

fn brief_with(knobs: &[(&str, Value)]) -> String {
    let home = turned(knobs);
    let ask = BriefAsk { session: "next".to_owned(), project: Some("/w/north".to_owned()) };
    home.engine.brief(&ask, now()).unwrap().markdown
}

#[test]
fn every_knob_is_tested_here() {
    let here = include_str!("knobs.rs");
    for knob in KNOBS {
        assert!(here.contains(&format!("\"{}\"", knob.name)), "{}", knob.name);
    }
}

#[test]
fn literal_preservation_decides_how_much_of_a_text_is_shown() {
    assert!(dues(&default_answer()).excerpt.is_none());
    let medium = recall_with("literal_preservation", json!("medium"));
    let loose = recall_with("literal_preservation", json!("loose"));
    let shown = |answer: &RecallAnswer| {
        let excerpt = dues(answer).excerpt.unwrap();
        excerpt.end - excerpt.start
    };
    // To the last whole word.
    assert!((580..=600).contains(&shown(&medium)) && (180..=200).contains(&shown(&loose)));
    assert!(loose.hits.iter().any(|hit| hit.excerpt.is_none()), "short ones stay whole");
}

#[test]
fn task_support_and_the_scene_decide_what_is_told_around_a_hit() {
    let neighbours = |answer: &RecallAnswer| {
        let hit = answer.hits.iter().find(|hit| hit.literal_surface.ends_with("nine.")).unwrap();
        (serde_json::to_value(&hit.neighbours).unwrap(), hit.adjacent_suggestions.len())
    };
    let (default, n_suggested) = neighbours(&default_answer());
    assert_eq!((default[0]["side"].as_str(), n_suggested), (Some("before"), 0), "{default}");
    assert_eq!(default[0]["preview"], "Good morning to the pilots.");
    assert_eq!(default[1]["preview"], "The harbour opens at nine o'clock.");
    let (blank, _) = neighbours(&recall_with("task_support", json!("blank_recall")));
    assert_eq!((&blank[0]["role"], &blank[0]["preview"]), (&json!("user"), &Value::Null));
    let no_scene = recall_with("scene_construction_scaffold", json!(false));
    assert_eq!(neighbours(&no_scene), (json!([]), 2), "only named");
    let home = turned(&[
        ("scene_construction_scaffold", json!(false)),
        ("task_support", json!("blank_recall")),
    ]);
    assert_eq!(neighbours(&recall_as(&home, "harbour", "s")), (json!([]), 0));
}

#[test]
fn monotropism_depth_lifts_a_project() {
    assert!(!texts(&default_answer())[0].contains("seal"));
    let focused = recall_with("monotropism_depth", json!({"west": 1.0}));
    assert!(texts(&focused)[0].contains("seal"), "{:?}", texts(&focused));
    assert!(focused.hits[0].reason.contains("× focus 2.00"), "{}", focused.hits[0].reason);
    let n_hits = |answer: &RecallAnswer| answer.hits.len();
    assert_eq!(n_hits(&focused), n_hits(&default_answer()), "nothing is left out");
}

#[test]
fn interest_boost_lifts_the_project_one_asks_from() {
    let boosted = recall_with("interest_boost", json!(1.0));
    let is_north = |hit: &&iai_memory::Hit| hit.project.as_deref() == Some("/w/north");
    assert!(boosted.hits.iter().take(2).all(|hit| is_north(&hit)), "{:?}", texts(&boosted));
    assert!(boosted.hits.iter().filter(is_north).all(|hit| hit.reason.contains("× focus 2.00")));
    assert!(default_answer().hits.iter().all(|hit| !hit.reason.contains("focus")));
}

#[test]
fn dunn_quadrant_decides_how_much_and_how_different() {
    let quadrant = |name: &str| recall_with("dunn_quadrant", json!(name));
    let (default, avoiding) = (default_answer(), quadrant("avoiding"));
    assert!(avoiding.hits.len() <= 3 && avoiding.hits.len() < default.hits.len());
    let alike = |answer: &RecallAnswer| {
        let place = |end: &str| texts(answer).iter().position(|text| text.ends_with(end)).unwrap();
        place("nine.").abs_diff(place("o'clock."))
    };
    assert!(alike(&default) < alike(&quadrant("seeking")), "those alike stand apart");
    let sensitive = quadrant("sensitive");
    assert!(sensitive.hints.is_empty() && sensitive.activation_trace.is_empty());
    assert!(sensitive.hits.iter().all(|hit| hit.neighbours.is_empty()));
    assert_eq!(texts(&sensitive), texts(&default));
    let low = quadrant("low-registration");
    assert_eq!(
        (low.hints[0].kind, low.hints[0].source_ids[0]),
        ("start_here", low.hits[0].record_id)
    );
    assert_eq!(
        low.hints[0].text,
        "the first fits best: said by the user, 2 days ago; you could begin there"
    );
}

#[test]
fn the_tone_of_generated_lines_is_the_users() {
    let words_only = |knob: &str, value: Value| {
        let answer = recall_with(knob, value);
        let hint = answer.hints.iter().find(|hint| hint.kind == "words_only").unwrap();
        hint.text.clone()
    };
    let fact = "no model is at work: only words were compared";
    let step = "run `iai-mcp model install`";
    let demand = |value: &str| words_only("demand_avoidance_tolerance", json!(value));
    assert_eq!(demand("collaborative"), format!("{fact}; you could {step}"));
    assert_eq!(demand("neutral"), fact);
    assert_eq!(demand("imperative"), format!("{fact}: {step}"));
    let polite = format!("{fact}; you could {step}, if that helps");
    assert_eq!(words_only("masking_off", json!(false)), polite);
    let relaxed = format!("{fact}; maybe {step}");
    assert_eq!(words_only("camouflaging_relaxation", json!(0.8)), relaxed);
    assert_eq!(words_only("camouflaging_relaxation", json!(0.2)), demand("collaborative"));
    assert!(!brief_with(&[]).contains("Welcome back"));
    assert!(brief_with(&[("masking_off", json!(false))]).starts_with("Welcome back. Notes"));
    assert!(brief_with(&[("camouflaging_relaxation", json!(1.0))]).contains("They aren't instr"));
}

#[test]
fn inertia_awareness_says_once_where_one_stopped() {
    assert!(default_answer().resume.is_none());
    let home = turned(&[("inertia_awareness", json!(true))]);
    let first = recall_as(&home, "harbour", "a");
    assert_eq!(
        first.resume.as_deref(),
        Some(
            "the last session stopped here, 2026-11-13 (2 days ago); you could go on with it: \
             “Why does the north crane squeak?”"
        )
    );
    assert!(recall_as(&home, "harbour", "a").resume.is_none(), "once in a session");
    assert!(recall_as(&home, "harbour", "b").resume.is_some());
    assert!(!brief_with(&[]).contains("Pick up here"));
    assert!(brief_with(&[("inertia_awareness", json!(true))]).contains("## Pick up here"));
}

#[test]
fn wake_depth_decides_how_much_a_session_is_told() {
    let depth = |word: &str| {
        let home = turned(&[("wake_depth", json!(word))]);
        let ask = BriefAsk { session: "next".to_owned(), project: Some("/w/south".to_owned()) };
        home.engine.brief(&ask, now()).unwrap().markdown.chars().count()
    };
    let sizes = [depth("minimal"), depth("standard"), depth("deep")];
    assert!(sizes[0] < sizes[1] && sizes[1] < sizes[2], "{sizes:?}");
}

#[test]
fn a_hint_about_the_store_is_told_once_in_a_session() {
    let home = harbours();
    let kinds = |session: &str| {
        let hints = recall_as(&home, "harbour", session).hints;
        assert!(hints.len() <= 3);
        hints.iter().filter(|hint| hint.kind == "words_only").count()
    };
    assert_eq!((kinds("a"), kinds("a"), kinds("b"), kinds("a")), (1, 0, 1, 0));
}

/// A12, whatever the profile: the answer costs what was allowed.
#[test]
fn no_knob_breaks_the_budget() {
    let profiles: [&[(&str, Value)]; 5] = [
        &[],
        &[("inertia_awareness", json!(true)), ("dunn_quadrant", json!("low-registration"))],
        &[("literal_preservation", json!("medium")), ("masking_off", json!(false))],
        &[("dunn_quadrant", json!("seeking")), ("literal_preservation", json!("loose"))],
        &[("scene_construction_scaffold", json!(false)), ("interest_boost", json!(1.0))],
    ];
    for knobs in profiles {
        let home = turned(knobs);
        for budget_tokens in [0, 50, 100, 200, 300, 500, 800, 1500, 4000] {
            let ask = RecallAsk {
                cue: "harbour".to_owned(),
                budget_tokens,
                project: None,
                asked_from: Some("/w/north".to_owned()),
                session: Some(budget_tokens.to_string()),
                certainty: Certainty::Any,
                as_of: None,
                timing: Timing::Untold,
                n_hits_wanted: None,
            };
            let answer = home.engine.recall(&ask, now()).unwrap();
            let json = serde_json::to_string(&answer).unwrap().chars().count();
            let lines = answer.hits.iter().map(|hit| hit.literal_surface.chars().count() + 80);
            let resume = answer.resume.as_ref().map_or(0, |text| text.chars().count() + 10);
            let total = json + lines.sum::<usize>() + resume;
            let allowed = 4 * usize::try_from(budget_tokens).unwrap() + 400;
            assert!(total <= allowed, "{knobs:?} {budget_tokens}: {total} of {allowed}");
        }
    }
}
