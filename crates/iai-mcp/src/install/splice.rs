//! Edits a JSON text in place: puts in and takes out single members and elements, in the file's own
//! indentation and line endings, and leaves every other byte as it was.

use std::ops::Range;

use serde_json::Value;

use super::jsonc::{Node, ScanError, scan};

const DEFAULT_INDENT: &str = "  ";
const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// One step on the way from the root to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// A JSON text under the knife.
pub(super) struct Draft {
    text: String,
    /// Always the scan of `text`.
    root: Node,
    style: Style,
}

#[derive(Clone)]
struct Style {
    newline: &'static str,
    indent: String,
    /// The whole file is one line with something in it, and should stay one line.
    is_one_line: bool,
}

impl Draft {
    /// A text without a value counts as an empty object.
    pub(super) fn open(text: &str) -> Result<Self, ScanError> {
        let is_crlf = text.split('\n').next().is_some_and(|line| line.ends_with('\r'));
        let newline = if is_crlf { "\r\n" } else { "\n" };
        let mut text = text.to_owned();
        if scan(&text)?.is_none() {
            // A line comment at the very end would swallow the brackets.
            let is_bare = text.trim_start_matches('\u{feff}').is_empty() || text.ends_with('\n');
            let before = if is_bare { "" } else { newline };
            text = format!("{text}{before}{{}}{newline}");
        }
        let root = rescan(&text)?;
        let style = Style {
            newline,
            indent: indent_of(&text, &root),
            is_one_line: !root.is_empty_container() && !has_newline(&text, &root.span),
        };
        Ok(Self { text, root, style })
    }

