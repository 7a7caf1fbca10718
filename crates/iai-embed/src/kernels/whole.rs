//! Products with weights, in whole numbers.
//!
//! A register holds twice as many numbers of sixteen bits as floats, and one instruction multiplies
//! two of them with two weights and adds the products. Sums within a group are exact; they become
//! floats where the scales differ.

use super::lanes::{Arithmetic, Lanes as _, Sums as _};
use super::{GROUP, GROUP_PANELS, LANES, ROUNDING, WeightPanels};

/// Groups of weights widened at a time: 6 KiB, so that a first-level cache holds them and the
/// activations that pass by.
const BLOCK_GROUPS: usize = 3;
/// The largest whole number of a row: sums of a group stay far below what 32 bits hold.
const WHOLE_MAX: f32 = 32_767.0;
/// Two inputs meet their weights at once.
const PAIRS: usize = GROUP / 2;

/// Rows of activations as whole numbers: what meets one group of weights shares a scale.
#[derive(Default)]
pub(crate) struct Whole {
    /// Row after row, group after group; a last group that is not full ends in zeros.
    pub(crate) values: Vec<[[i16; 2]; PAIRS]>,
    /// In the same order.
    pub(crate) scales: Vec<f32>,
    pub(crate) n_rows: usize,
}

/// Some groups of such rows.
#[derive(Clone, Copy)]
struct Groups<'a> {
    values: &'a [[[i16; 2]; PAIRS]],
    scales: &'a [f32],
    n_rows: usize,
}

/// Widened weights of one panel, for each pair of inputs.
#[derive(Clone, Copy)]
struct Wide<'a> {
    pairs: &'a [[[i16; 2]; LANES]],
    scales: &'a [f32],
}

impl Whole {
    /// Makes room for so many numbers.
    pub(crate) fn of_rows(n_rows: usize, n_values: usize) -> Self {
        let n = n_values.div_ceil(GROUP * n_rows.max(1)) * n_rows;
        Self { values: Vec::with_capacity(n), scales: Vec::with_capacity(n), n_rows }
    }
}

