//! What memories are about: taken once, found by role; and when and where they were said.

use std::collections::BTreeMap;

use iai_memory::{
    CaptureAsk, EpisodesAsk, NewMemory, Role, StructuralAnswer, StructuralAsk, TemporalAsk,
    TextAsk, Tier,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::fixture::{Home, batch, days_ago, now, turn};

fn said(index: u64, session: &str, role: Role, at: Timestamp, text: &str) -> NewMemory {
    let at = at + SignedDuration::from_secs(index.cast_signed());
    NewMemory { session: session.to_owned(), role, ..turn(index, text, at) }
}

/// A few weeks of work in two projects and three sessions.
fn lived() -> Home {
    let home = Home::new();
    let (user, assistant) = (Role::User, Role::Assistant);
    let mut turns = vec![
        said(0, "a", user, days_ago(40), "we decided to use Kafka for the billing events"),
        said(1, "a", assistant, days_ago(40), "Agreed, Kafka it is, see ABC-123."),
        said(0, "b", user, days_ago(10), "Kafka is slow, run `cargo bench` please"),
        said(1, "b", assistant, days_ago(10), "The bench in src/events.rs takes ten seconds"),
        said(0, "c", user, days_ago(2), "wir haben die Regel für den Neustart geändert"),
        said(1, "c", assistant, days_ago(2), "the release of heron is out"),
    ];
    for turn in turns.iter_mut().filter(|turn| turn.session == "c") {
        turn.project = Some("/src/heron".to_owned());
        turn.host = "other-host".to_owned();
    }
    if let Some(turn) = turns.get_mut(3) {
        turn.provenance = json!({"tools": ["Edit"], "files": ["/p/src/events.rs"]});
    }
    home.engine.store_batch(&batch("f", turns), now()).unwrap();
    assert_eq!(home.engine.look_at_what_came_in(now()).unwrap(), 6);
    home
}

fn ask(home: &Home, query: &[(&str, &str)]) -> StructuralAnswer {
    let structure_query: BTreeMap<String, String> =
        query.iter().map(|(role, filler)| ((*role).to_owned(), (*filler).to_owned())).collect();
    let ask = StructuralAsk { structure_query, budget_tokens: 10_000, n_candidates_max: 0 };
    home.engine.recall_structural(&ask, now()).unwrap()
}

/// The first words of the hits.
fn words(answer: &StructuralAnswer) -> Vec<String> {
    let word = |text: &str| text.split(' ').next().unwrap_or_default().to_owned();
    answer.hits.iter().map(|hit| word(&hit.literal_surface)).collect()
}

#[track_caller]
fn check(home: &Home, query: &[(&str, &str)], expect: &[&str]) {
    assert_eq!(words(&ask(home, query)), expect, "{query:?}");
}

#[test]
fn memories_are_found_by_what_they_are_about() {
    let home = lived();
    check(&home, &[("ENTITY", "kafka")], &["Kafka", "Agreed,", "we"]);
    check(&home, &[("entity", "ABC-123")], &["Agreed,"]);
    check(&home, &[("OBJECT", "abc-123")], &["Agreed,"]);
    check(&home, &[("FILE", "events.rs")], &["The"]);
    check(&home, &[("file", "src/events.rs")], &["The"]);
    check(&home, &[("COMMAND", "cargo bench")], &["Kafka"]);
    check(&home, &[("TOOL", "edit")], &["The"]);
    check(&home, &[("LANG", "de")], &["wir"]);
    check(&home, &[("SESSION_ID", "b")], &["The", "Kafka"]);
    check(&home, &[("PROJECT", "heron")], &["the", "wir"]);
    check(&home, &[("WHERE", "/src/heron")], &["the", "wir"]);
    check(&home, &[("SOURCE", "other-host")], &["the", "wir"]);
    check(&home, &[("WHEN", "2026-11-13")], &["the", "wir"]);
    check(&home, &[("TEMPORAL_POSITION", "2026-11-01..2026-11-06")], &["The", "Kafka"]);
    check(&home, &[("WHEN", "last week")], &["The", "Kafka"]);
    check(&home, &[("WHEN", "this week")], &["the", "wir"]);
    check(&home, &[("who", "user")], &["wir", "Kafka", "we"]);
    check(&home, &[("ACTOR", "me")], &["wir", "Kafka", "we"]);
    check(&home, &[("service", "kafka")], &["Kafka", "Agreed,", "we"]);
    check(&home, &[("TIER", "semantic")], &[]);
    check(&home, &[("ENTITY", "nobody")], &[]);
    check(&home, &[("MODALITY", "sound")], &[]);
    check(&home, &[], &[]);
    for role in ["TIER", "ROLE", "WHERE", "INTENT"] {
        assert_eq!(ask(&home, &[(role, "episodic")]).hits.len(), 6, "{role}");
    }
    for (role, filler) in [
        ("MODALITY", "text"),
        ("VALENCE", "neutral"),
        ("PARENT_ID", "root"),
        ("CERTAINTY", "current"),
    ] {
        assert_eq!(ask(&home, &[(role, filler)]).hits.len(), 6, "{role}");
    }
}

#[test]
fn commands_are_found_in_what_was_said_and_in_what_was_run() {
    let home = Home::new();
    let mut turns = vec![
        said(0, "a", Role::User, days_ago(4), "please use pytest -q from now on"),
        said(1, "a", Role::Assistant, days_ago(4), "They all pass."),
        said(0, "b", Role::User, days_ago(3), "git is slow, and just do it with go"),
    ];
    turns[1].provenance = json!({"tools": ["Bash"], "commands": ["flutter test", "npm run build"]});
    home.engine.store_batch(&batch("f", turns), now()).unwrap();
    home.engine.look_at_what_came_in(now()).unwrap();
    check(&home, &[("COMMAND", "pytest")], &["please"]);
    check(&home, &[("command", "pytest -x tests")], &["please"]);
    check(&home, &[("command", "flutter test")], &["They"]);
    check(&home, &[("command", "flutter test --coverage")], &["They"]);
    check(&home, &[("command", "npm run build")], &["They"]);
    check(&home, &[("command", "npm run")], &["They"]);
    check(&home, &[("tool", "bash")], &["They"]);
    for nothing in ["git", "go", "just do", "make", "flutter build"] {
        check(&home, &[("command", nothing)], &[]);
    }
}

#[test]
fn a_name_that_nobody_has_is_looked_up_among_the_words() {
    let home = lived();
    let answer = ask(&home, &[("ENTITY", "billing events")]);
    assert_eq!(words(&answer), ["we"]);
    assert!(answer.hits[0].reason.contains("ENTITY billing events by its words"));
    check(&home, &[("TOPIC", "Neustart")], &["wir"]);
    check(&home, &[("service", "seconds")], &["The"]);
    check(&home, &[("ENTITY", "seconds"), ("ROLE", "assistant")], &["The"]);
    let known = ask(&home, &[("ENTITY", "kafka")]);
    assert!(known.hits.iter().all(|hit| !hit.reason.contains("words")));
    // Other roles say what kind of thing it is: a word is no file and no command.
    for role in ["FILE", "COMMAND", "TOOL", "LANG", "PROJECT", "SESSION_ID", "SOURCE"] {
        check(&home, &[(role, "seconds")], &[]);
    }
    check(&home, &[("ENTITY", "?!")], &[]);
}

#[test]
fn of_equal_ones_what_was_said_comes_before_what_was_made_of_it() {
    let home = Home::new();
    let texts = [
        "Kafka takes the billing events of the shop from the queue.",
        "Kafka keeps the billing events of the shop for a week.",
        "Kafka loses no billing events of the shop when it restarts.",
        "Kafka sends the billing events of the shop to the ledger.",
    ];
    let turns = texts.iter().enumerate().map(|(n, text)| turn(n as u64, text, days_ago(3)));
    home.engine.store_batch(&batch("f", turns.collect()), now()).unwrap();
    home.engine.consolidate(iai_memory::Patience(std::time::Duration::ZERO), &now).unwrap();
    home.engine.look_at_what_came_in(now()).unwrap();
    let roles = |query: &[(&str, &str)]| -> Vec<&'static str> {
        ask(&home, query).hits.iter().map(|hit| hit.role).collect()
    };
    let kafka = roles(&[("ENTITY", "kafka")]);
    assert!(kafka.len() > texts.len(), "a summary is there: {kafka:?}");
    assert!(kafka[..texts.len()].iter().all(|role| *role == "user"), "{kafka:?}");
    let made = roles(&[("TIER", "semantic")]);
    assert!(!made.is_empty() && made.iter().all(|role| *role == "system"), "{made:?}");
}

