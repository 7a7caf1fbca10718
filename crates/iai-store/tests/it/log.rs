//! A write-ahead log that somebody removed, replaced or cut off while the store was open.

use std::fs;
use std::path::PathBuf;

use iai_store::{CheckDepth, KeySource, Store, damaged_logs};

use crate::fixture::{Home, at, insert, kind, turn};

fn open(home: &Home) -> Store {
    Store::open(&home.paths, &KeySource::default(), at(0)).unwrap().0
}

/// A store with two turns in its database and `n_more` in its log.
fn filled(home: &Home, n_more: u64) -> (Store, PathBuf) {
    let mut store = open(home);
    for n in 0..2 {
        insert(&mut store, &turn("s", n, "in the database"));
    }
    store.checkpoint().unwrap();
    for n in 0..n_more {
        insert(&mut store, &turn("s", 2 + n, "in the log"));
    }
    (store, home.paths.database.with_file_name("memory.db-wal"))
}

/// How many memories a start finds, each of them sound.
#[track_caller]
fn n_found(home: &Home) -> u64 {
    let store = open(home);
    let report = store.check(CheckDepth::Deep).unwrap();
    assert!(report.is_clean(), "{report:?}");
    store.read().counts().unwrap().memories
}

/// The files as a kill would leave them, in a home of their own.
fn killed(home: &Home) -> Home {
    let left = Home::new();
    fs::create_dir_all(&left.paths.folder).unwrap();
    for entry in fs::read_dir(&home.paths.folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), left.paths.folder.join(entry.file_name())).unwrap();
        }
    }
    left
}

#[test]
fn a_log_that_was_removed_goes_into_the_database_and_takes_nothing_more_in() {
    for put_there in [None, Some("another log, which is none of ours")] {
        let home = Home::new();
        let (mut store, log) = filled(&home, 3);
        let door = store.door();
        door.check_place().unwrap();
        fs::rename(&log, home.outside().join("away")).unwrap();
        if let Some(bytes) = put_there {
            fs::write(&log, bytes).unwrap();
        }
        assert_eq!(kind(door.check_place()), "LogTaken");
        for n in 5..7 {
            let written = store.write(|w| w.insert(&turn("s", n, "after"), at(2)));
            assert_eq!(kind(written), "LogTaken");
        }
        assert_eq!(n_found(&killed(&home)), 5, "a kill takes nothing along");
        let kept = damaged_logs(&home.paths).unwrap();
        assert_eq!(kept.len(), usize::from(put_there.is_some()), "{kept:?}");
        if let Some(bytes) = put_there {
            assert_eq!(fs::read(kept[0].join("memory.db-wal")).unwrap(), bytes.as_bytes());
        }
        drop(store);
        assert_eq!(n_found(&home), 5);
        insert(&mut open(&home), &turn("s", 5, "after"));
    }
}

#[test]
fn a_commit_into_a_log_that_goes_away_meanwhile_is_kept() {
    let home = Home::new();
    let (mut store, log) = filled(&home, 1);
    let written = store.write(|w| {
        fs::rename(&log, home.outside().join("away")).unwrap();
        w.insert(&turn("s", 3, "meanwhile"), at(2))
    });
    assert_eq!(kind(written), "Ok");
    assert_eq!(n_found(&killed(&home)), 4);
    assert_eq!(kind(store.write(|w| w.insert(&turn("s", 4, "after"), at(2)))), "LogTaken");
}

#[test]
fn a_log_that_was_cut_off_is_never_moved_into_the_database() {
    for (n_left, n_expected) in [(0, 2), (8_000, 2), (20_000, 2)] {
        let home = Home::new();
        let (mut store, log) = filled(&home, 4);
        let door = store.door();
        let before = fs::read(&home.paths.database).unwrap();
        fs::File::options().write(true).open(&log).unwrap().set_len(n_left).unwrap();
        assert_eq!(kind(door.check_place()), "LogCut");
        let written = store.write(|w| w.insert(&turn("s", 9, "after"), at(2)));
        assert_eq!(kind(written), "LogCut");
        for done in [store.checkpoint(), store.checkpoint_gently(), store.rewrite()] {
            assert_eq!(kind(done), "LogCut");
        }
        assert_eq!(n_found(&killed(&home)), n_expected, "after a kill");
        drop((store, door));
        assert_eq!(fs::read(&home.paths.database).unwrap(), before, "{n_left} bytes left");
        assert_eq!(n_found(&home), n_expected);
        let kept = damaged_logs(&home.paths).unwrap();
        assert_eq!(kept.len(), 1, "{n_left} bytes left: {kept:?}");
        assert_eq!(fs::read(kept[0].join("memory.db")).unwrap(), before);
    }
}

