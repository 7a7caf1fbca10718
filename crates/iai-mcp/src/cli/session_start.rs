//! `session-start`: prints the brief of a new session. Prints nothing and exits 0 when there is
//! none to give.

use std::time::Duration;

use serde_json::{Value, json};

use super::output::Output;
use super::project_here;
use crate::client::{Client, Limits};
use crate::settings::Settings;

/// A session that begins does not wait longer: a daemon that hangs never answers.
const BRIEF_LIMIT: Duration = Duration::from_secs(2);

pub(super) fn run(settings: &Settings, session: &str, output: &Output) {
    let client = Client::with_limits(settings.clone(), Limits::all(BRIEF_LIMIT));
    let params = json!({"session_id": session, "project": project_here(None)});
    match client.call("session_start_payload", &params) {
        Ok(brief) => output.show(&brief, |brief| {
            brief.get("markdown").and_then(Value::as_str).unwrap_or_default().to_owned()
        }),
        Err(error) if error.is_silence() => output.remark(&format!("no brief: {error}")),
        Err(_) => {}
    }
}
