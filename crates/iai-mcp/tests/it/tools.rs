//! The tools through the MCP process, answered by a real daemon.

use serde_json::{Value, json};

use crate::support::{Mcp, Sandbox};

const TOOLS: [&str; 15] = [
    "memory_recall",
    "memory_recall_structural",
    "memory_reinforce",
    "memory_contradict",
    "memory_capture",
    "memory_consolidate",
    "profile_get_set",
    "curiosity_pending",
    "schema_list",
    "events_query",
    "topology",
    "camouflaging_status",
    "memory_temporal_recall",
    "memory_search",
    "episodes_recent",
];

fn capture(mcp: &mut Mcp, text: &str) -> String {
    let kept = mcp.ask("memory_capture", json!({"text": text}));
    assert_eq!(kept["status"], "inserted", "{kept}");
    kept["record_id"].as_str().unwrap().to_owned()
}

fn surfaces(answer: &Value) -> Vec<&str> {
    let hits = answer["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["literal_surface"].as_str().unwrap()).collect()
}

/// Checks the subset of JSON Schema that our tools use.
fn complaints(schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is = |kind: &&str| match *kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    };
    if !kinds.is_empty() && !kinds.iter().any(is) {
        found.push(format!("{at}: {value} is not {kinds:?}"));
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        found.push(format!("{at}: {value} is none of {words:?}"));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.is_object() && value.get(name.as_str().unwrap()).is_none() {
            found.push(format!("{at}: {name} is missing"));
        }
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(part) = value.get(name) {
            found.extend(complaints(inner, part, &format!("{at}.{name}")));
        }
    }
    for item in value.as_array().into_iter().flatten().filter(|_| schema["items"].is_object()) {
        found.extend(complaints(&schema["items"], item, &format!("{at}[]")));
    }
    found
}

#[test]
fn the_list_is_static_small_and_complete() {
    let sandbox = Sandbox::new();
    let answer = Mcp::start_with(&sandbox, "2025-06-18").request("tools/list", &json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, TOOLS);
    for tool in tools {
        for part in ["title", "description", "inputSchema", "outputSchema", "annotations"] {
            assert!(!tool[part].is_null(), "{part} of {}", tool["name"]);
        }
    }
    let n_chars = answer.to_string().chars().count();
    assert!(n_chars < 4 * 2500, "{n_chars} characters are more than 2,500 tokens");
}

/// A7.
#[test]
fn every_answer_fits_its_declared_schema() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let mut mcp = Mcp::start_with(&sandbox, "2025-11-25");
    let listed = mcp.request("tools/list", &json!({}));
    let first = capture(&mut mcp, "the launch is on the first of June");
    let second = capture(&mut mcp, "the venue is the old harbour hall");
    let calls = [
        ("memory_recall", json!({"cue": "launch june"})),
        ("memory_recall", json!({"cue": "nothing like this exists"})),
        ("memory_recall_structural", json!({"structure_query": {"TIER": "episodic"}})),
        ("memory_reinforce", json!({"ids": [first, second]})),
        ("memory_contradict", json!({"id": first, "new_fact": "the launch is in September"})),
        ("memory_recall", json!({"cue": "launch june"})),
        ("memory_capture", json!({"text": "x", "tier": "semantic", "role": "assistant"})),
        ("memory_consolidate", json!({})),
        ("profile_get_set", json!({"operation": "get"})),
        ("profile_get_set", json!({"operation": "get", "knob": "wake_depth"})),
        ("profile_get_set", json!({"operation": "set", "knob": "wake_depth", "value": "deep"})),
        ("curiosity_pending", json!({})),
        ("schema_list", json!({})),
        ("events_query", json!({"kind": "s4_contradiction"})),
        ("topology", json!({})),
        ("camouflaging_status", json!({})),
        ("memory_temporal_recall", json!({"phrase": "today"})),
        ("memory_temporal_recall", json!({"cue": "launch", "from": "2026-01-01"})),
        ("memory_search", json!({"text": "harbour hall"})),
        ("memory_search", json!({"text": "no such words"})),
        ("episodes_recent", json!({})),
        ("memory_recall_structural", json!({"structure_query": {}})),
    ];
    for (name, arguments) in calls {
        let result = mcp.tool(name, arguments);
        let tools = listed["result"]["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let found = complaints(&tool["outputSchema"], &result["structuredContent"], name);
        assert!(found.is_empty(), "{found:?}");
        assert_eq!(result["content"][0]["type"], "text", "{name}");
        assert!(!result["content"][0]["text"].as_str().unwrap().is_empty(), "{name}");
    }
}

