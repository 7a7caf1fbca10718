//! The daemon's life: one at a time, started and stopped, idle, activated by a socket.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::support::{Daemon, Line, Sandbox, eventually, n_processes, stderr, stdout};

#[test]
fn a_second_daemon_refuses_and_the_first_lives_on() {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    let second = sandbox.run(&["daemon", "run"]);
    assert_eq!(second.status.code(), Some(1));
    assert!(stderr(&second).contains(&daemon.pid().to_string()), "{}", stderr(&second));
    assert_eq!(sandbox.status().unwrap()["pid"], daemon.pid());
}

#[test]
fn five_daemons_started_at_once_become_one() {
    let sandbox = Sandbox::new();
    let mut children: Vec<_> = (0..5)
        .map(|_| sandbox.command(&["daemon", "start"]).stdout(Stdio::null()).spawn().unwrap())
        .collect();
    for child in &mut children {
        child.wait().unwrap();
    }
    assert_eq!(sandbox.status().unwrap()["state"], "ready");
    eventually("exactly one daemon is left", || n_processes(&sandbox) == 1);
    assert!(sandbox.run(&["daemon", "stop"]).status.success());
    eventually("and then none", || n_processes(&sandbox) == 0);
}

#[test]
fn start_stop_restart_and_status_tell_the_truth() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(&["daemon", "status"]).status.code(), Some(1));
    assert!(stdout(&sandbox.run(&["daemon", "stop"])).contains("not running"));
    let started = sandbox.run(&["daemon", "start"]);
    assert!(started.status.success(), "{}", stderr(&started));
    assert!(stderr(&started).contains("made a key"), "said once: {}", stderr(&started));
    let first = sandbox.status().unwrap()["pid"].clone();
    assert!(stdout(&sandbox.run(&["daemon", "start"])).contains("already running"));
    let restarted = sandbox.run(&["daemon", "restart"]);
    assert!(restarted.status.success() && !stderr(&restarted).contains("made a key"));
    assert_ne!(sandbox.status().unwrap()["pid"], first);
    assert!(stdout(&sandbox.run(&["daemon", "status"])).contains("state: ready"));
    assert!(stdout(&sandbox.run(&["daemon", "logs"])).contains("listening"));
    assert!(sandbox.run(&["daemon", "stop"]).status.success());
    assert!(!sandbox.socket().exists());
    eventually("nothing is left running", || n_processes(&sandbox) == 0);
}

#[test]
fn the_socket_answers_before_the_store_is_open() {
    // A passphrase costs a derivation, so that there is a "before" to see.
    let sandbox = Sandbox::new().with("IAI_MCP_CRYPTO_PASSPHRASE", "correct horse");
    let daemon = sandbox.daemon_starting();
    let mut states = Vec::new();
    eventually("the daemon is ready", || {
        assert!(daemon.is_running(), "{}", daemon.complaint());
        let state = sandbox.status().map(|status| status["state"].clone());
        states.extend(state.clone());
        state == Some(json!("ready"))
    });
    assert_eq!(states.first(), Some(&json!("starting")), "{states:?}");
}

