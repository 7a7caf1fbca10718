//! Two or three machines in every predicament that has a name.

use proptest::prelude::*;
use uuid::Uuid;

use super::{Flaky, Luck, Machine, MemoryRemote, Trouble};
use crate::chain::ChainError;
use crate::entry::{Entry, EntryName};
use crate::keys::{SyncKey, VaultKeys};
use crate::name::VaultId;
use crate::seal::OpenError;
use crate::simulation::Dice;

const YEAR_MS: i64 = 365 * 24 * 3_600_000;

fn vault() -> VaultId {
    VaultId::from_bytes([1; 16])
}

fn machine(seed: u64) -> Machine {
    Machine::joined(vault(), VaultKeys::founded(SyncKey::from_bytes([2; 32])), seed)
}

fn memory(number: u64) -> Uuid {
    Uuid::from_u64_pair(1, number)
}

fn exchange(machine: &mut Machine, remote: &mut MemoryRemote) {
    machine.exchange(remote, &mut Luck::default()).unwrap();
}

/// Lets all exchange until nothing is left to say.
fn settle(machines: &mut [Machine], remote: &mut MemoryRemote) {
    for _ in 0..4 {
        machines.iter_mut().for_each(|machine| exchange(machine, remote));
    }
    assert!(machines.iter().all(Machine::is_idle));
    for machine in machines.iter() {
        assert_eq!(machine.replica(), machines[0].replica());
        assert_eq!(machine.withheld(), []);
    }
}

fn work(machine: &mut Machine, now_ms: i64, first: u64) {
    machine.put(now_ms, memory(first), "words");
    machine.put(now_ms, memory(first + 1), "other words");
    machine.set(now_ms, "profile:knob", vec![], Some("mine"));
    machine.forget(now_ms, memory(first + 1));
}

#[test]
fn a_kill_at_every_step_costs_nothing() {
    // Whose exchange is killed: one that sends and forgets, or one that receives and answers.
    for victim in [0, 1] {
        let run = |killed_at: Option<u64>| {
            let mut remote = MemoryRemote::default();
            let mut machines = [machine(1), machine(2)];
            machines[1].put(1000, memory(1), "also said here");
            exchange(&mut machines[1], &mut remote);
            work(&mut machines[0], 2000, 0);
            if victim == 1 {
                exchange(&mut machines[0], &mut remote);
            }
            let mut luck = Luck { n_steps: 0, killed_at };
            let killed = machines[victim].exchange(&mut remote, &mut luck);
            assert_eq!(killed.is_err(), killed_at.is_some());
            settle(&mut machines, &mut remote);
            let entries = remote.entries().count();
            let erased = remote.entries().filter(|entry| entry.payload.is_none()).count();
            (luck.n_steps, entries, erased, machines[0].replica().digest())
        };
        let (n_steps, entries, erased, digest) = run(None);
        assert!(n_steps > 5 && erased == 2, "{n_steps} steps, {erased} erased");
        for step in 1..=n_steps {
            let (_, entries_after, erased_after, digest_after) = run(Some(step));
            assert_eq!((entries_after, erased_after), (entries, erased), "killed at step {step}");
            assert_eq!(digest_after, digest, "killed at step {step}");
        }
    }
}

#[test]
fn a_restored_backup_takes_a_new_name_and_loses_nothing_that_was_sent() {
    let mut remote = MemoryRemote::default();
    let mut machines = [machine(1), machine(2)];
    work(&mut machines[0], 1000, 0);
    settle(&mut machines, &mut remote);
    let backup = machines[0].clone();
    machines[0].put(2000, memory(10), "after the backup");
    settle(&mut machines, &mut remote);
    let before = machines[0].id();
    machines[0].restore(&backup, 99);
    machines[0].put(2000, memory(11), "after the restore");
    settle(&mut machines, &mut remote);
    assert_ne!(machines[0].id(), before);
    let kept: Vec<Uuid> = machines[1].replica().memories().map(|(memory, _)| memory).collect();
    assert_eq!(kept, [memory(0), memory(10), memory(11)]);
}