    pub(super) fn root(&self) -> &Node {
        &self.root
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    pub(super) fn find(&self, route: &[Step]) -> Option<&Node> {
        find(&self.root, route)
    }

    /// Puts a new member at the end of the object at `route`.
    pub(super) fn insert(
        &mut self,
        route: &[Step],
        key: &str,
        value: &Value,
    ) -> Result<(), ScanError> {
        self.put(route, Some(key), value)
    }

    /// Puts a new element at the end of the array at `route`.
    pub(super) fn append(&mut self, route: &[Step], value: &Value) -> Result<(), ScanError> {
        self.put(route, None, value)
    }

    /// Puts another value in the place of the one at `route`.
    pub(super) fn replace(&mut self, route: &[Step], value: &Value) -> Result<(), ScanError> {
        let Some(node) = self.find(route) else { return Ok(()) };
        let span = node.span.clone();
        let layout = if has_newline(&self.text, &span) || !is_inside_line(&self.text, &span) {
            Layout::Lines { base: line_indent(&self.text, span.start) }
        } else {
            Layout::Line { is_spaced: !is_tight(&self.text, &span) }
        };
        let rendered = self.style.render(value, &layout);
        self.text.replace_range(span, &rendered);
        self.rescan()
    }

    /// Takes out the member or element at `route`, with the comma that belonged to it.
    pub(super) fn remove(&mut self, route: &[Step]) -> Result<(), ScanError> {
        let Some((_, parent_route)) = route.split_last() else { return Ok(()) };
        let Some(cuts) = self.cuts(route) else { return Ok(()) };
        for cut in cuts.into_iter().rev() {
            self.text.replace_range(cut, "");
        }
        self.rescan()?;
        self.collapse(parent_route)
    }

    fn rescan(&mut self) -> Result<(), ScanError> {
        self.root = rescan(&self.text)?;
        Ok(())
    }

    fn put(&mut self, route: &[Step], key: Option<&str>, value: &Value) -> Result<(), ScanError> {
        let Some(container) = self.find(route) else { return Ok(()) };
        let gap = self.gap(container);
        let mut item = self.style.render(value, &gap.layout);
        if let Some(key) = key {
            let colon = if gap.layout.is_spaced() { ": " } else { ":" };
            item = format!("{}{colon}{item}", Value::from(key));
        }
        let item = format!("{}{item}{}", gap.before, gap.after);
        self.text.insert_str(gap.at, &item);
        if let Some(comma_at) = gap.comma_at {
            self.text.insert(comma_at, ',');
        }
        self.rescan()
    }

    /// Finds where a new last item goes and what must stand around it.
    fn gap(&self, container: &Node) -> Gap {
        let (open, close) = (container.span.start, container.span.end - 1);
        let at = trim_end(&self.text, close);
        let last = children(container).pop();
        let has_lines = has_newline(&self.text, &container.span);
        let closes_on_new_line = has_newline(&self.text, &(at..close));
        let trailing_comma = last.as_ref().is_some_and(|last| last.comma.is_some());
        let after_comma = if trailing_comma { "," } else { "" };
        let comma_at = last.as_ref().filter(|_| !trailing_comma).map(|last| last.end);
        if !has_lines && (last.is_some() || self.style.is_one_line) {
            let model = if last.is_some() { container } else { &self.root };
            let is_spaced = !is_tight(&self.text, &model.span);
            let before = if last.is_some() && is_spaced { " " } else { "" }.to_owned();
            let layout = Layout::Line { is_spaced };
            return Gap { at, before, after: after_comma.to_owned(), comma_at, layout };
        }
        let newline = self.style.newline;
        let close_indent = line_indent(&self.text, open);
        let (before, base) = match last {
            Some(last) if is_first_on_line(&self.text, last.start) => {
                let base = line_indent(&self.text, last.start);
                (format!("{newline}{base}"), base)
            }
            // Brackets that hug their content, as in `[{`, go on doing so.
            Some(last) if !closes_on_new_line => {
                (" ".to_owned(), line_indent(&self.text, last.start))
            }
            _ => {
                let base = format!("{close_indent}{}", self.style.indent);
                (format!("{newline}{base}"), base)
            }
        };
        let after = if has_lines {
            after_comma.to_owned()
        } else {
            format!("{after_comma}{newline}{close_indent}")
        };
        Gap { at, before, after, comma_at, layout: Layout::Lines { base } }
    }

    /// Returns what to cut, in the order of the text, so that the rest is still JSON.
    fn cuts(&self, route: &[Step]) -> Option<Vec<Range<usize>>> {
        let (last_step, parent_route) = route.split_last()?;
        let parent = self.find(parent_route)?;
        let place = match last_step {
            Step::Key(key) => parent.members()?.iter().position(|member| member.key == *key)?,
            Step::Index(index) => *index,
        };
        let children = children(parent);
        let child = children.get(place)?;
        let is_last = place + 1 == children.len();
        let mut cuts = Vec::new();
        if !is_last {
            // What follows moves into this place, so that a line comment before it still ends.
            let comma = child.comma?;
            cuts.push(child.start..child.end);
            cuts.push(comma..self.skip_blanks(comma + 1));
            return Some(cuts);
        }
        let previous = place.checked_sub(1).and_then(|place| children.get(place));
        if let (Some(previous), None) = (previous, child.comma) {
            let comma = previous.comma?;
            cuts.push(comma..comma + 1);
        }
        cuts.push(self.lead(child)..child.end);
        cuts.extend(child.comma.map(|comma| comma..comma + 1));
        Some(cuts)
    }

    /// Returns where the blanks before a last child begin, or the child's own start where they are
    /// needed to end a line comment.
    fn lead(&self, child: &Child) -> usize {
        let lead = trim_end(&self.text, child.start);
        let end = child.comma.map_or(child.end, |comma| comma + 1);
        let ends_line = has_newline(&self.text, &(end..self.skip_blanks(end)));
        let begins_line = has_newline(&self.text, &(lead..child.start));
        if begins_line && !ends_line { child.start } else { lead }
    }

    fn skip_blanks(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        at + rest.len() - rest.trim_start_matches(BLANKS).len()
    }

    /// Leaves `{}` rather than brackets on two lines with nothing between.
    fn collapse(&mut self, route: &[Step]) -> Result<(), ScanError> {
        let Some(container) = self.find(route) else { return Ok(()) };
        let inside = container.span.start + 1..container.span.end - 1;
        let is_blank = self.text.get(inside.clone()).is_some_and(|text| text.trim().is_empty());
        if is_blank {
            self.text.replace_range(inside, "");
            self.rescan()?;
        }
        Ok(())
    }
}

/// Follows a route from any root.
pub(super) fn find<'a>(root: &'a Node, route: &[Step]) -> Option<&'a Node> {
    route.iter().try_fold(root, |node, step| match step {
        Step::Key(key) => node.get(key),
        Step::Index(index) => node.elements()?.get(*index),
    })
}

/// The place of a new item.
struct Gap {
    at: usize,
    before: String,
    after: String,
    /// Where the item before it still needs its comma.
    comma_at: Option<usize>,
    layout: Layout,
}

enum Layout {
    /// On one line.
    Line { is_spaced: bool },
    /// One member a line; `base` is the indentation of the first.
    Lines { base: String },
}

impl Layout {
    fn is_spaced(&self) -> bool {
        match self {
            Self::Line { is_spaced } => *is_spaced,
            Self::Lines { .. } => true,
        }
    }
}

