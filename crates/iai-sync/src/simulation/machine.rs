//! A machine with a store and a way to the remote, killed at any step.
//!
//! Its fields are what a real machine keeps in its store; every method that changes them is one
//! transaction. A kill between two is [`Luck`]'s.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::value::RawValue;
use thiserror::Error;
use uuid::Uuid;

use super::dice::Dice;
use crate::chain::{ChainEnd, ChainError, ChainWriter, check_length, follow};
use crate::entry::{Entry, EntryName};
use crate::keys::{MachineKey, SyncKey, VaultKeys, rekey};
use crate::members::Members;
use crate::name::{MachineId, VaultId};
use crate::operation::{Operation, Stamped};
use crate::remote::{Appended, Remote, RemoteError};
use crate::replica::Replica;
use crate::seal::{OpenError, Opened, open};
use crate::stamp::Clock;
use crate::withheld::Withheld;

/// Payload bytes asked for at once: small, so that chains come in several parts.
const FETCH_BYTES: usize = 16 * 1024;
/// Entries handed over at once.
const APPEND_ENTRIES: usize = 8;

/// Why an exchange ended early. Everything but a chain that cannot be believed is tried again.
#[derive(Debug, Error)]
pub enum Trouble {
    /// The machine was killed.
    #[error("killed")]
    Killed,
    /// The remote did not do it.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// A chain is not what it was.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// A payload is not what its machine wrote.
    #[error("entry {} of machine {}: {}", .0.counter, .0.machine, .1)]
    Payload(EntryName, OpenError),
}

/// Decides at which step a machine is killed.
#[derive(Debug, Clone, Default)]
pub struct Luck {
    /// Steps done so far.
    pub n_steps: u64,
    /// The step it does not survive.
    pub killed_at: Option<u64>,
}

impl Luck {
    fn step(&mut self) -> Result<(), Trouble> {
        self.n_steps += 1;
        if self.killed_at == Some(self.n_steps) { Err(Trouble::Killed) } else { Ok(()) }
    }
}

/// A machine in a vault.
#[derive(Debug, Clone)]
pub struct Machine {
    vault: VaultId,
    id: MachineId,
    /// Names it had before a fork was noticed: it answers for their entries.
    former: BTreeSet<MachineId>,
    /// What is to be said again under a new name, once everything there is was read.
    unsaid: Option<Vec<Stamped>>,
    /// Chains whose entries were taken in, up to which, and may not count any more.
    vouching: BTreeMap<MachineId, u64>,
    secret: [u8; 32],
    keys: VaultKeys,
    end: ChainEnd,
    latest: u64,
    outbox: VecDeque<(Entry, Stamped)>,
    read: BTreeMap<MachineId, ChainEnd>,
    replica: Replica,
    members: Members,
    withheld: Withheld,
    carried: BTreeMap<Uuid, BTreeSet<EntryName>>,
    to_erase: BTreeSet<EntryName>,
    dice: Dice,
    /// How far its clock is off.
    pub skew_ms: i64,
    /// Everything it ever did, for whoever judges the outcome.
    pub done: Vec<Stamped>,
}

impl Machine {
    /// Makes a machine that has the vault's keys, and has it say hello.
    pub fn joined(vault: VaultId, keys: VaultKeys, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let mut machine = Self {
            vault,
            id: MachineId::from_random(dice.bytes()),
            former: BTreeSet::new(),
            unsaid: None,
            vouching: BTreeMap::new(),
            secret: dice.bytes(),
            keys,
            end: ChainEnd::NONE,
            latest: 0,
            outbox: VecDeque::new(),
            read: BTreeMap::new(),
            replica: Replica::default(),
            members: Members::default(),
            withheld: Withheld::default(),
            carried: BTreeMap::new(),
            to_erase: BTreeSet::new(),
            dice,
            skew_ms: 0,
            done: Vec::new(),
        };
        machine.hello(0);
        machine
    }

    /// Returns its name.
    pub fn id(&self) -> MachineId {
        self.id
    }

    /// Returns what it remembers.
    pub fn replica(&self) -> &Replica {
        &self.replica
    }

    /// Returns who it thinks is in the vault.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// Returns the vault's keys, to invite another.
    pub fn keys(&self) -> &VaultKeys {
        &self.keys
    }

    /// Returns payloads that the remote has to answer for.
    pub fn withheld(&self) -> Vec<EntryName> {
        self.withheld.names().collect()
    }

