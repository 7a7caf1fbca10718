//! What ranking and filtering ask about every memory, in columns by number: no row is decrypted to
//! learn who spoke, when and where.

use std::collections::{BTreeMap, BTreeSet};

use super::coding::{checksum, u32_at, u64_at};
use crate::record::{MemoryNumber, Role, Tier};

/// "icc1": the layout of stored columns.
const MAGIC: u32 = 0x3163_6369;
const HEADER_BYTES: usize = 24;
/// Kind, session, place, turn index, time.
const ROW_BYTES: usize = 1 + 4 + 4 + 4 + 8;
/// The kind of a number without a memory.
const NOBODY: u8 = u8::MAX;
/// Columns grow by this share at a time: a doubling would waste as much as it holds.
const GROWTH_SHARE: usize = 8;
const GROWTH_MIN: usize = 4096;

/// One memory as the catalogue knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogueEntry {
    /// Its session, by number.
    pub session: u32,
    /// Where it was said, by number; several places may belong to one project.
    pub place: Option<u32>,
    /// Who spoke.
    pub role: Role,
    /// What kind of memory it is.
    pub tier: Tier,
    /// The turn's index in its transcript.
    pub turn_index: Option<u32>,
    /// When it was said, in milliseconds since 1970.
    pub turn_at_ms: i64,
}

/// The columns of all memories.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// Role and tier, or [`NOBODY`]; all columns have one row for each number from 0 on.
    kinds: Vec<u8>,
    sessions: Vec<u32>,
    /// 0 for none.
    places: Vec<u32>,
    /// One more than the index, or 0 for none.
    turn_indexes: Vec<u32>,
    turns_at_ms: Vec<i64>,
    /// By session: its memories in the order they were said.
    members: Vec<Vec<u32>>,
    /// How many memories those are: a large store has as many sessions as a small one memories.
    n_members: usize,
    /// Place → project, both by number.
    place_projects: BTreeMap<u32, u32>,
    /// By number of the project.
    projects: Vec<String>,
    /// Memories that another one replaced, and when, in milliseconds.
    ended: BTreeMap<u32, i64>,
}

impl Catalogue {
    /// Returns what is known about a memory.
    pub fn entry(&self, number: MemoryNumber) -> Option<CatalogueEntry> {
        let row = number.get() as usize;
        let (role, tier) = unpacked(*self.kinds.get(row)?)?;
        Some(CatalogueEntry {
            session: self.sessions.get(row).copied().unwrap_or(0),
            place: self.places.get(row).copied().filter(|place| *place != 0),
            role,
            tier,
            turn_index: self.turn_indexes.get(row).and_then(|index| index.checked_sub(1)),
            turn_at_ms: self.turns_at_ms.get(row).copied().unwrap_or(0),
        })
    }

    /// Returns the project of a memory, by number.
    pub fn project(&self, number: MemoryNumber) -> Option<u32> {
        let place = self.places.get(number.get() as usize)?;
        self.place_projects.get(place).copied()
    }

    /// Returns the name of a memory's project.
    pub fn project_name(&self, number: MemoryNumber) -> Option<&str> {
        let project = usize::try_from(self.project(number)?).ok()?;
        self.projects.get(project).map(String::as_str)
    }

    /// Returns the number of a project; numbers hold as long as the index is loaded.
    pub fn project_number(&self, project: &str) -> Option<u32> {
        let place = self.projects.iter().position(|known| known == project)?;
        u32::try_from(place).ok()
    }

    /// Returns the names of all projects.
    pub fn projects(&self) -> impl Iterator<Item = &str> {
        // Of those forgotten, the names are gone and the numbers stay.
        self.projects.iter().map(String::as_str).filter(|name| !name.is_empty())
    }

