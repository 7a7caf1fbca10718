//! The tar format, in its `ustar` form, as far as we use it: folders and files of root.

use super::{Entry, folders, sorted};

const BLOCK_BYTES: usize = 512;
const NAME_BYTES_MAX: usize = 100;
const PREFIX_BYTES_MAX: usize = 155;
const FOLDER_MODE: u32 = 0o755;

/// Returns the archive; `start` stands before every path (`./` in a Debian package).
pub(crate) fn tar(entries: &[Entry], start: &str, seconds: u64) -> Result<Vec<u8>, String> {
    let mut archive = Vec::new();
    if !start.is_empty() {
        archive.extend(header(start, b'5', (FOLDER_MODE, 0, seconds))?);
    }
    for folder in folders(entries) {
        let path = format!("{start}{folder}/");
        archive.extend(header(&path, b'5', (FOLDER_MODE, 0, seconds))?);
    }
    for entry in sorted(entries)? {
        let path = format!("{start}{}", entry.path);
        archive.extend(header(&path, b'0', (entry.mode.bits(), entry.content.len(), seconds))?);
        archive.extend_from_slice(&entry.content);
        archive.resize(archive.len().next_multiple_of(BLOCK_BYTES), 0);
    }
    archive.resize(archive.len() + 2 * BLOCK_BYTES, 0);
    Ok(archive)
}

fn header(path: &str, kind: u8, about: (u32, usize, u64)) -> Result<[u8; BLOCK_BYTES], String> {
    let (mode, n_bytes, seconds) = about;
    let (prefix, name) = split(path).ok_or_else(|| format!("{path} is too long for an archive"))?;
    let mut block = [0; BLOCK_BYTES];
    put(&mut block, 0, name.as_bytes());
    put(&mut block, 100, format!("{mode:07o}").as_bytes());
    put(&mut block, 108, b"0000000");
    put(&mut block, 116, b"0000000");
    put(&mut block, 124, format!("{n_bytes:011o}").as_bytes());
    put(&mut block, 136, format!("{seconds:011o}").as_bytes());
    // The sum is taken with blanks in its own place.
    put(&mut block, 148, b"        ");
    put(&mut block, 156, &[kind]);
    put(&mut block, 257, b"ustar\x0000");
    put(&mut block, 265, b"root");
    put(&mut block, 297, b"root");
    put(&mut block, 345, prefix.as_bytes());
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    put(&mut block, 148, format!("{sum:06o}\x00 ").as_bytes());
    Ok(block)
}

fn put(block: &mut [u8; BLOCK_BYTES], at: usize, bytes: &[u8]) {
    if let Some(place) = block.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

/// A long path stands in two fields, cut at a slash.
fn split(path: &str) -> Option<(&str, &str)> {
    if path.len() <= NAME_BYTES_MAX {
        return Some(("", path));
    }
    let cuts = path.match_indices('/').map(|(at, _)| path.split_at(at));
    let mut fitting = cuts.filter_map(|(prefix, rest)| {
        let name = rest.strip_prefix('/')?;
        let fits = prefix.len() <= PREFIX_BYTES_MAX && name.len() <= NAME_BYTES_MAX;
        (fits && !name.is_empty()).then_some((prefix, name))
    });
    fitting.next()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Reads an archive back: name, mode, time and content of every file.
    pub(crate) fn read(archive: &[u8]) -> Vec<(String, u32, u64, Vec<u8>)> {
        let text = |bytes: &[u8]| {
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            String::from_utf8(bytes[..end].to_vec()).unwrap()
        };
        let number = |bytes: &[u8]| u64::from_str_radix(text(bytes).trim(), 8).unwrap();
        let mut files = Vec::new();
        let mut at = 0;
        while archive[at] != 0 {
            let block = &archive[at..at + BLOCK_BYTES];
            let n_bytes = usize::try_from(number(&block[124..136])).unwrap();
            let (prefix, name) = (text(&block[345..500]), text(&block[..100]));
            let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
            let mode = u32::try_from(number(&block[100..108])).unwrap();
            let start = at + BLOCK_BYTES;
            files.push((
                path,
                mode,
                number(&block[136..148]),
                archive[start..start + n_bytes].to_vec(),
            ));
            at = (start + n_bytes).next_multiple_of(BLOCK_BYTES);
        }
        assert_eq!(archive.len(), at + 2 * BLOCK_BYTES, "two empty blocks at the end");
        files
    }

    #[test]
    fn an_archive_is_read_back() {
        let long = format!("{}/{}", "d".repeat(90), "f".repeat(60));
        let entries = [Entry::program("bin/x", b"\x7fELF".to_vec()), Entry::data(&*long, "text")];
        let archive = tar(&entries, "./", 1_700_000_000).unwrap();
        let files = read(&archive);
        let paths: Vec<&str> = files.iter().map(|(path, ..)| path.as_str()).collect();
        let (folder, file) = (format!("./{}/", "d".repeat(90)), format!("./{long}"));
        assert_eq!(paths, ["./", "./bin/", &folder, "./bin/x", &file]);
        assert_eq!(files[3], ("./bin/x".to_owned(), 0o755, 1_700_000_000, b"\x7fELF".to_vec()));
        assert_eq!(files[4].1, 0o644);
        assert_eq!(archive, tar(&entries, "./", 1_700_000_000).unwrap());
    }

    #[test]
    fn a_path_that_fits_nowhere_is_named() {
        let error = tar(&[Entry::data("x".repeat(300), "")], "", 0).unwrap_err();
        assert!(error.ends_with("is too long for an archive"), "{error}");
    }
}
