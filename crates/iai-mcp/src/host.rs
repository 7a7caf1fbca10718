//! The assistants we serve: where their transcripts lie, and what is somebody's words in them.
//!
//! One file per host under `host/`; `docs/transcripts.md` is the policy they follow. Keeping place
//! in a growing file, storing and sending are left to others.

mod antigravity;
mod claude_code;
mod codex;
mod commands;
mod copilot_cli;
mod cursor;
mod deeds;
mod discover;
mod folder;
mod gemini_cli;
mod json;
mod open;
mod open_code;
mod pi;
mod qwen_code;
mod reading;
mod recognise;
mod wrappers;

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Map, Value};

pub(crate) use cursor::transcript_of as cursor_transcript;
pub(crate) use discover::{discover, session_named};
pub(crate) use folder::folder_of;
pub(crate) use json::repaired;
pub(crate) use open::open_lines;
pub(crate) use recognise::{UnknownFile, recognise};

use reading::{Memo, Reading};

/// The most lines something may wait for its meaning; after that it is let go.
const HELD_LINES_MAX: usize = 1_000;

/// The largest document that is read as a whole.
pub(crate) const WHOLE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// An assistant program whose transcripts we can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HostKind {
    ClaudeCode,
    Codex,
    GeminiCli,
    OpenCode,
    CopilotCli,
    Pi,
    QwenCode,
    Cursor,
    Antigravity,
}

impl HostKind {
    pub(crate) const ALL: [Self; 9] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::GeminiCli,
        Self::OpenCode,
        Self::CopilotCli,
        Self::Pi,
        Self::QwenCode,
        Self::Cursor,
        Self::Antigravity,
    ];

    /// Returns the name stored with every turn; it never changes.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini-cli",
            Self::OpenCode => "opencode",
            Self::CopilotCli => "copilot-cli",
            Self::Pi => "pi",
            Self::QwenCode => "qwen-code",
            Self::Cursor => "cursor",
            Self::Antigravity => "antigravity",
        }
    }
}

/// How a transcript lies on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// JSON lines that only grow: `LineParser`.
    Lines,
    /// A document, or a folder of them, rewritten at any time: `read_whole`.
    Whole,
}

/// Whose transcript a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) host: HostKind,
    pub(crate) layout: Layout,
    /// The sub-agent the path names: nothing in such a file was typed by a person.
    pub(crate) agent: Option<String>,
    /// The session the path names, where the lines of this host never do.
    pub(crate) session: Option<String>,
}

impl Source {
    /// Returns the source of growing lines that no path says more about.
    pub(crate) fn lines(host: HostKind) -> Self {
        Self { host, layout: Layout::Lines, agent: None, session: None }
    }
}

/// Who spoke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    User,
    Assistant,
}

impl Speaker {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// One utterance, as the host wrote it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Turn {
    pub(crate) host: &'static str,
    /// Never `User` for a sub-agent: whoever talks to it is a program.
    pub(crate) speaker: Speaker,
    /// The words, byte for byte.
    pub(crate) text: String,
    /// The host's own id of the turn.
    pub(crate) uuid: Option<String>,
    /// The session the file says it belongs to.
    pub(crate) session: Option<String>,
    pub(crate) at: Option<Timestamp>,
    pub(crate) cwd: Option<String>,
    pub(crate) is_subagent: bool,
    /// What else the host said about it: parent, branch, model, version, agent, tools, files.
    pub(crate) provenance: Map<String, Value>,
}

/// Why something in a transcript is nobody's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NotWords {
    /// Empty or white space.
    Blank,
    /// The assistant called a tool and said nothing.
    ToolCall,
    ToolResult,
    Thinking,
    /// The host marked it as its own.
    Meta,
    /// A slash or shell command, or what it expands to.
    Command,
    CommandOutput,
    /// Background work that reports, or another session that writes.
    Notification,
    /// Instructions, environment, reminders put in beside the user's words.
    Injected,
    CompactSummary,
    Image,
    Snapshot,
    /// A prompt that waits for its turn; it is read where it was delivered.
    Queue,
    Progress,
    Interruption,
    Hook,
    /// Titles, modes, links, settings.
    Bookkeeping,
    /// An error text the host wrote in the assistant's name.
    HostError,
    /// The same words as in the form this file is read by.
    Copy,
    /// A kind of line nobody told us about.
    Unknown,
}

