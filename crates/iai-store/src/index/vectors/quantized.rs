//! A unit vector as signed bytes, its sign code, and its cosine to a cue.

use crate::error::{Result, StoreError};
use crate::index::kernels;

/// How far from 1 the length of a unit vector may be.
const LENGTH_TOLERANCE: f64 = 1e-3;
/// The largest component, as a byte. -128 is left out, so that both signs reach equally far.
const COMPONENT_MAX: f32 = 127.0;
/// What 1.0 is in a cue. `length of a cue * length of a vector <= 32767 * 127 * 32 < 2^31`.
const CUE_UNIT: f32 = 32767.0;
const WORD_BITS: usize = 64;

/// Returns how many words the code of a vector has.
pub(super) fn n_words(dimension: u16) -> usize {
    usize::from(dimension).div_ceil(WORD_BITS)
}

/// Refuses what is not a unit vector of this dimension.
pub(super) fn check_unit(vector: &[f32], dimension: u16) -> Result<()> {
    if vector.len() != usize::from(dimension) {
        let n = vector.len();
        let why = format!("it has {n} components and its model has {dimension}");
        return Err(StoreError::refused("vector", why));
    }
    let length = vector.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    // Written so that a length that is not a number is refused too.
    if (length - 1.0).abs() <= LENGTH_TOLERANCE {
        Ok(())
    } else {
        Err(StoreError::refused("vector", format!("its length is {length} instead of 1")))
    }
}

/// Returns the nearest vector of signed bytes, the largest component being as large as can be.
pub(super) fn quantize(vector: &[f32]) -> Vec<u8> {
    let largest = vector.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    let scale = COMPONENT_MAX / largest;
    vector.iter().map(|x| signed_byte(x * scale).cast_unsigned()).collect()
}

/// Returns the unit vector that signed bytes stand for.
pub(super) fn dequantize(components: &[u8]) -> Vec<f32> {
    let scale = 1.0 / length(components);
    components.iter().map(|byte| narrow(f64::from(byte.cast_signed()) * scale)).collect()
}

/// Appends the sign code of a vector: a bit is set where a component is not negative, and clear
/// where the last word reaches beyond the vector.
pub(super) fn push_code(components: &[u8], code: &mut Vec<u64>) {
    for chunk in components.chunks(WORD_BITS) {
        let bits = chunk.iter().zip(0_u32..).map(|(byte, at)| u64::from(byte >> 7 ^ 1) << at);
        code.push(bits.fold(0, |word, bit| word | bit));
    }
}

/// What is asked, in the two forms it is compared in.
pub(super) struct Cue {
    /// Its components as integers, for exact comparison.
    pub(super) components: Vec<i16>,
    /// Its sign code.
    pub(super) code: Vec<u64>,
}

impl Cue {
    pub(super) fn new(vector: &[f32], dimension: u16) -> Result<Self> {
        check_unit(vector, dimension)?;
        let mut code = Vec::with_capacity(n_words(dimension));
        push_code(&quantize(vector), &mut code);
        let components = vector.iter().map(|x| signed_short(x * CUE_UNIT)).collect();
        Ok(Self { components, code })
    }

    /// Returns the cosine of the angle between the cue and a stored vector.
    pub(super) fn cosine(&self, components: &[u8]) -> f32 {
        let product = f64::from(kernels::dot(&self.components, components));
        narrow(product / (f64::from(CUE_UNIT) * length(components)))
    }
}

/// Never zero: the largest component of a stored vector is 127, and a rotten one must not divide.
fn length(components: &[u8]) -> f64 {
    let squares = components.iter().map(|byte| i32::from(byte.cast_signed()).pow(2));
    f64::from(squares.sum::<i32>().max(1)).sqrt()
}

#[expect(clippy::cast_possible_truncation, reason = "rounded, and the cast holds it in range")]
fn signed_byte(value: f32) -> i8 {
    value.round() as i8
}

#[expect(clippy::cast_possible_truncation, reason = "rounded, and the cast holds it in range")]
fn signed_short(value: f32) -> i16 {
    value.round() as i16
}

#[expect(clippy::cast_possible_truncation, reason = "a cosine needs no more than seven digits")]
fn narrow(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(dimension: u16, at: usize, value: f32) -> Vec<f32> {
        let mut vector = vec![0.0; usize::from(dimension)];
        vector[at] = value;
        vector
    }

    #[test]
    fn only_unit_vectors_pass() {
        let nan = axis(128, 0, f32::NAN);
        let endless = axis(128, 0, f32::INFINITY);
        for (vector, expect) in [
            (axis(128, 7, 1.0), true),
            (axis(128, 7, -1.0005), true),
            (axis(128, 7, 1.01), false),
            (axis(128, 7, 0.0), false),
            (axis(129, 7, 1.0), false),
            (Vec::new(), false),
            (nan, false),
            (endless, false),
        ] {
            assert_eq!(check_unit(&vector, 128).is_ok(), expect, "{vector:?}");
        }
    }

    #[test]
    fn a_vector_is_itself_and_opposite_to_its_opposite() {
        let half = 1.0 / 2.0_f32.sqrt();
        let mut vector = axis(200, 3, half);
        vector[150] = -half;
        let cue = Cue::new(&vector, 200).unwrap();
        assert_eq!(cue.code.len(), 4);
        let opposite: Vec<f32> = vector.iter().map(|x| -x).collect();
        for (other, expect) in [(&vector, 1.0), (&opposite, -1.0), (&axis(200, 9, 1.0), 0.0)] {
            let cosine = cue.cosine(&quantize(other));
            assert!((cosine - expect).abs() < 1e-4, "{cosine} instead of {expect}");
        }
        for (a, b) in dequantize(&quantize(&vector)).iter().zip(&vector) {
            assert!((a - b).abs() < 1e-6);
        }
    }

    #[test]
    fn a_code_has_a_bit_for_each_component_and_none_beyond() {
        let mut code = Vec::new();
        let components: Vec<u8> = (0..130).map(|at| if at % 2 == 0 { 5 } else { 0x80 }).collect();
        push_code(&components, &mut code);
        assert_eq!(code, [0x5555_5555_5555_5555, 0x5555_5555_5555_5555, 0b01]);
    }
}
