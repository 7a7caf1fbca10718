//! `capture-hooks` through the real binary: what it shows, when it writes, what it leaves.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Sandbox, stderr, stdout};

const SETTINGS: &str = "{\n  // mine\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [\n\
     \x20     {\"hooks\": [{\"type\": \"command\", \"command\": \"theirs\"}]},\n    ],\n  },\n}\n";

fn write(sandbox: &Sandbox, name: &str, text: &str) {
    let path = sandbox.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn read(sandbox: &Sandbox, name: &str) -> String {
    fs::read_to_string(sandbox.path(name)).unwrap()
}

#[track_caller]
fn run(sandbox: &Sandbox, arguments: &[&str], want_code: i32) -> String {
    let output = sandbox.run(&[&["capture-hooks"], arguments].concat());
    let text = format!("{}{}", stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(want_code), "{arguments:?}: {text}");
    text
}

#[test]
fn a_host_is_wired_shown_and_given_back() {
    let sandbox = Sandbox::new();
    write(&sandbox, ".claude/settings.json", SETTINGS);
    let shown = run(&sandbox, &["install", "--dry-run"], 0);
    assert!(
        shown.contains("+++ ") && shown.contains(" hook session-start --host claude"),
        "{shown}"
    );
    assert!(shown.contains("would be changed") && shown.contains("would be created"), "{shown}");
    assert_eq!(read(&sandbox, ".claude/settings.json"), SETTINGS);
    assert!(run(&sandbox, &["status"], 1).ends_with("status: INACTIVE\n"));

    let done = run(&sandbox, &["install", "--yes"], 0);
    assert!(done.contains("settings.json.iai-mcp-backup-"), "{done}");
    let wired = read(&sandbox, ".claude/settings.json");
    let program = env!("CARGO_BIN_EXE_iai-mcp");
    assert!(wired.contains(&format!("{program} hook stop --host claude")), "{wired}");
    assert!(wired.contains("// mine") && wired.contains("theirs"));
    let servers: serde_json::Value = serde_json::from_str(&read(&sandbox, ".claude.json")).unwrap();
    assert_eq!(servers["mcpServers"]["iai-mcp"]["command"], program);
    assert_eq!(servers["mcpServers"]["iai-mcp"]["args"][0], "mcp");
    assert!(!sandbox.path(".codex").exists() && !sandbox.path(".cursor").exists());

    let status = run(&sandbox, &["status"], 0);
    assert!(status.contains("claude: hooks WIRED (SessionStart, UserPromptSubmit"), "{status}");
    assert!(status.ends_with("status: ACTIVE\n"), "{status}");
    let again = run(&sandbox, &["install"], 0);
    assert!(again.contains("claude: unchanged") && !again.contains("+++"), "{again}");
    assert_eq!(read(&sandbox, ".claude/settings.json"), wired);

    run(&sandbox, &["uninstall", "--yes"], 0);
    assert_eq!(read(&sandbox, ".claude/settings.json"), SETTINGS);
    assert!(!sandbox.path(".claude.json").exists());
    let names = fs::read_dir(sandbox.path(".claude")).unwrap().count();
    assert_eq!(names, 1, "no backup is left of what is itself again");
    run(&sandbox, &["status"], 1);
}

#[test]
fn a_store_elsewhere_is_written_into_every_entry_and_found_by_the_hook() {
    let sandbox = Sandbox::new();
    let store = sandbox.path("my store");
    write(&sandbox, ".claude/settings.json", SETTINGS);
    write(&sandbox, ".codex/config.toml", "model = \"x\"\n");
    write(&sandbox, ".cursor/mcp.json", "{}");
    let install = ["capture-hooks", "install", "--yes"];
    let mut command = sandbox.command(&install);
    let done = command.env("IAI_MCP_STORE", &store).output().unwrap();
    assert!(stdout(&done).contains("hosts are told to use this store"), "{}", stdout(&done));
    let store = store.to_str().unwrap();
    for name in [".claude.json", ".cursor/mcp.json"] {
        let text: serde_json::Value = serde_json::from_str(&read(&sandbox, name)).unwrap();
        assert_eq!(text["mcpServers"]["iai-mcp"]["env"]["IAI_MCP_STORE"], store, "{name}");
    }
    let named = format!("env = {{ IAI_MCP_STORE = \"{store}\" }}");
    assert!(read(&sandbox, ".codex/config.toml").contains(&named));
    let hooks: serde_json::Value =
        serde_json::from_str(&read(&sandbox, ".codex/hooks.json")).unwrap();
    let hook = hooks["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
    let hook = &hook.replace("--host codex", "--host claude");
    let transcript = sandbox.transcript("t.jsonl", &["a turn for the other store", "noted"]);
    let payload = format!("{{\"session_id\":\"s\",\"transcript_path\":{transcript:?}}}");
    let mut shell = Command::new("/bin/sh");
    let shell = shell.args(["-c", hook]).env_clear().env("HOME", sandbox.path(""));
    let mut host = shell.stdin(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut host.stdin.take().unwrap(), payload.as_bytes()).unwrap();
    assert!(host.wait().unwrap().success());
    assert!(Path::new(store).join(".deferred-captures").is_dir(), "the hook {hook} went there");
    assert!(!sandbox.root().join(".deferred-captures").exists());
    let status = run(&sandbox, &["status"], 1);
    assert!(status.contains("WIRED TO ANOTHER STORE") && status.contains("INACTIVE"), "{status}");
    run(&sandbox, &["install", "--yes"], 0);
    assert!(run(&sandbox, &["status"], 0).ends_with("status: ACTIVE\n"));
    assert!(!read(&sandbox, ".codex/hooks.json").contains("IAI_MCP_STORE"));
}

#[test]
fn nothing_is_written_without_consent() {
    let sandbox = Sandbox::new();
    write(&sandbox, ".claude/settings.json", SETTINGS);
    let refused = run(&sandbox, &["install"], 1);
    assert!(refused.contains("no terminal to ask on") && refused.contains("--yes"), "{refused}");
    run(&sandbox, &["--json", "install"], 1);
    assert_eq!(read(&sandbox, ".claude/settings.json"), SETTINGS);
    assert!(!sandbox.path(".claude.json").exists() && !sandbox.root().exists());
}

/// `script` gives the program a terminal; the answer comes through it.
#[test]
fn a_question_on_a_terminal_is_answered() {
    if !Path::new("/usr/bin/script").exists() {
        return;
    }
    for (answer, want) in [("n\n", false), ("\n", false), ("y\n", true)] {
        let sandbox = Sandbox::new();
        let program = env!("CARGO_BIN_EXE_iai-mcp");
        let line = format!("{program} capture-hooks install --target cursor");
        let mut command = Command::new("/usr/bin/script");
        command.args(["-qec", &line, "/dev/null"]).env_clear();
        command.env("HOME", sandbox.path("")).env("PATH", "/usr/bin:/bin");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut stdin, answer.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        assert_eq!(sandbox.path(".cursor/mcp.json").exists(), want, "{}", stdout(&output));
        assert!(stdout(&output).contains("[y/N]"), "{}", stdout(&output));
        assert_eq!(output.status.success(), want);
    }
}

#[test]
fn every_host_is_wired_on_demand_and_codex_says_what_it_needs() {
    let sandbox = Sandbox::new();
    write(&sandbox, ".codex/config.toml", "# mine\nmodel = \"x\"\n");
    let done = run(&sandbox, &["install", "--target", "codex", "--yes"], 0);
    assert!(done.contains("only after you trust them"), "{done}");
    assert!(!sandbox.path(".claude.json").exists() && !sandbox.path(".cursor").exists());
    let hooks: serde_json::Value =
        serde_json::from_str(&read(&sandbox, ".codex/hooks.json")).unwrap();
    assert_eq!(hooks.as_object().unwrap().keys().collect::<Vec<_>>(), ["hooks"]);
    assert!(!read(&sandbox, ".codex/hooks.json").contains("codex_hooks"));
    assert!(
        read(&sandbox, ".codex/config.toml").starts_with("# mine\nmodel = \"x\"\n\n[mcp_servers")
    );
    run(&sandbox, &["status", "--target", "codex"], 0);
    run(&sandbox, &["status", "--target", "all"], 1);
    run(&sandbox, &["install", "--target", "all", "--yes"], 0);
    run(&sandbox, &["status", "--target", "all"], 0);
    let cursor: serde_json::Value =
        serde_json::from_str(&read(&sandbox, ".cursor/hooks.json")).unwrap();
    assert_eq!(cursor["version"], 1);
    assert!(cursor["hooks"]["stop"][0]["command"].as_str().unwrap().ends_with("--host cursor"));
    run(&sandbox, &["uninstall", "--yes"], 0);
    assert_eq!(read(&sandbox, ".codex/config.toml"), "# mine\nmodel = \"x\"\n");
    for name in [".codex/hooks.json", ".claude", ".cursor", ".claude.json"] {
        assert!(!sandbox.path(name).exists(), "{name}");
    }
    assert!(!sandbox.root().join("install-ledger.json").exists());
}

#[test]
fn a_broken_file_is_refused_with_its_place_and_a_block_to_paste() {
    let sandbox = Sandbox::new();
    write(&sandbox, ".claude/settings.json", "{\n  \"a\": nope\n}\n");
    let shown = run(&sandbox, &["install", "--yes"], 1);
    assert!(
        shown.contains("line 2, column 8") && shown.contains("what claude needs there"),
        "{shown}"
    );
    assert!(shown.contains(" hook pre-compact --host claude"), "{shown}");
    assert_eq!(read(&sandbox, ".claude/settings.json"), "{\n  \"a\": nope\n}\n");
    assert!(sandbox.path(".claude.json").exists(), "the other file is wired all the same");
}

#[test]
fn answers_come_as_json_too() {
    let sandbox = Sandbox::new();
    let done = sandbox.json(&["--json", "capture-hooks", "install", "--yes"]);
    assert_eq!((&done["action"], &done["applied"]), (&"install".into(), &true.into()));
    assert_eq!(done["files"][0]["outcome"], "created");
    assert!(done["files"][0]["diff"].as_str().unwrap().starts_with("--- /dev/null\n+++ "));
    let status = sandbox.json(&["--json", "capture-hooks", "status"]);
    assert_eq!(status["status"], "ACTIVE");
    assert_eq!(status["files"][0]["wired"].as_array().unwrap().len(), 6);
}

#[test]
fn a_plugin_counts_as_wired_and_both_are_noticed() {
    let sandbox = Sandbox::new();
    let on = r#"{"enabledPlugins": {"iai-mcp@iai-mcp": true}}"#;
    write(&sandbox, ".claude/settings.json", on);
    let status = run(&sandbox, &["status"], 0);
    assert!(status.contains("claude: plugin iai-mcp@iai-mcp SWITCHED ON in "), "{status}");
    assert!(status.ends_with("status: ACTIVE\n") && !status.contains("runs twice"), "{status}");
    let shown = run(&sandbox, &["install", "--dry-run"], 0);
    assert!(shown.contains("every event runs twice"), "{shown}");
    let done = run(&sandbox, &["install", "--yes"], 0);
    assert!(done.contains("note: claude has the plugin iai-mcp@iai-mcp switched on"), "{done}");
    assert!(run(&sandbox, &["status"], 0).contains("every event runs twice"));
    run(&sandbox, &["uninstall", "--yes"], 0);
    assert_eq!(read(&sandbox, ".claude/settings.json"), on);
    write(&sandbox, ".claude/settings.json", r#"{"enabledPlugins": {"iai-mcp@iai-mcp": false}}"#);
    assert!(run(&sandbox, &["status"], 1).ends_with("status: INACTIVE\n"));
}
