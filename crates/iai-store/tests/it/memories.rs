//! Memories come back byte for byte, once, in the order promised.

use std::cmp::Reverse;

use iai_store::{
    CheckDepth, Filter, Inserted, Link, LinkKind, MemoryId, NewMemory, Reader, Role, Store,
    StoreError, Tier,
};
use serde_json::json;

use crate::fixture::{Home, at, insert, kind, turn};

#[test]
fn any_text_comes_back_byte_for_byte() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let texts = [
        String::new(),
        "\0".to_owned(),
        "a\0b\0".to_owned(),
        "naïve 漢字 👩‍👩‍👧‍👦 \u{feff}\r\n\u{2028}".to_owned(),
        "\u{10ffff}\u{fffd}".to_owned(),
        "'; DROP TABLE memory; --".to_owned(),
        "x".repeat(3_000_000),
        "\0".repeat(10_000),
    ];
    for (index, text) in (0..).zip(&texts) {
        let id = insert(&mut store, &turn("s", index, text));
        assert_eq!(&store.read().memory(id).unwrap().unwrap().text, text);
    }
    drop(store);
    let store = home.open().unwrap();
    for (index, text) in (0..).zip(&texts) {
        let id = turn("s", index, text).id();
        assert_eq!(&store.read().memory(id).unwrap().unwrap().text, text);
    }
    let report = store.check(CheckDepth::Deep).unwrap();
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(report.n_memories_checked, 8);
}

#[test]
fn every_field_comes_back() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let full = NewMemory {
        turn_uuid: Some("u-1".into()),
        role: Role::Assistant,
        tier: Tier::Semantic,
        language: Some("de".into()),
        tags: vec!["a\0b".into(), "\"".into()],
        provenance: json!({"tool": "x", "nested": {"z": [1, null], "a": "\0"}}),
        cue: Some("key".into()),
        pinned: true,
        ..turn("s", 3, "text")
    };
    let id = insert(&mut store, &full);
    let memory = store.reader().unwrap().memory(id).unwrap().unwrap();
    let again = NewMemory {
        host: memory.host.clone(),
        session: memory.session.clone(),
        turn_uuid: memory.turn_uuid.clone(),
        turn_index: memory.turn_index,
        role: memory.role,
        tier: memory.tier,
        project: memory.project.clone(),
        cwd: memory.cwd.clone(),
        turn_at: memory.turn_at,
        captured_at: memory.captured_at,
        text: memory.text.clone(),
        language: memory.language.clone(),
        tags: memory.tags.clone(),
        provenance: memory.provenance.clone(),
        cue: memory.cue.clone(),
        pinned: memory.pinned,
    };
    assert_eq!(again, full);
    assert_eq!((memory.id, memory.identity()), (id, full.identity()));
    assert_eq!(memory.stored_at, at(2000));
    assert_eq!((memory.valid_from, memory.valid_to), (at(3), None));
    assert_eq!((memory.strength, memory.community), (1.0, None));
}

#[test]
fn a_second_delivery_is_a_no_op() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let first = turn("s", 0, "hello");
    let id = insert(&mut store, &first);
    let changed = NewMemory { tags: vec!["late".into()], project: None, ..first };
    let known = store.write(|w| w.insert(&changed, at(9))).unwrap();
    assert_eq!(known, Inserted::Known(id));
    assert_eq!(store.read().memory(id).unwrap().unwrap().tags, Vec::<String>::new());
    assert_eq!(store.read().counts().unwrap().memories, 1);
}

#[test]
fn what_cannot_be_held_is_refused_and_nothing_is_kept() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    for bad in [
        NewMemory { provenance: json!([]), ..turn("s", 0, "x") },
        NewMemory { turn_index: Some(u64::MAX), ..turn("s", 0, "x") },
    ] {
        let done = store.write(|w| {
            w.insert(&turn("s", 1, "neighbour"), at(0))?;
            w.insert(&bad, at(0))
        });
        assert_eq!(kind(done), "Refused");
    }
    assert_eq!(store.read().counts().unwrap().memories, 0);
    let (a, b) = (turn("s", 0, "a").id(), turn("s", 1, "b").id());
    assert_eq!(kind(store.write(|w| w.supersede(a, b, at(0)))), "NoMemory");
    assert_eq!(kind(store.write(|w| w.supersede(a, a, at(0)))), "Refused");
    assert_eq!(kind(store.write(|w| w.set_strength(a, f64::NAN))), "Refused");
}

