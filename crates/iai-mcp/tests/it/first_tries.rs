//! What somebody tries who has just begun: each answer is true, and says what to do next.

use std::fs;

use crate::pty::{Pty, Stdout};
use crate::support::{Daemon, Sandbox, stderr, stdout};

/// A home with two sessions that begin alike, and a file that was taught.
fn begun() -> (Sandbox, Daemon) {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    for name in ["5d50d331-one", "5d50d332-two"] {
        let transcript = sandbox.transcript(
            &format!("{name}.jsonl"),
            &[&format!("the heron of {name} sleeps"), "noted, it sleeps"],
        );
        sandbox.capture(name, &transcript);
    }
    sandbox.settled(4);
    fs::write(sandbox.path("guide.md"), "The crane of the harbour lifts nine tonnes.\n").unwrap();
    fs::write(sandbox.path("other.md"), "The tide table of the harbour hangs outside.\n").unwrap();
    (sandbox, daemon)
}

#[test]
fn turns_and_passages_are_counted_apart_everywhere() {
    let (sandbox, _daemon) = begun();
    let taught = stdout(&sandbox.run(&["teach", "guide.md", "other.md"]));
    assert!(taught.contains("set `guide`, after the first file (`--as NAME`"), "{taught}");
    assert!(sandbox.run(&["maintenance", "sleep-cycle"]).status.success());
    let status = stdout(&sandbox.run(&["status"]));
    assert!(status.contains("\nturns     4 captured · 4 stored · "), "{status}");
    assert!(status.contains("\nalso      2 passages taught"), "{status}");
    let leaving = stdout(&sandbox.run(&["uninstall", "--purge", "--dry-run"]));
    assert!(leaving.contains("4 turns, 2 passages taught"), "{leaving}");
    assert!(leaving.contains("would be deleted for good"), "{leaving}");
    let going = stdout(&sandbox.run(&["forget", "--match", "e"]));
    assert!(going.contains("4 turns of 2 sessions, 2 passages of 2 files"), "{going}");
    let going = stdout(&sandbox.run(&["teach", "remove", "guide"]));
    assert!(going.starts_with("2 passages of 2 files would be forgotten, 20"), "{going}");
    let id =
        sandbox.json(&["recall", "crane lifts tonnes", "--json"])["hits"][0]["record_id"].clone();
    let shown = stdout(&sandbox.run(&["show", id.as_str().unwrap()]));
    assert!(shown.contains("\ntier     taught\n"), "{shown}");
}

#[test]
fn a_session_is_found_by_the_beginning_of_its_name() {
    let (sandbox, _daemon) = begun();
    let whole = sandbox.json(&["transcript", "5d50d331", "--json"]);
    assert_eq!(
        (&whole["session"], whole["turns"].as_array().unwrap().len()),
        (&"5d50d331-one".into(), 2)
    );
    let several = sandbox.run(&["transcript", "5d50d33"]);
    assert_eq!(several.status.code(), Some(2));
    let told = stderr(&several);
    assert!(told.contains("fits several sessions: 5d50d331-one, 5d50d332-two"), "{told}");
    assert!(stderr(&sandbox.run(&["transcript", "77"])).contains("there is no session 77"));
}

#[test]
fn a_pin_is_told_and_none_is_told_too() {
    let (sandbox, _daemon) = begun();
    assert!(stdout(&sandbox.run(&["pin"])).starts_with("nothing is pinned yet"));
    let id = sandbox.json(&["list", "--hits", "1", "--json"])["memories"][0]["record_id"].clone();
    let id = id.as_str().unwrap();
    assert!(!stdout(&sandbox.run(&["show", id])).contains("pinned"));
    assert!(sandbox.run(&["pin", id]).status.success());
    assert!(stdout(&sandbox.run(&["show", id])).contains("\npinned   yes"));
}

