//! Codex: `~/.codex/sessions/**/rollout-*.jsonl`, lines of `{timestamp, type, payload}`.
//!
//! The same words may stand in a file in three forms. A file is read by one of them: the first
//! event form that appears, and the model's own messages only where no event form comes.

use serde_json::Value;

use crate::fields::Fields as _;

use super::json::{elements, is_blank, text_at, time_at};
use super::reading::{Form, Reading};
use super::{Meaning, NotWords, Speaker, Turn};

/// Where an event form is written, its first record comes before the third message: at the latest
/// with the first answer.
const UNDECIDED_MAX: usize = 2;

/// Beginnings of messages that Codex writes in the user's name.
const INJECTED: &[(&str, NotWords)] = &[
    ("# AGENTS.md instructions", NotWords::Injected),
    ("<environment_context>", NotWords::Injected),
    ("<user_instructions>", NotWords::Injected),
    ("<INSTRUCTIONS>", NotWords::Injected),
    ("<permissions instructions>", NotWords::Injected),
    ("<collaboration_mode>", NotWords::Injected),
    ("<apps_instructions>", NotWords::Injected),
    ("<skills_instructions>", NotWords::Injected),
    ("<plugins_instructions>", NotWords::Injected),
    ("<plugins>", NotWords::Injected),
    ("<recommended_plugins>", NotWords::Injected),
    ("<app-context>", NotWords::Injected),
    ("<in-app-browser-context", NotWords::Injected),
    ("<js_repl_instructions>", NotWords::Injected),
    ("<skills_section>", NotWords::Injected),
    ("<child_agents_instructions>", NotWords::Injected),
    ("<interrupted_user_messages>", NotWords::Injected),
    ("<steering_messages>", NotWords::Injected),
    ("<subagents>", NotWords::Injected),
    ("<model_switch>", NotWords::Injected),
    ("<goal_context>", NotWords::Injected),
    ("<codex_internal_context", NotWords::Injected),
    ("<user_action>", NotWords::Injected),
    ("<skill>", NotWords::Command),
    ("<user_shell_command>", NotWords::Command),
    ("<turn_aborted>", NotWords::Interruption),
    ("<subagent_notification>", NotWords::Notification),
    ("<hook_prompt", NotWords::Hook),
    ("Another language model started to solve this problem", NotWords::CompactSummary),
];

/// Editors and the desktop program put open files, mentioned files or pages before the request,
/// under headings or in elements, and this heading between.
const REQUEST: &str = "\n## My request for Codex:";

pub(super) fn read(reading: &mut Reading, line: &Value, out: &mut Vec<Meaning>) {
    let payload = line.at("payload");
    match line.at("type").as_str() {
        Some("session_meta") => out.push(session_meta(reading, payload)),
        Some("turn_context") => out.push(turn_context(reading, payload)),
        Some("event_msg") => event(reading, line, out),
        Some("response_item") => response_item(reading, line, payload, out),
        Some("compacted") => out.push(Meaning::Nobody(NotWords::CompactSummary)),
        Some("world_state" | "inter_agent_communication") => {
            out.push(Meaning::Nobody(NotWords::Injected));
        }
        // The first rollouts had no envelope: a bare header, then bare items and no events.
        Some("message" | "reasoning" | "function_call" | "function_call_output") => {
            choose(reading, Form::Responses, Speaker::User, out);
            response_item(reading, line, line, out);
        }
        None if line.at("id").is_string() => out.push(session_meta(reading, line)),
        None if line.at("record_type").is_string() => {
            out.push(Meaning::Nobody(NotWords::Bookkeeping));
        }
        Some(_) | None => out.push(Meaning::Nobody(NotWords::Unknown)),
    }
}

/// Decides for the model's own messages: nothing better came.
pub(super) fn let_go(reading: &mut Reading, out: &mut Vec<Meaning>) {
    if !reading.undecided.is_empty() {
        choose(reading, Form::Responses, Speaker::User, out);
    }
}

fn session_meta(reading: &mut Reading, meta: &Value) -> Meaning {
    // A forked session repeats the header of its parent; the first header is its own.
    if reading.memo.session.is_none() {
        let memo = &mut reading.memo;
        memo.session = text_at(meta, "id");
        memo.cwd = text_at(meta, "cwd");
        memo.host_version = text_at(meta, "cli_version");
        memo.git_branch = text_at(meta.at("git"), "branch");
        if meta.at("thread_source") == "subagent"
            || meta.at("source").at("subagent") != &Value::Null
        {
            let name = text_at(meta, "agent_nickname").or_else(|| text_at(meta, "id"));
            memo.agent = memo.agent.take().or(Some(name.unwrap_or_default()));
        }
    }
    Meaning::Nobody(NotWords::Bookkeeping)
}

