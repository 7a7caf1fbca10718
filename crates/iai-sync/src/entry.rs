//! A sealed operation in its place in a machine's chain, as a remote keeps it.
//!
//! The chain is over the digest of the payload, not the payload: what was forgotten can be erased
//! at the remote, and the chain still holds.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::name::{MachineId, VaultId};
use crate::seal::{PAYLOAD_BYTES_MAX, Place};

const HASH_DOMAIN: &[u8] = b"iai-mcp sync entry 1";
/// Whether a payload follows, in an entry's bytes.
const PAYLOAD_THERE: u8 = 1;
const PAYLOAD_ERASED: u8 = 0;

/// Which entry of a vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EntryName {
    /// Whose chain.
    pub machine: MachineId,
    /// Which in the chain, counted from 1.
    pub counter: u64,
}

/// An entry as it travels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Which.
    pub name: EntryName,
    /// Which of the vault's keys seals it.
    pub epoch: u32,
    /// The hash of the entry before it; zeros before the first.
    pub previous: [u8; 32],
    /// The SHA-256 of the payload.
    pub digest: [u8; 32],
    /// The sealed operation; none once it was erased.
    pub payload: Option<Vec<u8>>,
}

/// Why bytes are not an entry, by what can be done about it.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum EntryError {
    /// They end too early: the rest may still be on its way.
    #[error("the entry is cut off")]
    CutOff,
    /// No entry begins like this.
    #[error("the entry is damaged")]
    Damaged,
}

impl Entry {
    /// Returns the hash that the next entry of the chain names.
    pub fn hash(&self, vault: VaultId) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(HASH_DOMAIN);
        hash.update(vault.as_bytes());
        hash.update(self.name.machine.as_bytes());
        hash.update(self.name.counter.to_le_bytes());
        hash.update(self.epoch.to_le_bytes());
        hash.update(self.previous);
        hash.update(self.digest);
        hash.finalize().into()
    }

    /// Returns where its payload stands, to open it.
    pub fn place(&self, vault: VaultId) -> Place {
        Place { vault, name: self.name, epoch: self.epoch, previous: self.previous }
    }

    /// Returns what the digest of an entry with this payload is.
    pub fn digest_of(payload: &[u8]) -> [u8; 32] {
        Sha256::digest(payload).into()
    }

    /// Says whether the payload, if it is there, is the one the digest is of.
    pub fn is_intact(&self) -> bool {
        self.payload.as_ref().is_none_or(|payload| self.digest == Self::digest_of(payload))
    }

    /// Appends the entry as bytes, as files have it: 97 of its place in the chain and how long the
    /// payload is, then the payload.
    pub fn write_to(&self, bytes: &mut Vec<u8>) {
        let (is_there, payload) = match &self.payload {
            Some(payload) => (PAYLOAD_THERE, payload.as_slice()),
            None => (PAYLOAD_ERASED, &[][..]),
        };
        let n_bytes = u32::try_from(payload.len()).expect("a payload is shorter than 96 MiB");
        bytes.extend_from_slice(self.name.machine.as_bytes());
        bytes.extend_from_slice(&self.name.counter.to_le_bytes());
        bytes.extend_from_slice(&self.epoch.to_le_bytes());
        bytes.extend_from_slice(&self.previous);
        bytes.extend_from_slice(&self.digest);
        bytes.push(is_there);
        bytes.extend_from_slice(&n_bytes.to_le_bytes());
        bytes.extend_from_slice(payload);
    }

    /// Reads the entry that bytes begin with. Returns it and the bytes after it.
    pub fn read_from(bytes: &[u8]) -> Result<(Self, &[u8]), EntryError> {
        let mut rest = bytes;
        let machine = MachineId::from_bytes(take(&mut rest)?);
        let counter = u64::from_le_bytes(take(&mut rest)?);
        let epoch = u32::from_le_bytes(take(&mut rest)?);
        let previous = take(&mut rest)?;
        let digest = take(&mut rest)?;
        let [is_there] = take(&mut rest)?;
        let n_bytes = u32::from_le_bytes(take(&mut rest)?);
        let n_bytes = usize::try_from(n_bytes).map_err(|_| EntryError::Damaged)?;
        if counter == 0 || n_bytes > PAYLOAD_BYTES_MAX {
            return Err(EntryError::Damaged);
        }
        let (payload, rest) = rest.split_at_checked(n_bytes).ok_or(EntryError::CutOff)?;
        let payload = match (is_there, payload) {
            (PAYLOAD_THERE, payload) => Some(payload.to_vec()),
            (PAYLOAD_ERASED, []) => None,
            _ => return Err(EntryError::Damaged),
        };
        let name = EntryName { machine, counter };
        Ok((Self { name, epoch, previous, digest, payload }, rest))
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], EntryError> {
    let (taken, after) = rest.split_first_chunk().ok_or(EntryError::CutOff)?;
    *rest = after;
    Ok(*taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(payload: Option<Vec<u8>>) -> Entry {
        Entry {
            name: EntryName { machine: MachineId::from_bytes([1; 16]), counter: 2 },
            epoch: 3,
            previous: [4; 32],
            digest: [5; 32],
            payload,
        }
    }

    #[test]
    fn entries_come_back_one_after_the_other() {
        let entries = [entry(Some(vec![6; 300])), entry(None), entry(Some(vec![]))];
        let mut bytes = Vec::new();
        entries.iter().for_each(|entry| entry.write_to(&mut bytes));
        assert_eq!(bytes.len(), 3 * 97 + 300);
        let mut rest = bytes.as_slice();
        for entry in &entries {
            let (read, after) = Entry::read_from(rest).unwrap();
            assert_eq!(read, *entry);
            rest = after;
        }
        assert!(rest.is_empty());
    }

    #[test]
    fn what_is_cut_off_is_told_from_what_is_damaged() {
        let mut bytes = Vec::new();
        entry(Some(vec![6; 10])).write_to(&mut bytes);
        for length in 0..bytes.len() {
            assert_eq!(Entry::read_from(&bytes[..length]).unwrap_err(), EntryError::CutOff);
        }
        for (index, byte) in [(92, 2), (92, 0), (96, 0xff)] {
            let mut wrong = bytes.clone();
            wrong[index] = byte;
            assert_eq!(Entry::read_from(&wrong).unwrap_err(), EntryError::Damaged, "{index}");
        }
        bytes[16] = 0;
        assert_eq!(Entry::read_from(&bytes).unwrap_err(), EntryError::Damaged);
    }
}
