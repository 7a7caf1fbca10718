//! What a place that keeps a log has to be able to do. It sees names, lengths and ciphertext.

use std::time::Duration;

use thiserror::Error;

use crate::entry::{Entry, EntryName};
use crate::name::{MachineId, VaultId};

/// How far a machine's chain reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Whose.
    pub machine: MachineId,
    /// Its last entry.
    pub counter: u64,
}

/// What became of entries that were handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// All are kept; those that were there already were the same.
    Kept,
    /// Under this name the remote keeps another entry: somebody else writes this machine's chain.
    Forked(EntryName),
}

/// Why a remote did not do what was asked, by what the caller can do.
#[derive(Debug, Error)]
pub enum RemoteError {
    /// Not there, too slow, or gone in the middle: try again later.
    #[error("{0}")]
    Away(String),
    /// It will not work until somebody changes something.
    #[error("{0}")]
    Refused(String),
    /// What it keeps is not what was given to it.
    #[error("{0}")]
    Damaged(String),
}

/// A place that keeps the logs of vaults.
pub trait Remote {
    /// Returns how far each chain of a vault reaches.
    fn heads(&mut self, vault: VaultId) -> Result<Vec<Head>, RemoteError>;

    /// Returns the entries of a chain after `counter`, in order and without a gap, at most
    /// `limit_bytes` of payload but at least one if there is one.
    fn fetch(
        &mut self,
        vault: VaultId,
        machine: MachineId,
        counter: u64,
        limit_bytes: usize,
    ) -> Result<Vec<Entry>, RemoteError>;

    /// Keeps entries of one chain that follow each other. They are durable when this returns.
    fn append(&mut self, vault: VaultId, entries: &[Entry]) -> Result<Appended, RemoteError>;

    /// Drops the payloads of entries; the entries stay in their chains.
    fn erase(&mut self, vault: VaultId, entries: &[EntryName]) -> Result<(), RemoteError>;

    /// Leaves a sealed invitation, replaces one of the same name, and drops those that expired.
    fn put_invitation(
        &mut self,
        name: &str,
        sealed: &[u8],
        expires_ms: i64,
    ) -> Result<(), RemoteError>;

    /// Takes an invitation away: it is good once. None is there, or it has expired at `now_ms`.
    fn take_invitation(&mut self, name: &str, now_ms: i64) -> Result<Option<Vec<u8>>, RemoteError>;

    /// Waits until something may have been appended by others, at most so long. A place that cannot
    /// tell sleeps shorter.
    fn wait(&mut self, patience: Duration) -> Result<(), RemoteError>;
}
