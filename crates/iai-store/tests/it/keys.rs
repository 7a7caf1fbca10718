//! Keys: every weakness has its own error, and no error touches the store.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};

use iai_store::{
    KeyFileKind, KeyOrigin, KeySource, Reader, StoreError, create_key_file, key_status,
};
use rustix::process::geteuid;

use crate::fixture::{Home, insert, kind, passphrase, turn};

#[test]
fn a_key_file_must_be_private_whole_and_ours() {
    let home = Home::new();
    drop(home.open().unwrap());
    let key = &home.paths.key_file;
    let good = fs::read(key).unwrap();
    let check = |expect: &str| {
        assert_eq!(kind(home.open()), expect);
        assert_eq!(kind(Reader::open(&home.paths, &KeySource::default())), expect);
    };
    check("Ok");
    for mode in [0o640, 0o604, 0o620, 0o666, 0o601] {
        fs::set_permissions(key, Permissions::from_mode(mode)).unwrap();
        check("KeyInsecure");
    }
    fs::set_permissions(key, Permissions::from_mode(0o600)).unwrap();
    for length in [0, 31, 33, 64] {
        fs::write(key, vec![7; length]).unwrap();
        check("KeyLength");
    }
    fs::write(key, [7; 32]).unwrap();
    check("WrongKey");
    fs::write(key, &good).unwrap();
    check("Ok");
    if geteuid().is_root() {
        chown(key, Some(12_345), None).unwrap();
        check("KeyOwner");
        chown(key, Some(0), None).unwrap();
    }
    let elsewhere = home.outside().join("key");
    fs::rename(key, &elsewhere).unwrap();
    check("KeyMissing");
    symlink(&elsewhere, key).unwrap();
    check("KeyNotRegular");
    fs::rename(&elsewhere, key).unwrap();
    check("Ok");
}

#[test]
fn a_passphrase_opens_only_what_it_made() {
    let home = Home::new();
    let mut store = home.open_with(&passphrase("correct horse")).unwrap();
    let id = insert(&mut store, &turn("s", 0, "kept"));
    drop(store);
    assert!(!home.paths.key_file.exists(), "a passphrase needs no key file");
    assert_eq!(kind(home.open_with(&passphrase("wrong horse"))), "WrongKey");
    assert_eq!(kind(home.open()), "PassphraseMissing");
    assert_eq!(kind(home.open_with(&passphrase(""))), "PassphraseMissing");
    assert_eq!(kind(create_key_file(&home.paths)), "VaultExists");
    let store = home.open_with(&passphrase("correct horse")).unwrap();
    assert_eq!(store.read().memory(id).unwrap().unwrap().text, "kept");
    drop(store);
    // A key file goes before a passphrase, and this vault does not want it.
    fs::write(&home.paths.key_file, [7; 32]).unwrap();
    fs::set_permissions(&home.paths.key_file, Permissions::from_mode(0o600)).unwrap();
    let error = home.open_with(&passphrase("correct horse")).err().unwrap();
    let StoreError::WrongKey { origin, offered, .. } = &error else { panic!("{error:?}") };
    assert_eq!((*origin, *offered), (KeyOrigin::Passphrase, KeyOrigin::File));
    assert!(error.to_string().contains("made with a passphrase"), "{error}");
}

#[test]
fn a_vault_of_a_key_file_asks_for_it() {
    let home = Home::new();
    drop(home.open().unwrap());
    drop(home.open_with(&passphrase("ignored, the key file goes first")).unwrap());
    fs::rename(&home.paths.key_file, home.outside().join("away")).unwrap();
    assert_eq!(kind(home.open()), "KeyMissing");
    let error = home.open_with(&passphrase("anything")).err().unwrap();
    assert!(error.to_string().contains("made with a key file"), "{error}");
}

#[test]
fn a_damaged_vault_is_not_a_wrong_key() {
    let home = Home::new();
    drop(home.open().unwrap());
    let good = fs::read(&home.paths.vault).unwrap();
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 1;
    let cases: [(&[u8], &str); 5] = [
        (&flipped, "VaultDamaged"),
        (&good[..good.len() / 2], "VaultDamaged"),
        (b"", "VaultDamaged"),
        (&[b' '; 100_000], "VaultDamaged"),
        (&good, "Ok"),
    ];
    for (bytes, expect) in cases {
        fs::write(&home.paths.vault, bytes).unwrap();
        assert_eq!(kind(home.open()), expect);
    }
}

#[test]
fn a_database_without_its_vault_is_left_alone() {
    let home = Home::new();
    drop(home.open().unwrap());
    fs::rename(&home.paths.vault, home.outside().join("vault")).unwrap();
    let before = fs::read(&home.paths.database).unwrap();
    assert_eq!(kind(home.open()), "VaultDamaged");
    assert_eq!(kind(Reader::open(&home.paths, &KeySource::default())), "VaultDamaged");
    assert!(!home.paths.vault.exists());
    assert_eq!(fs::read(&home.paths.database).unwrap(), before);
    fs::rename(home.outside().join("vault"), &home.paths.vault).unwrap();
    assert_eq!(kind(home.open()), "Ok");
}

#[test]
fn garbage_under_the_right_key_is_corruption() {
    let home = Home::new();
    drop(home.open().unwrap());
    let good = fs::read(&home.paths.database).unwrap();
    let mut flipped = good.clone();
    flipped[100] ^= 1;
    for bytes in [vec![0x5a; 8192], flipped, good[..100].to_vec(), b"SQLite format 3\0".to_vec()] {
        fs::write(&home.paths.database, &bytes).unwrap();
        assert_eq!(kind(home.open()), "Corrupt");
        assert_eq!(kind(Reader::open(&home.paths, &KeySource::default())), "Corrupt");
        assert_eq!(fs::read(&home.paths.database).unwrap(), bytes, "nothing was written");
    }
    fs::write(&home.paths.database, &good).unwrap();
    assert_eq!(kind(home.open()), "Ok");
}

#[test]
fn the_status_tells_facts_and_no_key() {
    let home = Home::new();
    let status = key_status(&home.paths, &KeySource::default());
    assert_eq!(
        (status.key_file, status.passphrase_set, status.vault_present),
        (None, false, false)
    );
    create_key_file(&home.paths).unwrap();
    assert_eq!(kind(create_key_file(&home.paths)), "KeyExists");
    let status = key_status(&home.paths, &passphrase("x"));
    let facts = status.key_file.clone().unwrap();
    assert_eq!((facts.kind, facts.mode, facts.length_bytes), (KeyFileKind::Regular, 0o600, 32));
    assert!(facts.mode_secure() && facts.uid_matches_process() && facts.length_valid());
    assert_eq!(
        (status.passphrase_set, status.vault_present, status.vault_origin),
        (true, false, None)
    );
    drop(home.open().unwrap());
    let status = key_status(&home.paths, &KeySource::default());
    assert_eq!((status.vault_present, status.vault_origin), (true, Some(KeyOrigin::File)));
}
