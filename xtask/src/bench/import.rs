//! How fast history is taken in: a made-up home full of transcripts, imported, again, and proved.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::Contender;
use crate::figures::{self, megabytes, or_unknown};
use crate::{process, procfs};

const N_SESSIONS: u32 = 50;
const N_TURNS: u32 = 1000;
const WORDS_PER_TURN: u32 = 40;
const DEADLINE: Duration = Duration::from_secs(600);

pub(crate) fn run(binary: &Path) -> Result<(), String> {
    let mut ours = Contender::ours(binary)?;
    let folder = ours.product.scratch(".claude/projects/-bench").ok_or("not a throw-away home")?;
    write_history(&folder).map_err(|error| format!("cannot write the history: {error}"))?;
    ours.product.start_daemon()?;
    let mut rows = Vec::new();
    for (name, words) in [
        ("import", &["import"][..]),
        ("import again", &["import"]),
        ("verify --transcripts", &["verify", "--transcripts"]),
    ] {
        let finished = process::capture(ours.product.command(words), DEADLINE)?;
        if !finished.status.success() {
            return Err(format!("{name} failed: {}{}", finished.stdout, finished.stderr));
        }
        let seconds = finished.took.as_secs_f64();
        let rate = f64::from(N_SESSIONS * N_TURNS) / seconds;
        rows.push((name.to_owned(), format!("{seconds:.2} s, {rate:.0} turns/s")));
    }
    let pid = ours.product.status()?.number("pid").ok_or("the status names no pid")?;
    let resident = procfs::resident_kib(pid).map(|kib| megabytes(kib * 1024));
    rows.push(("daemon memory afterwards (RSS)".to_owned(), or_unknown(resident, "")));
    let n_turns = N_SESSIONS * N_TURNS;
    println!("{n_turns} turns of {WORDS_PER_TURN} words:\n{}", figures::table(&rows));
    Ok(())
}

/// The same history every time: a small generator with a fixed seed picks the words.
fn write_history(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut seed: u64 = 4711;
    for session in 0..N_SESSIONS {
        let mut lines = String::new();
        for turn in 0..N_TURNS {
            let words: Vec<String> = (0..WORDS_PER_TURN).map(|_| word(&mut seed)).collect();
            let role = if turn % 2 == 0 { "user" } else { "assistant" };
            let line = json!({
                "type": role, "uuid": format!("{session}-{turn}"),
                "sessionId": format!("s{session}"), "timestamp": "2026-05-01T10:00:00Z",
                "cwd": "/home/dev/bench", "message": {"role": role, "content": words.join(" ")},
            });
            writeln!(lines, "{line}").map_err(std::io::Error::other)?;
        }
        std::fs::write(folder.join(format!("s{session}.jsonl")), lines)?;
    }
    Ok(())
}

/// One of 5,000 made-up words.
fn word(seed: &mut u64) -> String {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    format!("word{}", (*seed >> 33) % 5000)
}
