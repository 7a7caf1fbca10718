//! Proves that a store is whole: its files, every page, every memory, and what is derived from
//! them. Reads beside a running daemon, in a process of its own, so that nobody waits for it.

use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use iai_memory::{
    CheckDepth, MemoryEngine, MemoryError, Model, Problem, StoreError, check_log, damaged_logs,
    spool_keys,
};
use iai_wire::{
    OpeningKey, SPOOL_VERSION, SealingKey, SpoolItem, SpoolReader, Unreadable, opens_nothing,
};
use serde_json::{Value, json};

use super::keeping::yield_to_others;
use crate::capture::{in_words, n_waiting};
use crate::daemon::{key_source, store_paths};
use crate::model;
use crate::settings::Settings;

/// Everything found is told up to here; a store with more is lost to repair by hand.
const FINDINGS_MAX: usize = 1000;
const RESTORE: &str = "stop the daemon, keep a copy of the folder, then restore a backup: \
                       `iai-mcp restore FILE --replace`";
const FETCH: &str =
    "memories are found by their words meanwhile; `iai-mcp model install` fetches it";
const REBUILD: &str = "it is derived from the memories, which are sound; `iai-mcp daemon restart` \
                       makes it again, and if this stays, report it";

/// How much is compared with what it is derived from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Sample,
    Full,
}

/// Whether vectors are made again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vectors {
    AsTheyAre,
    MadeAgain,
}

/// One thing that is not as it must be.
pub(crate) struct Finding {
    what: &'static str,
    at: PathBuf,
    detail: String,
    next: &'static str,
}

/// What was looked at and what was found.
#[derive(Default)]
pub(crate) struct Integrity {
    pub(crate) findings: Vec<Finding>,
    /// Whether there was a database that could be opened.
    is_database_read: bool,
    n_memories: u64,
    n_spooled: u64,
    vectors: Option<(u64, f32)>,
}

impl Integrity {
    fn add(
        &mut self,
        what: &'static str,
        at: &Path,
        detail: impl Into<String>,
        next: &'static str,
    ) {
        if self.findings.len() < FINDINGS_MAX {
            let (at, detail) = (at.to_owned(), detail.into());
            self.findings.push(Finding { what, at, detail, next });
        }
    }

    /// The whole report.
    pub(crate) fn to_json(&self) -> Value {
        let findings: Vec<Value> = self.findings.iter().map(Finding::to_json).collect();
        json!({
            "ok": self.findings.is_empty(),
            "database_read": self.is_database_read,
            "memories": self.n_memories,
            "spooled_turns": self.n_spooled,
            "vectors_made_again": self.vectors.map(|(n, _)| n),
            "vectors_cosine_min": self.vectors.map(|(_, cosine)| cosine),
            "findings": findings,
        })
    }
}

impl Finding {
    fn to_json(&self) -> Value {
        json!({"what": self.what, "where": self.at, "detail": self.detail, "do": self.next})
    }

    /// What was found, and what to do.
    pub(crate) fn found_and_next(&self) -> (String, &'static str) {
        (format!("{}: {}", self.at.display(), self.detail), self.next)
    }

    /// The finding in two lines.
    pub(crate) fn told(&self) -> String {
        let (what, at) = (self.what, self.at.display());
        format!("{what}: {at}: {}\n  → {}", self.detail, self.next)
    }
}

/// Looks at everything.
pub(crate) fn verify_store(settings: &Settings, extent: Extent, vectors: Vectors) -> Integrity {
    yield_to_others();
    let mut found = Integrity::default();
    check_modes(settings, &mut found);
    check_choices(settings, &mut found);
    check_spool(settings, &mut found);
    check_models(settings, &mut found);
    let database = settings.home.database();
    found.findings.extend(check_logs(settings));
    if let Err(error) = check_database(settings, extent, vectors, &mut found) {
        match error {
            // A home where nothing was ever stored is whole.
            MemoryError::Store(StoreError::NoStore { .. }) => {}
            MemoryError::Store(error) => {
                let (what, at) = about(&error, settings);
                found.add(what, &at, error.to_string(), "the message says what to do");
            }
            other => found.add("database", &database, other.to_string(), RESTORE),
        }
    }
    found
}

