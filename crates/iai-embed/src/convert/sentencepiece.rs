//! Reads a SentencePiece model, as far as it is a Unigram one; anything else is refused.

use std::ops::Range;

use super::protobuf::{Content, fields, text};
use crate::tokenizer::{Charsmap, Unigram, UnigramKind, UnigramRules, Vocabulary};

/// Field numbers of the SentencePiece messages.
mod field {
    pub(super) const MODEL_PIECE: u64 = 1;
    pub(super) const MODEL_TRAINER: u64 = 2;
    pub(super) const MODEL_NORMALIZER: u64 = 3;
    pub(super) const PIECE_TEXT: u64 = 1;
    pub(super) const PIECE_SCORE: u64 = 2;
    pub(super) const PIECE_KIND: u64 = 3;
    pub(super) const TRAINER_KIND: u64 = 3;
    pub(super) const TRAINER_SPACE_IS_LAST: u64 = 24;
    pub(super) const TRAINER_BYTES_FOR_UNKNOWN: u64 = 35;
    pub(super) const TRAINER_UNKNOWN: u64 = 40;
    pub(super) const TRAINER_FIRST: u64 = 41;
    pub(super) const TRAINER_LAST: u64 = 42;
    pub(super) const NORMALIZER_CHARSMAP: u64 = 2;
    pub(super) const NORMALIZER_SPACE_FIRST: u64 = 3;
    pub(super) const NORMALIZER_ONE_SPACE: u64 = 4;
    pub(super) const NORMALIZER_SPACE_IS_SIGN: u64 = 5;
}

const KIND_UNIGRAM: u64 = 1;
/// The kind of a piece that is found in texts; others stand for something.
const KIND_NORMAL: u64 = 1;

/// Reads a model that is a part of a file; says in a sentence what is wrong with it.
pub(super) fn read(bytes: &[u8], model: Range<usize>) -> Result<Unigram, String> {
    let cut = || "its SentencePiece model is cut short".to_owned();
    let mut lines = String::new();
    let mut scores = Vec::new();
    let (mut trainer, mut normalizer) = (Vec::new(), Vec::new());
    for (number, content) in fields(bytes, model).ok_or_else(cut)? {
        match number {
            field::MODEL_PIECE => {
                let range = content.bytes().ok_or_else(cut)?;
                let (piece, score) = read_piece(bytes, range).ok_or_else(cut)?;
                lines.push_str(&piece);
                lines.push('\n');
                scores.push(score);
            }
            field::MODEL_TRAINER => trainer = part(bytes, &content).ok_or_else(cut)?,
            field::MODEL_NORMALIZER => normalizer = part(bytes, &content).ok_or_else(cut)?,
            _ => {}
        }
    }
    check_trainer(&trainer)?;
    let charsmap = charsmap(bytes, &normalizer)?;
    let id = |field, default| number(&trainer, field).map_or(default, usize::try_from);
    let piece_of = |field, default| {
        let id = id(field, Ok(default)).ok()?;
        lines.lines().nth(id).map(str::to_owned)
    };
    let ends = || "it has no piece for the unknown, or for the ends of a text".to_owned();
    let rules = UnigramRules {
        kind: UnigramKind::Unigram,
        unknown: piece_of(field::TRAINER_UNKNOWN, 0).ok_or_else(ends)?,
        first: piece_of(field::TRAINER_FIRST, 1).ok_or_else(ends)?,
        last: piece_of(field::TRAINER_LAST, 2).ok_or_else(ends)?,
    };
    let vocabulary = Vocabulary::from_lines(lines.into_bytes(), scores.len())
        .ok_or("its vocabulary has repetitions or line ends")?;
    Unigram::new(vocabulary, scores, charsmap, rules)
}

type Fields = Vec<(u64, Content)>;

fn part(bytes: &[u8], content: &Content) -> Option<Fields> {
    fields(bytes, content.bytes()?)
}

fn number(fields: &Fields, wanted: u64) -> Option<u64> {
    fields.iter().rev().find_map(|(number, content)| match content {
        Content::Number(value) if *number == wanted => Some(*value),
        Content::Number(_) | Content::Bytes(_) => None,
    })
}

/// Returns a piece and its score; one that no text can say has a score that is never reached.
fn read_piece(bytes: &[u8], range: Range<usize>) -> Option<(String, f32)> {
    let (mut piece, mut score, mut kind) = (String::new(), 0.0, KIND_NORMAL);
    for (number, content) in fields(bytes, range)? {
        match (number, content) {
            (field::PIECE_TEXT, content) => piece = text(bytes, &content)?,
            (field::PIECE_SCORE, Content::Bytes(range)) => {
                score = f32::from_le_bytes(*bytes.get(range)?.first_chunk()?);
            }
            (field::PIECE_KIND, Content::Number(number)) => kind = number,
            _ => {}
        }
    }
    Some((piece, if kind == KIND_NORMAL { score } else { f32::NEG_INFINITY }))
}

fn check_trainer(trainer: &Fields) -> Result<(), String> {
    if number(trainer, field::TRAINER_KIND).is_some_and(|kind| kind != KIND_UNIGRAM) {
        return Err("its SentencePiece model is not a Unigram one".to_owned());
    }
    for field in [field::TRAINER_SPACE_IS_LAST, field::TRAINER_BYTES_FOR_UNKNOWN] {
        if number(trainer, field).is_some_and(|is_on| is_on != 0) {
            return Err("its SentencePiece model parts words in a way we do not know".to_owned());
        }
    }
    Ok(())
}

fn charsmap(bytes: &[u8], normalizer: &Fields) -> Result<Charsmap, String> {
    let switches = [
        field::NORMALIZER_SPACE_FIRST,
        field::NORMALIZER_ONE_SPACE,
        field::NORMALIZER_SPACE_IS_SIGN,
    ];
    if switches.into_iter().any(|field| number(normalizer, field) == Some(0)) {
        return Err("its SentencePiece model treats spaces in a way we do not know".to_owned());
    }
    let found = normalizer.iter().find(|(number, _)| *number == field::NORMALIZER_CHARSMAP);
    let range = found.and_then(|(_, content)| content.bytes()).unwrap_or_default();
    let bytes = bytes.get(range).unwrap_or_default().to_vec();
    Charsmap::parse(bytes).ok_or_else(|| "its replacements make no sense".to_owned())
}
