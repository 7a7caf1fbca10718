//! The crate through its interface, on a tiny random BERT: no download, and a second forward pass
//! written as plainly as possible to compare with.

mod embedder;
mod model_file;
mod parity;
mod tiny;
