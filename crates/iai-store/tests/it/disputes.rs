//! Disputes are kept once per pair, told once, settled once, and go with their memories.

use iai_store::{Difference, MemoryNumber, NewDispute, Settlement, Store, StoreError};

use crate::fixture::{Home, at, insert, turn};

fn number(store: &Store, index: u64) -> MemoryNumber {
    let id = turn("s", index, "x").id();
    store.read().number_of(id).unwrap().unwrap()
}

fn filled(home: &Home, n: u64) -> (Store, Vec<MemoryNumber>) {
    let mut store = home.open().unwrap();
    for index in 0..n {
        insert(&mut store, &turn("s", index, "x"));
    }
    let numbers = (0..n).map(|index| number(&store, index)).collect();
    (store, numbers)
}

fn dispute(earlier: MemoryNumber, later: MemoryNumber, new_value: &str) -> NewDispute {
    let (old_value, new_value) = ("8080".to_owned(), new_value.to_owned());
    NewDispute { earlier, later, what: Difference::Number, old_value, new_value }
}

#[test]
fn a_pair_has_one_dispute_that_is_told_and_settled() {
    let home = Home::new();
    let (mut store, n) = filled(&home, 3);
    let first = dispute(n[0], n[1], "9090");
    let put = |store: &mut Store, new: &NewDispute, seconds| {
        store.write(|w| w.put_dispute(new, at(seconds))).unwrap()
    };
    assert!(put(&mut store, &first, 1));
    assert!(!put(&mut store, &dispute(n[0], n[1], "1"), 2), "one dispute per pair");
    assert!(put(&mut store, &dispute(n[1], n[2], &"x".repeat(500)), 3));
    let open = store.read().disputes_of(&n).unwrap();
    assert_eq!(open.len(), 2);
    assert_eq!((&open[0].about, open[0].found_at, open[0].hinted_at), (&first, at(1), None));
    assert_eq!(open[1].about.new_value.len(), 200);
    for seconds in [5, 6] {
        store.write(|w| w.note_hinted(open[0].about.later, at(seconds))).unwrap();
    }
    assert_eq!(store.read().disputes_of(&n[..1]).unwrap()[0].hinted_at, Some(at(5)));
    let settle = |store: &mut Store| {
        store.write(|w| w.settle_disputes(n[1], Settlement::Contradicted, at(7))).unwrap()
    };
    assert_eq!((settle(&mut store), settle(&mut store)), (2, 0));
    assert_eq!(store.read().disputes_of(&n).unwrap(), []);
    assert!(!put(&mut store, &first, 8), "what was settled does not begin again");
}

#[test]
fn the_oldest_disputes_make_room() {
    let home = Home::new();
    let (mut store, n) = filled(&home, 6);
    store
        .write(|w| {
            for (seconds, later) in (1..).zip(&n[1..]) {
                w.put_dispute(&dispute(n[0], *later, "9"), at(seconds))?;
            }
            assert_eq!(w.drop_disputes(5, 10)?, 0);
            assert_eq!(w.drop_disputes(2, 2)?, 2);
            assert_eq!(w.drop_disputes(2, 10)?, 1);
            Ok::<_, StoreError>(())
        })
        .unwrap();
    let left: Vec<_> =
        store.read().open_disputes(9).unwrap().iter().map(|d| d.about.later).collect();
    assert_eq!(left, [n[5], n[4]]);
}
