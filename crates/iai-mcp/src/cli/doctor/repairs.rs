//! `doctor --apply`: moves aside what is surely dead, and nothing else. Deletes only a draft, whose
//! words would be plain text there too.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use super::super::editor;
use super::Check;
use crate::client::is_nobody_the_daemon;
use crate::home::{Home, ensure_inner_folder, ensure_private_folder};

const NAME: &str = "repairs";
/// A file under its temporary name that nobody touched for so long was left by the dead.
const ABANDONED: Duration = Duration::from_secs(3600);
/// A fetched model takes long over a slow line.
const FETCH_ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// Whether to do something about what is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    /// Only say what could be done.
    Told,
    /// Move it aside.
    Applied,
}

/// Looks for what is surely dead, and moves it aside if that is wanted.
pub(super) fn check(home: &Home, repair: Repair, now: Timestamp) -> Check {
    let mut dead = dead_files(home, now.into());
    if editor::is_draft_left(home) {
        match repair {
            Repair::Told => dead.push(home.identity_draft()),
            Repair::Applied => {
                if let Err(error) = editor::remove_draft(home) {
                    let named = format!("{}: {error}", home.identity_draft().display());
                    return Check::fail(NAME, named, "remove it by hand: it is plain text");
                }
            }
        }
    }
    if dead.is_empty() {
        return Check::pass(NAME, "nothing dead lies about");
    }
    let named: Vec<String> = dead.iter().map(|path| path.display().to_string()).collect();
    let named = named.join(", ");
    match repair {
        Repair::Told => {
            Check::warn(NAME, format!("left by the dead: {named}"), "`iai-mcp doctor --apply`")
        }
        Repair::Applied => match move_aside(home, "", &dead, now) {
            Ok(folder) => Check::pass(NAME, format!("moved to {}: {named}", folder.display())),
            Err(error) => Check::fail(NAME, format!("{named}: {error}"), "move them away by hand"),
        },
    }
}

fn dead_files(home: &Home, now: SystemTime) -> Vec<PathBuf> {
    let mut dead = Vec::new();
    if is_dead_socket(home) {
        dead.push(home.socket().to_owned());
    }
    let is_half_spooled = |name: &str| name.starts_with('.') && name.ends_with(".jsonl.tmp");
    dead.extend(abandoned(&home.spool(), now, ABANDONED, is_half_spooled));
    let is_half_cursor = |name: &str| name.contains(".tmp-") || name.starts_with("check-");
    dead.extend(abandoned(&home.capture_state(), now, ABANDONED, is_half_cursor));
    let is_fetch = |name: &str| name.starts_with(".fetch-");
    dead.extend(abandoned(&home.models(), now, FETCH_ABANDONED, is_fetch));
    let is_doctors = |name: &str| name.starts_with(".doctor-");
    dead.extend(abandoned(home.root(), now, ABANDONED, is_doctors));
    dead
}

/// A socket nobody answers, while nobody holds the lock of the daemon: both must say so, because a
/// daemon that is very busy does not answer either.
fn is_dead_socket(home: &Home) -> bool {
    let path = home.socket();
    let is_socket = fs::symlink_metadata(path).is_ok_and(|facts| facts.file_type().is_socket());
    let refuses =
        || UnixStream::connect(path).is_err_and(|e| e.kind() == io::ErrorKind::ConnectionRefused);
    is_socket && refuses() && is_nobody_the_daemon(home)
}

fn abandoned(
    folder: &Path,
    now: SystemTime,
    age_min: Duration,
    is_meant: impl Fn(&str) -> bool,
) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let old = entries.filter(|entry| {
        let is_named = entry.file_name().to_str().is_some_and(&is_meant);
        let touched = entry.metadata().and_then(|facts| facts.modified());
        is_named && touched.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age_min <= age))
    });
    old.map(|entry| entry.path()).collect()
}

/// Moves files into a folder of `aside/` whose name begins so, and returns which.
pub(in crate::cli) fn move_aside(
    home: &Home,
    beginning: &str,
    dead: &[PathBuf],
    now: Timestamp,
) -> io::Result<PathBuf> {
    let folder = home.aside().join(format!("{beginning}{}", now.as_second()));
    ensure_inner_folder(&home.aside())?;
    ensure_private_folder(&folder)?;
    for (place, path) in dead.iter().enumerate() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        fs::rename(path, folder.join(format!("{place}-{}", name.trim_start_matches('.'))))?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::super::Verdict;
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().to_owned(), None);
        for path in [home.spool(), home.capture_state(), home.models()] {
            fs::create_dir_all(path).unwrap();
        }
        (folder, home)
    }

    fn later() -> Timestamp {
        crate::clock::now() + jiff::SignedDuration::from_hours(48)
    }

    #[test]
    fn what_is_dead_is_moved_aside_with_its_bytes() {
        let (_folder, home) = home();
        drop(UnixListener::bind(home.socket()).unwrap());
        fs::write(home.spool().join(".s-1.jsonl.tmp"), "half").unwrap();
        fs::create_dir(home.models().join(".fetch-1")).unwrap();
        assert_eq!(check(&home, Repair::Told, later()).verdict, Verdict::Warn);
        assert!(home.socket().exists(), "telling changes nothing");
        let done = check(&home, Repair::Applied, later());
        assert_eq!(done.verdict, Verdict::Pass, "{}", done.detail);
        assert!(!home.socket().exists() && !home.models().join(".fetch-1").exists());
        let aside: Vec<PathBuf> =
            fs::read_dir(home.aside()).unwrap().map(|entry| entry.unwrap().path()).collect();
        let kept = fs::read_dir(&aside[0]).unwrap().count();
        assert_eq!((aside.len(), kept), (1, 3));
        assert_eq!(check(&home, Repair::Applied, later()).detail, "nothing dead lies about");
    }

    #[test]
    fn what_may_be_alive_is_left_alone() {
        let (_folder, home) = home();
        let _listener = UnixListener::bind(home.socket()).unwrap();
        fs::write(home.spool().join("s-1.jsonl"), "waits").unwrap();
        assert_eq!(dead_files(&home, later().into()), Vec::<PathBuf>::new());
        fs::write(home.spool().join(".s-2.jsonl.tmp"), "being written").unwrap();
        assert_eq!(dead_files(&home, crate::clock::now().into()), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_draft_that_nobody_edits_is_named_and_goes() {
        let (_folder, home) = home();
        fs::write(home.identity_draft(), "who I am").unwrap();
        let editing = fs::File::open(home.root()).unwrap();
        editing.try_lock().unwrap();
        assert_eq!(check(&home, Repair::Applied, later()).verdict, Verdict::Pass);
        assert!(home.identity_draft().exists(), "somebody edits it");
        drop(editing);
        let told = check(&home, Repair::Told, later());
        assert!(told.verdict == Verdict::Warn && told.detail.contains("identity-draft"));
        assert_eq!(check(&home, Repair::Applied, later()).verdict, Verdict::Pass);
        assert!(!home.identity_draft().exists() && !home.aside().exists());
    }

    #[test]
    fn a_socket_whose_lock_is_held_is_left_alone() {
        let (_folder, home) = home();
        drop(UnixListener::bind(home.socket()).unwrap());
        let lock = fs::File::create(home.lock_file()).unwrap();
        lock.try_lock().unwrap();
        assert_eq!(dead_files(&home, later().into()), Vec::<PathBuf>::new());
    }
}
