//! Starts programs to measure them, and waits for them, always with a deadline.

use std::ffi::OsStr;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal};

/// Between two looks at another process, whose state nothing wakes us for: a hundredth of the time
/// waited so far, within these. Looking must not take the processor from what is looked at.
const LOOK_AFTER_MIN: Duration = Duration::from_millis(1);
const LOOK_AFTER_MAX: Duration = Duration::from_millis(200);

/// What a program that ended left behind.
pub(super) struct Finished {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// Wall time from start to end.
    pub(super) took: Duration,
}

impl Finished {
    /// Makes a program that failed an error with its own words.
    pub(super) fn check(self, what: &str) -> anyhow::Result<Self> {
        if !self.status.success() {
            let words = [self.stdout.trim(), self.stderr.trim()].join(" ");
            bail!("`{what}` failed ({}): {}", self.status, words.trim());
        }
        Ok(self)
    }
}

/// Returns a command for `program`.
#[expect(clippy::disallowed_methods, reason = "the user asked to have programs measured")]
pub(super) fn command(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// Runs `command` on `input` to its end, both outputs collected; after `deadline` it is killed and
/// that is the error.
pub(super) fn finish(
    mut command: Command,
    input: Stdio,
    deadline: Duration,
) -> anyhow::Result<Finished> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    let begun = Instant::now();
    let child = command.spawn().with_context(|| format!("starting {name}"))?;
    let pid = child.id();
    let (ended, end) = mpsc::sync_channel(1);
    // A thread blocks in `wait`: polling would blur the milliseconds we print.
    std::thread::spawn(move || {
        let output = child.wait_with_output();
        // Nobody listens any more only after the deadline.
        ended.send((output, begun.elapsed())).ok();
    });
    let Ok((output, took)) = end.recv_timeout(deadline) else {
        if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
            rustix::process::kill_process(pid, Signal::KILL).ok();
        }
        bail!("{name} did not end within {} s and was killed", deadline.as_secs());
    };
    let output = output.with_context(|| format!("waiting for {name}"))?;
    Ok(Finished {
        status: output.status,
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        took,
    })
}

/// Looks until `look` finds something, and returns it.
pub(super) fn wait_for<T>(
    what: &str,
    deadline: Duration,
    mut look: impl FnMut() -> anyhow::Result<Option<T>>,
) -> anyhow::Result<T> {
    let begun = Instant::now();
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        if deadline < begun.elapsed() {
            bail!("{what} did not happen within {} s", deadline.as_secs());
        }
        std::thread::park_timeout(until_next_look(begun.elapsed()));
    }
}

fn until_next_look(waited: Duration) -> Duration {
    (waited / 100).clamp(LOOK_AFTER_MIN, LOOK_AFTER_MAX)
}

/// Lets time pass, so that an idle process can show how idle it is.
pub(super) fn let_pass(duration: Duration) {
    let begun = Instant::now();
    while let Some(left) = duration.checked_sub(begun.elapsed()).filter(|left| !left.is_zero()) {
        std::thread::park_timeout(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    fn shell(script: &str) -> Command {
        let mut shell = command("sh");
        shell.args(["-c", script]);
        shell
    }

    #[test]
    fn output_and_status_come_back() {
        let script = shell("echo out; echo err >&2; exit 3");
        let finished = finish(script, Stdio::null(), PATIENCE).unwrap();
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("out\n", "err\n"));
        let error = finished.check("sh").err().unwrap().to_string();
        assert!(error.contains("`sh` failed") && error.ends_with("out err"), "{error}");
    }

    #[test]
    fn a_program_that_does_not_end_is_killed_at_its_deadline() {
        let limit = Duration::from_millis(50);
        let error = finish(shell("exec sleep 60"), Stdio::null(), limit).err().unwrap();
        assert_eq!(error.to_string(), "sh did not end within 0 s and was killed");
    }

    #[test]
    fn who_waits_long_looks_seldom() {
        assert_eq!(until_next_look(Duration::ZERO), LOOK_AFTER_MIN);
        assert_eq!(until_next_look(Duration::from_secs(3)), Duration::from_millis(30));
        assert_eq!(until_next_look(Duration::from_hours(1)), LOOK_AFTER_MAX);
    }

    #[test]
    fn what_never_happens_is_named() {
        let error = wait_for("the end", Duration::ZERO, || Ok(None::<()>)).unwrap_err();
        assert_eq!(error.to_string(), "the end did not happen within 0 s");
        let mut n_looks = 0;
        let found = wait_for("three", PATIENCE, || {
            n_looks += 1;
            Ok((n_looks == 3).then_some(n_looks))
        });
        assert_eq!(found.unwrap(), 3);
    }
}
