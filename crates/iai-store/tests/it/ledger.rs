//! Events, profile, receipts and lines set aside.

use iai_store::{
    EventFilter, NewEvent, NewMemory, NewSetAside, Receipt, ReceiptState, Severity, StepProgress,
    StoreError,
};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::fixture::{Home, at, insert, turn};

fn event(kind: &str, seconds: i64) -> NewEvent {
    NewEvent {
        kind: kind.into(),
        severity: None,
        domain: None,
        at: at(seconds),
        data: json!({"n": seconds}),
        session: None,
        sources: Vec::new(),
    }
}

#[test]
fn events_come_newest_first_and_filtered() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let full = NewEvent {
        severity: Some(Severity::Critical),
        domain: Some("ingest".into()),
        session: Some("s".into()),
        sources: vec![turn("s", 0, "x").id()],
        ..event("b", 3)
    };
    let id = store
        .write(|w| {
            w.event(&event("a", 1))?;
            w.event(&event("a", 2))?;
            w.event(&event("a", 2))?;
            w.event(&full)
        })
        .unwrap();
    let read = |filter: EventFilter| store.read().events(&filter).unwrap();
    let all = read(EventFilter::newest(10));
    assert_eq!(all.len(), 4);
    assert_eq!(all.iter().map(|e| e.at).collect::<Vec<_>>(), [at(3), at(2), at(2), at(1)]);
    assert_eq!(all.iter().map(|e| e.id).collect::<std::collections::BTreeSet<_>>().len(), 4);
    assert_eq!((all[0].id, &all[0].data, &all[0].sources), (id, &full.data, &full.sources));
    assert_eq!(all[0].severity, Some(Severity::Critical));
    for (filter, expect) in [
        (EventFilter { kinds: vec!["b".into()], ..EventFilter::newest(9) }, 1),
        (EventFilter { kinds: vec!["a".into(), "b".into()], ..EventFilter::newest(3) }, 3),
        (EventFilter { domain: Some("ingest".into()), ..EventFilter::newest(9) }, 1),
        (EventFilter { session: Some("t".into()), ..EventFilter::newest(9) }, 0),
        (EventFilter { since: Some(at(2)), ..EventFilter::newest(9) }, 3),
        (EventFilter { before: Some(at(2)), ..EventFilter::newest(9) }, 1),
    ] {
        assert_eq!(read(filter.clone()).len(), expect, "{filter:?}");
    }
}

#[test]
fn old_events_go_first_by_age_then_by_number() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    store.write(|w| (1..=6).try_for_each(|n| w.event(&event("a", n)).map(drop))).unwrap();
    let mut drop_events =
        |before: i64, n_kept, limit| store.write(|w| w.drop_events(at(before), n_kept, limit));
    assert_eq!(drop_events(3, 10, 1).unwrap(), 1);
    assert_eq!(drop_events(3, 10, 10).unwrap(), 1);
    assert_eq!(drop_events(3, 10, 10).unwrap(), 0);
    assert_eq!(drop_events(0, 3, 10).unwrap(), 1);
    let left = store.read().events(&EventFilter::newest(9)).unwrap();
    assert_eq!(left.iter().map(|e| e.at).collect::<Vec<_>>(), [at(6), at(5), at(4)]);
}

#[test]
fn a_step_goes_on_where_it_was_and_sees_what_came_in() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let begun = store.read().step("s").unwrap();
    assert_eq!((begun.up_to.get(), &begun.state), (0, &json!({})));
    insert(&mut store, &turn("s", 0, "first"));
    insert(&mut store, &turn("s", 1, "second"));
    let seen = store.read().after(begun.up_to, 1).unwrap();
    assert_eq!(seen.len(), 1);
    let progress = StepProgress { up_to: seen[0].0, state: json!({"n": 1}) };
    store.write(|w| w.put_step("s", &progress, at(1))).unwrap();
    assert_eq!(store.read().step("s").unwrap(), progress);
    let rest = store.read().after(progress.up_to, 9).unwrap();
    assert_eq!(rest.iter().map(|(_, m)| m.text.as_str()).collect::<Vec<_>>(), ["second"]);
}

#[test]
fn a_knob_keeps_its_last_value() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    for value in [json!(1), json!({"deep": [true, null]})] {
        store.write(|w| w.set_profile("knob", &value, at(0))).unwrap();
        assert_eq!(store.read().profile().unwrap()["knob"], value);
    }
    assert_eq!(store.read().profile().unwrap().len(), 1);
}

