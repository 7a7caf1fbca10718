//! `spool`: what waits on its way into the memory, and what was set aside there.

mod aside;

use std::process::ExitCode;
use std::time::SystemTime;

use clap::Subcommand;
use serde_json::{Value, json};

use super::output::{Output, counted};
use crate::capture::{WaitingFile, waiting_files};
use crate::client::Client;
use crate::fields::Fields as _;
use crate::settings::Settings;
use aside::{Aside, clear};

#[derive(Subcommand)]
pub(super) enum SpoolCommand {
    /// List the files that wait, and why
    List,
    /// Show the turns of one file
    Show {
        /// The file's name
        file: String,
    },
    /// Try again now what was put off
    Retry {
        /// Only this file
        file: Option<String>,
    },
    /// Show the lines that could not be understood, and were kept
    Aside,
    /// Take away what was set aside, once you have seen it
    Clear {
        /// Only this file of the spool, which no drain takes
        file: Option<String>,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
}

pub(super) fn run(
    command: &SpoolCommand,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let client = Client::new(settings.clone());
    match command {
        SpoolCommand::List => list(&client, settings, output),
        SpoolCommand::Show { file } => {
            let shown = client.call_daemon("spool_show", &json!({"file": file}))?;
            output.show(&shown, |shown| {
                let turns = shown.at("turns").as_array().map_or(&[][..], Vec::as_slice);
                let line = |turn: &Value| {
                    let field = |name: &str| turn.at(name).as_str().unwrap_or("-");
                    format!("{}  {:<9}  {}", field("ts"), field("role"), field("text"))
                };
                turns.iter().map(line).collect::<Vec<_>>().join("\n")
            });
            Ok(ExitCode::SUCCESS)
        }
        SpoolCommand::Retry { file } => retry(&client, file.as_deref(), settings, output),
        SpoolCommand::Aside => {
            let aside = Aside::of(&client, settings)?;
            output.show(&aside.as_json(), |_| aside.describe());
            Ok(ExitCode::SUCCESS)
        }
        SpoolCommand::Clear { file, yes } => {
            let aside = match file {
                Some(name) => Aside::named(settings, name)?,
                None => Aside::of(&client, settings)?,
            };
            clear(&client, &aside, *yes, output)
        }
    }
}

fn list(client: &Client, settings: &Settings, output: &Output) -> anyhow::Result<ExitCode> {
    let receipts = client.call("spool_receipts", &json!({})).unwrap_or_default();
    let files: Vec<Value> = waiting_files(&settings.home)
        .iter()
        .map(|file| describe(file, receipts.at("files").at(&file.name)))
        .collect();
    output.show(&json!({"count": files.len(), "files": files}), |_| {
        if files.is_empty() {
            return "nothing waits".to_owned();
        }
        files.iter().map(line).collect::<Vec<_>>().join("\n")
    });
    Ok(ExitCode::SUCCESS)
}

fn describe(file: &WaitingFile, receipt: &Value) -> Value {
    let age = file.written_at.and_then(|at| at.elapsed().ok()).map(|age| age.as_secs());
    let since = file.written_at.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    json!({
        "file": file.name,
        "turns": file.n_turns,
        "bytes": file.n_bytes,
        "age_sec": age,
        "written_at_unix": since.map(|since| since.as_secs()),
        "set_aside": file.is_set_aside,
        "attempts": receipt.at("attempts").as_u64().unwrap_or(0),
        "next_attempt_at": receipt.at("next_attempt_at"),
        "last_error": receipt.at("last_error"),
        "stuck": file.stuck,
    })
}

fn line(file: &Value) -> String {
    let why = match file.at("last_error").as_str() {
        _ if file.at("stuck").is_string() => {
            format!("stays: {}", file.at("stuck").as_str().unwrap_or_default())
        }
        Some(error) => format!("put off: {error}"),
        None if file.at("set_aside") == true => "set aside for a person".to_owned(),
        None => "waiting".to_owned(),
    };
    let age = file.at("age_sec").as_u64().unwrap_or(0);
    let n_turns = file.at("turns").as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    let name = file.at("file").as_str().unwrap_or("-");
    format!("{name}  {}  {age} s  {why}", counted(n_turns, "turn"))
}

fn retry(
    client: &Client,
    file: Option<&str>,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let waiting = waiting_files(&settings.home).into_iter();
    let names: Vec<String> = match file {
        Some(name) => waiting.map(|file| file.name).filter(|known| known == name).collect(),
        None => waiting.filter(|file| !file.is_set_aside).map(|file| file.name).collect(),
    };
    if let (Some(name), []) = (file, names.as_slice()) {
        anyhow::bail!("no file `{name}` waits; `iai-mcp spool list` shows what does");
    }
    let (mut n_stored, mut n_known) = (0, 0);
    for name in &names {
        let done = client.call_daemon("spool_drain", &json!({"file": name}))?;
        n_stored += done.at("stored").as_u64().unwrap_or(0);
        n_known += done.at("known").as_u64().unwrap_or(0);
    }
    let told = json!({"files": names.len(), "stored": n_stored, "known": n_known});
    output.show(&told, |_| {
        let files = counted(names.len(), "file");
        format!("{files} · {n_stored} stored · {n_known} already known")
    });
    Ok(ExitCode::SUCCESS)
}
