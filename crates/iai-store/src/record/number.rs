//! The number of a memory: its row, small enough for indexes. It never leaves the daemon.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};

/// The number of a memory inside this store, given once and never again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryNumber(u32);

impl MemoryNumber {
    /// Returns the memory number with this value.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the value.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl ToSql for MemoryNumber {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.into())
    }
}

impl FromSql for MemoryNumber {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        u32::column_result(value).map(Self)
    }
}
