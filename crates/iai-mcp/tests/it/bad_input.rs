//! Everything that can be wrong around us has a name, a remedy and an exit code, and loses nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::{Sandbox, stderr, stdout};

/// A sandbox whose store holds one turn and whose daemon has left.
fn with_a_store() -> Sandbox {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    sandbox.capture("s", &sandbox.transcript("t.jsonl", &["kept through everything"]));
    sandbox.settled(1);
    daemon.stop();
    sandbox
}

/// The daemon must refuse with this code and these words, and a client must say the same.
#[track_caller]
fn check(sandbox: &Sandbox, want_code: i32, words: &[&str]) {
    for arguments in [&["daemon", "run"][..], &["daemon", "start"]] {
        let output = sandbox.run(arguments);
        assert_ne!(output.status.code(), Some(0), "{arguments:?}");
        for word in words {
            assert!(stderr(&output).contains(word), "{arguments:?}: {}", stderr(&output));
        }
    }
    for arguments in [&["daemon", "run"][..], &["daemon", "start"]] {
        assert_eq!(sandbox.run(arguments).status.code(), Some(want_code), "{arguments:?}");
    }
}

/// Once the cause is gone the turn is there.
#[track_caller]
fn check_recovered(sandbox: &Sandbox) {
    let _daemon = sandbox.daemon();
    sandbox.settled(1);
    let found = sandbox.json(&["--json", "recall", "kept through"]);
    assert_eq!(found["hits"][0]["literal_surface"], "kept through everything");
}

#[test]
fn a_key_with_the_wrong_mode_or_length_is_refused() {
    let sandbox = with_a_store();
    let path = sandbox.root().join(".crypto.key");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    check(&sandbox, 5, &[".crypto.key", "chmod 600"]);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let key = fs::read(&path).unwrap();
    fs::write(&path, &key[..31]).unwrap();
    check(&sandbox, 5, &[".crypto.key", "31 bytes"]);
    fs::write(&path, &key).unwrap();
    check_recovered(&sandbox);
}

#[test]
fn another_key_or_none_is_refused_before_anything_is_written() {
    let sandbox = with_a_store();
    let path = sandbox.root().join(".crypto.key");
    let key = fs::read(&path).unwrap();
    let before = fs::read(sandbox.root().join("memory.db")).unwrap();
    fs::write(&path, [7; 32]).unwrap();
    check(&sandbox, 5, &["key"]);
    let degraded = sandbox.run(&["recall", "kept"]);
    assert_eq!(degraded.status.code(), Some(5), "{}", stderr(&degraded));
    fs::rename(&path, sandbox.path("moved.key")).unwrap();
    check(&sandbox, 5, &[".crypto.key", "missing"]);
    assert!(!path.exists(), "no new key over old data");
    assert_eq!(fs::read(sandbox.root().join("memory.db")).unwrap(), before);
    fs::write(&path, key).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    check_recovered(&sandbox);
}

#[test]
fn a_wrong_passphrase_is_named() {
    let right = Sandbox::new().with("IAI_MCP_CRYPTO_PASSPHRASE", "correct horse");
    right.daemon().stop();
    let wrong = right.with("IAI_MCP_CRYPTO_PASSPHRASE", "battery staple");
    check(&wrong, 5, &["passphrase"]);
    let none = wrong.with("IAI_MCP_CRYPTO_PASSPHRASE", "");
    check(&none, 5, &["passphrase"]);
}

#[test]
fn a_damaged_database_or_vault_is_named_and_left_alone() {
    let sandbox = with_a_store();
    let database = sandbox.root().join("memory.db");
    let good = fs::read(&database).unwrap();
    let mut bad = good.clone();
    bad[..4096].fill(0x5a);
    fs::write(&database, &bad).unwrap();
    check(&sandbox, 5, &["memory.db", "backup"]);
    assert_eq!(fs::read(&database).unwrap(), bad, "the evidence is untouched");
    fs::write(&database, &good).unwrap();
    let vault = sandbox.root().join("vault.json");
    let good = fs::read(&vault).unwrap();
    fs::write(&vault, &good[..good.len() / 2]).unwrap();
    check(&sandbox, 5, &["vault.json"]);
    fs::rename(&vault, sandbox.path("vault.json")).unwrap();
    check(&sandbox, 5, &["vault.json"]);
    fs::write(&vault, &good).unwrap();
    check_recovered(&sandbox);
}