fn turn_context(reading: &mut Reading, context: &Value) -> Meaning {
    let memo = &mut reading.memo;
    memo.cwd = text_at(context, "cwd").or_else(|| memo.cwd.take());
    memo.model = text_at(context, "model").or_else(|| memo.model.take());
    Meaning::Nobody(NotWords::Bookkeeping)
}

fn event(reading: &mut Reading, line: &Value, out: &mut Vec<Meaning>) {
    let payload = line.at("payload");
    let item = payload.at("item");
    match payload.at("type").as_str().unwrap_or_default() {
        "user_message" => {
            // Early events named what was put in; what was typed had no name or this one.
            if payload.at("kind").as_str().is_some_and(|kind| kind != "plain") {
                out.push(Meaning::Nobody(NotWords::Injected));
                return;
            }
            let text = payload.at("message").as_str().map(str::to_owned);
            spoken(reading, Form::Events, Said::new(Speaker::User, line, text), out);
        }
        "agent_message" => {
            let text = payload.at("message").as_str().map(str::to_owned);
            spoken(reading, Form::Events, Said::new(Speaker::Assistant, line, text), out);
        }
        "item_completed" => match item.at("type").as_str().unwrap_or_default() {
            "UserMessage" => {
                let said = Said::new(Speaker::User, line, block_text(item.at("content"), ""));
                spoken(reading, Form::Items, Said { uuid: text_at(item, "id"), ..said }, out);
            }
            "AgentMessage" => {
                let said = Said::new(Speaker::Assistant, line, block_text(item.at("content"), ""));
                spoken(reading, Form::Items, Said { uuid: text_at(item, "id"), ..said }, out);
            }
            // A plan stands in no other record, whatever the form of the file.
            "Plan" => {
                let said = Said::new(Speaker::Assistant, line, text_at(item, "text"));
                out.push(meaning(reading, Said { uuid: text_at(item, "id"), ..said }));
            }
            "HookPrompt" => out.push(Meaning::Nobody(NotWords::Hook)),
            _ => out.push(Meaning::Nobody(NotWords::Progress)),
        },
        "task_complete" | "turn_complete" => {
            let_go(reading, out);
            out.push(Meaning::Nobody(NotWords::Progress));
        }
        "turn_aborted" => {
            let_go(reading, out);
            out.push(Meaning::Nobody(NotWords::Interruption));
        }
        other => out.push(Meaning::Nobody(quiet_event(other))),
    }
}

fn quiet_event(kind: &str) -> NotWords {
    match kind {
        "agent_reasoning" | "agent_reasoning_raw_content" => NotWords::Thinking,
        "token_count"
        | "task_started"
        | "turn_started"
        | "context_compacted"
        | "patch_apply_end"
        | "mcp_tool_call_end"
        | "exec_command_end"
        | "web_search_end"
        | "thread_rolled_back"
        | "undo_completed"
        | "entered_review_mode"
        | "exited_review_mode"
        | "image_generation_end"
        | "view_image_tool_call"
        | "sub_agent_activity"
        | "plan_update"
        | "realtime_conversation_closed"
        | "skill_started" => NotWords::Progress,
        "thread_name_updated" | "thread_goal_updated" | "thread_settings_applied" => {
            NotWords::Bookkeeping
        }
        "injected_message" => NotWords::Injected,
        "error" | "warning" | "stream_error" => NotWords::HostError,
        _ => NotWords::Unknown,
    }
}

/// What a record says, before it is known whether the file is read by this form.
struct Said {
    speaker: Speaker,
    text: Option<String>,
    uuid: Option<String>,
    at: Option<jiff::Timestamp>,
}

impl Said {
    fn new(speaker: Speaker, line: &Value, text: Option<String>) -> Self {
        Self { speaker, text, uuid: None, at: time_at(line, "timestamp") }
    }
}

fn spoken(reading: &mut Reading, form: Form, said: Said, out: &mut Vec<Meaning>) {
    choose(reading, form, said.speaker, out);
    if reading.memo.form == Some(form) {
        out.push(meaning(reading, said));
    } else {
        out.push(Meaning::Nobody(NotWords::Copy));
    }
}

/// Settles the form of the file when it is still open, and what waited for that.
fn choose(reading: &mut Reading, form: Form, by: Speaker, out: &mut Vec<Meaning>) {
    if reading.memo.form.is_some() {
        return;
    }
    reading.memo.form = Some(form);
    for (speaker, turn) in std::mem::take(&mut reading.undecided) {
        // An event form writes the prompt before the first answer. Where the answer is the first
        // event, the prompt has no event, and what waited is its only record.
        let is_unrepeated = by == Speaker::Assistant && speaker == Speaker::User;
        out.push(match form {
            Form::Events | Form::Items if !is_unrepeated => Meaning::Nobody(NotWords::Copy),
            Form::Events | Form::Items | Form::Responses => turn.into(),
        });
    }
}

