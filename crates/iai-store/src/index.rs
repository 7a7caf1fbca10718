//! Indexes: derived from memories, rebuildable at any time with equal answers.

pub(crate) mod kernels;
pub(crate) mod lexical;
pub(crate) mod vectors;
