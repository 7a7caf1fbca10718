//! A deep averaging network with convolutions, as the multilingual Universal Sentence Encoder is
//! one: each word's vector and what its neighbours add to it, their average, and a few dense
//! layers. A text costs a small part of what a BERT takes.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::EmbedError;
use crate::kernels::{self, Kernel, LANES, Norm};
use crate::weights::{Linear, Matrix, Parts, Words, to_unit};

/// How many neighbouring words each branch sees at once, and how many of them stand before.
pub(crate) const WINDOWS: [Window; 3] = [
    Window { n_words: 2, n_before: 0 },
    Window { n_words: 3, n_before: 1 },
    Window { n_words: 5, n_before: 2 },
];

/// Neighbours that are seen at once.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    pub(crate) n_words: usize,
    pub(crate) n_before: usize,
}

/// The numbers that say how large each part is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AveragingShape {
    /// Numbers of a word's vector, and of a text's.
    pub(crate) n_hidden: usize,
    /// What a branch makes of a word.
    pub(crate) n_filters: usize,
    /// Numbers between the dense layers.
    pub(crate) n_narrow: usize,
    pub(crate) n_pieces: usize,
    pub(crate) norm_epsilon: f32,
}

/// Beyond this, a file is no model we know of.
const SIZE_MAX: usize = 4096;
const PIECES_MAX: usize = 1 << 20;

/// The encoder.
pub(crate) struct Averaging {
    pub(crate) shape: AveragingShape,
    pub(crate) words: Words,
    pub(crate) branches: [Branch; WINDOWS.len()],
    pub(crate) norm: Norm,
    pub(crate) gather: Linear,
    pub(crate) dense: Dense,
    kernel: Kernel,
}

/// Two convolutions over neighbours.
pub(crate) struct Branch {
    pub(crate) project: Linear,
    pub(crate) norm: Norm,
    pub(crate) convolutions: [Linear; 2],
}

/// Four layers; the second and the fourth have a way around the one before.
pub(crate) struct Dense {
    pub(crate) layers: [Linear; 4],
    pub(crate) around_first: Linear,
    pub(crate) around_third: Linear,
}

impl AveragingShape {
    /// Says in a sentence why this is no shape we can run.
    pub(crate) fn check(&self) -> Result<(), String> {
        let sizes = [self.n_hidden, self.n_filters, self.n_narrow];
        let is_size = |size: &usize| (1..=SIZE_MAX).contains(size) && size.is_multiple_of(LANES);
        if !sizes.iter().all(is_size) {
            return Err(format!("its layers are no multiples of {LANES} up to {SIZE_MAX} wide"));
        }
        if !(1..=PIECES_MAX).contains(&self.n_pieces) {
            return Err(format!("its number of pieces is not 1 to {PIECES_MAX}"));
        }
        let is_epsilon = self.norm_epsilon >= 0.0 && self.norm_epsilon < 1.0;
        if is_epsilon {
            Ok(())
        } else {
            Err("its layer norm epsilon is no small number".to_owned())
        }
    }

    /// Numbers a word has once all branches have seen it.
    pub(crate) fn n_features(&self) -> usize {
        self.n_hidden + WINDOWS.len() * self.n_filters
    }

    /// Returns how many bytes the weights take, for a shape that passed its check.
    pub(crate) fn n_bytes(&self) -> u64 {
        let (hidden, filters, narrow) = (self.n_hidden, self.n_filters, self.n_narrow);
        let branch = |window: &Window| {
            Linear::n_bytes_of(hidden, filters)
                + Norm::n_bytes_of(filters)
                + 2 * Linear::n_bytes_of(window.n_words * filters, filters)
        };
        let dense = 2 * Linear::n_bytes_of(hidden, narrow)
            + Linear::n_bytes_of(narrow, narrow)
            + 2 * Linear::n_bytes_of(narrow, hidden)
            + Linear::n_bytes_of(hidden, hidden);
        let total = Words::n_bytes_of(self.n_pieces, hidden)
            + WINDOWS.iter().map(branch).sum::<usize>()
            + Norm::n_bytes_of(self.n_features())
            + Linear::n_bytes_of(self.n_features(), hidden)
            + dense;
        u64::try_from(total).unwrap_or(u64::MAX)
    }
}

impl Averaging {
    /// Makes room for weights, all zero; the shape has passed its check.
    pub(crate) fn empty(shape: AveragingShape) -> Self {
        let (hidden, filters, narrow) = (shape.n_hidden, shape.n_filters, shape.n_narrow);
        let branch = |window: Window| {
            let convolution = || Linear::empty(window.n_words * filters, filters);
            Branch {
                project: Linear::empty(hidden, filters),
                norm: Norm::empty(filters, shape.norm_epsilon),
                convolutions: [convolution(), convolution()],
            }
        };
        Self {
            words: Words::sized(shape.n_pieces, hidden),
            branches: WINDOWS.map(branch),
            norm: Norm::empty(shape.n_features(), shape.norm_epsilon),
            gather: Linear::empty(shape.n_features(), hidden),
            dense: Dense {
                layers: [
                    Linear::empty(hidden, narrow),
                    Linear::empty(narrow, narrow),
                    Linear::empty(narrow, hidden),
                    Linear::empty(hidden, hidden),
                ],
                around_first: Linear::empty(hidden, narrow),
                around_third: Linear::empty(narrow, hidden),
            },
            kernel: Kernel::detect(),
            shape,
        }
    }

