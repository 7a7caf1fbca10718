//! `pin` and `unpin`: which memories every session of a project begins with.

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::memories::page::Sought;
use super::memories::{items, show_list};
use super::output::Output;
use crate::client::Client;
use crate::fields::Fields as _;

#[derive(Args)]
pub(super) struct PinArguments {
    /// The memory's id, or its first characters; without one, the pinned memories are listed
    id: Option<String>,
    /// Tell it in every project, not only in its own
    #[arg(long)]
    everywhere: bool,
    /// Pin it although its words give orders to the assistant
    #[arg(long)]
    yes: bool,
}

pub(super) fn pin(
    client: &Client,
    arguments: &PinArguments,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let Some(id) = &arguments.id else {
        let pins = client.call("memory_pins", &json!({}))?;
        if items(&pins, "memories").is_empty() && !output.is_json() {
            let none = "nothing is pinned yet; `iai-mcp pin ID` has a memory told in every session";
            output.text(&output.beside("", 0, none));
            return Ok(ExitCode::SUCCESS);
        }
        show_list(client, &pins, Sought::Nothing, output);
        return Ok(ExitCode::SUCCESS);
    };
    let params =
        json!({"id": id, "everywhere": arguments.everywhere, "untrusted_too": arguments.yes});
    let answer = client.call("memory_pin", &params)?;
    output.show(&answer, |answer| {
        let where_told = match answer.at("reach").as_str() {
            Some("everywhere") => "told in every session",
            _ => "told in every session of its project",
        };
        format!("pinned {}: {where_told}", answer.at("record_id").as_str().unwrap_or_default())
    });
    Ok(ExitCode::SUCCESS)
}

pub(super) fn unpin(client: &Client, id: &str, output: &Output) -> anyhow::Result<ExitCode> {
    let answer = client.call("memory_unpin", &json!({"id": id}))?;
    output.show(&answer, |answer| {
        format!("unpinned {}", answer.at("record_id").as_str().unwrap_or_default())
    });
    Ok(ExitCode::SUCCESS)
}
