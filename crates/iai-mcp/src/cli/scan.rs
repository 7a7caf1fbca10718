//! `scan`: looks for secrets in what is stored already; `--fix` stores the same words without them.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use super::output::Output;
use crate::client::Client;
use crate::exit::Exit;
use crate::fields::Fields as _;

/// Memories replaced by one call; each call is one receipt.
const FIXED_PER_CALL: usize = 500;
/// Findings told one by one as text; `--json` has them all.
const LINES_MAX: usize = 200;

/// Look for secrets in what is stored
///
/// By the rules of the hook. Tells the kind, the mark, the memory and the place, never the secret.
#[derive(Args)]
pub(super) struct ScanArguments {
    /// Store the same words without the secrets, and forget the old ones for good
    #[arg(long)]
    fix: bool,
}

/// Exits 1 while something is found that was not fixed.
pub(super) fn run(
    client: &Client,
    arguments: &ScanArguments,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let mut found = Vec::new();
    let mut n_scanned = 0;
    let mut after = json!(0);
    let working = output.working("looking for secrets");
    loop {
        let part = client.call_daemon("secrets_scan", &json!({"after": after}))?;
        n_scanned += part.at("scanned").as_u64().unwrap_or(0);
        found.extend(part.at("found").as_array().into_iter().flatten().cloned());
        working.say(&format!("{n_scanned} memories looked at, {} found", found.len()));
        if part.at("next").is_null() {
            break;
        }
        after = part.at("next").clone();
    }
    drop(working);
    let mut n_fixed = 0;
    if arguments.fix {
        n_fixed = fix(client, &found)?;
    }
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    for one in &found {
        *kinds.entry(one.at("kind").as_str().unwrap_or_default().to_owned()).or_default() += 1;
    }
    let report = json!({
        "scanned": n_scanned, "found": found, "count": found.len(), "kinds": kinds,
        "memories_replaced": n_fixed,
    });
    output.show(&report, |_| describe(&report, arguments.fix));
    let is_done = found.is_empty() || arguments.fix;
    Ok(if is_done { ExitCode::SUCCESS } else { Exit::Failure.into() })
}

fn fix(client: &Client, found: &[Value]) -> anyhow::Result<u64> {
    let ids: BTreeSet<&str> = found.iter().filter_map(|one| one.at("record_id").as_str()).collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    let mut n_fixed = 0;
    let mut calls: Vec<&[&str]> = ids.chunks(FIXED_PER_CALL).collect();
    if calls.is_empty() {
        calls.push(&[]);
    }
    for ids in calls {
        let mut done = client.call_daemon("secrets_fix", &json!({"ids": ids}))?;
        while done.at("is_finished") != true && done.at("failed").is_null() {
            let receipt = json!({"receipt": done.at("receipt")});
            done = client.call_daemon("forget_status", &receipt)?;
        }
        if let Some(why) = done.at("failed").as_str() {
            anyhow::bail!("{why}; the daemon goes on at its next start");
        }
        n_fixed += done.at("forgotten").as_u64().unwrap_or(0);
    }
    Ok(n_fixed)
}

fn describe(report: &Value, is_fixed: bool) -> String {
    let found = report.at("found").as_array().map(Vec::as_slice).unwrap_or_default();
    let mut lines =
        vec![format!("{} memories looked at, {} secrets found", report.at("scanned"), found.len())];
    for one in found.iter().take(LINES_MAX) {
        let text = |name: &str| one.at(name).as_str().unwrap_or("-").to_owned();
        lines.push(format!(
            "  {} {} in the {} of {} ({})",
            text("kind"),
            text("mark"),
            text("place"),
            text("record_id"),
            text("ts"),
        ));
    }
    if LINES_MAX < found.len() {
        lines.push(format!("  … {} more", found.len() - LINES_MAX));
    }
    match (found.is_empty(), is_fixed) {
        (true, _) => {}
        (false, true) => lines.push(format!(
            "{} memories replaced; the old words are gone for good",
            report.at("memories_replaced")
        )),
        (false, false) => lines.push(
            "`--fix` stores the same words without them and forgets the old ones; what is none \
             goes into `secrets_allowed` of config.json"
                .to_owned(),
        ),
    }
    lines.join("\n")
}
