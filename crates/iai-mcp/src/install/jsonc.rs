//! Where things stand in a JSON text that may hold comments and trailing commas.
//!
//! Only looks: it gives spans, and leaves every byte to `splice.rs`.

use std::collections::BTreeSet;
use std::ops::Range;

use thiserror::Error;

/// Deeper than any settings file, shallow enough for the stack.
const DEPTH_MAX: usize = 500;

/// A value and its place in the text.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    /// Where the comma after it stands, if there is one.
    pub(super) comma: Option<usize>,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Text(String),
    /// A number, `true`, `false` or `null`.
    Scalar,
}

#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) key_start: usize,
    pub(super) value: Node,
}

/// The text is not JSON, even with comments and trailing commas.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("line {line}, column {column}: {what}")]
pub(crate) struct ScanError {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) what: String,
}

/// Returns the one value of the text; `None` when it holds nothing but blanks and comments.
pub(super) fn scan(text: &str) -> Result<Option<Node>, ScanError> {
    let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut scanner = Scanner { text, at };
    scanner.trivia()?;
    if scanner.peek().is_none() {
        return Ok(None);
    }
    let root = scanner.value(0)?;
    scanner.trivia()?;
    match scanner.peek() {
        None => Ok(Some(root)),
        Some(_) => Err(scanner.error("expected the end of the file")),
    }
}

impl Node {
    pub(super) fn members(&self) -> Option<&[Member]> {
        match &self.kind {
            Kind::Object(members) => Some(members),
            Kind::Array(_) | Kind::Text(_) | Kind::Scalar => None,
        }
    }

    pub(super) fn elements(&self) -> Option<&[Self]> {
        match &self.kind {
            Kind::Array(elements) => Some(elements),
            Kind::Object(_) | Kind::Text(_) | Kind::Scalar => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            Kind::Object(_) | Kind::Array(_) | Kind::Scalar => None,
        }
    }

    /// Returns the value of a member, where this is an object that has it.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let member = self.members()?.iter().find(|member| member.key == key)?;
        Some(&member.value)
    }

    pub(super) fn is_empty_container(&self) -> bool {
        self.members().is_some_and(<[_]>::is_empty) || self.elements().is_some_and(<[_]>::is_empty)
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn take(&mut self, wanted: u8) -> bool {
        let is_there = self.peek() == Some(wanted);
        self.at += usize::from(is_there);
        is_there
    }

    fn error(&self, what: impl Into<String>) -> ScanError {
        let (line, column) = place(self.text, self.at);
        ScanError { line, column, what: what.into() }
    }

    /// Passes over blanks and comments.
    fn trivia(&mut self) -> Result<(), ScanError> {
        loop {
            let rest = self.rest();
            if rest.starts_with([' ', '\t', '\r', '\n']) {
                self.at += 1;
            } else if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                match comment.find("*/") {
                    Some(n_inside) => self.at += n_inside + "/**/".len(),
                    None => return Err(self.error("this comment has no end")),
                }
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, ScanError> {
        if DEPTH_MAX < depth {
            return Err(self.error(format!("nested more than {DEPTH_MAX} deep")));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Kind::Text(self.string()?),
            _ => self.scalar()?,
        };
        Ok(Node { span: start..self.at, comma: None, kind })
    }

    fn object(&mut self, depth: usize) -> Result<Kind, ScanError> {
        self.at += 1;
        let mut members = Vec::new();
        let mut keys = BTreeSet::new();
        loop {
            self.trivia()?;
            if self.take(b'}') {
                return Ok(Kind::Object(members));
            }
            let key_start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.error("expected a key in double quotes or `}`"));
            }
            let key = self.string()?;
            if !keys.insert(key.clone()) {
                self.at = key_start;
                return Err(self.error(format!("the key `{key}` stands twice in one object")));
            }
            self.trivia()?;
            if !self.take(b':') {
                return Err(self.error("expected `:`"));
            }
            self.trivia()?;
            let mut value = self.value(depth + 1)?;
            value.comma = self.comma(b'}')?;
            members.push(Member { key, key_start, value });
        }
    }

    fn array(&mut self, depth: usize) -> Result<Kind, ScanError> {
        self.at += 1;
        let mut elements = Vec::new();
        loop {
            self.trivia()?;
            if self.take(b']') {
                return Ok(Kind::Array(elements));
            }
            let mut element = self.value(depth + 1)?;
            element.comma = self.comma(b']')?;
            elements.push(element);
        }
    }

    /// Takes the comma after an element; without one, only the end of the container may follow.
    fn comma(&mut self, close: u8) -> Result<Option<usize>, ScanError> {
        self.trivia()?;
        let comma = self.at;
        if self.take(b',') {
            Ok(Some(comma))
        } else if self.peek() == Some(close) {
            Ok(None)
        } else {
            Err(self.error(format!("expected `,` or `{}`", char::from(close))))
        }
    }

    fn string(&mut self) -> Result<String, ScanError> {
        let start = self.at;
        let inside = self.rest().bytes().skip(1);
        let mut is_escaped = false;
        let n_inside = inside.take_while(|byte| {
            let is_end = *byte == b'"' && !is_escaped;
            is_escaped = *byte == b'\\' && !is_escaped;
            !is_end
        });
        let end = start + n_inside.count() + 2;
        let Some(quoted) = self.text.get(start..end) else {
            return Err(self.error("this text has no closing quote"));
        };
        match serde_json::from_str(quoted) {
            Ok(text) => {
                self.at = end;
                Ok(text)
            }
            Err(_) => Err(self.error("this text has an escape or a character JSON does not allow")),
        }
    }

    fn scalar(&mut self) -> Result<Kind, ScanError> {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "+-.".contains(letter);
        let rest = self.rest();
        let n_bytes = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        let word = rest.get(..n_bytes).unwrap_or_default();
        match serde_json::from_str::<serde_json::Value>(word) {
            Ok(_) => {
                self.at += n_bytes;
                Ok(Kind::Scalar)
            }
            Err(_) => Err(self.error("expected a value")),
        }
    }
}

