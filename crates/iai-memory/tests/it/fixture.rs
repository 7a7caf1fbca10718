//! An engine in a throw-away folder, and turns to put into it.

use iai_memory::{
    KeySource, MemoryEngine, NewMemory, RecallAnswer, RecallAsk, Role, SpoolBatch, StorePaths, Tier,
};
use jiff::{SignedDuration, Timestamp};

/// The time of every test, unless it says otherwise.
pub(crate) fn now() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().unwrap()
}

pub(crate) fn days_ago(days: i64) -> Timestamp {
    now() - SignedDuration::from_hours(24 * days)
}

pub(crate) struct Home {
    _folder: tempfile::TempDir,
    pub(crate) engine: MemoryEngine,
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let paths = StorePaths {
            folder: folder.path().to_owned(),
            database: path("memory.db"),
            vault: path("vault.json"),
            key_file: path(".crypto.key"),
            spool_public: path("spool.pub"),
            aside: path("aside"),
        };
        let (engine, _) =
            MemoryEngine::open(&paths, &KeySource { passphrase: None }, now()).unwrap();
        Self { _folder: folder, engine }
    }

    /// Stores one turn per text, the first longest ago.
    pub(crate) fn with_turns(texts: &[&str]) -> Self {
        let home = Self::new();
        let turns = texts.iter().enumerate().map(|(n, text)| turn(n as u64, text, days_ago(0)));
        home.engine.store_batch(&batch("f", turns.collect()), now()).unwrap();
        home
    }

    pub(crate) fn recall(&self, cue: &str) -> RecallAnswer {
        self.recall_within(cue, 100_000)
    }

    pub(crate) fn recall_within(&self, cue: &str, budget_tokens: u64) -> RecallAnswer {
        self.recall_from(cue, budget_tokens, None)
    }

    /// Asks from within a project.
    pub(crate) fn recall_from(
        &self,
        cue: &str,
        budget_tokens: u64,
        project: Option<&str>,
    ) -> RecallAnswer {
        let ask = RecallAsk {
            asked_from: project.map(str::to_owned),
            ..RecallAsk::new(cue, budget_tokens)
        };
        self.engine.recall(&ask, now()).unwrap()
    }

    /// Asks for a number of hits.
    pub(crate) fn recall_hits(&self, cue: &str, n_hits: usize, budget: u64) -> RecallAnswer {
        let ask = RecallAsk { n_hits_wanted: Some(n_hits), ..RecallAsk::new(cue, budget) };
        self.engine.recall(&ask, now()).unwrap()
    }
}

pub(crate) fn turn(index: u64, text: &str, turn_at: Timestamp) -> NewMemory {
    NewMemory {
        host: "test".to_owned(),
        session: "s".to_owned(),
        turn_uuid: None,
        turn_index: Some(index),
        role: Role::User,
        tier: Tier::Episodic,
        project: Some("/p".to_owned()),
        cwd: Some("/p".to_owned()),
        turn_at,
        captured_at: now(),
        text: text.to_owned(),
        cue: None,
        language: None,
        tags: Vec::new(),
        provenance: serde_json::json!({}),
        pinned: false,
    }
}

pub(crate) fn batch(file: &str, turns: Vec<NewMemory>) -> SpoolBatch {
    SpoolBatch { file: file.to_owned(), turns, bad_lines: Vec::new(), is_last: true }
}

pub(crate) fn texts(answer: &RecallAnswer) -> Vec<&str> {
    answer.hits.iter().map(|hit| hit.literal_surface.as_str()).collect()
}
