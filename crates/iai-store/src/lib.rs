//! The encrypted, crash-safe home of every memory: one writer, many readers, one folder.
//!
//! [`Store`] opens or makes a store and writes it, [`Reader`] reads it, [`Writing`] is what a
//! transaction can do. Time comes in as a value; nothing here reads the environment.

mod backup;
mod check;
mod connection;
mod error;
mod exchange;
mod files;
mod index;
mod kernels;
#[cfg(any(test, feature = "older"))]
mod older;
mod place;
mod reader;
mod record;
mod schema;
mod store;
mod vault;
mod writing;

pub use backup::{
    Attached, BackupAsk, BackupChecked, BackupFacts, Existing, RestoreAsk, Restored, back_up,
    check_backup, restore,
};
pub use check::{CheckDepth, CheckReport, Problem, check_log, damaged_logs};
pub use error::{Result, StoreError};
pub use exchange::COMMITTED_FOLDER;
pub use files::StorePaths;
pub use index::catalogue::{Catalogue, CatalogueEntry, Scope};
pub use index::changes::Prepared;
pub use index::lexical::{LexicalHit, LexicalQuery};
pub use index::shared::SharedIndex;
pub use index::spans::matched_spans;
pub use index::vectors::{DenseFound, DenseHit, Limits, VectorIndex};
pub use index::words::contains_phrase;
pub use index::{IndexPace, IndexSize, Made, MemoryIndex, Question};
pub use kernels::return_free_memory;
#[cfg(any(test, feature = "older"))]
pub use older::{take_back, version_found, version_newest};
pub use reader::{Column, Each, Interrupter, Reader};
pub use record::{
    Attribute, AttributeNumber, AttributeRole, Correction, Counts, Difference, Dispute, Event,
    EventFilter, EventId, ExceptSessions, ExportChoice, ExportedDeed, ExportedMemory,
    FILLER_CHARS_MAX, FactKind, FactSeen, Filter, ForgetReason, ForgetReceipt, ForgetSelection,
    FormalityWeek, GoneNames, Inserted, KeyOrigin, Link, LinkKind, Memory, MemoryId, MemoryNumber,
    MissedCue, Model, ModelNumber, ModelState, Neighbour, NewAttribute, NewDispute, NewEvent,
    NewMemory, NewModel, NewPattern, NewRemark, NewSequel, NewSetAside, NewVault, Part, Pattern,
    PatternKind, PatternStatus, Pooling, Position, ProjectSeen, Reach, Receipt, ReceiptState,
    Remark, RemarkKind, Role, Selected, Sequel, SessionSeen, SetAside, Settlement, Severity,
    StepProgress, Strengthened, Summary, SummaryKind, SyncChange, SyncEntry, SyncErasure,
    SyncMachine, SyncNote, SyncPeer, SyncProject, SyncVault, SyncWaiting, TAUGHT_HOST, TaughtFile,
    Tier, Topic, TurnIdentity, UsedMemory, Uses, VaultKind, VaultNumber, WEIGHT_MIN,
};
pub use schema::SCHEMA_VERSION;
pub use store::{Created, ReaderDoor, Store};
pub use vault::{
    DataKeyRotated, KeyFacts, KeyFileKind, KeySource, KeyStatus, NewMaster, SpoolKeys,
    create_key_file, key_status, rotate_data_key, spool_keys,
};
pub use writing::{PatternPut, Writing};
