//! What a person sees at a terminal: colours, the interactive search, live captures, progress,
//! manual pages. Through a real terminal, with the real binary.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::pty::{Pty, Stdout};
use crate::support::{Line, Sandbox, eventually, stderr, stdout};

/// An escape sequence that would set the clipboard, were it sent to a terminal.
const HOSTILE: &str = "the heron budget \u{1b}]52;c;aGk=\u{7} is five";
const SIZE: (u16, u16) = (24, 100);

fn tell(sandbox: &Sandbox, session: &str, turns: &[&str]) {
    let n_before = sandbox.status().unwrap()["stored"].as_u64().unwrap();
    sandbox.capture(session, &sandbox.transcript(&format!("{session}.jsonl"), turns));
    sandbox.settled(n_before + turns.len() as u64);
}

#[test]
fn a_terminal_gets_colours_and_nothing_that_steers_it() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let turns = ["we retried the heron import twice", HOSTILE];
    tell(&sandbox, "s", &turns);
    let run = |sandbox: &Sandbox, arguments: &[&str]| {
        let mut pty = Pty::start(sandbox.command(arguments), &Stdout::Terminal, SIZE);
        assert_eq!(pty.wait(), Some(0), "{arguments:?}: {}", pty.raw());
        pty.sees("heron");
        pty
    };
    let recalled = run(&sandbox, &["recall", "heron retry"]);
    assert!(recalled.raw().contains("\u{1b}[1;33mretried\u{1b}[0m"), "{}", recalled.raw());
    assert!(recalled.screen().contains("just now"), "{}", recalled.screen());
    for arguments in [&["recall", "heron budget"][..], &["search", "budget"], &["list"]] {
        let pty = run(&sandbox, arguments);
        assert!(pty.screen().contains("␛]52;c;aGk=␇"), "{arguments:?}: {}", pty.screen());
        assert!(!pty.raw().contains("\u{1b}]52"), "{arguments:?}");
    }
    let searched = run(&sandbox, &["search", "BUDGET"]);
    assert!(searched.raw().contains("\u{1b}[1;33mbudget\u{1b}[0m"), "{}", searched.raw());
    // Every other command that prints words of a memory, too.
    for arguments in [&["transcript", "s"][..], &["forget", "--session", "s"]] {
        assert!(!run(&sandbox, arguments).raw().contains("\u{1b}]52"), "{arguments:?}");
    }
    let plain = sandbox.with("NO_COLOR", "1");
    let pty = run(&plain, &["recall", "heron retry"]);
    assert!(!pty.raw().contains('\u{1b}'), "{}", pty.raw());
    assert!(pty.screen().contains("just now"), "{}", pty.screen());
}

#[test]
fn nothing_is_wider_than_the_terminal() {
    const COLUMNS: usize = 40;
    let sandbox = Sandbox::new().with("NO_COLOR", "1");
    let _daemon = sandbox.daemon();
    tell(&sandbox, "s", &["the heron budget of the year is five, and nobody may ask for more"]);
    let id = sandbox.json(&["list", "--json"])["memories"][0]["record_id"].clone();
    let id = id.as_str().unwrap();
    for arguments in [
        &["recall", "heron budget"][..],
        &["search", "heron"],
        &["list"],
        &["show", id],
        &["status"],
        &["daemon", "status"],
        &["forget", "--match", "heron"],
    ] {
        let mut pty = Pty::start(sandbox.command(arguments), &Stdout::Terminal, (24, 40));
        assert_eq!(pty.wait(), Some(0), "{arguments:?}: {}", pty.raw());
        let raw = pty.raw();
        let widest = raw.lines().max_by_key(|line| line.trim_end().chars().count()).unwrap();
        assert!(widest.trim_end().chars().count() <= COLUMNS, "{arguments:?}: {widest:?}");
    }
    // A pipe is no terminal, however narrow the one is that it was typed at.
    let piped = stdout(&sandbox.run(&["daemon", "status"]));
    assert!(piped.lines().any(|line| line.starts_with("memory: {") && line.ends_with('}')));
    let piped = stdout(&sandbox.run(&["status"]));
    assert!(piped.contains("\nturns     1 captured · 1 stored · 0 pending · 0 set aside\n"));
}

