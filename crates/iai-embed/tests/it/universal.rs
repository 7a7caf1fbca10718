//! A tiny Universal Sentence Encoder: an ONNX graph with its tokenizer inside, written byte by
//! byte, and its forward pass written as plainly as possible to compare with.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use iai_embed::{EmbedError, Embedder as _, Model, check_vectors, convert};
use tempfile::TempDir;

use crate::source::Random;

const HIDDEN: usize = 64;
const FILTERS: usize = 32;
const NARROW: usize = 48;
const TABLES: usize = 17;
const ENCODER: &str = "StatefulPartitionedCall/EncoderDNN";
/// Every group of 64 weights has a largest one of 127: nothing is lost but rounding.
const COSINE_MIN: f32 = 0.999_99;
const GROUP: usize = 64;

const TEXTS: &[&str] =
    &["a", "the cat sat.", "hello the world 한 of 🙂", "x y z ab cd ef gh ij kl mn"];

/// A row of numbers for each input.
type Table = Vec<Vec<f32>>;

/// The weights as they were meant, and a folder with the source and the model file.
struct Tiny {
    tables: BTreeMap<String, Table>,
    vectors: BTreeMap<String, Vec<f32>>,
    folder: TempDir,
}

fn pieces() -> Vec<String> {
    let letters = ('a'..='z').map(String::from);
    let words = ["▁", "▁the", "▁cat", "at", ".", "한"].map(str::to_owned);
    ["<unk>", "<s>", "</s>"].map(str::to_owned).into_iter().chain(letters).chain(words).collect()
}

impl Tiny {
    fn new() -> Self {
        let (mut tables, mut vectors) = (BTreeMap::new(), BTreeMap::new());
        let mut weights = Vec::new();
        let mut random = Random(42);
        for (name, n_rows, n_columns) in table_sizes() {
            let (table, tensors) = quantised(&name, n_rows, n_columns, &mut random);
            tables.insert(name, table);
            weights.extend(tensors);
        }
        for (name, width) in vector_sizes() {
            let around = if name.ends_with("gamma:0") { 1.0 } else { 0.0 };
            let values: Vec<f32> = (0..width).map(|_| around + 0.2 * random.next()).collect();
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            weights.extend(tensor(&name, &[1, width], 1, &field(9, &bytes)));
            vectors.insert(name, values);
        }
        let graph = [tokenizer_node(), weights].concat();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("model.onnx"), field(7, &graph)).unwrap();
        let tiny = Self { tables, vectors, folder };
        convert(tiny.folder.path(), "polyglot", &tiny.path()).unwrap();
        tiny
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("tiny.iai")
    }

    fn model(&self) -> Model {
        Model::open(&self.path()).unwrap()
    }

    fn times(&self, rows: &Table, name: &str, bias: Option<&str>) -> Table {
        let table = &self.tables[name];
        let one = |row: &Vec<f32>| -> Vec<f32> {
            let column = |at: usize| row.iter().zip(table).map(move |(x, weights)| x * weights[at]);
            let bias = |at: usize| bias.map_or(0.0, |name| self.vectors[name][at]);
            (0..table[0].len()).map(|at| column(at).sum::<f32>() + bias(at)).collect()
        };
        rows.iter().map(one).collect()
    }

    fn normed(&self, rows: Table, name: &str) -> Table {
        let weight = &self.vectors[&format!("{name}/gamma:0")];
        let bias = &self.vectors[&format!("{name}/beta:0")];
        let one = |row: Vec<f32>| -> Vec<f32> {
            let n = row.len() as f32;
            let mean = row.iter().sum::<f32>() / n;
            let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / n;
            (0..row.len())
                .map(|at| (row[at] - mean) / variance.sqrt() * weight[at] + bias[at])
                .collect()
        };
        rows.into_iter().map(one).collect()
    }

    fn branch(&self, words: &Table, n_words: usize, n_before: usize) -> Table {
        let name = |part: &str| format!("{ENCODER}/CNN_layers/ngram_order_{n_words}/{part}");
        let project = name("input_size_projection/dense/kernel:0");
        let bias = name("input_size_projection/dense/bias:0");
        let mut seen = self.normed(self.times(words, &project, Some(&bias)), &name("LayerNorm"));
        for convolution in ["Conv", "Conv_1"] {
            let part = |part: &str| name(&format!("Ngram-{n_words}-{convolution}/{part}:0"));
            let neighbours = |at: usize| -> Vec<f32> {
                let place = |place: usize| (at + place).checked_sub(n_before);
                let row = |at: usize| place(at).and_then(|at| seen.get(at).cloned());
                (0..n_words).flat_map(|at| row(at).unwrap_or(vec![0.0; FILTERS])).collect()
            };
            let windows: Table = (0..seen.len()).map(neighbours).collect();
            let more = positive(self.times(&windows, &part("weights"), Some(&part("bias"))));
            seen = added(&seen, &more);
        }
        seen
    }

    fn plain(&self, ids: &[u32]) -> Vec<f32> {
        let word = |id: &u32| {
            let id = *id as usize;
            let name = format!("Func/StatefulPartitionedCall/input/_{}:0", id % TABLES + 1);
            self.tables[&name][id / TABLES].clone()
        };
        let words: Table = ids.iter().map(word).collect();
        let mut features = words.clone();
        for (n_words, n_before) in [(2, 0), (3, 1), (5, 2)] {
            let seen = self.branch(&words, n_words, n_before);
            features.iter_mut().zip(seen).for_each(|(features, seen)| features.extend(seen));
        }
        let layers = format!("{ENCODER}/CNN_layers");
        let features = self.normed(features, &format!("{layers}/LayerNorm"));
        let bias = format!("{layers}/dense/bias:0");
        let gathered = self.times(&features, &format!("{layers}/dense/kernel:0"), Some(&bias));
        let root = (ids.len() as f32).sqrt();
        let sum = |at: usize| gathered.iter().map(|row| row[at]).sum::<f32>() / root;
        let average: Table = vec![(0..HIDDEN).map(sum).collect()];
        let dense = |rows: &Table, at: usize, part: &str| {
            self.times(rows, &format!("{ENCODER}/DNN/ResidualHidden_{at}/{part}/kernel:0"), None)
        };
        let inner = positive(dense(&average, 0, "dense"));
        let around = dense(&average, 1, "AdjustDepth/projection");
        let narrow = positive(added(&around, &dense(&inner, 1, "dense")));
        let inner = positive(dense(&narrow, 2, "dense"));
        let around = dense(&narrow, 3, "AdjustDepth/projection");
        let last = added(&around, &dense(&inner, 3, "dense")).remove(0);
        let vector: Vec<f32> = last.iter().map(|x| x.tanh()).collect();
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter().map(|x| x / length).collect()
    }
}

