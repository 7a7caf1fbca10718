//! What a power cut leaves of a write-ahead log: frames after the last commit were never synced,
//! so any bytes may stand there.

use std::fs::{self, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;

use crate::dice::Dice;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
const GARBAGE_MAX: u64 = 20_000;

/// Overwrites what follows the last commit with garbage, a little more or less than there was.
/// Returns whether there was a log to tear.
pub(crate) fn tear(log: &Path, dice: &mut Dice) -> Result<bool, String> {
    let Ok(bytes) = fs::read(log) else { return Ok(false) };
    let Some(committed) = committed(&bytes) else { return Ok(false) };
    let n_bytes = dice.below(GARBAGE_MAX);
    let garbage: Vec<u8> = (0..n_bytes).map(|_| dice.next().to_le_bytes()[0]).collect();
    let torn = OpenOptions::new().write(true).open(log).and_then(|mut file| {
        file.seek(SeekFrom::Start(committed))?;
        file.write_all(&garbage)?;
        file.set_len(committed + n_bytes)
    });
    torn.map_err(|error| format!("cannot tear {}: {error}", log.display()))?;
    Ok(true)
}

/// Returns where the last commit of this log ends. Frames of an earlier round of the log carry
/// other salts.
fn committed(log: &[u8]) -> Option<u64> {
    let header = log.get(..HEADER)?;
    let page = usize::try_from(number(header, 8)?).ok()?;
    let salts = header.get(16..24)?;
    let mut end = HEADER;
    let mut committed = HEADER;
    while let Some(frame) = log.get(end..end + FRAME_HEADER) {
        let whole = end + FRAME_HEADER + page;
        if frame.get(8..16)? != salts || log.len() < whole {
            break;
        }
        end = whole;
        if number(frame, 4)? != 0 {
            committed = end;
        }
    }
    u64::try_from(committed).ok()
}

#[expect(clippy::big_endian_bytes, reason = "the format of the log is not ours")]
fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::big_endian_bytes, reason = "the format of the log is not ours")]
    fn log(commits: &[u32]) -> Vec<u8> {
        let mut log = vec![0; HEADER];
        log[8..12].copy_from_slice(&512_u32.to_be_bytes());
        log[16..24].copy_from_slice(b"saltsalt");
        for commit in commits {
            let mut frame = vec![0; FRAME_HEADER + 512];
            frame[4..8].copy_from_slice(&commit.to_be_bytes());
            frame[8..16].copy_from_slice(b"saltsalt");
            log.extend(frame);
        }
        log
    }

    #[test]
    fn the_last_commit_is_found() {
        let frames = |n: u64| Some(32 + n * 536);
        assert_eq!(committed(&log(&[])), frames(0));
        assert_eq!(committed(&log(&[0, 9, 0])), frames(2));
        let mut older = log(&[0, 9, 9]);
        older[32 + 2 * 536 + 8..][..8].copy_from_slice(b"oldsalts");
        assert_eq!(committed(&older), frames(2));
        let mut half = log(&[9, 9]);
        half.truncate(32 + 536 + 300);
        assert_eq!(committed(&half), frames(1));
        assert_eq!(committed(b"short"), None);
    }
}