#[test]
fn the_current_fact_stands_above_the_one_it_replaced() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let mut mcp = Mcp::start(&sandbox);
    let old = capture(&mut mcp, "the launch date of project heron is 2026-06-01");
    let same =
        mcp.ask("memory_contradict", json!({"id": old, "new_fact": "запуск цапли 1 сентября"}));
    assert_eq!(same["edge_type"], "contradicts");
    let answer = mcp.ask("memory_recall", json!({"cue": "launch date of project heron"}));
    assert_eq!(
        surfaces(&answer),
        ["запуск цапли 1 сентября", "the launch date of project heron is 2026-06-01"]
    );
    let stale = &answer["hits"][1];
    assert!(stale["valid_to"].is_string() && stale["reason"].as_str().unwrap().contains("stale"));
    let answer = mcp.ask("memory_recall", json!({"cue": "запуск цапли"}));
    assert_eq!(surfaces(&answer), ["запуск цапли 1 сентября"]);
    assert_eq!(answer["anti_hits"][0]["relation"], "superseded_by");
    assert_eq!(answer["anti_hits"][0]["partner_id"], answer["hits"][0]["record_id"]);
    let events = mcp.ask("events_query", json!({"kind": "s4_contradiction"}));
    assert_eq!(events["count"], 1);
}

#[test]
fn a_sentence_with_another_number_is_another_memory() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let mut mcp = Mcp::start(&sandbox);
    capture(&mut mcp, "the quarterly budget is 50 thousand");
    capture(&mut mcp, "the quarterly budget is 80 thousand");
    let again = mcp.ask("memory_capture", json!({"text": "the quarterly budget is 80 thousand"}));
    assert_eq!(again["status"], "reinforced");
    assert_eq!(mcp.ask("topology", json!({}))["N"], 2);
}

#[test]
fn reinforcing_twice_in_a_session_changes_nothing_more_and_unknown_ids_are_told() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let mut mcp = Mcp::start(&sandbox);
    let ids = [capture(&mut mcp, "first thing"), capture(&mut mcp, "second thing")];
    let ghost = "00000000-0000-8000-8000-000000000000";
    let asked = json!({"ids": [ids[0], ids[1], ghost]});
    let first = mcp.ask("memory_reinforce", asked.clone());
    assert_eq!((&first["edges_boosted"], &first["skipped_ids"]), (&json!(1), &json!([ghost])));
    let second = mcp.ask("memory_reinforce", asked.clone());
    assert_eq!(second["edges_boosted"], 0);
    assert_eq!(second["new_weights"], first["new_weights"]);
    let other = Mcp::start(&sandbox).ask("memory_reinforce", asked);
    let weight =
        |answer: &Value| answer["new_weights"].as_object().unwrap().values().next().cloned();
    assert!(weight(&first).unwrap().as_f64() < weight(&other).unwrap().as_f64());
    let shape = mcp.ask("topology", json!({}));
    assert_eq!((&shape["N"], &shape["links"]["hebbian"]), (&json!(2), &json!(1)));
}

#[test]
fn a_knob_survives_a_restart() {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    let set = json!({"operation": "set", "knob": "literal_preservation", "value": "loose"});
    Mcp::start(&sandbox).ask("profile_get_set", set);
    daemon.stop();
    let _daemon = sandbox.daemon();
    let mut mcp = Mcp::start(&sandbox);
    let get = json!({"operation": "get", "knob": "literal_preservation"});
    assert_eq!(mcp.ask("profile_get_set", get)["value"], "loose");
    let all = mcp.ask("profile_get_set", json!({"operation": "get"}));
    assert_eq!((&all["total_knobs"], &all["live"]["masking_off"]), (&json!(11), &json!(true)));
    let wrong = json!({"operation": "set", "knob": "literal_preservation", "value": "sloppy"});
    let refused = mcp.tool("profile_get_set", wrong);
    assert_eq!(refused["isError"], true);
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("strong"), "{refused}");
}

#[test]
fn the_budget_covers_the_whole_answer() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let mut mcp = Mcp::start_with(&sandbox, "2025-06-18");
    for n in 0..60 {
        capture(&mut mcp, &format!("note {n} on the harbour crane: {}", "detail ".repeat(n)));
    }
    for budget in [50, 200, 500, 1500, 5000] {
        let result =
            mcp.tool("memory_recall", json!({"cue": "harbour crane", "budget_tokens": budget}));
        let n_chars = result.to_string().chars().count();
        assert!(n_chars <= 4 * budget + 400, "budget {budget}: {n_chars} characters");
        let n_hits = result["structuredContent"]["hits"].as_array().unwrap().len();
        assert!(budget < 200 || 0 < n_hits, "budget {budget}: {n_hits} hits");
    }
}

