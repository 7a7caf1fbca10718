//! Prints figures of the release binary. Nothing here passes or fails: machines differ.

mod footprint;
mod handshake;
mod hook;
mod import;

use std::ffi::OsString;

use crate::{product::Product, repository, settings};

/// Which figures, and over how many runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bench {
    Hook { n_runs: u32 },
    Mcp { n_runs: u32 },
    Footprint,
    Import,
}

impl Bench {
    pub(crate) fn parse(words: &[&str]) -> Option<Self> {
        let (what, n_runs) = match words {
            [what] => (*what, None),
            [what, "--runs", n] => (*what, Some(n.parse().ok().filter(|n| *n > 0)?)),
            _ => return None,
        };
        match (what, n_runs) {
            ("hook", n_runs) => Some(Self::Hook { n_runs: n_runs.unwrap_or(hook::N_RUNS) }),
            ("mcp", n_runs) => Some(Self::Mcp { n_runs: n_runs.unwrap_or(handshake::N_RUNS) }),
            ("footprint", None) => Some(Self::Footprint),
            ("import", None) => Some(Self::Import),
            _ => None,
        }
    }
}

pub(crate) fn run(bench: Bench) -> Result<(), String> {
    let binary = repository::build_release()?;
    match bench {
        Bench::Hook { n_runs } => hook::run(&binary, n_runs),
        Bench::Mcp { n_runs } => handshake::run(&binary, n_runs),
        Bench::Footprint => footprint::run(&binary),
        Bench::Import => import::run(&binary),
    }
}

/// One of the programs measured side by side, in a throw-away home of its own.
struct Contender {
    name: &'static str,
    product: Product,
}

impl Contender {
    fn ours(binary: &std::path::Path) -> Result<Self, String> {
        Self::new("iai-mcp", &[binary.as_os_str().to_owned()])
    }

    /// Returns the program whose command line is in `variable`, if there is one.
    fn from_environment(name: &'static str, variable: &str) -> Result<Option<Self>, String> {
        settings::command_line(variable).map(|program| Self::new(name, &program)).transpose()
    }

    fn new(name: &'static str, program: &[OsString]) -> Result<Self, String> {
        Ok(Self { name, product: Product::in_throw_away_home(program)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_a_bench() {
        let cases: &[(&[&str], Option<Bench>)] = &[
            (&["hook"], Some(Bench::Hook { n_runs: 200 })),
            (&["mcp"], Some(Bench::Mcp { n_runs: 50 })),
            (&["mcp", "--runs", "3"], Some(Bench::Mcp { n_runs: 3 })),
            (&["footprint"], Some(Bench::Footprint)),
            (&["footprint", "--runs", "3"], None),
            (&["import"], Some(Bench::Import)),
            (&["hook", "--runs", "0"], None),
            (&["hook", "--runs"], None),
            (&["hook", "3"], None),
            (&[], None),
        ];
        for (words, want) in cases {
            assert_eq!(Bench::parse(words), *want, "{words:?}");
        }
    }
}
