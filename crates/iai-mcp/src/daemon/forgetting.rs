//! Forgetting as the daemon does it: what waits is taken in first, a thread does the rest, and
//! files beside the store lose the names that nothing has any more.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::Context as _;
use iai_memory::{ForgetAsk, ForgetReason, ForgetWork, GoneNames, Ingested, MemoryEngine};
use iai_wire::code;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::face::Face;
use super::handlers::{self, Failure};
use super::opening::Opened;
use crate::clock;
use crate::fields::Fields as _;
use crate::home::{Home, open_own_file};

/// A preview that nobody confirmed for so long has to be looked at again.
const CONFIRM_WITHIN: SignedDuration = SignedDuration::from_mins(10);
/// Previews that wait for their confirmation; the oldest goes first.
const TOKENS_MAX: usize = 32;
/// A shorter name is in too many lines that are about something else.
const NAME_CHARS_MIN: usize = 4;
/// A larger log is not ours: it is cut off long before.
const LOG_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Works off what was begun, and knows which previews may be confirmed.
pub(super) struct Forgetter {
    engine: Arc<MemoryEngine>,
    home: Home,
    is_stopping: Arc<AtomicBool>,
    /// Token → what it confirms, and until when.
    tokens: Mutex<BTreeMap<String, (Timestamp, String)>>,
}

impl Forgetter {
    pub(super) fn new(engine: Arc<MemoryEngine>, home: Home, is_stopping: Arc<AtomicBool>) -> Self {
        Self { engine, home, is_stopping, tokens: Mutex::default() }
    }

    /// Goes on with what is not finished, if anything is, behind everybody's back.
    pub(super) fn go_on(&self) -> anyhow::Result<()> {
        if !self.engine.has_unfinished_forgetting()? {
            return Ok(());
        }
        let (engine, home) = (Arc::clone(&self.engine), self.home.clone());
        let is_stopping = Arc::clone(&self.is_stopping);
        let thread = thread::Builder::new().name("forget".to_owned());
        thread
            .spawn(move || {
                let work = ForgetWork {
                    clock: &clock::now,
                    erase_names: &|gone| erase_names(&home, gone),
                    must_stop: &|| is_stopping.load(Ordering::Relaxed),
                };
                if let Err(error) = engine.work_off_forgetting(&work) {
                    tracing::error!(%error, "forgetting; the next start goes on with it");
                }
            })
            .context("starting to forget")?;
        Ok(())
    }

    /// Makes a token that confirms one preview, once.
    fn token_for(&self, seal: String, now: Timestamp) -> Result<String, Failure> {
        let random = getrandom::u64()
            .map_err(|error| Failure::new(code::INTERNAL, format!("drawing a token: {error}")))?;
        let token = format!("forget-{random:016x}");
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.retain(|_, (until, _)| now < *until);
        if TOKENS_MAX <= tokens.len() {
            let oldest = tokens.iter().min_by_key(|(_, (until, _))| *until);
            let oldest = oldest.map(|(token, _)| token.clone());
            oldest.map(|token| tokens.remove(&token));
        }
        tokens.insert(token.clone(), (now + CONFIRM_WITHIN, seal));
        Ok(token)
    }

    /// Takes a token back and returns what it confirms.
    fn redeem(&self, token: &str, now: Timestamp) -> Result<String, Failure> {
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        let known = tokens.remove(token).filter(|(until, _)| now < *until);
        known.map(|(_, seal)| seal).ok_or_else(|| {
            let why = "`confirm` is used, outdated or unknown; call without it to look again";
            Failure::new(code::BAD_PARAMS, why)
        })
    }
}

/// Forgets what a person confirmed at the command line.
pub(super) fn forget(opened: &Opened, face: &Face, params: &Value) -> Result<Value, Failure> {
    let ask = handlers::forget_ask(params)?;
    let reason = match params.at("reason").as_str() {
        Some("check") => ForgetReason::Check,
        _ => ForgetReason::Asked,
    };
    begin(opened, face, (&ask, reason), None)
}

/// Forgets what an assistant asks for: the first call tells what would go and a token, and only a
/// call with that token and the same wishes forgets.
pub(super) fn forget_asked(opened: &Opened, face: &Face, params: &Value) -> Result<Value, Failure> {
    let (ask, now) = (handlers::forget_ask(params)?, clock::now());
    let Some(token) = params.at("confirm").as_str() else {
        take_in_what_waits(opened, face)?;
        let preview = opened.engine.forget_preview(&ask)?;
        let token = opened.forgetter.token_for(preview.seal.clone(), now)?;
        let mut told = json!(preview);
        told.set("status", "dry_run");
        told.set("confirm", token);
        return Ok(told);
    };
    let seal = opened.forgetter.redeem(token, now)?;
    let mut told = begin(opened, face, (&ask, ForgetReason::Asked), Some(&seal))?;
    let forgotten = told.at("forgotten").clone();
    told.set("status", "forgotten");
    told.set("count", forgotten);
    Ok(told)
}