#[test]
fn wrong_arguments_get_a_sentence_and_the_process_lives() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let mut mcp = Mcp::start(&sandbox);
    for (name, arguments, word) in [
        ("memory_recall", json!({}), "cue"),
        ("memory_recall", json!({"cue": 5}), "cue"),
        ("memory_recall", json!({"cue": "x", "budget_tokens": "many"}), "budget_tokens"),
        ("memory_recall", json!({"cue": "x", "colour": "red"}), "colour"),
        ("memory_capture", json!({"text": "x", "tier": "eternal"}), "tier"),
        ("memory_contradict", json!({"id": "nope", "new_fact": "x"}), "id"),
        ("memory_reinforce", json!({"ids": "one"}), "ids"),
        ("events_query", json!({"kind": "secrets"}), "kind"),
        ("events_query", json!({"kind": "llm_health", "since": "yesterday"}), "since"),
        ("profile_get_set", json!({"operation": "burn"}), "operation"),
        ("memory_temporal_recall", json!({"phrase": "whenever"}), "phrase"),
        ("memory_temporal_recall", json!({}), "phrase"),
        ("memory_search", json!({"text": " "}), "text"),
        ("episodes_recent", json!({"before": "soon"}), "before"),
        ("memory_recall_structural", json!({"structure_query": {"WHEN": "soon"}}), "WHEN"),
        ("no_such_tool", json!({}), "no_such_tool"),
    ] {
        let result = mcp.tool(name, arguments);
        assert_eq!(result["isError"], true, "{name}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(word), "{name}: {text}");
    }
    let unknown = json!({"id": "00000000-0000-8000-8000-000000000000", "new_fact": "x"});
    assert_eq!(mcp.tool("memory_contradict", unknown)["isError"], true);
    assert_eq!(mcp.ask("topology", json!({}))["N"], 0);
}

#[test]
fn every_protocol_revision_is_spoken() {
    let sandbox = Sandbox::new();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mcp = Mcp::start_with(&sandbox, revision);
        assert_eq!(mcp.initialized["result"]["protocolVersion"], revision);
        assert_eq!(mcp.initialized["result"]["serverInfo"]["name"], "iai-mcp");
        assert_eq!(mcp.initialized["result"]["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(mcp.hang_up(), Some(0));
    }
    let mut stateless = Mcp::start_bare(&sandbox);
    let meta = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    let discovered = stateless.request("server/discover", &meta);
    assert!(discovered["result"]["capabilities"]["tools"].is_object(), "{discovered}");
    let listed = stateless.request("tools/list", &meta);
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), TOOLS.len());
}

#[test]
fn unreadable_lines_get_an_answer_and_the_next_one_is_served() {
    let sandbox = Sandbox::new();
    let mut mcp = Mcp::start(&sandbox);
    let lines = [
        b"not json\n".to_vec(),
        b"\xff\xfe\n".to_vec(),
        [b"[".repeat(100_000), b"\n".to_vec()].concat(),
        [b"x".repeat(100_000_000), b"\n".to_vec()].concat(),
    ];
    for line in lines {
        mcp.send_bytes(&line);
        let answer = mcp.line();
        assert_eq!(answer["error"]["code"], -32700, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("send"), "{answer}");
    }
    let long = format!(r#"{{"params":{{"text":"{}","id":8}},"id":"q7"}}"#, "x".repeat(20_000_000));
    mcp.send_bytes(format!("{long}\n").as_bytes());
    let answer = mcp.line();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!("q7"), &json!(-32600)),
        "{answer}"
    );
    mcp.send_bytes(b"[]\n");
    assert_eq!(mcp.line()["error"]["code"], -32600);
    assert!(mcp.request("ping", &json!({}))["result"].is_object());
}

#[test]
fn a_text_larger_than_a_message_is_kept_all_the_same() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let mut mcp = Mcp::start(&sandbox);
    let text = format!("begin {} end", "x".repeat(6_000_000));
    let kept = mcp.ask("memory_capture", json!({"text": text}));
    assert_eq!(kept["status"], "deferred", "{kept}");
    sandbox.settled(1);
    let id = sandbox.json(&["--json", "list"])["memories"][0]["record_id"].clone();
    let shown = sandbox.json(&["--json", "show", id.as_str().unwrap()]);
    assert!(shown["literal_surface"] == text.as_str());
}

#[test]
fn a_dead_parent_ends_it_although_stdin_stays_open() {
    use std::io::BufRead as _;
    let sandbox = Sandbox::new();
    let fifo = sandbox.path("stdin");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let program = env!("CARGO_BIN_EXE_iai-mcp");
    // Opened for reading and writing, the pipe never ends.
    let script = format!("exec 3<>stdin; {program} mcp <&3 >answers & echo $!; wait");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).env_clear().current_dir(sandbox.path(""));
    for (name, value) in sandbox.command(&[]).get_envs() {
        shell.env(name, value.unwrap());
    }
    let mut shell = shell.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut pid = String::new();
    std::io::BufReader::new(shell.stdout.take().unwrap()).read_line(&mut pid).unwrap();
    let process = std::path::PathBuf::from(format!("/proc/{}", pid.trim()));
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    }});
    let mut stdin = std::fs::File::options().read(true).write(true).open(&fifo).unwrap();
    std::io::Write::write_all(&mut stdin, format!("{ping}\n").as_bytes()).unwrap();
    crate::support::eventually("it answers", || {
        std::fs::read_to_string(sandbox.path("answers")).is_ok_and(|text| text.contains("result"))
    });
    assert!(process.exists());
    shell.kill().unwrap();
    shell.wait().unwrap();
    // Where nobody reaps orphans, what is gone stays as a zombie.
    crate::support::eventually("it has gone with its parent", || {
        let stat = std::fs::read_to_string(process.join("stat"));
        stat.map_or(true, |stat| stat.contains(") Z "))
    });
}
