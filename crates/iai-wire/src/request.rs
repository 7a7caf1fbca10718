//! What a client may say: a JSON-RPC 2.0 call, or one of seven plain control messages.
//!
//! A line without `jsonrpc` whose `type` is known is a control message; everything else must be a
//! JSON-RPC call. There are no notifications and no batches: every line gets exactly one answer, in
//! order.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::reply::{code, error_reply};

/// A reason longer than this is cut.
const REASON_CHARS_MAX: usize = 500;
/// A session id longer than this is cut.
const SESSION_ID_CHARS_MAX: usize = 128;
/// Methods that get thousands of turns in one message, and read them in one go.
const BULK_METHODS: [&str; 2] = ["turns_store", "turns_check"];

/// One line from a client, understood.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// A plain control message.
    Control(Control),
    /// A JSON-RPC call.
    Call(Call),
}

/// The control messages of the founding contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Control {
    /// Asks how the daemon is.
    Status,
    /// Asks for consolidation now.
    UserInitiatedSleep {
        /// The user's reason, cut to 500 characters.
        reason: String,
    },
    /// Asks to end consolidation.
    ForceWake,
    /// Asks for one consolidation cycle.
    ForceRem,
    /// Asks to hold consolidation back.
    Pause {
        /// For how long; `None` means until `resume`.
        seconds: Option<u64>,
    },
    /// Ends a pause.
    Resume,
    /// Announces a host session.
    SessionOpen {
        /// The host's session id, cut to 128 characters.
        session_id: Option<String>,
    },
}

/// A JSON-RPC call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Echoed verbatim in the reply: a string or a number.
    pub id: Value,
    /// The method's name.
    pub method: String,
    /// An object or an array; an absent `params` is an empty object.
    pub params: Params,
}

/// What a call is about.
#[derive(Debug, Clone, PartialEq)]
pub enum Params {
    /// Read.
    Read(Value),
    /// As they were written, for a method that gets many: nothing is read twice.
    Written(Box<str>),
}

impl Params {
    /// Returns the parameters of a method that does not get many.
    pub fn read(&self) -> &Value {
        match self {
            Self::Read(value) => value,
            Self::Written(_) => &Value::Null,
        }
    }
}

/// The shape of a call with many parameters.
#[derive(Deserialize)]
struct BulkCall<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    id: Value,
    #[serde(borrow)]
    method: Cow<'a, str>,
    params: Box<RawValue>,
}

/// A line that is no request, with the reply it gets.
#[derive(Debug, Clone, PartialEq)]
pub struct MalformedRequest {
    /// What to send back.
    pub reply: Value,
}

impl Request {
    /// Understands one frame.
    pub fn parse(frame: &[u8]) -> Result<Self, MalformedRequest> {
        if let Some(call) = parse_bulk(frame) {
            return Ok(Self::Call(call));
        }
        let message: Value = serde_json::from_slice(frame).map_err(|error| MalformedRequest {
            reply: error_reply(
                &Value::Null,
                code::NOT_JSON,
                &format!("not JSON: {error}; send one JSON object per line"),
            ),
        })?;
        match message {
            Value::Object(fields) => Self::parse_object(fields),
            other => Err(bad_envelope(
                &Value::Null,
                &format!("expected one JSON object, got {}", kind(&other)),
            )),
        }
    }

    fn parse_object(mut fields: Map<String, Value>) -> Result<Self, MalformedRequest> {
        if !fields.contains_key("jsonrpc")
            && let Some(control) = parse_control(&fields)
        {
            return control.map(Self::Control);
        }
        let Some(id @ (Value::String(_) | Value::Number(_))) = fields.remove("id") else {
            return Err(bad_envelope(&Value::Null, "`id` must be a string or a number"));
        };
        if fields.get("jsonrpc") != Some(&Value::String("2.0".to_owned())) {
            return Err(bad_envelope(&id, "`jsonrpc` must be \"2.0\""));
        }
        let Some(Value::String(method)) = fields.remove("method") else {
            return Err(bad_envelope(&id, "`method` must be a string"));
        };
        match fields.remove("params") {
            None => Ok(Self::Call(Call { id, method, params: Params::Read(json!({})) })),
            Some(params @ (Value::Object(_) | Value::Array(_))) => {
                Ok(Self::Call(Call { id, method, params: Params::Read(params) }))
            }
            Some(_) => Err(bad_envelope(&id, "`params` must be an object or an array")),
        }
    }
}

/// Returns `None` for whatever has to be judged field by field.
fn parse_bulk(frame: &[u8]) -> Option<Call> {
    let call: BulkCall<'_> = serde_json::from_slice(frame).ok()?;
    let is_call = call.jsonrpc == "2.0" && (call.id.is_string() || call.id.is_number());
    let is_bulk = BULK_METHODS.contains(&call.method.as_ref());
    (is_call && is_bulk && call.params.get().starts_with('{')).then(|| Call {
        id: call.id,
        method: call.method.into_owned(),
        params: Params::Written(call.params.into()),
    })
}