/// Returns line and column, both from one, as editors count them.
pub(super) fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.get(line_start..).unwrap_or_default().trim_start_matches('\u{feff}');
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Result<&str, &str>) {
        let got = match scan(text) {
            Ok(Some(root)) => Ok(text[root.span].to_owned()),
            Ok(None) => Ok(String::new()),
            Err(error) => Err(error.to_string()),
        };
        assert_eq!(got, want.map(str::to_owned).map_err(str::to_owned), "{text:?}");
    }

    #[test]
    fn json_with_comments_and_trailing_commas_is_understood() {
        check("", Ok(""));
        check(" \r\n// nothing\n/* here */", Ok(""));
        check("\u{feff}{}", Ok("{}"));
        check("\u{feff}", Ok(""));
        check(" [1, -2.5e3, true, false, null,] ", Ok("[1, -2.5e3, true, false, null,]"));
        check("{\"a\\\"\\\\\": {/* } */}, // ]\n}", Ok("{\"a\\\"\\\\\": {/* } */}, // ]\n}"));
        check("\"https://x/*y*/\"", Ok("\"https://x/*y*/\""));
        check("{\"ключ\":\"значение\"}", Ok("{\"ключ\":\"значение\"}"));
    }

    #[test]
    fn what_is_not_json_is_refused_with_its_place() {
        check("{\n  a: 1}", Err("line 2, column 3: expected a key in double quotes or `}`"));
        check("{\"a\" 1}", Err("line 1, column 6: expected `:`"));
        check("{\"a\": 1 \"b\": 2}", Err("line 1, column 9: expected `,` or `}`"));
        check("[1 2]", Err("line 1, column 4: expected `,` or `]`"));
        check("[,]", Err("line 1, column 2: expected a value"));
        check("{\"a\": }", Err("line 1, column 7: expected a value"));
        check("{\"a\": tru}", Err("line 1, column 7: expected a value"));
        check("{\"a\": 'x'}", Err("line 1, column 7: expected a value"));
        check("{\"a\": 1", Err("line 1, column 8: expected `,` or `}`"));
        check("{} {}", Err("line 1, column 4: expected the end of the file"));
        check("/* x", Err("line 1, column 1: this comment has no end"));
        check("\"x", Err("line 1, column 1: this text has no closing quote"));
        check(
            "\u{feff}\"\\q\"",
            Err("line 1, column 1: this text has an escape or a character \
             JSON does not allow"),
        );
        check(
            "{\"a\":1,\n\"\\u0061\":2}",
            Err("line 2, column 1: the key `a` stands twice in one \
             object"),
        );
    }

    #[test]
    fn depth_has_an_end_and_no_crash() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        check(&nested(DEPTH_MAX), Ok(&nested(DEPTH_MAX)));
        let error = scan(&nested(200_000)).unwrap_err();
        assert_eq!(error.what, "nested more than 500 deep");
        assert!(scan(&"{\"a\":".repeat(200_000)).is_err());
    }
}
