//! `doctor`: the checks that matter, each with what it means and what to do. Changes nothing,
//! unless it is told to move aside what is surely dead.

mod canary;
mod checks;
mod machines;
mod repairs;
mod spool;
mod trends;

use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use super::output::{Output, Tone};
use crate::client::Client;
use crate::settings::Settings;
use repairs::Repair;

pub(super) use repairs::move_aside;

/// What stands before the words of a check: its verdict and its name …
const HEAD_COLUMNS: usize = 28;
/// … and before what to do.
const NEXT_COLUMNS: usize = 9;
/// With warnings only.
const EXIT_WARNED: u8 = 1;
/// With at least one failure.
const EXIT_FAILED: u8 = 2;

#[derive(Args)]
pub(super) struct DoctorArguments {
    /// Move aside what is surely dead: a socket nobody listens on, files left half-written
    #[arg(long)]
    apply: bool,
}

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    Warn,
    Fail,
    /// Nobody could look.
    Skipped,
}

/// One row.
struct Check {
    name: &'static str,
    verdict: Verdict,
    /// What was found.
    detail: String,
    /// What to do; empty when nothing is.
    next: String,
}

impl Check {
    fn pass(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Pass, detail: detail.into(), next: String::new() }
    }

    /// What only a daemon knows, where there is none.
    fn unknown(name: &'static str) -> Self {
        let detail = "known only while the daemon runs".to_owned();
        Self { name, verdict: Verdict::Skipped, detail, next: String::new() }
    }

    fn warn(name: &'static str, detail: impl Into<String>, next: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Warn, detail: detail.into(), next: next.into() }
    }

    fn fail(name: &'static str, detail: impl Into<String>, next: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Fail, detail: detail.into(), next: next.into() }
    }
}

/// What came of sending a turn the whole way.
pub(super) enum Proof {
    Flown(&'static str),
    /// It was not tried to the end, or failed: what was found, and what to do.
    Unproved {
        detail: String,
        next: String,
        is_broken: bool,
    },
}

/// Sends a turn the whole way and forgets it again, with a running daemon.
pub(super) fn prove(settings: &Settings) -> Proof {
    let check = canary::check(settings, &Client::new(settings.clone()).status());
    match check.verdict {
        Verdict::Pass => Proof::Flown(canary::FLOWN),
        Verdict::Warn | Verdict::Fail | Verdict::Skipped => Proof::Unproved {
            detail: check.detail,
            next: check.next,
            is_broken: check.verdict == Verdict::Fail,
        },
    }
}

pub(super) fn run(
    arguments: &DoctorArguments,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let repair = if arguments.apply { Repair::Applied } else { Repair::Told };
    let working = output.working("looking at everything");
    let checks = checks::all(settings, repair);
    drop(working);
    let count = |verdict| checks.iter().filter(|check| check.verdict == verdict).count();
    let (n_failed, n_warned) = (count(Verdict::Fail), count(Verdict::Warn));
    let report = json!({
        "ok": n_failed == 0,
        "failed": n_failed,
        "warned": n_warned,
        "checks": checks.iter().map(as_json).collect::<Vec<_>>(),
    });
    output.show(&report, |_| describe(&checks, n_failed, output));
    Ok(match (n_failed, n_warned) {
        (0, 0) => ExitCode::SUCCESS,
        (0, _) => EXIT_WARNED.into(),
        _ => EXIT_FAILED.into(),
    })
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "PASS",
        Verdict::Warn => "WARN",
        Verdict::Fail => "FAIL",
        Verdict::Skipped => "SKIP",
    }
}

fn as_json(check: &Check) -> Value {
    let verdict = word(check.verdict).to_lowercase();
    json!({"name": check.name, "verdict": verdict, "detail": check.detail, "next": check.next})
}

fn describe(checks: &[Check], n_failed: usize, output: &Output) -> String {
    let mut lines = Vec::new();
    for check in checks {
        let tone = match check.verdict {
            Verdict::Pass => Tone::Good,
            Verdict::Warn => Tone::Careful,
            Verdict::Fail => Tone::Bad,
            Verdict::Skipped => Tone::Quiet,
        };
        let word = output.tint(tone, word(check.verdict));
        let head = format!("  [{word}] {:<18} ", check.name);
        lines.push(output.beside(&head, HEAD_COLUMNS, &check.detail));
        if !check.next.is_empty() {
            let blank = " ".repeat(NEXT_COLUMNS);
            lines.push(output.beside(&blank, NEXT_COLUMNS, &format!("→ {}", check.next)));
        }
    }
    lines.push(match n_failed {
        0 => "Nothing is broken.".to_owned(),
        n => format!("{n} of {} checks failed.", checks.len()),
    });
    lines.join("\n")
}
