//! The command line: one file per command, one printer for all of them.

mod backup;
mod bench;
mod brain;
mod browse;
mod capture_hooks;
mod capture_transcript;
mod checklist;
mod correct;
mod crypto;
mod daemon;
mod doctor;
mod editor;
mod export;
mod forget;
mod groups;
mod identity;
mod import;
mod maintenance;
mod man;
mod memories;
mod model;
mod output;
mod paper;
mod pins;
mod scan;
mod session_start;
mod setup;
mod spool;
mod status;
mod sync;
mod teach;
mod transcript;
mod uninstall;
mod verify;
mod version;
mod watch;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::client::Client;
use crate::exit::Exit;
use crate::mcp::{Forgetting, HostSession};
use crate::settings::Settings;
use output::Output;
use paper::Colours;

/// The long-term memory of AI assistants: every turn kept, encrypted, on this machine.
#[derive(Parser)]
#[command(name = "iai-mcp", version = version::SHORT, long_version = version::long())]
#[command(propagate_version = true, max_term_width = 100)]
struct Arguments {
    /// Print JSON instead of text
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Set everything up: shows what will change, asks once, and proves that it works
    Setup(setup::SetupArguments),
    /// Give everything back as it was; the memory itself stays, unless `--purge`
    Uninstall(uninstall::UninstallArguments),
    /// Show what is captured, stored and waiting
    Status,
    /// Find the memories that answer a cue
    ///
    /// Below each hit stands what its score is made of. `words`: it has words of the cue.
    /// `meaning`: it says something near. `scene`: the turns around it fit. `session`: other turns
    /// of its session fit too. `session again`: its session was told above. `recency`: it was said
    /// of late. `summary`: nobody said it, it was made of turns.
    Recall(memories::RecallArguments),
    /// Find memories that contain a text
    Search(memories::SearchArguments),
    /// Show one memory, whole
    Show {
        /// The memory's id, or its first characters
        id: String,
    },
    /// List the newest memories
    List(memories::ListArguments),
    /// Search as you type, and look around
    Browse(browse::BrowseArguments),
    /// Follow what is stored, as it is stored
    Watch(watch::WatchArguments),
    /// Open a page on this machine that shows what is remembered
    Brain(brain::BrainArguments),
    /// Keep a memory in sight: sessions begin with it
    Pin(pins::PinArguments),
    /// Let a pinned memory go out of sight; it stays stored
    Unpin {
        /// The memory's id, or its first characters
        id: String,
    },
    /// Say what holds instead of a memory
    ///
    /// The memory stays, and says that it was replaced; recall puts what holds now above it. What
    /// was corrected before is corrected where it holds. A pin goes over to what holds now.
    Correct(correct::CorrectArguments),
    /// Forget memories for good: shows what would go, and does it only with `--yes`
    Forget(forget::ForgetArguments),
    /// Say who you are: sessions begin with it
    #[command(subcommand)]
    Identity(identity::IdentityCommand),
    /// Run, start, stop or look at the daemon
    #[command(subcommand)]
    Daemon(daemon::DaemonCommand),
    /// Have quiet work done now
    #[command(subcommand)]
    Maintenance(maintenance::MaintenanceCommand),
    /// Make, look at or exchange the key
    #[command(subcommand)]
    Crypto(crypto::CryptoCommand),
    /// Put the whole store into one sealed file, while the daemon runs
    Backup(backup::BackupArguments),
    /// Put a backup back; the daemon must be stopped
    Restore(backup::RestoreArguments),
    /// Write every memory into a file that people can read; plain text, unlike a backup
    Export(export::ExportArguments),
    /// Wire hosts to this program, look at it, or take it back
    #[command(subcommand)]
    CaptureHooks(capture_hooks::CaptureHooksCommand),
    /// Print what a new session should know
    SessionStart {
        /// The session that begins
        #[arg(long, default_value = "-")]
        session_id: String,
    },
    /// Put the turns of a transcript on their way into the memory
    CaptureTranscript(capture_transcript::CaptureArguments),
    /// Put a transcript's new turns on their way; what the Python program's hook ran
    CaptureTurnDeferred(capture_transcript::DeferArguments),
    /// Take in the history that hosts have written so far
    Import(import::ImportArguments),
    /// Have the same memory on several machines, sealed, through PostgreSQL or a folder
    #[command(subcommand)]
    Sync(sync::SyncCommand),
    /// Prove that the store is whole, or that what hosts wrote is in it
    Verify(verify::VerifyArguments),
    /// Look for sentence models, or install one
    #[command(subcommand)]
    Model(model::ModelCommand),
    /// Show or retry what waits on its way in
    #[command(subcommand)]
    Spool(spool::SpoolCommand),
    /// Teach the memory what files say; list and take back what was taught
    Teach(teach::TeachArguments),
    /// Reads one file for `teach`, with limits, from stdin
    #[command(hide = true)]
    TeachParse {
        /// What the file is called
        name: String,
    },
    /// Print a session's conversation out of the memory
    Transcript {
        /// The host's session id
        session: String,
    },
    /// Find memories by a plain text, in the shape of a recall answer
    BankRecall(memories::BankArguments),
    /// What a host runs at its events, with its payload on stdin; exits 0 on every path
    Hook {
        /// session-start, prompt, stop, subagent-stop, pre-compact or session-end
        event: String,
        /// Who calls: claude, codex or cursor
        #[arg(long, default_value = "claude")]
        host: String,
    },
    /// Look for what is wrong and say what to do; exits 0, 1 with warnings, 2 with failures
    Doctor(doctor::DoctorArguments),
    /// Look for secrets in what is stored already
    Scan(scan::ScanArguments),
    /// Measure this program, in throw-away homes
    #[command(subcommand)]
    Bench(bench::BenchCommand),
    /// Serve an MCP host over stdin and stdout
    Mcp,
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print a manual page, or write all of them
    Man(man::ManArguments),
}

