//! Everything that has to be green, in order; stops at the first failure.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::crash::{self, Crash};
use crate::page::{self, Page};
use crate::{figures, process, repository, sync, tidy};

/// Checks written by others, seen from the repository root. They may be absent.
const ACCEPTANCE: &str = "../shared/acceptance";
/// The page listens on loopback, which is down in a new namespace; systems differ in what brings
/// it up.
const LOOPBACK_UP: &str = "{ ip link set lo up || ifconfig lo up || python3 -c 'import fcntl, \
    socket, struct; up = struct.pack(\"16sh\", b\"lo\", 73); \
    fcntl.ioctl(socket.socket(), 0x8914, up)'; } 2>/dev/null && exec \"$@\"";
const CARGO_DEADLINE: Duration = Duration::from_mins(60);
const ACCEPTANCE_DEADLINE: Duration = Duration::from_mins(15);

/// One thing that has to be green.
struct Step {
    name: String,
    work: Work,
}

enum Work {
    Tidy,
    Cargo(Vec<&'static str>),
    /// `cargo doc`, with every warning an error.
    Doc,
    /// Every test, where there is no network to call.
    Test,
    ReleaseBuild,
    /// A short run of kills.
    Crash,
    /// A short run of homes that share one memory.
    Sync,
    /// The page in a browser.
    Page,
    Acceptance(PathBuf),
}

/// How a step ended.
#[derive(Debug, PartialEq, Eq)]
enum Ending {
    Green,
    Red(String),
    NotRun,
}

pub(crate) fn run() -> Result<(), String> {
    let steps = steps()?;
    let results = run_in_order(&steps, |step| {
        println!("== {}", step.name);
        perform(&step.work)
    });
    let rows: Vec<(String, String)> = steps
        .iter()
        .zip(&results)
        .map(|(step, (ending, took))| (step.name.clone(), outcome(ending, *took)))
        .collect();
    println!("\n{}", figures::table(&rows));
    let red = steps.iter().zip(&results).find_map(|(step, (ending, _))| match ending {
        Ending::Red(sentence) => Some(format!("{}: {sentence}", step.name)),
        Ending::Green | Ending::NotRun => None,
    });
    red.map_or(Ok(()), Err)
}

fn steps() -> Result<Vec<Step>, String> {
    let cargo = |name: &str, arguments: &[&'static str]| Step {
        name: name.to_owned(),
        work: Work::Cargo(arguments.to_vec()),
    };
    let clippy =
        ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"].as_slice();
    let mut steps = vec![
        Step { name: "tidy".to_owned(), work: Work::Tidy },
        cargo("fmt", &["fmt", "--all", "--check"]),
        cargo("clippy", clippy),
        Step { name: "doc".to_owned(), work: Work::Doc },
        cargo("test build", &["test", "--workspace", "--locked", "--no-run"]),
        Step { name: "test".to_owned(), work: Work::Test },
        Step { name: "release build".to_owned(), work: Work::ReleaseBuild },
        Step { name: "crash".to_owned(), work: Work::Crash },
    ];
    match sync::left_out() {
        None => steps.push(Step { name: "sync".to_owned(), work: Work::Sync }),
        Some(why) => println!("sync: skipped, {why}"),
    }
    match page::missing() {
        None => steps.push(Step { name: "page".to_owned(), work: Work::Page }),
        Some(missing) => println!("page: skipped, {missing}"),
    }
    let folder = repository::root().join(ACCEPTANCE);
    if folder.is_dir() {
        let checks = executables(&folder)
            .map_err(|error| format!("cannot list {ACCEPTANCE}: {error}"))?
            .into_iter()
            .map(|path| Step { name: acceptance_name(&path), work: Work::Acceptance(path) });
        steps.extend(checks);
    } else {
        println!("acceptance: skipped, {ACCEPTANCE} is not there");
    }
    Ok(steps)
}

fn acceptance_name(path: &Path) -> String {
    format!("acceptance: {}", path.file_name().unwrap_or_default().to_string_lossy())
}

/// Runs each step until one is red; the rest are listed as not run.
fn run_in_order(
    steps: &[Step],
    mut perform: impl FnMut(&Step) -> Result<(), String>,
) -> Vec<(Ending, Duration)> {
    let mut results = Vec::new();
    let mut is_green = true;
    for step in steps {
        if !is_green {
            results.push((Ending::NotRun, Duration::ZERO));
            continue;
        }
        let begin = Instant::now();
        let ending = perform(step).map_or_else(Ending::Red, |()| Ending::Green);
        is_green = ending == Ending::Green;
        results.push((ending, begin.elapsed()));
    }
    results
}

fn outcome(ending: &Ending, took: Duration) -> String {
    let seconds = took.as_secs_f64();
    match ending {
        Ending::Green => format!("ok       {seconds:8.1} s"),
        Ending::Red(_) => format!("FAILED   {seconds:8.1} s"),
        Ending::NotRun => "not run".to_owned(),
    }
}

fn perform(work: &Work) -> Result<(), String> {
    match work {
        Work::Tidy => tidy::run(),
        Work::Cargo(arguments) => succeed(repository::cargo(arguments), CARGO_DEADLINE),
        Work::Doc => {
            let mut doc = repository::cargo(&["doc", "--workspace", "--no-deps", "--locked"]);
            doc.env("RUSTDOCFLAGS", "-D warnings");
            succeed(doc, CARGO_DEADLINE)
        }
        Work::Test => succeed(tests(), CARGO_DEADLINE),
        Work::ReleaseBuild => succeed(repository::release_build(), CARGO_DEADLINE),
        Work::Crash => crash::run(Crash::SHORT, &repository::release_binary()?),
        Work::Sync => sync::run_program(&sync::Ask::short(), &repository::release_binary()?),
        // A browser on a loaded machine loses a click now and then; what is wrong is so twice.
        Work::Page => page::run(Page::SHORT).or_else(|failure| {
            println!("{failure}; once more");
            page::run(Page::SHORT)
        }),
        Work::Acceptance(path) => accept(path),
    }
}

/// Returns the command that runs the tests: in a network namespace with nothing but a loopback,
/// where the system gives one to everybody, so that whatever called out would fail.
fn tests() -> Command {
    let cargo = repository::cargo(&["test", "--workspace", "--locked", "--offline"]);
    // Root needs no user namespace, and its tests give files away, which one does not allow.
    for flags in [&["--net"][..], &["--map-current-user", "--keep-caps", "--net"]] {
        let namespace = || {
            let mut unshare = process::command("unshare");
            unshare.args(flags).args(["--", "sh", "-c", LOOPBACK_UP, "sh"]);
            unshare
        };
        let mut trial = namespace();
        trial.arg("true");
        if process::works(trial) {
            return process::inside(namespace(), &cargo);
        }
    }
    println!("(no network namespace on this system: the tests could call out)");
    cargo
}

fn accept(path: &Path) -> Result<(), String> {
    let mut python = process::command("python3");
    python.arg("--version");
    if !process::works(python) {
        return Err("python3 is not there; the outside checks are written in it".to_owned());
    }
    let mut check = process::command(path);
    check
        .current_dir(repository::root())
        .env("IAI_BIN", repository::release_binary()?)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    succeed(check, ACCEPTANCE_DEADLINE)
}

fn succeed(command: Command, deadline: Duration) -> Result<(), String> {
    let finished = process::finish(command, deadline)?;
    if finished.status.success() { Ok(()) } else { Err(format!("ended with {}", finished.status)) }
}

/// Returns the files in `folder` that may be run, by name.
fn executables(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let about = fs::metadata(&path)?;
        if about.is_file() && about.permissions().mode() & 0o111 != 0 {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(name: &str) -> Step {
        Step { name: name.to_owned(), work: Work::Tidy }
    }

    #[test]
    fn the_first_red_step_ends_the_run() {
        let steps = [step("a"), step("b"), step("c")];
        let mut ran = Vec::new();
        let results = run_in_order(&steps, |step| {
            ran.push(step.name.clone());
            if step.name == "b" { Err("bad".to_owned()) } else { Ok(()) }
        });
        let endings: Vec<Ending> = results.into_iter().map(|(ending, _)| ending).collect();
        assert_eq!(ran, ["a", "b"]);
        assert_eq!(endings, [Ending::Green, Ending::Red("bad".to_owned()), Ending::NotRun]);
    }

    #[test]
    fn cheap_steps_come_first_and_the_binary_before_its_acceptance() {
        let steps = steps().unwrap();
        let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
        assert!(names.starts_with(&["tidy", "fmt", "clippy", "doc", "test build", "test"]));
        assert_eq!(names.get(6..8), Some(&["release build", "crash"][..]));
        let rest = names.iter().skip(8).filter(|name| !["sync", "page"].contains(*name));
        assert!(rest.clone().all(|name| name.starts_with("acceptance: ")), "{names:?}");
    }

    #[test]
    fn only_files_that_may_be_run_are_checks() {
        let folder = std::env::temp_dir().join(format!("iai-ci-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        fs::create_dir(folder.join("folder")).unwrap();
        for (name, mode) in [("b-check", 0o755), ("a-check", 0o555), ("words.py", 0o644)] {
            fs::write(folder.join(name), "").unwrap();
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        let found = executables(&folder);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found.unwrap(), [folder.join("a-check"), folder.join("b-check")]);
    }
}
