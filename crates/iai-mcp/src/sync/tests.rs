//! What every remote has to do alike, whatever it keeps entries in.

mod cluster;
mod folder;
mod postgres;

use std::time::{Duration, Instant};

use iai_sync::{Appended, Entry, EntryName, Head, MachineId, Remote, RemoteError, VaultId};
use sha2::{Digest as _, Sha256};

/// More than anything here holds.
const NO_LIMIT: usize = usize::MAX >> 1;

fn random() -> [u8; 16] {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).unwrap();
    bytes
}

fn new_vault() -> VaultId {
    VaultId::from_random(random())
}

fn new_machine() -> MachineId {
    MachineId::from_random(random())
}

/// Makes a chain of entries, each with a payload of its own of `n_bytes`.
fn chain(vault: VaultId, machine: MachineId, n: u64, n_bytes: usize) -> Vec<Entry> {
    continued(vault, machine, &[], n, n_bytes)
}

/// Makes `n` entries that follow others.
fn continued(
    vault: VaultId,
    machine: MachineId,
    before: &[Entry],
    n: u64,
    n_bytes: usize,
) -> Vec<Entry> {
    let mut previous = before.last().map_or([0; 32], |last| last.hash(vault));
    let first = before.last().map_or(1, |last| last.name.counter + 1);
    let mut entries = Vec::new();
    for counter in first..first + n {
        let payload: Vec<u8> = random().into_iter().cycle().take(n_bytes).collect();
        let entry = Entry {
            name: EntryName { machine, counter },
            epoch: 1,
            previous,
            digest: Sha256::digest(&payload).into(),
            payload: Some(payload),
        };
        previous = entry.hash(vault);
        entries.push(entry);
    }
    entries
}

