//! The store against the simplest thing that could be one: a few maps in memory.

use std::collections::{BTreeMap, BTreeSet};

use iai_store::{
    CheckDepth, Inserted, LexicalQuery, Link, LinkKind, MemoryId, Scope, Store, StoreError,
};
use jiff::Timestamp;
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::json;

use crate::fixture::{Home, at, turn};

const SESSIONS: [&str; 2] = ["s", "t"];
const TEXTS: [&str; 3] = ["red fox", "red hen\0", "Ünïcode 🦊"];

#[derive(Debug, Clone)]
enum Step {
    Insert { session: usize, index: u64, text: usize },
    Link { from: usize, to: usize, kind: usize, weight: f64, at: i64 },
    Strengthen { from: usize, to: usize, session: usize },
    Supersede { old: usize, new: usize, at: i64 },
    Profile { knob: String, value: i64 },
    GiveUp { index: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let (from, to) = (0_usize..8, 0_usize..8);
    prop_oneof![
        4 => (0..SESSIONS.len(), 0_u64..3, 0..TEXTS.len())
            .prop_map(|(session, index, text)| Step::Insert { session, index, text }),
        2 => (from.clone(), to.clone(), 0..LinkKind::ALL.len(), 0.0..1.0, 0_i64..9)
            .prop_map(|(from, to, kind, weight, at)| Step::Link { from, to, kind, weight, at }),
        2 => (from.clone(), to.clone(), 0..SESSIONS.len())
            .prop_map(|(from, to, session)| Step::Strengthen { from, to, session }),
        2 => (from, to, 0_i64..9).prop_map(|(old, new, at)| Step::Supersede { old, new, at }),
        1 => ("[ab]", 0_i64..5).prop_map(|(knob, value)| Step::Profile { knob, value }),
        1 => (0_u64..3).prop_map(|index| Step::GiveUp { index }),
    ]
}

#[derive(Debug, Default)]
struct Model {
    /// In order of arrival: what was said, and since when it no longer holds.
    memories: Vec<(MemoryId, String, Option<Timestamp>)>,
    links: BTreeMap<(MemoryId, MemoryId, LinkKind), (f64, Timestamp, Timestamp)>,
    strengthened: BTreeSet<(MemoryId, MemoryId, usize)>,
    profile: BTreeMap<String, serde_json::Value>,
}

impl Model {
    fn pair(&self, one: usize, other: usize) -> Option<(MemoryId, MemoryId)> {
        let n = self.memories.len();
        let (one, other) = (one.checked_rem(n)?, other.checked_rem(n)?);
        (one != other).then(|| (self.memories[one].0, self.memories[other].0))
    }

