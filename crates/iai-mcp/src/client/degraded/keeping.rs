//! Keeping the store: backups, restoring them, new keys. A backup only reads, also beside a
//! running daemon; whatever replaces files takes the daemon's lock first.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use iai_memory::{
    Attached, BackupAsk, BackupChecked, BackupFacts, Existing, KeyOrigin, MemoryEngine, NewMaster,
    RestoreAsk, StoreError, back_up as store_back_up, check_backup as store_check_backup,
    restore as store_restore, rotate_data_key as store_rotate_data_key,
};
use serde_json::{Value, json};

use crate::capture::n_waiting;
use crate::clock;
use crate::daemon::{hold_store, key_source, store_paths};
use crate::fields::Fields as _;
use crate::home::{CAPTURE_STATE, CONFIG, Home, SPOOL};
use crate::settings::Settings;

const PROGRAM: &str = concat!("iai-mcp ", env!("CARGO_PKG_VERSION"));
/// Files beside the database that go into a backup, in all; turns wait for seconds, not for weeks.
const ATTACHED_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Takes a backup; `watch` is told pages copied and pages in all.
pub(crate) fn back_up(
    settings: &Settings,
    file: &Path,
    watch: &mut dyn FnMut(u64, u64),
) -> anyhow::Result<Value> {
    yield_to_others();
    let attached = attached(&settings.home)?;
    let ask = BackupAsk { file, attached: &attached, program: PROGRAM };
    let (paths, keys) = (store_paths(&settings.home), key_source(settings));
    let facts = store_back_up(&paths, &keys, &ask, clock::now(), watch)?;
    let mut told = told_of(file, &facts);
    told.set("attached", attached.len());
    Ok(told)
}

/// Checks a backup; with its key at hand every byte of it is opened.
pub(crate) fn check_backup(
    settings: &Settings,
    file: &Path,
    key_file: Option<&Path>,
) -> anyhow::Result<Value> {
    let own = settings.home.key_file();
    let key_file = key_file.unwrap_or(&own);
    let (facts, how) = store_check_backup(file, key_file, &key_source(settings))?;
    let mut told = told_of(file, &facts);
    told.set("ok", true);
    told.set(
        "checked",
        match how {
            BackupChecked::Opened => "opened",
            BackupChecked::HashOnly => "hash",
        },
    );
    Ok(told)
}

/// Puts a backup in the place of the store.
pub(crate) fn restore(
    settings: &Settings,
    file: &Path,
    key_file: Option<&Path>,
    existing: ExistingStore,
) -> anyhow::Result<Value> {
    let own = settings.home.key_file();
    let ask = RestoreAsk {
        file,
        key_file: key_file.unwrap_or(&own),
        is_welcome: &is_welcome,
        existing: match existing {
            ExistingStore::Refuses => Existing::Refuses,
            ExistingStore::MovedAside => Existing::MovedAside,
        },
        cursors: CAPTURE_STATE,
        spool: SPOOL,
    };
    let _held = hold_store(&settings.home)?;
    let n_waiting = n_waiting(&settings.home);
    let restored =
        store_restore(&store_paths(&settings.home), &key_source(settings), &ask, clock::now())?;
    let mut told = told_of(file, &restored.facts);
    told.set("restored_to", json!(settings.home.root()));
    told.set("replaced", json!(restored.replaced));
    told.set("waiting_replaced", if restored.is_spool_replaced { n_waiting } else { 0 });
    Ok(told)
}

/// What becomes of a store that is where the backup goes.
#[derive(Clone, Copy)]
pub(crate) enum ExistingStore {
    Refuses,
    MovedAside,
}

/// Makes a new master key while no daemon runs. Returns its id.
pub(crate) fn rotate_master(
    settings: &Settings,
    new_passphrase: Option<String>,
) -> anyhow::Result<Value> {
    let _held = hold_store(&settings.home)?;
    check_is_store(settings)?;
    let (paths, now) = (store_paths(&settings.home), clock::now());
    let (engine, _) = MemoryEngine::open(&paths, &key_source(settings), now)?;
    let key_id = engine.rotate_master(&NewMaster::from_words(new_passphrase), now)?;
    engine.checkpoint()?;
    Ok(json!({"key_id": key_id}))
}

/// Encrypts the store anew under a new data key, while no daemon runs.
pub(crate) fn rotate_data_key(settings: &Settings) -> anyhow::Result<Value> {
    let _held = hold_store(&settings.home)?;
    check_is_store(settings)?;
    let (paths, keys) = (store_paths(&settings.home), key_source(settings));
    let done = store_rotate_data_key(&paths, &keys, clock::now())?;
    Ok(json!({"records": done.counts.memories, "events": done.counts.events}))
}

/// Opening makes what is missing; a rotation must not make a store.
fn check_is_store(settings: &Settings) -> anyhow::Result<()> {
    if settings.home.vault().exists() || settings.home.database().exists() {
        return Ok(());
    }
    Err(StoreError::NoStore { path: settings.home.root().to_owned() }.into())
}

fn told_of(file: &Path, facts: &BackupFacts) -> Value {
    json!({
        "file": file,
        "bytes": facts.bytes,
        "store": facts.store.to_string(),
        "created_at": facts.created_at.to_string(),
        "program": facts.program,
        "needs": match facts.needs {
            KeyOrigin::File => "key file",
            KeyOrigin::Passphrase => "passphrase",
        },
        "key_id": facts.key_id,
        "memories": facts.memories,
        "links": facts.links,
    })
}

/// The user's choices, and turns that are on their way in. Both are ground state; how far each
/// transcript was read, the changes to hosts' files and installed models belong to this machine.
fn attached(home: &Home) -> anyhow::Result<Vec<Attached>> {
    let mut names = Vec::new();
    if home.config_file().exists() {
        names.push(CONFIG.to_owned());
    }
    let entries = fs::read_dir(home.spool()).into_iter().flatten().flatten();
    let spooled = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.extend(spooled.map(|name| format!("{SPOOL}/{name}")).filter(|name| is_welcome(name)));
    names.sort();
    let mut files = Vec::new();
    let mut n_bytes: u64 = 0;
    for name in names {
        let path = home.root().join(&name);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            // Drained since it was listed: its turns are in the database, which is read later.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).context(format!("reading {}", path.display())),
        };
        n_bytes = n_bytes.saturating_add(bytes.len() as u64);
        if ATTACHED_BYTES_MAX < n_bytes {
            bail!(
                "more than 256 MiB wait in {}; run the daemon until they are stored",
                home.spool().display()
            );
        }
        files.push(Attached { name, bytes });
    }
    Ok(files)
}

fn is_welcome(name: &str) -> bool {
    let spooled = name.strip_prefix(SPOOL).and_then(|rest| rest.strip_prefix('/'));
    name == CONFIG
        || spooled.is_some_and(|name| {
            !name.starts_with('.') && !name.contains('/') && name.ends_with(".jsonl")
        })
}

/// Lets the daemon's answers go first.
pub(super) fn yield_to_others() {
    #[cfg(target_os = "linux")]
    rustix::process::nice(19).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_choices_and_turns_on_their_way_are_taken() {
        for (name, expect) in [
            ("config.json", true),
            (".deferred-captures/s-1.jsonl", true),
            (".deferred-captures/.s-1.jsonl.tmp", false),
            (".deferred-captures/../vault.json", false),
            ("vault.json", false),
            ("install-ledger.json", false),
        ] {
            assert_eq!(is_welcome(name), expect, "{name}");
        }
    }
}
