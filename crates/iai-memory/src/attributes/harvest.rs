//! Gathers what was found in a memory, counts it, and keeps what it may have.

use std::collections::BTreeMap;

use iai_store::{AttributeRole, NewAttribute};

/// The attributes of one memory at most …
pub(super) const ATTRIBUTES_MAX: usize = 32;
/// … and of each role. A file counts twice where it has a folder: by path and by name.
const TOOLS_MAX: usize = 6;
const FILES_MAX: usize = 12;
const COMMANDS_MAX: usize = 6;
const ENTITIES_MAX: usize = 16;
/// Different names noted at most while reading; a table of data has no end of them.
const FOUND_MAX: usize = 512;

/// What was found so far.
pub(super) struct Harvest<'a> {
    folders: [Option<&'a str>; 2],
    found: Vec<Found>,
    places: BTreeMap<(AttributeRole, String), usize>,
    /// Identifiers in code: worth keeping only when they recur.
    in_code: BTreeMap<&'a str, u32>,
}

struct Found {
    attribute: NewAttribute,
    n: u32,
}

impl<'a> Harvest<'a> {
    pub(super) fn new(folders: [Option<&'a str>; 2]) -> Self {
        let places = BTreeMap::new();
        Self { folders, found: Vec::new(), places, in_code: BTreeMap::new() }
    }

    /// Notes a name as written.
    pub(super) fn add(&mut self, role: AttributeRole, written: &str) {
        if role != AttributeRole::File {
            return self.note(role, written);
        }
        let path = self.without_folder(written);
        self.note(role, path);
        if let Some((_, name)) = path.rsplit_once(['/', '\\']).filter(|(_, name)| !name.is_empty())
        {
            self.note(role, name);
        }
    }

    /// Notes an identifier in code.
    pub(super) fn add_from_code(&mut self, identifier: &'a str) {
        if self.in_code.len() < FOUND_MAX || self.in_code.contains_key(identifier) {
            *self.in_code.entry(identifier).or_default() += 1;
        }
    }

    fn note(&mut self, role: AttributeRole, written: &str) {
        let Some(attribute) = NewAttribute::new(role, written) else { return };
        let next = self.found.len();
        if next == FOUND_MAX {
            return;
        }
        let key = (role, attribute.filler.clone());
        let place = *self.places.entry(key).or_insert(next);
        match self.found.get_mut(place) {
            Some(found) => found.n = found.n.saturating_add(1),
            None => self.found.push(Found { attribute, n: 1 }),
        }
    }

    /// A file is named from the folder it was worked in, however the host wrote it.
    fn without_folder<'t>(&self, path: &'t str) -> &'t str {
        let inside =
            self.folders.into_iter().flatten().find_map(|folder| {
                path.strip_prefix(folder.trim_end_matches('/'))?.strip_prefix('/')
            });
        inside.unwrap_or_else(|| path.trim_start_matches("./"))
    }

    /// Returns what the memory keeps.
    pub(super) fn into_attributes(mut self) -> Vec<NewAttribute> {
        let mut recurring: Vec<(&str, u32)> =
            self.in_code.iter().filter(|(_, n)| 1 < **n).map(|(name, n)| (*name, *n)).collect();
        recurring.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        for (name, _) in recurring.into_iter().take(ENTITIES_MAX) {
            self.note(AttributeRole::Entity, name);
        }
        // Stable: what comes up equally often stays in the order of the text.
        self.found.sort_by_key(|found| std::cmp::Reverse(found.n));
        let mut kept: Vec<NewAttribute> = Vec::new();
        for (role, n_max) in [
            (AttributeRole::Lang, 1),
            (AttributeRole::Tool, TOOLS_MAX),
            (AttributeRole::File, FILES_MAX),
            (AttributeRole::Command, COMMANDS_MAX),
            (AttributeRole::Entity, ENTITIES_MAX),
        ] {
            let of_role = self.found.iter().filter(|found| found.attribute.role == role);
            kept.extend(of_role.take(n_max).map(|found| found.attribute.clone()));
        }
        kept.truncate(ATTRIBUTES_MAX);
        kept
    }
}
