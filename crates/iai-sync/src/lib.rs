//! The log that carries one memory to several machines: operations, sealed entries, chains.
//!
//! Pure: no store, no socket, no clock. `iai-memory` turns what changed into operations and applies
//! those of others; the binary moves sealed entries through a [`Remote`]. `docs/sync-format.md` is
//! the format.

mod entry;
mod name;
mod operation;
mod remote;
mod stamp;

pub use entry::{Entry, EntryName};
pub use name::{MachineId, VaultId};
pub use operation::{CarriedVectors, Operation, Stamped};
pub use remote::{Appended, Head, Remote, RemoteError};
pub use stamp::{Clock, Stamp};
