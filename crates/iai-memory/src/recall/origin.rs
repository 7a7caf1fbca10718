//! Where a memory comes from, as the catalogue tells without reading it.

use iai_store::{CatalogueEntry, Role, Tier};

/// Where a memory comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Origin {
    /// Somebody said it.
    #[default]
    Said,
    /// It is from a file that somebody taught: when that was says nothing about it.
    Taught,
    /// This program wrote it.
    Summary,
}

/// Tells what this program wrote from what was taught: only the latter has a place in a text.
pub(super) fn is_summary(entry: &CatalogueEntry) -> bool {
    origin_of(entry) == Origin::Summary
}

pub(super) fn origin_of(entry: &CatalogueEntry) -> Origin {
    match (entry.role, entry.tier) {
        (Role::System, Tier::Semantic) if entry.turn_index.is_none() => Origin::Summary,
        (Role::System, Tier::Semantic) => Origin::Taught,
        _ => Origin::Said,
    }
}
