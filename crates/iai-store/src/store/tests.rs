//! What only the inside can provoke: full disks, foreign tables, broken rows, a stopped read.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::index::catalogue::Scope;
use crate::index::lexical::LexicalQuery;
use crate::record::{Filter, MemoryNumber, NewMemory, Role, Tier};

fn paths(folder: &Path) -> StorePaths {
    StorePaths {
        folder: folder.to_owned(),
        database: folder.join("memory.db"),
        vault: folder.join("vault.json"),
        key_file: folder.join(".crypto.key"),
        spool_public: folder.join("spool.pub"),
        aside: folder.join("aside"),
    }
}

fn open(folder: &Path) -> Result<Store> {
    Store::open(&paths(folder), &KeySource::default(), Timestamp::UNIX_EPOCH)
        .map(|(store, _)| store)
}

fn turn(index: u64, text: &str) -> NewMemory {
    NewMemory {
        host: "test".into(),
        session: "s".into(),
        turn_uuid: None,
        turn_index: Some(index),
        role: Role::User,
        tier: Tier::Episodic,
        project: None,
        cwd: None,
        turn_at: Timestamp::UNIX_EPOCH,
        captured_at: Timestamp::UNIX_EPOCH,
        text: text.into(),
        language: None,
        tags: Vec::new(),
        provenance: json!({}),
        cue: None,
        pinned: false,
    }
}

fn insert(store: &mut Store, index: u64, text: &str) -> Result<()> {
    store.write(|w| w.insert(&turn(index, text), Timestamp::UNIX_EPOCH).map(drop))
}

#[test]
fn a_full_disk_is_named_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    insert(&mut store, 0, "before").unwrap();
    let pages: i64 =
        store.reader.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    let limit = |store: &Store, pages: i64| {
        store
            .reader
            .connection
            .query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))
            .unwrap();
    };
    limit(&store, pages);
    let long = "word ".repeat(50_000);
    assert!(matches!(insert(&mut store, 1, &long), Err(StoreError::Full { .. })));
    assert_eq!(store.read().counts().unwrap().memories, 1);
    limit(&store, 1_000_000);
    insert(&mut store, 1, &long).unwrap();
    assert_eq!(store.read().counts().unwrap().memories, 2);
    assert!(store.check(CheckDepth::Deep).unwrap().is_clean());
}

#[test]
fn a_newer_or_foreign_database_is_refused_before_it_is_touched() {
    for (sql, expect) in [
        ("PRAGMA user_version = 99", "Newer"),
        ("PRAGMA application_id = 7", "Corrupt"),
        ("PRAGMA user_version = 0", "Corrupt"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        open(folder.path()).unwrap().reader.connection.execute_batch(sql).unwrap();
        let error = open(folder.path()).err().unwrap();
        assert!(format!("{error:?}").starts_with(expect), "{sql}: {error:?}");
        let error = Reader::open(&paths(folder.path()), &KeySource::default()).err().unwrap();
        assert!(format!("{error:?}").starts_with(expect), "{sql}: {error:?}");
    }
}

#[test]
fn a_newer_database_keeps_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    let sql = "PRAGMA journal_mode = DELETE; PRAGMA user_version = 99;";
    open(folder.path()).unwrap().reader.connection.execute_batch(sql).unwrap();
    let database = paths(folder.path()).database;
    let before = std::fs::read(&database).unwrap();
    assert!(matches!(open(folder.path()), Err(StoreError::Newer { found: 99, .. })));
    assert_eq!(std::fs::read(&database).unwrap(), before);
}

#[test]
fn a_store_in_a_folder_without_leave_to_write_is_read_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    insert(&mut store, 0, "kept").unwrap();
    let vault = Arc::clone(&store.vault);
    drop(store);
    let database = paths(folder.path()).database;
    let n_files = || std::fs::read_dir(folder.path()).unwrap().count();
    let before = n_files();
    let connection = connection::open_immutable(&database, &vault).unwrap();
    let reader = Reader::of(connection, &database);
    assert_eq!(reader.counts().unwrap().memories, 1);
    assert!(reader.check(CheckDepth::Deep).unwrap().is_clean());
    assert_eq!(n_files(), before, "no log, no shared memory");
}

/// Stores whatever the index holds as a segment.
fn seal(store: &mut Store) {
    store.ensure_index().unwrap();
    store.index.end_tail(1);
    while let Some(made) = store.index.make_due(IndexPace::Calm) {
        store.keep(made).unwrap();
    }
}