#[test]
fn a_pipe_and_json_get_every_byte() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    tell(&sandbox, "s", &[HOSTILE]);
    for arguments in [&["recall", "heron budget"][..], &["show", ""]] {
        let id = sandbox.json(&["list", "--json"])["memories"][0]["record_id"].clone();
        let arguments: Vec<&str> = arguments
            .iter()
            .map(|word| if word.is_empty() { id.as_str().unwrap() } else { word })
            .collect();
        let printed = stdout(&sandbox.run(&arguments));
        assert!(printed.contains(HOSTILE), "{arguments:?}: {printed:?}");
    }
    let hits = sandbox.json(&["recall", "--json", "heron budget"])["hits"].clone();
    assert_eq!(hits[0]["literal_surface"], HOSTILE);
    // Also at a terminal: JSON escapes what steers it by itself.
    let mut pty = Pty::start(sandbox.command(&["list", "--json"]), &Stdout::Terminal, SIZE);
    assert_eq!(pty.wait(), Some(0));
    assert!(pty.raw().contains("\\u001b]52"), "{}", pty.raw());
}

#[test]
fn browsing_finds_as_one_types_and_prints_what_is_chosen() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    tell(&sandbox, "s", &["why is the import slow?", "the heron index was missing", "add it then"]);
    tell(&sandbox, "t", &["lunch is at noon", "good"]);
    let mut pty = Pty::start(sandbox.command(&["browse"]), &Stdout::Terminal, SIZE);
    pty.sees("1 of 5");
    assert!(pty.is_on_other_screen());
    // A part of a word is found before the word is typed to its end.
    pty.press("her");
    pty.sees("1 of 1");
    pty.press("on");
    pty.sees("> heron");
    pty.sees("before  user      why is the import slow?");
    pty.sees(" after  user      add it then");
    pty.press("\r");
    assert_eq!(pty.wait(), Some(0), "{}", pty.raw());
    pty.is_restored();
    pty.sees("the heron index was missing");
    pty.sees("session  s");
}

#[test]
fn what_is_chosen_goes_into_a_pipe_as_it_is() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    tell(&sandbox, "s", &[HOSTILE, "noted"]);
    let mut pty = Pty::start(sandbox.command(&["browse", "heron", "budget"]), &Stdout::Pipe, SIZE);
    pty.sees("1 of 1");
    pty.sees("␛]52;c;aGk=␇");
    // The clipboard is set only when asked for, and to the very bytes.
    assert!(!pty.raw().contains("\u{1b}]52"), "{}", pty.raw());
    pty.press("\u{19}");
    pty.sees("clipboard");
    assert!(pty.raw().contains("\u{1b}]52;c;dGhlIGhlcm9uIGJ1ZGdldCAb"), "{}", pty.raw());
    pty.press("\r");
    let mut printed = String::new();
    pty.child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert_eq!(printed, format!("{HOSTILE}\n"));
    assert_eq!(pty.wait(), Some(0));
    pty.is_restored();
}

#[test]
fn browsing_gives_the_terminal_back_however_it_ends() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    tell(&sandbox, "s", &["the heron flies"]);
    let start = || {
        let pty = Pty::start(sandbox.command(&["browse"]), &Stdout::Terminal, SIZE);
        pty.sees("the heron flies");
        pty
    };
    for (keys, signal, code) in [
        ("\u{1b}", "", 0),
        ("\u{3}", "", 0),
        ("", "-TERM", 128 + 15),
        ("", "-HUP", 128 + 1),
        ("", "-INT", 128 + 2),
    ] {
        let mut pty = start();
        match signal {
            "" => pty.press(keys),
            _ => pty.signal(signal),
        }
        assert_eq!(pty.wait(), Some(code), "{keys:?} {signal}");
        pty.is_restored();
        assert!(!pty.screen().contains("heron"), "nothing was chosen: {}", pty.screen());
    }
}

#[test]
fn browsing_knows_its_keys_scopes_and_sizes() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    tell(&sandbox, "s", &["the heron flies", "the heron lands"]);
    let elsewhere = sandbox.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut command = sandbox.command(&["browse", "heron"]);
    command.current_dir(&elsewhere);
    let mut pty = Pty::start(command, &Stdout::Terminal, SIZE);
    pty.sees("1 of 2 · all memories");
    pty.press("\u{e}");
    pty.sees("2 of 2");
    pty.press("\t");
    pty.sees("nothing found · project");
    pty.press("\t");
    pty.sees("1 of 2 · all memories");
    pty.press("\u{1b}OP");
    pty.sees("Any key closes this");
    pty.press("x");
    pty.sees("▸");
    pty.resize(12, 60);
    pty.press("\u{15}");
    pty.sees("1 of 2 · all memories");
    pty.sees("────");
    pty.press("\u{4}");
    assert_eq!(pty.wait(), Some(0));
    pty.is_restored();
}

