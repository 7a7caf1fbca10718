//! The arithmetic of a forward pass, for machines with and without fused multiply-add.
//!
//! Activations stand in panels: [`LANES`] columns side by side, row after row, panel after panel.
//! One panel of results depends on one panel of weights only, so panels are computed by whoever is
//! free. Every function is written once and compiled twice: as any machine runs it, and for AVX2
//! with FMA (on 64-bit ARM: for NEON, which every such machine has). Loops over single floats are
//! left to the compiler; the innermost ones, in which a forward pass spends its time, are written
//! over the registers of `kernels/lanes.rs`. The versions differ in rounding alone.
//!
//! With weights, rows are multiplied as whole numbers of sixteen bits ([`Whole`]): sums within a
//! group are exact, and a register holds twice as many of them as floats.
#![expect(unsafe_code, reason = "calling what is compiled for newer machines needs it")]

mod lanes;
mod whole;

use lanes::{Arithmetic, Fusing, Lanes as _, Rounding};
pub(crate) use whole::Whole;
use whole::{linear_of, make_whole_of};

/// Columns of a panel.
pub(crate) const LANES: usize = 16;
/// Weights that share one scale.
pub(crate) const GROUP: usize = 64;
/// Panels of activations that meet the weights of one group.
pub(crate) const GROUP_PANELS: usize = GROUP / LANES;
/// Added to a small number, it leaves that number's whole part in the lowest bits.
const ROUNDING: f32 = 12_582_912.0;

/// Which instructions this machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// Nothing special.
    Portable,
    /// AVX2 and FMA, or NEON. Made by [`Kernel::detect`] alone, which has looked.
    Fused(Detected),
}

/// Proof that somebody looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Detected(());

/// Panels of weights: in each, a row of [`LANES`] columns for every input.
pub(crate) struct WeightPanels<'a> {
    pub(crate) n_inputs: usize,
    /// `n_inputs × LANES` signed bytes a panel.
    pub(crate) quants: &'a [u8],
    /// A row of [`LANES`] for every [`GROUP`] inputs, panel after panel.
    pub(crate) scales: &'a [f32],
}

/// Rows of activations inside a larger matrix in panels.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    /// Begins at the first row of the first panel.
    pub(crate) values: &'a [f32],
    /// From one panel to the next.
    pub(crate) stride: usize,
    pub(crate) n_rows: usize,
    pub(crate) n_columns: usize,
}

impl Kernel {
    /// Chooses the best this machine can do.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return Self::Fused(Detected(()));
        }
        if cfg!(target_arch = "aarch64") { Self::Fused(Detected(())) } else { Self::Portable }
    }
}

