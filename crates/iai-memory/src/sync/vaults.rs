//! Vaults: begun, joined, left; machines put out; chains begun anew.

use iai_store::{NewVault, SyncMachine, SyncPeer, SyncProject, VaultKind, VaultNumber, Writing};
use iai_sync::{
    EntryName, Invitation, MachineId, MachineKey, Opened, Operation, SyncKey, VaultId, VaultKeys,
    random, rekey, reread,
};
use jiff::Timestamp;
use zeroize::Zeroizing;

use super::OpenVault;
use super::publish::Publishing;
use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};

/// Who this machine is, drawn by whoever has randomness.
#[derive(Debug)]
pub struct SyncIdentity {
    /// Its name in every chain.
    pub id: MachineId,
    /// What people call it.
    pub name: String,
    /// Its own key.
    pub key: MachineKey,
}

/// What a new machine is given.
#[derive(Debug)]
pub struct VaultInvite {
    /// Which vault.
    pub id: VaultId,
    /// What people call it.
    pub name: String,
    /// Who shares it.
    pub kind: VaultKind,
    /// Where its log is kept.
    pub address: String,
    /// Its keys.
    pub keys: VaultKeys,
    /// What a team calls its projects, and where they are here.
    pub projects: Vec<SyncProject>,
}

impl MemoryEngine {
    /// Begins or joins a vault. What is stored and fits goes into it from now on.
    pub fn sync_add_vault(
        &self,
        invite: &VaultInvite,
        identity: SyncIdentity,
        now: Timestamp,
    ) -> Result<VaultNumber> {
        check_invite(invite)?;
        self.write(|writing| {
            let vaults = writing.read().sync_vaults()?;
            if vaults.iter().any(|vault| vault.id == *invite.id.as_bytes()) {
                return Err(MemoryError::bad("vault", "is joined already; `iai-mcp sync status`"));
            }
            let is_personal = |kind| kind == VaultKind::Personal;
            if is_personal(invite.kind) && vaults.iter().any(|vault| is_personal(vault.kind)) {
                let why = "would be the second personal one; leave the other first";
                return Err(MemoryError::bad("vault", why));
            }
            if vaults.iter().any(|vault| vault.name == invite.name) {
                return Err(MemoryError::bad("name", "belongs to another vault; take another"));
            }
            if writing.read().sync_machine()?.is_none() {
                writing.put_sync_machine(&machine_of(identity, 0))?;
            }
            let keys = invite.keys.iter();
            let new = NewVault {
                id: *invite.id.as_bytes(),
                name: invite.name.clone(),
                kind: invite.kind,
                address: invite.address.clone(),
                keys: keys.map(|(epoch, key)| (epoch, Zeroizing::new(*key.as_bytes()))).collect(),
                projects: invite.projects.clone(),
            };
            Ok(writing.add_sync_vault(&new, now)?)
        })
    }

    /// Leaves a vault. What it brought stays; nothing more comes or goes.
    pub fn sync_leave(&self, vault: VaultNumber) -> Result<()> {
        self.write(|writing| Ok(writing.drop_sync_vault(vault)?))
    }

    /// Gives a project of this machine to a team's vault, under the name the team gave it.
    pub fn sync_share(&self, vault: VaultNumber, project: &SyncProject) -> Result<()> {
        self.write(|writing| {
            let open = OpenVault::of(writing.read(), vault)?;
            if open.vault.kind != VaultKind::Team {
                return Err(MemoryError::bad("vault", "is personal: it carries every project"));
            }
            Ok(writing.put_sync_project(vault, &project.name, &project.path)?)
        })
    }

    /// Returns what a new machine has to be given.
    pub fn sync_invitation(&self, vault: VaultNumber, expires_ms: i64) -> Result<Invitation> {
        self.read(|reader| {
            let open = OpenVault::of(reader, vault)?;
            let projects = reader.sync_projects(vault)?;
            let kind = match open.vault.kind {
                VaultKind::Personal => iai_sync::VaultKind::Personal,
                VaultKind::Team => iai_sync::VaultKind::Team {
                    projects: projects.into_iter().map(|project| project.name).collect(),
                },
            };
            Ok(Invitation {
                remote: open.vault.address.clone(),
                vault: open.id(),
                name: open.vault.name.clone(),
                kind,
                inviter: open.machine_id(),
                inviter_name: open.machine.name.clone(),
                keys: open.keys,
                expires_ms,
            })
        })
    }

    /// Returns the key that a vault seals with now, to be shown once.
    pub fn sync_current_key(&self, vault: VaultNumber) -> Result<SyncKey> {
        let open = self.read(|reader| OpenVault::of(reader, vault))?;
        let key = open.keys.current().map(|(_, key)| key.clone());
        key.ok_or_else(|| MemoryError::bad("vault", "has no key; leave and join again"))
    }

