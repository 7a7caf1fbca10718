//! Backups: everything comes back byte for byte, and a file that is not whole is refused.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use iai_store::{
    Attached, BackupAsk, BackupChecked, CheckDepth, Existing, KeySource, MemoryId, NewMaster,
    Reach, RestoreAsk, Store, StoreError, back_up, check_backup, restore,
};
use serde_json::json;
use zeroize::Zeroizing;

use crate::fixture::{Home, at, insert, kind, passphrase, paths_in, turn};

const PROGRAM: &str = "test 1";

fn take(home: &Home, keys: &KeySource, name: &str) -> PathBuf {
    let file = home.outside().join(name);
    let attached = [
        Attached { name: "config.json".to_owned(), bytes: b"{\"ignore\": []}".to_vec() },
        Attached { name: ".deferred-captures/s-1.jsonl".to_owned(), bytes: vec![7; 70_000] },
        Attached { name: "unwelcome".to_owned(), bytes: vec![1] },
    ];
    let ask = BackupAsk { file: &file, attached: &attached, program: PROGRAM };
    back_up(&home.paths, keys, &ask, at(9), &mut |_, _| {}).unwrap();
    file
}

fn put_back(
    to: &Home,
    file: &Path,
    key_file: &Path,
    existing: Existing,
) -> Result<iai_store::Restored, StoreError> {
    put_back_with(to, file, key_file, existing, &KeySource::default())
}

fn put_back_with(
    to: &Home,
    file: &Path,
    key_file: &Path,
    existing: Existing,
    keys: &KeySource,
) -> Result<iai_store::Restored, StoreError> {
    let is_welcome = |name: &str| name != "unwelcome";
    let (cursors, spool) = (".capture-state", ".deferred-captures");
    let ask = RestoreAsk { file, key_file, is_welcome: &is_welcome, existing, cursors, spool };
    restore(&to.paths, keys, &ask, at(10))
}

/// Fills a store with a bit of everything a user cares for.
fn filled(store: &mut Store) -> Vec<MemoryId> {
    let texts = ["plain", "ünïcode 🦀", "nul \0 and\r\nlines", &"long ".repeat(50_000)];
    let ids: Vec<MemoryId> =
        (0..).zip(texts).map(|(n, text)| insert(store, &turn("s", n, text))).collect();
    store
        .write(|w| {
            w.supersede(ids[0], ids[1], at(50))?;
            w.strengthen((ids[1], ids[2]), "s", 0.3, at(60))?;
            w.pin(ids[2], Reach::Everywhere, at(70))?;
            w.set_identity("I am I", at(80))?;
            w.set_profile("verbosity", &json!(3), at(90))
        })
        .unwrap();
    ids
}

fn told(store: &Store, ids: &[MemoryId]) -> String {
    let reader = store.read();
    let numbers: Vec<_> = ids.iter().map(|id| reader.number_of(*id).unwrap().unwrap()).collect();
    format!(
        "{:?} {:?} {:?} {:?} {:?}",
        reader.memories(ids).unwrap(),
        reader.links_of(&numbers).unwrap(),
        reader.profile().unwrap(),
        reader.identity().unwrap(),
        reader.counts().unwrap(),
    )
}

#[test]
fn a_backup_brings_everything_back() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let ids = filled(&mut store);
    let before = told(&store, &ids);
    // Taken while the writer is open and its log was not moved; what comes later is not in it.
    let file = take(&home, &KeySource::default(), "b");
    insert(&mut store, &turn("s", 99, "later"));
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o7777, 0o600);
    let left: Vec<_> = fs::read_dir(home.outside()).unwrap().collect();
    assert_eq!(left.len(), 2, "the home and the backup, nothing else: {left:?}");
    let (facts, how) = check_backup(&file, &home.paths.key_file, &KeySource::default()).unwrap();
    assert_eq!((facts.memories, how), (4, BackupChecked::Opened));
    let (_, how) = check_backup(&file, Path::new("/nowhere"), &KeySource::default()).unwrap();
    assert_eq!(how, BackupChecked::HashOnly);

    let new = Home::new();
    let restored = put_back(&new, &file, &home.paths.key_file, Existing::Refuses).unwrap();
    assert_eq!((restored.facts.memories, restored.replaced), (4, None));
    let store = new.open().unwrap();
    assert_eq!(told(&store, &ids), before);
    assert!(store.check(CheckDepth::Deep).unwrap().is_clean());
    let spooled = fs::read(new.paths.folder.join(".deferred-captures/s-1.jsonl")).unwrap();
    assert_eq!(spooled, [7; 70_000]);
    assert!(!new.paths.folder.join("unwelcome").exists());
    assert_eq!(kind(take_again(&home, &file)), "FileExists");
}