#[test]
fn a_path_that_cannot_be_used_is_named() {
    let blocked = Sandbox::new();
    fs::write(blocked.root(), "a file where the folder should be").unwrap();
    check(&blocked, 3, &[".iai-mcp"]);
    let captured = blocked.run(&["capture-transcript", "--no-spawn", "none.jsonl"]);
    assert_eq!(captured.status.code(), Some(0), "a hook never fails its host");
    assert!(captured.stdout.is_empty() && stderr(&captured).contains(".iai-mcp"));

    let long = Sandbox::new().with("IAI_DAEMON_SOCKET_PATH", format!("/tmp/{}", "x".repeat(150)));
    check(&long, 3, &["IAI_DAEMON_SOCKET_PATH"]);

    let relative = Sandbox::new().with("IAI_MCP_STORE", "here");
    check(&relative, 3, &["IAI_MCP_STORE", "absolute"]);

    let taken = Sandbox::new();
    fs::write(taken.socket(), "precious").unwrap();
    check(&taken, 3, &["not a socket"]);
    assert_eq!(fs::read_to_string(taken.socket()).unwrap(), "precious");
}

#[test]
fn a_home_that_is_not_there_is_named_and_not_made() {
    let sandbox = Sandbox::new();
    let missing = sandbox.path("nobody/here");
    let sandbox = sandbox.with("HOME", missing.to_str().unwrap());
    for arguments in [&["daemon", "start"][..], &["setup", "--yes"], &["crypto", "init"]] {
        let output = sandbox.run(arguments);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}");
        assert!(stderr(&output).contains("nobody/here"), "{}", stderr(&output));
    }
    for arguments in [&["session-start"][..], &["hook", "stop"], &["completions", "bash"]] {
        assert_eq!(sandbox.run(arguments).status.code(), Some(0), "{arguments:?}");
    }
    assert!(!sandbox.path("nobody").exists());
    let elsewhere = sandbox.path("store");
    let sandbox = sandbox.with("IAI_MCP_STORE", elsewhere.to_str().unwrap());
    assert!(sandbox.run(&["crypto", "init"]).status.success());
}

#[test]
fn an_unset_home_is_named() {
    let sandbox = Sandbox::new().with("HOME", "");
    let output = sandbox.run(&["status"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("HOME"), "{}", stderr(&output));
    let hook = sandbox.run(&["capture-transcript", "--no-spawn", "none.jsonl"]);
    assert_eq!(hook.status.code(), Some(0));
    assert!(stderr(&hook).contains("HOME"));
    assert_eq!(sandbox.run(&["session-start"]).status.code(), Some(0));
    assert_eq!(sandbox.run(&["completions", "bash"]).status.code(), Some(0));
}

#[test]
fn a_transcript_of_rubbish_gives_the_turns_that_are_in_it() {
    let sandbox = Sandbox::new();
    let path = sandbox.path("t.jsonl");
    let mut bytes = b"not json\n[1,2]\n\xff\xfe\n\n{\"type\":\"user\"}\n".to_vec();
    bytes.extend("[".repeat(300_000).bytes());
    bytes.push(b'\n');
    bytes.extend(b"{\"type\":\"user\",\"message\":{\"content\":\"the one turn\"}}\n{\"type\":\"us");
    fs::write(&path, bytes).unwrap();
    assert_eq!(sandbox.capture("s", &path)["turns"], 1);
}

#[test]
fn a_line_of_a_hundred_megabytes_is_counted_and_its_neighbours_kept() {
    let sandbox = Sandbox::new();
    let path = sandbox.path("t.jsonl");
    let mut bytes = b"{\"type\":\"user\",\"message\":{\"content\":\"before\"}}\n".to_vec();
    bytes.resize(bytes.len() + 100_000_000, b'x');
    bytes.extend(b"\n{\"type\":\"user\",\"message\":{\"content\":\"after\"}}\n");
    fs::write(&path, bytes).unwrap();
    let answer = sandbox.capture("s", &path);
    assert_eq!((answer["turns"].as_u64(), answer["unreadable"].as_u64()), (Some(2), Some(1)));
}

/// Runs the program where no file may grow beyond a few blocks: what a full disk looks like to it.
fn with_little_space(sandbox: &Sandbox, n_blocks: u32, arguments: &str) -> std::process::Command {
    let program = env!("CARGO_BIN_EXE_iai-mcp");
    // Without the trap the kernel would end the process instead of refusing the write.
    let script = format!("trap '' XFSZ; ulimit -f {n_blocks}; exec {program} {arguments}");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).env_clear().current_dir(sandbox.path(""));
    for (name, value) in sandbox.command(&[]).get_envs() {
        shell.env(name, value.unwrap());
    }
    shell
}