#[inline(always)]
pub(super) fn make_whole_of<A: Arithmetic>(values: &[f32], whole: &mut Whole) {
    let n_rows = whole.n_rows.max(1);
    for panels in values.chunks(GROUP_PANELS * n_rows * LANES) {
        let panels = panels.as_chunks::<LANES>().0;
        for row in 0..n_rows {
            // Compared as bits, what is no number is larger than all: it must not get lost.
            let mut most = [0u32; LANES];
            for lanes in panels.iter().skip(row).step_by(n_rows) {
                for (most, value) in most.iter_mut().zip(lanes) {
                    *most = value.abs().to_bits().max(*most);
                }
            }
            let most = f32::from_bits(most.iter().fold(0, |most, bits| *bits.max(&most)));
            let factor = if most > 0.0 { WHOLE_MAX / most } else { 0.0 };
            let mut pairs = [[0; 2]; PAIRS];
            let places = pairs.as_chunks_mut::<{ LANES / 2 }>().0.iter_mut();
            for (places, lanes) in places.zip(panels.iter().skip(row).step_by(n_rows)) {
                for (place, pair) in places.iter_mut().zip(lanes.as_chunks().0) {
                    *place = pair.map(|value: f32| rounded(value * factor));
                }
            }
            whole.values.push(pairs);
            whole.scales.push(most / WHOLE_MAX);
        }
    }
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the whole part is in the lowest bits")]
fn rounded(value: f32) -> i16 {
    ((value + ROUNDING).to_bits() as u16).cast_signed()
}

#[inline(always)]
pub(super) fn linear_of<A: Arithmetic>(rows: &Whole, weights: &WeightPanels<'_>, out: &mut [f32]) {
    let (n_rows, n_inputs) = (rows.n_rows.max(1), weights.n_inputs.max(1));
    let n_scales = n_inputs.div_ceil(GROUP) * LANES;
    let mut block = [[[0; 2]; LANES]; BLOCK_GROUPS * PAIRS];
    // Block by block, and not panel by panel: what all panels need of a wide input stays in the
    // second-level cache.
    let values = rows.values.chunks(BLOCK_GROUPS * n_rows);
    let blocks = values.zip(rows.scales.chunks(BLOCK_GROUPS * n_rows));
    for (first, (values, scales)) in (0..n_inputs).step_by(BLOCK_GROUPS * GROUP).zip(blocks) {
        let groups = Groups { values, scales, n_rows };
        let n_here = (n_inputs - first).min(BLOCK_GROUPS * GROUP);
        let panels = weights.quants.chunks(n_inputs * LANES).zip(weights.scales.chunks(n_scales));
        for ((quants, scales), out) in panels.zip(out.chunks_mut(n_rows * LANES)) {
            let quants = quants.get(first * LANES..(first + n_here) * LANES).unwrap_or_default();
            let scales = scales.get(first / GROUP * LANES..).unwrap_or_default();
            let Some(pairs) = block.get_mut(..n_here / 2) else { return };
            let inputs = quants.as_chunks::<LANES>().0.as_chunks::<2>().0;
            for (bytes, wide) in inputs.iter().zip(&mut *pairs) {
                A::Sums::widen(bytes, wide);
            }
            multiply_of::<A>(groups, Wide { pairs, scales }, out);
        }
    }
}

#[inline(always)]
fn multiply_of<A: Arithmetic>(groups: Groups<'_>, weights: Wide<'_>, out: &mut [f32]) {
    // Tiles of even height: a last tile of one row would cost as much as one of four.
    let n_tiles = groups.n_rows.div_ceil(A::TILE_ROWS);
    let mut first = 0;
    for tile in 0..n_tiles {
        let n = (groups.n_rows - first).div_ceil(n_tiles - tile);
        let Some(out) = out.get_mut(first * LANES..(first + n) * LANES) else { return };
        match n {
            1 => tile_of::<A, 1>(groups, first, weights, out),
            2 => tile_of::<A, 2>(groups, first, weights, out),
            3 => tile_of::<A, 3>(groups, first, weights, out),
            4 => tile_of::<A, 4>(groups, first, weights, out),
            5 => tile_of::<A, 5>(groups, first, weights, out),
            _ => tile_of::<A, 6>(groups, first, weights, out),
        }
        first += n;
    }
}

/// Adds to `N` rows of one panel; the sums of a group stay in registers all the way.
#[inline(always)]
fn tile_of<A: Arithmetic, const N: usize>(
    groups: Groups<'_>,
    first: usize,
    weights: Wide<'_>,
    out: &mut [f32],
) {
    let Some(out) = out.as_chunks_mut::<LANES>().0.first_chunk_mut::<N>() else { return };
    let rows = groups.values.chunks(groups.n_rows).zip(groups.scales.chunks(groups.n_rows));
    let weights = weights.pairs.chunks(PAIRS).zip(weights.scales.as_chunks::<LANES>().0);
    for ((rows, row_scales), (pairs, scales)) in rows.zip(weights) {
        let Some(rows) = rows.get(first..).and_then(<[_]>::first_chunk::<N>) else { return };
        let row_scales = row_scales.get(first..).and_then(<[_]>::first_chunk::<N>);
        let Some(row_scales) = row_scales else { return };
        let sums = group_of::<A, N>(rows, pairs);
        let scales = A::Lanes::load(scales);
        for ((out, sum), row_scale) in out.iter_mut().zip(sums).zip(row_scales) {
            let sum = sum.to_floats().times(scales);
            sum.times_plus(*row_scale, A::Lanes::load(out)).store(out);
        }
    }
}

#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "a group has at most PAIRS")]
fn group_of<A: Arithmetic, const N: usize>(
    rows: &[[[i16; 2]; PAIRS]; N],
    pairs: &[[[i16; 2]; LANES]],
) -> [A::Sums; N] {
    let mut sums = [A::Sums::zero(); N];
    for (pair, weights) in pairs.iter().take(PAIRS).enumerate() {
        let weights = A::Sums::load(weights);
        for (sum, row) in sums.iter_mut().zip(rows) {
            *sum = sum.plus(weights, &row[pair]);
        }
    }
    sums
}
