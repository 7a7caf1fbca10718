//! Cuts text into passages: whole paragraphs, as many as one window of a sentence model holds.

use std::ops::Range;

use super::{Part, Passage};

/// So much fits one window of every model there is: 256 tokens of about four letters.
const CHARS_AIM: usize = 1000;
/// A longer paragraph is cut inside.
const CHARS_MAX: usize = 1500;
/// From here on a passage may end where its text begins something new.
const CHARS_MIN: usize = 300;

/// A part of a text, whose paragraphs are not joined with those of another.
pub(super) struct Section<'a> {
    pub(super) text: &'a str,
    /// The number of its first line; `None` where the text has no lines to look up.
    pub(super) first_line: Option<usize>,
    pub(super) part: Part,
    pub(super) shape: Shape,
}

/// What holds the lines of a section together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Prose,
    /// Blank lines inside a fence separate nothing.
    Markdown,
    /// What is indented belongs to what is not.
    Source,
}

/// Cuts plain text.
pub(super) fn of_text(text: &str) -> Vec<Passage> {
    let section = Section { text, first_line: Some(1), part: Part::default(), shape: Shape::Prose };
    of_section(&section)
}

/// Cuts a section.
pub(super) fn of_section(section: &Section<'_>) -> Vec<Passage> {
    let mut ranges = Vec::new();
    let mut open: Option<Range<usize>> = None;
    for block in blocks(section) {
        let is_long = is_longer(section.text, &block, CHARS_MAX);
        let joined = open.as_ref().map(|open| open.start..block.end);
        let fits = joined.as_ref().is_some_and(|joined| {
            !is_longer(section.text, joined, CHARS_AIM) && !begins_anew(section, joined, &block)
        });
        if fits && !is_long {
            open = joined;
            continue;
        }
        ranges.extend(open.take());
        if is_long {
            ranges.extend(pieces(section.text, block));
        } else {
            open = Some(block);
        }
    }
    ranges.extend(open);
    with_lines(section, ranges)
}

/// Makes passages of ranges in order, counting lines once.
fn with_lines(section: &Section<'_>, ranges: Vec<Range<usize>>) -> Vec<Passage> {
    let (mut counted_to, mut line) = (0, section.first_line);
    let passage = |range: Range<usize>| {
        let before = section.text.get(counted_to..range.start).unwrap_or_default();
        line = line.map(|line| line + n_lines(before));
        counted_to = range.start;
        let text = section.text.get(range)?.trim_end();
        let lines = line.map(|first| (first, first + n_lines(text)));
        let part = Part { lines, ..section.part.clone() };
        let says_something = text.chars().any(char::is_alphanumeric);
        says_something.then(|| Passage { text: text.to_owned(), part, ..Passage::default() })
    };
    ranges.into_iter().filter_map(passage).collect()
}

/// Tells whether a new item of a source file begins with a block, and what is open says enough.
fn begins_anew(section: &Section<'_>, joined: &Range<usize>, block: &Range<usize>) -> bool {
    let is_indented = section
        .text
        .get(block.start..)
        .is_some_and(|text| text.starts_with([' ', '\t', '}', ')', ']']));
    let says_enough = is_longer(section.text, &(joined.start..block.start), CHARS_MIN);
    section.shape == Shape::Source && !is_indented && says_enough
}

/// Tells whether a stretch has more letters, without counting them all.
fn is_longer(text: &str, range: &Range<usize>, n_chars: usize) -> bool {
    text.get(range.clone()).is_some_and(|text| text.chars().nth(n_chars).is_some())
}

/// Counts line ends.
pub(super) fn n_lines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// Finds the paragraphs of a section: runs of lines that are not blank.
fn blocks(section: &Section<'_>) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let (mut at, mut is_open, mut is_fenced) = (0, false, false);
    for line in section.text.split_inclusive('\n') {
        let end = at + line.len();
        if section.shape == Shape::Markdown && is_fence(line) {
            is_fenced = !is_fenced;
        }
        let is_blank = line.trim().is_empty() && !is_fenced;
        match blocks.last_mut().filter(|_| is_open && !is_blank) {
            Some(block) => block.end = end,
            None if is_blank => {}
            None => blocks.push(at..end),
        }
        is_open = !is_blank;
        at = end;
    }
    blocks
}

/// Tells whether a line opens or closes a block of code in Markdown.
pub(super) fn is_fence(line: &str) -> bool {
    let line = line.trim_start_matches(' ');
    line.starts_with("```") || line.starts_with("~~~")
}

/// Cuts a block that is too long: at the end of a line, else of a sentence, else of a word, else
/// anywhere between two letters.
fn pieces(text: &str, block: Range<usize>) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = block.start;
    while is_longer(text, &(start..block.end), CHARS_MAX) {
        let rest = text.get(start..block.end).unwrap_or_default();
        let reach = rest.char_indices().nth(CHARS_AIM).map_or(rest.len(), |(byte, _)| byte);
        let within = rest.get(..reach).unwrap_or(rest);
        let half = within.len() / 2;
        let end_of =
            |end: &str| within.rfind(end).map(|at| at + end.len()).filter(|cut| half < *cut);
        let cut = end_of("\n").or_else(|| end_of(". ")).or_else(|| end_of(" ")).unwrap_or(reach);
        pieces.push(start..start + cut);
        start += cut;
    }
    pieces.push(start..block.end);
    pieces
}