#[test]
fn greetings_files_and_sizes_are_understood() {
    let (sandbox, _daemon) = begun();
    let hello = stdout(&sandbox.run(&["recall", "hello"]));
    assert!(hello.contains("only common words") && hello.contains("ask for a thing"), "{hello}");
    assert!(sandbox.run(&["export", "all.jsonl"]).status.success());
    assert!(fs::read_to_string(sandbox.path("all.jsonl")).unwrap().contains("heron"));
    let database = sandbox.root().join("memory.db");
    let log = sandbox.root().join("memory.db-wal");
    let n_bytes = || fs::metadata(&database).unwrap().len() + fs::metadata(&log).unwrap().len();
    let n_before = n_bytes();
    let doctor = sandbox.doctor(&[]);
    // The log may have become shorter meanwhile.
    let n_bytes = n_bytes().min(n_before);
    let files =
        doctor["checks"].as_array().unwrap().iter().find(|row| row["name"] == "store files");
    let told = files.unwrap()["detail"].as_str().unwrap().to_owned();
    let size = told.rsplit_once('(').unwrap().1.trim_end_matches(" KiB)").parse::<u64>().unwrap();
    assert!(n_bytes <= size * 1024, "{n_bytes} bytes, told {told}");
}

#[test]
fn a_dumb_terminal_gets_no_colours() {
    let (sandbox, _daemon) = begun();
    let shown = |term: &str| {
        let mut command = sandbox.command(&["recall", "heron sleeps"]);
        command.env("TERM", term).env_remove("NO_COLOR");
        let mut pty = Pty::start(command, &Stdout::Terminal, (24, 80));
        assert_eq!(pty.wait(), Some(0));
        pty.raw()
    };
    assert!(shown("xterm").contains('\u{1b}'));
    assert!(!shown("dumb").contains('\u{1b}'));
}

#[test]
fn a_model_that_cannot_be_fetched_leaves_no_folder() {
    let sandbox = Sandbox::new().with("PATH", "/nonexistent");
    let failed = sandbox.run(&["model", "install"]);
    assert_eq!(failed.status.code(), Some(1), "{}", stdout(&failed));
    assert!(!sandbox.root().exists());
    assert_eq!(sandbox.run(&["model", "install", "a", "--from", "nowhere"]).status.code(), Some(1));
    assert!(!sandbox.root().exists());
}

#[test]
fn without_a_daemon_it_says_how_many_turns_wait() {
    let (sandbox, daemon) = begun();
    daemon.stop();
    let remark = |arguments: &[&str]| stderr(&sandbox.run(arguments));
    let plain = "iai-mcp: the daemon is not running; read from the store as it is\n";
    assert_eq!(remark(&["recall", "pelican"]), plain);
    sandbox.capture("late", &sandbox.transcript("late.jsonl", &["the pelican dives", "noted"]));
    for arguments in [&["recall", "pelican"][..], &["list"], &["search", "pelican"]] {
        let told = remark(arguments);
        assert!(told.starts_with(plain.trim_end()), "{told}");
        assert!(told.contains("2 turns wait unread; `iai-mcp daemon start`"), "{told}");
    }
}

#[test]
fn a_project_that_does_not_exist_is_called_so() {
    let (sandbox, _daemon) = begun();
    let memory = &sandbox.json(&["list", "--json"])["memories"][0];
    let known = memory["project"].as_str().unwrap().rsplit('/').next().unwrap();
    for arguments in [&["recall", "heron"][..], &["list"], &["search", "heron"]] {
        let with = |project: &str| {
            let output = sandbox.run(&[arguments, &["--project", project]].concat());
            assert!(output.status.success());
            (stdout(&output), stderr(&output))
        };
        let (out, told) = with("nosuch");
        assert!(out.starts_with("nothing found"), "{out}");
        assert!(told.contains("there is no project nosuch; there is ") && told.contains(known));
        assert_eq!(with(&known.to_uppercase()).1, "");
    }
    let empty = sandbox.run(&["search", "pelican", "--project", known]);
    assert_eq!((stdout(&empty).as_str(), stderr(&empty).as_str()), ("nothing found\n", ""));
}
