//! `setup` and `uninstall` through the real binary: what they show, what they do, and that leaving
//! gives back every byte.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::pty::{Pty, Stdout};
use crate::support::{Sandbox, stderr, stdout};

const SETTINGS: &str = "{\n  // mine\n  \"model\": \"opus\",\n}\n";

/// A home with hosts in it; whatever daemon runs there is stopped when the test ends.
struct Household {
    sandbox: Sandbox,
}

impl Drop for Household {
    fn drop(&mut self) {
        self.sandbox.run(&["daemon", "stop"]);
    }
}

impl Household {
    fn new() -> Self {
        Self::over(Sandbox::new())
    }

    /// Three hosts, files of odd modes, a link, a history of two turns.
    fn over(sandbox: Sandbox) -> Self {
        let household = Self { sandbox: sandbox.with("IAI_DAEMON_IDLE_SHUTDOWN_SECS", "300") };
        household.write(".claude/settings.json", SETTINGS, 0o640);
        household.write(".codex/config.toml", "model = \"x\"\n", 0o644);
        household.write("dotfiles/mcp.json", "{\"mcpServers\": {}}", 0o600);
        fs::create_dir(household.sandbox.path(".cursor")).unwrap();
        symlink("../dotfiles/mcp.json", household.sandbox.path(".cursor/mcp.json")).unwrap();
        let turn = |uuid: &str, role: &str, text: &str| {
            let message = json!({"role": role, "content": text});
            let at = "2026-05-01T10:00:00Z";
            json!({"type": role, "uuid": uuid, "sessionId": "s", "timestamp": at, "cwd": "/p",
                   "message": message})
        };
        let turns = [
            turn("a", "user", "the lighthouse keeper is called Zebedee"),
            turn("b", "assistant", "noted"),
        ];
        let text: String = turns.iter().map(|turn| format!("{turn}\n")).collect();
        household.write(".claude/projects/-p/s.jsonl", &text, 0o600);
        household
    }

    /// Four more hosts, which are offered the tools alone.
    fn with_editors(self) -> Self {
        self.write(".config/zed/settings.json", "// Zed\n{\n \"context_servers\":{ },\n}", 0o644);
        self.write(".config/Code/User/mcp.json", "{\"servers\":{ }, \"inputs\":[]}", 0o600);
        self.write(".codeium/windsurf/mcp_config.json", "\u{feff}{\r\n}\r\n", 0o640);
        self.write(".gemini/settings.json", "{ \"theme\" :\"x\",\n}\n", 0o644);
        self
    }

    fn write(&self, name: &str, text: &str, mode: u32) {
        let path = self.sandbox.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.sandbox.run(arguments)
    }

    /// Runs with `--json`, whatever comes of it.
    #[track_caller]
    fn report(&self, arguments: &[&str], want_code: i32) -> Value {
        let output = self.run(&[&["--json"], arguments].concat());
        let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let code = output.status.code();
        assert!(code == Some(want_code), "{arguments:?} ended with {code:?}: {}", trouble(&report));
        report
    }

    /// Everything below the home, and below what is not the store alone.
    fn tree(&self) -> Tree {
        tree_of(&self.sandbox.path(""))
    }
}

/// What failed in a report, or all of it where it has no steps.
fn trouble(report: &Value) -> String {
    let Some(steps) = report["steps"].as_array() else { return report.to_string() };
    let failed = steps.iter().filter(|step| step["state"] == "failed");
    failed.map(Value::to_string).collect::<Vec<_>>().join("; ")
}

/// Names with modes and bytes, or where a link leads.
type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

fn tree_of(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let (path, facts) = (entry.path(), entry.metadata().unwrap());
            let bytes = if facts.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else if facts.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if facts.is_file() {
                fs::read(&path).unwrap()
            } else {
                b"special".to_vec()
            };
            tree.insert(path, (facts.permissions().mode(), bytes));
        }
    }
    tree
}

#[track_caller]
fn assert_same(before: &Tree, after: &Tree) {
    let names = |tree: &Tree| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(before), names(after));
    for (path, facts) in before {
        assert!(after.get(path) == Some(facts), "{} changed", path.display());
    }
}

#[track_caller]
fn state<'a>(report: &'a Value, name: &str) -> &'a str {
    let steps = report["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["name"] == name);
    step.unwrap_or_else(|| panic!("no {name} in {report}"))["state"].as_str().unwrap()
}

