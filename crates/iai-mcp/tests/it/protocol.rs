//! The socket: framing, envelopes, codes, control messages; nothing a client sends ends the daemon.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Line, Sandbox};

#[track_caller]
fn check(line: &mut Line, sent: &[u8], want_code: i64, want_id: &Value) {
    line.send(sent);
    line.send(b"\n");
    let answer = line.answer();
    let name = String::from_utf8_lossy(&sent[..sent.len().min(60)]).into_owned();
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(want_code), want_id), "{name}");
    assert!(answer["error"]["message"].as_str().unwrap().len() > 8, "{name}: {answer}");
}

#[test]
fn hostile_lines_get_named_errors_on_a_living_connection() {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    let mut line = Line::open(&sandbox.socket()).unwrap();
    let null = Value::Null;
    check(&mut line, b"not json", -32700, &null);
    check(&mut line, b"\xff\xfe\x00", -32700, &null);
    check(&mut line, "[".repeat(200_000).as_bytes(), -32700, &null);
    check(&mut line, b"[]", -32600, &null);
    check(&mut line, br#"{"type":"unheard_of"}"#, -32600, &null);
    check(&mut line, br#"{"jsonrpc":"2.0","id":"a","method":"nope"}"#, -32601, &json!("a"));
    check(&mut line, br#"{"jsonrpc":"2.0","id":2,"method":"memory_recall"}"#, -32602, &json!(2));
    let wrong = br#"{"jsonrpc":"2.0","id":3,"method":"memory_recall","params":{"cue":5}}"#;
    check(&mut line, wrong, -32602, &json!(3));
    let array = br#"{"jsonrpc":"2.0","id":4,"method":"memory_recall","params":["x"]}"#;
    check(&mut line, array, -32602, &json!(4));
    check(&mut line, &vec![b'x'; 9 * 1024 * 1024], -32006, &null);
    assert_eq!(line.ask(&json!({"type": "status"}))["ok"], true);
    assert!(daemon.is_running());
}

#[test]
fn an_id_is_echoed_with_its_type_and_answers_keep_their_order() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let mut line = Line::open(&sandbox.socket()).unwrap();
    let ids = [json!(1), json!("1"), json!(-7), json!("long id")];
    for id in &ids {
        line.send(
            format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "topology"})).as_bytes(),
        );
    }
    for id in &ids {
        let answer = line.answer();
        assert_eq!(&answer["id"], id);
        assert_eq!(answer["result"]["N"], 0);
    }
}

#[test]
fn the_seven_control_messages_answer_plainly() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let mut line = Line::open(&sandbox.socket()).unwrap();
    let status = line.ask(&json!({"type": "status"}));
    for key in [
        "ok",
        "state",
        "uptime_sec",
        "version",
        "fsm_state",
        "last_tick_at",
        "quiet_window",
        "pending_digest",
        "daemon_started_at",
        "scheduler_paused",
        "protocol",
        "captured",
        "stored",
        "pending",
        "failed",
    ] {
        assert!(status.get(key).is_some(), "{key} in {status}");
    }
    assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
    let paused = line.ask(&json!({"type": "pause", "seconds": 60}));
    assert_eq!(paused, json!({"ok": true, "paused": true}));
    assert_eq!(line.ask(&json!({"type": "status"}))["scheduler_paused"], true);
    assert_eq!(line.ask(&json!({"type": "resume"})), json!({"ok": true, "paused": false}));
    let opened = line.ask(&json!({"type": "session_open", "session_id": "s", "ts": "t"}));
    assert_eq!(opened, json!({"ok": true, "reason": "session_open_queued"}));
    assert_eq!(line.ask(&json!({"type": "force_wake"}))["reason"], "wake_queued");
    let queued = line.ask(&json!({"type": "force_rem"}));
    assert_eq!(queued, json!({"ok": true, "reason": "rem_queued"}));
    let sleeping = line.ask(&json!({"type": "user_initiated_sleep", "reason": "r"}));
    let is_begun = sleeping == json!({"ok": true, "state": "TRANSITIONING"});
    assert!(is_begun || sleeping == json!({"ok": false, "reason": "already_sleeping"}));
    let wrong = line.ask(&json!({"type": "pause", "seconds": "soon"}));
    assert_eq!((&wrong["ok"], &wrong["reason"]), (&json!(false), &json!("invalid_message")));
}

#[test]
fn a_client_that_leaves_mid_frame_disturbs_nobody() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    for _ in 0..20 {
        let mut line = Line::open(&sandbox.socket()).unwrap();
        line.send(br#"{"jsonrpc":"2.0","id":1,"meth"#);
    }
    let mut line = Line::open(&sandbox.socket()).unwrap();
    assert_eq!(line.call("topology", json!({}))["result"]["N"], 0);
}

#[test]
fn one_connection_too_many_is_told_so() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    crate::support::eventually("it is told so", || {
        let begun = Instant::now();
        let lines: Vec<Line> = (0..256).map(|_| Line::open(&sandbox.socket()).unwrap()).collect();
        let mut refused = Line::open(&sandbox.socket()).unwrap();
        let told = refused.try_ask(&json!({"type": "status"}));
        let took = begun.elapsed();
        drop(lines);
        // On a machine this busy, the first has been silent for long enough to make room.
        let is_early = took < Duration::from_millis(900);
        is_early && told.is_none_or(|told| told["error"]["code"] == -32003)
    });
    crate::support::eventually("a freed place is given away", || {
        let mut line = Line::open(&sandbox.socket()).unwrap();
        line.try_ask(&json!({"type": "status"})).is_some_and(|status| status["ok"] == true)
    });
}

#[test]
fn connections_that_say_nothing_keep_nobody_from_status_and_stop() {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    let mut lines: Vec<Line> = (0..256).map(|_| Line::open(&sandbox.socket()).unwrap()).collect();
    for line in lines.iter_mut().step_by(2) {
        line.send(br#"{"jsonrpc":"2.0","id":1,"meth"#);
    }
    crate::support::eventually("status gets through", || {
        sandbox.run(&["daemon", "status"]).status.success()
    });
    let stopped = sandbox.run(&["daemon", "stop"]);
    assert!(stopped.status.success(), "{}", crate::support::stderr(&stopped));
    daemon.wait();
}

#[test]
fn a_daemon_without_descriptors_waits_for_some_and_stays() {
    let sandbox = Sandbox::new();
    let program = env!("CARGO_BIN_EXE_iai-mcp");
    let run = |limit: &str, command: &str| {
        let script = format!("ulimit -n {limit}; exec {program} {command}");
        let mut shell = Command::new("sh");
        let own = sandbox.command(&[]);
        let variables = own.get_envs().filter_map(|(name, value)| Some((name, value?)));
        shell.env_clear().envs(variables).arg("-c").arg(script).output().unwrap()
    };
    let few = run("20", "daemon start");
    assert!(!few.status.success());
    assert!(crate::support::stderr(&few).contains("ulimit -n"), "{}", crate::support::stderr(&few));
    let started = run("64", "daemon start");
    assert!(started.status.success(), "{}", crate::support::stderr(&started));
    let pid = sandbox.status().unwrap()["pid"].clone();
    let lines: Vec<Line> = (0..200).filter_map(|_| Line::open(&sandbox.socket())).collect();
    crate::support::eventually("it answers beside a crowd", || {
        let status = Line::open(&sandbox.socket())
            .and_then(|mut line| line.try_ask(&json!({"type": "status"})));
        status.is_some_and(|status| status["pid"] == pid)
    });
    drop(lines);
    assert!(sandbox.run(&["daemon", "stop"]).status.success());
}
