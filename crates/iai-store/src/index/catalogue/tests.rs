//! Columns give back what was put in, in memory and through their stored form.

use super::*;

fn entry(session: u32, at: i64, index: Option<u32>) -> CatalogueEntry {
    CatalogueEntry {
        session,
        place: Some(session + 1),
        role: Role::Assistant,
        tier: Tier::Semantic,
        turn_index: index,
        turn_at_ms: at,
    }
}

fn number(number: u32) -> MemoryNumber {
    MemoryNumber::new(number)
}

/// Number 3 is nobody; session 2 was not stored in the order it was said.
fn sample() -> Catalogue {
    let mut catalogue = Catalogue::default();
    for (place, entry) in [
        (1, entry(1, 10, Some(0))),
        (2, entry(2, 50, None)),
        (4, entry(2, 20, Some(7))),
        (5, entry(2, 20, Some(3))),
        (6, entry(1, 10, Some(1))),
    ] {
        catalogue.add(number(place), &entry);
    }
    catalogue.add_place(2, Some("house"));
    catalogue.add_place(3, Some("garden"));
    catalogue.add_place(9, Some("house"));
    catalogue.end(number(4), 99);
    catalogue.end(number(4), 77);
    catalogue
}

#[track_caller]
fn check_sample(catalogue: &Catalogue) {
    let of = |session| catalogue.members(session).map(MemoryNumber::get).collect::<Vec<_>>();
    assert_eq!((of(1), of(2), of(3)), (vec![1, 6], vec![5, 4, 2], vec![]));
    assert_eq!(catalogue.entry(number(5)), Some(entry(2, 20, Some(3))));
    assert_eq!(catalogue.entry(number(2)), Some(entry(2, 50, None)));
    assert_eq!((catalogue.entry(number(3)), catalogue.entry(number(99))), (None, None));
    assert_eq!(catalogue.previous(number(4)), Some(number(5)));
    assert_eq!(catalogue.next(number(4)), Some(number(2)));
    assert_eq!((catalogue.previous(number(5)), catalogue.next(number(2))), (None, None));
    assert_eq!((catalogue.len(), catalogue.is_empty()), (5, false));
}

#[test]
fn neighbours_are_told_in_the_order_they_were_said() {
    let catalogue = sample();
    check_sample(&catalogue);
    assert_eq!(catalogue.project(number(1)), catalogue.project_number("house"));
    assert_eq!(catalogue.project(number(5)), catalogue.project_number("garden"));
    assert_eq!(catalogue.project(number(3)), None);
    assert_eq!(catalogue.ended_at_ms(number(4)), Some(77));
    assert_eq!(catalogue.ended_at_ms(number(5)), None);
}

#[test]
fn stored_columns_read_back_however_they_are_cut() {
    let catalogue = sample();
    for cuts in [vec![(1, 6)], vec![(1, 2), (3, 3), (4, 6)], vec![(1, 5), (6, 6)]] {
        let mut again = Catalogue::default();
        for (first, last) in &cuts {
            assert!(again.restore(&catalogue.stored(*first, *last), *first, *last), "{cuts:?}");
        }
        again.enter_all();
        check_sample(&again);
    }
}

#[test]
fn damaged_columns_are_not_taken() {
    let bytes = sample().stored(1, 6);
    for place in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 4;
        assert!(!Catalogue::default().restore(&damaged, 1, 6), "{place}");
        assert!(!Catalogue::default().restore(&bytes[..place], 1, 6), "{place}");
    }
    assert!(!Catalogue::default().restore(&bytes, 2, 7), "of another range");
}

#[test]
fn a_removed_memory_is_nobody() {
    let mut catalogue = sample();
    catalogue.remove(number(4));
    catalogue.remove(number(4));
    assert_eq!(catalogue.entry(number(4)), None);
    assert_eq!(catalogue.next(number(5)), Some(number(2)));
    assert_eq!((catalogue.ended_at_ms(number(4)), catalogue.len()), (None, 4));
}

#[test]
fn a_scope_means_what_it_says() {
    let catalogue = sample();
    for (scope, expect) in [
        (Scope::default(), vec![1, 2, 3, 4, 5, 6]),
        (Scope { tiers: vec![Tier::Semantic], ..Scope::default() }, vec![1, 2, 4, 5, 6]),
        (Scope { tiers: vec![Tier::Working], ..Scope::default() }, vec![]),
        (Scope { roles: vec![Role::User], ..Scope::default() }, vec![]),
        (Scope { project: Some("house".into()), ..Scope::default() }, vec![1, 6]),
        (Scope { project: Some("nowhere".into()), ..Scope::default() }, vec![]),
        (Scope { sessions: Some(vec![2]), ..Scope::default() }, vec![2, 4, 5]),
        (Scope { sessions: Some(vec![]), ..Scope::default() }, vec![]),
        (Scope { said_ms: Some((20, 50)), ..Scope::default() }, vec![2, 4, 5]),
        (Scope { said_ms: Some((21, 49)), ..Scope::default() }, vec![]),
    ] {
        let admits = scope.admits(&catalogue);
        let found: Vec<u32> = (1..=6).filter(|place| admits(number(*place))).collect();
        assert_eq!(found, expect, "{scope:?}");
    }
}
