//! What stands in the place of a file of ours is named, with the step that mends it.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::Path;

use serde_json::Value;

use crate::support::{Sandbox, stdout};

/// A store whose daemon has left, with everything that one leaves behind.
fn left_store() -> Sandbox {
    let sandbox = Sandbox::new();
    // Inside the folder, as it is by default.
    let socket = sandbox.root().join(".daemon.sock");
    let sandbox = sandbox.with("IAI_DAEMON_SOCKET_PATH", socket.to_str().unwrap());
    assert!(sandbox.run(&["daemon", "start"]).status.success());
    assert!(sandbox.run(&["daemon", "stop"]).status.success());
    assert!(sandbox.run(&["verify"]).status.success());
    sandbox
}

#[track_caller]
fn finding(sandbox: &Sandbox, path: &Path) -> (String, String) {
    let output = sandbox.run(&["--json", "verify"]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = report["findings"].as_array().unwrap();
    let found = found.iter().find(|one| one["where"] == path.to_str().unwrap());
    let found = found.unwrap_or_else(|| panic!("{}: {report}", path.display()));
    let text = |field: &str| found[field].as_str().unwrap().to_owned();
    (text("detail"), text("do"))
}

/// The rows of the doctor that failed, each with what was found and what to do.
#[track_caller]
fn failed(sandbox: &Sandbox) -> (Vec<(String, String)>, Value) {
    let report = sandbox.doctor(&[]);
    let rows = report["checks"].as_array().unwrap().iter().filter(|row| row["verdict"] == "fail");
    let text = |row: &Value, field: &str| row[field].as_str().unwrap().to_owned();
    (rows.map(|row| (text(row, "detail"), text(row, "next"))).collect(), report)
}

#[test]
fn links_in_the_place_of_files_are_named_with_the_step_that_mends_it() {
    let sandbox = left_store();
    let names = [
        ".daemon.lock",
        ".daemon.sock",
        "logs/daemon.log",
        "logs/hook.log",
        "logs/daemon-start.log",
        "install-ledger.json",
        ".crypto.key",
    ];
    for name in names {
        let (path, away) = (sandbox.root().join(name), sandbox.path("away"));
        let was_there = fs::rename(&path, &away).is_ok();
        symlink(&away, &path).unwrap();
        let (detail, next) = finding(&sandbox, &path);
        assert!(detail.contains("it is a link"), "{name}: {detail}");
        assert!(next.contains("rm") || next.contains("itself"), "{name}: {next}");
        let (rows, report) = failed(&sandbox);
        let is_told = |(detail, next): &(String, String)| detail.contains(name) && !next.is_empty();
        assert!(rows.iter().any(is_told), "{name}: {rows:?}");
        assert!(!report.to_string().contains("daemon start"), "{name}: {report}");
        fs::remove_file(&path).unwrap();
        if was_there {
            fs::rename(&away, &path).unwrap();
        }
    }
    assert!(sandbox.run(&["verify"]).status.success());
}

#[test]
fn a_key_with_a_second_name_is_named() {
    let sandbox = left_store();
    let key = sandbox.root().join(".crypto.key");
    fs::hard_link(&key, sandbox.path("second")).unwrap();
    assert!(finding(&sandbox, &key).0.contains("second name"));
    let (rows, _) = failed(&sandbox);
    assert!(rows[0].0.contains(".crypto.key: it has a second name"), "{rows:?}");
    // The advice holds: a copy moved over it has one name.
    fs::copy(&key, sandbox.path("copy")).unwrap();
    fs::rename(sandbox.path("copy"), &key).unwrap();
    assert!(sandbox.run(&["verify"]).status.success());
}

#[test]
fn files_of_another_user_are_told_with_the_step_for_owners() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = left_store();
    let (key, database) = (sandbox.root().join(".crypto.key"), sandbox.root().join("memory.db"));
    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
    let (rows, _) = failed(&sandbox);
    assert!(rows[0].0.contains("its mode is 0640"), "{rows:?}");
    assert!(rows[0].1.contains("chmod 600"), "{rows:?}");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: needs root");
        return;
    }
    for path in [&key, &database] {
        chown(path, Some(65_534), None).unwrap();
        let (rows, report) = failed(&sandbox);
        assert!(!rows.is_empty(), "{report}");
        for (detail, next) in rows {
            assert!(detail.contains("belongs to"), "{detail}");
            assert!(next.contains("chown") && !next.contains("chmod"), "{detail}: {next}");
        }
        chown(path, Some(0), None).unwrap();
    }
}
