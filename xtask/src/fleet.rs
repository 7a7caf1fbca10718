//! Runs the simulated fleet of `iai-sync` and prints what agreeing took.

use std::time::Duration;

use crate::{process, repository};

const DEADLINE: Duration = Duration::from_mins(60);

/// How many machines, how much each does, and by which chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fleet {
    n_machines: u32,
    n_operations: u32,
    seed: u64,
}

impl Fleet {
    pub(crate) fn parse(words: &[&str]) -> Option<Self> {
        let mut fleet = Self { n_machines: 1000, n_operations: 3, seed: 1 };
        for pair in words.chunks(2) {
            match pair {
                ["--machines", n] => fleet.n_machines = n.parse().ok().filter(|n| *n > 1)?,
                ["--operations", n] => fleet.n_operations = n.parse().ok().filter(|n| *n > 0)?,
                ["--seed", n] => fleet.seed = n.parse().ok()?,
                _ => return None,
            }
        }
        Some(fleet)
    }
}

pub(crate) fn run(fleet: Fleet) -> Result<(), String> {
    let mut cargo = repository::cargo(&["run", "--release", "--locked", "-p", "iai-sync"]);
    cargo.args(["--features", "simulation", "--example", "fleet", "--"]);
    cargo.arg(fleet.n_machines.to_string()).arg(fleet.n_operations.to_string());
    cargo.arg(fleet.seed.to_string());
    let finished = process::finish(cargo, DEADLINE)?;
    finished.status.success().then_some(()).ok_or("the fleet did not agree; see above".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_how_many_and_by_which_chance() {
        let usual = Fleet { n_machines: 1000, n_operations: 3, seed: 1 };
        let words = ["--machines", "60", "--operations", "9", "--seed", "7"];
        let given = Fleet { n_machines: 60, n_operations: 9, seed: 7 };
        assert_eq!(Fleet::parse(&[]), Some(usual));
        assert_eq!(Fleet::parse(&words), Some(given));
        assert_eq!(Fleet::parse(&["--machines", "1"]), None);
        assert_eq!(Fleet::parse(&["--machines"]), None);
    }
}