#[test]
fn reads_are_ordered_filtered_and_bounded() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    for index in 0..5 {
        insert(&mut store, &turn("one", index, &format!("one {index}")));
        let other = NewMemory {
            project: Some("other".into()),
            tier: Tier::Semantic,
            role: Role::Assistant,
            language: Some("de".into()),
            ..turn("two", index + 10, &format!("two {index}"))
        };
        insert(&mut store, &other);
    }
    let reader = store.reader().unwrap();
    let newest = |filter: Filter, limit| {
        let found = reader.newest(&filter, limit).unwrap();
        found.into_iter().map(|memory| memory.text).collect::<Vec<_>>()
    };
    assert_eq!(newest(Filter::default(), 2), ["two 4", "two 3"]);
    assert_eq!(newest(Filter::default(), 99).len(), 10);
    assert_eq!(newest(Filter::default(), 0).len(), 0);
    for filter in [
        Filter { project: Some("house".into()), ..Filter::default() },
        Filter { session: Some("one".into()), ..Filter::default() },
        Filter { tiers: vec![Tier::Episodic, Tier::Working], ..Filter::default() },
        Filter { roles: vec![Role::User], ..Filter::default() },
    ] {
        assert_eq!(newest(filter.clone(), 2), ["one 4", "one 3"], "{filter:?}");
    }
    assert_eq!(newest(Filter { language: Some("de".into()), ..Filter::default() }, 1), ["two 4"]);
    let tail = reader.session_tail("one", 3).unwrap();
    assert_eq!(
        tail.iter().map(|m| m.text.as_str()).collect::<Vec<_>>(),
        ["one 2", "one 3", "one 4"]
    );
    for (project, except, expect) in [
        ("house", None, Some("one")),
        ("house", Some("two"), Some("one")),
        ("house", Some("one"), None),
        ("other", None, Some("two")),
        ("nowhere", None, None),
    ] {
        assert_eq!(reader.latest_session(project, except).unwrap().as_deref(), expect);
    }
}

#[test]
fn ids_are_found_in_asked_order_and_by_their_beginning() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let ids: Vec<_> = (0..20).map(|i| insert(&mut store, &turn("s", i, "x"))).collect();
    let missing = turn("s", 99, "x").id();
    let asked = [ids[7], missing, ids[2], ids[7]];
    let found: Vec<_> = store.read().memories(&asked).unwrap().iter().map(|m| m.id).collect();
    assert_eq!(found, [ids[7], ids[2], ids[7]]);
    for id in &ids {
        let whole = id.to_string();
        assert_eq!(store.read().find_prefix(&whole, 5).unwrap(), [*id]);
        assert!(store.read().find_prefix(&whole[..2], 20).unwrap().contains(id));
    }
    assert_eq!(store.read().find_prefix("zz", 5).unwrap(), []);
}

#[test]
fn substrings_are_letters_not_patterns() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    for (index, text) in (0..).zip(["100% Sure", "100 sure", "a_b", "axb", "ÄRGER", "nul\0Here"]) {
        insert(&mut store, &turn("s", index, text));
    }
    for (sought, expect) in [
        ("0%", vec!["100% Sure"]),
        ("SURE", vec!["100 sure", "100% Sure"]),
        ("A_B", vec!["a_b"]),
        ("ärger", vec!["ÄRGER"]),
        ("here", vec!["nul\0Here"]),
        ("\0", vec!["nul\0Here"]),
        ("absent", vec![]),
    ] {
        let found = store.read().containing(sought, &Filter::default(), 9).unwrap();
        let texts: Vec<_> = found.iter().map(|memory| memory.text.as_str()).collect();
        assert_eq!(texts, expect, "{sought}");
    }
    assert_eq!(store.read().containing("", &Filter::default(), 2).unwrap().len(), 2);
}

#[test]
fn newest_first_holds_under_every_filter() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    for n in 0..120_u64 {
        let seconds = i64::try_from(n * 37 % 60).unwrap();
        let new = NewMemory {
            project: (n % 3 != 0).then(|| "house".to_owned()),
            cwd: Some(format!("/room {}", n % 5)),
            turn_at: at(seconds),
            language: (n % 2 == 0).then(|| "de".to_owned()),
            ..turn(SESSIONS[usize::try_from(n % 2).unwrap()], n, "sought")
        };
        insert(&mut store, &new);
    }
    let (house, even) = (Some("house".to_owned()), Some("even".to_owned()));
    for (filter, expect) in [
        (Filter::default(), 120),
        (Filter { project: house.clone(), ..Filter::default() }, 80),
        (Filter { session: even.clone(), ..Filter::default() }, 60),
        (Filter { project: house, session: even, ..Filter::default() }, 40),
        (Filter { language: Some("de".into()), ..Filter::default() }, 60),
        (Filter { roles: vec![Role::User], tiers: vec![Tier::Episodic], ..Filter::default() }, 120),
    ] {
        let found = store.read().containing("SOUGHT", &filter, 999).unwrap();
        assert_eq!(found.len(), expect, "{filter:?}");
        assert!(found.is_sorted_by_key(|memory| (Reverse(memory.turn_at), memory.id)));
        assert_eq!(store.read().newest(&filter, 999).unwrap(), found);
        assert_eq!(store.read().newest(&filter, 7).unwrap(), found[..7]);
        assert_eq!(store.read().containing("sought", &filter, 7).unwrap(), found[..7]);
    }
}

