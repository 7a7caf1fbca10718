//! A store in a throw-away folder, and memories to put into it.

use std::path::Path;

use iai_store::{
    Inserted, KeySource, MemoryId, NewMemory, Result, Role, Store, StoreError, StorePaths, Tier,
};
use jiff::Timestamp;
use serde_json::json;
use tempfile::TempDir;
use zeroize::Zeroizing;

pub(crate) struct Home {
    folder: TempDir,
    pub(crate) paths: StorePaths,
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths_in(&folder.path().join("home"));
        Self { folder, paths }
    }

    pub(crate) fn open(&self) -> Result<Store> {
        self.open_with(&KeySource::default())
    }

    pub(crate) fn open_with(&self, keys: &KeySource) -> Result<Store> {
        Store::open(&self.paths, keys, at(0)).map(|(store, _)| store)
    }

    pub(crate) fn outside(&self) -> &Path {
        self.folder.path()
    }
}

pub(crate) fn paths_in(folder: &Path) -> StorePaths {
    StorePaths {
        folder: folder.to_owned(),
        database: folder.join("memory.db"),
        vault: folder.join("vault.json"),
        key_file: folder.join(".crypto.key"),
        spool_public: folder.join("spool.pub"),
        aside: folder.join("aside"),
    }
}

pub(crate) fn passphrase(words: &str) -> KeySource {
    KeySource { passphrase: Some(Zeroizing::new(words.to_owned())) }
}

/// Seconds after a fixed day.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_760_000_000 + seconds).unwrap()
}

pub(crate) fn turn(session: &str, index: u64, text: &str) -> NewMemory {
    NewMemory {
        host: "test-host".into(),
        session: session.into(),
        turn_uuid: None,
        turn_index: Some(index),
        role: Role::User,
        tier: Tier::Episodic,
        project: Some("house".into()),
        cwd: Some("/work".into()),
        turn_at: at(i64::try_from(index).unwrap()),
        captured_at: at(1000),
        text: text.into(),
        language: None,
        tags: Vec::new(),
        provenance: json!({}),
        cue: None,
        pinned: false,
    }
}

pub(crate) fn insert(store: &mut Store, new: &NewMemory) -> MemoryId {
    store.write(|w| w.insert(new, at(2000))).map(Inserted::id).unwrap()
}

/// Returns the name of an error's variant.
pub(crate) fn kind<T>(result: Result<T, StoreError>) -> String {
    match result {
        Ok(_) => "Ok".to_owned(),
        Err(error) => {
            let message = error.to_string();
            assert!(!message.ends_with('.') && !message.is_empty(), "{message}");
            format!("{error:?}").split([' ', '{']).next().unwrap().to_owned()
        }
    }
}
