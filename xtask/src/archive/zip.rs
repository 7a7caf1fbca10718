//! The zip format, as far as a bundle needs it: deflated files with their modes.

use std::io::Write as _;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use super::{Entry, sorted};

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
/// Deflate, and names in UTF-8.
const VERSION: u16 = 20;
const UTF8: u16 = 1 << 11;
const DEFLATED: u16 = 8;
/// Says that the modes are those of Unix.
const MADE_ON_UNIX: u16 = (3 << 8) | VERSION;
const REGULAR_FILE: u32 = 0o100_000;
/// The first day the format knows; it has no room for a zone, so any other time would differ.
const DATE: u16 = (1 << 5) | 1;

/// Returns the archive.
pub(crate) fn zip(entries: &[Entry]) -> Result<Vec<u8>, String> {
    let mut archive = Vec::new();
    let mut directory = Vec::new();
    let sorted = sorted(entries)?;
    for entry in &sorted {
        let start = size(archive.len())?;
        let shared = shared_fields(entry)?;
        let packed = deflated(&entry.content)?;
        let sizes = [size(packed.len())?, size(entry.content.len())?];
        let about = [shared.as_slice(), &sizes.map(u32::to_le_bytes).concat()].concat();
        let name = entry.path.as_bytes();
        let n_name = short(name.len())?;
        archive.extend(LOCAL.to_le_bytes());
        archive.extend(VERSION.to_le_bytes());
        archive.extend(&about);
        archive.extend([n_name, 0].map(u16::to_le_bytes).concat());
        archive.extend_from_slice(name);
        archive.extend(packed);
        directory.extend(CENTRAL.to_le_bytes());
        directory.extend([MADE_ON_UNIX, VERSION].map(u16::to_le_bytes).concat());
        directory.extend(&about);
        // No extra field, no comment, disk 0, nothing about its inside.
        directory.extend([n_name, 0, 0, 0, 0].map(u16::to_le_bytes).concat());
        directory.extend(((REGULAR_FILE | entry.mode.bits()) << 16).to_le_bytes());
        directory.extend(start.to_le_bytes());
        directory.extend_from_slice(name);
    }
    let (start, n_bytes, n) = (size(archive.len())?, size(directory.len())?, short(sorted.len())?);
    archive.extend(directory);
    archive.extend(END.to_le_bytes());
    archive.extend([0, 0, n, n].map(u16::to_le_bytes).concat());
    archive.extend([n_bytes, start].map(u32::to_le_bytes).concat());
    archive.extend(0u16.to_le_bytes());
    Ok(archive)
}

/// Flags, method, time, date and checksum stand in both headers.
fn shared_fields(entry: &Entry) -> Result<Vec<u8>, String> {
    let mut crc = Crc::new();
    crc.update(&entry.content);
    let words = [UTF8, DEFLATED, 0, DATE].map(u16::to_le_bytes).concat();
    Ok([words, crc.sum().to_le_bytes().to_vec()].concat())
}

fn deflated(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    let done = packed.write_all(bytes).and_then(|()| packed.finish());
    done.map_err(|error| format!("cannot compress: {error}"))
}

fn size(n: usize) -> Result<u32, String> {
    u32::try_from(n).map_err(|_| "a bundle of more than 4 GB".to_owned())
}

fn short(n: usize) -> Result<u16, String> {
    u16::try_from(n).map_err(|_| "more than 65,535 files or letters in a name".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_begins_with_its_first_file_and_ends_with_its_directory() {
        let entries =
            [Entry::program("server/x", "y".repeat(100)), Entry::data("manifest.json", "{}")];
        let archive = zip(&entries).unwrap();
        assert_eq!(archive, zip(&entries).unwrap());
        assert_eq!(archive.get(30..43), Some(&b"manifest.json"[..]));
        let end = &archive[archive.len() - 22..];
        assert_eq!((&end[..4], end[8]), (&END.to_le_bytes()[..], 2));
        let start = u32::from_le_bytes(end[16..20].try_into().unwrap()) as usize;
        assert_eq!(archive.get(start..start + 4), Some(&CENTRAL.to_le_bytes()[..]));
        // The mode of the first file in the directory is data's, of the second a program's.
        let mode =
            |at: usize| u32::from_le_bytes(archive[at + 38..at + 42].try_into().unwrap()) >> 16;
        assert_eq!(mode(start), 0o100_644);
        assert_eq!(mode(start + 46 + "manifest.json".len()), 0o100_755);
    }
}
