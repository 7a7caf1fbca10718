//! `crypto`: makes the key, exchanges it, and says what there is to say about it, never a byte of
//! it.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::output::Output;
use crate::client::{self, Client};
use crate::clock;
use crate::fields::Fields as _;
use crate::home::{FILE_MODE, ensure_inner_folder};
use crate::settings::Settings;

#[derive(Subcommand)]
pub(super) enum CryptoCommand {
    /// Make the key file; refuses when there is one
    Init,
    /// Show where the key comes from and whether it is safe
    Status,
    /// Exchange the key for a new one; the memories stay, and so does whoever has them open.
    /// Backups taken before open with the old key only: it is kept in the store's folder `aside`
    Rotate(RotateArguments),
}

#[derive(Args)]
pub(super) struct RotateArguments {
    /// Also encrypt every memory anew; the daemon must be stopped
    #[arg(long)]
    data_key: bool,
}

pub(super) fn run(
    command: &CryptoCommand,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    match command {
        CryptoCommand::Init => {
            client::create_key(settings)?;
            let path = settings.home.key_file();
            let made = json!({"created": path, "mode": "0o600", "bytes": 32});
            output.show(&made, |_| {
                format!("created: {} (mode 0o600, 32 bytes); keep a copy of it", path.display())
            });
        }
        CryptoCommand::Status => {
            let status = client::key_status(settings);
            output.show(&status, describe);
        }
        CryptoCommand::Rotate(arguments) => {
            let kept = keep_old_key(settings)?;
            let told = rotate(arguments, settings, output).inspect_err(|_| {
                // The key in force would look like one that was exchanged.
                kept.as_deref().map(discard);
            })?;
            output.show(&told, describe);
            if let Some(kept) = kept {
                output.remark(&format!(
                    "the old key is kept at {}: backups taken before need it (`--key-file`); \
                     delete it when you have a new one, and renew the copy you keep elsewhere",
                    kept.display()
                ));
            }
            output.remark("take a new backup now: `iai-mcp backup FILE`");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Copies the key file aside before it is replaced: without it, backups taken before are lost.
fn keep_old_key(settings: &Settings) -> anyhow::Result<Option<PathBuf>> {
    let key = settings.home.key_file();
    if !key.exists() {
        return Ok(None);
    }
    let folder = settings.home.aside();
    let kept = folder.join(format!("crypto.key-until-{}", clock::now().as_millisecond()));
    ensure_inner_folder(&folder)
        .and_then(|()| copy_new(&key, &kept).inspect_err(|_| discard(&kept)))
        .with_context(|| format!("keeping the old key at {}", kept.display()))?;
    Ok(Some(kept))
}

#[expect(clippy::disallowed_methods, reason = "a copy that this command made and nobody needs")]
fn discard(kept: &Path) {
    std::fs::remove_file(kept).ok();
}

/// Copies a key to where nothing is yet, another kept key least of all, and waits for the disk.
fn copy_new(key: &Path, kept: &Path) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).mode(FILE_MODE).open(kept)?;
    io::copy(&mut File::open(key)?, &mut file)?;
    file.sync_all()?;
    kept.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

fn rotate(
    arguments: &RotateArguments,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<Value> {
    let client = Client::new(settings.clone());
    let is_running = client.status().is_ok();
    if arguments.data_key && is_running {
        bail!(
            "every memory is encrypted anew, which needs the store for itself; \
             run `iai-mcp daemon stop` first"
        );
    }
    let before = client::key_status(settings);
    let is = |name: &str| before.at(name) == true;
    // Of a vault that is gone, nobody knows what it was made with but those who opened it.
    let is_passphrase = before.at("vault_made_with") == "passphrase"
        || !is("vault_present") && !is("present") && is("passphrase_fallback_set");
    let words = if is_passphrase { Some(new_passphrase(settings, output)?) } else { None };
    // The data key first: it is wrapped by the key that is still the old one.
    let working = output.working("exchanging the key");
    let encrypted = match arguments.data_key {
        true => {
            working.say("encrypting every memory anew");
            client::rotate_data_key(settings)?
        }
        false => json!({"records": 0, "events": 0}),
    };
    let rotated = match is_running {
        true => client.call_daemon("crypto_rotate", &json!({"new_passphrase": words}))?,
        false => client::rotate_master(settings, words)?,
    };
    drop(working);
    Ok(json!({
        "status": "rotated",
        "rotated": if arguments.data_key { "master key and data key" } else { "master key" },
        "key_id": rotated.at("key_id"),
        "records_re_encrypted": encrypted.at("records"),
        "events_re_encrypted": encrypted.at("events"),
        "algorithm": before.at("algorithm"),
        "format": before.at("format"),
    }))
}

fn new_passphrase(settings: &Settings, output: &Output) -> anyhow::Result<String> {
    if let Some(words) = &settings.new_passphrase {
        return Ok(words.clone());
    }
    let ask = |question| {
        output.ask_secret(question).filter(|words| !words.is_empty()).context(
            "no new passphrase was given; set IAI_MCP_CRYPTO_NEW_PASSPHRASE, or run this in a \
             terminal",
        )
    };
    let words = ask("new passphrase: ")?;
    if ask("the same again: ")? != words {
        bail!("the two differ; nothing was changed");
    }
    Ok(words)
}

fn describe(status: &Value) -> String {
    let pretty = serde_json::to_string_pretty(status);
    pretty.unwrap_or_else(|_| status.to_string())
}
