//! Orders the candidates. Every weight of the ranking stands here; they were chosen on development
//! sets, where wide ranges around them give the same answers (`docs/benchmarks.md`).

use std::collections::BTreeMap;

use iai_store::{Memory, MemoryId, MemoryNumber, Reader};
use jiff::Timestamp;

use super::candidates::{Evidence, Found, Scale, Supersession};
use super::cue::{Cue, CueMode};
use crate::error::Result;

/// What a memory gains for each deviation that its cosine is above the mean of all.
const MEANING_WEIGHT: f64 = 0.15;
/// In a handful of memories the deviation means little; below this it is not believed …
const DEVIATION_MIN: f32 = 0.02;
/// … and no memory is nearer or farther than this.
const DEVIATIONS: (f32, f32) = (-3.0, 8.0);
/// Words are measured against the best match, or against this share of all that the cue's words
/// could tell when even the best match is a poor one: the meaning then decides.
const POOR_MATCH: f32 = 0.5;
/// What the words of the scene count beside the words of the memory itself.
const SCENE_WEIGHT: f64 = 0.5;
/// What a memory said at this moment gains over one of long ago.
const RECENCY_WEIGHT: f64 = 0.3;
/// How the gain fades: most of it in days, the rest over years.
const RECENCY_STEPS_PER_DAY: f64 = 4.0;
/// What a memory gains that was said when the cue says.
const DATE_WEIGHT: f64 = 0.5;
/// Days outside of what the cue says at which nothing of that is left.
const DATE_REACH_DAYS: f64 = 7.0;
/// What each earlier hit of the same session costs, so that an answer spread over several sessions
/// is found whole …
const REPEAT_COST: f64 = 0.2;
/// … up to so many.
const REPEATS_MAX: u32 = 3;
/// What an outdated memory keeps of its score.
const STALE_FACTOR: f64 = 0.5;
/// A successor found only through what it replaced stands this much above it.
const SUCCESSOR_MARGIN: f64 = 0.0001;

/// What was said only after the time of asking costs this much; it happens when somebody asks as of
/// a day in the past, or when a clock was wrong.
const LATER_COST: f64 = 0.3;
/// Clocks differ by so much without anybody being to blame.
const CLOCK_SKEW_DAYS: f64 = 10.0 / 1440.0;

/// A memory with less than this of what the cue's words tell …
const DOUBTFUL_COVERAGE: f32 = 0.35;
/// … and nearer to the cue than the mean by less than so many deviations may not be meant.
const DOUBTFUL_DEVIATIONS: f64 = 2.6;

/// A memory with its score and the arithmetic behind it.
#[derive(Debug, Clone)]
pub(crate) struct Ranked {
    /// `None` for one that came in only because it replaces another.
    pub(crate) number: Option<MemoryNumber>,
    pub(crate) memory: Memory,
    pub(crate) score: f64,
    pub(crate) reason: String,
}

/// Scores, sorts, and reads the best; equal scores are ordered by number, so that the order never
/// depends on luck.
pub(crate) fn rank(
    reader: &Reader,
    cue: &Cue,
    found: &Found,
    now: Timestamp,
    n_max: usize,
) -> Result<Vec<Ranked>> {
    let scored: Vec<Scored> = (found.evidence.iter())
        .map(|(number, evidence)| score(cue, *number, evidence, &found.scale, now))
        .collect();
    let mut order = spread_over_sessions(scored);
    order.truncate(n_max);
    let numbers: Vec<MemoryNumber> = order.iter().map(|scored| scored.number).collect();
    let mut memories: BTreeMap<MemoryNumber, Memory> =
        reader.numbered(&numbers)?.into_iter().collect();
    let ranked = order.into_iter().filter_map(|scored| {
        let memory = memories.remove(&scored.number)?;
        let number = Some(scored.number);
        Some(Ranked { number, memory, score: scored.score, reason: scored.reason })
    });
    Ok(ranked.collect())
}

/// Tells whether nothing found is likely to be what was asked for.
pub(crate) fn is_doubtful(found: &Found) -> bool {
    let is_near = |evidence: &Evidence| {
        deviations(evidence, &found.scale).is_some_and(|near| DOUBTFUL_DEVIATIONS <= near)
    };
    !found.evidence.values().any(|own| DOUBTFUL_COVERAGE <= own.coverage || is_near(own))
}

/// What speaks for a memory by itself: its meaning and its words.
pub(crate) fn match_score(evidence: &Evidence, scale: &Scale) -> f64 {
    MEANING_WEIGHT * deviations(evidence, scale).unwrap_or(0.0) + measured(evidence.bm25, scale)
}

struct Scored {
    number: MemoryNumber,
    session: u32,
    score: f64,
    reason: String,
}

