//! What is lost is called lost: by `verify`, by `doctor`, and by a daemon that will not begin anew
//! in silence.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Line, Sandbox, eventually, stdout};

/// A store with two turns, its daemon stopped.
fn stopped_store() -> Sandbox {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    sandbox.capture("s", &sandbox.transcript("t.jsonl", &["the harbour opens at nine", "noted"]));
    sandbox.settled(2);
    daemon.stop();
    sandbox
}

#[track_caller]
fn findings(sandbox: &Sandbox) -> Vec<Value> {
    let output = sandbox.run(&["--json", "verify"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(i32::from(report["ok"] != true)), "{report}");
    report["findings"].as_array().unwrap().clone()
}

#[track_caller]
fn row(sandbox: &Sandbox, name: &str) -> (String, String, String) {
    let report = sandbox.doctor(&[]);
    let check = report["checks"].as_array().unwrap().iter().find(|check| check["name"] == name);
    let text = |field: &str| check.unwrap()[field].as_str().unwrap().to_owned();
    (text("verdict"), text("detail"), text("next"))
}

/// Fires the hook a host fires after each answer; it goes on where it was in the transcript.
#[track_caller]
fn fire(sandbox: &Sandbox, session: &str, transcript: &std::path::Path) {
    let payload = json!({
        "session_id": session, "transcript_path": transcript, "cwd": "/home/dev/heron",
        "hook_event_name": "Stop",
    });
    let mut command = sandbox.command(&["hook", "stop", "--host", "claude"]);
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, payload.to_string().as_bytes()).unwrap();
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_lost_database_is_named_and_not_made_anew() {
    for is_emptied in [false, true] {
        let sandbox = stopped_store();
        let database = sandbox.root().join("memory.db");
        let good = fs::read(&database).unwrap();
        match is_emptied {
            true => fs::write(&database, "").unwrap(),
            false => fs::remove_file(&database).unwrap(),
        }
        let found = findings(&sandbox);
        assert!(
            found.iter().any(|f| f["what"] == "database"
                && f["where"] == database.to_str().unwrap()
                && f["detail"].as_str().unwrap().contains("iai-mcp restore FILE --replace")),
            "{found:?}"
        );
        let (verdict, detail, next) = row(&sandbox, "store files");
        assert_eq!(verdict, "fail", "{detail}");
        assert!(detail.contains("missing or empty") && next.contains("restore"), "{next}");
        let daemon = sandbox.daemon_starting();
        assert_ne!(daemon.wait(), Some(0));
        assert!(daemon.complaint().contains("missing or empty"), "{}", daemon.complaint());
        assert_eq!(fs::read(&database).unwrap_or_default(), b"", "nothing was made in its place");
        fs::write(&database, &good).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(&database, mode).unwrap();
        assert_eq!(findings(&sandbox), Vec::<Value>::new());
        let _daemon = sandbox.daemon();
        sandbox.settled(2);
    }
}

#[test]
fn a_first_start_that_was_killed_early_is_no_loss() {
    let sandbox = stopped_store();
    for name in ["memory.db", "spool.pub"] {
        fs::remove_file(sandbox.root().join(name)).unwrap();
    }
    assert_ne!(row(&sandbox, "store files").0, "fail");
    let _daemon = sandbox.daemon();
}

#[test]
fn a_running_daemon_takes_nothing_in_once_its_database_is_gone() {
    let sandbox = stopped_store();
    let daemon = sandbox.daemon();
    let database = sandbox.root().join("memory.db");
    let away = sandbox.path("away.db");
    fs::rename(&database, &away).unwrap();
    sandbox.capture("late", &sandbox.transcript("late.jsonl", &["said too late", "noted"]));
    eventually("the daemon says so", || {
        sandbox.status().is_some_and(|status| {
            status["store_problem"].as_str().is_some_and(|told| told.contains("was removed"))
        })
    });
    let mut line = Line::open(&sandbox.socket()).unwrap();
    let refused = line.call("memory_capture", json!({"text": "by a tool"}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("was removed"), "{refused}");
    let refused = sandbox.run(&["spool", "retry"]);
    assert!(!refused.status.success(), "{}", stdout(&refused));
    assert_eq!(sandbox.spool().len(), 1, "the turns wait where they were");
    assert_eq!(row(&sandbox, "store files").0, "fail");
    assert_eq!(findings(&sandbox)[0]["what"], "database");
    daemon.stop();
    assert_eq!(sandbox.spool().len(), 1);
    // The log beside it holds what the file itself does not.
    fs::rename(&away, &database).unwrap();
    let _daemon = sandbox.daemon();
    eventually("what waited is stored", || {
        sandbox.run(&["spool", "retry"]);
        sandbox.status().is_some_and(|status| status["pending"] == 0)
    });
    assert_eq!(sandbox.json(&["--json", "search", "said too late"])["count"], 1);
}

#[test]
fn a_start_leaves_the_evidence_of_a_damaged_log() {
    let sandbox = stopped_store();
    let daemon = sandbox.daemon();
    let mut line = Line::open(&sandbox.socket()).unwrap();
    for n in 0..5 {
        line.call("memory_capture", json!({"text": format!("boat {n} is in the harbour")}));
    }
    daemon.signal("-KILL");
    daemon.wait();
    let log = sandbox.root().join("memory.db-wal");
    assert_eq!(findings(&sandbox), Vec::<Value>::new(), "a kill alone is no damage");
    let mut bad = fs::read(&log).unwrap();
    bad[1000] ^= 0x10;
    fs::write(&log, &bad).unwrap();
    assert_eq!(findings(&sandbox)[0]["where"], log.to_str().unwrap());
    assert_eq!(row(&sandbox, "log").0, "fail");
    let daemon = sandbox.daemon();
    let found = findings(&sandbox);
    assert_eq!((found.len(), &found[0]["what"]), (1, &json!("log")), "{found:?}");
    assert!(found[0]["do"].as_str().unwrap().contains("iai-mcp import"), "{found:?}");
    let kept = std::path::PathBuf::from(found[0]["where"].as_str().unwrap());
    assert_eq!(fs::read(kept.join("memory.db-wal")).unwrap(), bad);
    assert_eq!(row(&sandbox, "log").0, "fail");
    let told = fs::read_to_string(sandbox.root().join("logs/daemon.log")).unwrap();
    assert!(told.contains("a damaged log is kept in"), "{told}");
    daemon.stop();
    let _daemon = sandbox.daemon();
    assert_eq!(findings(&sandbox).len(), 1, "it is told until somebody moves it away");
    fs::rename(&kept, sandbox.path("seen")).unwrap();
    assert_eq!(findings(&sandbox), Vec::<Value>::new());
    assert_eq!(row(&sandbox, "log").0, "pass");
}

#[test]
fn a_file_in_the_place_of_aside_is_named_and_keeps_no_daemon_from_starting() {
    let sandbox = stopped_store();
    let aside = sandbox.root().join("aside");
    fs::write(&aside, "").unwrap();
    let found = findings(&sandbox);
    assert!(found.iter().any(|f| f["where"] == aside.to_str().unwrap()), "{found:?}");
    let _daemon = sandbox.daemon();
    sandbox.settled(2);
}

/// Everything that waits is sealed.
#[track_caller]
fn check_sealed(sandbox: &Sandbox, word: &str) {
    for path in sandbox.spool() {
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(word), "{}: {text}", path.display());
    }
}

#[test]
fn a_hook_right_after_a_restore_seals_what_it_writes() {
    let sandbox = stopped_store();
    let backup = sandbox.path("b.iai");
    sandbox.json(&["--json", "backup", backup.to_str().unwrap()]);
    let public = sandbox.root().join("spool.pub");
    let line = fs::read(&public).unwrap();
    sandbox.json(&["--json", "restore", "--replace", backup.to_str().unwrap()]);
    assert_eq!(fs::read(&public).unwrap(), line);
    assert_eq!(findings(&sandbox), Vec::<Value>::new());
    sandbox.capture("late", &sandbox.transcript("late.jsonl", &["the canary sings", "noted"]));
    assert_eq!(sandbox.spool().len(), 1);
    check_sealed(&sandbox, "canary");
    let _daemon = sandbox.daemon();
    sandbox.settled(4);
}

#[test]
fn a_key_or_vault_that_is_lost_under_a_running_daemon_is_saved_by_it() {
    for name in [".crypto.key", "vault.json"] {
        let sandbox = stopped_store();
        let daemon = sandbox.daemon();
        let lost = sandbox.root().join(name);
        fs::remove_file(&lost).unwrap();
        let file = sandbox.path("b.iai");
        let refused = sandbox.run(&["backup", file.to_str().unwrap()]);
        for told in [crate::support::stderr(&refused), stdout(&sandbox.run(&["verify"]))] {
            assert!(told.contains(name) && told.contains("iai-mcp crypto rotate"), "{told}");
        }
        let row = row(&sandbox, if name == "vault.json" { "store files" } else { "key" });
        assert_eq!(row.0, "fail");
        assert!(row.2.contains("iai-mcp crypto rotate"), "{row:?}");
        let told = sandbox.run(&["crypto", "rotate"]);
        assert!(told.status.success(), "{}", crate::support::stderr(&told));
        assert!(lost.exists());
        assert_eq!(findings(&sandbox), Vec::<Value>::new(), "{name}");
        daemon.stop();
        let _daemon = sandbox.daemon();
        sandbox.settled(2);
        sandbox.json(&["--json", "backup", file.to_str().unwrap()]);
    }
}

#[test]
fn a_vault_of_a_passphrase_that_is_lost_under_a_running_daemon_is_saved_by_it() {
    let sandbox = Sandbox::new().with("IAI_MCP_CRYPTO_PASSPHRASE", "old words");
    let daemon = sandbox.daemon();
    sandbox.capture("s", &sandbox.transcript("t.jsonl", &["the harbour opens at nine", "noted"]));
    sandbox.settled(2);
    fs::remove_file(sandbox.root().join("vault.json")).unwrap();
    let row = row(&sandbox, "store files");
    assert!(row.0 == "fail" && row.2.contains("iai-mcp crypto rotate"), "{row:?}");
    // Neither a restart nor a rotation without new words takes the last copy of the key away.
    for command in [&["daemon", "restart"][..], &["crypto", "rotate"]] {
        let refused = sandbox.run(command);
        assert!(!refused.status.success(), "{command:?}");
        assert!(daemon.is_running(), "{}", crate::support::stderr(&refused));
    }
    let sandbox = sandbox.with("IAI_MCP_CRYPTO_NEW_PASSPHRASE", "new words");
    let told = sandbox.run(&["crypto", "rotate"]);
    assert!(told.status.success(), "{}", crate::support::stderr(&told));
    daemon.stop();
    let sandbox = sandbox.with("IAI_MCP_CRYPTO_PASSPHRASE", "new words");
    assert_eq!(findings(&sandbox), Vec::<Value>::new());
    let _daemon = sandbox.daemon();
    sandbox.settled(2);
}

#[test]
fn a_store_that_cannot_be_read_is_not_shown_as_an_empty_one() {
    let sandbox = stopped_store();
    sandbox.capture("late", &sandbox.transcript("late.jsonl", &["said since", "noted"]));
    let key = sandbox.root().join(".crypto.key");
    fs::rename(&key, sandbox.path("key")).unwrap();
    let told = stdout(&sandbox.run(&["status"]));
    assert!(told.contains("cannot be counted") && told.contains(".crypto.key"), "{told}");
    assert!(!told.contains("nothing stored yet"), "{told}");
    assert!(stdout(&sandbox.run(&["verify"])).contains("2 waiting turns"));
    fs::rename(sandbox.path("key"), &key).unwrap();
    assert!(stdout(&sandbox.run(&["status"])).contains("2 stored"));
}

#[test]
fn a_rotation_that_fails_leaves_no_copy_of_the_key_in_force() {
    let sandbox = stopped_store();
    let database = sandbox.root().join("memory.db");
    fs::rename(&database, sandbox.path("away.db")).unwrap();
    assert!(!sandbox.run(&["crypto", "rotate"]).status.success());
    let kept = fs::read_dir(sandbox.root().join("aside")).into_iter().flatten().count();
    assert_eq!(kept, 0);
}

#[test]
fn a_store_without_its_spool_key_takes_turns_later_and_never_in_clear_text() {
    let sandbox = stopped_store();
    let public = sandbox.root().join("spool.pub");
    let line = fs::read(&public).unwrap();
    fs::remove_file(&public).unwrap();
    let transcript = sandbox.transcript("late.jsonl", &["the canary sings", "noted"]);
    let capture = ["capture-transcript", "--no-spawn", "--session-id", "late"];
    let capture = [&capture[..], &[transcript.to_str().unwrap()]].concat();
    let refused = sandbox.run(&capture);
    assert!(crate::support::stderr(&refused).contains("spool.pub"), "{}", stdout(&refused));
    fire(&sandbox, "late", &transcript);
    assert_eq!(sandbox.spool().len(), 0);
    let found = findings(&sandbox);
    assert_eq!((&found[0]["what"], found.len()), (&json!("spool key"), 1), "{found:?}");
    assert_eq!(row(&sandbox, "spool").0, "fail");
    let _daemon = sandbox.daemon();
    assert_eq!(fs::read(&public).unwrap(), line, "made again from the vault");
    fire(&sandbox, "late", &transcript);
    sandbox.settled(4);
}

/// Changes one letter of the key that hooks seal to, behind the part that names it.
fn changed(line: &[u8]) -> Vec<u8> {
    let mut bad = line.to_vec();
    bad[40] = if bad[40] == b'A' { b'B' } else { b'A' };
    bad
}

#[test]
fn a_changed_spool_key_has_hooks_wait_and_loses_no_turn() {
    let sandbox = stopped_store();
    let daemon = sandbox.daemon();
    let public = sandbox.root().join("spool.pub");
    let line = fs::read(&public).unwrap();
    fs::write(&public, changed(&line)).unwrap();
    let transcript = sandbox.transcript("late.jsonl", &["the canary sings", "noted"]);
    fire(&sandbox, "late", &transcript);
    assert_eq!(sandbox.spool().len(), 0);
    assert_eq!(findings(&sandbox)[0]["what"], "spool key");
    let (verdict, detail, next) = row(&sandbox, "spool");
    assert_eq!(verdict, "fail", "{detail}");
    assert!(next.contains("iai-mcp daemon restart"), "{next}");
    daemon.stop();
    let _daemon = sandbox.daemon();
    assert_eq!(fs::read(&public).unwrap(), line, "made again from the vault");
    fire(&sandbox, "late", &transcript);
    sandbox.settled(4);
}

#[test]
fn what_is_sealed_to_a_key_nobody_has_stays_in_the_spool_and_is_named() {
    let sandbox = stopped_store();
    let public = sandbox.root().join("spool.pub");
    let line = fs::read(&public).unwrap();
    // As programs before 0.10 wrote it, without a checksum.
    fs::write(&public, changed(line.trim_ascii_end())).unwrap();
    sandbox.capture("late", &sandbox.transcript("late.jsonl", &["the canary sings", "noted"]));
    let daemon = sandbox.daemon();
    eventually("the file was looked at", || sandbox.status().unwrap()["failed"] == 2);
    let waiting = sandbox.spool();
    assert_eq!(waiting.len(), 1, "it is not thrown away");
    let found = findings(&sandbox);
    assert_eq!((&found[0]["what"], found.len()), (&json!("spool"), 1), "{found:?}");
    assert_eq!(found[0]["where"], waiting[0].to_str().unwrap());
    assert!(found[0]["do"].as_str().unwrap().contains("iai-mcp import"), "{found:?}");
    daemon.stop();
    fs::write(&public, line.trim_ascii_end()).unwrap();
    fs::rename(&waiting[0], sandbox.path("seen")).unwrap();
    assert_eq!(findings(&sandbox), Vec::<Value>::new(), "a key without a checksum is fine");
}

#[test]
fn another_stores_backup_takes_the_place_of_what_waits_too() {
    let other = stopped_store();
    let backup = other.path("other.iai");
    other.json(&["--json", "backup", backup.to_str().unwrap()]);
    let sandbox = stopped_store();
    sandbox.capture("late", &sandbox.transcript("late.jsonl", &["said since", "noted"]));
    let key = other.root().join(".crypto.key");
    let arguments =
        ["restore", "--replace", "--key-file", key.to_str().unwrap(), backup.to_str().unwrap()];
    let told = sandbox.json(&[&["--json"], &arguments[..]].concat());
    assert_eq!(told["waiting_replaced"], 2, "{told}");
    let replaced = std::path::PathBuf::from(told["replaced"].as_str().unwrap());
    assert_eq!(fs::read_dir(replaced.join(".deferred-captures")).unwrap().count(), 1);
    assert_eq!(sandbox.spool().len(), 0);
    assert_eq!(findings(&sandbox), Vec::<Value>::new());
    // How far transcripts were read belonged to the other store: what was said comes in again.
    let _daemon = sandbox.daemon();
    sandbox.capture("late", &sandbox.path("late.jsonl"));
    sandbox.settled(4);
}

#[test]
fn an_older_backup_of_the_same_store_keeps_what_waits_and_takes_in_what_was_said_since() {
    let sandbox = stopped_store();
    let backup = sandbox.path("b.iai");
    sandbox.json(&["--json", "backup", backup.to_str().unwrap()]);
    let daemon = sandbox.daemon();
    let since = sandbox.transcript("since.jsonl", &["said since the backup", "noted"]);
    fire(&sandbox, "since", &since);
    sandbox.settled(4);
    daemon.stop();
    sandbox.capture("late", &sandbox.transcript("late.jsonl", &["said last", "noted"]));
    let told = sandbox.run(&["restore", "--replace", backup.to_str().unwrap()]);
    assert!(stdout(&told).contains("`iai-mcp import` takes in"), "{}", stdout(&told));
    assert_eq!(sandbox.spool().len(), 1, "sealed to this store");
    let _daemon = sandbox.daemon();
    sandbox.settled(4);
    fire(&sandbox, "since", &since);
    sandbox.settled(6);
}

#[test]
fn links_in_the_place_of_folders_and_files_are_named_without_a_daemon() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
    let sandbox = stopped_store();
    for name in [".deferred-captures", "logs", ".capture-state"] {
        let (folder, outside) = (sandbox.root().join(name), sandbox.path("outside"));
        fs::create_dir_all(&folder).unwrap();
        fs::rename(&folder, &outside).unwrap();
        symlink(&outside, &folder).unwrap();
        let found = findings(&sandbox);
        assert_eq!((&found[0]["what"], found.len()), (&json!("folder"), 1), "{name}: {found:?}");
        assert_eq!(found[0]["where"], folder.to_str().unwrap());
        assert_eq!(row(&sandbox, "store folder").0, "fail", "{name}");
        fs::remove_file(&folder).unwrap();
        fs::rename(&outside, &folder).unwrap();
    }
    let (database, outside) = (sandbox.root().join("memory.db"), sandbox.path("theirs.db"));
    fs::rename(&database, &outside).unwrap();
    fs::set_permissions(&outside, fs::Permissions::from_mode(0o644)).unwrap();
    let bytes = fs::read(&outside).unwrap();
    for is_hard in [false, true] {
        match is_hard {
            true => fs::hard_link(&outside, &database).unwrap(),
            false => symlink(&outside, &database).unwrap(),
        }
        let found = findings(&sandbox);
        let is_named = |f: &Value| f["what"] == "file" && f["where"] == database.to_str().unwrap();
        assert!(found.iter().any(is_named), "{found:?}");
        assert_eq!(row(&sandbox, "store").0, "fail");
        let daemon = sandbox.daemon_starting();
        assert_ne!(daemon.wait(), Some(0));
        assert!(daemon.complaint().contains("is not used because"), "{}", daemon.complaint());
        assert_eq!(fs::read(&outside).unwrap(), bytes);
        assert_eq!(fs::metadata(&outside).unwrap().mode() & 0o777, 0o644, "nobody's mode changes");
        fs::remove_file(&database).unwrap();
    }
    fs::rename(&outside, &database).unwrap();
    let _daemon = sandbox.daemon();
    sandbox.settled(2);
}

