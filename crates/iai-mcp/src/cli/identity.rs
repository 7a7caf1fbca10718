//! `identity`: who the user is, in their own words; what every session begins with.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Subcommand;
use serde_json::{Value, json};

use super::editor;
use super::output::Output;
use crate::client::Client;
use crate::exit::Misuse;
use crate::fields::Fields as _;
use crate::settings::Settings;

/// What the editor shows while nothing is written yet; lines that begin so are left out.
const EXPLANATION: &str = "\
# Say in a few sentences who you are and how you work: at most 80 tokens are told to a new session.
# Lines that begin with # are left out. An empty text takes it back.
";

#[derive(Subcommand)]
pub(super) enum IdentityCommand {
    /// Print it
    Show,
    /// Write it in your editor ($VISUAL, $EDITOR or vi)
    Edit,
    /// Replace it by this text
    Set {
        /// The text
        text: String,
    },
    /// Take it back
    Clear,
}

pub(super) fn run(
    command: &IdentityCommand,
    client: &Client,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let answer = match command {
        IdentityCommand::Show => client.call("identity_get", &json!({}))?,
        IdentityCommand::Set { text } => set(client, text)?,
        IdentityCommand::Clear => {
            editor::remove_draft(&settings.home).context("removing a draft that was left")?;
            client.call("identity_set", &json!({"text": ""}))?
        }
        IdentityCommand::Edit => {
            let now = client.call("identity_get", &json!({}))?;
            let draft = format!("{EXPLANATION}{}\n", text_of(&now));
            let edited = editor::edit(settings, &draft)?;
            let lines = edited.lines().filter(|line| !line.starts_with('#'));
            let text = lines.collect::<Vec<_>>().join("\n");
            client.call("identity_set", &json!({"text": text.trim()}))?
        }
    };
    output.show(&answer, |answer| match text_of(answer) {
        "" => "nothing is written; `iai-mcp identity edit` writes it".to_owned(),
        text => text.to_owned(),
    });
    Ok(ExitCode::SUCCESS)
}

fn set(client: &Client, text: &str) -> anyhow::Result<Value> {
    if text.trim().is_empty() {
        let why = "the text is empty; `iai-mcp identity clear` takes the identity back";
        return Err(Misuse(why).into());
    }
    Ok(client.call("identity_set", &json!({"text": text}))?)
}

fn text_of(answer: &Value) -> &str {
    answer.at("text").as_str().unwrap_or_default()
}
