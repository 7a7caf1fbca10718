//! Lays text out in lines of a width, word by word, and keeps in sight what was sought.

use std::ops::Range;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::visible::shown;

const TAB_COLUMNS: usize = 4;
/// Stands for what is left out.
const ELLIPSIS: char = '…';
/// With less room than this beside its head, a text stands below it …
const BESIDE_COLUMNS_MIN: usize = 40;
/// … so far from the edge.
const BELOW_COLUMNS: usize = 4;
/// Stands between parts that are told one after the other.
const DOT: &str = " · ";
/// Columns of a snippet before what was sought.
const LEAD_COLUMNS: usize = 12;

/// A stretch of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Piece {
    pub(in crate::cli) text: String,
    /// Whether it was looked for.
    pub(in crate::cli) is_match: bool,
}

/// A character where it stands.
#[derive(Clone, Copy)]
struct Cell {
    letter: char,
    n_columns: usize,
    is_match: bool,
}

impl Cell {
    fn new(letter: char, is_match: bool) -> Self {
        let letter = shown(letter);
        Self { letter, n_columns: letter.width().unwrap_or(0), is_match }
    }
}

/// Returns the text as lines of at most `width` columns, broken between words where that is
/// possible; `spans` are the bytes that were sought.
pub(in crate::cli) fn layout(text: &str, spans: &[Range<usize>], width: usize) -> Vec<Vec<Piece>> {
    let mut lines = Vec::new();
    for line in cells(text, spans).split(|cell| cell.letter == '\n') {
        let mut rest = line;
        while let Some((line, behind)) = first_line(rest, width) {
            lines.push(pieces(line));
            rest = behind;
        }
        if line.is_empty() {
            lines.push(Vec::new());
        }
    }
    lines
}

/// Puts a text behind its head, which takes so many columns, in lines that stay beside it; where
/// there is little room beside it and the text needs more, below.
pub(in crate::cli) fn beside(head: &str, n_columns: usize, text: &str, width: usize) -> String {
    let n_beside = width.saturating_sub(n_columns);
    let is_beside = BESIDE_COLUMNS_MIN <= n_beside || text.width() <= n_beside;
    let indent = if is_beside { n_columns } else { BELOW_COLUMNS };
    let blank = " ".repeat(indent);
    let lines = plain_lines(text, width.saturating_sub(indent).max(1));
    let body = lines.join(&format!("\n{blank}"));
    match (is_beside, head.trim_end()) {
        (true, _) => format!("{head}{body}"),
        (false, "") => format!("{blank}{body}"),
        (false, head) => format!("{head}\n{blank}{body}"),
    }
}

/// Puts parts behind each other with a dot between them, in lines that fit; a part is only broken
/// where it is wider than a line.
pub(in crate::cli) fn dotted(parts: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.width() + DOT.width() + part.width() <= width => {
                line.push_str(DOT);
                line.push_str(part);
            }
            _ => lines.extend(plain_lines(part, width)),
        }
    }
    lines
}

/// Returns the text as lines in which nothing was sought.
pub(in crate::cli) fn plain_lines(text: &str, width: usize) -> Vec<String> {
    let lines = layout(text, &[], width);
    lines.into_iter().map(|line| line.into_iter().map(|piece| piece.text).collect()).collect()
}

/// Returns one line of the text, from a little before the first thing that was sought on.
pub(in crate::cli) fn snippet(text: &str, spans: &[Range<usize>], width: usize) -> Vec<Piece> {
    let mut flat: Vec<Cell> = Vec::new();
    for cell in cells(text, spans) {
        let is_blank = cell.letter.is_whitespace();
        let is_after_blank = flat.last().is_none_or(|last| last.letter == ' ');
        match (is_blank, is_after_blank) {
            (true, true) => {}
            (true, false) => flat.push(Cell { letter: ' ', n_columns: 1, ..cell }),
            (false, _) => flat.push(cell),
        }
    }
    let columns = |cells: &[Cell]| cells.iter().map(|cell| cell.n_columns).sum::<usize>();
    let first = flat.iter().position(|cell| cell.is_match).unwrap_or(0);
    let is_all = columns(&flat) <= width;
    let fits_from_start = columns(flat.get(..first).unwrap_or_default()) + LEAD_COLUMNS < width;
    let start = if is_all || fits_from_start { 0 } else { start_before(&flat, first, width) };
    let mut line: Vec<Cell> = Vec::new();
    if 0 < start {
        line.push(Cell::new(ELLIPSIS, false));
    }
    line.extend(flat.get(start..).unwrap_or_default());
    if width < columns(&line) {
        while width.saturating_sub(1) < columns(&line) && line.pop().is_some() {}
        line.push(Cell::new(ELLIPSIS, false));
    }
    pieces(&line)
}

