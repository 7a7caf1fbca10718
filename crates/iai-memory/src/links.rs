//! Links that nobody has to make: memories that mean much the same, and learned links that fade.
//!
//! The turn before and the turn after are links too, but no rows: the catalogue knows them
//! (`docs/decisions/0005-links.md`).

mod entities;

use std::collections::BTreeMap;

use iai_store::{Limits, Link, LinkKind, Memory, MemoryNumber, Reader, StepProgress};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::{Advance, Due, Effects, Shift, Step, known_near};
use crate::relate::{differ_in_a_fact, is_same_wording};

pub(crate) use entities::EntityLinks;

/// The nearest memories one memory is linked with.
const LINKS_PER_MEMORY: usize = 5;
/// Farther apart than this, by the yardstick of the model, two memories do not mean the same …
const NEARNESS_MIN: f32 = 0.58;
/// … and from here on they say the same, unless they differ in a fact.
const NEARNESS_DUPLICATE: f32 = 0.95;
/// How closely the index is searched: a few neighbours are wanted, not a ranking.
const LIMITS: Limits = Limits { n_scan: 64, n_estimate: 12 };
/// The parts of a long memory whose neighbours are looked for.
const PARTS_MAX: usize = 2;
/// Shorter texts ("go on", "thanks") mean the same everywhere.
const TEXT_CHARS_MIN: usize = 24;
/// Memories linked in one transaction.
const MEMORIES_PER_ADVANCE: usize = 32;
/// Links of a replaced model dropped in one transaction.
const DROPPED_PER_ADVANCE: usize = 2000;
/// Links pruned in one transaction.
const PRUNED_PER_ADVANCE: usize = 2000;
/// How often it is worth looking for faded links.
const PRUNE_EVERY: SignedDuration = SignedDuration::from_hours(24);

/// Links memories with those that mean much the same, when a model can tell.
pub(crate) struct SimilarLinks;

impl Step for SimilarLinks {
    fn name(&self) -> &'static str {
        "similar_links"
    }

    fn due(&self) -> Due {
        Due::Idle
    }

    fn advance(&self, engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Advance> {
        let Some(model) = engine.serving_model() else { return Ok(Advance::Nothing) };
        let mut progress = engine.read(|reader| Ok(reader.step(self.name())?))?;
        if progress.state != linked_by(&model) {
            if shift.must_make_way() {
                return Ok(Advance::MadeWay);
            }
            return self.begin_again(engine, &model, shift.now);
        }
        let memories =
            engine.read(|reader| Ok(reader.after(progress.up_to, MEMORIES_PER_ADVANCE)?))?;
        // Those whose vectors are on their way: all after the first wait too, so that none is left.
        let n_known = memories.iter().take_while(|(number, _)| engine.has_vectors(*number)).count();
        let known = memories.get(..n_known).unwrap_or_default();
        if known.is_empty() {
            return Ok(Advance::Nothing);
        }
        let mut links = Vec::new();
        let seen = shift.one_by_one(known, |(number, memory)| {
            links.extend(engine.links_by_meaning(*number, memory, shift.now)?);
            Ok(())
        })?;
        let Some((last, _)) = seen.last() else { return Ok(Advance::MadeWay) };
        progress.up_to = *last;
        let n_seen = seen.len() as u64;
        let n_links = links.len() as u64;
        engine.write(|writing| {
            for link in &links {
                writing.link(link)?;
            }
            Ok(writing.put_step(self.name(), &progress, shift.now)?)
        })?;
        Ok(Advance::Did(Effects::from([("memories_linked", n_seen), ("links_made", n_links)])))
    }
}

/// Who made the links, and by which measure: links of another are made anew.
fn linked_by(model: &str) -> serde_json::Value {
    json!({"model": model, "measure": "nearness"})
}

