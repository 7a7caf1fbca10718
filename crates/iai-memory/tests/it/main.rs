//! The engine over a real store, without sockets, clocks or processes.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "clippy's leave for tests ends at the functions that carry #[test]"
)]

mod fixture;

mod answers;
mod asked;
mod attributes;
mod brief;
mod consolidation;
mod corrections;
mod disputes;
mod events;
mod ingest;
mod knobs;
mod meaning;
mod picture;
mod recall;
mod relate;
mod taught;
mod times;
mod values;
mod wishes;
