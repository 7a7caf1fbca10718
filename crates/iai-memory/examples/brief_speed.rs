//! How long a brief takes in a large store:
//! `cargo run --release -p iai-memory --example brief_speed -- 100000`.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "an example talks to whoever runs it, and stops where it fails"
)]

use std::time::Instant;

use iai_memory::{
    BriefAsk, KeySource, MemoryEngine, NewMemory, Role, SpoolBatch, StorePaths, Tier,
};
use jiff::{SignedDuration, Timestamp};

/// Turns of one session.
const SESSION_TURNS: u64 = 50;
const PROJECTS: u64 = 8;
const BRIEFS: usize = 50;

fn main() {
    let n_turns: u64 = std::env::args().nth(1).map_or(100_000, |n| n.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let paths = StorePaths {
        folder: folder.path().to_owned(),
        database: path("memory.db"),
        vault: path("vault.json"),
        key_file: path(".crypto.key"),
        spool_public: path("spool.pub"),
        aside: path("aside"),
    };
    let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
    let keys = KeySource { passphrase: None };
    let (engine, _) = MemoryEngine::open(&paths, &keys, now).unwrap();
    let begun = Instant::now();
    for first in (0..n_turns).step_by(2000) {
        let turns: Vec<NewMemory> =
            (first..n_turns.min(first + 2000)).map(|n| turn(n, n_turns, now)).collect();
        let file = format!("f{first}");
        let batch = SpoolBatch { file, turns, bad_lines: Vec::new(), is_last: true };
        engine.store_batch(&batch, now).unwrap();
    }
    println!("stored {n_turns} turns in {:.1?}", begun.elapsed());
    measure(&engine, now, "before any quiet work");
    let begun = Instant::now();
    let done = engine.organise_now(now).unwrap();
    println!("quiet work in {:.1?}: {done:?}", begun.elapsed());
    measure(&engine, now, "after it");
}

fn measure(engine: &MemoryEngine, now: Timestamp, when: &str) {
    let mut took = Vec::new();
    let mut n_chars = 0;
    let worked_before = worked_ms();
    for n in 0..BRIEFS {
        let project = Some(format!("/w/project-{}", n as u64 % PROJECTS));
        let ask = BriefAsk { session: "next".to_owned(), project };
        let begun = Instant::now();
        n_chars = engine.brief(&ask, now).unwrap().markdown.chars().count();
        took.push(begun.elapsed());
    }
    let cpu = (worked_ms() - worked_before) / took.len() as f64;
    let first = took[0];
    took.sort_unstable();
    let (median, slowest) = (took[BRIEFS / 2], took[BRIEFS - 1]);
    println!("{when}: {n_chars} characters, {cpu:.1} ms of CPU each");
    println!("    wall: first {first:.1?}, median {median:.1?}, slowest {slowest:.1?}");
}

/// What this thread has worked so far, on a machine it may share; 0 where nobody tells.
fn worked_ms() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).map_or(0.0, |ns| ns / 1e6)
}

/// Half of all turns are the first project's; every seventh turn remarks something.
fn turn(n: u64, n_turns: u64, now: Timestamp) -> NewMemory {
    let session = n / SESSION_TURNS;
    let project = if session.is_multiple_of(2) { 0 } else { session % PROJECTS };
    let minutes = i64::try_from(2 * (n_turns - n)).unwrap();
    let text = match n % 14 {
        0 => format!("Always check valve number {} before you open the gate.", n % 97),
        7 => format!("We decided to build lock {n} out of granite, as the engineers proposed."),
        _ => format!(
            "Turn {n}: {}",
            "water flows through the lock while the gate is open. ".repeat(8)
        ),
    };
    NewMemory {
        host: "test".to_owned(),
        session: format!("session-{session}"),
        turn_uuid: None,
        turn_index: Some(n % SESSION_TURNS),
        role: if n.is_multiple_of(2) { Role::User } else { Role::Assistant },
        tier: Tier::Episodic,
        project: Some(format!("/w/project-{project}")),
        cwd: Some(format!("/w/project-{project}/{}", session % 5)),
        turn_at: now - SignedDuration::from_mins(minutes),
        captured_at: now,
        text,
        cue: None,
        language: None,
        tags: Vec::new(),
        provenance: serde_json::json!({}),
        pinned: false,
    }
}
