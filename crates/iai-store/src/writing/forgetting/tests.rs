//! What is forgotten is gone from every page and stays away; what is left is whole.

use std::collections::BTreeSet;
use std::fs;

use crate::{
    CheckDepth, ForgetReason, ForgetSelection, Inserted, KeySource, Link, LinkKind, MemoryId,
    MemoryNumber, NewEvent, NewMemory, NewSetAside, Role, Selected, Store, StorePaths, Tier, Topic,
};
use jiff::Timestamp;
use serde_json::json;

struct Home {
    _folder: tempfile::TempDir,
    paths: StorePaths,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let paths = StorePaths {
            folder: folder.path().to_owned(),
            database: path("memory.db"),
            vault: path("vault.json"),
            key_file: path(".crypto.key"),
            spool_public: path("spool.pub"),
            aside: path("aside"),
        };
        Self { _folder: folder, paths }
    }

    fn open(&self) -> crate::Result<Store> {
        Store::open(&self.paths, &KeySource::default(), at(0)).map(|(store, _)| store)
    }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_760_000_000 + seconds).unwrap()
}

fn turn(session: &str, index: u64, text: &str) -> NewMemory {
    NewMemory {
        host: "test-host".into(),
        session: session.into(),
        turn_uuid: None,
        turn_index: Some(index),
        role: Role::User,
        tier: Tier::Episodic,
        project: Some("house".into()),
        cwd: Some("/p".into()),
        turn_at: at(i64::try_from(index).unwrap()),
        captured_at: at(1000),
        text: text.into(),
        language: None,
        tags: Vec::new(),
        provenance: json!({}),
        cue: None,
        pinned: false,
    }
}

fn insert(store: &mut Store, new: &NewMemory) -> MemoryId {
    store.write(|w| w.insert(new, at(2000))).map(Inserted::id).unwrap()
}

/// Forgets everything a selection means, `limit` at a time, and returns the receipt.
fn forget(store: &mut Store, selection: &ForgetSelection, limit: usize) -> u64 {
    let chosen = numbers(store, selection);
    let kinds = selection.kinds();
    let receipt = store
        .write(|w| w.begin_forgetting(&chosen, &kinds, ForgetReason::Asked, at(5000)))
        .unwrap();
    while !store.write(|w| w.forget_some(receipt, limit)).unwrap().is_empty() {}
    let gone = store.read().gone_names().unwrap();
    store.write(|w| w.drop_names(&gone)).unwrap();
    store.rewrite().unwrap();
    store.write(|w| w.finish_forgetting(receipt, at(6000))).unwrap();
    store.checkpoint().unwrap();
    receipt
}

fn numbers(store: &Store, selection: &ForgetSelection) -> Vec<MemoryNumber> {
    let chosen = store.read().selected(selection).unwrap();
    chosen.iter().map(|chosen: &Selected| chosen.number).collect()
}

fn containing(text: &str) -> ForgetSelection {
    ForgetSelection { containing: Some(text.to_owned()), ..ForgetSelection::default() }
}

fn is_in_pages(store: &mut Store, word: &str) -> bool {
    let pages = store.raw_pages().unwrap();
    pages.windows(word.len()).any(|bytes| bytes.eq_ignore_ascii_case(word.as_bytes()))
}

#[track_caller]
fn check_sound(store: &Store) {
    assert_eq!(store.check(CheckDepth::Deep).unwrap().problems, []);
    assert_eq!(store.read().check_forgotten().unwrap().problems, []);
}

/// Draws the same numbers in every run.
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Stores turns of very different lengths, every third of them with the letters `gone`, and returns
/// what is to be forgotten and what is to be kept.
fn tell(store: &mut Store, round: u64, state: &mut u64) -> (Vec<String>, Vec<String>) {
    let (mut gone, mut kept) = (Vec::new(), Vec::new());
    for n in 0..150 {
        let is_kept = !draw(state).is_multiple_of(3);
        let fate = if is_kept { "kept" } else { "gone" };
        let word = format!("canary{fate}{round}x{n}x{}", draw(state));
        let filling = "so much else was said ".repeat(usize::try_from(draw(state) % 90).unwrap());
        let mut new = turn(&format!("{word}-s"), n, &format!("{filling} {word} {filling}"));
        new.cue = Some(format!("{word}-cue"));
        new.project = Some(format!("/p/{word}-p"));
        new.provenance = json!({"branch": format!("{word}-b")});
        insert(store, &new);
        if is_kept {
            kept.push(word);
        } else {
            gone.push(word);
        }
    }
    (gone, kept)
}

/// Returns every canary that stands in any page, free ones too.
fn canaries(store: &mut Store) -> BTreeSet<String> {
    let pages = store.raw_pages().unwrap();
    let mut found = BTreeSet::new();
    for (place, _) in pages.windows(6).enumerate().filter(|(_, bytes)| bytes == b"canary") {
        let word = pages[place..].iter().take_while(|byte| byte.is_ascii_alphanumeric());
        found.insert(word.map(|byte| char::from(*byte)).collect());
    }
    found
}

