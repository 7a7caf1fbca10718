//! Draws the screen: the line that is typed, what was found, the selected memory and its
//! neighbours.

use std::ops::Range;

use anyhow::Context as _;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget as _;
use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use super::asking::Shown;
use super::state::{Scope, State};
use super::terminal::OwnTerminal;
use crate::cli::memories::page::{Sought, project_name};
use crate::cli::memories::{items, speaker};
use crate::cli::paper::{Colours, Look, Piece, layout, plain_lines, snippet, visible};
use crate::fields::Fields as _;

const PROMPT: &str = "> ";
/// What a list row needs of a text; beyond it nobody looks.
const ROW_CHARS_MAX: usize = 4000;
/// What a preview shows of a text: more than anybody scrolls through, and laid out in an instant.
const PREVIEW_CHARS_MAX: usize = 50_000;
/// From this width on, list and memory stand side by side.
const SIDE_BY_SIDE_COLUMNS: u16 = 110;
/// What keys do, most wanted first: a narrow screen shows as many as fit.
const KEYS: [&str; 7] = [
    "Esc leave",
    "Enter print",
    "F1 help",
    "↑↓ choose",
    "Tab all/project",
    "^Y copy",
    "^F ^B scroll",
];
const HELP: &[&str] = &[
    "Type to search; every word may be in any form, a part of a word is found too.",
    "",
    "↑ ↓  ctrl-p ctrl-n     choose a memory          PgUp PgDn   ten at once",
    "Enter                  leave and print it to standard output",
    "ctrl-y                 copy it into the terminal's clipboard",
    "ctrl-f ctrl-b          scroll the memory",
    "Tab                    all memories, or only this project's",
    "ctrl-u ctrl-w          clear the line, delete a word",
    "Esc  ctrl-c  ctrl-g    leave and print nothing",
    "",
    "Any key closes this.",
];

/// The terminal, and the preview as it was laid out last.
pub(super) struct Screen {
    terminal: OwnTerminal,
    preview: Option<LaidOut>,
}

/// A memory in lines; laying out a long one takes longer than drawing it.
struct LaidOut {
    id: String,
    words: String,
    width: u16,
    lines: Vec<Line<'static>>,
}

impl Screen {
    pub(super) fn new(terminal: OwnTerminal) -> Self {
        Self { terminal, preview: None }
    }

    /// Takes the terminal's new size.
    pub(super) fn resize(&mut self) -> anyhow::Result<()> {
        self.terminal.resize()
    }

    pub(super) fn draw(&mut self, state: &mut State, look: &Look) -> anyhow::Result<()> {
        let mut painter = Painter { look, preview: &mut self.preview };
        let drawn = self.terminal.drawing.draw(|frame| {
            let cursor = painter.paint(frame.area(), frame.buffer_mut(), state);
            frame.set_cursor_position(cursor);
        });
        drawn.context("drawing")?;
        Ok(())
    }
}

/// Paints one picture of the state.
struct Painter<'a> {
    look: &'a Look,
    preview: &'a mut Option<LaidOut>,
}