#[test]
fn a_dry_run_shows_everything_and_changes_nothing() {
    let household = Household::new().with_editors();
    let before = household.tree();
    let shown = stdout(&household.run(&["setup", "--dry-run", "--no-model"]));
    for part in [
        "+++ ",
        " hook session-start --host claude",
        "~/.iai-mcp/.crypto.key is made",
        "taken in: 1 transcript",
        "hooks in ~/.codex/hooks.json",
        "MCP server in ~/.config/zed/settings.json",
        "MCP server in ~/.codeium/windsurf/mcp_config.json",
        "MCP server in ~/.gemini/settings.json",
        "no lasting place",
        "nothing was changed",
    ] {
        assert!(shown.contains(part), "{part}\nin\n{shown}");
    }
    let report = household.report(&["setup", "--dry-run", "--no-model"], 0);
    assert_eq!((&report["applied"], state(&report, "daemon")), (&json!(false), "would do"));
    assert_same(&before, &household.tree());
    let report = household.report(&["uninstall", "--dry-run", "--purge"], 0);
    assert_eq!(state(&report, "hosts"), "already so");
    assert_same(&before, &household.tree());
}

#[test]
fn without_a_terminal_nothing_happens_unless_agreed_to() {
    let household = Household::new();
    let before = household.tree();
    for arguments in [&["setup"][..], &["uninstall"], &["uninstall", "--purge"]] {
        let output = household.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let said = stderr(&output);
        assert!(said.contains("--dry-run") && said.contains("--yes"), "{said}");
        assert_same(&before, &household.tree());
    }
}

/// `script` gives the program a terminal; the answer comes through it.
#[test]
fn a_no_on_a_terminal_changes_nothing() {
    if !Path::new("/usr/bin/script").exists() {
        return;
    }
    for household in [Household::new(), Household::new().with_editors()] {
        a_no_changes_nothing(&household);
    }
}

fn a_no_changes_nothing(household: &Household) {
    let before = household.tree();
    let line = format!("{} setup --no-model", env!("CARGO_BIN_EXE_iai-mcp"));
    let mut command = Command::new("/usr/bin/script");
    command.args(["-qec", &line, "/dev/null"]).env_clear().env("PATH", "/usr/bin:/bin");
    command.env("HOME", household.sandbox.path(""));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, b"d\nn\n").unwrap();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    let shown = stdout(&output);
    assert_eq!(shown.matches("do all this? [y/N, d shows every line]").count(), 2, "{shown}");
    assert!(!output.status.success(), "{shown}");
    let (screen, whole) = shown.split_once("d shows every line]").unwrap();
    assert!(screen.lines().count() < 70, "{screen}");
    // How much changes is told of every file, whether or not its diff has room.
    let row = screen.lines().find(|line| line.contains("hooks in ~/.claude/settings.json ("));
    assert!(row.is_some_and(|row| row.contains('+')), "{screen}");
    assert!(!screen.contains("hook session-end") && whole.contains("hook session-end"), "{shown}");
    assert_same(&before, &household.tree());
}

#[test]
fn a_second_run_finds_everything_so_and_changes_no_byte() {
    let household = Household::new();
    let arguments = ["setup", "--yes", "--no-model"];
    let first = household.report(&arguments, 0);
    for name in ["key and store", "daemon", "claude", "codex", "cursor", "history", "proof"] {
        assert_eq!(state(&first, name), "done", "{first}");
    }
    let lasting = |tree: Tree| -> Tree {
        let root = household.sandbox.root();
        let is_lasting = |path: &Path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            let kept = ["vault.json", ".crypto.key", "install-ledger.json", "spool.pub"];
            !path.starts_with(&root) || kept.contains(&name)
        };
        tree.into_iter().filter(|(path, _)| is_lasting(path)).collect()
    };
    let before = lasting(household.tree());
    let pid = household.sandbox.status().unwrap()["pid"].clone();
    let second = household.report(&arguments, 0);
    for step in second["steps"].as_array().unwrap() {
        let is_skipped = step["name"] == "service" || step["name"] == "model";
        let want = if is_skipped { "skipped" } else { "already so" };
        assert_eq!(step["state"], want, "{step}");
    }
    assert_same(&before, &lasting(household.tree()));
    let status = household.sandbox.status().unwrap();
    assert_eq!((&status["pid"], &status["stored"]), (&pid, &json!(2)), "nothing was restarted");
}

