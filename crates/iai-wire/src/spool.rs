//! The spool file: turns on their way to the daemon, one JSON object per line.
//!
//! Version 1 is the founding contract's: a header, then one event per turn, in clear. Version 2
//! wraps the same lines: a clear header carries a key share, every further line is sealed with it
//! (see `seal.rs`). A file may hold several appends, each beginning with its own header. Where
//! files go and when they are deleted is not decided here.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::lines::{Line, LineReader};
use crate::seal::{LineOpener, LineSealer, OpeningKey, SUITE, SealingKey};

const PLAIN_VERSION: u64 = 1;
const SEALED_VERSION: u64 = 2;

/// The newest version of a spool file that this program knows.
pub const SPOOL_VERSION: u64 = SEALED_VERSION;
/// How much of an unreadable line is handed on as evidence.
const EVIDENCE_BYTES_MAX: usize = 1024 * 1024;

/// The first line of an append.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpoolHeader {
    /// The format of the lines that follow.
    #[serde(default)]
    pub version: u64,
    /// When the append was written, ISO 8601.
    #[serde(default)]
    pub deferred_at: String,
    /// The host's session.
    #[serde(default)]
    pub session_id: String,
    /// Where the host was working.
    #[serde(default)]
    pub cwd: String,
}

impl SpoolHeader {
    /// A header of the version this program writes in clear.
    pub fn new(session_id: &str, cwd: &str, deferred_at: &str) -> Self {
        Self {
            version: PLAIN_VERSION,
            deferred_at: deferred_at.to_owned(),
            session_id: session_id.to_owned(),
            cwd: cwd.to_owned(),
        }
    }
}

/// One turn. The first five fields are the founding contract's; readers of version 1 ignore the
/// rest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SpoolEvent {
    /// The words, verbatim.
    pub text: String,
    /// An extra key to find the turn by; empty for turns out of a transcript.
    #[serde(default)]
    pub cue: String,
    /// The tier's name.
    #[serde(default)]
    pub tier: String,
    /// Who spoke.
    pub role: String,
    /// When the line was written, ISO 8601.
    #[serde(default)]
    pub ts: String,
    /// When the turn was spoken, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_ts: Option<String>,
    /// The host the turn comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The host's id of the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// The turn's place in its transcript, counted from 0; its identity where the host gives no id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    /// Where the host was working at this turn, when it differs from the header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The project: the git common directory, else the working folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// What else the host said about the turn: branch, model, version, parent.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provenance: Map<String, Value>,
    /// A secret stood in the words: under another setting they were kept otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_secret: bool,
}

/// Writes one append.
pub struct SpoolWriter<W> {
    output: W,
    sealer: Option<LineSealer>,
}

impl<W: Write> SpoolWriter<W> {
    /// Begins an append in clear: only right while no store exists to seal to.
    pub fn plain(output: W, header: &SpoolHeader) -> io::Result<Self> {
        let mut writer = Self { output, sealer: None };
        writer.write_line(&serde_json::to_vec(header)?)?;
        Ok(writer)
    }

    /// Begins an append sealed to the daemon.
    pub fn sealed(mut output: W, header: &SpoolHeader, key: &SealingKey) -> io::Result<Self> {
        let (sealer, share) = key.begin().map_err(io::Error::other)?;
        let clear =
            json!({"version": SEALED_VERSION, "seal": SUITE, "to": key.name(), "share": share});
        serde_json::to_writer(&mut output, &clear)?;
        output.write_all(b"\n")?;
        let mut writer = Self { output, sealer: Some(sealer) };
        writer.write_line(&serde_json::to_vec(header)?)?;
        Ok(writer)
    }

    /// Adds one turn.
    pub fn push(&mut self, event: &SpoolEvent) -> io::Result<()> {
        self.write_line(&serde_json::to_vec(event)?)
    }

    /// Ends the append and returns what was written to.
    pub fn finish(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }

    fn write_line(&mut self, line: &[u8]) -> io::Result<()> {
        match &mut self.sealer {
            None => self.output.write_all(line)?,
            Some(sealer) => {
                let (n, sealed) = sealer.seal(line).map_err(io::Error::other)?;
                serde_json::to_writer(&mut self.output, &json!({"n": n, "line": sealed}))?;
            }
        }
        self.output.write_all(b"\n")
    }
}

