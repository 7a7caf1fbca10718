//! Every point at which an exchange can be cut off: the store opens, with the old parts before the
//! commit and with the new ones after it.

use jiff::Timestamp;
use serde_json::json;
use zeroize::Zeroizing;

use super::*;
use crate::record::{MemoryId, NewMemory, Role, Tier};
use crate::vault::{NewMaster, stage_data_key};
use crate::{CheckDepth, KeySource, Reader, Store};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;
/// More steps than any exchange has.
const STEPS_MAX: usize = 30;

fn paths_in(folder: &Path) -> StorePaths {
    StorePaths {
        folder: folder.to_owned(),
        database: folder.join("memory.db"),
        vault: folder.join("vault.json"),
        key_file: folder.join(".crypto.key"),
        spool_public: folder.join("spool.pub"),
        aside: folder.join("aside"),
    }
}

fn passphrase(words: &str) -> KeySource {
    KeySource { passphrase: Some(Zeroizing::new(words.to_owned())) }
}

fn memory(text: &str) -> NewMemory {
    NewMemory {
        host: "test".into(),
        session: "s".into(),
        turn_uuid: None,
        turn_index: Some(0),
        role: Role::User,
        tier: Tier::Episodic,
        project: None,
        cwd: None,
        turn_at: NOW,
        captured_at: NOW,
        text: text.into(),
        language: None,
        tags: Vec::new(),
        provenance: json!({}),
        cue: None,
        pinned: false,
    }
}

fn made(paths: &StorePaths, keys: &KeySource) -> (Store, MemoryId) {
    let (mut store, _) = Store::open(paths, keys, NOW).unwrap();
    let id = store.write(|w| w.insert(&memory("kept"), NOW)).unwrap().id();
    (store, id)
}

/// Opens the store after a kill and looks whether everything is there and nothing lies about.
fn check_whole(paths: &StorePaths, keys: &KeySource, id: MemoryId, at: &str) {
    let (store, created) = Store::open(paths, keys, NOW).unwrap_or_else(|e| panic!("{at}: {e}"));
    assert_eq!(created, crate::Created::Nothing, "{at}");
    assert_eq!(store.read().memory(id).unwrap().unwrap().text, "kept", "{at}");
    assert!(store.check(CheckDepth::Deep).unwrap().is_clean(), "{at}");
    drop(store);
    let left: Vec<String> = names_in(&paths.folder).unwrap();
    assert!(!left.iter().any(|name| name.starts_with(".next")), "{at}: {left:?}");
}

/// Cuts an exchange off before its commit, and after every step behind it.
fn check_cut_off(
    keys_before: &KeySource,
    keys_after: &KeySource,
    stage: impl for<'a> Fn(&'a StorePaths, Store) -> Staging<'a>,
) {
    for n_steps in 0..STEPS_MAX {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths_in(folder.path());
        let (store, id) = made(&paths, keys_before);
        let secret = store.spool_secret();
        let staging = stage(&paths, store);
        if n_steps == 0 {
            drop(staging);
            check_whole(&paths, keys_before, id, "staged");
            continue;
        }
        staging.publish().unwrap();
        let steps = plan(&paths).unwrap();
        for step in steps.iter().take(n_steps - 1) {
            step.run().unwrap();
        }
        let at = format!("after {} of {} steps", n_steps - 1, steps.len());
        match Reader::open(&paths, keys_after) {
            Ok(reader) => assert_eq!(reader.memory(id).unwrap().unwrap().text, "kept", "{at}"),
            Err(error) => assert!(matches!(error, StoreError::Unfinished { .. }), "{at}: {error}"),
        }
        check_whole(&paths, keys_after, id, &at);
        let (store, _) = Store::open(&paths, keys_after, NOW).unwrap();
        assert_eq!(*store.spool_secret(), *secret, "hooks seal to the same key");
        if steps.len() < n_steps {
            return;
        }
    }
    panic!("an exchange has fewer than {STEPS_MAX} steps");
}

#[test]
fn a_new_key_file_holds_from_the_commit_on() {
    check_cut_off(&KeySource::default(), &KeySource::default(), |paths, store| {
        store.vault().stage_master(paths, &NewMaster::KeyFile, NOW).unwrap().0
    });
}

#[test]
fn a_new_passphrase_holds_from_the_commit_on() {
    check_cut_off(&passphrase("old"), &passphrase("new"), |paths, store| {
        let new = NewMaster::Passphrase(Zeroizing::new("new".to_owned()));
        store.vault().stage_master(paths, &new, NOW).unwrap().0
    });
}

#[test]
fn a_new_data_key_holds_from_the_commit_on() {
    check_cut_off(&KeySource::default(), &KeySource::default(), |paths, store| {
        drop(store);
        stage_data_key(paths, &KeySource::default(), NOW).unwrap().0
    });
}

#[test]
fn what_was_replaced_is_kept_whole_wherever_it_is_cut_off() {
    for n_steps in 0..STEPS_MAX {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (paths, other) = (paths_in(here.path()), paths_in(there.path()));
        // The old store has a log that was never moved into its database.
        let (store, old_id) = made(&paths, &passphrase("old"));
        std::mem::forget(store);
        let (other_store, id) = made(&other, &KeySource::default());
        other_store.checkpoint().unwrap();
        drop(other_store);
        let staging = Staging::begin(&paths).unwrap();
        let replaced = staging.keep_replaced("now").unwrap();
        for (from, to) in [
            (&other.database, &paths.database),
            (&other.vault, &paths.vault),
            (&other.spool_public, &paths.spool_public),
            (&other.key_file, &paths.key_file),
        ] {
            staging.put(to, &fs::read(from).unwrap()).unwrap();
        }
        staging.put(Path::new("config.json"), b"{}").unwrap();
        staging.put(Path::new("folder/file"), b"x").unwrap();
        fs::create_dir(paths.folder.join("folder")).unwrap();
        fs::write(paths.folder.join("folder/old"), b"o").unwrap();
        staging.move_along(&["folder", "none"]).unwrap();
        staging.publish().unwrap();
        let mut is_done = false;
        for _ in 0..n_steps {
            // Planned anew each time, as it is after a kill.
            match plan(&paths).unwrap().first() {
                Some(step) => step.run().unwrap(),
                None => is_done = true,
            }
        }
        check_whole(&paths, &KeySource::default(), id, &format!("after {n_steps} steps"));
        assert!(paths.folder.join("folder/file").exists());
        assert!(
            !paths.folder.join("folder/old").exists() && !replaced.join("folder/file").exists()
        );
        assert!(replaced.join("folder/old").exists(), "after {n_steps} steps");
        let is_new = |paths: &StorePaths| {
            fs::read(&paths.spool_public).unwrap() == fs::read(&other.spool_public).unwrap()
        };
        assert!(is_new(&paths) && !is_new(&paths_in(&replaced)), "after {n_steps} steps");
        let (old, _) =
            Store::open(&paths_in(&replaced), &passphrase("old"), NOW).expect("the old store");
        assert_eq!(old.read().memory(old_id).unwrap().unwrap().text, "kept");
        if is_done {
            return;
        }
    }
    panic!("an exchange has fewer than {STEPS_MAX} steps");
}
