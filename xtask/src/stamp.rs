//! Writes the name of a commit into a finished program, so that a new commit needs no new build.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{process, repository};

/// How the place begins that the program keeps free for it.
const MARK: &[u8] = b"iai-mcp:commit[";
const COMMIT_BYTES_MAX: usize = 40;
const GIT_DEADLINE: Duration = Duration::from_secs(30);

/// What is checked out.
pub(crate) struct Commit {
    /// Short; with `+changes` where files differ from it.
    pub(crate) name: String,
    /// When it was made, in seconds since 1970.
    pub(crate) seconds: u64,
}

/// Asks git about the commit; `None` outside a repository.
pub(crate) fn commit() -> Option<Commit> {
    let ask = |arguments: &[&str]| {
        let mut git = process::command("git");
        git.args(arguments).current_dir(repository::root());
        let finished = process::capture(git, GIT_DEADLINE).ok()?;
        finished.status.success().then(|| finished.stdout.trim().to_owned())
    };
    let name = ask(&["rev-parse", "--short=12", "HEAD"]).filter(|name| !name.is_empty())?;
    let seconds = ask(&["log", "-1", "--format=%ct"])?.parse().ok()?;
    let is_clean = ask(&["status", "--porcelain"])?.is_empty();
    let name = if is_clean { name } else { format!("{name}+changes") };
    Some(Commit { name, seconds })
}

/// Makes a stamped copy of a program beside the original and returns its path; outside a
/// repository, the original's.
pub(crate) fn stamped_copy(program: &Path) -> Result<PathBuf, String> {
    let Some(commit) = commit() else { return Ok(program.to_owned()) };
    let failed = |error| format!("cannot copy {}: {error}", program.display());
    let copy = program.with_file_name(format!("{}-stamped", repository::PRODUCT));
    let bytes = stamped(&std::fs::read(program).map_err(failed)?, &commit.name)?;
    // Copied first, so that the mode comes along.
    std::fs::copy(program, &copy).map_err(failed)?;
    std::fs::write(&copy, bytes).map_err(failed)?;
    Ok(copy)
}

/// Returns the program's bytes with the commit in them.
pub(crate) fn stamped(program: &[u8], commit: &str) -> Result<Vec<u8>, String> {
    if commit.is_empty() || COMMIT_BYTES_MAX < commit.len() {
        return Err(format!("`{commit}` is no name of a commit"));
    }
    let places = program.windows(MARK.len()).enumerate().filter(|(_, bytes)| *bytes == MARK);
    let places: Vec<usize> = places.map(|(at, _)| at + MARK.len()).collect();
    let [start] = places.as_slice() else {
        return Err(format!("the program has {} places for a commit instead of one", places.len()));
    };
    let mut stamped = program.to_vec();
    let field = stamped.get_mut(*start..start + COMMIT_BYTES_MAX);
    let field = field.ok_or("the place for the commit is cut off")?;
    for (at, byte) in field.iter_mut().enumerate() {
        *byte = commit.as_bytes().get(at).copied().unwrap_or(b' ');
    }
    Ok(stamped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_takes_the_one_place_kept_for_it() {
        let program = format!("ELF…iai-mcp:commit[{}]…", " ".repeat(40));
        let once = stamped(program.as_bytes(), "0123456789ab+changes").unwrap();
        let text = String::from_utf8(once.clone()).unwrap();
        assert!(text.contains("[0123456789ab+changes                    ]"), "{text}");
        assert_eq!(once.len(), program.len());
        let again = stamped(&once, "fedc").unwrap();
        assert_eq!(again, stamped(program.as_bytes(), "fedc").unwrap(), "nothing of it is left");
    }

    #[test]
    fn a_program_without_a_place_is_refused() {
        assert!(stamped(b"ELF", "abc").is_err());
        let twice = format!("iai-mcp:commit[{0}]iai-mcp:commit[{0}]", " ".repeat(40));
        assert!(stamped(twice.as_bytes(), "abc").is_err());
        assert!(stamped(b"iai-mcp:commit[   ]", "abc").is_err(), "no room");
        assert!(stamped(twice.as_bytes(), &"a".repeat(41)).is_err());
    }
}
