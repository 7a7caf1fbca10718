//! Stops a daemon, because the user said so: by asking, and one that does not answer by signals.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use iai_wire::{ConnectError, Connection};
use rustix::process::{Pid, Signal};
use serde_json::json;

use crate::daemon::pid_in_lock;
use crate::fields::Fields as _;
use crate::home::Home;
use crate::settings::Settings;

/// How long a daemon may take to say which process it is. Where the system says it too, a busy one
/// is asked to leave all the same, and nobody has to wait for its answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(if cfg!(target_os = "linux") { 3 } else { 10 });
/// How long it may take to leave.
const LEAVE_LIMIT: Duration = Duration::from_secs(10);
/// How long the kernel may take to end a process.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// How a daemon was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// None ran.
    NotRunning,
    /// It was asked, and left.
    Left,
    /// It did not answer, and left at a signal.
    LeftUnanswering { pid: i32 },
    /// It did not leave, and was killed.
    Killed { pid: i32 },
}

impl Stopped {
    pub(crate) fn was_running(self) -> bool {
        self != Self::NotRunning
    }
}

/// Has the daemon leave and waits until it is gone.
pub(crate) fn stop_daemon(settings: &Settings) -> anyhow::Result<Stopped> {
    let home = &settings.home;
    let answer = match Connection::open(home.socket(), ANSWER_LIMIT) {
        // Whoever holds the lock without listening may be at a restore; only a daemon is stopped.
        Err(ConnectError::Down { .. }) => {
            return match pid_in_lock(home) {
                Some(pid) if is_daemon_of(home, pid) => end_holder(home, pid),
                Some(_) | None => Ok(Stopped::NotRunning),
            };
        }
        Err(ConnectError::TimedOut { .. }) => None,
        Err(error) => return Err(error.into()),
        Ok(mut connection) => match connection.control(&json!({"type": "status"}), ANSWER_LIMIT) {
            Err(iai_wire::CallError::TimedOut { .. }) => None,
            answered => Some((connection, answered?)),
        },
    };
    let Some((mut connection, status)) = answer else { return end_unanswering(home) };
    let pid = status.at("pid").as_i64().and_then(|pid| i32::try_from(pid).ok());
    let pid = pid.and_then(Pid::from_raw).context("the daemon does not say its process id")?;
    // Its end of this connection closes when the process ends, and the lock is free before that.
    let is_still_it = || is_daemon_of(home, pid.as_raw_nonzero().get());
    Ok(match end(pid, |limit| connection.wait_closed(limit), is_still_it)? {
        Ended::Left => Stopped::Left,
        Ended::Killed => Stopped::Killed { pid: pid.as_raw_nonzero().get() },
    })
}

/// Ends a daemon that listens and does not answer, once it is sure which process that is.
fn end_unanswering(home: &Home) -> anyhow::Result<Stopped> {
    let lock = home.lock_file();
    let lock = lock.display();
    let Some(pid) = pid_in_lock(home) else {
        bail!(
            "whoever listens on {} does not answer, and {lock} does not say which process it is; \
             end it yourself, then run this again",
            home.socket().display()
        )
    };
    if !is_daemon_of(home, pid) {
        bail!(
            "the daemon does not answer; {lock} names process {pid}, and nothing proves that this \
             is it: look at it with `ps -p {pid}`, and end it with `kill {pid}` if it is"
        );
    }
    end_holder(home, pid)
}

fn end_holder(home: &Home, pid: i32) -> anyhow::Result<Stopped> {
    let process = Pid::from_raw(pid).context("the lock names no process")?;
    let freed = when_free(home)?;
    let is_still_it = || is_daemon_of(home, pid);
    Ok(match end(process, |limit| freed.recv_timeout(limit).is_ok(), is_still_it)? {
        Ended::Left => Stopped::LeftUnanswering { pid },
        Ended::Killed => Stopped::Killed { pid },
    })
}

enum Ended {
    Left,
    Killed,
}

