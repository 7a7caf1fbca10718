//! What mempalace exports as Markdown: a file for each room, `# wing / room`, and in it for each
//! drawer its id as a heading, its words as a quotation and a table of where they come from.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::{Note, Noted};

const TABLE: &str = "| Field | Value |";

/// Tells whether a file begins as such a room.
pub(super) fn is_one(head: &str) -> bool {
    let first = head.lines().next().unwrap_or_default();
    let is_room = first.strip_prefix("# ").is_some_and(|name| name.contains(" / "));
    is_room && head.contains("\n## ") && head.contains("\n> ") && head.contains(TABLE)
}

/// Reads the drawers of a room. Every line of their words is quoted, so that nothing in them can be
/// taken for the end of a drawer.
pub(super) fn read(bytes: &[u8]) -> Noted {
    let text = String::from_utf8_lossy(bytes);
    let mut noted = Noted::default();
    let mut room = "";
    let mut drawer: Option<Drawer> = None;
    for line in text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)) {
        if let Some(words) = line.strip_prefix('>') {
            if let Some(drawer) = &mut drawer {
                drawer.words.push(words.strip_prefix(' ').unwrap_or(words));
            }
        } else if let Some(name) = line.strip_prefix("# ") {
            room = name;
        } else if line.starts_with("## ") {
            end(drawer.replace(Drawer::default()), room, &mut noted);
        } else if let (Some(drawer), Some(value)) = (&mut drawer, field(line, "Filed")) {
            drawer.at = time_of(value);
        } else if let (Some(drawer), Some(value)) = (&mut drawer, field(line, "Source")) {
            drawer.source = value;
        }
    }
    end(drawer, room, &mut noted);
    noted
}

#[derive(Default)]
struct Drawer<'a> {
    words: Vec<&'a str>,
    source: &'a str,
    at: Option<Timestamp>,
}

fn end(drawer: Option<Drawer<'_>>, room: &str, noted: &mut Noted) {
    let Some(drawer) = drawer else { return };
    let text = drawer.words.join("\n");
    if text.trim().is_empty() {
        noted.problems.push(format!("a drawer of {room} has no words"));
        return;
    }
    let source = Some(drawer.source).filter(|source| !source.is_empty() && *source != "unknown");
    let headings = std::iter::once(room).chain(source).map(str::to_owned).collect();
    noted.notes.push(Note { text, about: room.to_owned(), headings, at: drawer.at });
}

fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let value = line.strip_prefix("| ")?.strip_prefix(name)?.strip_prefix(" | ")?;
    Some(value.strip_suffix(" |").unwrap_or(value).trim())
}

/// Python's `isoformat`, with or without a zone; without one it is taken for UTC.
fn time_of(value: &str) -> Option<Timestamp> {
    let plain = || value.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
    value.parse().ok().or_else(|| plain().map(|at| at.timestamp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: &str = "# heron / decisions\n\n## drawer_1\n\n> We keep cents.\n> \n> ## Never \
        floats\n\n| Field | Value |\n|-------|-------|\n| Source | chat.jsonl |\n\
        | Filed | 2026-01-02T03:04:05.123456 |\n| Added by | miner |\n\n---\n\n\
        ## drawer_2\n\n> Second.\n\n| Field | Value |\n|---|---|\n| Source | unknown |\n\
        | Filed | unknown |\n| Added by | unknown |\n\n---\n\n";

    #[test]
    fn drawers_are_read_word_for_word_with_their_dates() {
        assert!(is_one(ROOM));
        let noted = read(ROOM.as_bytes());
        assert_eq!(noted.problems, Vec::<String>::new());
        assert_eq!(noted.notes[0].text, "We keep cents.\n\n## Never floats");
        assert_eq!(noted.notes[0].at.unwrap().to_string(), "2026-01-02T03:04:05.123456Z");
        assert_eq!(noted.notes[0].headings, ["heron / decisions", "chat.jsonl"]);
        assert_eq!((noted.notes[1].text.as_str(), noted.notes[1].at), ("Second.", None));
    }

    #[test]
    fn other_markdown_is_not_ours() {
        for other in ["", "# a / b\n", "# Palace Export — 2026\n\n| Wing | Rooms |", "> quote"] {
            assert!(!is_one(other), "{other}");
        }
    }
}