/// Looks at the log that is there, and for damaged ones that a start of the daemon kept.
pub(crate) fn check_logs(settings: &Settings) -> Vec<Finding> {
    const KEPT: &str = "`iai-mcp import` reads the transcripts again; this is told until you move \
                        the folder away";
    const DAMAGED: &str = "`iai-mcp daemon restart` keeps it aside and goes on with what can be \
                           read; then `iai-mcp import` reads the transcripts again";
    const DAMAGED_THEN: &str = "the log was damaged when the daemon started; what stood behind the \
                                damage is not in the store, and is kept here as it was";
    const STRANGE: &str = "this log was put in the place of the daemon's own, which is saved";
    let mut found = Integrity::default();
    let database = settings.home.database();
    match check_log(&database) {
        Ok(None) => {}
        Ok(Some(detail)) => {
            let log = database.with_file_name("memory.db-wal");
            found.add("log", &log, detail, DAMAGED);
        }
        Err(error) => found.add("log", &database, error.to_string(), RESTORE),
    }
    match damaged_logs(&store_paths(&settings.home)) {
        Ok(folders) => {
            for folder in folders {
                let (detail, next) = match folder.join("memory.db").exists() {
                    true => (DAMAGED_THEN, KEPT),
                    false => (STRANGE, "move the folder away once you know whose log it is"),
                };
                found.add("log", &folder, detail, next);
            }
        }
        Err(error) => found.add("log", &settings.home.aside(), error.to_string(), KEPT),
    }
    found.findings
}

fn check_database(
    settings: &Settings,
    extent: Extent,
    vectors: Vectors,
    found: &mut Integrity,
) -> Result<(), MemoryError> {
    let database = settings.home.database();
    let engine = MemoryEngine::open_read_only(&store_paths(&settings.home), &key_source(settings))?;
    let report = engine.verify(match extent {
        Extent::Sample => CheckDepth::Whole,
        Extent::Full => CheckDepth::Deep,
    })?;
    found.is_database_read = true;
    found.n_memories = report.n_memories_checked;
    for problem in report.problems {
        add_problem(&database, problem, found);
    }
    if vectors == Vectors::AsTheyAre {
        return Ok(());
    }
    for kept in engine.models_kept()?.into_iter().filter(|model| model.is_serving) {
        let path = settings.home.model(&kept.name);
        let model = match Model::open(&path) {
            Ok(model) => model,
            // One that is there was named with the others.
            Err(_) if path.exists() => continue,
            Err(error) => {
                found.add("model", &path, error.to_string(), FETCH);
                continue;
            }
        };
        engine.attach_model(Arc::new(model))?;
        let compared = engine.compare_vectors()?;
        found.vectors = Some((compared.n_memories, compared.cosine_min));
        for problem in compared.problems {
            add_problem(&database, problem, found);
        }
    }
    Ok(())
}

fn add_problem(database: &Path, problem: Problem, found: &mut Integrity) {
    let next = match problem.name {
        "lexical_index" | "vector_codes" | "attributes" | "formality" | "topics" | "vectors" => {
            REBUILD
        }
        "forgetting" => "`iai-mcp daemon start` finishes it; one that runs is at it",
        _ => RESTORE,
    };
    found.add(problem.name, database, problem.detail, next);
}

/// Which file an error of opening is about.
fn about(error: &StoreError, settings: &Settings) -> (&'static str, PathBuf) {
    let home = &settings.home;
    match error {
        StoreError::KeyMissing { .. }
        | StoreError::KeyInsecure { .. }
        | StoreError::KeyOwner { .. }
        | StoreError::KeyNotRegular { .. }
        | StoreError::KeyLength { .. }
        | StoreError::WrongKey { .. }
        | StoreError::PassphraseMissing { .. } => ("key", home.key_file()),
        StoreError::VaultDamaged { .. } => ("vault", home.vault()),
        StoreError::NotOurs { path, .. } => ("file", path.clone()),
        StoreError::Unfinished { path } => ("unfinished", path.clone()),
        _ => ("database", home.database()),
    }
}

/// Everything of ours is its owner's alone.
fn check_modes(settings: &Settings, found: &mut Integrity) {
    for (path, why) in settings.home.strange_folders() {
        let detail = format!("{why}, and nothing is put into it");
        found.add("folder", &path, detail, "move it away; it is made again");
    }
    for strange in settings.home.strange_files() {
        found.add("file", &strange.path, strange.why, strange.next);
    }
    let root = settings.home.root();
    let entries = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in std::iter::once(root.to_owned()).chain(entries) {
        let Ok(facts) = fs::symlink_metadata(&path) else { continue };
        if facts.mode() & 0o077 != 0 && !facts.is_symlink() {
            let detail = format!("other users may touch it (mode {:04o})", facts.mode() & 0o7777);
            found.add("permissions", &path, detail, "chmod go-rwx it");
        }
    }
}