#[test]
fn a_link_in_the_place_of_the_logs_is_refused_before_anything_of_theirs_is_touched() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
    let sandbox = stopped_store();
    let (logs, theirs) = (sandbox.root().join("logs"), sandbox.path("theirs"));
    fs::rename(&logs, sandbox.path("before")).unwrap();
    fs::create_dir(&theirs).unwrap();
    fs::set_permissions(&theirs, fs::Permissions::from_mode(0o755)).unwrap();
    symlink(&theirs, &logs).unwrap();
    let refused = sandbox.run(&["daemon", "start"]);
    assert!(!refused.status.success());
    let told = crate::support::stderr(&refused);
    assert!(told.contains("this is a link") && told.contains(logs.to_str().unwrap()), "{told}");
    assert_eq!(fs::metadata(&theirs).unwrap().mode() & 0o777, 0o755);
    assert_eq!(fs::read_dir(&theirs).unwrap().count(), 0);
}

#[test]
fn verify_says_what_it_looked_at_and_restore_what_it_was_given() {
    let sandbox = Sandbox::new();
    let told = sandbox.run(&["verify"]);
    assert!(told.status.success() && stdout(&told).contains("there is no store yet"));
    let sandbox = stopped_store();
    assert!(stdout(&sandbox.run(&["verify"])).contains("2 memories and every page"));
    fs::remove_file(sandbox.root().join("memory.db")).unwrap();
    let told = stdout(&sandbox.run(&["verify"]));
    assert!(told.contains("no database could be opened") && !told.contains("every page"), "{told}");
    let refused = sandbox.run(&["restore", "--replace", sandbox.path("").to_str().unwrap()]);
    assert!(crate::support::stderr(&refused).contains("it is a folder"));
}

