//! `correct`: says what holds instead of a memory, as the page does.

use std::io::Read as _;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use iai_wire::{BY_PERSON, FRAME_BYTES_MAX};
use serde_json::{Value, json};

use super::memories::items;
use super::output::Output;
use super::paper::visible;
use crate::client::Client;
use crate::clock;
use crate::exit::Misuse;
use crate::fields::Fields as _;

#[derive(Args)]
pub(super) struct CorrectArguments {
    /// The memory's id, or its first characters
    id: String,
    /// What holds now; `-` reads it from standard input
    text: String,
}

pub(super) fn run(
    client: &Client,
    arguments: &CorrectArguments,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let text = match arguments.text.as_str() {
        "-" => from_standard_input()?,
        text => text.to_owned(),
    };
    if text.trim().is_empty() {
        return Err(Misuse("the text is empty; say what holds now").into());
    }
    let memory = client.call("memory_show", &json!({"id": arguments.id}))?;
    let params = json!({
        "id": memory.at("record_id"),
        "new_fact": text,
        // What is corrected on one day can be forgotten as one.
        "session_id": format!("terminal-{}", clock::now().strftime("%Y-%m-%d")),
        "by": BY_PERSON,
    });
    let mut done = client.call("memory_contradict", &params)?;
    // Not always what was named: of a chain of corrections the last one is replaced.
    let around = client.call("picture_memory", &json!({"id": done.at("new_record_id")}))?;
    done.set("replaced", around.at("replaced").clone());
    output.show(&done, |done| describe(done, output));
    Ok(ExitCode::SUCCESS)
}

/// Reads more than a message carries, so that a text that is too long is refused and not cut.
fn from_standard_input() -> anyhow::Result<String> {
    let mut text = String::new();
    let stdin = std::io::stdin().lock();
    let mut stdin = stdin.take(FRAME_BYTES_MAX as u64);
    stdin.read_to_string(&mut text).context("reading the text from standard input")?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

fn describe(done: &Value, output: &Output) -> String {
    let text = |value: &Value, name: &str| value.at(name).as_str().unwrap_or("-").to_owned();
    let mut lines = vec![format!("{} holds now", text(done, "new_record_id"))];
    for old in items(done, "replaced") {
        let (id, words) = (text(old, "record_id"), text(old, "first_words"));
        let line = format!("it replaced {id}: “{}”", visible(&words));
        lines.push(output.beside("", 0, &line));
    }
    lines.join("\n")
}
