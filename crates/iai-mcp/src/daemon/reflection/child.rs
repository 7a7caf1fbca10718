//! Runs a program: bounded words in, bounded words out, a bounded time, and nothing left behind.

use std::io::{Read as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::settings::ReflectionSetting;

/// What is read of its output; who says more is stopped.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;

/// The program that is running, if any.
#[derive(Default)]
pub(super) struct Children(Mutex<Running>);

#[derive(Default)]
struct Running {
    /// The group of the program, until somebody has seen its end.
    group: Option<Pid>,
    is_over: bool,
}

/// What is heard of the program.
enum Heard {
    Output(Vec<u8>),
    Ended(std::io::Result<ExitStatus>),
}

impl Children {
    /// Runs the program to its end and returns what it said.
    pub(super) fn run(
        &self,
        setting: &ReflectionSetting,
        folder: &Path,
        words: &str,
    ) -> anyhow::Result<String> {
        let (heard, inbox) = mpsc::channel();
        let until = Instant::now() + setting.limit;
        self.start(setting, folder, words, &heard)?;
        // Only the threads that listen hold it now: when they are gone, so is everything to hear.
        drop(heard);
        let result = listen(&inbox, until);
        self.end_group();
        let (status, output) =
            result.with_context(|| format!("within {} seconds", setting.limit.as_secs()))?;
        if !status.success() {
            match (status.code(), status.signal()) {
                (Some(code), _) => bail!("the program ended with {code}"),
                (None, signal) => bail!("the program was ended by signal {}", signal.unwrap_or(0)),
            }
        }
        String::from_utf8(output).context("reading what the program said")
    }

    /// Ends what runs, and lets nothing begin any more.
    pub(super) fn end(&self) {
        self.running().is_over = true;
        self.end_group();
    }

    #[expect(clippy::disallowed_methods, reason = "the user named this program in the config")]
    fn start(
        &self,
        setting: &ReflectionSetting,
        folder: &Path,
        words: &str,
        heard: &Sender<Heard>,
    ) -> anyhow::Result<()> {
        let (program, arguments) = setting.command.split_first().context("no program is named")?;
        let mut running = self.running();
        if running.is_over {
            bail!("the daemon leaves");
        }
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(setting.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(folder)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("starting `{program}`"))?;
        running.group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        drop(running);
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let words = words.to_owned();
        spawn(move || tell(stdin, &words))?;
        let output = heard.clone();
        spawn(move || {
            output.send(Heard::Output(hear(stdout))).ok();
        })?;
        let ended = heard.clone();
        spawn(move || {
            ended.send(Heard::Ended(child.wait())).ok();
        })
    }

    /// Ends the program and whatever it started.
    fn end_group(&self) {
        if let Some(group) = self.running().group.take() {
            // Gone already, most of the time.
            kill_process_group(group, Signal::KILL).ok();
        }
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> anyhow::Result<()> {
    let thread = thread::Builder::new().name("reflect-io".to_owned());
    thread.spawn(work).map(drop).context("starting to listen to the program")
}

/// A program that does not listen to the end has heard enough.
fn tell(stdin: Option<ChildStdin>, words: &str) {
    if let Some(mut stdin) = stdin {
        stdin.write_all(words.as_bytes()).ok();
    }
}

fn hear(stdout: Option<ChildStdout>) -> Vec<u8> {
    let mut said = Vec::new();
    if let Some(stdout) = stdout {
        // One byte more than is allowed tells that it was too much.
        stdout.take(OUTPUT_BYTES_MAX as u64 + 1).read_to_end(&mut said).ok();
    }
    said
}

/// Waits for the end and for the words, until it is too late or too much.
fn listen(inbox: &Receiver<Heard>, until: Instant) -> anyhow::Result<(ExitStatus, Vec<u8>)> {
    let (mut status, mut output) = (None, None);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match inbox.recv_timeout(left).context("the program did not end in time")? {
            Heard::Output(said) if OUTPUT_BYTES_MAX < said.len() => {
                bail!("the program said more than {OUTPUT_BYTES_MAX} bytes")
            }
            Heard::Output(said) => output = Some(said),
            Heard::Ended(ended) => status = Some(ended.context("waiting for the program")?),
        }
        if let (Some(status), Some(output)) = (status, &mut output) {
            return Ok((status, std::mem::take(output)));
        }
    }
}
