//! Checks the write-ahead log byte by byte.
//!
//! SQLite takes a log up to the first frame that does not fit and forgets the rest without a word:
//! right after a crash, wrong when a byte rotted in the middle or somebody cut it off. Here the
//! rest is looked at too, and what the shared memory beside it says was committed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use super::promised::Promised;
use crate::error::{Result, StoreError};
use crate::exchange;

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
const MAGIC: u32 = 0x377f_0682;
const VERSION: u32 = 3_007_000;
const PAGE_BYTES_MAX: u32 = 65536;
/// A writer may be in the middle of a frame; looked at again, that frame is whole.
const LOOKS_MAX: u32 = 4;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// What is wrong with a log.
pub(super) struct Damage {
    pub(super) told: String,
    pub(super) log: Rest,
}

/// What is left of a damaged log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// It goes on where the database ends.
    FitsDatabase,
    /// More than is left of it was moved into the database before: read over that, it would mix
    /// pages of two moments.
    OlderThanDatabase,
}

/// Tells whether the log is shorter than what was committed to it, at a glance.
pub(super) fn is_cut(database: &Path) -> Result<bool> {
    let path = exchange::beside(database, "-wal");
    for look in 0..LOOKS_MAX {
        let Some(promised) = Promised::beside(database) else { return Ok(false) };
        let walked = measure(&path).map_err(|e| StoreError::io("looking at the log", &path, e))?;
        if promised.missing_in(&walked).is_none() {
            return Ok(false);
        }
        // A writer may have emptied it between the two looks.
        if look + 1 < LOOKS_MAX {
            std::thread::park_timeout(BETWEEN_LOOKS);
        }
    }
    Ok(true)
}

/// What a log looks like.
pub(super) struct Looked {
    pub(super) damage: Option<Damage>,
    /// Where its last commit ends; `None` where it has no header.
    committed_bytes: Option<u64>,
}

impl Looked {
    /// Cuts off what stands behind the last commit of a log without damage, before anybody opens it
    /// to write. Nobody was promised any of it. Left there, it would be the second half of a frame
    /// whose writer is killed after the first, and until the first commit nobody could tell that
    /// from rot.
    pub(super) fn cut_leftovers(&self, log: &Path) -> io::Result<()> {
        match self.committed_bytes.filter(|_| self.damage.is_none()) {
            Some(n_bytes) if n_bytes < std::fs::metadata(log)?.len() => {
                File::options().write(true).open(log)?.set_len(n_bytes)
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// Looks at the log beside a database.
pub(super) fn look(database: &Path) -> Result<Looked> {
    let path = exchange::beside(database, "-wal");
    let mut looks = 0;
    loop {
        // In this order: a log holds whatever was promised before it was read.
        let promised = Promised::beside(database);
        let looked = look_at(&path, promised.as_ref())
            .map_err(|e| StoreError::io("reading the log", &path, e))?;
        looks += 1;
        if looked.damage.is_none() || looks == LOOKS_MAX {
            return Ok(looked);
        }
        std::thread::park_timeout(BETWEEN_LOOKS);
    }
}

fn look_at(path: &Path, promised: Option<&Promised>) -> io::Result<Looked> {
    let walked = walk(path)?;
    let cut = promised.and_then(|promised| promised.missing_in(&walked));
    let is_older = promised.is_some_and(|promised| promised.is_ahead_of(&walked));
    let log = if is_older { Rest::OlderThanDatabase } else { Rest::FitsDatabase };
    // Whoever is killed in the middle of writing leaves frames that nobody was promised.
    let is_torn = |broken: &&Broken| {
        promised.is_some_and(|promised| promised.never_had(broken.frame, &walked))
    };
    let broken = walked.broken.as_ref().filter(|broken| !is_torn(broken));
    let told = broken.map(|broken| broken.told.clone()).or(cut);
    let committed_bytes = walked.salts.map(|_| walked.n_bytes);
    Ok(Looked { damage: told.map(|told| Damage { told, log }), committed_bytes })
}

/// How far a log can be read.
#[derive(Default)]
pub(super) struct Walked {
    /// Which log it is; `None` where it has no header.
    pub(super) salts: Option<[u8; 8]>,
    /// Frames up to the last commit that can be read.
    pub(super) n_committed: u64,
    /// Where the last of them ends.
    pub(super) n_bytes: u64,
    /// What was changed in front of a commit.
    pub(super) broken: Option<Broken>,
}

pub(super) struct Broken {
    /// The first frame that does not fit.
    frame: u64,
    told: String,
}

/// Believes every frame that there is room for.
fn measure(path: &Path) -> io::Result<Walked> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Walked::default()),
        opened => opened?,
    };
    let n_file = file.metadata()?.len();
    let header = read_array::<HEADER_BYTES>(&mut file)?;
    let Some(log) = header.as_ref().and_then(Log::of) else { return Ok(Walked::default()) };
    let frame_bytes = (FRAME_HEADER_BYTES + log.page_bytes) as u64;
    let n_committed = n_file.saturating_sub(HEADER_BYTES as u64) / frame_bytes;
    Ok(Walked { salts: Some(log.salts), n_committed, ..Walked::default() })
}

fn walk(path: &Path) -> io::Result<Walked> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Walked::default()),
        opened => opened?,
    };
    let n_file = file.metadata()?.len();
    let Some(header) = read_array::<HEADER_BYTES>(&mut file)? else {
        return Ok(Walked::default());
    };
    let Some(log) = Log::of(&header) else {
        // A log without a whole frame holds nothing that was ever promised.
        let has_frame = n_file > (HEADER_BYTES + FRAME_HEADER_BYTES) as u64;
        let told = "its header (bytes 0 to 31) was changed".to_owned();
        let broken = has_frame.then_some(Broken { frame: 0, told });
        return Ok(Walked { broken, ..Walked::default() });
    };
    log.walk(&mut file)
}

