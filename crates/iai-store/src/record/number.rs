//! The number of a memory inside the store: small, dense, in order of arrival, never used again.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};

/// The number a memory has inside the store. Indexes name memories by it; people never see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryNumber(u32);

impl MemoryNumber {
    /// Returns the number with this value.
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
        Ok(i64::from(self.0).into())
    }
}

impl FromSql for MemoryNumber {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let number = value.as_i64()?;
        u32::try_from(number).map(Self).map_err(|_| FromSqlError::OutOfRange(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_reads_back_and_others_are_refused() {
        for number in [0, 1, u32::MAX] {
            let value = ValueRef::Integer(i64::from(number));
            assert_eq!(MemoryNumber::column_result(value).unwrap().get(), number);
        }
        for number in [-1, i64::from(u32::MAX) + 1] {
            assert!(MemoryNumber::column_result(ValueRef::Integer(number)).is_err());
        }
        assert!(MemoryNumber::column_result(ValueRef::Null).is_err());
    }
}