    /// Says whether everything it did was sent and erased.
    pub fn is_idle(&self) -> bool {
        self.outbox.is_empty()
            && self.to_erase.is_empty()
            && self.unsaid.is_none()
            && self.vouching.is_empty()
    }

    /// Returns how often it took a new name.
    pub fn n_names_lost(&self) -> usize {
        self.former.len()
    }

    /// Goes on from a copy of its store, with other chance than the copy's.
    pub fn restore(&mut self, backup: &Self, seed: u64) {
        *self = backup.clone();
        self.dice = Dice::new(seed);
    }

    /// Remembers something.
    pub fn put(&mut self, now_ms: i64, memory: Uuid, words: &str) {
        if !self.replica.is_forgotten(memory) {
            self.act(now_ms, Operation::Put { memory, body: line(words), vectors: None });
        }
    }

    /// Sets a value, or takes it back.
    pub fn set(&mut self, now_ms: i64, name: &str, of: Vec<Uuid>, words: Option<&str>) {
        self.act(now_ms, Operation::Set { name: name.to_owned(), of, body: words.map(line) });
    }

    /// Forgets a memory everywhere.
    pub fn forget(&mut self, now_ms: i64, memory: Uuid) {
        let entries: Vec<EntryName> =
            self.carried.get(&memory).into_iter().flatten().copied().collect();
        self.to_erase.extend(entries.iter().copied());
        self.act(now_ms, Operation::Forget { memory, entries });
    }

    /// Makes a new key, without those that are out.
    pub fn rotate(&mut self, now_ms: i64, out: &[MachineId]) {
        let staying: Vec<(MachineId, String)> = self
            .members
            .present()
            .filter(|(machine, _)| !out.contains(machine))
            .map(|(machine, member)| (machine, member.public_key.clone()))
            .collect();
        let last = |machine: &MachineId| EntryName {
            machine: *machine,
            counter: self.read.get(machine).map_or(0, |end| end.counter),
        };
        let revoked = out.iter().map(last).collect();
        let epoch = self.keys.current().map_or(0, |(epoch, _)| epoch) + 1;
        let key = SyncKey::from_bytes(self.dice.bytes());
        let operation =
            rekey(self.vault, (epoch, &key), &staying, revoked).expect("members have keys");
        // The rekey itself is still sealed with the key that everybody has.
        self.act(now_ms, operation);
        self.keys.insert(epoch, key);
    }

    /// Sends what was done and takes in what others did.
    pub fn exchange(&mut self, remote: &mut impl Remote, luck: &mut Luck) -> Result<(), Trouble> {
        luck.step()?;
        let heads = remote.heads(self.vault)?;
        let own = heads.iter().find(|head| head.machine == self.id).map_or(0, |head| head.counter);
        if own > self.end.counter {
            self.lose_name();
        }
        self.send(remote, luck)?;
        self.receive_all(remote, luck)?;
        self.speak_up();
        luck.step()?;
        self.vouch(remote, luck)?;
        // What was heard may have called for an answer.
        self.send(remote, luck)?;
        if self.outbox.is_empty() && !self.to_erase.is_empty() {
            let names: Vec<EntryName> = self.to_erase.iter().copied().collect();
            remote.erase(self.vault, &names)?;
            luck.step()?;
            self.to_erase.clear();
        }
        Ok(())
    }

    fn send(&mut self, remote: &mut impl Remote, luck: &mut Luck) -> Result<(), Trouble> {
        while !self.outbox.is_empty() {
            luck.step()?;
            let batch: Vec<Entry> =
                self.outbox.iter().take(APPEND_ENTRIES).map(|(entry, _)| entry.clone()).collect();
            let appended = remote.append(self.vault, &batch)?;
            luck.step()?;
            match appended {
                Appended::Kept => drop(self.outbox.drain(..batch.len())),
                Appended::Forked(_) => self.lose_name(),
            }
        }
        Ok(())
    }

    fn receive_all(&mut self, remote: &mut impl Remote, luck: &mut Luck) -> Result<(), Trouble> {
        let heads = remote.heads(self.vault)?;
        // A chain may wait for a key that stands in another: go round until nothing moves.
        loop {
            let mut has_moved = false;
            for head in &heads {
                if head.machine == self.id {
                    continue;
                }
                let end = self.read.get(&head.machine).copied().unwrap_or(ChainEnd::NONE);
                check_length(head.machine, &end, head.counter)?;
                if end.counter < head.counter {
                    has_moved |= self.receive(remote, luck, head.machine)?;
                }
            }
            if !has_moved {
                return Ok(());
            }
        }
    }