#[test]
fn no_page_keeps_a_forgotten_word_whatever_was_stored_around_it() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    store.ensure_index().unwrap();
    let mut state = 4711;
    let mut all_kept = BTreeSet::new();
    for round in 0..3 {
        let (gone, kept) = tell(&mut store, round, &mut state);
        store.rebuild_index().unwrap();
        let found = canaries(&mut store);
        assert!(gone.iter().all(|word| found.contains(word)), "they are there");
        all_kept.extend(kept);
        forget(&mut store, &containing("canarygone"), 7);
        let found = canaries(&mut store);
        let left: Vec<&String> = found.iter().filter(|word| word.contains("gone")).collect();
        assert_eq!(left, Vec::<&String>::new());
        assert!(all_kept.iter().all(|word| found.contains(word)));
    }
    let log = home.paths.database.with_file_name("memory.db-wal");
    assert_eq!(fs::metadata(log).unwrap().len(), 0, "the write-ahead log is empty");
    check_sound(&store);
    drop(store);
    let mut store = home.open().unwrap();
    store.ensure_index().unwrap();
    check_sound(&store);
}

#[test]
fn every_wish_narrows_and_none_means_all_that_is_left_to_the_caller() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let mut other = turn("b", 3, "the Sea is grey");
    other.cue = Some("Weather".into());
    let ids: Vec<MemoryId> =
        [turn("a", 1, "the sea is blue"), turn("a", 2, "the hill is green"), other]
            .iter()
            .map(|new| insert(&mut store, new))
            .collect();
    let none = ForgetSelection::default();
    let session = Some("a".to_owned());
    let check = |selection: ForgetSelection, expect: &[u32]| {
        let chosen: Vec<u32> = numbers(&store, &selection).iter().map(|n| n.get()).collect();
        assert_eq!(chosen, expect, "{selection:?}");
    };
    check(ForgetSelection { session: session.clone(), ..none.clone() }, &[1, 2]);
    check(containing("sEa"), &[1, 3]);
    check(containing("weather"), &[3]);
    check(ForgetSelection { session: session.clone(), ..containing("sea") }, &[1]);
    check(ForgetSelection { before: Some(at(2)), ..none.clone() }, &[1]);
    check(ForgetSelection { ids: Some(vec![ids[1], ids[2]]), ..none.clone() }, &[2, 3]);
    check(ForgetSelection { ids: Some(vec![ids[2]]), session, ..none.clone() }, &[]);
    check(ForgetSelection { places: Some(vec![1]), ..none.clone() }, &[1, 2, 3]);
    check(ForgetSelection { places: Some(Vec::new()), ..none }, &[]);
}

#[test]
fn what_was_forgotten_does_not_come_back_by_any_way_in() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let new = turn("s", 1, "the code is 4711");
    insert(&mut store, &new);
    insert(&mut store, &turn("s", 2, "the code is 4711"));
    let chosen = ForgetSelection { before: Some(at(2)), ..containing("4711") };
    forget(&mut store, &chosen, 10);
    let again =
        |store: &mut Store, new: &NewMemory| store.write(|w| w.insert(new, at(7000))).unwrap();
    assert_eq!(again(&mut store, &new), Inserted::Forgotten(new.id()));
    let by_another_host = NewMemory { host: "other".into(), turn_index: Some(9), ..new.clone() };
    assert!(matches!(again(&mut store, &by_another_host), Inserted::Forgotten(_)));
    let known = |new: &NewMemory| {
        let turn = (new.session.as_str(), new.role);
        store.read().was_forgotten(new.id(), turn, new.turn_at, &new.text).unwrap()
    };
    assert!(known(&new) && known(&by_another_host));
    let said_later = NewMemory { turn_index: Some(3), turn_at: at(3), ..new.clone() };
    assert!(!known(&said_later), "the same words at another time are another turn");
    assert!(matches!(again(&mut store, &said_later), Inserted::New(_)));
    assert!(matches!(again(&mut store, &turn("s", 2, "the code is 4711")), Inserted::Known(_)));
    check_sound(&store);
}

