//! What waits in the spool, seen from outside the daemon.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::time::SystemTime;

use iai_wire::{SealingKey, Unreadable, why_unreadable};

use crate::home::Home;

/// A first line says a version, a seal and a key; a longer one is none of ours.
const FIRST_LINE_BYTES_MAX: u64 = 4096;

/// One spool file.
pub(crate) struct WaitingFile {
    pub(crate) name: String,
    pub(crate) n_turns: u64,
    pub(crate) n_bytes: u64,
    pub(crate) written_at: Option<SystemTime>,
    /// Why no drain will take it, as far as its first line tells.
    pub(crate) stuck: Option<String>,
    /// Given up by a drain; only a person can do something with it.
    pub(crate) is_set_aside: bool,
}

/// Returns how many turns wait; what cannot be read counts as none.
pub(crate) fn n_waiting(home: &Home) -> u64 {
    let files = waiting_files(home).into_iter().filter(|file| !file.is_set_aside);
    files.map(|file| file.n_turns).sum()
}

/// Lists the spool in name order.
pub(crate) fn waiting_files(home: &Home) -> Vec<WaitingFile> {
    let public = fs::read_to_string(home.spool_public()).ok();
    let own_key = public.and_then(|text| SealingKey::parse(&text).ok()).map(|key| key.name());
    let entries = fs::read_dir(home.spool()).into_iter().flatten().flatten();
    let mut files: Vec<WaitingFile> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            if name.starts_with('.') || !name.ends_with(".jsonl") {
                return None;
            }
            let metadata = entry.metadata().ok()?;
            let file = File::open(entry.path()).ok()?;
            Some(WaitingFile {
                is_set_aside: name.contains(".permanent-failed-"),
                n_turns: iai_wire::count_events(BufReader::new(file)).unwrap_or(0),
                n_bytes: metadata.len(),
                stuck: first_line(&entry.path())
                    .and_then(|line| why_unreadable(&line, own_key.as_deref()))
                    .map(|why| in_words(&why)),
                written_at: metadata.modified().ok(),
                name,
            })
        })
        .collect();
    files.sort_by(|left, right| left.name.cmp(&right.name));
    files
}

fn first_line(path: &Path) -> Option<Vec<u8>> {
    let file = File::open(path).ok()?;
    let mut line = Vec::new();
    BufReader::new(file.take(FIRST_LINE_BYTES_MAX)).read_until(b'\n', &mut line).ok()?;
    Some(line)
}

/// Says why a file is left alone.
pub(crate) fn in_words(why: &Unreadable) -> String {
    match why {
        Unreadable::Newer { version } => format!(
            "it says version {version}, which this program does not know: update the program"
        ),
        Unreadable::UnknownSeal => "its first line was changed: it names no seal".to_owned(),
        Unreadable::ForeignSeal => {
            "it is sealed to another store, or its first line was changed".to_owned()
        }
    }
}
