//! A remote in memory that keeps its word, and one around it that is hard to reach.

use std::collections::BTreeMap;
use std::time::Duration;

use super::dice::Dice;
use crate::entry::{Entry, EntryName};
use crate::name::{MachineId, VaultId};
use crate::remote::{Appended, Head, Remote, RemoteError};

/// Keeps what it is given. A clone is a copy, as file sync makes them.
#[derive(Debug, Clone, Default)]
pub struct MemoryRemote {
    chains: BTreeMap<(VaultId, MachineId), Vec<Entry>>,
    invitations: BTreeMap<String, (i64, Vec<u8>)>,
    /// Bytes of payload that were handed out.
    pub n_bytes_fetched: u64,
}

impl MemoryRemote {
    /// Returns the entries it keeps, to be counted or tampered with.
    pub fn entries(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.chains.values_mut().flatten()
    }

    /// Returns a chain it keeps, to be counted or tampered with.
    pub fn chain(&mut self, vault: VaultId, machine: MachineId) -> &mut Vec<Entry> {
        self.chains.entry((vault, machine)).or_default()
    }

    /// Takes over what a copy got meanwhile. Chains were not written at both.
    pub fn merge(&mut self, copy: &Self) {
        self.n_bytes_fetched += copy.n_bytes_fetched;
        for (key, theirs) in &copy.chains {
            let ours = self.chains.entry(*key).or_default();
            for (mine, other) in ours.iter_mut().zip(theirs) {
                if other.payload.is_none() {
                    mine.payload = None;
                }
            }
            let new = theirs.get(ours.len()..).unwrap_or_default();
            ours.extend_from_slice(new);
        }
    }

    fn append_one(chain: &mut Vec<Entry>, vault: VaultId, entry: &Entry) -> Result<Appended, u64> {
        let index = usize::try_from(entry.name.counter - 1).unwrap_or(usize::MAX);
        if let Some(kept) = chain.get(index) {
            let is_same = kept.hash(vault) == entry.hash(vault);
            return Ok(if is_same { Appended::Kept } else { Appended::Forked(entry.name) });
        }
        if index > chain.len() {
            return Err(entry.name.counter);
        }
        let last = chain.last().map_or([0; 32], |last| last.hash(vault));
        if last != entry.previous {
            return Ok(Appended::Forked(entry.name));
        }
        chain.push(entry.clone());
        Ok(Appended::Kept)
    }
}

impl Remote for MemoryRemote {
    fn heads(&mut self, vault: VaultId) -> Result<Vec<Head>, RemoteError> {
        let chains =
            self.chains.iter().filter(|((of, _), chain)| *of == vault && !chain.is_empty());
        let head = |((_, machine), chain): (&(VaultId, MachineId), &Vec<Entry>)| Head {
            machine: *machine,
            counter: chain.last().map_or(0, |entry| entry.name.counter),
        };
        Ok(chains.map(head).collect())
    }

    fn fetch(
        &mut self,
        vault: VaultId,
        machine: MachineId,
        counter: u64,
        limit_bytes: usize,
    ) -> Result<Vec<Entry>, RemoteError> {
        let chain = self.chains.get(&(vault, machine)).map_or(&[][..], Vec::as_slice);
        let start = usize::try_from(counter).unwrap_or(usize::MAX);
        let mut n_bytes = 0;
        let mut fetched = Vec::new();
        for entry in chain.get(start..).unwrap_or_default() {
            n_bytes += entry.payload.as_ref().map_or(0, Vec::len);
            if n_bytes > limit_bytes && !fetched.is_empty() {
                break;
            }
            fetched.push(entry.clone());
        }
        let payloads = fetched.iter().filter_map(|entry| entry.payload.as_ref());
        self.n_bytes_fetched += payloads.map(|payload| payload.len() as u64).sum::<u64>();
        Ok(fetched)
    }

