//! Making a store: private whatever the umask, and finished by the next start after any crash.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use iai_store::{CheckDepth, Created, KeySource, Store, StorePaths};
use rustix::fs::Mode;

use crate::fixture::{Home, at, insert, kind, passphrase, turn};

fn open(home: &Home) -> (Store, Created) {
    Store::open(&home.paths, &KeySource::default(), at(0)).unwrap()
}

#[test]
fn the_first_start_makes_everything_and_the_next_nothing() {
    let home = Home::new();
    let (store, created) = open(&home);
    assert_eq!(created, Created::StoreAndKey);
    let secret = store.spool_secret();
    drop(store);
    let (store, created) = open(&home);
    assert_eq!(created, Created::Nothing);
    assert_eq!(*store.spool_secret(), *secret);
    let line = fs::read_to_string(&home.paths.spool_public).unwrap();
    assert!(line.starts_with("iai-spool-x25519:v1:"), "{line}");
    assert!(line.trim_end().ends_with('=') && line.ends_with('\n'), "{line}");
}

#[test]
fn a_key_made_beforehand_is_used() {
    let home = Home::new();
    iai_store::create_key_file(&home.paths).unwrap();
    let key = fs::read(&home.paths.key_file).unwrap();
    assert_eq!(open(&home).1, Created::Store);
    assert_eq!(fs::read(&home.paths.key_file).unwrap(), key);
}

/// Removes what comes after a step, as if the first start had died right behind it.
fn crash_after(home: &Home, lost: &[fn(&StorePaths) -> &Path]) {
    for part in lost {
        let path = part(&home.paths);
        for suffix in ["", "-wal", "-shm"] {
            let path = path
                .with_file_name(format!("{}{suffix}", path.file_name().unwrap().to_string_lossy()));
            if path.exists() {
                fs::rename(&path, home.outside().join("lost")).unwrap();
            }
        }
    }
}

#[test]
fn the_next_start_finishes_what_a_crash_left() {
    let vault: fn(&StorePaths) -> &Path = |paths| &paths.vault;
    let database: fn(&StorePaths) -> &Path = |paths| &paths.database;
    let public: fn(&StorePaths) -> &Path = |paths| &paths.spool_public;
    for (lost, expect) in [
        (&[vault, database, public][..], Created::Store),
        (&[database, public], Created::Store),
        (&[public], Created::Nothing),
    ] {
        let home = Home::new();
        let (store, _) = open(&home);
        drop(store);
        let key = fs::read(&home.paths.key_file).unwrap();
        crash_after(&home, lost);
        let (mut store, created) = open(&home);
        assert_eq!(created, expect);
        insert(&mut store, &turn("s", 0, "works"));
        assert!(store.check(CheckDepth::Deep).unwrap().is_clean());
        assert_eq!(fs::read(&home.paths.key_file).unwrap(), key);
        assert!(home.paths.spool_public.exists());
    }
}

#[test]
fn an_empty_database_file_is_an_unfinished_one() {
    let home = Home::new();
    let (store, _) = open(&home);
    drop(store);
    crash_after(&home, &[|paths| &paths.database, |paths| &paths.spool_public]);
    fs::write(&home.paths.database, b"").unwrap();
    assert_eq!(kind(iai_store::Reader::open(&home.paths, &KeySource::default())), "NoStore");
    let (mut store, _) = open(&home);
    insert(&mut store, &turn("s", 0, "works"));
}

#[test]
fn a_database_that_was_there_is_never_made_again_in_silence() {
    let keys = KeySource::default();
    for is_emptied in [false, true] {
        let home = Home::new();
        let mut store = open(&home).0;
        insert(&mut store, &turn("s", 0, "kept"));
        drop(store);
        let good = fs::read(&home.paths.database).unwrap();
        crash_after(&home, &[|paths| &paths.database]);
        if is_emptied {
            fs::write(&home.paths.database, b"").unwrap();
        }
        assert_eq!(kind(Store::open(&home.paths, &keys, at(1))), "DatabaseLost");
        assert_eq!(kind(iai_store::Reader::open(&home.paths, &keys)), "DatabaseLost");
        assert_eq!(fs::read(&home.paths.database).unwrap_or_default(), b"", "nothing was made");
        fs::write(&home.paths.database, &good).unwrap();
        assert_eq!(open(&home).0.read().counts().unwrap().memories, 1);
    }
}

