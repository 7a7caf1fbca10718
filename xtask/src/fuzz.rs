//! Runs every fuzz target for longer than a test does.

use std::time::Duration;

use crate::{process, repository};

const DEADLINE: Duration = Duration::from_hours(24);

/// How much, and which chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fuzz {
    n_runs: u64,
    seed: u64,
}

impl Fuzz {
    pub(crate) fn parse(words: &[&str]) -> Option<Self> {
        let mut fuzz = Self { n_runs: 20_000, seed: 1 };
        for pair in words.chunks(2) {
            match pair {
                ["--runs", n] => fuzz.n_runs = n.parse().ok().filter(|n| *n > 0)?,
                ["--seed", n] => fuzz.seed = n.parse().ok()?,
                _ => return None,
            }
        }
        Some(fuzz)
    }
}

pub(crate) fn run(fuzz: Fuzz) -> Result<(), String> {
    let mut cargo = repository::cargo(&["test", "--workspace", "--locked", "fuzz"]);
    cargo.env("IAI_FUZZ_RUNS", fuzz.n_runs.to_string()).env("IAI_FUZZ_SEED", fuzz.seed.to_string());
    let finished = process::finish(cargo, DEADLINE)?;
    finished
        .status
        .success()
        .then_some(())
        .ok_or("a target broke; its input is named above".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_how_much_and_by_which_chance() {
        assert_eq!(Fuzz::parse(&[]), Some(Fuzz { n_runs: 20_000, seed: 1 }));
        let both = Fuzz::parse(&["--runs", "5", "--seed", "7"]);
        assert_eq!(both, Some(Fuzz { n_runs: 5, seed: 7 }));
        assert_eq!(Fuzz::parse(&["--runs", "0"]), None);
    }
}
