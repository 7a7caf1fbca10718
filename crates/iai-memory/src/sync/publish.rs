//! What changed here becomes entries of this machine's chain: sealed, chained and written to the
//! outbox in one transaction.

use std::collections::{BTreeMap, BTreeSet};

use iai_store::{
    LinkKind, MemoryId, MemoryNumber, SyncChange, SyncEntry, SyncErasure, SyncNote, VaultKind,
    VaultNumber, Writing,
};
use iai_sync::{
    ChainEnd, ChainWriter, Clock, Entry, EntryName, MachineId, MachineKey, Operation, Stamp,
    Stamped, SyncKey, random,
};
use jiff::{SignedDuration, Timestamp};

use super::{OpenVault, bodies};
use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};

/// Changes, forgettings and memories that become entries in one transaction, each.
const AT_ONCE: usize = 500;
/// A memory waits so long for its vectors; others then make their own.
const VECTORS_PATIENCE: SignedDuration = SignedDuration::from_secs(60);

/// What became of changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Published {
    /// Entries that were made.
    pub n_entries: u64,
    /// There may be more to do at once.
    pub has_more: bool,
}

impl MemoryEngine {
    /// Makes entries of what changed since the last time, some at a time. Needs no remote.
    pub fn sync_publish(&self, vault: VaultNumber, now: Timestamp) -> Result<Published> {
        // Most of the time nothing changed: that is not worth a write.
        if !self.read(|reader| has_changes(reader, vault))? {
            return Ok(Published::default());
        }
        self.write(|writing| {
            let mut publishing = Publishing::begin(writing, vault, now)?;
            publishing.say_hello()?;
            let changes = publishing.changes()?;
            let forgets = publishing.forgets()?;
            let memories = publishing.memories()?;
            publishing.finish(changes || forgets || memories)
        })
    }

