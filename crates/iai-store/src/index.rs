//! Indexes: derived from memories, rebuildable at any time with equal answers.

pub(crate) mod lexical;
