//! Learned links: what was useful together with a hit before comes along with it.

use std::collections::BTreeMap;

use iai_store::{MemoryNumber, Reader};
use jiff::Timestamp;

use super::rank::Ranked;
use crate::error::Result;

/// What a memory gains at most from its links with the best hits: a link of full weight is worth as
/// much as having been said this moment.
const LINK_WEIGHT: f64 = 0.3;
/// The best hits whose links are followed …
const HITS_FOLLOWED: usize = 10;
/// … and the strongest links of each.
const LINKS_PER_HIT: usize = 4;
/// A weaker link is chance: two reinforcements are stronger.
const EFFECTIVE_MIN: f64 = 0.15;

/// Adds what the strongest learned links of the best hits lead to, and lifts what is there already.
pub(crate) fn bring_along(
    reader: &Reader,
    project: Option<&str>,
    ranked: &mut Vec<Ranked>,
    now: Timestamp,
) -> Result<()> {
    let mut gains: BTreeMap<MemoryNumber, (f64, String)> = BTreeMap::new();
    for hit in ranked.iter().take(HITS_FOLLOWED) {
        for (other, weight) in reader.learned_links(hit.number, now)?.iter().take(LINKS_PER_HIT) {
            let gain = LINK_WEIGHT * weight;
            let is_best = gains.get(other).is_none_or(|(best, _)| *best < gain);
            if EFFECTIVE_MIN <= *weight && is_best {
                let reason = format!("link {gain:.3} (used with {})", hit.memory.id);
                gains.insert(*other, (gain, reason));
            }
        }
    }
    let mut missing = Vec::new();
    for (number, (gain, reason)) in &gains {
        match ranked.iter_mut().find(|hit| hit.number == *number) {
            Some(hit) => {
                hit.score += gain;
                hit.reason.push_str(&format!(" + {reason}"));
            }
            None => missing.push(*number),
        }
    }
    for (number, memory) in reader.numbered(&missing)? {
        let is_allowed = project.is_none_or(|project| memory.project.as_deref() == Some(project));
        if let Some((score, reason)) = gains.remove(&number).filter(|_| is_allowed) {
            ranked.push(Ranked { number, memory, score, reason });
        }
    }
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.number.cmp(&b.number)));
    Ok(())
}
