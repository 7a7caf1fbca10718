//! Reads a transcript turn by turn, in constant memory, from any place in it.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::Instant;

use iai_wire::{Line, LineReader};

use super::cursor::Cursor;
use crate::host::{self, HostKind, Layout, LineParser, Meaning, Source, Turn, UnknownFile};

const BUFFER_BYTES: usize = 64 * 1024;
/// What is looked at to tell whose file it is.
const HEAD_BYTES: u64 = 64 * 1024;

/// A turn with its place among all turns of its file, counted from 0.
pub(crate) type Placed = (u64, Turn);

/// The turns of one transcript, or the last of them.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    pub(crate) turns: Vec<Placed>,
    /// Turns that came before the ones kept.
    pub(crate) n_older: u64,
    /// Lines too long to hold, or not readable at all.
    pub(crate) n_unreadable: u64,
    /// Why the file is no transcript we know, where that is so.
    pub(crate) unknown: Option<String>,
}

/// How much of a transcript one call may take.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    /// Stop at this time, wherever that is; the next call goes on.
    pub(crate) until: Option<Instant>,
    pub(crate) n_turns_max: usize,
}

impl Budget {
    /// Tells whether the time is up.
    pub(crate) fn is_over(&self) -> bool {
        self.until.is_some_and(|until| until <= Instant::now())
    }
}

/// What one pass holds in memory, however long the transcript is.
const PASS_TEXT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// What to do with a last line that has no newline.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tail {
    /// The file is still written to: half a line is left for the next call.
    Leave,
    /// The file is whole: what can be read of it is read.
    Take,
}

/// Whether to read on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    On,
    Stop,
}

/// Reads the last `n_turns_max` turns of a whole file.
pub(crate) fn read_transcript(path: &Path, n_turns_max: usize) -> io::Result<Transcript> {
    let mut last = VecDeque::new();
    let mut n_older = 0;
    let pass = each_turn(path, |placed| {
        last.push_back(placed);
        if n_turns_max < last.len() {
            last.pop_front();
            n_older += 1;
        }
        Flow::On
    })?;
    let unknown = unknown_file(path)?.filter(|_| last.is_empty());
    let n_unreadable = pass.n_unreadable;
    Ok(Transcript { turns: last.into(), n_older, n_unreadable, unknown })
}

/// What reading a whole file came to.
#[derive(Debug, Default)]
pub(crate) struct Pass {
    /// Lines that could not be read.
    pub(crate) n_unreadable: u64,
    /// Where to go on once the file has grown; nothing where only a second look can tell.
    pub(crate) settled: Option<Settled>,
}

/// The last place in a file where a later reader may go on.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Settled {
    pub(crate) offset: u64,
    pub(crate) n_turns: u64,
    pub(crate) memo: String,
}

/// Hands every turn of a whole file to `each`, compressed or not, whatever its layout.
pub(crate) fn each_turn(path: &Path, mut each: impl FnMut(Placed) -> Flow) -> io::Result<Pass> {
    let source = source_of(path)?;
    if source.layout == Layout::Whole {
        let turns = host::read_whole(&source, path).map_err(io::Error::other)?;
        for placed in (0..).zip(turns) {
            if each(placed) == Flow::Stop {
                break;
            }
        }
        return Ok(Pass::default());
    }
    let lines = LineReader::new(host::open_lines(path)?);
    let mut reading = Reading::new(lines, LineParser::new(&source), 0);
    let (mut offset, mut n_turns) = (0, 0);
    loop {
        if reading.parser.is_settled() {
            (offset, n_turns) = (reading.lines.n_bytes_ended(), reading.n_turns);
        }
        if reading.step(Tail::Take, &mut each)? == Flow::Stop {
            break;
        }
    }
    // What the parser remembers of a last line without a newline would be remembered twice.
    let settled = (!reading.took_tail).then(|| reading.parser.memo());
    let settled = settled.map(|memo| Settled { offset, n_turns, memo });
    let held = reading.parser.finish();
    reading.hand_on(held, &mut each);
    Ok(Pass { n_unreadable: reading.n_unreadable, settled })
}

