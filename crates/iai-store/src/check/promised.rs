//! Reads what SQLite wrote down about the log in the shared memory beside it. It outlives a kill of
//! the daemon, though not a reader who comes after: the first to open the database makes it anew.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::log::{Walked, summed};
use crate::exchange;

/// Two copies of the header, which a writer changes one after the other.
const HEADER_BYTES: usize = 48;
const SUMMED_BYTES: usize = 40;
/// The headers and what is known of checkpoints.
const READ_BYTES: usize = 136;
const VERSION: u32 = 3_007_000;

/// Files that were looked into stay open, the latest of them: closing one drops the locks that
/// SQLite holds on it in this process.
static KEPT: Mutex<Vec<(PathBuf, File)>> = Mutex::new(Vec::new());
const KEPT_MAX: usize = 16;

/// What the log of a database holds, or held.
pub(super) struct Promised {
    salts: [u8; 8],
    n_frames: u64,
    /// How many of them were moved into the database.
    n_moved: u64,
    /// A writer has committed since this was made; if not, it may have been made by somebody who
    /// came after damage, and knows only of what was left.
    is_by_writer: bool,
}

impl Promised {
    /// Reads it; `None` where there is nothing that can be believed.
    pub(super) fn beside(database: &Path) -> Option<Self> {
        let path = exchange::beside(database, "-shm");
        let file_of = |facts: &fs::Metadata| (facts.dev(), facts.ino());
        let named = file_of(&fs::metadata(&path).ok()?);
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(at, file)| {
            *at != path || file.metadata().is_ok_and(|facts| file_of(&facts) == named)
        });
        if !kept.iter().any(|(at, _)| *at == path) {
            let file = File::open(&path).ok()?;
            if KEPT_MAX <= kept.len() {
                kept.remove(0);
            }
            kept.push((path.clone(), file));
        }
        let (_, file) = kept.iter().find(|(at, _)| *at == path)?;
        let mut bytes = [0; READ_BYTES];
        file.read_exact_at(&mut bytes, 0).ok()?;
        Self::of(&bytes)
    }

    fn of(bytes: &[u8; READ_BYTES]) -> Option<Self> {
        let header = bytes.get(..HEADER_BYTES)?;
        let is_sound = bytes.get(HEADER_BYTES..2 * HEADER_BYTES)? == header
            && number(header, 0) == VERSION
            && header.get(12) == Some(&1)
            && summed((0, 0), header.get(..SUMMED_BYTES)?, false)
                == (number(header, 40), number(header, 44));
        is_sound.then_some(Self {
            salts: *header.get(32..)?.first_chunk()?,
            n_frames: u64::from(number(header, 16)),
            n_moved: u64::from(number(bytes, 96)),
            is_by_writer: number(header, 8) != 0,
        })
    }

    /// Says what was committed and is neither in the log nor in the database.
    pub(super) fn missing_in(&self, log: &Walked) -> Option<String> {
        let n_frames = self.n_frames;
        let n_found = if log.salts == Some(self.salts) { log.n_committed } else { 0 };
        // Nothing is missing where all of it was moved, unless a part would be read over it.
        let is_harmless = self.n_moved >= n_frames && n_found == 0;
        if n_found >= n_frames || is_harmless {
            return None;
        }
        Some(match log.salts {
            Some(salts) if salts != self.salts => format!(
                "it is another log than the one with {n_frames} frames that was written here"
            ),
            Some(_) | None => {
                format!("it was cut off: {n_frames} frames were written, {n_found} can be read")
            }
        })
    }

    /// Tells whether a frame of a log was surely never committed. A log with more commits than are
    /// known here proves that this is the older of the two, as after a power cut.
    pub(super) fn never_had(&self, frame: u64, log: &Walked) -> bool {
        self.is_by_writer
            && log.salts == Some(self.salts)
            && log.n_committed <= self.n_frames
            && self.n_frames <= frame
    }

    /// Tells whether the database is newer than what is left of its log.
    pub(super) fn is_ahead_of(&self, log: &Walked) -> bool {
        log.salts == Some(self.salts) && log.n_committed < self.n_moved
    }
}

/// The numbers stand there in the order of this machine, and where that is another one, no checksum
/// fits.
fn number(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
    four.map_or(0, |four| u32::from_le_bytes(*four))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(n_moved: u64, log: Option<(u8, u64)>, expect: (Option<&str>, bool)) {
        let promised = Promised { salts: [1; 8], n_frames: 9, n_moved, is_by_writer: true };
        let (salts, n_committed) = log.map_or((None, 0), |(salt, n)| (Some([salt; 8]), n));
        let walked = Walked { salts, n_committed, ..Walked::default() };
        let told = promised.missing_in(&walked);
        let (words, is_ahead) = expect;
        let is_told = match (&told, words) {
            (Some(told), Some(words)) => told.contains(words),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        assert!(is_told, "{n_moved} moved, {log:?}: {told:?}");
        assert_eq!(promised.is_ahead_of(&walked), is_ahead, "{n_moved} moved, {log:?}");
    }

    #[test]
    fn only_a_writer_who_knows_of_all_commits_says_what_was_never_committed() {
        for (is_by_writer, salt, n_committed, frame, expect) in [
            (true, 1, 9, 9, true),
            (true, 1, 9, 8, false),
            (true, 1, 12, 12, false),
            (true, 2, 9, 9, false),
            (false, 1, 9, 9, false),
        ] {
            let promised = Promised { salts: [1; 8], n_frames: 9, n_moved: 0, is_by_writer };
            let salts = Some([salt; 8]);
            let walked = Walked { salts, n_committed, ..Walked::default() };
            let told = promised.never_had(frame, &walked);
            assert_eq!(told, expect, "{is_by_writer} {salt} {n_committed} {frame}");
        }
    }

    #[test]
    fn what_was_committed_is_looked_for_in_the_log_and_in_the_database() {
        check(0, Some((1, 9)), (None, false));
        check(0, Some((1, 12)), (None, false));
        check(0, Some((1, 4)), (Some("4 can be read"), false));
        check(4, Some((1, 4)), (Some("cut off"), false));
        check(5, Some((1, 4)), (Some("cut off"), true));
        check(9, Some((1, 4)), (Some("cut off"), true));
        check(9, None, (None, false));
        check(9, Some((2, 3)), (None, false));
        check(3, None, (Some("0 can be read"), false));
        check(3, Some((2, 9)), (Some("another log"), false));
    }
}
