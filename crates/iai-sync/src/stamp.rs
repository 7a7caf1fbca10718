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

/// A clock that never goes back, whatever the machine's own does, and never stays behind what it
/// has seen of others.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(byte: u8) -> MachineId {
        MachineId::from_bytes([byte; 16])
    }

    #[test]
    fn a_clock_goes_on_whatever_the_machines_own_does() {
        let mut clock = Clock::resumed(machine(1), 0);
        let times = [1000, 1000, 5, -7, 1001, i64::MAX, 3];
        let stamps: Vec<Stamp> = times.iter().map(|now_ms| clock.tick(*now_ms)).collect();
        assert!(stamps.windows(2).all(|pair| pair[0] < pair[1] || pair[1].at == u64::MAX));
        assert_eq!(stamps[0].at, 1000 << COUNT_BITS);
        assert_eq!(Clock::resumed(machine(1), clock.latest()), clock);
    }

    #[test]
    fn a_clock_years_ahead_locks_nobody_out() {
        let mut ahead = Clock::resumed(machine(1), 0);
        let mut behind = Clock::resumed(machine(2), 0);
        let seen = ahead.tick(10_000_000_000_000);
        behind.see(seen);
        assert!(behind.tick(1_000_000_000_000) > seen);
    }
}
