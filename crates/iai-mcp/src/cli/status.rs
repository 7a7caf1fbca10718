//! `status`: what is captured, stored and waiting, whether or not a daemon runs.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::output::Output;
use crate::client::Client;
use crate::exit::Exit;
use crate::fields::Fields as _;
use crate::settings::Settings;

pub(super) fn run(
    client: &Client,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    match client.status() {
        Ok(status) => {
            output.show(&status, |status| describe(status, settings));
            Ok(ExitCode::SUCCESS)
        }
        Err(error) if error.is_down() => {
            let overview = client.call("store_overview", &json!({})).ok();
            let count = |overview: &Value, of| overview.at(of).as_u64().unwrap_or(0);
            let stored = overview
                .map(|all| count(&all, "memories").saturating_sub(count(&all, "generated")));
            let status = json!({
                "ok": false,
                "state": "down",
                "version": env!("CARGO_PKG_VERSION"),
                "store": settings.home.root(),
                "stored": stored,
                "pending": crate::capture::n_waiting(&settings.home),
            });
            output.show(&status, |status| describe_down(status, settings));
            Ok(Exit::DaemonUnreachable.into())
        }
        Err(error) => Err(error.into()),
    }
}

fn describe(status: &Value, settings: &Settings) -> String {
    let mut lines = vec![
        format!(
            "daemon    {} · version {} · process {} · up {} s",
            word(status, "state"),
            word(status, "version"),
            status.at("pid"),
            status.at("uptime_sec").as_f64().unwrap_or(0.0).round()
        ),
        format!("store     {}", settings.home.root().display()),
        format!(
            "turns     {} captured · {} stored · {} pending · {} failed",
            status.at("captured"),
            status.at("stored"),
            status.at("pending"),
            status.at("failed")
        ),
    ];
    if let Some(oldest) = status.at("oldest_pending_at").as_str() {
        lines.push(format!("oldest    pending since {oldest}"));
    }
    if status.at("model").is_object() {
        lines.push(format!("model     {}", super::model::describe(status.at("model"))));
    }
    lines.join("\n")
}

fn describe_down(status: &Value, settings: &Settings) -> String {
    let stored = match &status.at("stored") {
        Value::Null => "nothing stored yet".to_owned(),
        n => format!("{n} stored"),
    };
    format!(
        "daemon    not running; `iai-mcp daemon start` starts it\n\
         store     {}\n\
         turns     {stored} · {} pending",
        settings.home.root().display(),
        status.at("pending"),
    )
}

fn word<'a>(status: &'a Value, name: &str) -> &'a str {
    status.at(name).as_str().unwrap_or("unknown")
}