#[test]
fn a_log_that_was_removed_after_a_kill_is_missed() {
    let home = Home::new();
    let (store, _) = filled(&home, 4);
    let left = killed(&home);
    drop(store);
    fs::rename(left.paths.folder.join("memory.db-wal"), left.outside().join("away")).unwrap();
    let told = iai_store::check_log(&left.paths.database).unwrap().unwrap();
    assert!(told.contains("cut off"), "{told}");
    assert_eq!(n_found(&left), 2);
    assert_eq!(damaged_logs(&left.paths).unwrap().len(), 1);
    assert_eq!(n_found(&left), 2);
    assert_eq!(damaged_logs(&left.paths).unwrap().len(), 1, "it is kept once");
}

#[test]
fn the_beginning_of_a_log_is_not_read_over_a_database_that_is_ahead_of_it() {
    let home = Home::new();
    let (mut store, _) = filled(&home, 1);
    let n_early = fs::metadata(home.paths.database.with_file_name("memory.db-wal")).unwrap().len();
    for n in 3..40 {
        insert(&mut store, &turn("s", n, &format!("word{n} {}", "and more ".repeat(300))));
    }
    // Somebody reads, so that the log goes on behind what is moved, and does not begin anew.
    let reader = store.reader().unwrap();
    let left = reader.at_one_moment(|| {
        let n = reader.counts()?.memories;
        store.checkpoint_gently()?;
        insert(&mut store, &turn("s", 50, "behind it"));
        Ok::<_, iai_store::StoreError>((n, killed(&home)))
    });
    let (n_moved, left) = left.unwrap();
    let log = left.paths.folder.join("memory.db-wal");
    fs::File::options().write(true).open(&log).unwrap().set_len(n_early).unwrap();
    assert_eq!(n_found(&left), n_moved);
    assert_eq!(damaged_logs(&left.paths).unwrap().len(), 1);
}

#[test]
fn whoever_reads_before_the_next_start_does_not_hide_that_a_log_was_cut_off() {
    let home = Home::new();
    let (store, _) = filled(&home, 4);
    let left = killed(&home);
    drop(store);
    let read = || iai_store::Reader::open(&left.paths, &KeySource::default());
    assert_eq!(read().unwrap().counts().unwrap().memories, 6);
    let store = open(&left);
    let again = killed(&left);
    drop(store);
    let log = again.paths.folder.join("memory.db-wal");
    fs::write(&log, fs::read(&log).unwrap().get(..9_000).unwrap()).unwrap();
    for _ in 0..2 {
        let refused = iai_store::Reader::open(&again.paths, &KeySource::default());
        assert_eq!(kind(refused), "LogCut");
    }
    open(&again);
    assert_eq!(damaged_logs(&again.paths).unwrap().len(), 1);
    iai_store::Reader::open(&again.paths, &KeySource::default()).unwrap();
}

/// The first half of a frame that commits, written over what an earlier log left there.
fn half_written(log: &[u8]) -> Vec<u8> {
    let header = [&[0, 0, 0, 1, 0, 0, 0, 9], &log[16..24], &[7; 8]].concat();
    [log, &header, &[0x5a; 4096]].concat()
}

#[test]
fn half_a_frame_that_nobody_was_promised_is_no_damage() {
    let home = Home::new();
    let (store, _) = filled(&home, 3);
    let left = killed(&home);
    drop(store);
    let log = left.paths.folder.join("memory.db-wal");
    let whole = fs::read(&log).unwrap();
    fs::write(&log, half_written(&whole)).unwrap();
    assert_eq!(iai_store::check_log(&left.paths.database).unwrap(), None);
    let store = open(&left);
    assert_eq!(fs::read(&log).unwrap().get(..whole.len()), Some(whole.as_slice()));
    assert_eq!(fs::metadata(&log).unwrap().len(), whole.len() as u64, "what was left is cut off");
    drop(store);
    assert_eq!(n_found(&left), 5);
    assert_eq!(damaged_logs(&left.paths).unwrap().len(), 0);
}

#[test]
fn a_promised_frame_that_was_changed_is_told_also_when_somebody_has_read_since() {
    for is_read_before in [false, true] {
        let home = Home::new();
        let (store, _) = filled(&home, 3);
        let left = killed(&home);
        drop(store);
        let log = left.paths.folder.join("memory.db-wal");
        let mut changed = fs::read(&log).unwrap();
        *changed.last_mut().unwrap() ^= 1;
        fs::write(&log, &changed).unwrap();
        if is_read_before {
            // A reader has SQLite write down what can be read as if it were all there ever was.
            let reader = iai_store::Reader::open(&left.paths, &KeySource::default()).unwrap();
            assert_eq!(reader.counts().unwrap().memories, 4);
        }
        let told = iai_store::check_log(&left.paths.database).unwrap();
        assert!(told.is_some_and(|told| told.contains("was changed")), "{is_read_before}");
        assert_eq!(n_found(&left), 4);
        assert_eq!(damaged_logs(&left.paths).unwrap().len(), 1);
    }
}
