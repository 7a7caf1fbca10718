//! Reads a file line by line with a bound, so that one hostile line cannot take the memory of the
//! process.

use std::io::{self, BufRead};

/// The longest line kept; a longer one is skipped and named.
pub const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What stood between two newlines.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line without its newline.
    Whole(&'a [u8]),
    /// The end of the file came before a newline: half a line, or the last line of a sloppy writer.
    Unended(&'a [u8]),
    /// Longer than the bound; its bytes are gone from memory, its length is known.
    TooLong {
        /// How long the line really was, as far as it is written.
        n_bytes: u64,
    },
}

/// Hands out the lines of a reader, one at a time.
#[derive(Debug)]
pub struct LineReader<R> {
    input: R,
    buffer: Vec<u8>,
    n_bytes_max: usize,
    n_bytes_ended: u64,
}

impl<R: BufRead> LineReader<R> {
    /// Reads with the usual bound.
    pub fn new(input: R) -> Self {
        Self::with_bound(input, LINE_BYTES_MAX)
    }

    /// Reads with a bound of the caller's.
    pub fn with_bound(input: R, n_bytes_max: usize) -> Self {
        Self { input, buffer: Vec::new(), n_bytes_max, n_bytes_ended: 0 }
    }

    /// Returns how many bytes the lines so far took, newlines included; half a line does not count.
    pub fn n_bytes_ended(&self) -> u64 {
        self.n_bytes_ended
    }

    /// Returns the next line, or `None` at the end.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        let mut n_bytes: u64 = 0;
        loop {
            let chunk = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if chunk.is_empty() {
                return Ok(match n_bytes {
                    0 => None,
                    _ => Some(self.finished(n_bytes, false)),
                });
            }
            let newline = chunk.iter().position(|byte| *byte == b'\n');
            let part = chunk.get(..newline.unwrap_or(chunk.len())).unwrap_or(chunk);
            let n_part = part.len();
            n_bytes += n_part as u64;
            if self.buffer.len() + n_part <= self.n_bytes_max {
                self.buffer.extend_from_slice(part);
            }
            self.input.consume(n_part + usize::from(newline.is_some()));
            if newline.is_some() {
                self.n_bytes_ended += n_bytes + 1;
                return Ok(Some(self.finished(n_bytes, true)));
            }
        }
    }

    fn finished(&self, n_bytes: u64, is_ended: bool) -> Line<'_> {
        if n_bytes != self.buffer.len() as u64 {
            Line::TooLong { n_bytes }
        } else if is_ended {
            Line::Whole(&self.buffer)
        } else {
            Line::Unended(&self.buffer)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, want: &[&str]) {
        let mut reader =
            LineReader::with_bound(io::BufReader::with_capacity(3, input.as_bytes()), 5);
        let mut got = Vec::new();
        while let Some(line) = reader.next_line().unwrap() {
            got.push(match line {
                Line::Whole(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                Line::Unended(bytes) => format!("{}…", String::from_utf8_lossy(bytes)),
                Line::TooLong { n_bytes } => format!("<{n_bytes}>"),
            });
        }
        assert_eq!(got, want);
    }

    #[test]
    fn lines_are_whole_unended_or_too_long() {
        check("", &[]);
        check("\n\na\n", &["", "", "a"]);
        check("abcde\nf", &["abcde", "f…"]);
        check("abcdef\ng\n", &["<6>", "g"]);
        check("abcdefghijkl", &["<12>"]);
    }
}
