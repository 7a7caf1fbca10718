//! The page in a real browser: fills a throw-away home, starts daemon and page, and has a script
//! click through every screen.

mod life;

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::product::Product;
use crate::{process, repository};

const BUILD_DEADLINE: Duration = Duration::from_mins(60);
const FETCH_DEADLINE: Duration = Duration::from_mins(10);
const FILL_DEADLINE: Duration = Duration::from_mins(30);
const DRIVE_DEADLINE: Duration = Duration::from_mins(15);
const N_MEMORIES: u64 = 100;
const N_MEMORIES_MAX: u64 = 1_000_000;

/// Names under which systems have the browser.
const BROWSERS: &[&str] = &["chromium", "chromium-browser", "google-chrome"];

/// How much is remembered, and by which build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    n_memories: u64,
    build: Build,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Build {
    /// What `cargo test` built: quick to have, slow with much to remember.
    Dev,
    Release,
}

impl Page {
    /// What is tried at every change.
    pub(crate) const SHORT: Self = Self { n_memories: N_MEMORIES, build: Build::Release };

    pub(crate) fn parse(words: &[&str]) -> Option<Self> {
        let mut page = Self { n_memories: N_MEMORIES, build: Build::Dev };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--release" => page.build = Build::Release,
                "--memories" => {
                    let n = words.next()?.parse().ok();
                    page.n_memories = n.filter(|n| (1..=N_MEMORIES_MAX).contains(n))?;
                }
                _ => return None,
            }
        }
        Some(page)
    }
}

pub(crate) fn run(page: Page) -> Result<(), String> {
    let browser = find_browser()?;
    let folder = repository::root().join("target/page");
    fetch_scripts(&folder)?;
    let binary = build(page.build)?;
    let mut product = Product::in_throw_away_home(&[OsString::from(&binary)])?;
    product.start_daemon()?;
    remember(&product, page.n_memories)?;
    let mut drive = clothed(&product, process::command("node"));
    drive.arg("drive.mjs").arg(&binary).arg(browser).arg(page.n_memories.to_string());
    drive.current_dir(&folder);
    let finished = process::finish(drive, DRIVE_DEADLINE)?;
    product.stop_daemon()?;
    if !finished.status.success() {
        return Err(format!("the page is not as it should be; pictures in {}", folder.display()));
    }
    println!("The page is well; pictures in {}", folder.display());
    Ok(())
}

/// Says what this system lacks to try the page, if anything.
pub(crate) fn missing() -> Option<String> {
    find_browser().err().or_else(|| find_npm().err())
}

fn find_browser() -> Result<&'static str, String> {
    let is_there = |name: &&&str| {
        let mut command = process::command(**name);
        command.arg("--version");
        process::works(command)
    };
    let found = BROWSERS.iter().find(is_there).copied();
    found.ok_or_else(|| {
        let names = BROWSERS.join(", ");
        format!("no browser: none of {names} starts; on Debian `apt install chromium` has it")
    })
}

fn find_npm() -> Result<(), String> {
    let mut npm = process::command("npm");
    npm.arg("--version");
    match process::works(npm) {
        true => Ok(()),
        false => Err("npm does not start; on Debian `apt install npm` has it".to_owned()),
    }
}

/// Puts the script and the packages it needs, at the versions of the lock file, into `folder`.
fn fetch_scripts(folder: &Path) -> Result<(), String> {
    find_npm()?;
    let io = |error| format!("cannot fill {}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(io)?;
    for name in ["package.json", "package-lock.json", ".npmrc", "drive.mjs", "details.mjs"] {
        let from = repository::root().join("xtask/page").join(name);
        fs::copy(&from, folder.join(name)).map_err(io)?;
    }
    let mut install = process::command("npm");
    install.args(["ci", "--no-audit", "--no-fund", "--silent", "--ignore-scripts"]);
    install.current_dir(folder);
    succeed("npm ci", install, FETCH_DEADLINE)
}

fn build(build: Build) -> Result<PathBuf, String> {
    if build == Build::Release {
        return repository::build_release();
    }
    let command = repository::cargo(&["build", "--locked", "-p", repository::PRODUCT]);
    succeed("cargo build", command, BUILD_DEADLINE)?;
    repository::debug_binary()
}

/// Has a made-up life remembered and put in order.
fn remember(product: &Product, n_memories: u64) -> Result<(), String> {
    let home = product.folder().ok_or("no throw-away home")?;
    write_transcripts(home, n_memories).map_err(|error| format!("writing history: {error}"))?;
    let mut import = product.command(&["import", "--host", "claude-code"]);
    import.stdout(std::process::Stdio::null());
    succeed("import", import, FILL_DEADLINE)?;
    let mut order = product.command(&["maintenance", "sleep-cycle"]);
    order.stdout(std::process::Stdio::null());
    succeed("maintenance sleep-cycle", order, FILL_DEADLINE)
}

fn write_transcripts(home: &Path, n_memories: u64) -> std::io::Result<()> {
    for session in life::sessions(n_memories, now_seconds()) {
        let folder = home.join(".claude/projects").join(format!("-home-dev-{}", session.project));
        fs::create_dir_all(&folder)?;
        let mut file = fs::File::create(folder.join(format!("{}.jsonl", session.name)))?;
        for line in session.lines {
            writeln!(file, "{line}")?;
        }
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the made-up history ends yesterday")]
fn now_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
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

fn succeed(what: &str, command: Command, deadline: Duration) -> Result<(), String> {
    let finished = process::finish(command, deadline)?;
    if finished.status.success() { Ok(()) } else { Err(format!("{what} failed; see above")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_how_much_is_remembered() {
        let dev = |n_memories| Some(Page { n_memories, build: Build::Dev });
        let cases: &[(&[&str], Option<Page>)] = &[
            (&[], dev(100)),
            (&["--memories", "10000"], dev(10_000)),
            (&["--release"], Some(Page { n_memories: 100, build: Build::Release })),
            (&["--memories"], None),
            (&["--memories", "0"], None),
            (&["10000"], None),
        ];
        for (words, want) in cases {
            assert_eq!(Page::parse(words), *want, "{words:?}");
        }
    }
}
