//! How good one ranking is, and how sure we are about many: the definitions, and nothing else.

use std::collections::BTreeSet;

use super::chance::Chance;
use super::dataset::Gold;

/// Resamples behind a confidence interval.
const N_RESAMPLES: usize = 1000;
/// Where the resamples begin; the same every time, so that a figure can be checked.
const SEED: u64 = 4711;

/// The metrics of a question that has an answer, in the order they are told.
pub(super) const NAMES: [&str; N_METRICS] = [
    "hit@1",
    "hit@5",
    "hit@10",
    "session_any@1",
    "session_any@5",
    "session_any@10",
    "session_all@5",
    "session_all@10",
    "recall@5",
    "recall@10",
    "mrr@10",
    "ndcg@10",
];
const N_METRICS: usize = 12;

/// The metrics of one question, in the order of [`NAMES`]; each from 0 to 1.
pub(super) type Metrics = [f64; N_METRICS];

/// What came back for one question, best first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranking<'a> {
    pub(super) turns: &'a [String],
    pub(super) sessions: &'a [String],
}

/// Scores one ranking against what answers the question.
pub(super) fn score(ranking: Ranking<'_>, gold: &Gold) -> Metrics {
    let Ranking { turns, sessions } = ranking;
    let hit = |k| flag(0 < n_found(turns, &gold.turns, k));
    let any = |k| flag(0 < n_found(sessions, &gold.sessions, k));
    let all = |k| flag(n_found(sessions, &gold.sessions, k) == gold.sessions.len());
    let recall = |k| share(n_found(turns, &gold.turns, k), gold.turns.len());
    [
        hit(1),
        hit(5),
        hit(10),
        any(1),
        any(5),
        any(10),
        all(5),
        all(10),
        recall(5),
        recall(10),
        reciprocal_rank(turns, &gold.turns, 10),
        gain(turns, &gold.turns, 10),
    ]
}

/// A question whose answer was held back scores nothing, whatever was found.
pub(super) const MISSED: Metrics = [0.0; N_METRICS];

fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

#[expect(clippy::cast_precision_loss, reason = "counts of a ranking")]
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// How many right ones stand among the first `k`; one that stands there twice counts once.
fn n_found(ranked: &[String], right: &BTreeSet<String>, k: usize) -> usize {
    let found: BTreeSet<&String> = ranked.iter().take(k).filter(|id| right.contains(*id)).collect();
    found.len()
}

/// `1 / rank` of the first right one among the first `k`, else 0.
fn reciprocal_rank(ranked: &[String], right: &BTreeSet<String>, k: usize) -> f64 {
    let place = ranked.iter().take(k).position(|id| right.contains(id));
    place.map_or(0.0, |place| share(1, place + 1))
}

/// NDCG: each right one among the first `k` is worth `1 / log2(rank + 1)`, over the best possible.
fn gain(ranked: &[String], right: &BTreeSet<String>, k: usize) -> f64 {
    let mut seen = BTreeSet::new();
    let found = ranked.iter().take(k).enumerate();
    let found = found.filter(|(_, id)| right.contains(*id) && seen.insert(*id));
    let got: f64 = found.map(|(place, _)| discount(place)).sum();
    let best: f64 = (0..right.len().min(k)).map(discount).sum();
    if best == 0.0 { 0.0 } else { got / best }
}

#[expect(clippy::cast_precision_loss, reason = "a rank")]
fn discount(place: usize) -> f64 {
    1.0 / (place as f64 + 2.0).log2()
}

/// A mean and where it lies in 95 of 100 resamples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub(super) mean: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// Returns the estimate of every metric: the mean over the questions, and the percentile bootstrap
/// over questions drawn with replacement.
pub(super) fn estimate(scored: &[Metrics]) -> [Estimate; N_METRICS] {
    let whole = mean(scored.iter());
    let mut chance = Chance::new(SEED);
    let mut resampled: [Vec<f64>; N_METRICS] = Default::default();
    for _ in 0..N_RESAMPLES {
        let drawn = (0..scored.len()).filter_map(|_| scored.get(chance.below(scored.len())));
        for (means, mean) in resampled.iter_mut().zip(mean(drawn)) {
            means.push(mean);
        }
    }
    let mut estimates = whole.map(|mean| Estimate { mean, low: mean, high: mean });
    for (estimate, means) in estimates.iter_mut().zip(&mut resampled) {
        means.sort_by(f64::total_cmp);
        let at = |place: usize| means.get(place).copied().unwrap_or(estimate.mean);
        (estimate.low, estimate.high) =
            (at(N_RESAMPLES / 40), at(N_RESAMPLES - N_RESAMPLES / 40 - 1));
    }
    estimates
}

