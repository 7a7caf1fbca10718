//! Many machines, islands of them cut off from each other for a while, and what comes of it.

use std::collections::BTreeSet;

use thiserror::Error;
use uuid::Uuid;

use super::dice::Dice;
use super::machine::{Luck, Machine, Trouble};
use super::remotes::{Flaky, MemoryRemote};
use crate::keys::{SyncKey, VaultKeys};
use crate::name::VaultId;
use crate::replica::Replica;

const YEAR_MS: i64 = 365 * 24 * 3_600_000;
/// When the simulated world begins: autumn 2026.
const BEGINNING_MS: i64 = 1_790_000_000_000;
/// Rounds of work between two changes of islands.
const ROUNDS_APART: u64 = 3;
/// Rounds after which machines that still differ never will agree.
const ROUNDS_MAX: u32 = 30;
/// Steps of an exchange within which a kill may fall.
const KILL_STEPS: u64 = 40;

/// What is to be simulated. The seed decides everything else.
#[derive(Debug, Clone, Copy)]
pub struct Fleet {
    /// Which chance.
    pub seed: u64,
    /// How many machines.
    pub n_machines: usize,
    /// How many operations each of them does.
    pub n_operations: u64,
    /// How often the islands change.
    pub n_partitions: u64,
    /// How many islands there are at a time.
    pub n_islands: usize,
    /// Once in how many calls the line fails; never when 0.
    pub failure_one_in: u64,
    /// Once in how many exchanges a machine is killed; never when 0.
    pub kill_one_in: u64,
    /// Once in how many turns a machine is put back to an older copy of its store; never when 0.
    pub restore_one_in: u64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Operations done, answers and hellos among them.
    pub n_operations: usize,
    /// Entries that the remote keeps in the end.
    pub n_entries: usize,
    /// Entries whose payload was erased.
    pub n_erased: usize,
    /// Bytes of payload that the remote keeps.
    pub n_bytes: u64,
    /// Bytes of payload that were fetched by all machines together.
    pub n_bytes_fetched: u64,
    /// Times a machine was killed or its line failed.
    pub n_troubles: u64,
    /// Times a machine took a new name.
    pub n_names_lost: usize,
    /// Memories in the end.
    pub n_memories: usize,
    /// Rounds of one exchange a machine until all were equal, after the last partition.
    pub n_rounds: u32,
    /// The digest of each machine's replica, which is the same.
    pub digest: [u8; 32],
}

/// What must not come of it.
#[derive(Debug, Error)]
pub enum FleetError {
    /// Machines still differ.
    #[error("{0} different stores are left after {ROUNDS_MAX} rounds")]
    Differ(usize),
    /// A chain or payload of an honest machine was not believed.
    #[error("an honest machine was not believed: {0}")]
    Disbelieved(Trouble),
    /// They agree, but not on what was done.
    #[error("all machines agree on something else than what was done")]
    Wrong,
    /// They agree, but think that the remote keeps something back.
    #[error("an honest remote is said to withhold entries")]
    Withheld,
}

struct World {
    fleet: Fleet,
    dice: Dice,
    now_ms: i64,
    machines: Vec<Machine>,
    backups: Vec<Machine>,
    islands: Vec<MemoryRemote>,
    n_troubles: u64,
}

impl Fleet {
    /// A fleet with every misfortune.
    pub fn unlucky(n_machines: usize, n_operations: u64, seed: u64) -> Self {
        Self {
            seed,
            n_machines,
            n_operations,
            n_partitions: 3,
            n_islands: 3,
            failure_one_in: 50,
            kill_one_in: 5,
            restore_one_in: 40,
        }
    }

    /// Lets the machines work, apart and together, until they agree.
    pub fn run(self) -> Result<Outcome, FleetError> {
        let mut world = World::new(self);
        for partition in 0..self.n_partitions {
            world.part();
            for _ in 0..ROUNDS_APART {
                world.work()?;
            }
            world.heal();
            if partition == 0 {
                world.rotate()?;
            }
        }
        world.settle()
    }
}

