//! Keeping the store: a new key while it is open, and exports on their way back in.

use std::fs::File;
use std::io::{BufReader, Seek as _, SeekFrom};

use iai_memory::{Consent, MemoryEngine, NewMaster};
use iai_wire::{Line, LineReader, code};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::Failure;
use super::parameters::Parameters;

/// Lines and bytes taken in one transaction; one line may be longer.
const LINES_MAX: usize = 1000;
const LINES_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Puts a new master key around the data key; everybody who has the store open goes on.
pub(super) fn rotate(
    engine: &MemoryEngine,
    given: &Parameters<'_>,
    now: Timestamp,
) -> Result<Value, Failure> {
    let new = NewMaster::from_words(given.optional_text("new_passphrase")?);
    Ok(json!({"key_id": engine.rotate_master(&new, now)?}))
}

/// Takes the next lines of an export, from a byte of its file on; says where to go on.
pub(super) fn take_export(engine: &MemoryEngine, given: &Parameters<'_>) -> Result<Value, Failure> {
    let (file, offset) = (given.text("file")?, given.count("offset", 0)?);
    let failed = |error| Failure::new(code::FAILED, format!("reading {file}: {error}"));
    let mut input = File::open(&file).map_err(failed)?;
    input.seek(SeekFrom::Start(offset)).map_err(failed)?;
    let mut reader = LineReader::new(BufReader::new(input));
    let (mut lines, mut unreadable, mut n_bytes) = (Vec::new(), Vec::new(), 0);
    let mut n_unended = 0;
    while lines.len() < LINES_MAX && n_bytes < LINES_BYTES_MAX {
        let bytes = match reader.next_line().map_err(failed)? {
            None => break,
            Some(Line::Whole(bytes)) => bytes,
            Some(Line::Unended(bytes)) => {
                n_unended = bytes.len() as u64;
                bytes
            }
            Some(Line::TooLong { n_bytes }) => {
                unreadable.push((lines.len(), format!("{n_bytes} bytes long, more than we take")));
                lines.push(String::new());
                continue;
            }
        };
        n_bytes += bytes.len();
        lines.push(String::from_utf8_lossy(bytes).into_owned());
    }
    let is_blank = |place: &usize| lines.get(*place).is_some_and(|line| line.trim().is_empty());
    let places: Vec<usize> = (0..lines.len()).filter(|place| !is_blank(place)).collect();
    let texts: Vec<&str> =
        places.iter().filter_map(|place| lines.get(*place).map(String::as_str)).collect();
    let consent = match given.flag("untrusted_too")? {
        true => Consent::Given,
        false => Consent::NotAsked,
    };
    let mut told = engine.import_lines(&texts, consent)?;
    for (place, _) in &mut told.problems {
        *place = places.get(*place).copied().unwrap_or(*place);
    }
    told.problems.extend(unreadable);
    Ok(json!({
        "stored": told.stored,
        "known": told.known,
        "forgotten": told.forgotten,
        "untold": told.untold,
        "problems": told.problems,
        "is_ended": told.is_ended,
        "is_newer": told.is_newer,
        "lines": lines.len(),
        "next": offset + reader.n_bytes_ended() + n_unended,
    }))
}
