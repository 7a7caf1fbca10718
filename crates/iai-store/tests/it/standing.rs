//! What holds beyond a session is read back in the order it is told.

use iai_store::{ExceptSessions, NewMemory, NewRemark, Reach, RemarkKind, Store, Uses};
use jiff::Timestamp;

use crate::fixture::{Home, at, insert, kind, turn};

fn said(session: &str, project: &str, index: u64, text: &str) -> NewMemory {
    NewMemory {
        project: Some(project.to_owned()),
        cwd: Some(format!("/{project}/{index}")),
        ..turn(session, index, text)
    }
}

fn store_of(home: &Home, turns: &[NewMemory]) -> Store {
    let mut store = home.open().unwrap();
    for turn in turns {
        insert(&mut store, turn);
    }
    store
}

#[test]
fn the_identity_is_one_text_of_limited_length() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let mut set = |text: &str| {
        let done = store.write(|w| w.set_identity(text, at(0)));
        (kind(done), store.reader().unwrap().identity().unwrap())
    };
    assert_eq!(set("Ada"), ("Ok".to_owned(), Some("Ada".to_owned())));
    assert_eq!(set("Eve").1.as_deref(), Some("Eve"));
    assert_eq!(set(&"é".repeat(4001)), ("Refused".to_owned(), Some("Eve".to_owned())));
    assert_eq!(set(""), ("Ok".to_owned(), None));
}

#[test]
fn sessions_are_told_by_their_last_turn_in_the_project() {
    let home = Home::new();
    let turns = [
        said("old", "p", 1, "a"),
        said("new", "p", 2, "b"),
        said("old", "p", 3, "c"),
        said("other", "q", 9, "d"),
        said("own", "p", 8, "e"),
        NewMemory { host: "tool".to_owned(), ..said("aside", "p", 7, "f") },
        NewMemory { host: "made".to_owned(), ..said("summary", "p", 10, "g") },
        NewMemory { cwd: None, ..said("bare", "p", 4, "h") },
        // Stored last, in the newest place, and said first.
        said("early", "p", 0, "i"),
    ];
    let except = ExceptSessions { name: "own", hosts: &["tool", "made"] };
    let reader = store_of(&home, &turns).reader().unwrap();
    let sessions = |limit| {
        let found = reader.recent_sessions("p", &except, limit).unwrap();
        found.into_iter().map(|seen| (seen.name, seen.last_at)).collect::<Vec<_>>()
    };
    let all = [("bare", 4), ("old", 3), ("new", 2), ("early", 0)]
        .map(|(name, last)| (name.to_owned(), at(last)));
    for limit in 0..6 {
        assert_eq!(sessions(limit), all[..limit.min(4)]);
    }
    let projects = |unsaid: &[&str]| -> Vec<(String, Timestamp)> {
        let seen = reader.recent_projects(unsaid, 5).unwrap().into_iter();
        seen.map(|seen| (seen.project, seen.last_at)).collect()
    };
    let (p, q) = (|last| ("p".to_owned(), at(last)), ("q".to_owned(), at(9)));
    assert_eq!(projects(&[]), [p(10), q.clone()]);
    assert_eq!(projects(&["made"]), [q, p(8)]);
    assert_eq!(projects(&["made", "tool", "test-host"]), []);
    let number = reader.recent_sessions("p", &except, 2).unwrap()[1].number;
    let (first, last) = reader.session_ends(number, 1, 5).unwrap();
    let texts = |turns: &[iai_store::Memory]| -> Vec<String> {
        turns.iter().map(|turn| turn.text.clone()).collect()
    };
    assert_eq!((texts(&first), texts(&last)), (vec!["a".to_owned()], vec!["a".into(), "c".into()]));
}

