//! What encoders are put together from: tables of words, matrices, norms and activations.
//!
//! Weights are signed bytes in groups with a scale each; arithmetic is in floats. A table of words
//! is the largest part of a model and a text needs few of its rows, so it stays in its file.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use crate::error::EmbedError;
use crate::kernels::{self, GROUP, Kernel, LANES, Norm, WeightPanels, Whole};

/// A part of the weights, as it stands in a model file.
pub(crate) enum Part<'a> {
    Bytes(&'a mut Vec<u8>),
    Floats(&'a mut Vec<f32>),
    /// Signed bytes that are read when they are needed.
    ByteTable(&'a mut Table),
    /// Floats that are read when they are needed.
    FloatTable(&'a mut Table),
}

/// Parts with their names, in the order of the model file.
pub(crate) type Parts<'a> = Vec<(String, Part<'a>)>;

/// Bytes that are either here or in a file.
pub(crate) struct Table {
    n_bytes: u64,
    place: Place,
}

enum Place {
    /// There is a size and nothing else yet.
    Nowhere,
    Memory(Vec<u8>),
    File {
        file: Arc<File>,
        offset: u64,
    },
}

/// One row for each piece of a vocabulary.
pub(crate) struct Words {
    width: usize,
    /// A signed byte for each number.
    quants: Table,
    /// A float for each group of a row.
    scales: Table,
}

/// A matrix in panels, ready to multiply with, and a bias.
pub(crate) struct Linear {
    pub(crate) n_inputs: usize,
    pub(crate) quants: Vec<u8>,
    pub(crate) scales: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

/// Activations in panels.
pub(crate) struct Matrix {
    pub(crate) values: Vec<f32>,
    pub(crate) n_rows: usize,
}

impl Table {
    fn sized(n_bytes: usize) -> Self {
        Self { n_bytes: u64::try_from(n_bytes).unwrap_or(u64::MAX), place: Place::Nowhere }
    }

    fn held(bytes: Vec<u8>) -> Self {
        Self {
            n_bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            place: Place::Memory(bytes),
        }
    }

    pub(crate) fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// Returns what is to be written; nothing when it already is in a file.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.place {
            Place::Memory(bytes) => bytes,
            Place::Nowhere | Place::File { .. } => &[],
        }
    }

    /// Says where in a file it lies; that file must not change from now on.
    pub(crate) fn lies_in(&mut self, file: &Arc<File>, offset: u64) {
        self.place = Place::File { file: Arc::clone(file), offset };
    }

    /// Takes the bytes, on systems that cannot read in the middle of a file.
    #[cfg_attr(unix, expect(dead_code, reason = "files can be read anywhere on Unix"))]
    pub(crate) fn hold(&mut self, bytes: Vec<u8>) {
        self.place = Place::Memory(bytes);
    }

    fn read(&self, row: usize, bytes: &mut [u8]) -> io::Result<()> {
        let start = row.saturating_mul(bytes.len());
        match &self.place {
            Place::Memory(all) => {
                let found = all.get(start..start.saturating_add(bytes.len()));
                bytes.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
            Place::File { file, offset } => {
                let start = u64::try_from(start).map_err(io::Error::other)?;
                read_at(file, offset.saturating_add(start), bytes)
            }
            Place::Nowhere => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

#[cfg(unix)]
fn read_at(file: &File, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn read_at(_: &File, _: u64, _: &mut [u8]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

impl Words {
    /// Makes a table without content.
    pub(crate) fn sized(n_pieces: usize, width: usize) -> Self {
        let quants = Table::sized(n_pieces * width);
        let scales = Table::sized(n_pieces * width.div_ceil(GROUP) * size_of::<f32>());
        Self { width, quants, scales }
    }

    /// Takes quantised rows.
    pub(crate) fn held(width: usize, quants: Vec<u8>, scales: &[f32]) -> Self {
        let scales = scales.iter().flat_map(|scale| scale.to_le_bytes()).collect();
        Self { width, quants: Table::held(quants), scales: Table::held(scales) }
    }

    pub(crate) fn n_bytes_of(n_pieces: usize, width: usize) -> usize {
        n_pieces * (width + width.div_ceil(GROUP) * size_of::<f32>())
    }

    pub(crate) fn add_parts<'a>(&'a mut self, parts: &mut Parts<'a>) {
        parts.push(("words.quants".to_owned(), Part::ByteTable(&mut self.quants)));
        parts.push(("words.scales".to_owned(), Part::FloatTable(&mut self.scales)));
    }

    /// Adds each id's row to a row of `matrix`, in order.
    pub(crate) fn add_rows(
        &self,
        kernel: Kernel,
        ids: impl Iterator<Item = u32>,
        matrix: &mut Matrix,
    ) -> Result<(), EmbedError> {
        let n_rows = matrix.n_rows;
        let mut quants = vec![0; self.width];
        let mut scale_bytes = vec![0; self.width.div_ceil(GROUP) * size_of::<f32>()];
        let mut scales = vec![0.0; self.width.div_ceil(GROUP)];
        let mut vector = vec![0.0; self.width];
        for (row, id) in ids.enumerate() {
            let id = usize::try_from(id).unwrap_or(usize::MAX);
            let read = self.quants.read(id, &mut quants);
            read.and_then(|()| self.scales.read(id, &mut scale_bytes))
                .map_err(EmbedError::WordsGone)?;
            for (scale, bytes) in scales.iter_mut().zip(scale_bytes.as_chunks().0) {
                *scale = f32::from_le_bytes(*bytes);
            }
            vector.fill(0.0);
            kernels::add_quantised(kernel, &quants, &scales, &mut vector);
            let panels = matrix.values.chunks_mut(n_rows * LANES);
            for (panel, lanes) in panels.zip(vector.as_chunks::<LANES>().0) {
                let place = panel.as_chunks_mut::<LANES>().0.get_mut(row);
                for (value, lane) in place.into_iter().flatten().zip(lanes) {
                    *value += *lane;
                }
            }
        }
        Ok(())
    }
}

impl Linear {
    pub(crate) fn empty(n_inputs: usize, n_outputs: usize) -> Self {
        Self {
            n_inputs,
            quants: vec![0; n_inputs * n_outputs],
            scales: vec![0.0; n_inputs.div_ceil(GROUP) * n_outputs],
            bias: vec![0.0; n_outputs],
        }
    }

    pub(crate) fn n_bytes_of(n_inputs: usize, n_outputs: usize) -> usize {
        let n_floats = n_inputs.div_ceil(GROUP) * n_outputs + n_outputs;
        n_inputs * n_outputs + n_floats * size_of::<f32>()
    }

    pub(crate) fn add_parts<'a>(&'a mut self, name: &str, parts: &mut Parts<'a>) {
        parts.push((format!("{name}.quants"), Part::Bytes(&mut self.quants)));
        parts.push((format!("{name}.scales"), Part::Floats(&mut self.scales)));
        parts.push((format!("{name}.bias"), Part::Floats(&mut self.bias)));
    }

    /// Computes the whole output.
    pub(crate) fn all(&self, kernel: Kernel, input: &Matrix) -> Matrix {
        let panels = 0..self.bias.len() / LANES;
        let values = self.apply(kernel, &input.whole(kernel), panels);
        Matrix { values, n_rows: input.n_rows }
    }

    /// Computes some panels of the output.
    pub(crate) fn apply(&self, kernel: Kernel, input: &Whole, panels: Range<usize>) -> Vec<f32> {
        // The bias first, into room that nobody has cleared.
        let mut out = Vec::with_capacity(panels.len() * input.n_rows * LANES);
        let bias = self.bias.as_chunks::<LANES>().0.get(panels.clone()).unwrap_or_default();
        for lanes in bias {
            out.extend(std::iter::repeat_n(*lanes, input.n_rows).flatten());
        }
        if let Some(weights) = self.panels(&panels) {
            kernels::linear(kernel, input, &weights, &mut out);
        }
        out
    }

    fn panels(&self, panels: &Range<usize>) -> Option<WeightPanels<'_>> {
        let part = |n: usize| panels.start * n..panels.end * n;
        Some(WeightPanels {
            n_inputs: self.n_inputs,
            quants: self.quants.get(part(self.n_inputs * LANES))?,
            scales: self.scales.get(part(self.n_inputs.div_ceil(GROUP) * LANES))?,
        })
    }
}

impl Norm {
    pub(crate) fn empty(width: usize, epsilon: f32) -> Self {
        Self { weight: vec![0.0; width], bias: vec![0.0; width], epsilon }
    }

    pub(crate) fn n_bytes_of(width: usize) -> usize {
        2 * width * size_of::<f32>()
    }

    pub(crate) fn add_parts<'a>(&'a mut self, name: &str, parts: &mut Parts<'a>) {
        parts.push((format!("{name}.weight"), Part::Floats(&mut self.weight)));
        parts.push((format!("{name}.bias"), Part::Floats(&mut self.bias)));
    }
}

impl Matrix {
    pub(crate) fn zeros(n_rows: usize, n_columns: usize) -> Self {
        Self { values: vec![0.0; n_rows * n_columns], n_rows }
    }

    /// Returns the same in whole numbers, to multiply with weights.
    pub(crate) fn whole(&self, kernel: Kernel) -> Whole {
        let mut whole = Whole::of_rows(self.n_rows, self.values.len());
        kernels::make_whole(kernel, &self.values, &mut whole);
        whole
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (value, other) in self.values.iter_mut().zip(&other.values) {
            *value += *other;
        }
    }

    pub(crate) fn set_row(&mut self, row: usize, values: &[f32]) {
        let panels = self.values.chunks_mut((self.n_rows * LANES).max(1));
        for (panel, lanes) in panels.zip(values.as_chunks::<LANES>().0) {
            if let Some(place) = panel.as_chunks_mut::<LANES>().0.get_mut(row) {
                *place = *lanes;
            }
        }
    }

    /// Returns the sum of some rows, first column to last.
    pub(crate) fn summed(&self, rows: &Range<usize>) -> Vec<f32> {
        let mut vector = Vec::with_capacity(self.values.len() / self.n_rows.max(1));
        for panel in self.values.chunks((self.n_rows * LANES).max(1)) {
            let mut sums = [0.0f32; LANES];
            for row in panel.as_chunks::<LANES>().0.get(rows.clone()).unwrap_or_default() {
                for (sum, value) in sums.iter_mut().zip(row) {
                    *sum += *value;
                }
            }
            vector.extend(sums);
        }
        vector
    }
}

/// Brings a vector to length 1.
pub(crate) fn to_unit(vector: &mut [f32]) {
    let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    for value in vector {
        *value /= norm.max(f32::MIN_POSITIVE);
    }
}
