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
use crate::host;
use crate::settings::Settings;

/// A session nobody named.
const SILENT: &str = "-";

#[derive(Args, Debug, PartialEq, Eq)]
pub(super) struct CaptureArguments {
    /// The transcript file
    path: PathBuf,
    /// The host's session id; `-` is the one that the transcript names
    #[arg(long, default_value = SILENT)]
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
    let transcript = match read(arguments) {
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
        "path": captured.files.first().map(|file| file.to_string_lossy()),
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

/// Writes the spool files and waits until the daemon has stored them; without a daemon they wait in
/// the spool.
fn store_now(arguments: &CaptureArguments, settings: &Settings) -> anyhow::Result<Value> {
    let transcript = match read(arguments) {
        Ok(transcript) => transcript,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut answer = Counts { errors: 1, ..Counts::default() }.told();
            answer.set("reason", json!(not_found(arguments)));
            return Ok(answer);
        }
        Err(error) => return Err(unreadable(arguments, error)),
    };
    let captured = capture_transcript(settings, &told(arguments), transcript, clock::now())?;
    let client = Client::new(settings.clone());
    let mut counts =
        Counts { skipped: captured.n_older, errors: captured.n_unreadable, ..Counts::default() };
    for file in &captured.files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match client.call_daemon("spool_drain", &json!({"file": name})) {
            Ok(done) => counts.add(&done),
            Err(error) => {
                let n_done = counts.inserted + counts.reinforced;
                let mut answer = counts.told();
                answer.set("deferred", json!((captured.n_turns as u64).saturating_sub(n_done)));
                answer.set("reason", json!(format!("kept in the spool: {error}")));
                return Ok(answer);
            }
        }
    }
    Ok(counts.told())
}

/// The contract's counts.
#[derive(Default)]
struct Counts {
    inserted: u64,
    reinforced: u64,
    /// Turns before the newest ones that were asked for.
    skipped: u64,
    errors: u64,
}

impl Counts {
    fn add(&mut self, done: &Value) {
        let n = |field: &str| done.at(field).as_u64().unwrap_or(0);
        self.inserted += n("stored");
        self.reinforced += n("known");
        self.errors += n("set_aside");
    }

    fn told(&self) -> Value {
        let Self { inserted, reinforced, skipped, errors } = self;
        json!({
            "inserted": inserted, "reinforced": reinforced, "skipped": skipped, "errors": errors,
        })
    }
}

/// Reads the newest turns. One that does not say its session is of the one that the file is named
/// after, as for `import`: another would make it another memory.
fn read(arguments: &CaptureArguments) -> io::Result<Transcript> {
    let mut transcript = read_transcript(&arguments.path, arguments.max_turns)?;
    let named = host::session_named(&arguments.path);
    for (_, turn) in &mut transcript.turns {
        turn.session = turn.session.take().or_else(|| named.clone());
    }
    Ok(transcript)
}

fn told(arguments: &CaptureArguments) -> Told<'_> {
    let session = Some(arguments.session_id.as_str()).filter(|session| *session != SILENT);
    Told { session, cwd: None }
}

fn not_found(arguments: &CaptureArguments) -> String {
    format!("transcript not found: {}", arguments.path.display())
}

fn unreadable(arguments: &CaptureArguments, error: io::Error) -> anyhow::Error {
    let path = arguments.path.display();
    anyhow::Error::new(error).context(format!("reading the transcript {path}"))
}
