//! Forgets memories, and with them everything that was made from them.

use rusqlite::OptionalExtension as _;

use super::Writing;
use crate::error::Result;
use crate::record::MemoryNumber;

impl Writing<'_> {
    /// Deletes memories, their words, vectors and links, and the summaries that quote them. Returns
    /// every number that is gone, for whoever keeps vectors in memory.
    pub fn forget(&self, numbers: &[MemoryNumber]) -> Result<Vec<MemoryNumber>> {
        let mut gone = numbers.to_vec();
        self.reader.run("looking for what was made from a memory", |c| {
            let mut made_from = c.prepare_cached(
                "SELECT src FROM link WHERE dst = ? AND kind = 'consolidated_from'",
            )?;
            for number in numbers {
                for made in made_from.query_map([number], |row| row.get(0))? {
                    gone.push(made?);
                }
            }
            Ok(())
        })?;
        gone.sort_unstable();
        gone.dedup();
        self.remove_from_index(&gone)?;
        self.reader.run("forgetting memories", |c| {
            let mut delete =
                c.prepare_cached("DELETE FROM memory WHERE number = ? RETURNING number")?;
            for number in &gone {
                delete.query_row([number], |_| Ok(())).optional()?;
            }
            Ok(())
        })?;
        Ok(gone)
    }
}