#[test]
fn remarks_are_told_where_they_were_made_or_when_made_in_two_projects() {
    let home = Home::new();
    let turns = [
        said("s", "p", 1, "knock twice"),
        said("s", "q", 2, "knock twice"),
        said("s", "p", 3, "knock once"),
    ];
    let mut store = store_of(&home, &turns);
    let reader = store.reader().unwrap();
    store
        .write(|w| {
            let here = Reach::Project;
            let said = [(7, here), (7, here), (8, Reach::Everywhere)];
            for (turn, (words, reach)) in turns.iter().zip(said) {
                let number = reader.number_of(turn.id())?.unwrap();
                let kind = RemarkKind::Preference;
                let remark = NewRemark { kind, start_byte: 0, end_byte: 5, words, reach };
                w.put_remarks(number, &[remark])?;
            }
            Ok::<(), iai_store::StoreError>(())
        })
        .unwrap();
    let own = reader.remarks(RemarkKind::Preference, "p", 5).unwrap();
    let told: Vec<_> = own.iter().map(|own| (own.memory.text.as_str(), own.n_said)).collect();
    assert_eq!(told, [("knock once", 1), ("knock twice", 2)]);
    assert_eq!(own[0].sentence(), "knock");
    assert!(reader.remarks(RemarkKind::Decision, "p", 5).unwrap().is_empty());
    let shared = reader.remarks_of_several(RemarkKind::Preference, 5).unwrap();
    assert_eq!(shared.iter().map(|shared| shared.words).collect::<Vec<_>>(), [7]);
    let wide = |kind| -> Vec<i64> {
        let wide = reader.remarks_for_everywhere(kind, 5).unwrap();
        wide.iter().map(|wide| wide.words).collect()
    };
    assert_eq!((wide(RemarkKind::Preference), wide(RemarkKind::Waiver)), (vec![8], vec![]));
    store.write(|w| w.supersede(turns[2].id(), turns[1].id(), at(9))).unwrap();
    assert_eq!(reader.remarks(RemarkKind::Preference, "p", 5).unwrap().len(), 1);
    assert_eq!(wide(RemarkKind::Preference), [] as [i64; 0], "it no longer holds");
}

#[test]
fn pins_are_told_where_they_reach() {
    let home = Home::new();
    let turns = [said("s", "p", 1, "here"), said("s", "q", 2, "there"), said("s", "q", 3, "all")];
    let mut store = store_of(&home, &turns);
    store
        .write(|w| {
            w.pin(turns[0].id(), Reach::Project, at(1))?;
            w.pin(turns[1].id(), Reach::Project, at(2))?;
            w.pin(turns[2].id(), Reach::Everywhere, at(3))
        })
        .unwrap();
    let reader = store.reader().unwrap();
    let told = |project| -> Vec<String> {
        reader.pinned(project, 9).unwrap().into_iter().map(|memory| memory.text).collect()
    };
    assert_eq!(told(Some("p")), ["all", "here"]);
    assert_eq!(told(None), ["all"]);
    assert_eq!(reader.n_pinned().unwrap(), 3);
    store.write(|w| w.unpin(turns[2].id())).unwrap();
    assert!(!reader.memory(turns[2].id()).unwrap().unwrap().pinned);
    assert_eq!(told(None), Vec::<String>::new());
}

#[test]
fn uses_add_up_and_the_latest_are_kept() {
    let home = Home::new();
    let turns = [said("s", "p", 1, "a"), said("s", "p", 2, "b"), said("s", "p", 3, "c")];
    let mut store = store_of(&home, &turns);
    let uses = |n_recalled, n_reinforced| Uses { n_recalled, n_reinforced };
    let mut add = |turn: &NewMemory, uses, seconds| {
        store.write(|w| w.add_uses(&[(turn.id(), uses)], at(seconds))).unwrap();
    };
    add(&turns[0], uses(1, 0), 1);
    add(&turns[1], uses(0, 1), 2);
    add(&turns[2], uses(1, 0), 3);
    add(&turns[2], uses(1, 0), 4);
    let reader = store.reader().unwrap();
    let told = || -> Vec<(String, Uses)> {
        let used = reader.most_used("p", 9).unwrap().into_iter();
        used.map(|used| (used.memory.text, used.uses)).collect()
    };
    let all = [("b".to_owned(), uses(0, 1)), ("c".into(), uses(2, 0)), ("a".into(), uses(1, 0))];
    assert_eq!(told(), all);
    assert!(reader.most_used("q", 9).unwrap().is_empty());
    assert_eq!(store.write(|w| w.drop_uses(1)).unwrap(), 1);
    assert_eq!(told(), all[..2]);
}
