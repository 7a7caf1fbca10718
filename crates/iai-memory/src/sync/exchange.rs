//! One exchange with a vault's remote: read what others wrote, write what changed here, drop what
//! was forgotten. Whatever it is interrupted by, the next one goes on.

use std::collections::BTreeMap;

use iai_store::VaultNumber;
use iai_sync::{Appended, EntryName, Head, MachineId, Remote, RemoteError, VaultId};
use jiff::Timestamp;
use serde::Serialize;
use thiserror::Error;

use super::{OpenVault, Taken};
use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};

/// Payload that is fetched or sent at once.
const BYTES_AT_ONCE: usize = 4 * 1024 * 1024;
/// Payloads that are dropped at once.
const ERASED_AT_ONCE: usize = 500;
/// A chain is begun anew at most so often in one exchange: more is somebody's game.
const RENAMES_MAX: usize = 2;

/// Why an exchange did not end well.
#[derive(Debug, Error)]
pub enum ExchangeError {
    /// The remote; what was done before stays done.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The store.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl From<iai_store::StoreError> for ExchangeError {
    fn from(error: iai_store::StoreError) -> Self {
        Self::Memory(error.into())
    }
}

/// What an exchange did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Exchanged {
    /// Entries that were sent.
    pub sent: u64,
    /// Entries of others that were read.
    pub received: u64,
    /// Memories that are new here.
    pub new_memories: u64,
    /// Entries of others that do not count or say nothing this program can do.
    pub passed_over: u64,
    /// Payloads that the remote dropped because they were forgotten.
    pub erased: u64,
    /// Memories that others forgot are being forgotten here, under this receipt.
    pub receipt: Option<u64>,
    /// This machine began its chain anew under another name, and why.
    pub renamed: Option<String>,
    /// What is wrong with chains of others, by machine.
    pub troubles: BTreeMap<String, String>,
}

/// What an exchange needs from outside.
pub struct ExchangeWork<'a> {
    /// The time.
    pub clock: &'a dyn Fn() -> Timestamp,
    /// Draws another name for this machine.
    pub draw_name: &'a dyn Fn() -> Result<MachineId>,
    /// Somebody wants this to end.
    pub must_stop: &'a dyn Fn() -> bool,
}

impl MemoryEngine {
    /// Exchanges everything with a vault's remote.
    pub fn sync_exchange(
        &self,
        vault: VaultNumber,
        remote: &mut dyn Remote,
        work: &ExchangeWork<'_>,
    ) -> Result<Exchanged, ExchangeError> {
        let mut exchange = Exchange { engine: self, vault, work, done: Exchanged::default() };
        for _ in 0..=RENAMES_MAX {
            if exchange.run(remote)? == Ended::Well {
                break;
            }
        }
        exchange.done.receipt = self.sync_forget_gone((work.clock)())?;
        Ok(exchange.done)
    }
}

#[derive(PartialEq, Eq)]
enum Ended {
    Well,
    /// Under another name; everything has to be looked at again.
    Renamed,
}

struct Exchange<'a> {
    engine: &'a MemoryEngine,
    vault: VaultNumber,
    work: &'a ExchangeWork<'a>,
    done: Exchanged,
}

