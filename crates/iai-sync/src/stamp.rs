//! When something was done, in an order that every machine agrees on: a hybrid logical clock.

use serde::{Deserialize, Serialize};

use crate::name::MachineId;

/// Bits that count what happens within one millisecond.
const COUNT_BITS: u32 = 16;

/// A moment of a hybrid logical clock, and whose. Ordered by time, then by machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Milliseconds since 1970 and, in the lowest sixteen bits, a count within them.
    pub at: u64,
    /// Who did it.
    pub by: MachineId,
}

/// A clock that never goes back, whatever the machine's own does, and never stays behind what it has
/// seen of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    latest: u64,
    machine: MachineId,
}

impl Clock {
    /// Goes on from the latest moment a machine has given or seen.
    pub fn resumed(machine: MachineId, latest: u64) -> Self {
        Self { latest, machine }
    }

    /// Gives the next moment. `now_ms` is what the machine's own clock says.
    pub fn tick(&mut self, now_ms: i64) -> Stamp {
        let physical = u64::try_from(now_ms).unwrap_or(0).saturating_mul(1 << COUNT_BITS);
        self.latest = physical.max(self.latest.saturating_add(1));
        Stamp { at: self.latest, by: self.machine }
    }

    /// Takes note of a moment that another machine gave.
    pub fn see(&mut self, stamp: Stamp) {
        self.latest = self.latest.max(stamp.at);
    }

    /// Returns the latest moment given or seen, to be kept.
    pub fn latest(&self) -> u64 {
        self.latest
    }
}
