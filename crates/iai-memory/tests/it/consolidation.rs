//! Consolidation over a real store: what it makes, that it makes it once, and that it goes away
//! again.

use std::sync::Arc;
use std::time::Duration;

use iai_memory::{
    CheckDepth, ConsolidateAnswer, EventsAsk, FakeEmbedder, NewMemory, Pace, Patience, PatternsAsk,
    QuestionsAsk, Role, ShelfFilter, TemporalAsk,
};
use jiff::SignedDuration;
use serde_json::json;

use crate::fixture::{Home, batch, days_ago, now, texts, turn};

const SUBJECTS: [(&str, [&str; 4]); 3] = [
    ("billing", ["invoice", "stripe webhook", "refund policy", "tax rounding"]),
    ("search", ["inverted index", "tokenizer", "ranking weights", "snippet highlighter"]),
    ("garden", ["tomato seedlings", "compost heap", "watering schedule", "greenhouse frame"]),
];

/// Sessions of six turns, each about one subject of three.
fn sessions(n_sessions: u64) -> Vec<NewMemory> {
    let mut turns = Vec::new();
    for session in 0..n_sessions {
        let (subject, details) = SUBJECTS[usize::try_from(session).unwrap() % 3];
        for index in 0..6 {
            let detail = details[usize::try_from(index + session).unwrap() % 4];
            let other = details[usize::try_from(index + session + 1).unwrap() % 4];
            let text = format!(
                "Note {index} of day {session} says that the {subject} {detail} needs the {other} \
                 before anything else happens."
            );
            let at = days_ago(3) + SignedDuration::from_mins(i64::try_from(index).unwrap());
            let mut turn = turn(index, &text, at);
            turn.session = format!("s{session}");
            turn.role = if index % 2 == 0 { Role::User } else { Role::Assistant };
            turns.push(turn);
        }
    }
    turns
}

fn home_with(turns: Vec<NewMemory>) -> Home {
    let home = Home::new();
    home.engine.store_batch(&batch("f", turns), now()).unwrap();
    home
}

#[track_caller]
pub(crate) fn consolidate(home: &Home) -> ConsolidateAnswer {
    let answer = home.engine.consolidate(Patience(Duration::ZERO), &now).unwrap();
    assert!(answer.is_finished && answer.resting.is_empty(), "{answer:?}");
    answer
}

fn n_memories(home: &Home) -> u64 {
    home.engine.overview().unwrap().memories
}

/// A9.
#[test]
fn three_runs_with_no_new_data_make_nothing_new_after_the_first() {
    let home = home_with(sessions(12));
    let first = consolidate(&home);
    assert!(3 <= first.summaries_created, "{first:?}");
    let n = n_memories(&home);
    for _ in 0..2 {
        let again = consolidate(&home);
        assert_eq!((again.summaries_created, again.summaries_updated), (0, 0));
        assert!(again.steps.is_empty(), "{again:?}");
        assert_eq!(n_memories(&home), n);
    }
    assert!(home.engine.check(CheckDepth::Deep).unwrap().is_clean());
}

#[test]
fn what_was_made_is_counted_and_listed_apart_from_what_was_said() {
    let home = home_with(sessions(12));
    let all = |home: &Home| home.engine.list(&ShelfFilter::default(), 1000).unwrap();
    let said: Vec<_> = all(&home).into_iter().map(|memory| memory.record_id).collect();
    let n_made = consolidate(&home).summaries_created;
    let overview = home.engine.overview().unwrap();
    assert_eq!((overview.said(), overview.generated), (said.len() as u64, n_made));
    assert!(all(&home).iter().map(|memory| memory.record_id).eq(said));
}

#[test]
fn what_was_said_within_a_time_is_what_somebody_said() {
    let home = home_with(sessions(12));
    let ask = TemporalAsk {
        cue: None,
        from: Some(days_ago(400)),
        to: Some(now()),
        phrase: None,
        budget_tokens: 100_000,
        project: None,
    };
    let told = || home.engine.recall_temporal(&ask, now()).unwrap().hits;
    let before: Vec<_> = told().into_iter().map(|hit| hit.record_id).collect();
    assert!(consolidate(&home).summaries_created > 0);
    assert!(told().iter().map(|hit| hit.record_id).eq(before), "a summary is no turn of that time");
}

#[test]
fn topics_follow_what_is_talked_about_and_keep_their_names() {
    for with_model in [false, true] {
        let home = home_with(sessions(12));
        if with_model {
            home.engine.attach_model(Arc::new(FakeEmbedder::default())).unwrap();
            while home.engine.embed_step().unwrap() {}
        }
        consolidate(&home);
        let topics = home.engine.topics(None).unwrap();
        assert!((3..=9).contains(&topics.len()), "{with_model} {topics:?}");
        for topic in &topics {
            let subject = SUBJECTS.iter().position(|(subject, details)| {
                topic.label.contains(subject)
                    || details.iter().any(|d| d.split(' ').any(|word| topic.label.contains(word)))
            });
            assert!(subject.is_some(), "{topic:?}");
        }
        let mut more = sessions(24);
        more.drain(..12 * 6);
        home.engine.store_batch(&batch("g", more), now()).unwrap();
        if with_model {
            while home.engine.embed_step().unwrap() {}
        }
        consolidate(&home);
        let after = home.engine.topics(None).unwrap();
        let kept = topics.iter().filter(|t| after.iter().any(|a| a.number == t.number)).count();
        assert!(topics.len() <= 2 * kept, "{kept} of {} go on", topics.len());
    }
}

