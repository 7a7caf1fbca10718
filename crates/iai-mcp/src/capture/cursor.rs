//! How far a transcript was read, so that the next hook goes on from there.
//!
//! A cursor is a convenience, never the truth: without it, or with an old one, turns are delivered
//! again, and a second delivery is a no-op.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::home::{FILE_MODE, Home, ensure_inner_folder};

const CURSOR_BYTES_MAX: u64 = 64 * 1024;
/// How much of what was read last is compared before going on.
const TAIL_BYTES: u64 = 256;

/// Where to go on in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    /// Which file, as the system names it: a replaced file is another one.
    device: u64,
    inode: u64,
    /// Everything before this byte was delivered.
    pub(crate) offset: u64,
    /// Turns before it, which number the ones that follow.
    pub(crate) n_turns: u64,
    /// What the host's parser remembers between lines.
    pub(crate) memo: String,
    /// Hash of the bytes just before `offset`: a file that was rewritten in place is another one.
    tail: String,
    /// Hash of what stands here, so that a changed byte does not put turns into wrong places;
    /// versions before 0.10 wrote none.
    #[serde(default)]
    sum: Option<String>,
}

impl Cursor {
    /// Returns where to go on in `file`, or the start when it is not the file it was.
    pub(crate) fn load(home: &Home, path: &Path, file: &mut File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let start = Self { device: metadata.dev(), inode: metadata.ino(), ..Self::default() };
        let Some(known) = read(&cursor_path(home, path)) else { return Ok(start) };
        let is_same = known.device == start.device
            && known.inode == start.inode
            && known.offset <= metadata.len()
            && known.sum.as_ref().is_none_or(|sum| *sum == known.own_sum())
            && tail_hash(file, known.offset)? == known.tail;
        Ok(if is_same { known } else { start })
    }

    /// Remembers how far `file` was read.
    pub(crate) fn save(&mut self, home: &Home, path: &Path, file: &mut File) -> io::Result<()> {
        self.tail = tail_hash(file, self.offset)?;
        self.sum = Some(self.own_sum());
        let target = cursor_path(home, path);
        ensure_inner_folder(&home.capture_state())?;
        let aside = target.with_extension(format!("tmp-{}", std::process::id()));
        let mut output =
            File::options().write(true).create(true).truncate(true).mode(FILE_MODE).open(&aside)?;
        output.write_all(&serde_json::to_vec(self)?)?;
        // Not synced: after a crash the worst is an older cursor.
        fs::rename(aside, target)
    }

    fn own_sum(&self) -> String {
        let Self { offset, n_turns, memo, tail, .. } = self;
        hex(&Sha256::digest(format!("{offset} {n_turns} {tail} {memo}")))
    }

    /// Forgets how far the transcript at `path` was read, for one that will not come again.
    #[expect(clippy::disallowed_methods, reason = "a cursor is a convenience, never the truth")]
    pub(crate) fn forget(home: &Home, path: &Path) -> io::Result<()> {
        match fs::remove_file(cursor_path(home, path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Named by a hash, so that the folder does not list what was worked on.
fn cursor_path(home: &Home, transcript: &Path) -> PathBuf {
    let digest = Sha256::digest(transcript.as_os_str().as_encoded_bytes());
    home.capture_state().join(format!("{}.json", hex(digest.get(..16).unwrap_or_default())))
}

fn read(path: &Path) -> Option<Cursor> {
    let mut text = String::new();
    File::open(path).ok()?.take(CURSOR_BYTES_MAX).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn tail_hash(file: &mut File, offset: u64) -> io::Result<String> {
    let start = offset.saturating_sub(TAIL_BYTES);
    // Room for all of it, so that one call reads it.
    let mut tail = Vec::with_capacity(usize::try_from(offset - start).unwrap_or_default());
    file.seek(SeekFrom::Start(start))?;
    (&*file).take(offset - start).read_to_end(&mut tail)?;
    Ok(hex(&Sha256::digest(&tail)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixture {
        _folder: tempfile::TempDir,
        home: Home,
        path: PathBuf,
    }

    impl Fixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let home = Home::new(folder.path().join("store"), None);
            crate::home::ensure_private_folder(home.root()).unwrap();
            let path = folder.path().join("t.jsonl");
            Self { _folder: folder, home, path }
        }

        fn load(&self) -> Cursor {
            Cursor::load(&self.home, &self.path, &mut File::open(&self.path).unwrap()).unwrap()
        }

        fn save(&self, offset: u64) {
            let mut cursor = Cursor { offset, n_turns: 3, ..self.load() };
            cursor.save(&self.home, &self.path, &mut File::open(&self.path).unwrap()).unwrap();
        }
    }

    #[test]
    fn a_grown_file_goes_on_and_a_replaced_one_starts_again() {
        let fixture = Fixture::new();
        fs::write(&fixture.path, "one\ntwo\n").unwrap();
        assert_eq!(fixture.load().offset, 0);
        fixture.save(8);
        assert_eq!((fixture.load().offset, fixture.load().n_turns), (8, 3));
        fs::write(&fixture.path, "one\ntwo\nthree\n").unwrap();
        assert_eq!(fixture.load().offset, 8, "same bytes before the cursor");
        fs::write(&fixture.path, "one\n").unwrap();
        assert_eq!(fixture.load().offset, 0, "truncated");
        fs::write(&fixture.path, "ONE\nTWO\nTHREE\n").unwrap();
        assert_eq!(fixture.load().offset, 0, "rewritten in place");
        fs::write(&fixture.path, "one\ntwo\n").unwrap();
        assert_eq!(fixture.load().offset, 8);
        fs::rename(&fixture.path, fixture.path.with_extension("old")).unwrap();
        fs::write(&fixture.path, "one\ntwo\n").unwrap();
        assert_eq!(fixture.load().offset, 0, "another file under the same name");
    }

    #[test]
    fn a_damaged_cursor_is_no_cursor() {
        let fixture = Fixture::new();
        fs::write(&fixture.path, "one\n").unwrap();
        fixture.save(4);
        let path = cursor_path(&fixture.home, &fixture.path);
        fs::write(&path, "{nonsense").unwrap();
        assert_eq!(fixture.load().offset, 0);
        fixture.save(4);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("\"n_turns\":3"), "{text}");
        fs::write(&path, text.replace("\"n_turns\":3", "\"n_turns\":9")).unwrap();
        assert_eq!((fixture.load().offset, fixture.load().n_turns), (0, 0), "changed");
        let (before, _) = text.split_once(",\"sum\"").unwrap();
        fs::write(&path, format!("{before}}}")).unwrap();
        assert_eq!(fixture.load().n_turns, 3, "as an older version wrote it");
    }
}
