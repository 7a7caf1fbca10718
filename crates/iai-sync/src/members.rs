//! Who belongs to a vault, as the hellos and rekeys in its log say.
//!
//! Like everything in the log it does not depend on the order in which operations come.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use crate::entry::EntryName;
use crate::name::MachineId;
use crate::operation::{Operation, Stamped};
use crate::stamp::Stamp;

/// A machine, as it introduced itself last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// What people call it.
    pub name: String,
    /// What others seal new keys to.
    pub public_key: String,
    since: Stamp,
}

/// A new key that was made, by whom and for whom.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Rotation {
    at: Stamp,
    staying: BTreeSet<MachineId>,
    revoked: BTreeMap<MachineId, u64>,
}

/// Why an entry is followed but not applied.
#[derive(Debug, Clone, Copy, Error, PartialEq, Eq)]
pub enum Refused {
    /// Its machine is out, and the entry is beyond the last that counts.
    #[error("written by a machine after it was revoked")]
    Revoked,
    /// It is sealed with a key that was replaced by somebody who knew nothing of its machine.
    #[error("sealed with a replaced key by a machine that got no new one: invite it again")]
    Stranger,
}

/// The machines of a vault.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Members {
    hellos: BTreeMap<MachineId, Member>,
    rotations: BTreeMap<u32, BTreeSet<Rotation>>,
}

impl Members {
    /// Takes note of a hello or a rekey that `by` wrote; other operations change nothing.
    pub fn apply(&mut self, by: MachineId, stamped: &Stamped) {
        let at = stamped.stamp;
        match &stamped.operation {
            Operation::Hello { name, public_key } => {
                let said = Member { name: name.clone(), public_key: public_key.clone(), since: at };
                let held = self.hellos.entry(by).or_insert_with(|| said.clone());
                if (said.since, &said.name, &said.public_key)
                    > (held.since, &held.name, &held.public_key)
                {
                    *held = said;
                }
            }
            Operation::Rekey { epoch, boxes, revoked } => {
                let staying = boxes.iter().map(|(machine, _)| *machine).collect();
                let revoked = revoked.iter().map(|last| (last.machine, last.counter)).collect();
                let rotation = Rotation { at, staying, revoked };
                self.rotations.entry(*epoch).or_default().insert(rotation);
            }
            Operation::Put { .. } | Operation::Set { .. } | Operation::Forget { .. } => {}
        }
    }

    /// Says whether an entry counts.
    pub fn check(&self, name: EntryName, epoch: u32) -> Result<(), Refused> {
        if self.last_counted(name.machine).is_some_and(|last| name.counter > last) {
            return Err(Refused::Revoked);
        }
        let later = self.rotations.range(epoch.saturating_add(1)..).flat_map(|(_, made)| made);
        let is_known = |rotation: &Rotation| {
            rotation.staying.contains(&name.machine) || rotation.revoked.contains_key(&name.machine)
        };
        if later.into_iter().all(is_known) { Ok(()) } else { Err(Refused::Stranger) }
    }

    /// Returns the last entry of a revoked machine that counts; none of a machine that is in.
    pub fn last_counted(&self, machine: MachineId) -> Option<u64> {
        let rotations = self.rotations.values().flatten();
        rotations.filter_map(|rotation| rotation.revoked.get(&machine).copied()).min()
    }

    /// Returns the machines that are in, each with what it is called and its public key.
    pub fn present(&self) -> impl Iterator<Item = (MachineId, &Member)> {
        let members = self.hellos.iter().map(|(machine, member)| (*machine, member));
        members.filter(|(machine, _)| self.last_counted(*machine).is_none())
    }

    /// Returns what a machine is called, in or out.
    pub fn get(&self, machine: MachineId) -> Option<&Member> {
        self.hellos.get(&machine)
    }

