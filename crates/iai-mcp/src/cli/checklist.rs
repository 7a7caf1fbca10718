//! What a command of several steps does, a line each: as it happens for people, as one document for
//! programs.

use std::path::Path;

use serde_json::{Value, json};

use super::output::{Output, Tone};

/// What stands before the words of a row: its state and its name.
const HEAD_COLUMNS: usize = 28;

/// How a step ended, or would end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Done,
    Already,
    Skipped,
    Failed,
    /// What a dry run says instead of done.
    Planned,
}

/// One step.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) state: State,
    /// What was done or found, or why not.
    pub(super) detail: String,
    /// What the user does next; empty when nothing.
    pub(super) next: String,
}

/// The steps so far.
pub(super) struct Checklist<'a> {
    output: &'a Output,
    /// What people read as `~`.
    home: &'a Path,
    rows: Vec<Row>,
}

impl Row {
    pub(super) fn new(name: &'static str, state: State, detail: impl Into<String>) -> Self {
        Self { name, state, detail: detail.into(), next: String::new() }
    }

    pub(super) fn failed(
        name: &'static str,
        detail: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        Self { name, state: State::Failed, detail: detail.into(), next: next.into() }
    }

    pub(super) fn with_next(self, next: impl Into<String>) -> Self {
        Self { next: next.into(), ..self }
    }
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Already => "already so",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
            Self::Planned => "would do",
        }
    }

    fn tone(self) -> Tone {
        match self {
            Self::Done => Tone::Good,
            Self::Already => Tone::Quiet,
            Self::Skipped | Self::Planned => Tone::Careful,
            Self::Failed => Tone::Bad,
        }
    }
}

impl<'a> Checklist<'a> {
    pub(super) fn new(output: &'a Output, home: &'a Path) -> Self {
        Self { output, home, rows: Vec::new() }
    }

    /// Adds a step and shows it.
    pub(super) fn add(&mut self, row: Row) {
        // Padded before it is tinted: colours have no width.
        let word = self.output.tint(row.state.tone(), &format!("{:<10}", row.state.word()));
        let home = self.home.display().to_string();
        let home = format!("{}/", home.trim_end_matches('/'));
        let short = |text: &str| text.replace(&home, "~/");
        let head = format!("  {word} {:<14} ", row.name);
        self.output.explain(&self.output.beside(&head, HEAD_COLUMNS, &short(&row.detail)));
        if !row.next.is_empty() {
            let (blank, next) = (" ".repeat(HEAD_COLUMNS), format!("→ {}", short(&row.next)));
            self.output.explain(&self.output.beside(&blank, HEAD_COLUMNS, &next));
        }
        self.rows.push(row);
    }

    pub(super) fn has(&self, state: State) -> bool {
        self.rows.iter().any(|row| row.state == state)
    }

    /// Whether a step of this name failed.
    pub(super) fn has_failed(&self, name: &str) -> bool {
        self.rows.iter().any(|row| row.name == name && row.state == State::Failed)
    }

    pub(super) fn as_json(&self) -> Vec<Value> {
        let row = |row: &Row| {
            let state = row.state.word();
            json!({"name": row.name, "state": state, "detail": row.detail, "next": row.next})
        };
        self.rows.iter().map(row).collect()
    }
}
