//! A terminal for the program under test: a real one to it, a screen of characters to us.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::support::eventually;

/// Nothing to a screen; no program prints it.
const END: u8 = 0;

/// What the standard output of the program is.
pub(crate) enum Stdout {
    Terminal,
    Pipe,
}

/// A program with a terminal of its own.
pub(crate) struct Pty {
    keyboard: File,
    terminal: OwnedFd,
    pub(crate) child: Child,
    screen: Arc<Mutex<vt100::Parser>>,
    raw: Arc<Mutex<Vec<u8>>>,
    before: Termios,
}

impl Pty {
    pub(crate) fn start(
        mut command: Command,
        stdout: &Stdout,
        (rows, columns): (u16, u16),
    ) -> Self {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let name = ptsname(&keyboard, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY;
        let terminal = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).unwrap();
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&terminal, size).unwrap();
        let before = tcgetattr(&terminal).unwrap();
        let end = || Stdio::from(terminal.try_clone().unwrap());
        if !command.get_envs().any(|(name, _)| name == "TERM") {
            command.env("TERM", "xterm-256color");
        }
        command.stdin(end()).stderr(end());
        command.stdout(match stdout {
            Stdout::Terminal => end(),
            Stdout::Pipe => Stdio::piped(),
        });
        let child = command.spawn().unwrap();
        let screen = Arc::new(Mutex::new(vt100::Parser::new(some(rows), some(columns), 0)));
        let raw = Arc::new(Mutex::new(Vec::new()));
        let mut printed = File::from(keyboard.try_clone().unwrap());
        let (to_screen, to_raw) = (Arc::clone(&screen), Arc::clone(&raw));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n) = printed.read(&mut bytes) {
                to_raw.lock().unwrap().extend_from_slice(&bytes[..n]);
                to_screen.lock().unwrap().process(&bytes[..n]);
            }
        });
        Self { keyboard: File::from(keyboard), terminal, child, screen, raw, before }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Returns what is on the screen.
    pub(crate) fn screen(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    /// Returns every byte that was printed.
    pub(crate) fn raw(&self) -> String {
        String::from_utf8_lossy(&self.raw.lock().unwrap()).into_owned()
    }

    pub(crate) fn is_on_other_screen(&self) -> bool {
        self.screen.lock().unwrap().screen().alternate_screen()
    }

    pub(crate) fn is_cursor_hidden(&self) -> bool {
        self.screen.lock().unwrap().screen().hide_cursor()
    }

    #[track_caller]
    pub(crate) fn sees(&self, text: &str) {
        let mut last = String::new();
        let is_seen = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            eventually(&format!("the screen shows {text:?}"), || {
                last = self.screen();
                last.contains(text)
            });
        }));
        assert!(is_seen.is_ok(), "the screen never showed {text:?}:\n{last}");
    }

    /// Makes the window another size, as a user does with the mouse, and waits until it is drawn
    /// anew: a key that comes in the same instant is only heard with the next one.
    pub(crate) fn resize(&mut self, rows: u16, columns: u16) {
        let n_printed = self.raw.lock().unwrap().len();
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.terminal, size).unwrap();
        self.screen.lock().unwrap().screen_mut().set_size(some(rows), some(columns));
        self.signal("-WINCH");
        let is_drawn = || n_printed < self.raw.lock().unwrap().len();
        eventually("the screen is drawn anew", is_drawn);
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    /// Waits for the end, and for everything that was printed; returns the exit code.
    pub(crate) fn wait(&mut self) -> Option<i32> {
        let child = &mut self.child;
        eventually("the program ends", || child.try_wait().unwrap().is_some());
        // What we print ourselves comes behind whatever the program did.
        rustix::io::write(&self.terminal, &[END]).unwrap();
        eventually("all of it is read", || self.raw.lock().unwrap().contains(&END));
        self.child.wait().unwrap().code()
    }

    /// Asserts that the terminal is as it was before the program began.
    #[track_caller]
    pub(crate) fn is_restored(&self) {
        let now = tcgetattr(&self.terminal).unwrap();
        assert_eq!(now.local_modes, self.before.local_modes);
        assert_eq!(now.input_modes, self.before.input_modes);
        assert_eq!(now.output_modes, self.before.output_modes);
        assert_eq!(now.control_modes, self.before.control_modes);
        eventually("the screen is the one before", || !self.is_on_other_screen());
        assert!(!self.is_cursor_hidden());
    }
}

fn some(n: u16) -> NonZeroU16 {
    NonZeroU16::new(n).unwrap()
}

impl Drop for Pty {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