/// Reads what a growing file gained since `cursor`, and moves the cursor behind it.
///
/// The cursor stops where the parser is settled: what still waits for a later line is read again.
pub(crate) fn read_growth(
    file: &mut File,
    path: &Path,
    cursor: &mut Cursor,
    budget: Budget,
) -> io::Result<Transcript> {
    let source = source_of(path)?;
    if source.layout == Layout::Whole {
        return read_rewritten(file, path, &source, cursor);
    }
    let start = cursor.offset;
    file.seek(SeekFrom::Start(start))?;
    let lines = LineReader::new(BufReader::with_capacity(BUFFER_BYTES, file));
    let parser = LineParser::resume(&source, &cursor.memo);
    let mut reading = Reading::new(lines, parser, cursor.n_turns);
    let mut turns = Vec::new();
    let mut n_bytes = 0;
    loop {
        if reading.parser.is_settled() {
            cursor.offset = start + reading.lines.n_bytes_ended();
            cursor.n_turns = reading.n_turns;
        }
        let is_full = budget.n_turns_max <= turns.len() || PASS_TEXT_BYTES_MAX <= n_bytes;
        let mut each = |placed: Placed| {
            n_bytes += placed.1.text.len();
            turns.push(placed);
            Flow::On
        };
        if budget.is_over() || is_full || reading.step(Tail::Leave, &mut each)? == Flow::Stop {
            break;
        }
    }
    // What the parser remembers always belongs to its last settled line, as the cursor does.
    cursor.memo = reading.parser.memo();
    Ok(Transcript { turns, n_unreadable: reading.n_unreadable, ..Transcript::default() })
}

/// A document is rewritten, never appended to: all of it is new, and what was there is known by id.
fn read_rewritten(
    file: &File,
    path: &Path,
    source: &Source,
    cursor: &mut Cursor,
) -> io::Result<Transcript> {
    let turns = host::read_whole(source, path).map_err(io::Error::other)?;
    cursor.offset = file.metadata()?.len();
    cursor.n_turns = turns.len() as u64;
    Ok(Transcript { turns: (0..).zip(turns).collect(), ..Transcript::default() })
}

/// A pass over the lines of one file.
struct Reading<R> {
    lines: LineReader<R>,
    parser: LineParser,
    /// Turns of the file so far, those of earlier passes included.
    n_turns: u64,
    n_unreadable: u64,
    /// A last line without a newline was read as well.
    took_tail: bool,
}

impl<R: BufRead> Reading<R> {
    fn new(lines: LineReader<R>, parser: LineParser, n_turns: u64) -> Self {
        Self { lines, parser, n_turns, n_unreadable: 0, took_tail: false }
    }

    /// Reads one line. Returns `Stop` at the end, or when `each` says so.
    fn step(&mut self, tail: Tail, each: &mut impl FnMut(Placed) -> Flow) -> io::Result<Flow> {
        let meanings = match self.lines.next_line()? {
            None => return Ok(Flow::Stop),
            Some(Line::Unended(_)) if tail == Tail::Leave => return Ok(Flow::Stop),
            Some(Line::Whole(bytes)) => self.parser.read(bytes),
            Some(Line::Unended(bytes)) => {
                self.took_tail = true;
                // Half a line is being written: no fault of the file, and read when it is whole.
                let mut meanings = self.parser.read(bytes);
                meanings.retain(|meaning| *meaning != Meaning::Unreadable);
                meanings
            }
            Some(Line::TooLong { .. }) => vec![Meaning::Unreadable],
        };
        Ok(self.hand_on(meanings, each))
    }

    fn hand_on(&mut self, meanings: Vec<Meaning>, each: &mut impl FnMut(Placed) -> Flow) -> Flow {
        for meaning in meanings {
            match meaning {
                Meaning::Nobody(_) => {}
                Meaning::Unreadable => self.n_unreadable += 1,
                Meaning::Turn(turn) => {
                    let place = self.n_turns;
                    self.n_turns += 1;
                    if each((place, *turn)) == Flow::Stop {
                        return Flow::Stop;
                    }
                }
            }
        }
        Flow::On
    }
}