#[test]
fn a_copied_home_and_its_original_both_go_on() {
    let mut remote = MemoryRemote::default();
    let mut machines = vec![machine(1), machine(2)];
    settle(&mut machines, &mut remote);
    let mut copy = machines[0].clone();
    copy.restore(&machines[0].clone(), 77);
    machines.push(copy);
    for (number, machine) in machines.iter_mut().enumerate() {
        machine.put(5000, memory(number as u64), "apart");
        // A forget names the entry that carried it: under a lost name it must not hit another's.
        machine.put(5000, memory(10 + number as u64), "to be forgotten");
        machine.forget(5000, memory(10 + number as u64));
    }
    settle(&mut machines, &mut remote);
    assert_eq!(machines[0].replica().memories().count(), 3);
    assert_ne!(machines[0].id(), machines[2].id());
}

#[test]
fn clocks_years_apart_do_not_decide_for_ever() {
    let mut remote = MemoryRemote::default();
    let mut machines = [machine(1), machine(2)];
    machines[0].skew_ms = 30 * YEAR_MS;
    machines[1].skew_ms = -30 * YEAR_MS;
    machines[0].set(YEAR_MS * 50, "profile:knob", vec![], Some("ahead"));
    settle(&mut machines, &mut remote);
    machines[1].set(YEAR_MS * 50, "profile:knob", vec![], Some("behind, but later"));
    settle(&mut machines, &mut remote);
    let values: Vec<(&str, &str)> = machines[0].replica().values().collect();
    assert_eq!(values, [("profile:knob", "\"behind, but later\"")]);
}

#[test]
fn a_revoked_machine_is_heard_no_more_and_hears_no_more() {
    let mut remote = MemoryRemote::default();
    let mut machines = vec![machine(1), machine(2), machine(3)];
    machines[2].put(1000, memory(2), "while it was in");
    settle(&mut machines, &mut remote);
    let mut out = machines.pop().unwrap();
    machines[0].rotate(2000, &[out.id()]);
    settle(&mut machines, &mut remote);
    machines[1].put(3000, memory(3), "under the new key");
    settle(&mut machines, &mut remote);
    out.put(3000, memory(4), "too late");
    exchange(&mut out, &mut remote);
    settle(&mut machines, &mut remote);
    let kept: Vec<Uuid> = machines[0].replica().memories().map(|(memory, _)| memory).collect();
    assert_eq!(kept, [memory(2), memory(3)]);
    assert!(out.replica().memories().all(|(kept, _)| kept != memory(3)), "it has no key for it");
    // With the old key it can still make up a machine. Nobody who heard of the new one listens.
    let mut made_up = machine(66);
    made_up.put(4000, memory(5), "made up");
    exchange(&mut made_up, &mut remote);
    settle(&mut machines, &mut remote);
    assert!(machines[0].replica().memories().all(|(kept, _)| kept != memory(5)));
}

#[test]
fn what_was_heard_before_a_revocation_reaches_all() {
    let mut remote = MemoryRemote::default();
    let mut machines = vec![machine(1), machine(2), machine(3)];
    settle(&mut machines, &mut remote);
    // The revoker has not heard the last words, another has.
    machines[2].put(1000, memory(2), "last words");
    let mut out = machines.pop().unwrap();
    exchange(&mut out, &mut remote);
    exchange(&mut machines[1], &mut remote);
    machines[0].rotate(2000, &[out.id()]);
    settle(&mut machines, &mut remote);
    assert_eq!(machines[0].replica().memories().count(), 1);
}

/// Lets a remote do something to the chain of one machine and returns what another notices.
fn noticed(tamper: impl FnOnce(&mut Vec<Entry>)) -> Result<Vec<EntryName>, Trouble> {
    let mut remote = MemoryRemote::default();
    let (mut writer, mut reader) = (machine(1), machine(2));
    writer.put(1000, memory(0), "first");
    exchange(&mut writer, &mut remote);
    exchange(&mut reader, &mut remote);
    writer.put(2000, memory(1), "second");
    writer.put(2000, memory(2), "third");
    exchange(&mut writer, &mut remote);
    tamper(remote.chain(vault(), writer.id()));
    reader.exchange(&mut remote, &mut Luck::default())?;
    Ok(reader.withheld())
}

