//! One memory on several machines: what changed here becomes entries of a log, and what others
//! wrote into theirs is done here too.
//!
//! Sealing and chains are `iai-sync`'s; moving entries is the binary's. Every step is one
//! transaction, so that a kill costs a repetition: decision 10 says why.

mod bodies;
mod exchange;
mod publish;
mod status;
mod take;
mod vaults;

pub use exchange::{ExchangeError, ExchangeWork, Exchanged};
pub use publish::Published;
pub use status::{MachineView, SharePreview, ShareProject, SyncStatus, VaultView};
pub use take::Taken;
pub use vaults::{SyncIdentity, VaultInvite};

use iai_store::{Reader, SyncMachine, SyncVault, VaultNumber};
use iai_sync::{MachineId, Members, Opened, SyncKey, VaultId, VaultKeys, reread};

use crate::error::{MemoryError, Result};

/// A vault with everything that is needed to write into its log or to read it.
struct OpenVault {
    machine: SyncMachine,
    vault: SyncVault,
    keys: VaultKeys,
    members: Members,
}

impl OpenVault {
    fn of(reader: &Reader, number: VaultNumber) -> Result<Self> {
        let gone = || MemoryError::bad("vault", "is not there any more");
        let vault = reader.sync_vault(number)?.ok_or_else(gone)?;
        let machine = reader.sync_machine()?.ok_or_else(gone)?;
        let mut keys = VaultKeys::default();
        for (epoch, key) in reader.sync_keys(number)? {
            keys.insert(epoch, SyncKey::from_bytes(*key));
        }
        let mut members = Members::default();
        for (by, _, text) in reader.sync_membership(number)? {
            if let Ok(Opened::Known(stamped)) = reread(text) {
                members.apply(MachineId::from_bytes(by), &stamped);
            }
        }
        Ok(Self { machine, vault, keys, members })
    }

    fn id(&self) -> VaultId {
        VaultId::from_bytes(self.vault.id)
    }

    fn machine_id(&self) -> MachineId {
        MachineId::from_bytes(self.machine.id)
    }
}

#[cfg(test)]
mod tests;