#[test]
fn a_partial_match_ranks_lower_and_says_what_matched() {
    let home = lived();
    let answer = ask(&home, &[("ENTITY", "kafka"), ("ROLE", "user"), ("WHEN", "in October")]);
    assert_eq!(words(&answer), ["we", "Agreed,", "Kafka"]);
    assert!(answer.hits[1].score < answer.hits[0].score);
    assert!((answer.hits[0].score - 1.0).abs() < 1e-9);
    let reason = &answer.hits[1].reason;
    assert!(reason.contains("ENTITY kafka") && reason.contains("WHEN in October"), "{reason}");
    assert!(!reason.contains("ROLE"), "{reason}");
    assert_eq!(answer.structural_query_size, 3);
    // Common roles alone are no answer to a query for something rare that nobody has.
    check(&home, &[("ENTITY", "nobody"), ("ROLE", "user")], &[]);
}

#[test]
fn what_is_captured_is_found_at_once_and_a_correction_outranks_what_it_replaced() {
    let home = Home::new();
    let ask_to_keep = CaptureAsk {
        text: "the deploy of Heron is on Friday".to_owned(),
        cue: None,
        tier: Tier::Episodic,
        role: Role::User,
        session: "s".to_owned(),
        project: None,
        cwd: None,
    };
    let kept = home.engine.capture(&ask_to_keep, now()).unwrap();
    check(&home, &[("ENTITY", "heron")], &["the"]);
    let id = kept.record_id.unwrap().to_string();
    home.engine.contradict(&id, "no, Heron is deployed on Monday", "s", now()).unwrap();
    home.engine.look_at_what_came_in(now()).unwrap();
    assert_eq!(home.engine.look_at_what_came_in(now()).unwrap(), 0, "nothing is looked at twice");
    let answer = ask(&home, &[("ENTITY", "heron")]);
    assert_eq!(words(&answer), ["no,", "the"]);
    assert!(answer.hits[1].reason.contains("stale"), "{}", answer.hits[1].reason);
    check(&home, &[("ENTITY", "heron"), ("CERTAINTY", "superseded")], &["the"]);
}

