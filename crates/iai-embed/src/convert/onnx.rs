//! Reads the weights of an exported BERT out of an ONNX graph: as much protobuf as that takes.
//!
//! Exporters keep the names of biases but not those of matrices. A bias is added to the product
//! with its matrix, so the graph tells which matrix is whose.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use super::protobuf::{Content, fields, text, varint};
use super::tensors::{Entry, Number, Tensors};
use crate::error::EmbedError;

/// Field numbers of the ONNX messages.
mod field {
    pub(super) const MODEL_GRAPH: u64 = 7;
    pub(super) const GRAPH_NODE: u64 = 1;
    pub(super) const GRAPH_WEIGHTS: u64 = 5;
    pub(super) const NODE_INPUT: u64 = 1;
    pub(super) const NODE_OUTPUT: u64 = 2;
    pub(super) const NODE_KIND: u64 = 4;
    pub(super) const TENSOR_SIZE: u64 = 1;
    pub(super) const TENSOR_NUMBER: u64 = 2;
    pub(super) const TENSOR_FLOATS: u64 = 4;
    pub(super) const TENSOR_NAME: u64 = 8;
    pub(super) const TENSOR_BYTES: u64 = 9;
}

const NUMBER_F32: u64 = 1;
const NUMBER_F16: u64 = 10;
const NUMBER_BF16: u64 = 16;

/// One step of the graph.
#[derive(Default)]
struct Node {
    kind: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
}

pub(super) fn read(path: &Path, bytes: Vec<u8>) -> Result<Tensors, EmbedError> {
    let graph = read_graph(&bytes);
    let Some((nodes, mut entries)) = graph else {
        return Err(EmbedError::bad_source(path, "it is no ONNX file, or it is cut short"));
    };
    name_matrices(&nodes, &mut entries);
    Tensors::new(path, bytes, entries)
}

/// Gives each matrix the name of the bias that is added to its product.
fn name_matrices(nodes: &[Node], entries: &mut BTreeMap<String, Entry>) {
    let mut products: BTreeMap<&str, &str> = BTreeMap::new();
    for node in nodes.iter().filter(|node| node.kind == "MatMul") {
        if let ([_, matrix], [product]) = (node.inputs.as_slice(), node.outputs.as_slice()) {
            products.insert(product, matrix);
        }
    }
    for node in nodes.iter().filter(|node| node.kind == "Add") {
        let [one, other] = node.inputs.as_slice() else { continue };
        for (bias, product) in [(one, other), (other, one)] {
            let name = bias.strip_suffix(".bias").map(|name| format!("{name}.weight"));
            let matrix = products.get(product.as_str()).and_then(|matrix| entries.get(*matrix));
            if let (Some(name), Some(matrix)) = (name, matrix) {
                entries.insert(name, Entry { is_turned: true, ..matrix.clone() });
            }
        }
    }
}

fn read_graph(bytes: &[u8]) -> Option<(Vec<Node>, BTreeMap<String, Entry>)> {
    let mut nodes = Vec::new();
    let mut entries = BTreeMap::new();
    let fields = fields(bytes, 0..bytes.len())?;
    let graph = fields.into_iter().find(|(number, _)| *number == field::MODEL_GRAPH)?;
    for (number, content) in self::fields(bytes, graph.1.bytes()?)? {
        match number {
            field::GRAPH_NODE => nodes.push(read_node(bytes, content.bytes()?)?),
            field::GRAPH_WEIGHTS => {
                if let (name, Some(entry)) = read_weights(bytes, content.bytes()?)? {
                    entries.insert(name, entry);
                }
            }
            _ => {}
        }
    }
    Some((nodes, entries))
}

fn read_node(bytes: &[u8], range: Range<usize>) -> Option<Node> {
    let mut node = Node::default();
    for (number, content) in fields(bytes, range)? {
        match number {
            field::NODE_INPUT => node.inputs.push(text(bytes, &content)?),
            field::NODE_OUTPUT => node.outputs.push(text(bytes, &content)?),
            field::NODE_KIND => node.kind = text(bytes, &content)?,
            _ => {}
        }
    }
    Some(node)
}

