//! Payloads that are missing at a remote, and whether somebody forgot what was in them.

use std::collections::BTreeSet;

use crate::entry::EntryName;
use crate::operation::Operation;

/// Erased entries, less those that forgets name. What is left was withheld by the remote, or is
/// named by a forget that is still to be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Withheld {
    erased: BTreeSet<EntryName>,
    named: BTreeSet<EntryName>,
}

impl Withheld {
    /// Takes note of entries that came without a payload.
    pub fn erased(&mut self, names: impl IntoIterator<Item = EntryName>) {
        self.erased.extend(names);
    }

    /// Takes note of what a forget allows to be missing; other operations change nothing.
    pub fn apply(&mut self, operation: &Operation) {
        if let Operation::Forget { entries, .. } = operation {
            self.named.extend(entries.iter().copied());
        }
    }

    /// Takes back what a forget named that was never sent: under these names the remote keeps, or
    /// will keep, what somebody else wrote.
    pub fn take_back(&mut self, names: &BTreeSet<EntryName>) {
        self.named.retain(|name| !names.contains(name));
    }

    /// Says whether a forget named an entry.
    pub fn is_named(&self, name: &EntryName) -> bool {
        self.named.contains(name)
    }

    /// Returns what is missing and nobody has forgotten. Once every chain was read to its end, the
    /// remote has to answer for these.
    pub fn names(&self) -> impl Iterator<Item = EntryName> {
        self.erased.difference(&self.named).copied()
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::name::MachineId;

    #[test]
    fn what_was_forgotten_may_be_missing_whichever_is_heard_first() {
        let name = |counter| EntryName { machine: MachineId::from_bytes([1; 16]), counter };
        let forget = Operation::Forget { memory: Uuid::nil(), entries: vec![name(1), name(2)] };
        let mut withheld = Withheld::default();
        withheld.erased([name(1), name(3)]);
        assert_eq!(withheld.names().collect::<Vec<_>>(), [name(1), name(3)]);
        withheld.apply(&forget);
        withheld.erased([name(2)]);
        assert_eq!(withheld.names().collect::<Vec<_>>(), [name(3)]);
        withheld.take_back(&BTreeSet::from([name(2)]));
        assert_eq!(withheld.names().collect::<Vec<_>>(), [name(2), name(3)]);
    }
}
