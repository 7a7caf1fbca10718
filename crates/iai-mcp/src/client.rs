//! The way to the memory for everybody who is not the daemon: over the socket, or degraded when
//! nobody listens.
//!
//! Never starts a daemon; only `start.rs` does, and only for `daemon start` and `setup`.

mod degraded;
mod leaving;
mod start;
mod stop;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use iai_wire::{CallError as WireError, ConnectError, Connection, PROTOCOL_VERSION, code};
use serde::Serialize;
use serde_json::{Value, json};
use thiserror::Error;

pub(crate) use degraded::{
    ExistingStore, ExportWanted, Extent, Vectors, back_up, check_backup, check_key, check_logs,
    check_store, create_key, export, is_nobody_the_daemon, is_room_missing, key_status,
    matched_words, restore, rotate_data_key, rotate_master, verify_store, why_no_database,
};
pub(crate) use leaving::delete_store;
pub(crate) use start::{StartFailed, Started, start_daemon, wake_daemon};
pub(crate) use stop::{Stopped, stop_daemon};

use crate::fields::Fields as _;
use crate::home::Home;
use crate::settings::Settings;

const CONNECT_LIMIT: Duration = Duration::from_secs(5);
const CALL_LIMIT: Duration = Duration::from_secs(30);
const STATUS_LIMIT: Duration = Duration::from_secs(10);
/// How long each step to the daemon may take.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    connect: Duration,
    call: Duration,
}

impl Limits {
    /// The same limit for each step.
    pub(crate) fn all(limit: Duration) -> Self {
        Self { connect: limit, call: limit }
    }
}

/// Connections kept for the next call.
const IDLE_MAX: usize = 4;

/// A client of one daemon; clones share its connections.
#[derive(Clone)]
pub(crate) struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    settings: Settings,
    limits: Limits,
    idle: Mutex<Vec<Connection>>,
}

/// Why a call has no result: a sentence for a person or an assistant.
#[derive(Debug, Error)]
pub(crate) enum CallError {
    #[error("{message}")]
    Refused { code: i64, message: String },
    #[error("{0}")]
    Connect(#[from] ConnectError),
    #[error("{_0}; {next}", next = next_after(_0))]
    Broken(WireError),
    #[error(
        "the daemon (version {version}) speaks protocol {theirs} and this program \
         {PROTOCOL_VERSION}; run `iai-mcp daemon restart`"
    )]
    OtherProtocol { version: String, theirs: u64 },
}

/// A daemon that is silent is ended; anything else has to be looked into.
fn next_after(error: &WireError) -> &'static str {
    match error {
        WireError::TimedOut { .. } => "if it stays so, `iai-mcp daemon restart` ends it",
        _ => "`iai-mcp doctor` looks into it",
    }
}

impl From<WireError> for CallError {
    fn from(error: WireError) -> Self {
        match error {
            WireError::Refused { code, message } => Self::Refused { code, message },
            other => Self::Broken(other),
        }
    }
}

/// Returns the version of the tables this program writes.
pub(crate) fn store_schema() -> u32 {
    degraded::store_schema()
}

impl Client {
    pub(crate) fn new(settings: Settings) -> Self {
        Self::with_limits(settings, Limits { connect: CONNECT_LIMIT, call: CALL_LIMIT })
    }

    pub(crate) fn with_limits(settings: Settings, limits: Limits) -> Self {
        Self { shared: Arc::new(Shared { settings, limits, idle: Mutex::new(Vec::new()) }) }
    }

    /// Returns where everything of this client's store lies.
    pub(crate) fn home(&self) -> &Home {
        &self.shared.settings.home
    }

