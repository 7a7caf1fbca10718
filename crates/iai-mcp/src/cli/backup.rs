//! `backup` and `restore`: the whole store in one sealed file, and back.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::Value;

use super::output::{Output, Tone};
use crate::client::{self, ExistingStore};
use crate::fields::Fields as _;
use crate::settings::Settings;

#[derive(Args)]
pub(super) struct BackupArguments {
    /// The file to make, or to check
    file: PathBuf,
    /// Only look whether the file is a whole backup; restores nothing
    #[arg(long)]
    check: bool,
    /// The key file it was made under, for --check; else the store's own
    #[arg(long, value_name = "PATH", requires = "check")]
    key_file: Option<PathBuf>,
}

#[derive(Args)]
pub(super) struct RestoreArguments {
    /// The backup
    file: PathBuf,
    /// The key file it was made under; else the store's own
    #[arg(long, value_name = "PATH")]
    key_file: Option<PathBuf>,
    /// Put it in the place of a store that is there, which is kept aside
    #[arg(long)]
    replace: bool,
}

pub(super) fn backup(
    arguments: &BackupArguments,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let file = std::path::absolute(&arguments.file)?;
    if arguments.check {
        let working = output.working("reading the backup");
        let told = client::check_backup(settings, &file, arguments.key_file.as_deref());
        drop(working);
        let told = told?;
        output.show(&told, |told| checked(told, output));
        return Ok(ExitCode::SUCCESS);
    }
    let working = output.working("copying pages");
    let told = client::back_up(settings, &file, &mut |n_done, n_pages| {
        working.part(n_done, n_pages);
    });
    drop(working);
    output.show(&told?, |told| taken(told, &file));
    Ok(ExitCode::SUCCESS)
}

pub(super) fn restore(
    arguments: &RestoreArguments,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let existing =
        if arguments.replace { ExistingStore::MovedAside } else { ExistingStore::Refuses };
    let file = std::path::absolute(&arguments.file)?;
    let key_file = arguments.key_file.as_deref();
    let working = output.working("opening the backup and checking every page of it");
    let told = client::restore(settings, &file, key_file, existing);
    drop(working);
    let told = told?;
    output.show(&told, |told| {
        let mut text = format!(
            "restored {} memories of {} into {}",
            told.at("memories"),
            word(told, "created_at"),
            word(told, "restored_to")
        );
        if let Some(replaced) = told.at("replaced").as_str() {
            text.push_str(&format!("\nwhat was there is kept in {replaced}"));
        }
        if let Some(n @ 1..) = told.at("waiting_replaced").as_u64() {
            text.push_str(&format!(
                "\n{n} turns that waited went there too: they are sealed to that store"
            ));
        }
        text + "\n`iai-mcp daemon start` begins to use it, `iai-mcp import` takes in what was said \
                since the backup"
    });
    Ok(ExitCode::SUCCESS)
}

fn taken(told: &Value, file: &Path) -> String {
    let needed = match word(told, "needs") {
        "passphrase" => "only the passphrase opens it".to_owned(),
        _ => format!(
            "only the key file with the id {} opens it: keep a copy of that key elsewhere",
            word(told, "key_id")
        ),
    };
    format!(
        "{} memories, {} links, {} KiB: {}\n{needed}",
        told.at("memories"),
        told.at("links"),
        told.at("bytes").as_u64().unwrap_or(0) / 1024,
        file.display()
    )
}

fn checked(told: &Value, output: &Output) -> String {
    let about = format!(
        "{} memories of {}, needs the {} with the id {}",
        told.at("memories"),
        word(told, "created_at"),
        word(told, "needs"),
        word(told, "key_id")
    );
    match word(told, "checked") {
        "opened" => format!("{}: {about}", output.tint(Tone::Good, "whole")),
        _ => format!(
            "{}: {about}\nits key is not here, so only its hash was compared",
            output.tint(Tone::Careful, "whole by its hash")
        ),
    }
}

fn word<'a>(told: &'a Value, name: &str) -> &'a str {
    told.at(name).as_str().unwrap_or_default()
}
