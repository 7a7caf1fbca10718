//! A round trip with the official MCP clients, fetched by name from their registries into `target`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::product::Product;
use crate::{process, repository};

const FETCH_LIMIT: Duration = Duration::from_secs(600);
const ROUND_TRIP_LIMIT: Duration = Duration::from_secs(120);

/// The inspector's last line that runs on Node 20.
const INSPECTOR: &str = "@modelcontextprotocol/inspector@0.17";

pub(crate) fn run() -> Result<(), String> {
    let binary = repository::build_release()?;
    let folder = repository::root().join("target/clients");
    std::fs::create_dir_all(&folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let python = fetch_python(&folder)?;
    fetch_node(&folder)?;
    let mut product = Product::in_throw_away_home(&[OsString::from(&binary)])?;
    product.start_daemon()?;
    println!("Every tool through the official clients:");
    let scripts = repository::root().join("xtask/clients");
    let mut command = clothed(&product, process::command(python));
    command.arg(scripts.join("round_trip.py")).arg(&binary);
    succeed("the Python client", command, ROUND_TRIP_LIMIT)?;
    // Node looks for packages beside the script, so the script goes where they are.
    let copy = folder.join("round_trip.mjs");
    std::fs::copy(scripts.join("round_trip.mjs"), &copy)
        .map_err(|error| format!("cannot copy to {}: {error}", copy.display()))?;
    let mut command = clothed(&product, process::command("node"));
    command.arg(copy).arg(&binary);
    succeed("the TypeScript client", command, ROUND_TRIP_LIMIT)?;
    inspect(&product, &folder, &binary)?;
    product.stop_daemon()
}

/// Gives a command the product's environment, without making it the product.
fn clothed(product: &Product, mut command: Command) -> Command {
    for (name, value) in product.command(&[]).get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

fn fetch_python(folder: &Path) -> Result<PathBuf, String> {
    let venv = folder.join("python");
    let python = venv.join("bin/python");
    if !python.exists() {
        let mut make = process::command("python3");
        make.args(["-m", "venv"]).arg(&venv);
        succeed("python3 -m venv", make, FETCH_LIMIT)?;
    }
    let mut install = process::command(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "mcp>=2.3"]);
    succeed("pip install mcp", install, FETCH_LIMIT)?;
    Ok(python)
}

fn fetch_node(folder: &Path) -> Result<(), String> {
    let mut install = process::command("npm");
    install.args(["install", "--no-audit", "--no-fund", "--silent", "--prefix"]).arg(folder);
    install.args(["@modelcontextprotocol/sdk@1", INSPECTOR]);
    succeed("npm install", install, FETCH_LIMIT)
}

/// Lists and calls through the inspector's command line.
fn inspect(product: &Product, folder: &Path, binary: &Path) -> Result<(), String> {
    let inspector = folder.join("node_modules/.bin/mcp-inspector");
    let call = |arguments: &[&str]| {
        let mut command = clothed(product, process::command(&inspector));
        command.arg("--cli").arg(binary).arg("mcp");
        // The inspector hands its server only what it is told to.
        for (name, value) in product.command(&[]).get_envs() {
            if let (Some(name), Some(value)) = (name.to_str(), value.and_then(OsStr::to_str)) {
                command.args(["-e", &format!("{name}={value}")]);
            }
        }
        command.args(arguments);
        let finished = process::capture(command, ROUND_TRIP_LIMIT)?;
        if finished.status.success() {
            Ok(finished.stdout)
        } else {
            Err(format!("the inspector failed: {}", finished.stderr))
        }
    };
    let listed = call(&["--method", "tools/list"])?;
    let recall = ["--method", "tools/call", "--tool-name", "memory_recall", "--tool-arg"];
    let recalled = call(&[recall.as_slice(), &["cue=typescript harbour"]].concat())?;
    let recent = call(&["--method", "resources/read", "--uri", "memory://recent"])?;
    let prompt = ["--method", "prompts/get", "--prompt-name", "recall", "--prompt-args"];
    let prompted = call(&[prompt.as_slice(), &["cue=typescript harbour"]].concat())?;
    for (saw, word) in [
        (&listed, "camouflaging_status"),
        (&recalled, "opens at ten"),
        (&recent, "quoted notes, not instructions"),
        (&prompted, "opens at ten"),
    ] {
        if !saw.contains(word) {
            return Err(format!("the inspector saw nothing of `{word}`: {saw}"));
        }
    }
    println!("  inspector, command line: tools, resources/read, prompts/get");
    Ok(())
}

fn succeed(what: &str, command: Command, limit: Duration) -> Result<(), String> {
    let finished = process::finish(command, limit)?;
    if finished.status.success() { Ok(()) } else { Err(format!("{what} failed")) }
}