fn found(store: &mut Store, word: &str) -> Vec<u32> {
    store.ensure_index().unwrap();
    let query = LexicalQuery { words: vec![word.to_owned()], phrases: Vec::new() };
    let hits = store.index.with(|index| index.search(&query, &Scope::default(), 9)).unwrap();
    hits.iter().map(|hit| hit.number.get()).collect()
}

fn segments(store: &Store) -> Vec<(u32, u32)> {
    let sql = "SELECT first, last FROM lexical_segment ORDER BY first";
    let mut statement = store.reader.connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(|row| row.unwrap()).collect()
}

#[test]
fn the_check_names_what_is_broken() {
    for (sql, depth, expect) in [
        ("UPDATE memory SET text = 'other words' WHERE number = 1", 1, "content_hash"),
        ("UPDATE memory SET text = 'other words' WHERE number = 1", 0, "lexical_index"),
        ("UPDATE memory SET turn_index = 9 WHERE number = 1", 1, "id"),
        ("UPDATE memory SET turn_index = 9 WHERE number = 1", 1, "lexical_index"),
        ("UPDATE memory SET valid_to_ms = 5 WHERE number = 1", 0, "valid_to"),
        ("PRAGMA foreign_keys = OFF; UPDATE memory SET place = 99", 0, "references"),
        ("PRAGMA foreign_keys = OFF; DELETE FROM memory WHERE number = 1", 0, "lexical_index"),
        ("UPDATE memory SET cue = 'never indexed' WHERE number = 1", 1, "lexical_index"),
        ("UPDATE lexical_segment SET words = zeroblob(length(words))", 0, "lexical_index"),
        ("UPDATE lexical_segment SET columns = x'00'", 0, "lexical_index"),
        ("UPDATE lexical_segment SET last = 77", 0, "lexical_index"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(folder.path()).unwrap();
        insert(&mut store, 0, "some words").unwrap();
        insert(&mut store, 1, "more words").unwrap();
        seal(&mut store);
        for depth in [CheckDepth::Sample, CheckDepth::Deep] {
            let report = store.check(depth).unwrap();
            assert!(report.is_clean(), "{report:?}");
        }
        store.reader.connection.execute_batch(sql).unwrap();
        let depth = if depth == 1 { CheckDepth::Deep } else { CheckDepth::Sample };
        let report = store.check(depth).unwrap();
        assert!(report.problems.iter().any(|p| p.name == expect), "{sql}: {report:?}");
    }
}

#[test]
fn a_check_beside_a_writer_sees_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    insert(&mut store, 0, "some words").unwrap();
    seal(&mut store);
    let reader = store.reader().unwrap();
    std::thread::scope(|scope| {
        let writing = scope.spawn(move || {
            for index in 1..120 {
                insert(&mut store, index, "more words").unwrap();
                seal(&mut store);
            }
        });
        while !writing.is_finished() {
            let report = reader.check(CheckDepth::Sample).unwrap();
            assert!(report.is_clean(), "{report:?}");
        }
    });
}

#[test]
fn a_damaged_or_foreign_index_is_made_again() {
    for sql in [
        "DELETE FROM lexical_segment",
        "DELETE FROM lexical_segment WHERE first = 0",
        "UPDATE lexical_segment SET words = zeroblob(length(words)) WHERE first = 0",
        "UPDATE lexical_segment SET words = zeroblob(length(words)) WHERE first > 0",
        "UPDATE lexical_segment SET words = x'' WHERE first > 0",
        "UPDATE lexical_segment SET columns = zeroblob(9)",
        "UPDATE lexical_segment SET first = first + 1",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(folder.path()).unwrap();
        for (index, text) in (0..).zip(["a fox", "two foxes", "a hen", "the fox"]) {
            insert(&mut store, index, text).unwrap();
            if index % 2 == 1 {
                seal(&mut store);
            }
        }
        assert_eq!(segments(&store), [(0, 2), (3, 4)]);
        let before = found(&mut store, "fox");
        store.reader.connection.execute_batch(sql).unwrap();
        drop(store);
        let mut store = open(folder.path()).unwrap();
        let helped = store.reader.load_index_with(store.reader().unwrap()).unwrap();
        let query = LexicalQuery { words: vec!["fox".to_owned()], phrases: Vec::new() };
        let numbers = helped.search(&query, &Scope::default(), 9);
        assert_eq!(numbers.iter().map(|hit| hit.number.get()).collect::<Vec<_>>(), before);
        assert_eq!(found(&mut store, "fox"), before, "{sql}");
        seal(&mut store);
        insert(&mut store, 9, "one more fox").unwrap();
        drop(store);
        let mut store = open(folder.path()).unwrap();
        assert_eq!(found(&mut store, "fox").len(), before.len() + 1, "{sql}");
        let report = store.check(CheckDepth::Deep).unwrap();
        assert!(report.is_clean(), "{sql}: {report:?}");
    }
}

