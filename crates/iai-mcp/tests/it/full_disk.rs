//! A disk without room: a real one, as small as it can be. Needs root, which alone may mount it.

use std::process::{Command, Output};

use serde_json::Value;

use crate::support::{Sandbox, stderr, stdout};

/// What a script exits with where nothing may be mounted.
const NO_MOUNT: i32 = 99;

/// Runs a script with the store on a disk of two mebibytes, which ends with it; nothing when we may
/// not. `$program` is ours, `$disk` the folder, and `fill` leaves no room on it.
#[expect(clippy::print_stderr, reason = "a test that did nothing says so")]
fn on_a_small_disk(sandbox: &Sandbox, script: &str) -> Option<Output> {
    let disk = sandbox.path("disk");
    std::fs::create_dir(&disk).unwrap();
    let program = env!("CARGO_BIN_EXE_iai-mcp");
    let script = format!(
        "mount -t tmpfs -o size=2m tmpfs \"$disk\" || exit {NO_MOUNT}
         fill() {{ dd if=/dev/zero of=\"$disk/filled\" bs=4k 2>/dev/null; }}
         {script}"
    );
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script]).env_clear().current_dir(sandbox.path(""));
    for (name, value) in sandbox.command(&[]).get_envs() {
        command.env(name, value.unwrap());
    }
    command.env("disk", &disk).env("program", program).env("IAI_MCP_STORE", disk.join("store"));
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: needs root");
        return None;
    }
    match command.output() {
        Ok(output) if output.status.code() != Some(NO_MOUNT) => Some(output),
        Ok(output) => {
            eprintln!("skipped: nothing can be mounted here: {}", stderr(&output));
            None
        }
        Err(error) => {
            eprintln!("skipped: there is no `unshare`: {error}");
            None
        }
    }
}

#[test]
fn a_start_on_a_full_disk_says_that_it_is_full() {
    // The second start has nothing to say: its log is empty, and the disk takes no word into it.
    let script = "for n in 1 2; do
                      \"$program\" daemon start >/dev/null 2>&1 || exit 1
                      \"$program\" daemon stop >/dev/null || exit 1
                  done
                  fill; \"$program\" daemon start";
    let sandbox = Sandbox::new();
    let Some(output) = on_a_small_disk(&sandbox, script) else { return };
    assert_ne!(output.status.code(), Some(0), "{}", stdout(&output));
    assert!(stderr(&output).contains("ended at once: the disk is full"), "{}", stderr(&output));
    assert!(stderr(&output).contains("free some space"), "{}", stderr(&output));
}

#[test]
fn a_hook_on_a_full_disk_tells_the_user_and_comes_again() {
    let script = "\"$program\" daemon start >/dev/null 2>&1 || exit 1
                  fill
                  \"$program\" hook stop --host claude < payload || exit 1
                  rm \"$disk/filled\"
                  \"$program\" hook stop --host claude < payload || exit 1
                  for n in $(seq 500); do
                      \"$program\" --json list >listed; grep -q noted listed && break
                  done
                  cat listed; \"$program\" daemon stop >/dev/null";
    let sandbox = Sandbox::new();
    let transcript = sandbox.transcript("t.jsonl", &["the harbour opens at nine", "noted"]);
    let payload = serde_json::json!({
        "session_id": "s", "transcript_path": transcript, "cwd": sandbox.path(""),
    });
    std::fs::write(sandbox.path("payload"), payload.to_string()).unwrap();
    let Some(output) = on_a_small_disk(&sandbox, script) else { return };
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let mut said = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    let told = said.next().unwrap().unwrap();
    let message = told["systemMessage"].as_str().unwrap();
    assert!(message.contains("No space left") && message.contains("freeing"), "{message}");
    let listed = said.next().unwrap().unwrap();
    assert_eq!(listed["count"], 2, "the turns come with the next event: {listed}");
}
