//! Many at once: no process, descriptor or answer too many or too few.

use std::thread;

use serde_json::json;

use crate::support::{Line, Mcp, Sandbox, eventually, n_processes};

#[test]
fn five_mcp_processes_at_once_all_answer() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    thread::scope(|scope| {
        for n in 0..5 {
            let sandbox = &sandbox;
            scope.spawn(move || {
                let mut mcp = Mcp::start(sandbox);
                let text = format!("fact of process {n}");
                let kept = mcp.ask("memory_capture", json!({"text": text}));
                assert_eq!(kept["status"], "inserted");
                let answer = mcp.ask("memory_recall", json!({"cue": format!("process {n}")}));
                assert_eq!(answer["hits"][0]["literal_surface"], text);
                assert_eq!(mcp.hang_up(), Some(0));
            });
        }
    });
    eventually("only the daemon is left", || n_processes(&sandbox) == 1);
}

#[test]
fn twenty_clients_with_fifty_recalls_leave_nothing_open() {
    const CLIENTS: usize = 20;
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    let turns: Vec<String> =
        (0..60).map(|n| format!("decision {n} about service {}", n % 7)).collect();
    let turns: Vec<&str> = turns.iter().map(String::as_str).collect();
    sandbox.capture("s", &sandbox.transcript("t.jsonl", &turns));
    sandbox.settled(60);
    let round = || {
        thread::scope(|scope| {
            for client in 0..CLIENTS {
                let socket = sandbox.socket();
                scope.spawn(move || {
                    let mut line = Line::open(&socket).unwrap();
                    for n in 0..50 {
                        let cue = format!("decision {n} service {client}");
                        let answer = line.call("memory_recall", json!({"cue": cue}));
                        assert!(
                            !answer["result"]["hits"].as_array().unwrap().is_empty(),
                            "{answer}"
                        );
                    }
                });
            }
        });
    };
    round();
    let n_before = daemon.n_open_files();
    round();
    // A reader of the store is opened when it is needed first, which may be in the second round;
    // one descriptor that a client left behind would be twenty.
    eventually("descriptors are given back", || daemon.n_open_files() < n_before + CLIENTS);
    assert_eq!(n_processes(&sandbox), 1);
}
