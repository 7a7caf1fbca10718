//! A machine's chain of entries: written one after the other, read without a gap, believed only as
//! far as each entry names the one before.

use thiserror::Error;

use crate::entry::{Entry, EntryName};
use crate::keys::SyncKey;
use crate::name::{MachineId, VaultId};
use crate::operation::Stamped;
use crate::seal::{self, NONCE_BYTES, Place, SealError};

/// How far a chain was written or read: what has to be kept of it to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainEnd {
    /// The last entry's number; 0 before the first.
    pub counter: u64,
    /// The last entry's hash; zeros before the first.
    pub hash: [u8; 32],
    /// The last entry's epoch; 0 before the first. It never goes back.
    pub epoch: u32,
}

impl ChainEnd {
    /// Before the first entry.
    pub const NONE: Self = Self { counter: 0, hash: [0; 32], epoch: 0 };

    /// Returns the end after `entry`.
    pub fn after(vault: VaultId, entry: &Entry) -> Self {
        Self { counter: entry.name.counter, hash: entry.hash(vault), epoch: entry.epoch }
    }
}

/// Writes a machine's own chain in one vault.
#[derive(Debug, Clone, Copy)]
pub struct ChainWriter {
    vault: VaultId,
    machine: MachineId,
    end: ChainEnd,
}

impl ChainWriter {
    /// Goes on where the chain ends.
    pub fn resumed(vault: VaultId, machine: MachineId, end: ChainEnd) -> Self {
        Self { vault, machine, end }
    }

    /// Seals an operation as the next entry. Nothing has happened when this fails. `nonce` must be
    /// drawn fresh.
    pub fn next(
        &mut self,
        (epoch, key): (u32, &SyncKey),
        nonce: [u8; NONCE_BYTES],
        stamped: &Stamped,
    ) -> Result<Entry, SealError> {
        let name = EntryName { machine: self.machine, counter: self.end.counter + 1 };
        let place = Place { vault: self.vault, name, epoch, previous: self.end.hash };
        let payload = seal::seal(key, &place, nonce, stamped)?;
        let digest = Entry::digest_of(&payload);
        let entry = Entry { name, epoch, previous: self.end.hash, digest, payload: Some(payload) };
        self.end = ChainEnd::after(self.vault, &entry);
        Ok(entry)
    }

    /// Returns how far the chain was written, to be kept.
    pub fn end(&self) -> ChainEnd {
        self.end
    }
}

/// What is wrong with a chain, by what was noticed first. Nothing after it can be believed.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ChainError {
    /// Entries are missing.
    #[error("entries from {expected} to before {found} of machine {machine} are missing")]
    Gap {
        /// Whose chain.
        machine: MachineId,
        /// The first that is missing.
        expected: u64,
        /// The first that is there.
        found: u64,
    },
    /// An entry came again or out of its order.
    #[error("entry {} of machine {} came again or out of order", .0.counter, .0.machine)]
    Reordered(EntryName),
    /// An entry is not what its machine wrote.
    #[error("entry {} of machine {} was altered", .0.counter, .0.machine)]
    Altered(EntryName),
    /// It belongs to another chain than the one that was asked for.
    #[error("entry {} of machine {} stands in another machine's chain", .0.counter, .0.machine)]
    Foreign(EntryName),
    /// The chain goes on from another history than the one that was read before: two machines have
    /// written under one name, or the remote was put back to an older state and written on.
    #[error("from entry {} on, machine {} has another history than before", .0.counter, .0.machine)]
    Forked(EntryName),
    /// The remote has fewer entries than it had.
    #[error("machine {machine} had {known} entries and now has {found}: the remote lost some")]
    Shorter {
        /// Whose chain.
        machine: MachineId,
        /// How far it was read.
        known: u64,
        /// How far the remote says it reaches.
        found: u64,
    },
}

/// Entries that follow what was known.
#[derive(Debug, PartialEq, Eq)]
pub struct Followed {
    /// In order, each with the end of the chain after it: whoever stops there goes on from there.
    pub entries: Vec<(Entry, ChainEnd)>,
    /// How far the chain is known now.
    pub end: ChainEnd,
}

impl Followed {
    /// Returns those whose payload is gone: each has to be named by a forget, sooner or later.
    pub fn erased(&self) -> impl Iterator<Item = EntryName> {
        let erased = self.entries.iter().filter(|(entry, _)| entry.payload.is_none());
        erased.map(|(entry, _)| entry.name)
    }
}

/// Checks that a chain, as a remote tells it, goes on from `end`.
pub fn follow(
    vault: VaultId,
    machine: MachineId,
    end: ChainEnd,
    entries: Vec<Entry>,
) -> Result<Followed, ChainError> {
    let mut followed = Followed { entries: Vec::with_capacity(entries.len()), end };
    let mut rest = entries.into_iter();
    while let Some(entry) = rest.next() {
        match check_next(machine, &end, &followed.end, &entry) {
            // A gap that is filled later on is none: somebody changed the order.
            Err(ChainError::Gap { expected, .. })
                if rest.any(|later| later.name.counter == expected) =>
            {
                return Err(ChainError::Reordered(entry.name));
            }
            checked => checked?,
        }
        followed.end = ChainEnd::after(vault, &entry);
        followed.entries.push((entry, followed.end));
    }
    Ok(followed)
}

/// Checks that a chain has not become shorter than it was.
pub fn check_length(machine: MachineId, end: &ChainEnd, found: u64) -> Result<(), ChainError> {
    if found >= end.counter {
        return Ok(());
    }
    Err(ChainError::Shorter { machine, known: end.counter, found })
}