#[test]
fn browsing_works_without_a_daemon_and_says_so() {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    tell(&sandbox, "s", &["the heron flies"]);
    daemon.stop();
    let mut pty = Pty::start(sandbox.command(&["browse", "heron"]), &Stdout::Terminal, SIZE);
    pty.sees("the daemon is not running");
    pty.sees("the heron flies");
    pty.press("\r");
    assert_eq!(pty.wait(), Some(0));
    pty.is_restored();
    pty.sees("the heron flies");
}

#[test]
fn without_a_terminal_browsing_says_what_to_use() {
    let sandbox = Sandbox::new();
    let output = sandbox.run(&["browse", "heron"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("iai-mcp recall"), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
}

#[test]
fn watching_tells_what_comes_in_and_survives_a_restart() {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    tell(&sandbox, "before", &["said before anybody watched"]);
    let mut command = sandbox.command(&["watch", "--json"]);
    let mut watch =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let mut next = || {
        let line = lines.next().unwrap().unwrap();
        serde_json::from_str::<Value>(&line).unwrap()["literal_surface"].clone()
    };
    let mut complaints = BufReader::new(watch.stderr.take().unwrap()).lines();
    let mut complains =
        |of: &str| assert!(complaints.next().unwrap().unwrap().contains(of), "{of}");
    complains("following new memories");
    tell(&sandbox, "one", &["the heron flies", "it does"]);
    assert_eq!([next(), next()], ["the heron flies", "it does"]);
    daemon.stop();
    complains("not running");
    let _daemon = sandbox.daemon();
    tell(&sandbox, "two", &["said to the next daemon"]);
    assert_eq!(next(), "said to the next daemon");
    complains("back");
    // Nobody reads any more: it ends although nothing comes in.
    drop(lines);
    eventually("the watcher ends", || watch.try_wait().unwrap().is_some());
}

#[test]
fn a_wait_for_news_ends_with_it_or_with_its_time_and_holds_nobody_up() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let mut line = Line::open(&sandbox.socket()).unwrap();
    let nothing = line.call("memory_arrivals", json!({"after": 0, "wait_ms": 1}));
    assert_eq!(nothing["result"], json!({"memories": [], "next": 0}));
    // Twice as many as there are threads that answer.
    let waiting: Vec<_> = (0..16)
        .map(|_| {
            let mut line = Line::open(&sandbox.socket()).unwrap();
            line.send(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"memory_arrivals\",");
            line.send(b"\"params\":{\"after\":0}}\n");
            line
        })
        .collect();
    tell(&sandbox, "s", &["the heron flies"]);
    for mut line in waiting {
        let told = line.answer();
        assert_eq!(told["result"]["memories"][0]["literal_surface"], "the heron flies");
        assert_eq!(told["result"]["next"], 1);
    }
    let elsewhere = json!({"after": 0, "project": "elsewhere", "wait_ms": 1});
    let passed_over = line.call("memory_arrivals", elsewhere);
    assert_eq!(passed_over["result"], json!({"memories": [], "next": 1}));
    let wrong = line.call("memory_arrivals", json!({"after": "x"}));
    assert_eq!(wrong["error"]["code"], -32602);
}

#[test]
fn watching_at_a_terminal_is_for_people() {
    let sandbox = Sandbox::new();
    let _daemon = sandbox.daemon();
    let mut pty = Pty::start(sandbox.command(&["watch"]), &Stdout::Terminal, SIZE);
    pty.sees("following new memories");
    tell(&sandbox, "s", &[HOSTILE]);
    pty.sees("just now · user");
    pty.sees("␛]52;c;aGk=␇");
    pty.signal("-INT");
    eventually("it ends", || pty.child.try_wait().unwrap().is_some());
}

#[test]
fn every_command_has_a_manual_page_without_faults() {
    let sandbox = Sandbox::new();
    let folder = sandbox.path("man");
    let told = sandbox.json(&["man", "--json", "--dir", folder.to_str().unwrap()]);
    let files: Vec<String> = serde_json::from_value(told["files"].clone()).unwrap();
    for name in ["iai-mcp.1", "iai-mcp-recall.1", "iai-mcp-daemon-start.1", "iai-mcp-browse.1"] {
        assert!(files.iter().any(|file| file == name), "{name}");
    }
    let help = stdout(&sandbox.run(&["--help"]));
    let listed = help.lines().filter_map(|line| line.strip_prefix("  "));
    let listed = listed.filter(|line| line.starts_with(char::is_alphabetic));
    let names: Vec<&str> = listed.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(30 < names.len(), "{help}");
    for name in names {
        assert!(name == "help" || folder.join(format!("iai-mcp-{name}.1")).exists(), "{name}");
    }
    for file in &files {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"), "{file}");
        let head = text.lines().find(|line| line.starts_with(".TH")).unwrap();
        assert_eq!(head.split_whitespace().nth(3).map(str::len), Some(10), "{file}: {head}");
        let path = folder.join(file);
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o644, "{file}: other accounts read the manual too");
        if let Ok(linted) =
            Command::new("groff").args(["-man", "-Tutf8", "-ww", "-z"]).arg(&path).output()
        {
            assert_eq!(stderr(&linted), "", "{file}");
        }
        assert!(!text.contains(".br\n\n"), "{file}: a gap that is none");
        if let Ok(linted) =
            Command::new("mandoc").args(["-T", "lint", "-W", "warning"]).arg(&path).output()
        {
            assert_eq!(stdout(&linted), "", "{file}");
        }
    }
    let printed = sandbox.run(&["man", "daemon", "start"]);
    let page = std::fs::read(folder.join("iai-mcp-daemon-start.1")).unwrap();
    assert_eq!(printed.stdout, page);
    assert_eq!(sandbox.run(&["man", "no-such-command"]).status.code(), Some(2));
}

