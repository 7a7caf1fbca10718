//! A sealed operation in its place in a machine's chain, as a remote keeps it.
//!
//! The chain is over the digest of the payload, not the payload: what was forgotten can be erased at
//! the remote, and the chain still holds.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::name::{MachineId, VaultId};

const HASH_DOMAIN: &[u8] = b"iai-mcp sync entry 1";

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
}