impl Painter<'_> {
    /// Paints everything; returns where the cursor goes.
    fn paint(&mut self, area: Rect, buffer: &mut Buffer, state: &mut State) -> Position {
        let rows = [Constraint::Length(1), Constraint::Length(1), Constraint::Min(0)];
        let [typed, told, rest] = Layout::vertical(rows).areas(area);
        let rows = [Constraint::Min(0), Constraint::Length(1)];
        let [middle, keys] = Layout::vertical(rows).areas(rest);
        Line::from(format!("{PROMPT}{}", state.line.text())).render(typed, buffer);
        Line::from(self.status(state)).render(told, buffer);
        Line::styled(keys_fitting(usize::from(keys.width)), quiet()).render(keys, buffer);
        let column = (PROMPT.width() + state.line.before().width()).try_into().unwrap_or(u16::MAX);
        let cursor = Position::new(typed.x.saturating_add(column).min(typed.right()), typed.y);
        if state.is_helping {
            let width = usize::from(middle.width).max(1);
            let help = HELP.iter().flat_map(|line| plain_lines(line, width));
            for (line, place) in help.zip(middle.rows()) {
                Line::from(line).render(place, buffer);
            }
            return cursor;
        }
        let halves = if SIDE_BY_SIDE_COLUMNS <= area.width {
            Layout::horizontal([
                Constraint::Percentage(45),
                Constraint::Length(1),
                Constraint::Min(0),
            ])
        } else {
            Layout::vertical([
                Constraint::Percentage(40),
                Constraint::Length(1),
                Constraint::Min(0),
            ])
        };
        let [list, between, memory] = halves.areas(middle);
        self.list(list, buffer, state);
        let rule = if between.width == 1 { "│" } else { "─" };
        for place in between.positions() {
            buffer.set_string(place.x, place.y, rule, quiet());
        }
        self.memory(memory, buffer, state);
        cursor
    }

    fn status(&self, state: &State) -> Vec<Span<'static>> {
        let scope = match state.scope {
            Scope::All => "all memories".to_owned(),
            Scope::Project => format!("project {}", visible(&state.project)),
        };
        let found = match (state.is_searching(), state.hits.len()) {
            (true, _) => "searching …".to_owned(),
            (false, 0) => "nothing found".to_owned(),
            (false, n) => format!("{} of {n}", state.selected + 1),
        };
        let mut spans = vec![Span::styled(format!("{found} · {scope}"), quiet())];
        if state.is_degraded {
            let told = " · the daemon is not running; read from the store as it is";
            spans.push(Span::styled(told, self.careful()));
        }
        if let Some(remark) = &state.remark {
            spans.push(Span::styled(format!(" · {}", visible(remark)), self.careful()));
        }
        spans
    }

    fn list(&self, area: Rect, buffer: &mut Buffer, state: &State) {
        let height = usize::from(area.height).max(1);
        let first = state.selected.saturating_sub(height - 1);
        let rows = state.hits.iter().enumerate().skip(first).zip(area.rows());
        for ((place, hit), row) in rows {
            let is_selected = place == state.selected;
            let mark = if is_selected { "▸" } else { " " };
            let age = self.look.short_age(hit.at("ts").as_str().unwrap_or_default());
            let head = format!("{mark}{age:>4} {:<9} ", visible(speaker(hit)));
            let text = hit.at("literal_surface").as_str().unwrap_or_default();
            let text: String = text.chars().take(ROW_CHARS_MAX).collect();
            let width = usize::from(row.width).saturating_sub(head.width());
            let pieces = snippet(&text, &sought(&text, state.line.text()), width);
            let mut line = self.line(pieces);
            line.spans.insert(0, Span::styled(head, quiet()));
            if is_selected {
                line = line.patch_style(Style::new().add_modifier(Modifier::REVERSED));
            }
            line.render(row, buffer);
        }
    }

    fn memory(&mut self, area: Rect, buffer: &mut Buffer, state: &mut State) {
        let Some(shown) = &state.shown else { return };
        let words = state.line.text();
        let is_current = self.preview.as_ref().is_some_and(|laid| {
            laid.id == shown.id && laid.width == area.width && laid.words == words
        });
        if !is_current {
            let lines = self.lay_out(shown, words, usize::from(area.width));
            let (id, words) = (shown.id.clone(), words.to_owned());
            *self.preview = Some(LaidOut { id, words, width: area.width, lines });
        }
        let lines = self.preview.as_ref().map(|laid| laid.lines.as_slice()).unwrap_or_default();
        let last = lines.len().saturating_sub(usize::from(area.height));
        state.scroll = state.scroll.min(last);
        for (line, row) in lines.iter().skip(state.scroll).zip(area.rows()) {
            line.render(row, buffer);
        }
    }

    /// The memory between what was said before and after it.
    fn lay_out(&self, shown: &Shown, words: &str, width: usize) -> Vec<Line<'static>> {
        let memory = match &shown.result {
            Ok(memory) => memory,
            Err(error) => return vec![Line::styled(visible(error).into_owned(), self.careful())],
        };
        let mut lines = Vec::new();
        for turn in items(&shown.beside, "before") {
            lines.push(neighbour(turn, "before", width));
        }
        let said_at = memory.at("ts").as_str().unwrap_or_default();
        let (date, age) = (self.look.date(said_at), self.look.age(said_at));
        let head = format!("{date} · {age} · {} · {}", speaker(memory), project_name(memory));
        let heading = self.coloured(Style::new().add_modifier(Modifier::BOLD), Color::Green);
        let head = snippet(&visible(&head), &[], width.max(1));
        let head: String = head.into_iter().map(|piece| piece.text).collect();
        lines.push(Line::styled(head, heading));
        let text = memory.at("literal_surface").as_str().unwrap_or_default();
        // Cut before anything is sought in it: a text may have megabytes.
        let cut = text.char_indices().nth(PREVIEW_CHARS_MAX).map(|(place, _)| place);
        let (text, rest) = text.split_at(cut.unwrap_or(text.len()));
        let body = layout(text, &sought(text, words), width.max(1));
        lines.extend(body.into_iter().map(|pieces| self.line(pieces)));
        if !rest.is_empty() {
            let n_more = rest.chars().count();
            let told = format!("… {n_more} more characters; Enter prints all of it");
            lines.push(Line::styled(told, quiet()));
        }
        lines.push(Line::default());
        for turn in items(&shown.beside, "after") {
            lines.push(neighbour(turn, "after", width));
        }
        lines
    }

    /// A line in which what was sought stands out.
    fn line(&self, pieces: Vec<Piece>) -> Line<'static> {
        let found = Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        let found = self.coloured(found, Color::Yellow);
        let style = |is_match| if is_match { found } else { Style::new() };
        let spans = pieces.into_iter().map(|piece| Span::styled(piece.text, style(piece.is_match)));
        Line::from(spans.collect::<Vec<_>>())
    }

    fn careful(&self) -> Style {
        self.coloured(Style::new().add_modifier(Modifier::BOLD), Color::Yellow)
    }

    fn coloured(&self, style: Style, colour: Color) -> Style {
        match self.look.colours {
            Colours::Shown => style.fg(colour),
            Colours::Off => style,
        }
    }
}