#[test]
fn a_time_nobody_understands_is_refused_with_examples() {
    let home = lived();
    let structure_query = BTreeMap::from([("WHEN".to_owned(), "soonish".to_owned())]);
    let ask = StructuralAsk { structure_query, budget_tokens: 100, n_candidates_max: 0 };
    let error = home.engine.recall_structural(&ask, now()).unwrap_err().to_string();
    assert!(error.contains("soonish") && error.contains("last week"), "{error}");
}

#[test]
fn a_cue_that_asks_only_for_a_time_is_answered_by_what_was_said_then() {
    let home = lived();
    let sessions = |cue: &str| {
        let answer = home.recall(cue);
        let mut sessions: Vec<String> = answer.hits.into_iter().map(|hit| hit.session_id).collect();
        sessions.sort();
        sessions.dedup();
        sessions
    };
    assert_eq!(sessions("what happened on 6 October?"), ["a"]);
    assert_eq!(sessions("what did we do the day before yesterday"), ["c"]);
    assert_eq!(sessions("was haben wir Anfang Oktober gemacht"), ["a"]);
    assert!(sessions("what happened last spring").is_empty());
    // A cue that is about something else too is answered by all that is about it.
    assert_eq!(sessions("what did we do with Kafka on 6 October?"), ["a", "b"]);
}

