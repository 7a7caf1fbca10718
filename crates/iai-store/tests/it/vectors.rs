//! Vectors: what is found is what comparing everything finds, and what is forgotten is gone.

use iai_store::{
    CheckDepth, DenseHit, Limits, MemoryNumber, ModelNumber, ModelState, NewModel, Part, Pooling,
    Result, Store, StoreError, VectorIndex,
};
use proptest::prelude::*;

use crate::fixture::{Home, insert, kind, turn};

const EVERYTHING: Limits = Limits { n_scan: usize::MAX, n_estimate: usize::MAX };

fn model(name: &str, dimension: u16) -> NewModel {
    NewModel {
        name: name.into(),
        sha256: [7; 32],
        pooling: Pooling::Mean,
        prefix: String::new(),
        dimension,
        n_tokens_max: 256,
    }
}

/// A unit vector that follows from its seed.
fn vector(dimension: u16, seed: u32) -> Vec<f32> {
    let mut state = u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        f32::from(u16::try_from(state >> 48).unwrap()) / 32768.0 - 1.0
    };
    let vector: Vec<f32> = (0..dimension).map(|_| next()).collect();
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter().map(|x| x / length).collect()
}

fn part(dimension: u16, seed: u32) -> Part {
    Part { start: 0, end: seed, vector: vector(dimension, seed) }
}

fn number(number: u32) -> MemoryNumber {
    MemoryNumber::new(number)
}

/// A store of `n` memories, which have the numbers from 1 to `n`.
fn store_of(home: &Home, n: u64) -> Store {
    let mut store = home.open().unwrap();
    store
        .write(|w| {
            for index in 0..n {
                w.insert(&turn("s", index, "words"), crate::fixture::at(0))?;
            }
            Ok::<_, StoreError>(())
        })
        .unwrap();
    store
}

fn put_model(store: &mut Store, name: &str, dimension: u16) -> ModelNumber {
    store.write(|w| w.put_model(&model(name, dimension))).unwrap()
}