#[test]
fn a_second_run_on_a_terminal_asks_nothing() {
    let household = Household::new();
    household.report(&["setup", "--yes", "--no-model"], 0);
    let command = household.sandbox.command(&["setup", "--no-model"]);
    let mut terminal = Pty::start(command, &Stdout::Terminal, (40, 120));
    assert_eq!(terminal.wait(), Some(0), "{}", terminal.raw());
    let shown = terminal.screen();
    assert!(shown.contains("1 transcript: 2 turns are known"), "{shown}");
    assert!(shown.contains("everything is in place; nothing was changed"), "{shown}");
    assert!(!shown.contains("[y/N]") && !shown.contains("would do"), "{shown}");
    let report = household.report(&["setup", "--no-model"], 0);
    assert_eq!((state(&report, "proof"), &report["applied"]), ("already so", &json!(false)));
}

#[test]
fn a_store_elsewhere_is_set_up_and_left_without_a_trace() {
    let sandbox = Sandbox::new();
    let store = sandbox.path("deep/memory");
    fs::create_dir(sandbox.path("deep")).unwrap();
    let household = Household::over(sandbox.with("IAI_MCP_STORE", store.to_str().unwrap()));
    let before = household.tree();
    let report = household.report(&["setup", "--yes", "--no-model"], 0);
    assert_eq!(state(&report, "proof"), "done");
    let settings = fs::read_to_string(household.sandbox.path(".claude/settings.json")).unwrap();
    let told = format!("IAI_MCP_STORE={} ", store.display());
    assert_eq!(settings.matches(&told).count(), 6, "{settings}");
    household.report(&["uninstall", "--purge", "--yes"], 0);
    assert_same(&before, &household.tree());
}

#[test]
fn leaving_gives_back_every_byte() {
    let household = Household::new().with_editors();
    let before = household.tree();
    let said = stdout(&household.run(&["setup", "--yes", "--no-model"]));
    assert!(said.contains("What to do now") && said.contains("iai-mcp uninstall"), "{said}");
    assert!(!said.contains("+++"), "who agreed beforehand reads one screen: {said}");
    let found = household.report(&["recall", "who is the lighthouse keeper"], 0);
    assert!(found["hits"][0]["literal_surface"].as_str().unwrap().contains("Zebedee"), "{found}");
    let report = household.report(&["uninstall", "--purge", "--yes"], 0);
    assert_eq!(report["purged"], true);
    let lost = report["steps"].as_array().unwrap().last().unwrap()["detail"].as_str().unwrap();
    assert!(lost.contains("2 turns") && lost.contains("the key"), "{lost}");
    assert_same(&before, &household.tree());
    assert!(household.sandbox.status().is_none());
    assert!(report["what_now"][0].as_str().unwrap().starts_with("sessions that are open"));
    let again = household.report(&["uninstall", "--purge", "--yes"], 0);
    assert!(!again["what_now"].to_string().contains("sessions that are open"), "{again}");
    assert_eq!((state(&again, "daemon"), state(&again, "store")), ("already so", "already so"));
    assert_same(&before, &household.tree());
}

#[test]
fn the_memory_stays_unless_it_is_purged() {
    let household = Household::new();
    household.report(&["setup", "--yes", "--no-model"], 0);
    let report = household.report(&["uninstall", "--yes"], 0);
    assert_eq!((state(&report, "daemon"), state(&report, "store")), ("done", "skipped"));
    assert_eq!(
        fs::read_to_string(household.sandbox.path(".claude/settings.json")).unwrap(),
        SETTINGS
    );
    assert!(!household.sandbox.path(".claude.json").exists());
    assert!(!household.sandbox.root().join("install-ledger.json").exists());
    let again = household.report(&["setup", "--yes", "--no-model"], 0);
    assert_eq!(
        (state(&again, "key and store"), state(&again, "history")),
        ("already so", "already so")
    );
}

#[test]
fn what_a_killed_setup_wrote_aside_goes_when_one_leaves() {
    for arguments in [&["uninstall", "--yes"][..], &["uninstall", "--purge", "--yes"]] {
        let household = Household::new();
        household.write(".claude/.settings.json.iai-mcp-mine.tmp", "theirs", 0o600);
        let before = household.tree();
        let aside = [
            ".claude/.settings.json.iai-mcp-0123456789abcdef.tmp",
            ".codex/.config.toml.iai-mcp-00000000000000ff.tmp",
            "dotfiles/.mcp.json.iai-mcp-fedcba9876543210.tmp",
            "..claude.json.iai-mcp-fedcba9876543210.tmp",
        ];
        for name in aside {
            household.write(name, "{", 0o600);
        }
        let preview = household.report(&[arguments, &["--dry-run"]].concat(), 0);
        assert_eq!(state(&preview, "unfinished"), "would do");
        assert!(aside.iter().all(|name| household.sandbox.path(name).exists()));
        let report = household.report(arguments, 0);
        assert_eq!(state(&report, "unfinished"), "done");
        assert_same(&before, &household.tree());
        let again = household.report(arguments, 0);
        let steps = again["steps"].as_array().unwrap();
        assert!(steps.iter().all(|step| step["name"] != "unfinished"), "{again}");
    }
}

