//! The body of a backup: chunks under one key, in one order, with a marked end.
//!
//! `chunk n = ChaCha20-Poly1305[key, nonce = n as u64 LE ‖ 0 0 0 ‖ is_last](bytes)`. The key is
//! derived for one file alone, so a counter never repeats under it; a chunk that is changed, moved,
//! missing, or last without having been written last does not open.

use std::io::{self, Read, Write};

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{ChaCha20Poly1305, KeyInit, Nonce};
use sha2::{Digest, Sha256};

use crate::vault::Secret;

/// What a chunk holds; the last one may hold less.
pub(super) const CHUNK_BYTES: usize = 64 * 1024;
const TAG_BYTES: usize = 16;
/// SHA-256 of everything before it: a file that was damaged is told from a key that is wrong.
pub(super) const HASH_BYTES: usize = 32;
const LABEL: &[u8] = b"iai-mcp backup chunk";

/// Writes through to a file and keeps the hash of what went by.
pub(super) struct Hashing<W> {
    inner: W,
    hash: Sha256,
}

impl<W> Hashing<W> {
    pub(super) fn new(inner: W) -> Self {
        Self { inner, hash: Sha256::new() }
    }

    /// Goes on with the same hash over something else.
    pub(super) fn with<V>(self, inner: V) -> Hashing<V> {
        Hashing { inner, hash: self.hash }
    }

    pub(super) fn digest(&self) -> [u8; HASH_BYTES] {
        self.hash.clone().finalize().into()
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.inner.write(bytes)?;
        self.hash.update(bytes.get(..n).unwrap_or_default());
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(bytes)?;
        self.hash.update(bytes.get(..n).unwrap_or_default());
        Ok(n)
    }
}

/// Seals what is written to it.
pub(super) struct SealingWriter<W> {
    output: Hashing<W>,
    cipher: ChaCha20Poly1305,
    n_sealed: u64,
    chunk: Vec<u8>,
}

impl<W: Write> SealingWriter<W> {
    pub(super) fn new(output: Hashing<W>, key: &Secret) -> Self {
        let cipher = ChaCha20Poly1305::new((&**key).into());
        Self { output, cipher, n_sealed: 0, chunk: Vec::with_capacity(CHUNK_BYTES) }
    }

    /// Seals what is left as the last chunk and adds the hash. Returns what was written to.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.seal(Place::Last)?;
        let digest = self.output.digest();
        let mut output = self.output.inner;
        output.write_all(&digest)?;
        output.flush()?;
        Ok(output)
    }

    fn seal(&mut self, place: Place) -> io::Result<()> {
        let payload = Payload { msg: &self.chunk, aad: LABEL };
        let sealed = self.cipher.encrypt(&nonce(self.n_sealed, place), payload);
        self.output.write_all(&sealed.map_err(io::Error::other)?)?;
        self.n_sealed = self.n_sealed.saturating_add(1);
        self.chunk.clear();
        Ok(())
    }
}

impl<W: Write> Write for SealingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A full chunk waits for the next byte: only then is it known not to be the last.
        if self.chunk.len() == CHUNK_BYTES {
            self.seal(Place::Inner)?;
        }
        let n = bytes.len().min(CHUNK_BYTES - self.chunk.len());
        self.chunk.extend_from_slice(bytes.get(..n).unwrap_or_default());
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Opens what was sealed, chunk by chunk; an error names the chunk and hands out nothing of it.
pub(super) struct OpeningReader<R> {
    input: Hashing<R>,
    cipher: ChaCha20Poly1305,
    n_bytes_left: u64,
    n_opened: u64,
    chunk: Vec<u8>,
    n_taken: usize,
}

impl<R: Read> OpeningReader<R> {
    /// Reads a body of `n_bytes`, which ends before the hash.
    pub(super) fn new(input: Hashing<R>, key: &Secret, n_bytes: u64) -> Self {
        let cipher = ChaCha20Poly1305::new((&**key).into());
        let (chunk, n_taken) = (Vec::new(), 0);
        Self { input, cipher, n_bytes_left: n_bytes, n_opened: 0, chunk, n_taken }
    }

