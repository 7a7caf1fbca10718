//! An engine in a throw-away folder, for the tests inside this crate that call steps by hand.

use iai_store::{KeySource, MemoryId, NewMemory, Role, StorePaths, Tier};
use jiff::Timestamp;
use tempfile::TempDir;

use crate::engine::MemoryEngine;
use crate::organise::{Effects, Step};

pub(crate) struct Trial {
    _folder: TempDir,
    pub(crate) engine: MemoryEngine,
}

/// The time of every trial, unless it says otherwise.
pub(crate) fn now() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().unwrap()
}

impl Trial {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let paths = StorePaths {
            folder: folder.path().to_owned(),
            database: path("memory.db"),
            vault: path("vault.json"),
            key_file: path("key"),
            spool_public: path("spool.pub"),
            aside: path("aside"),
        };
        let keys = KeySource { passphrase: None };
        let (engine, _) = MemoryEngine::open(&paths, &keys, now()).unwrap();
        Self { _folder: folder, engine }
    }

    /// Stores one turn per text, a minute apart, each in a session of its own.
    pub(crate) fn tell(&self, texts: &[&str]) -> Vec<MemoryId> {
        let n_known = self.engine.overview().unwrap().memories;
        let turns: Vec<NewMemory> = (n_known..).zip(texts).map(|(n, text)| turn(n, text)).collect();
        self.engine.store_turns(&turns, now()).unwrap();
        turns.iter().map(NewMemory::id).collect()
    }

    /// Runs one step until it has nothing to do, and returns what it did.
    pub(crate) fn run(&self, step: &dyn Step, at: Timestamp) -> Effects {
        let done = self.engine.finish_steps(&[step], at).unwrap();
        done.into_values().next().unwrap_or_default()
    }
}

pub(crate) fn turn(n: u64, text: &str) -> NewMemory {
    let minutes = jiff::SignedDuration::from_mins(i64::try_from(n).unwrap());
    NewMemory {
        host: "test".to_owned(),
        session: format!("s{n}"),
        turn_uuid: None,
        turn_index: Some(n),
        role: Role::User,
        tier: Tier::Episodic,
        project: Some("/p".to_owned()),
        cwd: None,
        turn_at: now() - jiff::SignedDuration::from_hours(48) + minutes,
        captured_at: now(),
        text: text.to_owned(),
        cue: None,
        language: None,
        tags: Vec::new(),
        provenance: serde_json::json!({}),
        pinned: false,
    }
}
