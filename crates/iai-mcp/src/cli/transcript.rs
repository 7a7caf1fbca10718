//! `transcript`: a session's conversation out of the store, for transcripts the host has deleted.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::{Value, json};

use super::memories::{speaker, whole_memory};
use super::output::Output;
use crate::client::Client;
use crate::fields::Fields as _;

/// Turns per request.
const PAGE: u64 = 200;

pub(super) fn run(client: &Client, session: &str, output: &Output) -> anyhow::Result<ExitCode> {
    let mut turns: Vec<Value> = Vec::new();
    loop {
        let params = json!({
            "session": session, "or_beginning": true, "skip": turns.len(), "limit": PAGE,
        });
        let page = client.call("session_turns", &params)?;
        let Some(page) = page.at("turns").as_array().filter(|page| !page.is_empty()) else { break };
        for turn in page {
            // A text larger than an answer is put together from its parts.
            turns.push(match turn.at("record_id").as_str() {
                Some(id) if turn.at("excerpt").is_object() => whole_memory(client, id)?,
                _ => turn.clone(),
            });
        }
    }
    if turns.is_empty() {
        bail!("there is no session {session}; `iai-mcp list` shows sessions with `--json`");
    }
    let whole = turns.first().map_or(&Value::Null, |turn| turn.at("session_id"));
    let told = json!({"session": whole, "turns": turns});
    output.show(&told, |_| turns.iter().map(describe).collect::<Vec<_>>().join("\n\n"));
    Ok(ExitCode::SUCCESS)
}

fn describe(turn: &Value) -> String {
    let field = |name: &str| turn.at(name).as_str().unwrap_or("-");
    format!("── {} · {}\n{}", speaker(turn), field("ts"), field("literal_surface"))
}