#[test]
fn a_disk_that_takes_no_more_fails_the_capture_by_name_and_leaves_nothing_half() {
    let sandbox = Sandbox::new();
    sandbox.transcript("t.jsonl", &[&"long turn ".repeat(50_000)]);
    let output = with_little_space(&sandbox, 16, "capture-transcript --no-spawn t.jsonl").output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(0), "a hook never fails its host");
    assert!(output.stdout.is_empty(), "nothing is claimed to be deferred");
    assert!(stderr(&output).contains(".deferred-captures"), "{}", stderr(&output));
    assert!(stderr(&output).contains("capture again"), "{}", stderr(&output));
    assert!(sandbox.spool().is_empty());
}

#[test]
fn turns_that_do_not_fit_wait_in_the_spool_until_they_do() {
    let sandbox = with_a_store();
    let turns: Vec<String> =
        (0..9).map(|n| format!("{n} {}", "much to say ".repeat(9000))).collect();
    let turns: Vec<&str> = turns.iter().map(String::as_str).collect();
    sandbox.capture("s2", &sandbox.transcript("long.jsonl", &turns));
    let mut child = with_little_space(&sandbox, 600, "daemon run").spawn().unwrap();
    crate::support::eventually("the drain was put off", || {
        sandbox.status().is_some_and(|status| status["state"] == "ready" && status["pending"] == 9)
    });
    assert_eq!(sandbox.spool().len(), 1);
    let mut line = crate::support::Line::open(&sandbox.socket()).unwrap();
    let text = "more than a file may have ".repeat(14_000);
    let refused = line.call("memory_capture", serde_json::json!({"text": text}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("ulimit -f"), "{refused}");
    assert_eq!(sandbox.json(&["--json", "recall", "kept"])["hits"].as_array().unwrap().len(), 1);
    child.kill().unwrap();
    child.wait().unwrap();
    let daemon = sandbox.daemon();
    // Its next attempt is a minute away; the user who made room does not wait for it.
    let name = sandbox.spool()[0].file_name().unwrap().to_str().unwrap().to_owned();
    let mut line = crate::support::Line::open(&sandbox.socket()).unwrap();
    let drained = line.call("spool_drain", serde_json::json!({"file": name}));
    assert_eq!(drained["result"]["stored"], 9, "{drained}");
    assert!(sandbox.spool().is_empty() && daemon.is_running());
}

#[test]
fn pipes_and_devices_are_refused_where_a_file_is_asked_for() {
    let sandbox = Sandbox::new();
    sandbox.daemon().stop();
    let pipe = sandbox.path("pipe.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [pipe.to_str().unwrap(), "/dev/zero"] {
        for command in [
            &["backup", "--check"][..],
            &["restore", "--replace"],
            &["import"],
            &["capture-transcript"],
        ] {
            let output = sandbox.run(&[command, &[path]].concat());
            let told = stderr(&output);
            assert!(told.contains("no regular file"), "{command:?} {path}: {told}");
        }
    }
}

#[test]
fn forgetting_what_is_not_there_says_so() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let told = sandbox.run(&["forget", "--session", "a-typo", "--yes"]);
    assert!(stdout(&told).contains("nothing fits"));
    assert_eq!(told.status.code(), Some(1));
    assert_eq!(sandbox.json(&["--json", "forget", "--receipts"])["count"], 0);
}
