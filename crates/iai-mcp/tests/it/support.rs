//! Drives the built binary the way a hook, a host or a user would.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Long enough for a loaded machine; nothing waits this long when it works.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until something holds.
#[track_caller]
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "never happened: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// A throw-away HOME with its own short socket path.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("iai-").tempdir_in("/tmp").unwrap();
        Self { folder, variables: Vec::new() }
    }

    /// Sets a variable for everything this sandbox runs.
    pub(crate) fn with(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.variables.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.path(".iai-mcp")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.path("d.sock")
    }

    /// The spool files, in name order.
    pub(crate) fn spool(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.root().join(".deferred-captures")).into_iter().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_iai-mcp"));
        command
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.folder.path())
            .env("IAI_DAEMON_SOCKET_PATH", self.socket())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.folder.path());
        command
    }

    /// Runs to the end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).stdin(Stdio::null()).output().unwrap()
    }

    /// Runs, expects success, returns stdout as JSON.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", stdout(&output)))
    }

    /// Has the doctor look, whatever it finds.
    #[track_caller]
    pub(crate) fn doctor(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[&["doctor", "--json"], arguments].concat());
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let expect = match (report["failed"].as_u64(), report["warned"].as_u64()) {
            (Some(0), Some(0)) => 0,
            (Some(0), _) => 1,
            _ => 2,
        };
        assert_eq!(output.status.code(), Some(expect), "{report}");
        report
    }

    /// Runs the daemon as a child and waits until its store is open.
    pub(crate) fn daemon(&self) -> Daemon {
        let daemon = self.daemon_starting();
        eventually("the daemon is ready", || {
            assert!(daemon.is_running(), "the daemon ended: {}", daemon.complaint());
            self.status().is_some_and(|status| status["state"] == "ready")
        });
        daemon
    }

    /// Runs the daemon as a child.
    pub(crate) fn daemon_starting(&self) -> Daemon {
        let complaints = self.path("daemon.err");
        let stderr = fs::File::create(&complaints).unwrap();
        let mut command = self.command(&["daemon", "run"]);
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
        Daemon { child: std::cell::RefCell::new(command.spawn().unwrap()), complaints }
    }

    pub(crate) fn status(&self) -> Option<Value> {
        let mut line = Line::open(&self.socket())?;
        Some(line.ask(&json!({"type": "status"})))
    }

    /// Writes a transcript of alternating turns, beginning with the user.
    pub(crate) fn transcript(&self, name: &str, turns: &[&str]) -> PathBuf {
        let path = self.path(name);
        let mut file = fs::File::create(&path).unwrap();
        for (place, text) in turns.iter().enumerate() {
            let role = ["user", "assistant"][place % 2];
            let line = json!({"type": role, "message": {"role": role, "content": text}});
            writeln!(file, "{line}").unwrap();
        }
        path
    }

    /// Captures through the hook path.
    #[track_caller]
    pub(crate) fn capture(&self, session: &str, transcript: &Path) -> Value {
        let path = transcript.to_str().unwrap();
        self.json(&["capture-transcript", "--no-spawn", "--session-id", session, path])
    }

    /// Waits until nothing is on its way any more and returns what `status` says then.
    pub(crate) fn settled(&self, n_stored: u64) -> Value {
        let mut last = Value::Null;
        eventually(&format!("{n_stored} turns are stored"), || {
            last = self.status().unwrap_or_default();
            last["stored"] == n_stored && last["pending"] == 0
        });
        last
    }
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A daemon that is killed when the test ends.
pub(crate) struct Daemon {
    child: std::cell::RefCell<Child>,
    complaints: PathBuf,
}

impl Daemon {
    pub(crate) fn pid(&self) -> u32 {
        self.child.borrow().id()
    }

    pub(crate) fn is_running(&self) -> bool {
        self.child.borrow_mut().try_wait().unwrap().is_none()
    }