/// Tells whose file it is. A file nobody claims is read as the oldest format, which finds nothing
/// in it that is not there.
fn source_of(path: &Path) -> io::Result<Source> {
    let recognised = recognise(path)?;
    Ok(recognised.unwrap_or_else(|_| Source::lines(HostKind::ClaudeCode)))
}

/// Returns the sentence about a file that nobody claims.
fn unknown_file(path: &Path) -> io::Result<Option<String>> {
    Ok(recognise(path)?.err().map(|unknown| unknown.to_string()))
}

fn recognise(path: &Path) -> io::Result<Result<Source, UnknownFile>> {
    let mut head = Vec::new();
    host::open_lines(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(host::recognise(path, &head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &[u8], n_turns_max: usize, want: &[(u64, &str)], n_older: u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        std::fs::write(&path, text).unwrap();
        let transcript = read_transcript(&path, n_turns_max).unwrap();
        let got: Vec<_> =
            transcript.turns.iter().map(|(place, turn)| (*place, turn.text.as_str())).collect();
        assert_eq!((got.as_slice(), transcript.n_older), (want, n_older));
    }

    fn turn(text: &str) -> String {
        format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{text}\"}}}}\n")
    }

    #[test]
    fn the_newest_turns_are_kept_with_their_places() {
        let text = [turn("a"), "not json\n".into(), "[1]\n".into(), turn("b"), turn("c")].concat();
        check(text.as_bytes(), 200, &[(0, "a"), (1, "b"), (2, "c")], 0);
        check(text.as_bytes(), 2, &[(1, "b"), (2, "c")], 1);
        check(text.as_bytes(), 0, &[], 3);
        check(b"", 200, &[], 0);
    }

    #[test]
    fn a_pass_says_where_to_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let whole = [turn("a"), turn("b")].concat();
        std::fs::write(&path, &whole).unwrap();
        let settled = each_turn(&path, |_| Flow::On).unwrap().settled.unwrap();
        assert_eq!((settled.offset, settled.n_turns), (whole.len() as u64, 2));
        let mut cursor = Cursor::default();
        let no_limit = Budget { until: None, n_turns_max: usize::MAX };
        read_growth(&mut File::open(&path).unwrap(), &path, &mut cursor, no_limit).unwrap();
        let reread = Settled { offset: cursor.offset, n_turns: cursor.n_turns, memo: cursor.memo };
        assert_eq!(settled, reread);
        std::fs::write(&path, format!("{whole}{}", turn("c").trim_end())).unwrap();
        let mut n_turns = 0;
        let pass = each_turn(&path, |_| {
            n_turns += 1;
            Flow::On
        });
        assert_eq!((n_turns, pass.unwrap().settled), (3, None), "half a line may still grow");
    }

    #[test]
    fn rubbish_costs_only_its_own_line() {
        let mut bytes = b"\xff\xfe\x00\n".to_vec();
        bytes.extend("[".repeat(100_000).bytes().chain(*b"\n"));
        bytes.extend(turn("kept").bytes());
        check(&bytes, 9, &[(0, "kept")], 0);
        check(format!("{}{{\"type\":\"user\",\"mess", turn("a")).as_bytes(), 9, &[(0, "a")], 0);
    }

    #[test]
    fn half_a_line_at_the_end_is_no_fault_and_one_in_the_middle_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let half = "{\"type\":\"user\",\"mess";
        for (text, n_unreadable) in [
            (format!("{}{half}", turn("a")), 0),
            (format!("{}{half}\n", turn("a")), 1),
            (format!("{half}\n{}{half}", turn("a")), 1),
        ] {
            std::fs::write(&path, &text).unwrap();
            let pass = each_turn(&path, |_| Flow::On).unwrap();
            assert_eq!(pass.n_unreadable, n_unreadable, "{text}");
        }
    }
}
