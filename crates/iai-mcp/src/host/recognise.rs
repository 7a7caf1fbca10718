//! Says whose transcript a file is: by what it begins with, else by where it lies.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::fields::Fields as _;

use super::{HostKind, Layout, Source, json};

/// How many lines are asked before the path is.
const LINES_MAX: usize = 50;

/// A file no host we know has written.
#[derive(Debug, thiserror::Error)]
#[error(
    "{path} is no transcript of Claude Code, Codex, Gemini CLI, Antigravity, OpenCode, Copilot \
     CLI, Pi, Qwen Code or Cursor; give a session file of one of them"
)]
pub(crate) struct UnknownFile {
    pub(crate) path: PathBuf,
}

/// Says whose file this is from its path and its first bytes. Some 64 KiB are enough, and fewer do
/// when the file lies where its host puts it.
pub(crate) fn recognise(path: &Path, head: &[u8]) -> Result<Source, UnknownFile> {
    // What is inside decides: people keep copies of transcripts in all kinds of places.
    let inside = by_lines(head).or_else(|| by_beginning(head));
    let source = match inside {
        Some((host, layout)) => Some(named(host, layout, path)),
        None => by_path(path),
    };
    source.ok_or_else(|| UnknownFile { path: path.to_owned() })
}

fn by_lines(head: &[u8]) -> Option<(HostKind, Layout)> {
    let lines = head.split(|byte| *byte == b'\n').take(LINES_MAX);
    lines.flat_map(json::objects).flatten().find_map(|object| by_object(&object))
}

fn by_object(object: &Value) -> Option<(HostKind, Layout)> {
    let kind = object.at("type").as_str().unwrap_or_default();
    let has = |name: &str| !object.at(name).is_null();
    if has("sessionId") && has("projectHash") {
        let layout = if has("messages") { Layout::Whole } else { Layout::Lines };
        return Some((HostKind::GeminiCli, layout));
    }
    if object.at("info").is_object() && object.at("messages").is_array() || is_open_code(object) {
        return Some((HostKind::OpenCode, Layout::Whole));
    }
    let host = if object.at("payload").is_object() && is_codex(kind) || is_first_codex(object) {
        HostKind::Codex
    } else if object.at("data").is_object() && kind.contains('.') {
        HostKind::CopilotCli
    } else if kind == "session" && has("id") && has("timestamp") {
        HostKind::Pi
    } else if object.at("message").at("parts").is_array() || has("provenance") && has("uuid") {
        HostKind::QwenCode
    } else if object.at("step_index").is_u64() && !kind.is_empty() {
        HostKind::Antigravity
    } else if is_cursor(object) {
        HostKind::Cursor
    } else if is_claude(object, kind) {
        HostKind::ClaudeCode
    } else {
        return None;
    };
    Some((host, Layout::Lines))
}

fn is_open_code(object: &Value) -> bool {
    object.at("id").as_str().is_some_and(|id| id.starts_with("ses_"))
        && object.at("time").is_object()
}

fn is_codex(kind: &str) -> bool {
    ["session_meta", "response_item", "event_msg", "turn_context", "compacted"].contains(&kind)
}

/// The first rollouts began with a bare header.
fn is_first_codex(object: &Value) -> bool {
    object.at("type").is_null()
        && object.at("id").is_string()
        && object.at("timestamp").is_string()
        && object.as_object().is_some_and(|fields| fields.contains_key("instructions"))
}

/// The role stands outside the message, and the line has no type.
fn is_cursor(object: &Value) -> bool {
    object.at("type").is_null()
        && ["user", "assistant"].iter().any(|role| object.at("role") == role)
        && !object.at("message").at("content").is_null()
}

fn is_claude(object: &Value, kind: &str) -> bool {
    let is_message = ["user", "assistant"].contains(&kind) && object.at("message").is_object()
        || object.at("role").is_string() && !object.at("content").is_null();
    is_message
        || object.at("sessionId").is_string() && !kind.is_empty()
        || object.at("leafUuid").is_string()
        || kind == "file-history-snapshot"
}

/// For documents and first lines longer than what was read.
fn by_beginning(head: &[u8]) -> Option<(HostKind, Layout)> {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start();
    let has = |name: &str| text.contains(&format!("\"{name}\""));
    if !text.starts_with('{') {
        None
    } else if has("sessionId") && has("projectHash") {
        let layout = if has("messages") { Layout::Whole } else { Layout::Lines };
        Some((HostKind::GeminiCli, layout))
    } else if has("info") && text.contains("\"ses_") {
        Some((HostKind::OpenCode, Layout::Whole))
    } else if has("payload") && has("session_meta") {
        Some((HostKind::Codex, Layout::Lines))
    } else if has("parentUuid") && !has("provenance") {
        Some((HostKind::ClaudeCode, Layout::Lines))
    } else {
        None
    }
}

