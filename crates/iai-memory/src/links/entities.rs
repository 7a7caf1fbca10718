//! Links memories of different sessions that name the same rare thing: a service, a ticket, a file.
//!
//! What half the store names says nothing, and what two memories name says much: the fewer name it,
//! the stronger the link. Each memory is linked with a few, so that no clique grows.

use std::collections::BTreeMap;

use iai_store::{Attribute, AttributeRole, Link, LinkKind, MemoryNumber, Reader, Role};
use jiff::Timestamp;

use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::{Advance, Due, Effects, Shift, Step};

/// What more memories than this name is no longer rare.
const NAMED_BY_MAX: u64 = 12;
/// The rarest things of one memory that are looked up.
const ENTITIES_MAX: usize = 6;
/// The links one memory is given; what is stored per memory is bounded once more.
const LINKS_PER_MEMORY: usize = 3;
/// A weaker tie than one thing that five memories name is chance.
const WEIGHT_MIN: f64 = 0.35;
/// Memories linked in one transaction.
const MEMORIES_PER_ADVANCE: usize = 64;
/// Whose progress has to come before: attributes are taken soon after a turn came in.
const ATTRIBUTES: &str = "attributes";

/// Links what names the same rare thing.
pub(crate) struct EntityLinks;

impl Step for EntityLinks {
    fn name(&self) -> &'static str {
        "entity_links"
    }

    fn due(&self) -> Due {
        Due::Soon
    }

    fn advance(&self, engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Advance> {
        let (mut progress, came_in) = engine.read(|reader| {
            let progress = reader.step(self.name())?;
            let known_up_to = reader.step(ATTRIBUTES)?.up_to;
            let mut came_in = reader.after(progress.up_to, MEMORIES_PER_ADVANCE)?;
            came_in.retain(|(number, _)| *number <= known_up_to);
            Ok((progress, came_in))
        })?;
        if came_in.is_empty() {
            return Ok(Advance::Nothing);
        }
        let mut links = Vec::new();
        let seen = shift.one_by_one(&came_in, |(number, memory)| {
            if memory.role != Role::System {
                links.extend(engine.links_by_entity(*number, shift.now)?);
            }
            Ok(())
        })?;
        let Some((last, _)) = seen.last() else { return Ok(Advance::MadeWay) };
        progress.up_to = *last;
        engine.write(|writing| {
            for link in &links {
                writing.link(link)?;
            }
            Ok(writing.put_step(self.name(), &progress, shift.now)?)
        })?;
        Ok(Advance::Did(Effects::from([
            ("memories_linked", seen.len() as u64),
            ("links_made", links.len() as u64),
        ])))
    }
}

impl MemoryEngine {
    /// Returns links from a memory to earlier ones of other sessions. Later ones will link back.
    fn links_by_entity(&self, number: MemoryNumber, now: Timestamp) -> Result<Vec<Link>> {
        let ties = self.read(|reader| ties_of(reader, number))?;
        let mut others: Vec<(MemoryNumber, f64)> = self.with_index(|index| {
            let catalogue = index.catalogue();
            let session = |number| catalogue.entry(number).map(|entry| entry.session);
            let is_elsewhere = |other: &MemoryNumber| session(*other) != session(number);
            ties.into_iter().filter(|(other, _)| is_elsewhere(other)).collect()
        })?;
        others.retain(|(_, weight)| WEIGHT_MIN <= *weight);
        // Of equal ties the latest: what was said last about it is nearest.
        others.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        others.truncate(LINKS_PER_MEMORY);
        self.read(|reader| {
            let mut links = Vec::new();
            let Some((_, memory)) = reader.numbered(&[number])?.pop() else { return Ok(links) };
            for (other, weight) in others {
                let found = reader.numbered(&[other])?.pop();
                links.extend(found.map(|(_, other)| Link {
                    src: memory.id,
                    dst: other.id,
                    kind: LinkKind::EntityShared,
                    weight,
                    created_at: now,
                    touched_at: now,
                }));
            }
            Ok(links)
        })
    }
}

