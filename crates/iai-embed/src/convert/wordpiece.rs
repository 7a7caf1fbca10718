//! Reads `tokenizer.json`, as far as it describes BERT's WordPiece; anything else is refused.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::error::EmbedError;
use crate::tokenizer::{Tokenizer, Vocabulary, WordPiece, WordPieceRules};

#[derive(Deserialize)]
struct Description {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    normalizer: Option<Value>,
    pre_tokenizer: Option<Value>,
    post_processor: Option<Value>,
    model: Value,
}

#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the publishers' format")]
struct AddedToken {
    content: String,
    #[serde(default)]
    single_word: bool,
    #[serde(default)]
    lstrip: bool,
    #[serde(default)]
    rstrip: bool,
    #[serde(default)]
    normalized: bool,
}

#[derive(Deserialize)]
struct Normalizer {
    clean_text: bool,
    handle_chinese_chars: bool,
    strip_accents: Option<bool>,
    lowercase: bool,
}

#[derive(Deserialize)]
struct Pieces {
    unk_token: String,
    continuing_subword_prefix: String,
    max_input_chars_per_word: usize,
    vocab: BTreeMap<String, usize>,
}

pub(super) fn read(path: &Path) -> Result<Tokenizer, EmbedError> {
    let description: Description = super::required(path)?;
    let refused = |what: String| EmbedError::Unsupported(format!("its tokenizer {what}"));
    let normalizer: Normalizer =
        part(description.normalizer.as_ref(), "normalizer", "BertNormalizer").map_err(refused)?;
    part::<Value>(description.pre_tokenizer.as_ref(), "pre-tokenizer", "BertPreTokenizer")
        .map_err(refused)?;
    let model: Pieces = part(Some(&description.model), "model", "WordPiece").map_err(refused)?;
    let (first, last) = ends(description.post_processor.as_ref()).ok_or_else(|| {
        refused("puts something else than one mark before and one after a text".to_owned())
    })?;
    if model.continuing_subword_prefix != "##" {
        return Err(refused("does not mark the inside of words with `##`".to_owned()));
    }
    let rules = WordPieceRules {
        is_cleaning: normalizer.clean_text,
        is_parting_han: normalizer.handle_chinese_chars,
        is_stripping_accents: normalizer.strip_accents.unwrap_or(normalizer.lowercase),
        is_lowercasing: normalizer.lowercase,
        n_word_characters_max: model.max_input_chars_per_word,
        marks: marks(description.added_tokens).map_err(refused)?,
        unknown: model.unk_token,
        first,
        last,
    };
    let vocabulary = vocabulary(model.vocab).ok_or_else(|| {
        refused("has a vocabulary with gaps, repetitions or line ends".to_owned())
    })?;
    WordPiece::new(vocabulary, rules)
        .map(Tokenizer::WordPiece)
        .map_err(|what| EmbedError::Unsupported(format!("in its tokenizer {what}")))
}

/// Reads one part, if it is of the kind we know; older files leave the model's kind out.
fn part<T: for<'a> Deserialize<'a>>(
    value: Option<&Value>,
    what: &str,
    known: &str,
) -> Result<T, String> {
    let value = value.ok_or_else(|| format!("has no {what}"))?;
    let found = value.get("type").and_then(Value::as_str).unwrap_or("none we know");
    if found != known {
        return Err(format!("has the {what} `{found}`, not `{known}`"));
    }
    T::deserialize(value).map_err(|error| format!("has a {what} that cannot be read ({error})"))
}

/// Returns what stands before and after a single text.
fn ends(value: Option<&Value>) -> Option<(String, String)> {
    let value = value?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match value.get("type")?.as_str()? {
        "TemplateProcessing" => {
            let [first, middle, last] = value.get("single")?.as_array()?.as_slice() else {
                return None;
            };
            middle.get("Sequence")?;
            let mark = |piece: &Value| text(piece.get("SpecialToken")?.get("id")?);
            Some((mark(first)?, mark(last)?))
        }
        "BertProcessing" => {
            let mark = |name: &str| text(value.get(name)?.get(0)?);
            Some((mark("cls")?, mark("sep")?))
        }
        _ => None,
    }
}

fn marks(tokens: Vec<AddedToken>) -> Result<Vec<String>, String> {
    let is_plain = |token: &AddedToken| {
        !(token.single_word || token.lstrip || token.rstrip || token.normalized)
    };
    match tokens.iter().find(|token| !is_plain(token)) {
        Some(token) => Err(format!("treats `{}` in a special way", token.content)),
        None => Ok(tokens.into_iter().map(|token| token.content).collect()),
    }
}

/// Puts the pieces into the order of their ids.
fn vocabulary(pieces: BTreeMap<String, usize>) -> Option<Vocabulary> {
    let n_pieces = pieces.len();
    let mut ordered = vec![None; n_pieces];
    for (piece, id) in pieces {
        let place = ordered.get_mut(id)?;
        let is_line = !piece.contains('\n') && place.is_none();
        *place = is_line.then_some(piece);
        place.as_ref()?;
    }
    let lines = ordered.into_iter().map(|piece| piece.map(|piece| piece + "\n"));
    Vocabulary::from_lines(lines.collect::<Option<String>>()?.into_bytes(), n_pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::Rules;
    use serde_json::json;

    fn description() -> Value {
        json!({
            "truncation": {"max_length": 128}, "padding": {"strategy": {"Fixed": 128}},
            "added_tokens": [{"id": 1, "content": "[CLS]", "normalized": false}],
            "normalizer": {"type": "BertNormalizer", "clean_text": true,
                "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100,
                "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "word": 3}},
        })
    }

    fn read_value(value: &Value) -> Result<Tokenizer, EmbedError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokenizer.json");
        std::fs::write(&path, value.to_string()).unwrap();
        read(&path)
    }

    #[test]
    fn the_file_s_own_padding_and_truncation_are_ignored() {
        let tokenizer = read_value(&description()).unwrap();
        assert_eq!(tokenizer.encode(&"word ".repeat(200), 512).len(), 202);
        assert_eq!(tokenizer.encode("Word", 512), [1, 3, 2]);
        let Rules::WordPiece(rules) = tokenizer.rules() else { panic!("another kind") };
        assert!(rules.is_stripping_accents);
    }

    #[test]
    fn other_tokenizers_are_refused_by_name() {
        let cases = [
            ("/model/type", json!("Unigram"), "the model `Unigram`"),
            ("/normalizer/type", json!("Precompiled"), "the normalizer `Precompiled`"),
            ("/pre_tokenizer/type", json!("Metaspace"), "the pre-tokenizer `Metaspace`"),
            ("/pre_tokenizer", json!(null), "no pre-tokenizer"),
            ("/post_processor/type", json!("RobertaProcessing"), "one mark before"),
            ("/model/vocab/word", json!(7), "gaps"),
            ("/model/vocab/word", json!(2), "gaps"),
            ("/model/unk_token", json!("<unk>"), "no `<unk>`"),
            ("/model/continuing_subword_prefix", json!("@"), "`##`"),
            ("/added_tokens/0/lstrip", json!(true), "`[CLS]` in a special way"),
        ];
        for (place, value, want) in cases {
            let mut changed = description();
            match changed.pointer_mut(place) {
                Some(old) => *old = value,
                None => changed["added_tokens"][0]["lstrip"] = value,
            }
            let error = read_value(&changed).err().unwrap();
            assert!(matches!(error, EmbedError::Unsupported(_)), "{place}");
            assert!(error.to_string().contains(want), "{error}");
        }
    }
}