#[test]
fn a_summary_is_whole_sentences_of_what_was_said_and_there_is_one() {
    let home = home_with(sessions(12));
    consolidate(&home);
    let mut more = sessions(15);
    more.drain(..12 * 6);
    home.engine.store_batch(&batch("g", more), now()).unwrap();
    consolidate(&home);
    let all = home.engine.search(".", &ShelfFilter::default(), 1000).unwrap();
    let (summaries, said): (Vec<_>, Vec<_>) = all.iter().partition(|view| view.role == "system");
    let mut sessions: Vec<&str> = summaries.iter().map(|view| view.session_id.as_str()).collect();
    sessions.sort_unstable();
    let n = sessions.len();
    sessions.dedup();
    assert_eq!(sessions.len(), n, "one summary of each");
    for summary in &summaries {
        assert_eq!(
            (summary.tier, summary.tags.as_slice()),
            ("semantic", &["summary".to_owned()][..])
        );
        assert_eq!(summary.provenance["generated"], true);
        assert!(summary.literal_surface.split_whitespace().count() <= 80);
        for sentence in summary.literal_surface.lines() {
            assert!(said.iter().any(|view| view.literal_surface.contains(sentence)), "{sentence}");
        }
    }
    let links = home.engine.topology().unwrap().links;
    assert!(0 < links["consolidated_from"] && links["consolidated_from"] <= 20 * n as u64);
}

#[test]
fn a_summary_never_goes_before_what_it_repeats_nor_answers_a_quotation() {
    let home = home_with(sessions(12));
    consolidate(&home);
    let answer = home.recall("invoice refund policy of billing");
    let first_summary = answer.hits.iter().position(|hit| hit.role == "system");
    if let Some(place) = first_summary {
        let repeated = answer.hits[place].literal_surface.lines().next().unwrap().to_owned();
        let said = answer.hits.iter().position(|hit| hit.literal_surface == repeated);
        assert!(said.is_none_or(|said| said < place), "{:?}", texts(&answer));
    }
    let quoted = home.recall("\"needs the stripe webhook before anything else\"");
    assert!(!quoted.hits.is_empty() && quoted.hits.iter().all(|hit| hit.role != "system"));
}

fn with_habits() -> Vec<NewMemory> {
    let mut turns = Vec::new();
    for session in 0..8_u64 {
        let mut said = vec![
            "Run `cargo nextest run` and then `git commit -m fix` for me".to_owned(),
            format!("Done, the change number {session} went through the Jenkins pipeline."),
        ];
        if session % 2 == 0 {
            said.push("Please use pnpm, not npm.".to_owned());
        }
        if session < 4 {
            said.push("Look at Grafana and Prometheus first".to_owned());
        }
        for (index, text) in said.into_iter().enumerate() {
            let mut turn = turn(index as u64, &text, days_ago(2));
            turn.session = format!("h{session}");
            turn.tags = vec!["capture".to_owned(), "role:user".to_owned()];
            turns.push(turn);
        }
    }
    turns
}

/// A10.
#[test]
fn patterns_hold_no_system_tags_and_their_evidence_is_exact() {
    let home = home_with(with_habits());
    consolidate(&home);
    let answer = home.engine.patterns(&PatternsAsk::default()).unwrap();
    let find = |text: &str| answer.schemas.iter().find(|schema| schema.pattern.contains(text));
    let habit = find("usually runs `cargo nextest run` in p").expect("a habit");
    assert_eq!((habit.evidence_count, habit.exceptions_count, habit.status), (8, 0, "auto"));
    let wish = find("prefers pnpm to npm").expect("a preference");
    assert_eq!((wish.evidence_count, wish.status), (4, "pending"));
    let pair = find("where Grafana is, Prometheus is too").expect("an association");
    assert_eq!((pair.evidence_count, pair.exceptions_count), (4, 0));
    for schema in &answer.schemas {
        assert!(!schema.pattern.contains("capture") && !schema.pattern.contains("role:"));
        assert!(3 <= schema.evidence_count && !schema.evidence_ids.is_empty());
    }
    let none = PatternsAsk { project: Some("/other".to_owned()), ..PatternsAsk::default() };
    assert_eq!(home.engine.patterns(&none).unwrap().total, 0);
    let here = PatternsAsk { project: Some("p".to_owned()), confidence_min: 0.0 };
    assert_eq!(home.engine.patterns(&here).unwrap().total, answer.total);
}