/// What a reader finds, line by line.
#[derive(Debug, PartialEq)]
pub enum SpoolItem {
    /// An append begins.
    Header(SpoolHeader),
    /// A turn.
    Event(Box<SpoolEvent>),
    /// A line that cannot be understood; its neighbours are not affected.
    Bad {
        /// The line's place in the file, counted from 1.
        line: u64,
        /// Why.
        reason: String,
        /// The line's first bytes; empty when it was too long to hold.
        evidence: Vec<u8>,
        /// The line's full length.
        n_bytes: u64,
    },
    /// The file was written by a newer program and must be left alone.
    Newer {
        /// The version it says.
        version: u64,
    },
    /// The file is sealed to a key this store does not have, and must be left alone.
    ForeignSeal,
}

/// Reads a spool file of any version we know.
pub struct SpoolReader<'k, R> {
    lines: LineReader<R>,
    key: Option<&'k OpeningKey>,
    opener: Option<LineOpener>,
    n_lines: u64,
}

impl<'k, R: BufRead> SpoolReader<'k, R> {
    /// Reads with the daemon's key; without one, sealed files are foreign.
    pub fn new(input: R, key: Option<&'k OpeningKey>) -> Self {
        Self { lines: LineReader::new(input), key, opener: None, n_lines: 0 }
    }

    /// Returns the next thing in the file, or `None` at its end. Blank lines are passed over.
    pub fn next_item(&mut self) -> io::Result<Option<SpoolItem>> {
        loop {
            let Some(line) = self.lines.next_line()? else { return Ok(None) };
            self.n_lines += 1;
            let bytes = match line {
                Line::TooLong { n_bytes } => {
                    let reason = "longer than this program accepts".to_owned();
                    let evidence = Vec::new();
                    return Ok(Some(SpoolItem::Bad {
                        line: self.n_lines,
                        reason,
                        evidence,
                        n_bytes,
                    }));
                }
                Line::Whole(bytes) | Line::Unended(bytes) => bytes,
            };
            if bytes.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let item = understand(bytes, self.key, &mut self.opener);
            return match item {
                Ok(None) => continue,
                Ok(Some(item)) => Ok(Some(item)),
                Err(reason) => Ok(Some(bad_line(self.n_lines, reason, bytes))),
            };
        }
    }
}

fn bad_line(line: u64, reason: String, bytes: &[u8]) -> SpoolItem {
    let evidence = bytes.get(..EVIDENCE_BYTES_MAX).unwrap_or(bytes).to_vec();
    SpoolItem::Bad { line, reason, evidence, n_bytes: bytes.len() as u64 }
}

/// Understands one physical line; `None` means it only set up the opening of those that follow.
fn understand(
    bytes: &[u8],
    key: Option<&OpeningKey>,
    opener: &mut Option<LineOpener>,
) -> Result<Option<SpoolItem>, String> {
    let fields = parse_object(bytes)?;
    if let (Some(n), Some(Value::String(sealed))) =
        (fields.get("n").and_then(Value::as_u64), fields.get("line"))
    {
        let opener = opener.as_ref().ok_or("a sealed line before any key share")?;
        let opened = opener.open(n, sealed).map_err(|error| error.to_string())?;
        return understand_plain(parse_object(&opened)?).map(Some);
    }
    match (fields.get("version").and_then(Value::as_u64), fields.get("seal")) {
        (Some(SEALED_VERSION), Some(Value::String(suite))) if suite == SUITE => {
            let share = fields.get("share").and_then(Value::as_str).unwrap_or_default();
            let to = fields.get("to").and_then(Value::as_str).unwrap_or_default();
            let Some(key) = key.filter(|key| key.name() == to) else {
                return Ok(Some(SpoolItem::ForeignSeal));
            };
            *opener = Some(key.begin(share).map_err(|error| error.to_string())?);
            Ok(None)
        }
        (Some(version), _) if PLAIN_VERSION < version => Ok(Some(SpoolItem::Newer { version })),
        _ => understand_plain(fields).map(Some),
    }
}

fn understand_plain(fields: Map<String, Value>) -> Result<SpoolItem, String> {
    let is_header = !fields.contains_key("text")
        && ["version", "session_id", "deferred_at"].iter().any(|name| fields.contains_key(*name));
    let whole = Value::Object(fields);
    if is_header {
        return serde_json::from_value(whole)
            .map(SpoolItem::Header)
            .map_err(|error| format!("not a header: {error}"));
    }
    serde_json::from_value(whole)
        .map(|event| SpoolItem::Event(Box::new(event)))
        .map_err(|error| format!("not a turn: {error}"))
}

fn parse_object(bytes: &[u8]) -> Result<Map<String, Value>, String> {
    serde_json::from_slice(bytes).map_err(|error| format!("not a JSON object: {error}"))
}