/// What the user chose and what was done to hosts is text for people; it must at least be readable.
fn check_choices(settings: &Settings, found: &mut Integrity) {
    if let Some(error) = &settings.config_error {
        let path = settings.home.config_file();
        found.add("config", &path, error.clone(), "mend it; until then nothing is captured");
    }
    let ledger = settings.home.install_ledger();
    if let Ok(bytes) = fs::read(&ledger)
        && let Err(error) = serde_json::from_slice::<Value>(&bytes)
    {
        let next = "`iai-mcp capture-hooks status` says what is wired; move the file away";
        found.add("ledger", &ledger, error.to_string(), next);
    }
}

/// Every model that is installed is the one that was made: its checksum says so.
fn check_models(settings: &Settings, found: &mut Integrity) {
    for name in model::installed(&settings.home) {
        let path = settings.home.model(&name);
        if let Err(error) = Model::open(&path) {
            found.add("model", &path, error.to_string(), FETCH);
        }
    }
}

/// Every waiting turn opens, and hooks seal to the key that will open it.
fn check_spool(settings: &Settings, found: &mut Integrity) {
    let home = &settings.home;
    let Ok(keys) = spool_keys(&store_paths(home), &key_source(settings)) else {
        // What nobody can open now waits all the same.
        found.n_spooled = n_waiting(home);
        return;
    };
    let public = home.spool_public();
    if public.symlink_metadata().is_err() {
        let next = "`iai-mcp daemon restart` makes it again";
        found.add("spool key", &public, "it is missing, and hooks write nothing without it", next);
    } else if !fs::read_to_string(&public).is_ok_and(|text| is_key(&text, &keys.public_line)) {
        let next = "`iai-mcp daemon restart` writes it again; then `iai-mcp import` reads the \
                    transcripts again, should a hook have sealed to it";
        found.add("spool key", &public, "it is not the public key of this store", next);
    }
    let Ok(key) = OpeningKey::from_bytes(&keys.secret) else { return };
    let entries = fs::read_dir(home.spool()).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !name.starts_with('.') && name.ends_with(".jsonl") {
            check_spool_file(&path, &key, found);
        }
    }
}

/// An earlier daemon wrote the same key without a checksum.
fn is_key(text: &str, line: &str) -> bool {
    text.trim_end() == line.trim_end() && SealingKey::parse(text).is_ok()
}

fn check_spool_file(path: &Path, key: &OpeningKey, found: &mut Integrity) {
    const NEXT: &str = "the daemon sets the line aside and stores the others; \
                        `iai-mcp import` reads the transcript again";
    const SEALED_AWAY: &str = "it stays; `iai-mcp import` reads the transcript again, then move \
                               the file away";
    // Drained since it was listed.
    let Ok(file) = File::open(path) else { return };
    if opens_nothing(BufReader::new(&file), key).unwrap_or(false) {
        return found.add("spool", path, in_words(&Unreadable::ForeignSeal), SEALED_AWAY);
    }
    let Ok(file) = File::open(path) else { return };
    let mut reader = SpoolReader::new(BufReader::new(file), Some(key));
    let mut holds_turns = false;
    loop {
        match reader.next_item() {
            Ok(None) if holds_turns => return,
            Ok(None) => return found.add("spool", path, "it holds no turn any more", NEXT),
            Ok(Some(SpoolItem::Header(_))) => {}
            Ok(Some(SpoolItem::Event(_))) => {
                holds_turns = true;
                found.n_spooled += 1;
            }
            Ok(Some(SpoolItem::Bad { line, reason, .. })) => {
                holds_turns = true;
                found.add("spool", path, format!("line {line}: {reason}"), NEXT);
            }
            Ok(Some(SpoolItem::Newer { version })) if version <= SPOOL_VERSION => {
                return found.add("spool", path, in_words(&Unreadable::UnknownSeal), NEXT);
            }
            Ok(Some(SpoolItem::Newer { version })) => {
                let detail = in_words(&Unreadable::Newer { version });
                return found.add("spool", path, detail, "update the program");
            }
            Ok(Some(SpoolItem::ForeignSeal)) => {
                return found.add("spool", path, in_words(&Unreadable::ForeignSeal), SEALED_AWAY);
            }
            Err(error) => return found.add("spool", path, error.to_string(), NEXT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_fits_what_was_found() {
        for (name, expect) in [
            ("forgetting", "daemon start"),
            ("forgotten", "restore"),
            ("content_hash", "restore"),
            ("lexical_index", "daemon restart"),
        ] {
            let mut found = Integrity::default();
            let problem = Problem { name, detail: String::new() };
            add_problem(Path::new("/s/memory.db"), problem, &mut found);
            assert!(found.findings[0].next.contains(expect), "{name}");
        }
    }
}
