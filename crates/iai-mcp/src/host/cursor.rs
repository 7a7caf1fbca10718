//! Cursor: `~/.cursor/projects/<folder>/agent-transcripts/<session>/<session>.jsonl`, or without
//! the folder in between, and a file for each sub-agent in `<session>/subagents`.
//!
//! Lines have neither ids nor times. A prompt stands in an element of its own, often behind the
//! minute it was sent in; results of tools are not written at all.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use serde_json::Value;

use crate::fields::Fields as _;

use super::json::{elements, is_blank};
use super::reading::Reading;
use super::{Meaning, NotWords, Speaker};

const PROMPT: (&str, &str) = ("<user_query>", "</user_query>");
const TIME: (&str, &str) = ("<timestamp>", "</timestamp>");

/// Stands where thinking was, alone or behind the words.
const REDACTED: &str = "[REDACTED]";

/// Elements that Cursor sends in the user's name, in messages without a prompt.
const INJECTED: &[&str] = &[
    "additional_data",
    "agent_skills",
    "agent_transcripts",
    "attached_files",
    "dynamic_tools",
    "git_status",
    "mcp_",
    "open_and_recently_viewed_files",
    "project_layout",
    "rules",
    "system_",
    "task_notification",
    "user_info",
];

pub(super) fn read(reading: &mut Reading, line: &Value) -> Meaning {
    let content = line.at("message").at("content");
    match line.at("role").as_str() {
        Some("user") => user(reading, content),
        Some("assistant") => assistant(reading, content),
        None if line.at("type") == "turn_ended" => turn_ended(reading, line),
        Some(_) | None => Meaning::Nobody(NotWords::Unknown),
    }
}

/// Finds the transcript of a session held in `folder`: the program in the terminal names none to
/// its hooks.
pub(crate) fn transcript_of(user_home: &Path, folder: &str, session: &str) -> Option<PathBuf> {
    // The id comes from outside: nothing in it may lead out of the folder.
    if Path::new(session).file_name()?.to_str()? != session {
        return None;
    }
    let projects = user_home.join(".cursor/projects").join(folded(folder));
    let (name, transcripts) = (format!("{session}.jsonl"), projects.join("agent-transcripts"));
    let nested = transcripts.join(session).join(&name);
    [nested, transcripts.join(name)].into_iter().find(|path| path.is_file())
}

/// Returns the name Cursor gives to a folder's own folder: letters, digits, and hyphens for the
/// rest.
pub(super) fn folded(folder: &str) -> String {
    let fold = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    folder.trim_matches('/').chars().map(fold).collect()
}

fn turn_ended(reading: &mut Reading, line: &Value) -> Meaning {
    // Nothing more is said in this turn that could take what was done.
    reading.deeds.forget();
    let is_aborted = line.at("status") == "aborted";
    Meaning::Nobody(if is_aborted { NotWords::Interruption } else { NotWords::Progress })
}

fn user(reading: &mut Reading, content: &Value) -> Meaning {
    let (mut words, mut reason) = (Vec::new(), NotWords::Blank);
    let mut sent_at = None;
    for text in texts(content) {
        let (time, text) = split_time(text);
        sent_at = sent_at.or_else(|| time.and_then(minute));
        match typed(text) {
            Ok(text) => words.push(text),
            Err(why) => reason = why,
        }
    }
    if words.is_empty() {
        return Meaning::Nobody(reason);
    }
    reading.memo.prompted_at = sent_at;
    let mut turn = reading.turn(Speaker::User, words.join("\n"));
    turn.at = sent_at;
    turn.into()
}

fn assistant(reading: &mut Reading, content: &Value) -> Meaning {
    let calls = elements(content).iter().filter(|block| block.at("type") == "tool_use");
    let mut reason = NotWords::Blank;
    for call in calls {
        reading.deeds.note(call.at("name"), call.at("input"));
        reason = NotWords::ToolCall;
    }
    let words: Vec<&str> = texts(content).filter_map(said).collect();
    if words.is_empty() {
        let has_thought = reason == NotWords::Blank && !elements(content).is_empty();
        return Meaning::Nobody(if has_thought { NotWords::Thinking } else { reason });
    }
    let at = reading.memo.prompted_at;
    let mut turn = reading.turn(Speaker::Assistant, words.join("\n"));
    turn.at = at;
    turn.into()
}

