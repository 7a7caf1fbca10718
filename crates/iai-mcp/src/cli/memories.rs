//! `recall`, `search`, `show`, `list`, `bank-recall`: memories as text or JSON. What a program
//! reads stands here; what a person sees at a terminal, in `page.rs`.

pub(super) mod page;
mod projects;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use iai_wire::BY_PERSON;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::import::parse_time;
use super::output::Output;
use super::project_here;
use crate::capture::n_waiting;
use crate::client::Client;
use crate::fields::Fields as _;
use page::Sought;

const PREVIEW_CHARS: usize = 160;
/// The daemon gives no more.
const HITS_MAX: u64 = 200;

/// What a list may be asked for.
fn limit() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=1000)
}

/// What an answer may cost; more than the daemon ever spends is as good as that.
fn budget() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..)
}

#[derive(Args)]
pub(super) struct RecallArguments {
    /// What to look for, in your own words; quotation marks ask for exact wording
    cue: String,
    /// What the answer may cost, in tokens
    #[arg(long, value_name = "TOKENS", default_value_t = 1500, value_parser = budget())]
    budget: u64,
    /// Only memories of this project: a folder of it, or its name
    #[arg(long, value_name = "PROJECT")]
    project: Option<PathBuf>,
    /// So many hits, long ones shown in part, instead of whole ones while the budget lasts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=HITS_MAX))]
    hits: Option<u64>,
    /// Ask as of this time: what was said later ranks lower. Without a zone it is UTC
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    as_of: Option<Timestamp>,
}

#[derive(Args)]
pub(super) struct SearchArguments {
    /// The text, whatever its case
    text: String,
    #[command(flatten)]
    list: ListArguments,
}

#[derive(Args)]
pub(super) struct ListArguments {
    /// At most this many
    #[arg(long, short = 'n', alias = "hits", default_value_t = 20, value_parser = limit())]
    limit: u64,
    /// Only memories of this project: a folder of it, or its name
    #[arg(long, value_name = "PROJECT")]
    project: Option<PathBuf>,
    /// Only memories of this session
    #[arg(long)]
    session: Option<String>,
}

#[derive(Args)]
pub(super) struct BankArguments {
    /// The text; an empty one finds everything
    #[arg(long)]
    query: String,
    /// At most this many
    #[arg(long, default_value_t = 20, value_parser = limit())]
    limit: u64,
}

pub(super) fn recall(
    client: &Client,
    arguments: &RecallArguments,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let project = arguments.project.as_ref().map(|folder| project_here(Some(folder)));
    let params = json!({
        "cue": arguments.cue,
        "budget_tokens": arguments.budget,
        "project": project,
        "n_hits_max": arguments.hits,
        "asof": arguments.as_of.map(|at| at.to_string()),
        "by": BY_PERSON,
    });
    let answer = client.call("memory_recall", &params)?;
    remark_degraded(client, &answer, output);
    projects::remark_unknown(client, items(&answer, "hits"), params.at("project"), output);
    output.show(&answer, |answer| match output.look() {
        Some(look) => page::recalled(answer, &arguments.cue, &look),
        None => describe_answer(answer),
    });
    Ok(ExitCode::SUCCESS)
}

pub(super) fn search(
    client: &Client,
    arguments: &SearchArguments,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let mut params = shelf_params(&arguments.list);
    params.set("text", json!(arguments.text));
    let found = client.call("memory_search", &params)?;
    projects::remark_unknown(client, items(&found, "memories"), params.at("project"), output);
    show_list(client, &found, Sought::Text(&arguments.text), output);
    Ok(ExitCode::SUCCESS)
}

pub(super) fn list(
    client: &Client,
    arguments: &ListArguments,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let params = shelf_params(arguments);
    let found = client.call("memory_list", &params)?;
    projects::remark_unknown(client, items(&found, "memories"), params.at("project"), output);
    show_list(client, &found, Sought::Nothing, output);
    Ok(ExitCode::SUCCESS)
}

