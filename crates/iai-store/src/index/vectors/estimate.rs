//! Estimates cosines from a cue in full and codes of signs: much nearer to the truth than comparing
//! signs with signs, and without reading the vectors.

/// For each byte of a code, the sum of the cue's components under every pattern of signs.
pub(super) struct Estimator {
    /// By word of the code, then by byte of the word.
    sums: Vec<[[i32; 256]; WORD_BYTES]>,
}

const BYTE_BITS: usize = 8;
const WORD_BYTES: usize = size_of::<u64>();

impl Estimator {
    pub(super) fn new(cue: &[i16]) -> Self {
        let of_word = |cue: &[i16]| {
            let mut bytes = cue.chunks(BYTE_BITS);
            // A cue may end within a word; its codes are clear from there on.
            std::array::from_fn(|_| sums(bytes.next().unwrap_or_default()))
        };
        Self { sums: cue.chunks(BYTE_BITS * WORD_BYTES).map(of_word).collect() }
    }

    /// Returns the sum of the cue's components, each with the sign the code gives it; higher is
    /// nearer.
    pub(super) fn estimate(&self, code: &[u64]) -> i32 {
        let mut estimate = 0;
        for (sums, word) in self.sums.iter().zip(code) {
            for (sums, byte) in sums.iter().zip(word.to_le_bytes()) {
                estimate += sums.get(usize::from(byte)).copied().unwrap_or_default();
            }
        }
        estimate
    }
}

fn sums(cue: &[i16]) -> [i32; 256] {
    let mut sums = [0; 256];
    // Each component doubles the patterns: those known so far lose it, their copies gain it.
    for (value, bit) in cue.iter().map(|value| i32::from(*value)).zip(0..) {
        let (known, copies) = sums.split_at_mut(1 << bit);
        for (sum, copy) in known.iter_mut().zip(copies) {
            *copy = *sum + value;
            *sum -= value;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_estimate_is_the_sum_of_signed_components(
            cue in prop::collection::vec(-32767_i16..=32767, 128..=192),
            mut code in prop::array::uniform3(any::<u64>()),
        ) {
            for at in cue.len()..192 {
                code[at / 64] &= !(1 << (at % 64));
            }
            let expect: i32 = (cue.iter().zip(0..))
                .map(|(value, at)| {
                    let is_set = code[at / 64] >> (at % 64) & 1 == 1;
                    if is_set { i32::from(*value) } else { -i32::from(*value) }
                })
                .sum();
            prop_assert_eq!(Estimator::new(&cue).estimate(&code), expect);
        }
    }
}
