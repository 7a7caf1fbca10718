//! Tells how the vaults are, and what would go into one.

use std::collections::BTreeMap;

use iai_store::{Reader, SyncVault, VaultKind, VaultNumber};
use iai_sync::MachineId;
use jiff::Timestamp;
use serde::Serialize;

use super::OpenVault;
use crate::engine::MemoryEngine;
use crate::error::Result;

/// How many memories are looked at at once for a preview.
const PREVIEW_AT_ONCE: usize = 1000;
/// First words of so many memories are shown.
const SAMPLES_MAX: usize = 5;
const SAMPLE_CHARS: usize = 100;

/// All vaults.
#[derive(Debug, Serialize)]
pub struct SyncStatus {
    /// Each of them.
    pub vaults: Vec<VaultView>,
}

/// A vault as somebody reads it.
#[derive(Debug, Serialize)]
pub struct VaultView {
    /// Its number, for the next question.
    #[serde(skip)]
    pub number: VaultNumber,
    /// Its name in the log.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// `personal` or `team`.
    pub kind: &'static str,
    /// Where its log is kept. May hold a password.
    #[serde(skip)]
    pub address: String,
    /// What a team calls its projects, and where they are here.
    pub projects: BTreeMap<String, String>,
    /// The number of the key that seals now.
    pub key: u32,
    /// Since when.
    pub joined_at: String,
    /// When its log was last reached.
    pub heard_at: Option<String>,
    /// Entries this machine wrote.
    pub written: u64,
    /// Entries that wait to be sent.
    pub waiting_to_send: u64,
    /// Operations that wait for a memory that is not here.
    pub waiting_for_memories: u64,
    /// Operations that wait for a newer program.
    pub waiting_for_update: u64,
    /// Entries whose payload the remote does not give, though nothing says it was forgotten.
    pub withheld: u64,
    /// What is wrong, if something is.
    pub trouble: Option<String>,
    /// Every machine, this one first.
    pub machines: Vec<MachineView>,
}

/// A machine of a vault.
#[derive(Debug, Serialize)]
pub struct MachineView {
    /// Its name in its chain.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Whether it is the one that tells this.
    pub is_this: bool,
    /// Whether it was put out.
    pub is_out: bool,
    /// Entries of it that are known here.
    pub entries: u64,
    /// When something of it last came.
    pub heard_at: Option<String>,
    /// What is wrong with its chain, if something is.
    pub trouble: Option<String>,
}

/// What would go into a vault, and nothing is sent.
#[derive(Debug, Default, Serialize)]
pub struct SharePreview {
    /// How many memories.
    pub memories: u64,
    /// By project.
    pub projects: Vec<ShareProject>,
}

/// What would go of one project.
#[derive(Debug, Serialize)]
pub struct ShareProject {
    /// Its path; none for what was said outside of any.
    pub project: Option<String>,
    /// How many memories.
    pub memories: u64,
    /// The first words of some.
    pub samples: Vec<String>,
}

impl MemoryEngine {
    /// Tells how every vault is.
    pub fn sync_status(&self) -> Result<SyncStatus> {
        self.read(|reader| {
            let vaults = reader.sync_vaults()?;
            let views = vaults.iter().map(|vault| view_of(reader, vault.number));
            Ok(SyncStatus { vaults: views.collect::<Result<_>>()? })
        })
    }

    /// Notes how an exchange with a vault's remote ended.
    pub fn sync_note(
        &self,
        vault: VaultNumber,
        trouble: Option<&str>,
        now: Timestamp,
    ) -> Result<()> {
        self.write(|writing| Ok(writing.set_sync_trouble(vault, trouble, now)?))
    }

    /// Tells what would go into a vault of this kind with these projects, and sends nothing.
    pub fn sync_preview(&self, kind: VaultKind, projects: &[String]) -> Result<SharePreview> {
        self.read(|reader| {
            let mut by_project: BTreeMap<Option<String>, ShareProject> = BTreeMap::new();
            let mut memories = 0;
            reader.sync_all_memories(PREVIEW_AT_ONCE, &mut |memory| {
                let path = memory.project;
                let is_named = path.as_ref().is_some_and(|path| projects.contains(path));
                if kind == VaultKind::Team && !is_named {
                    return;
                }
                memories += 1;
                let project = path.clone();
                let share = by_project.entry(path).or_insert_with(|| ShareProject {
                    project,
                    memories: 0,
                    samples: Vec::new(),
                });
                share.memories += 1;
                if share.samples.len() < SAMPLES_MAX {
                    share.samples.push(memory.text.chars().take(SAMPLE_CHARS).collect());
                }
            })?;
            Ok(SharePreview { memories, projects: by_project.into_values().collect() })
        })
    }
}

fn view_of(reader: &Reader, number: VaultNumber) -> Result<VaultView> {
    let open = OpenVault::of(reader, number)?;
    let (waiting_for_memories, waiting_for_update) = reader.n_sync_waiting(number)?;
    let machines = machines_of(reader, &open)?;
    let projects = reader.sync_projects(number)?;
    let key = open.keys.current().map_or(0, |(epoch, _)| epoch);
    let SyncVault { id: _, name, kind, address, counter, joined_at, heard_at, trouble, .. } =
        open.vault.clone();
    Ok(VaultView {
        number,
        id: open.id().to_string(),
        name,
        kind: kind.as_str(),
        address,
        projects: projects.into_iter().map(|project| (project.name, project.path)).collect(),
        key,
        joined_at: joined_at.to_string(),
        heard_at: heard_at.map(|at| at.to_string()),
        written: counter,
        waiting_to_send: reader.n_sync_outbox(number)?,
        waiting_for_memories,
        waiting_for_update,
        withheld: u64::try_from(reader.sync_withheld(number)?.len()).unwrap_or(u64::MAX),
        trouble,
        machines,
    })
}

fn machines_of(reader: &Reader, open: &OpenVault) -> Result<Vec<MachineView>> {
    let called = |machine: MachineId| {
        let member = open.members.get(machine);
        member.map_or_else(|| "unnamed".to_owned(), |member| member.name.clone())
    };
    let this = open.machine_id();
    let is_out = |machine| open.members.last_counted(machine).is_some();
    let mut machines = vec![MachineView {
        id: this.to_string(),
        name: open.machine.name.clone(),
        is_this: true,
        is_out: is_out(this),
        entries: open.vault.counter,
        heard_at: None,
        trouble: is_out(this).then(|| "this machine was put out of the vault".to_owned()),
    }];
    for peer in reader.sync_peers(open.vault.number)? {
        let machine = MachineId::from_bytes(peer.machine);
        machines.push(MachineView {
            id: machine.to_string(),
            name: called(machine),
            is_this: false,
            is_out: is_out(machine),
            entries: peer.counter,
            heard_at: peer.heard_at.map(|at| at.to_string()),
            trouble: peer.trouble,
        });
    }
    Ok(machines)
}
