//! Ten thousand memories and five thousand links: what an answer reads and what the daemon holds,
//! by count. How long it takes on a machine is told by `bench latency`.

use std::fs;
use std::io::Write as _;

use serde_json::{Value, json};

use crate::support::{Daemon, Mcp, Sandbox};

const SESSIONS: usize = 100;
const TURNS_PER_SESSION: usize = 100;
/// What one call may link: 496 pairs.
const LINKED_TOGETHER: usize = 32;
const LINKING_CALLS: usize = 11;
const QUESTIONS: u64 = 40;
/// What the readers may read from the file for one answer; the whole of it is many times that, and
/// more than they keep in memory.
const BYTES_PER_ANSWER_MAX: u64 = 1024 * 1024;
/// What the daemon may hold: the 300 MB of the contract, less a model of 25 MB and its buffers.
const HELD_KIB_MAX: u64 = 200 * 1024;

/// A16 and A17: an answer reads a small part of a large store, and the daemon stays small.
#[test]
fn an_answer_reads_a_part_of_a_large_store_and_the_daemon_stays_small() {
    let sandbox = Sandbox::new();
    write_history(&sandbox);
    let daemon = sandbox.daemon();
    let n_turns = (SESSIONS * TURNS_PER_SESSION) as u64;
    assert_eq!(sandbox.json(&["--json", "import"])["stored"], n_turns);
    let mut mcp = Mcp::start(&sandbox);
    let n_links = link(&sandbox, &mut mcp);
    assert!(5000 <= n_links, "{n_links}");
    let mut ask = |n: u64| {
        let cue = format!("what about valve{} and pump{}?", n * 37 % 500, n * 11 % 300);
        let answer = mcp.ask("memory_recall", json!({"cue": cue}));
        assert!(!answer["hits"].as_array().unwrap().is_empty(), "{answer}");
    };
    (0..QUESTIONS).for_each(&mut ask);
    let before = read_by_readers(&daemon);
    (0..QUESTIONS).for_each(&mut ask);
    let per_answer = (read_by_readers(&daemon) - before) / QUESTIONS;
    // What came in last may still be in the log.
    let n_bytes = |name: &str| fs::metadata(sandbox.root().join(name)).map_or(0, |file| file.len());
    let store = n_bytes("memory.db") + n_bytes("memory.db-wal");
    assert!(8 * BYTES_PER_ANSWER_MAX < store, "{store} bytes could be read whole unnoticed");
    assert!(per_answer <= BYTES_PER_ANSWER_MAX, "{per_answer} of {store} bytes for an answer");
    let held = number_after(&proc_file(&daemon, "status"), "VmHWM:");
    assert!(held <= HELD_KIB_MAX, "{held} KiB");
}

fn write_history(sandbox: &Sandbox) {
    let folder = sandbox.path(".claude/projects/works");
    fs::create_dir_all(&folder).unwrap();
    for session in 0..SESSIONS {
        let name = format!("session-{session:03}");
        let mut file = fs::File::create(folder.join(format!("{name}.jsonl"))).unwrap();
        for place in 0..TURNS_PER_SESSION {
            let n = session * TURNS_PER_SESSION + place;
            let role = ["user", "assistant"][place % 2];
            let filler: Vec<String> =
                (0..60).map(|word| format!("word{}", (n * 31 + word * 17) % 4000)).collect();
            let text = format!("valve{} feeds pump{}. {}", n % 500, n % 300, filler.join(" "));
            let at =
                format!("2026-03-{:02}T{:02}:{:02}:00Z", 1 + session % 28, place / 60, place % 60);
            let line = json!({
                "type": role, "uuid": format!("{name}-{place}"), "sessionId": name,
                "timestamp": at, "cwd": sandbox.path("works"),
                "message": {"role": role, "content": text},
            });
            writeln!(file, "{line}").unwrap();
        }
    }
}

/// Has memories learn of each other, and returns how many learned links there are.
fn link(sandbox: &Sandbox, mcp: &mut Mcp) -> u64 {
    let n_listed = (LINKED_TOGETHER * LINKING_CALLS).to_string();
    let listed = sandbox.json(&["--json", "list", "-n", &n_listed]);
    let memories = listed["memories"].as_array().unwrap();
    let ids: Vec<&Value> = memories.iter().map(|memory| &memory["record_id"]).collect();
    for together in ids.chunks(LINKED_TOGETHER) {
        mcp.ask("memory_reinforce", json!({"ids": together}));
    }
    mcp.ask("topology", json!({}))["links"]["hebbian"].as_u64().unwrap()
}

/// What the threads that answer have read so far, in bytes.
fn read_by_readers(daemon: &Daemon) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{}/task", daemon.pid())).unwrap();
    let mut n_bytes = 0;
    for task in tasks {
        let folder = task.unwrap().path();
        let name = fs::read_to_string(folder.join("comm")).unwrap_or_default();
        if name.starts_with("reader-") {
            let told = fs::read_to_string(folder.join("io")).unwrap();
            n_bytes += number_after(&told, "rchar:");
        }
    }
    assert!(0 < n_bytes, "nobody who answers was found");
    n_bytes
}

fn proc_file(daemon: &Daemon, name: &str) -> String {
    fs::read_to_string(format!("/proc/{}/{name}", daemon.pid())).unwrap()
}

#[track_caller]
fn number_after(told: &str, key: &str) -> u64 {
    let line = told.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}