impl Style {
    fn render(&self, value: &Value, layout: &Layout) -> String {
        let mut out = String::new();
        self.render_into(&mut out, value, layout);
        out
    }

    fn render_into(&self, out: &mut String, value: &Value, layout: &Layout) {
        let colon = if layout.is_spaced() { ": " } else { ":" };
        match value {
            Value::Object(members) if !members.is_empty() => {
                let items = members
                    .iter()
                    .map(|(key, value)| (format!("{}{colon}", Value::from(key.as_str())), value));
                self.render_items(out, ['{', '}'], &items.collect::<Vec<_>>(), layout);
            }
            Value::Array(elements) if !elements.is_empty() => {
                let items = elements.iter().map(|value| (String::new(), value));
                self.render_items(out, ['[', ']'], &items.collect::<Vec<_>>(), layout);
            }
            other => out.push_str(&other.to_string()),
        }
    }

    fn render_items(
        &self,
        out: &mut String,
        [open, close]: [char; 2],
        items: &[(String, &Value)],
        layout: &Layout,
    ) {
        let (inner, separator, end) = match layout {
            Layout::Line { is_spaced } => {
                let separator = if *is_spaced { ", " } else { "," };
                (Layout::Line { is_spaced: *is_spaced }, separator.to_owned(), String::new())
            }
            Layout::Lines { base } => {
                let inner = format!("{base}{}", self.indent);
                let separator = format!(",{}{inner}", self.newline);
                (Layout::Lines { base: inner }, separator, format!("{}{base}", self.newline))
            }
        };
        out.push(open);
        for (place, (key, value)) in items.iter().enumerate() {
            let separator = match (place, layout) {
                (0, Layout::Line { .. }) => "",
                (0, Layout::Lines { .. }) => separator.trim_start_matches(','),
                _ => &separator,
            };
            out.push_str(separator);
            out.push_str(key);
            self.render_into(out, value, &inner);
        }
        out.push_str(&end);
        out.push(close);
    }
}

/// A member or element: from where to where, and its comma.
struct Child {
    start: usize,
    end: usize,
    comma: Option<usize>,
}

fn children(container: &Node) -> Vec<Child> {
    let members = container.members().unwrap_or_default().iter();
    let members = members.map(|member| (member.key_start, &member.value));
    let elements = container.elements().unwrap_or_default().iter();
    let elements = elements.map(|element| (element.span.start, element));
    let child =
        |(start, value): (usize, &Node)| Child { start, end: value.span.end, comma: value.comma };
    members.chain(elements).map(child).collect()
}

fn rescan(text: &str) -> Result<Node, ScanError> {
    let nothing = || ScanError { line: 1, column: 1, what: "expected a value".to_owned() };
    scan(text)?.ok_or_else(nothing)
}

/// Returns what one level of the file is indented by.
fn indent_of(text: &str, root: &Node) -> String {
    let Some(first) = children(root).into_iter().next() else {
        return DEFAULT_INDENT.to_owned();
    };
    let outer = line_indent(text, root.span.start);
    let inner = line_indent(text, first.start);
    let is_own_line = has_newline(text, &(root.span.start..first.start));
    match inner.strip_prefix(&outer) {
        Some(indent) if is_own_line && !indent.is_empty() => indent.to_owned(),
        _ => DEFAULT_INDENT.to_owned(),
    }
}

fn has_newline(text: &str, span: &Range<usize>) -> bool {
    text.get(span.clone()).is_some_and(|text| text.contains('\n'))
}

/// A one-line container is tight when nothing blank follows its first colon or comma.
fn is_tight(text: &str, span: &Range<usize>) -> bool {
    let inside = text.get(span.clone()).unwrap_or_default();
    let bytes = inside.as_bytes();
    let separated = bytes.windows(2).find(|pair| matches!(pair, [b':' | b',', _]));
    separated.is_some_and(|pair| !pair.ends_with(b" "))
}

fn line_of(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    before.get(start..).unwrap_or_default().trim_start_matches('\u{feff}')
}

fn line_indent(text: &str, at: usize) -> String {
    let line = line_of(text, at);
    line.chars().take_while(|letter| matches!(letter, ' ' | '\t')).collect()
}

fn is_first_on_line(text: &str, at: usize) -> bool {
    line_of(text, at).chars().all(|letter| matches!(letter, ' ' | '\t'))
}

/// Something else of the same line stands before this value's container opened.
fn is_inside_line(text: &str, span: &Range<usize>) -> bool {
    line_of(text, span.start).contains(['{', '['])
}

fn trim_end(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().trim_end_matches(BLANKS).len()
}