#[test]
fn a_remote_that_is_not_honest_is_found_out() {
    let name = |counter| EntryName { machine: machine(1).id(), counter };
    let chain_error = |tamper: &dyn Fn(&mut Vec<Entry>)| match noticed(tamper) {
        Err(Trouble::Chain(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(noticed(|_| ()).unwrap(), []);
    assert_eq!(noticed(|chain| chain[2].payload = None).unwrap(), [name(3)], "withheld");
    let shorter = chain_error(&|chain| chain.truncate(1));
    assert!(matches!(shorter, ChainError::Shorter { known: 2, found: 1, .. }));
    let reordered = chain_error(&|chain| chain.swap(2, 3));
    assert_eq!(reordered, ChainError::Reordered(name(4)));
    let gap = chain_error(&|chain| drop(chain.remove(2)));
    assert!(matches!(gap, ChainError::Gap { expected: 3, found: 4, .. }));
    let replayed = chain_error(&|chain| chain[2] = chain[1].clone());
    assert_eq!(replayed, ChainError::Reordered(name(2)));
    let altered = chain_error(&|chain| chain[2].payload.as_mut().unwrap()[50] ^= 1);
    assert_eq!(altered, ChainError::Altered(name(3)));
}

#[test]
fn a_remote_that_makes_its_chains_fit_is_found_out_by_the_seal() {
    let rechain = |chain: &mut Vec<Entry>| {
        for index in 1..chain.len() {
            chain[index].previous = chain[index - 1].hash(vault());
            if let Some(payload) = &chain[index].payload {
                chain[index].digest = Entry::digest_of(payload);
            }
        }
    };
    let altered = noticed(|chain| {
        chain[2].payload.as_mut().unwrap()[50] ^= 1;
        rechain(chain);
    });
    let third = EntryName { machine: machine(1).id(), counter: 3 };
    assert!(matches!(altered, Err(Trouble::Payload(name, OpenError::Forged)) if name == third));
    // An old entry with a new number: its seal is of the place it had.
    let replayed = noticed(|chain| {
        chain[2].payload = chain[1].payload.clone();
        rechain(chain);
    });
    assert!(matches!(replayed, Err(Trouble::Payload(_, OpenError::Forged))));
    // An exchanged entry that is said to be erased: the next one was sealed after another.
    let exchanged = noticed(|chain| {
        chain[2].payload = None;
        chain[2].digest = [0; 32];
        rechain(chain);
    });
    assert!(matches!(exchanged, Err(Trouble::Payload(_, OpenError::Forged))));
}

#[test]
fn entries_of_another_vault_do_not_open() {
    let mut remote = MemoryRemote::default();
    let elsewhere = VaultId::from_bytes([9; 16]);
    let keys = VaultKeys::founded(SyncKey::from_bytes([2; 32]));
    let mut writer = Machine::joined(elsewhere, keys, 1);
    exchange(&mut writer, &mut remote);
    let chain = remote.chain(elsewhere, writer.id()).clone();
    *remote.chain(vault(), writer.id()) = chain;
    let error = machine(2).exchange(&mut remote, &mut Luck::default()).unwrap_err();
    assert!(matches!(error, Trouble::Payload(_, OpenError::Forged)), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn parted_machines_agree_when_they_meet(
        turns in proptest::collection::vec((0..3_usize, 0..8_u8, 0..6_u64), 0..40),
        skews in proptest::array::uniform3(-20..20_i64),
        seed: u64,
    ) {
        let mut dice = Dice::new(seed);
        let mut remote = MemoryRemote::default();
        let mut machines = [machine(1), machine(2), machine(3)];
        for (machine, years) in machines.iter_mut().zip(skews) {
            machine.skew_ms = years * YEAR_MS;
        }
        for (now_ms, (index, what, number)) in (YEAR_MS * 56..).zip(turns) {
            let machine = &mut machines[index];
            let pin = format!("pin:{number}");
            match what {
                0 | 1 => machine.put(now_ms, memory(number), &format!("{index}")),
                2 => machine.set(now_ms, &pin, vec![memory(number)], Some("pinned")),
                3 => machine.set(now_ms, &pin, vec![memory(number)], None),
                4 => machine.forget(now_ms, memory(number)),
                _ => {
                    let mut line = Flaky { remote: &mut remote, dice: &mut dice, one_in: 6 };
                    let outcome = machine.exchange(&mut line, &mut Luck::default());
                    prop_assert!(matches!(outcome, Ok(()) | Err(Trouble::Remote(_))));
                }
            }
        }
        settle(&mut machines, &mut remote);
    }
}
