//! What only the inside can provoke: packed blocks, damage, and memories deleted below the index.

use std::path::Path;

use jiff::Timestamp;
use serde_json::json;

use super::*;
use crate::check::CheckDepth;
use crate::files::StorePaths;
use crate::record::{NewMemory, NewModel, Pooling, Role, Tier};
use crate::store::Store;
use crate::vault::KeySource;

const N_MEMORIES: u32 = 2100;
const DIMENSION: u16 = 128;

fn open(folder: &Path) -> Store {
    let paths = StorePaths {
        folder: folder.to_owned(),
        database: folder.join("memory.db"),
        vault: folder.join("vault.json"),
        key_file: folder.join(".crypto.key"),
        spool_public: folder.join("spool.pub"),
        aside: folder.join("aside"),
    };
    Store::open(&paths, &KeySource::default(), Timestamp::UNIX_EPOCH).unwrap().0
}

fn memory(index: u32) -> NewMemory {
    NewMemory {
        host: "test".into(),
        session: "s".into(),
        turn_uuid: None,
        turn_index: Some(index.into()),
        role: Role::User,
        tier: Tier::Episodic,
        project: None,
        cwd: None,
        turn_at: Timestamp::UNIX_EPOCH,
        captured_at: Timestamp::UNIX_EPOCH,
        text: "words".into(),
        language: None,
        tags: Vec::new(),
        provenance: json!({}),
        cue: None,
        pinned: false,
    }
}

fn part(memory: u32) -> Part {
    let mut vector = vec![0.01_f32; usize::from(DIMENSION)];
    for (bit, value) in vector.iter_mut().enumerate().take(12) {
        *value = if memory >> bit & 1 == 1 { 0.28 } else { -0.28 };
    }
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    Part { start: 0, end: 5, vector: vector.iter().map(|x| x / length).collect() }
}

/// Three blocks, of which the first two are packed.
fn filled(folder: &Path) -> (Store, ModelNumber) {
    let mut store = open(folder);
    let model = NewModel {
        name: "m".into(),
        sha256: [0; 32],
        pooling: Pooling::Cls,
        prefix: "p".into(),
        dimension: DIMENSION,
        n_tokens_max: 1,
    };
    let model = store
        .write(|w| {
            let model = w.put_model(&model)?;
            for index in 1..=N_MEMORIES {
                w.insert(&memory(index), Timestamp::UNIX_EPOCH)?;
                w.put_vectors(model, MemoryNumber::new(index), &[part(index)])?;
            }
            Ok::<_, StoreError>(model)
        })
        .unwrap();
    assert_eq!(waiting(&store), 1);
    (store, model)
}

fn run(store: &Store, sql: &str) {
    store.read().run("testing", |c| c.execute_batch(sql)).unwrap();
}

/// Returns how many blocks are not packed.
fn waiting(store: &Store) -> u32 {
    let sql = "SELECT count(*) FROM code_block WHERE codes IS NULL";
    store.read().run("testing", |c| c.query_row(sql, [], |row| row.get(0))).unwrap()
}

#[test]
fn codes_that_are_damaged_or_lost_are_derived_from_the_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let (store, model) = filled(folder.path());
    let whole = VectorIndex::load(store.read(), model).unwrap();
    for sql in [
        "UPDATE code_block SET codes = x'00' WHERE codes IS NOT NULL",
        "UPDATE code_block SET codes = zeroblob(40) WHERE codes IS NOT NULL",
        "UPDATE code_block SET codes = NULL",
        "DELETE FROM code_block WHERE place = (SELECT min(place) FROM code_block)",
        "DELETE FROM code_block",
    ] {
        run(&store, sql);
        let loaded = VectorIndex::load(store.read(), model).unwrap();
        assert_eq!(loaded.codes, whole.codes, "{sql}");
    }
}

