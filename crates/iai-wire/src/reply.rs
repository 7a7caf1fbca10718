//! What the daemon answers to a call: a result or an error with a code, never silence.

use serde::Deserialize;
use serde_json::{Value, json};

/// The error codes of the founding contract, and ours beyond it.
pub mod code {
    /// The line is not JSON.
    pub const NOT_JSON: i64 = -32700;
    /// The line is JSON but not a request.
    pub const BAD_ENVELOPE: i64 = -32600;
    /// No such method.
    pub const UNKNOWN_METHOD: i64 = -32601;
    /// A parameter is missing or has the wrong type.
    pub const BAD_PARAMS: i64 = -32602;
    /// The request was understood and failed.
    pub const FAILED: i64 = -32001;
    /// The daemon cannot be reached; only ever made up on the client's side.
    pub const UNREACHABLE: i64 = -32002;
    /// Too many connections or queued requests; try again.
    pub const BUSY: i64 = -32003;
    /// The request took longer than its deadline and was given up.
    pub const DEADLINE: i64 = -32004;
    /// The store is still being opened; try again.
    pub const STARTING: i64 = -32005;
    /// A frame passed the size limit.
    pub const FRAME_TOO_LONG: i64 = -32006;
    /// The peer belongs to another user.
    pub const FOREIGN_PEER: i64 = -32007;
    /// A handler broke; the daemon lives on.
    pub const INTERNAL: i64 = -32008;
    /// The store cannot be opened or read; the message says why.
    pub const STORE: i64 = -32009;
}

/// Builds the reply to a call that succeeded. The result is moved, not copied: it is the largest
/// thing there is.
pub fn result_reply(id: &Value, result: Value) -> Value {
    let mut reply = json!({"jsonrpc": "2.0", "id": id});
    if let Some(fields) = reply.as_object_mut() {
        fields.insert("result".to_owned(), result);
    }
    reply
}

/// Builds the reply to a call that failed.
pub fn error_reply(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// A reply as the client reads it.
#[derive(Debug, Deserialize)]
pub struct Response {
    /// The id of the call it answers.
    #[serde(default)]
    pub id: Value,
    /// Present when the call succeeded.
    pub result: Option<Value>,
    /// Present when it failed.
    pub error: Option<ResponseError>,
}

/// Why a call failed.
#[derive(Debug, Deserialize)]
pub struct ResponseError {
    /// One of [`code`].
    pub code: i64,
    /// One sentence for a person.
    pub message: String,
}
