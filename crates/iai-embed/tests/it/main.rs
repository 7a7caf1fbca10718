//! The crate through its interface, on tiny random models: no download, and a second forward pass
//! written as plainly as possible to compare with.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "clippy's leave for tests ends at the functions that carry #[test]"
)]

mod embedder;
mod fuzz;
mod model_file;
mod parity;
mod source;
mod tiny;
mod universal;
