//! `sync`: the same memory on several machines, through PostgreSQL or a shared folder.

mod words;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::output::Output;
use super::project_here;
use crate::client::Client;
use crate::exit::Exit;
use crate::fields::Fields as _;

#[derive(Subcommand)]
pub(super) enum SyncCommand {
    /// Begin a vault: a sealed log in PostgreSQL or in a folder that something else carries
    Setup(SetupArguments),
    /// Print a code that lets one more machine join, once and for a short time
    Invite(InviteArguments),
    /// Join a vault with a code, or with the words of its keys
    Join(JoinArguments),
    /// Show the vaults, their machines and what waits
    Status,
    /// Exchange now, and wait for it
    Now,
    /// Show what was exchanged lately
    Log {
        /// At most so many exchanges
        #[arg(long, default_value_t = 20)]
        limit: u64,
    },
    /// Give a project to a team's vault; `--dry-run` shows what would be shared
    Share(ShareArguments),
    /// Make a new key for a vault, sealed to every machine that stays
    Rotate(VaultArguments),
    /// Put a machine out of a vault, and make a new key that it does not get
    Revoke(RevokeArguments),
    /// Leave a vault; what it brought stays
    Leave(VaultArguments),
}

#[derive(Args)]
pub(super) struct SetupArguments {
    /// `postgres://user:password@host/database`, or a folder
    address: String,
    /// What to call the vault
    #[arg(long, default_value = "home")]
    name: String,
    /// Share only the named projects, with other people
    #[arg(long)]
    team: bool,
    /// A project of a team's vault: what the team calls it, and where it is here
    #[arg(long = "project", value_name = "NAME=PATH", value_parser = parse_project)]
    projects: Vec<(String, PathBuf)>,
    /// What others see this machine as; its host name unless given
    #[arg(long)]
    machine: Option<String>,
    /// Show what would be shared, and do nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Args)]
pub(super) struct VaultArguments {
    /// Which vault, by name or the beginning of its id; the only one needs none
    #[arg(long)]
    vault: Option<String>,
}

#[derive(Args)]
pub(super) struct InviteArguments {
    #[command(flatten)]
    vault: VaultArguments,
    /// For how many minutes the code is good
    #[arg(long, default_value_t = 15)]
    minutes: u64,
}

#[derive(Args)]
pub(super) struct JoinArguments {
    /// The code that `sync invite` printed; without one, `--words` and where the vault is
    code: Option<String>,
    /// Where the vault is kept, if the code does not say or it is reached otherwise from here
    #[arg(long)]
    address: Option<String>,
    /// What to call the vault here
    #[arg(long)]
    name: Option<String>,
    /// Where a team's project is on this machine
    #[arg(long = "project", value_name = "NAME=PATH", value_parser = parse_project)]
    projects: Vec<(String, PathBuf)>,
    /// What others see this machine as; its host name unless given
    #[arg(long)]
    machine: Option<String>,
    /// The id of the vault, with `--words`
    #[arg(long, requires = "words")]
    vault: Option<String>,
    /// The words of its key; once for each key it ever had, the oldest first
    #[arg(long, conflicts_with = "code")]
    words: Vec<String>,
    /// With `--words`: it is a team's vault
    #[arg(long, requires = "words")]
    team: bool,
}

#[derive(Args)]
pub(super) struct ShareArguments {
    #[command(flatten)]
    vault: VaultArguments,
    /// The project: what the team calls it, and where it is here
    #[arg(value_name = "NAME=PATH", value_parser = parse_project, required = true)]
    projects: Vec<(String, PathBuf)>,
    /// Show what would be shared, and do nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Args)]
pub(super) struct RevokeArguments {
    /// The machine, by name or the beginning of its id
    machine: String,
    #[command(flatten)]
    vault: VaultArguments,
}

pub(super) fn run(
    command: &SyncCommand,
    client: &Client,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let ask = |method: &str, params: Value, describe: fn(&Value) -> String| {
        let answer = client.call(method, &params)?;
        output.show(&answer, describe);
        Ok(ExitCode::SUCCESS)
    };
    match command {
        SyncCommand::Setup(arguments) => set_up(arguments, client, output),
        SyncCommand::Invite(arguments) => {
            let params = json!({"vault": arguments.vault.vault, "minutes": arguments.minutes});
            ask("sync_invite", params, words::invitation)
        }
        SyncCommand::Join(arguments) => {
            let answer = client.call("sync_join", &join_params(arguments)?)?;
            output.show(&answer, words::joined);
            Ok(ExitCode::SUCCESS)
        }
        SyncCommand::Status => ask("sync_status", json!({}), words::status),
        SyncCommand::Now => now(client, output),
        SyncCommand::Log { limit } => {
            let params = json!({"kind": "sync_exchanged", "limit": limit});
            ask("events_query", params, words::log)
        }
        SyncCommand::Share(arguments) => share(arguments, client, output),
        SyncCommand::Rotate(arguments) => {
            ask("sync_rotate", json!({"vault": arguments.vault}), words::rotated)
        }
        SyncCommand::Revoke(arguments) => {
            let params = json!({"vault": arguments.vault.vault, "machine": arguments.machine});
            ask("sync_rotate", params, words::rotated)
        }
        SyncCommand::Leave(arguments) => {
            ask("sync_leave", json!({"vault": arguments.vault}), words::left)
        }
    }
}

fn set_up(
    arguments: &SetupArguments,
    client: &Client,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let kind = if arguments.team { "team" } else { "personal" };
    let projects = paths_of(&arguments.projects);
    if arguments.dry_run {
        let preview = client.call("sync_preview", &json!({"kind": kind, "projects": projects}))?;
        output.show(&preview, words::preview);
        return Ok(ExitCode::SUCCESS);
    }
    let params = json!({
        "address": address_of(&arguments.address)?,
        "name": arguments.name,
        "kind": kind,
        "projects": projects,
        "machine": machine_name(arguments.machine.as_ref()),
    });
    output.show(&client.call("sync_setup", &params)?, words::set_up);
    Ok(ExitCode::SUCCESS)
}

fn join_params(arguments: &JoinArguments) -> anyhow::Result<Value> {
    let address = arguments.address.as_deref().map(address_of).transpose()?;
    let mut params = json!({
        "code": arguments.code,
        "address": address,
        "projects": paths_of(&arguments.projects),
        "machine": machine_name(arguments.machine.as_ref()),
        "vault": arguments.vault,
        "words": arguments.words,
        "kind": if arguments.team { "team" } else { "personal" },
    });
    let named = arguments.name.clone();
    params.set("name", named.or_else(|| arguments.code.is_none().then(|| "home".to_owned())));
    Ok(params)
}

fn share(arguments: &ShareArguments, client: &Client, output: &Output) -> anyhow::Result<ExitCode> {
    let projects = paths_of(&arguments.projects);
    if arguments.dry_run {
        let params = json!({"kind": "team", "projects": projects});
        output.show(&client.call("sync_preview", &params)?, words::preview);
        return Ok(ExitCode::SUCCESS);
    }
    let params = json!({"vault": arguments.vault.vault, "projects": projects});
    output.show(&client.call("sync_share", &params)?, words::shared);
    Ok(ExitCode::SUCCESS)
}

/// Has an exchange done and waits for its end.
fn now(client: &Client, output: &Output) -> anyhow::Result<ExitCode> {
    let asked = client.call("sync_now", &json!({}))?.at("number").as_u64().unwrap_or(0);
    let working = output.working("exchanging");
    let status = loop {
        let status = client.call("sync_status", &json!({"number": asked}))?;
        if asked <= status.at("done").as_u64().unwrap_or(0) {
            break status;
        }
    };
    drop(working);
    output.show(&status, words::exchanged);
    let vaults = status.at("vaults").as_array().map(Vec::as_slice).unwrap_or_default();
    let is_well = vaults.iter().all(|vault| vault.at("trouble").is_null());
    Ok(if is_well { ExitCode::SUCCESS } else { Exit::Failure.into() })
}

/// A folder is named from here; the daemon stands elsewhere.
fn address_of(address: &str) -> anyhow::Result<String> {
    if address.contains("://") {
        return Ok(address.to_owned());
    }
    let path = std::path::absolute(address)?;
    Ok(path.to_string_lossy().into_owned())
}

fn paths_of(projects: &[(String, PathBuf)]) -> BTreeMap<String, String> {
    projects.iter().map(|(name, path)| (name.clone(), project_here(Some(path)))).collect()
}

fn machine_name(given: Option<&String>) -> String {
    given.cloned().unwrap_or_else(|| {
        let system = rustix::system::uname();
        system.nodename().to_string_lossy().into_owned()
    })
}

fn parse_project(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => {
            Ok((name.to_owned(), PathBuf::from(path)))
        }
        _ => Err("say NAME=PATH: what the team calls it, and where it is here".to_owned()),
    }
}