    /// Takes in the next part of a chain. Says whether that went any further.
    fn receive(
        &mut self,
        remote: &mut impl Remote,
        luck: &mut Luck,
        machine: MachineId,
    ) -> Result<bool, Trouble> {
        let end = self.read.get(&machine).copied().unwrap_or(ChainEnd::NONE);
        let entries = remote.fetch(self.vault, machine, end.counter, FETCH_BYTES)?;
        let followed = follow(self.vault, machine, end, entries)?;
        luck.step()?;
        let mut reached = end;
        for (entry, after) in &followed.entries {
            match self.take_in(entry) {
                Ok(()) => reached = *after,
                Err(OpenError::NoKey(_)) => break,
                Err(error) => return Err(Trouble::Payload(entry.name, error)),
            }
        }
        self.read.insert(machine, reached);
        luck.step()?;
        Ok(reached != end)
    }

    fn take_in(&mut self, entry: &Entry) -> Result<(), OpenError> {
        let Some(payload) = &entry.payload else {
            self.withheld.erased([entry.name]);
            return Ok(());
        };
        let opened = open(&self.keys, &entry.place(self.vault), payload)?;
        if self.members.check(entry.name, entry.epoch).is_err() {
            return Ok(());
        }
        let Opened::Known(stamped) = opened else { return Ok(()) };
        let mut clock = Clock::resumed(self.id, self.latest);
        clock.see(stamped.stamp);
        self.latest = clock.latest();
        self.apply(entry.name, &stamped);
        self.take_key(&stamped.operation);
        if let Operation::Put { memory, .. } | Operation::Forget { memory, .. } = stamped.operation
        {
            self.answer(memory);
        }
        Ok(())
    }

    /// Every machine answers for its own entries: if one carried a memory that somebody else, who
    /// did not know of it, has forgotten, it may be erased as well.
    fn answer(&mut self, memory: Uuid) {
        if !self.replica.is_forgotten(memory) {
            return;
        }
        let is_mine =
            |name: &&EntryName| name.machine == self.id || self.former.contains(&name.machine);
        let carried = self.carried.get(&memory).into_iter().flatten().filter(is_mine);
        let entries: Vec<EntryName> =
            carried.filter(|name| !self.withheld.is_named(name)).copied().collect();
        if !entries.is_empty() {
            self.to_erase.extend(entries.iter().copied());
            self.act(0, Operation::Forget { memory, entries });
        }
    }

    /// Takes the new key out of a rekey, and notes which chains lose by it entries that are part of
    /// this store: of machines that are out or that its maker did not know.
    fn take_key(&mut self, operation: &Operation) {
        let Operation::Rekey { epoch, boxes, revoked } = operation else { return };
        let secret = MachineKey::from_bytes(&self.secret);
        let own: Vec<MachineId> = self.former.iter().copied().chain([self.id]).collect();
        for name in &own {
            if let Ok(Some((epoch, key))) = secret.open_rekey(self.vault, *name, operation) {
                self.keys.insert(epoch, key);
            }
        }
        let stays = |name: &MachineId| boxes.iter().any(|(machine, _)| machine == name);
        let read = self.read.iter().map(|(machine, end)| (*machine, end.counter));
        let written = own.iter().map(|machine| (*machine, u64::MAX));
        let lost = read.chain(written).filter(|(machine, _)| !stays(machine));
        self.vouching.extend(lost);
        let is_out = revoked.iter().any(|last| last.machine == self.id);
        if !stays(&self.id) && !is_out && self.end.counter > 0 && self.end.epoch < *epoch {
            self.lose_name();
        }
    }

