//! A BERT encoder: its weights, and the forward pass over a ragged batch without padding.

mod attention;

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Pooling;
use crate::error::EmbedError;
use crate::kernels::{self, GROUP_PANELS, Kernel, LANES, Norm, Whole};
use crate::team::Team;
use crate::weights::{Linear, Matrix, Part, Parts, Words, to_unit};
use attention::{Attention, Space};

/// Panels a thread takes at a time when a team shares one step.
const PANELS_PER_TASK: usize = 3;

/// The numbers that say how large each part is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BertShape {
    pub(crate) n_layers: usize,
    pub(crate) n_heads: usize,
    pub(crate) n_hidden: usize,
    pub(crate) n_intermediate: usize,
    pub(crate) n_positions: usize,
    pub(crate) n_pieces: usize,
    pub(crate) norm_epsilon: f32,
}

/// `(what, at most)`: beyond this, a file is no model we know of.
const LIMITS: [(&str, usize); 6] = [
    ("layers", 48),
    ("heads", 64),
    ("hidden", 4096),
    ("intermediate", 16_384),
    ("positions", 8192),
    ("pieces", 1 << 20),
];

/// The encoder.
pub(crate) struct Bert {
    pub(crate) shape: BertShape,
    pub(crate) words: Words,
    /// One row for each position, the embedding of the first token type already added.
    pub(crate) positions: Vec<f32>,
    pub(crate) norm: Norm,
    pub(crate) layers: Vec<Layer>,
    kernel: Kernel,
}

pub(crate) struct Layer {
    pub(crate) query: Linear,
    pub(crate) key: Linear,
    pub(crate) value: Linear,
    pub(crate) output: Linear,
    pub(crate) output_norm: Norm,
    pub(crate) up: Linear,
    pub(crate) down: Linear,
    pub(crate) down_norm: Norm,
}

/// Who does the work.
pub(crate) enum Hands<'a> {
    Alone,
    Together(&'a Team),
}

/// A matrix multiplication that leads back to a layer's own width.
#[derive(Clone, Copy)]
enum Step {
    Output,
    Down,
}

impl BertShape {
    /// Says in a sentence why this is no shape we can run.
    pub(crate) fn check(&self) -> Result<(), String> {
        let sizes = [
            self.n_layers,
            self.n_heads,
            self.n_hidden,
            self.n_intermediate,
            self.n_positions,
            self.n_pieces,
        ];
        for (size, (what, most)) in sizes.into_iter().zip(LIMITS) {
            if size == 0 || size > most {
                return Err(format!("its number of {what} is {size}, not 1 to {most}"));
            }
        }
        let is_whole = |size: usize| size.is_multiple_of(LANES);
        if !is_whole(self.n_intermediate)
            || !self.n_hidden.is_multiple_of(self.n_heads)
            || !is_whole(self.n_hidden / self.n_heads)
        {
            return Err(format!("the width of its layers or heads is no multiple of {LANES}"));
        }
        let is_epsilon = self.norm_epsilon >= 0.0 && self.norm_epsilon < 1.0;
        if is_epsilon {
            Ok(())
        } else {
            Err("its layer norm epsilon is no small number".to_owned())
        }
    }

    /// Returns how many bytes the weights take, for a shape that passed its check.
    pub(crate) fn n_bytes(&self) -> u64 {
        let (hidden, wide) = (self.n_hidden, self.n_intermediate);
        let norm = Norm::n_bytes_of(hidden);
        let layer = 4 * Linear::n_bytes_of(hidden, hidden)
            + Linear::n_bytes_of(hidden, wide)
            + Linear::n_bytes_of(wide, hidden)
            + 2 * norm;
        let words = Words::n_bytes_of(self.n_pieces, hidden);
        let positions = self.n_positions * hidden * size_of::<f32>();
        u64::try_from(words + positions + norm + self.n_layers * layer).unwrap_or(u64::MAX)
    }
}

