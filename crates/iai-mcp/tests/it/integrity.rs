//! `verify`: a sound store is whole; a flipped bit anywhere is named, or provably changed nothing,
//! and no altered text is ever served.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Line, Sandbox, eventually, stdout};

const TEXTS: [&str; 4] =
    ["the harbour opens at nine", "nul \0 and\r\nlines", "ünïcode 🦀", "a fourth turn about boats"];
/// Flips in files that hold memories, and in the others.
const FLIPS_MANY: usize = 24;
const FLIPS_FEW: usize = 8;

/// A store as a kill leaves it: pages in the database, more in the log, a turn in the spool.
fn killed_store() -> Sandbox {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    let mut line = Line::open(&sandbox.socket()).unwrap();
    for text in &TEXTS[..2] {
        line.call("memory_capture", json!({"text": text}));
    }
    daemon.stop();
    let daemon = sandbox.daemon();
    let mut line = Line::open(&sandbox.socket()).unwrap();
    for text in &TEXTS[2..] {
        line.call("memory_capture", json!({"text": text}));
    }
    daemon.signal("-KILL");
    daemon.wait();
    let turns: Vec<String> = (0..3).map(|n| format!("a waiting turn {n}")).collect();
    let turns: Vec<&str> = turns.iter().map(String::as_str).collect();
    let transcript = sandbox.transcript("t.jsonl", &turns);
    sandbox.capture("s", &transcript);
    fs::write(sandbox.root().join("config.json"), r#"{"ignore": ["/nowhere"]}"#).unwrap();
    set_private(&sandbox.root().join("config.json"));
    sandbox
}

fn set_private(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            files.extend(files_below(&entry.path()));
        } else if entry.file_type().unwrap().is_file() {
            files.push(entry.path());
        }
    }
    files.sort();
    files
}

/// Returns the report and whether the exit code says the same.
fn verify(sandbox: &Sandbox, more: &[&str]) -> Value {
    let output = sandbox.run(&[&["--json", "verify"], more].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["ok"] == true, output.status.success(), "{report}");
    assert_eq!(output.status.code(), Some(i32::from(report["ok"] != true)), "{report}");
    report
}

/// The texts that are served, or nothing when the store refuses.
fn served(sandbox: &Sandbox) -> Option<BTreeSet<String>> {
    let output = sandbox.run(&["--json", "list", "-n", "100"]);
    if !output.status.success() {
        return None;
    }
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let memories = told["memories"].as_array().unwrap().iter();
    Some(memories.map(|m| m["literal_surface"].as_str().unwrap().to_owned()).collect())
}

/// Flips bits of every file that `is_meant`, one at a time.
fn check_flips(n_flips: usize, n_named_min: usize, is_meant: impl Fn(&str) -> bool) {
    let sandbox = killed_store();
    let whole = verify(&sandbox, &[]);
    assert_eq!(whole["ok"], true, "{whole}");
    assert_eq!((&whole["memories"], &whole["spooled_turns"]), (&json!(4), &json!(3)));
    let texts = served(&sandbox).unwrap();
    assert_eq!(texts, TEXTS.iter().map(|text| (*text).to_owned()).collect());
    let (mut n_looked_at, mut n_named) = (0, 0);
    for path in files_below(&sandbox.root()) {
        let name = path.strip_prefix(sandbox.root()).unwrap().to_str().unwrap().to_owned();
        let good = fs::read(&path).unwrap();
        if good.is_empty() || !is_meant(&name) {
            continue;
        }
        n_looked_at += 1;
        for flip in 0..n_flips.min(good.len()) {
            let place = (flip * good.len() / n_flips.min(good.len()) + flip * 7) % good.len();
            let mut bad = good.clone();
            bad[place] ^= 1 << (flip % 8);
            fs::write(&path, &bad).unwrap();
            let report = verify(&sandbox, &[]);
            let now = served(&sandbox);
            let at = format!("{name}, byte {place}: {report}");
            if report["ok"] == true {
                assert_eq!(now.as_ref(), Some(&texts), "{at}");
                assert_eq!(report["memories"], 4, "{at}");
                assert_eq!(report["spooled_turns"], 3, "{at}");
            } else {
                let findings = report["findings"].as_array().unwrap();
                let is_named = findings.iter().any(|f| f["where"] == path.to_str().unwrap());
                assert!(is_named, "the file is named: {at}");
                n_named += 1;
                assert!(findings.iter().all(|f| !f["do"].as_str().unwrap().is_empty()), "{at}");
            }
            assert!(now.is_none_or(|now| now.is_subset(&texts)), "altered text: {at}");
        }
        fs::write(&path, &good).unwrap();
    }
    assert!(n_looked_at > 0 && n_named >= n_named_min, "{n_named} of {n_flips}");
    assert_eq!(verify(&sandbox, &["--full"])["ok"], true);
    // What was put right opens as if nothing had been.
    let _daemon = sandbox.daemon();
    sandbox.settled(7);
    assert_eq!(verify(&sandbox, &["--full"])["ok"], true);
}

