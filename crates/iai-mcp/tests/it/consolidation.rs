//! Consolidation through the real binary: asked for over MCP and on the command line, held back,
//! and over when it is over.

use serde_json::{Value, json};

use crate::support::{Daemon, Mcp, Sandbox, stdout};

/// A daemon with eight short sessions in it, in which the same is done again and again.
fn lived_in() -> (Sandbox, Daemon) {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    for session in 0..8 {
        let asked = format!(
            "Please use pnpm, not npm. For change {session} of the billing service run \
             `pnpm test` before you touch the invoice template again."
        );
        let answered = format!(
            "The billing service change {session} is done: `pnpm test` went through, and the \
             invoice template now rounds the tax of every line."
        );
        let again = "Now look at the invoice template of the billing service once more.";
        let last = "The invoice template of the billing service is as it should be now.";
        let turns = [asked.as_str(), answered.as_str(), again, last];
        let transcript = sandbox.transcript(&format!("t{session}.jsonl"), &turns);
        sandbox.capture(&format!("session-{session}"), &transcript);
    }
    sandbox.settled(32);
    (sandbox, daemon)
}

fn n_records(mcp: &mut Mcp) -> Value {
    mcp.ask("topology", json!({}))["N"].clone()
}

/// A9, A10 and A19, as a host sees them.
#[test]
fn consolidating_again_changes_nothing_and_everything_found_is_told() {
    let (sandbox, _daemon) = lived_in();
    let mut mcp = Mcp::start(&sandbox);
    let first = mcp.ask("memory_consolidate", json!({}));
    assert_eq!(first["is_finished"], true, "{first}");
    assert_eq!(first["mode"], "heavy");
    let n = n_records(&mut mcp);
    for _ in 0..2 {
        let again = mcp.ask("memory_consolidate", json!({}));
        assert_eq!((&again["summaries_created"], &again["steps"]), (&json!(0), &json!({})));
    }
    assert_eq!(n_records(&mut mcp), n);
    let patterns = mcp.ask("schema_list", json!({}));
    let told: Vec<&Value> = patterns["schemas"].as_array().unwrap().iter().collect();
    let wish = told.iter().find(|schema| schema["pattern"] == "prefers pnpm to npm").unwrap();
    assert_eq!((&wish["evidence_count"], &wish["status"]), (&json!(8), &json!("auto")));
    assert!(!patterns.to_string().contains("role:"), "{patterns}");
    let events = mcp.ask("events_query", json!({"kind": "cls_consolidation_run"}));
    assert_eq!(events["count"], 1, "only the run that did something is written down");
    let found = mcp.ask("events_query", json!({"kind": "schema_induction_run"}));
    assert_eq!(found["count"], 1, "{found}");
    assert_eq!(found["events"][0]["data"]["patterns_found"], patterns["total"], "{found}");
}

/// A transcript in which the same is run again and again, and never spoken of.
#[test]
fn what_was_run_is_found_and_becomes_a_habit() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    for session in 0..5 {
        let said = |uuid: &str, role: &str, content: Value| {
            json!({
                "type": role, "uuid": format!("{uuid}-{session}"), "cwd": "/src/app",
                "message": {"role": role, "content": content},
            })
        };
        let input = json!({"command": "cd app && flutter test --name 'hunter2' | tail -3"});
        let run = json!([{"type": "tool_use", "name": "Bash", "input": input}]);
        let lines = [
            said("u", "user", json!(format!("does change {session} of the basket work?"))),
            said("t", "assistant", run),
            said("a", "assistant", json!(format!("Yes, change {session} is fine."))),
        ];
        let path = sandbox.path(&format!("t{session}.jsonl"));
        std::fs::write(&path, lines.map(|line| format!("{line}\n")).concat()).unwrap();
        sandbox.capture(&format!("session-{session}"), &path);
    }
    sandbox.settled(10);
    let mut mcp = Mcp::start(&sandbox);
    mcp.ask("memory_consolidate", json!({}));
    let query = json!({"structure_query": {"command": "flutter test"}});
    let found = mcp.ask("memory_recall_structural", query);
    assert_eq!(found["hits"].as_array().map(Vec::len), Some(5), "{found}");
    let patterns = mcp.ask("schema_list", json!({})).to_string();
    assert!(patterns.contains("usually runs `flutter test` in app"), "{patterns}");
    let kept = stdout(&sandbox.run(&["export"]));
    assert!(kept.contains("flutter test") && !kept.contains("hunter2"), "{kept}");
}

#[test]
fn a_question_asked_in_vain_becomes_one() {
    let (sandbox, _daemon) = lived_in();
    let mut mcp = Mcp::start(&sandbox);
    for _ in 0..2 {
        mcp.ask("memory_recall", json!({"cue": "which colour has the harbour crane"}));
        mcp.ask("memory_consolidate", json!({}));
    }
    let gap = |mcp: &mut Mcp| {
        let open = mcp.ask("curiosity_pending", json!({}));
        open["questions"].as_array().unwrap().iter().any(|question| question["tier"] == "gap")
    };
    assert!(gap(&mut mcp));
    let text = "The harbour crane has the colour green.";
    mcp.ask("memory_capture", json!({"text": text}));
    assert!(!gap(&mut mcp));
}

#[test]
fn the_sleep_cycle_tells_what_it_did() {
    let (sandbox, _daemon) = lived_in();
    let said = stdout(&sandbox.run(&["maintenance", "sleep-cycle"]));
    assert!(said.starts_with("Sleep cycle started.\n"), "{said}");
    assert!(said.contains("facts taken") && said.contains("Sleep cycle complete ("), "{said}");
    let again = sandbox.json(&["--json", "maintenance", "sleep-cycle"]);
    assert_eq!((&again["is_finished"], &again["steps"]), (&json!(true), &json!({})));
    let status = sandbox.status().unwrap();
    assert!(status["consolidated_at"].is_string() && status["consolidating"].is_null());
    assert_eq!(status["pending_digest"]["rem_cycles_completed"], 1);
}

/// What was made of them does not count among the turns, before a restart or after it.
#[test]
fn status_and_list_tell_what_was_said() {
    let (sandbox, daemon) = lived_in();
    let made = sandbox.json(&["--json", "maintenance", "sleep-cycle"]);
    assert!(made["steps"]["summaries"]["summaries_created"].as_u64() > Some(0), "{made}");
    let told = || {
        let listed = sandbox.json(&["--json", "list", "--limit", "100"]);
        (sandbox.status().unwrap()["stored"].clone(), listed["count"].clone())
    };
    assert_eq!(told(), (json!(32), json!(32)));
    drop(daemon);
    let _daemon = sandbox.daemon();
    assert_eq!(told(), (json!(32), json!(32)));
}

#[test]
fn consolidation_is_paused_and_resumed() {
    let (sandbox, _daemon) = lived_in();
    assert_eq!(stdout(&sandbox.run(&["daemon", "pause", "60"])), "paused for 60s\n");
    assert_eq!(sandbox.status().unwrap()["scheduler_paused"], true);
    assert_eq!(stdout(&sandbox.run(&["daemon", "resume"])), "resumed\n");
    assert_eq!(sandbox.status().unwrap()["scheduler_paused"], false);
    assert!(sandbox.run(&["daemon", "pause"]).status.success());
    assert_eq!(sandbox.status().unwrap()["paused_until"], json!(null));
    assert_eq!(sandbox.status().unwrap()["scheduler_paused"], true);
}
