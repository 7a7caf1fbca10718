//! Several homes and one vault between them, through the real binary.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Daemon, Sandbox, eventually, stderr, stdout};

/// A home with a running daemon.
struct Machine {
    sandbox: Sandbox,
    daemon: Daemon,
}

impl Machine {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let daemon = sandbox.daemon();
        Self { sandbox, daemon }
    }

    fn say(&self, session: &str, turns: &[&str]) {
        let transcript = self.sandbox.transcript(&format!("{session}.jsonl"), turns);
        self.sandbox.capture(session, &transcript);
        eventually("the turns are stored", || {
            let stored = self.ids();
            turns.iter().all(|turn| stored.iter().any(|(_, text)| text == turn))
        });
    }

    #[track_caller]
    fn sync(&self) -> Value {
        self.sandbox.json(&["sync", "now", "--json"])
    }

    /// Every line that travels, in an order of its own.
    fn told(&self) -> Vec<String> {
        let text = stdout(&self.sandbox.run(&["export"]));
        let is_local = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            let kind = line["kind"].as_str().unwrap();
            ["iai-mcp export", "end", "use", "link_session"].contains(&kind)
        };
        let mut lines: Vec<String> =
            text.lines().filter(|line| !is_local(line)).map(str::to_owned).collect();
        lines.sort();
        lines
    }

    fn ids(&self) -> Vec<(String, String)> {
        let told = self.told();
        let read = told.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let text = |memory: &Value, name: &str| memory[name].as_str().unwrap().to_owned();
        let memories = read.filter(|line| line["kind"] == "memory");
        memories.map(|memory| (text(&memory, "id"), text(&memory, "text"))).collect()
    }
}

fn joined(first: &Machine) -> Machine {
    let invited = first.sandbox.json(&["sync", "invite", "--json"]);
    let machine = Machine::new();
    let code = invited["code"].as_str().unwrap();
    machine.sandbox.json(&["sync", "join", "--json", "--machine", "another", code]);
    // It is good once.
    let again = Machine::new().sandbox.run(&["sync", "join", "--machine", "thief", code]);
    assert!(!again.status.success());
    assert!(stderr(&again).contains("used or has expired"), "{}", stderr(&again));
    machine
}

fn begun(folder: &Path) -> Machine {
    let machine = Machine::new();
    let address = folder.to_str().unwrap();
    let answer = machine.sandbox.json(&["sync", "setup", "--json", "--machine", "first", address]);
    assert!(answer["words"].as_str().unwrap().split_whitespace().count() >= 17);
    machine
}

fn contains(folder: &Path, sought: &str) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => contains(&path, sought),
            false => {
                let bytes = fs::read(&path).unwrap();
                bytes.windows(sought.len()).any(|window| window == sought.as_bytes())
            }
        }
    })
}

#[test]
fn three_homes_share_one_memory_and_forget_together() {
    let shared = tempfile::tempdir().unwrap();
    let one = begun(shared.path());
    one.say("s1", &["the harbour gate opens at seven", "noted", "the quay light is green"]);
    let two = joined(&one);
    let three = joined(&one);
    two.say("s2", &["we call the tug Marlin"]);
    for machine in [&one, &two, &three, &one, &two, &three] {
        machine.sync();
    }
    assert_eq!(one.told(), two.told());
    assert_eq!(one.told(), three.told());
    assert_eq!(one.ids().len(), 4);
    assert!(!contains(shared.path(), "harbour") && !contains(shared.path(), "Marlin"));
    let log = three.sandbox.run(&["sync", "log"]);
    assert!(stdout(&log).contains("received"), "{}{}", stdout(&log), stderr(&log));
    let recalled = three.sandbox.json(&["recall", "--json", "what do we call the tug?"]);
    assert!(recalled["hits"][0]["literal_surface"].as_str().unwrap().contains("Marlin"));

    let (id, _) = three.ids().into_iter().find(|(_, text)| text.contains("quay")).unwrap();
    three.sandbox.json(&["forget", "--yes", "--json", &id]);
    for machine in [&three, &one, &two, &three] {
        machine.sync();
    }
    for machine in [&one, &two, &three] {
        eventually("it is forgotten everywhere", || {
            !machine.ids().iter().any(|(_, text)| text.contains("quay"))
        });
        assert_eq!(machine.told(), three.told());
        let verified = machine.sandbox.run(&["verify", "--json"]);
        assert!(verified.status.success(), "{}", stdout(&verified));
    }
}

