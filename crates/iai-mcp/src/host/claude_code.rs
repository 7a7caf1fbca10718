//! Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, and a file for each sub-agent below
//! `<session>/subagents`.
//!
//! A message of the assistant is spread over lines, one block each; a prompt typed while it works
//! never becomes a line of the user.

use serde_json::Value;

use crate::fields::Fields as _;

use super::json::{elements, is_blank, is_set, text_at, time_at};
use super::reading::{Reading, put};
use super::wrappers::{Typed, typed};
use super::{Meaning, NotWords, Speaker, Turn};

/// The most prompts remembered as waiting.
const QUEUED_MAX: usize = 64;

/// What the program writes before and after the words a person gave as a reason to refuse a tool.
const REFUSED: &str = "The user doesn't want to proceed with this tool use.";
const REFUSED_BECAUSE: &str = "the user said:\n";
const REFUSED_NOTE: &str = "\n\nNote: The user's next message may contain";

pub(super) fn read(reading: &mut Reading, line: &Value) -> Meaning {
    let message = if line.at("message").is_object() { line.at("message") } else { line };
    let kind = line.at("type").as_str().or_else(|| message.at("role").as_str());
    match kind.unwrap_or_default() {
        "user" => user(reading, line, message.at("content")),
        "assistant" => assistant(reading, line, message),
        "attachment" => attachment(reading, line),
        "queue-operation" => queue(reading, line),
        other => Meaning::Nobody(not_a_message(other)),
    }
}

fn not_a_message(kind: &str) -> NotWords {
    match kind {
        "system" | "mode" | "permission-mode" | "last-prompt" | "pr-link" | "ai-title"
        | "custom-title" | "agent-name" | "agent-setting" | "agent-color" | "worktree-state"
        | "summary" | "tag" | "atis-latch" | "bridge-session" => NotWords::Bookkeeping,
        "progress" | "started" | "result" => NotWords::Progress,
        "file-history-snapshot" | "file-history-delta" | "content-replacement" => {
            NotWords::Snapshot
        }
        _ => NotWords::Unknown,
    }
}

/// Returns why the whole line is the program's, by its own marks.
fn marked(line: &Value) -> Option<NotWords> {
    // The helper that writes the summary of a long session is a sub-agent with this name.
    let is_summariser =
        line.at("agentId").as_str().is_some_and(|agent| agent.starts_with("acompact"));
    let origin = line.at("origin").at("kind").as_str().unwrap_or("human");
    if is_set(line, "isCompactSummary")
        || is_set(line, "isVisibleInTranscriptOnly")
        || is_summariser
    {
        Some(NotWords::CompactSummary)
    } else if is_set(line, "isMeta") || is_set(line, "isSynthetic") {
        Some(NotWords::Meta)
    } else {
        (origin != "human").then_some(NotWords::Notification)
    }
}

fn user(reading: &mut Reading, line: &Value, content: &Value) -> Meaning {
    if let Some(reason) = marked(line) {
        return Meaning::Nobody(reason);
    }
    let is_sidechain = is_sidechain(reading, line);
    reading.deeds.belong_to(is_sidechain);
    let (text, command) = match typed_text(content) {
        Ok(found) => found,
        Err(NotWords::ToolResult) => return tool_result(reading, line, content),
        Err(reason) => return Meaning::Nobody(reason),
    };
    // Claude Code wakes sub-agents with this word before anybody needs them.
    if is_sidechain && text == "Warmup" {
        return Meaning::Nobody(NotWords::Meta);
    }
    // A plan the user accepted opens the next session as a prompt; the assistant wrote it.
    let is_plan = line.at("planContent").is_string();
    let speaker = if is_plan { Speaker::Assistant } else { Speaker::User };
    let mut turn = turn(reading, line, speaker, text);
    put(&mut turn, "command", command.as_deref());
    if is_plan {
        turn.provenance.insert("plan".to_owned(), Value::Bool(true));
    }
    turn.into()
}

