//! Makes a model file out of what publishers ship: weights, `tokenizer.json`, `config.json`, or an
//! ONNX graph that holds everything.
//!
//! Each of them is read by a file of its own in here; what we cannot run is refused with a
//! sentence that says what it is.

mod onnx;
mod protobuf;
mod quantise;
mod safetensors;
mod sentencepiece;
mod tensors;
mod universal;
mod wordpiece;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::bert::{Bert, BertShape};
use crate::check::check_vectors;
use crate::encoder::Weights;
use crate::error::EmbedError;
use crate::file::{self, Content};
use crate::kernels::Norm;
use crate::{Embedder as _, Model, ModelIdentity, Pooling};
use tensors::Tensors;

const WEIGHTS_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;
const JSON_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Where weights may lie in a source folder; the first that is there is used.
const WEIGHTS: &[&str] =
    &["model.safetensors", "model.fp16.safetensors", "model.onnx", "onnx/model.onnx"];

/// Reads a model as its publisher ships it and writes our model file to `to`.
///
/// `source` is a folder with the weights (`model.safetensors` or `model.onnx`), `tokenizer.json`
/// and `config.json`; `1_Pooling/config.json` and `sentence_bert_config.json` are used if there.
/// Without them, vectors are pooled by their mean and every position of the model counts. A
/// `model.onnx` with a tokenizer inside, as the multilingual Universal Sentence Encoder has one,
/// stands by itself.
pub fn convert(source: &Path, name: &str, to: &Path) -> Result<ModelIdentity, EmbedError> {
    let content = match read_universal(source, name)? {
        Some(content) => content,
        None => read_bert(source, name)?,
    };
    content.check().map_err(EmbedError::Unsupported)?;
    file::write(to, content, prove)
}

/// How many tokens of a text count where its publisher does not say.
const TOKENS_DEFAULT: usize = 256;

fn read_universal(source: &Path, name: &str) -> Result<Option<Content>, EmbedError> {
    let path = source.join("model.onnx");
    if source.join("config.json").exists() || !path.exists() {
        return Ok(None);
    }
    let bytes = read_bounded(&path, WEIGHTS_BYTES_MAX)?;
    let Some(universal) = universal::read(&path, &bytes)? else { return Ok(None) };
    Ok(Some(Content {
        name: name.to_owned(),
        pooling: Pooling::Mean,
        prefix: String::new(),
        n_tokens_max: n_tokens(source)?.unwrap_or(TOKENS_DEFAULT),
        tokenizer: universal.tokenizer,
        weights: Weights::Averaging(Box::new(universal.averaging)),
    }))
}

fn read_bert(source: &Path, name: &str) -> Result<Content, EmbedError> {
    let config: Config = required(&source.join("config.json"))?;
    config.check()?;
    let tokenizer = wordpiece::read(&source.join("tokenizer.json"))?;
    let tensors = read_weights(source)?;
    let shape = config.shape(tokenizer.vocabulary().len());
    shape.check().map_err(EmbedError::Unsupported)?;
    let pooling: Option<PoolingConfig> = optional(&source.join("1_Pooling/config.json"))?;
    Ok(Content {
        name: name.to_owned(),
        pooling: pooling.map_or(Ok(Pooling::Mean), |pooling| pooling.pooling())?,
        prefix: String::new(),
        n_tokens_max: n_tokens(source)?.unwrap_or(shape.n_positions).min(shape.n_positions),
        weights: Weights::Bert(Box::new(fill(Bert::empty(shape), &tensors)?)),
        tokenizer,
    })
}

fn n_tokens(source: &Path) -> Result<Option<usize>, EmbedError> {
    let sentence: Option<SentenceConfig> = optional(&source.join("sentence_bert_config.json"))?;
    Ok(sentence.and_then(|sentence| sentence.max_seq_length))
}

/// Different texts that any model tells apart.
const PROBES: &[&str] = &["a cat sat on the mat", "invoice 4711 is overdue", "zzz"];

/// Opens what was written and lets it work once, before anybody relies on it.
fn prove(written: &Path) -> Result<(), EmbedError> {
    check_vectors(&Model::open(written)?.embed(PROBES)?)
}

/// What `config.json` says that matters here.
#[derive(Deserialize)]
struct Config {
    model_type: String,
    hidden_act: String,
    #[serde(default = "absolute")]
    position_embedding_type: String,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    hidden_size: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    layer_norm_eps: f32,
}

#[derive(Deserialize)]
struct SentenceConfig {
    max_seq_length: Option<usize>,
}

#[derive(Deserialize)]
struct PoolingConfig {
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
}

fn absolute() -> String {
    "absolute".to_owned()
}

impl Config {
    fn check(&self) -> Result<(), EmbedError> {
        let wanted = [
            ("architecture", &self.model_type, "bert"),
            ("activation", &self.hidden_act, "gelu"),
            ("kind of positions", &self.position_embedding_type, "absolute"),
        ];
        for (what, found, known) in wanted {
            if found != known {
                let sentence = format!("its {what} is `{found}`, not `{known}`");
                return Err(EmbedError::Unsupported(sentence));
            }
        }
        Ok(())
    }