fn positive(mut rows: Table) -> Table {
    rows.iter_mut().flatten().for_each(|x| *x = x.max(0.0));
    rows
}

fn added(one: &Table, other: &Table) -> Table {
    let sum = |(one, other): (&Vec<f32>, &Vec<f32>)| {
        one.iter().zip(other).map(|(one, other)| one + other).collect()
    };
    one.iter().zip(other).map(sum).collect()
}

fn table_sizes() -> Vec<(String, usize, usize)> {
    let n_rows = pieces().len().div_ceil(TABLES);
    let words = (1..=TABLES)
        .map(|at| (format!("Func/StatefulPartitionedCall/input/_{at}:0"), n_rows, HIDDEN));
    let branches = [2, 3, 5].into_iter().flat_map(|n| {
        let name = move |part: &str| format!("{ENCODER}/CNN_layers/ngram_order_{n}/{part}");
        [
            (name("input_size_projection/dense/kernel:0"), HIDDEN, FILTERS),
            (name(&format!("Ngram-{n}-Conv/weights:0")), n * FILTERS, FILTERS),
            (name(&format!("Ngram-{n}-Conv_1/weights:0")), n * FILTERS, FILTERS),
        ]
    });
    let dense =
        |at: usize, part: &str| format!("{ENCODER}/DNN/ResidualHidden_{at}/{part}/kernel:0");
    let rest = [
        (format!("{ENCODER}/CNN_layers/dense/kernel:0"), HIDDEN + 3 * FILTERS, HIDDEN),
        (dense(0, "dense"), HIDDEN, NARROW),
        (dense(1, "dense"), NARROW, NARROW),
        (dense(1, "AdjustDepth/projection"), HIDDEN, NARROW),
        (dense(2, "dense"), NARROW, HIDDEN),
        (dense(3, "dense"), HIDDEN, HIDDEN),
        (dense(3, "AdjustDepth/projection"), NARROW, HIDDEN),
    ];
    words.chain(branches).chain(rest).collect()
}

