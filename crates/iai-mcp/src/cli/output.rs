//! The only printer: text or JSON on stdout, complaints on stderr, colours only on a terminal.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

/// How to print.
pub(crate) struct Output {
    is_json: bool,
    is_coloured: bool,
    /// What kept an answer from being printed.
    failure: Mutex<Option<io::Error>>,
}

/// What a line is, for those who see colours.
#[derive(Clone, Copy)]
pub(crate) enum Tone {
    Good,
    Careful,
    Bad,
    Quiet,
}

impl Output {
    pub(crate) fn new(is_json: bool, is_colour_off: bool) -> Self {
        let is_coloured = !is_json && !is_colour_off && io::stdout().is_terminal();
        Self { is_json, is_coloured, failure: Mutex::default() }
    }

    /// Prints the value as JSON when that was asked for, else whatever `text` makes of it.
    pub(crate) fn show(&self, value: &Value, text: impl FnOnce(&Value) -> String) {
        if self.is_json {
            self.document(value);
        } else {
            self.text(&text(value));
        }
    }

    /// Prints one JSON document on one line.
    pub(crate) fn document(&self, value: &Value) {
        self.text(&value.to_string());
    }

    /// Prints text; a reader that has gone away is not an error, a full disk is one of the run.
    pub(crate) fn text(&self, text: &str) {
        let mut stdout = io::stdout().lock();
        let ended = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let printed = write!(stdout, "{text}{ended}").and_then(|()| stdout.flush());
        let failure = printed.err().filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
        if failure.is_some() {
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
        }
    }

    /// Returns what kept an answer from being printed.
    pub(crate) fn take_failure(&self) -> Option<io::Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Prints text that is not part of a JSON answer.
    pub(crate) fn explain(&self, text: &str) {
        if !self.is_json {
            self.text(text);
        }
    }

    /// Asks on stderr for a yes or no; `None` when nobody could see what they are asked about.
    pub(crate) fn ask(&self, question: &str) -> Option<bool> {
        if self.is_json || !io::stdin().is_terminal() {
            return None;
        }
        write!(io::stderr().lock(), "{question} [y/N] ").ok();
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).ok();
        Some(matches!(answer.trim(), "y" | "Y" | "yes"))
    }

    /// Asks on stderr for words that nobody shall see; `None` when there is no terminal.
    pub(crate) fn ask_secret(&self, question: &str) -> Option<String> {
        let stdin = io::stdin();
        let before = rustix::termios::tcgetattr(&stdin).ok()?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(rustix::termios::LocalModes::ECHO);
        let when = rustix::termios::OptionalActions::Flush;
        rustix::termios::tcsetattr(&stdin, when, &hidden).ok()?;
        write!(io::stderr().lock(), "{question}").ok();
        let mut answer = String::new();
        let read = stdin.read_line(&mut answer);
        rustix::termios::tcsetattr(&stdin, when, &before).ok();
        writeln!(io::stderr().lock()).ok();
        read.ok().map(|_| answer.trim_end_matches(['\r', '\n']).to_owned())
    }

    /// Says what failed, on stderr; whoever reads JSON gets a document too.
    pub(crate) fn complain(&self, error: &anyhow::Error) {
        let text = chain(error);
        self.remark(&text);
        if self.is_json {
            self.document(&json!({"ok": false, "error": text}));
        }
    }

    /// Says something that is not the answer, on stderr.
    pub(crate) fn remark(&self, text: &str) {
        writeln!(io::stderr().lock(), "iai-mcp: {text}").ok();
    }

    /// Shows how far something is, on a terminal only.
    pub(crate) fn progress(&self, text: &str) {
        let mut stderr = io::stderr().lock();
        if stderr.is_terminal() {
            write!(stderr, "\r\x1b[K{text}").and_then(|()| stderr.flush()).ok();
        }
    }

    /// Clears the line that showed it.
    pub(crate) fn end_progress(&self) {
        self.progress("");
    }

    pub(crate) fn completions(&self, shell: clap_complete::Shell, command: &mut clap::Command) {
        let mut script = Vec::new();
        clap_complete::generate(shell, command, "iai-mcp", &mut script);
        self.text(&String::from_utf8_lossy(&script));
    }

    pub(crate) fn tint(&self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Good => "32",
            Tone::Careful => "33",
            Tone::Bad => "31",
            Tone::Quiet => "2",
        };
        if self.is_coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Counts things in words: `1 file`, `2 files`.
pub(crate) fn counted(n: usize, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}

/// Joins an error with its causes, without saying the same twice.
fn chain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_once() {
        let error = anyhow::anyhow!("no space").context("writing: no space").context("capturing");
        assert_eq!(chain(&error), "capturing: writing: no space");
    }
}