fn score(
    cue: &Cue,
    number: MemoryNumber,
    evidence: &Evidence,
    scale: &Scale,
    now: Timestamp,
) -> Scored {
    let words = measured(evidence.bm25, scale);
    let scene = SCENE_WEIGHT * measured(evidence.scene, scale);
    let mut score = words + scene;
    let mut reason = format!("words {words:.3} (bm25 {:.2}) + scene {scene:.3}", evidence.bm25);
    if let (Some(cosine), Some(deviations)) = (evidence.cosine, deviations(evidence, scale)) {
        let meaning = MEANING_WEIGHT * deviations;
        score += meaning;
        reason = format!("meaning {meaning:.3} (cosine {cosine:.2}) + {reason}");
    }
    let age_days = age_days(evidence, now);
    if age_days < -CLOCK_SKEW_DAYS {
        score -= LATER_COST;
        reason.push_str(&format!(" − said later {LATER_COST:.2}"));
    } else if cue.mode == CueMode::Concept {
        let recency = RECENCY_WEIGHT / (1.0 + (age_days.max(0.0) * RECENCY_STEPS_PER_DAY).ln_1p());
        score += recency;
        reason.push_str(&format!(" + recency {recency:.3}"));
    }
    if let Some(days) = &cue.days {
        let at = Timestamp::from_millisecond(evidence.turn_at_ms).unwrap_or(now);
        let date = DATE_WEIGHT * (1.0 - days.distance(at) / DATE_REACH_DAYS).max(0.0);
        score += date;
        reason.push_str(&format!(" + date {date:.3}"));
    }
    if evidence.ended_at_ms.is_some_and(|ended| ended <= now.as_millisecond()) {
        score *= STALE_FACTOR;
        reason.push_str(" × 0.5 · stale");
    }
    Scored { number, session: evidence.session, score, reason }
}

/// How many deviations a memory's cosine is above the mean of all.
fn deviations(evidence: &Evidence, scale: &Scale) -> Option<f64> {
    let (mean, deviation) = scale.cosines?;
    let deviations = (evidence.cosine? - mean) / deviation.max(DEVIATION_MIN);
    Some(f64::from(deviations.clamp(DEVIATIONS.0, DEVIATIONS.1)))
}

fn measured(bm25: f32, scale: &Scale) -> f64 {
    let measure = scale.bm25_best.max(POOR_MATCH * scale.information);
    f64::from(bm25 / measure.max(f32::MIN_POSITIVE))
}

/// How long ago it was said; below zero for what was said later.
#[expect(clippy::cast_precision_loss, reason = "an age in days needs few digits")]
fn age_days(evidence: &Evidence, now: Timestamp) -> f64 {
    now.as_millisecond().saturating_sub(evidence.turn_at_ms) as f64 / 86_400_000.0
}

/// Takes the best again and again, each time counting what its session already has.
fn spread_over_sessions(mut scored: Vec<Scored>) -> Vec<Scored> {
    scored.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.number.cmp(&b.number)));
    let mut n_taken: BTreeMap<u32, u32> = BTreeMap::new();
    let mut spread = Vec::with_capacity(scored.len());
    while !scored.is_empty() {
        let cost = |scored: &Scored| {
            let n = n_taken.get(&scored.session).copied().unwrap_or(0);
            REPEAT_COST * f64::from(n.min(REPEATS_MAX))
        };
        let mut best = (0, f64::NEG_INFINITY);
        for (place, candidate) in scored.iter().enumerate() {
            let worth = candidate.score - cost(candidate);
            if best.1 < worth {
                best = (place, worth);
            }
        }
        let mut taken = scored.remove(best.0);
        let cost = cost(&taken);
        if 0.0 < cost {
            taken.score = best.1;
            taken.reason.push_str(&format!(" − session again {cost:.2}"));
        }
        *n_taken.entry(taken.session).or_default() += 1;
        spread.push(taken);
    }
    spread
}

/// Puts what holds now above what it replaced, and brings it in where only the outdated wording
/// matched.
pub(crate) fn put_successors_first(mut ranked: Vec<Ranked>, context: &Supersession) -> Vec<Ranked> {
    // A chain A → B → C settles in as many rounds as it is long; longer chains than this stay as
    // they fell.
    for _ in 0..8 {
        let mut is_settled = true;
        let scores: Vec<(MemoryId, f64)> =
            ranked.iter().map(|ranked| (ranked.memory.id, ranked.score)).collect();
        for (old, old_score) in scores {
            let Some(new) = context.successor.get(&old) else { continue };
            match ranked.iter_mut().find(|ranked| ranked.memory.id == *new) {
                Some(successor) if old_score < successor.score => {}
                Some(successor) => {
                    successor.score = old_score + SUCCESSOR_MARGIN;
                    successor.reason.push_str(&format!(", raised above {old} which it replaces"));
                    is_settled = false;
                }
                None => {
                    let Some(memory) = context.others.get(new) else { continue };
                    let reason = format!("replaces {old} which matched");
                    let score = old_score + SUCCESSOR_MARGIN;
                    let memory = memory.clone();
                    ranked.push(Ranked { number: None, memory, score, reason });
                    is_settled = false;
                }
            }
        }
        if is_settled {
            break;
        }
    }
    sort(&mut ranked);
    ranked
}

fn sort(ranked: &mut [Ranked]) {
    ranked.sort_by(|left, right| {
        right.score.total_cmp(&left.score).then_with(|| left.memory.id.cmp(&right.memory.id))
    });
}