    /// Returns who has to make another key: two were made apart for the last epoch, and a machine
    /// that one of them left out has got the other. It is the earlier maker that is still in.
    pub fn must_rotate(&self) -> Option<MachineId> {
        let (_, made) = self.rotations.last_key_value()?;
        let given: BTreeSet<MachineId> =
            made.iter().flat_map(|rotation| rotation.staying.iter().copied()).collect();
        given.iter().find(|machine| self.last_counted(**machine).is_some())?;
        let makers = made.iter().map(|rotation| rotation.at.by);
        let staying = given.iter().copied();
        makers.chain(staying).find(|machine| self.last_counted(*machine).is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(byte: u8) -> MachineId {
        MachineId::from_bytes([byte; 16])
    }

    fn hello(by: u8) -> (MachineId, Stamped) {
        let operation = Operation::Hello { name: by.to_string(), public_key: String::new() };
        (machine(by), Stamped { stamp: Stamp { at: 1, by: machine(by) }, operation })
    }

    fn rekey(
        by: u8,
        at: u64,
        epoch: u32,
        staying: &[u8],
        out: &[(u8, u64)],
    ) -> (MachineId, Stamped) {
        let boxes = staying.iter().map(|byte| (machine(*byte), String::new())).collect();
        let last =
            |(byte, counter): &(u8, u64)| EntryName { machine: machine(*byte), counter: *counter };
        let operation = Operation::Rekey { epoch, boxes, revoked: out.iter().map(last).collect() };
        (machine(by), Stamped { stamp: Stamp { at, by: machine(by) }, operation })
    }

    fn members(said: &[(MachineId, Stamped)]) -> Members {
        let mut members = Members::default();
        said.iter().for_each(|(by, stamped)| members.apply(*by, stamped));
        let mut reversed = Members::default();
        said.iter().rev().for_each(|(by, stamped)| reversed.apply(*by, stamped));
        assert_eq!(members, reversed, "order makes no difference");
        members
    }

    #[test]
    fn entries_count_by_who_stayed_and_until_when() {
        let members = members(&[hello(1), hello(2), hello(3), rekey(1, 2, 2, &[1, 2], &[(3, 7)])]);
        let check = |byte, counter, epoch| {
            members.check(EntryName { machine: machine(byte), counter }, epoch)
        };
        assert_eq!(check(1, 99, 1), Ok(()));
        assert_eq!(check(2, 99, 1), Ok(()), "it may not have heard of the new key yet");
        assert_eq!(check(3, 7, 1), Ok(()));
        assert_eq!(check(3, 8, 1), Err(Refused::Revoked));
        assert_eq!(check(3, 8, 2), Err(Refused::Revoked));
        assert_eq!(check(4, 1, 1), Err(Refused::Stranger), "made up with the old key");
        assert_eq!(check(4, 1, 2), Ok(()), "invited since");
        let present: Vec<MachineId> = members.present().map(|(machine, _)| machine).collect();
        assert_eq!(present, [machine(1), machine(2)]);
        assert_eq!(members.get(machine(3)).unwrap().name, "3");
        assert_eq!(members.must_rotate(), None);
    }

    #[test]
    fn two_who_put_out_different_machines_need_a_third_key() {
        let first = rekey(1, 2, 2, &[1, 2, 4], &[(3, 7)]);
        let second = rekey(2, 3, 2, &[1, 2, 3], &[(4, 5)]);
        let mut said = vec![hello(1), hello(2), hello(3), hello(4), first, second];
        assert_eq!(members(&said).must_rotate(), Some(machine(1)));
        said.push(rekey(1, 9, 3, &[1, 2], &[(3, 7), (4, 5)]));
        assert_eq!(members(&said).must_rotate(), None);
        let mutual = [rekey(1, 2, 2, &[1, 3], &[(2, 7)]), rekey(2, 3, 2, &[2, 3], &[(1, 5)])];
        assert_eq!(members(&mutual).must_rotate(), Some(machine(3)));
    }
}
