//! Web pages: their words without scripts, styles and navigation, cut at their headings.
//!
//! Read token by token; nothing nests here, so that no page can be too deep.

use html5gum::{DefaultEmitter, State, Token, Tokenizer};

use super::split::{Section, Shape, of_section};
use super::{Part, Passage};

/// What stands in these nobody reads as text.
const DROPPED: &[&[u8]] = &[
    b"script",
    b"style",
    b"nav",
    b"noscript",
    b"template",
    b"svg",
    b"head",
    b"iframe",
    b"object",
    b"select",
    b"button",
    b"footer",
];
/// A paragraph begins and ends with these.
const BLOCKS: &[&[u8]] = &[
    b"p",
    b"div",
    b"section",
    b"article",
    b"main",
    b"header",
    b"aside",
    b"ul",
    b"ol",
    b"dl",
    b"table",
    b"pre",
    b"blockquote",
    b"figure",
    b"form",
    b"hr",
    b"details",
    b"summary",
    b"address",
    b"body",
    b"html",
];
/// A line ends with these.
const LINES: &[&[u8]] = &[b"br", b"li", b"tr", b"dt", b"dd", b"option", b"caption"];
/// What is kept of a heading's words.
const HEADING_CHARS_MAX: usize = 120;

/// Cuts a page into passages, by its headings.
pub(super) fn passages(page: &str) -> Vec<Passage> {
    let mut emitter = DefaultEmitter::default();
    // Else the letters of a script would be read as tags.
    emitter.naively_switch_states(true);
    let mut tokens = Tokenizer::new_with_emitter(page, emitter);
    tokens.set_state(State::Data);
    let mut words = Words::default();
    for Ok(token) in tokens {
        match token {
            Token::StartTag(tag) => words.open(&tag.name, tag.self_closing),
            Token::EndTag(tag) => words.close(&tag.name),
            Token::String(text) => words.say(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    words.end_section();
    words.passages
}

/// The words so far.
#[derive(Default)]
struct Words {
    passages: Vec<Passage>,
    path: Vec<(usize, String)>,
    text: String,
    /// The heading that is being read: its level, and where its words begin in the text.
    heading: Option<(usize, usize)>,
    /// What is being left out, and how often its kind was opened inside.
    dropped: Option<(Vec<u8>, usize)>,
    /// Inside `pre`, white space means what it is.
    n_pre: usize,
}

impl Words {
    fn open(&mut self, name: &[u8], is_self_closing: bool) {
        if let Some((what, depth)) = &mut self.dropped {
            *depth += usize::from(what == name && !is_self_closing);
            return;
        }
        if DROPPED.contains(&name) {
            if !is_self_closing {
                self.dropped = Some((name.to_vec(), 1));
            }
            return;
        }
        if let Some(level) = level_of(name) {
            self.end_section();
            self.path.retain(|(above, _)| *above < level);
            self.heading = Some((level, self.text.len()));
            return;
        }
        self.n_pre += usize::from(name == b"pre");
        self.separate(name);
    }

    fn close(&mut self, name: &[u8]) {
        if let Some((what, depth)) = &mut self.dropped {
            *depth -= usize::from(what == name);
            if *depth == 0 {
                self.dropped = None;
            }
            return;
        }
        if level_of(name).is_some() {
            self.end_heading();
        }
        self.n_pre = self.n_pre.saturating_sub(usize::from(name == b"pre"));
        self.separate(name);
    }

    fn separate(&mut self, name: &[u8]) {
        let end = match name {
            b"td" | b"th" => "\t",
            _ if BLOCKS.contains(&name) => "\n\n",
            _ if LINES.contains(&name) => "\n",
            _ => return,
        };
        let is_ended = self.text.is_empty() || self.text.ends_with(end);
        match end {
            _ if is_ended => {}
            "\n\n" if self.text.ends_with('\n') => self.text.push('\n'),
            _ => self.text.push_str(end),
        }
    }

    fn say(&mut self, words: &str) {
        if self.dropped.is_some() {
            return;
        }
        if 0 < self.n_pre {
            self.text.push_str(words);
            return;
        }
        for (place, word) in words.split(|letter: char| letter.is_ascii_whitespace()).enumerate() {
            if 0 < place && !self.text.is_empty() && !self.text.ends_with([' ', '\n', '\t']) {
                self.text.push(' ');
            }
            self.text.push_str(word);
        }
    }

    fn end_heading(&mut self) {
        let Some((level, start)) = self.heading.take() else { return };
        let words = self.text.get(start..).unwrap_or_default();
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        if !words.is_empty() {
            self.path.push((level, words.chars().take(HEADING_CHARS_MAX).collect()));
            self.text.push_str("\n\n");
        }
    }

    fn end_section(&mut self) {
        // A heading that nobody closed ends where the next one begins.
        self.end_heading();
        let text = std::mem::take(&mut self.text);
        let headings = self.path.iter().map(|(_, words)| words.clone()).collect();
        let part = Part { headings, ..Part::default() };
        let section = Section { text: text.trim(), first_line: None, part, shape: Shape::Prose };
        self.passages.extend(of_section(&section));
    }
}

fn level_of(name: &[u8]) -> Option<usize> {
    match name {
        [b'h', level @ b'1'..=b'6'] => Some(usize::from(level - b'0')),
        _ => None,
    }
}
