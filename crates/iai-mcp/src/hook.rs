//! `iai-mcp hook <event> --host <host>`: what a host runs at its events.
//!
//! A hook cannot hurt its host: it has a deadline of its own, no store, no model, no child, and
//! exits 0 on every path, a panic and a wrong command line included. Claude Code reads any exit
//! code of 2 as an order to stop.

mod event;
mod kernels;
mod payload;
mod speech;

use std::io::Read as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use signal_hook::consts::SIGALRM;
use signal_hook::flag::register_conditional_shutdown;

use crate::capture::{Budget, DeliverError, Told, capture_new_turns};
use crate::clock;
use crate::log;
use crate::settings::Settings;
use event::{Event, Host, Meant};
use payload::Payload;

/// A payload carries at most a prompt and an answer.
const PAYLOAD_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Runs one hook with the words after `hook`.
///
/// `say` prints what the host is to be told; it is called at most once.
pub(crate) fn main(words: &[String], say: impl FnOnce(&str)) -> ExitCode {
    // A panic must not print: some hosts show a hook's stderr to the model.
    std::panic::set_hook(Box::new(|_| {}));
    let begun = Instant::now();
    let asked = Event::parse(words);
    let limit = asked.as_ref().map_or(Duration::from_secs(1), |(event, _)| event.limit());
    leave_at(limit);
    let ran = catch_unwind(AssertUnwindSafe(|| run(asked, begun)));
    match ran {
        Ok(Some(text)) => say(&text),
        Ok(None) => {}
        Err(_) => note("the hook panicked"),
    }
    ExitCode::SUCCESS
}

/// Whatever blocks, a pipe nobody closes or a daemon that hangs, ends with the process at its
/// deadline.
///
/// An alarm, not a thread: a process waits at its end until each of its threads has had a turn to
/// die, and on a busy machine that took longer than all the work of a hook.
fn leave_at(limit: Duration) {
    let always = Arc::new(AtomicBool::new(true));
    // Only where the handler stands: an alarm nobody handles would end the process with a signal.
    if register_conditional_shutdown(SIGALRM, 0, always).is_ok() {
        // 0 seconds would mean no alarm at all.
        let seconds = u32::try_from(limit.as_secs()).unwrap_or(u32::MAX).max(1);
        kernels::ask_for_alarm(seconds);
    }
}

/// Returns what to say. What goes wrong is written down and is nobody else's trouble.
fn run(asked: Result<(Event, Host), String>, begun: Instant) -> Option<String> {
    let failed = |sentence: String| {
        note(&sentence);
        None
    };
    let (event, host) = match asked {
        Ok(asked) => asked,
        Err(sentence) => return failed(sentence),
    };
    let mut text = Vec::new();
    if let Err(error) = std::io::stdin().take(PAYLOAD_BYTES_MAX).read_to_end(&mut text) {
        return failed(format!("reading the payload: {error}"));
    }
    let payload = match Payload::parse(&text) {
        Ok(payload) => payload,
        Err(sentence) => return failed(sentence),
    };
    let settings = Settings::from_environment().ok()?;
    let meant = event::understand(event, host, payload, settings.user_home.as_deref());
    let complaint = capture(&settings, &meant, begun + event.limit() * 3 / 4);
    let said = speech::speech(&settings, &meant);
    said.or_else(|| speech::complaint(&meant, &complaint?))
}

/// Captures what the transcripts gained, as far as the time goes. Returns why turns could not be
/// put where they are safe: that log may be on the disk that is full.
fn capture(settings: &Settings, meant: &Meant, until: Instant) -> Option<String> {
    let mut complaint = None;
    let session = meant.session.as_deref();
    let transcripts = [(&meant.transcript, session), (&meant.agent_transcript, None)];
    if meant.event.follows_a_turn() && transcripts.iter().all(|(path, _)| path.is_none()) {
        note(&format!("{}: no transcript was named, so nothing is captured", meant.event.name()));
    }
    for (path, session) in transcripts {
        let Some(path) = path else { continue };
        let told = Told { session, cwd: meant.cwd.as_deref() };
        let budget = Budget { until: Some(until), n_turns_max: usize::MAX };
        match capture_new_turns(settings, path, &told, budget, clock::now()) {
            Err(error) => {
                note(&format!("{}: {error:#}", meant.event.name()));
                if error.is::<DeliverError>() {
                    // It names its cause itself.
                    complaint.get_or_insert(error.to_string());
                }
            }
            // A session that begins has no transcript yet; later, something is wrong.
            Ok(0) if meant.event.follows_a_turn() && !path.exists() => {
                let path = path.display();
                note(&format!("{}: there is no transcript {path}", meant.event.name()));
            }
            Ok(_) => {}
        }
    }
    complaint
}

/// Writes a line into the hooks' log; there is nobody else to tell.
fn note(sentence: &str) {
    if let Ok(settings) = Settings::from_environment() {
        log::note(&settings.home.hook_log(), sentence, clock::now());
    }
}
