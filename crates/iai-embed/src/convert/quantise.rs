//! Floats to signed bytes: every group of weights gets the scale that fits its largest one.

use crate::kernels::{GROUP, LANES};
use crate::weights::{Linear, Words};

const QUANT_MAX: f32 = 127.0;

/// A table that is quantised row by row.
#[derive(Default)]
pub(super) struct Table {
    quants: Vec<u8>,
    scales: Vec<f32>,
}

impl Table {
    pub(super) fn push(&mut self, row: &[f32]) {
        for group in row.chunks(GROUP) {
            let scale = scale_of(group);
            self.scales.push(scale);
            self.quants.extend(group.iter().map(|value| quant(*value, scale)));
        }
    }

    pub(super) fn into_words(self, width: usize) -> Words {
        Words::held(width, self.quants, &self.scales)
    }
}

/// Quantises a table.
pub(super) fn words(values: &[f32], width: usize) -> Words {
    let mut table = Table::default();
    values.chunks(width).for_each(|row| table.push(row));
    table.into_words(width)
}

/// Quantises a matrix with a row for each output, and puts it into panels.
pub(super) fn linear(values: &[f32], bias: Vec<f32>, n_inputs: usize) -> Linear {
    let mut linear = Linear {
        n_inputs,
        quants: Vec::with_capacity(values.len()),
        scales: Vec::with_capacity(values.len().div_ceil(GROUP)),
        bias,
    };
    for panel in values.chunks(n_inputs * LANES) {
        let scales: Vec<Vec<f32>> =
            panel.chunks(n_inputs).map(|row| row.chunks(GROUP).map(scale_of).collect()).collect();
        for group in 0..n_inputs.div_ceil(GROUP) {
            linear.scales.extend(scales.iter().filter_map(|row| row.get(group)));
        }
        for input in 0..n_inputs {
            let column = panel.iter().skip(input).step_by(n_inputs);
            let scales = scales.iter().filter_map(|row| row.get(input / GROUP));
            linear.quants.extend(column.zip(scales).map(|(value, scale)| quant(*value, *scale)));
        }
    }
    linear
}

fn scale_of(group: &[f32]) -> f32 {
    group.iter().fold(0.0f32, |most, value| most.max(value.abs())) / QUANT_MAX
}

#[expect(clippy::cast_possible_truncation, reason = "it is between -127 and 127")]
fn quant(value: f32, scale: f32) -> u8 {
    if scale == 0.0 { 0 } else { ((value / scale).round() as i8).cast_unsigned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_is_off_by_half_a_scale_at_most() {
        let width = GROUP + 16;
        let values: Vec<f32> =
            (0..width * 2).map(|at| ((at * 37 % 101) as f32 - 50.0) / 7.0).collect();
        let mut words = Table::default();
        values.chunks(width).for_each(|row| words.push(row));
        for (row, values) in values.chunks(width).enumerate() {
            for (at, value) in values.iter().enumerate() {
                let scale = words.scales[row * 2 + at / GROUP];
                let back = f32::from(words.quants[row * width + at].cast_signed()) * scale;
                assert!((back - value).abs() <= scale * 0.501);
            }
        }
    }

    #[test]
    fn a_panel_holds_the_outputs_side_by_side() {
        let n_inputs = 2;
        let values: Vec<f32> = (0..LANES * n_inputs).map(|at| at as f32).collect();
        let linear = linear(&values, vec![0.0; LANES], n_inputs);
        for output in 0..LANES {
            for input in 0..n_inputs {
                let quant = linear.quants[input * LANES + output].cast_signed();
                let back = f32::from(quant) * linear.scales[output];
                assert!((back - values[output * n_inputs + input]).abs() < 0.2);
            }
        }
        assert_eq!(scale_of(&[0.0; 3]), 0.0);
        assert_eq!(quant(0.0, 0.0), 0);
    }
}