#[test]
fn a_daemon_killed_at_any_moment_loses_and_doubles_nothing() {
    let shared = tempfile::tempdir().unwrap();
    let mut one = begun(shared.path());
    let two = joined(&one);
    for round in 0..6 {
        one.say(&format!("k{round}"), &[&format!("round {round} of the drill"), "yes"]);
        one.sandbox.json(&["status", "--json"]);
        one.daemon.signal("-KILL");
        one.daemon.wait();
        one.daemon = one.sandbox.daemon();
    }
    one.sync();
    two.sync();
    assert_eq!(one.told(), two.told());
    assert_eq!(two.ids().len(), 12);
}

#[test]
fn without_a_vault_there_is_nothing_to_say() {
    let machine = Machine::new();
    let status = machine.sandbox.run(&["sync", "status"]);
    assert!(stdout(&status).contains("on this machine only"), "{}", stdout(&status));
    let invited = machine.sandbox.run(&["sync", "invite"]);
    assert_eq!(invited.status.code(), Some(1));
    assert!(stderr(&invited).contains("sync setup"), "{}", stderr(&invited));
    let odd = machine.sandbox.run(&["sync", "join", "--machine", "x", "iai-join:nonsense"]);
    assert!(!odd.status.success() && stderr(&odd).contains("no invitation code"));
}

#[test]
fn a_team_gets_its_project_and_nothing_else() {
    let shared = tempfile::tempdir().unwrap();
    let one = Machine::new();
    let project = one.sandbox.path("billing");
    fs::create_dir(&project).unwrap();
    one.sandbox.json(&["status", "--json"]);
    let named = format!("billing={}", project.display());
    let preview = one.sandbox.json(&[
        "sync",
        "setup",
        "--team",
        "--project",
        &named,
        "--dry-run",
        "--json",
        "/nowhere",
    ]);
    assert_eq!(preview["memories"], 0);
    let address = shared.path().to_str().unwrap();
    one.sandbox.json(&[
        "sync",
        "setup",
        "--json",
        "--team",
        "--name",
        "team",
        "--project",
        &named,
        "--machine",
        "a",
        address,
    ]);
    one.say("private", &["my own diary"]);
    let two = joined(&one);
    one.sync();
    two.sync();
    assert_eq!(two.ids(), []);
}

#[test]
fn a_store_put_back_to_an_earlier_state_goes_on_under_another_name() {
    let shared = tempfile::tempdir().unwrap();
    let mut one = begun(shared.path());
    one.say("s1", &["before the copy"]);
    one.sync();
    one.daemon.stop();
    let (root, copy) = (one.sandbox.root(), one.sandbox.path("copy"));
    copy_folder(&root, &copy);
    one.daemon = one.sandbox.daemon();
    one.say("s2", &["after the copy"]);
    one.sync();
    one.daemon.stop();
    fs::remove_dir_all(&root).unwrap();
    copy_folder(&copy, &root);
    one.daemon = one.sandbox.daemon();
    one.say("s3", &["said by the restored one"]);
    one.sync();
    one.sync();
    let two = joined(&one);
    two.sync();
    one.sync();
    assert_eq!(one.told(), two.told());
    assert_eq!(two.ids().len(), 3, "{:?}", two.ids());
}

fn copy_folder(from: &Path, to: &Path) {
    let done = std::process::Command::new("cp").arg("-a").args([from, to]).status();
    assert!(done.unwrap().success());
}