fn meaning(reading: &mut Reading, said: Said) -> Meaning {
    match turn(reading, said) {
        Ok(turn) => turn.into(),
        Err(reason) => Meaning::Nobody(reason),
    }
}

fn turn(reading: &mut Reading, said: Said) -> Result<Turn, NotWords> {
    let text = said.text.unwrap_or_default();
    let text = match said.speaker {
        Speaker::User => typed(&text)?,
        Speaker::Assistant => text,
    };
    if is_blank(&text) {
        return Err(NotWords::Blank);
    }
    let mut turn = reading.turn(said.speaker, text);
    turn.uuid = said.uuid;
    turn.at = said.at;
    Ok(turn)
}

fn typed(text: &str) -> Result<String, NotWords> {
    let start = text.trim_start();
    let request = start.split_once(REQUEST).filter(|(before, _)| before.starts_with(['#', '<']));
    if let Some((_, request)) = request {
        return Ok(request.trim_start().to_owned());
    }
    match INJECTED.iter().find(|(prefix, _)| start.starts_with(prefix)) {
        Some((_, reason)) => Err(*reason),
        None => Ok(text.to_owned()),
    }
}

/// Joins the text blocks of a list. The parts of a `UserMessage` are one prompt cut up, so they
/// are put together as Codex itself does it.
fn block_text(content: &Value, between: &str) -> Option<String> {
    let texts: Vec<_> =
        elements(content).iter().filter_map(|block| block.at("text").as_str()).collect();
    (!texts.is_empty()).then(|| texts.join(between))
}

fn response_item(reading: &mut Reading, line: &Value, item: &Value, out: &mut Vec<Meaning>) {
    let reason = match item.at("type").as_str().unwrap_or_default() {
        "message" => return message(reading, line, item, out),
        "reasoning" => NotWords::Thinking,
        "function_call"
        | "custom_tool_call"
        | "local_shell_call"
        | "web_search_call"
        | "tool_search_call"
        | "image_generation_call" => {
            note_call(reading, item);
            NotWords::ToolCall
        }
        "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
            NotWords::ToolResult
        }
        "ghost_snapshot" => NotWords::Snapshot,
        "compaction" | "context_compaction" => NotWords::CompactSummary,
        "additional_tools" | "agent_message" => NotWords::Injected,
        "token_count" => NotWords::Progress,
        _ => NotWords::Unknown,
    };
    out.push(Meaning::Nobody(reason));
}

fn note_call(reading: &mut Reading, item: &Value) {
    let input = if item.at("input").is_null() { item.at("arguments") } else { item.at("input") };
    let name = if item.at("name").is_null() { item.at("type") } else { item.at("name") };
    reading.deeds.note(name, input);
    if name == "apply_patch" {
        reading.deeds.note_patch(input.as_str().unwrap_or_default());
    }
}

fn message(reading: &mut Reading, line: &Value, item: &Value, out: &mut Vec<Meaning>) {
    let speaker = match item.at("role").as_str().unwrap_or_default() {
        "user" => Speaker::User,
        "assistant" => Speaker::Assistant,
        _ => return out.push(Meaning::Nobody(NotWords::Injected)),
    };
    if matches!(reading.memo.form, Some(Form::Events | Form::Items)) {
        return out.push(Meaning::Nobody(NotWords::Copy));
    }
    let text = match speaker {
        Speaker::User => match typed_blocks(item.at("content")) {
            Ok(text) => Some(text),
            Err(reason) => return out.push(Meaning::Nobody(reason)),
        },
        Speaker::Assistant => block_text(item.at("content"), "\n"),
    };
    let said = Said { uuid: text_at(item, "id"), ..Said::new(speaker, line, text) };
    match turn(reading, said) {
        Err(reason) => out.push(Meaning::Nobody(reason)),
        Ok(turn) if reading.memo.form == Some(Form::Responses) => out.push(turn.into()),
        Ok(turn) => {
            reading.undecided.push((speaker, turn));
            if UNDECIDED_MAX < reading.undecided.len() {
                let_go(reading, out);
            }
        }
    }
}

/// Joins the blocks a person typed; the injected ones stand in blocks of their own.
fn typed_blocks(content: &Value) -> Result<String, NotWords> {
    let texts = elements(content).iter().filter_map(|block| block.at("text").as_str());
    let (mut words, mut reason) = (Vec::new(), NotWords::Blank);
    for text in texts.filter(|text| !is_image_frame(text)) {
        match typed(text) {
            Ok(text) => words.push(text),
            Err(why) => reason = why,
        }
    }
    if words.is_empty() { Err(reason) } else { Ok(words.join("\n")) }
}

/// Codex frames an image with blocks like `<image name=[Image #1]>` and `</image>`.
fn is_image_frame(text: &str) -> bool {
    let text = text.trim();
    text == "</image>" || (text.starts_with("<image") && text.ends_with('>') && text.len() < 200)
}

#[cfg(test)]
mod tests;
