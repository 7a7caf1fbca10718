//! Orders the ranked memories as the profile wishes. With a profile nobody touched, it changes
//! nothing.

use std::collections::BTreeSet;

use super::cue::words_of;
use super::knobs::{Breadth, Manner, Showing};
use super::rank::Ranked;

/// Lifts what belongs to the projects that count for more; whoever asks puts them in order.
pub(crate) fn focus(ranked: &mut [Ranked], manner: &Manner, asked_from: Option<&str>) {
    for ranked in ranked {
        let factor = manner.focus.factor(ranked.memory.project.as_deref(), asked_from);
        if 1.0 < factor {
            // A score may be below zero, and must still rise.
            ranked.score += ranked.score.abs() * (factor - 1.0);
            ranked.reason.push_str(&format!(" × focus {factor:.2}"));
        }
    }
}

/// Chooses among the ranked: more different ones, only the nearest, or summaries first.
pub(crate) fn choose(ranked: Vec<Ranked>, manner: &Manner) -> Vec<Ranked> {
    let mut ranked = match manner.breadth {
        Breadth::Varied(weight) => varied(ranked, weight),
        Breadth::Calm { share, n_hits } => nearest(ranked, share, n_hits),
        Breadth::Plain | Breadth::Bare | Breadth::Pointed => ranked,
    };
    if matches!(manner.showing, Showing::Gist(_)) {
        ranked.sort_by_key(|ranked| ranked.memory.provenance.get("generated").is_none());
    }
    ranked
}

/// Takes the best again and again, each time less what it has in common with those taken.
fn varied(ranked: Vec<Ranked>, weight: f64) -> Vec<Ranked> {
    let words = |ranked: &Ranked| words_of(&ranked.memory.text).into_iter().collect();
    let mut left: Vec<(Ranked, BTreeSet<String>, f64)> = ranked
        .into_iter()
        .map(|ranked| {
            let words = words(&ranked);
            (ranked, words, 0.0)
        })
        .collect();
    let mut taken = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let worth =
            |(ranked, _, shared): &(Ranked, BTreeSet<String>, f64)| ranked.score - weight * shared;
        let mut best = 0;
        for (place, candidate) in left.iter().enumerate() {
            let is_better = left.get(best).is_some_and(|best| worth(best) < worth(candidate));
            best = if is_better { place } else { best };
        }
        let (mut chosen, words, shared) = left.remove(best);
        if 0.0 < shared {
            chosen.score -= weight * shared;
            chosen.reason.push_str(&format!(" − alike {:.2}", weight * shared));
        }
        for (_, other, shared) in &mut left {
            *shared = shared.max(overlap(&words, other));
        }
        taken.push(chosen);
    }
    taken
}

/// What two texts have in common, from 0 to 1.
#[expect(clippy::cast_precision_loss, reason = "a text has few words")]
fn overlap(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let n_common = one.intersection(other).count();
    let n_all = one.len() + other.len() - n_common;
    n_common as f64 / n_all.max(1) as f64
}

fn nearest(mut ranked: Vec<Ranked>, share: f64, n_hits: usize) -> Vec<Ranked> {
    let best = ranked.first().map_or(0.0, |ranked| ranked.score);
    ranked.retain(|ranked| best - best.abs() * (1.0 - share) <= ranked.score);
    ranked.truncate(n_hits);
    ranked
}
