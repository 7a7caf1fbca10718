//! What waits in the spool, seen from outside the daemon.

use std::fs::{self, File};
use std::io::BufReader;
use std::time::SystemTime;

use crate::home::Home;

/// One spool file.
pub(crate) struct WaitingFile {
    pub(crate) name: String,
    pub(crate) n_turns: u64,
    pub(crate) n_bytes: u64,
    pub(crate) written_at: Option<SystemTime>,
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
                written_at: metadata.modified().ok(),
                name,
            })
        })
        .collect();
    files.sort_by(|left, right| left.name.cmp(&right.name));
    files
}