/// Parses, runs, exits. Usage errors end inside the parser with code 2.
pub(crate) fn main() -> ExitCode {
    // Before the parser, which would exit with 2 on a word it does not know: a host reads that as
    // an order.
    let line: Vec<OsString> = std::env::args_os().collect();
    let words = line.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
    let words: Vec<String> = words.collect();
    if let Some((first, words)) = words.split_first()
        && first == "hook"
        && !words.iter().any(|word| word == "--help" || word == "-h")
    {
        let output = Output::new(false, true);
        return crate::hook::main(words, |text| output.text(text));
    }
    let arguments = parse_capture(&line).unwrap_or_else(parse);
    let settings = match Settings::from_environment() {
        Ok(settings) => settings,
        Err(error) => return no_settings(&arguments, &error.into()),
    };
    let output = Output::new(arguments.json, settings.is_colour_off);
    let done =
        run(arguments.command, &settings, &output).and_then(|code| match output.take_failure() {
            None => Ok(code),
            Some(error) => Err(anyhow::Error::new(error).context("printing the answer")),
        });
    match done {
        Ok(code) => code,
        Err(error) => {
            output.complain(&error);
            Exit::of(&error).into()
        }
    }
}

/// Reads the command line; help, versions and mistakes end here.
fn parse() -> Arguments {
    let matches = groups::grouped(Arguments::command()).get_matches();
    Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// The commands that hosts run after every turn.
#[derive(Parser)]
#[command(name = "iai-mcp")]
enum Capture {
    CaptureTranscript(capture_transcript::CaptureArguments),
    CaptureTurnDeferred(capture_transcript::DeferArguments),
}

/// Reads a capture without building the tree of all commands, which takes longer than the capture.
/// What it cannot read, help and mistakes included, is left to the whole parser.
fn parse_capture(line: &[OsString]) -> Option<Arguments> {
    let is_capture = |word: &OsString| word.as_encoded_bytes().starts_with(b"capture-t");
    line.get(1).filter(|word| is_capture(word))?;
    let command = match Capture::try_parse_from(line).ok()? {
        Capture::CaptureTranscript(arguments) => Command::CaptureTranscript(arguments),
        Capture::CaptureTurnDeferred(arguments) => Command::CaptureTurnDeferred(arguments),
    };
    Some(Arguments { json: false, command })
}

/// Hooks exit 0 on every path, also where there is no home to write to; completions and manual
/// pages need none.
fn no_settings(arguments: &Arguments, error: &anyhow::Error) -> ExitCode {
    let output = Output::new(arguments.json, true);
    match &arguments.command {
        Command::Completions { shell } => {
            output.completions(*shell, &Arguments::command());
            ExitCode::SUCCESS
        }
        Command::Man(pages) => match man::run(pages, Arguments::command(), &output) {
            Ok(code) => code,
            Err(error) => {
                output.complain(&error);
                Exit::of(&error).into()
            }
        },
        Command::SessionStart { .. }
        | Command::CaptureTranscript(_)
        | Command::CaptureTurnDeferred(_) => {
            output.complain(error);
            ExitCode::SUCCESS
        }
        _ => {
            output.complain(error);
            Exit::of(error).into()
        }
    }
}

fn run(command: Command, settings: &Settings, output: &Output) -> anyhow::Result<ExitCode> {
    let client = || Client::new(settings.clone());
    match command {
        Command::Setup(arguments) => setup::run(&arguments, settings, output),
        Command::Uninstall(arguments) => uninstall::run(arguments, settings, output),
        Command::Status => status::run(&client(), settings, output),
        Command::Recall(arguments) => memories::recall(&client(), &arguments, output),
        Command::Search(arguments) => memories::search(&client(), &arguments, output),
        Command::Show { id } => memories::show(&client(), &id, output),
        Command::List(arguments) => memories::list(&client(), &arguments, output),
        Command::BankRecall(arguments) => memories::bank_recall(&client(), &arguments, output),
        Command::Browse(arguments) => {
            let colours = if settings.is_colour_off { Colours::Off } else { Colours::Shown };
            browse::run(&client(), &arguments, colours, output)
        }
        Command::Watch(arguments) => watch::run(&client(), &arguments, output),
        Command::Brain(arguments) => brain::run(client(), &arguments, settings, output),
        Command::Pin(arguments) => pins::pin(&client(), &arguments, output),
        Command::Unpin { id } => pins::unpin(&client(), &id, output),
        Command::Correct(arguments) => correct::run(&client(), &arguments, output),
        Command::Forget(arguments) => forget::run(&client(), &arguments, output),
        Command::Identity(command) => identity::run(&command, &client(), settings, output),
        Command::Daemon(command) => daemon::run(command, settings, output),
        Command::Maintenance(command) => maintenance::run(command, &client(), output),
        Command::Crypto(command) => crypto::run(&command, settings, output),
        Command::Export(arguments) => export::run(&arguments, settings, output),
        Command::Backup(arguments) => backup::backup(&arguments, settings, output),
        Command::Restore(arguments) => backup::restore(&arguments, settings, output),
        Command::CaptureHooks(command) => capture_hooks::run(command, settings, output),
        Command::SessionStart { session_id } => {
            session_start::run(settings, &session_id, output);
            Ok(ExitCode::SUCCESS)
        }
        Command::CaptureTranscript(arguments) => {
            capture_transcript::run(&arguments, settings, output);
            Ok(ExitCode::SUCCESS)
        }
        Command::CaptureTurnDeferred(arguments) => {
            capture_transcript::defer_new_turns(&arguments, settings, output);
            Ok(ExitCode::SUCCESS)
        }
        Command::Import(arguments) => import::import(&arguments, settings, output),
        Command::Sync(command) => sync::run(&command, &client(), output),
        Command::Verify(arguments) => verify::run(&arguments, settings, output),
        Command::Model(command) => model::run(&command, &client(), settings, output),
        Command::Spool(command) => spool::run(&command, settings, output),
        Command::Teach(arguments) => teach::run(&arguments, settings, output),
        Command::TeachParse { name } => teach::parse(&name, output),
        Command::Transcript { session } => transcript::run(&client(), &session, output),
        // Taken before the parser; here only so that `--help` knows of it.
        Command::Hook { .. } => Ok(ExitCode::SUCCESS),
        Command::Bench(command) => bench::run(&command, settings, output),
        Command::Doctor(arguments) => doctor::run(&arguments, settings, output),
        Command::Scan(arguments) => scan::run(&client(), &arguments, output),
        Command::Mcp => {
            crate::mcp::serve(client(), host_session(settings)?)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Completions { shell } => {
            output.completions(shell, &Arguments::command());
            Ok(ExitCode::SUCCESS)
        }
        Command::Man(arguments) => man::run(&arguments, Arguments::command(), output),
    }
}

/// The host's own session where it tells us, else one drawn for this process.
fn host_session(settings: &Settings) -> anyhow::Result<HostSession> {
    let id = match &settings.host_session {
        Some(id) => id.clone(),
        None => format!("mcp-{:016x}", getrandom::u64()?),
    };
    let cwd = crate::capture::current_folder();
    let project = crate::capture::project_of(std::path::Path::new(&cwd));
    let forgetting = match settings.allow_forget_tool {
        true => Forgetting::Allowed,
        false => Forgetting::Refused,
    };
    Ok(HostSession { id, cwd, project, forgetting })
}

/// Returns the project of the folder the user stands in, or the one they named: by a folder, or as
/// it is called where there is no such folder here.
fn project_here(named: Option<&PathBuf>) -> String {
    match named {
        Some(path) => match std::fs::canonicalize(path) {
            Ok(path) => crate::capture::project_of(&path),
            Err(_) if path.components().count() == 1 => path.display().to_string(),
            Err(_) => crate::capture::project_of(path),
        },
        None => crate::capture::project_of(std::path::Path::new(&crate::capture::current_folder())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
        Capture::command().debug_assert();
    }

    #[track_caller]
    fn check(words: &str, is_short: bool) {
        let line: Vec<OsString> =
            ["iai-mcp"].into_iter().chain(words.split(' ')).map(Into::into).collect();
        let short = parse_capture(&line);
        assert_eq!(short.is_some(), is_short, "{words}");
        let Some(short) = short else { return };
        let Ok(whole) = Arguments::try_parse_from(&line) else {
            panic!("the whole parser reads it too: {line:?}");
        };
        assert_eq!(short.json, whole.json, "{words}");
        match (short.command, whole.command) {
            (Command::CaptureTranscript(short), Command::CaptureTranscript(whole)) => {
                assert_eq!(short, whole, "{words}");
            }
            (Command::CaptureTurnDeferred(short), Command::CaptureTurnDeferred(whole)) => {
                assert_eq!(short, whole, "{words}");
            }
            _ => panic!("{words}"),
        }
    }

    #[test]
    fn a_capture_is_read_alone_and_means_the_same() {
        check("capture-transcript t.jsonl", true);
        check("capture-transcript --no-spawn --session-id s --max-turns 7 t.jsonl", true);
        check("capture-transcript --session-id=-x -- --odd", true);
        check("capture-turn-deferred --session-id s --transcript-path t.jsonl", true);
        check(
            "capture-turn-deferred --transcript-path t --session-id s --max-turns-per-call 3",
            true,
        );
        for left in [
            "capture-transcript",
            "capture-transcript --help",
            "capture-transcript --version",
            "capture-transcript t.jsonl --json",
            "capture-transcript t.jsonl --no-such-flag",
            "capture-transcripts t.jsonl",
            "capture-turn-deferred --session-id s",
            "--json capture-transcript t.jsonl",
            "status",
        ] {
            check(left, false);
        }
    }
}
