//! What an entry says, once it is opened.
//!
//! Three kinds change a store, and they commute: whatever the order and however often, the same
//! operations make the same store. What a body means is `iai-memory`'s: the lines of an export.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::entry::EntryName;
use crate::stamp::Stamp;

/// An operation and when it was done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Stamped {
    /// When, and by which machine.
    pub stamp: Stamp,
    /// What.
    pub operation: Operation,
}

/// One thing that was done on one machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// A memory. Said twice, what stands beside its words is taken from the earlier stamp.
    Put {
        /// Its id.
        memory: Uuid,
        /// A line of an export.
        body: Box<RawValue>,
        /// What a model made of it, if it had been made by then.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        vectors: Option<CarriedVectors>,
    },
    /// A value under a name: a pin, a knob, a link. The later stamp holds.
    Set {
        /// `pin:<id>`, `profile:<knob>`, `identity`, `link:<kind>:<src>:<dst>`.
        name: String,
        /// The memories it is about: it waits until all are there, and goes when one is forgotten.
        of: Vec<Uuid>,
        /// A line of an export; none takes the value back.
        body: Option<Box<RawValue>>,
    },
    /// A memory is gone for good, whatever else is said of it, before or after.
    Forget {
        /// Its id.
        memory: Uuid,
        /// The entries that carried it: their payloads may be missing from now on.
        entries: Vec<EntryName>,
    },
    /// What a machine is called, and the key that others seal to it. First in every chain.
    Hello {
        /// As people call it.
        name: String,
        /// Its X25519 public key.
        public_key: String,
    },
    /// From now on entries are sealed with another key.
    Rekey {
        /// Its number, one more than the last.
        epoch: u32,
        /// The key, sealed to every machine that stays.
        boxes: Vec<(crate::name::MachineId, String)>,
        /// Machines that are out, and the last entry of theirs that counts.
        revoked: Vec<EntryName>,
    },
}

/// Vectors of a memory, and of which model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedVectors {
    /// Everything that identifies the model: vectors of another are made anew.
    pub model: String,
    /// First byte and length of the window in the text, and the vector's signed bytes as base64.
    pub parts: Vec<(u64, u64, String)>,
}
