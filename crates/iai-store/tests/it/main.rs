//! The store through its public interface, one module per promise.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "clippy's leave for tests ends at the functions that carry #[test]"
)]

mod backup;
mod creation;
mod disputes;
mod fixture;
mod fuzz;
mod keys;
mod ledger;
mod links;
mod log;
mod memories;
mod model;
mod plaintext;
mod standing;
mod topics;
mod vectors;
mod words;
