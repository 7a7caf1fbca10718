//! Sentence models through the real binary: installed from a folder, filled in behind, replaced,
//! and refused when their file is not the one the store counts on.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::source;
use crate::support::{Sandbox, eventually, stderr, stdout};

fn write_source(sandbox: &Sandbox, pooling: &str) -> PathBuf {
    let folder = sandbox.path(&format!("source-{pooling}"));
    fs::create_dir(&folder).unwrap();
    source::write(&folder, pooling);
    folder
}

fn install(sandbox: &Sandbox, name: &str, pooling: &str) {
    let folder = write_source(sandbox, pooling);
    sandbox.json(&["--json", "model", "install", name, "--from", folder.to_str().unwrap()]);
}

fn wait_embedded(sandbox: &Sandbox, model: &str) {
    eventually("everything is embedded", || {
        let status = sandbox.status().unwrap();
        status["embedding_pending"] == 0 && status["embedding_model"] == model
    });
}

fn first_reason(sandbox: &Sandbox) -> String {
    let answer: Value = sandbox.json(&["--json", "recall", "the harbour master"]);
    answer["hits"][0]["reason"].as_str().unwrap().to_owned()
}

fn capture(sandbox: &Sandbox, name: &str, turns: &[&str]) {
    let path = sandbox.transcript(&format!("{name}.jsonl"), turns);
    let path = path.to_str().unwrap();
    sandbox.json(&["--json", "capture-transcript", "--session-id", name, path]);
}

#[test]
fn a_model_installed_under_a_running_daemon_is_filled_and_used() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    capture(&sandbox, "one", &["the harbour master is ada", "noted"]);
    assert!(first_reason(&sandbox).starts_with("words"));
    assert_eq!(sandbox.status().unwrap()["model"]["state"], "none");
    install(&sandbox, "tiny", "mean");
    let listed = sandbox.json(&["--json", "model", "list"]);
    let own = listed["models"].as_array().unwrap().iter().find(|one| one["name"] == "tiny");
    assert!(own.is_some_and(|own| own["installed"] == true), "{listed}");
    wait_embedded(&sandbox, "tiny");
    assert!(first_reason(&sandbox).starts_with("meaning"));
    capture(&sandbox, "two", &["the harbour master is bo", "noted"]);
    wait_embedded(&sandbox, "tiny");
    let report = sandbox.doctor(&[]);
    assert_eq!(report["ok"], true, "{report}");
}

#[test]
fn another_model_takes_over_and_survives_a_restart() {
    let sandbox = Sandbox::new();
    install(&sandbox, "first", "mean");
    let daemon = sandbox.daemon();
    capture(&sandbox, "one", &["the harbour master is ada", "noted"]);
    wait_embedded(&sandbox, "first");
    install(&sandbox, "second", "cls");
    assert_eq!(sandbox.json(&["--json", "model", "status"])["name"], "first");
    sandbox.json(&["--json", "model", "use", "second"]);
    wait_embedded(&sandbox, "second");
    drop(daemon);
    let _daemon = sandbox.daemon();
    wait_embedded(&sandbox, "second");
    assert!(first_reason(&sandbox).starts_with("meaning"));
}

#[test]
fn a_file_that_did_not_make_the_vectors_is_refused_and_words_go_on() {
    let sandbox = Sandbox::new();
    install(&sandbox, "tiny", "mean");
    let daemon = sandbox.daemon();
    capture(&sandbox, "one", &["the harbour master is ada", "noted"]);
    wait_embedded(&sandbox, "tiny");
    drop(daemon);
    install(&sandbox, "other", "cls");
    let models = sandbox.root().join("models");
    fs::rename(models.join("other.iai"), models.join("tiny.iai")).unwrap();
    let _daemon = sandbox.daemon();
    eventually("the model is refused", || sandbox.status().unwrap()["model"]["state"] == "refused");
    assert!(first_reason(&sandbox).starts_with("words"));
    let reason = sandbox.status().unwrap()["model"]["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("iai-mcp model use"), "{reason}");
}

#[test]
fn what_is_no_model_is_refused_with_a_reason() {
    let sandbox = Sandbox::new();
    let folder = write_source(&sandbox, "mean");
    fs::write(folder.join("model.safetensors"), b"not a model").unwrap();
    let output = sandbox.run(&["model", "install", "bad", "--from", folder.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stderr(&output).contains("model.safetensors"), "{}", stderr(&output));
    let output = sandbox.run(&["model", "install", "--from", folder.to_str().unwrap()]);
    assert!(stderr(&output).contains("NAME"), "no model takes the default one's place");
    let output = sandbox.run(&["model", "install", "no-such-model"]);
    assert!(stderr(&output).contains("--from FOLDER"), "{}", stderr(&output));
    let _daemon = sandbox.daemon();
    for name in ["missing", "../escape", ""] {
        let output = sandbox.run(&["model", "use", name]);
        assert_eq!(output.status.code(), Some(1), "{name}: {}", stderr(&output));
    }
}

#[test]
fn a_flipped_bit_of_an_installed_model_is_named_by_verify() {
    let sandbox = Sandbox::new();
    install(&sandbox, "tiny", "mean");
    let path = sandbox.root().join("models/tiny.iai");
    let good = fs::read(&path).unwrap();
    assert_eq!(sandbox.json(&["--json", "verify"])["ok"], true);
    for place in [0, good.len() / 2, good.len() - 1] {
        let mut bad = good.clone();
        bad[place] ^= 0x10;
        fs::write(&path, &bad).unwrap();
        let output = sandbox.run(&["--json", "verify"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "byte {place}: {report}");
        assert_eq!(report["findings"][0]["where"], path.to_str().unwrap(), "{report}");
    }
}