impl Exchange<'_> {
    fn run(&mut self, remote: &mut dyn Remote) -> Result<Ended, ExchangeError> {
        let open = self.engine.read(|reader| OpenVault::of(reader, self.vault))?;
        let (id, this) = (open.id(), open.machine_id());
        let mut heads = remote.heads(id)?;
        if let Some(why) = self.is_not_ours(&open, &heads)? {
            return self.rename(why, heads.iter().find(|head| head.machine == this));
        }
        heads.retain(|head| head.machine != this);
        self.put_newest_key_first(remote, id, &mut heads)?;
        // The key that one chain waits for may be told in another.
        for _ in 0..2 {
            self.done.troubles.clear();
            for head in &heads {
                self.pull(remote, id, head)?;
            }
            if self.done.troubles.is_empty() {
                break;
            }
        }
        while self.engine.sync_publish(self.vault, (self.work.clock)())?.has_more {
            if (self.work.must_stop)() {
                return Ok(Ended::Well);
            }
            if let Some(forked) = self.push(remote, id)? {
                return self.forked(forked);
            }
        }
        if let Some(forked) = self.push(remote, id)? {
            return self.forked(forked);
        }
        self.erase(remote, id)?;
        Ok(Ended::Well)
    }

    /// Says why the remote's end of this machine's chain cannot be what this machine wrote.
    fn is_not_ours(&self, open: &OpenVault, heads: &[Head]) -> Result<Option<String>> {
        let this = open.machine_id();
        let found = heads.iter().find(|head| head.machine == this).map_or(0, |head| head.counter);
        let written = open.vault.counter;
        let n_waiting = self.engine.read(|reader| Ok(reader.n_sync_outbox(self.vault)?))?;
        let confirmed = written.saturating_sub(n_waiting);
        if written < found {
            let why = "this store was restored or copied: its name goes on elsewhere";
            return Ok(Some(format!(
                "the log has {found} entries of it and it wrote {written}; {why}"
            )));
        }
        if found < confirmed {
            let why = "the remote was put back to an earlier state";
            return Ok(Some(format!("the log has {found} of {confirmed} entries of it; {why}")));
        }
        Ok(None)
    }

    fn forked(&mut self, forked: EntryName) -> Result<Ended, ExchangeError> {
        let why = format!("the log has another entry {} under its name", forked.counter);
        self.rename(why, None)
    }

    fn rename(&mut self, why: String, head: Option<&Head>) -> Result<Ended, ExchangeError> {
        let (vault, found) = (self.vault, head.map(|head| head.counter));
        let name = (self.work.draw_name)()?;
        self.engine.sync_begin_anew(name, |of| if of == vault { found } else { None })?;
        self.done.renamed = Some(why);
        Ok(Ended::Renamed)
    }

    /// Orders chains so that those which know the newest key are read first: who was put out has
    /// to be known before what they wrote since.
    fn put_newest_key_first(
        &self,
        remote: &mut dyn Remote,
        vault: VaultId,
        heads: &mut Vec<Head>,
    ) -> Result<(), ExchangeError> {
        let mut with_epoch = Vec::with_capacity(heads.len());
        for head in heads.drain(..) {
            if head.counter <= self.engine.sync_read_up_to(self.vault, head.machine)? {
                continue;
            }
            let last = remote.fetch(vault, head.machine, head.counter.saturating_sub(1), 1)?;
            with_epoch.push((last.first().map_or(0, |entry| entry.epoch), head));
        }
        with_epoch.sort_by_key(|(epoch, head)| (std::cmp::Reverse(*epoch), head.machine));
        heads.extend(with_epoch.into_iter().map(|(_, head)| head));
        Ok(())
    }

    /// Reads a chain to its end, or as far as it can be read.
    fn pull(
        &mut self,
        remote: &mut dyn Remote,
        vault: VaultId,
        head: &Head,
    ) -> Result<(), ExchangeError> {
        loop {
            let known = self.engine.sync_read_up_to(self.vault, head.machine)?;
            if head.counter <= known || (self.work.must_stop)() {
                return Ok(());
            }
            let entries = remote.fetch(vault, head.machine, known, BYTES_AT_ONCE)?;
            if entries.is_empty() {
                return Ok(());
            }
            let now = (self.work.clock)();
            let taken = self.engine.sync_take(self.vault, head.machine, entries, now)?;
            if self.count(head.machine, taken) {
                return Ok(());
            }
        }
    }

    /// Adds up what was taken in; tells whether reading has to stop.
    fn count(&mut self, machine: MachineId, taken: Taken) -> bool {
        self.done.received += taken.n_entries;
        self.done.new_memories += taken.n_new;
        self.done.passed_over += taken.n_refused + taken.n_odd;
        match taken.trouble {
            None => taken.n_entries == 0,
            Some(trouble) => {
                self.done.troubles.insert(machine.to_string(), trouble);
                true
            }
        }
    }

    /// Sends what waits; returns where the chain turned out to be somebody else's.
    fn push(
        &mut self,
        remote: &mut dyn Remote,
        vault: VaultId,
    ) -> Result<Option<EntryName>, ExchangeError> {
        loop {
            let entries = self.engine.sync_outgoing(self.vault, BYTES_AT_ONCE)?;
            let Some(last) = entries.last() else { return Ok(None) };
            if (self.work.must_stop)() {
                return Ok(None);
            }
            match remote.append(vault, &entries)? {
                Appended::Kept => {}
                Appended::Forked(name) => return Ok(Some(name)),
            }
            self.engine.sync_sent(self.vault, last.name.counter)?;
            self.done.sent += u64::try_from(entries.len()).unwrap_or(u64::MAX);
        }
    }

    fn erase(&mut self, remote: &mut dyn Remote, vault: VaultId) -> Result<(), ExchangeError> {
        loop {
            let erasures = self.engine.sync_erasures(self.vault, ERASED_AT_ONCE)?;
            if erasures.is_empty() || (self.work.must_stop)() {
                return Ok(());
            }
            let name = |machine, counter| EntryName { machine, counter };
            let names: Vec<EntryName> = erasures
                .iter()
                .map(|gone| name(MachineId::from_bytes(gone.machine), gone.counter))
                .collect();
            remote.erase(vault, &names)?;
            self.engine.sync_erased(self.vault, &erasures)?;
            self.done.erased += u64::try_from(names.len()).unwrap_or(u64::MAX);
        }
    }
}
