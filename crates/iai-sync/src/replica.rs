//! What the operations of a vault make of a store, as plain maps: the model that the real store has
//! to agree with.
//!
//! Everything kept is a set that only grows, or the greatest of what was said under a name, so that
//! order and repetition make no difference. What is to be seen follows from it.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::operation::{Operation, Stamped};
use crate::stamp::Stamp;

/// Says whether a memory that was said with this stamp and body takes the place of the one that is
/// held: the earlier holds, of two that a forked machine stamped alike the lesser text.
pub fn put_outranks(said: (Stamp, &str), held: (Stamp, &str)) -> bool {
    said < held
}

/// Says whether a value that was set with this stamp and body takes the place of the one that is
/// held: the later holds, of two that a forked machine stamped alike the greater text, and any text
/// above none.
pub fn set_outranks(said: (Stamp, Option<&str>), held: (Stamp, Option<&str>)) -> bool {
    said > held
}

/// What a set is known by. A name says which memories it is about, so these are always the same; if
/// a faulty program says otherwise, they are two values instead of one that depends on the order.
type SetKey = (String, BTreeSet<Uuid>);

/// A store as a vault's log makes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replica {
    /// Memories that were said and not forgotten.
    puts: BTreeMap<Uuid, (Stamp, String)>,
    /// Values that are about no forgotten memory; none where one was taken back.
    sets: BTreeMap<SetKey, (Stamp, Option<String>)>,
    /// Memories that must not come back.
    forgotten: BTreeSet<Uuid>,
}

impl Replica {
    /// Makes an operation so. Hellos and rekeys are for [`crate::Members`], the entries that
    /// a forget names for [`crate::Withheld`].
    pub fn apply(&mut self, stamped: &Stamped) {
        let stamp = stamped.stamp;
        match &stamped.operation {
            Operation::Put { memory, body, .. } => self.put(*memory, stamp, body.get()),
            Operation::Set { name, of, body } => {
                let key = (name.clone(), of.iter().copied().collect());
                self.set(key, stamp, body.as_ref().map(|body| body.get()));
            }
            Operation::Forget { memory, .. } => self.forget(*memory),
            Operation::Hello { .. } | Operation::Rekey { .. } => {}
        }
    }

    /// Returns the memories, each with its line.
    pub fn memories(&self) -> impl Iterator<Item = (Uuid, &str)> {
        self.puts.iter().map(|(memory, (_, body))| (*memory, body.as_str()))
    }

    /// Returns the values that hold: set last, not taken back, all they are about is there.
    pub fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        let ready = self.sets.iter().filter(|(key, _)| self.is_ready(key));
        ready.filter_map(|((name, _), (_, body))| Some((name.as_str(), body.as_deref()?)))
    }

    /// Returns the names of values that wait for a memory.
    pub fn waiting(&self) -> impl Iterator<Item = &str> {
        let waiting = self.sets.iter().filter(|(key, _)| !self.is_ready(key));
        waiting.map(|((name, _), _)| name.as_str())
    }

    /// Says whether a memory must not come back.
    pub fn is_forgotten(&self, memory: Uuid) -> bool {
        self.forgotten.contains(&memory)
    }

    /// Returns the SHA-256 of everything that is kept: two replicas are equal when these are.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        for (memory, (stamp, body)) in &self.puts {
            part(&mut hash, b"put", &[memory.as_bytes(), &order(*stamp), body.as_bytes()]);
        }
        for ((name, of), (stamp, body)) in &self.sets {
            part(&mut hash, b"set", &[name.as_bytes(), &order(*stamp)]);
            part(
                &mut hash,
                b"of",
                &of.iter().map(|id| id.as_bytes().as_slice()).collect::<Vec<_>>(),
            );
            part(&mut hash, b"body", &body.iter().map(|body| body.as_bytes()).collect::<Vec<_>>());
        }
        for memory in &self.forgotten {
            part(&mut hash, b"forgotten", &[memory.as_bytes()]);
        }
        hash.finalize().into()
    }

    fn put(&mut self, memory: Uuid, stamp: Stamp, body: &str) {
        if self.is_forgotten(memory) {
            return;
        }
        let held = self.puts.get(&memory).map(|(stamp, body)| (*stamp, body.as_str()));
        if held.is_none_or(|held| put_outranks((stamp, body), held)) {
            self.puts.insert(memory, (stamp, body.to_owned()));
        }
    }

    fn set(&mut self, key: SetKey, stamp: Stamp, body: Option<&str>) {
        if key.1.iter().any(|memory| self.is_forgotten(*memory)) {
            return;
        }
        let held = self.sets.get(&key).map(|(stamp, body)| (*stamp, body.as_deref()));
        if held.is_none_or(|held| set_outranks((stamp, body), held)) {
            self.sets.insert(key, (stamp, body.map(str::to_owned)));
        }
    }

    fn forget(&mut self, memory: Uuid) {
        self.forgotten.insert(memory);
        self.puts.remove(&memory);
        self.sets.retain(|(_, of), _| !of.contains(&memory));
    }

    fn is_ready(&self, (_, of): &SetKey) -> bool {
        of.iter().all(|memory| self.puts.contains_key(memory))
    }
}