fn begin(
    opened: &Opened,
    face: &Face,
    (ask, reason): (&ForgetAsk, ForgetReason),
    seal: Option<&str>,
) -> Result<Value, Failure> {
    take_in_what_waits(opened, face)?;
    let failed = |error: anyhow::Error| Failure::new(code::FAILED, format!("{error:#}"));
    // Before the store is told: once that is done, nobody knows the wishes any more.
    let n_waiting = opened.drainer.forget_waiting(ask).map_err(failed)?;
    let preview = opened.engine.forget_preview(ask)?;
    // A receipt for nothing would look as if something had gone; a seal that does not fit is told.
    if preview.count == 0 && n_waiting == 0 && seal.is_none_or(|seal| seal == preview.seal) {
        opened.engine.forget_cues();
        return Ok(json!({
            "forgotten": 0, "left": 0, "is_finished": true, "failed": null, "waiting_forgotten": 0,
            "n_holding_again": 0, "holds_again": [],
        }));
    }
    let receipt = opened.engine.begin_forgetting(ask, reason, seal, clock::now())?;
    go_on(opened)?;
    let mut told = handlers::progress(&opened.engine, receipt)?;
    told.set("waiting_forgotten", n_waiting);
    told.set("n_holding_again", preview.n_holding_again);
    told.set("holds_again", json!(preview.holds_again));
    show_counts(opened, face);
    Ok(told)
}

/// Has what was begun done.
pub(super) fn go_on(opened: &Opened) -> Result<(), Failure> {
    opened.forgetter.go_on().map_err(|error| Failure::new(code::FAILED, format!("{error:#}")))
}

/// Shows what the store holds now.
pub(super) fn show_counts(opened: &Opened, face: &Face) {
    let n_aside = opened.engine.n_set_aside();
    if let Err(error) = &n_aside {
        tracing::error!(%error, "what was set aside cannot be counted");
    }
    face.show_store(n_aside.ok());
}

/// What is on its way in is stored first, so that it is found and forgotten like the rest.
fn take_in_what_waits(opened: &Opened, face: &Face) -> Result<(), Failure> {
    let _storing = face.storing();
    let show = |ingested: Ingested, n_pending| {
        face.show_pending(n_pending);
        face.add(ingested.stored, ingested.set_aside);
    };
    let pass = opened.drainer.pass(&show).map_err(|error| {
        Failure::new(code::FAILED, format!("reading the spool folder: {error}; try again"))
    })?;
    face.show_drained(pass.n_pending, pass.n_foreign, pass.oldest_pending_at, clock::now());
    Ok(())
}

/// Takes names nothing stored has any more out of logs and cursors. A cursor that names one goes
/// whole: its transcript is read again from the start, and what is known stays known.
fn erase_names(home: &Home, gone: &GoneNames) -> io::Result<()> {
    let names: Vec<&str> = gone
        .sessions
        .iter()
        .chain(&gone.places)
        .map(String::as_str)
        .filter(|name| NAME_CHARS_MIN <= name.chars().count())
        .collect();
    if names.is_empty() {
        return Ok(());
    }
    for path in files_in(&home.logs())? {
        erase_lines(&path, &names)?;
    }
    for path in files_in(&home.capture_state())? {
        let text = fs::read(&path).unwrap_or_default();
        if has_any(&String::from_utf8_lossy(&text), &names) {
            remove_cursor(&path)?;
        }
    }
    Ok(())
}

fn files_in(folder: &Path) -> io::Result<Vec<std::path::PathBuf>> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
        Ok(entries) => {
            let files = entries.flatten().filter(|entry| {
                entry.file_type().is_ok_and(|kind| kind.is_file())
                    && entry.metadata().is_ok_and(|facts| facts.len() <= LOG_BYTES_MAX)
            });
            Ok(files.map(|entry| entry.path()).collect())
        }
    }
}

/// Writes a log anew in its place, without the lines that hold a name: whoever appends to it goes
/// on appending.
fn erase_lines(path: &Path, names: &[&str]) -> io::Result<()> {
    let bytes = fs::read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    if !has_any(&text, names) {
        return Ok(());
    }
    let kept: String = text.split_inclusive('\n').filter(|line| !has_any(line, names)).collect();
    let mut file = open_own_file(OpenOptions::new().write(true), path)?;
    file.set_len(0)?;
    file.write_all(kept.as_bytes())?;
    file.sync_all()
}

fn has_any(text: &str, names: &[&str]) -> bool {
    names.iter().any(|name| text.contains(name))
}

#[expect(clippy::disallowed_methods, reason = "a cursor is a convenience; without it, known turns")]
fn remove_cursor(path: &Path) -> io::Result<()> {
    fs::remove_file(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_cursors_with_a_gone_name_go_and_the_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().to_owned(), None);
        fs::create_dir_all(home.logs()).unwrap();
        fs::create_dir_all(home.capture_state()).unwrap();
        fs::write(home.daemon_log(), "one\nabout zanzibar-s\ntwo\n").unwrap();
        let cursor = |name: &str| home.capture_state().join(name);
        fs::write(cursor("a.json"), r#"{"memo": "/p/zanzibar-p"}"#).unwrap();
        fs::write(cursor("b.json"), r#"{"memo": "/p/other"}"#).unwrap();
        let gone = GoneNames {
            sessions: vec!["zanzibar-s".to_owned(), "s".to_owned()],
            places: vec!["/p/zanzibar-p".to_owned()],
        };
        erase_names(&home, &gone).unwrap();
        assert_eq!(fs::read_to_string(home.daemon_log()).unwrap(), "one\ntwo\n");
        assert!(!cursor("a.json").exists() && cursor("b.json").exists());
    }
}