fn mean<'a>(scored: impl Iterator<Item = &'a Metrics>) -> Metrics {
    let mut sums = MISSED;
    let mut n_scored: usize = 0;
    for metrics in scored {
        n_scored += 1;
        sums.iter_mut().zip(metrics).for_each(|(sum, value)| *sum += value);
    }
    let one = share(1, n_scored);
    sums.map(|sum| sum * one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str) -> Vec<String> {
        list.split_whitespace().map(str::to_owned).collect()
    }

    fn gold(turns: &str, sessions: &str) -> Gold {
        Gold {
            turns: names(turns).into_iter().collect(),
            sessions: names(sessions).into_iter().collect(),
        }
    }

    #[track_caller]
    fn check(turns: &str, sessions: &str, gold: &Gold, want: &[(&str, f64)]) {
        let (turns, sessions) = (names(turns), names(sessions));
        let got = score(Ranking { turns: &turns, sessions: &sessions }, gold);
        for (name, want) in want {
            let place = NAMES.iter().position(|known| known == name).expect("a metric");
            assert!((got[place] - want).abs() < 1e-9, "{name} is {}, not {want}", got[place]);
        }
    }

    #[test]
    fn a_hit_is_any_right_turn_among_the_first() {
        let gold = gold("a b", "s");
        check("x b y", "t s", &gold, &[("hit@1", 0.0), ("hit@5", 1.0), ("hit@10", 1.0)]);
        check("1 2 3 4 5 a", "s", &gold, &[("hit@5", 0.0), ("hit@10", 1.0)]);
        check("1 2 3 4 5 6 7 8 9 10 a", "s", &gold, &[("hit@10", 0.0)]);
        check("", "", &gold, &[("hit@10", 0.0), ("session_any@10", 0.0), ("ndcg@10", 0.0)]);
    }

    #[test]
    fn any_session_is_easier_than_all_of_them() {
        let gold = gold("a b", "s t");
        let first = [("session_any@1", 1.0), ("session_any@5", 1.0), ("session_all@5", 0.0)];
        check("", "s 1 2 3 4 t", &gold, &first);
        check("", "s 1 2 3 4 t", &gold, &[("session_all@10", 1.0)]);
        check("", "1 s t", &gold, &[("session_any@1", 0.0), ("session_all@5", 1.0)]);
    }

    #[test]
    fn recall_is_the_share_of_the_right_turns() {
        let gold = gold("a b c d", "s");
        check("a x b y", "s", &gold, &[("recall@5", 0.5), ("recall@10", 0.5)]);
        check("a a a", "s", &gold, &[("recall@5", 0.25)]);
        check("1 2 3 4 5 a b c d", "s", &gold, &[("recall@5", 0.0), ("recall@10", 1.0)]);
    }

    #[test]
    fn the_reciprocal_rank_is_of_the_first_right_turn_among_ten() {
        let gold = gold("a b", "s");
        check("x y a b", "s", &gold, &[("mrr@10", 1.0 / 3.0)]);
        check("b a", "s", &gold, &[("mrr@10", 1.0)]);
        check("1 2 3 4 5 6 7 8 9 10 a", "s", &gold, &[("mrr@10", 0.0)]);
    }

    #[test]
    fn the_gain_is_discounted_by_rank_and_relative_to_the_best() {
        // Ranks 1 and 3 of two right turns: (1 + 1/2) over (1 + 1/log2(3)).
        let best = 1.0 + 1.0 / 3.0_f64.log2();
        check("a x b", "s", &gold("a b", "s"), &[("ndcg@10", 1.5 / best)]);
        check("a b", "s", &gold("a b", "s"), &[("ndcg@10", 1.0)]);
        check("a a x", "s", &gold("a b", "s"), &[("ndcg@10", 1.0 / best)]);
        // With more than ten right turns, ten at the top are the best there is.
        let many = gold("1 2 3 4 5 6 7 8 9 10 11 12", "s");
        check("1 2 3 4 5 6 7 8 9 10", "s", &many, &[("ndcg@10", 1.0), ("recall@10", 10.0 / 12.0)]);
    }

    #[test]
    fn an_estimate_is_the_mean_and_the_same_every_time() {
        let mut scored = vec![MISSED; 60];
        scored.extend(vec![[1.0; N_METRICS]; 40]);
        let first = estimate(&scored);
        assert_eq!(first, estimate(&scored));
        let Estimate { mean, low, high } = first[0];
        assert!((mean - 0.4).abs() < 1e-9);
        // The normal interval of 40 in 100 is 0.4 ± 0.096.
        assert!((0.27..0.34).contains(&low) && (0.46..0.53).contains(&high), "{low} {high}");
        let certain = estimate(&[[1.0; N_METRICS]; 7]);
        assert_eq!((certain[0].low, certain[0].high), (1.0, 1.0));
        assert_eq!(estimate(&[])[0], Estimate { mean: 0.0, low: 0.0, high: 0.0 });
    }
}