pub(super) fn show(client: &Client, id: &str, output: &Output) -> anyhow::Result<ExitCode> {
    let memory = whole_memory(client, id)?;
    remark_degraded(client, &memory, output);
    output.show(&memory, |memory| match output.look() {
        Some(look) => page::whole(memory, &look),
        None => describe_whole(memory),
    });
    Ok(ExitCode::SUCCESS)
}

/// Puts a text together that is larger than one answer.
pub(super) fn whole_memory(client: &Client, id: &str) -> anyhow::Result<Value> {
    let mut memory = client.call("memory_show", &json!({"id": id}))?;
    let total = memory.at("excerpt").at("total").as_u64().unwrap_or(0);
    let mut end = memory.at("excerpt").at("end").as_u64().unwrap_or(total);
    let mut text = memory.at("literal_surface").as_str().unwrap_or_default().to_owned();
    while end < total {
        let id = &memory.at("record_id");
        let part = client.call("memory_show", &json!({"id": id, "start": end}))?;
        text.push_str(part.at("literal_surface").as_str().unwrap_or_default());
        end = part.at("excerpt").at("end").as_u64().filter(|next| end < *next).unwrap_or(total);
    }
    memory.set("literal_surface", json!(text));
    if let Some(fields) = memory.as_object_mut() {
        fields.remove("excerpt");
    }
    Ok(memory)
}

/// The founding program's daemonless search, in its answer's shape.
pub(super) fn bank_recall(
    client: &Client,
    arguments: &BankArguments,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let params = json!({"text": arguments.query, "limit": arguments.limit});
    let found = client.call("memory_search", &params)?;
    let hit = |memory: &Value| {
        json!({
            "record_id": memory.at("record_id"),
            "score": 0.0,
            "reason": "bank-substring-match (recent)",
            "literal_surface": memory.at("literal_surface"),
            "adjacent_suggestions": [],
            "valid_from": memory.at("valid_from"),
            "valid_to": memory.at("valid_to"),
        })
    };
    let hits: Vec<Value> = items(&found, "memories").iter().map(hit).collect();
    output.document(&json!({
        "hits": hits,
        "anti_hits": [],
        "activation_trace": [],
        "budget_used": 0,
        "cue_mode": "verbatim",
        "patterns_observed": [],
        "_knobs_applied": {},
    }));
    Ok(ExitCode::SUCCESS)
}

fn shelf_params(arguments: &ListArguments) -> Value {
    let project = arguments.project.as_ref().map(|folder| project_here(Some(folder)));
    json!({"limit": arguments.limit, "project": project, "session": arguments.session})
}

/// Shows memories line by line.
pub(super) fn show_list(client: &Client, found: &Value, sought: Sought<'_>, output: &Output) {
    remark_degraded(client, found, output);
    output.show(found, |found| {
        let memories = items(found, "memories");
        if memories.is_empty() {
            return "nothing found".to_owned();
        }
        let look = output.look();
        let line = |memory: &Value| match &look {
            Some(look) => page::listed(memory, sought, look),
            None => describe_line(memory),
        };
        memories.iter().map(line).collect::<Vec<_>>().join("\n")
    });
}

fn describe_answer(answer: &Value) -> String {
    let mut parts: Vec<String> = items(answer, "hits").iter().map(describe_hit).collect();
    if parts.is_empty() {
        parts.push("nothing found".to_owned());
    }
    parts.extend(advice(answer).map(|hint| format!("note: {hint}")));
    parts.join("\n\n")
}

/// What an answer says to an assistant, as a person can follow it.
fn advice(answer: &Value) -> impl Iterator<Item = String> {
    const TOOL: &str = "ask which one holds, memory_contradict settles it";
    const HAND: &str = "say which one holds to your assistant, or by `iai-mcp correct ID TEXT`";
    let hints = items(answer, "hints").iter().filter_map(|hint| hint.at("text").as_str());
    hints.map(|hint| hint.replace(TOOL, HAND))
}

