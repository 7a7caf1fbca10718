//! Whether the other machines of a vault are heard of.

use serde_json::{Value, json};

use super::Check;
use crate::client::{CallError, Client};
use crate::fields::Fields as _;

const NAME: &str = "sync";

/// Looks at every vault; off is well.
pub(super) fn check(client: &Client, status: &Result<Value, CallError>) -> Check {
    if status.is_err() {
        return Check::unknown(NAME);
    }
    let told = match client.call_daemon("sync_status", &json!({})) {
        Ok(told) => told,
        Err(error) => return Check::warn(NAME, error.to_string(), "`iai-mcp sync status`"),
    };
    let vaults = told.at("vaults").as_array().map(Vec::as_slice).unwrap_or_default();
    if vaults.is_empty() {
        return Check::pass(NAME, "off: this memory is on this machine only");
    }
    match vaults.iter().find_map(trouble) {
        Some(trouble) => Check::warn(NAME, trouble, "`iai-mcp sync status` tells more"),
        None => {
            let names: Vec<&str> =
                vaults.iter().filter_map(|vault| vault.at("name").as_str()).collect();
            Check::pass(NAME, format!("{}: nothing is wrong", names.join(", ")))
        }
    }
}

fn trouble(vault: &Value) -> Option<String> {
    let name = vault.at("name").as_str().unwrap_or_default();
    let machines = vault.at("machines").as_array().into_iter().flatten();
    let of_machine = machines.filter_map(|machine| machine.at("trouble").as_str()).next();
    let told = vault.at("trouble").as_str().or(of_machine)?;
    Some(format!("{name}: {told}"))
}
