//! What others wrote into their chains is done here: checked, opened and applied in one transaction
//! with how far the chain was read.

mod values;

use iai_store::{
    Inserted, MemoryId, MemoryNumber, Model, ModelNumber, Part, StoreError, SyncErasure, SyncPeer,
    SyncVault, SyncWaiting, VaultKind, VaultNumber, Writing,
};
use iai_sync::{
    CarriedVectors, ChainEnd, ChainError, Clock, Entry, EntryName, MachineId, MachineKey,
    OpenError, Opened, Operation, Place, Stamp, Stamped, SyncKey, follow, open, reread,
};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

use super::OpenVault;
use super::bodies::{self, Body};
use super::publish::Publishing;
use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};
use crate::forgetting::ForgetAsk;

/// Memories that others forgot and that are forgotten here under one receipt.
const FORGOTTEN_AT_ONCE: usize = 10_000;

/// What became of entries of another machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Taken {
    /// Entries that were read.
    pub n_entries: u64,
    /// Memories that are new here.
    pub n_new: u64,
    /// Entries that do not count, because their machine is out.
    pub n_refused: u64,
    /// Entries that say nothing this program can do.
    pub n_odd: u64,
    /// Why reading stopped, where it did. It goes on from there the next time.
    pub trouble: Option<String>,
}

impl MemoryEngine {
    /// Tells how far the chain of another machine was read; 0 where it is new.
    pub fn sync_read_up_to(&self, vault: VaultNumber, machine: MachineId) -> Result<u64> {
        let peers = self.read(|reader| Ok(reader.sync_peers(vault)?))?;
        let peer = peers.into_iter().find(|peer| peer.machine == *machine.as_bytes());
        Ok(peer.map_or(0, |peer| peer.counter))
    }

    /// Does what another machine did, as its chain goes on.
    pub fn sync_take(
        &self,
        vault: VaultNumber,
        machine: MachineId,
        entries: Vec<Entry>,
        now: Timestamp,
    ) -> Result<Taken> {
        let (taken, learned) = self.remember(|writing| {
            // What was changed here gets its stamp first: what others did earlier must not win.
            stamp_changes(writing, vault, now)?;
            let mut taking = Taking::begin(writing, (vault, machine), now)?;
            let read = taking.read(entries);
            writing.apply_from_others(|| taking.apply_all(read))?;
            taking.finish()
        })?;
        for (model, number, parts) in learned {
            self.learn_vectors(model, &[(number, parts)])?;
        }
        Ok(taken)
    }

    /// Begins to forget what a log says is gone and is still here; returns the receipt.
    pub fn sync_forget_gone(&self, now: Timestamp) -> Result<Option<u64>> {
        let ids = self.read(|reader| Ok(reader.sync_gone_here(FORGOTTEN_AT_ONCE)?))?;
        if ids.is_empty() {
            return Ok(None);
        }
        let ids = ids.iter().map(ToString::to_string).collect();
        let ask = ForgetAsk { ids, ..ForgetAsk::default() };
        let receipt = self.begin_forgetting(&ask, iai_store::ForgetReason::Asked, None, now)?;
        Ok(Some(receipt))
    }
}

/// An entry that follows, opened where it could be.
struct Read {
    name: EntryName,
    end: ChainEnd,
    what: What,
}

enum What {
    Said(Stamped),
    /// Only a newer program knows what it means.
    Newer(String),
    Erased,
    Refused,
}

type Learned = Vec<(ModelNumber, MemoryNumber, Vec<Part>)>;

/// One transaction that applies entries of one chain.
struct Taking<'a, 'w> {
    writing: &'a Writing<'w>,
    open: OpenVault,
    peer: SyncPeer,
    clock: Clock,
    new_keys: Vec<(u32, SyncKey)>,
    has_rotation: bool,
    model: Option<Model>,
    learned: Learned,
    taken: Taken,
    now: Timestamp,
}

