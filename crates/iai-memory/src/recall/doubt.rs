//! When to doubt: whether anything found is likely to be what was asked for. Measured in
//! `docs/decisions/0007-when-to-doubt.md`.

use super::found::{Evidence, Found, Scale};

/// Without a model, a memory with less than this of what the cue's words tell may not be meant …
const DOUBTFUL_COVERAGE: f32 = 0.28;
/// … where there are so many memories. Of fewer it may have less: a word that nobody used yet is no
/// rare word in a young store, and of few memories none has the cue's words by chance.
const MEMORIES_OF_A_GROWN_STORE: f32 = 1000.0;
/// With one, having all the cue's words is worth so many deviations of its cosines …
const DOUBT_WORDS_WEIGHT: f32 = 2.7;
/// … and the best match has to reach this many …
const DOUBT_BAR: f32 = 3.3;
/// … and more the more memories there are: of many, one is always near by chance.
const DOUBT_BAR_PER_E_FOLD: f32 = 0.22;

/// Tells whether nothing found is likely to be what was asked for.
pub(crate) fn is_doubtful(found: &Found) -> bool {
    let (scale, evidence) = (&found.scale, &found.evidence);
    let bar = doubt_bar(scale.n_memories);
    !found.is_sure
        && !evidence.values().any(|own| match sureness(own, scale) {
            Some(sureness) => bar <= sureness,
            None => coverage_bar(scale.n_memories) <= own.coverage,
        })
}

#[expect(clippy::cast_precision_loss, reason = "the logarithm of a count needs few digits")]
fn coverage_bar(n_memories: usize) -> f32 {
    let grown = (n_memories as f32).ln_1p() / MEMORIES_OF_A_GROWN_STORE.ln_1p();
    DOUBTFUL_COVERAGE * grown.min(1.0)
}

/// How well a memory fits the cue, whatever else was found: how far it is above what the model says
/// of unrelated texts, and the share of all that the cue's words tell. The mean of all cosines is
/// no measure: it is low for a cue about something else, and every memory stands high above it.
fn sureness(evidence: &Evidence, scale: &Scale) -> Option<f32> {
    let deviations = scale.yardstick?.deviations(evidence.cosine?);
    Some(deviations + DOUBT_WORDS_WEIGHT * evidence.coverage)
}

#[expect(clippy::cast_precision_loss, reason = "the logarithm of a count needs few digits")]
fn doubt_bar(n_memories: usize) -> f32 {
    DOUBT_BAR + DOUBT_BAR_PER_E_FOLD * (n_memories.max(1) as f32).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubt_needs_words_and_meaning_to_fail() {
        let unrelated = Some((0.1, 0.1));
        let own = |coverage: f32, cosine: f32| Evidence {
            coverage,
            cosine: Some(cosine),
            ..Evidence::default()
        };
        // The bar of a thousand memories stands at 4.8 deviations.
        for (coverage, cosine, expect) in
            [(0.0, 0.5, true), (0.0, 0.6, false), (0.2, 0.5, true), (0.4, 0.5, false)]
        {
            let found = Found::of(vec![own(0.0, 0.1), own(coverage, cosine)], unrelated);
            assert_eq!(is_doubtful(&found), expect, "{coverage} {cosine}");
        }
        let sure = Found { is_sure: true, ..Found::of(vec![Evidence::default()], None) };
        assert!(!is_doubtful(&sure), "what was quoted was found");
        let few = Evidence { coverage: 0.2, ..Evidence::default() };
        let much = Evidence { coverage: 0.4, ..Evidence::default() };
        assert!(is_doubtful(&Found::of(vec![few.clone()], None)));
        assert!(!is_doubtful(&Found::of(vec![few, much], None)));
    }

    #[test]
    fn the_bars_rise_with_the_memories() {
        assert!(doubt_bar(0) < doubt_bar(1000) && doubt_bar(1000) < doubt_bar(1_000_000));
        assert!(coverage_bar(3) < coverage_bar(100) && coverage_bar(100) < DOUBTFUL_COVERAGE);
        assert!((coverage_bar(1_000_000) - DOUBTFUL_COVERAGE).abs() < f32::EPSILON);
    }
}