fn texts(content: &Value) -> impl Iterator<Item = &str> {
    let blocks = elements(content).iter().filter(|block| block.at("type") == "text");
    content.as_str().into_iter().chain(blocks.filter_map(|block| block.at("text").as_str()))
}

fn said(text: &str) -> Option<&str> {
    let words = match text.trim_end().strip_suffix(REDACTED) {
        Some(words) => words.trim_end(),
        None => text,
    };
    (!is_blank(words)).then_some(words)
}

fn split_time(text: &str) -> (Option<&str>, &str) {
    let inside = text.trim_start().strip_prefix(TIME.0).and_then(|rest| rest.split_once(TIME.1));
    inside.map_or((None, text), |(time, rest)| (Some(time), rest.trim_start()))
}

fn typed(text: &str) -> Result<&str, NotWords> {
    let prompt = text.split_once(PROMPT.0).and_then(|(_, rest)| rest.rsplit_once(PROMPT.1));
    let words = match prompt {
        // The line breaks beside the tags are Cursor's.
        Some((words, _)) => {
            let words = words.strip_prefix('\n').unwrap_or(words);
            words.strip_suffix('\n').unwrap_or(words)
        }
        None if is_injected(text) => return Err(NotWords::Injected),
        None => text,
    };
    if is_blank(words) { Err(NotWords::Blank) } else { Ok(words) }
}

fn is_injected(text: &str) -> bool {
    let name = text.trim_start().strip_prefix('<');
    name.is_some_and(|name| INJECTED.iter().any(|injected| name.starts_with(injected)))
}

/// Reads `Friday, Sep 4, 2026, 2:21 AM (UTC+8)`. Without its zone a time says nothing.
fn minute(text: &str) -> Option<Timestamp> {
    // Between the time and AM or PM there may be any kind of space.
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (civil, zone) = text.split_once(" (UTC")?;
    let (_weekday, civil) = civil.split_once(", ")?;
    let civil = ["%b %d, %Y, %I:%M %p", "%B %d, %Y, %I:%M %p"]
        .iter()
        .find_map(|form| DateTime::strptime(form, civil).ok())?;
    offset(zone.strip_suffix(')')?)?.to_timestamp(civil).ok()
}

