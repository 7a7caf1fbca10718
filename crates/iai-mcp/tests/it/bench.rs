//! Benchmarks through the real binary: over an invented haystack, and scored again.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Sandbox, n_processes, stderr, stdout};

fn write_lines(path: PathBuf, lines: &[Value]) {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(path, lines.join("\n")).unwrap();
}

/// Two sessions: the harbour master changes, once per session.
fn write_haystack(sandbox: &Sandbox) -> PathBuf {
    let folder = sandbox.path("data/tiny/haystacks/harbour");
    fs::create_dir_all(&folder).unwrap();
    let row = |id: &str, role: &str, ts: &str, text: &str| {
        let (session, _) = id.split_once('#').unwrap();
        json!({"id": id, "session": session, "role": role, "ts": ts, "text": text})
    };
    write_lines(
        folder.join("corpus.jsonl"),
        &[
            row("gold_1#0", "Ann", "2026-01-01T10:00:00", "the harbour master is Ada"),
            row("gold_1#1", "assistant", "2026-01-01T10:01:00", "noted, thank you"),
            row("gold_1#2", "user", "2026-01-01T10:02:00", " "),
            row("gold_2#0", "user", "2026-06-01T10:00:00Z", "the harbour master is Bo"),
            row("gold_2#1", "assistant", "2026-06-01T10:01:00Z", "the crane is red"),
        ],
    );
    let ask = |id: &str, cue: &str, relevant: &[&str], more: Value| {
        let mut question = json!({"id": id, "cue": cue, "relevant": relevant, "kind": id});
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        question
    };
    let cue = "who is the harbour master";
    write_lines(
        folder.join("queries.jsonl"),
        &[
            ask("late", cue, &["gold_2#0"], json!({"asof": "2026-06-02T00:00:00"})),
            ask("early", cue, &["gold_1#0"], json!({"before": 3})),
            ask("both", "harbour master", &["gold_1#0", "gold_2#0"], json!({})),
            ask("undated", cue, &["gold_2#0"], json!({})),
            ask("nobody", "xylophone quartet rehearsal", &[], json!({})),
        ],
    );
    sandbox.path("data")
}

fn group<'a>(report: &'a Value, kind: &str) -> &'a Value {
    let groups = report["sets"][0]["groups"].as_array().unwrap();
    groups.iter().find(|group| group["kind"] == kind).unwrap()
}

#[test]
fn recall_is_measured_and_can_be_scored_again() {
    let sandbox = Sandbox::new();
    let data = write_haystack(&sandbox);
    let (data, out) = (data.to_str().unwrap(), sandbox.path("out"));
    let report = sandbox.json(&[
        "--json",
        "bench",
        "recall",
        "--data",
        data,
        "--out",
        out.to_str().unwrap(),
    ]);
    let set = &report["sets"][0];
    assert_eq!((&set["set"], &set["rows"]), (&json!("tiny"), &json!(5)), "{report}");
    assert_eq!(
        (&set["rows_without_words"], &set["rows_with_names_in_text"]),
        (&json!(1), &json!(1))
    );
    assert!(report["machine"]["cores"].is_u64() && report["program"]["version"].is_string());
    // Of two equal sentences the fresher stands first.
    assert_eq!(group(&report, "late")["metrics"]["hit@1"]["mean"], 1.0);
    // Before the third row only the first session is known.
    assert_eq!(group(&report, "early")["metrics"]["hit@1"]["mean"], 1.0);
    assert_eq!(group(&report, "both")["metrics"]["session_all@5"]["mean"], 1.0);
    assert_eq!(group(&report, "nobody")["abstention"]["share"], 1.0);
    assert_eq!(group(&report, "all")["scored"], 4);

    let rankings = out.join("tiny.rankings.jsonl");
    let lines = fs::read_to_string(&rankings).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["ranked"][0], "gold_2#0", "ids are the corpus's again");
    assert_eq!(lines[1]["ranked"], json!(["gold_1#0"]), "the rest was not said yet");
    assert_eq!(lines[1]["ranked_sessions"], json!(["gold_1"]));
    assert!(out.join("tiny.json").is_file());
    let again =
        sandbox.json(&["--json", "bench", "score", rankings.to_str().unwrap(), "--data", data]);
    assert_eq!(again["sets"][0]["groups"], set["groups"]);
    assert_eq!(n_processes(&sandbox), 0);
    assert!(!sandbox.root().exists(), "the user's own memory is not touched");
}

#[test]
fn a_table_tells_people_what_was_done() {
    let sandbox = Sandbox::new();
    let data = write_haystack(&sandbox);
    let shown = sandbox.run(&["bench", "recall", "--data", data.to_str().unwrap(), "--limit", "2"]);
    assert!(shown.status.success(), "{}", stderr(&shown));
    let shown = stdout(&shown);
    for words in ["opaque", "\"Name: \"", "tiny: 1 haystacks", "2 questions", "hit@1", "p95"] {
        assert!(shown.contains(words), "{words} in\n{shown}");
    }
    let nowhere =
        sandbox.run(&["bench", "recall", "--data", sandbox.path("none").to_str().unwrap()]);
    assert_eq!(nowhere.status.code(), Some(1));
}

#[test]
fn the_other_figures_are_printed() {
    let sandbox = Sandbox::new();
    for (words, figure) in [
        (&["latency", "--n", "100"][..], "warm, MCP process"),
        (&["ingest", "--n", "100"], "import"),
        (&["hook", "--runs", "2"], "hook stop, daemon up"),
        (&["mcp", "--runs", "2"], "second recall of a session"),
        (&["contradiction", "--sessions", "9", "--seeds", "1"], "corrected: current fact first"),
    ] {
        let words = [&["--json", "bench"], words].concat();
        let told = sandbox.json(&words);
        assert!(told["figures"][figure].is_object(), "{figure} in {told}");
    }
    let footprint = sandbox.json(&["--json", "bench", "footprint", "--n", "20"]);
    assert!(footprint["figures"]["store on disk"].as_u64() > Some(0), "{footprint}");
    assert_eq!(n_processes(&sandbox), 0);
}