fn vector_sizes() -> Vec<(String, usize)> {
    let branches = [2, 3, 5].into_iter().flat_map(|n| {
        let name = move |part: &str| format!("{ENCODER}/CNN_layers/ngram_order_{n}/{part}:0");
        let parts = [format!("Ngram-{n}-Conv/bias"), format!("Ngram-{n}-Conv_1/bias")];
        let more = ["LayerNorm/gamma", "LayerNorm/beta", "input_size_projection/dense/bias"];
        parts.into_iter().chain(more.map(str::to_owned)).map(move |part| (name(&part), FILTERS))
    });
    let layers = |part: &str| format!("{ENCODER}/CNN_layers/{part}:0");
    let wide = HIDDEN + 3 * FILTERS;
    let rest = [
        (layers("LayerNorm/gamma"), wide),
        (layers("LayerNorm/beta"), wide),
        (layers("dense/bias"), HIDDEN),
    ];
    branches.chain(rest).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "it is between -127 and 127")]
fn number_of(value: f32, is_largest: bool) -> i32 {
    if is_largest { 127 * value.signum() as i32 } else { (value * 127.0) as i32 }
}

/// Makes a table of bytes with a scale and a zero: words without a sign, weights with one.
fn quantised(name: &str, n_rows: usize, n_columns: usize, random: &mut Random) -> (Table, Vec<u8>) {
    let is_words = name.starts_with("Func/");
    let (scale, zero, number) = if is_words { (0.05f32, 128u8, 2) } else { (0.004, 0, 3) };
    let mut value = |at: usize| -> i32 {
        let (row, column) = (at / n_columns, at % n_columns);
        let place = if is_words { column } else { row };
        number_of(random.next(), place % GROUP == 0)
    };
    let numbers: Vec<i32> = (0..n_rows * n_columns).map(&mut value).collect();
    let bytes: Vec<u8> =
        numbers.iter().map(|value| (value + i32::from(zero)).to_le_bytes()[0]).collect();
    let float = |value: &i32| *value as f32 * scale;
    let table = numbers.chunks(n_columns).map(|row| row.iter().map(float).collect()).collect();
    let tensors = [
        tensor(&format!("{name}_quantized"), &[n_rows, n_columns], number, &field(9, &bytes)),
        tensor(&format!("{name}_scale"), &[], 1, &field(4, &scale.to_le_bytes())),
        tensor(&format!("{name}_zero_point"), &[], number, &field(5, &varint(zero.into()))),
    ];
    (table, tensors.concat())
}

fn tokenizer_node() -> Vec<u8> {
    let piece = |(id, text): (usize, String)| {
        let kind = [2, 3, 3].get(id).copied().unwrap_or(1);
        let score = -(text.chars().count() as f32) / 2.0 - 2.0;
        let score = [&[2 << 3 | 5][..], &score.to_le_bytes()].concat();
        field(1, &[field(1, text.as_bytes()), score, number(3, kind)].concat())
    };
    let model: Vec<u8> = pieces().into_iter().enumerate().flat_map(piece).collect();
    let attribute = [field(1, b"model"), field(4, &model)].concat();
    field(1, &[field(4, b"SentencepieceTokenizer"), field(5, &attribute)].concat())
}

fn tensor(name: &str, shape: &[usize], kind: usize, data: &[u8]) -> Vec<u8> {
    let shape: Vec<u8> = shape.iter().flat_map(|size| number(1, *size)).collect();
    field(5, &[shape, number(2, kind), field(8, name.as_bytes()), data.to_vec()].concat())
}

fn field(at: u8, content: &[u8]) -> Vec<u8> {
    [&[at << 3 | 2][..], &varint(content.len()), content].concat()
}

fn number(at: u8, value: usize) -> Vec<u8> {
    [&[at << 3][..], &varint(value)].concat()
}

