//! `capture-transcript`: what a hook runs. Always exits 0, whatever happens.

use std::io;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::output::Output;
use crate::capture::{
    Budget, Captured, Told, Transcript, capture_new_turns, capture_transcript, nudge_daemon,
    read_transcript,
};
use crate::client::Client;
use crate::clock;
use crate::fields::Fields as _;
use crate::settings::Settings;

#[derive(Args, Debug, PartialEq, Eq)]
pub(super) struct CaptureArguments {
    /// The transcript file
    path: PathBuf,
    /// The host's session id
    #[arg(long, default_value = "-")]
    session_id: String,
    /// Take only the newest N turns of the transcript
    #[arg(long, value_name = "N", default_value_t = 200)]
    max_turns: usize,
    /// Only write the spool file and return; a running daemon picks it up
    #[arg(long)]
    no_spawn: bool,
}

#[derive(Args, Debug, PartialEq, Eq)]
pub(super) struct DeferArguments {
    /// The host's session id
    #[arg(long)]
    session_id: String,
    /// The transcript file
    #[arg(long)]
    transcript_path: PathBuf,
    /// Take at most N turns; the next call goes on
    #[arg(long, value_name = "N", default_value_t = 200)]
    max_turns_per_call: usize,
}

/// Takes what the transcript gained since the last call. Prints nothing.
pub(super) fn defer_new_turns(arguments: &DeferArguments, settings: &Settings, output: &Output) {
    let told = Told { session: Some(&arguments.session_id), cwd: None };
    let budget = Budget { until: None, n_turns_max: arguments.max_turns_per_call };
    let path = &arguments.transcript_path;
    if let Err(error) = capture_new_turns(settings, path, &told, budget, clock::now()) {
        output.complain(&error.context("capture-turn-deferred"));
    }
}

pub(super) fn run(arguments: &CaptureArguments, settings: &Settings, output: &Output) {
    let done = if arguments.no_spawn {
        defer(arguments, settings)
    } else {
        store_now(arguments, settings)
    };
    match done {
        Ok(answer) => output.document(&answer),
        Err(error) => output.complain(&error.context("capture-transcript")),
    }
}

/// Writes the spool file first; only then may anything else happen.
fn defer(arguments: &CaptureArguments, settings: &Settings) -> anyhow::Result<Value> {
    let transcript = match read_transcript(&arguments.path, arguments.max_turns) {
        Ok(transcript) => transcript,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Transcript { unknown: Some(not_found(arguments)), ..Transcript::default() }
        }
        Err(error) => return Err(unreadable(arguments, error)),
    };
    let captured = capture_transcript(settings, &told(arguments), transcript, clock::now())?;
    nudge_daemon(&settings.home);
    Ok(deferred(&captured))
}

fn deferred(captured: &Captured) -> Value {
    let mut answer = json!({
        "status": "deferred",
        "path": captured.file.to_string_lossy(),
        "turns": captured.n_turns,
    });
    if let Some(unknown) = &captured.unknown {
        answer.set("note", unknown.as_str());
    }
    for (name, n) in [("older", captured.n_older), ("unreadable", captured.n_unreadable)] {
        if let Some(fields) = answer.as_object_mut().filter(|_| 0 < n) {
            fields.insert(name.to_owned(), json!(n));
        }
    }
    answer
}

/// Writes the spool file and waits until the daemon has stored it; without a daemon it waits in the
/// spool.
fn store_now(arguments: &CaptureArguments, settings: &Settings) -> anyhow::Result<Value> {
    let transcript = match read_transcript(&arguments.path, arguments.max_turns) {
        Ok(transcript) => transcript,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut answer = counts(0, 0, 1);
            answer.set("reason", json!(not_found(arguments)));
            return Ok(answer);
        }
        Err(error) => return Err(unreadable(arguments, error)),
    };
    let captured = capture_transcript(settings, &told(arguments), transcript, clock::now())?;
    let name = captured.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let client = Client::new(settings.clone());
    match client.call_daemon("spool_drain", &json!({"file": name})) {
        Ok(done) => {
            let n = |field: &str| done.at(field).as_u64().unwrap_or(0);
            Ok(counts(n("stored"), n("known"), n("set_aside") + captured.n_unreadable))
        }
        Err(error) => {
            let mut answer = counts(0, 0, captured.n_unreadable);
            answer.set("deferred", json!(captured.n_turns));
            answer.set("reason", json!(format!("kept in the spool: {error}")));
            Ok(answer)
        }
    }
}

/// The contract's counts; nothing is ever skipped.
fn counts(inserted: u64, reinforced: u64, errors: u64) -> Value {
    json!({"inserted": inserted, "reinforced": reinforced, "skipped": 0, "errors": errors})
}

fn told(arguments: &CaptureArguments) -> Told<'_> {
    Told { session: Some(&arguments.session_id), cwd: None }
}

fn not_found(arguments: &CaptureArguments) -> String {
    format!("transcript not found: {}", arguments.path.display())
}

fn unreadable(arguments: &CaptureArguments, error: io::Error) -> anyhow::Error {
    let path = arguments.path.display();
    anyhow::Error::new(error).context(format!("reading the transcript {path}"))
}
