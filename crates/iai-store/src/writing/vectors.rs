//! Writes embedding models and the vectors they made.

use rusqlite::{OptionalExtension, named_params, params};

use super::Writing;
use crate::error::{Result, StoreError};
use crate::index::vectors::{check_parts, rows};
use crate::record::{MemoryNumber, ModelNumber, ModelState, NewModel, Part};

/// Shorter codes say too little, longer ones are not what personal memories need.
const DIMENSION_MIN: u16 = 128;
const DIMENSION_MAX: u16 = 1024;

impl Writing<'_> {
    /// Makes a model known, unless it is, and returns its number. A new one is filling.
    pub fn put_model(&self, new: &NewModel) -> Result<ModelNumber> {
        if !(DIMENSION_MIN..=DIMENSION_MAX).contains(&new.dimension) {
            let dimension = new.dimension;
            let why = format!("{dimension} is not from {DIMENSION_MIN} to {DIMENSION_MAX}");
            return Err(StoreError::refused("dimension", why));
        }
        if new.n_tokens_max == 0 {
            return Err(StoreError::refused("model", "it reads no tokens"));
        }
        self.reader.run("storing an embedding model", |c| {
            let facts = named_params! {
                ":name": new.name,
                ":sha256": new.sha256,
                ":pooling": new.pooling,
                ":prefix": new.prefix,
                ":dimension": new.dimension,
                ":n_tokens_max": new.n_tokens_max,
            };
            let known = c.prepare_cached(FIND_MODEL)?.query_row(facts, |r| r.get(0)).optional()?;
            match known {
                Some(number) => Ok(number),
                None => c.prepare_cached(INSERT_MODEL)?.query_row(facts, |row| row.get(0)),
            }
        })
    }

    /// Says what a model is for. One that begins to serve retires the one that served.
    pub fn set_model_state(&self, model: ModelNumber, state: ModelState) -> Result<()> {
        let model = self.reader.model(model)?;
        self.reader.run("setting the state of a model", |c| {
            if state == ModelState::Serving {
                c.prepare_cached(
                    "UPDATE embedding_model SET state = ? WHERE state = ? AND number <> ?",
                )?
                .execute(params![
                    ModelState::Retired,
                    ModelState::Serving,
                    model.number
                ])?;
            }
            c.prepare_cached("UPDATE embedding_model SET state = ? WHERE number = ?")?
                .execute(params![state, model.number])
                .map(drop)
        })
    }

    /// Stores the vectors of a memory in place of those it had from this model.
    pub fn put_vectors(
        &self,
        model: ModelNumber,
        number: MemoryNumber,
        parts: &[Part],
    ) -> Result<()> {
        let model = self.reader.model(model)?;
        check_parts(&model, parts)?;
        let doing = "storing vectors";
        if !self.reader.run(doing, |c| rows::is_memory(c, number))? {
            let why = format!("the store has no memory {}", number.get());
            return Err(StoreError::refused("number of a memory", why));
        }
        self.reader.run(doing, |c| rows::put(c, &model, number, parts))
    }

    /// Drops at most `limit` vectors of a model that does not serve, and returns how many: none
    /// when all are gone.
    pub fn drop_vectors(&self, model: ModelNumber, limit: usize) -> Result<usize> {
        let model = self.reader.model(model)?;
        if model.state == ModelState::Serving {
            return Err(StoreError::refused("model", "it serves; let another one serve first"));
        }
        self.reader.run("dropping vectors", |c| rows::drop_some(c, model.number, limit))
    }
}

const FIND_MODEL: &str = "
    SELECT number FROM embedding_model
     WHERE name = :name AND sha256 = :sha256 AND pooling = :pooling AND prefix = :prefix
       AND dimension = :dimension AND n_tokens_max = :n_tokens_max";

const INSERT_MODEL: &str = "
    INSERT INTO embedding_model
        (name, sha256, pooling, prefix, dimension, n_tokens_max, state)
    VALUES (:name, :sha256, :pooling, :prefix, :dimension, :n_tokens_max, 'filling')
    RETURNING number";