fn varint(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 127 {
        bytes.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
        value >>= 7;
    }
    bytes.push(u8::try_from(value).unwrap());
    bytes
}

#[test]
fn vectors_are_those_of_a_plain_forward_pass() {
    let tiny = Tiny::new();
    let model = tiny.model();
    for text in TEXTS {
        let got = model.embed(&[text]).unwrap().remove(0);
        let want = tiny.plain(&model.token_ids(text));
        let cosine: f32 = got.iter().zip(&want).map(|(got, want)| got * want).sum();
        assert!(cosine > COSINE_MIN, "{text}: {cosine}");
    }
}

#[test]
fn it_keeps_to_what_every_embedder_keeps_to() {
    let model = Tiny::new().model();
    assert_eq!((model.identity().dimension, model.identity().n_tokens_max), (HIDDEN, 256));
    let many: Vec<&str> = TEXTS.iter().copied().chain([""]).cycle().take(200).collect();
    let batched = model.embed(&many).unwrap();
    check_vectors(&batched).unwrap();
    for (text, batched) in many.iter().zip(batched) {
        let alone = model.embed(&[text]).unwrap().remove(0);
        let off = alone.iter().zip(&batched).map(|(a, b)| (a - b).abs());
        assert!(off.fold(0.0, f32::max) <= 1e-5, "{text}");
    }
    let text = "the cat sat on the mat. 한한한한 zz ".repeat(200);
    let windows = model.windows(&text);
    assert_eq!((windows[0].start, windows.last().unwrap().end), (0, text.len()));
    for window in &windows {
        let n_ids = model.token_ids(&text[window.clone()]).len();
        let longer = model.token_ids(&format!("{} the", &text[window.clone()])).len();
        assert!(longer == n_ids + 1, "a window is not cut");
    }
}

#[test]
fn marks_are_text() {
    let model = Tiny::new().model();
    let ids = model.token_ids("a </s> <s> <unk>");
    let n_ends = ids.iter().filter(|id| [1, 2].contains(*id)).count();
    assert_eq!((n_ends, ids.first(), ids.last()), (2, Some(&1), Some(&2)));
}

#[test]
fn its_file_is_of_the_second_format_and_checked() {
    let tiny = Tiny::new();
    let whole = fs::read(tiny.path()).unwrap();
    assert_eq!(whole[8], 2);
    let path = tiny.folder.path().join("changed.iai");
    for at in (0..64).chain((64..whole.len()).step_by(997)).chain(whole.len() - 40..whole.len()) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&path, bytes).unwrap();
        assert!(Model::open(&path).is_err(), "byte {at}");
    }
    for n_bytes in (0..whole.len()).step_by(4999) {
        fs::write(&path, &whole[..n_bytes]).unwrap();
        assert!(Model::open(&path).is_err(), "{n_bytes} bytes");
    }
}

#[test]
fn a_table_that_is_taken_away_is_an_error_and_no_crash() {
    let tiny = Tiny::new();
    let model = tiny.model();
    fs::OpenOptions::new().write(true).open(tiny.path()).unwrap().set_len(100).unwrap();
    assert!(matches!(model.embed(&["a"]), Err(EmbedError::WordsGone(_))));
}

#[test]
fn a_graph_that_lacks_something_is_refused_by_name() {
    let tiny = Tiny::new();
    let source = tiny.folder.path().join("model.onnx");
    let whole = fs::read(&source).unwrap();
    for (from, to, want) in [
        ("ngram_order_5/LayerNorm/beta", "ngram_order_5/LayerNorm/bete", "hold no"),
        ("input/_17:0_quantized", "input/_18:0_quantized", "hold no"),
        ("SentencepieceTokenizer", "SentencepieceTokenizes", "config.json"),
    ] {
        let at = whole.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
        let mut bytes = whole.clone();
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        fs::write(&source, bytes).unwrap();
        let error = convert(tiny.folder.path(), "x", &tiny.path()).unwrap_err().to_string();
        assert!(error.contains(want), "{error}");
    }
    for n_bytes in (0..whole.len()).step_by(1999) {
        fs::write(&source, &whole[..n_bytes]).unwrap();
        assert!(convert(tiny.folder.path(), "x", &tiny.path()).is_err(), "{n_bytes}");
    }
}