    /// Makes a new key for a vault, sealed to every machine that stays; `out` is put out.
    pub fn sync_rekey(
        &self,
        vault: VaultNumber,
        out: Option<MachineId>,
        now: Timestamp,
    ) -> Result<u32> {
        self.write(|writing| {
            let mut publishing = Publishing::begin(writing, vault, now)?;
            publishing.say_hello()?;
            let open = publishing.open();
            let peers = writing.read().sync_peers(vault)?;
            let operation = new_key(open, &peers, out)?;
            let Operation::Rekey { epoch, .. } = operation.1 else {
                return Err(MemoryError::bad("vault", "made no key"));
            };
            // The old key seals the entry that brings the new one: those who stay have only that.
            publishing.say(operation.1)?;
            // The first word under the new key tells everybody which chain to read first.
            publishing.take_key(epoch, operation.0.clone());
            publishing.introduce()?;
            publishing.finish(true)?;
            writing.put_sync_key(vault, epoch, operation.0.as_bytes())?;
            Ok(epoch)
        })
    }

    /// Begins this machine's chains anew under another name: under the old one somebody else
    /// writes, or the remote lost some of it. `n_kept`: how far the remote has the old chain,
    /// where it is known.
    pub fn sync_begin_anew(
        &self,
        name: MachineId,
        n_kept: impl Fn(VaultNumber) -> Option<u64>,
    ) -> Result<()> {
        self.write(|writing| {
            let Some(old) = writing.read().sync_machine()? else { return Ok(()) };
            for vault in writing.read().sync_vaults()? {
                begin_chain_anew(writing, (&old, vault.number), n_kept(vault.number))?;
            }
            // The key stays: what was sealed to the old name still opens.
            let renamed = SyncMachine { id: *name.as_bytes(), ..old };
            Ok(writing.put_sync_machine(&renamed)?)
        })
    }
}

fn check_invite(invite: &VaultInvite) -> Result<()> {
    if invite.name.trim().is_empty() {
        return Err(MemoryError::bad("name", "is empty; say what to call the vault"));
    }
    if invite.keys.current().is_none() {
        return Err(MemoryError::bad("vault", "has no key; ask for another invitation"));
    }
    Ok(())
}

fn machine_of(identity: SyncIdentity, clock: u64) -> SyncMachine {
    SyncMachine {
        id: *identity.id.as_bytes(),
        name: identity.name,
        secret: Zeroizing::new(identity.key.to_bytes().to_vec()),
        clock,
    }
}

fn new_key(
    open: &OpenVault,
    peers: &[SyncPeer],
    out: Option<MachineId>,
) -> Result<(SyncKey, Operation)> {
    let key = random().map(SyncKey::from_bytes);
    let key = key.map_err(|error| MemoryError::bad("sync", error.to_string()))?;
    let epoch = open.keys.current().map_or(1, |(epoch, _)| epoch.saturating_add(1));
    if out == Some(open.machine_id()) {
        return Err(MemoryError::bad("machine", "is this one; `iai-mcp sync leave` leaves"));
    }
    let present = open.members.present().filter(|(machine, _)| Some(*machine) != out);
    let staying: Vec<(MachineId, String)> =
        present.map(|(machine, member)| (machine, member.public_key.clone())).collect();
    let revoked = match out {
        None => Vec::new(),
        Some(machine) => {
            let known = peers.iter().find(|peer| peer.machine == *machine.as_bytes());
            let known = known.ok_or_else(|| MemoryError::bad("machine", "is not in the vault"))?;
            vec![EntryName { machine, counter: known.counter }]
        }
    };
    let operation = rekey(open.id(), (epoch, &key), &staying, revoked)
        .map_err(|error| MemoryError::bad("machine", error.to_string()))?;
    Ok((key, operation))
}

/// What the remote has of the old chain is another machine's from now on.
fn begin_chain_anew(
    writing: &Writing<'_>,
    (old, vault): (&SyncMachine, VaultNumber),
    n_kept: Option<u64>,
) -> Result<()> {
    let Some(known) = writing.read().sync_vault(vault)? else { return Ok(()) };
    let waiting = writing.read().sync_outbox(vault, 1)?;
    let first = waiting.first();
    let counter = first.map_or(known.counter, |entry| entry.counter.saturating_sub(1));
    let head = first.map_or(known.head, |entry| entry.previous);
    let peer = SyncPeer { machine: old.id, counter, head, epoch: 0, heard_at: None, trouble: None };
    let n_kept = n_kept.map_or(counter, |n_kept| n_kept.min(counter));
    // A key that was to be told in an entry that never arrived is nobody else's.
    for (by, at, text) in writing.read().sync_membership(vault)? {
        if by == old.id
            && n_kept < at
            && let Ok(Opened::Known(stamped)) = reread(text)
            && let Operation::Rekey { epoch, .. } = stamped.operation
        {
            writing.withdraw_sync_keys(vault, epoch)?;
        }
    }
    Ok(writing.restart_sync_chain(vault, &peer, n_kept)?)
}
