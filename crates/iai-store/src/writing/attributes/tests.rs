//! Attributes and formality follow their memories: counted once, gone when forgotten.

use jiff::Timestamp;
use serde_json::json;

use crate::files::StorePaths;
use crate::reader::Column;
use crate::record::{AttributeRole, MemoryNumber, NewAttribute, NewMemory, Role, Tier};
use crate::store::Store;
use crate::vault::KeySource;

fn store(folder: &std::path::Path) -> Store {
    let paths = StorePaths {
        folder: folder.to_owned(),
        database: folder.join("memory.db"),
        vault: folder.join("vault.json"),
        key_file: folder.join(".crypto.key"),
        spool_public: folder.join("spool.pub"),
        aside: folder.join("aside"),
    };
    let (mut store, _) = Store::open(&paths, &KeySource::default(), Timestamp::UNIX_EPOCH).unwrap();
    for index in 0..4 {
        store.write(|w| w.insert(&turn(index), Timestamp::UNIX_EPOCH).map(drop)).unwrap();
    }
    store
}

/// Turns 0 and 1 are of session "a", 2 and 3 of "b"; one is a summary, one the host's own.
fn turn(index: u64) -> NewMemory {
    NewMemory {
        host: if index < 2 { "left" } else { "right" }.into(),
        session: if index < 2 { "a" } else { "b" }.into(),
        turn_uuid: None,
        turn_index: Some(index),
        role: if index == 3 { Role::System } else { Role::User },
        tier: if index == 2 { Tier::Semantic } else { Tier::Episodic },
        project: Some(format!("/src/{}", if index == 0 { "house" } else { "garden" })),
        cwd: None,
        turn_at: Timestamp::from_second(i64::try_from(index).unwrap()).unwrap(),
        captured_at: Timestamp::UNIX_EPOCH,
        text: format!("turn {index}"),
        language: None,
        tags: Vec::new(),
        provenance: json!({}),
        cue: None,
        pinned: false,
    }
}

fn number(number: u32) -> MemoryNumber {
    MemoryNumber::new(number)
}

fn attribute(role: AttributeRole, written: &str) -> NewAttribute {
    NewAttribute::new(role, written).unwrap()
}

fn give(store: &mut Store, memory: u32, attributes: &[NewAttribute]) -> usize {
    store.write(|w| w.put_attributes(&[(number(memory), attributes.to_vec())])).unwrap()
}

fn forget(store: &mut Store, memory: u32) {
    let forgotten = store.write(|w| {
        w.remove_from_index(&[number(memory)])?;
        w.read().run("forgetting", |c| c.execute("DELETE FROM memory WHERE number = ?", [memory]))
    });
    assert_eq!(forgotten.unwrap(), 1);
}

/// Filler, display and count of everything stored under a name.
fn named(store: &Store, written: &str) -> Vec<(String, String, u64)> {
    let found = store.read().attributes_named(None, written).unwrap();
    found.into_iter().map(|a| (a.filler, a.display, a.n_memories)).collect()
}

#[test]
fn an_attribute_counts_its_memories_once_and_goes_with_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(folder.path());
    let crane = attribute(AttributeRole::Entity, "Harbour Crane");
    let file = attribute(AttributeRole::File, "src/main.rs");
    assert_eq!(give(&mut store, 1, &[crane.clone(), file.clone()]), 2);
    assert_eq!(give(&mut store, 1, &[crane.clone(), file]), 0, "twice is once");
    assert_eq!(give(&mut store, 3, &[attribute(AttributeRole::Entity, "HARBOUR crane")]), 1);
    let expect = ("harbour crane".to_owned(), "Harbour Crane".to_owned(), 2);
    assert_eq!(named(&store, "harbour  CRANE"), [expect]);
    let found = store.read().attributes_named(Some(AttributeRole::Entity), "harbour crane");
    let found = found.unwrap().remove(0);
    let with = store.read().memories_with(found.number, 9).unwrap();
    assert_eq!(with, [number(3), number(1)]);
    let has = store.read().have_attribute(found.number, &[number(1), number(2)]).unwrap();
    assert_eq!(has, [true, false]);
    let other = attribute(AttributeRole::File, "src/lib.rs");
    assert_eq!(give(&mut store, 1, &[crane.clone(), other]), 1);
    assert_eq!(named(&store, "src/main.rs"), [], "what is not taken again is gone");
    assert_eq!(named(&store, "src/lib.rs")[0].2, 1);
    forget(&mut store, 1);
    assert_eq!(named(&store, "harbour crane")[0].2, 1);
    assert_eq!(named(&store, "src/lib.rs"), [], "nobody has it any more");
    assert_eq!(give(&mut store, 1, &[crane]), 0, "what is forgotten gets nothing");
    forget(&mut store, 3);
    assert_eq!(named(&store, "harbour crane"), []);
}