    /// Has a call answered. With nobody listening, reads come read-only from the store and captures
    /// go to the spool, both marked `degraded`.
    pub(crate) fn call(&self, method: &str, params: &Value) -> Result<Value, CallError> {
        match self.call_daemon(method, params) {
            Err(CallError::Connect(ConnectError::Down { .. })) => {
                degraded::answer(&self.shared.settings, method, params)
            }
            // A text may be of any length, a message may not: the spool takes it in.
            Err(CallError::Broken(WireError::TooLarge)) if method == "memory_capture" => {
                degraded::capture_by_spool(&self.shared.settings, params)
            }
            other => other,
        }
    }

    /// Has a call answered by the daemon or not at all.
    pub(crate) fn call_daemon(
        &self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<Value, CallError> {
        // Taken in a statement of its own: the lock must be free again when the connection is put
        // back.
        let kept = self.idle().pop();
        if let Some(mut connection) = kept {
            match connection.call(method, params, self.shared.limits.call) {
                // The daemon was replaced since the last call. Every method may be sent twice: ids
                // decide.
                Err(WireError::Closed | WireError::Io(_)) => {}
                answered => return Ok(self.keep(connection, answered)?),
            }
        }
        let mut connection = self.connect()?;
        let answered = connection.call(method, params, self.shared.limits.call);
        Ok(self.keep(connection, answered)?)
    }

    /// Asks the daemon how it is.
    pub(crate) fn status(&self) -> Result<Value, CallError> {
        self.control(&json!({"type": "status"}))
    }

    /// Sends the daemon one of the contract's control messages.
    pub(crate) fn control(&self, message: &Value) -> Result<Value, CallError> {
        let mut connection = Connection::open(self.shared.settings.home.socket(), CONNECT_LIMIT)?;
        Ok(connection.control(message, STATUS_LIMIT)?)
    }

    fn connect(&self) -> Result<Connection, CallError> {
        let limits = self.shared.limits;
        let mut connection = Connection::open(self.shared.settings.home.socket(), limits.connect)?;
        let version = env!("CARGO_PKG_VERSION");
        let hello = json!({"protocol": PROTOCOL_VERSION, "version": version});
        let theirs = connection.call("hello", &hello, limits.call)?;
        let protocol = theirs.at("protocol").as_u64().unwrap_or_default();
        if protocol != u64::from(PROTOCOL_VERSION) {
            let version = theirs.at("version").as_str().unwrap_or("unknown").to_owned();
            return Err(CallError::OtherProtocol { version, theirs: protocol });
        }
        Ok(connection)
    }

    /// Puts a connection back unless its state is unknown.
    fn keep(
        &self,
        connection: Connection,
        answered: Result<Value, WireError>,
    ) -> Result<Value, WireError> {
        let is_sound =
            matches!(answered, Ok(_) | Err(WireError::Refused { .. } | WireError::TooLarge));
        let mut idle = self.idle();
        if is_sound && idle.len() < IDLE_MAX {
            idle.push(connection);
        }
        answered
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.shared.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallError {
    /// Tells whether nobody listens.
    pub(crate) fn is_down(&self) -> bool {
        matches!(self, Self::Connect(ConnectError::Down { .. }))
    }

    /// Tells whether somebody listens and does not answer.
    pub(crate) fn is_silence(&self) -> bool {
        matches!(
            self,
            Self::Connect(ConnectError::TimedOut { .. }) | Self::Broken(WireError::TimedOut { .. })
        )
    }

    /// Tells whether the daemon is away or busy for a moment, so that the same may work later.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Refused { code, .. } => {
                matches!(*code, code::STARTING | code::BUSY | code::DEADLINE)
            }
            Self::Broken(error) => matches!(error, WireError::Closed | WireError::Io(_)),
            Self::Connect(_) => self.is_down(),
            Self::OtherProtocol { .. } => false,
        }
    }

    /// Tells whether the request did not fit into a message.
    pub(crate) fn is_too_large(&self) -> bool {
        matches!(self, Self::Broken(WireError::TooLarge))
    }

    /// Tells whether the store or its key is the reason.
    pub(crate) fn is_about_the_store(&self) -> bool {
        matches!(self, Self::Refused { code: code::STORE, .. })
    }
}