/// What an object of a transcript is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Meaning {
    Turn(Box<Turn>),
    Nobody(NotWords),
    Unreadable,
}

impl From<Turn> for Meaning {
    fn from(turn: Turn) -> Self {
        Self::Turn(Box::new(turn))
    }
}

/// Reads the lines of one file, in order.
#[derive(Debug)]
pub(crate) struct LineParser {
    reading: Reading,
    /// The memo as it was after the last settled line.
    settled: Memo,
    /// Lines read since something began to wait.
    n_lines_held: usize,
}

impl LineParser {
    /// Begins at the first line.
    pub(crate) fn new(source: &Source) -> Self {
        Self::with(source, Memo::default())
    }

    /// Goes on where `memo` was taken. A memo that cannot be read is as good as none.
    pub(crate) fn resume(source: &Source, memo: &str) -> Self {
        Self::with(source, serde_json::from_str(memo).unwrap_or_default())
    }

    fn with(source: &Source, memo: Memo) -> Self {
        Self { settled: memo.clone(), reading: Reading::new(source, memo), n_lines_held: 0 }
    }

    /// Returns what a later process must know to go on after the last settled line: facts about
    /// the session, none of the words.
    pub(crate) fn memo(&self) -> String {
        serde_json::to_string(&self.settled).unwrap_or_default()
    }

    /// Says whether one may stop here and resume later. While something waits for a later line
    /// to give it its meaning, one may read on but must resume at the last settled line.
    pub(crate) fn is_settled(&self) -> bool {
        self.reading.is_settled()
    }

    /// Returns what the line holds: usually one thing; nothing for an empty line or for words
    /// that wait; several when waiting words come free or two objects share a line.
    pub(crate) fn read(&mut self, line: &[u8]) -> Vec<Meaning> {
        let mut out = Vec::new();
        for object in json::objects(line) {
            match object {
                Some(object) => self.read_object(&object, &mut out),
                None => out.push(Meaning::Unreadable),
            }
        }
        self.n_lines_held = if self.is_settled() { 0 } else { self.n_lines_held + 1 };
        if HELD_LINES_MAX < self.n_lines_held {
            self.reading.let_go(&mut out);
            self.n_lines_held = 0;
        }
        if self.is_settled() && self.settled != self.reading.memo {
            self.settled.clone_from(&self.reading.memo);
        }
        out
    }

    /// Returns what still waited, for a file that will not grow any more.
    pub(crate) fn finish(&mut self) -> Vec<Meaning> {
        let mut out = Vec::new();
        self.reading.let_go(&mut out);
        out
    }

    fn read_object(&mut self, object: &Value, out: &mut Vec<Meaning>) {
        if !object.is_object() {
            out.push(Meaning::Unreadable);
            return;
        }
        let reading = &mut self.reading;
        match reading.host {
            HostKind::ClaudeCode => out.push(claude_code::read(reading, object)),
            HostKind::Codex => codex::read(reading, object, out),
            HostKind::GeminiCli => out.push(gemini_cli::read(reading, object)),
            // OpenCode has no lines; whoever asks anyway gets an honest answer.
            HostKind::OpenCode => out.push(Meaning::Nobody(NotWords::Unknown)),
            HostKind::CopilotCli => out.push(copilot_cli::read(reading, object)),
            HostKind::Pi => out.push(pi::read(reading, object)),
            HostKind::QwenCode => out.push(qwen_code::read(reading, object)),
            HostKind::Cursor => out.push(cursor::read(reading, object)),
            HostKind::Antigravity => out.push(antigravity::read(reading, object)),
        }
    }
}