    /// Compares the hash of everything with the one behind the body.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let digest = self.input.digest();
        let mut written = [0; HASH_BYTES];
        self.input.inner.read_exact(&mut written)?;
        if written == digest { Ok(()) } else { Err(damaged("its last 32 bytes are not its hash")) }
    }

    fn open_next(&mut self) -> io::Result<bool> {
        if self.n_bytes_left == 0 {
            return Ok(false);
        }
        let whole = (CHUNK_BYTES + TAG_BYTES) as u64;
        let n_bytes = self.n_bytes_left.min(whole);
        let place = if self.n_bytes_left <= whole { Place::Last } else { Place::Inner };
        let mut sealed = vec![0; usize::try_from(n_bytes).unwrap_or_default()];
        self.input.read_exact(&mut sealed)?;
        let payload = Payload { msg: &sealed, aad: LABEL };
        let opened = self.cipher.decrypt(&nonce(self.n_opened, place), payload);
        self.chunk = opened.map_err(|_| {
            damaged(&format!(
                "chunk {} of its body (64 KiB each) does not open: bytes were changed, or the \
                 file was cut off",
                self.n_opened
            ))
        })?;
        self.n_taken = 0;
        self.n_opened = self.n_opened.saturating_add(1);
        self.n_bytes_left -= n_bytes;
        Ok(true)
    }
}

impl<R: Read> Read for OpeningReader<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.n_taken == self.chunk.len() && !self.open_next()? {
            return Ok(0);
        }
        let left = self.chunk.get(self.n_taken..).unwrap_or_default();
        let n = left.len().min(bytes.len());
        for (to, from) in bytes.iter_mut().zip(left) {
            *to = *from;
        }
        self.n_taken += n;
        Ok(n)
    }
}

#[derive(Clone, Copy)]
enum Place {
    Inner,
    Last,
}

fn nonce(n: u64, place: Place) -> Nonce {
    let mut bytes = [0; 12];
    for (to, from) in bytes.iter_mut().zip(n.to_le_bytes()) {
        *to = from;
    }
    let [.., last] = &mut bytes;
    *last = match place {
        Place::Inner => 0,
        Place::Last => 1,
    };
    Nonce::from(bytes)
}

pub(super) fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeroize::Zeroizing;

    fn sealed(bytes: &[u8]) -> Vec<u8> {
        let key = Zeroizing::new([7; 32]);
        let mut writer = SealingWriter::new(Hashing::new(Vec::new()), &key);
        writer.write_all(bytes).unwrap();
        writer.finish().unwrap()
    }

    fn opened(file: &[u8]) -> io::Result<Vec<u8>> {
        let key = Zeroizing::new([7; 32]);
        let n_bytes = file.len().saturating_sub(HASH_BYTES) as u64;
        let mut reader = OpeningReader::new(Hashing::new(file), &key, n_bytes);
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        reader.finish()?;
        Ok(bytes)
    }

    #[test]
    fn what_was_sealed_opens_at_every_length() {
        for n in [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES] {
            let bytes: Vec<u8> = (0..n).map(|n| u8::try_from(n % 251).unwrap()).collect();
            assert_eq!(opened(&sealed(&bytes)).unwrap(), bytes, "{n}");
        }
    }

    #[test]
    fn what_was_changed_moved_or_cut_off_does_not() {
        let whole = CHUNK_BYTES + TAG_BYTES;
        let good = sealed(&vec![5; 3 * CHUNK_BYTES]);
        let mut cases: Vec<Vec<u8>> = Vec::new();
        for place in [0, 1, whole - 1, whole, good.len() / 2, good.len() - 33, good.len() - 1] {
            let mut flipped = good.clone();
            flipped[place] ^= 1;
            cases.push(flipped);
        }
        for length in [0, 1, 31, 32, whole, 2 * whole, 2 * whole + HASH_BYTES, good.len() - 1] {
            cases.push(good[..length].to_vec());
        }
        let mut swapped = good[whole..2 * whole].to_vec();
        swapped.extend_from_slice(&good[..whole]);
        swapped.extend_from_slice(&good[2 * whole..]);
        cases.push(swapped);
        let mut longer = good.clone();
        longer.push(0);
        cases.push(longer);
        for case in cases {
            assert!(opened(&case).is_err(), "{} bytes", case.len());
        }
    }
}
