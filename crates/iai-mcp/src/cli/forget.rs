//! `forget`: shows what would go, and has it gone when somebody says so.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::import::parse_time;
use super::output::{Output, counted};
use super::paper::visible;
use crate::capture::n_waiting;
use crate::client::Client;
use crate::exit::{Exit, Misuse};
use crate::fields::Fields as _;

/// Characters of an id that are shown; they are enough to ask for it.
const ID_CHARS: usize = 8;

/// Forget memories for good
///
/// Several wishes narrow each other. Without `--yes` nothing changes. There is no undo: text,
/// vectors, words, links and summaries that quote it are gone from the files, and the same turn is
/// not taken in again. The transcripts of your assistants are not touched.
#[derive(Args)]
pub(super) struct ForgetArguments {
    /// Memories, by id or its first characters
    ids: Vec<String>,
    /// What was said in this session
    #[arg(long)]
    session: Option<String>,
    /// What was said in this project: a path, or its last part
    #[arg(long)]
    project: Option<String>,
    /// What contains this text, whatever its case
    #[arg(long = "match", value_name = "TEXT")]
    containing: Option<String>,
    /// What was said before this date or time
    #[arg(long, value_name = "DATE", value_parser = parse_time)]
    before: Option<Timestamp>,
    /// Do it
    #[arg(long)]
    yes: bool,
    /// List what was forgotten so far: when, how many, by what kind of wish, never the words
    #[arg(long, conflicts_with_all = ["ids", "session", "project", "containing", "before", "yes"])]
    receipts: bool,
}

pub(super) fn run(
    client: &Client,
    arguments: &ForgetArguments,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    if arguments.receipts {
        let receipts = client.call("forget_receipts", &json!({}))?;
        output.show(&receipts, describe_receipts);
        return Ok(ExitCode::SUCCESS);
    }
    check(arguments)?;
    forget(client, &wishes_of(arguments), arguments.yes, output)
}

/// The daemon refuses the same, in words for programs.
fn check(arguments: &ForgetArguments) -> Result<(), Misuse> {
    let texts = [&arguments.session, &arguments.project, &arguments.containing];
    if texts.into_iter().flatten().any(|text| text.trim().is_empty()) {
        return Err(Misuse("an empty text would mean every memory; say which ones"));
    }
    let has_text = texts.into_iter().any(Option::is_some);
    if arguments.ids.is_empty() && !has_text && arguments.before.is_none() {
        return Err(Misuse(
            "say what to forget: ids of memories, --session, --project, --match or --before",
        ));
    }
    Ok(())
}

/// Shows what wishes mean, or has it forgotten when that was confirmed.
pub(super) fn forget(
    client: &Client,
    wishes: &Value,
    is_confirmed: bool,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    if !is_confirmed {
        let mut preview = client.call("forget_preview", wishes)?;
        preview.set("dry_run", true);
        // Only the daemon opens what waits.
        if preview.at("degraded") == true {
            preview.set("waiting_not_looked_at", n_waiting(client.home()));
        }
        output.show(&preview, |preview| describe_preview(preview, output));
        return Ok(ExitCode::SUCCESS);
    }
    let working = output.working("forgetting");
    let mut done = client.call("memory_forget", wishes)?;
    // Later answers only tell how far it is.
    let first = done.clone();
    while done.at("is_finished") != true && done.at("failed").is_null() {
        let count = |name: &str| done.at(name).as_u64().unwrap_or(0);
        working.part(count("forgotten"), count("forgotten") + count("left"));
        done = client.call("forget_status", &json!({"receipt": done.at("receipt")}))?;
    }
    drop(working);
    for name in ["waiting_forgotten", "n_holding_again", "holds_again"] {
        done.set(name, first.at(name).clone());
    }
    output.show(&done, |done| describe_done(done, output));
    let is_done = done.at("is_finished") == true && !is_nothing(&done);
    Ok(if is_done { ExitCode::SUCCESS } else { Exit::Failure.into() })
}

/// Whether nothing was there to forget; the wish may have been a slip.
fn is_nothing(done: &Value) -> bool {
    let count = |name: &str| done.at(name).as_u64().unwrap_or(0);
    done.at("failed").is_null() && count("forgotten") == 0 && count("waiting_forgotten") == 0
}

fn wishes_of(arguments: &ForgetArguments) -> Value {
    json!({
        "ids": arguments.ids,
        "session": arguments.session,
        "project": arguments.project.as_deref().map(project_named),
        "match": arguments.containing,
        "before": arguments.before.map(|before| before.to_string()),
    })
}

/// A folder on this disk means its project; anything else is a name.
fn project_named(name: &str) -> String {
    let is_path = name.contains('/') || name == "." || name == "..";
    match std::fs::canonicalize(name) {
        Ok(path) if is_path => crate::capture::project_of(Path::new(&path)),
        _ => name.to_owned(),
    }
}