    /// Returns for each place whether it belongs to a project.
    fn places_of(&self, project: &str) -> Vec<bool> {
        let wanted = self.project_number(project);
        let n_places = self.place_projects.last_key_value().map_or(0, |(place, _)| *place as usize);
        let mut places = vec![false; n_places.saturating_add(1)];
        for (place, project) in &self.place_projects {
            set(&mut places, *place as usize, Some(*project) == wanted);
        }
        places
    }

    /// Returns since when another memory holds in place of this one, in milliseconds since 1970.
    pub fn ended_at_ms(&self, number: MemoryNumber) -> Option<i64> {
        self.ended.get(&number.get()).copied()
    }

    /// Returns the memories of a session in the order they were said.
    pub fn members(
        &self,
        session: u32,
    ) -> impl ExactSizeIterator<Item = MemoryNumber> + DoubleEndedIterator + '_ {
        let members = self.members.get(session as usize).map_or(&[][..], Vec::as_slice);
        members.iter().map(|number| MemoryNumber::new(*number))
    }

    /// Returns the memory said before this one in its session.
    pub fn previous(&self, number: MemoryNumber) -> Option<MemoryNumber> {
        let (members, place) = self.place_in_session(number)?;
        place.checked_sub(1).and_then(|place| members.get(place)).copied().map(MemoryNumber::new)
    }

    /// Returns the memory said after this one in its session.
    pub fn next(&self, number: MemoryNumber) -> Option<MemoryNumber> {
        let (members, place) = self.place_in_session(number)?;
        members.get(place.saturating_add(1)).copied().map(MemoryNumber::new)
    }

    /// Returns how many memories were said right after another: the links no row is stored for.
    pub fn n_following(&self) -> usize {
        self.members.iter().map(|members| members.len().saturating_sub(1)).sum()
    }

    /// Returns a memory with its neighbours in the session, at most `reach` on either side, in the
    /// order they were said.
    pub fn around(
        &self,
        number: MemoryNumber,
        reach: usize,
    ) -> impl Iterator<Item = MemoryNumber> + '_ {
        let scene = self.place_in_session(number).map(|(members, place)| {
            let end = place.saturating_add(reach).saturating_add(1).min(members.len());
            members.get(place.saturating_sub(reach)..end).unwrap_or_default()
        });
        scene.unwrap_or_default().iter().copied().map(MemoryNumber::new)
    }

    /// Returns the sessions that have memories, by number.
    pub fn sessions(&self) -> impl Iterator<Item = u32> + '_ {
        let lived = self.members.iter().enumerate().filter(|(_, members)| !members.is_empty());
        lived.filter_map(|(session, _)| u32::try_from(session).ok())
    }

    /// Returns all memories, the one stored last first.
    pub fn newest_first(&self) -> impl Iterator<Item = MemoryNumber> + '_ {
        let is_taken = |row: &usize| self.kinds.get(*row).is_some_and(|kind| *kind != NOBODY);
        let rows = (0..self.kinds.len()).rev().filter(is_taken);
        rows.filter_map(|row| u32::try_from(row).ok()).map(MemoryNumber::new)
    }

    /// Returns the memories after a number, in order.
    pub fn after(&self, number: MemoryNumber) -> impl Iterator<Item = MemoryNumber> + '_ {
        let first = number.get().saturating_add(1);
        let rows = self.kinds.iter().zip(0_u32..).skip(first as usize);
        rows.filter(|(kind, _)| **kind != NOBODY).map(|(_, row)| MemoryNumber::new(row))
    }

    /// How many memories there are.
    pub fn len(&self) -> usize {
        self.n_members
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.n_members == 0
    }

    fn place_in_session(&self, number: MemoryNumber) -> Option<(&[u32], usize)> {
        let session = self.entry(number)?.session;
        let members = self.members.get(session as usize)?;
        let key = self.order_of(number.get());
        let place = members.binary_search_by_key(&key, |member| self.order_of(*member)).ok()?;
        Some((members, place))
    }

    /// What memories of a session are ordered by.
    fn order_of(&self, number: u32) -> (i64, u32, u32) {
        let row = number as usize;
        let at = self.turns_at_ms.get(row).copied().unwrap_or(0);
        (at, self.turn_indexes.get(row).copied().unwrap_or(0), number)
    }

    /// Adds a memory.
    pub(crate) fn add(&mut self, number: MemoryNumber, entry: &CatalogueEntry) {
        self.put_row(number.get(), entry);
        self.enter(number.get(), entry.session);
    }

    fn put_row(&mut self, number: u32, entry: &CatalogueEntry) {
        let row = number as usize;
        let n_rows = row.saturating_add(1).max(self.kinds.len());
        grow(&mut self.kinds, n_rows, NOBODY);
        grow(&mut self.sessions, n_rows, 0);
        grow(&mut self.places, n_rows, 0);
        grow(&mut self.turn_indexes, n_rows, 0);
        grow(&mut self.turns_at_ms, n_rows, 0);
        set(&mut self.kinds, row, packed(entry.role, entry.tier));
        set(&mut self.sessions, row, entry.session);
        set(&mut self.places, row, entry.place.unwrap_or(0));
        let index = entry.turn_index.map_or(0, |index| index.saturating_add(1));
        set(&mut self.turn_indexes, row, index);
        set(&mut self.turns_at_ms, row, entry.turn_at_ms);
    }

    fn enter(&mut self, number: u32, session: u32) {
        let n_sessions = (session as usize).saturating_add(1).max(self.members.len());
        grow(&mut self.members, n_sessions, Vec::new());
        let key = self.order_of(number);
        let Some(members) = self.members.get_mut(session as usize) else { return };
        let mut members = std::mem::take(members);
        let place = members.partition_point(|member| self.order_of(*member) < key);
        members.insert(place, number);
        set(&mut self.members, session as usize, members);
        self.n_members = self.n_members.saturating_add(1);
    }

    /// Takes a memory out.
    pub(crate) fn remove(&mut self, number: MemoryNumber) {
        let Some((_, place)) = self.place_in_session(number) else { return };
        let row = number.get() as usize;
        let session = self.sessions.get(row).map_or(0, |session| *session as usize);
        if let Some(members) = self.members.get_mut(session) {
            members.remove(place);
            self.n_members = self.n_members.saturating_sub(1);
        }
        set(&mut self.kinds, row, NOBODY);
        self.ended.remove(&number.get());
    }

    /// Notes where a place belongs.
    pub(crate) fn add_place(&mut self, place: u32, project: Option<&str>) {
        let Some(project) = project else { return };
        let known = self.project_number(project);
        let number = known.unwrap_or_else(|| {
            self.projects.push(project.to_owned());
            u32::try_from(self.projects.len().saturating_sub(1)).unwrap_or(u32::MAX)
        });
        self.place_projects.insert(place, number);
    }

    /// Notes that a memory was replaced; the earliest time counts.
    pub(crate) fn end(&mut self, number: MemoryNumber, at_ms: i64) {
        let ended = self.ended.entry(number.get()).or_insert(at_ms);
        *ended = at_ms.min(*ended);
    }

    /// Sets when a memory ended, or that it did not.
    pub(crate) fn reset_end(&mut self, number: MemoryNumber, at_ms: Option<i64>) {
        self.ended.remove(&number.get());
        at_ms.into_iter().for_each(|at_ms| self.end(number, at_ms));
    }

    /// Forgets a place, and the name of its project where it was the last.
    pub(crate) fn drop_place(&mut self, place: u32) {
        let Some(project) = self.place_projects.remove(&place) else { return };
        let is_named = self.place_projects.values().any(|other| *other == project);
        if !is_named && let Some(name) = self.projects.get_mut(project as usize) {
            name.clear();
        }
    }

    /// Forgets what is kept beside the columns, to have it told again.
    pub(crate) fn clear_places_and_ends(&mut self) {
        self.place_projects.clear();
        self.projects.clear();
        self.ended.clear();
    }

    /// Returns the columns of a range of numbers, to store.
    pub(crate) fn stored(&self, first: u32, last: u32) -> Vec<u8> {
        let rows = first as usize..=last as usize;
        let n_rows = last.saturating_sub(first) as usize + 1;
        let mut body = Vec::with_capacity(HEADER_BYTES + n_rows * ROW_BYTES);
        body.extend(rows.clone().map(|row| self.kinds.get(row).copied().unwrap_or(NOBODY)));
        for column in [&self.sessions, &self.places, &self.turn_indexes] {
            let value = |row: usize| column.get(row).copied().unwrap_or(0).to_le_bytes();
            body.extend(rows.clone().flat_map(value));
        }
        let at = |row: usize| self.turns_at_ms.get(row).copied().unwrap_or(0).to_le_bytes();
        body.extend(rows.flat_map(at));
        let mut bytes = Vec::with_capacity(HEADER_BYTES + body.len());
        bytes.extend(MAGIC.to_le_bytes());
        bytes.extend(first.to_le_bytes());
        bytes.extend(last.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend((checksum(&bytes) ^ checksum(&body)).to_le_bytes());
        bytes.append(&mut body);
        bytes
    }

    /// Takes stored columns over; false, and nothing taken, when they are damaged, foreign or of
    /// another range. [`Self::enter_all`] has to follow.
    pub(crate) fn restore(&mut self, bytes: &[u8], first: u32, last: u32) -> bool {
        let (head, body) = bytes.split_at_checked(HEADER_BYTES).unwrap_or_default();
        let sum = checksum(head.get(..HEADER_BYTES - 8).unwrap_or_default()) ^ checksum(body);
        let n_rows = last.saturating_sub(first) as usize + 1;
        let is_ours = u32_at(head, 0) == MAGIC
            && (u32_at(head, 4), u32_at(head, 8)) == (first, last)
            && u64_at(head, HEADER_BYTES - 8) == sum
            && body.len() == n_rows * ROW_BYTES;
        if !is_ours {
            return false;
        }
        let (kinds, rest) = body.split_at_checked(n_rows).unwrap_or_default();
        let row = first as usize;
        put_column(&mut self.kinds, row, NOBODY, kinds.iter().copied());
        let mut rest = rest;
        for column in [&mut self.sessions, &mut self.places, &mut self.turn_indexes] {
            let (values, behind) = rest.split_at_checked(4 * n_rows).unwrap_or_default();
            let (values, _) = values.as_chunks::<4>();
            put_column(column, row, 0, values.iter().map(|four| u32::from_le_bytes(*four)));
            rest = behind;
        }
        let (values, _) = rest.as_chunks::<8>();
        let times = values.iter().map(|eight| i64::from_le_bytes(*eight));
        put_column(&mut self.turns_at_ms, row, 0, times);
        true
    }

    /// Puts every restored memory into its session.
    pub(crate) fn enter_all(&mut self) {
        let rows = || (0_u32..).zip(&self.kinds).zip(&self.sessions);
        let taken = || rows().filter(|((_, kind), _)| **kind != NOBODY);
        let mut n_members: Vec<usize> = Vec::new();
        for (_, session) in taken() {
            let n_sessions = (*session as usize).saturating_add(1).max(n_members.len());
            n_members.resize(n_sessions, 0);
            n_members.get_mut(*session as usize).into_iter().for_each(|n| *n += 1);
        }
        // Each of the size it will have: growing and shrinking many would take longer than this.
        let mut members: Vec<Vec<u32>> = n_members.into_iter().map(Vec::with_capacity).collect();
        for ((number, _), session) in taken() {
            if let Some(members) = members.get_mut(*session as usize) {
                members.push(number);
            }
        }
        for of_session in &mut members {
            if !of_session.is_sorted_by_key(|number| self.order_of(*number)) {
                of_session.sort_unstable_by_key(|number| self.order_of(*number));
            }
        }
        self.n_members = members.iter().map(Vec::len).sum();
        self.members = members;
    }
}

