//! Named arrays of floats inside a file of weights, whatever the file's format.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::EmbedError;

/// The arrays of one file.
pub(super) struct Tensors {
    path: PathBuf,
    bytes: Vec<u8>,
    entries: BTreeMap<String, Entry>,
    /// Some publishers put this before every name.
    prefix: String,
}

/// One array.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) number: Number,
    pub(super) shape: Vec<usize>,
    /// Where in the file it lies.
    pub(super) bytes: Range<usize>,
    /// A matrix with a row for each input instead of one for each output.
    pub(super) is_turned: bool,
}

/// How a number is written, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    F32,
    F16,
    Bf16,
}

const WORDS: &str = "embeddings.word_embeddings.weight";

impl Tensors {
    pub(super) fn new(
        path: &Path,
        bytes: Vec<u8>,
        entries: BTreeMap<String, Entry>,
    ) -> Result<Self, EmbedError> {
        let prefix = entries.keys().find_map(|name| name.strip_suffix(WORDS).map(str::to_owned));
        match prefix {
            Some(prefix) => Ok(Self { path: path.to_owned(), bytes, entries, prefix }),
            None => Err(EmbedError::Unsupported(format!("its weights hold no `{WORDS}`"))),
        }
    }

    /// Returns the first `n_rows` rows of a table.
    pub(super) fn rows(
        &self,
        name: &str,
        n_rows: usize,
        width: usize,
    ) -> Result<Vec<f32>, EmbedError> {
        let name = format!("{name}.weight");
        let entry = self.entry(&name)?;
        match entry.shape.as_slice() {
            [rows, columns] if *rows >= n_rows && *columns == width && !entry.is_turned => {
                let mut values = self.values(&name, entry)?;
                values.truncate(n_rows * width);
                Ok(values)
            }
            _ => Err(self.misshapen(&name, entry, &format!("at least {n_rows} × {width}"))),
        }
    }

    /// Returns a matrix with a row for each output.
    pub(super) fn matrix(
        &self,
        name: &str,
        n_outputs: usize,
        n_inputs: usize,
    ) -> Result<Vec<f32>, EmbedError> {
        let name = format!("{name}.weight");
        let entry = self.entry(&name)?;
        let want = if entry.is_turned { [n_inputs, n_outputs] } else { [n_outputs, n_inputs] };
        if entry.shape != want {
            return Err(self.misshapen(&name, entry, &format!("{want:?}")));
        }
        let values = self.values(&name, entry)?;
        Ok(if entry.is_turned { turned(&values, n_outputs) } else { values })
    }

    pub(super) fn vector(&self, name: &str, width: usize) -> Result<Vec<f32>, EmbedError> {
        let entry = self.entry(name)?;
        if entry.shape != [width] {
            return Err(self.misshapen(name, entry, &format!("[{width}]")));
        }
        self.values(name, entry)
    }

    fn entry(&self, name: &str) -> Result<&Entry, EmbedError> {
        self.entries
            .get(&format!("{}{name}", self.prefix))
            .ok_or_else(|| EmbedError::Unsupported(format!("its weights hold no `{name}`")))
    }

    fn values(&self, name: &str, entry: &Entry) -> Result<Vec<f32>, EmbedError> {
        let bytes = self.bytes.get(entry.bytes.clone()).unwrap_or_default();
        let values: Vec<f32> = match entry.number {
            Number::F32 => bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect(),
            Number::F16 => {
                bytes.as_chunks().0.iter().map(|b| half(u16::from_le_bytes(*b))).collect()
            }
            Number::Bf16 => {
                let float = |b: &[u8; 2]| f32::from_bits(u32::from(u16::from_le_bytes(*b)) << 16);
                bytes.as_chunks().0.iter().map(float).collect()
            }
        };
        let n_values = entry.shape.iter().try_fold(1usize, |n, size| n.checked_mul(*size));
        if n_values != Some(values.len()) {
            return Err(EmbedError::bad_source(&self.path, format!("`{name}` is cut short")));
        }
        if !values.iter().all(|value| value.is_finite()) {
            return Err(EmbedError::bad_source(&self.path, format!("`{name}` is not all numbers")));
        }
        Ok(values)
    }

    fn misshapen(&self, name: &str, entry: &Entry, want: &str) -> EmbedError {
        let what = format!("`{name}` has the shape {:?}, not {want}", entry.shape);
        EmbedError::bad_source(&self.path, what)
    }
}

fn turned(values: &[f32], n_columns: usize) -> Vec<f32> {
    let column = |at: usize| values.iter().skip(at).step_by(n_columns).copied();
    (0..n_columns).flat_map(column).collect()
}

/// Widens a half-precision float.
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = (bits >> 10) & 0x1f;
    let fraction = f32::from(bits & 0x3ff);
    match exponent {
        0 => sign * fraction * 2f32.powi(-24),
        0x1f if fraction == 0.0 => sign * f32::INFINITY,
        0x1f => f32::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2f32.powi(i32::from(exponent) - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_floats_are_widened_exactly() {
        let cases = [
            (0x0000, 0.0),
            (0x8000, -0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x0001, 5.960_464_5e-8),
            (0x7bff, 65504.0),
            (0x7c00, f32::INFINITY),
        ];
        for (bits, want) in cases {
            assert_eq!(half(bits).to_bits(), f32::to_bits(want), "{bits:04x}");
        }
        assert!(half(0x7e00).is_nan());
    }

    #[test]
    fn a_matrix_is_turned() {
        assert_eq!(turned(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }
}