fn put(store: &mut Store, model: ModelNumber, memory: u32, parts: &[Part]) -> Result<()> {
    store.write(|w| w.put_vectors(model, number(memory), parts))
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns the nearest part of each memory by comparing everything, best first.
fn by_brute_force(
    store: &Store,
    model: ModelNumber,
    cue: &[f32],
    memories: impl Iterator<Item = u32>,
) -> Vec<(u32, f32)> {
    let mut found: Vec<(u32, f32)> = memories
        .filter_map(|memory| {
            let parts = store.read().vector_parts(model, number(memory)).unwrap();
            let cosines = parts.iter().map(|part| cosine(&part.vector, cue));
            cosines.max_by(f32::total_cmp).map(|cosine| (memory, cosine))
        })
        .collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found
}

/// Equal up to what rounding may exchange.
#[track_caller]
fn check_same(hits: &[DenseHit], expect: &[(u32, f32)]) {
    assert_eq!(hits.len(), expect.len());
    for (hit, (memory, cosine)) in hits.iter().zip(expect) {
        assert!((hit.cosine - cosine).abs() < 1e-4, "{hit:?} instead of {memory} {cosine}");
    }
    let sorted = |mut numbers: Vec<u32>| {
        numbers.sort_unstable();
        numbers
    };
    let found = hits.iter().map(|hit| hit.number.get()).collect();
    assert_eq!(sorted(found), sorted(expect.iter().map(|(memory, _)| *memory).collect()));
    assert!(hits.is_sorted_by(|a, b| (b.cosine, a.number) <= (a.cosine, b.number)), "{hits:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_search_of_everything_ranks_like_comparing_everything(
        dimension in prop_oneof![Just(128_u16), Just(200), Just(384), Just(1024)],
        memories in prop::collection::vec((1_u32..40, 1_u32..5, any::<u32>()), 1..40),
        gone in prop::collection::vec(1_u32..40, 0..5),
        every in 1_u32..4,
        cue in any::<u32>(),
    ) {
        let home = Home::new();
        let mut store = store_of(&home, 40);
        let model = put_model(&mut store, "m", dimension);
        let mut index = VectorIndex::load(store.read(), model).unwrap();
        for (memory, n_parts, seed) in &memories {
            let parts: Vec<Part> =
                (0..*n_parts).map(|at| part(dimension, seed.wrapping_add(at))).collect();
            put(&mut store, model, *memory, &parts).unwrap();
            index.add(number(*memory), &parts).unwrap();
        }
        for memory in &gone {
            index.remove(number(*memory));
            prop_assert!(!index.has(number(*memory)));
        }
        let cue = vector(dimension, cue);
        let accept = |n: MemoryNumber| n.get().is_multiple_of(every);
        let found = index.search(store.read(), &cue, accept, EVERYTHING).unwrap();
        let kept = (1..40_u32).filter(|n| n.is_multiple_of(every) && !gone.contains(n));
        check_same(&found.hits, &by_brute_force(&store, model, &cue, kept));
        for hit in &found.hits {
            let parts = store.read().vector_parts(model, hit.number).unwrap();
            let exact = cosine(&parts[usize::from(hit.part)].vector, &cue);
            prop_assert!((hit.cosine - exact).abs() < 1e-4);
        }
        let numbers: Vec<MemoryNumber> = found.hits.iter().map(|hit| hit.number).collect();
        let cosines: Vec<_> = found.hits.iter().map(|hit| Some(hit.cosine)).collect();
        prop_assert_eq!(index.cosines(store.read(), &cue, &numbers).unwrap(), cosines);
        prop_assert!(store.check(CheckDepth::Deep).unwrap().is_clean());
    }
}

#[test]
fn small_limits_find_the_nearest_too() {
    let home = Home::new();
    let mut store = store_of(&home, 300);
    let model = put_model(&mut store, "m", 384);
    let mut index = VectorIndex::load(store.read(), model).unwrap();
    for memory in 1..=300 {
        put(&mut store, model, memory, &[part(384, memory)]).unwrap();
        index.add(number(memory), &[part(384, memory)]).unwrap();
    }
    for seed in [1, 77, 300] {
        let limits = Limits { n_scan: 20, n_estimate: 5 };
        let found = index.search(store.read(), &vector(384, seed), |_| true, limits).unwrap();
        assert_eq!(found.hits.len(), 5);
        assert_eq!(found.hits[0].number, number(seed));
        assert!(found.hits[0].cosine > 0.999, "{found:?}");
        assert!(found.mean.abs() < 0.05 && (0.02..0.2).contains(&found.deviation), "{found:?}");
    }
    let nothing = index.search(store.read(), &vector(384, 1), |_| false, EVERYTHING).unwrap();
    assert_eq!((nothing.hits.len(), nothing.mean, nothing.deviation), (0, 0.0, 0.0));
}

#[test]
fn an_index_loaded_again_answers_the_same() {
    let home = Home::new();
    let n_memories = 3000;
    let mut store = store_of(&home, n_memories);
    let model = put_model(&mut store, "m", 128);
    let mut index = VectorIndex::load(store.read(), model).unwrap();
    // Newest first, as a backlog is filled.
    store
        .write(|w| {
            for memory in (1..=2999).rev() {
                let parts = [part(128, memory), part(128, memory / 3)];
                w.put_vectors(model, number(memory), &parts)?;
                index.add(number(memory), &parts)?;
            }
            Ok::<_, StoreError>(())
        })
        .unwrap();
    assert!(store.check(CheckDepth::Deep).unwrap().is_clean());
    let cue = vector(128, 12345);
    let limits = Limits { n_scan: 500, n_estimate: 50 };
    let before = index.search(store.read(), &cue, |_| true, limits).unwrap();
    drop(store);
    let store = home.open().unwrap();
    let reader = store.reader().unwrap();
    let loaded = VectorIndex::load(&reader, model).unwrap();
    assert_eq!(loaded.n_vectors(), index.n_vectors());
    assert_eq!(loaded.search(&reader, &cue, |_| true, limits).unwrap(), before);
    let missing = |newest: u32| loaded.missing_up_to(number(newest)).collect::<Vec<_>>();
    assert_eq!(missing(3002), [3002, 3001, 3000, 0].map(number));
    assert_eq!(missing(1), [0].map(number));
    assert_eq!(missing(70_000).len(), 70_000 - 2999 + 1);
}

#[test]
fn two_models_stand_side_by_side_until_one_is_dropped() {
    let home = Home::new();
    let mut store = store_of(&home, 10);
    let (old, new) = (put_model(&mut store, "old", 128), put_model(&mut store, "new", 384));
    assert_eq!(put_model(&mut store, "old", 128), old, "a known model keeps its number");
    for memory in 1..=10 {
        put(&mut store, old, memory, &[part(128, memory)]).unwrap();
        put(&mut store, new, memory, &[part(384, 100 + memory)]).unwrap();
    }
    for (model, cue, expect) in [(old, vector(128, 3), 3), (new, vector(384, 104), 4)] {
        let index = VectorIndex::load(store.read(), model).unwrap();
        assert_eq!(index.n_vectors(), 10);
        let found = index.search(store.read(), &cue, |_| true, Limits::default()).unwrap();
        assert_eq!(found.hits[0].number, number(expect));
    }
    store.write(|w| w.set_model_state(old, ModelState::Serving)).unwrap();
    assert_eq!(kind(store.write(|w| w.drop_vectors(old, 4))), "Refused");
    store.write(|w| w.set_model_state(new, ModelState::Serving)).unwrap();
    let states: Vec<_> = store.read().models().unwrap().iter().map(|model| model.state).collect();
    assert_eq!(states, [ModelState::Retired, ModelState::Serving]);
    for expect in [4, 4, 2, 0] {
        assert_eq!(store.write(|w| w.drop_vectors(old, 4)).unwrap(), expect);
        assert!(store.check(CheckDepth::Deep).unwrap().is_clean());
    }
    assert_eq!(VectorIndex::load(store.read(), old).unwrap().n_vectors(), 0);
    assert_eq!(VectorIndex::load(store.read(), new).unwrap().n_vectors(), 10);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let home = Home::new();
    let mut store = store_of(&home, 1);
    let model = put_model(&mut store, "m", 128);
    let good = part(128, 1);
    let with = |vector: Vec<f32>| Part { start: 0, end: 1, vector };
    let long: Vec<f32> = good.vector.iter().map(|x| x * 1.1).collect();
    for (memory, parts, expect) in [
        (1, vec![good.clone()], "Ok"),
        (2, vec![good.clone()], "Refused"),
        (1, vec![], "Refused"),
        (1, vec![part(384, 1)], "Refused"),
        (1, vec![good.clone(), with(vec![0.0; 128])], "Refused"),
        (1, vec![with(vec![f32::NAN; 128])], "Refused"),
        (1, vec![with(long)], "Refused"),
        (1, vec![Part { start: 2, ..good.clone() }], "Refused"),
        (1, vec![good.clone(); 4097], "Refused"),
    ] {
        assert_eq!(kind(put(&mut store, model, memory, &parts)), expect, "{memory}");
    }
    let mut index = VectorIndex::load(store.read(), model).unwrap();
    assert_eq!(index.n_vectors(), 1);
    assert_eq!(kind(index.add(number(1), &[part(384, 1)])), "Refused");
    let cue = vector(384, 1);
    assert_eq!(kind(index.search(store.read(), &cue, |_| true, Limits::default())), "Refused");
    assert_eq!(kind(index.cosines(store.read(), &cue, &[number(1)])), "Refused");
    for dimension in [0, 127, 1025] {
        assert_eq!(kind(store.write(|w| w.put_model(&model_of(dimension)))), "Refused");
    }
    insert(&mut store, &turn("s", 99, "later"));
    assert_eq!(index.cosines(store.read(), &good.vector, &[number(2)]).unwrap(), [None]);
}

fn model_of(dimension: u16) -> NewModel {
    model("m", dimension)
}

#[test]
fn what_was_compared_before_is_compared_as_it_is_now() {
    let home = Home::new();
    let mut store = store_of(&home, 3);
    let model = put_model(&mut store, "m", 128);
    let mut index = VectorIndex::load(store.read(), model).unwrap();
    let numbers = [1, 2, 3].map(number);
    let cue = vector(128, 1);
    let ask = |store: &Store, index: &VectorIndex| {
        let found = index.search(store.read(), &cue, |_| true, EVERYTHING).unwrap();
        let hits: Vec<_> = found.hits.iter().map(|hit| (hit.number, hit.cosine)).collect();
        (hits, index.cosines(store.read(), &cue, &numbers).unwrap())
    };
    for (memory, seeds) in [(1, vec![1, 5]), (2, vec![2, 3, 4]), (1, vec![6])] {
        let parts: Vec<Part> = seeds.iter().map(|seed| part(128, *seed)).collect();
        put(&mut store, model, memory, &parts).unwrap();
        index.add(number(memory), &parts).unwrap();
        let first = ask(&store, &index);
        // From memory now, and by an index that has compared nothing yet.
        assert_eq!(ask(&store, &index), first);
        assert_eq!(ask(&store, &VectorIndex::load(store.read(), model).unwrap()), first);
    }
    index.remove(number(2));
    let (hits, _) = ask(&store, &index);
    assert_eq!(hits.iter().map(|hit| hit.0).collect::<Vec<_>>(), [number(1)]);
}
