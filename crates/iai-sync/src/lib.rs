//! The log that carries one memory to several machines: operations, sealed entries, chains.
//!
//! Pure: no store, no socket, no clock. `iai-memory` turns what changed into operations and applies
//! those of others; the binary moves sealed entries through a [`Remote`]. `docs/sync-format.md` is
//! the format.

mod base32;
mod chain;
mod entry;
#[cfg(test)]
mod fuzz;
mod invitation;
mod keys;
mod members;
mod name;
mod operation;
mod padding;
mod qr;
mod remote;
mod replica;
mod seal;
#[cfg(any(test, feature = "simulation"))]
pub mod simulation;
mod stamp;
mod withheld;
mod words;

pub use chain::{ChainEnd, ChainError, ChainWriter, Followed, check_length, follow};
pub use entry::{Entry, EntryError, EntryName};
pub use invitation::{Invitation, InvitationCode, InvitationError, VaultKind};
pub use keys::{KeyError, MachineKey, RandomError, SyncKey, VaultKeys, random, rekey};
pub use members::{Member, Members, Refused};
pub use name::{MachineId, VaultId};
pub use operation::{CarriedVectors, Operation, Stamped};
pub use qr::qr;
pub use remote::{Appended, Head, Remote, RemoteError};
pub use replica::{Replica, put_outranks, set_outranks};
pub use seal::{
    NONCE_BYTES, OpenError, Opened, PAYLOAD_BYTES_MAX, Place, SealError, open, reread, seal,
};
pub use stamp::{Clock, Stamp};
pub use withheld::Withheld;
pub use words::{WordsError, from_words, to_words};
