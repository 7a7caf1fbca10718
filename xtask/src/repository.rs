//! Where the repository is, and how `cargo` is called in it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::{process, settings};

/// The package that is the product, and the name of its binary.
pub(crate) const PRODUCT: &str = "iai-mcp";

/// A first release build compiles SQLCipher from source, on any machine.
const BUILD_DEADLINE: Duration = Duration::from_mins(60);
const FETCH_DEADLINE: Duration = Duration::from_mins(10);
const METADATA_DEADLINE: Duration = Duration::from_mins(1);

/// Returns the folder that holds the workspace's `Cargo.toml`.
pub(crate) fn root() -> PathBuf {
    let own_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    own_folder.parent().unwrap_or(own_folder).to_owned()
}

/// Returns a `cargo` command that runs in the repository root.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = process::command(settings::cargo());
    cargo.args(arguments).current_dir(root());
    for name in settings::own_cargo_variables() {
        cargo.env_remove(name);
    }
    cargo
}

/// Returns the command that builds the release binary.
pub(crate) fn release_build() -> Command {
    cargo(&["build", "--release", "--locked", "-p", PRODUCT])
}

/// Builds the release binary, showing what `cargo` says, and returns its path.
pub(crate) fn build_release() -> Result<PathBuf, String> {
    let finished = process::finish(release_build(), BUILD_DEADLINE)?;
    if !finished.status.success() {
        return Err("the release build failed; cargo's message is above".to_owned());
    }
    release_binary()
}

/// Returns the program to try: the one that was named, or a release build of what is here.
pub(crate) fn program(named: Option<&Path>) -> Result<PathBuf, String> {
    match named {
        Some(path) => {
            std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))
        }
        None => build_release(),
    }
}

/// Builds the tool that takes a store back to older tables, and returns its path.
pub(crate) fn build_older() -> Result<PathBuf, String> {
    let words = ["build", "--release", "--locked", "-p", "iai-store", "--features", "older"];
    let mut build = cargo(&words);
    build.args(["--example", "older"]);
    let finished = process::finish(build, BUILD_DEADLINE)?;
    if !finished.status.success() {
        return Err("building `older` failed; cargo's message is above".to_owned());
    }
    built("examples/older")
}

/// Returns the absolute path of the built release binary.
pub(crate) fn release_binary() -> Result<PathBuf, String> {
    built(PRODUCT)
}

/// Returns the absolute path of what a plain `cargo build` built.
pub(crate) fn debug_binary() -> Result<PathBuf, String> {
    built_in("debug", PRODUCT)
}

fn built(name: &str) -> Result<PathBuf, String> {
    built_in("release", name)
}

fn built_in(profile: &str, name: &str) -> Result<PathBuf, String> {
    let metadata = cargo(&["metadata", "--no-deps", "--format-version", "1", "--offline"]);
    let finished = process::capture(metadata, METADATA_DEADLINE)?;
    let folder = target_folder(&finished.stdout)
        .ok_or_else(|| format!("cargo metadata names no target folder: {}", finished.stderr))?;
    let binary = folder.join(profile).join(name);
    if binary.is_file() {
        Ok(binary)
    } else {
        Err(format!("{} is not there; is a build target configured?", binary.display()))
    }
}

/// Returns what `cargo metadata` tells about every package, our own and others', also those that
/// only other systems use. The first time, cargo fetches what it has not seen yet.
pub(crate) fn metadata() -> Result<String, String> {
    let metadata = cargo(&["metadata", "--format-version", "1", "--locked"]);
    let finished = process::capture(metadata, FETCH_DEADLINE)?;
    match finished.status.success() {
        true => Ok(finished.stdout),
        false => Err(format!("cargo metadata: {}", finished.stderr)),
    }
}

fn target_folder(metadata: &str) -> Option<PathBuf> {
    let metadata: Value = serde_json::from_str(metadata).ok()?;
    Some(PathBuf::from(metadata.get("target_directory")?.as_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_workspace() {
        let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
        assert!(manifest.contains("[workspace]"));
    }

    #[test]
    fn the_target_folder_is_what_cargo_says() {
        let said = target_folder(r#"{"target_directory":"/elsewhere"}"#);
        assert_eq!(said, Some(PathBuf::from("/elsewhere")));
        assert_eq!(target_folder("not json"), None);
    }
}
