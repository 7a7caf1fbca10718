//! The wall clock: the one place that reads it. Everybody else gets the time as a value.

use jiff::Timestamp;

/// Returns the time now.
#[expect(clippy::disallowed_methods, reason = "this is the clock everybody else is handed")]
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}
