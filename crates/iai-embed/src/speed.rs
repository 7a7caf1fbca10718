//! How fast this machine can be, to compare with how fast it is.

use std::hint::black_box;
use std::time::Instant;

use crate::kernels::{self, GROUP, Kernel, LANES, WeightPanels, Whole};

const N_INPUTS: usize = 384;
const N_OUTPUTS: usize = 1536;
const N_SECONDS_MIN: f64 = 0.2;

/// Returns the GFLOP/s of one thread that does nothing but multiply and add in registers.
pub fn arithmetic_limit() -> f64 {
    let kernel = Kernel::detect();
    let mut sums = [0.5f32; kernels::LIMIT_SUMS * LANES];
    let n_rounds = 100_000usize;
    gigaflops(2 * n_rounds * sums.len(), || {
        kernels::arithmetic(kernel, n_rounds, &mut sums);
        black_box(&sums);
    })
}

/// Returns the GFLOP/s of one thread that multiplies this many rows with quantised weights.
pub fn matrix_speed(n_rows: usize) -> f64 {
    let kernel = Kernel::detect();
    let quants: Vec<u8> = (0..=255).cycle().take(N_INPUTS * N_OUTPUTS).collect();
    let scales = vec![0.01; N_INPUTS.div_ceil(GROUP) * N_OUTPUTS];
    let mut rows = Whole::of_rows(n_rows, n_rows * N_INPUTS);
    kernels::make_whole(kernel, &vec![0.5; n_rows * N_INPUTS], &mut rows);
    let mut out = vec![0.0; n_rows * N_OUTPUTS];
    let weights = WeightPanels { n_inputs: N_INPUTS, quants: &quants, scales: &scales };
    gigaflops(2 * n_rows * N_INPUTS * N_OUTPUTS, || {
        kernels::linear(kernel, &rows, &weights, &mut out);
        black_box(&out);
    })
}

/// The best of many rounds: others may run on this machine.
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn gigaflops(n_operations: usize, mut round: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut best = f64::INFINITY;
    while start.elapsed().as_secs_f64() < N_SECONDS_MIN {
        let before = Instant::now();
        round();
        best = best.min(before.elapsed().as_secs_f64());
    }
    n_operations as f64 / best / 1e9
}
