//! The nouns of the store: what is kept, under which names, with which invariants.

pub(crate) mod attribute;
pub(crate) mod dispute;
pub(crate) mod embedding;
pub(crate) mod exported;
pub(crate) mod forgotten;
pub(crate) mod id;
pub(crate) mod ledger;
pub(crate) mod link;
pub(crate) mod memory;
pub(crate) mod named;
pub(crate) mod number;
pub(crate) mod standing;
pub(crate) mod step;
pub(crate) mod sync;
mod taught;
pub(crate) mod topic;

pub use attribute::{
    Attribute, AttributeNumber, AttributeRole, FILLER_CHARS_MAX, FormalityWeek, NewAttribute,
};
pub use dispute::{Difference, Dispute, NewDispute, Settlement};
pub use embedding::{Model, ModelNumber, ModelState, NewModel, Part, Pooling};
pub use exported::{ExportChoice, ExportedDeed, ExportedMemory};
pub use forgotten::{ForgetReason, ForgetReceipt, ForgetSelection, GoneNames, Selected};
pub use id::{EventId, MemoryId, Position, TurnIdentity};
pub use ledger::{
    Counts, Event, EventFilter, NewEvent, NewSetAside, Receipt, ReceiptState, SetAside, Severity,
};
pub use link::{Correction, Link, LinkKind, Strengthened, WEIGHT_MIN};
pub use memory::{Filter, Inserted, Memory, NewMemory, Role, Tier};
pub use number::MemoryNumber;
pub use standing::{
    ExceptSessions, NewRemark, NewSequel, ProjectSeen, Reach, Remark, RemarkKind, Sequel,
    SessionSeen, UsedMemory, Uses,
};
pub use step::StepProgress;
pub use sync::{
    NewVault, SyncChange, SyncEntry, SyncErasure, SyncMachine, SyncNote, SyncPeer, SyncProject,
    SyncVault, SyncWaiting, VaultKind, VaultNumber,
};
pub use taught::{TAUGHT_HOST, TaughtFile};
pub use topic::{
    FactKind, FactSeen, MissedCue, Neighbour, NewPattern, Pattern, PatternKind, PatternStatus,
    Summary, SummaryKind, Topic,
};

use named::named;

named! {
    /// Where a master key comes from.
    pub enum KeyOrigin("key origin") {
        /// Thirty-two random bytes in a file.
        File = "file",
        /// Words a person remembers.
        Passphrase = "passphrase",
    }
}