fn read_all(remote: &mut dyn Remote, vault: VaultId, machine: MachineId) -> Vec<Entry> {
    let mut all = Vec::new();
    loop {
        let page = remote.fetch(vault, machine, all.len() as u64, 100_000).unwrap();
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}

fn without_payload(entry: &Entry) -> Entry {
    Entry { payload: None, ..entry.clone() }
}

/// Tries everything on a place that was prepared for `vault`.
fn behaves_like_a_remote(remote: &mut dyn Remote, vault: VaultId) {
    assert_eq!(remote.heads(vault).unwrap(), []);
    assert_eq!(remote.fetch(vault, new_machine(), 0, NO_LIMIT).unwrap(), []);
    assert_eq!(remote.append(vault, &[]).unwrap(), Appended::Kept);
    keeps_what_it_was_given(remote, vault);
    notices_forks(remote, vault);
    erases(remote, vault);
    hands_invitations_out_once(remote);
}

fn keeps_what_it_was_given(remote: &mut dyn Remote, vault: VaultId) {
    let (one, other) = (new_machine(), new_machine());
    let (first, second) = (chain(vault, one, 30, 100), chain(vault, other, 3, 0));
    // In parts, the parts twice, and overlapping.
    for part in [0..10, 0..10, 5..20, 20..30, 0..30] {
        assert_eq!(remote.append(vault, &first[part]).unwrap(), Appended::Kept);
    }
    assert_eq!(remote.append(vault, &second).unwrap(), Appended::Kept);
    let mut heads = remote.heads(vault).unwrap();
    heads.sort_by_key(|head| head.counter);
    let want = [Head { machine: other, counter: 3 }, Head { machine: one, counter: 30 }];
    assert_eq!(heads, want);
    assert_eq!(remote.fetch(vault, one, 0, NO_LIMIT).unwrap(), first);
    assert_eq!(remote.fetch(vault, other, 0, NO_LIMIT).unwrap(), second);
    assert_eq!(remote.fetch(vault, one, 29, NO_LIMIT).unwrap(), first[29..]);
    assert_eq!(remote.fetch(vault, one, 30, NO_LIMIT).unwrap(), []);
    // At most so many bytes, but at least one entry.
    assert_eq!(remote.fetch(vault, one, 7, 250).unwrap(), first[7..9]);
    assert_eq!(remote.fetch(vault, one, 7, 300).unwrap(), first[7..10]);
    assert_eq!(remote.fetch(vault, one, 7, 0).unwrap(), first[7..8]);
    // Another vault is another log.
    assert_eq!(remote.fetch(new_vault(), one, 0, NO_LIMIT).unwrap(), []);
    let foreign = new_vault();
    let refused = remote.append(foreign, &chain(foreign, one, 1, 1)).unwrap_err();
    assert!(matches!(refused, RemoteError::Refused(_)), "{refused}");
    // What does not follow is not kept.
    let lost = continued(vault, one, &continued(vault, one, &first, 5, 9), 1, 9);
    let gap = remote.append(vault, &lost).unwrap_err();
    assert!(matches!(&gap, RemoteError::Damaged(told) if told.contains("up to 30")), "{gap}");
    let mixed = [first[0].clone(), second[1].clone()];
    let mixed = remote.append(vault, &mixed).unwrap_err();
    assert!(matches!(mixed, RemoteError::Refused(_)), "{mixed}");
}

fn notices_forks(remote: &mut dyn Remote, vault: VaultId) {
    let machine = new_machine();
    let whole = chain(vault, machine, 10, 50);
    assert_eq!(remote.append(vault, &whole).unwrap(), Appended::Kept);
    // An older copy goes on from the sixth entry.
    let copy = continued(vault, machine, &whole[..6], 2, 50);
    let forked = |counter| Appended::Forked(EntryName { machine, counter });
    assert_eq!(remote.append(vault, &copy).unwrap(), forked(7));
    // The copy believes that it has sent as much, or more.
    let longer = continued(vault, machine, &whole[..6], 6, 50);
    assert_eq!(remote.append(vault, &longer[4..5]).unwrap(), forked(10));
    assert_eq!(remote.append(vault, &longer[3..]).unwrap(), forked(10));
    assert_eq!(read_all(remote, vault, machine), whole);
}

fn erases(remote: &mut dyn Remote, vault: VaultId) {
    let machine = new_machine();
    let mut whole = chain(vault, machine, 12, 80);
    assert_eq!(remote.append(vault, &whole[..8]).unwrap(), Appended::Kept);
    assert_eq!(remote.append(vault, &whole[8..]).unwrap(), Appended::Kept);
    let names: Vec<EntryName> = [3, 4, 9].map(|at| whole[at].name).to_vec();
    remote.erase(vault, &names).unwrap();
    remote.erase(vault, &names).unwrap();
    remote.erase(vault, &[EntryName { machine: new_machine(), counter: 1 }]).unwrap();
    let sent = whole.clone();
    for at in [3, 4, 9] {
        whole[at] = without_payload(&whole[at]);
    }
    assert_eq!(read_all(remote, vault, machine), whole);
    // What was erased stays so, even when it is sent once more.
    assert_eq!(remote.append(vault, &sent).unwrap(), Appended::Kept);
    assert_eq!(read_all(remote, vault, machine), whole);
    // Erased before it was sent.
    let next = continued(vault, machine, &whole, 2, 8);
    let next = [without_payload(&next[0]), next[1].clone()];
    assert_eq!(remote.append(vault, &next).unwrap(), Appended::Kept);
    assert_eq!(remote.fetch(vault, machine, 12, NO_LIMIT).unwrap(), next);
}

fn hands_invitations_out_once(remote: &mut dyn Remote) {
    let far = i64::MAX;
    remote.put_invitation("one", b"first", far).unwrap();
    remote.put_invitation("one", b"second", far).unwrap();
    remote.put_invitation("late", b"x", 1_000).unwrap();
    assert_eq!(remote.take_invitation("none", 5).unwrap(), None);
    assert_eq!(remote.take_invitation("late", 1_000).unwrap(), None);
    assert_eq!(remote.take_invitation("one", 5).unwrap().as_deref(), Some(&b"second"[..]));
    assert_eq!(remote.take_invitation("one", 5).unwrap(), None);
    // Whoever leaves one drops those that have expired.
    remote.put_invitation("old", b"x", 1_000).unwrap();
    remote.put_invitation("new", b"y", far).unwrap();
    assert_eq!(remote.take_invitation("old", 5).unwrap(), None);
    assert!(remote.take_invitation("new", 5).unwrap().is_some());
}

/// A waiter comes back long before its time when somebody else appends.
fn wakes_a_waiter(waiter: &mut dyn Remote, writer: &mut dyn Remote, vault: VaultId) {
    const LONG: Duration = Duration::from_secs(15);
    let machine = new_machine();
    waiter.heads(vault).unwrap();
    // The first time whatever came before may be news.
    waiter.wait(Duration::ZERO).unwrap();
    let mut all: Vec<Entry> = Vec::new();
    for _ in 0..2 {
        let next = continued(vault, machine, &all, 1, 10);
        assert_eq!(writer.append(vault, &next).unwrap(), Appended::Kept);
        all.extend(next);
        let begun = Instant::now();
        while read_all(waiter, vault, machine) != all {
            waiter.wait(LONG).unwrap();
        }
        assert!(begun.elapsed() < LONG, "nobody told");
    }
}
