//! Cues that ask for a time and for nothing else, from a project or about one.

use iai_memory::{NewMemory, RecallAnswer, RecallAsk, Role, TemporalAsk};
use jiff::{SignedDuration, Timestamp};

use crate::fixture::{Home, batch, texts, turn};

/// Wednesday.
const ASKED_AT: &str = "2026-11-18T12:00:00Z";

/// A project, a day, and what was said there then, the user first.
type Said = (&'static str, &'static str, &'static [&'static str]);

/// Some weeks in a few projects. Other projects and other days have the words of the cues.
const SAID: &[Said] = &[
    (
        "kestrel",
        "2026-06-03",
        &["what happened in kestrel: the feed stopped", "It happened twice."],
    ),
    ("kestrel", "2026-08-12", &["We decided to decide what we change in July", "Decided."]),
    ("kestrel", "2026-11-04", &["The radar frames are packed in pairs.", "Packed."]),
    ("kestrel", "2026-11-10", &["Sort the tracks by height.", "Sorted by height."]),
    ("ledgerline", "2026-11-09", &["Round the totals to cents.", "Rounded in every view."]),
    ("ledgerline", "2026-11-13", &["The import skips empty rows.", "Skipped, with a count."]),
    (
        "ledgerline",
        "2026-11-17",
        &["work on what we did last week", "We work on last week's work."],
    ),
    ("lantern-web", "2026-11-11", &["what did we work on last week?", "We worked last week."]),
    ("lantern-web", "2026-11-05", &["what happened since November in kestrel", "It happened."]),
    (
        "tidepool",
        "2026-08-20",
        &["what did we decide on the tides? Moon data.", "Decided: moon data."],
    ),
    ("tidepool", "2026-09-30", &["The buoys report every ten minutes.", "Ten minutes, noted."]),
    ("tidepool", "2026-10-02", &["We decided on 2026-09-30 what we decide next.", "Decided so."]),
    ("greenhouse", "2026-07-08", &["Water the tomatoes at six.", "At six from now on."]),
    ("greenhouse", "2026-07-21", &["Open the roof above 27 degrees.", "The roof opens at 27."]),
    ("greenhouse", "2026-10-11", &["what did I change in July?", "The change of July was small."]),
    ("orchard", "2026-07-15", &["I change what I did change in July", "Changed in July."]),
];

fn lived() -> Home {
    let home = Home::new();
    for (n, (project, day, said)) in SAID.iter().enumerate() {
        let at: Timestamp = format!("{day}T09:00:00Z").parse().unwrap();
        let turns = (0_i64..).zip(*said).map(|(place, text)| NewMemory {
            session: format!("s{n}"),
            project: Some(format!("/src/{project}")),
            cwd: Some(format!("/src/{project}")),
            role: if place % 2 == 0 { Role::User } else { Role::Assistant },
            ..turn(place.unsigned_abs(), text, at + SignedDuration::from_mins(place))
        });
        let turns = batch(&format!("s{n}"), turns.collect());
        home.engine.store_batch(&turns, ASKED_AT.parse().unwrap()).unwrap();
    }
    home
}

fn ask(home: &Home, cue: &str, from: &str) -> RecallAnswer {
    let ask =
        RecallAsk { asked_from: Some(format!("/src/{from}")), ..RecallAsk::new(cue, 100_000) };
    home.engine.recall(&ask, ASKED_AT.parse().unwrap()).unwrap()
}

