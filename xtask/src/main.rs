//! Developer tasks, run as `cargo xtask <task>`. Nothing here is shipped to users.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task talks to its developer")]

mod archive;
mod bench;
mod ci;
mod clients;
mod cluster;
mod crash;
mod dice;
mod docs;
mod faults;
mod figures;
mod fleet;
mod fuzz;
mod line;
mod mcp;
mod memcheck;
mod page;
mod plugins;
mod process;
mod procfs;
mod product;
mod quickstart;
mod release;
mod repository;
mod sample;
mod settings;
mod soak;
mod stamp;
mod sync;
mod tidy;
mod trial;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <task>

  ci                                  everything that has to be green, in order
  tidy                                the house rules the compiler cannot check
  quickstart [--home [--sample]]      build, start, remember a sample, ask about it
      (no flag)                       in a throw-away home that is removed at the end
      --home                          in your own home: the daemon stays, nothing is captured
      --home --sample                 in your own home, and the sample is kept in your memory
  docs                                writes docs/configuration.md from the table of settings
  plugins                             the hosts' own validators over the plugins (fetches them)
  release [--binary FILE] [--out DIR] tarball, .deb, .mcpb, SBOM and sums, in target/dist
      --download URL --name NAME      what the MCP registry has to know
  clients                             every tool through the official MCP clients (fetches them)
  crash [--kills N] [--seed N]        kills the daemon in the middle of everything, counts losses
  faults [--seed N]                   lets system calls fail under the daemon and the hook (strace)
  soak [--minutes N] [--clients N]    a crowd of good and bad clients; memory, descriptors, latency
      --binary FILE                   these three at their end: this program, no release build
  sync [--minutes|--seconds N]        homes that share one memory through a PostgreSQL of its own:
                                      killed, cut off, put back to a copy; equal at the end
      [--homes N] [--kills N]         how many, and kills a minute
      [--seed N]
      [--folder] [--binary FILE]      a folder instead; this program instead of a release build
  fuzz [--runs N] [--seed N]          damaged input for every parser, for longer than a test does
  memcheck                            the tests of everything `unsafe` under valgrind
  page [--memories N] [--release]     the page in headless Chromium (fetches its driver from npm)
  bench hook|mcp [--runs N]           figures of the release binary; asserts nothing
  bench footprint|import
  bench sync --machines N             a simulated fleet, parted and killed, until all stores agree
      [--operations N] [--seed N]
  bench sync [--entries N]            a PostgreSQL started for this, and a folder
      --binary FILE                   with this program instead of a release build
      IAI_PYTHON_CLI, IAI_NODE_WRAPPER: command lines to measure side by side
";

/// How a task ended, apart from success.
enum Failure {
    /// The arguments make no sense; the usage is shown.
    Usage,
    /// The task ran, and this is what went wrong.
    Task(String),
}

impl From<String> for Failure {
    fn from(sentence: String) -> Self {
        Self::Task(sentence)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Task(sentence)) => {
            eprintln!("xtask: {sentence}");
            ExitCode::from(1)
        }
        Err(Failure::Usage) => {
            eprint!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn dispatch(words: &[&str]) -> Result<(), Failure> {
    match words {
        ["ci"] => Ok(ci::run()?),
        ["tidy"] => Ok(tidy::run()?),
        ["clients"] => Ok(clients::run()?),
        ["docs"] => Ok(docs::run()?),
        ["plugins"] => Ok(plugins::run()?),
        ["release", flags @ ..] => {
            let ask = release::Ask::parse(flags).ok_or(Failure::Usage)?;
            Ok(release::run(&ask)?)
        }
        ["quickstart", flags @ ..] => {
            let place = quickstart::Place::parse(flags).ok_or(Failure::Usage)?;
            Ok(quickstart::run(place)?)
        }
        ["crash", flags @ ..] => {
            let (flags, named) = named_program(flags);
            let crash = crash::Crash::parse(flags).ok_or(Failure::Usage)?;
            Ok(crash::run(crash, &repository::program(named)?)?)
        }
        ["faults", flags @ ..] => {
            let (flags, named) = named_program(flags);
            let seed = faults::parse(flags).ok_or(Failure::Usage)?;
            Ok(faults::run(seed, &repository::program(named)?)?)
        }
        ["soak", flags @ ..] => {
            let (flags, named) = named_program(flags);
            let soak = soak::Soak::parse(flags).ok_or(Failure::Usage)?;
            Ok(soak::run(soak, &repository::program(named)?)?)
        }
        ["sync", flags @ ..] => {
            let ask = sync::Ask::parse(flags).ok_or(Failure::Usage)?;
            Ok(sync::run(&ask)?)
        }
        ["fuzz", flags @ ..] => {
            let fuzz = fuzz::Fuzz::parse(flags).ok_or(Failure::Usage)?;
            Ok(fuzz::run(fuzz)?)
        }
        ["memcheck"] => Ok(memcheck::run()?),
        ["page", flags @ ..] => {
            let page = page::Page::parse(flags).ok_or(Failure::Usage)?;
            Ok(page::run(page)?)
        }
        ["bench", "sync", flags @ ..] if flags.first() == Some(&"--machines") => {
            let fleet = fleet::Fleet::parse(flags).ok_or(Failure::Usage)?;
            Ok(fleet::run(fleet)?)
        }
        ["bench", "sync", flags @ ..] => {
            let ask = bench::sync::Ask::parse(flags).ok_or(Failure::Usage)?;
            Ok(bench::sync::run(&ask)?)
        }
        ["bench", what @ ..] => {
            let bench = bench::Bench::parse(what).ok_or(Failure::Usage)?;
            Ok(bench::run(bench)?)
        }
        _ => Err(Failure::Usage),
    }
}

/// Parts the flags from the program at their end, where one is named.
fn named_program<'a, 'w>(flags: &'a [&'w str]) -> (&'a [&'w str], Option<&'w Path>) {
    match flags {
        [flags @ .., "--binary", path] => (flags, Some(Path::new(*path))),
        flags => (flags, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_words_show_the_usage() {
        let cases: &[&[&str]] = &[
            &[],
            &["nonsense"],
            &["ci", "extra"],
            &["tidy", "extra"],
            &["memcheck", "extra"],
            &["quickstart", "--sample"],
            &["quickstart", "--hom"],
            &["bench"],
            &["bench", "nonsense"],
            &["crash", "--kills"],
            &["crash", "--kills", "0"],
            &["crash", "--kill", "3"],
            &["crash", "--binary"],
            &["crash", "--kills", "--binary", "program"],
            &["faults", "3"],
            &["docs", "extra"],
            &["plugins", "extra"],
            &["release", "--binary"],
            &["soak", "--minutes", "0"],
            &["sync", "--homes", "1"],
            &["page", "--memories"],
            &["bench", "hook", "--runs"],
            &["bench", "hook", "--runs", "0"],
            &["bench", "sync", "--machines", "1"],
        ];
        for words in cases {
            assert!(matches!(dispatch(words), Err(Failure::Usage)), "{words:?}");
        }
    }
}