impl SimilarLinks {
    /// Drops the links another model made, bit by bit, and starts at the first memory.
    fn begin_again(&self, engine: &MemoryEngine, model: &str, now: Timestamp) -> Result<Advance> {
        let n_dropped = engine.write(|writing| {
            let n_similar = writing.drop_links(LinkKind::Similar, DROPPED_PER_ADVANCE)?;
            let n_same = writing.drop_links(LinkKind::NearDuplicate, DROPPED_PER_ADVANCE)?;
            if n_similar.max(n_same) == 0 {
                let state = linked_by(model);
                let progress = StepProgress { state, ..StepProgress::default() };
                writing.put_step(self.name(), &progress, now)?;
            }
            Ok(n_similar + n_same)
        })?;
        Ok(Advance::Did(Effects::from([("links_dropped", n_dropped as u64)])))
    }
}

impl MemoryEngine {
    /// Returns the links from a memory to those that mean much the same.
    fn links_by_meaning(
        &self,
        number: MemoryNumber,
        memory: &Memory,
        now: Timestamp,
    ) -> Result<Vec<Link>> {
        if memory.text.chars().count() < TEXT_CHARS_MIN {
            return Ok(Vec::new());
        }
        let neighbours = self.with_index(|index| {
            let catalogue = index.catalogue();
            [Some(number), catalogue.previous(number), catalogue.next(number)]
        })?;
        self.read(|reader| {
            let mut near = self.near_to(reader, number)?;
            near.retain(|(other, nearness)| {
                NEARNESS_MIN <= *nearness && !neighbours.contains(&Some(*other))
            });
            near.truncate(LINKS_PER_MEMORY);
            let numbers: Vec<MemoryNumber> = near.iter().map(|(other, _)| *other).collect();
            let nearness: BTreeMap<MemoryNumber, f32> = near.into_iter().collect();
            let others = reader.numbered(&numbers)?;
            Ok(others
                .iter()
                .filter(|(_, other)| TEXT_CHARS_MIN <= other.text.chars().count())
                .map(|(number, other)| {
                    let nearness = nearness.get(number).copied().unwrap_or(NEARNESS_MIN);
                    link(memory, other, nearness, now)
                })
                .collect())
        })
    }

    /// Returns the memories nearest to one, best first, as the serving model sees them.
    fn near_to(&self, reader: &Reader, number: MemoryNumber) -> Result<Vec<(MemoryNumber, f32)>> {
        let mut nearest: BTreeMap<MemoryNumber, f32> = BTreeMap::new();
        // Who was compared with all others already is not compared again.
        let near = match known_near(self, reader, number)? {
            Some(others) => self.nearness_of_parts(reader, number, PARTS_MAX, &others)?,
            None => self.near_parts(reader, number, PARTS_MAX, LIMITS)?,
        };
        for (other, nearness) in near {
            let best = nearest.entry(other).or_insert(nearness);
            *best = best.max(nearness);
        }
        let mut nearest: Vec<(MemoryNumber, f32)> = nearest.into_iter().collect();
        nearest.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(nearest)
    }
}

fn link(memory: &Memory, other: &Memory, nearness: f32, now: Timestamp) -> Link {
    let is_near = NEARNESS_DUPLICATE <= nearness && !differ_in_a_fact(&memory.text, &other.text);
    let is_duplicate = is_near || is_same_wording(&memory.text, &other.text);
    Link {
        src: memory.id,
        dst: other.id,
        kind: if is_duplicate { LinkKind::NearDuplicate } else { LinkKind::Similar },
        weight: f64::from(nearness.min(1.0)),
        created_at: now,
        touched_at: now,
    }
}

/// Lets go of learned links that have faded to nothing.
pub(crate) struct FadingLinks;