impl World {
    fn new(fleet: Fleet) -> Self {
        let mut dice = Dice::new(fleet.seed);
        let vault = VaultId::from_random(dice.bytes());
        let keys = VaultKeys::founded(SyncKey::from_bytes(dice.bytes()));
        let mut machines: Vec<Machine> = (0..fleet.n_machines)
            .map(|_| Machine::joined(vault, keys.clone(), dice.draw()))
            .collect();
        for machine in &mut machines {
            // Most clocks are about right, some are years off.
            if dice.one_in(10) {
                let years = i64::try_from(dice.below(21)).unwrap_or(0) - 10;
                machine.skew_ms = years * YEAR_MS;
            }
        }
        let backups = machines.clone();
        let islands = vec![MemoryRemote::default()];
        Self { fleet, dice, now_ms: BEGINNING_MS, machines, backups, islands, n_troubles: 0 }
    }

    fn part(&mut self) {
        let whole = self.islands.pop().unwrap_or_default();
        let mut copy = whole.clone();
        copy.n_bytes_fetched = 0;
        self.islands = vec![copy; self.fleet.n_islands.saturating_sub(1)];
        self.islands.push(whole);
    }

    fn heal(&mut self) {
        let mut whole = self.islands.pop().unwrap_or_default();
        for island in self.islands.drain(..) {
            whole.merge(&island);
        }
        self.islands = vec![whole];
    }

    /// Has one machine make a new key, once it knows the others: whom it does not know would have
    /// to be invited again.
    fn rotate(&mut self) -> Result<(), FleetError> {
        let whole = Fleet { failure_one_in: 0, kill_one_in: 0, ..self.fleet };
        let unlucky = std::mem::replace(&mut self.fleet, whole);
        for index in (0..self.machines.len()).chain([0]) {
            self.exchange(index, 0)?;
        }
        self.fleet = unlucky;
        let now_ms = self.now_ms;
        if let Some(machine) = self.machines.first_mut() {
            machine.rotate(now_ms, &[]);
        }
        Ok(())
    }

    /// Every machine does something; about half of them exchange, each on its island.
    fn work(&mut self) -> Result<(), FleetError> {
        let n_rounds = self.fleet.n_partitions * ROUNDS_APART;
        for index in 0..self.machines.len() {
            self.now_ms += 1 + i64::try_from(self.dice.below(60_000)).unwrap_or(0);
            self.misfortune(index);
            let n_operations = self.fleet.n_operations;
            for turn in 0..n_operations.div_ceil(n_rounds) {
                // Spread evenly, where there are fewer operations than rounds.
                if n_operations >= n_rounds
                    || (turn == 0 && self.dice.below(n_rounds) < n_operations)
                {
                    self.act(index);
                }
            }
            if self.dice.one_in(2) {
                let island = index % self.islands.len().max(1);
                self.exchange(index, island)?;
            }
        }
        Ok(())
    }

    fn misfortune(&mut self, index: usize) {
        let (Some(machine), Some(backup)) =
            (self.machines.get_mut(index), self.backups.get_mut(index))
        else {
            return;
        };
        let one_in = self.fleet.restore_one_in;
        if one_in > 0 && self.dice.one_in(one_in) {
            machine.restore(backup, self.dice.draw());
        } else if one_in > 0 && self.dice.one_in(4) {
            *backup = machine.clone();
        }
    }

    fn act(&mut self, index: usize) {
        let n_known = u64::try_from(self.fleet.n_machines).unwrap_or(1) * self.fleet.n_operations;
        // Few enough that machines often mean the same memory.
        let number = self.dice.below(n_known / 2 + 1);
        let memory = Uuid::from_u64_pair(1, number);
        let name = format!("pin:{memory}");
        let words = format!("said by {index}, about {number}");
        let Some(machine) = self.machines.get_mut(index) else { return };
        match self.dice.below(20) {
            0..10 => machine.put(self.now_ms, memory, &words),
            10..14 => machine.set(self.now_ms, &name, vec![memory], Some(&words)),
            14 => machine.set(self.now_ms, &name, vec![memory], None),
            15..18 => {
                let knob = format!("profile:knob {}", number % 11);
                machine.set(self.now_ms, &knob, vec![], Some(&words));
            }
            _ => machine.forget(self.now_ms, memory),
        }
    }