#[test]
fn a_flipped_bit_of_the_database_is_named_and_never_served() {
    check_flips(FLIPS_MANY, FLIPS_MANY, |name| name == "memory.db");
}

#[test]
fn a_flipped_bit_of_the_log_is_named_and_never_served() {
    // What was being written when the kill came was never promised.
    check_flips(FLIPS_MANY, FLIPS_MANY * 3 / 4, |name| name == "memory.db-wal");
}

#[test]
fn a_flipped_bit_of_the_spool_is_named_and_never_served() {
    check_flips(FLIPS_MANY, FLIPS_MANY - 2, |name| name.starts_with(".deferred-captures"));
}

#[test]
fn a_flipped_bit_of_any_other_file_is_named_or_harmless() {
    check_flips(FLIPS_FEW, 3 * FLIPS_FEW - 3, |name| {
        !name.starts_with("memory.db") && !name.starts_with(".deferred-captures")
    });
    check_flips(2, 0, |name| name == "memory.db-shm");
}

#[test]
fn a_spool_file_that_lost_its_turns_is_named() {
    let sandbox = killed_store();
    let path = sandbox.spool().remove(0);
    let good = fs::read(&path).unwrap();
    let first = good.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for kept in [0, first] {
        fs::write(&path, &good[..kept]).unwrap();
        let report = verify(&sandbox, &[]);
        assert_eq!(report["findings"][0]["where"], path.to_str().unwrap(), "{kept}: {report}");
    }
    fs::write(&path, &good).unwrap();
    assert_eq!(verify(&sandbox, &[])["ok"], true);
}

#[test]
fn every_byte_of_keys_and_vault_counts() {
    let sandbox = killed_store();
    for name in ["vault.json", ".crypto.key", "spool.pub"] {
        let path = sandbox.root().join(name);
        let good = fs::read(&path).unwrap();
        for place in (0..good.len()).step_by(if good.len() < 100 { 7 } else { 53 }) {
            let mut bad = good.clone();
            bad[place] ^= 0x40;
            fs::write(&path, &bad).unwrap();
            let report = verify(&sandbox, &[]);
            let findings = report["findings"].as_array().unwrap();
            let is_named = findings.iter().any(|f| f["where"] == path.to_str().unwrap());
            assert!(is_named, "{name}, byte {place}: {report}");
        }
        fs::write(&path, &good).unwrap();
    }
    assert_eq!(verify(&sandbox, &[])["ok"], true);
}

#[test]
fn a_running_daemon_answers_while_its_store_is_verified() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let mut line = Line::open(&sandbox.socket()).unwrap();
    for n in 0..50 {
        line.call("memory_capture", json!({"text": format!("fact {n} about the harbour")}));
    }
    std::thread::scope(|scope| {
        let verifying = scope.spawn(|| verify(&sandbox, &["--full"]));
        for n in 50..80 {
            let text = format!("fact {n} about the harbour");
            let stored = line.call("memory_capture", json!({"text": text}));
            assert_eq!(stored["result"]["status"], "inserted", "{stored}");
        }
        let report = verifying.join().unwrap();
        assert_eq!(report["ok"], true, "{report}");
        assert!(report["memories"].as_u64().unwrap() >= 50, "{report}");
    });
    let output = sandbox.run(&["verify"]);
    assert!(stdout(&output).starts_with("whole"), "{}", stdout(&output));
    eventually("nothing is left to check", || verify(&sandbox, &["--deep"])["ok"] == true);
}