fn temporal(home: &Home, cue: Option<&str>, phrase: Option<&str>) -> Vec<String> {
    let ask = TemporalAsk {
        cue: cue.map(str::to_owned),
        from: None,
        to: None,
        phrase: phrase.map(str::to_owned),
        budget_tokens: 10_000,
        project: None,
    };
    match home.engine.recall_temporal(&ask, now()) {
        Ok(answer) => answer
            .hits
            .iter()
            .map(|hit| hit.literal_surface.split(' ').next().unwrap_or_default().to_owned())
            .collect(),
        Err(error) => vec![error.to_string()],
    }
}

#[test]
fn what_was_said_within_a_time_is_found_by_it_alone() {
    let home = lived();
    assert_eq!(temporal(&home, None, Some("last week")), ["The", "Kafka"]);
    assert_eq!(temporal(&home, None, Some("this week")), ["the", "wir"]);
    assert_eq!(temporal(&home, Some("kafka"), Some("in October")), ["Agreed,", "we"]);
    assert_eq!(temporal(&home, Some("what about kafka two days ago"), None), [""; 0]);
    let before = temporal(&home, Some("kafka before the release of heron"), None);
    assert!(["we", "Kafka", "Agreed,"].iter().all(|word| before.contains(&(*word).to_owned())));
    let before = temporal(&home, None, Some("before the cargo bench"));
    assert_eq!(before, ["The", "Kafka", "Agreed,", "we"]);
    assert_eq!(temporal(&home, None, Some("after the release of heron")), ["the", "wir"]);
    assert!(temporal(&home, None, Some("whenever"))[0].contains("names no time"));
    assert!(temporal(&home, Some("kafka"), None)[0].contains("names no time"));
    assert!(temporal(&home, None, None)[0].contains("missing"));
    let ask = TemporalAsk {
        cue: None,
        from: Some(days_ago(11)),
        to: Some(days_ago(9)),
        phrase: None,
        budget_tokens: 10_000,
        project: Some("p".to_owned()),
    };
    let answer = home.engine.recall_temporal(&ask, now()).unwrap();
    assert_eq!(answer.hits.len(), 2);
    assert_eq!((answer.from, answer.to), (days_ago(11).to_string(), days_ago(9).to_string()));
    let turned = TemporalAsk { from: ask.to, to: ask.from, ..ask };
    assert!(home.engine.recall_temporal(&turned, now()).is_err());
}

#[test]
fn a_cue_that_names_what_happened_prefers_that_side_of_it() {
    let home = Home::new();
    let turns = vec![
        said(0, "a", Role::User, days_ago(90), "the queue was slow"),
        said(0, "b", Role::User, days_ago(60), "the great migration is done"),
        said(0, "c", Role::User, days_ago(30), "the queue was slow"),
    ];
    home.engine.store_batch(&batch("f", turns), now()).unwrap();
    for (cue, at) in [
        ("was the queue slow before the great migration", days_ago(90)),
        ("was the queue slow after the great migration", days_ago(30)),
    ] {
        let answer = home.recall(cue);
        let queue = answer.hits.iter().find(|hit| hit.literal_surface.contains("queue")).unwrap();
        assert_eq!(queue.ts, at.to_string(), "{cue}");
    }
}