#[test]
fn a_killed_daemons_socket_does_not_stop_the_next_one() {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    daemon.signal("-KILL");
    daemon.wait();
    assert!(sandbox.socket().exists(), "SIGKILL leaves it behind");
    let _next = sandbox.daemon();
    let mode = fs::metadata(sandbox.socket()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn sigterm_and_sigint_end_it_cleanly_while_clients_are_connected() {
    for signal in ["-TERM", "-INT"] {
        let sandbox = Sandbox::new();
        let daemon = sandbox.daemon();
        let mut line = Line::open(&sandbox.socket()).unwrap();
        line.call("memory_capture", json!({"text": "acknowledged"}));
        daemon.signal(signal);
        assert_eq!(daemon.wait(), Some(0), "{signal}: {}", daemon.complaint());
        assert!(!sandbox.socket().exists());
        assert!(line.is_closed());
        let wal = sandbox.root().join("memory.db-wal");
        let n_bytes = fs::metadata(wal).map_or(0, |metadata| metadata.len());
        assert_eq!(n_bytes, 0, "the log was folded into the database");
    }
}

#[test]
fn an_idle_daemon_leaves_and_a_connected_one_stays() {
    let sandbox = Sandbox::new().with("IAI_DAEMON_IDLE_SHUTDOWN_SECS", "1");
    let daemon = sandbox.daemon_starting();
    eventually("it answers", || sandbox.status().is_some());
    let line = Line::open(&sandbox.socket()).unwrap();
    std::thread::park_timeout(std::time::Duration::from_millis(1500));
    assert!(daemon.is_running());
    drop(line);
    assert_eq!(daemon.wait(), Some(0));
    assert!(!sandbox.socket().exists());
}

#[test]
fn an_inherited_socket_is_served_and_left_in_place() {
    let sandbox = Sandbox::new();
    let listener = UnixListener::bind(sandbox.socket()).unwrap();
    let handed = OwnedFd::from(listener.try_clone().unwrap());
    let program = env!("CARGO_BIN_EXE_iai-mcp");
    // The shell's own process id survives `exec`, which is what LISTEN_PID has to be.
    let script = format!("LISTEN_PID=$$ LISTEN_FDS=1 exec {program} daemon run 3<&0 0</dev/null");
    let plain = sandbox.command(&[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).env_clear().current_dir(sandbox.path(""));
    for (name, value) in plain.get_envs() {
        shell.env(name, value.unwrap());
    }
    let mut child = shell.stdin(Stdio::from(handed)).stderr(Stdio::null()).spawn().unwrap();
    drop(listener);
    eventually("it is ready", || sandbox.status().is_some_and(|status| status["state"] == "ready"));
    assert_eq!(sandbox.status().unwrap()["pid"], child.id());
    Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(child.wait().unwrap().success());
    assert!(sandbox.socket().exists(), "the socket is its owner's");
}

#[test]
fn variables_meant_for_another_process_are_ignored() {
    let sandbox = Sandbox::new().with("LISTEN_FDS", "1").with("LISTEN_PID", "1");
    let daemon = sandbox.daemon();
    assert_eq!(daemon.stop(), Some(0));
    assert!(!sandbox.socket().exists(), "it had bound its own");
}

#[test]
fn everything_it_makes_is_its_owners_alone_under_any_umask() {
    check_umask("000");
    check_umask("777");
}

fn check_umask(umask: &str) {
    let sandbox = Sandbox::new();
    let program = env!("CARGO_BIN_EXE_iai-mcp");
    let plain = sandbox.command(&[]);
    let transcript = sandbox.transcript("t.jsonl", &["one"]);
    let mut shell = Command::new("sh");
    let script = "umask $1; $2 daemon start && $2 capture-transcript --no-spawn --session-id s $3 \
                  && $2 crypto rotate && $2 export -o $4";
    shell.args(["-c", script, "sh", umask, program]).env_clear();
    shell.arg(transcript).arg(sandbox.root().join("exported"));
    for (name, value) in plain.get_envs() {
        shell.env(name, value.unwrap());
    }
    assert!(shell.current_dir(sandbox.path("")).status().unwrap().success());
    sandbox.settled(1);
    let mut folders = vec![sandbox.root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let mode = entry.metadata().unwrap().permissions().mode();
            let wanted = if entry.path().is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode & 0o777, wanted, "umask {umask}: {:?}", entry.path());
            if entry.path().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    sandbox.run(&["daemon", "stop"]);
}

/// A daemon that hangs: halted, as a deadlock would halt it.
#[cfg(target_os = "linux")]
fn halted(sandbox: &Sandbox) -> Daemon {
    let daemon = sandbox.daemon();
    daemon.signal("-STOP");
    daemon
}

#[test]
#[cfg(target_os = "linux")]
fn a_daemon_that_hangs_is_stopped_and_replaced() {
    let sandbox = Sandbox::new();
    let first = halted(&sandbox);
    let stopped = sandbox.run(&["daemon", "stop"]);
    assert_eq!(stdout(&stopped).trim(), "stopped", "{}", stderr(&stopped));
    assert!(stderr(&stopped).contains(&format!("process {} did not answer", first.pid())));
    assert_eq!(first.wait(), Some(0), "it left in good order");
    let second = halted(&sandbox);
    let restarted = sandbox.run(&["daemon", "restart"]);
    assert!(restarted.status.success(), "{}", stderr(&restarted));
    assert!(stderr(&restarted).contains(&format!("process {} did not answer", second.pid())));
    assert_ne!(sandbox.status().unwrap()["pid"], second.pid());
    assert!(sandbox.run(&["daemon", "stop"]).status.success());
}

#[test]
#[cfg(target_os = "linux")]
fn a_daemon_whose_socket_is_gone_is_stopped_all_the_same() {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    fs::remove_file(sandbox.socket()).unwrap();
    assert_eq!(stdout(&sandbox.run(&["daemon", "stop"])).trim(), "stopped");
    daemon.wait();
}

#[test]
#[cfg(target_os = "linux")]
fn a_process_that_only_stands_in_the_lock_is_not_ended() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.root()).unwrap();
    // Somebody listens and is silent; the lock is held by this test and names another process.
    let _listener = UnixListener::bind(sandbox.socket()).unwrap();
    // It ends with its input, so that nothing is left of a test that fails.
    let mut other = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let lock = sandbox.root().join(".daemon.lock");
    fs::write(&lock, format!("{}\n", other.id())).unwrap();
    let held = fs::File::open(&lock).unwrap();
    held.try_lock().unwrap();
    let refused = sandbox.run(&["daemon", "stop"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains(&format!("kill {}", other.id())), "{}", stderr(&refused));
    assert!(other.try_wait().unwrap().is_none(), "it lives");
    assert!(other.wait().unwrap().success());
}

#[test]
#[cfg(target_os = "linux")]
fn a_session_that_begins_does_without_a_brief_while_the_daemon_hangs() {
    let sandbox = Sandbox::new();
    let _daemon = halted(&sandbox);
    let begun = sandbox.run(&["session-start"]);
    assert_eq!(begun.status.code(), Some(0));
    assert_eq!(stdout(&begun), "");
    assert!(stderr(&begun).contains("no brief"), "{}", stderr(&begun));
    assert!(stderr(&begun).contains("within 2000 ms"), "{}", stderr(&begun));
}

#[test]
fn a_restart_stops_no_daemon_that_none_could_replace() {
    let sandbox = Sandbox::new().with("IAI_MCP_CRYPTO_PASSPHRASE", "correct horse");
    let daemon = sandbox.daemon();
    let mut sandbox = sandbox;
    for words in ["", "battery staple"] {
        sandbox = sandbox.with("IAI_MCP_CRYPTO_PASSPHRASE", words);
        let refused = sandbox.run(&["daemon", "restart"]);
        assert_eq!(refused.status.code(), Some(5), "{}", stderr(&refused));
        assert!(stderr(&refused).contains("was not stopped"), "{}", stderr(&refused));
        assert_eq!(sandbox.status().unwrap()["pid"], daemon.pid());
    }
    let sandbox = sandbox.with("IAI_MCP_CRYPTO_PASSPHRASE", "correct horse");
    let vault = sandbox.root().join("vault.json");
    fs::rename(&vault, sandbox.path("away")).unwrap();
    let refused = sandbox.run(&["daemon", "restart"]);
    assert!(stderr(&refused).contains("crypto rotate"), "{}", stderr(&refused));
    fs::rename(sandbox.path("away"), &vault).unwrap();
    let restarted = sandbox.run(&["daemon", "restart"]);
    assert!(restarted.status.success(), "{}", stderr(&restarted));
    daemon.wait();
    assert!(sandbox.run(&["daemon", "stop"]).status.success());
}

#[test]
fn a_daemon_whose_store_is_removed_makes_room_for_the_next() {
    for socket in ["d.sock", ".iai-mcp/.daemon.sock"] {
        let sandbox = Sandbox::new();
        let path = sandbox.path(socket);
        let sandbox = sandbox.with("IAI_DAEMON_SOCKET_PATH", path.to_str().unwrap());
        let daemon = sandbox.daemon_starting();
        let ready = || {
            let status = Line::open(&path)?.try_ask(&json!({"type": "status"}))?;
            (status["state"] == "ready").then(|| status["pid"].as_u64().unwrap())
        };
        eventually("it is ready", || ready() == Some(daemon.pid().into()));
        // What the daemon writes meanwhile may be in the way of the folder's end.
        eventually("the folder is gone", || {
            fs::remove_dir_all(sandbox.root()).ok();
            !sandbox.root().exists()
        });
        assert_eq!(daemon.wait(), Some(0), "{}", daemon.complaint());
        let started = sandbox.run(&["daemon", "start"]);
        assert!(started.status.success(), "{}", stderr(&started));
        assert!(ready().is_some_and(|pid| pid != u64::from(daemon.pid())));
        assert!(sandbox.run(&["daemon", "stop"]).status.success());
    }
}
