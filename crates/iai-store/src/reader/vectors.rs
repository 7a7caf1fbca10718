//! Reads embedding models, and the vectors of single memories.

use rusqlite::{OptionalExtension, Row};

use super::Reader;
use crate::error::{Result, StoreError};
use crate::index::vectors::rows;
use crate::record::{MemoryNumber, Model, ModelNumber, NewModel, Part};

const MODELS: &str = "
    SELECT number, name, sha256, pooling, prefix, dimension, n_tokens_max, state
      FROM embedding_model";

impl Reader {
    /// Returns every embedding model, in the order they came.
    pub fn models(&self) -> Result<Vec<Model>> {
        self.run("reading the embedding models", |c| {
            c.prepare_cached(&format!("{MODELS} ORDER BY number"))?
                .query_map([], model_of)?
                .collect()
        })
    }

    /// Returns the vectors of a memory as they are kept, in the order of its text.
    pub fn vector_parts(&self, model: ModelNumber, number: MemoryNumber) -> Result<Vec<Part>> {
        self.run("reading vectors", |c| rows::parts(c, model, number))
    }

    /// Returns the byte of its text at which a part of a memory begins; `None` when there is none.
    pub fn start_of_part(
        &self,
        model: ModelNumber,
        number: MemoryNumber,
        part: u16,
    ) -> Result<Option<u32>> {
        self.run("reading where a part begins", |c| rows::start_of(c, model, number, part))
    }

    /// Returns one embedding model, and refuses a number that is none.
    pub(crate) fn model(&self, number: ModelNumber) -> Result<Model> {
        let found = self.run("reading an embedding model", |c| {
            c.prepare_cached(&format!("{MODELS} WHERE number = ?"))?
                .query_row([number], model_of)
                .optional()
        })?;
        found.ok_or_else(|| {
            let why = format!("the store has no model {}", number.get());
            StoreError::refused("number of a model", why)
        })
    }
}

fn model_of(row: &Row<'_>) -> rusqlite::Result<Model> {
    Ok(Model {
        number: row.get(0)?,
        facts: NewModel {
            name: row.get(1)?,
            sha256: row.get(2)?,
            pooling: row.get(3)?,
            prefix: row.get(4)?,
            dimension: row.get(5)?,
            n_tokens_max: row.get(6)?,
        },
        state: row.get(7)?,
    })
}
