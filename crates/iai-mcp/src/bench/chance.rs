//! Chance that repeats: the same seed draws the same numbers on every machine.

/// SplitMix64, small and even enough to draw samples and words with.
#[derive(Debug, Clone)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Draws a number below `n`; 0 when there is none.
    pub(super) fn below(&mut self, n: usize) -> usize {
        // The high half of a product is even for every `n` that fits memory.
        let drawn = (u128::from(self.next()) * n as u128) >> 64;
        usize::try_from(drawn).unwrap_or(0)
    }

    /// Draws from 0 up to, but not including, 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_published_sequence() {
        let mut chance = Chance::new(1_234_567);
        let drawn = [chance.next(), chance.next(), chance.next()];
        assert_eq!(
            drawn,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn draws_stay_in_bounds_and_reach_everything() {
        let mut chance = Chance::new(1);
        let mut seen = [0; 5];
        for _ in 0..1000 {
            seen[chance.below(5)] += 1;
            assert!((0.0..1.0).contains(&chance.unit()));
        }
        assert!(seen.iter().all(|n| 150 < *n), "{seen:?}");
        assert_eq!(chance.below(0), 0);
    }
}