#[test]
fn a_crash_between_commit_and_segment_loses_no_word() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    insert(&mut store, 0, "a fox").unwrap();
    seal(&mut store);
    insert(&mut store, 1, "a second fox").unwrap();
    store.index.end_tail(1);
    let made = store.index.make_due(IndexPace::Calm).unwrap();
    drop((store, made));
    let mut store = open(folder.path()).unwrap();
    assert_eq!(segments(&store), [(0, 1)]);
    assert_eq!(found(&mut store, "fox").len(), 2);
}

#[test]
fn work_that_is_outdated_is_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    insert(&mut store, 0, "a secret fox").unwrap();
    insert(&mut store, 1, "a second fox").unwrap();
    store.ensure_index().unwrap();
    store.index.end_tail(1);
    let made = store.index.make_due(IndexPace::Calm).unwrap();
    forget(&mut store, 1);
    store.keep(made).unwrap();
    assert_eq!(segments(&store), [], "it was made before");
    assert_eq!(found(&mut store, "secret"), [0; 0]);
    seal(&mut store);
    assert_eq!(found(&mut store, "fox"), [2]);
    assert!(store.check(CheckDepth::Deep).unwrap().is_clean());
}

#[test]
fn an_index_left_behind_follows_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    store.ensure_index().unwrap();
    let n_many = 600;
    let many = |w: &Writing<'_>| {
        (0..n_many).try_for_each(|n| {
            let new = turn(n, &format!("the fox number {n}"));
            w.insert(&new, Timestamp::UNIX_EPOCH).map(drop)
        })
    };
    store.write_ahead(many).unwrap();
    let one = turn(n_many, "the last fox");
    store.write_ahead(|w| w.insert(&one, Timestamp::UNIX_EPOCH).map(drop)).unwrap();
    let foxes = |store: &Store| {
        store.index.with(|index| index.document_frequencies(&["fox".to_owned()])).unwrap()
    };
    assert_eq!(foxes(&store), [0], "nobody had it follow");
    store.index.follow();
    assert_eq!(foxes(&store), [n_many + 1]);
    assert!(store.check(CheckDepth::Deep).unwrap().is_clean());
}

#[test]
fn what_an_adopted_index_knows_is_not_added_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    let insert_ahead = |store: &mut Store, n| {
        store.write_ahead(|w| w.insert(&turn(n, "a fox"), Timestamp::UNIX_EPOCH).map(drop))
    };
    insert_ahead(&mut store, 0).unwrap();
    let loaded = store.reader.load_index().unwrap();
    insert_ahead(&mut store, 1).unwrap();
    store.adopt_index(loaded).unwrap();
    store.index.follow();
    assert_eq!(found(&mut store, "fox"), [1, 2]);
    assert_eq!(store.index.with(|index| index.catalogue().len()), Some(2));
}

#[test]
fn a_segment_is_outdated_by_what_the_index_has_yet_to_follow() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    insert(&mut store, 0, "a secret fox").unwrap();
    store.ensure_index().unwrap();
    store.index.end_tail(1);
    let made = store.index.make_due(IndexPace::Calm).unwrap();
    let forgotten = store.write_ahead(|w| {
        w.remove_from_index(&[MemoryNumber::new(1)])?;
        w.read().run("forgetting", |c| c.execute("DELETE FROM memory WHERE number = 1", []))
    });
    assert_eq!(forgotten.unwrap(), 1);
    store.keep(made).unwrap();
    assert_eq!(segments(&store), [], "it was made before");
    assert_eq!(found(&mut store, "secret"), [0; 0]);
}