/// Where and when the hits were said, each once, in order.
fn places(answer: &RecallAnswer) -> Vec<String> {
    let place = |project: Option<&str>, at: &str| {
        let project = project.unwrap_or_default().trim_start_matches("/src/");
        format!("{project} {}", &at[..10])
    };
    let hits = answer.hits.iter().map(|hit| place(hit.project.as_deref(), &hit.ts));
    let mut places: Vec<String> = Vec::new();
    for place in hits {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

#[track_caller]
fn check_first(home: &Home, (cue, from): (&str, &str), expect: &[&str]) {
    let answer = ask(home, cue, from);
    let mut first: Vec<String> = places(&answer).into_iter().take(expect.len()).collect();
    first.sort();
    assert_eq!(first, expect, "{cue}: {:?}", texts(&answer));
    let is_doubted = answer.hints.iter().any(|hint| hint.kind == "low_confidence");
    assert!(!is_doubted, "{cue}: {:?}", answer.hints);
}

#[test]
fn a_time_and_a_project_are_answered_from_there_and_then() {
    let home = lived();
    let november = ["kestrel 2026-11-04", "kestrel 2026-11-10"];
    for from in ["kestrel", "orchard"] {
        check_first(&home, ("what happened in kestrel since November?", from), &november);
        let answer = ask(&home, "what happened in kestrel since November?", from);
        assert_eq!(answer.hits.len(), 4, "nothing of others: {:?}", texts(&answer));
    }
    check_first(
        &home,
        ("what did we change in the kestrel repo two weeks ago", "orchard"),
        &november[..1],
    );
    assert!(ask(&home, "what happened in kestrel in July?", "kestrel").hits.is_empty());
}

#[test]
fn a_week_is_answered_from_the_project_one_asks_from_before_others() {
    let home = lived();
    let week = ["ledgerline 2026-11-09", "ledgerline 2026-11-13"];
    check_first(&home, ("what did we work on last week?", "ledgerline"), &week);
    check_first(&home, ("what happened last week", "ledgerline"), &week);
    let answer = ask(&home, "what happened last week", "ledgerline");
    let mut others = places(&answer).split_off(week.len());
    others.sort();
    assert_eq!(others, ["kestrel 2026-11-10", "lantern-web 2026-11-11"]);
}

#[test]
fn a_busy_project_hides_nothing_of_another() {
    let home = lived();
    let at: Timestamp = "2026-11-14T09:00:00Z".parse().unwrap();
    let busy = (0..150).map(|n| NewMemory {
        session: "busy".to_owned(),
        project: Some("/src/orchard".to_owned()),
        ..turn(n, &format!("what we work on last week, part {n}"), at)
    });
    home.engine.store_batch(&batch("busy", busy.collect()), ASKED_AT.parse().unwrap()).unwrap();
    let week = ["ledgerline 2026-11-09", "ledgerline 2026-11-13"];
    check_first(&home, ("what did we work on last week?", "ledgerline"), &week);
    check_first(&home, ("what did we work on in ledgerline last week?", "orchard"), &week);
}

#[test]
fn a_day_is_answered_from_that_day() {
    let home = lived();
    let day = ["tidepool 2026-09-30"];
    check_first(&home, ("what did we decide on 2026-09-30?", "tidepool"), &day);
    let answer = ask(&home, "what did we decide on 2026-09-30?", "tidepool");
    assert_eq!(places(&answer), day);
    // With a matter, what was said at another time stays among the hits.
    let about = ask(&home, "what did we decide about moon data on 2026-09-30?", "tidepool");
    assert!(places(&about).contains(&"tidepool 2026-08-20".to_owned()), "{:?}", texts(&about));
}

#[test]
fn a_month_is_a_time_where_it_can_be_nothing_else() {
    let home = lived();
    let july = ["greenhouse 2026-07-08", "greenhouse 2026-07-21"];
    check_first(&home, ("what did I change in July?", "greenhouse"), &july);
    let release = ask(&home, "what did I change in the July release?", "greenhouse");
    let is_bound = places(&release).iter().all(|place| place.contains("-07-"));
    assert!(!is_bound, "{:?}", texts(&release));
}

#[test]
fn what_took_the_place_of_something_said_then_stands_behind_it() {
    let home = lived();
    let then = ask(&home, "what did we decide on 2026-09-30?", "tidepool");
    let old = then.hits.iter().find(|hit| hit.role == "user").unwrap().record_id.to_string();
    let at: Timestamp = "2026-10-20T09:00:00Z".parse().unwrap();
    home.engine.contradict(&old, "The buoys report every hour.", "s", at).unwrap();
    let answer = ask(&home, "what did we decide on 2026-09-30?", "tidepool");
    let places = places(&answer);
    assert_eq!(places[0], "tidepool 2026-09-30", "{:?}", texts(&answer));
    assert!(places.len() <= 2, "{places:?}");
    assert!(answer.hits.is_sorted_by(|one, next| next.score <= one.score), "{answer:?}");
}

#[test]
fn a_named_project_is_preferred_as_the_one_it_is_asked_from() {
    let home = Home::new();
    for (n, project) in ["kestrel", "ledgerline"].into_iter().enumerate() {
        let said = NewMemory {
            session: project.to_owned(),
            project: Some(format!("/src/{project}")),
            ..turn(0, &format!("the retry limit is {}", n + 3), ASKED_AT.parse().unwrap())
        };
        home.engine.store_batch(&batch(project, vec![said]), ASKED_AT.parse().unwrap()).unwrap();
    }
    let first = |cue: &str, from: &str| ask(&home, cue, from).hits[0].project.clone().unwrap();
    assert_eq!(first("the retry limit", "ledgerline"), "/src/ledgerline");
    assert_eq!(first("the retry limit in kestrel", "ledgerline"), "/src/kestrel");
    assert_eq!(first("the retry limit in ledgerline", "kestrel"), "/src/ledgerline");
    assert_eq!(ask(&home, "the retry limit in kestrel", "ledgerline").hits.len(), 2);
}

#[test]
fn the_time_that_a_phrase_means_is_told_and_kept() {
    let home = lived();
    for (phrase, from, to, n_hits) in [
        ("last week", "2026-11-09", "2026-11-15", 8),
        ("this week", "2026-11-16", "2026-11-18", 2),
        ("in July", "2026-07-01", "2026-07-31", 6),
        ("since November", "2026-11-01", "2026-11-18", 14),
    ] {
        for cue in [None, Some("what happened")] {
            let ask = TemporalAsk {
                cue: cue.map(str::to_owned),
                from: None,
                to: None,
                phrase: Some(phrase.to_owned()),
                budget_tokens: 10_000,
                project: None,
            };
            let answer = home.engine.recall_temporal(&ask, ASKED_AT.parse().unwrap()).unwrap();
            assert_eq!((&answer.from[..10], &answer.to[..10]), (from, to), "{phrase}");
            assert_eq!(answer.hits.len(), n_hits, "{phrase} {cue:?}");
            assert!(answer.hints.iter().all(|hint| hint.kind != "low_confidence"), "{phrase}");
        }
    }
}
