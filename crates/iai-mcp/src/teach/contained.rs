//! Reads a file in a process of its own, with a limit on its memory and its time: a parser that
//! somebody's file can exhaust, or overflow the stack of, must not take the reader along.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use rustix::process::{Resource, Rlimit, setrlimit};

use super::{FILE_BYTES_MAX, Passage, Refusal, read};

/// What the parser of a file may take.
const MEMORY_BYTES_MAX: u64 = 1024 * 1024 * 1024;
const PROCESSOR_SECONDS_MAX: u64 = 20;
/// A machine may have other things to do.
const PATIENCE: Duration = Duration::from_secs(120);
/// What a parser may answer: the words of a file, escaped.
const ANSWER_BYTES_MAX: u64 = 8 * FILE_BYTES_MAX;

/// Cuts a file into passages as [`read`] does; formats with a parser that may be exhausted are read
/// in a process of their own.
pub(crate) fn read_contained(
    name: &str,
    bytes: Vec<u8>,
) -> anyhow::Result<Result<Vec<Passage>, Refusal>> {
    let is_plain = !bytes.starts_with(b"%PDF-") && !bytes.starts_with(b"PK");
    if is_plain || FILE_BYTES_MAX < bytes.len() as u64 {
        return Ok(read(name, &bytes));
    }
    let exhausting = |what: String| Ok(Err(Refusal::Exhausting { what }));
    match answer_of_child(name, bytes)? {
        Some(answer) if !answer.is_empty() => {
            serde_json::from_slice(&answer).context("reading what the parser said")
        }
        // Ended by the kernel, or by its own allocator.
        Some(_) => exhausting(format!(
            "{} MiB of memory or {PROCESSOR_SECONDS_MAX} seconds",
            MEMORY_BYTES_MAX / 1024 / 1024
        )),
        None => exhausting(format!("{} seconds", PATIENCE.as_secs())),
    }
}

/// Does the work of the process of its own: limits itself, reads, and returns what to say.
pub(crate) fn parse_alone(name: &str) -> anyhow::Result<serde_json::Value> {
    limit(Resource::As, MEMORY_BYTES_MAX)?;
    limit(Resource::Cpu, PROCESSOR_SECONDS_MAX)?;
    limit(Resource::Core, 0)?;
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(serde_json::to_value(read(name, &bytes))?)
}

fn limit(resource: Resource, most: u64) -> anyhow::Result<()> {
    let limit = Rlimit { current: Some(most), maximum: Some(most) };
    setrlimit(resource, limit).context("limiting what a parser may take")
}

/// Returns what the child said; nothing of it when it broke, `None` when it did not end.
#[expect(clippy::disallowed_methods, reason = "starts this very program, to read one file")]
fn answer_of_child(name: &str, bytes: Vec<u8>) -> anyhow::Result<Option<Vec<u8>>> {
    let program = std::env::current_exe().context("looking for this program")?;
    let mut child = Command::new(program)
        .args(["teach-parse", "--", name])
        .env_clear()
        // Settings need a home, though the parser looks at none.
        .env("HOME", "/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("starting to read a file")?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let told = thread::spawn(move || {
        // A parser that does not listen to the end has heard enough.
        stdin.map(|mut stdin| stdin.write_all(&bytes).ok());
    });
    let (said, heard) = mpsc::channel();
    let listening = thread::spawn(move || {
        let mut answer = Vec::new();
        let read = stdout.map(|out| out.take(ANSWER_BYTES_MAX).read_to_end(&mut answer));
        said.send(read.and_then(Result::ok).map(|_| answer).unwrap_or_default()).ok();
    });
    let answer = heard.recv_timeout(PATIENCE).ok();
    // Gone already, most of the time.
    child.kill().ok();
    let ended = child.wait().context("waiting for a parser")?;
    drop((told.join(), listening.join()));
    Ok(answer.map(|answer| if ended.success() { answer } else { Vec::new() }))
}