/// Returns the earlier memories that name what this one names, with how much that says.
fn ties_of(reader: &Reader, number: MemoryNumber) -> Result<BTreeMap<MemoryNumber, f64>> {
    let attributes = reader.attributes_of(&[number])?.into_iter().flat_map(|(_, own)| own);
    let mut rare: Vec<Attribute> = attributes.filter(is_rare).collect();
    rare.sort_by(|a, b| a.n_memories.cmp(&b.n_memories).then_with(|| a.filler.cmp(&b.filler)));
    let mut ties: BTreeMap<MemoryNumber, f64> = BTreeMap::new();
    for attribute in rare.iter().take(ENTITIES_MAX) {
        let n_max = usize::try_from(NAMED_BY_MAX).unwrap_or(usize::MAX);
        for other in reader.memories_with(attribute.number, n_max)? {
            if other < number {
                let tie = ties.entry(other).or_default();
                *tie = 1.0 - (1.0 - *tie) * (1.0 - rarity(attribute.n_memories));
            }
        }
    }
    Ok(ties)
}

fn is_rare(attribute: &Attribute) -> bool {
    let is_thing = matches!(attribute.role, AttributeRole::Entity | AttributeRole::File);
    is_thing && (2..=NAMED_BY_MAX).contains(&attribute.n_memories)
}

/// From 1 for what two memories name down to 0 for what is no longer rare, by the logarithm.
#[expect(clippy::cast_precision_loss, reason = "a dozen")]
fn rarity(n_memories: u64) -> f64 {
    let (n, n_max) = (n_memories.max(2) as f64, (NAMED_BY_MAX + 1) as f64);
    (1.0 - (n / 2.0).ln() / (n_max / 2.0).ln()).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attributes::Attributes;
    use crate::trial::{Trial, now};

    fn linked(texts: &[&str]) -> Trial {
        let trial = Trial::new();
        trial.tell(texts);
        trial.run(&Attributes, now());
        trial.run(&EntityLinks, now());
        trial
    }

    fn links(trial: &Trial) -> Vec<Link> {
        let numbers: Vec<MemoryNumber> = (1..=100).map(MemoryNumber::new).collect();
        trial.engine.read(|reader| Ok(reader.links_of(&numbers)?)).unwrap()
    }

    #[test]
    fn what_names_the_same_rare_thing_is_linked() {
        let trial = linked(&[
            "the crash came from src/billing/rounding.rs in the night",
            "soup and bread were served at noon in the garden",
            "please look at src/billing/rounding.rs once more",
        ]);
        let links = links(&trial);
        assert_eq!(links.len(), 1, "{links:?}");
        assert_eq!((links[0].kind, links[0].weight), (LinkKind::EntityShared, 1.0));
        assert!(trial.run(&EntityLinks, now()).is_empty(), "nothing new, nothing done");
    }

    #[test]
    fn what_everybody_names_links_nobody_and_nothing_grows_a_clique() {
        let check = |n: usize, expect: std::ops::RangeInclusive<usize>| {
            let texts: Vec<String> =
                (0..n).map(|n| format!("note {n} about src/main.rs, as ever")).collect();
            let trial = linked(&texts.iter().map(String::as_str).collect::<Vec<_>>());
            let n_links = links(&trial).len();
            assert!(expect.contains(&n_links), "{n}: {n_links}");
        };
        check(5, 4..=15);
        check(40, 0..=0);
    }

    #[test]
    fn links_go_with_what_is_forgotten() {
        let trial = linked(&["see src/a/rare.rs there", "and src/a/rare.rs here"]);
        assert_eq!(links(&trial).len(), 1);
        let first = MemoryNumber::new(1);
        trial.engine.write(|writing| Ok(writing.forget(&[first])?)).unwrap();
        assert_eq!(links(&trial).len(), 0);
    }
}
