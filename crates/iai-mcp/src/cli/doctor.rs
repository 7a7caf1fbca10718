//! `doctor`: the checks that matter, each with what it means and what to do. Looks only, changes
//! nothing.

mod checks;

use std::process::ExitCode;

use serde_json::{Value, json};

use super::output::{Output, Tone};
use crate::exit::Exit;
use crate::settings::Settings;

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    Warn,
    Fail,
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

    fn warn(name: &'static str, detail: impl Into<String>, next: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Warn, detail: detail.into(), next: next.into() }
    }

    fn fail(name: &'static str, detail: impl Into<String>, next: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Fail, detail: detail.into(), next: next.into() }
    }
}

pub(super) fn run(settings: &Settings, output: &Output) -> anyhow::Result<ExitCode> {
    let checks = checks::all(settings);
    let n_failed = checks.iter().filter(|check| check.verdict == Verdict::Fail).count();
    let report = json!({
        "ok": n_failed == 0,
        "failed": n_failed,
        "checks": checks.iter().map(as_json).collect::<Vec<_>>(),
    });
    output.show(&report, |_| describe(&checks, n_failed, output));
    Ok(if n_failed == 0 { ExitCode::SUCCESS } else { Exit::Failure.into() })
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "PASS",
        Verdict::Warn => "WARN",
        Verdict::Fail => "FAIL",
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
        };
        let word = output.tint(tone, word(check.verdict));
        lines.push(format!("  [{word}] {:<18} {}", check.name, check.detail));
        if !check.next.is_empty() {
            lines.push(format!("         → {}", check.next));
        }
    }
    lines.push(match n_failed {
        0 => "Nothing is broken.".to_owned(),
        n => format!("{n} of {} checks failed.", checks.len()),
    });
    lines.join("\n")
}
