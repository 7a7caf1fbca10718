//! Who has which role: counts, candidates and tests, each through an index.

use std::collections::{BTreeMap, BTreeSet};

use iai_store::{
    AttributeNumber, Catalogue, Column, LexicalQuery, MemoryNumber, Reader, Role, Scope, Tier,
};

use super::super::origin::is_summary;
use super::STALE_FACTOR;
use super::roles::{Wanted, What};
use crate::engine::MemoryEngine;
use crate::error::Result;

/// Counting goes no further than this; what is commoner is common.
const COUNT_MAX: usize = 20_000;
/// A role brings in candidates when it tells at least this share of what the rarest tells.
const RARE_SHARE: f64 = 0.5;
/// A name that is no attribute is looked up among the words of so many memories at most.
const WORDED_MAX: usize = 1_000;

/// What a query asks, and how much each role of it tells.
pub(super) struct Question<'a> {
    engine: &'a MemoryEngine,
    reader: &'a Reader,
    parts: Vec<Part>,
}

struct Part {
    wanted: Wanted,
    attributes: Vec<AttributeNumber>,
    /// The memories that say it, where nobody has it as an attribute.
    saying: Vec<MemoryNumber>,
    /// How many memories have it, as far as that was counted.
    n_memories: u64,
    information: f64,
}

/// A memory that may be an answer.
pub(super) struct Candidate {
    pub(super) number: MemoryNumber,
    pub(super) turn_at_ms: i64,
    pub(super) score: f64,
    /// The parts it has, by place.
    matched: Vec<usize>,
    is_stale: bool,
    /// This program wrote it, and nobody asks for such.
    pub(super) is_second_hand: bool,
}

impl<'a> Question<'a> {
    pub(super) fn of(
        engine: &'a MemoryEngine,
        reader: &'a Reader,
        wanted: Vec<Wanted>,
    ) -> Result<Self> {
        let n_all = engine.with_index(|index| index.catalogue().len())? as u64;
        let mut parts = Vec::with_capacity(wanted.len());
        for wanted in wanted {
            let (mut attributes, mut saying) = (Vec::new(), Vec::new());
            let mut n_memories = match &wanted.what {
                What::Nothing | What::Words => 0,
                What::Column(column) => count(reader, column, n_all)?,
                What::Attribute(role) => {
                    let named = reader.attributes_named(*role, &wanted.filler)?;
                    attributes.extend(named.iter().map(|attribute| attribute.number));
                    named.iter().map(|attribute| attribute.n_memories).sum()
                }
            };
            if n_memories == 0 && wanted.may_be_said() {
                saying = said_in(engine, &wanted.filler)?;
                n_memories = saying.len() as u64;
            }
            let information = information(n_memories.min(n_all), n_all);
            parts.push(Part { wanted, attributes, saying, n_memories, information });
        }
        Ok(Self { engine, reader, parts })
    }

    /// Returns the memories that have a rare role, scored; the rarest role's come first when there
    /// are too many.
    pub(super) fn candidates(&self, n_max: usize) -> Result<Vec<Candidate>> {
        let rarest = self.parts.iter().map(|part| part.information).fold(0.0, f64::max);
        let is_rare = |part: &&Part| {
            self.parts.len() == 1
                || rarest * RARE_SHARE <= part.information && !is_common(&part.wanted.what)
        };
        let mut rare: Vec<&Part> = self.parts.iter().filter(is_rare).collect();
        rare.sort_by(|a, b| b.information.total_cmp(&a.information));
        let mut numbers: BTreeSet<MemoryNumber> = BTreeSet::new();
        for part in rare {
            let n_left = n_max.saturating_sub(numbers.len());
            numbers.extend(self.having(part, n_left)?);
        }
        let numbers: Vec<MemoryNumber> = numbers.into_iter().collect();
        let mut matched: BTreeMap<MemoryNumber, Vec<usize>> = BTreeMap::new();
        for (place, part) in self.parts.iter().enumerate() {
            for (number, has_it) in numbers.iter().zip(self.test(part, &numbers)?) {
                if has_it {
                    matched.entry(*number).or_default().push(place);
                }
            }
        }
        self.scored(matched)
    }

    /// Says what matched, how much it tells, and of how much.
    pub(super) fn reason(&self, candidate: &Candidate) -> String {
        let matched = candidate.matched.iter().filter_map(|place| self.parts.get(*place));
        let matched: Vec<String> = matched
            .map(|part| {
                let by = if part.saying.is_empty() { "" } else { " by its words" };
                let Wanted { role, filler, .. } = &part.wanted;
                format!("{role} {filler}{by} ({:.2})", part.information)
            })
            .collect();
        let all: f64 = self.parts.iter().map(|part| part.information).sum();
        let stale = if candidate.is_stale { " × 0.5 · stale" } else { "" };
        format!("matched {} of {all:.2}{stale}", matched.join(" + "))
    }

    fn scored(&self, matched: BTreeMap<MemoryNumber, Vec<usize>>) -> Result<Vec<Candidate>> {
        let all: f64 = self.parts.iter().map(|part| part.information).sum();
        let asks = |roles: &[&str]| self.parts.iter().any(|part| roles.contains(&part.wanted.role));
        let asks_certainty = asks(&["CERTAINTY"]);
        let asks_kind = asks(&["TIER", "SOURCE", "ROLE", "SESSION_ID"]);
        self.engine.with_index(|index| {
            let catalogue = index.catalogue();
            let candidate = |(number, matched): (MemoryNumber, Vec<usize>)| {
                let told: f64 = matched
                    .iter()
                    .filter_map(|place| self.parts.get(*place))
                    .map(|part| part.information)
                    .sum();
                let is_stale = !asks_certainty && catalogue.ended_at_ms(number).is_some();
                let factor = if is_stale { STALE_FACTOR } else { 1.0 };
                let entry = catalogue.entry(number)?;
                let (turn_at_ms, is_second_hand) =
                    (entry.turn_at_ms, !asks_kind && is_summary(&entry));
                let score = told / all.max(f64::MIN_POSITIVE) * factor;
                Some(Candidate { number, turn_at_ms, score, matched, is_stale, is_second_hand })
            };
            matched.into_iter().filter_map(candidate).collect()
        })
    }