#[test]
fn what_stands_together_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(folder.path());
    let (a, b) = (attribute(AttributeRole::Entity, "a"), attribute(AttributeRole::Tool, "b"));
    for memory in [1, 2] {
        give(&mut store, memory, std::slice::from_ref(&a));
    }
    give(&mut store, 3, &[a, b]);
    let reader = store.read();
    let in_use = reader.attributes_in_use(0, 9).unwrap();
    assert_eq!(in_use.iter().map(|a| a.filler.as_str()).collect::<Vec<_>>(), ["a"]);
    assert_eq!(reader.sessions_with(in_use[0].number, 9).unwrap(), [(1, 2), (2, 1)]);
    assert_eq!(reader.sessions_with(in_use[0].number, 1).unwrap(), [(2, 1)]);
    let beside = reader.attributes_beside(in_use[0].number, 9, 9).unwrap();
    let beside: Vec<_> = beside.iter().map(|(a, n)| (a.filler.as_str(), *n)).collect();
    assert_eq!(beside, [("b", 1)]);
    let of = reader.attributes_of(&[number(3), number(4)]).unwrap();
    let of: Vec<usize> = of.iter().map(|(_, attributes)| attributes.len()).collect();
    assert_eq!(of, [2, 0]);
}

#[test]
fn columns_choose_memories_newest_first_and_use_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    for (column, expect, plan) in [
        (Column::Any, vec![4, 3, 2, 1], "memory_newest"),
        (Column::Role(Role::System), vec![4], "memory_of_system"),
        (Column::Tier(Tier::Semantic), vec![3], "memory_by_tier"),
        (Column::Tier(Tier::Episodic), vec![4, 2, 1], "memory_newest"),
        (Column::Said(1000, 2000), vec![3, 2], "memory_newest"),
        (Column::Sessions(vec![1]), vec![2, 1], "memory_by_session"),
        (Column::Sessions(vec![2, 1]), vec![4, 3, 2, 1], "memory_by_session"),
        (Column::Places(vec![1]), vec![1], "memory_by_place"),
        (Column::Places(vec![]), vec![], ""),
        (Column::Communities(vec![7]), vec![], "memory_by_community"),
        (Column::Holding, vec![4, 3, 2, 1], "memory_newest"),
        (Column::Replaced, vec![], "memory_ended"),
    ] {
        let reader = store.read();
        let chosen: Vec<u32> = reader
            .chosen(std::slice::from_ref(&column), 9)
            .unwrap()
            .into_iter()
            .map(MemoryNumber::get)
            .collect();
        assert_eq!(chosen, expect, "{column:?}");
        assert_eq!(reader.count_chosen(&column, 9).unwrap(), expect.len() as u64);
        assert_eq!(reader.count_chosen(&column, 1).unwrap(), expect.len().min(1) as u64);
        let (sql, mut values) = crate::reader::chosen_sql(std::slice::from_ref(&column));
        values.push(9.into());
        let explained: String = reader
            .run("explaining", |c| {
                c.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?
                    .query_map(rusqlite::params_from_iter(values), |row| row.get::<_, String>(3))?
                    .collect()
            })
            .unwrap();
        assert!(explained.contains(plan), "{column:?}: {explained}");
    }
    let both = [Column::Said(0, 2000), Column::Places(vec![2])];
    assert_eq!(store.read().chosen(&both, 9).unwrap(), [number(3), number(2)]);
    let places = store.read().places().unwrap();
    assert_eq!(places, [(1, "/src/house".to_owned()), (2, "/src/garden".to_owned())]);
    assert_eq!(store.read().sessions_of_host("right", 9).unwrap(), [2]);
    assert_eq!(store.read().session_named(2).unwrap(), ("right".into(), "b".into()));
}

#[test]
fn formality_is_counted_by_week_and_uncounted_when_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(folder.path());
    for (memory, week, thousandths) in [(1, 202_601, 400), (2, 202_601, 600), (3, 202_602, 10)] {
        for _twice in 0..2 {
            store.write(|w| w.put_formality(number(memory), week, thousandths)).unwrap();
        }
    }
    let weeks = |store: &Store| {
        let weeks = store.read().formality_weeks(9).unwrap();
        weeks.iter().map(|w| (w.week, w.n, w.sum, w.sum_squares)).collect::<Vec<_>>()
    };
    assert_eq!(weeks(&store), [(202_602, 1, 10, 100), (202_601, 2, 1000, 520_000)]);
    forget(&mut store, 3);
    forget(&mut store, 1);
    assert_eq!(weeks(&store), [(202_601, 1, 600, 360_000)]);
    store.write(|w| w.put_formality(number(3), 202_602, 10)).unwrap();
    assert_eq!(weeks(&store).len(), 1, "what is forgotten is not counted");
}