/// Returns `None` when the message is not one of the seven, so that it is judged as JSON-RPC.
fn parse_control(fields: &Map<String, Value>) -> Option<Result<Control, MalformedRequest>> {
    let kind = fields.get("type")?.as_str()?;
    let read = ControlFields(fields);
    let control = match kind {
        "status" => Ok(Control::Status),
        "user_initiated_sleep" => read.optional_text("reason").map(|reason| {
            let reason = cut(reason.unwrap_or_default(), REASON_CHARS_MAX);
            Control::UserInitiatedSleep { reason }
        }),
        "force_wake" => Ok(Control::ForceWake),
        "force_rem" => Ok(Control::ForceRem),
        "pause" => read.optional_count("seconds").map(|seconds| Control::Pause { seconds }),
        "resume" => Ok(Control::Resume),
        "session_open" => read.optional_text("session_id").map(|session_id| {
            let session_id = session_id.map(|id| cut(id, SESSION_ID_CHARS_MAX));
            Control::SessionOpen { session_id }
        }),
        _ => return None,
    };
    Some(read.optional_text("ts").and(control).map_err(|error| MalformedRequest {
        reply: json!({"ok": false, "reason": "invalid_message", "error": error}),
    }))
}

struct ControlFields<'a>(&'a Map<String, Value>);

impl ControlFields<'_> {
    fn optional_text(&self, name: &str) -> Result<Option<String>, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(format!("`{name}` must be a string, got {}", kind(other))),
        }
    }

    fn optional_count(&self, name: &str) -> Result<Option<u64>, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or_else(|| {
                format!("`{name}` must be a whole number of at least 0, got {}", kind(value))
            }),
        }
    }
}

fn cut(text: String, n_chars: usize) -> String {
    match text.char_indices().nth(n_chars) {
        None => text,
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned(),
    }
}

fn bad_envelope(id: &Value, why: &str) -> MalformedRequest {
    MalformedRequest { reply: error_reply(id, code::BAD_ENVELOPE, why) }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: Value, method: &str, params: Value) -> Request {
        Request::Call(Call { id, method: method.to_owned(), params: Params::Read(params) })
    }

    #[track_caller]
    fn check(line: &str, want: Request) {
        assert_eq!(Request::parse(line.as_bytes()), Ok(want));
    }

    #[track_caller]
    fn check_refused(line: &[u8], want_code: i64, want_id: &Value) {
        let reply = Request::parse(line).unwrap_err().reply;
        assert_eq!((&reply["error"]["code"], &reply["id"]), (&json!(want_code), want_id));
    }

    #[test]
    fn calls_keep_the_type_of_their_id() {
        let line = r#"{"jsonrpc":"2.0","id":7,"method":"topology"}"#;
        check(line, call(json!(7), "topology", json!({})));
        let line = r#"{"jsonrpc":"2.0","id":"a","method":"m","params":[1]}"#;
        check(line, call(json!("a"), "m", json!([1])));
    }

    #[test]
    fn many_turns_stay_as_they_were_written() {
        let params = r#"{"appends": [ ]}"#;
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"turns_store","params":{params}}}"#);
        let (id, method) = (json!(1), "turns_store".to_owned());
        check(&line, Request::Call(Call { id, method, params: Params::Written(params.into()) }));
        check_refused(
            br#"{"jsonrpc":"2.0","id":1,"method":"turns_store","params":3}"#,
            -32600,
            &json!(1),
        );
        check_refused(
            br#"{"jsonrpc":"2.0","id":1,"method":"turns_store","params":{"}}"#,
            -32700,
            &Value::Null,
        );
        check_refused(
            br#"{"jsonrpc":"2.0","id":null,"method":"turns_store","params":{}}"#,
            -32600,
            &Value::Null,
        );
    }

    #[test]
    fn controls_are_understood_without_an_envelope() {
        check(r#"{"type":"status"}"#, Request::Control(Control::Status));
        check(
            r#"{"type":"pause","seconds":60}"#,
            Request::Control(Control::Pause { seconds: Some(60) }),
        );
        check(
            r#"{"type":"session_open","session_id":"s","ts":"2026-01-01T00:00:00Z"}"#,
            Request::Control(Control::SessionOpen { session_id: Some("s".to_owned()) }),
        );
    }

    #[test]
    fn long_reasons_are_cut_at_a_character() {
        let line = format!(r#"{{"type":"user_initiated_sleep","reason":"{}"}}"#, "é".repeat(600));
        let reason = "é".repeat(500);
        check(&line, Request::Control(Control::UserInitiatedSleep { reason }));
    }

    #[test]
    fn hostile_lines_get_named_errors() {
        check_refused(b"not json", -32700, &Value::Null);
        check_refused(b"", -32700, &Value::Null);
        check_refused(b"\xff\xfe", -32700, &Value::Null);
        check_refused("[".repeat(100_000).as_bytes(), -32700, &Value::Null);
        check_refused(b"[1,2]", -32600, &Value::Null);
        check_refused(br#"{"type":"unheard_of"}"#, -32600, &Value::Null);
        check_refused(br#"{"jsonrpc":"2.0","method":"m"}"#, -32600, &Value::Null);
        check_refused(br#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, -32600, &Value::Null);
        check_refused(br#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, -32600, &json!(1));
        check_refused(br#"{"jsonrpc":"2.0","id":1,"method":2}"#, -32600, &json!(1));
        check_refused(br#"{"jsonrpc":"2.0","id":1,"method":"m","params":3}"#, -32600, &json!(1));
    }

    #[test]
    fn controls_with_wrong_types_are_refused_plainly() {
        for line in [
            r#"{"type":"pause","seconds":"soon"}"#,
            r#"{"type":"pause","seconds":-1}"#,
            r#"{"type":"session_open","session_id":4}"#,
            r#"{"type":"force_rem","ts":4}"#,
        ] {
            let reply = Request::parse(line.as_bytes()).unwrap_err().reply;
            assert_eq!(reply["reason"], "invalid_message", "{line}");
            assert_eq!(reply["ok"], false, "{line}");
        }
    }
}