fn forget(store: &mut Store, number: u32) {
    let forgotten = store.write(|w| {
        w.remove_from_index(&[MemoryNumber::new(number)])?;
        w.read().run("forgetting", |c| c.execute("DELETE FROM memory WHERE number = ?", [number]))
    });
    assert_eq!(forgotten.unwrap(), 1);
}

#[test]
fn a_removed_memory_is_gone_from_search_and_from_the_file() {
    for n_sealed in 0..=3 {
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(folder.path()).unwrap();
        for (index, text) in (0..).zip(["a fox", "a secretfox too", "the fox"]) {
            insert(&mut store, index, text).unwrap();
            if index < n_sealed {
                seal(&mut store);
            }
        }
        store.ensure_index().unwrap();
        forget(&mut store, 2);
        assert_eq!(found(&mut store, "secretfox"), [0; 0], "{n_sealed}");
        assert_eq!(found(&mut store, "fox"), [1, 3]);
        let words: Vec<Vec<u8>> = store
            .reader
            .run("looking", |c| {
                c.prepare("SELECT words FROM lexical_segment")?
                    .query_map([], |row| row.get(0))?
                    .collect()
            })
            .unwrap();
        assert!(words.iter().all(|words| !words.windows(9).any(|bytes| bytes == b"secretfox")));
        drop(store);
        let mut store = open(folder.path()).unwrap();
        assert_eq!(found(&mut store, "fox"), [1, 3]);
        assert!(store.check(CheckDepth::Deep).unwrap().is_clean(), "{n_sealed}");
    }
}

/// Drops everything that the founding tables did not have.
fn undo_migrations(connection: &rusqlite::Connection) {
    let names = |connection: &rusqlite::Connection| -> BTreeSet<(String, String)> {
        let sql = "SELECT type, name FROM sqlite_schema WHERE sql IS NOT NULL";
        let mut statement = connection.prepare(sql).unwrap();
        let names = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        names.collect::<rusqlite::Result<_>>().unwrap()
    };
    let founding = rusqlite::Connection::open_in_memory().unwrap();
    founding.execute_batch(include_str!("../schema/0001_founding.sql")).unwrap();
    let founding = names(&founding);
    // Triggers stand after tables in the alphabet, and have to go first.
    for (kind, name) in names(connection).iter().rev().filter(|name| !founding.contains(name)) {
        connection.execute_batch(&format!("DROP {kind} IF EXISTS {name}")).unwrap();
    }
}

#[test]
fn a_store_with_the_old_index_is_taken_forward() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    insert(&mut store, 0, "some words").unwrap();
    undo_migrations(&store.reader.connection);
    let older = "CREATE VIRTUAL TABLE lexical
            USING fts5 (text, content = 'memory', content_rowid = 'number');
        INSERT INTO lexical (rowid, text) VALUES (1, 'some words');
        INSERT INTO meta VALUES ('lexical', '1'); PRAGMA user_version = 1;";
    store.reader.connection.execute_batch(older).unwrap();
    drop(store);
    let mut store = open(folder.path()).unwrap();
    assert_eq!(found(&mut store, "word"), [1]);
    let n_left: i64 = store
        .reader
        .run("looking", |c| {
            let sql = "SELECT (SELECT count(*) FROM sqlite_schema WHERE name LIKE 'lexical%')
                            + (SELECT count(*) FROM meta WHERE name = 'lexical')";
            c.query_row(sql, [], |row| row.get(0))
        })
        .unwrap();
    assert_eq!(n_left, 1, "only lexical_segment");
    assert!(store.check(CheckDepth::Deep).unwrap().is_clean());
}

#[test]
fn a_row_that_cannot_be_is_corruption() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    insert(&mut store, 0, "words").unwrap();
    store
        .reader
        .connection
        .execute_batch("PRAGMA ignore_check_constraints = ON; UPDATE memory SET tier = 'dream'")
        .unwrap();
    let error = store.read().newest(&Filter::default(), 1).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
}

#[test]
fn a_reader_cannot_write() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let reader = store.reader().unwrap();
    let written = reader.run("trying", |c| c.execute("DELETE FROM memory", []));
    assert!(matches!(written, Err(StoreError::ReadOnly { .. })), "{written:?}");
}