#[test]
fn what_is_not_ours_keeps_the_store_from_being_purged() {
    let household = Household::new();
    household.report(&["setup", "--yes", "--no-model", "--no-import"], 0);
    household.write(".iai-mcp/notes.md", "precious", 0o600);
    let refused = household.run(&["uninstall", "--purge", "--yes"]);
    let said = stderr(&refused);
    assert_eq!(refused.status.code(), Some(1));
    assert!(said.contains("nothing was changed") && said.contains("notes.md"), "{said}");
    assert!(household.sandbox.status().is_some(), "the daemon runs on");
    assert!(household.sandbox.path(".claude.json").exists(), "hosts are wired as before");
    fs::rename(household.sandbox.root().join("notes.md"), household.sandbox.path("notes.md"))
        .unwrap();
    household.report(&["uninstall", "--purge", "--yes"], 0);
    assert!(!household.sandbox.root().exists());
}

#[test]
fn a_broken_host_file_keeps_nobody_else_from_being_set_up() {
    let household = Household::new();
    household.write(".claude/settings.json", "{\n  \"a\": nope\n}\n", 0o600);
    let before = household.tree();
    let output = household.run(&["setup", "--yes", "--no-model"]);
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("line 2, column 8") && said.contains("what claude needs there"),
        "{said}"
    );
    assert!(said.contains(" hook pre-compact --host claude"), "{said}");
    let report = household.report(&["setup", "--yes", "--no-model"], 1);
    assert_eq!((state(&report, "claude"), state(&report, "proof")), ("failed", "already so"));
    let broken = &report["files"][0];
    assert!(broken["block"].as_str().unwrap().contains("SessionEnd"), "{broken}");
    assert!(household.sandbox.path(".codex/hooks.json").exists());
    let now: Vec<&str> =
        report["what_now"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let sessions = now.iter().find(|line| line.starts_with("start a new session in")).unwrap();
    assert!(sessions.contains("codex") && !sessions.contains("claude"), "{sessions}");
    let doctor = household.sandbox.doctor(&[]);
    let hosts = doctor["checks"].as_array().unwrap().iter().find(|row| row["name"] == "hosts");
    let (verdict, detail) = (&hosts.unwrap()["verdict"], hosts.unwrap()["detail"].as_str());
    assert_eq!(verdict, "fail", "{doctor}");
    assert!(
        detail.unwrap().contains("settings.json is not JSON at line 2, column 8"),
        "{detail:?}"
    );
    household.report(&["uninstall", "--purge", "--yes"], 0);
    assert_same(&before, &household.tree());
}

#[test]
fn a_machine_without_systemd_gets_a_daemon_in_the_background() {
    let household = Household::over(Sandbox::new().with("PATH", "/nonexistent"));
    let before = household.tree();
    let report = household.report(&["setup", "--yes", "--host", "cursor"], 0);
    assert_eq!(state(&report, "service"), "skipped");
    let service = &report["steps"][1]["detail"];
    assert!(service.as_str().unwrap().contains("there is no systemd here"), "{service}");
    assert_eq!(state(&report, "model"), "skipped", "nothing to fetch one with");
    assert_eq!(state(&report, "history"), "skipped", "Cursor keeps none");
    assert!(!household.sandbox.path(".claude.json").exists(), "only the named host is wired");
    household.report(&["uninstall", "--purge", "--yes"], 0);
    assert_same(&before, &household.tree());
}

#[test]
fn a_folder_that_cannot_be_used_is_named_and_nothing_else_is_tried() {
    let household = Household::new();
    household.write(".iai-mcp", "a file", 0o600);
    let before = household.tree();
    let report = household.report(&["setup", "--yes", "--no-model"], 1);
    assert_eq!(state(&report, "key and store"), "failed");
    assert_eq!((state(&report, "hosts"), state(&report, "proof")), ("skipped", "skipped"));
    let now = report["what_now"].as_array().unwrap();
    assert!(now.len() == 1 && now[0].as_str().unwrap().starts_with("mend what failed"), "{now:?}");
    assert_same(&before, &household.tree());
}

