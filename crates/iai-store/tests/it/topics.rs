//! What consolidation keeps: it reads back, it changes when its memories do, and it goes when they
//! go.

use iai_store::{
    CheckDepth, FactKind, FactSeen, Inserted, Link, LinkKind, MemoryNumber, Neighbour, NewPattern,
    PatternKind, PatternPut, PatternStatus, Store, Summary, SummaryKind, Topic,
};

use crate::fixture::{Home, at, insert, turn};

fn number(n: u32) -> MemoryNumber {
    MemoryNumber::new(n)
}

/// A store with memories 1 to 4, the last a summary of the first two.
fn store(home: &Home) -> Store {
    let mut store = home.open().unwrap();
    store.ensure_index().unwrap();
    let ids: Vec<_> =
        (0..4).map(|n| insert(&mut store, &turn("s", n, &format!("memory {n}")))).collect();
    let made_from = |source: usize| Link {
        src: ids[3],
        dst: ids[source],
        kind: LinkKind::ConsolidatedFrom,
        weight: 1.0,
        created_at: at(0),
        touched_at: at(0),
    };
    store.write(|w| w.link(&made_from(0)).and_then(|()| w.link(&made_from(1)))).unwrap();
    store
}

fn stale(store: &Store) -> Vec<u64> {
    let stale = store.read().stale_summaries(SummaryKind::Topic, None, 10).unwrap();
    stale.iter().map(|summary| summary.source).collect()
}

#[test]
fn nearness_reads_back_and_follows_its_memory() {
    let home = Home::new();
    let mut store = store(&home);
    let near = [
        Neighbour { number: number(2), nearness: 200 },
        Neighbour { number: number(70_000), nearness: 7 },
    ];
    store.write(|w| w.put_nearness(number(1), &near)).unwrap();
    store.write(|w| w.put_nearness(number(99), &near)).unwrap();
    let kept = store.read().nearness_after(number(0), 10).unwrap();
    assert_eq!(kept, [(number(1), near.to_vec())], "a memory that is gone is passed over");
    store.write(|w| w.forget(&[number(1)])).unwrap();
    assert_eq!(store.read().n_compared().unwrap(), 0);
}

#[test]
fn a_topic_is_looked_at_again_when_its_members_change() {
    let home = Home::new();
    let mut store = store(&home);
    let topic = store.write(|w| w.new_topic(at(0))).unwrap();
    store.write(|w| (1..=3).try_for_each(|n| w.set_topic(number(n), Some(topic)))).unwrap();
    assert_eq!(stale(&store), [topic]);
    assert_eq!(store.read().topic_members(topic, 10).unwrap(), [number(1), number(2), number(3)]);
    let fresh = Summary {
        kind: SummaryKind::Topic,
        source: topic,
        members_hash: Some(u64::MAX),
        memory: Some(number(4)),
    };
    let named = Topic {
        number: topic,
        label: "a label".to_owned(),
        phrases: vec!["a".to_owned()],
        n_members: 3,
        project: None,
    };
    store.write(|w| w.put_summary(&fresh).and_then(|()| w.put_topic(&named, at(1)))).unwrap();
    assert_eq!(store.read().topics(None, 10).unwrap(), [named]);
    assert_eq!(stale(&store), [0_u64; 0]);
    store.write(|w| w.set_topic(number(3), None)).unwrap();
    assert_eq!(stale(&store), [topic]);
    let kept = store.read().stale_summaries(SummaryKind::Topic, None, 10).unwrap();
    assert_eq!(kept, [fresh]);
    assert_eq!(store.read().stale_summaries(SummaryKind::Topic, Some(topic), 10).unwrap(), []);
    store.write(|w| w.put_summary(&fresh)).unwrap();
    assert_eq!(stale(&store), [0_u64; 0]);
    store.write(|w| w.note_all_summaries()).unwrap();
    assert_eq!(stale(&store), [topic]);
}

#[test]
fn the_largest_topics_of_a_project_come_first() {
    let home = Home::new();
    let mut store = store(&home);
    let mut put = |label: &str, n_members: u64, project: Option<&str>| {
        let named = |number| Topic {
            number,
            label: label.to_owned(),
            phrases: vec![label.to_owned()],
            n_members,
            project: project.map(str::to_owned),
        };
        store.write(|w| w.new_topic(at(0)).and_then(|n| w.put_topic(&named(n), at(1)))).unwrap();
    };
    put("small", 3, Some("house"));
    put("large", 9, Some("house"));
    put("abroad", 7, Some("garden"));
    put("nowhere", 5, None);
    put("left", 0, Some("house"));
    let check = |project: Option<&str>, limit: usize, expect: &[&str]| {
        let topics = store.read().topics(project, limit).unwrap();
        let labels: Vec<&str> = topics.iter().map(|topic| topic.label.as_str()).collect();
        assert_eq!(labels, expect, "{project:?}");
    };
    check(Some("house"), 10, &["large", "small"]);
    check(Some("house"), 1, &["large"]);
    check(None, 10, &["large", "abroad", "nowhere", "small"]);
    check(Some("cellar"), 10, &[]);
}

