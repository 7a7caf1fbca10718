//! Counts the turns that wait in the spool, from outside the daemon.

use std::fs::{self, File};
use std::io::BufReader;

use crate::home::Home;

/// Returns how many turns wait; what cannot be read counts as none.
pub(crate) fn n_waiting(home: &Home) -> u64 {
    let entries = fs::read_dir(home.spool()).into_iter().flatten().flatten();
    let files = entries.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.ends_with(".jsonl") && !name.starts_with('.') && !name.contains(".permanent-failed-")
    });
    let counts = files.filter_map(|entry| {
        let file = File::open(entry.path()).ok()?;
        iai_wire::count_events(BufReader::new(file)).ok()
    });
    counts.sum()
}
