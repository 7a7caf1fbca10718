//! What two of our processes say to each other, in what bytes: frames on the socket, lines in a
//! spool file.
//!
//! No policy lives here: who may connect, what a request does and where a spool file goes is
//! decided by the binary.

mod connection;
mod frame;
#[cfg(test)]
mod fuzz;
mod lines;
mod reply;
mod request;
mod seal;
mod spool;

pub use connection::{CallError, ConnectError, Connection, nudge, peer_uid};
pub use frame::{FRAME_BYTES_MAX, FrameError, FrameReader, write_frame};
pub use lines::{LINE_BYTES_MAX, Line, LineReader};
pub use reply::{Response, ResponseError, code, error_reply, result_reply};
pub use request::{Call, Control, MalformedRequest, Params, Request};
pub use seal::{OpeningKey, SealError, SealingKey};
pub use spool::{
    SPOOL_VERSION, SpoolEvent, SpoolHeader, SpoolItem, SpoolReader, SpoolWriter, Unreadable,
    count_events, opens_nothing, why_unreadable,
};

/// Raised when a request or a reply changes its meaning; the handshake compares it.
pub const PROTOCOL_VERSION: u32 = 1;

/// What `by` says where a person asks and no assistant: what they are shown is served to none.
pub const BY_PERSON: &str = "person";

/// The longest socket path every supported system accepts, in bytes.
pub const SOCKET_PATH_BYTES_MAX: usize = if cfg!(target_os = "linux") { 107 } else { 103 };