fn take_again(home: &Home, file: &Path) -> Result<(), StoreError> {
    let ask = BackupAsk { file, attached: &[], program: PROGRAM };
    back_up(&home.paths, &KeySource::default(), &ask, at(9), &mut |_, _| {}).map(drop)
}

#[test]
fn a_store_that_is_there_is_kept_aside() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let ids = filled(&mut store);
    let file = take(&home, &KeySource::default(), "b");
    let other = Home::new();
    let mut other_store = other.open_with(&passphrase("words")).unwrap();
    let other_id = insert(&mut other_store, &turn("s", 0, "the other's"));
    drop(other_store);
    let key = &home.paths.key_file;
    assert_eq!(kind(put_back(&other, &file, key, Existing::Refuses)), "StoreExists");
    let restored = put_back(&other, &file, key, Existing::MovedAside).unwrap();
    assert_eq!(told(&other.open().unwrap(), &ids), told(&store, &ids));
    let aside = paths_in(&restored.replaced.unwrap());
    let (old, _) = Store::open(&aside, &passphrase("words"), at(0)).unwrap();
    assert_eq!(old.read().memory(other_id).unwrap().unwrap().text, "the other's");
}

#[test]
fn a_backup_asks_for_the_key_of_its_time() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    insert(&mut store, &turn("s", 0, "kept"));
    let file = take(&home, &KeySource::default(), "b");
    let old_key = home.outside().join("old-key");
    fs::copy(&home.paths.key_file, &old_key).unwrap();
    store.rotate_master(&NewMaster::KeyFile, at(5)).unwrap();
    let new = Home::new();
    let error = put_back(&new, &file, &home.paths.key_file, Existing::Refuses).unwrap_err();
    assert!(error.to_string().contains("is another"), "{error}");
    put_back(&new, &file, &old_key, Existing::Refuses).unwrap();

    let home = Home::new();
    let mut store = home.open_with(&passphrase("words")).unwrap();
    insert(&mut store, &turn("s", 0, "kept"));
    let file = take(&home, &passphrase("words"), "b");
    let none = Path::new("/nowhere");
    let new = Home::new();
    for (keys, expect) in
        [(KeySource::default(), "IAI_MCP_CRYPTO_PASSPHRASE"), (passphrase("other"), "is another")]
    {
        let refused = put_back_with(&new, &file, none, Existing::Refuses, &keys).unwrap_err();
        assert!(refused.to_string().contains(expect), "{refused}");
    }
    put_back_with(&new, &file, none, Existing::Refuses, &passphrase("words")).unwrap();
    assert!(new.open_with(&passphrase("words")).is_ok());
    let words = NewMaster::Passphrase(Zeroizing::new("new words".to_owned()));
    store.rotate_master(&words, at(5)).unwrap();
    drop(store);
    assert_eq!(kind(home.open_with(&passphrase("words"))), "WrongKey");
    assert_eq!(kind(home.open_with(&passphrase("new words"))), "Ok");
}

#[test]
fn a_backup_that_is_not_whole_is_refused_and_changes_nothing() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    filled(&mut store);
    let file = take(&home, &KeySource::default(), "b");
    let good = fs::read(&file).unwrap();
    let bad = home.outside().join("bad");
    let new = Home::new();
    let check = |bytes: &[u8], what: &str| {
        fs::write(&bad, bytes).unwrap();
        let key = &home.paths.key_file;
        assert_eq!(kind(put_back(&new, &bad, key, Existing::Refuses)), "Backup", "{what}");
        assert_eq!(kind(check_backup(&bad, key, &KeySource::default())), "Backup", "{what}");
        assert_eq!(
            kind(check_backup(&bad, Path::new("/no"), &KeySource::default())),
            "Backup",
            "{what}"
        );
        let left = fs::read_dir(&new.paths.folder).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{what}: nothing stays behind");
    };
    for step in 0..40 {
        let place = if step < 20 { step * 97 } else { good.len() - 1 - (step - 20) * 3331 };
        let mut flipped = good.clone();
        flipped[place] ^= 1 << (step % 8);
        check(&flipped, &format!("bit flipped at {place}"));
    }
    for length in [0, 10, 24, 700, good.len() / 2, good.len() - 33, good.len() - 1] {
        check(&good[..length], &format!("cut off at {length}"));
    }
    check(&[&good[..], b"x"].concat(), "longer by a byte");
    check(b"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n", "something else");
}
