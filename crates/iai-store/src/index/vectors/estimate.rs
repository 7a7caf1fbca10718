//! Estimates cosines from a cue in full and codes of signs: much nearer to the truth than comparing
//! signs with signs, and without reading the vectors.

/// For each byte of a code, the sum of the cue's components under every pattern of signs.
pub(super) struct Estimator {
    sums: Vec<[i32; 256]>,
}

const BYTE_BITS: usize = 8;

impl Estimator {
    pub(super) fn new(cue: &[i16]) -> Self {
        Self { sums: cue.chunks(BYTE_BITS).map(sums).collect() }
    }

    /// Returns the sum of the cue's components, each with the sign the code gives it; higher is
    /// nearer.
    pub(super) fn estimate(&self, code: &[u64]) -> i32 {
        let bytes = code.iter().flat_map(|word| word.to_le_bytes());
        let found = self.sums.iter().zip(bytes);
        found.filter_map(|(sums, byte)| sums.get(usize::from(byte))).sum()
    }
}

fn sums(cue: &[i16]) -> [i32; 256] {
    let mut sums = [0; 256];
    for (pattern, sum) in (0_u32..).zip(&mut sums) {
        *sum = (cue.iter().zip(0..))
            .map(|(value, bit)| i32::from(*value) * if pattern >> bit & 1 == 1 { 1 } else { -1 })
            .sum();
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
            code in prop::array::uniform3(any::<u64>()),
        ) {
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
