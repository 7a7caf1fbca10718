//! Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*`, once a document rewritten as a whole, now
//! lines that grow: a header, messages, and changes to the header.

use serde_json::Value;

use crate::fields::Fields as _;

use super::json::{elements, is_blank, text_at, time_at};
use super::reading::Reading;
use super::{Meaning, NotWords, Speaker};

/// Before what `@file` put into the prompt.
const REFERENCED_FILES: &str = "--- Content from referenced files ---";

/// Beginnings of messages that Gemini CLI writes in the user's name.
const INJECTED: &[&str] = &[
    "<session_context>",
    "<hook_context>",
    "This is the Gemini CLI. We are setting up the context for our chat.",
];

pub(super) fn read_document(reading: &mut Reading, document: &Value) -> Vec<Meaning> {
    header(reading, document);
    elements(document.at("messages")).iter().map(|message| read(reading, message)).collect()
}

pub(super) fn read(reading: &mut Reading, line: &Value) -> Meaning {
    match line.at("type").as_str() {
        Some("user") => user(reading, line),
        Some("gemini") => assistant(reading, line),
        Some("info" | "error" | "warning") => Meaning::Nobody(NotWords::Bookkeeping),
        Some(_) => Meaning::Nobody(NotWords::Unknown),
        None => {
            header(reading, line);
            header(reading, line.at("$set"));
            Meaning::Nobody(NotWords::Bookkeeping)
        }
    }
}

fn header(reading: &mut Reading, fields: &Value) {
    let memo = &mut reading.memo;
    memo.session = text_at(fields, "sessionId").or_else(|| memo.session.take());
    if fields.at("kind") == "subagent" {
        memo.agent = memo.agent.take().or_else(|| text_at(fields, "sessionId"));
    }
}

fn user(reading: &mut Reading, line: &Value) -> Meaning {
    // What was shown to the user is what they typed; `content` may have files put in.
    let shown = line.at("displayContent");
    let content = if shown.is_null() { line.at("content") } else { shown };
    let text = text_of(content);
    let start = text.trim_start();
    if INJECTED.iter().any(|injected| start.starts_with(injected)) {
        return Meaning::Nobody(NotWords::Injected);
    }
    if is_blank(&text) && !elements(content).is_empty() {
        return Meaning::Nobody(NotWords::ToolResult);
    }
    spoken(reading, line, Speaker::User, text)
}

fn assistant(reading: &mut Reading, line: &Value) -> Meaning {
    for call in elements(line.at("toolCalls")) {
        reading.deeds.note(call.at("name"), call.at("args"));
    }
    reading.memo.model = text_at(line, "model").or_else(|| reading.memo.model.take());
    let text = text_of(line.at("content"));
    if is_blank(&text) && !elements(line.at("toolCalls")).is_empty() {
        return Meaning::Nobody(NotWords::ToolCall);
    }
    if is_blank(&text) && !elements(line.at("thoughts")).is_empty() {
        return Meaning::Nobody(NotWords::Thinking);
    }
    spoken(reading, line, Speaker::Assistant, text)
}

fn spoken(reading: &mut Reading, line: &Value, speaker: Speaker, text: String) -> Meaning {
    if is_blank(&text) {
        return Meaning::Nobody(NotWords::Blank);
    }
    let mut turn = reading.turn(speaker, text);
    turn.uuid = text_at(line, "id");
    turn.at = time_at(line, "timestamp");
    turn.into()
}

fn text_of(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let texts = elements(content).iter().filter(|part| part.at("thought") != true);
    let texts = texts.filter_map(|part| part.at("text").as_str());
    let typed = texts.take_while(|text| text.trim() != REFERENCED_FILES);
    typed.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::host::testing::{self, tell};
    use crate::host::{HostKind, Layout, Source, read_whole, whole_meanings};

    fn messages() -> Vec<Value> {
        let files = "--- Content from referenced files ---";
        vec![
            json!({"id": "1", "type": "user", "content": "hi"}),
            json!({"id": "2", "type": "gemini", "content": "", "toolCalls": [
                {"name": "read_file", "args": {"file_path": "a.txt"}},
            ]}),
            json!({"id": "3", "type": "gemini", "content": "hello", "model": "m"}),
            json!({"id": "4", "type": "info", "content": "update available"}),
            json!({"id": "5", "type": "user", "content": [
                {"text": "explain @a.txt"}, {"text": files}, {"text": "secret"},
            ]}),
            json!({"id": "6", "type": "user", "content": "x + file", "displayContent": "x"}),
            json!({"id": "7", "type": "user", "content": "<session_context>\nToday is"}),
            json!({"id": "8", "type": "user", "content": [{"functionResponse": {}}]}),
            json!({"id": "9", "type": "gemini", "content": "", "thoughts": [{}]}),
        ]
    }

    const TOLD: &[&str] = &[
        "user: hi",
        "- ToolCall",
        "assistant: hello",
        "- Bookkeeping",
        "user: explain @a.txt",
        "user: x",
        "- Injected",
        "- ToolResult",
        "- Thinking",
    ];

    #[test]
    fn a_document_and_lines_mean_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session-1.json");
        let document = json!({"sessionId": "s", "projectHash": "h", "messages": messages()});
        std::fs::write(&path, document.to_string()).unwrap();
        let source = Source { layout: Layout::Whole, ..Source::lines(HostKind::GeminiCli) };
        let whole = whole_meanings(&source, &path).unwrap();
        assert_eq!(whole.iter().map(tell).collect::<Vec<_>>(), TOLD);
        let turns = read_whole(&source, &path).unwrap();
        assert_eq!(turns[1].session.as_deref(), Some("s"));
        assert_eq!(
            Value::Object(turns[1].provenance.clone()),
            json!({"model": "m", "tools": ["read_file"], "files": ["a.txt"]})
        );
        testing::check(HostKind::GeminiCli, &messages(), TOLD);
    }

    #[test]
    fn the_header_of_lines_may_change() {
        let lines = [
            json!({"sessionId": "s", "projectHash": "h", "kind": "subagent"}),
            json!({"$set": {"lastUpdated": "t"}}),
            json!({"$rewindTo": "1"}),
            json!({"id": "1", "type": "user", "content": "find it"}),
        ];
        let want = ["- Bookkeeping", "- Bookkeeping", "- Bookkeeping", "agent: find it"];
        testing::check(HostKind::GeminiCli, &lines, &want);
    }
}
