//! Markdown: cut at its headings, which become the part a passage stands under.

use super::split::{Section, Shape, is_fence, n_lines, of_section};
use super::{Part, Passage};

/// Headings go no deeper.
const LEVELS: usize = 6;
/// What is kept of a heading's words.
const HEADING_CHARS_MAX: usize = 120;

/// Cuts Markdown into passages; each begins under the headings it stands under.
pub(super) fn passages(text: &str) -> Vec<Passage> {
    let mut passages = Vec::new();
    let mut path: Vec<(usize, String)> = Vec::new();
    let (mut start, mut at, mut first_line, mut line_number) = (0, 0, 1, 1);
    let mut is_fenced = false;
    let mut rest = skip_front_matter(text);
    let skipped = text.len() - rest.len();
    at += skipped;
    line_number += n_lines(text.get(..skipped).unwrap_or_default());
    while let Some(end) = line_end(rest) {
        let (line, behind) = rest.split_at(end);
        is_fenced ^= is_fence(line);
        let heading = if is_fenced { None } else { heading(line, behind) };
        if let Some((level, words)) = heading {
            add(&mut passages, text.get(start..at), first_line, &path);
            path.retain(|(above, _)| *above < level);
            path.push((level, words));
            (start, first_line) = (at, line_number);
        }
        at += line.len();
        line_number += 1;
        rest = behind;
    }
    add(&mut passages, text.get(start..), first_line, &path);
    passages
}

fn add(
    passages: &mut Vec<Passage>,
    text: Option<&str>,
    first_line: usize,
    path: &[(usize, String)],
) {
    let Some(text) = text.filter(|text| has_body(text, !path.is_empty())) else { return };
    let headings = path.iter().map(|(_, words)| words.clone()).collect();
    let part = Part { headings, ..Part::default() };
    let first_line = Some(first_line);
    passages.extend(of_section(&Section { text, first_line, part, shape: Shape::Markdown }));
}

/// A heading alone says nothing that those below it do not repeat.
fn has_body(text: &str, begins_with_heading: bool) -> bool {
    let lines = text.lines().skip(usize::from(begins_with_heading));
    let is_rule = |line: &str| line.trim().chars().all(|letter| matches!(letter, '=' | '-'));
    lines.into_iter().any(|line| !is_rule(line))
}

fn line_end(text: &str) -> Option<usize> {
    (!text.is_empty()).then(|| text.find('\n').map_or(text.len(), |at| at + 1))
}

/// Returns the level and the words of a heading that begins here.
fn heading(line: &str, behind: &str) -> Option<(usize, String)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    if (1..=LEVELS).contains(&level) {
        let words = line.get(level..)?;
        return words.starts_with([' ', '\t']).then(|| (level, bare(words)));
    }
    let is_plain = !line.trim().is_empty() && !line.starts_with([' ', '\t', '-', '*', '>', '|']);
    let below = behind.lines().next().unwrap_or_default().trim_end();
    let is_line_of = |mark: char| 2 < below.len() && below.chars().all(|letter| letter == mark);
    match is_plain {
        true if is_line_of('=') => Some((1, bare(line))),
        true if is_line_of('-') => Some((2, bare(line))),
        _ => None,
    }
}

fn bare(words: &str) -> String {
    let words = words.trim().trim_end_matches('#').trim_end();
    words.chars().filter(|letter| !matches!(letter, '*' | '`')).take(HEADING_CHARS_MAX).collect()
}

/// Settings at the beginning of a page are no heading, though a line of dashes follows them.
fn skip_front_matter(text: &str) -> &str {
    let Some(inside) = text.strip_prefix("---\n") else { return text };
    match inside.find("\n---\n") {
        Some(at) => inside.get(at + 5..).unwrap_or_default(),
        None => text,
    }
}