    /// The newest memories that have a part.
    fn having(&self, part: &Part, n_max: usize) -> Result<Vec<MemoryNumber>> {
        let mut numbers = part.saying.clone();
        match &part.wanted.what {
            What::Nothing | What::Words => {}
            // No index is as quick as the catalogue for what every other memory has.
            What::Column(column) if is_common(&part.wanted.what) => {
                numbers = self.engine.with_index(|index| {
                    let catalogue = index.catalogue();
                    let newest = catalogue.newest_first();
                    newest.filter(|n| has_column(catalogue, *n, column)).take(n_max).collect()
                })?;
            }
            What::Column(column) => {
                numbers = self.reader.chosen(std::slice::from_ref(column), n_max)?;
            }
            What::Attribute(_) => {
                for attribute in &part.attributes {
                    numbers.extend(self.reader.memories_with(*attribute, n_max)?);
                }
            }
        }
        numbers.truncate(n_max);
        Ok(numbers)
    }

    /// Tells for each memory whether it has a part.
    fn test(&self, part: &Part, numbers: &[MemoryNumber]) -> Result<Vec<bool>> {
        if self.parts.len() == 1 {
            return Ok(vec![true; numbers.len()]);
        }
        match &part.wanted.what {
            What::Nothing => Ok(vec![false; numbers.len()]),
            What::Words => self.test_by_list(part, numbers),
            // Communities are not in the catalogue, and there are few memories in one.
            What::Column(Column::Communities(_)) => self.test_by_list(part, numbers),
            What::Column(column) => self.engine.with_index(|index| {
                let catalogue = index.catalogue();
                numbers.iter().map(|number| has_column(catalogue, *number, column)).collect()
            }),
            What::Attribute(_) if part.n_memories <= numbers.len() as u64 => {
                self.test_by_list(part, numbers)
            }
            What::Attribute(_) => {
                let mut has_it = vec![false; numbers.len()];
                for attribute in &part.attributes {
                    let found = self.reader.have_attribute(*attribute, numbers)?;
                    has_it.iter_mut().zip(found).for_each(|(has, found)| *has |= found);
                }
                Ok(has_it)
            }
        }
    }

    fn test_by_list(&self, part: &Part, numbers: &[MemoryNumber]) -> Result<Vec<bool>> {
        let having: BTreeSet<MemoryNumber> = self.having(part, COUNT_MAX)?.into_iter().collect();
        Ok(numbers.iter().map(|number| having.contains(number)).collect())
    }
}

/// The memories that have all words of a name, the best first. The index bounds the work.
fn said_in(engine: &MemoryEngine, name: &str) -> Result<Vec<MemoryNumber>> {
    let query = LexicalQuery { words: Vec::new(), phrases: vec![name.to_owned()] };
    let hits = engine.with_index(|index| index.search(&query, &Scope::default(), WORDED_MAX))?;
    Ok(hits.into_iter().map(|hit| hit.number).collect())
}

/// Every other memory has it: even in a small store it leads nowhere.
fn is_common(what: &What) -> bool {
    let What::Column(column) = what else { return false };
    match column {
        Column::Any
        | Column::Holding
        | Column::Tier(Tier::Episodic)
        | Column::Role(Role::User | Role::Assistant) => true,
        Column::Role(Role::System)
        | Column::Tier(_)
        | Column::Said(..)
        | Column::Sessions(_)
        | Column::Places(_)
        | Column::Communities(_)
        | Column::Replaced => false,
    }
}

/// Counts through an index; where there is none, the column says little, and is taken to.
fn count(reader: &Reader, column: &Column, n_all: u64) -> Result<u64> {
    match column {
        Column::Any | Column::Holding | Column::Tier(Tier::Episodic) => Ok(n_all),
        Column::Role(Role::User | Role::Assistant) => Ok(n_all.div_ceil(2)),
        Column::Role(Role::System)
        | Column::Tier(_)
        | Column::Said(..)
        | Column::Sessions(_)
        | Column::Places(_)
        | Column::Communities(_)
        | Column::Replaced => Ok(reader.count_chosen(column, COUNT_MAX)?),
    }
}

fn has_column(catalogue: &Catalogue, number: MemoryNumber, column: &Column) -> bool {
    let Some(entry) = catalogue.entry(number) else { return false };
    match column {
        Column::Any => true,
        Column::Role(role) => entry.role == *role,
        Column::Tier(tier) => entry.tier == *tier,
        Column::Said(from, to) => (*from..=*to).contains(&entry.turn_at_ms),
        Column::Sessions(sessions) => sessions.contains(&entry.session),
        Column::Places(places) => entry.place.is_some_and(|place| places.contains(&place)),
        Column::Holding => catalogue.ended_at_ms(number).is_none(),
        Column::Replaced => catalogue.ended_at_ms(number).is_some(),
        // Answered by its own index.
        Column::Communities(_) => false,
    }
}

/// How much it tells that a memory has something that `n` of `n_all` have.
#[expect(clippy::cast_precision_loss, reason = "a logarithm needs few digits")]
fn information(n: u64, n_all: u64) -> f64 {
    let (n, n_all) = (n as f64, n_all as f64);
    (1.0 + (n_all - n + 0.5) / (n + 0.5)).ln()
}
