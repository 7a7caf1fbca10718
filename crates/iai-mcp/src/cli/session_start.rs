//! `session-start`: prints the brief of a new session. Prints nothing and exits 0 when there is
//! none to give.

use serde_json::{Value, json};

use super::output::Output;
use super::project_here;
use crate::client::Client;

pub(super) fn run(client: &Client, session: &str, output: &Output) {
    let params = json!({"session_id": session, "project": project_here(None)});
    let Ok(brief) = client.call("session_start_payload", &params) else { return };
    output.show(&brief, |brief| {
        brief.get("markdown").and_then(Value::as_str).unwrap_or_default().to_owned()
    });
}