/// Why a document could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WholeError {
    #[error("reading {path}: {error}")]
    Io { path: PathBuf, error: io::Error },
    #[error("{path} is larger than {WHOLE_BYTES_MAX} bytes; it is left alone")]
    TooLarge { path: PathBuf },
    #[error("{path} is not the JSON its name promises; the host may be writing it, try again")]
    NotJson { path: PathBuf },
}

/// Reads all turns of a `Layout::Whole` transcript.
pub(crate) fn read_whole(source: &Source, path: &Path) -> Result<Vec<Turn>, WholeError> {
    let turns = whole_meanings(source, path)?.into_iter().filter_map(|meaning| match meaning {
        Meaning::Turn(turn) => Some(*turn),
        Meaning::Nobody(_) | Meaning::Unreadable => None,
    });
    Ok(turns.collect())
}

fn whole_meanings(source: &Source, path: &Path) -> Result<Vec<Meaning>, WholeError> {
    let document = open::read_document(path)?;
    let mut reading = Reading::new(source, Memo::default());
    match source.host {
        HostKind::GeminiCli => Ok(gemini_cli::read_document(&mut reading, &document)),
        HostKind::OpenCode => open_code::read_session(&mut reading, path, &document),
        HostKind::ClaudeCode
        | HostKind::Codex
        | HostKind::CopilotCli
        | HostKind::Pi
        | HostKind::QwenCode
        | HostKind::Cursor
        | HostKind::Antigravity => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod testing;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parser() -> LineParser {
        LineParser::new(&Source::lines(HostKind::ClaudeCode))
    }

    fn told(meanings: &[Meaning]) -> Vec<String> {
        meanings.iter().map(testing::tell).collect()
    }

    #[test]
    fn two_objects_on_a_line_are_both_read() {
        let line = br#"{"type":"user","message":{"content":"a"}}{"type":"summary"}"#;
        assert_eq!(told(&parser().read(line)), ["user: a", "- Bookkeeping"]);
        assert_eq!(told(&parser().read(b"")), [""; 0]);
        assert_eq!(told(&parser().read(b"{\"type\":\"user\",\"mess")), ["!"]);
    }

    #[test]
    fn half_a_surrogate_pair_does_not_lose_the_turn() {
        let line = br#"{"type":"user","message":{"content":"a \ud83d b"}}"#;
        assert_eq!(told(&parser().read(line)), ["user: a \u{fffd} b"]);
    }

    #[test]
    fn what_waits_is_let_go_after_a_while() {
        let mut parser = parser();
        let line = json!({"type": "queue-operation", "operation": "enqueue", "content": "words"});
        parser.read(line.to_string().as_bytes());
        assert!(!parser.is_settled());
        for _ in 1..HELD_LINES_MAX {
            parser.read(b"{\"type\":\"progress\"}");
            assert!(!parser.is_settled());
        }
        parser.read(b"{\"type\":\"progress\"}");
        assert!(parser.is_settled());
    }

    #[test]
    fn a_memo_belongs_to_the_last_settled_line() {
        let source = Source::lines(HostKind::CopilotCli);
        let mut parser = LineParser::new(&source);
        let start = json!({"type": "session.start", "data": {"sessionId": "s"}});
        parser.read(start.to_string().as_bytes());
        let settled = parser.memo();
        assert_eq!(settled, r#"{"session":"s"}"#);
        let call = json!({"type": "assistant.message", "data": {
            "content": "", "model": "m", "toolRequests": [{"name": "bash"}],
        }});
        parser.read(call.to_string().as_bytes());
        assert_eq!((parser.is_settled(), parser.memo()), (false, settled));
    }

    #[test]
    fn a_memo_nobody_can_read_is_none() {
        let source = Source::lines(HostKind::Codex);
        for memo in ["", "{}", "[", "{\"form\":\"tomorrow\"}", "{\"later\":1}"] {
            assert_eq!(LineParser::resume(&source, memo).memo(), "{}", "{memo}");
        }
    }
}