/// Joins the typed blocks of a message in the user's name, or says why there is none.
fn typed_text(content: &Value) -> Result<(String, Option<String>), NotWords> {
    let mut words: Vec<&str> = Vec::new();
    let mut typed_behind = None;
    let mut reasons = Vec::new();
    for block in blocks(content) {
        match block {
            Block::Text(text) => match typed(text) {
                Typed::Words { text, command } => {
                    words.push(text);
                    typed_behind = typed_behind.or(command);
                }
                Typed::Nobody(reason) => reasons.push(reason),
            },
            Block::Other(kind) => reasons.push(match kind {
                "tool_result" => NotWords::ToolResult,
                "image" | "document" => NotWords::Image,
                _ => NotWords::Unknown,
            }),
        }
    }
    if !words.is_empty() {
        return Ok((words.join("\n"), typed_behind.map(str::to_owned)));
    }
    let has_result = reasons.contains(&NotWords::ToolResult);
    let reason = if has_result { Some(NotWords::ToolResult) } else { reasons.first().copied() };
    Err(reason.unwrap_or(NotWords::Blank))
}

enum Block<'a> {
    Text(&'a str),
    Other(&'a str),
}

fn blocks(content: &Value) -> Vec<Block<'_>> {
    if let Some(text) = content.as_str() {
        return vec![Block::Text(text)];
    }
    let block = |block| match (Value::at(block, "type").as_str(), Value::at(block, "text").as_str())
    {
        (Some("text"), Some(text)) => Block::Text(text),
        (kind, _) => Block::Other(kind.unwrap_or_default()),
    };
    elements(content).iter().map(block).collect()
}

/// A tool result is nobody's words, but a person may have spoken through it: by answering the
/// assistant's question, or by saying why a tool must not run.
fn tool_result(reading: &mut Reading, line: &Value, content: &Value) -> Meaning {
    let answers = line.at("toolUseResult").at("answers").as_object();
    let (asked, answered): (Vec<_>, Vec<_>) = answers
        .into_iter()
        .flatten()
        .filter_map(|(question, answer)| Some((question.as_str(), answer.as_str()?)))
        .unzip();
    let text = answered.join("\n");
    if !is_blank(&text) {
        let mut turn = turn(reading, line, Speaker::User, text);
        turn.provenance.insert("asked".to_owned(), Value::from(asked));
        return turn.into();
    }
    match elements(content).iter().find_map(refusal) {
        Some(words) => turn(reading, line, Speaker::User, words.to_owned()).into(),
        None => Meaning::Nobody(NotWords::ToolResult),
    }
}

fn refusal(block: &Value) -> Option<&str> {
    let text = block.at("content").as_str()?.strip_prefix(REFUSED)?;
    let (_, words) = text.split_once(REFUSED_BECAUSE)?;
    let words = words.split_once(REFUSED_NOTE).map_or(words, |(words, _)| words);
    (!is_blank(words)).then_some(words)
}

fn assistant(reading: &mut Reading, line: &Value, message: &Value) -> Meaning {
    if let Some(reason) = marked(line) {
        return Meaning::Nobody(reason);
    }
    if is_set(line, "isApiErrorMessage") || message.at("model") == "<synthetic>" {
        return Meaning::Nobody(NotWords::HostError);
    }
    let is_sidechain = is_sidechain(reading, line);
    reading.deeds.belong_to(is_sidechain);
    let content = message.at("content");
    for block in elements(content).iter().filter(|block| block.at("type") == "tool_use") {
        reading.deeds.note(block.at("name"), block.at("input"));
    }
    let mut reason = NotWords::Blank;
    let mut words = Vec::new();
    for block in blocks(content) {
        match block {
            Block::Text("(no content)") => {}
            Block::Text(text) => words.push(text),
            Block::Other("tool_use" | "server_tool_use") => reason = NotWords::ToolCall,
            Block::Other(_) if reason == NotWords::Blank => reason = NotWords::Thinking,
            Block::Other(_) => {}
        }
    }
    let text = words.join("\n");
    if is_blank(&text) {
        return Meaning::Nobody(reason);
    }
    let mut turn = turn(reading, line, Speaker::Assistant, text);
    put(&mut turn, "model", message.at("model").as_str());
    turn.into()
}

