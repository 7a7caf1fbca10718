//! Takes turns out of spool files that could not be drained: put off, still open, or set aside.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use anyhow::Context as _;
use iai_memory::{ForgetAsk, NewMemory};
use iai_wire::{SpoolEvent, SpoolHeader, SpoolItem, SpoolReader};

use super::Drainer;
use super::parts::remove_drained;
use super::turns::{Append, Gathered};
use crate::capture::{Delivery, deliver};
use crate::clock;
use crate::home::Home;

/// Turns of one append that stay.
struct Kept {
    header: SpoolHeader,
    events: Vec<SpoolEvent>,
}

impl Drainer {
    /// Forgets turns that wait, whatever keeps them waiting; returns how many. The others of their
    /// files are delivered anew; lines nobody could read go with their file.
    pub(in crate::daemon) fn forget_waiting(&self, ask: &ForgetAsk) -> anyhow::Result<u64> {
        let _one_at_a_time = self.put_off.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(root) = self.folder.parent() else { return Ok(0) };
        let home = Home::new(root.to_owned(), None);
        let mut n_forgotten = 0;
        for path in self.spool_files()? {
            n_forgotten += self
                .forget_in(&home, &path, ask)
                .with_context(|| format!("forgetting in {}", path.display()))?;
        }
        Ok(n_forgotten)
    }

    /// Returns what waits or was set aside in the spool, file by file, as far as it can be read.
    pub(in crate::daemon) fn waiting_turns(&self) -> Vec<(String, Vec<NewMemory>)> {
        let files = self.spool_files().unwrap_or_default();
        let read = files.iter().filter_map(|path| {
            let name = path.file_name()?.to_str()?;
            Some((name.to_owned(), self.read_turns(&self.folder, name).ok()?))
        });
        read.collect()
    }

    fn spool_files(&self) -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files: Vec<PathBuf> = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
            .collect();
        files.sort();
        Ok(files)
    }

    fn forget_in(&self, home: &Home, path: &Path, ask: &ForgetAsk) -> anyhow::Result<u64> {
        let mut reader = SpoolReader::new(BufReader::new(File::open(path)?), Some(&self.key));
        let mut append = Append::default();
        let mut kept: Vec<Kept> = Vec::new();
        let mut n_forgotten = 0;
        while let Some(item) = reader.next_item()? {
            match item {
                SpoolItem::Header(header) => {
                    append = Append::begin(header.clone());
                    kept.push(Kept { header, events: Vec::new() });
                }
                SpoolItem::Event(event) => {
                    let mut gathered = Gathered::new("");
                    append.take((*event).clone(), &mut gathered, clock::now());
                    if gathered.batch.turns.iter().any(|turn| ask.means(turn)) {
                        n_forgotten += 1;
                    } else if let Some(kept) = kept.last_mut() {
                        kept.events.push(*event);
                    }
                }
                SpoolItem::Bad { .. } => {}
                // Not for us: nobody here can read it.
                SpoolItem::Newer { .. } | SpoolItem::ForeignSeal => return Ok(0),
            }
        }
        if n_forgotten == 0 {
            return Ok(0);
        }
        for Kept { header, events } in kept.iter().filter(|kept| !kept.events.is_empty()) {
            let (session, cwd) = (header.session_id.as_str(), header.cwd.as_str());
            deliver(home, &Delivery { session, cwd, events, now: clock::now() })?;
        }
        remove_drained(path)?;
        Ok(n_forgotten)
    }
}