fn describe_preview(preview: &Value, output: &Output) -> String {
    let text = |value: &Value, name: &str| value.at(name).as_str().unwrap_or("-").to_owned();
    let count = preview.at("count").as_u64().unwrap_or(0);
    let unseen = match preview.at("waiting_not_looked_at").as_u64() {
        Some(1) => "\n1 waiting turn was not looked at: the daemon is not running".to_owned(),
        Some(n @ 2..) => {
            format!("\n{n} waiting turns were not looked at: the daemon is not running")
        }
        Some(0) | None => String::new(),
    };
    if count == 0 {
        return format!("nothing fits; nothing would be forgotten{unseen}");
    }
    let look = output.look();
    let time = |value: &Value, name: &str| match &look {
        Some(look) => look.date(&text(value, name)),
        None => text(value, name),
    };
    let said = if preview.at("n_turns").as_u64() == Some(0) { "" } else { "said " };
    let what = format!(
        "{} would be forgotten, {said}{} to {}",
        kinds(preview),
        time(preview, "oldest"),
        time(preview, "newest"),
    );
    let mut lines = vec![output.beside("", 0, &what)];
    for session in preview.at("sessions").as_array().into_iter().flatten() {
        let name = text(session, "session_id");
        let line = format!("{} · {}", visible(&name), session.at("count"));
        lines.push(output.beside("  session ", 10, &line));
    }
    let shown = preview.at("memories").as_array().map(Vec::as_slice).unwrap_or_default();
    for memory in shown {
        let id = text(memory, "record_id");
        let head = format!("  {} ", id.get(..8).unwrap_or_default());
        let line = format!(
            "{} {:<9} {}",
            time(memory, "ts"),
            text(memory, "role"),
            visible(&text(memory, "first_words")),
        );
        lines.push(output.beside(&head, head.len(), &line));
    }
    let n_more = count.saturating_sub(shown.len() as u64);
    if 0 < n_more {
        lines.push(format!("  … {n_more} more"));
    }
    lines.extend(holding_again(preview, output));
    let end = "Nothing was changed. `--yes` forgets them; there is no undo.";
    lines.push(output.beside("", 0, end));
    lines.join("\n") + &unseen
}

/// Names what holds again because what replaced it is gone: nobody asked for that.
fn holding_again(answer: &Value, output: &Output) -> Vec<String> {
    let told = answer.at("holds_again").as_array().map(Vec::as_slice).unwrap_or_default();
    let line = |memory: &Value| {
        let text = |name: &str| visible(memory.at(name).as_str().unwrap_or("-")).into_owned();
        let id: String = text("record_id").chars().take(ID_CHARS).collect();
        let words = text("first_words");
        let line = format!("what it had replaced holds again: “{words}” ({id})");
        output.beside("", 0, &line)
    };
    let mut lines: Vec<String> = told.iter().map(line).collect();
    let count = answer.at("n_holding_again").as_u64().unwrap_or(0);
    let n_more = count.saturating_sub(told.len() as u64);
    if 0 < n_more {
        lines.push(format!("… and {n_more} more"));
    }
    lines
}

/// Counts what would go, each kind by its name.
fn kinds(preview: &Value) -> String {
    let n = |name: &str| usize::try_from(preview.at(name).as_u64().unwrap_or(0)).unwrap_or(0);
    let of = |n_parts: usize, part: &str, n_wholes: usize, whole: &str| {
        format!("{} of {}", counted(n_parts, part), counted(n_wholes, whole))
    };
    let mut parts = Vec::new();
    if 0 < n("n_turns") {
        parts.push(of(n("n_turns"), "turn", n("n_sessions"), "session"));
    }
    if 0 < n("n_passages") {
        parts.push(of(n("n_passages"), "passage", n("n_files"), "file"));
    }
    match n("n_summaries") {
        0 => {}
        1 => parts.push("1 summary".to_owned()),
        n => parts.push(format!("{n} summaries")),
    }
    parts.join(", ")
}

fn describe_done(done: &Value, output: &Output) -> String {
    if let Some(why) = done.at("failed").as_str() {
        return format!(
            "{} forgotten, {} left: {why}; the daemon goes on at its next start",
            done.at("forgotten"),
            done.at("left")
        );
    }
    if is_nothing(done) {
        return "nothing fits; nothing was forgotten".to_owned();
    }
    let waiting = match done.at("waiting_forgotten").as_u64().unwrap_or(0) {
        0 => String::new(),
        n => format!(", and {n} that waited"),
    };
    let n = done.at("forgotten").as_u64().unwrap_or(0);
    let head = format!("{} forgotten{waiting}; receipt {}", memories(n), done.at("receipt"));
    let mut lines = vec![head];
    lines.extend(holding_again(done, output));
    lines.join("\n")
}

fn memories(n: u64) -> String {
    if n == 1 { "1 memory".to_owned() } else { format!("{n} memories") }
}

fn describe_receipts(answer: &Value) -> String {
    let receipts = answer.at("receipts").as_array().map(Vec::as_slice).unwrap_or_default();
    if receipts.is_empty() {
        return "nothing was forgotten on purpose".to_owned();
    }
    let line = |receipt: &Value| {
        let text = |name: &str| receipt.at(name).as_str().unwrap_or("-").to_owned();
        let state = if receipt.at("finished_at").is_null() { " · not finished" } else { "" };
        format!(
            "{:>4} {} · {} memories by {} ({}){state}",
            receipt.at("receipt").as_u64().unwrap_or(0),
            text("asked_at"),
            receipt.at("count"),
            text("selection"),
            text("reason"),
        )
    };
    receipts.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_steers_no_terminal_by_what_was_said() {
        let preview = json!({
            "count": 1, "n_turns": 1, "n_sessions": 1, "oldest": "-", "newest": "-",
            "sessions": [{"session_id": "\u{1b}[31ms", "count": 1}],
            "memories": [{"record_id": "00112233", "first_words": "\u{1b}[2Jred"}],
        });
        let shown = describe_preview(&preview, &Output::new(true, true));
        assert!(shown.contains("␛[2Jred") && !shown.contains('\u{1b}'), "{shown:?}");
    }
}
