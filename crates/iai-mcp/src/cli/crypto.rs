//! `crypto`: makes the key and says what there is to say about it, never a byte of it.

use std::process::ExitCode;

use clap::Subcommand;
use serde_json::{Value, json};

use super::output::Output;
use crate::client;
use crate::settings::Settings;

#[derive(Clone, Copy, Subcommand)]
pub(super) enum CryptoCommand {
    /// Make the key file; refuses when there is one
    Init,
    /// Show where the key comes from and whether it is safe
    Status,
}

pub(super) fn run(
    command: CryptoCommand,
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
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(status: &Value) -> String {
    let pretty = serde_json::to_string_pretty(status);
    pretty.unwrap_or_else(|_| status.to_string())
}
