//! What a hook costs its host: wall time of the whole process, with the daemon down and up.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;

use super::figures::{self, Times};
use super::household::Household;
use super::process;
use super::procfs;
use super::sheet::Sheet;
use crate::settings::Settings;

/// A hook that takes this long is broken, and is killed.
const LIMIT: Duration = Duration::from_secs(10);
const TURNS_PER_CAPTURE: u32 = 8;

/// Measures both ways a turn is handed over; `beside` is another program's command line, measured
/// in the same loop.
pub(crate) fn run(settings: &Settings, n_runs: u32, beside: Option<&str>) -> anyhow::Result<Sheet> {
    let mut ours = Household::new(settings)?;
    let theirs = match beside {
        Some(line) => Some((Household::new(settings)?, line)),
        None => None,
    };
    let transcript = ours.path("sample.jsonl");
    write_turns(&mut File::create(&transcript)?, 0..TURNS_PER_CAPTURE)?;
    let mut captures = Vec::new();
    let mut stops = Vec::new();
    for daemon in ["down", "up"] {
        if daemon == "up" {
            // Theirs gets none: the other program's capture never talks to one.
            ours.start_daemon()?;
        }
        captures.push((daemon, measure_captures(&ours, theirs.as_ref(), &transcript, n_runs)?));
        stops.push((daemon, measure_stops(&ours, n_runs)?));
    }
    let mut sheet = Sheet::new("hooks, whole process", &ours.status()?);
    for (daemon, cost) in &captures {
        cost.tell(&format!("capture-transcript, daemon {daemon}"), n_runs, &mut sheet);
    }
    for (daemon, times) in &stops {
        sheet.add_times(&format!("hook stop, daemon {daemon}"), times);
    }
    Ok(sheet)
}

#[derive(Default)]
struct Cost {
    ours: Times,
    theirs: Times,
    /// Processor time of all our runs; `None` where the system does not tell.
    ticks: Option<u64>,
}

impl Cost {
    fn tell(&self, name: &str, n_runs: u32, sheet: &mut Sheet) {
        sheet.add_times(name, &self.ours);
        let mean = self
            .ticks
            .map(|ticks| ticks * 1_000_000 / procfs::TICKS_PER_SECOND / u64::from(n_runs.max(1)));
        let shown = figures::or_unknown(mean, " µs user+sys, mean");
        sheet.add(&format!("{name}, processor"), shown, mean);
        if !self.theirs.is_empty() {
            sheet.add_times(&format!("{name}, the other program"), &self.theirs);
            let ratio = figures::ratio(&self.ours, &self.theirs);
            let shown = figures::or_unknown(ratio.clone(), "");
            sheet.add(&format!("{name}, the other / ours, p50"), shown, ratio);
        }
    }
}

/// Turn about, so that a noisy second on this machine hits both alike.
fn measure_captures(
    ours: &Household,
    theirs: Option<&(Household, &str)>,
    transcript: &Path,
    n_runs: u32,
) -> anyhow::Result<Cost> {
    let mut cost = Cost { ticks: Some(0), ..Cost::default() };
    for _ in 0..n_runs {
        let before = procfs::children_ticks();
        cost.ours.push(capture(ours.command(&[])?, transcript)?);
        let spent = procfs::children_ticks().zip(before).map(|(after, before)| after - before);
        cost.ticks = cost.ticks.zip(spent).map(|(sum, spent)| sum + spent);
        if let Some((home, line)) = theirs {
            cost.theirs.push(capture(home.dress(command_of(line)?), transcript)?);
        }
    }
    Ok(cost)
}

/// Splits a command line at white space.
pub(super) fn command_of(line: &str) -> anyhow::Result<Command> {
    let mut words = line.split_whitespace();
    let program = words.next().context("the other program's command line is empty")?;
    let mut command = process::command(program);
    command.args(words).env_remove("IAI_MCP_CRYPTO_PASSPHRASE");
    Ok(command)
}

fn capture(mut command: Command, transcript: &Path) -> anyhow::Result<Duration> {
    command.args(["capture-transcript", "--no-spawn", "--session-id", "bench"]).arg(transcript);
    Ok(process::finish(command, Stdio::null(), LIMIT)?.check("capture-transcript")?.took)
}

/// Each run adds a question and an answer to a transcript and fires the hook, as a host does.
fn measure_stops(home: &Household, n_runs: u32) -> anyhow::Result<Times> {
    let (transcript, payload) = (home.path("session.jsonl"), home.path("payload.json"));
    let told = json!({"session_id": "bench", "transcript_path": transcript, "cwd": home.path("")});
    std::fs::write(&payload, told.to_string()).context("writing the payload")?;
    let mut session = File::options().create(true).append(true).open(&transcript)?;
    let mut times = Times::default();
    for n in 0..n_runs {
        write_turns(&mut session, 2 * n..2 * n + 2).context("writing the session")?;
        let command = home.command(&["hook", "stop", "--host", "claude"])?;
        let finished = process::finish(command, File::open(&payload)?.into(), LIMIT)?;
        times.push(finished.check("hook stop")?.took);
    }
    Ok(times)
}

fn write_turns(file: &mut File, turns: std::ops::Range<u32>) -> std::io::Result<()> {
    for n in turns {
        let role = if n.is_multiple_of(2) { "user" } else { "assistant" };
        let line = json!({
            "type": role, "uuid": format!("{role}-{n}"), "sessionId": "bench",
            "message": {"role": role, "content": format!("{role} says something, time {n}")},
        });
        writeln!(file, "{line}")?;
    }
    Ok(())
}
