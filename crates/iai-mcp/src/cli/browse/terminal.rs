//! Takes the terminal and gives it back as it was, on every way out: the end, an error, a panic, a
//! signal.

use std::io::{self, BufWriter, Stderr, Write as _};
use std::panic;
use std::sync::Once;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

/// What terminals take at once by way of the clipboard, encoded.
const CLIPBOARD_BYTES_MAX: usize = 74_994;
/// The size of a terminal that does not tell its own.
const SIZE_ASSUMED: Rect = Rect { x: 0, y: 0, width: 80, height: 24 };

type Drawing = Terminal<CrosstermBackend<BufWriter<Stderr>>>;

/// The terminal while it is ours; dropping it gives it back.
pub(super) struct OwnTerminal {
    pub(super) drawing: Drawing,
    _restoring: Restoring,
}

struct Restoring;

impl Drop for Restoring {
    fn drop(&mut self) {
        restore();
    }
}

/// Switches to a screen of our own, with every key coming to us.
pub(super) fn enter() -> anyhow::Result<OwnTerminal> {
    restore_on_panic();
    enable_raw_mode().context("switching the terminal to single keys")?;
    let restoring = Restoring;
    execute!(io::stderr(), EnterAlternateScreen, EnableBracketedPaste)
        .context("switching the terminal to another screen")?;
    Ok(OwnTerminal { drawing: drawing()?, _restoring: restoring })
}

impl OwnTerminal {
    /// Takes the terminal's new size. Begins anew instead of asking the terminal where its cursor
    /// is: the answer would come in between the keys.
    pub(super) fn resize(&mut self) -> anyhow::Result<()> {
        self.drawing = drawing()?;
        Ok(())
    }
}

fn drawing() -> anyhow::Result<Drawing> {
    execute!(io::stderr(), Clear(ClearType::All)).context("clearing the screen")?;
    let backend = CrosstermBackend::new(BufWriter::new(io::stderr()));
    // The size is asked for by us, of the very terminal that is drawn on.
    let options = TerminalOptions { viewport: Viewport::Fixed(size()) };
    Terminal::with_options(backend, options).context("drawing")
}

/// Returns the terminal's size by now.
fn size() -> Rect {
    match rustix::termios::tcgetwinsize(io::stderr()) {
        Ok(size) if 0 < size.ws_col && 0 < size.ws_row => {
            Rect { width: size.ws_col, height: size.ws_row, ..SIZE_ASSUMED }
        }
        _ => SIZE_ASSUMED,
    }
}

/// Puts a text into the clipboard of the terminal, also through ssh. Returns what to tell.
pub(super) fn copy(text: &str) -> anyhow::Result<String> {
    let encoded = STANDARD.encode(text);
    if CLIPBOARD_BYTES_MAX < encoded.len() {
        return Ok("too long for the clipboard; Enter prints it".to_owned());
    }
    let mut stderr = io::stderr().lock();
    write!(stderr, "\x1b]52;c;{encoded}\x07").and_then(|()| stderr.flush()).context("copying")?;
    Ok("given to the terminal's clipboard".to_owned())
}

/// A panic prints its message on the screen the user will see.
fn restore_on_panic() {
    static HOOKED: Once = Once::new();
    HOOKED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |about| {
            restore();
            before(about);
        }));
    });
}

/// May run twice: a terminal that is as it was stays so.
fn restore() {
    let screen = execute!(io::stderr(), DisableBracketedPaste, LeaveAlternateScreen, cursor::Show);
    // Whoever has lost their terminal has nothing to be restored.
    screen.ok();
    disable_raw_mode().ok();
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read as _;
    use std::process::{Command, Stdio};

    use rustix::fs::{Mode, OFlags};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::tcgetattr;

    use super::*;

    /// Asks the test below to do as it says, in a process that has a terminal of its own.
    const ASKED: &str = "somebody-gave-it-a-terminal";

    #[test]
    fn panics_while_the_terminal_is_ours() {
        if std::env::args().any(|word| word == ASKED) {
            let _terminal = enter().unwrap();
            panic!("as ordered");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a panic needs a process of its own")]
    fn a_panic_gives_the_terminal_back_before_it_is_told() {
        let mut ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).map(File::from).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY;
        let theirs = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).unwrap();
        let before = tcgetattr(&theirs).unwrap();
        let end = || Stdio::from(theirs.try_clone().unwrap());
        let test = "cli::browse::terminal::tests::panics_while_the_terminal_is_ours";
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--skip", ASKED])
            .stdin(end())
            .stderr(end())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        assert!(!child.wait().unwrap().success(), "it did not panic");
        let mut printed = [0; 4096];
        let n = ours.read(&mut printed).unwrap();
        let printed = String::from_utf8_lossy(&printed[..n]).into_owned();
        let left = printed.find("\x1b[?1049l").expect("the other screen is left");
        let told = printed.find("as ordered").expect("the panic is told");
        assert!(left < told, "{printed:?}");
        let after = tcgetattr(&theirs).unwrap();
        assert_eq!(after.local_modes, before.local_modes);
        assert_eq!(after.output_modes, before.output_modes);
    }
}