impl Bert {
    /// Makes room for weights, all zero; the shape has passed its check.
    pub(crate) fn empty(shape: BertShape) -> Self {
        let (hidden, wide) = (shape.n_hidden, shape.n_intermediate);
        let norm = || Norm::empty(hidden, shape.norm_epsilon);
        let layer = |_| Layer {
            query: Linear::empty(hidden, hidden),
            key: Linear::empty(hidden, hidden),
            value: Linear::empty(hidden, hidden),
            output: Linear::empty(hidden, hidden),
            output_norm: norm(),
            up: Linear::empty(hidden, wide),
            down: Linear::empty(wide, hidden),
            down_norm: norm(),
        };
        Self {
            words: Words::sized(shape.n_pieces, hidden),
            positions: vec![0.0; shape.n_positions * hidden],
            norm: norm(),
            layers: (0..shape.n_layers).map(layer).collect(),
            kernel: Kernel::detect(),
            shape,
        }
    }

    /// Returns every part of the weights in the order of the model file.
    pub(crate) fn parts(&mut self) -> Parts<'_> {
        let mut parts = Parts::new();
        self.words.add_parts(&mut parts);
        parts.push(("positions".to_owned(), Part::Floats(&mut self.positions)));
        self.norm.add_parts("norm", &mut parts);
        for (at, layer) in self.layers.iter_mut().enumerate() {
            let name = |part: &str| format!("layer.{at}.{part}");
            layer.query.add_parts(&name("query"), &mut parts);
            layer.key.add_parts(&name("key"), &mut parts);
            layer.value.add_parts(&name("value"), &mut parts);
            layer.output.add_parts(&name("output"), &mut parts);
            layer.output_norm.add_parts(&name("output_norm"), &mut parts);
            layer.up.add_parts(&name("up"), &mut parts);
            layer.down.add_parts(&name("down"), &mut parts);
            layer.down_norm.add_parts(&name("down_norm"), &mut parts);
        }
        parts
    }

    pub(crate) fn n_operations_per_token(&self) -> usize {
        let (hidden, wide) = (self.shape.n_hidden, self.shape.n_intermediate);
        2 * self.shape.n_layers * (4 * hidden * hidden + 2 * hidden * wide)
    }

    /// Returns the unit vector of each text, given as ids within the vocabulary and at most as
    /// many as there are positions.
    pub(crate) fn forward(
        self: &Arc<Self>,
        texts: &[Vec<u32>],
        pooling: Pooling,
        hands: &Hands<'_>,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut spans = Vec::with_capacity(texts.len());
        let mut n_rows = 0;
        for text in texts {
            spans.push(n_rows..n_rows + text.len());
            n_rows += text.len();
        }
        let spans = Arc::new(spans);
        let mut activations = self.look_up(texts, n_rows)?;
        for layer in 0..self.layers.len() {
            activations = self.layer(layer, activations, &spans, hands)?;
        }
        Ok(spans.iter().map(|span| pooled(&activations, span, pooling)).collect())
    }

    fn layer(
        self: &Arc<Self>,
        at: usize,
        activations: Matrix,
        spans: &Arc<Vec<Range<usize>>>,
        hands: &Hands<'_>,
    ) -> Result<Matrix, EmbedError> {
        let Some(layer) = self.layers.get(at) else { return Ok(activations) };
        let n_rows = activations.n_rows;
        let (bert, spans) = (Arc::clone(self), Arc::clone(spans));
        let input = activations.whole(self.kernel);
        let heads =
            hands.map(self.shape.n_heads, move |head| bert.head(at, head, &input, &spans))?;
        let context = Matrix { values: heads.concat(), n_rows }.whole(self.kernel);
        let mut attended = self.step(at, Step::Output, context, hands)?;
        attended.add(&activations);
        kernels::layer_norm(self.kernel, &mut attended.values, n_rows, &layer.output_norm);
        let wide = self.widened(at, attended.whole(self.kernel), hands)?;
        let mut output = self.step(at, Step::Down, wide, hands)?;
        output.add(&attended);
        kernels::layer_norm(self.kernel, &mut output.values, n_rows, &layer.down_norm);
        Ok(output)
    }

    /// Word and position embeddings, normed.
    fn look_up(&self, texts: &[Vec<u32>], n_rows: usize) -> Result<Matrix, EmbedError> {
        let hidden = self.shape.n_hidden;
        let mut matrix = Matrix::zeros(n_rows, hidden);
        let positions =
            texts.iter().flat_map(|text| self.positions.chunks(hidden).take(text.len()));
        for (row, position) in positions.enumerate() {
            matrix.set_row(row, position);
        }
        let last = u32::try_from(self.shape.n_pieces - 1).unwrap_or(u32::MAX);
        let ids = texts.iter().flatten().map(|id| (*id).min(last));
        self.words.add_rows(self.kernel, ids, &mut matrix)?;
        kernels::layer_norm(self.kernel, &mut matrix.values, n_rows, &self.norm);
        Ok(matrix)
    }

    /// One head of attention, from its queries, keys and values to what it gathered.
    fn head(&self, layer: usize, head: usize, input: &Whole, spans: &[Range<usize>]) -> Vec<f32> {
        let Some(layer) = self.layers.get(layer) else { return Vec::new() };
        let n_panels = self.shape.n_hidden / self.shape.n_heads / LANES;
        let panels = head * n_panels..(head + 1) * n_panels;
        let project = |linear: &Linear| linear.apply(self.kernel, input, panels.clone());
        let attention = Attention {
            kernel: self.kernel,
            query: project(&layer.query),
            key: project(&layer.key),
            value: project(&layer.value),
            n_rows: input.n_rows,
        };
        let mut gathered = vec![0.0; attention.query.len()];
        let mut space = Space::default();
        for span in spans {
            attention.gather(span, &mut space, &mut gathered);
        }
        gathered
    }

    fn step(
        self: &Arc<Self>,
        layer: usize,
        step: Step,
        input: Whole,
        hands: &Hands<'_>,
    ) -> Result<Matrix, EmbedError> {
        let (bert, n_rows) = (Arc::clone(self), input.n_rows);
        let (n_panels, n_per_task) = hands.shares(self.shape.n_hidden, PANELS_PER_TASK);
        let work = move |task: usize| {
            let Some(layer) = bert.layers.get(layer) else { return Vec::new() };
            let linear = match step {
                Step::Output => &layer.output,
                Step::Down => &layer.down,
            };
            let panels = task * n_per_task..((task + 1) * n_per_task).min(n_panels);
            linear.apply(bert.kernel, &input, panels)
        };
        let values = joined(hands.map(n_panels.div_ceil(n_per_task), work)?);
        Ok(Matrix { values, n_rows })
    }

    /// The middle of a layer, in whole numbers at once: each thread makes whole groups of them.
    fn widened(
        self: &Arc<Self>,
        layer: usize,
        input: Whole,
        hands: &Hands<'_>,
    ) -> Result<Whole, EmbedError> {
        let (bert, n_rows) = (Arc::clone(self), input.n_rows);
        let (n_panels, n_per_task) = hands.shares(self.shape.n_intermediate, GROUP_PANELS);
        let work = move |task: usize| {
            let Some(layer) = bert.layers.get(layer) else { return Whole::default() };
            let panels = task * n_per_task..((task + 1) * n_per_task).min(n_panels);
            let mut values = layer.up.apply(bert.kernel, &input, panels);
            kernels::gelu(bert.kernel, &mut values);
            Matrix { values, n_rows }.whole(bert.kernel)
        };
        let parts = hands.map(n_panels.div_ceil(n_per_task), work)?;
        let (values, scales) = parts.into_iter().map(|part| (part.values, part.scales)).unzip();
        Ok(Whole { values: joined(values), scales: joined(scales), n_rows })
    }
}

