//! Reads the multilingual Universal Sentence Encoder out of its quantised ONNX graph, in which the
//! tokenizer is a part of the graph.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use super::protobuf::{Content, fields, text, varint};
use super::{quantise, sentencepiece};
use crate::averaging::{Averaging, AveragingShape, Branch, Dense, WINDOWS, Window};
use crate::error::EmbedError;
use crate::kernels::Norm;
use crate::tokenizer::Tokenizer;
use crate::weights::{Linear, Words};

/// Field numbers of the ONNX messages.
mod field {
    pub(super) const MODEL_GRAPH: u64 = 7;
    pub(super) const GRAPH_NODE: u64 = 1;
    pub(super) const GRAPH_WEIGHTS: u64 = 5;
    pub(super) const NODE_KIND: u64 = 4;
    pub(super) const NODE_ATTRIBUTE: u64 = 5;
    pub(super) const ATTRIBUTE_NAME: u64 = 1;
    pub(super) const ATTRIBUTE_BYTES: u64 = 4;
    pub(super) const TENSOR_SIZE: u64 = 1;
    pub(super) const TENSOR_NUMBER: u64 = 2;
    pub(super) const TENSOR_FLOATS: u64 = 4;
    pub(super) const TENSOR_INTEGERS: u64 = 5;
    pub(super) const TENSOR_NAME: u64 = 8;
    pub(super) const TENSOR_BYTES: u64 = 9;
}

const NUMBER_F32: u64 = 1;
const NUMBER_I8: u64 = 3;

const TOKENIZER_NODE: &str = "SentencepieceTokenizer";
const ENCODER: &str = "StatefulPartitionedCall/EncoderDNN";
/// The table of words lies in this many tables: piece `n` is row `n / TABLES` of table
/// `n % TABLES`.
const TABLES: usize = 17;
const NORM_EPSILON: f32 = 1e-12;

/// What the graph holds.
pub(super) struct Source {
    pub(super) tokenizer: Tokenizer,
    pub(super) averaging: Averaging,
}

/// An array of numbers.
struct Tensor {
    number: u64,
    shape: Vec<usize>,
    /// Where its numbers are, one after the other.
    bytes: Range<usize>,
    /// A number that stands by itself.
    single: Option<u64>,
}

/// The arrays of the graph.
struct Graph<'a> {
    bytes: &'a [u8],
    tensors: BTreeMap<String, Tensor>,
}

/// Reads the model; `None` when the file holds another one.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Option<Source>, EmbedError> {
    let cut = || EmbedError::bad_source(path, "it is no ONNX file, or it is cut short");
    let (tokenizer, graph) = Graph::read(bytes).ok_or_else(cut)?;
    let Some(tokenizer) = tokenizer else { return Ok(None) };
    let refused = |what: String| EmbedError::Unsupported(what);
    let tokenizer = sentencepiece::read(bytes, tokenizer).map_err(refused)?;
    let tokenizer = Tokenizer::Unigram(tokenizer);
    let n_pieces = tokenizer.vocabulary().len();
    let averaging = graph.averaging(n_pieces).map_err(refused)?;
    Ok(Some(Source { tokenizer, averaging }))
}

impl<'a> Graph<'a> {
    /// Returns where the tokenizer's model is, if there is one, and the arrays.
    fn read(bytes: &'a [u8]) -> Option<(Option<Range<usize>>, Self)> {
        let mut tensors = BTreeMap::new();
        let mut tokenizer = None;
        let model = fields(bytes, 0..bytes.len())?;
        let graph = model.into_iter().find(|(number, _)| *number == field::MODEL_GRAPH)?;
        for (number, content) in fields(bytes, graph.1.bytes()?)? {
            match number {
                field::GRAPH_NODE => {
                    tokenizer = tokenizer.or(tokenizer_of(bytes, content.bytes()?)?);
                }
                field::GRAPH_WEIGHTS => {
                    let (name, tensor) = read_tensor(bytes, content.bytes()?)?;
                    tensors.insert(name, tensor);
                }
                _ => {}
            }
        }
        Some((tokenizer, Self { bytes, tensors }))
    }