#[test]
fn a_log_without_its_database_tells_of_it_too() {
    let home = Home::new();
    let mut store = open(&home).0;
    insert(&mut store, &turn("s", 0, "in the log"));
    let log = home.paths.database.with_file_name("memory.db-wal");
    let copy = fs::read(&log).unwrap();
    drop(store);
    crash_after(&home, &[|paths| &paths.database, |paths| &paths.spool_public]);
    fs::write(&log, copy).unwrap();
    assert_eq!(kind(Store::open(&home.paths, &KeySource::default(), at(1))), "DatabaseLost");
}

#[test]
fn whoever_moves_the_vault_away_begins_anew() {
    let home = Home::new();
    drop(open(&home));
    crash_after(&home, &[|p| &p.database, |p| &p.vault, |p| &p.spool_public]);
    assert_eq!(open(&home).1, Created::Store);
}

#[test]
fn nothing_is_taken_in_once_the_database_was_taken_away() {
    let home = Home::new();
    let mut store = open(&home).0;
    insert(&mut store, &turn("s", 0, "before"));
    let door = store.door();
    door.check_place().unwrap();
    let away = home.outside().join("away");
    for put_there in [None, Some(b"another".as_slice()), Some(b"")] {
        fs::rename(&home.paths.database, &away).unwrap();
        if let Some(bytes) = put_there {
            fs::write(&home.paths.database, bytes).unwrap();
        }
        for n in 1..3 {
            let written = store.write(|w| w.insert(&turn("s", n, "after"), at(2)));
            assert_eq!(kind(written), "DatabaseTaken", "{put_there:?}");
        }
        assert_eq!(kind(door.check_place()), "DatabaseTaken");
        fs::rename(&away, &home.paths.database).unwrap();
        insert(&mut store, &turn("s", 3, "moved back"));
    }
}

#[test]
fn a_public_key_that_does_not_fit_is_put_right() {
    let home = Home::new();
    let (store, _) = open(&home);
    drop(store);
    let good = fs::read(&home.paths.spool_public).unwrap();
    for bad in [b"".as_slice(), b"iai-spool-x25519:v1:AAAA\n", &[b'x'; 1000]] {
        fs::write(&home.paths.spool_public, bad).unwrap();
        drop(open(&home));
        assert_eq!(fs::read(&home.paths.spool_public).unwrap(), good);
    }
}

#[test]
fn what_was_open_to_others_is_closed() {
    let home = Home::new();
    drop(open(&home));
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
    let files = [&home.paths.database, &home.paths.vault, &home.paths.spool_public];
    for path in files {
        fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
    }
    fs::set_permissions(&home.paths.folder, Permissions::from_mode(0o755)).unwrap();
    drop(open(&home));
    assert_eq!(mode(&home.paths.folder), 0o700);
    assert_eq!(files.map(|path| mode(path)), [0o600; 3]);
}

#[test]
fn a_link_or_a_second_name_in_the_place_of_a_part_is_refused_and_left_alone() {
    let keys = KeySource::default();
    for name in ["memory.db", "memory.db-wal", "memory.db-shm", "vault.json", "spool.pub"] {
        let home = Home::new();
        drop(open(&home));
        let (part, outside) = (home.paths.folder.join(name), home.outside().join("theirs"));
        fs::rename(&part, &outside).or_else(|_| fs::write(&outside, b"x")).unwrap();
        fs::set_permissions(&outside, Permissions::from_mode(0o644)).unwrap();
        let bytes = fs::read(&outside).unwrap();
        for is_hard in [false, true] {
            match is_hard {
                true => fs::hard_link(&outside, &part).unwrap(),
                false => std::os::unix::fs::symlink(&outside, &part).unwrap(),
            }
            assert_eq!(kind(Store::open(&home.paths, &keys, at(1))), "NotOurs", "{name}");
            assert_eq!(kind(iai_store::Reader::open(&home.paths, &keys)), "NotOurs", "{name}");
            assert_eq!(fs::read(&outside).unwrap(), bytes, "{name}");
            assert_eq!(fs::metadata(&outside).unwrap().mode() & 0o7777, 0o644, "{name}");
            fs::rename(&part, home.outside().join(format!("{is_hard}"))).unwrap();
        }
    }
}