/// What is run in most sessions is a habit, though nobody quotes it.
#[test]
fn habits_come_from_plain_words_and_from_what_was_run() {
    let mut turns = sessions(6);
    for turn in &mut turns {
        match turn.turn_index {
            Some(0) => turn.text.push_str(" Then run the tests with cargo nextest."),
            Some(1) => turn.provenance = json!({"commands": ["flutter test", "ls"]}),
            Some(2) => turn.text.push_str(" Make sure to never run git push."),
            _ => {}
        }
    }
    let home = home_with(turns);
    consolidate(&home);
    let answer = home.engine.patterns(&PatternsAsk::default()).unwrap();
    let habit = |name: &str| {
        let said = format!("usually runs `{name}` in p");
        answer.schemas.iter().find(|schema| schema.pattern == said).map(|s| s.evidence_count)
    };
    assert_eq!((habit("cargo nextest"), habit("flutter test")), (Some(6), Some(6)));
    assert_eq!((habit("git push"), habit("ls"), habit("make sure")), (None, None, None));
}

#[test]
fn a_count_that_changes_patterns_is_written_down_once() {
    let home = home_with(with_habits());
    let ask = EventsAsk {
        kind: "schema_induction_run".to_owned(),
        since: None,
        severity: None,
        limit: 9,
    };
    let runs = || serde_json::to_value(home.engine.events(&ask).unwrap()).unwrap();
    assert_eq!(runs()["count"], 0);
    consolidate(&home);
    consolidate(&home);
    let n = home.engine.patterns(&PatternsAsk::default()).unwrap().total;
    assert_eq!(runs()["count"], 1, "the second changed nothing");
    assert_eq!(
        runs()["events"][0]["data"],
        json!({"patterns": n, "patterns_found": n, "patterns_updated": 0, "patterns_dropped": 0})
    );
    home.engine.store_batch(&batch("g", sessions(1)), now()).unwrap();
    consolidate(&home);
    assert_eq!(runs()["count"], 1, "nor did what shows no pattern");
}

#[test]
fn questions_are_few_and_resolve_themselves() {
    let home = home_with(with_habits());
    consolidate(&home);
    let open = || home.engine.questions(&QuestionsAsk::default(), now()).unwrap().questions;
    let gap = |questions: &[iai_memory::Question]| questions.iter().any(|q| q.tier == "gap");
    assert!(!gap(&open()));
    for _ in 0..2 {
        home.recall("which colour does the harbour crane have?");
        consolidate(&home);
    }
    let questions = open();
    assert!(gap(&questions), "{questions:?}");
    assert!(questions.iter().filter(|q| q.project.as_deref() == Some("/p")).count() <= 3);
    let told = turn(99, "The harbour crane has the colour green, a bright one.", now());
    home.engine.store_batch(&batch("g", vec![told]), now()).unwrap();
    assert!(!gap(&open()));
}

/// A19.
#[test]
fn the_graph_has_as_many_nodes_as_there_are_memories() {
    let home = home_with(sessions(12));
    consolidate(&home);
    let topology = home.engine.topology().unwrap();
    assert_eq!(topology.N, n_memories(&home));
    assert!(topology.isolated <= topology.N);
    assert_eq!(topology.community_count, home.engine.topics(None).unwrap().len() as u64);
}

#[test]
fn what_idle_work_did_is_told_once() {
    let home = home_with(sessions(6));
    assert_eq!(home.engine.digest().unwrap(), None);
    consolidate(&home);
    let digest = home.engine.take_digest(now()).unwrap().expect("something was done");
    assert_eq!((digest.rem_cycles_completed, digest.episodes_processed), (1, 36));
    assert_eq!(home.engine.take_digest(now()).unwrap(), None);
}

#[test]
fn what_somebody_wants_is_done_even_while_idle_work_is_held_back() {
    let home = home_with(sessions(6));
    home.engine.hold_organising(None);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let pace = Pace { clock: &now, idle_min: Duration::ZERO, after_idle_round: &|| () };
            home.engine.organise_until_stopped(&pace).unwrap();
        });
        let patience = Patience(Duration::from_secs(60));
        let answer = home.engine.consolidate(patience, &now).unwrap();
        home.engine.stop_organising();
        assert!(answer.is_finished && 0 < answer.summaries_created, "{answer:?}");
    });
}

#[test]
fn idle_work_begins_by_itself() {
    let home = home_with(sessions(6));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let pace = Pace { clock: &now, idle_min: Duration::ZERO, after_idle_round: &|| () };
            home.engine.organise_until_stopped(&pace).unwrap();
        });
        let begun = std::time::Instant::now();
        while home.engine.organise_status().round_at.is_none() && begun.elapsed().as_secs() < 60 {
            std::thread::yield_now();
        }
        home.engine.stop_organising();
    });
    assert!(home.engine.digest().unwrap().is_some());
}
