//! Writes how far each kind of quiet work has come, in the transaction of the work itself.

use jiff::Timestamp;
use rusqlite::params;

use super::Writing;
use crate::error::Result;
use crate::record::StepProgress;
use crate::record::memory::{Json, Millis};

impl Writing<'_> {
    /// Writes down how far a step has come, over what was written before.
    pub fn put_step(&self, name: &str, progress: &StepProgress, now: Timestamp) -> Result<()> {
        self.reader.run("storing how far a step has come", |c| {
            c.prepare_cached("INSERT OR REPLACE INTO step VALUES (?, ?, ?, ?)")?
                .execute(params![name, progress.up_to, Json(&progress.state), Millis(now)])
                .map(drop)
        })
    }
}
