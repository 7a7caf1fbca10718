//! Opens transcripts for reading, compressed ones too.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;

use serde_json::Value;

use super::{WHOLE_BYTES_MAX, WholeError, json};

/// The most bytes a compressed transcript may grow to: a bound on hostile files.
const INFLATED_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;

const BUFFER_BYTES: usize = 64 * 1024;

/// Opens a transcript of lines; a name that ends in `.zst` is decompressed while it is read.
pub(crate) fn open_lines(path: &Path) -> io::Result<Box<dyn BufRead>> {
    // A pipe would have us wait for its writer, and a device has no end.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    let file = BufReader::with_capacity(BUFFER_BYTES, File::open(path)?);
    if path.extension().is_none_or(|extension| extension != "zst") {
        return Ok(Box::new(file));
    }
    let inflated = ruzstd::decoding::StreamingDecoder::new(file)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
    Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, inflated.take(INFLATED_BYTES_MAX))))
}

/// Reads one JSON document.
pub(super) fn read_document(path: &Path) -> Result<Value, WholeError> {
    let failed = |error| WholeError::Io { path: path.to_owned(), error };
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(WHOLE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if WHOLE_BYTES_MAX < bytes.len() as u64 {
        return Err(WholeError::TooLarge { path: path.to_owned() });
    }
    match json::objects(&bytes).into_iter().next().flatten() {
        Some(document) if document.is_object() => Ok(document),
        Some(_) | None => Err(WholeError::NotJson { path: path.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `{"a":1}\n{"a":2}\n`, as `zstd` writes it.
    const COMPRESSED: &[u8] =
        b"\x28\xb5\x2f\xfd\x04\x58\x81\0\0{\"a\":1}\n{\"a\":2}\n\xee\xed\xac\xf2";

    #[test]
    fn a_compressed_transcript_reads_like_a_plain_one() {
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("rollout-a.jsonl");
        let packed = folder.path().join("rollout-a.jsonl.zst");
        std::fs::write(&plain, "{\"a\":1}\n{\"a\":2}\n").unwrap();
        std::fs::write(&packed, COMPRESSED).unwrap();
        let read = |path: &Path| io::read_to_string(open_lines(path).unwrap()).unwrap();
        assert_eq!(read(&packed), read(&plain));
        std::fs::write(&packed, "no zstd").unwrap();
        assert!(open_lines(&packed).is_err());
    }

    #[test]
    fn a_document_is_one_object() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session-1.json");
        assert!(matches!(read_document(&path), Err(WholeError::Io { .. })));
        for (text, is_read) in [("{}", true), ("{\n}\n", true), ("[]", false), ("{\"a\":", false)] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(read_document(&path).is_ok(), is_read, "{text}");
        }
    }
}