#[test]
fn a_thing_that_what_names_it_answers_about_is_no_time() {
    let home = Home::new();
    let answer = "a message gets five attempts before the dead letter queue";
    let turns = vec![
        said(0, "a", Role::User, days_ago(90), "how many attempts does a message of ours get?"),
        said(0, "b", Role::User, days_ago(60), answer),
        said(0, "c", Role::User, days_ago(30), "two attempts are enough for a mail"),
    ];
    home.engine.store_batch(&batch("f", turns), now()).unwrap();
    let told = home.recall("how many attempts before the dead letter queue");
    assert_eq!(told.hits[0].literal_surface, answer);
    assert!(told.hits.iter().all(|hit| !hit.reason.contains("date")), "{}", told.hits[0].reason);
    let told = home.recall("what did we say of mails after the dead letter queue");
    assert!(told.hits.iter().all(|hit| hit.reason.contains("date")), "{}", told.hits[0].reason);
}

#[test]
fn plain_text_is_found_newest_first_and_in_part() {
    let home = lived();
    let find = |text: &str, project: Option<&str>| {
        let ask = TextAsk { text: text.to_owned(), project: project.map(str::to_owned), limit: 10 };
        let found = home.engine.find_text(&ask, now()).unwrap();
        found.hits.iter().map(|hit| hit.literal_surface.clone()).collect::<Vec<_>>()
    };
    assert_eq!(find("kafka", None).len(), 3);
    assert!(find("kafka", None)[0].starts_with("Kafka is slow"));
    assert_eq!(find("Kafka it is", None), ["Agreed, Kafka it is, see ABC-123."]);
    assert_eq!(find("is it Kafka", None), [""; 0]);
    assert_eq!(find("afk", None).len(), 3, "a part of a word");
    assert_eq!(find("kafka", Some("heron")), [""; 0]);
    assert_eq!(find("release", Some("heron")).len(), 1);
    assert_eq!(find("release", Some("nowhere")), [""; 0]);
    let ask = TextAsk { text: "  ".to_owned(), project: None, limit: 1 };
    assert!(home.engine.find_text(&ask, now()).is_err());
}

#[test]
fn sessions_are_told_as_episodes() {
    let home = lived();
    let episodes = |project: Option<&str>, before: Option<Timestamp>, limit: usize| {
        let ask = EpisodesAsk { project: project.map(str::to_owned), limit, before };
        home.engine.episodes(&ask).unwrap().episodes
    };
    let all = episodes(None, None, 10);
    let ids: Vec<&str> = all.iter().map(|episode| episode.session_id.as_str()).collect();
    assert_eq!(ids, ["c", "b", "a"]);
    assert_eq!((all[0].host.as_str(), all[0].n_turns), ("other-host", 2));
    assert_eq!(all[0].project.as_deref(), Some("/src/heron"));
    assert_eq!(
        all[2].first_user.as_deref(),
        Some("we decided to use Kafka for the billing events")
    );
    assert_eq!(all[2].last_assistant.as_deref(), Some("Agreed, Kafka it is, see ABC-123."));
    assert_eq!(
        (all[1].began.clone(), all[1].ended.clone()),
        (days_ago(10).to_string(), (days_ago(10) + SignedDuration::from_secs(1)).to_string())
    );
    assert_eq!(episodes(Some("heron"), None, 10).len(), 1);
    assert_eq!(episodes(Some("nowhere"), None, 10).len(), 0);
    assert_eq!(episodes(None, None, 1)[0].session_id, "c");
    assert_eq!(episodes(None, Some(days_ago(2)), 10)[0].session_id, "b");
}

#[test]
fn the_users_turns_are_measured_by_week() {
    let home = lived();
    let status = home.engine.camouflaging(5).unwrap();
    assert_eq!(status.sample_count, 3, "only the user's turns count");
    assert_eq!(status.weeks.len(), 3);
    assert!(!status.detected && 0.0 < status.current_mean && status.current_mean < 0.6);
    assert_eq!(home.engine.camouflaging(1).unwrap().sample_count, 1);
}