/// Reads `+8`, `-7`, `+5:30`, or nothing at all.
fn offset(text: &str) -> Option<Offset> {
    if text.is_empty() {
        return Some(Offset::UTC);
    }
    let (hours, minutes) = text.split_once(':').unwrap_or((text, "0"));
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let sign = if text.starts_with('-') { -1 } else { 1 };
    Offset::from_seconds(hours * 3600 + sign * minutes * 60).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::host::testing::{self, turns};
    use crate::host::{HostKind, LineParser, Source};

    #[track_caller]
    fn check(lines: &[Value], want: &[&str]) {
        testing::check(HostKind::Cursor, lines, want);
    }

    fn line(role: &str, texts: &[&str]) -> Value {
        let block = |text: &&str| json!({"type": "text", "text": text});
        let content: Vec<Value> = texts.iter().map(block).collect();
        json!({"role": role, "message": {"content": content}})
    }

    const DATED: &str = "<timestamp>Friday, Sep 4, 2026, 2:21\u{202f}AM (UTC+8)</timestamp>\n\
                         <user_query>\nkeep <b>\n\n</user_query>\n[Image]";

    #[test]
    fn a_prompt_is_what_stands_in_its_element() {
        check(&[line("user", &[DATED])], &["user: keep <b>\n"]);
        check(&[line("user", &["<user_query>ship it</user_query>"])], &["user: ship it"]);
        check(&[line("user", &["  as is \n"])], &["user:   as is \n"]);
        check(&[json!({"role": "user", "message": {"content": "bare"}})], &["user: bare"]);
        check(&[line("user", &["<div>why?</div>"])], &["user: <div>why?</div>"]);
        let beside = ["<attached_files>\nx\n</attached_files>", "<user_query>\na\n</user_query>"];
        check(&[line("user", &beside)], &["user: a"]);
    }

    #[test]
    fn what_the_program_writes_is_nobodys() {
        for (line, want) in [
            (line("user", &["<dynamic_tools><tool>x</tool></dynamic_tools>"]), "- Injected"),
            (line("user", &["<user_info>\nOS\n</user_info>\n\n<rules>x</rules>"]), "- Injected"),
            (line("user", &["<system_reminder>x</system_reminder>"]), "- Injected"),
            (line("user", &["<user_query>\n\n</user_query>"]), "- Blank"),
            (line("user", &[]), "- Blank"),
            (line("assistant", &["[REDACTED]"]), "- Thinking"),
            (line("assistant", &[]), "- Blank"),
            (line("tool", &["x"]), "- Unknown"),
            (json!({"type": "turn_ended", "status": "success"}), "- Progress"),
            (json!({"type": "turn_ended", "status": "aborted"}), "- Interruption"),
            (json!({"type": "tomorrow"}), "- Unknown"),
        ] {
            check(&[line], &[want]);
        }
        check(&[line("assistant", &["Done.\n\n[REDACTED]"])], &["assistant: Done."]);
    }

    #[test]
    fn a_turn_takes_the_time_of_its_prompt_and_what_was_done() {
        let call = json!({"role": "assistant", "message": {"content": [
            {"type": "tool_use", "name": "Write", "input": {"path": "/p/a.rs", "contents": "x"}},
        ]}});
        let end = json!({"type": "turn_ended", "status": "success"});
        let lines =
            [line("user", &[DATED]), call.clone(), line("assistant", &["written"]), call, end];
        check(&lines[1..2], &["- ToolCall"]);
        let turns = turns(HostKind::Cursor, &lines);
        let sent: Timestamp = "2026-09-03T18:21:00Z".parse().unwrap();
        assert_eq!((turns[0].at, turns[1].at), (Some(sent), Some(sent)));
        let did = json!({"tools": ["Write"], "files": ["/p/a.rs"]});
        assert_eq!(Value::Object(turns[1].provenance.clone()), did);
        let mut parser = LineParser::new(&Source::lines(HostKind::Cursor));
        for line in lines {
            parser.read(line.to_string().as_bytes());
        }
        assert!(parser.is_settled(), "the end of a turn lets go of what nobody mentions");
    }

    #[test]
    fn times_are_read_in_their_zone() {
        for (text, want) in [
            ("Wednesday, Jun 3, 2026, 7:30 PM (UTC-7)", Some("2026-06-04T02:30:00Z")),
            ("Wednesday, June 3, 2026, 12:05 AM (UTC+5:30)", Some("2026-06-02T18:35:00Z")),
            ("Wednesday, Jun 3, 2026, 7:30 PM (UTC-3:30)", Some("2026-06-03T23:00:00Z")),
            ("Wednesday, Jun 3, 2026, 7:30 PM (UTC)", Some("2026-06-03T19:30:00Z")),
            ("Wednesday, Jun 3, 2026, 7:30 PM", None),
            ("now", None),
        ] {
            let want = want.map(|want| want.parse::<Timestamp>().unwrap());
            assert_eq!(minute(text), want, "{text}");
        }
    }

    #[test]
    fn a_sub_agent_never_speaks_as_the_user() {
        let source = Source { agent: Some("v".to_owned()), ..Source::lines(HostKind::Cursor) };
        let said = LineParser::new(&source).read(line("user", &["go"]).to_string().as_bytes());
        assert_eq!(testing::tell(&said[0]), "agent: go");
    }

    #[test]
    fn a_session_is_found_by_its_folder_and_never_elsewhere() {
        let home = tempfile::tempdir().unwrap();
        let transcripts = home.path().join(".cursor/projects/home-u-my-app/agent-transcripts");
        std::fs::create_dir_all(transcripts.join("n")).unwrap();
        for name in ["flat.jsonl", "n/n.jsonl", "../outside.jsonl"] {
            std::fs::write(transcripts.join(name), "").unwrap();
        }
        let find = |session: &str| transcript_of(home.path(), "/home/u/my.app/", session);
        assert_eq!(find("flat"), Some(transcripts.join("flat.jsonl")));
        assert_eq!(find("n"), Some(transcripts.join("n/n.jsonl")));
        for session in ["", ".", "..", "../outside", "none", "/etc/passwd"] {
            assert_eq!(find(session), None, "{session}");
        }
    }
}
