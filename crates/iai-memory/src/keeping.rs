//! Keeping the store: new keys while it is open.

use iai_store::NewMaster;
use jiff::Timestamp;
use serde_json::json;

use crate::engine::MemoryEngine;
use crate::error::Result;

impl MemoryEngine {
    /// Puts a new master key around the data key and writes down that it was done. Returns the id
    /// of the new key.
    pub fn rotate_master(&self, new: &NewMaster, now: Timestamp) -> Result<String> {
        let key_id = self.with_writer(|store| Ok(store.rotate_master(new, now)?))?;
        self.record_event("crypto_key_rotated", json!({"key_id": key_id}), now)?;
        Ok(key_id)
    }
}