fn grow<T: Clone>(column: &mut Vec<T>, n_rows: usize, filler: T) {
    if column.capacity() < n_rows {
        let more = (column.len() / GROWTH_SHARE).max(GROWTH_MIN);
        column.reserve_exact(n_rows.saturating_sub(column.len()).max(more));
    }
    column.resize(n_rows, filler);
}

fn set<T>(column: &mut [T], row: usize, value: T) {
    if let Some(place) = column.get_mut(row) {
        *place = value;
    }
}

fn put_column<T: Clone>(
    column: &mut Vec<T>,
    row: usize,
    filler: T,
    values: impl ExactSizeIterator<Item = T>,
) {
    let n_rows = row.saturating_add(values.len()).max(column.len());
    grow(column, n_rows, filler);
    for (place, value) in column.iter_mut().skip(row).zip(values) {
        *place = value;
    }
}

fn packed(role: Role, tier: Tier) -> u8 {
    let role = Role::ALL.iter().position(|known| *known == role).unwrap_or(0);
    let tier = Tier::ALL.iter().position(|known| *known == tier).unwrap_or(0);
    u8::try_from(role << 4 | tier).unwrap_or(NOBODY)
}

fn unpacked(kind: u8) -> Option<(Role, Tier)> {
    let role = Role::ALL.get(usize::from(kind >> 4))?;
    let tier = Tier::ALL.get(usize::from(kind & 0xf))?;
    Some((*role, *tier))
}

