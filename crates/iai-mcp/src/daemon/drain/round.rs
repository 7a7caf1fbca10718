//! One pass over the spool: a crowd of small files shares a transaction, a large one has its own.

use std::collections::BTreeMap;
use std::time::Duration;

use iai_memory::{Ingested, SpoolBatch};
use jiff::Timestamp;

use super::files::Waiting;
use super::parts::{BATCH_BYTES_MAX, BATCH_TURNS_MAX, Part};
use super::{Drainer, Outcome, Pass, n_turns};
use crate::clock;

/// Files that share a transaction; more of them would hold what they say in memory for nothing.
const FILES_TOGETHER_MAX: usize = 256;

/// What a pass has done so far.
pub(super) struct Round<'a> {
    drainer: &'a Drainer,
    /// When the files that were put off are due, for a store that cannot be told.
    put_off: &'a mut BTreeMap<String, Timestamp>,
    now: Timestamp,
    /// Turns in files that were not looked at yet.
    n_left: u64,
    show: &'a dyn Fn(Ingested, u64),
    together: Vec<Together>,
    pass: Pass,
    wake_at: Vec<Timestamp>,
}

/// A small file, read and not yet stored.
struct Together {
    file: Waiting,
    batch: SpoolBatch,
}

impl<'a> Round<'a> {
    pub(super) fn new(
        drainer: &'a Drainer,
        put_off: &'a mut BTreeMap<String, Timestamp>,
        now: Timestamp,
        n_left: u64,
        show: &'a dyn Fn(Ingested, u64),
    ) -> Self {
        let (together, pass, wake_at) = (Vec::new(), Pass::default(), Vec::new());
        Self { drainer, put_off, now, n_left, show, together, pass, wake_at }
    }

    pub(super) fn take(&mut self, file: Waiting, n_in_file: u64) {
        self.tell(Ingested::default());
        self.n_left -= n_in_file;
        let due_at = file.due_at.max(self.drainer.put_off_until(self.put_off, &file.name));
        if due_at.is_some_and(|due| self.now < due) {
            self.wake_at.extend(due_at);
            self.pass.count_waiting(&file);
            return;
        }
        match self.read_small(&file) {
            Ok(Some(batch)) => {
                self.together.push(Together { file, batch });
                if self.is_full() {
                    self.store_together();
                }
            }
            // Whatever is wrong with it shows again, and only there.
            Ok(None) | Err(_) => {
                self.store_together();
                self.drain_alone(&file);
            }
        }
    }

    pub(super) fn finish(mut self) -> Pass {
        self.store_together();
        let soonest = self.wake_at.into_iter().min();
        self.pass.look_again_in = soonest
            .map(|at| at.duration_since(self.now).try_into().unwrap_or(Duration::from_secs(1)));
        self.pass
    }

    /// Returns a file's turns when they are few and none of them has to be looked up in the store,
    /// which knows nothing yet of the files that are waiting for the same transaction.
    fn read_small(&self, file: &Waiting) -> anyhow::Result<Option<SpoolBatch>> {
        let Some(mut parts) = self.drainer.open(&file.path, &file.name)? else { return Ok(None) };
        Ok(match parts.next_part()? {
            Part::Batch(gathered) => gathered.if_whole_and_plain(),
            Part::NotOurs => None,
        })
    }

    fn is_full(&self) -> bool {
        let turns = || self.together.iter().flat_map(|together| &together.batch.turns);
        FILES_TOGETHER_MAX <= self.together.len()
            || BATCH_TURNS_MAX <= turns().count()
            || BATCH_BYTES_MAX <= turns().map(|turn| turn.text.len()).sum()
    }

    fn store_together(&mut self) {
        let (files, batches): (Vec<Waiting>, Vec<SpoolBatch>) =
            self.together.drain(..).map(|Together { file, batch }| (file, batch)).unzip();
        if batches.is_empty() {
            return;
        }
        let Ok(stored) = self.drainer.engine.store_batches(&batches, clock::now()) else {
            // One of them may be to blame: alone, only it is put off.
            for file in &files {
                self.drain_alone(file);
            }
            return;
        };
        for (file, ingested) in files.iter().zip(stored) {
            match super::parts::remove_drained(&file.path) {
                Ok(()) => self.count(ingested),
                Err(error) => self.put_off(file, &error.into()),
            }
        }
    }

    fn drain_alone(&mut self, file: &Waiting) {
        match self.drainer.drain_file(&file.path, &file.name) {
            Ok(Outcome::Drained(ingested)) => self.count(ingested),
            Ok(Outcome::DrainedBefore(_)) => {}
            Ok(Outcome::NotOurs) => self.pass.n_foreign += n_turns(&file.path),
            Ok(Outcome::Stopped) => self.pass.count_waiting(file),
            Err(error) => self.put_off(file, &error),
        }
    }

    fn put_off(&mut self, file: &Waiting, error: &anyhow::Error) {
        let until = self.drainer.put_off_file(&file.name, error, self.now);
        self.put_off.insert(file.name.clone(), until);
        self.wake_at.push(until);
        self.pass.count_waiting(file);
    }

    fn count(&mut self, ingested: Ingested) {
        self.pass.add(ingested);
        self.tell(ingested);
    }

    fn tell(&self, ingested: Ingested) {
        let waiting: usize = self.together.iter().map(|together| together.batch.turns.len()).sum();
        (self.show)(ingested, self.pass.n_pending + self.n_left + waiting as u64);
    }
}