    fn shape(&self, n_pieces: usize) -> BertShape {
        BertShape {
            n_layers: self.num_hidden_layers,
            n_heads: self.num_attention_heads,
            n_hidden: self.hidden_size,
            n_intermediate: self.intermediate_size,
            n_positions: self.max_position_embeddings,
            n_pieces,
            norm_epsilon: self.layer_norm_eps,
        }
    }
}

impl PoolingConfig {
    fn pooling(&self) -> Result<Pooling, EmbedError> {
        match (self.pooling_mode_mean_tokens, self.pooling_mode_cls_token) {
            (true, false) => Ok(Pooling::Mean),
            (false, true) => Ok(Pooling::Cls),
            (true, true) | (false, false) => {
                Err(EmbedError::Unsupported("it pools neither by mean nor by `[CLS]`".to_owned()))
            }
        }
    }
}

fn fill(mut bert: Bert, tensors: &Tensors) -> Result<Bert, EmbedError> {
    let (hidden, wide) = (bert.shape.n_hidden, bert.shape.n_intermediate);
    let words = tensors.rows("embeddings.word_embeddings", bert.shape.n_pieces, hidden)?;
    bert.words = quantise::words(&words, hidden);
    bert.positions =
        tensors.rows("embeddings.position_embeddings", bert.shape.n_positions, hidden)?;
    // Every text is of the first type, so that its embedding is a part of every position.
    let kind = tensors.rows("embeddings.token_type_embeddings", 1, hidden)?;
    for position in bert.positions.chunks_mut(hidden) {
        for (value, kind) in position.iter_mut().zip(&kind) {
            *value += kind;
        }
    }
    fill_norm(&mut bert.norm, tensors, "embeddings.LayerNorm")?;
    for (at, layer) in bert.layers.iter_mut().enumerate() {
        let name = |part: &str| format!("encoder.layer.{at}.{part}");
        let linear = |part: &str, n_inputs: usize, n_outputs: usize| {
            let weight = tensors.matrix(&name(part), n_outputs, n_inputs)?;
            let bias = tensors.vector(&format!("{}.bias", name(part)), n_outputs)?;
            Ok::<_, EmbedError>(quantise::linear(&weight, bias, n_inputs))
        };
        layer.query = linear("attention.self.query", hidden, hidden)?;
        layer.key = linear("attention.self.key", hidden, hidden)?;
        layer.value = linear("attention.self.value", hidden, hidden)?;
        layer.output = linear("attention.output.dense", hidden, hidden)?;
        layer.up = linear("intermediate.dense", hidden, wide)?;
        layer.down = linear("output.dense", wide, hidden)?;
        fill_norm(&mut layer.output_norm, tensors, &name("attention.output.LayerNorm"))?;
        fill_norm(&mut layer.down_norm, tensors, &name("output.LayerNorm"))?;
    }
    Ok(bert)
}

fn fill_norm(norm: &mut Norm, tensors: &Tensors, name: &str) -> Result<(), EmbedError> {
    norm.weight = tensors.vector(&format!("{name}.weight"), norm.weight.len())?;
    norm.bias = tensors.vector(&format!("{name}.bias"), norm.bias.len())?;
    Ok(())
}

fn read_weights(source: &Path) -> Result<Tensors, EmbedError> {
    let places = WEIGHTS.iter().map(|name| source.join(name));
    let Some(path) = places.into_iter().find(|path| path.exists()) else {
        let what = format!("it holds none of {}", WEIGHTS.join(", "));
        return Err(EmbedError::bad_source(source, what));
    };
    let bytes = read_bounded(&path, WEIGHTS_BYTES_MAX)?;
    if path.extension().is_some_and(|extension| extension == "onnx") {
        onnx::read(&path, bytes)
    } else {
        safetensors::read(&path, bytes)
    }
}

fn required<T: DeserializeOwned>(path: &Path) -> Result<T, EmbedError> {
    let bytes = read_bounded(path, JSON_BYTES_MAX)?;
    serde_json::from_slice(&bytes).map_err(|error| EmbedError::bad_source(path, error.to_string()))
}

fn optional<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, EmbedError> {
    if path.exists() { required(path).map(Some) } else { Ok(None) }
}

fn read_bounded(path: &Path, n_bytes_max: u64) -> Result<Vec<u8>, EmbedError> {
    let reading = |error| EmbedError::io("reading the model source", path, error);
    let file = File::open(path).map_err(reading)?;
    let n_bytes = file.metadata().map_err(reading)?.len();
    if n_bytes > n_bytes_max {
        return Err(EmbedError::bad_source(path, format!("more than {n_bytes_max} bytes")));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(n_bytes).unwrap_or(0));
    file.take(n_bytes_max).read_to_end(&mut bytes).map_err(reading)?;
    Ok(bytes)
}