/// Which memories are meant, by what the catalogue knows; the empty scope means all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// Any of these tiers; empty means all.
    pub tiers: Vec<Tier>,
    /// Any of these roles; empty means all.
    pub roles: Vec<Role>,
    /// Exactly this project.
    pub project: Option<String>,
    /// Any of these sessions, by number.
    pub sessions: Option<Vec<u32>>,
    /// Said between these times, in milliseconds since 1970, both included.
    pub said_ms: Option<(i64, i64)>,
}

impl Scope {
    /// Returns a test for membership. It is asked about every memory there is, so that all it takes
    /// are a few looks into tables.
    pub fn admits<'a>(&'a self, catalogue: &'a Catalogue) -> impl Fn(MemoryNumber) -> bool + 'a {
        let is_all = *self == Self::default();
        let kinds = self.kinds();
        let places = self.project.as_deref().map(|project| catalogue.places_of(project));
        let sessions = self.sessions.as_ref().map(|sessions| sessions.iter().collect());
        let sessions: Option<BTreeSet<&u32>> = sessions;
        move |number| {
            if is_all {
                return true;
            }
            let row = number.get() as usize;
            let is_in = |column: &[u32], set: &Vec<bool>| {
                let value = column.get(row).and_then(|value| set.get(*value as usize));
                value.copied().unwrap_or(false)
            };
            let kind = catalogue.kinds.get(row).and_then(|kind| kinds.get(usize::from(*kind)));
            kind.copied().unwrap_or(false)
                && places.as_ref().is_none_or(|places| is_in(&catalogue.places, places))
                && sessions.as_ref().is_none_or(|known| {
                    catalogue.sessions.get(row).is_some_and(|session| known.contains(session))
                })
                && self.said_ms.is_none_or(|(from, to)| {
                    catalogue.entry(number).is_some_and(|e| (from..=to).contains(&e.turn_at_ms))
                })
        }
    }

    /// Which kinds are meant.
    fn kinds(&self) -> [bool; 256] {
        let is_meant = |kind: u8| {
            unpacked(kind).is_some_and(|(role, tier)| {
                (self.tiers.is_empty() || self.tiers.contains(&tier))
                    && (self.roles.is_empty() || self.roles.contains(&role))
            })
        };
        std::array::from_fn(|kind| u8::try_from(kind).is_ok_and(is_meant))
    }
}

#[cfg(test)]
mod tests;
