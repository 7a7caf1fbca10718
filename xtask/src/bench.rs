//! Prints figures of the release binary, which measures itself. Nothing here passes or fails:
//! machines differ.

pub(crate) mod sync;

use std::process::Command;
use std::time::Duration;

use crate::{process, repository, settings, stamp};

const DEADLINE: Duration = Duration::from_mins(60);
/// How much history `bench import` takes in.
const N_IMPORTED: &str = "50000";

/// Which figures, and over how many runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bench {
    Hook { n_runs: Option<u32> },
    Mcp { n_runs: Option<u32> },
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
            ("hook", n_runs) => Some(Self::Hook { n_runs }),
            ("mcp", n_runs) => Some(Self::Mcp { n_runs }),
            ("footprint", None) => Some(Self::Footprint),
            ("import", None) => Some(Self::Import),
            _ => None,
        }
    }
}

pub(crate) fn run(bench: Bench) -> Result<(), String> {
    // Figures name what was measured, down to the commit.
    let program = stamp::stamped_copy(&repository::build_release()?)?;
    let mut command = process::command(program);
    command.arg("bench");
    match bench {
        Bench::Hook { n_runs } => repeat(&mut command, "hook", n_runs, "IAI_PYTHON_CLI"),
        Bench::Mcp { n_runs } => repeat(&mut command, "mcp", n_runs, "IAI_NODE_WRAPPER"),
        Bench::Footprint => drop(command.arg("footprint")),
        Bench::Import => drop(command.args(["ingest", "--n", N_IMPORTED])),
    }
    let finished = process::finish(command, DEADLINE)?;
    finished.status.success().then_some(()).ok_or("the bench failed; see above".to_owned())
}

/// Adds the number of runs, and the program whose command line is in `variable` beside ours.
fn repeat(command: &mut Command, what: &str, n_runs: Option<u32>, variable: &str) {
    command.arg(what);
    if let Some(n_runs) = n_runs {
        command.args(["--runs", &n_runs.to_string()]);
    }
    if let Some(line) = settings::command_line(variable) {
        command.arg("--beside").arg(line.join(std::ffi::OsStr::new(" ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_a_bench() {
        let cases: &[(&[&str], Option<Bench>)] = &[
            (&["hook"], Some(Bench::Hook { n_runs: None })),
            (&["mcp"], Some(Bench::Mcp { n_runs: None })),
            (&["mcp", "--runs", "3"], Some(Bench::Mcp { n_runs: Some(3) })),
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

    #[test]
    fn runs_are_handed_on() {
        let mut command = process::command("iai-mcp");
        repeat(&mut command, "hook", Some(3), "IAI_NO_SUCH_VARIABLE");
        let words: Vec<_> = command.get_args().collect();
        assert_eq!(words, ["hook", "--runs", "3"]);
    }
}
