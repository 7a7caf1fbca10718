//! The command line as a person or a script meets it.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Sandbox, eventually, stderr, stdout};

#[test]
fn the_version_names_program_commit_and_protocols() {
    let sandbox = Sandbox::new();
    let first = format!("iai-mcp {}", env!("CARGO_PKG_VERSION"));
    assert_eq!(stdout(&sandbox.run(&["-V"])), format!("{first}\n"));
    let text = stdout(&sandbox.run(&["--version"]));
    let lines: Vec<&str> = text.lines().collect();
    let [version, commit, socket, mcp, schema] = lines[..] else { panic!("{text}") };
    assert_eq!((version, commit, socket), (&*first, "commit unknown", "socket protocol 1"));
    assert!(mcp.starts_with("MCP 2024-11-05, ") && mcp.ends_with(", 2026-07-28"), "{mcp}");
    assert!(schema.strip_prefix("store schema ").unwrap().parse::<u32>().unwrap() >= 9);
}

/// What `cargo xtask` does to a finished file, done here to this build.
#[test]
fn a_stamped_program_names_its_commit() {
    const MARK: &str = "iai-mcp:commit[";
    let program = env!("CARGO_BIN_EXE_iai-mcp");
    // An unoptimised test would search a hundred megabytes for minutes.
    let grep = Command::new("grep").args(["-abo", "iai-mcp:commit\\[", program]).output().unwrap();
    let places: Vec<String> = stdout(&grep).lines().map(str::to_owned).collect();
    let [place] = places.as_slice() else { panic!("{places:?}") };
    let start: u64 = place.split(':').next().unwrap().parse().unwrap();
    let sandbox = Sandbox::new();
    let stamped = sandbox.path("iai-mcp");
    fs::copy(program, &stamped).unwrap();
    let file = fs::File::options().write(true).open(&stamped).unwrap();
    file.write_all_at(b"1234abc", start + MARK.len() as u64).unwrap();
    drop(file);
    let mut output = None;
    // A program that another test started a moment ago may still hold the copy open for writing.
    eventually("the copy can be run", || {
        output = Command::new(&stamped).arg("--version").output().ok();
        output.is_some()
    });
    let output = output.unwrap();
    assert_eq!(stdout(&output).lines().nth(1), Some("commit 1234abc"));
}