    /// Says again, under this machine's name, what it has taken in and a rekey does not count: what
    /// one member has, all get, whether they heard of the rekey before or after.
    fn vouch(&mut self, remote: &mut impl Remote, luck: &mut Luck) -> Result<(), Trouble> {
        while let Some((machine, until)) = self.vouching.first_key_value().map(|(m, u)| (*m, *u)) {
            let mut end = ChainEnd::NONE;
            let mut lost = Vec::new();
            loop {
                let entries = remote.fetch(self.vault, machine, end.counter, FETCH_BYTES)?;
                let followed = follow(self.vault, machine, end, entries)?;
                let counted = followed.entries.iter().filter(|(entry, _)| {
                    let is_lost = self.members.check(entry.name, entry.epoch).is_err();
                    is_lost && entry.name.counter <= until
                });
                lost.extend(counted.map(|(entry, _)| entry.clone()));
                if end == followed.end || followed.end.counter >= until {
                    break;
                }
                end = followed.end;
            }
            luck.step()?;
            for entry in &lost {
                let Some(payload) = &entry.payload else { continue };
                match open(&self.keys, &entry.place(self.vault), payload) {
                    Ok(Opened::Known(Stamped { operation: Operation::Hello { .. }, .. })) => {}
                    Ok(Opened::Known(stamped)) => self.say(stamped),
                    Ok(Opened::Unknown(_)) | Err(_) => {}
                }
            }
            self.vouching.remove(&machine);
            luck.step()?;
        }
        Ok(())
    }

    /// Somebody else writes under this machine's name: a copy of its store, or the machine itself
    /// before a backup was restored. What was written there is read like any other chain, and what
    /// was not sent is said again under a new name. Not at once: by a name that others do not know
    /// only entries under the newest key count, and that may have to be read first.
    fn lose_name(&mut self) {
        self.former.insert(self.id);
        self.id = MachineId::from_random(self.dice.bytes());
        self.end = ChainEnd::NONE;
        let unsent = std::mem::take(&mut self.outbox);
        // Under these names the remote has, or will have, entries of somebody else.
        let given_up: BTreeSet<EntryName> = unsent.iter().map(|(entry, _)| entry.name).collect();
        self.withheld.take_back(&given_up);
        self.to_erase.retain(|name| !given_up.contains(name));
        for names in self.carried.values_mut() {
            names.retain(|name| !given_up.contains(name));
        }
        let unsaid = self.unsaid.get_or_insert_default();
        for (_, mut stamped) in unsent {
            match &mut stamped.operation {
                // Nobody has a key that was not sent: it is withdrawn, and with it the rekey. If it
                // did arrive, it is read again from the chain.
                Operation::Rekey { epoch, .. } => self.keys.withdraw(*epoch),
                Operation::Hello { .. } => {}
                Operation::Forget { entries, .. } => {
                    entries.retain(|name| !given_up.contains(name));
                    unsaid.push(stamped);
                }
                Operation::Put { .. } | Operation::Set { .. } => unsaid.push(stamped),
            }
        }
    }

    fn speak_up(&mut self) {
        let Some(unsaid) = self.unsaid.take() else { return };
        self.hello(0);
        unsaid.into_iter().for_each(|stamped| self.say(stamped));
    }

    fn hello(&mut self, now_ms: i64) {
        let public_key = MachineKey::from_bytes(&self.secret).public();
        self.act(now_ms, Operation::Hello { name: self.id.to_string(), public_key });
    }

    fn act(&mut self, now_ms: i64, operation: Operation) {
        let mut clock = Clock::resumed(self.id, self.latest);
        let stamp = clock.tick(now_ms.saturating_add(self.skew_ms));
        self.latest = clock.latest();
        let stamped = Stamped { stamp, operation };
        self.done.push(stamped.clone());
        match &mut self.unsaid {
            None => self.say(stamped),
            Some(unsaid) => {
                unsaid.push(stamped.clone());
                self.note(&stamped);
            }
        }
    }

    fn say(&mut self, stamped: Stamped) {
        let mut writer = ChainWriter::resumed(self.vault, self.id, self.end);
        let key = self.keys.current().expect("a machine that joined has a key");
        let entry = writer.next(key, self.dice.bytes(), &stamped).expect("short operations");
        self.end = writer.end();
        self.apply(entry.name, &stamped);
        self.outbox.push_back((entry, stamped));
    }

    fn apply(&mut self, name: EntryName, stamped: &Stamped) {
        if let Operation::Put { memory, .. } = stamped.operation {
            self.carried.entry(memory).or_default().insert(name);
        }
        self.members.apply(name.machine, stamped);
        self.note(stamped);
    }

    fn note(&mut self, stamped: &Stamped) {
        self.withheld.apply(&stamped.operation);
        self.replica.apply(stamped);
    }
}

fn line(words: &str) -> Box<RawValue> {
    let json = serde_json::to_string(words).expect("text is always JSON");
    RawValue::from_string(json).expect("what was just made is JSON")
}
