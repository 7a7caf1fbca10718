//! The client's side of the socket: connect, call, close, each within a deadline.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::net::sockopt::{self, Timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use thiserror::Error;

use crate::SOCKET_PATH_BYTES_MAX;
use crate::frame::{FrameError, FrameReader, write_frame};
use crate::reply::Response;

/// Why there is no connection.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// Nobody listens: there is no socket, or nobody behind it.
    #[error("no daemon is listening on {}; `iai-mcp daemon start` starts one", path.display())]
    Down {
        /// The socket.
        path: PathBuf,
    },
    /// The path does not fit into a socket address.
    #[error(
        "the socket path {} is longer than {SOCKET_PATH_BYTES_MAX} bytes; \
         set IAI_DAEMON_SOCKET_PATH to a shorter one",
        path.display()
    )]
    PathTooLong {
        /// The socket.
        path: PathBuf,
    },
    /// The process behind the socket belongs to somebody else.
    #[error(
        "the daemon on {} belongs to user {uid}, not to you; \
         set IAI_MCP_STORE to a folder of your own",
        path.display()
    )]
    ForeignOwner {
        /// The socket.
        path: PathBuf,
        /// Whose it is.
        uid: u32,
    },
    /// The daemon did not accept in time.
    #[error("the daemon on {} did not accept a connection in time", path.display())]
    TimedOut {
        /// The socket.
        path: PathBuf,
    },
    /// Something else.
    #[error("connecting to {}: {source}", path.display())]
    Io {
        /// The socket.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Why a call has no result.
#[derive(Debug, Error)]
pub enum CallError {
    /// The daemon understood and refused; the message is for a person.
    #[error("{message}")]
    Refused {
        /// One of [`crate::code`].
        code: i64,
        /// Why.
        message: String,
    },
    /// The daemon went away; whether it did the work is unknown.
    #[error("the daemon closed the connection before answering")]
    Closed,
    /// No answer within the deadline.
    #[error("the daemon did not answer within {} ms", limit.as_millis())]
    TimedOut {
        /// How long was waited.
        limit: Duration,
    },
    /// The request is larger than a frame, and nothing of it was sent.
    #[error("the request is larger than one message to the daemon; send less at once")]
    TooLarge,
    /// The answer was not one.
    #[error("the daemon sent an answer that cannot be read: {0}")]
    Garbled(String),
    /// The connection broke.
    #[error("talking to the daemon: {0}")]
    Io(#[from] io::Error),
}

/// A call as it is sent: written straight from what it is made of, which may be large.
#[derive(Serialize)]
struct Sent<'a, P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'a str,
    params: &'a P,
}

/// An open connection; one request at a time.
#[derive(Debug)]
pub struct Connection {
    reader: FrameReader<UnixStream>,
    n_calls: u64,
}

impl Connection {
    /// Connects within `limit` and makes sure the daemon is the caller's own.
    pub fn open(path: &Path, limit: Duration) -> Result<Self, ConnectError> {
        let failed = |source: rustix::io::Errno| connect_error(path, source);
        let address = SocketAddrUnix::new(path)
            .map_err(|_| ConnectError::PathTooLong { path: path.to_owned() })?;
        let kind = SocketType::STREAM;
        let socket = rustix::net::socket_with(AddressFamily::UNIX, kind, close_on_exec(), None)
            .map_err(failed)?;
        // A full backlog makes `connect` wait; the send timeout is what bounds that wait.
        sockopt::set_socket_timeout(&socket, Timeout::Send, Some(limit)).map_err(failed)?;
        rustix::net::connect(&socket, &address).map_err(failed)?;
        let stream = UnixStream::from(socket);
        match peer_uid(&stream) {
            Ok(uid) if uid == rustix::process::getuid().as_raw() || uid == 0 => {}
            Ok(uid) => return Err(ConnectError::ForeignOwner { path: path.to_owned(), uid }),
            Err(source) => return Err(ConnectError::Io { path: path.to_owned(), source }),
        }
        Ok(Self { reader: FrameReader::new(stream), n_calls: 0 })
    }

    /// Sends a JSON-RPC call and waits for its answer.
    pub fn call(
        &mut self,
        method: &str,
        params: &impl Serialize,
        limit: Duration,
    ) -> Result<Value, CallError> {
        self.n_calls += 1;
        let id = self.n_calls;
        let call = Sent { jsonrpc: "2.0", id, method, params };
        match self.exchange(&call, limit)? {
            Response { error: Some(error), .. } => {
                Err(CallError::Refused { code: error.code, message: error.message })
            }
            Response { id: answered, result: Some(result), .. } if answered == json!(id) => {
                Ok(result)
            }
            _ => Err(CallError::Garbled("neither a result nor an error of this call".to_owned())),
        }
    }

    /// Sends a control message and waits for its answer.
    pub fn control(&mut self, message: &Value, limit: Duration) -> Result<Value, CallError> {
        let answer: Value = self.exchange(message, limit)?;
        match answer.get("error").map(|_| serde_json::from_value(answer.clone())) {
            Some(Ok(Response { error: Some(error), .. })) => {
                Err(CallError::Refused { code: error.code, message: error.message })
            }
            Some(Ok(_) | Err(_)) | None => Ok(answer),
        }
    }

    /// Waits until the daemon closes its end, or the limit passes.
    pub fn wait_closed(&mut self, limit: Duration) -> bool {
        self.reader.stream().set_read_timeout(Some(limit)).is_ok()
            && matches!(self.reader.next_frame(), Ok(None))
    }

    /// Sends a message and reads its answer, straight into what the caller makes of it.
    fn exchange<T: DeserializeOwned>(
        &mut self,
        message: &impl Serialize,
        limit: Duration,
    ) -> Result<T, CallError> {
        let until = Instant::now() + limit;
        let mut stream = self.reader.stream();
        stream.set_write_timeout(Some(limit))?;
        let written = write_frame(&mut stream, message).map_err(|error| call_error(error, limit));
        // Whoever is refused is told before the door closes: the reason may be there to read.
        match written {
            Ok(()) | Err(CallError::Closed) => {}
            Err(error) => return Err(error),
        }
        let left = until.saturating_duration_since(Instant::now());
        // A zero timeout would mean "wait for ever" to the system.
        self.reader.stream().set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        match self.reader.next_frame() {
            Ok(Some(frame)) => {
                serde_json::from_slice(frame).map_err(|error| CallError::Garbled(error.to_string()))
            }
            Ok(None) => Err(CallError::Closed),
            Err(FrameError::Io(error)) => Err(call_error(error, limit)),
            Err(error @ FrameError::TooLong) => Err(CallError::Garbled(error.to_string())),
        }
    }
}

/// Tells the daemon that the spool has something new. Never waits longer than `limit`, never fails:
/// a nudge that is lost costs a moment, because the daemon watches the folder as well.
pub fn nudge(path: &Path, limit: Duration) {
    let Ok(connection) = Connection::open(path, limit) else { return };
    let mut stream = connection.reader.stream();
    let message = json!({"jsonrpc": "2.0", "id": 0, "method": "spool_nudge"});
    if stream.set_write_timeout(Some(limit)).is_ok() {
        write_frame(&mut stream, &message).ok();
    }
}

/// Returns the user the other end of a socket belongs to.
#[cfg(target_os = "linux")]
pub fn peer_uid(stream: &impl AsFd) -> io::Result<u32> {
    Ok(sockopt::socket_peercred(stream)?.uid.as_raw())
}

/// Returns the user the other end of a socket belongs to.
#[cfg(not(target_os = "linux"))]
pub fn peer_uid(stream: &impl AsFd) -> io::Result<u32> {
    let (uid, _) = nix::unistd::getpeereid(stream.as_fd())?;
    Ok(uid.as_raw())
}

#[cfg(target_os = "linux")]
fn close_on_exec() -> SocketFlags {
    SocketFlags::CLOEXEC
}

#[cfg(not(target_os = "linux"))]
fn close_on_exec() -> SocketFlags {
    SocketFlags::empty()
}

fn connect_error(path: &Path, error: rustix::io::Errno) -> ConnectError {
    use rustix::io::Errno;
    let path = path.to_owned();
    match error {
        Errno::NOENT | Errno::CONNREFUSED | Errno::NOTDIR => ConnectError::Down { path },
        Errno::AGAIN | Errno::TIMEDOUT => ConnectError::TimedOut { path },
        other => ConnectError::Io { path, source: other.into() },
    }
}

fn call_error(error: io::Error, limit: Duration) -> CallError {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => CallError::TimedOut { limit },
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => CallError::Closed,
        io::ErrorKind::FileTooLarge => CallError::TooLarge,
        _ => CallError::Io(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(5);

    /// Serves one connection with canned answers, one per frame.
    fn serve(answers: &'static [&'static str]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("d.sock");
        let listener = UnixListener::bind(&path).unwrap();
        std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut writer = stream.try_clone().unwrap();
            let mut reader = FrameReader::new(stream);
            for answer in answers {
                reader.next_frame().unwrap();
                io::Write::write_all(&mut writer, answer.as_bytes()).unwrap();
            }
        });
        (folder, path)
    }

    #[test]
    fn a_call_returns_its_result_or_the_refusal() {
        let (_folder, path) = serve(&[
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1}}\n",
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32601,\"message\":\"no\"}}\n",
            "nonsense\n",
        ]);
        let mut connection = Connection::open(&path, LIMIT).unwrap();
        assert_eq!(connection.call("m", &json!({}), LIMIT).unwrap(), json!({"a": 1}));
        let refused = connection.call("m", &json!({}), LIMIT).unwrap_err();
        assert!(matches!(refused, CallError::Refused { code: -32601, .. }));
        let garbled = connection.call("m", &json!({}), LIMIT).unwrap_err();
        assert!(matches!(garbled, CallError::Garbled(_)));
        assert!(matches!(connection.call("m", &json!({}), LIMIT), Err(CallError::Closed)));
    }

    #[test]
    fn a_silent_daemon_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("d.sock");
        let _listener = UnixListener::bind(&path).unwrap();
        let limit = Duration::from_millis(20);
        let mut connection = Connection::open(&path, limit).unwrap();
        let error = connection.call("m", &json!({}), limit).unwrap_err();
        assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
    }

    #[test]
    fn an_absent_refused_or_impossible_socket_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("d.sock");
        assert!(matches!(Connection::open(&path, LIMIT), Err(ConnectError::Down { .. })));
        drop(UnixListener::bind(&path).unwrap());
        assert!(matches!(Connection::open(&path, LIMIT), Err(ConnectError::Down { .. })));
        let long = folder.path().join("x".repeat(200));
        assert!(matches!(Connection::open(&long, LIMIT), Err(ConnectError::PathTooLong { .. })));
        nudge(&path, LIMIT);
    }
}