fn check_next(
    machine: MachineId,
    known: &ChainEnd,
    end: &ChainEnd,
    entry: &Entry,
) -> Result<(), ChainError> {
    let name = entry.name;
    if name.machine != machine {
        return Err(ChainError::Foreign(name));
    }
    if name.counter <= end.counter {
        return Err(ChainError::Reordered(name));
    }
    if name.counter > end.counter + 1 {
        let (expected, found) = (end.counter + 1, name.counter);
        return Err(ChainError::Gap { machine, expected, found });
    }
    if !entry.is_intact() || entry.epoch < end.epoch {
        return Err(ChainError::Altered(name));
    }
    match entry.previous == end.hash {
        true => Ok(()),
        false if end == known => Err(ChainError::Forked(name)),
        false => Err(ChainError::Altered(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Operation;
    use crate::stamp::Stamp;

    const VAULT: [u8; 16] = [1; 16];
    const MACHINE: [u8; 16] = [2; 16];

    fn chain(n_entries: u8) -> Vec<Entry> {
        let (vault, machine) = (VaultId::from_bytes(VAULT), MachineId::from_bytes(MACHINE));
        let mut writer = ChainWriter::resumed(vault, machine, ChainEnd::NONE);
        let key = SyncKey::from_bytes([3; 32]);
        let write = |n: u8| {
            let operation = Operation::Hello { name: n.to_string(), public_key: String::new() };
            let stamped = Stamped { stamp: Stamp { at: 1, by: machine }, operation };
            writer.next((1, &key), [n; NONCE_BYTES], &stamped).unwrap()
        };
        (1..=n_entries).map(write).collect()
    }

    fn read(entries: Vec<Entry>) -> Result<Followed, ChainError> {
        let (vault, machine) = (VaultId::from_bytes(VAULT), MachineId::from_bytes(MACHINE));
        follow(vault, machine, ChainEnd::NONE, entries)
    }

    fn name(counter: u64) -> EntryName {
        EntryName { machine: MachineId::from_bytes(MACHINE), counter }
    }

    #[test]
    fn a_chain_is_followed_in_parts_and_past_what_was_erased() {
        let mut entries = chain(5);
        entries[1].payload = None;
        let whole = read(entries.clone()).unwrap();
        assert_eq!(whole.entries.len(), 5);
        assert_eq!(whole.erased().collect::<Vec<_>>(), [name(2)]);
        let (_, middle) = whole.entries[2];
        let vault = VaultId::from_bytes(VAULT);
        let rest = follow(vault, name(1).machine, middle, entries.split_off(3)).unwrap();
        assert_eq!(rest.end, whole.end);
        assert_eq!(read(vec![]).unwrap().end, ChainEnd::NONE);
    }

    #[test]
    fn whatever_a_remote_does_to_a_chain_is_named() {
        let check = |change: &dyn Fn(&mut Vec<Entry>), want: ChainError| {
            let mut entries = chain(5);
            change(&mut entries);
            assert_eq!(read(entries).unwrap_err(), want);
        };
        let machine = name(1).machine;
        let gap = |expected, found| ChainError::Gap { machine, expected, found };
        check(&|entries| drop(entries.remove(2)), gap(3, 4));
        check(&|entries| drop(entries.remove(0)), gap(1, 2));
        check(&|entries| entries.swap(1, 2), ChainError::Reordered(name(3)));
        check(&|entries| entries.insert(2, entries[1].clone()), ChainError::Reordered(name(2)));
        check(&|entries| entries[2].payload = Some(vec![1]), ChainError::Altered(name(3)));
        check(&|entries| entries[2].digest = [0; 32], ChainError::Altered(name(3)));
        check(&|entries| entries[3].previous = [0; 32], ChainError::Altered(name(4)));
        check(&|entries| entries[2].epoch = 0, ChainError::Altered(name(3)));
        let other = |entries: &mut Vec<Entry>| {
            entries[2].name.machine = MachineId::from_bytes([9; 16]);
        };
        let foreign = EntryName { machine: MachineId::from_bytes([9; 16]), counter: 3 };
        check(&other, ChainError::Foreign(foreign));
        // Altered so that it looks whole: the next entry tells, or its seal when it is the last.
        let exchanged = |entries: &mut Vec<Entry>| {
            entries[2].payload = Some(vec![1]);
            entries[2].digest = Entry::digest_of(&[1]);
        };
        check(&exchanged, ChainError::Altered(name(4)));
    }

    #[test]
    fn another_history_is_a_fork_and_a_shorter_one_is_told() {
        let (vault, machine) = (VaultId::from_bytes(VAULT), name(1).machine);
        let entries = chain(3);
        let known = ChainEnd { hash: [7; 32], ..ChainEnd::after(vault, &entries[1]) };
        let error = follow(vault, machine, known, vec![entries[2].clone()]).unwrap_err();
        assert_eq!(error, ChainError::Forked(name(3)));
        let end = ChainEnd::after(vault, &entries[2]);
        assert_eq!(check_length(machine, &end, 3), Ok(()));
        let shorter = ChainError::Shorter { machine, known: 3, found: 2 };
        assert_eq!(check_length(machine, &end, 2), Err(shorter));
    }

    #[test]
    fn another_vault_makes_another_chain() {
        let entries = chain(2);
        let error = follow(VaultId::from_bytes([8; 16]), name(1).machine, ChainEnd::NONE, entries);
        assert_eq!(error.unwrap_err(), ChainError::Altered(name(2)));
    }
}
