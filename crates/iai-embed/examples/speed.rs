//! Prints how fast a model runs here, and how fast it could: `speed MODEL-FILE`.
#![expect(clippy::print_stdout, reason = "a program for people at a terminal")]
#![expect(clippy::cast_precision_loss, reason = "figures for people")]

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

use iai_embed::{Embedder as _, Model, speed};

const N_CUE_TOKENS: usize = 12;
const N_TURN_TOKENS: usize = 200;
const N_BATCH: usize = 24;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: speed MODEL-FILE")?;
    let path = Path::new(&path);
    let load = best(5, || Model::open(path).map(drop))?;
    let limit = speed::arithmetic_limit();
    println!("| what | value |\n|---|---|");
    println!("| open | {:.1} ms |", load * 1e3);
    println!("| arithmetic limit, one thread | {limit:.1} GFLOP/s |");
    for n_rows in [N_CUE_TOKENS, N_TURN_TOKENS] {
        let speed = speed::matrix_speed(n_rows);
        let part = speed / limit;
        println!("| GEMM of {n_rows} rows, one thread | {speed:.1} GFLOP/s ({part:.2} of it) |");
    }
    for n_threads in [1, 2] {
        let n_threads = NonZeroUsize::new(n_threads).ok_or("no threads")?;
        measure(&Model::open(path)?.with_threads(n_threads), limit)?;
    }
    Ok(())
}

fn measure(model: &Model, limit: f64) -> Result<(), Box<dyn Error>> {
    let n_threads = model.n_threads();
    let text = |n_tokens: usize| "memory ".repeat(n_tokens - 2);
    let (cue, turn) = (text(N_CUE_TOKENS), text(N_TURN_TOKENS));
    assert_eq!(model.token_ids(&cue).len(), N_CUE_TOKENS);
    let turns = vec![turn.as_str(); N_BATCH];
    let cue_s = best(200, || model.embed(&[&cue]))?;
    let turn_s = best(10, || model.embed(&[&turn]))?;
    let batch_s = best(3, || model.embed(&turns))?;
    let one_s = |n_tokens: usize| {
        (n_tokens * model.n_operations_per_token()) as f64 / (limit * 1e9 * n_threads as f64)
    };
    let line = |what: &str, seconds: f64, n_tokens: usize| {
        let times = seconds / one_s(n_tokens);
        println!("| {what}, {n_threads} threads | {:.2} ms ({times:.2} × limit) |", seconds * 1e3);
    };
    line("cue of 12 tokens", cue_s, N_CUE_TOKENS);
    line("turn of 200 tokens", turn_s, N_TURN_TOKENS);
    line("turn of 200 tokens in a batch", batch_s / N_BATCH as f64, N_TURN_TOKENS);
    println!("| turns a second, {n_threads} threads | {:.1} |", N_BATCH as f64 / batch_s);
    Ok(())
}

/// The best of some rounds, in seconds: others may run on this machine.
fn best<T, E>(n_rounds: usize, mut round: impl FnMut() -> Result<T, E>) -> Result<f64, E> {
    let mut best = f64::INFINITY;
    for _ in 0..n_rounds {
        let before = Instant::now();
        std::hint::black_box(round()?);
        best = best.min(before.elapsed().as_secs_f64());
    }
    Ok(best)
}
