//! Reads a transcript file line by line and keeps the turns.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use iai_wire::{Line, LineReader};

use crate::host::{Turn, read_line};

/// The turns of one transcript.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    /// Each turn with its place among all turns of the file, counted from 0.
    pub(crate) turns: Vec<(u64, Turn)>,
    /// Turns that came before the ones kept.
    pub(crate) n_older: u64,
    /// Lines too long to hold.
    pub(crate) n_unreadable: u64,
}

/// Reads the last `n_turns_max` turns. A half-written last line is passed over: the next capture
/// finds it whole.
pub(crate) fn read_transcript(path: &Path, n_turns_max: usize) -> io::Result<Transcript> {
    let mut lines = LineReader::new(BufReader::with_capacity(64 * 1024, File::open(path)?));
    let mut turns = VecDeque::new();
    let mut transcript = Transcript::default();
    let mut n_turns: u64 = 0;
    while let Some(line) = lines.next_line()? {
        let turn = match line {
            Line::Whole(bytes) | Line::Unended(bytes) => read_line(bytes),
            Line::TooLong { .. } => {
                transcript.n_unreadable += 1;
                None
            }
        };
        let Some(turn) = turn else { continue };
        turns.push_back((n_turns, turn));
        n_turns += 1;
        if n_turns_max < turns.len() {
            turns.pop_front();
            transcript.n_older += 1;
        }
    }
    transcript.turns = turns.into();
    Ok(transcript)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, n_turns_max: usize, want: &[(u64, &str)], n_older: u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        std::fs::write(&path, text).unwrap();
        let transcript = read_transcript(&path, n_turns_max).unwrap();
        let got: Vec<_> =
            transcript.turns.iter().map(|(index, turn)| (*index, turn.text.as_str())).collect();
        assert_eq!((got.as_slice(), transcript.n_older), (want, n_older));
    }

    fn turn(text: &str) -> String {
        format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{text}\"}}}}\n")
    }

    #[test]
    fn the_newest_turns_are_kept_with_their_places() {
        let text = [turn("a"), "not json\n".into(), "[1]\n".into(), turn("b"), turn("c")].concat();
        check(&text, 200, &[(0, "a"), (1, "b"), (2, "c")], 0);
        check(&text, 2, &[(1, "b"), (2, "c")], 1);
        check(&text, 0, &[], 3);
        check("", 200, &[], 0);
    }

    #[test]
    fn half_a_line_waits_for_its_other_half() {
        check(&format!("{}{{\"type\":\"user\",\"mess", turn("a")), 200, &[(0, "a")], 0);
    }

    #[test]
    fn bytes_that_are_not_text_cost_only_their_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let mut bytes = b"\xff\xfe\x00\n".to_vec();
        bytes.extend("[".repeat(100_000).bytes().chain(*b"\n"));
        bytes.extend(turn("kept").bytes());
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(read_transcript(&path, 9).unwrap().turns.len(), 1);
    }
}
