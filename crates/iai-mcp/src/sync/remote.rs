//! Where the logs of vaults are kept, by address: `postgres://…`, or the path of a folder.
//!
//! Everything here blocks, and nothing is started or connected before something is asked for.

mod folder;
mod folder_chain;
mod folder_files;
mod folder_invitations;
mod folder_keeping;
mod folder_segment;
mod postgres;
mod postgres_address;
mod postgres_errors;
mod postgres_schema;
mod postgres_setup;
mod postgres_tls;
mod postgres_waiting;

use std::path::Path;
use std::time::Duration;

use iai_sync::{Appended, Entry, EntryName, Head, MachineId, Remote, RemoteError, VaultId};

pub(crate) use folder::FolderRemote;
pub(crate) use postgres::PostgresRemote;

/// A place that an address leads to.
pub(crate) enum Place {
    /// Segments in a folder.
    Folder(Box<FolderRemote>),
    /// Tables of a server.
    Postgres(Box<PostgresRemote>),
}

/// A place that was prepared for a vault.
pub(crate) struct Prepared {
    /// What the machines of the vault use from now on; it may say less than the one that was given.
    pub(crate) address: String,
    /// What people should know about it.
    pub(crate) notes: Vec<String>,
}

/// Prepares a place for a vault. The address may belong to somebody with more rights than the one
/// that comes back.
pub(crate) fn set_up(address: &str, vault: VaultId) -> Result<Prepared, RemoteError> {
    if postgres_address::is_postgres(address) {
        return postgres_setup::set_up(address, vault);
    }
    FolderRemote::set_up(folder_of(address)?, vault)?;
    Ok(Prepared { address: address.to_owned(), notes: Vec::new() })
}

/// Opens the place that an address leads to.
pub(crate) fn open(address: &str) -> Result<Place, RemoteError> {
    if postgres_address::is_postgres(address) {
        return PostgresRemote::new(address).map(Box::new).map(Place::Postgres);
    }
    Ok(Place::Folder(Box::new(FolderRemote::new(folder_of(address)?))))
}

/// Returns an address as it may be shown: without its password.
pub(crate) fn shown(address: &str) -> String {
    if postgres_address::is_postgres(address) {
        return postgres_address::without_password(address);
    }
    address.to_owned()
}

fn folder_of(address: &str) -> Result<&Path, RemoteError> {
    let path = Path::new(address);
    if path.is_absolute() {
        return Ok(path);
    }
    let told = format!("`{address}` is neither postgres://… nor the whole path of a folder");
    Err(RemoteError::Refused(told))
}

/// Returns whose chain entries continue. They must follow each other; none continue nothing.
fn chain_of(entries: &[Entry]) -> Result<Option<MachineId>, RemoteError> {
    let Some(first) = entries.first() else { return Ok(None) };
    let machine = first.name.machine;
    let counters = (1..).map_while(|n| first.name.counter.checked_add(n - 1));
    let follows = |(entry, counter): (&Entry, u64)| entry.name == EntryName { machine, counter };
    if first.name.counter == 0 || !entries.iter().zip(counters).all(follows) {
        return Err(RemoteError::Refused("these entries do not follow each other".to_owned()));
    }
    Ok(Some(machine))
}

fn unknown_vault(vault: VaultId) -> RemoteError {
    let told = "is not kept here, or not for this user: `iai-mcp sync setup` prepares a place, \
                and an invitation of somebody who is in it leads to the right address";
    RemoteError::Refused(format!("vault {vault} {told}"))
}

fn gap(first: EntryName, head: u64) -> RemoteError {
    let EntryName { machine, counter } = first;
    let told = format!(
        "entries of {machine} are kept up to {head} only, and {counter} was to follow: the place \
         has lost some, or is an older copy; they have to be sent again from there"
    );
    RemoteError::Damaged(told)
}

impl Place {
    /// Says what is odd about the place, for people.
    pub(crate) fn notes(&self) -> Vec<String> {
        match self {
            Self::Folder(folder) => folder.notes(),
            Self::Postgres(_) => Vec::new(),
        }
    }

    /// Returns how much room all that is kept takes there, as far as the place can tell.
    pub(crate) fn kept_bytes(&mut self, vault: VaultId) -> Result<Option<u64>, RemoteError> {
        match self {
            Self::Folder(folder) => folder.kept_bytes(vault).map(Some),
            Self::Postgres(postgres) => postgres.kept_bytes(),
        }
    }

    /// Whether the place tells of news by itself.
    #[cfg(test)]
    pub(in crate::sync) fn is_told(&self) -> bool {
        matches!(self, Self::Postgres(postgres) if postgres.is_told())
    }

    fn remote(&mut self) -> &mut dyn Remote {
        match self {
            Self::Folder(folder) => &mut **folder,
            Self::Postgres(postgres) => &mut **postgres,
        }
    }
}

impl Remote for Place {
    fn heads(&mut self, vault: VaultId) -> Result<Vec<Head>, RemoteError> {
        self.remote().heads(vault)
    }

    fn fetch(
        &mut self,
        vault: VaultId,
        machine: MachineId,
        counter: u64,
        limit_bytes: usize,
    ) -> Result<Vec<Entry>, RemoteError> {
        self.remote().fetch(vault, machine, counter, limit_bytes)
    }

    fn append(&mut self, vault: VaultId, entries: &[Entry]) -> Result<Appended, RemoteError> {
        self.remote().append(vault, entries)
    }

    fn erase(&mut self, vault: VaultId, entries: &[EntryName]) -> Result<(), RemoteError> {
        self.remote().erase(vault, entries)
    }

    fn put_invitation(
        &mut self,
        name: &str,
        sealed: &[u8],
        expires_ms: i64,
    ) -> Result<(), RemoteError> {
        self.remote().put_invitation(name, sealed, expires_ms)
    }

    fn take_invitation(&mut self, name: &str, now_ms: i64) -> Result<Option<Vec<u8>>, RemoteError> {
        self.remote().take_invitation(name, now_ms)
    }

    fn wait(&mut self, patience: Duration) -> Result<(), RemoteError> {
        self.remote().wait(patience)
    }
}