/// Asks a process to leave, and kills it if it does not and surely is still the daemon: what was
/// acknowledged is on disk already.
fn end(
    pid: Pid,
    mut is_gone: impl FnMut(Duration) -> bool,
    is_still_it: impl FnOnce() -> bool,
) -> anyhow::Result<Ended> {
    let number = pid.as_raw_nonzero();
    let send = |signal, doing: &str| match rustix::process::kill_process(pid, signal) {
        // It has just gone by itself.
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error).with_context(|| format!("{doing} process {number}")),
    };
    send(Signal::TERM, "asking to leave:")?;
    // One that was only halted leaves in good order once it goes on.
    send(Signal::CONT, "waking")?;
    if is_gone(LEAVE_LIMIT) {
        return Ok(Ended::Left);
    }
    if !is_still_it() {
        bail!(
            "process {number} was asked to leave and is still there after {} s; look at it with \
             `ps -p {number}`, and end it with `kill -9 {number}` if it is the daemon",
            LEAVE_LIMIT.as_secs()
        );
    }
    send(Signal::KILL, "killing")?;
    if is_gone(KILL_LIMIT) {
        return Ok(Ended::Killed);
    }
    bail!(
        "process {number} was killed and is still there; it waits for a disk that does not \
         answer: mend that, or restart the machine"
    )
}

/// Tells when nobody is the daemon any more. The thread that waits for it ends with the process.
fn when_free(home: &Home) -> anyhow::Result<mpsc::Receiver<()>> {
    let path = home.lock_file();
    let lock = File::open(&path).with_context(|| format!("opening {}", path.display()))?;
    let (said, heard) = mpsc::sync_channel(1);
    let waiting = thread::Builder::new().name("lock".to_owned()).spawn(move || {
        if lock.lock_shared().is_ok() {
            // Given back before anybody hears of it: the next daemon takes it at once.
            drop(lock);
            said.send(()).ok();
        }
    });
    waiting.context("starting to wait for the lock")?;
    Ok(heard)
}

/// Tells whether a process is surely a daemon that holds this store's lock.
#[cfg(target_os = "linux")]
fn is_daemon_of(home: &Home, pid: i32) -> bool {
    let process = std::path::Path::new("/proc").join(pid.to_string());
    let words = fs::read(process.join("cmdline")).unwrap_or_default();
    let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
    let is_daemon = words.windows(2).any(|pair| pair == [b"daemon".as_slice(), b"run"]);
    let Ok(lock) = fs::metadata(home.lock_file()) else { return false };
    let is_lock = |facts: fs::Metadata| (facts.dev(), facts.ino()) == (lock.dev(), lock.ino());
    let holds = |file: fs::DirEntry| {
        // The kernel lists here the locks that were taken through this very descriptor.
        let told = process.join("fdinfo").join(file.file_name());
        fs::metadata(file.path()).is_ok_and(is_lock)
            && fs::read_to_string(told).is_ok_and(|told| told.contains("FLOCK"))
    };
    let open = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    is_daemon && open.into_iter().any(holds)
}

/// No other system says so in a way that is the same everywhere.
#[cfg(not(target_os = "linux"))]
fn is_daemon_of(_home: &Home, _pid: i32) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "somebody has to be stubborn")]
    fn a_process_that_does_not_leave_is_killed() {
        let script = "trap '' TERM; echo ready; while :; do read line; done";
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdout.take().unwrap().read_exact(&mut [0; 6]).unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        let mut n_asked = 0;
        let refused = end(pid, |_| false, || false).err().unwrap();
        assert!(refused.to_string().contains("is still there"), "{refused}");
        assert!(child.try_wait().unwrap().is_none(), "nothing proved that it is the daemon");
        let is_gone = |_| {
            n_asked += 1;
            // The first time nobody waits for it; only a kill can have ended it the second time.
            n_asked == 2 && wait_keeping_stdin(&mut child)
        };
        assert!(matches!(end(pid, is_gone, || true), Ok(Ended::Killed)));
        assert_eq!(child.wait().unwrap().code(), None, "by a signal");
    }

    /// `Child::wait` would close its input first, and the loop in it would spin.
    fn wait_keeping_stdin(child: &mut std::process::Child) -> bool {
        let _stdin = child.stdin.take();
        child.wait().is_ok()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_that_does_not_hold_the_lock_is_not_the_daemon() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().to_owned(), None);
        fs::write(home.lock_file(), "1\n").unwrap();
        assert_eq!(pid_in_lock(&home), None, "nobody holds it");
        let held = File::open(home.lock_file()).unwrap();
        held.try_lock().unwrap();
        assert_eq!(pid_in_lock(&home), Some(1));
        assert!(!is_daemon_of(&home, 1), "a number in a file proves nothing");
        let ours = i32::try_from(std::process::id()).unwrap();
        assert!(!is_daemon_of(&home, ours), "it holds the lock and is no daemon");
    }
}