/// Since prompts typed during work are delivered as attachments, those are where they are read.
fn attachment(reading: &mut Reading, line: &Value) -> Meaning {
    if !reading.memo.has_attachments {
        reading.memo.has_attachments = true;
        reading.queued.clear();
    }
    let attachment = line.at("attachment");
    if attachment.at("type") != "queued_command" {
        return Meaning::Nobody(NotWords::Injected);
    }
    let is_typed = attachment.at("commandMode").as_str().is_none_or(|mode| mode == "prompt");
    let reason = marked(line).or_else(|| marked(attachment));
    if let Some(reason) = reason.or((!is_typed).then_some(NotWords::Notification)) {
        return Meaning::Nobody(reason);
    }
    match typed_text(attachment.at("prompt")) {
        Ok((text, _)) => {
            let mut turn = turn(reading, line, Speaker::User, text);
            turn.provenance.insert("queued".to_owned(), Value::Bool(true));
            turn.into()
        }
        Err(reason) => Meaning::Nobody(reason),
    }
}

/// Before there were attachments, a prompt the running turn took in stands only in the queue:
/// put in with its words, taken out without them.
fn queue(reading: &mut Reading, line: &Value) -> Meaning {
    let nobody = Meaning::Nobody(NotWords::Queue);
    if reading.memo.has_attachments {
        return nobody;
    }
    match line.at("operation").as_str().unwrap_or_default() {
        "enqueue" => {
            enqueue(reading, line);
            nobody
        }
        // Sent as a prompt of its own: its line follows.
        "dequeue" => {
            reading.queued.pop_front();
            nobody
        }
        "popAll" => {
            reading.queued.clear();
            nobody
        }
        "remove" => reading.queued.pop_front().flatten().map_or(nobody, Meaning::from),
        _ => nobody,
    }
}

fn enqueue(reading: &mut Reading, line: &Value) {
    // Notifications leave the queue by another door, so they take no place in it.
    let Ok((text, _)) = typed_text(line.at("content")) else { return };
    if QUEUED_MAX <= reading.queued.len() {
        return;
    }
    // A command keeps its place, because it is taken out like a prompt; it is nobody's words.
    if text.trim_start().starts_with('/') {
        reading.queued.push_back(None);
        return;
    }
    // A prompt in the queue interrupts nothing yet: what was done so far belongs to the answer.
    let deeds = std::mem::take(&mut reading.deeds);
    let mut turn = turn(reading, line, Speaker::User, text);
    reading.deeds = deeds;
    turn.provenance.insert("queued".to_owned(), Value::Bool(true));
    reading.queued.push_back(Some(turn));
}

fn is_sidechain(reading: &Reading, line: &Value) -> bool {
    is_set(line, "isSidechain") || reading.memo.agent.is_some()
}

/// Every line tells its own session, folder and branch; nothing is taken from other lines.
fn turn(reading: &mut Reading, line: &Value, speaker: Speaker, text: String) -> Turn {
    let is_subagent = is_sidechain(reading, line);
    let mut turn = reading.turn(speaker, text);
    if is_subagent {
        turn.speaker = Speaker::Assistant;
        turn.is_subagent = true;
        put(&mut turn, "agent", line.at("agentId").as_str());
    }
    turn.uuid = text_at(line, "uuid");
    turn.session = text_at(line, "sessionId");
    turn.at = time_at(line, "timestamp");
    turn.cwd = text_at(line, "cwd");
    put(&mut turn, "parent", line.at("parentUuid").as_str());
    put(&mut turn, "git_branch", line.at("gitBranch").as_str().filter(|name| !name.is_empty()));
    put(&mut turn, "host_version", line.at("version").as_str());
    turn
}

#[cfg(test)]
mod tests;
