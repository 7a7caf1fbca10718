//! `daemon`: runs it here, starts or stops it in the background or as a service, shows how it is
//! and what it logged.

pub(super) mod keeping;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;

use anyhow::Context as _;
use clap::Subcommand;
use notify::Watcher as _;
use serde_json::{Value, json};

use super::output::Output;
use super::paper::beside;
use crate::client::{Client, Started, Stopped};
use crate::exit::Exit;
use crate::fields::Fields as _;
use crate::settings::Settings;

/// Who wants longer than a year wants it until they say otherwise.
const PAUSE_SECS_MAX: u64 = 365 * 24 * 3600;

#[derive(Clone, Copy, Subcommand)]
pub(super) enum DaemonCommand {
    /// Run the daemon in this terminal
    Run {
        /// Leave the terminal's session; used by `daemon start`
        #[arg(long, hide = true)]
        detached: bool,
    },
    /// Start the daemon in the background
    Start,
    /// Stop the daemon, and the service's socket with it
    Stop,
    /// Stop the daemon and start it again
    Restart,
    /// Make the daemon a service of this machine: started when somebody connects
    Install(keeping::InstallArguments),
    /// Take the service away; the store stays
    Uninstall {
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Show the daemon's status, one field a line
    Status,
    /// Hold consolidation back
    Pause {
        /// For so many seconds, at most a year; without a number until `daemon resume`
        #[arg(value_parser = clap::value_parser!(u64).range(1..=PAUSE_SECS_MAX))]
        seconds: Option<u64>,
    },
    /// Let consolidation go on
    Resume,
    /// Show the daemon's log
    Logs {
        /// How many lines
        #[arg(short = 'n', long, default_value_t = 50)]
        lines: usize,
        /// Go on showing new lines
        #[arg(short, long)]
        follow: bool,
    },
}

pub(super) fn run(
    command: DaemonCommand,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    match command {
        DaemonCommand::Run { detached } => run_here(detached, settings, output),
        DaemonCommand::Start => start(settings, output),
        DaemonCommand::Stop => {
            let stopped = keeping::stop(settings)?;
            tell_force(stopped, output);
            let text = if stopped.was_running() { "stopped" } else { "daemon not running" };
            let was_killed = matches!(stopped, Stopped::Killed { .. });
            let told = json!({"was_running": stopped.was_running(), "was_killed": was_killed});
            output.show(&told, |_| text.to_owned());
            Ok(ExitCode::SUCCESS)
        }
        DaemonCommand::Restart => {
            keeping::check_restart(settings)?;
            tell_force(keeping::stop(settings)?, output);
            start(settings, output)
        }
        DaemonCommand::Install(arguments) => keeping::install(arguments, settings, output),
        DaemonCommand::Uninstall { yes } => keeping::uninstall(yes, settings, output),
        DaemonCommand::Status => status(settings, output),
        DaemonCommand::Pause { seconds } => {
            let message = json!({"type": "pause", "seconds": seconds});
            let reply = Client::new(settings.clone()).control(&message)?;
            output.show(&reply, |_| match seconds {
                Some(seconds) => format!("paused for {seconds}s"),
                None => "paused until `iai-mcp daemon resume`".to_owned(),
            });
            Ok(ExitCode::SUCCESS)
        }
        DaemonCommand::Resume => {
            let reply = Client::new(settings.clone()).control(&json!({"type": "resume"}))?;
            output.show(&reply, |_| "resumed".to_owned());
            Ok(ExitCode::SUCCESS)
        }
        DaemonCommand::Logs { lines, follow } => {
            logs(&settings.home.daemon_log(), lines, follow, output)
        }
    }
}

/// Says what a daemon had to be made to do.
fn tell_force(stopped: Stopped, output: &Output) {
    match stopped {
        Stopped::NotRunning | Stopped::Left => {}
        Stopped::LeftUnanswering { pid } => {
            output.remark(&format!("process {pid} did not answer; it left at a signal"));
        }
        Stopped::Killed { pid } => output.remark(&format!(
            "process {pid} did not leave within 10 s and was killed; nothing that it acknowledged \
             is lost"
        )),
    }
}

fn run_here(detached: bool, settings: &Settings, output: &Output) -> anyhow::Result<ExitCode> {
    let mut settings = settings.clone();
    if detached {
        // Fails only for a group leader, which a freshly started child is not.
        rustix::process::setsid().context("leaving the terminal's session")?;
        settings = settings.in_background();
    }
    crate::daemon::run(&settings, |made_key| {
        if let Some(path) = made_key {
            output.remark(&format!(
                "made a key at {} (0600); whoever has it can read the memory, and without it \
                 nobody can: keep a copy",
                path.display()
            ));
        }
        if detached {
            output.text("ready\n");
            // Whoever waited for that line has gone; nothing must ever write into the closed pipe.
            if let Ok(null) = File::options().write(true).open("/dev/null") {
                rustix::stdio::dup2_stdout(null).ok();
            }
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

fn start(settings: &Settings, output: &Output) -> anyhow::Result<ExitCode> {
    let (status, word) = match keeping::start(settings)? {
        Started::Now { status, remarks } => {
            if let Some(remarks) = remarks {
                output.remark(&remarks);
            }
            (status, "started")
        }
        Started::Already(status) => (status, "already running"),
    };
    output.show(&status, |status| format!("{word}: process {}", status.at("pid")));
    if let Some(problem) = status.at("store_problem").as_str() {
        output.remark(problem);
    }
    Ok(ExitCode::SUCCESS)
}

fn status(settings: &Settings, output: &Output) -> anyhow::Result<ExitCode> {
    match Client::new(settings.clone()).status() {
        Ok(status) => {
            warn_of_skew(&status, output);
            output.show(&status, |status| match output.look() {
                Some(look) => page_of(status, look.line_width()),
                None => lines_of(status),
            });
            Ok(ExitCode::SUCCESS)
        }
        Err(error) if error.is_down() => {
            let down = json!({"ok": false, "state": "down"});
            output.show(&down, |_| "daemon not running".to_owned());
            Ok(Exit::Failure.into())
        }
        Err(error) => {
            output.remark(&format!("daemon not responding: {error}"));
            Ok(Exit::Failure.into())
        }
    }
}

fn warn_of_skew(status: &Value, output: &Output) {
    let ours = env!("CARGO_PKG_VERSION");
    let theirs = status.at("version").as_str().unwrap_or("unknown");
    if theirs != ours {
        output.remark(&format!(
            "the daemon is version {theirs} and this program {ours}; run `iai-mcp daemon restart`"
        ));
    }
}

fn lines_of(status: &Value) -> String {
    let fields = status.as_object().into_iter().flatten();
    let lines = fields.map(|(name, value)| match value {
        Value::String(text) => format!("{name}: {text}"),
        other => format!("{name}: {other}"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The same for a person: what a field holds in words, in lines that fit.
fn page_of(status: &Value, width: usize) -> String {
    let fields = status.as_object().into_iter().flatten();
    let n_columns = fields.clone().map(|(name, _)| name.chars().count()).max().unwrap_or(0) + 2;
    let lines = fields.map(|(name, value)| {
        let head = format!("{name:<n_columns$}");
        beside(&head, n_columns, &in_words(value), width)
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn in_words(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Object(parts) => {
            let parts = parts.iter().map(|(name, value)| format!("{name} {}", in_words(value)));
            parts.collect::<Vec<_>>().join(" · ")
        }
        Value::Array(parts) => parts.iter().map(in_words).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn logs(path: &Path, n_lines: usize, follow: bool, output: &Output) -> anyhow::Result<ExitCode> {
    let opening = || format!("opening the log {}", path.display());
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            anyhow::bail!("there is no log yet at {}: no daemon has run here", path.display())
        }
        opened => opened.with_context(opening)?,
    };
    let mut reader = BufReader::new(file);
    let mut last = VecDeque::new();
    let mut line = String::new();
    while 0 < reader.read_line(&mut line).with_context(opening)? {
        last.push_back(std::mem::take(&mut line));
        if n_lines < last.len() {
            last.pop_front();
        }
    }
    output.show(&json!({"lines": last}), |_| last.iter().map(String::as_str).collect());
    if follow {
        follow_log(path, reader, output)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows what is appended, also when the log starts a new file.
fn follow_log(path: &Path, mut reader: BufReader<File>, output: &Output) -> anyhow::Result<()> {
    let (changed, changes) = mpsc::sync_channel(16);
    let mut watcher = notify::recommended_watcher(move |_| {
        changed.try_send(()).ok();
    })?;
    let folder = path.parent().context("a log file lives in a folder")?;
    watcher.watch(folder, notify::RecursiveMode::NonRecursive)?;
    let mut line = String::new();
    while changes.recv().is_ok() {
        let n_read = reader.stream_position()?;
        if std::fs::metadata(path).is_ok_and(|metadata| metadata.len() < n_read) {
            reader = BufReader::new(File::open(path)?);
            reader.seek(SeekFrom::Start(0))?;
        }
        while 0 < reader.read_line(&mut line)? {
            output.text(&line);
            line.clear();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_reads_words_and_a_program_what_it_always_read() {
        let status = json!({
            "state": "ready", "pid": 7, "paused_until": null,
            "memory": {"rss_mib": 31, "rss_mib_peak": 33}, "at": ["a", "b"],
        });
        insta::assert_snapshot!(page_of(&status, 80), @r"
        state         ready
        pid           7
        paused_until  -
        memory        rss_mib 31 · rss_mib_peak 33
        at            a, b
        ");
        assert!(page_of(&status, 40).lines().all(|line| line.chars().count() <= 40));
        insta::assert_snapshot!(lines_of(&status), @r#"
        state: ready
        pid: 7
        paused_until: null
        memory: {"rss_mib":31,"rss_mib_peak":33}
        at: ["a","b"]
        "#);
    }
}
