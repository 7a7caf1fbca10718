//! Runs `systemctl` and `launchctl`, with a deadline, because the user asked for a service.

use std::io;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};

/// Stopping waits for the daemon, whose unit allows it twenty seconds.
const LIMIT: Duration = Duration::from_secs(40);
const COMPLAINT_CHARACTERS_MAX: usize = 300;

/// How a question to a manager ended.
pub(super) enum Said {
    /// What it answered.
    Yes(String),
    /// What it complained of.
    No(String),
    /// There is no such program.
    Absent,
}

/// Asks, and returns the answer whatever it is.
#[expect(clippy::disallowed_methods, reason = "the user asked for a service")]
pub(super) fn ask(program: &str, words: &[&str]) -> anyhow::Result<Said> {
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Said::Absent),
        Err(error) => return Err(error).with_context(|| format!("running {program}")),
    };
    let (sender, ended) = mpsc::sync_channel(1);
    thread::Builder::new()
        .name(program.to_owned())
        .spawn(move || sender.send(child.wait_with_output()).ok())
        .with_context(|| format!("waiting for {program}"))?;
    let Ok(output) = ended.recv_timeout(LIMIT) else {
        bail!("{program} {} did not end within {} s", words.join(" "), LIMIT.as_secs());
    };
    let output = output.with_context(|| format!("waiting for {program}"))?;
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).trim().to_owned();
        text.chars().take(COMPLAINT_CHARACTERS_MAX).collect::<String>()
    };
    Ok(if output.status.success() {
        Said::Yes(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Said::No(text(&output.stderr))
    })
}

/// Tells a manager to do something; its complaint is the error.
pub(super) fn tell(program: &str, words: &[&str]) -> anyhow::Result<()> {
    match ask(program, words)? {
        Said::Yes(_) => Ok(()),
        Said::No(complaint) => bail!("{program} {}: {complaint}", words.join(" ")),
        Said::Absent => bail!("there is no {program} on this machine"),
    }
}