/// Why a file stays as it is, whatever key is at hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    /// A newer program wrote it.
    Newer {
        /// The version it says.
        version: u64,
    },
    /// Its version is known and the name of its seal is not, so that one of the two was changed.
    UnknownSeal,
    /// It is sealed to another key.
    ForeignSeal,
}

/// Looks at a file's first line. Returns why a store whose public key has this name leaves the file
/// alone, if it does.
pub fn why_unreadable(first_line: &[u8], own_key: Option<&str>) -> Option<Unreadable> {
    let fields = parse_object(first_line).ok()?;
    let version = fields.get("version").and_then(Value::as_u64)?;
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    match (version, text("seal")) {
        (SEALED_VERSION, Some(SUITE)) if own_key.is_some() && text("to") != own_key => {
            Some(Unreadable::ForeignSeal)
        }
        (SEALED_VERSION, Some(SUITE)) => None,
        (SEALED_VERSION, _) => Some(Unreadable::UnknownSeal),
        (version, _) if PLAIN_VERSION < version => Some(Unreadable::Newer { version }),
        _ => None,
    }
}

/// Tells whether a file has sealed lines and `key` opens none of them: it is sealed to another key,
/// or its key share was changed. Its neighbours say nothing about a line that is merely damaged.
pub fn opens_nothing(input: impl BufRead, key: &OpeningKey) -> io::Result<bool> {
    let mut lines = LineReader::new(input);
    let mut opener = None;
    let mut has_sealed = false;
    while let Some(line) = lines.next_line()? {
        let (Line::Whole(bytes) | Line::Unended(bytes)) = line else { continue };
        match understand(bytes, Some(key), &mut opener) {
            Ok(None) => {}
            Ok(Some(_)) => return Ok(false),
            // A line torn by a power cut was never promised, and is no reason to keep the file.
            Err(_) => has_sealed |= parse_object(bytes).is_ok_and(|f| f.contains_key("line")),
        }
    }
    Ok(has_sealed)
}

