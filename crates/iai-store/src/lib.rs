//! The encrypted, crash-safe home of every memory: one writer, many readers, one folder.
//!
//! [`Store`] opens or makes a store and writes it, [`Reader`] reads it, [`Writing`] is what a
//! transaction can do. Time comes in as a value; nothing here reads the environment.

mod check;
mod connection;
mod error;
mod files;
mod index;
mod kernels;
mod reader;
mod record;
mod schema;
mod store;
mod vault;
mod writing;

pub use check::{CheckDepth, CheckReport, Problem};
pub use error::{Result, StoreError};
pub use files::StorePaths;
pub use index::catalogue::{Catalogue, CatalogueEntry, Scope};
pub use index::changes::Prepared;
pub use index::lexical::{LexicalHit, LexicalQuery};
pub use index::shared::SharedIndex;
pub use index::vectors::{DenseFound, DenseHit, Limits, VectorIndex};
pub use index::words::contains_phrase;
pub use index::{IndexSize, Made, MemoryIndex, Question};
pub use reader::{Interrupter, Reader};
pub use record::{
    Counts, Event, EventFilter, EventId, Filter, Inserted, KeyOrigin, Link, LinkKind, Memory,
    MemoryId, MemoryNumber, Model, ModelNumber, ModelState, NewEvent, NewMemory, NewModel,
    NewSetAside, Part, Pooling, Position, Receipt, ReceiptState, Role, SetAside, Severity,
    Strengthened, Tier, TurnIdentity,
};
pub use store::{Created, Store};
pub use vault::{KeyFacts, KeyFileKind, KeySource, KeyStatus, create_key_file, key_status};
pub use writing::Writing;