fn joined<T: Copy>(mut parts: Vec<Vec<T>>) -> Vec<T> {
    if parts.len() == 1 { parts.pop().unwrap_or_default() } else { parts.concat() }
}

/// Makes one unit vector out of the rows of a text.
fn pooled(rows: &Matrix, span: &Range<usize>, pooling: Pooling) -> Vec<f32> {
    let mut vector = match pooling {
        Pooling::Mean => rows.summed(span),
        Pooling::Cls => rows.summed(&(span.start..span.start + 1)),
    };
    to_unit(&mut vector);
    vector
}

impl Hands<'_> {
    /// Returns how many panels so many columns are, and how many of them make a task.
    fn shares(&self, n_columns: usize, n_together: usize) -> (usize, usize) {
        let n_panels = n_columns / LANES;
        match self {
            Self::Alone => (n_panels, n_panels),
            Self::Together(_) => (n_panels, n_together),
        }
    }

    fn map<T, F>(&self, n_tasks: usize, work: F) -> Result<Vec<T>, EmbedError>
    where
        T: Send + 'static,
        F: Fn(usize) -> T + Send + Sync + 'static,
    {
        match self {
            Self::Alone => Ok((0..n_tasks).map(work).collect()),
            Self::Together(team) => team.map(n_tasks, work),
        }
    }
}