#[test]
fn the_check_names_what_is_wrong_with_vectors() {
    for (sql, expect) in [
        ("UPDATE vector SET components = zeroblob(130) WHERE place & 65535 = 0", "vectors"),
        ("UPDATE vector SET place = place + (9 << 48) WHERE (place >> 16) % 7 = 0", "vectors"),
        ("UPDATE vector SET place = place + (90000 << 16) WHERE (place >> 16) % 7 = 0", "vectors"),
        ("UPDATE vector SET components = zeroblob(128)", "vector_codes"),
        ("DELETE FROM vector WHERE (place >> 16) % 7 = 0", "vector_codes"),
        ("UPDATE code_block SET codes = x'' WHERE codes IS NOT NULL", "vector_codes"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (store, _) = filled(folder.path());
        assert!(store.check(CheckDepth::Sample).unwrap().is_clean());
        run(&store, sql);
        for depth in [CheckDepth::Sample, CheckDepth::Deep] {
            let report = store.check(depth).unwrap();
            assert!(report.problems.iter().any(|p| p.name == expect), "{sql}: {report:?}");
        }
    }
}

#[test]
fn a_deleted_memory_takes_its_vectors_and_codes_along() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, model) = filled(folder.path());
    let gone = MemoryNumber::new(1500);
    let mut index = VectorIndex::load(store.read(), model).unwrap();
    run(&store, "DELETE FROM memory WHERE number = 1500");
    assert_eq!(waiting(&store), 2, "the block it was in, and the last");
    assert!(store.read().vector_parts(model, gone).unwrap().is_empty());

    let search = |index: &VectorIndex| {
        let limits = Limits { n_scan: 50, n_estimate: 5 };
        index.search(store.read(), &part(1500).vector, |_| true, limits).unwrap().hits
    };
    assert!(search(&index).iter().all(|hit| hit.number != gone), "not even before `remove`");
    index.remove(gone);
    let loaded = VectorIndex::load(store.read(), model).unwrap();
    assert!(!loaded.has(gone) && loaded.has(MemoryNumber::new(1499)));
    assert_eq!(search(&loaded), search(&index));

    // The next block that begins packs what waits.
    store
        .write(|w| {
            for index in N_MEMORIES + 1..=3072 {
                w.insert(&memory(index), Timestamp::UNIX_EPOCH)?;
            }
            w.put_vectors(model, MemoryNumber::new(3072), &[part(3072)])
        })
        .unwrap();
    assert_eq!(waiting(&store), 1);
    let report = store.check(CheckDepth::Deep).unwrap();
    assert!(report.problems.iter().all(|p| p.name == "lexical_index"), "{report:?}");
}

#[test]
fn what_was_read_ahead_is_compared_without_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let (store, model) = filled(folder.path());
    let index = VectorIndex::load(store.read(), model).unwrap();
    let limits = Limits { n_scan: 500, n_estimate: 60 };
    let cue = part(1500).vector;
    let search =
        |index: &VectorIndex| index.search(store.read(), &cue, |_| true, limits).unwrap().hits;
    let others: Vec<MemoryNumber> = [1, 7, 1024, N_MEMORIES].map(MemoryNumber::new).to_vec();
    let fresh = VectorIndex::load(store.read(), model).unwrap();
    let expect = (search(&fresh), fresh.cosines(store.read(), &cue, &others).unwrap());

    let mut below = index.fetch_ahead(store.read(), MemoryNumber::new(u32::MAX)).unwrap();
    assert_eq!(below, Some(MemoryNumber::new(N_MEMORIES + 1 - AHEAD_MEMORIES)), "newest first");
    let mut n_steps = 1;
    while let Some(rest) = below {
        below = index.fetch_ahead(store.read(), rest).unwrap();
        n_steps += 1;
    }
    assert_eq!(n_steps, (N_MEMORIES + 1).div_ceil(AHEAD_MEMORIES) + 1);
    run(&store, "DELETE FROM vector");
    let unread = VectorIndex::load(store.read(), model).unwrap();
    assert!(search(&unread).is_empty(), "the store has none left");
    assert_eq!((search(&index), index.cosines(store.read(), &cue, &others).unwrap()), expect);
}
