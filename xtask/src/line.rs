//! A line to the daemon: one JSON object out, one back. The daemon may die at any moment.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

const ANSWER_DEADLINE: Duration = Duration::from_secs(60);

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// The other end is gone.
    HungUp,
    /// It said no, and this is why.
    Refused(String),
}

/// A connection.
pub(crate) struct Line {
    reader: BufReader<UnixStream>,
}

impl Line {
    pub(crate) fn open(socket: &Path) -> Option<Self> {
        let stream = UnixStream::connect(socket).ok()?;
        stream.set_read_timeout(Some(ANSWER_DEADLINE)).ok()?;
        Some(Self { reader: BufReader::new(stream) })
    }

    /// Sends a message and waits for its answer; nothing when the other end is gone.
    pub(crate) fn ask(&mut self, message: &Value) -> Option<Value> {
        self.reader.get_mut().write_all(format!("{message}\n").as_bytes()).ok()?;
        let mut line = String::new();
        self.reader.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }

    /// Calls a method.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Result<Value, NoAnswer> {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let answer = self.ask(&message).ok_or(NoAnswer::HungUp)?;
        match answer.get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(NoAnswer::Refused(format!("{method}: {answer}"))),
        }
    }
}