fn describe_hit(hit: &Value) -> String {
    let field = |name: &str| hit.at(name).as_str().unwrap_or("-");
    let said_by = match hit.at("taught").as_str() {
        Some(source) => format!("taught from {source}"),
        None => field("role").to_owned(),
    };
    let head = format!(
        "{} · {} · {said_by} · {} · score {}",
        field("record_id"),
        field("ts"),
        field("project"),
        hit.at("score")
    );
    let reason = match hit.at("untrusted").as_str() {
        Some(why) => format!("untrusted: it {why}"),
        None => field("reason").to_owned(),
    };
    format!("{head}\n{reason}\n{}", field("literal_surface"))
}

fn describe_whole(memory: &Value) -> String {
    let field = |name: &str| memory.at(name).as_str().unwrap_or("-").to_owned();
    let facts = [
        ("id", field("record_id")),
        ("said", format!("{} by {} ({})", field("ts"), field("role"), field("host"))),
        ("session", field("session_id")),
        ("project", field("project")),
        ("tier", kind(memory).to_owned()),
        ("valid", format!("{} → {}", field("valid_from"), field("valid_to"))),
        ("replaced", replaced(memory)),
        ("pinned", pinned(memory).to_owned()),
    ];
    let facts = facts.iter().filter(|(_, value)| !value.is_empty());
    let facts: Vec<String> = facts.map(|(name, value)| format!("{name:<8} {value}")).collect();
    format!("{}\n\n{}", facts.join("\n"), field("literal_surface"))
}

/// What kind of memory it is; a passage of a file is no summary, though both are kept as one tier.
fn kind(memory: &Value) -> &str {
    match speaker(memory) {
        "taught" => "taught",
        _ => memory.at("tier").as_str().unwrap_or("-"),
    }
}

/// Says what took the place of a memory, where something did.
fn replaced(memory: &Value) -> String {
    let told = |next: &Value| {
        let field = |name: &str| next.at(name).as_str().unwrap_or("-");
        format!("by {}: “{}”", field("record_id"), field("first_words"))
    };
    let told: Vec<String> = items(memory, "replaced_by").iter().map(told).collect();
    told.join("; ")
}

/// Says that a memory is pinned, where it is.
fn pinned(memory: &Value) -> &'static str {
    if memory.at("pinned") == true { "yes; `iai-mcp unpin` lets go of it" } else { "" }
}

/// One memory on one line, for a program.
pub(super) fn describe_line(memory: &Value) -> String {
    let field = |name: &str| memory.at(name).as_str().unwrap_or("-");
    let id: String = field("record_id").chars().take(8).collect();
    let time: String = field("ts").chars().take(16).collect();
    let text = field("literal_surface").split_whitespace().collect::<Vec<_>>().join(" ");
    let preview: String = text.chars().take(PREVIEW_CHARS).collect();
    format!("{id}  {time}  {:<9}  {preview}", speaker(memory))
}

/// Who spoke; a sub-agent is not the assistant the user talked to.
pub(super) fn speaker(memory: &Value) -> &str {
    if memory.at("provenance").at("subagent") == true {
        return "sub-agent";
    }
    // A hit tells its source in words, a whole memory in its provenance.
    if memory.at("provenance").at("taught").is_object() || memory.at("taught").is_string() {
        return "taught";
    }
    match memory.at("role").as_str() {
        Some("system") => "generated",
        Some(role) => role,
        None => "-",
    }
}

pub(super) fn items<'a>(answer: &'a Value, name: &str) -> &'a [Value] {
    answer.at(name).as_array().map_or(&[], Vec::as_slice)
}

/// Says that an answer lacks what only the daemon takes in, and how much of that there is.
fn remark_degraded(client: &Client, answer: &Value, output: &Output) {
    if answer.at("degraded") != true {
        return;
    }
    let waiting = match n_waiting(client.home()) {
        0 => String::new(),
        1 => "; 1 turn waits unread; `iai-mcp daemon start` has it taken in".to_owned(),
        n => format!("; {n} turns wait unread; `iai-mcp daemon start` has them taken in"),
    };
    output.remark(&format!("the daemon is not running; read from the store as it is{waiting}"));
}
