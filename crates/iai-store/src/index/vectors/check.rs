//! Checks the tables of vectors: each belongs to a memory and a model, and each packed code is that
//! of its vector.

use rusqlite::{Connection, OptionalExtension};

use super::place::{self, Place};
use super::rows;
use crate::record::Model;

/// Returns what is wrong with single vectors.
pub(crate) fn misplaced(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare(
            "SELECT v.place, length(v.components), e.dimension, m.number IS NULL
               FROM vector v
               LEFT JOIN embedding_model e ON e.number = v.place >> 48
               LEFT JOIN memory m ON m.number = (v.place >> 16) & 4294967295
              WHERE length(v.components) IS NOT e.dimension OR m.number IS NULL LIMIT 100",
        )?
        .query_map([], |row| {
            let place = Place::from_key(row.get(0)?);
            let (n_bytes, dimension): (u32, Option<u32>) = (row.get(1)?, row.get(2)?);
            let (memory, part) = (place.memory().get(), place.part());
            let wrong = match (dimension, row.get(3)?) {
                (None, _) => "belongs to no model".to_owned(),
                (_, true) => "belongs to no memory".to_owned(),
                (Some(n), false) => format!("has {n_bytes} components instead of {n}"),
            };
            Ok(format!("the vector of memory number {memory}, part {part}, {wrong}"))
        })?
        .collect()
}

/// Returns what is wrong with a model's packed codes, at most `n_blocks_max` blocks looked at.
pub(crate) fn wrongly_packed(
    connection: &Connection,
    model: &Model,
    n_blocks_max: usize,
) -> rusqlite::Result<Vec<String>> {
    let keys = place::of_model(model.number);
    let blocks: Vec<i64> = connection
        .prepare(
            "SELECT place FROM code_block
              WHERE place BETWEEN ? AND ? AND codes IS NOT NULL ORDER BY place",
        )?
        .query_map([keys.start(), keys.end()], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let step = blocks.len().div_ceil(n_blocks_max.max(1)).max(1);
    let mut wrong = Vec::new();
    for key in blocks.into_iter().step_by(step) {
        let found: Option<Vec<u8>> = connection
            .prepare_cached("SELECT codes FROM code_block WHERE place = ?")?
            .query_row([key], |row| row.get(0))
            .optional()?
            .flatten();
        let block = Place::from_key(key);
        let derived = rows::packed(connection, model, block)?;
        if found.is_some_and(|found| found != derived) {
            let memory = block.memory().get();
            wrong.push(format!("the block from memory number {memory} is not that of its vectors"));
        }
    }
    Ok(wrong)
}