#[test]
fn a_session_is_looked_at_again_when_a_turn_is_replaced() {
    let home = Home::new();
    let mut store = store(&home);
    store.write(|w| w.note_session(1)).unwrap();
    let fresh =
        Summary { kind: SummaryKind::Session, source: 1, members_hash: Some(1), memory: None };
    store.write(|w| w.put_summary(&fresh)).unwrap();
    let n_stale =
        |store: &Store| store.read().stale_summaries(SummaryKind::Session, None, 10).unwrap().len();
    assert_eq!(n_stale(&store), 0);
    let ids: Vec<_> = store.read().numbered(&[number(1), number(2)]).unwrap();
    store.write(|w| w.supersede(ids[0].1.id, ids[1].1.id, at(5))).unwrap();
    assert_eq!(n_stale(&store), 1);
}

#[test]
fn forgetting_a_memory_forgets_what_was_made_from_it() {
    let home = Home::new();
    let mut store = store(&home);
    let summary = Summary {
        kind: SummaryKind::Topic,
        source: 7,
        members_hash: None,
        memory: Some(number(4)),
    };
    store.write(|w| w.put_summary(&summary)).unwrap();
    let gone = store.write(|w| w.forget(&[number(2)])).unwrap();
    assert_eq!(gone, [number(2), number(4)]);
    assert_eq!(store.read().counts().unwrap().memories, 2);
    assert!(store.check(CheckDepth::Deep).unwrap().is_clean());
    assert_eq!(store.read().links_of(&[number(1)]).unwrap(), []);
    let again = store.write(|w| w.insert(&turn("s", 9, "after"), at(9))).unwrap();
    assert!(matches!(again, Inserted::New(_)));
}

#[test]
fn a_pattern_is_updated_and_never_there_twice() {
    let home = Home::new();
    let mut store = store(&home);
    store
        .write(|w| {
            w.note_fact(number(1), FactKind::Command, "cargo test")?;
            w.note_fact(number(1), FactKind::Command, "cargo test")?;
            w.note_fact(number(2), FactKind::Command, "cargo test")
        })
        .unwrap();
    let start = FactSeen { memory: number(0), fact: 0 };
    let seen = store.read().facts_after(start, 10).unwrap();
    assert_eq!(seen.len(), 2);
    let facts = store.read().facts(&[seen[0].fact]).unwrap();
    assert_eq!(facts[&seen[0].fact], (FactKind::Command, "cargo test".to_owned()));
    let mut pattern = NewPattern {
        kind: PatternKind::Habit,
        subject: String::new(),
        object: "cargo test".to_owned(),
        project: "house".to_owned(),
        n_evidence: 3,
        n_exceptions: 1,
        confidence: 0.75,
        status: PatternStatus::Pending,
        evidence: vec![number(1), number(2), number(99)],
    };
    let put = |store: &mut Store, new: &NewPattern| store.write(|w| w.put_pattern(new, at(1)));
    assert_eq!(put(&mut store, &pattern).unwrap(), PatternPut::New);
    assert_eq!(put(&mut store, &pattern).unwrap(), PatternPut::Same);
    pattern.n_evidence = 9;
    assert_eq!(put(&mut store, &pattern).unwrap(), PatternPut::Changed);
    let kept = store.read().patterns(Some("house"), 10).unwrap();
    assert_eq!((kept.len(), kept[0].counted.n_evidence, kept[0].evidence.len()), (1, 9, 2));
    assert_eq!(store.read().patterns(Some("other"), 10).unwrap(), []);
    store.write(|w| w.forget(&[number(1), number(2)])).unwrap();
    assert_eq!(store.read().patterns(None, 10).unwrap()[0].evidence, []);
    assert_eq!(store.write(|w| w.drop_orphan_facts(10)).unwrap(), 1);
    store.write(|w| w.drop_pattern(kept[0].number)).unwrap();
    assert_eq!(store.read().patterns(None, 10).unwrap(), []);
}

#[test]
fn missed_cues_are_counted_bounded_and_forgotten() {
    let home = Home::new();
    let mut store = store(&home);
    for (n, cue) in ["a", "b", "a", "c"].into_iter().enumerate() {
        let now = at(i64::try_from(n).unwrap());
        store.write(|w| w.note_missed_cue((cue, "asked"), "", now, 2)).unwrap();
    }
    let missed = |store: &Store, n_min| store.read().missed_cues(n_min, at(0), 10).unwrap();
    let cues: Vec<_> = missed(&store, 1).into_iter().map(|miss| (miss.cue, miss.n_times)).collect();
    assert_eq!(cues, [("a".to_owned(), 2), ("c".to_owned(), 1)], "the oldest went");
    assert_eq!(missed(&store, 2).len(), 1);
    assert_eq!(store.write(|w| w.drop_missed_cues(at(3))).unwrap(), 1);
}
