//! Which files of the spool folder are due, by their names and ages.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

/// A live buffer nobody wrote to for this long belongs to a session that is over.
const LIVE_QUIET_SECS: i64 = 120;

/// A half-written file nobody finished for this long belongs to a hook that was killed. It was
/// never acknowledged, and the transcript it came from is read again.
const HALF_WRITTEN_SECS: i64 = 600;

/// A glance opens at most this many files.
const GLANCE_FILES_MAX: usize = 512;

/// A file with turns in it.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) written_at: Timestamp,
    /// Not before; `None` means now.
    pub(super) due_at: Option<Timestamp>,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Ready,
    /// Still being appended to, until it falls quiet.
    Live,
    /// Under its temporary name.
    HalfWritten,
    /// Not a spool file, or one that was given up for good.
    Other,
}

/// Lists the spool in name order. A live buffer that fell quiet is renamed first, so that a late
/// writer starts a new one.
pub(super) fn waiting(folder: &Path, now: Timestamp) -> io::Result<Vec<Waiting>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let metadata = match fs::symlink_metadata(entry.path()) {
            Ok(metadata) if metadata.is_file() => metadata,
            _ => continue,
        };
        let written_at = Timestamp::from_second(metadata.mtime()).unwrap_or(now);
        match kind(&name) {
            Kind::Other => {}
            Kind::HalfWritten => sweep(&entry.path(), written_at, now)?,
            Kind::Ready => {
                found.push(Waiting { path: entry.path(), name, written_at, due_at: None });
            }
            Kind::Live => found.push(live(folder, &name, written_at, now)?),
        }
    }
    found.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(found)
}

/// Counts the turns that wait now and says since when, without touching anything; nothing when
/// there are too many files to look into while somebody waits for the answer.
pub(in crate::daemon) fn glance(folder: &Path) -> Option<(u64, Option<Timestamp>)> {
    let (mut n_waiting, mut oldest_at, mut n_files) = (0, None, 0);
    for entry in fs::read_dir(folder).ok()? {
        let entry = entry.ok()?;
        let name = entry.file_name();
        if !matches!(kind(&name.to_string_lossy()), Kind::Ready | Kind::Live) {
            continue;
        }
        n_files += 1;
        if GLANCE_FILES_MAX < n_files {
            return None;
        }
        // Drained between the two looks.
        let Ok(metadata) = fs::symlink_metadata(entry.path()) else { continue };
        n_waiting += super::n_turns(&entry.path());
        let written_at = Timestamp::from_second(metadata.mtime()).ok()?;
        oldest_at = Some(oldest_at.map_or(written_at, |oldest: Timestamp| oldest.min(written_at)));
    }
    Some((n_waiting, oldest_at))
}

#[expect(clippy::disallowed_methods, reason = "never renamed into place, so never acknowledged")]
fn sweep(path: &Path, written_at: Timestamp, now: Timestamp) -> io::Result<()> {
    if written_at + SignedDuration::from_secs(HALF_WRITTEN_SECS) < now {
        fs::remove_file(path)?;
    }
    Ok(())
}

fn kind(name: &str) -> Kind {
    if name.starts_with('.') && name.ends_with(".jsonl.tmp") {
        Kind::HalfWritten
    } else if name.starts_with('.')
        || !name.ends_with(".jsonl")
        || name.contains(".permanent-failed-")
    {
        Kind::Other
    } else if name.ends_with(".live.jsonl") {
        Kind::Live
    } else {
        Kind::Ready
    }
}

fn live(folder: &Path, name: &str, written_at: Timestamp, now: Timestamp) -> io::Result<Waiting> {
    let quiet_at = written_at + SignedDuration::from_secs(LIVE_QUIET_SECS);
    if now < quiet_at {
        let (path, name) = (folder.join(name), name.to_owned());
        return Ok(Waiting { path, name, written_at, due_at: Some(quiet_at) });
    }
    let session = name.trim_end_matches(".live.jsonl");
    let rolled = format!("{session}.live-{}.jsonl", now.as_millisecond());
    let path = folder.join(&rolled);
    fs::rename(folder.join(name), &path)?;
    Ok(Waiting { path, name: rolled, written_at, due_at: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, want: &Kind) {
        assert_eq!(kind(name), *want, "{name}");
    }

    #[test]
    fn names_say_what_a_file_is() {
        check("s-1.jsonl", &Kind::Ready);
        check("s.live-12.jsonl", &Kind::Ready);
        check("s.partial.jsonl", &Kind::Ready);
        check("s.failed-1-attempt-2.jsonl", &Kind::Ready);
        check("s.live.jsonl", &Kind::Live);
        check("s.permanent-failed-1.jsonl", &Kind::Other);
        check(".s-1.jsonl.tmp", &Kind::HalfWritten);
        check(".hidden.jsonl", &Kind::Other);
        check("notes.txt", &Kind::Other);
    }

    #[test]
    fn what_a_killed_hook_left_half_written_is_swept_after_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".s-1.jsonl.tmp");
        fs::write(&path, "{\"ver").unwrap();
        let now = Timestamp::from_second(fs::metadata(&path).unwrap().mtime()).unwrap();
        assert!(waiting(folder.path(), now).unwrap().is_empty() && path.exists());
        let later = now + SignedDuration::from_secs(HALF_WRITTEN_SECS + 1);
        assert!(waiting(folder.path(), later).unwrap().is_empty() && !path.exists());
    }

    #[test]
    fn a_live_buffer_is_taken_only_after_it_fell_quiet() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.live.jsonl");
        fs::write(&path, "{}\n").unwrap();
        let now = Timestamp::from_second(fs::metadata(&path).unwrap().mtime()).unwrap();
        let soon = waiting(folder.path(), now).unwrap();
        assert!(soon[0].due_at.is_some() && path.exists());
        let later = now + SignedDuration::from_secs(LIVE_QUIET_SECS);
        let due = waiting(folder.path(), later).unwrap();
        assert_eq!(due[0].due_at, None);
        assert!(due[0].name.starts_with("s.live-") && !path.exists() && due[0].path.exists());
    }
}