impl<'a, 'w> Taking<'a, 'w> {
    fn begin(
        writing: &'a Writing<'w>,
        (vault, machine): (VaultNumber, MachineId),
        now: Timestamp,
    ) -> Result<Self> {
        let open = OpenVault::of(writing.read(), vault)?;
        let peers = writing.read().sync_peers(vault)?;
        let known = peers.into_iter().find(|peer| peer.machine == *machine.as_bytes());
        let peer = known.unwrap_or_else(|| unread(machine));
        let clock = Clock::resumed(open.machine_id(), open.machine.clock);
        let model = bodies::serving(writing.read())?;
        Ok(Self {
            writing,
            open,
            peer,
            clock,
            new_keys: Vec::new(),
            has_rotation: false,
            model,
            learned: Vec::new(),
            taken: Taken::default(),
            now,
        })
    }

    fn vault(&self) -> &SyncVault {
        &self.open.vault
    }

    /// Follows the chain and opens what can be opened, up to the first entry that cannot.
    fn read(&mut self, entries: Vec<Entry>) -> Vec<Read> {
        let machine = MachineId::from_bytes(self.peer.machine);
        let end =
            ChainEnd { counter: self.peer.counter, hash: self.peer.head, epoch: self.peer.epoch };
        let followed = match follow(self.open.id(), machine, end, entries) {
            Ok(followed) => followed,
            Err(error) => {
                self.taken.trouble = Some(trouble_of(&error));
                return Vec::new();
            }
        };
        let mut read = Vec::with_capacity(followed.entries.len());
        for (entry, end) in followed.entries {
            match self.opened(&entry) {
                Ok(what) => read.push(Read { name: entry.name, end, what }),
                Err(error) => {
                    let counter = entry.name.counter;
                    self.taken.trouble = Some(format!("entry {counter}: {error}"));
                    break;
                }
            }
        }
        read
    }

    fn opened(&mut self, entry: &Entry) -> Result<What, OpenError> {
        let Some(payload) = &entry.payload else { return Ok(What::Erased) };
        let place = Place {
            vault: self.open.id(),
            name: entry.name,
            epoch: entry.epoch,
            previous: entry.previous,
        };
        let opened = open(&self.open.keys, &place, payload)?;
        if self.open.members.check(entry.name, entry.epoch).is_err() {
            return Ok(What::Refused);
        }
        let stamped = match opened {
            Opened::Unknown(text) => return Ok(What::Newer(text)),
            Opened::Known(stamped) => stamped,
        };
        self.has_rotation |= matches!(stamped.operation, Operation::Rekey { .. });
        self.open.members.apply(entry.name.machine, &stamped);
        if let Some((epoch, key)) = self.key_in(&stamped.operation) {
            self.open.keys.insert(epoch, key.clone());
            self.new_keys.push((epoch, key));
        }
        Ok(What::Said(stamped))
    }

    /// Returns the key that a rekey has for this machine, under whatever name it had then.
    fn key_in(&self, operation: &Operation) -> Option<(u32, SyncKey)> {
        let Operation::Rekey { boxes, .. } = operation else { return None };
        let secret: &[u8; 32] = self.open.machine.secret.as_slice().try_into().ok()?;
        let (key, vault) = (MachineKey::from_bytes(secret), self.open.id());
        boxes.iter().find_map(|(name, _)| key.open_rekey(vault, *name, operation).ok()?)
    }

    /// What does not count by a new key is told again by whoever took it in before.
    fn vouch(&self) -> Result<()> {
        let vault = self.vault().number;
        for peer in self.writing.read().sync_peers(vault)? {
            let machine = MachineId::from_bytes(peer.machine);
            let first = EntryName { machine, counter: 1 };
            if let Some(last) = self.open.members.last_counted(machine) {
                self.writing.uncarry_sync(vault, peer.machine, last)?;
            } else if self.open.members.check(first, peer.epoch).is_err() {
                self.writing.uncarry_sync(vault, peer.machine, 0)?;
            }
        }
        Ok(())
    }

