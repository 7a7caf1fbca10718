//! One frame is one line: JSON, UTF-8, ended by a newline, never longer than `FRAME_BYTES_MAX`.

use std::io::{self, Read, Write};

use serde::Serialize;
use thiserror::Error;

/// The longest frame either side accepts, newline excluded.
pub const FRAME_BYTES_MAX: usize = 4 * 1024 * 1024;

const READ_BYTES: usize = 16 * 1024;
/// A buffer that grew for one large frame is given back before the next one.
const BUFFER_BYTES_KEPT: usize = 64 * 1024;

/// Why no frame could be read.
#[derive(Debug, Error)]
pub enum FrameError {
    /// The frame passed the limit; its bytes are dropped and the next frame can be read.
    #[error("a frame is longer than {FRAME_BYTES_MAX} bytes")]
    TooLong,
    /// The stream failed or timed out; what was read so far is kept for the next call.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Cuts a byte stream into frames.
#[derive(Debug)]
pub struct FrameReader<R> {
    stream: R,
    buffer: Vec<u8>,
    /// Bytes at the front that belong to the frame handed out last.
    n_taken: usize,
    /// Bytes already searched for a newline.
    n_searched: usize,
    /// The rest of an oversized frame is being dropped.
    is_dropping: bool,
}

impl<R: Read> FrameReader<R> {
    /// Starts reading at a frame boundary.
    pub fn new(stream: R) -> Self {
        Self { stream, buffer: Vec::new(), n_taken: 0, n_searched: 0, is_dropping: false }
    }

    /// Returns the stream, to set its deadlines.
    pub fn stream(&self) -> &R {
        &self.stream
    }

    /// Returns the next frame without its newline, or `None` at the end of the stream.
    ///
    /// A last line without a newline is half a frame and is not returned.
    pub fn next_frame(&mut self) -> Result<Option<&[u8]>, FrameError> {
        self.discard_taken();
        loop {
            if let Some(end) = self.find_newline() {
                self.n_taken = end + 1;
                if !self.is_dropping {
                    return Ok(self.buffer.get(..end));
                }
                self.is_dropping = false;
                self.discard_taken();
                continue;
            }
            if FRAME_BYTES_MAX < self.buffer.len() {
                let was_dropping = std::mem::replace(&mut self.is_dropping, true);
                self.buffer.clear();
                self.n_searched = 0;
                if !was_dropping {
                    return Err(FrameError::TooLong);
                }
            }
            if self.fill()? == 0 {
                return Ok(None);
            }
        }
    }

    fn discard_taken(&mut self) {
        self.buffer.drain(..self.n_taken);
        self.n_taken = 0;
        self.n_searched = 0;
        if self.buffer.len() < BUFFER_BYTES_KEPT {
            self.buffer.shrink_to(BUFFER_BYTES_KEPT);
        }
    }

    fn find_newline(&mut self) -> Option<usize> {
        let unsearched = self.buffer.get(self.n_searched..)?;
        let found = unsearched.iter().position(|byte| *byte == b'\n');
        let end = found.map(|offset| self.n_searched + offset);
        self.n_searched = self.buffer.len();
        end
    }

    fn fill(&mut self) -> io::Result<usize> {
        let mut chunk = [0; READ_BYTES];
        let n_read = loop {
            match self.stream.read(&mut chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.buffer.extend_from_slice(chunk.get(..n_read).unwrap_or_default());
        Ok(n_read)
    }
}

/// Writes one frame and its newline in a single call. A message larger than a frame is not begun.
pub fn write_frame(stream: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(message)?;
    if FRAME_BYTES_MAX < bytes.len() {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than a frame"));
    }
    bytes.push(b'\n');
    stream.write_all(&bytes)?;
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(input: &[u8]) -> Vec<Result<String, String>> {
        let mut reader = FrameReader::new(input);
        let mut out = Vec::new();
        loop {
            match reader.next_frame() {
                Ok(Some(frame)) => out.push(Ok(String::from_utf8_lossy(frame).into_owned())),
                Ok(None) => return out,
                Err(error) => out.push(Err(error.to_string())),
            }
        }
    }

    #[track_caller]
    fn check(input: &[u8], want: &[&str]) {
        let got: Vec<_> = frames(input).into_iter().map(|frame| frame.unwrap()).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn a_stream_is_cut_at_newlines() {
        check(b"", &[]);
        check(b"a\n", &["a"]);
        check(b"a\nb\n\nc\n", &["a", "b", "", "c"]);
    }

    #[test]
    fn half_a_frame_at_the_end_is_not_a_frame() {
        check(b"a\nb", &["a"]);
    }

    #[test]
    fn an_oversized_frame_is_named_once_and_its_neighbours_survive() {
        let mut input = b"before\n".to_vec();
        input.extend(std::iter::repeat_n(b'x', 3 * FRAME_BYTES_MAX));
        input.extend(b"\nafter\n");
        let got = frames(&input);
        assert_eq!(got.len(), 3);
        assert_eq!(got[0], Ok("before".to_owned()));
        assert!(got[1].as_ref().is_err_and(|error| error.contains("longer than")));
        assert_eq!(got[2], Ok("after".to_owned()));
    }

    #[test]
    fn the_longest_allowed_frame_passes() {
        let mut input = vec![b'x'; FRAME_BYTES_MAX];
        input.push(b'\n');
        assert_eq!(frames(&input)[0].as_ref().unwrap().len(), FRAME_BYTES_MAX);
    }

    proptest::proptest! {
        #[test]
        fn frames_survive_any_cutting(lines in proptest::collection::vec("[a-z]{0,40}", 0..20)) {
            let mut input = Vec::new();
            for line in &lines {
                write_frame(&mut input, &serde_json::json!(line)).unwrap();
            }
            let got: Vec<String> = frames(&input)
                .into_iter()
                .map(|frame| serde_json::from_str(&frame.unwrap()).unwrap())
                .collect();
            proptest::prop_assert_eq!(got, lines);
        }
    }
}