/// Makes a function out of a generic one: it runs the version for the kernel at hand.
macro_rules! dispatched {
    ($(#[$doc:meta])* $name:ident => $body:ident ($($argument:ident: $type:ty),* $(,)?)) => {
        $(#[$doc])*
        pub(crate) fn $name(kernel: Kernel, $($argument: $type),*) {
            #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
            #[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
            unsafe fn fused($($argument: $type),*) {
                $body::<Fusing>($($argument),*);
            }
            match kernel {
                Kernel::Portable => $body::<Rounding>($($argument),*),
                // SAFETY: a `Detected` is made only after the features were found.
                Kernel::Fused(_) => unsafe { fused($($argument),*) },
            }
        }
    };
}

dispatched! {
    /// `out += rows · weights`, panel after panel.
    linear => linear_of(rows: &Whole, weights: &WeightPanels<'_>, out: &mut [f32])
}

dispatched! {
    /// Adds panels of rows to those in `whole`, which fill their groups.
    make_whole => make_whole_of(values: &[f32], whole: &mut Whole)
}

dispatched! {
    /// `out += rows · factors`, one panel; `factors` holds a row of [`LANES`] for each column of
    /// `rows`.
    multiply => multiply_of(rows: Rows<'_>, factors: &[f32], out: &mut [f32])
}

dispatched! {
    /// `x ← x · Φ(x)`, the exact kind, to about 1e-7.
    gelu => gelu_of(values: &mut [f32])
}

dispatched! {
    /// Turns each row's first `n_columns` scores into shares of 1, and the columns beyond into 0.
    softmax => softmax_of(scores: &mut [f32], n_rows: usize, n_columns: usize, factor: f32)
}

dispatched! {
    /// Brings each row to mean 0 and variance 1, then to the learnt weight and bias.
    layer_norm => layer_norm_of(values: &mut [f32], n_rows: usize, norm: &Norm)
}

dispatched! {
    /// Adds a row of signed bytes, each times the scale of its group.
    add_quantised => add_quantised_of(quants: &[u8], scales: &[f32], out: &mut [f32])
}

dispatched! {
    /// Multiplies and adds and nothing else, to see how fast that can be.
    arithmetic => arithmetic_of(n_rounds: usize, sums: &mut [f32; LIMIT_SUMS * LANES])
}

/// Sums that [`arithmetic`] keeps: enough to hide how long one addition takes, and few enough for
/// registers.
pub(crate) const LIMIT_SUMS: usize = 5;

/// What a layer norm has learnt.
pub(crate) struct Norm {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    pub(crate) epsilon: f32,
}

#[inline(always)]
fn multiply_of<A: Arithmetic>(rows: Rows<'_>, factors: &[f32], out: &mut [f32]) {
    // Tiles of even height: a last tile of one row would cost as much as one of four.
    let n_tiles = rows.n_rows.div_ceil(A::TILE_ROWS);
    let mut first = 0;
    for tile in 0..n_tiles {
        let n = (rows.n_rows - first).div_ceil(n_tiles - tile);
        let values = rows.values.get(first * LANES..).unwrap_or_default();
        let Some(out) = out.get_mut(first * LANES..(first + n) * LANES) else { return };
        let rows = Rows { values, ..rows };
        match n {
            1 => tile_of::<A, 1>(rows, factors, out),
            2 => tile_of::<A, 2>(rows, factors, out),
            3 => tile_of::<A, 3>(rows, factors, out),
            4 => tile_of::<A, 4>(rows, factors, out),
            5 => tile_of::<A, 5>(rows, factors, out),
            _ => tile_of::<A, 6>(rows, factors, out),
        }
        first += n;
    }
}

/// Adds to `N` rows of one panel, which stay in registers all the way.
#[inline(always)]
fn tile_of<A: Arithmetic, const N: usize>(rows: Rows<'_>, factors: &[f32], out: &mut [f32]) {
    let Some(out) = out.as_chunks_mut::<LANES>().0.first_chunk_mut::<N>() else { return };
    let Some(first) = out.first() else { return };
    let mut sums = [A::Lanes::load(first); N];
    for (sum, out) in sums.iter_mut().zip(&*out) {
        *sum = A::Lanes::load(out);
    }
    let panels = rows.values.chunks(rows.stride.max(1));
    let factors = factors.as_chunks::<LANES>().0;
    let factors = factors.get(..rows.n_columns).unwrap_or(factors);
    for (panel, factors) in panels.zip(factors.chunks(LANES)) {
        let Some(panel) = panel.as_chunks::<LANES>().0.first_chunk::<N>() else { return };
        match factors.first_chunk::<LANES>() {
            Some(factors) => panel_of::<A, N>(panel, factors, &mut sums),
            None => panel_of::<A, N>(panel, factors, &mut sums),
        }
    }
    for (out, sum) in out.iter_mut().zip(sums) {
        sum.store(out);
    }
}

#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "there are at most LANES factors")]
fn panel_of<A: Arithmetic, const N: usize>(
    panel: &[[f32; LANES]; N],
    factors: &[[f32; LANES]],
    sums: &mut [A::Lanes; N],
) {
    for (column, factors) in factors.iter().enumerate() {
        let factors = A::Lanes::load(factors);
        for (sum, row) in sums.iter_mut().zip(panel) {
            *sum = factors.times_plus(row[column], *sum);
        }
    }
}

#[inline(always)]
fn arithmetic_of<A: Arithmetic>(n_rounds: usize, sums: &mut [f32; LIMIT_SUMS * LANES]) {
    let mut kept = *sums;
    for _ in 0..n_rounds {
        for sum in &mut kept {
            *sum = A::times_plus(*sum, 0.999, 0.001);
        }
    }
    *sums = kept;
}

#[inline(always)]
fn gelu_of<A: Arithmetic>(values: &mut [f32]) {
    for value in values {
        *value = gelu_one::<A>(*value);
    }
}

/// `x · Φ(x)`, with the error function of Abramowitz and Stegun, 7.1.26.
#[inline(always)]
fn gelu_one<A: Arithmetic>(x: f32) -> f32 {
    const POLYNOMIAL: [f32; 5] = [1.061_405_4, -1.453_152, 1.421_413_8, -0.284_496_73, 0.254_829_6];
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / A::times_plus(0.327_591_1, z, 1.0);
    let sum = POLYNOMIAL.iter().fold(0.0, |sum, term| A::times_plus(sum, t, *term));
    // What is left of 1 beyond |x|, on one side.
    let tail = 0.5 * sum * t * exponential::<A>(-z * z);
    x * if x < 0.0 { tail } else { 1.0 - tail }
}

/// `eˣ` for `x ≤ 0`, to about one unit in the last place; below -87 it is as good as 0.
#[inline(always)]
fn exponential<A: Arithmetic>(x: f32) -> f32 {
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    const TERMS: [f32; 6] =
        [1.987_569_1e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];
    let x = if x < -87.0 { -87.0 } else { x };
    let rounded = A::times_plus(x, std::f32::consts::LOG2_E, ROUNDING);
    let power = rounded - ROUNDING;
    let rest = A::times_plus(power, -LN2_LOW, A::times_plus(power, -LN2_HIGH, x));
    let sum = TERMS.iter().fold(0.0, |sum, term| A::times_plus(sum, rest, *term));
    let value = A::times_plus(sum, rest * rest, rest) + 1.0;
    // `power` is between -126 and 0; plus 127 it is the exponent of two to that power.
    value * f32::from_bits(rounded.to_bits().wrapping_add(127) << 23)
}

#[inline(always)]
fn softmax_of<A: Arithmetic>(scores: &mut [f32], n_rows: usize, n_columns: usize, factor: f32) {
    let scores = scores.as_chunks_mut::<LANES>().0;
    for row in 0..n_rows {
        mask_beyond(scores.iter_mut().skip(row).step_by(n_rows), n_columns);
        let mut most = [f32::NEG_INFINITY; LANES];
        for panel in scores.iter().skip(row).step_by(n_rows) {
            for (most, score) in most.iter_mut().zip(panel) {
                *most = most.max(*score);
            }
        }
        let most = most.iter().fold(f32::NEG_INFINITY, |most, score| most.max(*score));
        let mut sums = [0.0f32; LANES];
        for panel in scores.iter_mut().skip(row).step_by(n_rows) {
            for (sum, score) in sums.iter_mut().zip(panel) {
                *score = exponential::<A>((*score - most) * factor);
                *sum += *score;
            }
        }
        let share = 1.0 / sums.iter().sum::<f32>();
        for panel in scores.iter_mut().skip(row).step_by(n_rows) {
            for score in panel {
                *score *= share;
            }
        }
    }
}

/// Columns beyond the last one get no share.
#[inline(always)]
fn mask_beyond<'a>(panels: impl Iterator<Item = &'a mut [f32; LANES]>, n_columns: usize) {
    for (at, panel) in panels.enumerate() {
        let n_here = n_columns.saturating_sub(at * LANES);
        for score in panel.iter_mut().skip(n_here) {
            *score = f32::MIN / 2.0;
        }
    }
}

#[inline(always)]
fn layer_norm_of<A: Arithmetic>(values: &mut [f32], n_rows: usize, norm: &Norm) {
    let values = values.as_chunks_mut::<LANES>().0;
    let (weights, biases) = (norm.weight.as_chunks::<LANES>().0, norm.bias.as_chunks::<LANES>().0);
    #[expect(clippy::cast_precision_loss, reason = "a model is a few thousand wide")]
    let one_share = 1.0 / norm.weight.len().max(1) as f32;
    for row in 0..n_rows {
        let mut sums = [0.0f32; LANES];
        for panel in values.iter().skip(row).step_by(n_rows) {
            for (sum, value) in sums.iter_mut().zip(panel) {
                *sum += *value;
            }
        }
        let mean = sums.iter().sum::<f32>() * one_share;
        let mut squares = [0.0f32; LANES];
        for panel in values.iter().skip(row).step_by(n_rows) {
            for (square, value) in squares.iter_mut().zip(panel) {
                *square = A::times_plus(*value - mean, *value - mean, *square);
            }
        }
        let variance = squares.iter().sum::<f32>() * one_share;
        let scale = 1.0 / (variance + norm.epsilon).sqrt();
        let panels = values.iter_mut().skip(row).step_by(n_rows);
        for (panel, (weights, biases)) in panels.zip(weights.iter().zip(biases)) {
            for (value, (weight, bias)) in panel.iter_mut().zip(weights.iter().zip(biases)) {
                *value = A::times_plus((*value - mean) * scale, *weight, *bias);
            }
        }
    }
}

#[inline(always)]
fn add_quantised_of<A: Arithmetic>(quants: &[u8], scales: &[f32], out: &mut [f32]) {
    for ((quants, scale), out) in quants.chunks(GROUP).zip(scales).zip(out.chunks_mut(GROUP)) {
        for (out, quant) in out.iter_mut().zip(quants) {
            *out = A::times_plus(f32::from(quant.cast_signed()), *scale, *out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers between -1 and 1 that repeat late.
    fn values(n: usize) -> Vec<f32> {
        let wave = |at: usize| ((at * 7919 % 1009) as f32) / 504.5 - 1.0;
        (0..n).map(wave).collect()
    }

    #[track_caller]
    fn expect_near(got: &[f32], want: &[f32], off_max: f32) {
        assert_eq!(got.len(), want.len());
        let off = got.iter().zip(want).map(|(got, want)| (got - want).abs());
        let off =
            off.fold(0.0, |most: f32, off| if off > most || off.is_nan() { off } else { most });
        assert!(off <= off_max, "off by {off}");
    }

    fn linear_with(kernel: Kernel, n_rows: usize, n_inputs: usize) -> Vec<f32> {
        let quants: Vec<u8> = (0..=255).cycle().take(n_inputs * LANES).collect();
        let scales = vec![0.002; n_inputs.div_ceil(GROUP) * LANES];
        let values = values(n_rows * n_inputs);
        let mut rows = Whole { n_rows, ..Whole::default() };
        make_whole(kernel, &values, &mut rows);
        let weights = WeightPanels { n_inputs, quants: &quants, scales: &scales };
        let mut out = vec![0.5; n_rows * LANES];
        linear(kernel, &rows, &weights, &mut out);
        out
    }

    #[test]
    fn a_product_is_what_its_definition_says() {
        let (n_rows, n_inputs) = (7, 80);
        let values = values(n_rows * n_inputs);
        let mut want = Vec::new();
        for row in 0..n_rows {
            for lane in 0..LANES {
                let term = |input: usize| {
                    let value =
                        values[input / LANES * n_rows * LANES + row * LANES + input % LANES];
                    let quant = u8::try_from((input * LANES + lane) % 256).unwrap();
                    value * f32::from(quant.cast_signed()) * 0.002
                };
                want.push((0..n_inputs).map(term).sum::<f32>() + 0.5);
            }
        }
        expect_near(&linear_with(Kernel::Portable, n_rows, n_inputs), &want, 1e-4);
    }

    #[test]
    fn both_versions_agree() {
        let kernel = Kernel::detect();
        for n_rows in [1, 2, 3, 4, 5, 6, 7, 12, 13, 40] {
            for n_inputs in [16, 64, 80, 256, 384, 1536] {
                let got = linear_with(kernel, n_rows, n_inputs);
                expect_near(&got, &linear_with(Kernel::Portable, n_rows, n_inputs), 1e-4);
            }
        }
        let both = |work: &dyn Fn(Kernel, &mut Vec<f32>)| {
            let (mut one, mut other) = (values(37 * 48), values(37 * 48));
            work(kernel, &mut one);
            work(Kernel::Portable, &mut other);
            expect_near(&one, &other, 1e-5);
        };
        let norm = Norm { weight: values(48), bias: values(48), epsilon: 1e-12 };
        both(&|kernel, values| layer_norm(kernel, values, 37, &norm));
        both(&|kernel, values| softmax(kernel, values, 37, 37, 0.2));
        both(&|kernel, values| gelu(kernel, values));
        let quants: Vec<u8> = (0..=255).cycle().take(37 * 48).collect();
        both(&|kernel, values| add_quantised(kernel, &quants, &[0.01; 28], values));
    }

    #[test]
    fn what_is_no_number_is_not_lost_on_the_way_to_whole_ones() {
        for kernel in [Kernel::Portable, Kernel::detect()] {
            for broken in [f32::NAN, f32::INFINITY] {
                let mut values = values(2 * GROUP);
                values[LANES + 3] = broken;
                let mut rows = Whole::of_rows(2, values.len());
                make_whole(kernel, &values, &mut rows);
                let weights = WeightPanels {
                    n_inputs: GROUP,
                    quants: &[1; GROUP * LANES],
                    scales: &[0.5; LANES],
                };
                let mut out = vec![0.0; 2 * LANES];
                linear(kernel, &rows, &weights, &mut out);
                assert!(out[..LANES].iter().all(|value| value.is_finite()));
                assert!(out[LANES..].iter().all(|value| !value.is_finite()));
            }
        }
    }

    #[test]
    fn a_product_with_columns_that_fill_no_panel() {
        let (n_rows, n_columns) = (5, 21);
        let values = values(n_rows * 32);
        let factors = self::values(n_columns * LANES);
        let rows = Rows { values: &values, stride: n_rows * LANES, n_rows, n_columns };
        let mut want = vec![1.0; n_rows * LANES];
        for (at, want) in want.iter_mut().enumerate() {
            let (row, lane) = (at / LANES, at % LANES);
            for column in 0..n_columns {
                let value = values[column / LANES * n_rows * LANES + row * LANES + column % LANES];
                *want += value * factors[column * LANES + lane];
            }
        }
        for kernel in [Kernel::Portable, Kernel::detect()] {
            let mut out = vec![1.0; n_rows * LANES];
            multiply(kernel, rows, &factors, &mut out);
            expect_near(&out, &want, 1e-5);
        }
    }

    #[test]
    fn shares_add_up_to_one_and_none_goes_beyond() {
        let (n_rows, n_columns) = (3, 18);
        let mut scores = values(n_rows * 32);
        softmax(Kernel::detect(), &mut scores, n_rows, n_columns, 1.0);
        for row in 0..n_rows {
            let share = |at: usize| scores[at / LANES * n_rows * LANES + row * LANES + at % LANES];
            expect_near(&[(0..n_columns).map(share).sum()], &[1.0], 1e-6);
            assert!((n_columns..32).all(|at| share(at) < 1e-30));
        }
    }

    #[test]
    fn the_bell_curve_is_exact_enough() {
        // From tables of the normal distribution.
        let cases = [
            (0.0, 0.0),
            (1.0, 0.841_344_7),
            (-1.0, -0.158_655_26),
            (2.5, 2.484_475_9),
            (-3.0, -0.004_049_694_5),
            (-12.0, 0.0),
            (12.0, 12.0),
            (90.0, 90.0),
            (-90.0, 0.0),
        ];
        for (x, want) in cases {
            for kernel in [Kernel::Portable, Kernel::detect()] {
                let mut values = [x];
                gelu(kernel, &mut values);
                expect_near(&values, &[want], 1e-6);
            }
        }
    }
}