/// What `systemctl` does as far as we ask for it: links, a socket whose first caller starts the
/// service, and an end. `systemd-socket-activate` holds the socket, as systemd does.
const SYSTEMCTL: &str = r#"#!/bin/sh
units="$HOME/.config/systemd/user"
unit="$units/iai-mcp-daemon"
echo "$*" >> FOLDER/asked
end() {
  if [ -e FOLDER/pid ]; then
    kill "$(cat FOLDER/pid)" 2>/dev/null
    tail --pid="$(cat FOLDER/pid)" -f /dev/null
    rm -f FOLDER/pid "$(sed -n 's/^ListenStream=//p' "$unit.socket")"
  fi
}
case "$2" in
show) echo "/etc/systemd/user $units /run/systemd/user" ;;
is-active) test -e FOLDER/pid ;;
enable)
  mkdir -p "$units/sockets.target.wants"
  ln -sf "$unit.socket" "$units/sockets.target.wants/iai-mcp-daemon.socket"
  eval "set -- $(sed -n 's/^Environment=/-E /p' "$unit.service" | tr '\n' ' ')"
  eval "set -- \"\$@\" $(sed -n 's/^ExecStart=//p' "$unit.service")"
  socket=$(sed -n 's/^ListenStream=//p' "$unit.socket")
  : > FOLDER/said
  env -i PATH=/usr/bin:/bin HOME="$HOME" systemd-socket-activate -l "$socket" "$@" \
    > /dev/null 2>> FOLDER/said < /dev/null &
  echo $! > FOLDER/pid
  # Bound is not listening yet, and the kernel may still list the socket of the daemon before: only
  # its own word says that it listens.
  until grep -q "^Listening on " FOLDER/said; do kill -0 $! || exit 1; sleep 0.01; done ;;
stop) end ;;
disable)
  rm -f "$units/sockets.target.wants/iai-mcp-daemon.socket"
  rmdir "$units/sockets.target.wants"
  end ;;
esac
"#;

#[test]
fn a_machine_with_systemd_gets_a_socket_that_starts_the_daemon() {
    if !Path::new("/usr/bin/systemd-socket-activate").exists() {
        return;
    }
    let tools = tempfile::tempdir().unwrap();
    let systemctl = tools.path().join("systemctl");
    let folder = tools.path().to_str().unwrap();
    fs::write(&systemctl, SYSTEMCTL.replace("FOLDER", folder)).unwrap();
    fs::set_permissions(&systemctl, fs::Permissions::from_mode(0o755)).unwrap();
    let sandbox = Sandbox::new().with("PATH", format!("{folder}:/usr/bin:/bin"));
    let household = Household::over(sandbox);
    let before = household.tree();

    household.run(&["daemon", "start"]);
    let report = household.report(&["setup", "--yes", "--no-model"], 0);
    for name in ["service", "daemon", "history", "proof"] {
        assert_eq!(state(&report, name), "done", "{report}");
    }
    let pid = || fs::read_to_string(tools.path().join("pid")).unwrap().trim().to_owned();
    let answering = household.sandbox.status().unwrap()["pid"].to_string();
    assert_eq!(answering, pid(), "it came by the socket, and the one before it left");
    let again = household.report(&["setup", "--yes", "--no-model"], 0);
    assert_eq!((state(&again, "service"), state(&again, "daemon")), ("already so", "already so"));

    household.report(&["daemon", "stop"], 0);
    assert!(!household.sandbox.socket().exists(), "stopped is stopped");
    household.report(&["daemon", "start"], 0);
    assert_eq!(household.sandbox.status().unwrap()["pid"].to_string(), pid());
    let (key, away) = (household.sandbox.root().join(".crypto.key"), household.sandbox.path("key"));
    household.report(&["daemon", "stop"], 0);
    fs::rename(&key, &away).unwrap();
    let refused = household.run(&["daemon", "start"]);
    assert_eq!(refused.status.code(), Some(5), "{}", stderr(&refused));
    assert!(stderr(&refused).contains(".crypto.key"), "{}", stderr(&refused));
    fs::rename(&away, &key).unwrap();
    household.report(&["daemon", "restart"], 0);
    household.report(&["daemon", "uninstall", "--yes"], 0);
    assert!(!household.sandbox.path(".config").exists());
    let installed = stdout(&household.run(&["daemon", "install", "--yes"]));
    assert!(installed.contains("Installed to "), "{installed}");

    household.report(&["uninstall", "--purge", "--yes"], 0);
    assert_same(&before, &household.tree());
    let asked = fs::read_to_string(tools.path().join("asked")).unwrap();
    assert!(asked.contains("--user disable --now iai-mcp-daemon.socket"), "{asked}");
}