    pub(crate) fn complaint(&self) -> String {
        fs::read_to_string(&self.complaints).unwrap_or_default()
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    /// Waits for the end and returns the exit code.
    pub(crate) fn wait(&self) -> Option<i32> {
        eventually("the daemon ends", || !self.is_running());
        self.child.borrow_mut().wait().unwrap().code()
    }

    /// Asks politely and waits.
    pub(crate) fn stop(&self) -> Option<i32> {
        self.signal("-TERM");
        self.wait()
    }

    pub(crate) fn n_open_files(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.pid())).unwrap().count()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let child = self.child.get_mut();
        child.kill().ok();
        child.wait().ok();
    }
}

/// A raw connection to the daemon.
pub(crate) struct Line {
    reader: BufReader<UnixStream>,
}

impl Line {
    pub(crate) fn open(socket: &Path) -> Option<Self> {
        let stream = UnixStream::connect(socket).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Some(Self { reader: BufReader::new(stream) })
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.reader.get_mut().write_all(bytes).unwrap();
    }

    pub(crate) fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Asks a daemon that may hang up at any moment.
    pub(crate) fn try_ask(&mut self, message: &Value) -> Option<Value> {
        self.reader.get_mut().write_all(format!("{message}\n").as_bytes()).ok()?;
        let mut line = String::new();
        self.reader.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }

    pub(crate) fn ask(&mut self, message: &Value) -> Value {
        self.send(format!("{message}\n").as_bytes());
        self.answer()
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers write the value in place")]
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    }

    pub(crate) fn is_closed(&mut self) -> bool {
        matches!(self.reader.read(&mut [0; 1]), Ok(0))
    }
}

/// One MCP process.
pub(crate) struct Mcp {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    n_asked: u64,
    pub(crate) initialized: Value,
}

impl Mcp {
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        Self::start_with(sandbox, "2025-03-26")
    }

    pub(crate) fn start_with(sandbox: &Sandbox, protocol: &str) -> Self {
        Self::start_bare(sandbox).greeted(protocol)
    }

    /// Starts one in a folder of the sandbox, as the host of a project does.
    pub(crate) fn start_in(sandbox: &Sandbox, folder: &str) -> Self {
        let mut command = sandbox.command(&["mcp"]);
        command.current_dir(sandbox.path(folder));
        Self::spawn(command).greeted("2025-03-26")
    }

    fn greeted(mut self, protocol: &str) -> Self {
        self.initialized = self.request(
            "initialize",
            &json!({
                "protocolVersion": protocol,
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "0"},
            }),
        );
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        self
    }

    pub(crate) fn start_bare(sandbox: &Sandbox) -> Self {
        Self::spawn(sandbox.command(&["mcp"]))
    }

    fn spawn(mut command: Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (said, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if said.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, stdin, lines, n_asked: 0, initialized: Value::Null }
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    pub(crate) fn line(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("an answer");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Sends a request; the very next line must be its answer.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.n_asked += 1;
        let id = self.n_asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let answer = self.line();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers write the value in place")]
    pub(crate) fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", &json!({"name": name, "arguments": arguments}));
        answer["result"].clone()
    }

    /// Calls a tool and returns its structured answer.
    #[track_caller]
    pub(crate) fn ask(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.tool(name, arguments);
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].clone()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Closes stdin and waits for the end.
    pub(crate) fn hang_up(mut self) -> Option<i32> {
        drop(self.stdin.take());
        self.wait()
    }

    pub(crate) fn wait(&mut self) -> Option<i32> {
        eventually("the MCP process ends", || self.child.try_wait().unwrap().is_some());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// How many processes run with this sandbox's HOME.
pub(crate) fn n_processes(sandbox: &Sandbox) -> usize {
    let home = format!("HOME={}", sandbox.path("").to_str().unwrap().trim_end_matches('/'));
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|process| {
            let environ = fs::read(process.path().join("environ")).unwrap_or_default();
            environ.split(|byte| *byte == 0).any(|pair| pair == home.as_bytes())
        })
        .count()
}
