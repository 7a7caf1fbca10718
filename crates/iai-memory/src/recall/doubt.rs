//! When to doubt: whether anything found is likely to be what was asked for. Measured in
//! `docs/decisions/0007-when-to-doubt.md`.

use super::candidates::{Evidence, Found, Scale};
use super::rank::SCENE_WEIGHT;

/// Without a model, a memory with less than this of what the cue's words tell may not be meant …
const DOUBTFUL_COVERAGE: f32 = 0.28;
/// … where there are so many memories. Of fewer it may have less: a word that nobody used yet is no
/// rare word in a young store, and of few memories none has the cue's words by chance.
const MEMORIES_OF_A_GROWN_STORE: f32 = 1000.0;
/// With one, words count so much beside the cosine …
const DOUBT_WORDS_WEIGHT: f64 = 0.5;
/// … and the best match has to reach this …
const DOUBT_BAR: f64 = -0.02;
/// … and more the more memories there are: of many, one is always near by chance.
const DOUBT_BAR_PER_E_FOLD: f64 = 0.05;
/// Where no memory has even this much of what the cue's words tell, they may mean nothing …
const WORDLESS_COVERAGE: f32 = 0.05;
/// … and the meaning has to be clear, however few memories there are.
const WORDLESS_BAR: f64 = 0.4;

/// Tells whether nothing found is likely to be what was asked for.
pub(crate) fn is_doubtful(found: &Found) -> bool {
    let (scale, evidence) = (&found.scale, &found.evidence);
    let is_wordless = !evidence.values().any(|own| WORDLESS_COVERAGE <= own.coverage);
    let bar = match is_wordless {
        true => doubt_bar(scale.n_memories).max(WORDLESS_BAR),
        false => doubt_bar(scale.n_memories),
    };
    !found.is_wording
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

/// How well a memory fits the cue, whatever else was found: the share of the way from the mean
/// cosine to the same text, and the share of all that the cue's words tell.
fn sureness(evidence: &Evidence, scale: &Scale) -> Option<f64> {
    let (mean, _) = scale.cosines?;
    let meaning = (evidence.cosine? - mean) / (1.0 - mean).max(f32::EPSILON);
    let words = f64::from(evidence.bm25) + SCENE_WEIGHT * f64::from(evidence.scene);
    let information = f64::from(scale.information.max(f32::MIN_POSITIVE));
    Some(f64::from(meaning) + DOUBT_WORDS_WEIGHT * words / information)
}

#[expect(clippy::cast_precision_loss, reason = "the logarithm of a count needs few digits")]
fn doubt_bar(n_memories: usize) -> f64 {
    DOUBT_BAR + DOUBT_BAR_PER_E_FOLD * (n_memories.max(1) as f64).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubt_needs_words_and_meaning_to_fail() {
        let scale = Some((0.1, 0.1));
        let own = |bm25: f32, cosine: f32| Evidence {
            bm25,
            cosine: Some(cosine),
            coverage: 0.1,
            ..Evidence::default()
        };
        // The bar of a thousand memories stands at 0.325.
        for (bm25, cosine, expect) in
            [(0.0, 0.3, true), (0.0, 0.6, false), (0.4, 0.3, true), (3.0, 0.3, false)]
        {
            let found = Found::of(vec![own(0.0, 0.1), own(bm25, cosine)], scale);
            assert_eq!(is_doubtful(&found), expect, "{bm25} {cosine}");
        }
        let wording = Found { is_wording: true, ..Found::of(vec![Evidence::default()], None) };
        assert!(!is_doubtful(&wording), "what was quoted was found");
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

    #[test]
    fn words_that_nobody_used_need_a_clear_meaning() {
        for (coverage, cosine, expect) in
            [(0.01, 0.3, true), (0.01, 0.5, false), (0.1, 0.3, false), (0.0, 0.3, true)]
        {
            let own = Evidence { coverage, cosine: Some(cosine), ..Evidence::default() };
            let mut few = Found::of(vec![own], Some((0.1, 0.1)));
            few.scale.n_memories = 20;
            assert_eq!(is_doubtful(&few), expect, "{coverage} {cosine}");
        }
    }
}