fn by_path(path: &Path) -> Option<Source> {
    let has = |name: &str| path.components().any(|part| part.as_os_str() == name);
    let host = if has(".claude") {
        HostKind::ClaudeCode
    } else if has(".codex") || file_name(path).starts_with("rollout-") {
        HostKind::Codex
    } else if has(".gemini") && has("brain") {
        HostKind::Antigravity
    } else if has(".gemini") {
        HostKind::GeminiCli
    } else if has("opencode") {
        HostKind::OpenCode
    } else if has(".copilot") {
        HostKind::CopilotCli
    } else if has(".pi") {
        HostKind::Pi
    } else if has(".qwen") {
        HostKind::QwenCode
    } else if has(".cursor") {
        HostKind::Cursor
    } else {
        return None;
    };
    by_name(host, path)
}

/// Returns the source when the file is named as this host names its transcripts.
pub(super) fn by_name(host: HostKind, path: &Path) -> Option<Source> {
    let name = file_name(path);
    let is_lines = name.ends_with(".jsonl");
    let is_document = name.ends_with(".json");
    let is_transcript = match host {
        HostKind::Codex => {
            name.starts_with("rollout-") && (is_lines || name.ends_with(".jsonl.zst"))
        }
        HostKind::GeminiCli => {
            path.components().any(|part| part.as_os_str() == "chats")
                && (is_lines || is_document && name.starts_with("session-"))
        }
        HostKind::Cursor => {
            is_lines && path.components().any(|part| part.as_os_str() == "agent-transcripts")
        }
        HostKind::Antigravity => {
            (name == "transcript.jsonl" || name == "transcript_full.jsonl")
                && conversation(path).is_some()
        }
        HostKind::OpenCode => is_document && name.starts_with("ses_"),
        HostKind::ClaudeCode | HostKind::CopilotCli | HostKind::Pi | HostKind::QwenCode => is_lines,
    };
    let layout = if is_document { Layout::Whole } else { Layout::Lines };
    is_transcript.then(|| named(host, layout, path))
}

/// Adds what the path tells.
fn named(host: HostKind, layout: Layout, path: &Path) -> Source {
    let stem = file_name(path).strip_suffix(".jsonl");
    let session = match host {
        HostKind::Cursor => stem,
        HostKind::Antigravity => conversation(path).map(file_name),
        HostKind::ClaudeCode
        | HostKind::Codex
        | HostKind::GeminiCli
        | HostKind::OpenCode
        | HostKind::CopilotCli
        | HostKind::Pi
        | HostKind::QwenCode => None,
    };
    let agent = agent_of(host, stem.unwrap_or_default(), path);
    Source { host, layout, agent, session: session.map(str::to_owned) }
}

/// Returns the folder of an Antigravity conversation, which is named after it.
pub(super) fn conversation(path: &Path) -> Option<&Path> {
    let mut folders = path.ancestors().skip(1);
    folders.find(|folder| file_name(folder) == ".system_generated")?.parent()
}

fn agent_of(host: HostKind, stem: &str, path: &Path) -> Option<String> {
    let is_below_subagents = || path.parent().is_some_and(|above| file_name(above) == "subagents");
    match host {
        HostKind::ClaudeCode => stem.strip_prefix("agent-").map(str::to_owned),
        HostKind::Cursor => is_below_subagents().then(|| stem.to_owned()),
        HostKind::Codex
        | HostKind::GeminiCli
        | HostKind::OpenCode
        | HostKind::CopilotCli
        | HostKind::Pi
        | HostKind::QwenCode
        | HostKind::Antigravity => None,
    }
}

