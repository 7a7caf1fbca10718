//! Links have a most per memory, learned ones fade, and nothing but a reinforcement renews them.

use iai_store::{Link, LinkKind, MemoryId, Store, StoreError, WEIGHT_MIN};
use jiff::{SignedDuration, Timestamp};

use crate::fixture::{Home, at, insert, turn};

const DAY: i64 = 86_400;

fn memories(store: &mut Store, n: u64) -> Vec<MemoryId> {
    (0..n).map(|index| insert(store, &turn("s", index, "x"))).collect()
}

fn similar(src: MemoryId, dst: MemoryId, weight: f64) -> Link {
    let (created_at, touched_at) = (at(1), at(1));
    Link { src, dst, kind: LinkKind::Similar, weight, created_at, touched_at }
}

fn links_of(store: &Store, ids: &[MemoryId]) -> iai_store::Result<Vec<Link>> {
    let number = |id: &MemoryId| store.read().number_of(*id).unwrap().unwrap();
    store.read().links_of(&ids.iter().map(number).collect::<Vec<_>>())
}

#[test]
fn a_memory_keeps_its_strongest_links() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let ids = memories(&mut store, 21);
    let n_max = LinkKind::Similar.per_memory_max().unwrap();
    for (n, other) in (1..).zip(&ids[1..]) {
        store.write(|w| w.link(&similar(ids[0], *other, f64::from(n) / 100.0))).unwrap();
    }
    let kept = links_of(&store, &ids[..1]).unwrap();
    assert_eq!(kept.len(), n_max);
    assert!(kept.iter().all(|link| 0.12 < link.weight), "{kept:?}");
    assert_eq!(store.write(|w| w.drop_links(LinkKind::Similar, 3)).unwrap(), 3);
    assert_eq!(links_of(&store, &ids[..1]).unwrap().len(), n_max - 3);
}

/// A11: a link untouched for 180 days, swept ever so often.
#[test]
fn sweeping_often_neither_renews_a_link_nor_forgets_it_sooner() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let ids = memories(&mut store, 2);
    store.write(|w| w.strengthen((ids[0], ids[1]), "s", 1.0, at(0))).unwrap();
    let link = links_of(&store, &ids).unwrap()[0];
    let after = |days: i64| at(days * DAY);
    let expect = 0.9_f64.powi(90);
    assert!((link.effective_weight(after(180)) - expect).abs() < 1e-9);
    let mut pruned_on = None;
    for day in 0..=180 {
        for _ in 0..3 {
            if store.write(|w| w.prune_links(after(day), 10)).unwrap() == 1 {
                pruned_on = Some(day);
            }
        }
        if pruned_on.is_none() {
            assert_eq!(links_of(&store, &ids).unwrap(), [link], "day {day}");
        }
    }
    assert_eq!(pruned_on, Some(90 + 44));
    assert!(link.effective_weight(after(90 + 44)) < WEIGHT_MIN);
    // What was forgotten can be learned again, by the same session too.
    let again = store.write(|w| w.strengthen((ids[0], ids[1]), "s", 0.1, after(181))).unwrap();
    assert!(again.changed && (again.weight - 0.1).abs() < 1e-9, "{again:?}");
}

#[test]
fn a_reinforcement_begins_where_fading_left_off() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let ids = memories(&mut store, 2);
    let mut strengthen = |session: &str, now: Timestamp| {
        store.write(|w| w.strengthen((ids[0], ids[1]), session, 0.1, now)).unwrap().weight
    };
    strengthen("a", at(0));
    let later = at(0) + SignedDuration::from_hours(24 * 100);
    let faded = 0.1 * 0.9_f64.powi(10);
    assert!((strengthen("a", later) - faded).abs() < 1e-9, "the same session says nothing new");
    assert!((strengthen("b", later) - (faded + 0.1 * (1.0 - faded))).abs() < 1e-9);
}

#[test]
fn corrections_are_found_from_both_ends() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let ids = memories(&mut store, 3);
    store
        .write(|w| {
            w.supersede(ids[0], ids[1], at(1))?;
            w.supersede(ids[1], ids[2], at(2))?;
            w.link(&similar(ids[0], ids[2], 0.9))?;
            Ok::<_, StoreError>(())
        })
        .unwrap();
    let reader = store.read();
    let number = |place: usize| reader.number_of(ids[place]).unwrap().unwrap();
    let after: Vec<_> =
        reader.successors(number(0)).unwrap().iter().map(|c| (c.old, c.new, c.at)).collect();
    assert_eq!(after, [(number(0), number(1), at(1))]);
    let before: Vec<_> = reader.predecessors(number(2)).unwrap().iter().map(|c| c.old).collect();
    assert_eq!(before, [number(1)]);
    assert_eq!(reader.successors(number(2)).unwrap(), []);
}
