//! Orders the candidates. Every weight of the ranking stands here.

use iai_store::{Memory, MemoryId};
use jiff::Timestamp;

use super::candidates::{Candidate, Supersession};
use super::cue::{Cue, CueMode, words_of};

/// What a memory said just now gains over an old one; small, because words matter more than age.
const RECENCY_WEIGHT: f64 = 0.1;
/// After this many days the gain has halved.
const RECENCY_HALF_LIFE_DAYS: f64 = 30.0;
/// What a memory with every word of the cue gains. In a small store most words are in most
/// memories, and BM25 gives those nothing.
const COVERAGE_WEIGHT: f64 = 0.3;
/// How much of a long text is looked at for that.
const COVERAGE_CHARS_MAX: usize = 8000;
/// What an outdated memory keeps of its score.
const STALE_FACTOR: f64 = 0.5;
/// A successor found only through what it replaced stands this much above it.
const SUCCESSOR_MARGIN: f64 = 0.0001;

/// Below this, a match is a common word or two.
pub(crate) const CONFIDENT_BM25: f64 = 4.0;

/// A memory with its score and the arithmetic behind it.
#[derive(Debug, Clone)]
pub(crate) struct Ranked {
    pub(crate) memory: Memory,
    pub(crate) score: f64,
    pub(crate) reason: String,
}

/// Scores and sorts; equal scores are ordered by id, so that the order never depends on luck.
pub(crate) fn rank(cue: &Cue, candidates: Vec<Candidate>, now: Timestamp) -> Vec<Ranked> {
    let best = candidates.iter().map(|candidate| candidate.bm25).fold(f64::MIN_POSITIVE, f64::max);
    let mut ranked: Vec<Ranked> =
        candidates.into_iter().map(|candidate| score(cue, candidate, best, now)).collect();
    sort(&mut ranked);
    ranked
}

fn score(cue: &Cue, candidate: Candidate, best_bm25: f64, now: Timestamp) -> Ranked {
    let Candidate { memory, bm25 } = candidate;
    let lexical = bm25 / best_bm25;
    let recency = match cue.mode {
        CueMode::Verbatim => 0.0,
        CueMode::Concept => RECENCY_WEIGHT * freshness(&memory, now),
    };
    let coverage = COVERAGE_WEIGHT * coverage(cue, &memory);
    let mut score = lexical + coverage + recency;
    let mut reason = format!("lexical {lexical:.3} (bm25 {bm25:.2}) + coverage {coverage:.3}");
    if 0.0 < recency {
        reason.push_str(&format!(" + recency {recency:.3}"));
    }
    if memory.valid_to.is_some_and(|until| until <= now) {
        score *= STALE_FACTOR;
        reason.push_str(" × 0.5 · stale");
    }
    Ranked { memory, score, reason }
}

/// The share of the cue's words that stand in the memory, in whatever form.
#[expect(clippy::cast_precision_loss, reason = "a few dozen words")]
fn coverage(cue: &Cue, memory: &Memory) -> f64 {
    if cue.words.is_empty() {
        return 0.0;
    }
    let text: String = memory.text.chars().take(COVERAGE_CHARS_MAX).collect();
    let said = words_of(&text);
    let is_said = |word: &&String| said.iter().any(|said| said.starts_with(stem(word)));
    cue.words.iter().filter(is_said).count() as f64 / cue.words.len() as f64
}

/// The beginning that the forms of a word share, roughly; short words have one form.
fn stem(word: &str) -> &str {
    let n_chars = word.chars().count();
    if n_chars <= 4 {
        return word;
    }
    let end = word.char_indices().nth(n_chars - 2).map_or(word.len(), |(end, _)| end);
    word.get(..end).unwrap_or(word)
}

/// 1 for what was said now, halving every half-life; a time in the future counts as now.
fn freshness(memory: &Memory, now: Timestamp) -> f64 {
    let age_days = now.duration_since(memory.turn_at).as_secs_f64() / 86_400.0;
    0.5_f64.powf(age_days.max(0.0) / RECENCY_HALF_LIFE_DAYS)
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
                    ranked.push(Ranked { memory: memory.clone(), score, reason });
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
