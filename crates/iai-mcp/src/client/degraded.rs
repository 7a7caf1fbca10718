//! The one exception to "only the daemon opens the store": while nobody listens, a client reads it,
//! and nothing more.
//!
//! Captures go to the spool. Also here, because they need no daemon either: what there is to say
//! about the key.

mod exporting;
mod integrity;
mod keeping;
mod pointing;

use std::path::Path;

use iai_memory::{
    CheckDepth, KeyOrigin, MemoryEngine, MemoryError, SCHEMA_VERSION, StoreError, create_key_file,
    key_status as store_key_status, spool_keys,
};
use iai_wire::{SpoolEvent, code};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

pub(crate) use exporting::{ExportWanted, export};
pub(crate) use integrity::{Extent, Vectors, check_logs, verify_store};
pub(crate) use keeping::{
    ExistingStore, back_up, check_backup, restore, rotate_data_key, rotate_master,
};
pub(crate) use pointing::matched_words;

use super::CallError;
use crate::capture::{Delivery, current_folder, deliver, fit_to_keep, nudge_daemon, project_of};
use crate::clock;
use crate::daemon::handlers::{self, Failure};
pub(crate) use crate::daemon::is_nobody_the_daemon;
use crate::daemon::{key_source, store_paths};
use crate::fields::Fields as _;
use crate::settings::Settings;

const KEY_BYTES: u64 = 32;

/// The host name of what an assistant captured by a tool call.
const TOOL_HOST: &str = "mcp";