#[test]
fn everything_is_private_under_any_umask() {
    // The mask belongs to the whole process; the store must not depend on it anywhere, so it stays.
    rustix::process::umask(Mode::empty());
    for keys in [KeySource::default(), passphrase("words")] {
        let home = Home::new();
        let (mut store, _) = Store::open(&home.paths, &keys, at(0)).unwrap();
        insert(&mut store, &turn("s", 0, "private"));
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
        assert_eq!(mode(&home.paths.folder), 0o700);
        let mut n_files = 0;
        for entry in fs::read_dir(&home.paths.folder).unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(mode(&path), 0o600, "{}", path.display());
            n_files += 1;
        }
        assert!(n_files >= 5, "database, its log and shared memory, vault, public key");
    }
}

/// A store as a kill leaves it: what it holds is in its log.
fn killed(home: &Home) -> (std::path::PathBuf, Vec<u8>) {
    let mut store = open(home).0;
    for n in 0..3 {
        insert(&mut store, &turn("s", n, "in the log"));
    }
    let log = home.paths.database.with_file_name("memory.db-wal");
    let (database, bytes) = (fs::read(&home.paths.database).unwrap(), fs::read(&log).unwrap());
    drop(store);
    fs::write(&home.paths.database, database).unwrap();
    (log, bytes)
}

#[test]
fn a_damaged_log_is_kept_before_the_rest_of_it_is_forgotten() {
    let home = Home::new();
    let (log, good) = killed(&home);
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 1;
    fs::write(&log, &bad).unwrap();
    let database = fs::read(&home.paths.database).unwrap();
    drop(open(&home));
    let kept = iai_store::damaged_logs(&home.paths).unwrap();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(fs::read(kept[0].join("memory.db-wal")).unwrap(), bad);
    assert_eq!(fs::read(kept[0].join("memory.db")).unwrap(), database);
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
    assert_eq!([mode(&kept[0]), mode(&kept[0].join("memory.db-wal"))], [0o700, 0o600]);
    drop(open(&home));
    fs::write(&home.paths.database, &database).unwrap();
    fs::write(&log, &bad).unwrap();
    drop(open(&home));
    assert_eq!(iai_store::damaged_logs(&home.paths).unwrap(), kept, "the same damage is kept once");
}

#[test]
fn a_copy_of_a_damaged_log_that_was_cut_off_is_swept_and_made_again() {
    let home = Home::new();
    let (log, good) = killed(&home);
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 1;
    let database = fs::read(&home.paths.database).unwrap();
    let unfinished = home.paths.folder.join("aside/.damaged-log-unfinished");
    for bytes in [bad, good] {
        fs::write(&home.paths.database, &database).unwrap();
        fs::write(&log, bytes).unwrap();
        fs::create_dir_all(&unfinished).unwrap();
        fs::write(unfinished.join("memory.db"), "a part").unwrap();
        drop(open(&home));
        assert!(!unfinished.exists());
        assert_eq!(iai_store::damaged_logs(&home.paths).unwrap().len(), 1);
    }
}

#[test]
fn a_log_that_was_merely_cut_off_is_no_damage() {
    let home = Home::new();
    let (log, good) = killed(&home);
    let database = fs::read(&home.paths.database).unwrap();
    let cut = good[..good.len() - 100].to_vec();
    let torn = [good.as_slice(), &[0x5a; 9000]].concat();
    for (bytes, n_expected) in [(good, 3), (torn, 3), (cut, 2)] {
        fs::write(&home.paths.database, &database).unwrap();
        fs::write(&log, bytes).unwrap();
        assert_eq!(open(&home).0.read().counts().unwrap().memories, n_expected);
        assert_eq!(iai_store::damaged_logs(&home.paths).unwrap().len(), 0);
    }
}