#[test]
fn a_spool_file_that_stays_is_told_with_its_reason() {
    let sandbox = stopped_store();
    let spool = sandbox.root().join(".deferred-captures");
    let stuck = spool.join("s-1.jsonl");
    fs::write(&stuck, "{\"version\":9}\n{\"text\":\"from tomorrow\"}\n").unwrap();
    let listed = sandbox.json(&["--json", "spool", "list"]);
    assert!(listed["files"][0]["stuck"].as_str().unwrap().contains("version 9"), "{listed}");
    assert!(stdout(&sandbox.run(&["spool", "list"])).contains("stays: it says version 9"));
    let daemon = sandbox.daemon();
    let (verdict, detail, next) = row(&sandbox, "spool");
    assert_eq!(verdict, "warn");
    assert!(detail.contains("version 9") && !next.contains("within a minute"), "{detail}: {next}");
    daemon.stop();
    fs::remove_file(&stuck).unwrap();
    sandbox.capture("late", &sandbox.transcript("late.jsonl", &["about the harbour", "noted"]));
    let preview = sandbox.run(&["forget", "--match", "harbour"]);
    assert!(
        stdout(&preview).contains("2 waiting turns were not looked at"),
        "{}",
        stdout(&preview)
    );
    let sealed = sandbox.spool().remove(0);
    let text = fs::read_to_string(&sealed).unwrap();
    fs::write(&sealed, text.replacen("hpke-x25519", "hpke-x25518", 1)).unwrap();
    let found = findings(&sandbox);
    assert!(found[0]["detail"].as_str().unwrap().contains("was changed"), "{found:?}");
    assert!(!found[0]["do"].as_str().unwrap().contains("update"), "{found:?}");
}