    fn exchange(&mut self, index: usize, island: usize) -> Result<(), FleetError> {
        let (Some(machine), Some(remote)) =
            (self.machines.get_mut(index), self.islands.get_mut(island))
        else {
            return Ok(());
        };
        let one_in = self.fleet.kill_one_in;
        let is_killed = one_in > 0 && self.dice.one_in(one_in);
        let killed_at = is_killed.then(|| 1 + self.dice.below(KILL_STEPS));
        let mut luck = Luck { n_steps: 0, killed_at };
        let mut remote = Flaky { remote, dice: &mut self.dice, one_in: self.fleet.failure_one_in };
        match machine.exchange(&mut remote, &mut luck) {
            Ok(()) => Ok(()),
            Err(Trouble::Killed | Trouble::Remote(_)) => {
                self.n_troubles += 1;
                Ok(())
            }
            Err(disbelief) => Err(FleetError::Disbelieved(disbelief)),
        }
    }

    /// Lets everybody exchange until all are equal, without further misfortune.
    fn settle(mut self) -> Result<Outcome, FleetError> {
        self.fleet.failure_one_in = 0;
        self.fleet.kill_one_in = 0;
        for n_rounds in 1..=ROUNDS_MAX {
            for index in 0..self.machines.len() {
                self.exchange(index, 0)?;
            }
            let is_idle = self.machines.iter().all(Machine::is_idle);
            if is_idle && self.digests().len() == 1 {
                return self.outcome(n_rounds);
            }
        }
        Err(FleetError::Differ(self.digests().len()))
    }

    fn digests(&self) -> BTreeSet<[u8; 32]> {
        self.machines.iter().map(|machine| machine.replica().digest()).collect()
    }

    fn outcome(mut self, n_rounds: u32) -> Result<Outcome, FleetError> {
        let Some(first) = self.machines.first() else { return Err(FleetError::Wrong) };
        let mut truth = Replica::default();
        let done = self.machines.iter().flat_map(|machine| &machine.done);
        done.clone().for_each(|stamped| truth.apply(stamped));
        // What a store did after the copy that it was put back to is only partly known.
        if self.fleet.restore_one_in == 0 && truth != *first.replica() {
            return Err(FleetError::Wrong);
        }
        if self.machines.iter().any(|machine| !machine.withheld().is_empty()) {
            return Err(FleetError::Withheld);
        }
        let mut outcome = Outcome {
            n_operations: done.count(),
            n_entries: 0,
            n_erased: 0,
            n_bytes: 0,
            n_bytes_fetched: 0,
            n_troubles: self.n_troubles,
            n_names_lost: self.machines.iter().map(Machine::n_names_lost).sum(),
            n_memories: first.replica().memories().count(),
            n_rounds,
            digest: first.replica().digest(),
        };
        for remote in &mut self.islands {
            outcome.n_bytes_fetched += remote.n_bytes_fetched;
            for entry in remote.entries() {
                outcome.n_entries += 1;
                match &entry.payload {
                    Some(payload) => outcome.n_bytes += payload.len() as u64,
                    None => outcome.n_erased += 1,
                }
            }
        }
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixty_machines_with_every_misfortune_agree() {
        let outcome = Fleet::unlucky(60, 5, 1).run().unwrap();
        assert!(outcome.n_names_lost > 0 && outcome.n_troubles > 0, "{outcome:?}");
        assert!(outcome.n_erased > 0 && outcome.n_memories > 0, "{outcome:?}");
    }

    #[test]
    fn without_restored_copies_nothing_is_lost_and_nothing_is_added() {
        for seed in 1..=5 {
            let fleet = Fleet { restore_one_in: 0, ..Fleet::unlucky(10, 30, seed) };
            let outcome = fleet.run().unwrap();
            assert_eq!(outcome.n_names_lost, 0);
        }
    }

    #[test]
    fn small_fleets_agree_under_many_seeds() {
        for seed in 1..=20 {
            let fleet = Fleet { restore_one_in: 8, ..Fleet::unlucky(5, 30, seed) };
            fleet.run().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
    }
}
