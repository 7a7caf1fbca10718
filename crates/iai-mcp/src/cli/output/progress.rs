//! How far something is, on one line of stderr that is drawn over and over, for whoever waits.
//!
//! Drawn by a thread of its own, so that work that tells nothing still shows that it goes on. Only
//! on a terminal, never beside JSON, and not at all for what is over in a moment.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::{COLUMNS_ASSUMED, Output, columns_of};
use crate::cli::paper::visible;

/// What is over sooner is never shown.
const PATIENCE: Duration = Duration::from_millis(400);
const TICK: Duration = Duration::from_millis(120);
const BAR_COLUMNS: usize = 20;
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// Shows how far something is until it is dropped.
pub(crate) struct Progress {
    told: Arc<Mutex<Told>>,
    drawing: Option<Drawing>,
}

struct Drawing {
    /// Dropped to end the thread.
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

/// What is known about it.
struct Told {
    what: String,
    /// Done, of how much.
    share: Option<(u64, u64)>,
}

impl Output {
    /// Shows that something goes on, from a moment later until the value is dropped.
    pub(crate) fn working(&self, what: &str) -> Progress {
        let told = Arc::new(Mutex::new(Told { what: what.to_owned(), share: None }));
        let is_seen = !self.is_json && io::stderr().is_terminal();
        let drawing = is_seen.then(|| draw(Arc::clone(&told))).flatten();
        Progress { told, drawing }
    }
}

impl Progress {
    /// Says what is being done now.
    pub(crate) fn say(&self, what: &str) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        what.clone_into(&mut told.what);
    }

    /// Says how much is done, and of how much.
    pub(crate) fn part(&self, n_done: u64, n_all: u64) {
        let share = Some((n_done, n_all)).filter(|_| 0 < n_all);
        self.told.lock().unwrap_or_else(PoisonError::into_inner).share = share;
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(Drawing { stop, thread }) = self.drawing.take() {
            drop(stop);
            // It clears its line before it ends; only then may anybody print.
            thread.join().ok();
        }
    }
}

/// Starts the thread that draws; without one, nothing is shown.
fn draw(told: Arc<Mutex<Told>>) -> Option<Drawing> {
    let (stop, stopped) = mpsc::channel::<()>();
    let begun = Instant::now();
    let drawn = move || {
        let mut wait = PATIENCE;
        let mut n_drawn = 0_usize;
        while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            let width = columns_of(io::stderr()).unwrap_or(COLUMNS_ASSUMED);
            let told = told.lock().unwrap_or_else(PoisonError::into_inner);
            let line = line(&told, begun.elapsed(), n_drawn, width);
            drop(told);
            put(&line);
            n_drawn += 1;
            wait = TICK;
        }
        if 0 < n_drawn {
            put("");
        }
    };
    let thread = thread::Builder::new().name("progress".to_owned()).spawn(drawn).ok()?;
    Some(Drawing { stop, thread })
}

/// Draws over the line that is there. A terminal that has gone away needs no progress.
pub(super) fn put(line: &str) {
    let mut stderr = io::stderr().lock();
    write!(stderr, "\r\x1b[K{line}").and_then(|()| stderr.flush()).ok();
}

fn line(told: &Told, elapsed: Duration, n_drawn: usize, width: usize) -> String {
    let spinner = SPINNER.get(n_drawn % SPINNER.len()).copied().unwrap_or(' ');
    let seconds = elapsed.as_secs();
    let line = match told.share {
        Some((n_done, n_all)) => {
            let n_done = n_done.min(n_all);
            let percent = n_done.saturating_mul(100) / n_all;
            let n_full = usize::try_from(percent).unwrap_or(0) * BAR_COLUMNS / 100;
            let bar = "█".repeat(n_full) + &"░".repeat(BAR_COLUMNS - n_full);
            format!("{bar} {percent:>3} % · {} · {n_done} of {n_all} · {seconds} s", told.what)
        }
        None => format!("{spinner} {} … {seconds} s", told.what),
    };
    fitting(&line, width)
}

/// Cuts what would go on in the next line, where it could not be drawn over.
pub(super) fn fitting(line: &str, width: usize) -> String {
    let flat = visible(line).replace(['\n', '\t'], " ");
    flat.chars().take(width.saturating_sub(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_goes_on_and_fits() {
        let told = |share| Told { what: "copying pages".to_owned(), share };
        let drawn = |told: &Told, width| line(told, Duration::from_secs(7), 1, width);
        let cases = [
            (None, "⠙ copying pages … 7 s"),
            (Some((0, 9)), "░░░░░░░░░░░░░░░░░░░░   0 % · copying pages · 0 of 9 · 7 s"),
            (Some((5, 10)), "██████████░░░░░░░░░░  50 % · copying pages · 5 of 10 · 7 s"),
            (Some((11, 10)), "████████████████████ 100 % · copying pages · 10 of 10 · 7 s"),
        ];
        for (share, want) in cases {
            assert_eq!(drawn(&told(share), 80), want);
            assert_eq!(drawn(&told(share), 12).chars().count(), 11);
        }
        let hostile = Told { what: "a\x1b[2J\nb".to_owned(), share: None };
        assert_eq!(drawn(&hostile, 80), "⠙ a␛[2J b … 7 s");
    }

    #[test]
    fn nothing_is_drawn_without_a_terminal_or_beside_json() {
        let progress = Output::new(true, true).working("x");
        progress.part(1, 2);
        assert!(progress.drawing.is_none());
    }
}