/// Returns the name, and the entry if it holds floats.
fn read_weights(bytes: &[u8], range: Range<usize>) -> Option<(String, Option<Entry>)> {
    let mut name = String::new();
    let mut number = None;
    let mut entry = Entry { number: Number::F32, shape: Vec::new(), bytes: 0..0, is_turned: false };
    for (field, content) in fields(bytes, range)? {
        match (field, content) {
            (field::TENSOR_NAME, content) => name = text(bytes, &content)?,
            (field::TENSOR_NUMBER, Content::Number(kind)) => {
                number = match kind {
                    NUMBER_F32 => Some(Number::F32),
                    NUMBER_F16 => Some(Number::F16),
                    NUMBER_BF16 => Some(Number::Bf16),
                    _ => None,
                };
            }
            (field::TENSOR_SIZE, Content::Number(size)) => {
                entry.shape.push(usize::try_from(size).ok()?);
            }
            (field::TENSOR_SIZE, Content::Bytes(mut packed)) => {
                while !packed.is_empty() {
                    entry.shape.push(usize::try_from(varint(bytes, &mut packed)?).ok()?);
                }
            }
            (field::TENSOR_FLOATS | field::TENSOR_BYTES, Content::Bytes(data)) => {
                entry.bytes = data;
            }
            _ => {}
        }
    }
    Some((name, number.map(|number| Entry { number, ..entry })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(number: u8, content: &[u8]) -> Vec<u8> {
        let length = u8::try_from(content.len()).unwrap();
        assert!(length < 128);
        [&[number << 3 | 2, length], content].concat()
    }

    fn node(kind: &str, inputs: [&str; 2], output: &str) -> Vec<u8> {
        let [one, other] = inputs.map(|input| bytes(1, input.as_bytes()));
        let node = [one, other, bytes(2, output.as_bytes()), bytes(4, kind.as_bytes())];
        bytes(1, &node.concat())
    }

    fn weights(name: &str, shape: [u8; 2], data: &[f32]) -> Vec<u8> {
        let data: Vec<u8> = data.iter().flat_map(|value| value.to_le_bytes()).collect();
        let shape = [[1 << 3, shape[0]], [1 << 3, shape[1]]].concat();
        let tensor = [shape, vec![2 << 3, 1], bytes(8, name.as_bytes()), bytes(9, &data)];
        bytes(5, &tensor.concat())
    }

    fn model() -> Vec<u8> {
        let graph = [
            weights("embeddings.word_embeddings.weight", [1, 1], &[7.0]),
            weights("anon", [2, 1], &[1.0, 2.0]),
            node("MatMul", ["x", "anon"], "y"),
            node("Add", ["a.bias", "y"], "z"),
        ];
        let graph = graph.concat();
        let length = u16::try_from(graph.len()).unwrap();
        let low = u8::try_from(length & 0x7f).unwrap() | 0x80;
        [&[7 << 3 | 2, low, u8::try_from(length >> 7).unwrap()], &graph[..]].concat()
    }

    #[test]
    fn a_matrix_without_a_name_is_found_by_its_bias() {
        let tensors = read(Path::new("model.onnx"), model()).unwrap();
        assert_eq!(tensors.matrix("a", 1, 2).unwrap(), [1.0, 2.0]);
        assert_eq!(tensors.rows("embeddings.word_embeddings", 1, 1).unwrap(), [7.0]);
    }

    #[test]
    fn a_file_cut_anywhere_is_refused() {
        let whole = model();
        for n_bytes in 0..whole.len() {
            let cut = whole[..n_bytes].to_vec();
            assert!(read(Path::new("model.onnx"), cut).is_err(), "{n_bytes}");
        }
    }
}
