//! What the tasks take from the environment; nothing else here reads it.
#![expect(clippy::disallowed_methods, reason = "this is the one reader of the environment")]

use std::ffi::OsString;
use std::path::PathBuf;

/// Returns the user's own home.
pub(crate) fn home() -> Option<OsString> {
    std::env::var_os("HOME")
}

/// Returns the `cargo` that started this task, so that every step uses the same toolchain.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Returns where `cargo` keeps the sources it fetched.
pub(crate) fn cargo_home() -> PathBuf {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    named.unwrap_or_else(|| PathBuf::from(home().unwrap_or_default()).join(".cargo"))
}

/// Returns the C compiler a build would call.
pub(crate) fn c_compiler() -> OsString {
    std::env::var_os("CC").filter(|name| !name.is_empty()).unwrap_or_else(|| "cc".into())
}

/// Returns the words of a command line given in variable `name`, split at white space.
pub(crate) fn command_line(name: &str) -> Option<Vec<OsString>> {
    let line = std::env::var(name).ok()?;
    let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    if words.is_empty() { None } else { Some(words) }
}

/// Returns the names of the variables `cargo run` set to describe this crate to itself.
///
/// A nested `cargo` that inherits them may believe a build script's inputs changed.
pub(crate) fn own_cargo_variables() -> Vec<String> {
    names_starting_with(&["CARGO_PKG_", "CARGO_MANIFEST_"])
}

/// Returns the names of the variables that would steer the product or hand it a socket.
pub(crate) fn product_variables() -> Vec<String> {
    names_starting_with(&["IAI_", "LISTEN_"])
}

fn names_starting_with(prefixes: &[&str]) -> Vec<String> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    names.filter(|name| prefixes.iter().any(|prefix| name.starts_with(prefix))).collect()
}