fn keys_fitting(width: usize) -> String {
    let mut fitting = String::new();
    for key in KEYS {
        let longer =
            if fitting.is_empty() { key.to_owned() } else { format!("{fitting} · {key}") };
        if width < longer.width() {
            break;
        }
        fitting = longer;
    }
    fitting
}

fn quiet() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

fn neighbour(turn: &Value, side: &str, width: usize) -> Line<'static> {
    let text = turn.at("literal_surface").as_str().unwrap_or_default();
    let head = format!("{side:>6}  {:<9} ", visible(speaker(turn)));
    let pieces = snippet(text, &[], width.saturating_sub(head.width()));
    let text: String = pieces.into_iter().map(|piece| piece.text).collect();
    Line::styled(format!("{head}{text}"), quiet())
}

/// Where words stand in any form; the last one, which may not be typed to its end, also as a part
/// of others.
fn sought(text: &str, words: &str) -> Vec<Range<usize>> {
    let mut spans = Sought::Words(words).spans(text);
    if let Some(last) = words.split_whitespace().next_back().filter(|last| 1 < last.len()) {
        spans.extend(Sought::Text(last).spans(text));
        spans.sort_unstable_by_key(|span| (span.start, span.end));
    }
    spans
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use serde_json::json;

    use super::super::asking::Found;
    use super::*;

    fn painted(state: &mut State, width: u16, height: u16) -> Vec<String> {
        let now = "2026-11-16T12:00:00Z".parse().unwrap();
        let look = Look { colours: Colours::Off, width: 0, now, zone: TimeZone::UTC };
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        Painter { look: &look, preview: &mut None }.paint(area, &mut buffer, state);
        let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..height).map(|y| row(y).trim_end().to_owned()).collect()
    }

    fn turn(id: &str, text: &str) -> Value {
        json!({"record_id": id, "ts": "2026-11-14T10:22:31Z", "role": "user",
            "project": "/w/billing", "literal_surface": text})
    }

    fn state() -> State {
        let mut state = State::new("retry".to_owned(), "/w/billing".to_owned(), Scope::All);
        let number = state.search().number;
        let hits = vec![turn("a", "we retried\nit"), turn("b", "a retry\x1b[2J budget")];
        state.take_found(Found { number, result: Ok(hits), is_degraded: true });
        let beside = json!({"before": [turn("z", "why?")], "after": [turn("c", "fine")]});
        let shown = Shown { id: "a".to_owned(), result: Ok(turn("a", "we retried\nit")), beside };
        state.take_shown(shown);
        state
    }

    #[test]
    fn the_screen_has_the_line_the_list_and_the_memory_with_its_neighbours() {
        let rows = painted(&mut state(), 64, 14);
        insta::assert_snapshot!(rows.join("\n"), @r"
        > retry
        1 of 2 · all memories · the daemon is not running; read from the
        ▸  2d user      we retried it
           2d user      a retry␛[2J budget


        ────────────────────────────────────────────────────────────────
        before  user      why?
        2026-11-14 10:22 · 2 days ago · user · billing
        we retried
        it

         after  user      fine
        Esc leave · Enter print · F1 help · ↑↓ choose · Tab all/project
        ");
    }

    #[test]
    fn how_to_leave_is_told_at_every_width_and_no_key_in_part() {
        for (width, want) in [
            (
                100,
                "Esc leave · Enter print · F1 help · ↑↓ choose · Tab all/project · ^Y copy · \
              ^F ^B scroll",
            ),
            (80, "Esc leave · Enter print · F1 help · ↑↓ choose · Tab all/project · ^Y copy"),
            (40, "Esc leave · Enter print · F1 help"),
            (9, "Esc leave"),
            (8, ""),
        ] {
            assert_eq!(painted(&mut state(), width, 8).last().unwrap(), want, "in {width}");
        }
        let mut state = state();
        state.is_helping = true;
        let rows = painted(&mut state, 40, 30);
        assert!(rows.iter().any(|row| row.contains("ten at once")), "{rows:?}");
    }

    #[test]
    fn of_a_huge_text_the_beginning_is_laid_out() {
        let mut state = state();
        let text = "elephant ".repeat(PREVIEW_CHARS_MAX / 9 + 1) + &"x".repeat(3_000_000);
        let result = Ok(turn("a", &text));
        state.take_shown(Shown { id: "a".to_owned(), result, beside: Value::Null });
        state.scroll = usize::MAX;
        let rows = painted(&mut state, 64, 14);
        let end = "more characters; Enter prints all of it";
        assert!(
            rows.iter().any(|row| row.starts_with("… 30000") && row.ends_with(end)),
            "{rows:?}"
        );
    }

    #[test]
    fn no_size_is_too_small_and_no_text_too_odd() {
        for (width, height) in [(1, 1), (2, 3), (20, 4), (200, 5), (0, 0), (111, 40)] {
            let mut state = state();
            painted(&mut state, width, height);
            state.is_helping = true;
            painted(&mut state, width, height);
        }
    }
}
