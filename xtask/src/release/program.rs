//! The program of a release: built with no trace of this machine, stamped, asked about itself.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::archive::Entry;
use crate::stamp::Commit;
use crate::{process, repository, settings, stamp};

const BUILD_DEADLINE: Duration = Duration::from_mins(60);
const ANSWER_DEADLINE: Duration = Duration::from_secs(30);
/// A folder of its own: other flags would make every ordinary build start again.
const FOLDER: &str = "target/reproducible";
/// `(shell, the name its completions are looked for under)`.
const SHELLS: &[(&str, &str)] =
    &[("bash", "iai-mcp.bash"), ("zsh", "_iai-mcp"), ("fish", "iai-mcp.fish")];

/// A program that names its commit.
pub(super) struct Stamped {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
}

/// Builds the release program without the paths of this machine in it.
pub(super) fn build(commit: &Commit) -> Result<PathBuf, String> {
    let root = repository::root();
    let folder = root.join(FOLDER);
    let mut build = repository::release_build();
    let places = [(root, "/iai-mcp"), (settings::cargo_home(), "/cargo")];
    let remap = |flag: &str| {
        let flags: Vec<String> =
            places.iter().map(|(from, to)| format!("{flag}={}={to}", from.display())).collect();
        flags.join(" ")
    };
    build
        .env("RUSTFLAGS", remap("--remap-path-prefix"))
        .env("CFLAGS", remap("-ffile-prefix-map"))
        .env("SOURCE_DATE_EPOCH", commit.seconds.to_string())
        // A sixth of the file is names that only a developer's profiler reads.
        .env("CARGO_PROFILE_RELEASE_STRIP", "symbols")
        .arg("--target-dir")
        .arg(&folder);
    let finished = process::finish(build, BUILD_DEADLINE)?;
    if !finished.status.success() {
        return Err("the release build failed; cargo's message is above".to_owned());
    }
    Ok(folder.join("release").join(repository::PRODUCT))
}

/// Stamps a copy and has it prove that it knows its commit.
pub(super) fn stamped(binary: &Path, commit: &Commit) -> Result<Stamped, String> {
    let path = stamp::stamped_copy(binary)?;
    if cfg!(target_os = "macos") {
        // A changed file is no longer what the linker signed, and would not be started.
        let mut sign = process::command("codesign");
        sign.args(["--force", "--sign", "-"]).arg(&path);
        process::capture(sign, ANSWER_DEADLINE)?;
    }
    let version = said(&path, &["--version"])?;
    let want = format!("commit {}", commit.name);
    if version.lines().nth(1) != Some(&*want) {
        return Err(format!("the stamped program says something else than `{want}`: {version}"));
    }
    let bytes = super::read(&path)?;
    Ok(Stamped { path, bytes })
}

/// Returns the completions of every shell.
pub(super) fn completions(program: &Path) -> Result<Vec<Entry>, String> {
    let entry = |(shell, name): &(&str, &str)| {
        let text = said(program, &["completions", shell])?;
        Ok(Entry::data(format!("completions/{name}"), text))
    };
    SHELLS.iter().map(entry).collect()
}

/// Returns the manual pages, where the program can write them.
pub(super) fn manual(program: &Path) -> Result<Vec<Entry>, String> {
    let help = said(program, &["--help"])?;
    let has_manual = help.lines().any(|line| line.split_whitespace().next() == Some("man"));
    if !has_manual {
        println!("  (the program has no `man` command: no manual pages)");
        return Ok(Vec::new());
    }
    let folder = repository::root().join("target/man");
    let failed = |error| format!("{}: {error}", folder.display());
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(failed)?;
    }
    std::fs::create_dir_all(&folder).map_err(failed)?;
    said(program, &["man", "--dir", &folder.to_string_lossy()])?;
    let mut pages = Vec::new();
    super::collect(&folder, "man", &mut pages)?;
    Ok(pages)
}

/// Returns what `rustc` calls this machine.
pub(super) fn target() -> Result<String, String> {
    let mut rustc = process::command("rustc");
    rustc.arg("-vV");
    let told = process::capture(rustc, ANSWER_DEADLINE)?.stdout;
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| format!("rustc names no host: {told}"))
}

/// Runs the program without the user's home or settings.
fn said(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = process::command(program);
    command.args(arguments).env_clear().env("HOME", "/nonexistent");
    let finished = process::capture(command, ANSWER_DEADLINE)?;
    if finished.status.success() {
        Ok(finished.stdout)
    } else {
        Err(format!("`iai-mcp {}` failed: {}", arguments.join(" "), finished.stderr))
    }
}