/// Returns where a line begins that shows what was sought: a little before it, further before it
/// where the text ends soon, and with a whole word.
fn start_before(flat: &[Cell], first: usize, width: usize) -> usize {
    let mut n_columns = 1;
    let backwards = flat.iter().rev().take_while(|cell| {
        n_columns += cell.n_columns;
        n_columns <= width
    });
    let last_full = flat.len() - backwards.count();
    let start = first.saturating_sub(LEAD_COLUMNS).min(last_full);
    let ahead = flat.get(start..first).unwrap_or_default();
    let is_cut = start.checked_sub(1).and_then(|before| flat.get(before));
    match ahead.iter().position(|cell| cell.letter == ' ') {
        Some(blank) if is_cut.is_some_and(|cell| cell.letter != ' ') => start + blank + 1,
        _ => start,
    }
}

/// Every character of the text as it is shown; a line end of two characters is one.
fn cells(text: &str, spans: &[Range<usize>]) -> Vec<Cell> {
    let mut cells = Vec::with_capacity(text.len());
    let mut spans = spans.iter().peekable();
    for (place, letter) in text.char_indices() {
        while spans.next_if(|span| span.end <= place).is_some() {}
        let is_match = spans.peek().is_some_and(|span| span.start <= place);
        match letter {
            '\r' if text.get(place + 1..).is_some_and(|rest| rest.starts_with('\n')) => {}
            '\t' => cells.extend([Cell::new(' ', is_match); TAB_COLUMNS]),
            '\n' => cells.push(Cell { letter, n_columns: 0, is_match: false }),
            _ => cells.push(Cell::new(letter, is_match)),
        }
    }
    cells
}

/// Returns the cells of the first line and those behind it; nothing when there are none.
fn first_line(cells: &[Cell], width: usize) -> Option<(&[Cell], &[Cell])> {
    if cells.is_empty() {
        return None;
    }
    let mut n_columns = 0;
    let mut n_fit = 0;
    for cell in cells {
        n_columns += cell.n_columns;
        if width < n_columns {
            break;
        }
        n_fit += 1;
    }
    if n_fit == cells.len() {
        return Some((cells, &[]));
    }
    // At least one, or a character wider than the line would never end.
    let n_fit = n_fit.max(1);
    let fitting = cells.get(..=n_fit).unwrap_or(cells);
    let is_indent = |end: usize| cells.iter().take(end).all(|cell| cell.letter == ' ');
    let blank = fitting.iter().rposition(|cell| cell.letter == ' ').filter(|end| !is_indent(*end));
    match blank {
        Some(end) => cells.split_at_checked(end).map(|(line, behind)| (line, trimmed(behind))),
        None => cells.split_at_checked(n_fit),
    }
}

fn trimmed(cells: &[Cell]) -> &[Cell] {
    let n_blank = cells.iter().take_while(|cell| cell.letter == ' ').count();
    cells.get(n_blank..).unwrap_or_default()
}