    fn apply_all(&mut self, read: Vec<Read>) -> Result<()> {
        let vault = self.vault().number;
        for waiting in self.writing.take_sync_waiting(vault, None)? {
            self.again(waiting)?;
        }
        for Read { name, end, what } in read {
            self.taken.n_entries += 1;
            match what {
                What::Said(stamped) => self.apply(name, stamped)?,
                What::Newer(text) => self.keep(name, None, text)?,
                What::Erased => {
                    self.writing.note_sync_met(vault, *name.machine.as_bytes(), name.counter)?;
                }
                What::Refused => self.taken.n_refused += 1,
            }
            (self.peer.counter, self.peer.head, self.peer.epoch) =
                (end.counter, end.hash, end.epoch);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(Taken, Learned)> {
        let vault = self.vault().number;
        for (epoch, key) in &self.new_keys {
            self.writing.put_sync_key(vault, *epoch, key.as_bytes())?;
        }
        if self.has_rotation {
            self.vouch()?;
        }
        self.peer.heard_at = Some(self.now);
        self.peer.trouble.clone_from(&self.taken.trouble);
        self.writing.put_sync_peer(vault, &self.peer)?;
        self.writing.set_sync_clock(self.clock.latest())?;
        Ok((self.taken, self.learned))
    }

    fn apply(&mut self, name: EntryName, stamped: Stamped) -> Result<()> {
        self.clock.see(stamped.stamp);
        let stamp = stamped.stamp;
        match &stamped.operation {
            Operation::Put { memory, body, vectors } => {
                self.put((name, stamp), bodies::id_of(*memory), body, vectors.as_ref())
            }
            Operation::Set { of, .. } => {
                let vault = self.vault().number;
                for id in of.iter().map(|uuid| bodies::id_of(*uuid)) {
                    if self.writing.read().is_sync_gone(vault, id)? {
                        return Ok(());
                    }
                    if self.writing.read().number_of(id)?.is_none() {
                        return self.keep(name, Some(id), written(&stamped)?);
                    }
                }
                self.set(stamped)
            }
            Operation::Forget { memory, entries } => self.forget(bodies::id_of(*memory), entries),
            Operation::Hello { .. } | Operation::Rekey { .. } => {
                let place = (*name.machine.as_bytes(), name.counter);
                let text = written(&stamped)?;
                Ok(self.writing.put_sync_membership(self.vault().number, place, &text)?)
            }
        }
    }

    fn put(
        &mut self,
        (name, stamp): (EntryName, Stamp),
        id: MemoryId,
        body: &RawValue,
        vectors: Option<&CarriedVectors>,
    ) -> Result<()> {
        let vault = self.vault().number;
        if self.writing.read().is_sync_gone(vault, id)? {
            return Ok(());
        }
        let Some(Body::Memory(mut told)) = bodies::read(body) else { return self.odd() };
        if told.memory.id != id {
            return self.odd();
        }
        if self.vault().kind == VaultKind::Team && !self.is_ours(&mut told.memory.project)? {
            return self.odd();
        }
        let place = (*name.machine.as_bytes(), name.counter);
        let inserted = match self.writing.import_memory(&told) {
            // It does not follow from its own fields: no machine of ours writes that.
            Err(StoreError::Refused { .. }) => return self.odd(),
            other => other?,
        };
        if matches!(inserted, Inserted::Forgotten(_)) {
            let erasure = SyncErasure { machine: place.0, counter: place.1, memory: id };
            return Ok(self.writing.note_sync_erasure(vault, &erasure)?);
        }
        if matches!(inserted, Inserted::Known(_)) {
            let by = *stamp.by.as_bytes();
            self.writing.take_earlier_telling(vault, &told, (stamp.at, by))?;
        }
        let Some(number) = self.writing.read().number_of(id)? else { return Ok(()) };
        self.writing.note_sync_carried(vault, number, place, stamp.at)?;
        if matches!(inserted, Inserted::New(_)) {
            self.taken.n_new += 1;
            self.take_vectors(number, vectors, &told.memory.text)?;
            for waiting in self.writing.take_sync_waiting(vault, Some(id))? {
                self.again(waiting)?;
            }
        }
        Ok(())
    }

    /// Puts a team's project where it is on this machine; false for one the vault does not have.
    fn is_ours(&self, project: &mut Option<String>) -> Result<bool> {
        let Some(name) = project.as_deref() else { return Ok(false) };
        let projects = self.writing.read().sync_projects(self.vault().number)?;
        let Some(here) = projects.into_iter().find(|project| project.name == name) else {
            return Ok(false);
        };
        *project = Some(here.path);
        Ok(true)
    }

    fn take_vectors(
        &mut self,
        number: MemoryNumber,
        vectors: Option<&CarriedVectors>,
        text: &str,
    ) -> Result<()> {
        let (Some(model), Some(vectors)) = (&self.model, vectors) else { return Ok(()) };
        let Some(parts) = bodies::read_vectors(model, vectors, text) else { return Ok(()) };
        match self.writing.put_vectors(model.number, number, &parts) {
            Ok(()) => self.learned.push((model.number, number, parts)),
            // They are made again.
            Err(StoreError::Refused { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// A memory is gone: noted here, and forgotten like anything else that is to be forgotten.
    fn forget(&mut self, memory: MemoryId, entries: &[EntryName]) -> Result<()> {
        let vault = self.vault().number;
        self.writing.note_sync_gone(vault, memory)?;
        for name in entries {
            self.writing.note_sync_named(vault, *name.machine.as_bytes(), name.counter)?;
        }
        Ok(())
    }

    fn again(&mut self, waiting: SyncWaiting) -> Result<()> {
        let machine = MachineId::from_bytes(waiting.machine);
        let name = EntryName { machine, counter: waiting.counter };
        match reread(waiting.text) {
            Ok(Opened::Known(stamped)) => self.apply(name, stamped),
            Ok(Opened::Unknown(text)) => self.keep(name, waiting.needs, text),
            Err(_) => self.odd(),
        }
    }

    fn keep(&mut self, name: EntryName, needs: Option<MemoryId>, text: String) -> Result<()> {
        let (machine, counter) = (*name.machine.as_bytes(), name.counter);
        let waiting = SyncWaiting { machine, counter, needs, text };
        Ok(self.writing.put_sync_waiting(self.vault().number, &waiting)?)
    }

    fn odd(&mut self) -> Result<()> {
        self.taken.n_odd += 1;
        Ok(())
    }
}

fn stamp_changes(writing: &Writing<'_>, vault: VaultNumber, now: Timestamp) -> Result<()> {
    let mut publishing = Publishing::begin(writing, vault, now)?;
    // A chain begins when everything there is has been read: with the key that seals by then. What
    // it will say of earlier times has its own stamps.
    if !publishing.has_begun() {
        return Ok(());
    }
    while publishing.changes()? {}
    publishing.finish(false).map(drop)
}

fn unread(machine: MachineId) -> SyncPeer {
    SyncPeer {
        machine: *machine.as_bytes(),
        counter: ChainEnd::NONE.counter,
        head: ChainEnd::NONE.hash,
        epoch: ChainEnd::NONE.epoch,
        heard_at: None,
        trouble: None,
    }
}

fn written(stamped: &Stamped) -> Result<String> {
    serde_json::to_string(stamped).map_err(|error| MemoryError::bad("operation", error.to_string()))
}

/// Says what is wrong with a chain, and what it means.
fn trouble_of(error: &ChainError) -> String {
    let next = match error {
        ChainError::Gap { .. } | ChainError::Shorter { .. } => {
            "what follows waits until it is there"
        }
        ChainError::Reordered(_) | ChainError::Altered(_) | ChainError::Foreign(_) => {
            "nothing of it was taken in; the remote or what carries it is not to be trusted"
        }
        ChainError::Forked(_) => "nothing of it was taken in; leave and join again on that machine",
    };
    format!("{error}; {next}")
}