#[test]
fn receipts_wait_in_order_until_done() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let receipt = |file: &str, next: Option<i64>| Receipt {
        file: file.into(),
        state: ReceiptState::Waiting,
        attempts: 1,
        next_attempt_at: next.map(at),
        n_turns: 4,
        n_stored: 1,
        n_known: 2,
        n_set_aside: 1,
        last_error: Some("disk".into()),
        at: at(0),
    };
    let (late, soon, now) = (receipt("a", Some(9)), receipt("b", Some(5)), receipt("c", None));
    store
        .write(|w| {
            w.put_receipt(&late)?;
            w.put_receipt(&soon)?;
            w.put_receipt(&now)
        })
        .unwrap();
    assert_eq!(store.read().receipts_waiting().unwrap(), [now, soon.clone(), late.clone()]);
    let done = Receipt { state: ReceiptState::Done, next_attempt_at: None, attempts: 2, ..soon };
    store.write(|w| w.put_receipt(&done)).unwrap();
    assert_eq!(store.read().receipt("b").unwrap(), Some(done));
    assert_eq!(store.read().receipt("z").unwrap(), None);
    assert_eq!(store.read().receipts_waiting().unwrap().len(), 2);
}

#[test]
fn a_bad_line_is_kept_once_with_its_true_length() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let long = NewSetAside {
        file: "f".into(),
        line: 7,
        reason: "not JSON".into(),
        bytes: vec![0xff; 1024 * 1024 + 5],
        at: at(1),
    };
    let short = NewSetAside { line: 8, bytes: vec![0, 1, 2], at: at(2), ..long.clone() };
    for _ in 0..2 {
        store.write(|w| w.set_aside(&long).and_then(|()| w.set_aside(&short))).unwrap();
    }
    let kept = store.read().set_aside(10).unwrap();
    assert_eq!(kept.len(), 2);
    assert_eq!((kept[0].line, &kept[0].bytes, kept[0].length_bytes), (8, &vec![0, 1, 2], 3));
    assert_eq!((kept[1].bytes.len(), kept[1].length_bytes), (1024 * 1024, 1024 * 1024 + 5));
    let whole: [u8; 32] = Sha256::digest(&long.bytes).into();
    assert_eq!(kept[1].sha256, whole, "of all its bytes, not of those kept");
    assert_eq!(store.read().set_aside(1).unwrap().len(), 1);
    let (newer, older) = (kept[0].number, kept[1].number);
    assert_eq!(store.write(|w| w.clear_set_aside(newer..=newer)).unwrap(), 1);
    assert_eq!(store.read().set_aside(10).unwrap(), [kept[1].clone()], "nobody saw it");
    assert_eq!(store.write(|w| w.clear_set_aside(older..=newer)).unwrap(), 1);
    assert_eq!(store.read().set_aside(10).unwrap(), []);
}

#[test]
fn counts_count_everything() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    assert_eq!(store.read().counts().unwrap(), Default::default());
    let a = insert(&mut store, &turn("s", 1, "a"));
    let b = insert(&mut store, &NewMemory { project: None, cwd: None, ..turn("t", 2, "b") });
    let c = insert(&mut store, &NewMemory { cwd: Some("/b".into()), ..turn("t", 3, "c") });
    store
        .write(|w| {
            w.supersede(a, b, at(5))?;
            w.strengthen((a, c), "s", 0.1, at(5))?;
            w.event(&event("e", 1))?;
            w.set_community(a, Some(4))?;
            w.set_community(b, Some(4))?;
            w.set_community(c, Some(9))?;
            w.set_community(c, None)?;
            w.set_strength(c, 0.25)?;
            Ok::<_, StoreError>(())
        })
        .unwrap();
    let counts = store.read().counts().unwrap();
    assert_eq!((counts.memories, counts.links, counts.events), (3, 2, 1));
    assert_eq!((counts.sessions, counts.projects, counts.communities), (2, 1, 1));
    assert_eq!((counts.earliest, counts.latest), (Some(at(1)), Some(at(3))));
    assert_eq!(counts.links_by_kind.values().sum::<u64>(), 2);
    let c = store.read().memory(c).unwrap().unwrap();
    assert_eq!((c.strength, c.community), (0.25, None));
}
