//! Runs a simulated fleet until all stores are equal and prints what that took: `cargo xtask bench
//! sync --machines N`.
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::process::ExitCode;
use std::time::Instant;

use iai_sync::simulation::Fleet;

fn main() -> ExitCode {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [n_machines, n_operations, seed] = *numbers.as_slice() else {
        println!("usage: fleet MACHINES OPERATIONS SEED");
        return ExitCode::from(2);
    };
    let n_machines = usize::try_from(n_machines).unwrap_or(usize::MAX);
    let fleet = Fleet::unlucky(n_machines, n_operations, seed);
    let begun = Instant::now();
    match fleet.run() {
        Ok(outcome) => {
            println!("{outcome:#?}\nseconds: {:.1}", begun.elapsed().as_secs_f64());
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{fleet:?}: {error}");
            ExitCode::FAILURE
        }
    }
}