impl Step for FadingLinks {
    fn name(&self) -> &'static str {
        "fading_links"
    }

    fn due(&self) -> Due {
        Due::Idle
    }

    fn advance(&self, engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Advance> {
        let mut progress = engine.read(|reader| Ok(reader.step(self.name())?))?;
        let done_at = progress.state.get("done_at").and_then(|at| at.as_str()?.parse().ok());
        if done_at.is_some_and(|at: Timestamp| shift.now.duration_since(at).abs() < PRUNE_EVERY) {
            return Ok(Advance::Nothing);
        }
        if shift.must_make_way() {
            return Ok(Advance::MadeWay);
        }
        progress.state = json!({"done_at": shift.now.to_string()});
        let n_pruned = engine.write(|writing| {
            let n_pruned = writing.prune_links(shift.now, PRUNED_PER_ADVANCE)?;
            if n_pruned < PRUNED_PER_ADVANCE {
                writing.put_step(self.name(), &progress, shift.now)?;
            }
            Ok(n_pruned)
        })?;
        Ok(Advance::Did(Effects::from([("links_pruned", n_pruned as u64)])))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use iai_embed::FakeEmbedder;

    use super::*;
    use crate::trial::{Trial, now};

    fn with_model(texts: &[&str]) -> Trial {
        let trial = Trial::new();
        trial.tell(texts);
        attach(&trial, "one");
        trial
    }

    fn attach(trial: &Trial, name: &str) {
        trial.engine.attach_model(Arc::new(FakeEmbedder::new(name))).unwrap();
        while trial.engine.embed_step().unwrap() {}
    }

    fn n_links(trial: &Trial, kind: LinkKind) -> u64 {
        let counts = trial.engine.read(|reader| Ok(reader.counts()?)).unwrap();
        counts.links_by_kind.get(&kind).copied().unwrap_or(0)
    }

    #[test]
    fn what_means_the_same_is_linked_once() {
        let trial = with_model(&[
            "the retry policy of the billing queue is five attempts",
            "The retry policy of the billing queue is five attempts!",
            "soup and bread were served at noon in the garden",
        ]);
        let effects = trial.run(&SimilarLinks, now());
        assert_eq!(effects["memories_linked"], 3);
        assert_eq!(n_links(&trial, LinkKind::NearDuplicate), 1);
        assert_eq!(n_links(&trial, LinkKind::Similar), 0);
        assert!(trial.run(&SimilarLinks, now()).is_empty(), "nothing new, nothing done");
    }

    #[test]
    fn another_number_makes_similar_of_the_same() {
        let trial = with_model(&[
            "the retry policy of the billing queue is 5 attempts",
            "the retry policy of the billing queue is 6 attempts",
        ]);
        trial.run(&SimilarLinks, now());
        assert_eq!(n_links(&trial, LinkKind::NearDuplicate), 0);
        assert_eq!(n_links(&trial, LinkKind::Similar), 1);
    }

    #[test]
    fn without_a_model_nothing_is_linked_and_with_another_everything_anew() {
        let text = "the retry policy of the billing queue is five attempts";
        let trial = Trial::new();
        trial.tell(&[text, text]);
        assert!(trial.run(&SimilarLinks, now()).is_empty());
        attach(&trial, "one");
        trial.run(&SimilarLinks, now());
        attach(&trial, "two");
        let effects = trial.run(&SimilarLinks, now());
        assert_eq!((effects["links_dropped"], effects["memories_linked"]), (1, 2));
        assert_eq!(n_links(&trial, LinkKind::NearDuplicate), 1);
    }

    #[test]
    fn many_alike_do_not_make_a_clique() {
        let texts: Vec<String> = (0..60)
            .map(|n| format!("the retry policy of the billing queue is {n} attempts"))
            .collect();
        let trial = with_model(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        trial.run(&SimilarLinks, now());
        let n = n_links(&trial, LinkKind::Similar) + n_links(&trial, LinkKind::NearDuplicate);
        assert!((60..=60 * 8 / 2).contains(&n), "{n}");
    }

    #[test]
    fn faded_links_go_once_a_day() {
        let trial = Trial::new();
        let ids = trial.tell(&["one thing", "another thing"]);
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        trial.engine.reinforce(&ids, "s", now()).unwrap();
        let after = |days: i64| now() + SignedDuration::from_hours(24 * days);
        assert_eq!(trial.run(&FadingLinks, after(100))["links_pruned"], 0);
        assert!(trial.run(&FadingLinks, after(100)).is_empty());
        assert_eq!(trial.run(&FadingLinks, after(120))["links_pruned"], 1);
        assert_eq!(n_links(&trial, LinkKind::Hebbian), 0);
    }
}
