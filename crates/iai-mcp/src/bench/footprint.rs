//! What a daemon takes from its machine: time to start, memory, disk, and what it does when nobody
//! asks it anything.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::json;

use super::figures::{megabytes, milliseconds, or_unknown};
use super::handshake::store_made_up;
use super::household::Household;
use super::process;
use super::procfs;
use super::sheet::Sheet;
use super::synthetic;
use crate::settings::Settings;

const IDLE: Duration = Duration::from_secs(5);
/// Time to finish what storing caused, so that idle means idle.
const SETTLE: Duration = Duration::from_secs(2);

/// Measures a daemon over a store of `n_turns` made-up turns.
pub(crate) fn run(settings: &Settings, n_turns: usize) -> anyhow::Result<Sheet> {
    let mut household = Household::new(settings)?;
    household.start_daemon()?;
    store_made_up(&household.client(), n_turns)?;
    household.wait_indexed()?;
    household.stop_daemon()?;
    let begun = Instant::now();
    let started = household.start_daemon()?;
    let cue = json!({"cue": synthetic::cue(0, n_turns)});
    household.client().call_daemon("memory_recall", &cue)?;
    let recalled = begun.elapsed();

    let pid = household.daemon_pid().context("the daemon has no process id")?;
    process::let_pass(SETTLE);
    let before = procfs::own_ticks(pid);
    process::let_pass(IDLE);
    let idle = procfs::own_ticks(pid).zip(before).map(|(after, before)| after - before);

    let mut sheet = Sheet::new(format!("daemon over {n_turns} turns"), &household.status()?);
    for (name, took) in [
        ("start to first status", started.answering),
        ("start to store open", started.ready),
        ("start to first recall answered", recalled),
    ] {
        sheet.add(name, milliseconds(took), took.as_secs_f64() * 1000.0);
    }
    let resident = procfs::resident_kib(pid).map(|kib| kib * 1024);
    sheet.add("memory (RSS)", or_unknown(resident.map(megabytes), ""), resident);
    let n_bytes = household.n_stored_bytes();
    sheet.add("store on disk", megabytes(n_bytes), n_bytes);
    let ticks =
        format!(" ticks of {} in {} s", IDLE.as_secs() * procfs::TICKS_PER_SECOND, IDLE.as_secs());
    sheet.add("idle processor time", or_unknown(idle, &ticks), idle);
    let n_threads = procfs::n_threads(pid);
    sheet.add("threads", or_unknown(n_threads, ""), n_threads);
    let n_files = procfs::n_open_files(pid);
    sheet.add("open files", or_unknown(n_files, ""), n_files);
    let program = std::env::current_exe().context("finding this program's own path")?;
    let n_bytes = std::fs::metadata(&program).context("looking at this program")?.len();
    sheet.add("program", megabytes(n_bytes), n_bytes);
    Ok(sheet)
}