#[test]
fn completions_are_sound_scripts() {
    let sandbox = Sandbox::new();
    for (shell, check) in [("bash", &["-n"][..]), ("zsh", &["-n"]), ("fish", &["--no-execute"])] {
        let script = sandbox.run(&["completions", shell]).stdout;
        let path = sandbox.path(shell);
        std::fs::write(&path, &script).unwrap();
        for word in ["browse", "watch", "man"] {
            assert!(String::from_utf8_lossy(&script).contains(word), "{shell}: {word}");
        }
        let hidden = "teach-parse";
        assert!(!String::from_utf8_lossy(&script).contains(hidden), "{shell} offers {hidden}");
        // Where the shell is installed, it is asked itself.
        if let Ok(checked) = Command::new(shell).args(check).arg(&path).output() {
            assert!(checked.status.success() && checked.stderr.is_empty(), "{}", stderr(&checked));
        }
    }
}

/// What bash offers behind these words.
fn offered_by_bash(script: &Path, words: &[&str]) -> String {
    let asked = format!(
        "source {}; COMP_WORDS=({}); COMP_CWORD={}; _iai__mcp iai-mcp {:?} {:?}; \
         echo \"${{COMPREPLY[*]}}\"",
        script.display(),
        words.join(" "),
        words.len() - 1,
        words[words.len() - 1],
        words[words.len() - 2],
    );
    let output = Command::new("bash").args(["-c", &asked]).output().unwrap();
    stdout(&output).trim().to_owned()
}

#[test]
fn bash_offers_what_a_command_takes() {
    let sandbox = Sandbox::new();
    let script = sandbox.path("completions");
    std::fs::write(&script, sandbox.run(&["completions", "bash"]).stdout).unwrap();
    let check = |words: &[&str], expect: &str| {
        assert_eq!(offered_by_bash(&script, words), expect, "{words:?}");
    };
    check(&["iai-mcp", "rec"], "recall");
    check(&["iai-mcp", "daemon", "st"], "start stop status");
    check(&["iai-mcp", "setup", "--host", "cl"], "claude");
    check(&["iai-mcp", "teach", "--dry"], "--dry-run");
    check(&["iai-mcp", "capture-hooks", "inst"], "install");
}

#[test]
fn who_waits_at_a_terminal_sees_that_it_goes_on() {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    tell(&sandbox, "s", &["the heron flies"]);
    // A daemon that does not answer is something to wait for.
    daemon.signal("-STOP");
    let arguments = ["forget", "--session", "s", "--yes"];
    let mut pty = Pty::start(sandbox.command(&arguments), &Stdout::Terminal, SIZE);
    pty.sees("forgetting … ");
    daemon.signal("-CONT");
    assert_eq!(pty.wait(), Some(0));
    pty.sees("1 memory forgotten");
    assert!(!pty.screen().contains("forgetting …"), "{}", pty.screen());
    daemon.signal("-STOP");
    let mut quiet =
        Pty::start(sandbox.command(&["--json", "forget", "x", "--yes"]), &Stdout::Pipe, SIZE);
    assert!(quiet.child.try_wait().unwrap().is_none());
    daemon.signal("-CONT");
    quiet.wait();
    assert!(!quiet.raw().contains('…'), "{}", quiet.raw());
}