    fn averaging(&self, n_pieces: usize) -> Result<Averaging, String> {
        let gather = format!("{ENCODER}/CNN_layers/dense/kernel:0_quantized");
        let narrow = format!("{ENCODER}/DNN/ResidualHidden_0/dense/kernel:0_quantized");
        let branch = format!("{ENCODER}/CNN_layers/ngram_order_2/LayerNorm/gamma:0");
        let width = |name: &str| {
            let last = self.tensor(name)?.shape.last().copied();
            last.ok_or_else(|| format!("its weights `{name}` have no width"))
        };
        let shape = AveragingShape {
            n_hidden: width(&gather)?,
            n_filters: width(&branch)?,
            n_narrow: width(&narrow)?,
            n_pieces,
            norm_epsilon: NORM_EPSILON,
        };
        shape.check()?;
        let mut averaging = Averaging::empty(shape);
        let shape = averaging.shape.clone();
        averaging.words = self.words(n_pieces, shape.n_hidden)?;
        for (branch, window) in averaging.branches.iter_mut().zip(WINDOWS) {
            *branch = self.branch(&shape, window)?;
        }
        let layers = format!("{ENCODER}/CNN_layers");
        averaging.norm = self.norm(&format!("{layers}/LayerNorm"), shape.n_features())?;
        averaging.gather = self.linear(
            &format!("{layers}/dense/kernel:0"),
            Some(&format!("{layers}/dense/bias:0")),
            [shape.n_features(), shape.n_hidden],
        )?;
        averaging.dense = self.dense(&shape)?;
        Ok(averaging)
    }

    fn words(&self, n_pieces: usize, width: usize) -> Result<Words, String> {
        let name = |table: usize| format!("Func/StatefulPartitionedCall/input/_{}:0", table + 1);
        let tables: Vec<Table<'_>> =
            (0..TABLES).map(|at| self.table(&name(at), width)).collect::<Result<_, _>>()?;
        let mut words = quantise::Table::default();
        for piece in 0..n_pieces {
            let row = tables.get(piece % TABLES).and_then(|table| table.row(piece / TABLES));
            words.push(&row.ok_or("its table of words is shorter than its vocabulary")?);
        }
        Ok(words.into_words(width))
    }

    fn branch(&self, shape: &AveragingShape, window: Window) -> Result<Branch, String> {
        let n = window.n_words;
        let part = |part: &str| format!("{ENCODER}/CNN_layers/ngram_order_{n}/{part}");
        let filters = shape.n_filters;
        let convolution = |name: &str| {
            let (weights, bias) = (part(&format!("{name}/weights:0")), format!("{name}/bias:0"));
            self.linear(&weights, Some(&part(&bias)), [n * filters, filters])
        };
        Ok(Branch {
            project: self.linear(
                &part("input_size_projection/dense/kernel:0"),
                Some(&part("input_size_projection/dense/bias:0")),
                [shape.n_hidden, filters],
            )?,
            norm: self.norm(&part("LayerNorm"), filters)?,
            convolutions: [
                convolution(&format!("Ngram-{n}-Conv"))?,
                convolution(&format!("Ngram-{n}-Conv_1"))?,
            ],
        })
    }

    fn dense(&self, shape: &AveragingShape) -> Result<Dense, String> {
        let (hidden, narrow) = (shape.n_hidden, shape.n_narrow);
        let layer = |at: usize, part: &str, sizes| {
            let name = format!("{ENCODER}/DNN/ResidualHidden_{at}/{part}/kernel:0");
            self.linear(&name, None, sizes)
        };
        Ok(Dense {
            layers: [
                layer(0, "dense", [hidden, narrow])?,
                layer(1, "dense", [narrow, narrow])?,
                layer(2, "dense", [narrow, hidden])?,
                layer(3, "dense", [hidden, hidden])?,
            ],
            around_first: layer(1, "AdjustDepth/projection", [hidden, narrow])?,
            around_third: layer(3, "AdjustDepth/projection", [narrow, hidden])?,
        })
    }

    fn norm(&self, name: &str, width: usize) -> Result<Norm, String> {
        let weight = self.floats(&format!("{name}/gamma:0"), width)?;
        let bias = self.floats(&format!("{name}/beta:0"), width)?;
        Ok(Norm { weight, bias, epsilon: NORM_EPSILON })
    }

    /// Reads a matrix with a row for each input.
    fn linear(
        &self,
        name: &str,
        bias: Option<&str>,
        [n_inputs, n_outputs]: [usize; 2],
    ) -> Result<Linear, String> {
        let table = self.table(name, n_outputs)?;
        let rows: Option<Vec<Vec<f32>>> = (0..n_inputs).map(|row| table.row(row)).collect();
        let rows = rows.ok_or_else(|| format!("its weights `{name}` have too few rows"))?;
        let column = |at: usize| rows.iter().filter_map(move |row| row.get(at).copied());
        let values: Vec<f32> = (0..n_outputs).flat_map(column).collect();
        let bias = bias.map(|name| self.floats(name, n_outputs)).transpose()?;
        Ok(quantise::linear(&values, bias.unwrap_or_else(|| vec![0.0; n_outputs]), n_inputs))
    }