    /// Returns every part of the weights in the order of the model file.
    pub(crate) fn parts(&mut self) -> Parts<'_> {
        let mut parts = Parts::new();
        self.words.add_parts(&mut parts);
        for (branch, window) in self.branches.iter_mut().zip(WINDOWS) {
            let name = |part: &str| format!("branch.{}.{part}", window.n_words);
            branch.project.add_parts(&name("project"), &mut parts);
            branch.norm.add_parts(&name("norm"), &mut parts);
            for (at, convolution) in branch.convolutions.iter_mut().enumerate() {
                convolution.add_parts(&name(&format!("convolution.{at}")), &mut parts);
            }
        }
        self.norm.add_parts("norm", &mut parts);
        self.gather.add_parts("gather", &mut parts);
        for (at, layer) in self.dense.layers.iter_mut().enumerate() {
            layer.add_parts(&format!("dense.{at}"), &mut parts);
        }
        self.dense.around_first.add_parts("dense.around_first", &mut parts);
        self.dense.around_third.add_parts("dense.around_third", &mut parts);
        parts
    }

    pub(crate) fn n_operations_per_token(&self) -> usize {
        let (hidden, filters) = (self.shape.n_hidden, self.shape.n_filters);
        let branch = |window: &Window| filters * (hidden + 2 * window.n_words * filters);
        2 * WINDOWS.iter().map(branch).sum::<usize>()
    }

    /// Returns the unit vector of each text, given as ids within the vocabulary.
    pub(crate) fn forward(&self, texts: &[Vec<u32>]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut spans = Vec::with_capacity(texts.len());
        let mut n_rows = 0;
        for text in texts {
            spans.push(n_rows..n_rows + text.len());
            n_rows += text.len();
        }
        let mut features = Matrix::zeros(n_rows, self.shape.n_hidden);
        self.words.add_rows(self.kernel, texts.iter().flatten().copied(), &mut features)?;
        let seen: Vec<Matrix> = self
            .branches
            .iter()
            .zip(WINDOWS)
            .map(|(branch, window)| branch.see(self.kernel, &features, window, &spans))
            .collect();
        seen.into_iter().for_each(|seen| features.values.extend(seen.values));
        kernels::layer_norm(self.kernel, &mut features.values, n_rows, &self.norm);
        let averages = self.averages(&features, &spans);
        Ok(self.dense.finish(self.kernel, &averages))
    }

    /// Gathers the words of each text: their mean, once more weighed by how many they are.
    #[expect(clippy::cast_precision_loss, reason = "a text has some hundred words")]
    fn averages(&self, features: &Matrix, spans: &[Range<usize>]) -> Matrix {
        let mut means = Matrix::zeros(spans.len(), self.shape.n_features());
        for (row, span) in spans.iter().enumerate() {
            let n_words = span.len().max(1) as f32;
            let sums = features.summed(span).into_iter();
            means.set_row(row, &sums.map(|sum| sum / n_words).collect::<Vec<f32>>());
        }
        let mut gathered = self.gather.all(self.kernel, &means);
        for panel in gathered.values.chunks_mut((spans.len() * LANES).max(1)) {
            for (row, span) in panel.as_chunks_mut::<LANES>().0.iter_mut().zip(spans) {
                row.iter_mut().for_each(|value| *value *= (span.len() as f32).sqrt());
            }
        }
        gathered
    }
}

impl Branch {
    fn see(
        &self,
        kernel: Kernel,
        words: &Matrix,
        window: Window,
        spans: &[Range<usize>],
    ) -> Matrix {
        let mut seen = self.project.all(kernel, words);
        kernels::layer_norm(kernel, &mut seen.values, words.n_rows, &self.norm);
        for convolution in &self.convolutions {
            let mut more = convolution.all(kernel, &neighbours(&seen, window, spans));
            more.values.iter_mut().for_each(|value| *value = value.max(0.0));
            seen.add(&more);
        }
        seen
    }
}

/// Puts the rows of each word's neighbours side by side; beyond the ends of a text, there is
/// nothing but zeros.
fn neighbours(rows: &Matrix, window: Window, spans: &[Range<usize>]) -> Matrix {
    let mut side_by_side = Matrix::zeros(rows.n_rows, 0);
    side_by_side.values.reserve_exact(rows.values.len() * window.n_words);
    for place in 0..window.n_words {
        for panel in rows.values.chunks((rows.n_rows * LANES).max(1)) {
            for span in spans {
                let n_before = window.n_before.saturating_sub(place).min(span.len());
                let n_after = place.saturating_sub(window.n_before).min(span.len());
                let inside = (span.start + n_after) * LANES..(span.end - n_before) * LANES;
                let values = &mut side_by_side.values;
                values.extend(std::iter::repeat_n(0.0, n_before * LANES));
                values.extend_from_slice(panel.get(inside).unwrap_or_default());
                values.extend(std::iter::repeat_n(0.0, n_after * LANES));
            }
        }
    }
    side_by_side
}

impl Dense {
    fn finish(&self, kernel: Kernel, averages: &Matrix) -> Vec<Vec<f32>> {
        let [first, second, third, fourth] = &self.layers;
        let positive = |mut matrix: Matrix| {
            matrix.values.iter_mut().for_each(|value| *value = value.max(0.0));
            matrix
        };
        let inner = positive(first.all(kernel, averages));
        let mut narrow = second.all(kernel, &inner);
        narrow.add(&self.around_first.all(kernel, averages));
        let narrow = positive(narrow);
        let inner = positive(third.all(kernel, &narrow));
        let mut last = fourth.all(kernel, &inner);
        last.add(&self.around_third.all(kernel, &narrow));
        let vector = |row: usize| {
            let mut vector = last.summed(&(row..row + 1));
            vector.iter_mut().for_each(|value| *value = value.tanh());
            to_unit(&mut vector);
            vector
        };
        (0..averages.n_rows).map(vector).collect()
    }
}