fn pieces(line: &[Cell]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for cell in line {
        match pieces.last_mut().filter(|last| last.is_match == cell.is_match) {
            Some(last) => last.text.push(cell.letter),
            None => {
                let text = cell.letter.to_string();
                pieces.push(Piece { text, is_match: cell.is_match });
            }
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(line: &[Piece]) -> String {
        let mark = |piece: &Piece| match piece.is_match {
            true => format!("<{}>", piece.text),
            false => piece.text.clone(),
        };
        line.iter().map(mark).collect()
    }

    #[track_caller]
    fn check(text: &str, sought: &str, width: usize, want: &[&str]) {
        let spans = text.match_indices(sought).filter(|_| !sought.is_empty());
        let spans: Vec<_> = spans.map(|(at, found)| at..at + found.len()).collect();
        let lines: Vec<String> = layout(text, &spans, width).iter().map(|l| drawn(l)).collect();
        assert_eq!(lines, want, "{text:?} in {width}");
    }

    #[test]
    fn lines_break_between_words() {
        check("the quick brown fox", "quick", 10, &["the <quick>", "brown fox"]);
        check("one two", "", 3, &["one", "two"]);
        check("one  two", "", 80, &["one  two"]);
        check("abcdefgh ij", "def", 4, &["abc<d>", "<ef>gh", "ij"]);
        check("    indented text", "", 13, &["    indented", "text"]);
        check("東京都に住む", "京都", 4, &["東<京>", "<都>に", "住む"]);
    }

    #[test]
    fn a_text_stands_beside_its_head_or_below_it() {
        let check = |head: &str, width: usize, want: &str| {
            let text = "words that go on and on and on and on and on and on";
            assert_eq!(beside(head, 6, text, width), want, "{head:?} in {width}");
        };
        check("  a   ", 80, "  a   words that go on and on and on and on and on and on");
        check("  a   ", 46, "  a   words that go on and on and on and on\n      and on and on");
        check(
            "  a   ",
            30,
            "  a\n    words that go on and on\n    and on and on and on and\n    on",
        );
        assert_eq!(beside("  a   ", 6, "few words", 15), "  a   few words");
        assert_eq!(beside("  a   ", 6, "few words", 14), "  a\n    few words");
        check("      ", 30, "    words that go on and on\n    and on and on and on and\n    on");
    }

    #[test]
    fn parts_stay_whole_where_they_fit() {
        let check = |width: usize, want: &[&str]| {
            let parts = ["2 days ago", "user", "a-long-name"].map(str::to_owned);
            assert_eq!(dotted(&parts, width), want, "in {width}");
        };
        check(31, &["2 days ago · user · a-long-name"]);
        check(30, &["2 days ago · user", "a-long-name"]);
        check(16, &["2 days ago", "user", "a-long-name"]);
        check(8, &["2 days", "ago", "user", "a-long-n", "ame"]);
    }

    #[test]
    fn line_ends_stay_and_what_steers_is_seen() {
        check("a\n\nb\r\nc\n", "", 9, &["a", "", "b", "c", ""]);
        check("\x1b[2Jx\ty", "x", 20, &["␛[2J<x>    y"]);
        check("", "", 20, &[""]);
        check("🦀🦀", "", 1, &["🦀", "🦀"]);
    }

    #[test]
    fn a_snippet_keeps_in_sight_what_was_sought() {
        let show = |text: &str, sought: &str, width| {
            let at = text.find(sought).unwrap();
            drawn(&snippet(text, std::slice::from_ref(&(at..at + sought.len())), width))
        };
        assert_eq!(show("a short\n  text", "text", 40), "a short <text>");
        let long = "word ".repeat(30) + "needle in hay";
        assert_eq!(show(&long, "needle", 24), "…word word <needle> in hay");
        let late = "We decided to use port 8443 for staging.";
        assert_eq!(show(late, "staging", 38), "…decided to use port 8443 for <staging>.");
        assert_eq!(show(&"x".repeat(50), "x".repeat(50).as_str(), 9), "<xxxxxxxx>…");
        assert_eq!(show(&long, "word", 10), "<word> word…");
    }

    proptest::proptest! {
        #[test]
        fn no_line_is_wider_than_asked_and_no_word_is_lost(
            text in "[a-z东🦀 \\n\\t]{0,200}", width in 2_usize..40,
        ) {
            let lines = layout(&text, &[], width);
            for line in &lines {
                let letters = line.iter().flat_map(|piece| piece.text.chars());
                let n_columns: usize = letters.map(|letter| letter.width().unwrap_or(0)).sum();
                proptest::prop_assert!(n_columns <= width);
            }
            let written: String = lines.iter().flatten().map(|piece| piece.text.as_str()).collect();
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            proptest::prop_assert_eq!(bare(&written), bare(&text));
        }
    }
}