    /// Finds a quantised table.
    fn table(&self, name: &str, width: usize) -> Result<Table<'_>, String> {
        let quants = self.tensor(&format!("{name}_quantized"))?;
        let scale = self.floats(&format!("{name}_scale"), 1)?;
        let zero = self.tensor(&format!("{name}_zero_point"))?.single.unwrap_or(0);
        let is_fitting = matches!(quants.shape.as_slice(), [_, columns] if *columns == width);
        let (Some(scale), true) = (scale.first().copied(), is_fitting) else {
            return Err(format!("its weights `{name}` are not {width} wide"));
        };
        #[expect(clippy::cast_possible_truncation, reason = "a byte, sign extended")]
        let zero = f32::from(zero.cast_signed() as i16);
        let bytes = self.bytes.get(quants.bytes.clone()).unwrap_or_default();
        Ok(Table { bytes, width, is_signed: quants.number == NUMBER_I8, zero, scale })
    }

    fn floats(&self, name: &str, n_values: usize) -> Result<Vec<f32>, String> {
        let tensor = self.tensor(name)?;
        let bytes = self.bytes.get(tensor.bytes.clone()).unwrap_or_default();
        let values: Vec<f32> =
            bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        let is_whole = tensor.number == NUMBER_F32 && values.len() == n_values;
        if is_whole && values.iter().all(|value| value.is_finite()) {
            Ok(values)
        } else {
            Err(format!("its weights `{name}` are not {n_values} numbers"))
        }
    }

    fn tensor(&self, name: &str) -> Result<&Tensor, String> {
        self.tensors.get(name).ok_or_else(|| format!("its weights hold no `{name}`"))
    }
}

/// Bytes that share one scale and one zero.
struct Table<'a> {
    bytes: &'a [u8],
    width: usize,
    is_signed: bool,
    zero: f32,
    scale: f32,
}

impl Table<'_> {
    fn row(&self, row: usize) -> Option<Vec<f32>> {
        let start = row.checked_mul(self.width)?;
        let bytes = self.bytes.get(start..start.checked_add(self.width)?)?;
        let number = |byte: &u8| {
            if self.is_signed { f32::from(byte.cast_signed()) } else { f32::from(*byte) }
        };
        Some(bytes.iter().map(|byte| (number(byte) - self.zero) * self.scale).collect())
    }
}

/// Returns where the tokenizer's model is, if this node is the tokenizer.
#[expect(clippy::option_option, reason = "the outer one says that the file is cut short")]
fn tokenizer_of(bytes: &[u8], range: Range<usize>) -> Option<Option<Range<usize>>> {
    let node = fields(bytes, range)?;
    let kind = node.iter().find(|(number, _)| *number == field::NODE_KIND);
    if kind.and_then(|(_, kind)| text(bytes, kind)).as_deref() != Some(TOKENIZER_NODE) {
        return Some(None);
    }
    for (_, attribute) in node.iter().filter(|(number, _)| *number == field::NODE_ATTRIBUTE) {
        let (mut name, mut model) = (None, None);
        for (number, content) in fields(bytes, attribute.bytes()?)? {
            match number {
                field::ATTRIBUTE_NAME => name = text(bytes, &content),
                field::ATTRIBUTE_BYTES => model = content.bytes(),
                _ => {}
            }
        }
        if name.as_deref() == Some("model") {
            return Some(model);
        }
    }
    Some(None)
}

fn read_tensor(bytes: &[u8], range: Range<usize>) -> Option<(String, Tensor)> {
    let mut name = String::new();
    let mut tensor = Tensor { number: 0, shape: Vec::new(), bytes: 0..0, single: None };
    for (field, content) in fields(bytes, range)? {
        match (field, content) {
            (field::TENSOR_NAME, content) => name = text(bytes, &content)?,
            (field::TENSOR_NUMBER, Content::Number(number)) => tensor.number = number,
            (field::TENSOR_SIZE, Content::Number(size)) => {
                tensor.shape.push(usize::try_from(size).ok()?);
            }
            (field::TENSOR_SIZE, Content::Bytes(mut packed)) => {
                while !packed.is_empty() {
                    tensor.shape.push(usize::try_from(varint(bytes, &mut packed)?).ok()?);
                }
            }
            (field::TENSOR_FLOATS | field::TENSOR_BYTES, Content::Bytes(data)) => {
                tensor.bytes = data;
            }
            (field::TENSOR_INTEGERS, Content::Number(number)) => tensor.single = Some(number),
            (field::TENSOR_INTEGERS, Content::Bytes(mut packed)) => {
                tensor.single = Some(varint(bytes, &mut packed)?);
            }
            _ => {}
        }
    }
    Some((name, tensor))
}