    /// Tells whether something waits to become an entry.
    pub fn sync_is_behind(&self) -> Result<bool> {
        self.read(|reader| {
            for vault in reader.sync_vaults()? {
                if has_changes(reader, vault.number)? {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    /// Returns entries that the remote has not confirmed, in order, up to about so many bytes.
    pub fn sync_outgoing(&self, vault: VaultNumber, limit_bytes: usize) -> Result<Vec<Entry>> {
        self.read(|reader| {
            let Some(machine) = reader.sync_machine()? else { return Ok(Vec::new()) };
            let machine = MachineId::from_bytes(machine.id);
            let waiting = reader.sync_outbox(vault, limit_bytes)?;
            Ok(waiting.into_iter().map(|entry| as_sent(machine, entry)).collect())
        })
    }

    /// Says that the remote keeps this machine's entries up to this one.
    pub fn sync_sent(&self, vault: VaultNumber, up_to: u64) -> Result<()> {
        self.write(|writing| Ok(writing.drop_sync_sent(vault, up_to)?))
    }

    /// Returns entries whose payload the remote has to drop: what they carried was forgotten, and
    /// the entry that says so has arrived.
    pub fn sync_erasures(&self, vault: VaultNumber, limit: usize) -> Result<Vec<SyncErasure>> {
        self.read(|reader| Ok(reader.sync_to_erase(vault, limit)?))
    }

    /// Says that the remote has dropped them.
    pub fn sync_erased(&self, vault: VaultNumber, done: &[SyncErasure]) -> Result<()> {
        self.write(|writing| Ok(writing.drop_sync_erasures(vault, done)?))
    }
}

fn has_changes(reader: &iai_store::Reader, vault: VaultNumber) -> Result<bool> {
    let Some(known) = reader.sync_vault(vault)? else { return Ok(false) };
    Ok(known.counter == 0
        || known.memory < reader.last_number()?
        || !reader.sync_changes(known.change, 1)?.is_empty()
        || !reader.sync_untold(vault, 1)?.is_empty())
}

fn as_sent(machine: MachineId, entry: SyncEntry) -> Entry {
    Entry {
        name: EntryName { machine, counter: entry.counter },
        epoch: entry.epoch,
        previous: entry.previous,
        digest: entry.digest,
        payload: entry.payload,
    }
}

/// One transaction that makes entries.
pub(super) struct Publishing<'a, 'w> {
    writing: &'a Writing<'w>,
    open: OpenVault,
    clock: Clock,
    chain: ChainWriter,
    entries: Vec<SyncEntry>,
    now: Timestamp,
}

impl<'a, 'w> Publishing<'a, 'w> {
    pub(super) fn begin(
        writing: &'a Writing<'w>,
        vault: VaultNumber,
        now: Timestamp,
    ) -> Result<Self> {
        let open = OpenVault::of(writing.read(), vault)?;
        let clock = Clock::resumed(open.machine_id(), open.machine.clock);
        let end = ChainEnd { counter: open.vault.counter, hash: open.vault.head, epoch: 0 };
        let chain = ChainWriter::resumed(open.id(), open.machine_id(), end);
        Ok(Self { writing, open, clock, chain, entries: Vec::new(), now })
    }

    pub(super) fn open(&self) -> &OpenVault {
        &self.open
    }

    pub(super) fn has_begun(&self) -> bool {
        self.chain.end().counter > 0
    }

    /// Every chain begins with who writes it.
    pub(super) fn say_hello(&mut self) -> Result<()> {
        if self.has_begun() { Ok(()) } else { self.introduce() }
    }

    pub(super) fn take_key(&mut self, epoch: u32, key: SyncKey) {
        self.open.keys.insert(epoch, key);
    }

    /// Says what this machine is called, and the key that others seal to.
    pub(super) fn introduce(&mut self) -> Result<()> {
        let secret: &[u8; 32] =
            self.open.machine.secret.as_slice().try_into().map_err(|_| {
                MemoryError::bad("machine", "has a damaged key; leave and join again")
            })?;
        let public_key = MachineKey::from_bytes(secret).public();
        self.say(Operation::Hello { name: self.open.machine.name.clone(), public_key })
    }

    /// Adds an operation about machines and keys, and takes note of it like everybody else.
    pub(super) fn say(&mut self, operation: Operation) -> Result<()> {
        let stamp = self.tick();
        let stamped = Stamped { stamp, operation };
        let text = serde_json::to_string(&stamped)
            .map_err(|error| MemoryError::bad("operation", error.to_string()))?;
        let name = self.push(&stamped)?;
        let place = (*name.machine.as_bytes(), name.counter);
        Ok(self.writing.put_sync_membership(self.open.vault.number, place, &text)?)
    }

    pub(super) fn finish(mut self, has_more: bool) -> Result<Published> {
        let end = self.chain.end();
        self.open.vault.counter = end.counter;
        self.open.vault.head = end.hash;
        let before = self.writing.read().sync_vault(self.open.vault.number)?;
        if before.as_ref() == Some(&self.open.vault) {
            return Ok(Published::default());
        }
        self.writing.push_sync_entries(&self.open.vault, &self.entries)?;
        self.writing.set_sync_clock(self.clock.latest())?;
        let n_entries = u64::try_from(self.entries.len()).unwrap_or(u64::MAX);
        Ok(Published { n_entries, has_more })
    }

    fn tick(&mut self) -> Stamp {
        self.clock.tick(self.now.as_millisecond())
    }

    fn push(&mut self, stamped: &Stamped) -> Result<EntryName> {
        let nonce = random().map_err(|error| MemoryError::bad("sync", error.to_string()))?;
        let key = self.open.keys.current();
        let key =
            key.ok_or_else(|| MemoryError::bad("vault", "has no key; leave and join again"))?;
        let entry = self
            .chain
            .next(key, nonce, stamped)
            .map_err(|error| MemoryError::bad("operation", error.to_string()))?;
        self.entries.push(SyncEntry {
            counter: entry.name.counter,
            epoch: entry.epoch,
            previous: entry.previous,
            digest: entry.digest,
            payload: entry.payload,
        });
        Ok(entry.name)
    }

    /// Tells what changed, each thing once, as it is now.
    pub(super) fn changes(&mut self) -> Result<bool> {
        let notes = self.writing.read().sync_changes(self.open.vault.change, AT_ONCE)?;
        let mut latest: BTreeMap<SyncChange, SyncNote> = BTreeMap::new();
        for note in &notes {
            self.open.vault.change = note.number;
            let known = latest.entry(note.change.clone()).or_insert_with(|| note.clone());
            // A change wins over what was so when the chain began.
            if note.since.is_none() {
                known.since = None;
            }
        }
        let is_personal = self.open.vault.kind == VaultKind::Personal;
        for note in latest.into_values() {
            match &note.change {
                SyncChange::Link { kind, src, dst } => {
                    if is_personal || *kind == LinkKind::Contradicts {
                        self.link(*kind, *src, *dst)?;
                    }
                }
                SyncChange::Forget(id) if is_personal => self.forget_untold(*id)?,
                value if is_personal => self.value(value, note.since)?,
                SyncChange::Pin(_)
                | SyncChange::Profile(_)
                | SyncChange::Identity
                | SyncChange::Forget(_) => {}
            }
        }
        Ok(notes.len() == AT_ONCE)
    }

    /// Tells a value of which the later one holds.
    fn value(&mut self, change: &SyncChange, since: Option<Timestamp>) -> Result<()> {
        let reader = self.writing.read();
        let (name, of, body) = match change {
            SyncChange::Pin(id) => {
                if reader.number_of(*id)?.is_none() {
                    return Ok(());
                }
                let pin = reader.exported_pin(*id)?.map(bodies::of_deed).transpose()?;
                (format!("pin:{id}"), vec![bodies::uuid_of(*id)], pin)
            }
            SyncChange::Profile(knob) => {
                let mut set = reader.export_profile()?.into_iter();
                let set = set.find(|(name, _, _)| name == knob);
                let body = set.map(|(knob, value, at)| bodies::of_profile(knob, value, at));
                (format!("profile:{knob}"), Vec::new(), body.transpose()?)
            }
            SyncChange::Identity => {
                let said = reader.export_identity()?;
                let body = said.map(|(text, at)| bodies::of_identity(text, at)).transpose()?;
                ("identity".to_owned(), Vec::new(), body)
            }
            SyncChange::Link { .. } | SyncChange::Forget(_) => return Ok(()),
        };
        let stamp = self.stamp_of(since);
        if self.writing.note_sync_value(&name, (stamp.at, *stamp.by.as_bytes()))? {
            self.push(&Stamped { stamp, operation: Operation::Set { name, of, body } })?;
        }
        Ok(())
    }

    fn stamp_of(&mut self, since: Option<Timestamp>) -> Stamp {
        match since {
            None => self.tick(),
            Some(at) => Clock::resumed(self.open.machine_id(), 0).tick(at.as_millisecond()),
        }
    }

    /// Tells a link, if this vault knows both of its ends or will.
    fn link(&mut self, kind: LinkKind, src: MemoryId, dst: MemoryId) -> Result<()> {
        let reader = self.writing.read();
        let Some(link) = reader.exported_link(kind, src, dst)? else { return Ok(()) };
        if self.open.vault.kind == VaultKind::Team
            && !(self.is_shared(src)? && self.is_shared(dst)?)
        {
            return Ok(());
        }
        let operation = Operation::Set {
            name: bodies::link_name(kind, src, dst),
            of: vec![bodies::uuid_of(src), bodies::uuid_of(dst)],
            body: Some(bodies::of_deed(link)?),
        };
        let stamp = self.tick();
        self.push(&Stamped { stamp, operation })?;
        Ok(())
    }

    fn is_shared(&self, id: MemoryId) -> Result<bool> {
        let reader = self.writing.read();
        let projects = reader.sync_projects(self.open.vault.number)?;
        let memory = reader.memory(id)?;
        let project = memory.and_then(|memory| memory.project);
        Ok(project.is_some_and(|path| projects.iter().any(|shared| shared.path == path)))
    }

    /// Tells what was forgotten here before it was told: others may have taken it in themselves.
    fn forget_untold(&mut self, id: MemoryId) -> Result<()> {
        let vault = self.open.vault.number;
        if self.writing.read().is_sync_gone(vault, id)? {
            return Ok(());
        }
        let stamp = self.tick();
        let operation = Operation::Forget { memory: bodies::uuid_of(id), entries: Vec::new() };
        self.push(&Stamped { stamp, operation })?;
        Ok(self.writing.note_sync_gone(vault, id)?)
    }

    /// Tells what was forgotten here and has been carried.
    fn forgets(&mut self) -> Result<bool> {
        let untold = self.writing.read().sync_untold(self.open.vault.number, AT_ONCE)?;
        let mut by_memory: BTreeMap<MemoryId, Vec<EntryName>> = BTreeMap::new();
        for erasure in &untold {
            let machine = MachineId::from_bytes(erasure.machine);
            let entries = by_memory.entry(erasure.memory).or_default();
            entries.push(EntryName { machine, counter: erasure.counter });
        }
        for (memory, entries) in by_memory {
            let operation = Operation::Forget { memory: bodies::uuid_of(memory), entries };
            let stamp = self.tick();
            let name = self.push(&Stamped { stamp, operation })?;
            self.writing.note_sync_told(self.open.vault.number, memory, name.counter)?;
        }
        Ok(untold.len() == AT_ONCE)
    }

    /// Tells memories that came since.
    fn memories(&mut self) -> Result<bool> {
        let reader = self.writing.read();
        let before = self.open.vault.memory;
        let (found, looked) = reader.sync_memories(&self.open.vault, AT_ONCE)?;
        let shared: BTreeMap<String, String> = reader
            .sync_projects(self.open.vault.number)?
            .into_iter()
            .map(|project| (project.path, project.name))
            .collect();
        let model = bodies::serving(reader)?;
        self.open.vault.memory = looked;
        let mut seen = BTreeSet::new();
        for (number, exported) in found {
            let project = match (self.open.vault.kind, &exported.memory.project) {
                (VaultKind::Personal, _) => None,
                (VaultKind::Team, Some(path)) if shared.contains_key(path) => shared.get(path),
                (VaultKind::Team, _) => continue,
            };
            let id = exported.memory.id;
            // Forgotten elsewhere and captured again here: it goes, it is not told.
            if reader.is_sync_gone(self.open.vault.number, id)? || !seen.insert(id) {
                continue;
            }
            let vectors = match &model {
                None => None,
                Some(model) => {
                    let parts = reader.vector_parts(model.number, number)?;
                    let age = self.now.duration_since(exported.memory.stored_at);
                    // A clock that was put back must not make it wait for years.
                    if parts.is_empty() && age.abs() < VECTORS_PATIENCE {
                        self.open.vault.memory = MemoryNumber::new(number.get() - 1);
                        break;
                    }
                    (!parts.is_empty()).then(|| bodies::of_vectors(model, &parts))
                }
            };
            let body = bodies::of_memory(exported, project.map(String::as_str))?;
            let operation = Operation::Put { memory: bodies::uuid_of(id), body, vectors };
            let stamp = self.tick();
            let name = self.push(&Stamped { stamp, operation })?;
            let place = (*name.machine.as_bytes(), name.counter);
            self.writing.note_sync_carried(self.open.vault.number, number, place, stamp.at)?;
        }
        Ok(before < self.open.vault.memory)
    }
}