/// What the header says about the frames.
struct Log {
    is_big_endian: bool,
    page_bytes: usize,
    salts: [u8; 8],
    checksum: (u32, u32),
}

impl Log {
    fn of(header: &[u8; HEADER_BYTES]) -> Option<Self> {
        let magic = number(header, 0);
        let is_big_endian = magic & 1 == 1;
        let page_bytes = number(header, 8);
        let checksum = summed((0, 0), header.get(..24)?, is_big_endian);
        let is_sound = magic & !1 == MAGIC
            && number(header, 4) == VERSION
            && page_bytes.is_power_of_two()
            && (512..=PAGE_BYTES_MAX).contains(&page_bytes)
            && checksum == (number(header, 24), number(header, 28));
        let salts = *header.get(16..)?.first_chunk()?;
        let page_bytes = usize::try_from(page_bytes).ok()?;
        is_sound.then_some(Self { is_big_endian, page_bytes, salts, checksum })
    }

    /// Follows the chain of checksums; where it breaks, looks whether a commit stands behind it.
    fn walk(&self, file: &mut File) -> io::Result<Walked> {
        let n_bytes = HEADER_BYTES as u64;
        let mut walked = Walked { salts: Some(self.salts), n_bytes, ..Walked::default() };
        let mut sum = self.checksum;
        let mut broken: Option<u64> = None;
        let mut page = vec![0; self.page_bytes];
        for frame in 0_u64.. {
            let Some(header) = read_array::<FRAME_HEADER_BYTES>(file)? else { break };
            match file.read_exact(&mut page) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
                read => read?,
            }
            let is_current = header.get(8..16) == Some(&self.salts);
            let is_commit = number(&header, 4) != 0;
            if broken.is_none() {
                let next = summed(sum, header.get(..8).unwrap_or_default(), self.is_big_endian);
                let next = summed(next, &page, self.is_big_endian);
                if is_current && next == (number(&header, 16), number(&header, 20)) {
                    sum = next;
                    if is_commit {
                        walked.n_committed = frame.saturating_add(1);
                        walked.n_bytes = self.begin_of(walked.n_committed);
                    }
                    continue;
                }
                broken = Some(frame);
            }
            if let Some(first) = broken.filter(|_| is_current && is_commit) {
                walked.broken = Some(Broken { frame: first, told: self.told(first, frame) });
                break;
            }
        }
        Ok(walked)
    }

    fn begin_of(&self, frame: u64) -> u64 {
        let frame_bytes = (FRAME_HEADER_BYTES + self.page_bytes) as u64;
        frame.saturating_mul(frame_bytes).saturating_add(HEADER_BYTES as u64)
    }

    fn told(&self, first: u64, commit: u64) -> String {
        let at = self.begin_of(first);
        format!(
            "frame {first} (from byte {at}) was changed, and what was committed with frame \
             {commit} cannot be read"
        )
    }
}

/// The checksum of SQLite's log over pairs of 32-bit numbers.
pub(super) fn summed(start: (u32, u32), bytes: &[u8], is_big_endian: bool) -> (u32, u32) {
    let (mut first, mut second) = start;
    for pair in bytes.chunks_exact(8) {
        let word = |at: usize| {
            let big = number(pair, at);
            if is_big_endian { big } else { big.swap_bytes() }
        };
        first = first.wrapping_add(word(0)).wrapping_add(second);
        second = second.wrapping_add(word(4)).wrapping_add(first);
    }
    (first, second)
}

/// SQLite writes its numbers with the highest byte first.
fn number(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
    four.map_or(0, |four| u32::from_le_bytes(*four).swap_bytes())
}

fn read_array<const N: usize>(file: &mut File) -> io::Result<Option<[u8; N]>> {
    let mut bytes = [0; N];
    match file.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            file.seek(SeekFrom::End(0))?;
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