    fn append(&mut self, vault: VaultId, entries: &[Entry]) -> Result<Appended, RemoteError> {
        for entry in entries {
            let chain = self.chains.entry((vault, entry.name.machine)).or_default();
            match Self::append_one(chain, vault, entry) {
                Ok(Appended::Kept) => {}
                Ok(forked) => return Ok(forked),
                Err(at) => return Err(RemoteError::Refused(format!("a gap before entry {at}"))),
            }
        }
        Ok(Appended::Kept)
    }

    fn erase(&mut self, vault: VaultId, entries: &[EntryName]) -> Result<(), RemoteError> {
        for name in entries {
            let index = usize::try_from(name.counter.wrapping_sub(1)).unwrap_or(usize::MAX);
            let chain = self.chains.get_mut(&(vault, name.machine));
            if let Some(entry) = chain.and_then(|chain| chain.get_mut(index)) {
                entry.payload = None;
            }
        }
        Ok(())
    }

    fn put_invitation(
        &mut self,
        name: &str,
        sealed: &[u8],
        expires_ms: i64,
    ) -> Result<(), RemoteError> {
        self.invitations.insert(name.to_owned(), (expires_ms, sealed.to_owned()));
        Ok(())
    }

    fn take_invitation(&mut self, name: &str, now_ms: i64) -> Result<Option<Vec<u8>>, RemoteError> {
        let taken = self.invitations.remove(name);
        Ok(taken.filter(|(expires_ms, _)| *expires_ms > now_ms).map(|(_, sealed)| sealed))
    }

    fn wait(&mut self, _patience: Duration) -> Result<(), RemoteError> {
        Ok(())
    }
}

/// A remote whose line fails: before it was asked, in the middle, or before the answer came.
#[derive(Debug)]
pub struct Flaky<'a> {
    /// What is behind the line.
    pub remote: &'a mut MemoryRemote,
    /// What decides.
    pub dice: &'a mut Dice,
    /// Once in how many calls each kind of failure happens; never when 0.
    pub one_in: u64,
}

impl Flaky<'_> {
    fn fails(&mut self) -> Result<(), RemoteError> {
        if self.one_in > 0 && self.dice.one_in(self.one_in) {
            return Err(RemoteError::Away("the line failed".to_owned()));
        }
        Ok(())
    }
}

impl Remote for Flaky<'_> {
    fn heads(&mut self, vault: VaultId) -> Result<Vec<Head>, RemoteError> {
        self.fails()?;
        self.remote.heads(vault)
    }

    fn fetch(
        &mut self,
        vault: VaultId,
        machine: MachineId,
        counter: u64,
        limit_bytes: usize,
    ) -> Result<Vec<Entry>, RemoteError> {
        self.fails()?;
        self.remote.fetch(vault, machine, counter, limit_bytes)
    }

    fn append(&mut self, vault: VaultId, entries: &[Entry]) -> Result<Appended, RemoteError> {
        self.fails()?;
        let n_arrived = self.dice.index(entries.len() + 1);
        if let Err(away) = self.fails() {
            self.remote.append(vault, entries.get(..n_arrived).unwrap_or_default())?;
            return Err(away);
        }
        let appended = self.remote.append(vault, entries)?;
        self.fails()?;
        Ok(appended)
    }

    fn erase(&mut self, vault: VaultId, entries: &[EntryName]) -> Result<(), RemoteError> {
        self.fails()?;
        self.remote.erase(vault, entries)?;
        self.fails()
    }

    fn put_invitation(
        &mut self,
        name: &str,
        sealed: &[u8],
        expires_ms: i64,
    ) -> Result<(), RemoteError> {
        self.fails()?;
        self.remote.put_invitation(name, sealed, expires_ms)
    }

    fn take_invitation(&mut self, name: &str, now_ms: i64) -> Result<Option<Vec<u8>>, RemoteError> {
        self.fails()?;
        self.remote.take_invitation(name, now_ms)
    }

    fn wait(&mut self, _patience: Duration) -> Result<(), RemoteError> {
        self.fails()
    }
}