#[test]
fn a_second_writer_finds_the_store_busy() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = open(folder.path()).unwrap();
    let mut second = open(folder.path()).unwrap();
    second.reader.connection.busy_timeout(Duration::ZERO).unwrap();
    first
        .write(|w| {
            w.insert(&turn(0, "mine"), Timestamp::UNIX_EPOCH)?;
            assert!(matches!(insert(&mut second, 1, "yours"), Err(StoreError::Busy)));
            Ok::<_, StoreError>(())
        })
        .unwrap();
    insert(&mut second, 1, "yours").unwrap();
    assert_eq!(first.read().counts().unwrap().memories, 2);
}

#[test]
fn a_read_can_be_stopped_from_outside_and_the_reader_lives_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let reader = store.reader().unwrap();
    let interrupter = reader.interrupter();
    let endless = std::thread::spawn(move || {
        let done = reader.run("counting without end", |c| {
            let sql = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
                       SELECT count(*) FROM n";
            c.query_row(sql, [], |_| Ok(()))
        });
        (reader, done)
    });
    while !endless.is_finished() {
        interrupter.interrupt();
        std::thread::yield_now();
    }
    let (reader, done) = endless.join().unwrap();
    assert!(matches!(done, Err(StoreError::Interrupted)), "{done:?}");
    assert_eq!(reader.counts().unwrap().memories, 0);
}

#[test]
fn a_panic_inside_a_write_keeps_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        store.write(|w| -> Result<()> {
            w.insert(&turn(0, "half"), Timestamp::UNIX_EPOCH)?;
            panic!("in the middle");
        })
    }));
    assert!(caught.is_err());
    assert_eq!(store.read().counts().unwrap().memories, 0);
    insert(&mut store, 0, "whole").unwrap();
}

#[test]
fn what_holds_for_good_goes_with_its_memory() {
    use crate::record::{NewRemark, NewSequel, Reach, RemarkKind, Uses};
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    insert(&mut store, 0, "always knock").unwrap();
    let (id, number) = (turn(0, "always knock").id(), MemoryNumber::new(1));
    let (kind, reach) = (RemarkKind::Preference, Reach::Everywhere);
    let remark = NewRemark { kind, start_byte: 0, end_byte: 6, words: 5, reach };
    let now = Timestamp::UNIX_EPOCH;
    let used = Uses { n_recalled: 1, n_reinforced: 0 };
    store
        .write(|w| {
            w.pin(id, Reach::Everywhere, now)?;
            w.put_remarks(number, &[remark])?;
            let (start_byte, sequel) = (0, number);
            let sequel = NewSequel { memory: number, start_byte, kind, sequel, nearness: 900 };
            let no_remark = NewSequel { start_byte: 7, ..sequel };
            let no_memory = NewSequel { sequel: MemoryNumber::new(9), ..sequel };
            w.put_sequels(&[sequel, no_remark, no_memory], 3)?;
            w.add_uses(&[(id, used)], now)
        })
        .unwrap();
    let count = |store: &Store| -> i64 {
        let sql = "SELECT (SELECT count(*) FROM pin) + (SELECT count(*) FROM remark)
                        + (SELECT count(*) FROM remark_everywhere)
                        + (SELECT count(*) FROM remark_sequel)
                        + (SELECT count(*) FROM memory_use)";
        store.reader.connection.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(count(&store), 5, "of what is not there, no sequel is kept");
    store.reader.connection.execute("DELETE FROM memory", []).unwrap();
    assert_eq!(count(&store), 0);
}

/// What a new session is told may take no longer in a large store.
#[test]
fn what_is_read_for_a_brief_is_neither_walked_over_nor_sorted() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let check = |sql: &str, given: &[&dyn rusqlite::ToSql], walks: &[&str]| {
        let sql = format!("EXPLAIN QUERY PLAN {sql}");
        let mut explained = store.reader.connection.prepare(&sql).unwrap();
        let plan = explained.query_map(given, |row| row.get::<_, String>(3)).unwrap();
        let plan: Vec<String> = plan.collect::<Result<_, _>>().unwrap();
        let does = |line: &String| walks.iter().any(|walk| line.contains(walk));
        assert!(!plan.iter().any(does), "{plan:?}");
    };
    check(crate::reader::SEQUELS_OF, &[&1, &0, &"decision"], &["(kind=?", "SCAN"]);
    let topics = crate::reader::topics_of(Some("/w/billing"), 20);
    check(&topics, &[&"/w/billing"], &["SCAN", "TEMP B-TREE"]);
}
