//! The tests of everything `unsafe` under valgrind, which sees reads and writes beyond what was
//! given out. Miri cannot: it knows neither the vector instructions nor the system calls.

use std::time::Duration;

use crate::{process, repository};

const DEADLINE: Duration = Duration::from_mins(60);
/// Every instruction is translated: a property is tried this often, not hundreds of times.
const CASES: &str = "12";
/// Leaks are no concern here: what lives as long as the process is never given back.
const RUNNER: &str = "target.'cfg(all())'.runner = \
                      ['valgrind', '--quiet', '--error-exitcode=9', '--leak-check=no']";
/// The rooms with `unsafe` in them, and those that call them from several threads.
const ROOMS: &[&str] = &["kernels", "team"];

pub(crate) fn run() -> Result<(), String> {
    let mut valgrind = process::command("valgrind");
    valgrind.arg("--version");
    if !process::works(valgrind) {
        return Err("valgrind is not there; install it and try again".to_owned());
    }
    let packages = ["-p", "iai-cipher", "-p", "iai-embed", "-p", "iai-store"];
    let mut cargo = repository::cargo(&["test", "--locked", "--lib", "--config", RUNNER]);
    cargo.args(packages).arg("--").args(ROOMS).env("PROPTEST_CASES", CASES);
    let finished = process::finish(cargo, DEADLINE)?;
    match finished.status.success() {
        true => Ok(()),
        false => Err("valgrind complained, or a test failed; see above".to_owned()),
    }
}
