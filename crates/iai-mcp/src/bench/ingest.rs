//! How fast history is taken in: a made-up home full of transcripts, imported, again, and proved;
//! beside what the bare model would take for it, and how long a recall takes meanwhile.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::corpus::Bare;
use super::figures::{Times, megabytes, or_unknown};
use super::household::Household;
use super::process::{self, let_pass};
use super::procfs;
use super::sheet::Sheet;
use super::synthetic;
use crate::client::Client;
use crate::settings::Settings;

const TURNS_PER_FILE: usize = 1000;
const LIMIT: Duration = Duration::from_hours(2);
/// Questions while turns get their vectors, and as many afterwards.
const N_QUESTIONS: usize = 100;
/// Between two of them: answering must not take from what is measured.
const PAUSE: Duration = Duration::from_millis(250);

/// Imports a made-up history of `n_turns`, waits for its vectors, imports it again, proves it.
pub(crate) fn run(settings: &Settings, n_turns: usize) -> anyhow::Result<Sheet> {
    let mut household = Household::new(settings)?;
    let folder = household.path(".claude/projects/-bench");
    write_history(&folder, n_turns).context("writing the made-up history")?;
    household.start_daemon()?;
    let mut runs = Vec::new();
    let mut filling = Filling::default();
    for (name, words) in [
        ("import", &["import"][..]),
        ("import again", &["import"]),
        ("verify --transcripts", &["verify", "--transcripts"]),
    ] {
        let finished = process::finish(household.command(words)?, Stdio::null(), LIMIT)?;
        runs.push((name, finished.check(name)?.took));
        if name == "import" {
            filling = watch_filling(&household, n_turns)?;
        }
    }
    let status = household.status()?;
    let resident = household.daemon_pid().and_then(procfs::resident_kib).map(|kib| kib * 1024);
    let mut sheet = Sheet::new(format!("taking in {n_turns} turns of 60 words"), &status);
    let imported = runs.first().map_or(Duration::ZERO, |(_, took)| *took);
    for (name, took) in runs {
        add_rate(&mut sheet, name, n_turns, took);
    }
    if let Some(model) = Bare::open(household.home())? {
        let indexing = imported + filling.took;
        add_rate(&mut sheet, "import until every turn has its vector", n_turns, indexing);
        household.stop_daemon()?;
        let (n_bare, took) = model.embed_turns(n_turns).context("running the bare model")?;
        add_rate(&mut sheet, "the bare model on these turns, in batches", n_bare, took);
        let share = rate(n_turns, indexing) / rate(n_bare, took);
        sheet.add("import with vectors / bare model", format!("{:.0} %", share * 100.0), share);
        filling.tell_recalls(&mut sheet);
    }
    let shown = or_unknown(resident.map(megabytes), "");
    sheet.add("daemon memory afterwards (RSS)", shown, resident);
    let n_bytes = household.n_stored_bytes();
    sheet.add("store on disk", megabytes(n_bytes), n_bytes);
    Ok(sheet)
}

/// Turns getting their vectors behind an import, and recalls meanwhile and afterwards.
#[derive(Default)]
struct Filling {
    took: Duration,
    meanwhile: Times,
    afterwards: Times,
}

impl Filling {
    fn tell_recalls(&self, sheet: &mut Sheet) {
        sheet.add_times("recall while turns get their vectors", &self.meanwhile);
        sheet.add_times("recall afterwards", &self.afterwards);
        let p95 = self.meanwhile.milliseconds(95).zip(self.afterwards.milliseconds(95));
        let ratio = p95.map(|(meanwhile, after)| meanwhile / after.max(f64::MIN_POSITIVE));
        let shown = or_unknown(ratio.map(|ratio| format!("{ratio:.1}x")), "");
        sheet.add("meanwhile / afterwards, p95", shown, ratio);
    }
}

/// Waits until every turn has its vector, and asks now and then.
fn watch_filling(household: &Household, n_turns: usize) -> anyhow::Result<Filling> {
    let client = household.client();
    let is_over = AtomicBool::new(false);
    let (took, meanwhile) = std::thread::scope(|scope| {
        let asking = scope.spawn(|| ask(&client, n_turns, &is_over));
        let took = household.wait_indexed();
        is_over.store(true, Ordering::Relaxed);
        let asked = asking.join().map_err(|_| anyhow::anyhow!("asking broke"))?;
        anyhow::Ok((took?, asked?))
    })?;
    let afterwards = ask(&client, n_turns, &AtomicBool::new(false))?;
    Ok(Filling { took, meanwhile, afterwards })
}

fn ask(client: &Client, n_turns: usize, is_over: &AtomicBool) -> anyhow::Result<Times> {
    let mut times = Times::default();
    for n in 0..N_QUESTIONS {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let begun = Instant::now();
        client.call_daemon("memory_recall", &json!({"cue": synthetic::cue(n, n_turns)}))?;
        times.push(begun.elapsed());
        let_pass(PAUSE);
    }
    Ok(times)
}

#[expect(clippy::cast_precision_loss, reason = "a count of turns")]
fn rate(n_turns: usize, took: Duration) -> f64 {
    n_turns as f64 / took.as_secs_f64().max(f64::MIN_POSITIVE)
}

fn add_rate(sheet: &mut Sheet, name: &str, n_turns: usize, took: Duration) {
    let (seconds, rate) = (took.as_secs_f64(), rate(n_turns, took));
    let value = json!({"seconds": seconds, "turns_per_second": rate.round()});
    sheet.add(name, format!("{seconds:.2} s, {rate:.0} turns/s"), value);
}

/// Writes sessions as Claude Code does.
fn write_history(folder: &Path, n_turns: usize) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for first in (0..n_turns).step_by(TURNS_PER_FILE) {
        let mut lines = String::new();
        for n in first..n_turns.min(first + TURNS_PER_FILE) {
            writeln!(lines, "{}", transcript_line(n, first)).map_err(std::io::Error::other)?;
        }
        std::fs::write(folder.join(format!("s{first}.jsonl")), lines)?;
    }
    Ok(())
}

fn transcript_line(n: usize, session: usize) -> Value {
    let event = synthetic::turn(n).event;
    json!({
        "type": event.role, "uuid": event.uuid, "sessionId": format!("s{session}"),
        "timestamp": event.turn_ts, "cwd": "/home/dev/bench",
        "message": {"role": event.role, "content": event.text},
    })
}
