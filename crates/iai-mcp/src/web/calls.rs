//! Which of the daemon's methods the page may call, and how their answers are told.

use serde_json::{Value, json};

use super::lessons;
use crate::client::{CallError, Client};
use crate::fields::Fields as _;
use crate::settings::Settings;

/// Says what holds instead of a memory.
pub(super) const CORRECT: &str = "memory_contradict";
/// Who says so.
pub(super) const BY_PAGE: &str = "page";

/// What the page may call. The rest of the protocol is none of its business.
const METHODS: &[&str] = &[
    "picture_search",
    "picture_decided",
    "picture_sessions",
    "picture_session",
    "picture_memory",
    "picture_topics",
    "picture_members",
    "memory_show",
    "memory_pin",
    "memory_unpin",
    "memory_pins",
    CORRECT,
    "memory_forget_asked",
    "forget_status",
    "store_overview",
];

/// Tells whether the page may call a method.
pub(super) fn is_allowed(method: &str) -> bool {
    method == HEALTH || method == TAUGHT || METHODS.contains(&method)
}

/// What only this process can put together.
const HEALTH: &str = "health";
const TAUGHT: &str = "taught";

/// Has a call answered; a failure of the daemon's is an answer too.
pub(super) fn answer(client: &Client, settings: &Settings, method: &str, params: &Value) -> Value {
    match method {
        HEALTH => json!({"result": health(client, settings)}),
        TAUGHT => lessons::taught(client),
        _ => match client.call(method, params) {
            Ok(result) => json!({"result": result}),
            Err(error) => json!({"error": told(&error)}),
        },
    }
}

/// Tells a failure of the daemon's, and whether it is there at all.
pub(super) fn told(error: &CallError) -> Value {
    let code = match error {
        CallError::Refused { code, .. } => Some(*code),
        CallError::Connect(_) | CallError::Broken(_) | CallError::OtherProtocol { .. } => None,
    };
    json!({"code": code, "message": error.to_string(), "is_down": error.is_down()})
}

/// How the memory is. Never fails: a daemon that does not answer is what it tells.
fn health(client: &Client, settings: &Settings) -> Value {
    let home = &settings.home;
    let length = |path: &std::path::Path| std::fs::metadata(path).map_or(0, |facts| facts.len());
    let mut log = home.database().into_os_string();
    log.push("-wal");
    let mut told = json!({
        "program": env!("CARGO_PKG_VERSION"),
        "protocol": iai_wire::PROTOCOL_VERSION,
        "store": home.root(),
        "bytes": length(&home.database()) + length(log.as_ref()),
        "waiting": crate::capture::n_waiting(home),
    });
    match client.status() {
        Ok(status) => told.set("daemon", status),
        Err(error) => {
            told.set("daemon", Value::Null);
            told.set("why", error.to_string());
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_may_call_few_methods() {
        for method in ["picture_search", "memory_forget_asked", "health", "taught"] {
            assert!(is_allowed(method), "{method}");
        }
        for method in ["crypto_rotate", "memory_forget", "turns_store", "spool_show", ""] {
            assert!(!is_allowed(method), "{method}");
        }
    }
}
