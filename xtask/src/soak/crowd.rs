//! One of many: captures, asks, and every so often behaves as no client should.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::line::{Line, NoAnswer};
use crate::process;
use crate::trial::{Session, lock, sentence};

/// Requests over one connection before the client hangs up and comes again.
const REQUESTS_OF_A_VISIT: u64 = 40;
/// One visit in so many is a bad one.
const BAD_ONE_IN: u64 = 6;
/// A pause between requests, so that hundreds of clients are hundreds of people.
const THINKING: Duration = Duration::from_millis(400);
const AWAY: Duration = Duration::from_millis(300);
const FLOOD_LINES: usize = 300;
const HALF_OPEN_FOR: Duration = Duration::from_secs(2);

/// How long requests of one kind took.
#[derive(Default)]
pub(crate) struct Took(Vec<Duration>);

impl Took {
    pub(crate) fn n(&self) -> u64 {
        self.0.len().try_into().unwrap_or(u64::MAX)
    }

    pub(crate) fn told(&self) -> String {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = |share: usize| {
            let place = (sorted.len() * share / 100).min(sorted.len().saturating_sub(1));
            sorted.get(place).map_or(0.0, |took| took.as_secs_f64() * 1000.0)
        };
        format!("{}, p50 {:.1} ms, p99 {:.1} ms", sorted.len(), at(50), at(99))
    }
}

/// What clients saw.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) captures: Took,
    pub(crate) recalls: Took,
    pub(crate) n_busy: u64,
    /// Requests that were given up after the daemon's own deadline: it said so, nobody knows more.
    pub(crate) n_late: u64,
    pub(crate) n_misbehaved: u64,
    /// The first thing that should not have happened.
    pub(crate) complaint: Option<String>,
}

impl Seen {
    pub(crate) fn add(&mut self, other: Self) {
        self.captures.0.extend(other.captures.0);
        self.recalls.0.extend(other.recalls.0);
        self.n_busy += other.n_busy;
        self.n_late += other.n_late;
        self.n_misbehaved += other.n_misbehaved;
        self.complaint = self.complaint.take().or(other.complaint);
    }
}

/// One of many.
pub(crate) struct Client {
    name: String,
    session: Mutex<Session>,
    dice: Dice,
    n_said: u64,
    seen: Seen,
}

impl Client {
    pub(crate) fn new(number: u64, dice: &mut Dice) -> Self {
        Self {
            name: format!("soak-{number}"),
            session: Mutex::default(),
            dice: dice.split(),
            n_said: 0,
            seen: Seen::default(),
        }
    }

    pub(crate) fn leave(self) -> (String, Mutex<Session>, Seen) {
        (self.name, self.session, self.seen)
    }

    /// Comes and goes until it is over or something is wrong.
    pub(crate) fn stay(&mut self, socket: &Path, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Relaxed) && self.seen.complaint.is_none() {
            if self.dice.one_in(BAD_ONE_IN) {
                self.seen.n_misbehaved += 1;
                self.misbehave(socket);
            } else if let Err(complaint) = self.visit(socket, is_over) {
                self.seen.complaint = Some(format!("{}: {complaint}", self.name));
                // Nobody has to stay for an hour to be told.
                is_over.store(true, Ordering::Relaxed);
            }
            process::pause(self.dice.time_below(AWAY));
        }
    }

    fn visit(&mut self, socket: &Path, is_over: &AtomicBool) -> Result<(), String> {
        let mut line = Line::open(socket).ok_or("nobody listens")?;
        for _ in 0..self.dice.below(REQUESTS_OF_A_VISIT) {
            if is_over.load(Ordering::Relaxed) {
                return Ok(());
            }
            let begin = Instant::now();
            let is_capture = self.dice.one_in(2);
            let answer = if is_capture { self.capture(&mut line) } else { self.recall(&mut line) };
            match answer {
                Ok(()) if is_capture => self.seen.captures.0.push(begin.elapsed()),
                Ok(()) => self.seen.recalls.0.push(begin.elapsed()),
                Err(NoAnswer::Refused(why)) if is_busy(&why) => {
                    self.seen.n_busy += 1;
                    return Ok(());
                }
                Err(NoAnswer::Refused(why)) if is_late(&why) => {
                    self.seen.n_late += 1;
                    return Ok(());
                }
                Err(NoAnswer::Refused(why)) => return Err(why),
                Err(NoAnswer::HungUp) => return Err("the daemon hung up".to_owned()),
            }
            process::pause(self.dice.time_below(THINKING));
        }
        Ok(())
    }

    fn capture(&mut self, line: &mut Line) -> Result<(), NoAnswer> {
        self.n_said += 1;
        let text = sentence(&self.name, self.n_said, &mut self.dice);
        lock(&self.session).attempt(&text);
        let params = json!({"text": text, "session_id": self.name});
        let answer = line.call("memory_capture", &params)?;
        let id = answer.get("record_id").and_then(Value::as_str).unwrap_or_default();
        lock(&self.session).acknowledge(id.to_owned(), text);
        Ok(())
    }

    fn recall(&mut self, line: &mut Line) -> Result<(), NoAnswer> {
        let n = self.dice.below(self.n_said.max(1));
        let cue = format!("which port does the service of fact {n} listen on");
        line.call("memory_recall", &json!({"cue": cue, "session_id": self.name})).map(drop)
    }

    /// What comes of it is the daemon's business alone.
    fn misbehave(&mut self, socket: &Path) {
        let Ok(mut stream) = UnixStream::connect(socket) else { return };
        let question = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"memory_list\"}\n";
        let _done = match self.dice.below(5) {
            // Half a line, and then nothing.
            0 => stream.write_all(b"{\"jsonrpc\":\"2.0\",").map(|()| process::pause(HALF_OPEN_FOR)),
            // Many questions, and no ear for the answers.
            1 => stream.write_all(&question.repeat(FLOOD_LINES)),
            // An answer read very slowly.
            2 => stream.write_all(question).and_then(|()| {
                process::pause(HALF_OPEN_FOR);
                stream.read(&mut [0; 16]).map(drop)
            }),
            3 => stream.write_all(&[b'x'; 100_000]),
            // Come, and gone.
            _ => Ok(()),
        };
    }
}

/// Too many requests or connections: an honest answer, not a fault.
fn is_busy(why: &str) -> bool {
    why.contains("-32003")
}

/// The machine had no time for it; on one that others use as well, that happens.
fn is_late(why: &str) -> bool {
    why.contains("-32004")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_told() {
        let took = Took((1..=100).map(Duration::from_millis).collect());
        assert_eq!(took.told(), "100, p50 51.0 ms, p99 100.0 ms");
        assert_eq!(Took::default().told(), "0, p50 0.0 ms, p99 0.0 ms");
    }
}
