//! Keeping the store: a new key while it is open.

use iai_memory::{MemoryEngine, NewMaster};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::Failure;
use super::parameters::Parameters;

/// Puts a new master key around the data key; everybody who has the store open goes on.
pub(super) fn rotate(
    engine: &MemoryEngine,
    given: &Parameters<'_>,
    now: Timestamp,
) -> Result<Value, Failure> {
    let new = NewMaster::from_words(given.optional_text("new_passphrase")?);
    Ok(json!({"key_id": engine.rotate_master(&new, now)?}))
}
