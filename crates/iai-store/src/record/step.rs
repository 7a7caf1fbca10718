//! How far a kind of quiet work has come.

use serde_json::Value;

use super::MemoryNumber;

/// How far a step has come.
#[derive(Debug, Clone, PartialEq)]
pub struct StepProgress {
    /// Every memory of at most this number was looked at.
    pub up_to: MemoryNumber,
    /// What the step itself keeps: a JSON object.
    pub state: Value,
}

impl Default for StepProgress {
    fn default() -> Self {
        Self { up_to: MemoryNumber::new(0), state: Value::Object(serde_json::Map::new()) }
    }
}