/// Makes sure that the key at hand opens the vault, where there is one.
pub(crate) fn check_key(settings: &Settings) -> Result<(), MemoryError> {
    match spool_keys(&store_paths(&settings.home), &key_source(settings)) {
        Ok(_) | Err(StoreError::NoStore { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Answers what can be answered without a daemon, and marks it.
pub(super) fn answer(
    settings: &Settings,
    method: &str,
    params: &Value,
) -> Result<Value, CallError> {
    let answered = match method {
        "memory_capture" => {
            capture(settings, params, "the daemon is not running; kept in the spool until it is")
        }
        _ if handlers::is_write(method) => Err(MemoryError::ReadOnly.into()),
        _ => read(settings, method, params),
    };
    let mut result = answered
        .map_err(|failure| CallError::Refused { code: failure.code, message: failure.message })?;
    if let Some(fields) = result.as_object_mut() {
        fields.insert("degraded".to_owned(), Value::Bool(true));
    }
    say_why_only_words(&mut result);
    Ok(result)
}

/// Whoever reads alone has no model at hand, though one may well be installed: it is the daemon
/// that is to be started.
fn say_why_only_words(result: &mut Value) {
    let hints = result.get_mut("hints").and_then(Value::as_array_mut);
    for hint in hints.into_iter().flatten().filter(|hint| hint.at("kind") == "words_only") {
        hint.set("text", "the daemon is not running: only words were compared");
    }
}

/// Keeps a text that is larger than a message; the daemon that runs picks it up at once.
pub(super) fn capture_by_spool(settings: &Settings, params: &Value) -> Result<Value, CallError> {
    let captured = capture(settings, params, "larger than a message; on its way through the spool");
    nudge_daemon(&settings.home);
    captured.map_err(refused)
}

fn refused(failure: Failure) -> CallError {
    CallError::Refused { code: failure.code, message: failure.message }
}

fn read(settings: &Settings, method: &str, params: &Value) -> Result<Value, Failure> {
    let engine = MemoryEngine::open_read_only(&store_paths(&settings.home), &key_source(settings));
    let engine = engine.map_err(|error| match error {
        MemoryError::Store(StoreError::NoStore { .. }) => Failure::new(
            code::UNREACHABLE,
            "the daemon is not running and nothing is stored yet; `iai-mcp setup` begins, or \
             `iai-mcp daemon start` where hosts are wired already",
        ),
        other => other.into(),
    })?;
    let engine = engine.in_zone(TimeZone::system());
    handlers::answer(&engine, &settings.secrets, method, params, clock::now())
}

/// Keeps a capture in the spool, to be stored when a daemon runs.
fn capture(settings: &Settings, params: &Value, reason: &str) -> Result<Value, Failure> {
    let field = |name: &str, default: &str| {
        let given = params.at(name).as_str().unwrap_or_default();
        (if given.is_empty() { default } else { given }).to_owned()
    };
    let fit = |text: String| fit_to_keep(text, &settings.secrets);
    let fit_text = fit(field("text", ""));
    if fit_text.text.chars().all(char::is_whitespace) {
        return Ok(json!({"status": "skipped", "record_id": null, "reason": "the text is empty"}));
    }
    let now = clock::now();
    let cwd = field("cwd", &current_folder());
    let event = SpoolEvent {
        text: fit_text.text,
        has_secret: fit_text.has_secret,
        cue: fit(field("cue", "")).text,
        tier: field("tier", "episodic"),
        role: field("role", "user"),
        ts: now.to_string(),
        turn_ts: Some(now.to_string()),
        source: Some(TOOL_HOST.to_owned()),
        cwd: Some(cwd.clone()),
        project: Some(field("project", &project_of(Path::new(&cwd)))),
        ..SpoolEvent::default()
    };
    let session = field("session_id", "-");
    let delivery = Delivery { session: &session, cwd: &cwd, events: &[event], now };
    deliver(&settings.home, &delivery)
        .map_err(|error| Failure::new(code::FAILED, error.to_string()))?;
    Ok(json!({"status": "deferred", "record_id": null, "reason": reason}))
}

/// Says what there is to say about the key, without a byte of it.
pub(crate) fn key_status(settings: &Settings) -> Value {
    let status = store_key_status(&store_paths(&settings.home), &key_source(settings));
    let origin = status.vault_origin.map(|origin| match origin {
        KeyOrigin::File => "file",
        KeyOrigin::Passphrase => "passphrase",
    });
    let mut told = json!({
        "user_id": "default",
        "backend": "file",
        "path": settings.home.key_file(),
        "present": status.key_file.is_some(),
        "algorithm": status.algorithm,
        "format": "vault v1",
        "passphrase_fallback_set": status.passphrase_set,
        "vault_present": status.vault_present,
        "vault_made_with": origin,
        "key_id": status.key_id,
    });
    match status.key_file {
        Some(facts) => {
            told.set("mode", json!(format!("0o{:o}", facts.mode)));
            told.set("mode_secure", json!(facts.mode_secure()));
            told.set("uid", json!(facts.uid));
            told.set("uid_matches_process", json!(facts.uid_matches_process()));
            told.set("length_bytes", json!(facts.length_bytes));
            told.set("length_valid", json!(facts.length_bytes == KEY_BYTES));
        }
        None if !status.passphrase_set && status.vault_present => {
            told.set(
                "hint",
                "there is a store, and nothing opens it but the key it was made with: put \
                 .crypto.key back from your copy, or set IAI_MCP_CRYPTO_PASSPHRASE if it was made \
                 with one",
            );
        }
        None if !status.passphrase_set => {
            told.set("hint", "the first `iai-mcp daemon start` makes a key, or `crypto init` now");
        }
        None => {}
    }
    told
}

/// Returns the version of the tables.
pub(super) fn store_schema() -> u32 {
    SCHEMA_VERSION
}

/// Makes the key file; refuses when there is one.
pub(crate) fn create_key(settings: &Settings) -> Result<(), MemoryError> {
    Ok(create_key_file(&store_paths(&settings.home))?)
}

/// Whether something could not be made because the disk is full.
pub(crate) fn is_room_missing(error: &anyhow::Error) -> bool {
    let is_full = |error: &std::io::Error| {
        matches!(error.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
    };
    error.chain().any(|cause| {
        let store = cause.downcast_ref::<MemoryError>();
        matches!(store, Some(MemoryError::Store(StoreError::Full { .. })))
            || cause.downcast_ref().is_some_and(is_full)
    })
}

/// Says why a store has no database, unless its first start was cut off before there was one.
pub(crate) fn why_no_database(settings: &Settings) -> Option<String> {
    match MemoryEngine::open_read_only(&store_paths(&settings.home), &key_source(settings)) {
        Ok(_) | Err(MemoryError::Store(StoreError::NoStore { .. })) => None,
        Err(error) => Some(error.to_string()),
    }
}

/// Checks the store read-only; each line names a problem.
pub(crate) fn check_store(settings: &Settings) -> Result<Vec<String>, MemoryError> {
    let engine = MemoryEngine::open_read_only(&store_paths(&settings.home), &key_source(settings))?;
    let report = engine.check(CheckDepth::Sample)?;
    let told = report.problems.iter();
    Ok(told.map(|problem| format!("{}: {}", problem.name, problem.detail)).collect())
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_full_disk_is_told_from_what_else_is_wrong_with_a_place() {
        let check = |error: anyhow::Error, want: bool| {
            assert_eq!(is_room_missing(&error.context("making the key")), want);
        };
        let path = || Path::new("/h/.crypto.key").to_owned();
        check(MemoryError::from(StoreError::Full { path: path() }).into(), true);
        check(io::Error::from(io::ErrorKind::StorageFull).into(), true);
        check(io::Error::from(io::ErrorKind::QuotaExceeded).into(), true);
        check(io::Error::from(io::ErrorKind::NotADirectory).into(), false);
        check(MemoryError::ReadOnly.into(), false);
    }
}