const SESSIONS: [&str; 2] = ["even", "odd"];

#[test]
fn links_know_direction_and_strength() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let mut ids: Vec<_> = (0..3).map(|i| insert(&mut store, &turn("s", i, "x"))).collect();
    ids.sort();
    let [low, mid, high] = ids[..] else { panic!("three memories") };
    let link = |src, dst, kind, weight| Link {
        src,
        dst,
        kind,
        weight,
        created_at: at(1),
        touched_at: at(1),
    };
    store
        .write(|w| {
            w.link(&link(high, low, LinkKind::Similar, 1.000_001))?;
            w.link(&link(low, high, LinkKind::Similar, 0.5))?;
            w.link(&link(high, low, LinkKind::TemporalNext, 0.5))?;
            assert!(w.link(&link(low, mid, LinkKind::Similar, f64::NAN)).is_err());
            Ok::<_, StoreError>(())
        })
        .unwrap();
    let links_of = |store: &Store, ids: &[MemoryId]| {
        let number = |id: &MemoryId| store.read().number_of(*id).unwrap().unwrap();
        store.read().links_of(&ids.iter().map(number).collect::<Vec<_>>()).unwrap()
    };
    let links = links_of(&store, &[low, low]);
    assert_eq!(
        links,
        [link(low, high, LinkKind::Similar, 0.5), link(high, low, LinkKind::TemporalNext, 0.5)]
    );
    assert_eq!(links_of(&store, &[mid]), []);
    assert_eq!(store.read().link_pairs(9).unwrap().len(), 1, "one pair, however many links");

    let mut weights = Vec::new();
    for session in ["a", "a", "b"] {
        let now = store.write(|w| w.strengthen((high, mid), session, 0.5, at(5))).unwrap();
        weights.push((now.weight, now.changed));
    }
    assert_eq!(weights, [(0.5, true), (0.5, false), (0.75, true)]);
    let hebbian = links_of(&store, &[mid]);
    assert_eq!((hebbian[0].src, hebbian[0].dst), (mid, high));
    assert_eq!(store.read().link_pairs(1).unwrap().len(), 1);
}

#[test]
fn the_earliest_contradiction_ends_a_memory() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let ids: Vec<_> = (0..3).map(|i| insert(&mut store, &turn("s", i, "x"))).collect();
    for (new, seconds, expect) in [(1, 50, 50), (2, 90, 50), (2, 40, 40), (1, 60, 40)] {
        store.write(|w| w.supersede(ids[0], ids[new], at(seconds))).unwrap();
        let old = store.read().memory(ids[0]).unwrap().unwrap();
        assert_eq!(old.valid_to, Some(at(expect)));
        assert!(store.check(CheckDepth::Deep).unwrap().is_clean());
    }
    assert_eq!(store.read().memory(ids[1]).unwrap().unwrap().valid_to, None);
}

#[test]
fn a_reader_alone_sees_what_was_committed() {
    let home = Home::new();
    assert_eq!(kind(Reader::open(&home.paths, &Default::default())), "NoStore");
    assert!(!home.paths.folder.exists(), "a reader creates nothing");
    let mut store = home.open().unwrap();
    let id = insert(&mut store, &turn("s", 0, "kept"));
    let beside = Reader::open(&home.paths, &Default::default()).unwrap();
    assert_eq!(beside.memory(id).unwrap().unwrap().text, "kept");
    let later = insert(&mut store, &turn("s", 1, "later"));
    assert!(beside.memory(later).unwrap().is_some());
    drop(beside);
    store.checkpoint().unwrap();
    drop(store);
    let alone = Reader::open(&home.paths, &Default::default()).unwrap();
    assert_eq!(alone.counts().unwrap().memories, 2);
    assert!(alone.check(CheckDepth::Deep).unwrap().is_clean());
}
