//! Runs a simulated fleet until all stores are equal and prints what that took: `cargo xtask bench
//! sync --machines N`.
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::process::ExitCode;
use std::time::Instant;

use iai_sync::simulation::{Fleet, Outcome};

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
            print(&outcome);
            println!("{:>12.1} seconds", begun.elapsed().as_secs_f64());
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{fleet:?}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print(outcome: &Outcome) {
    let lines = [
        (outcome.n_operations as u64, "operations done, hellos and answers among them"),
        (outcome.n_troubles, "exchanges that were killed or whose line failed"),
        (outcome.n_names_lost as u64, "new names after a restored copy"),
        (
            u64::from(outcome.n_rounds),
            "rounds after the last partition until all stores were equal",
        ),
        (outcome.n_memories as u64, "memories in each of them"),
        (outcome.n_entries as u64, "entries at the remote"),
        (outcome.n_erased as u64, "of them erased"),
        (outcome.n_bytes, "bytes of payload at the remote"),
        (outcome.n_bytes_fetched, "bytes of payload fetched by all machines"),
    ];
    for (number, what) in lines {
        println!("{number:>12} {what}");
    }
    let digest: String = outcome.digest.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("digest of every store: {digest}");
}
