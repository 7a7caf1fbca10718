//! The source of a tiny BERT out of a seeded generator, written as publishers write theirs. The
//! system tests of the binary use it too.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::json;

pub(crate) const HIDDEN: usize = 128;
pub(crate) const WIDE: usize = 256;
pub(crate) const LAYERS: usize = 2;
pub(crate) const HEADS: usize = 4;
pub(crate) const POSITIONS: usize = 48;
pub(crate) const EPSILON: f32 = 1e-12;

const SPECIAL: [&str; 5] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];

/// Name → shape and values.
pub(crate) type Tensors = BTreeMap<String, (Vec<usize>, Vec<f32>)>;

/// Writes everything a publisher ships into a folder, and returns the weights.
pub(crate) fn write(folder: &Path, pooling: &str) -> Tensors {
    let write = |name: &str, value: serde_json::Value| {
        fs::write(folder.join(name), value.to_string()).unwrap();
    };
    write("config.json", config());
    write("tokenizer.json", tokenizer());
    fs::create_dir(folder.join("1_Pooling")).unwrap();
    let (is_mean, is_cls) = (pooling == "mean", pooling == "cls");
    let modes = json!({"pooling_mode_mean_tokens": is_mean, "pooling_mode_cls_token": is_cls});
    write("1_Pooling/config.json", modes);
    let tensors = tensors();
    write_safetensors(&folder.join("model.safetensors"), &tensors);
    tensors
}

pub(crate) fn config() -> serde_json::Value {
    json!({
        "model_type": "bert", "hidden_act": "gelu", "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS, "hidden_size": HIDDEN, "intermediate_size": WIDE,
        "max_position_embeddings": POSITIONS, "layer_norm_eps": EPSILON,
    })
}

fn pieces() -> Vec<String> {
    let letters = ('a'..='z').map(String::from);
    let inside = ('a'..='z').map(|letter| format!("##{letter}"));
    let special = SPECIAL.iter().map(ToString::to_string);
    special.chain(letters).chain(inside).chain(["the", ".", "한"].map(str::to_owned)).collect()
}

fn tokenizer() -> serde_json::Value {
    let vocabulary: BTreeMap<String, usize> =
        pieces().into_iter().enumerate().map(|(id, piece)| (piece, id)).collect();
    json!({
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary},
    })
}

fn tensors() -> Tensors {
    let mut random = Random(4711);
    let mut tensors = BTreeMap::new();
    let mut add = |name: String, shape: &[usize], around: f32, spread: f32| {
        let n = shape.iter().product();
        let values = (0..n).map(|_| around + spread * random.next()).collect();
        tensors.insert(name, (shape.to_vec(), values));
    };
    let embeddings = [("word", pieces().len()), ("position", POSITIONS), ("token_type", 2)];
    for (kind, n) in embeddings {
        add(format!("embeddings.{kind}_embeddings.weight"), &[n, HIDDEN], 0.0, 0.5);
    }
    let mut norms = vec!["embeddings.LayerNorm".to_owned()];
    for layer in 0..LAYERS {
        let linear = [
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", WIDE, HIDDEN),
            ("output.dense", HIDDEN, WIDE),
        ];
        for (part, n_outputs, n_inputs) in linear {
            let name = format!("encoder.layer.{layer}.{part}");
            add(format!("{name}.weight"), &[n_outputs, n_inputs], 0.0, 0.2);
            add(format!("{name}.bias"), &[n_outputs], 0.0, 0.1);
        }
        norms.push(format!("encoder.layer.{layer}.attention.output.LayerNorm"));
        norms.push(format!("encoder.layer.{layer}.output.LayerNorm"));
    }
    for norm in norms {
        add(format!("{norm}.weight"), &[HIDDEN], 1.0, 0.2);
        add(format!("{norm}.bias"), &[HIDDEN], 0.0, 0.2);
    }
    tensors
}

fn write_safetensors(path: &Path, tensors: &Tensors) {
    let mut table = serde_json::Map::new();
    let mut data: Vec<u8> = Vec::new();
    for (name, (shape, values)) in tensors {
        let from = data.len();
        data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        let line = json!({"dtype": "F32", "shape": shape, "data_offsets": [from, data.len()]});
        table.insert(name.clone(), line);
    }
    let table = serde_json::Value::Object(table).to_string();
    let length = u64::try_from(table.len()).unwrap().to_le_bytes();
    fs::write(path, [&length[..], table.as_bytes(), &data].concat()).unwrap();
}

/// A linear congruential generator; numbers between -1 and 1.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> f32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = u16::try_from(self.0 >> 48).unwrap();
        f32::from(bits) / 32_768.0 - 1.0
    }
}
