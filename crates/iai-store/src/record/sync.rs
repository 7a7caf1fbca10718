//! What the store knows about other machines: vaults, chains and what is on its way. Bytes only;
//! what they mean is the log's.

use jiff::Timestamp;
use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};
use zeroize::Zeroizing;

use super::named::named;
use super::{LinkKind, MemoryId, MemoryNumber};

named! {
    /// Who shares a vault.
    pub enum VaultKind("kind of vault") {
        /// One person's machines: everything that was said.
        Personal = "personal",
        /// Several people: what was said in the projects it names.
        Team = "team",
    }
}

/// The number of a vault in this store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VaultNumber(i64);

impl ToSql for VaultNumber {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.into())
    }
}

impl FromSql for VaultNumber {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(Self)
    }
}

/// This machine, as its vaults know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncMachine {
    /// Its name in every chain.
    pub id: [u8; 16],
    /// What people call it.
    pub name: String,
    /// The private half of the key that others seal to.
    pub secret: Zeroizing<Vec<u8>>,
    /// The latest stamp it gave or saw.
    pub clock: u64,
}

/// A vault to begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVault {
    /// Its name in the log.
    pub id: [u8; 16],
    /// What people call it.
    pub name: String,
    /// Who shares it.
    pub kind: VaultKind,
    /// Where its log is kept.
    pub address: String,
    /// Its keys and their epochs.
    pub keys: Vec<(u32, Zeroizing<[u8; 32]>)>,
    /// Its projects, where it is a team's.
    pub projects: Vec<SyncProject>,
}

/// A project of a team's vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncProject {
    /// What the team calls it.
    pub name: String,
    /// Where it is on this machine.
    pub path: String,
}

/// A vault as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncVault {
    /// Its number here.
    pub number: VaultNumber,
    /// Its name in the log.
    pub id: [u8; 16],
    /// What people call it.
    pub name: String,
    /// Who shares it.
    pub kind: VaultKind,
    /// Where its log is kept.
    pub address: String,
    /// The last entry of this machine's chain.
    pub counter: u64,
    /// Its hash.
    pub head: [u8; 32],
    /// Memories up to this one have been looked at for sending.
    pub memory: MemoryNumber,
    /// Changes up to this one have been looked at for sending.
    pub change: u64,
    /// Since when.
    pub joined_at: Timestamp,
    /// What is wrong with it, if something is.
    pub trouble: Option<String>,
    /// When its log was last reached.
    pub heard_at: Option<Timestamp>,
}

/// Another machine of a vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncPeer {
    /// Its name in its chain.
    pub machine: [u8; 16],
    /// The last entry of its chain that was taken in.
    pub counter: u64,
    /// Its hash.
    pub head: [u8; 32],
    /// The number of the key that sealed it.
    pub epoch: u32,
    /// When something of it was last taken in.
    pub heard_at: Option<Timestamp>,
    /// What is wrong with its chain, if something is.
    pub trouble: Option<String>,
}

/// An entry of this machine's chain on its way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncEntry {
    /// Which.
    pub counter: u64,
    /// The number of the key that seals it.
    pub epoch: u32,
    /// The hash of the entry before.
    pub previous: [u8; 32],
    /// The SHA-256 of the payload.
    pub digest: [u8; 32],
    /// The sealed operation, unless it was forgotten since.
    pub payload: Option<Vec<u8>>,
}

/// Something that changed and is told to others, other than a memory that came.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SyncChange {
    /// A memory was pinned or unpinned.
    Pin(MemoryId),
    /// A knob was turned.
    Profile(String),
    /// The user said who they are.
    Identity,
    /// A memory was forgotten that no entry had carried.
    Forget(MemoryId),
    /// A link came to be or was strengthened.
    Link {
        /// What it means.
        kind: LinkKind,
        /// From.
        src: MemoryId,
        /// To.
        dst: MemoryId,
    },
}

/// A change that was noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncNote {
    /// Its number, in the order of the changes.
    pub number: u64,
    /// What changed.
    pub change: SyncChange,
    /// It was so when a chain began, since then; without it, it has just changed.
    pub since: Option<Timestamp>,
}

/// An entry whose payload has to be erased at the remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncErasure {
    /// Whose chain.
    pub machine: [u8; 16],
    /// Which entry.
    pub counter: u64,
    /// What it carried.
    pub memory: MemoryId,
}

/// An operation that cannot be done yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncWaiting {
    /// Whose chain.
    pub machine: [u8; 16],
    /// Which entry.
    pub counter: u64,
    /// The memory it needs; none where only a newer program knows what it means.
    pub needs: Option<MemoryId>,
    /// The operation as it was written.
    pub text: String,
}
