//! The only printer: text or JSON on stdout, complaints on stderr, colours only on a terminal.
//!
//! What goes to a terminal is made harmless first: no control character of what is printed reaches
//! it. What goes into a pipe or a file stays as it is, byte for byte.

mod progress;

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};

use jiff::tz::TimeZone;
use rustix::event::{PollFd, PollFlags, poll};
use serde_json::{Value, json};

use super::paper::{Colours, Look, beside, guarded, tinted};
use crate::clock;

pub(crate) use super::paper::Tone;
pub(crate) use progress::Progress;

/// What a terminal that does not say so is taken to have.
const COLUMNS_ASSUMED: usize = 80;

/// How to print.
pub(crate) struct Output {
    is_json: bool,
    /// Somebody looks at stdout, in colours or not; `None` in a pipe.
    terminal: Option<Colours>,
    /// What kept an answer from being printed.
    failure: Mutex<Option<io::Error>>,
}

impl Output {
    pub(crate) fn new(is_json: bool, is_colour_off: bool) -> Self {
        let colours = if is_colour_off { Colours::Off } else { Colours::Shown };
        let terminal = (!is_json && io::stdout().is_terminal()).then_some(colours);
        Self { is_json, terminal, failure: Mutex::default() }
    }

    /// Returns how a page for a person looks; `None` when a program reads.
    pub(crate) fn look(&self) -> Option<Look> {
        self.terminal.map(|colours| Look {
            colours,
            width: columns_of(io::stdout()).unwrap_or(COLUMNS_ASSUMED),
            now: clock::now(),
            zone: TimeZone::system(),
        })
    }

    /// Puts a text behind its head of so many columns: at a terminal in lines that fit it.
    pub(crate) fn beside(&self, head: &str, n_columns: usize, text: &str) -> String {
        match self.look() {
            Some(look) => beside(head, n_columns, text, look.line_width()),
            None => format!("{head}{text}"),
        }
    }

    /// Tells whether JSON was asked for.
    pub(crate) fn is_json(&self) -> bool {
        self.is_json
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
        let text = match self.terminal {
            Some(_) => guarded(text),
            None => Cow::Borrowed(text),
        };
        let mut stdout = io::stdout().lock();
        let ended = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let printed = write!(stdout, "{text}{ended}").and_then(|()| stdout.flush());
        let failure = printed.err().filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
        if failure.is_some() {
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
        }
    }

    /// Waits until nobody reads what is printed any more, however long that takes.
    pub(crate) fn wait_until_unread() {
        let stdout = io::stdout();
        loop {
            // Nothing is asked for: only the other end's leaving is told.
            let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
            match poll(&mut watched, None) {
                Err(rustix::io::Errno::INTR) | Ok(0) => {}
                Err(_) | Ok(_) => return,
            }
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
        let answer = self.answer(&format!("{question} [y/N] "))?;
        Some(is_yes(&answer))
    }

    /// Asks the same of somebody who may want to `show` themselves everything first.
    pub(crate) fn ask_or_show(&self, question: &str, show: impl Fn()) -> Option<bool> {
        let question = format!("{question} [y/N, d shows every line] ");
        loop {
            let answer = self.answer(&question)?;
            match answer.trim() {
                "d" | "D" => show(),
                _ => return Some(is_yes(&answer)),
            }
        }
    }

    /// Puts a question on stderr and returns the line that answers it, if anybody can.
    fn answer(&self, question: &str) -> Option<String> {
        if self.is_json || !io::stdin().is_terminal() {
            return None;
        }
        write!(io::stderr().lock(), "{}", guarded(question)).ok();
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).ok();
        Some(answer)
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
        let mut stderr = io::stderr().lock();
        let text = if stderr.is_terminal() { guarded(text) } else { Cow::Borrowed(text) };
        writeln!(stderr, "iai-mcp: {text}").ok();
    }

    /// Shows how far something is, on a terminal only and not beside JSON.
    pub(crate) fn progress(&self, text: &str) {
        if !self.is_json && io::stderr().is_terminal() {
            let width = columns_of(io::stderr()).unwrap_or(COLUMNS_ASSUMED);
            progress::put(&progress::fitting(text, width));
        }
    }

    /// Clears the line that showed it.
    pub(crate) fn end_progress(&self) {
        self.progress("");
    }

    pub(crate) fn completions(&self, shell: clap_complete::Shell, command: &clap::Command) {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut offered(command), "iai-mcp", &mut script);
        // For bash, a hyphen in the program's name is written in one way where a command is noted
        // and in another where it is looked up; both have to be the same.
        self.text(&String::from_utf8_lossy(&script).replace("iai__subcmd__mcp", "iai__mcp"));
    }

    pub(crate) fn tint(&self, tone: Tone, text: &str) -> String {
        tinted(self.terminal.unwrap_or(Colours::Off), tone, text)
    }
}

/// Returns the program without the commands nobody is meant to type: a shell would offer them.
fn offered(program: &clap::Command) -> clap::Command {
    let shown = program.get_subcommands().filter(|command| !command.is_hide_set());
    clap::Command::new("iai-mcp")
        .version(super::version::SHORT)
        .propagate_version(true)
        .args(program.get_arguments())
        .subcommands(shown.cloned())
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim(), "y" | "Y" | "yes")
}

/// Returns how many columns whoever looks at stdout has.
pub(super) fn columns() -> usize {
    columns_of(io::stdout()).unwrap_or(COLUMNS_ASSUMED)
}

/// Returns how many columns a terminal has, if it is one and says so.
fn columns_of(terminal: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(terminal).ok()?;
    Some(usize::from(size.ws_col)).filter(|n| 0 < *n)
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