/// Adds named parts to a hash so that no two lists of parts look alike.
fn part(hash: &mut Sha256, name: &[u8], parts: &[&[u8]]) {
    for bytes in [name, &parts.len().to_le_bytes()].iter().chain(parts) {
        hash.update(bytes.len().to_le_bytes());
        hash.update(bytes);
    }
}

fn order(stamp: Stamp) -> [u8; 24] {
    let mut bytes = [0; 24];
    let parts = stamp.at.to_le_bytes().into_iter().chain(*stamp.by.as_bytes());
    for (place, byte) in bytes.iter_mut().zip(parts) {
        *place = byte;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;
    use crate::entry::EntryName;
    use crate::name::MachineId;
    use crate::simulation::Dice;

    const MEMORIES: u8 = 5;

    fn memory(number: u8) -> Uuid {
        Uuid::from_u64_pair(1, u64::from(number))
    }

    fn body(words: u8) -> Box<RawValue> {
        RawValue::from_string(format!("\"{words}\"")).unwrap()
    }

    /// Few of everything, and stamps that collide as they do after a fork.
    fn stamped() -> impl Strategy<Value = Stamped> {
        let stamp = (0..6_u64, 0..3_u8).prop_map(|(at, by)| Stamp {
            at: if at == 5 { u64::MAX } else { at },
            by: MachineId::from_bytes([by; 16]),
        });
        let put = (0..MEMORIES, 0..3_u8).prop_map(|(of, words)| Operation::Put {
            memory: memory(of),
            body: body(words),
            vectors: None,
        });
        let set =
            (0..3_u8, 0..MEMORIES, proptest::option::of(0..3_u8)).prop_map(|(kind, of, words)| {
                Operation::Set {
                    name: if kind == 0 { "identity".to_owned() } else { format!("pin:{of}") },
                    of: if kind == 0 { vec![] } else { vec![memory(of), memory(of / 2)] },
                    body: words.map(body),
                }
            });
        let forget = (0..MEMORIES).prop_map(|of| Operation::Forget {
            memory: memory(of),
            entries: vec![EntryName { machine: MachineId::from_bytes([of; 16]), counter: 1 }],
        });
        let operation = prop_oneof![4 => put, 4 => set, 1 => forget];
        (stamp, operation).prop_map(|(stamp, operation)| Stamped { stamp, operation })
    }

    fn replica<'a>(operations: impl IntoIterator<Item = &'a Stamped>) -> Replica {
        let mut replica = Replica::default();
        operations.into_iter().for_each(|stamped| replica.apply(stamped));
        replica
    }

    proptest! {
        #[test]
        fn any_order_and_any_repetition_make_the_same_store(
            operations in proptest::collection::vec(stamped(), 0..40), seed: u64,
        ) {
            let want = replica(&operations);
            let mut dice = Dice::new(seed);
            let mut drawn: Vec<&Stamped> = operations.iter().collect();
            for _ in 0..operations.len() {
                drawn.push(&operations[dice.index(operations.len())]);
            }
            for last in (1..drawn.len()).rev() {
                drawn.swap(last, dice.index(last + 1));
            }
            let got = replica(drawn);
            prop_assert_eq!(got.digest(), want.digest());
            prop_assert_eq!(got, want);
        }

        #[test]
        fn a_digest_tells_stores_apart(
            one in proptest::collection::vec(stamped(), 0..6),
            other in proptest::collection::vec(stamped(), 0..6),
        ) {
            let (one, other) = (replica(&one), replica(&other));
            prop_assert_eq!(one.digest() == other.digest(), one == other);
        }

        #[test]
        fn a_forget_wins_and_takes_along_what_was_about_it(
            operations in proptest::collection::vec(stamped(), 0..40),
        ) {
            let replica = replica(&operations);
            for stamped in &operations {
                let Operation::Forget { memory, .. } = stamped.operation else { continue };
                prop_assert!(replica.is_forgotten(memory));
                prop_assert!(replica.memories().all(|(kept, _)| kept != memory));
                prop_assert!(replica.sets.keys().all(|(_, of)| !of.contains(&memory)));
            }
        }
    }

    #[test]
    fn the_earlier_put_and_the_later_set_hold() {
        let said = |at, operation| Stamped {
            stamp: Stamp { at, by: MachineId::from_bytes([0; 16]) },
            operation,
        };
        let put = |at, words| {
            said(at, Operation::Put { memory: memory(0), body: body(words), vectors: None })
        };
        let set = |at, words: Option<u8>| {
            let (name, of) = ("pin:0".to_owned(), vec![memory(0)]);
            said(at, Operation::Set { name, of, body: words.map(body) })
        };
        let mut replica = replica(&[set(2, Some(7))]);
        assert_eq!(replica.waiting().collect::<Vec<_>>(), ["pin:0"]);
        assert_eq!(replica.values().count(), 0);
        replica.apply(&put(5, 1));
        replica.apply(&put(4, 2));
        replica.apply(&put(6, 3));
        assert_eq!(replica.memories().collect::<Vec<_>>(), [(memory(0), "\"2\"")]);
        assert_eq!(replica.values().collect::<Vec<_>>(), [("pin:0", "\"7\"")]);
        replica.apply(&set(9, None));
        replica.apply(&set(8, Some(8)));
        assert_eq!(replica.values().count(), 0, "what was taken back does not come back");
    }
}
