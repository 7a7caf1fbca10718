//! Stands between stdin and the SDK: lets lines of JSON through and names what is not one.
//!
//! The SDK drops unreadable lines in silence, and a host that sent one would wait for ever.

mod id;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use serde_json::Value;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc::Sender;

use crate::host::repaired;
use id::IdSeeker;

const READ_BYTES: usize = 64 * 1024;

/// Why a line was not handed on.
#[derive(Debug)]
pub(super) struct Complaint {
    pub(super) what: String,
    /// The request that waits for an answer, as far as it could be seen.
    pub(super) id: Option<Value>,
}

/// Hands on whole lines of JSON; complaints about the others go to a channel.
pub(super) struct Sieve<R> {
    stream: R,
    n_bytes_max: usize,
    /// The line being read.
    line: Vec<u8>,
    /// The line passed the limit: its rest is dropped, once it was looked at for an id.
    dropping: Option<IdSeeker>,
    /// Lines that passed, and how much of them was handed on.
    passed: Vec<u8>,
    n_handed_on: usize,
    /// Full only when the host floods us with rubbish; then one complaint stands for many.
    complaints: Sender<Complaint>,
}

impl<R> Sieve<R> {
    pub(super) fn new(stream: R, n_bytes_max: usize, complaints: Sender<Complaint>) -> Self {
        Self {
            stream,
            n_bytes_max,
            line: Vec::new(),
            dropping: None,
            passed: Vec::new(),
            n_handed_on: 0,
            complaints,
        }
    }

    fn take_in(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.dropping.is_none() && self.n_bytes_max < self.line.len() + part.len() {
                let mut seeker = IdSeeker::default();
                seeker.look_at(&std::mem::take(&mut self.line));
                self.dropping = Some(seeker);
            }
            match &mut self.dropping {
                Some(seeker) => seeker.look_at(part),
                None => self.line.extend_from_slice(part),
            }
            if part.ends_with(b"\n") {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if let Some(seeker) = self.dropping.take() {
            let what = format!("a line may have {} bytes; send less", self.n_bytes_max);
            self.complain(what, seeker.found());
            return;
        }
        let is_blank = line.iter().all(u8::is_ascii_whitespace);
        match serde_json::from_slice::<Value>(&line) {
            _ if is_blank => {}
            Ok(_) => self.passed.extend_from_slice(&line),
            Err(error) => match mended(&line) {
                Some(line) => self.passed.extend_from_slice(&line),
                None => {
                    let what = format!("not JSON: {error}; send one JSON object a line");
                    self.complain(what, None);
                }
            },
        }
    }

    fn complain(&self, what: String, id: Option<Value>) {
        self.complaints.try_send(Complaint { what, id }).ok();
    }
}

/// Half a surrogate pair is what JavaScript writes for a cut emoji; it costs one character, not the
/// line. Bytes that are no text stay an error.
fn mended(line: &[u8]) -> Option<Vec<u8>> {
    std::str::from_utf8(line).ok()?;
    let line = repaired(line);
    serde_json::from_slice::<Value>(&line).is_ok().then_some(line)
}

impl<R: AsyncRead + Unpin> AsyncRead for Sieve<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let sieve = self.get_mut();
        loop {
            let waiting = sieve.passed.get(sieve.n_handed_on..).unwrap_or_default();
            if !waiting.is_empty() {
                let n_bytes = waiting.len().min(into.remaining());
                into.put_slice(waiting.get(..n_bytes).unwrap_or_default());
                sieve.n_handed_on += n_bytes;
                return Poll::Ready(Ok(()));
            }
            sieve.passed.clear();
            sieve.n_handed_on = 0;
            let mut chunk = [0; READ_BYTES];
            let mut chunk = ReadBuf::new(&mut chunk);
            ready!(Pin::new(&mut sieve.stream).poll_read(context, &mut chunk))?;
            if chunk.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            sieve.take_in(chunk.filled());
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;
    use tokio::sync::mpsc;

    use super::*;

    #[track_caller]
    fn check(input: &[u8], passed: &str, complaints: &[&str]) {
        let (sender, mut heard) = mpsc::channel(16);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let got = runtime.block_on(async {
            let mut got = String::new();
            Sieve::new(input, 40, sender).read_to_string(&mut got).await.unwrap();
            got
        });
        assert_eq!(got, passed);
        let mut told = Vec::new();
        while let Ok(complaint) = heard.try_recv() {
            told.push(complaint);
        }
        assert_eq!(told.len(), complaints.len(), "{told:?}");
        for (complaint, word) in told.iter().zip(complaints) {
            let id = complaint.id.as_ref().map(|id| format!(" id {id}")).unwrap_or_default();
            let told = format!("{}{id}", complaint.what);
            assert!(told.contains(word), "{told}");
        }
    }

    #[test]
    fn json_passes_and_the_rest_is_named() {
        check(b"{\"a\":1}\n\n[2]\n", "{\"a\":1}\n[2]\n", &[]);
        check(b"oops\n{}\n", "{}\n", &["not JSON"]);
        check(b"\xff\xfe\n\"\xff\"\n1\n", "1\n", &["not JSON", "not JSON"]);
        check(&[b"x".repeat(100), b"\n{}\n".to_vec()].concat(), "{}\n", &["40 bytes"]);
        let long = format!("{{\"x\":\"{}\",\"id\":7}}\n{{}}\n", "y".repeat(100));
        check(long.as_bytes(), "{}\n", &["send less id 7"]);
        check(b"{\"half\":", "", &[]);
        check(b"{\"a\":\"x \\ud83d\"}\n", "{\"a\":\"x \\ufffd\"}\n", &[]);
    }

    #[test]
    fn depth_beyond_the_parser_is_named() {
        let deep = [b"[".repeat(20), b"\n{}\n".to_vec()].concat();
        check(&deep, "{}\n", &["not JSON"]);
    }
}
