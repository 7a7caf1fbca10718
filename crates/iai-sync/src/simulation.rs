//! Machines, remotes and chance made up in memory: the same code that runs for real, under every
//! misfortune a seed can draw.

mod dice;
mod fleet;
mod machine;
mod remotes;
#[cfg(test)]
mod trials;

pub use dice::Dice;
pub use fleet::{Fleet, FleetError, Outcome};
pub use machine::{Luck, Machine, Trouble};
pub use remotes::{Flaky, MemoryRemote};
