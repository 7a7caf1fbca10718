//! What `export-memories` of claude-mem writes: one JSON document with observations, summaries of
//! sessions, and prompts.

use jiff::Timestamp;
use serde_json::Value;

use super::{Note, Noted};
use crate::fields::Fields as _;

/// Tells whether a file begins as such an export: its first field is never another.
pub(super) fn is_one(head: &str) -> bool {
    let inside = head.trim_start().strip_prefix('{').unwrap_or_default().trim_start();
    inside.starts_with("\"exportedAt\"") && head.contains("\"totalObservations\"")
}

/// Reads the document.
pub(super) fn read(bytes: &[u8]) -> Result<Noted, String> {
    let document: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let mut noted = Noted::default();
    type Read = fn(&Value) -> Option<(String, String)>;
    let kinds: [(&str, &str, Read); 3] = [
        ("observations", "observation", observation),
        ("summaries", "session summary", summary),
        ("prompts", "prompt", prompt),
    ];
    for (field, kind, read) in kinds {
        let items = document.at(field).as_array().into_iter().flatten();
        for (item_idx, item) in items.enumerate() {
            match read(item) {
                Some((title, text)) => noted.notes.push(note(item, kind, &title, text)),
                None => noted.problems.push(format!("{kind} {} has no words", item_idx + 1)),
            }
        }
    }
    Ok(noted)
}

fn note(item: &Value, kind: &str, title: &str, text: String) -> Note {
    let session = ["memory_session_id", "sdk_session_id", "content_session_id"];
    let session = session.iter().find_map(|name| item.at(name).as_str()).unwrap_or("-");
    let project = item.at("project").as_str().unwrap_or_default();
    let kind = if title.is_empty() { kind.to_owned() } else { format!("{kind} “{title}”") };
    let headings = [project.to_owned(), kind];
    Note {
        text,
        about: format!("{project} {session}").trim_start().to_owned(),
        headings: headings.into_iter().filter(|name| !name.is_empty()).collect(),
        at: time_of(item),
    }
}

/// Milliseconds, or a date; the two say the same where both are there.
fn time_of(item: &Value) -> Option<Timestamp> {
    let ms = item.at("created_at_epoch").as_i64();
    let by_number = ms.and_then(|ms| Timestamp::from_millisecond(ms).ok());
    by_number.or_else(|| item.at("created_at").as_str()?.parse().ok())
}

fn observation(item: &Value) -> Option<(String, String)> {
    let title = words(item, "title").unwrap_or_default();
    let mut lines: Vec<String> = Vec::new();
    lines.extend((!title.is_empty()).then(|| title.clone()));
    lines.extend(words(item, "subtitle"));
    lines.extend(words(item, "narrative").or_else(|| words(item, "text")));
    lines.extend(listed(item, "facts").into_iter().map(|fact| format!("- {fact}")));
    for (field, label) in [("files_modified", "Modified"), ("concepts", "Concepts")] {
        let named = listed(item, field);
        lines.extend((!named.is_empty()).then(|| format!("{label}: {}", named.join(", "))));
    }
    (!lines.is_empty()).then(|| (title, lines.join("\n")))
}

fn summary(item: &Value) -> Option<(String, String)> {
    let parts = [
        ("request", "Request"),
        ("investigated", "Investigated"),
        ("learned", "Learned"),
        ("completed", "Completed"),
        ("next_steps", "Next steps"),
        ("notes", "Notes"),
    ];
    let part = |(field, label): (&str, &str)| Some(format!("{label}: {}", words(item, field)?));
    let lines: Vec<String> = parts.into_iter().filter_map(part).collect();
    let title = words(item, "request").unwrap_or_default();
    let title = title.lines().next().unwrap_or_default().chars().take(80).collect();
    (!lines.is_empty()).then(|| (title, lines.join("\n")))
}

fn prompt(item: &Value) -> Option<(String, String)> {
    Some((String::new(), words(item, "prompt_text")?))
}

fn words(item: &Value, name: &str) -> Option<String> {
    let text = item.at(name).as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A list, which the database keeps as JSON in a text.
fn listed(item: &Value, name: &str) -> Vec<String> {
    let list = match item.at(name) {
        Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
        list => list.clone(),
    };
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn export() -> Value {
        json!({
            "exportedAt": "2026-03-01T00:00:00.000Z", "exportedAtEpoch": 1, "query": "",
            "totalObservations": 2, "totalSessions": 0, "totalSummaries": 1, "totalPrompts": 1,
            "observations": [
                {"id": 1, "memory_session_id": "m1", "project": "heron", "type": "bugfix",
                 "title": "Retry uploads", "subtitle": "", "narrative": "Uploads are tried thrice.",
                 "facts": "[\"three attempts\",\"then an error\"]", "concepts": "[]",
                 "files_modified": ["src/upload.rs"], "created_at": "2026-02-03T04:05:06.000Z",
                 "created_at_epoch": 1_770_091_506_000_i64},
                {"id": 2, "title": null},
            ],
            "sessions": [],
            "summaries": [{"memory_session_id": "m1", "project": "heron", "request": "Fix it",
                           "learned": "Timeouts lie.", "created_at": "2026-02-03T05:00:00.000Z"}],
            "prompts": [{"content_session_id": "c1", "prompt_number": 1, "prompt_text": "fix it",
                         "created_at_epoch": 5}],
        })
    }

    #[test]
    fn an_export_is_read_with_its_dates() {
        let text = serde_json::to_string_pretty(&export()).unwrap();
        assert!(is_one(&text));
        let noted = read(text.as_bytes()).unwrap();
        let first = &noted.notes[0];
        assert_eq!(
            first.text,
            "Retry uploads\nUploads are tried thrice.\n- three attempts\n- then an error\n\
             Modified: src/upload.rs"
        );
        assert_eq!(first.at.unwrap().to_string(), "2026-02-03T04:05:06Z");
        assert_eq!((first.about.as_str(), first.headings[0].as_str()), ("heron m1", "heron"));
        assert_eq!(noted.notes[1].text, "Request: Fix it\nLearned: Timeouts lie.");
        assert_eq!(noted.notes[1].at.unwrap().to_string(), "2026-02-03T05:00:00Z");
        assert_eq!(noted.notes[2].text, "fix it");
        assert_eq!(noted.problems, ["observation 2 has no words"]);
    }

    #[test]
    fn other_documents_are_not_ours() {
        for other in ["", "{}", "{\"exportedAt\": 1}", "{\"totalObservations\": 1}", "[{}]"] {
            assert!(!is_one(other), "{other}");
        }
        assert!(read(b"{\"exportedAt\": ").is_err());
    }
}
