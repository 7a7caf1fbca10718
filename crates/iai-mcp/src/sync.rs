//! One memory on several machines: what travels, and where to.

pub(crate) mod remote;
#[cfg(test)]
mod tests;
