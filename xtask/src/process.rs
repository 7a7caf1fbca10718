//! Starts other programs and waits for them, always with a deadline.

use std::ffi::OsStr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long a program may take to answer `--version`.
const VERSION_DEADLINE: Duration = Duration::from_secs(10);

/// What a program that ended left behind.
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Wall time from start to end.
    pub(crate) took: Duration,
}

/// Returns a command for `program`; the only place that makes one.
#[expect(clippy::disallowed_methods, reason = "starting programs is what a task does")]
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// Returns `outer` with `command` as its last words, in the environment and folder of `command`.
pub(crate) fn inside(mut outer: Command, command: &Command) -> Command {
    outer.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        outer.current_dir(folder);
    }
    outer
}

/// Sleeps between two looks at something that cannot wake us.
#[expect(clippy::disallowed_methods, reason = "another process's state has to be polled")]
pub(crate) fn pause(duration: Duration) {
    std::thread::sleep(duration);
}

/// Runs `command` to its end; after `deadline` it is killed and that is the error.
///
/// What goes to a pipe is collected; the caller decides about pipes on `command`.
pub(crate) fn finish(mut command: Command, deadline: Duration) -> Result<Finished, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null());
    let begin = Instant::now();
    let child = command.spawn().map_err(|error| format!("cannot start {name}: {error}"))?;
    let pid = child.id();
    let (sender, receiver) = mpsc::channel();
    // A thread blocks in `wait`: polling would blur the milliseconds we print.
    std::thread::spawn(move || {
        let output = child.wait_with_output();
        // The receiver is gone only after the deadline, when nobody wants the answer.
        drop(sender.send((output, begin.elapsed())));
    });
    let Ok((output, took)) = receiver.recv_timeout(deadline) else {
        kill(pid)?;
        return Err(format!("{name} did not end within {} s and was killed", deadline.as_secs()));
    };
    let output = output.map_err(|error| format!("cannot wait for {name}: {error}"))?;
    Ok(Finished {
        status: output.status,
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        took,
    })
}

/// Runs `command` with both outputs collected.
pub(crate) fn capture(mut command: Command, deadline: Duration) -> Result<Finished, String> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(command, deadline)
}

/// Tells whether `command` can be started and ends well.
pub(crate) fn works(command: Command) -> bool {
    capture(command, VERSION_DEADLINE).is_ok_and(|finished| finished.status.success())
}

/// Lets `child` end by itself until `deadline`, then kills it; it is reaped either way.
pub(crate) fn reap(child: &mut Child, deadline: Duration) -> Result<(), String> {
    let begin = Instant::now();
    while begin.elapsed() < deadline {
        match child.try_wait() {
            Ok(Some(_)) => return Ok(()),
            Ok(None) => pause(Duration::from_millis(2)),
            Err(error) => return Err(format!("cannot wait for process {}: {error}", child.id())),
        }
    }
    child.kill().and_then(|()| child.wait()).map_err(|error| format!("cannot kill: {error}"))?;
    Ok(())
}

/// Ends process `pid` at once, by its number.
pub(crate) fn kill(pid: u32) -> Result<(), String> {
    let mut kill = command("kill");
    kill.args(["-KILL", &pid.to_string()]).stdin(Stdio::null()).stderr(Stdio::null());
    kill.status().map_err(|error| format!("cannot run kill: {error}"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut shell = command("sh");
        shell.args(["-c", script]);
        shell
    }

    #[test]
    fn output_and_status_come_back() {
        let finished = capture(shell("echo out; echo err >&2; exit 3"), VERSION_DEADLINE).unwrap();
        assert_eq!(finished.status.code(), Some(3));
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("out\n", "err\n"));
    }

    #[test]
    fn a_program_that_does_not_end_is_killed_at_its_deadline() {
        let error = capture(shell("exec sleep 60"), Duration::from_millis(50)).err().unwrap();
        assert_eq!(error, "sh did not end within 0 s and was killed");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = capture(command("no-such-program"), VERSION_DEADLINE).err().unwrap();
        assert!(error.starts_with("cannot start no-such-program: "), "{error}");
        assert!(!works(command("no-such-program")));
        assert!(!works(shell("exit 1")));
        assert!(works(shell("exit 0")));
    }
}