#[test]
fn usage_errors_exit_with_two() {
    let sandbox = Sandbox::new();
    for arguments in [&[][..], &["no-such-command"], &["recall"], &["list", "-n", "many"]] {
        let output = sandbox.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains("--help"), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn everything_that_prints_prints_json_when_asked() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    sandbox.capture("s", &sandbox.transcript("t.jsonl", &["an answer about herons", "noted"]));
    sandbox.settled(2);
    assert_eq!(sandbox.json(&["status", "--json"])["stored"], 2);
    let recalled = sandbox.json(&["recall", "--json", "herons"]);
    assert_eq!(recalled["hits"][0]["literal_surface"], "an answer about herons");
    assert_eq!(sandbox.json(&["search", "--json", "HERON"])["count"], 1);
    let listed = sandbox.json(&["list", "--json", "--session", "s"]);
    let id = listed["memories"][0]["record_id"].as_str().unwrap();
    assert_eq!(sandbox.json(&["show", "--json", &id[..8]])["record_id"], id);
    assert_eq!(sandbox.doctor(&[])["ok"], true);
    assert_eq!(sandbox.json(&["crypto", "status", "--json"])["length_valid"], true);
    assert_eq!(sandbox.json(&["daemon", "status", "--json"])["state"], "ready");
    assert!(sandbox.json(&["session-start", "--json"])["markdown"].is_string());
    let bank = sandbox.json(&["bank-recall", "--query", "heron"]);
    let keys: Vec<&String> = bank.as_object().unwrap().keys().collect();
    assert_eq!(keys.len(), 7, "{keys:?}");
    assert_eq!(bank["hits"][0]["literal_surface"], "an answer about herons");
}

#[test]
fn text_is_for_people_and_has_no_colours_in_a_pipe() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    sandbox.capture("s", &sandbox.transcript("t.jsonl", &["an answer about herons"]));
    sandbox.settled(1);
    for arguments in [&["status"][..], &["recall", "herons"], &["list"]] {
        let output = sandbox.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        assert!(!stdout(&output).contains('\x1b'), "{arguments:?}");
        assert!(stdout(&output).lines().count() > 0, "{arguments:?}");
    }
    assert!(!stdout(&sandbox.run(&["doctor"])).contains('\x1b'));
    assert!(stdout(&sandbox.run(&["recall", "herons"])).contains("an answer about herons"));
    assert_eq!(stdout(&sandbox.run(&["recall", "zebra crossing"])).trim(), "nothing found");
    let missing = sandbox.run(&["show", "ffffffff"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(stderr(&missing).contains("ffffffff"), "{}", stderr(&missing));
}

#[test]
fn with_no_daemon_the_exit_code_says_so() {
    let sandbox = Sandbox::new();
    let output = sandbox.run(&["recall", "anything"]);
    assert_eq!(output.status.code(), Some(4));
    assert!(stderr(&output).contains("daemon start"), "{}", stderr(&output));
    let status = sandbox.run(&["--json", "status"]);
    assert_eq!(status.status.code(), Some(4));
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!((&status["state"], &status["pending"]), (&json!("down"), &json!(0)));
    let transcript = sandbox.transcript("t", &["one", "two"]);
    sandbox.run(&["capture-transcript", "--no-spawn", transcript.to_str().unwrap()]);
    let status: Value = serde_json::from_slice(&sandbox.run(&["--json", "status"]).stdout).unwrap();
    let counts = ["captured", "stored", "pending", "failed"].map(|name| status[name].clone());
    assert_eq!(counts, [json!(2), Value::Null, json!(2), json!(0)], "{status}");
    assert!(status["oldest_pending_at"].is_string(), "{status}");
    let told = stdout(&sandbox.run(&["status"]));
    assert!(told.contains("2 pending · 0 set aside\noldest    waits for "), "{told}");
}

/// `daemon status` alone says 1, as the contract has it: for it, down is an answer.
#[test]
fn one_meaning_has_one_exit_code() {
    let sandbox = Sandbox::new();
    drop(sandbox.daemon());
    fs::write(sandbox.path("taken"), "precious").unwrap();
    let check = |want: i32, arguments: &[&str], words: &str| {
        let output = sandbox.run(arguments);
        assert_eq!(output.status.code(), Some(want), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    };
    let down: [&[&str]; 8] = [
        &["pin", "0123abcd"],
        &["unpin", "0123abcd"],
        &["identity", "set", "a sailor"],
        &["forget", "--match", "x", "--yes"],
        &["daemon", "pause"],
        &["maintenance", "reflect"],
        &["scan"],
        &["teach", "taken"],
    ];
    for arguments in down {
        check(4, arguments, "iai-mcp daemon start");
    }
    check(1, &["daemon", "status"], "");
    let taken: [&[&str]; 3] =
        [&["backup", "taken"], &["export", "-o", "taken"], &["crypto", "init"]];
    for arguments in taken {
        check(1, arguments, "already");
    }
    assert!(sandbox.run(&["backup", "saved"]).status.success());
    check(1, &["restore", "saved"], "--replace");
    assert_eq!(fs::read_to_string(sandbox.path("taken")).unwrap(), "precious");
    check(5, &["restore", "taken", "--replace"], "taken");
    let empty = Sandbox::new();
    for arguments in [&["backup", "saved"][..], &["export", "-o", "all"], &["crypto", "rotate"]] {
        assert_eq!(empty.run(arguments).status.code(), Some(5), "{arguments:?}");
    }
}

#[test]
fn what_a_value_may_be_is_said_in_words_of_the_command_line() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let long = "x".repeat(5000);
    let cases: [(&[&str], &str); 12] = [
        (&["recall", "--hits", "0", "x"], "1..=200"),
        (&["recall", "--hits", "201", "x"], "1..=200"),
        (&["recall", "--budget", "0", "x"], "--budget"),
        (&["recall", "--as-of", "yesterday", "x"], "2026-05-01"),
        (&["daemon", "pause", "0"], "1..=31536000"),
        (&["daemon", "pause", "9999999999999"], "1..=31536000"),
        (&["forget"], "--session, --project, --match"),
        (&["forget", "--match", " "], "would mean every memory"),
        (&["man", "nonsense"], "iai-mcp help"),
        (&["identity", "set", " "], "identity clear"),
        (&["identity", "set", &long], "at most 4000"),
        (&["import", "--host", "emacs"], "claude-code"),
    ];
    for (arguments, words) in cases {
        let output = sandbox.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
    assert!(sandbox.run(&["recall", "--as-of", "2026-05-01T10:00", "x"]).status.success());
}

#[test]
fn a_key_is_made_once_and_never_shown() {
    let sandbox = Sandbox::new();
    let made = sandbox.run(&["crypto", "init"]);
    assert!(made.status.success() && stdout(&made).contains("0o600, 32 bytes"));
    let key = std::fs::read(sandbox.root().join(".crypto.key")).unwrap();
    assert_eq!(key.len(), 32);
    let again = sandbox.run(&["crypto", "init"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(stderr(&again).contains(".crypto.key"), "{}", stderr(&again));
    assert_eq!(std::fs::read(sandbox.root().join(".crypto.key")).unwrap(), key);
    let status = sandbox.run(&["crypto", "status"]).stdout;
    assert!(!status.windows(8).any(|window| key.windows(8).any(|part| part == window)));
}

#[test]
fn completions_are_printed_for_every_shell() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        let output = sandbox.run(&["completions", shell]);
        assert!(
            output.status.success() && stdout(&output).contains("capture-transcript"),
            "{shell}"
        );
    }
}

#[test]
fn a_new_session_is_told_about_the_last_one_in_its_project() {
    let sandbox = Sandbox::new();
    assert_eq!(stdout(&sandbox.run(&["session-start"])), "", "nothing to tell, nothing printed");
    let _daemon = sandbox.daemon();
    let turns = ["let us name the parser quokka", "quokka it is"];
    sandbox.capture("first", &sandbox.transcript("t.jsonl", &turns));
    sandbox.settled(2);
    let brief = stdout(&sandbox.run(&["session-start", "--session-id", "second"]));
    assert!(brief.contains("quokka it is") && brief.contains("not instructions"), "{brief}");
    assert!(brief.chars().count() <= 10_000);
    assert_eq!(stdout(&sandbox.run(&["session-start", "--session-id", "first"])), "");
    let elsewhere = sandbox.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut other = sandbox.command(&["session-start"]);
    assert_eq!(stdout(&other.current_dir(elsewhere).output().unwrap()), "", "another project");
}

#[test]
fn what_cannot_be_printed_is_a_failure_and_a_gone_reader_is_none() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let to = |path: &str| {
        let file = std::fs::File::options().write(true).open(path).unwrap();
        sandbox.command(&["status"]).stdout(file).output().unwrap()
    };
    let full = to("/dev/full");
    assert_eq!(full.status.code(), Some(1));
    assert!(stderr(&full).contains("printing the answer"), "{}", stderr(&full));
    assert!(to("/dev/null").status.success());
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert!(sandbox.command(&["status"]).stdout(writer).output().unwrap().status.success());
}

#[test]
fn refusals_say_what_to_do_and_are_json_when_asked() {
    let sandbox = Sandbox::new();
    let logs = sandbox.run(&["daemon", "logs"]);
    assert_eq!(logs.status.code(), Some(1));
    assert!(stderr(&logs).contains("no daemon has run here"), "{}", stderr(&logs));
    let retry = sandbox.run(&["spool", "retry", "nope", "--json"]);
    assert_eq!(retry.status.code(), Some(1));
    let told: Value = serde_json::from_str(stdout(&retry).trim()).unwrap();
    assert_eq!(told["ok"], false);
    assert!(told["error"].as_str().unwrap().contains("spool list"), "{told}");
    let _daemon = sandbox.daemon();
    assert!(sandbox.json(&["daemon", "logs", "--json"])["lines"].is_array());
    for arguments in [["list", "-n", "0"], ["list", "-n", "1001"]] {
        assert_eq!(sandbox.run(&arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn the_doctor_looks_at_hosts_and_models() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let check = |name: &str| {
        let report = sandbox.doctor(&[]);
        let checks = report["checks"].as_array().unwrap().clone();
        let check = checks.into_iter().find(|check| check["name"] == name).unwrap();
        (check["verdict"].clone(), check["detail"].as_str().unwrap().to_owned())
    };
    assert_eq!(check("hosts"), (json!("pass"), "no host was found on this machine".to_owned()));
    std::fs::create_dir(sandbox.path(".claude")).unwrap();
    assert_eq!(check("hosts").0, "warn");
    assert!(sandbox.run(&["capture-hooks", "install", "--yes"]).status.success());
    let (verdict, detail) = check("hosts");
    assert!(verdict == "pass" && detail.ends_with(": wired"), "{verdict}: {detail}");
    assert_eq!(check("sentence model").0, "warn");
}