    fn link(
        &mut self,
        (src, dst): (MemoryId, MemoryId),
        kind: LinkKind,
        weight: f64,
        at: Timestamp,
    ) {
        let key = if kind.is_directed() || src < dst { (src, dst, kind) } else { (dst, src, kind) };
        let link = self.links.entry(key).or_insert((weight, at, at));
        *link = (weight, link.1.min(at), link.2.max(at));
        if kind == LinkKind::Contradicts {
            let old = self.memories.iter_mut().find(|memory| memory.0 == src).unwrap();
            old.2 = Some(old.2.map_or(at, |end| end.min(at)));
        }
    }
}

fn take(store: &mut Store, model: &mut Model, step: &Step) {
    match step {
        Step::Insert { session, index, text } => {
            let new = turn(SESSIONS[*session], *index, TEXTS[*text]);
            let known = model.memories.iter().any(|memory| memory.0 == new.id());
            let inserted = store.write(|w| w.insert(&new, at(0))).unwrap();
            assert_eq!(matches!(inserted, Inserted::Known(_)), known);
            if !known {
                model.memories.push((new.id(), new.text, None));
            }
        }
        Step::Link { from, to, kind, weight, at: seconds } => {
            let Some((src, dst)) = model.pair(*from, *to) else { return };
            let (kind, weight, at) = (LinkKind::ALL[*kind], *weight, at(*seconds));
            let link = Link { src, dst, kind, weight, created_at: at, touched_at: at };
            store.write(|w| w.link(&link)).unwrap();
            model.link((src, dst), kind, weight, at);
        }
        Step::Strengthen { from, to, session } => {
            let Some((one, other)) = model.pair(*from, *to) else { return };
            let (low, high) = (one.min(other), one.max(other));
            let now = store
                .write(|w| w.strengthen((one, other), SESSIONS[*session], 0.25, at(5)))
                .unwrap();
            let key = (low, high, LinkKind::Hebbian);
            let before = model.links.get(&key).map_or(0.0, |link| link.0);
            let first = model.strengthened.insert((low, high, *session));
            assert_eq!(now.changed, first);
            if first {
                model.link((low, high), LinkKind::Hebbian, before + 0.25 * (1.0 - before), at(5));
            }
            assert_eq!(now.weight, model.links.get(&key).map_or(0.0, |link| link.0));
        }
        Step::Supersede { old, new, at: seconds } => {
            let Some(pair) = model.pair(*old, *new) else { return };
            store.write(|w| w.supersede(pair.0, pair.1, at(*seconds))).unwrap();
            model.link(pair, LinkKind::Contradicts, 1.0, at(*seconds));
        }
        Step::Profile { knob, value } => {
            store.write(|w| w.set_profile(knob, &json!(value), at(0))).unwrap();
            model.profile.insert(knob.clone(), json!(value));
        }
        Step::GiveUp { index } => {
            let given_up = store.write(|w| {
                w.insert(&turn("given up", *index, "never"), at(0))?;
                w.set_profile("never", &json!(0), at(0))?;
                Err::<(), _>(StoreError::Busy)
            });
            assert!(given_up.is_err());
        }
    }
}

fn compare(store: &Store, model: &Model) {
    let reader = store.reader().unwrap();
    let ids: Vec<MemoryId> = model.memories.iter().map(|memory| memory.0).collect();
    let found: Vec<_> = (reader.memories(&ids).unwrap().into_iter())
        .map(|memory| (memory.id, memory.text, memory.valid_to))
        .collect();
    assert_eq!(found, model.memories);
    let numbers: Vec<_> = ids.iter().map(|id| reader.number_of(*id).unwrap().unwrap()).collect();
    let links: BTreeMap<_, _> = (reader.links_of(&numbers).unwrap().into_iter())
        .map(|l| ((l.src, l.dst, l.kind), (l.weight, l.created_at, l.touched_at)))
        .collect();
    assert_eq!(links, model.links);
    assert_eq!(reader.profile().unwrap(), model.profile);
    let counts = reader.counts().unwrap();
    assert_eq!(counts.memories, u64::try_from(ids.len()).unwrap());
    assert_eq!(counts.links, u64::try_from(model.links.len()).unwrap());
    let query = LexicalQuery { words: vec!["red".into()], phrases: Vec::new() };
    let red = model.memories.iter().filter(|memory| memory.1.contains("red")).count();
    let index = reader.load_index().unwrap();
    assert_eq!(index.search(&query, &Scope::default(), 99).len(), red);
    for (id, _, valid_to) in &model.memories {
        let number = reader.number_of(*id).unwrap().unwrap();
        let ended = index.catalogue().ended_at_ms(number);
        assert_eq!(ended, valid_to.map(|at| at.as_millisecond()));
    }
    let report = store.check(CheckDepth::Deep).unwrap();
    assert!(report.is_clean(), "{report:?}");
}

proptest! {
    #![proptest_config(Config { cases: 64, failure_persistence: None, ..Config::default() })]

    #[test]
    fn the_store_answers_like_a_few_maps(steps in prop::collection::vec(step(), 1..14)) {
        let home = Home::new();
        let mut model = Model::default();
        for step in &steps {
            let mut store = home.open().unwrap();
            take(&mut store, &mut model, step);
            drop(store);
            compare(&home.open().unwrap(), &model);
        }
    }
}
