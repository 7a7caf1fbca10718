//! Reads `.safetensors`: a length, a JSON table of names, then the numbers.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::tensors::{Entry, Number, Tensors};
use crate::error::EmbedError;

const LENGTH_BYTES: usize = 8;

/// One line of the table.
#[derive(Deserialize)]
struct Line {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

pub(super) fn read(path: &Path, bytes: Vec<u8>) -> Result<Tensors, EmbedError> {
    let damaged = |what: &str| EmbedError::bad_source(path, what);
    let length = bytes.first_chunk().map(|length| u64::from_le_bytes(*length));
    let n_table = length.and_then(|length| usize::try_from(length).ok());
    let start = n_table.and_then(|n| n.checked_add(LENGTH_BYTES));
    let table = start.and_then(|start| bytes.get(LENGTH_BYTES..start));
    let (Some(start), Some(table)) = (start, table) else {
        return Err(damaged("its table is cut short"));
    };
    let table: BTreeMap<String, Value> =
        serde_json::from_slice(table).map_err(|error| damaged(&error.to_string()))?;
    let mut entries = BTreeMap::new();
    for (name, line) in table.into_iter().filter(|(name, _)| name != "__metadata__") {
        let line = Line::deserialize(line).map_err(|error| damaged(&error.to_string()))?;
        let Some(number) = number(&line.dtype) else { continue };
        let [from, to] = line.data_offsets.map(|offset| offset.checked_add(start));
        let (Some(from), Some(to)) = (from, to) else {
            return Err(damaged("its table points outside"));
        };
        if from > to || to > bytes.len() {
            return Err(damaged("its table points outside"));
        }
        let entry = Entry { number, shape: line.shape, bytes: from..to, is_turned: false };
        entries.insert(name, entry);
    }
    Tensors::new(path, bytes, entries)
}

/// Other kinds, such as the whole numbers of a list of positions, are not weights.
fn number(dtype: &str) -> Option<Number> {
    match dtype {
        "F32" => Some(Number::F32),
        "F16" => Some(Number::F16),
        "BF16" => Some(Number::Bf16),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(table: &str, data: &[u8]) -> Vec<u8> {
        let length = u64::try_from(table.len()).unwrap().to_le_bytes();
        [&length[..], table.as_bytes(), data].concat()
    }

    fn read_file(bytes: Vec<u8>) -> Result<Tensors, EmbedError> {
        read(Path::new("model.safetensors"), bytes)
    }

    #[test]
    fn numbers_of_every_kind_are_read() {
        let table = r#"{"__metadata__":{"format":"pt"},
            "m.embeddings.word_embeddings.weight":
                {"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},
            "m.half":{"dtype":"F16","shape":[1],"data_offsets":[4,6]},
            "m.brain":{"dtype":"BF16","shape":[1],"data_offsets":[6,8]},
            "m.ids":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}"#;
        let data = [&1.5f32.to_le_bytes()[..], &[0x00, 0x3c], &[0x20, 0x40]].concat();
        let tensors = read_file(file(table, &data)).unwrap();
        assert_eq!(tensors.rows("embeddings.word_embeddings", 1, 1).unwrap(), [1.5]);
        assert_eq!(tensors.vector("half", 1).unwrap(), [1.0]);
        assert_eq!(tensors.vector("brain", 1).unwrap(), [2.5]);
        assert!(matches!(tensors.vector("ids", 1), Err(EmbedError::Unsupported(_))));
        assert!(matches!(tensors.vector("half", 2), Err(EmbedError::BadSource { .. })));
    }

    #[test]
    fn hostile_files_are_refused() {
        let name = "embeddings.word_embeddings.weight";
        let line = |offsets: &str| {
            format!(r#"{{"{name}":{{"dtype":"F32","shape":[1,1],"data_offsets":{offsets}}}}}"#)
        };
        let huge = format!("[0,{}]", usize::MAX);
        let cases = [
            Vec::new(),
            vec![0xff; 8],
            vec![0xff; 64],
            file("{", &[]),
            file(&line("[0,4]"), &[0; 3]),
            file(&line("[4,0]"), &[0; 8]),
            file(&line(&huge), &[0; 8]),
            file("{}", &[]),
        ];
        for bytes in cases {
            assert!(read_file(bytes).is_err());
        }
    }
}