/// Counts the turns waiting in a spool file, without opening a seal.
pub fn count_events(input: impl BufRead) -> io::Result<u64> {
    let mut lines = LineReader::new(input);
    let mut n_events: u64 = 0;
    // A sealed append hides its version 1 header behind its clear one.
    let mut n_hidden_headers: u64 = 0;
    while let Some(line) = lines.next_line()? {
        let (Line::Whole(bytes) | Line::Unended(bytes)) = line else {
            n_events += 1;
            continue;
        };
        let start = bytes.get(..64).unwrap_or(bytes);
        if start.starts_with(b"{\"version\":2") {
            n_hidden_headers += 1;
        } else if !start.is_empty() && !start.starts_with(b"{\"version\"") {
            n_events += 1;
        }
    }
    Ok(n_events.saturating_sub(n_hidden_headers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::tests::key_pair;

    fn event(text: &str) -> SpoolEvent {
        SpoolEvent {
            text: text.to_owned(),
            tier: "episodic".to_owned(),
            role: "user".to_owned(),
            ts: "2026-11-15T10:00:00Z".to_owned(),
            ..SpoolEvent::default()
        }
    }

    fn header() -> SpoolHeader {
        SpoolHeader::new("s", "/project", "2026-11-15T10:00:00Z")
    }

    fn read(bytes: &[u8], key: Option<&OpeningKey>) -> Vec<SpoolItem> {
        let mut reader = SpoolReader::new(bytes, key);
        let mut items = Vec::new();
        while let Some(item) = reader.next_item().unwrap() {
            items.push(item);
        }
        items
    }

    fn want(texts: &[&str]) -> Vec<SpoolItem> {
        let events = texts.iter().map(|text| SpoolItem::Event(Box::new(event(text))));
        std::iter::once(SpoolItem::Header(header())).chain(events).collect()
    }

    #[test]
    fn a_plain_file_has_the_founding_shape() {
        let mut writer = SpoolWriter::plain(Vec::new(), &header()).unwrap();
        writer.push(&event("one\ntwo \u{1F600}")).unwrap();
        let bytes = writer.finish().unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["version"], 1);
        for name in ["text", "cue", "tier", "role", "ts"] {
            assert!(lines[1].get(name).is_some(), "{name}");
        }
        assert_eq!(read(&bytes, None), want(&["one\ntwo \u{1F600}"]));
        assert_eq!(count_events(&bytes[..]).unwrap(), 1);
    }

    #[test]
    fn a_sealed_file_shows_nothing_and_reads_the_same() {
        let (seal, open) = key_pair();
        let mut writer = SpoolWriter::sealed(Vec::new(), &header(), &seal).unwrap();
        writer.push(&event("the canary sings")).unwrap();
        writer.push(&event("twice")).unwrap();
        let bytes = writer.finish().unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(!text.contains("canary") && !text.contains("/project"));
        assert_eq!(read(&bytes, Some(&open)), want(&["the canary sings", "twice"]));
        assert_eq!(count_events(&bytes[..]).unwrap(), 2);
        let (_, stranger) = key_pair();
        assert_eq!(read(&bytes, Some(&stranger))[0], SpoolItem::ForeignSeal);
        assert_eq!(read(&bytes, None)[0], SpoolItem::ForeignSeal);
    }

    #[test]
    fn a_bad_line_costs_only_itself() {
        let (seal, open) = key_pair();
        let mut bytes = SpoolWriter::plain(Vec::new(), &header()).unwrap().finish().unwrap();
        bytes.extend(b"{broken\n[1]\n{\"text\":5,\"role\":\"user\"}\n\xff\xfe\n");
        let mut rest = SpoolWriter::sealed(Vec::new(), &header(), &seal).unwrap();
        rest.push(&event("kept")).unwrap();
        bytes.extend(rest.finish().unwrap());
        let items = read(&bytes, Some(&open));
        let n_bad = items.iter().filter(|item| matches!(item, SpoolItem::Bad { .. })).count();
        assert_eq!(n_bad, 4);
        assert_eq!(items.last(), Some(&SpoolItem::Event(Box::new(event("kept")))));
    }

    #[test]
    fn a_file_of_which_nothing_opens_is_told_from_one_with_bad_lines() {
        let (seal, open) = key_pair();
        let (_, other) = key_pair();
        let mut writer = SpoolWriter::sealed(Vec::new(), &header(), &seal).unwrap();
        writer.push(&event("one")).unwrap();
        let text = String::from_utf8(writer.finish().unwrap()).unwrap();
        let check = |text: &str, key: &OpeningKey, expect| {
            assert_eq!(opens_nothing(text.as_bytes(), key).unwrap(), expect, "{text}");
        };
        check(&text, &open, false);
        // A key that differs behind its name: the first line says nothing of it.
        check(&text.replace(&seal.name(), &other.name()), &other, true);
        let lines: Vec<&str> = text.lines().collect();
        let bad = r#"{"n":0,"line":"AAAA"}"#;
        check(&[lines[0], bad, lines[2]].join("\n"), &open, false);
        check(&[lines[0], bad, bad].join("\n"), &open, true);
        check(&[&lines[0].replace("share", "shore"), lines[1], lines[2]].join("\n"), &open, true);
        check(&[lines[0], &lines[1][..40]].join("\n"), &open, false);
        check("garbage\n{}\n", &open, false);
        check("{\"version\":9}\n", &open, false);
        check("", &open, false);
    }

    #[test]
    fn unknown_versions_are_left_alone() {
        assert_eq!(read(b"{\"version\":9}\n", None), [SpoolItem::Newer { version: 9 }]);
        let future = b"{\"version\":2,\"seal\":\"post-quantum\",\"share\":\"\"}\n";
        assert_eq!(read(future, None), [SpoolItem::Newer { version: 2 }]);
    }

    #[test]
    fn a_first_line_says_why_a_file_is_left_alone() {
        let why = |line: &str| why_unreadable(line.as_bytes(), Some("ours"));
        let sealed = |suite: &str, to: &str| {
            json!({"version": 2, "seal": suite, "to": to, "share": ""}).to_string()
        };
        assert_eq!(why("{\"version\":1}"), None);
        assert_eq!(why(&sealed(SUITE, "ours")), None);
        assert_eq!(why_unreadable(sealed(SUITE, "any").as_bytes(), None), None);
        assert_eq!(why(&sealed(SUITE, "theirs")), Some(Unreadable::ForeignSeal));
        assert_eq!(why(&sealed("hpke-x25519", "ours")), Some(Unreadable::UnknownSeal));
        assert_eq!(why("{\"version\":9}"), Some(Unreadable::Newer { version: 9 }));
        assert_eq!(why("{\"text\":\"hi\"}"), None);
        assert_eq!(why("garbage"), None);
    }

    #[test]
    fn the_python_programs_files_are_read() {
        let bytes = br#"{"session_id":"p","cwd":"/x","deferred_at":"t"}

{"text":"hi","cue":"session p turn","tier":"episodic","role":"user","ts":"t"}"#;
        let items = read(bytes, None);
        assert!(matches!(&items[0], SpoolItem::Header(header) if header.version == 0));
        assert!(matches!(&items[1], SpoolItem::Event(event) if event.text == "hi"));
    }
}