pub(super) fn file_name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, head: &str, want: Option<(HostKind, Layout)>) {
        let source = recognise(Path::new(path), head.as_bytes()).ok();
        assert_eq!(source.map(|source| (source.host, source.layout)), want, "{path} {head}");
    }

    #[test]
    fn the_inside_decides() {
        use HostKind::*;
        let lines = [
            (r#"{"type":"user","message":{"content":"a"}}"#, ClaudeCode),
            (r#"{"role":"user","content":"a"}"#, ClaudeCode),
            (r#"{"type":"summary","summary":"a","leafUuid":"u"}"#, ClaudeCode),
            (r#"{"type":"queue-operation","operation":"enqueue","sessionId":"s"}"#, ClaudeCode),
            (r#"{"parentUuid":null,"type":"user","message":{"content":[{"da"#, ClaudeCode),
            (r#"{"timestamp":"t","type":"session_meta","payload":{"id":"a"}}"#, Codex),
            (r#"{"id":"a","timestamp":"t","instructions":null,"git":{}}"#, Codex),
            (r#"{"timestamp":"t","type":"session_meta","payload":{"id":"cut o"#, Codex),
            (r#"{"type":"session.start","data":{"sessionId":"a"}}"#, CopilotCli),
            (r#"{"sessionId":"a","projectHash":"b","startTime":"t"}"#, GeminiCli),
            (r#"{"type":"session","version":3,"id":"a","timestamp":"t","cwd":"/p"}"#, Pi),
            (r#"{"uuid":"a","type":"user","message":{"role":"user","parts":[]}}"#, QwenCode),
            (r#"{"role":"user","message":{"content":[{"type":"text","text":"a"}]}}"#, Cursor),
            (r#"{"step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT"}"#, Antigravity),
        ];
        for (head, host) in lines {
            check("/tmp/copy.jsonl", head, Some((host, Layout::Lines)));
            check("/h/.claude/projects/p/s.jsonl", head, Some((host, Layout::Lines)));
        }
        let documents = [
            ("{\n \"sessionId\": \"a\",\n \"projectHash\": \"b\",\n \"messages\": [\n", GeminiCli),
            (r#"{"sessionId":"a","projectHash":"b","messages":[]}"#, GeminiCli),
            (r#"{"info":{"id":"ses_1"},"messages":[]}"#, OpenCode),
            ("{\n \"info\": {\n \"id\": \"ses_1\",", OpenCode),
            (r#"{"id":"ses_1","directory":"/p","time":{"created":1}}"#, OpenCode),
        ];
        for (head, host) in documents {
            check("/tmp/copy.json", head, Some((host, Layout::Whole)));
        }
        check("t.jsonl", "rubbish\n[1]\n{\"type\":\"user\",\"message\":{}}\n", {
            Some((ClaudeCode, Layout::Lines))
        });
    }

    #[test]
    fn the_place_decides_where_the_inside_is_silent() {
        use HostKind::*;
        for (path, want) in [
            ("/h/.claude/projects/p/s.jsonl", Some((ClaudeCode, Layout::Lines))),
            ("/h/.codex/sessions/2026/05/01/rollout-a.jsonl.zst", Some((Codex, Layout::Lines))),
            ("/elsewhere/rollout-a.jsonl", Some((Codex, Layout::Lines))),
            ("/h/.codex/history.jsonl", None),
            ("/h/.gemini/tmp/p/chats/session-1.json", Some((GeminiCli, Layout::Whole))),
            ("/h/.gemini/tmp/p/chats/session-1.jsonl", Some((GeminiCli, Layout::Lines))),
            ("/h/.gemini/tmp/p/logs.json", None),
            ("/h/.copilot/session-state/u/events.jsonl", Some((CopilotCli, Layout::Lines))),
            ("/h/.local/share/opencode/storage/session/p/ses_1.json", {
                Some((OpenCode, Layout::Whole))
            }),
            ("/h/.cursor/projects/p/agent-transcripts/u.jsonl", Some((Cursor, Layout::Lines))),
            ("/h/.cursor/projects/p/mcps/x.jsonl", None),
            ("/h/.gemini/antigravity/brain/c/.system_generated/logs/transcript.jsonl", {
                Some((Antigravity, Layout::Lines))
            }),
            ("/h/.gemini/antigravity/brain/c/task.md", None),
            ("/h/notes.md", None),
            ("/h/t.jsonl", None),
        ] {
            check(path, "", want);
        }
    }

    #[test]
    fn a_sub_agents_file_is_known_by_its_name() {
        let path = Path::new("/h/.claude/projects/p/s/subagents/agent-a1b2.jsonl");
        assert_eq!(recognise(path, b"").unwrap().agent.as_deref(), Some("a1b2"));
        let cursor = Path::new("/h/.cursor/projects/p/agent-transcripts/u/subagents/v.jsonl");
        let source = recognise(cursor, b"").unwrap();
        assert_eq!((source.agent.as_deref(), source.session.as_deref()), (Some("v"), Some("v")));
        let antigravity =
            Path::new("/h/.gemini/antigravity-cli/brain/c/.system_generated/logs/transcript.jsonl");
        assert_eq!(recognise(antigravity, b"").unwrap().session.as_deref(), Some("c"));
        let error = recognise(Path::new("/h/x.txt"), b"hello").unwrap_err().to_string();
        assert!(error.starts_with("/h/x.txt is no transcript of Claude Code"), "{error}");
    }
}
