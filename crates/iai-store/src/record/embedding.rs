//! Embedding models, and the vectors they make of a memory's text.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};

use super::named::named;

/// The number of an embedding model in this store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelNumber(u16);

impl ModelNumber {
    pub(crate) fn get(self) -> u16 {
        self.0
    }
}

impl ToSql for ModelNumber {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.into())
    }
}

impl FromSql for ModelNumber {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        u16::column_result(value).map(Self)
    }
}

named! {
    /// How a model makes one vector of many tokens.
    pub enum Pooling("pooling") {
        /// The mean of all tokens.
        Mean = "mean",
        /// The first token.
        Cls = "cls",
    }
}

named! {
    /// What a model is to the store.
    pub enum ModelState("state of a model") {
        /// Its vectors are being made.
        Filling = "filling",
        /// Cues are compared with its vectors; there is at most one such model.
        Serving = "serving",
        /// Its vectors may be dropped.
        Retired = "retired",
    }
}

/// What makes the vectors of one model incomparable with those of every other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewModel {
    /// What people call it.
    pub name: String,
    /// SHA-256 of its weights.
    pub sha256: [u8; 32],
    /// How it makes one vector of many tokens.
    pub pooling: Pooling,
    /// What is put in front of a text before it is embedded.
    pub prefix: String,
    /// The length of its vectors, from 128 to 1024.
    pub dimension: u16,
    /// The most tokens it reads at once.
    pub n_tokens_max: u32,
}

/// An embedding model the store knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Its number, by which vectors name it.
    pub number: ModelNumber,
    /// What it is.
    pub facts: NewModel,
    /// What it is for.
    pub state: ModelState,
}

/// A window of a memory's text and its vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The byte of the text it begins at.
    pub start: u32,
    /// The byte of the text it ends before.
    pub end: u32,
    /// Its unit vector.
    pub vector: Vec<f32>,
}
