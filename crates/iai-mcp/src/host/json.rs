//! JSON as transcripts really hold it: two objects on a line, half an object before a whole one,
//! half a pair of surrogates, bytes that are no text.

use jiff::Timestamp;
use serde_json::{Deserializer, Value};

use crate::fields::Fields as _;

/// The most objects taken from one line.
const OBJECTS_MAX: usize = 1_000;

/// The most places where a whole object may begin behind half of one.
const PLACES_MAX: usize = 100;

/// How the lines of our hosts begin.
const BEGINNINGS: &[&[u8]] =
    &[b"{\"type\":", b"{\"parentUuid\":", b"{\"timestamp\":", b"{\"uuid\":"];

/// Returns the objects on a line in order, with `None` in place of what cannot be read.
pub(super) fn objects(line: &[u8]) -> Vec<Option<Value>> {
    let strict = parse(line);
    if strict.iter().all(Option::is_some) {
        return strict;
    }
    // Repairing costs a copy of the line, so only a line that failed is repaired.
    let line = repaired(line);
    let mut found = parse(&line);
    if found.len() == 1 && found.iter().all(Option::is_none) {
        found.extend(behind_half(&line).map(Some));
    }
    found
}

/// A host that dies while it writes leaves half a line, and the next run appends to it. Returns the
/// whole object at the end of such a line.
fn behind_half(line: &[u8]) -> Option<Value> {
    let places = (1..line.len()).filter_map(|place| {
        let tail = line.get(place..)?;
        BEGINNINGS.iter().any(|beginning| tail.starts_with(beginning)).then_some(tail)
    });
    // A block inside the half may look whole too; a message has fields no block has.
    let is_line =
        |object: &Value| object.at("message").is_object() || object.at("payload").is_object();
    places
        .take(PLACES_MAX)
        .filter_map(|tail| serde_json::from_slice::<Value>(tail).ok())
        .find(is_line)
}

fn parse(line: &[u8]) -> Vec<Option<Value>> {
    let values = Deserializer::from_slice(line).into_iter::<Value>();
    // The stream ends itself at the first error.
    values.take(OBJECTS_MAX).map(Result::ok).collect()
}

/// Replaces what no JSON reader accepts and a host still wrote: bytes that are no UTF-8 and
/// escaped surrogates without their other half both become U+FFFD.
pub(crate) fn repaired(line: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(line);
    let mut rest: &str = &text;
    let mut out = String::with_capacity(text.len());
    while let Some(place) = rest.find('\\') {
        let (before, escape) = rest.split_at(place);
        out.push_str(before);
        let (kept, n_bytes) = match (surrogate(escape), escape.get(6..).and_then(surrogate)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (escape.get(..12), 12),
            (Some(_), _) => (Some("\\ufffd"), 6),
            // Two bytes at once, so that an escaped backslash is not taken for an escape.
            (None, _) => {
                let n_bytes = 1 + escape.chars().nth(1).map_or(0, char::len_utf8);
                (escape.get(..n_bytes), n_bytes)
            }
        };
        out.push_str(kept.unwrap_or_default());
        rest = escape.get(n_bytes..).unwrap_or_default();
    }
    out.push_str(rest);
    out.into_bytes()
}

/// Returns the surrogate an escape at the beginning of `text` stands for.
fn surrogate(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let unit = u32::from_str_radix(digits, 16).ok()?;
    (0xd800..=0xdfff).contains(&unit).then_some(unit)
}

pub(super) fn text_at(value: &Value, name: &str) -> Option<String> {
    value.at(name).as_str().map(str::to_owned)
}

pub(super) fn is_set(value: &Value, name: &str) -> bool {
    value.at(name).as_bool().unwrap_or(false)
}

/// Returns a time written as text or as milliseconds.
pub(super) fn time_at(value: &Value, name: &str) -> Option<Timestamp> {
    let value = value.at(name);
    match value.as_str() {
        Some(text) => text.parse().ok(),
        None => Timestamp::from_millisecond(value.as_i64()?).ok(),
    }
}

pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// Returns the elements of an array; anything else has none.
pub(super) fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(line: &[u8], want: &[Option<Value>]) {
        assert_eq!(objects(line), want, "{}", String::from_utf8_lossy(line));
    }

    #[test]
    fn a_line_gives_its_objects() {
        check(b"", &[]);
        check(b"  \r", &[]);
        check(br#"{"a":1}"#, &[Some(json!({"a": 1}))]);
        check(br#"{"a":1}{"b":2}"#, &[Some(json!({"a": 1})), Some(json!({"b": 2}))]);
        check(br#"{"a":1} {"b":"#, &[Some(json!({"a": 1})), None]);
        check(b"not json", &[None]);
        check("[".repeat(100_000).as_bytes(), &[None]);
    }

    #[test]
    fn a_whole_line_behind_half_a_line_is_found() {
        let whole = json!({"type": "user", "message": {"content": [{"type": "text"}]}});
        let glued = format!("{{\"type\":\"user\",\"message\":{{\"content\":\"ha{whole}");
        check(glued.as_bytes(), &[None, Some(whole)]);
        check(br#"{"type":"user","message":{"content":[{"type":"text","text":"x"}"#, &[None]);
    }

    #[test]
    fn half_a_surrogate_pair_costs_one_character() {
        check(br#"{"a":"x\ud83dy"}"#, &[Some(json!({"a": "x\u{fffd}y"}))]);
        check(br#"{"a":"\ude00"}"#, &[Some(json!({"a": "\u{fffd}"}))]);
        check(br#"{"a":"\ud83d\ud83d\ude00"}"#, &[Some(json!({"a": "\u{fffd}\u{1f600}"}))]);
        check(br#"{"a":"\\ud83d \ud83d"}"#, &[Some(json!({"a": "\\ud83d \u{fffd}"}))]);
        check(b"{\"a\":\"x\xffy\"}", &[Some(json!({"a": "x\u{fffd}y"}))]);
        check(br#"{"a":"\ud8"}"#, &[None]);
    }

    #[test]
    fn a_time_is_text_or_milliseconds() {
        let value = json!({"a": "2026-05-01T10:00:00.5Z", "b": 1_783_632_479_733_i64, "c": "soon"});
        assert_eq!(time_at(&value, "a").unwrap().to_string(), "2026-05-01T10:00:00.5Z");
        assert_eq!(time_at(&value, "b").unwrap().as_millisecond(), 1_783_632_479_733);
        assert_eq!((time_at(&value, "c"), time_at(&value, "d")), (None, None));
    }
}