#[test]
fn a_chain_of_corrections_closes_over_what_is_forgotten() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    store.ensure_index().unwrap();
    let ids: Vec<MemoryId> = ["port is 80", "port is 81", "port is 82", "port is 83"]
        .iter()
        .zip(0..)
        .map(|(text, n)| insert(&mut store, &turn("s", n, text)))
        .collect();
    for (place, pair) in ids.windows(2).enumerate() {
        let when = at(100 * (i64::try_from(place).unwrap() + 1));
        store.write(|w| w.supersede(pair[0], pair[1], when)).unwrap();
    }
    let ended = |store: &Store, place: usize| {
        let by_row = store.read().memory(ids[place]).unwrap().unwrap().valid_to;
        let number = store.read().number_of(ids[place]).unwrap().unwrap();
        let by_index = store.index().with(|index| index.catalogue().ended_at_ms(number)).unwrap();
        assert_eq!(by_row.map(|at| at.as_millisecond()), by_index);
        by_row
    };
    let only = |id| ForgetSelection { ids: Some(vec![id]), ..ForgetSelection::default() };
    let middle = ForgetSelection { ids: Some(ids[1..3].to_vec()), ..only(ids[0]) };
    forget(&mut store, &middle, 1);
    assert_eq!(ended(&store, 0), Some(at(300)), "replaced by what is left of the chain");
    check_sound(&store);
    forget(&mut store, &only(ids[3]), 1);
    assert_eq!(ended(&store, 0), None, "the last wording known holds again");
    check_sound(&store);
}

#[test]
fn a_kill_between_two_parts_costs_nothing_and_is_told() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    for n in 0..5 {
        insert(&mut store, &turn("s", n, &format!("turn {n}")));
    }
    let chosen = numbers(&store, &containing("turn"));
    let receipt =
        store.write(|w| w.begin_forgetting(&chosen, "match", ForgetReason::Asked, at(0))).unwrap();
    store.write(|w| w.forget_some(receipt, 2)).unwrap();
    drop(store);
    let mut store = home.open().unwrap();
    assert_eq!(store.read().unfinished_receipts().unwrap(), [receipt]);
    assert_eq!(store.read().n_forget_pending(receipt).unwrap(), 3);
    let problems = store.read().check_forgotten().unwrap().problems;
    assert!(problems[0].detail.contains("receipt 1 is not finished"), "{problems:?}");
    assert_eq!(problems[0].name, "forgetting", "nothing is broken");
    while !store.write(|w| w.forget_some(receipt, 2)).unwrap().is_empty() {}
    store.write(|w| w.finish_forgetting(receipt, at(9))).unwrap();
    let receipts = store.read().forget_receipts(10).unwrap();
    assert_eq!((receipts[0].n_memories, receipts[0].selection.as_str()), (5, "match"));
    check_sound(&store);
}

#[test]
fn a_checks_receipt_is_not_kept() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    insert(&mut store, &turn("s", 1, "a canary"));
    let chosen = numbers(&store, &containing("canary"));
    let receipt = store
        .write(|w| w.begin_forgetting(&chosen, "session", ForgetReason::Check, at(0)))
        .unwrap();
    store.write(|w| w.forget_some(receipt, 10)).unwrap();
    store.write(|w| w.finish_forgetting(receipt, at(1))).unwrap();
    assert_eq!(store.read().forget_receipts(10).unwrap(), []);
    assert!(matches!(
        store.write(|w| w.insert(&turn("s", 1, "a canary"), at(2))).unwrap(),
        Inserted::New(_)
    ));
    check_sound(&store);
}

#[test]
fn what_was_made_of_a_memory_goes_with_it() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    store.ensure_index().unwrap();
    let word = "quetzalcoatlus";
    let id = insert(&mut store, &turn("s", 1, &format!("the {word} is the mascot")));
    let kept = insert(&mut store, &turn("s", 2, "nothing of the kind"));
    let summary = insert(&mut store, &turn("summary of s", 3, &format!("{word} was quoted")));
    let number = MemoryNumber::new(1);
    store
        .write(|w| {
            w.link(&Link {
                src: summary,
                dst: id,
                kind: LinkKind::ConsolidatedFrom,
                weight: 1.0,
                created_at: at(0),
                touched_at: at(0),
            })?;
            let topic = w.new_topic(at(0))?;
            w.put_topic(
                &Topic {
                    number: topic,
                    label: word.to_owned(),
                    phrases: vec![word.to_owned()],
                    n_members: 2,
                    project: Some("house".to_owned()),
                },
                at(0),
            )?;
            w.set_topic(number, Some(topic))?;
            w.set_topic(MemoryNumber::new(2), Some(topic))?;
            w.note_missed_cue((word, &format!("what about {word}?")), "house", at(0), 10)?;
            w.set_aside(&NewSetAside {
                file: "s-1-2.jsonl".to_owned(),
                line: 1,
                reason: "no role".to_owned(),
                bytes: format!("{{\"text\": \"the {word} is the mascot\"}}").into_bytes(),
                at: at(0),
            })?;
            w.event(&NewEvent {
                kind: "pin_updated".to_owned(),
                severity: None,
                domain: None,
                at: at(0),
                data: json!({"about": word}),
                session: None,
                sources: vec![id],
            })
        })
        .unwrap();
    assert!(is_in_pages(&mut store, word));
    forget(&mut store, &ForgetSelection { ids: Some(vec![id]), ..containing("mascot") }, 10);
    assert!(!is_in_pages(&mut store, word));
    assert!(store.read().memory(kept).unwrap().is_some());
    assert!(store.read().memory(summary).unwrap().is_none());
    check_sound(&store);
}
