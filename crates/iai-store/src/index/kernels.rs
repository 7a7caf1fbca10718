//! The inner loops of vector search, compiled once more for processors with wider instructions.
//!
//! All arithmetic is on integers, so every version gives the same answers. On aarch64 the compiler
//! counts bits and multiplies with NEON by itself; on x86-64 it must be told that it may.

/// Writes how many bits each code differs from the cue. Codes stand one after another, each as
/// long as the cue.
pub(crate) fn distances(codes: &[u64], cue: &[u64], out: &mut [u16]) {
    #[cfg(target_arch = "x86_64")]
    if wide::is_there() {
        return wide::distances(codes, cue, out);
    }
    distances_portable(codes, cue, out);
}

/// Returns the sum of the products of a cue and a vector of signed bytes. The caller keeps the
/// product of their lengths below 2^31, which bounds every sum on the way.
pub(crate) fn dot(cue: &[i16], components: &[u8]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if wide::is_there() {
        return wide::dot(cue, components);
    }
    dot_portable(cue, components)
}

#[inline(always)]
fn distances_portable(codes: &[u64], cue: &[u64], out: &mut [u16]) {
    // A length known beforehand lets the compiler unroll: 384 bits are six words.
    match cue {
        [a, b, c, d, e, f] => distances_fixed(codes, [*a, *b, *c, *d, *e, *f], out),
        [] => {}
        _ => {
            for (code, distance) in codes.chunks_exact(cue.len()).zip(out) {
                let differing = code.iter().zip(cue).map(|(a, b)| (a ^ b).count_ones()).sum();
                *distance = clamped(differing);
            }
        }
    }
}

#[inline(always)]
fn distances_fixed<const WORDS: usize>(codes: &[u64], cue: [u64; WORDS], out: &mut [u16]) {
    for (code, distance) in codes.as_chunks::<WORDS>().0.iter().zip(out) {
        let differing = code.iter().zip(&cue).map(|(a, b)| (a ^ b).count_ones()).sum();
        *distance = clamped(differing);
    }
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "a code has at most 1024 bits")]
fn clamped(n_bits: u32) -> u16 {
    n_bits as u16
}

#[inline(always)]
fn dot_portable(cue: &[i16], components: &[u8]) -> i32 {
    cue.iter()
        .zip(components)
        .map(|(a, b)| i32::from(*a).wrapping_mul(i32::from(b.cast_signed())))
        .fold(0, i32::wrapping_add)
}

/// The same loops for x86-64 processors of the last ten years.
#[cfg(target_arch = "x86_64")]
mod wide {
    pub(super) fn is_there() -> bool {
        is_x86_feature_detected!("popcnt") && is_x86_feature_detected!("avx2")
    }

    #[expect(unsafe_code, reason = "the compiler cannot know that the processor was asked")]
    pub(super) fn distances(codes: &[u64], cue: &[u64], out: &mut [u16]) {
        assert!(is_there(), "asked for before");
        // SAFETY: the processor has both features, as just asserted; nothing else is required.
        unsafe { distances_wide(codes, cue, out) }
    }

    #[expect(unsafe_code, reason = "the compiler cannot know that the processor was asked")]
    pub(super) fn dot(cue: &[i16], components: &[u8]) -> i32 {
        assert!(is_there(), "asked for before");
        // SAFETY: the processor has both features, as just asserted; nothing else is required.
        unsafe { dot_wide(cue, components) }
    }

    #[target_feature(enable = "popcnt")]
    fn distances_wide(codes: &[u64], cue: &[u64], out: &mut [u16]) {
        super::distances_portable(codes, cue, out);
    }

    #[target_feature(enable = "avx2")]
    fn dot_wide(cue: &[i16], components: &[u8]) -> i32 {
        super::dot_portable(cue, components)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_version_gives_the_same_answers(
            n_words in 2_usize..=16,
            words in prop::collection::vec(any::<u64>(), 16 * 9),
            cue in prop::collection::vec(-32767_i16..=32767, 0..200),
            bytes in prop::collection::vec(any::<u8>(), 200),
        ) {
            let (cue_code, codes) = words.split_at(n_words);
            let n_codes = codes.len() / n_words;
            let mut found = vec![0; n_codes];
            let mut expect = vec![0; n_codes];
            distances(codes, cue_code, &mut found);
            distances_portable(codes, cue_code, &mut expect);
            prop_assert_eq!(&found, &expect);
            for (code, distance) in codes.chunks_exact(n_words).zip(&found) {
                let differing: u32 =
                    code.iter().zip(cue_code).map(|(a, b)| (a ^ b).count_ones()).sum();
                prop_assert_eq!(u32::from(*distance), differing);
            }
            let products = cue.iter().zip(&bytes);
            let sum: i64 = products.map(|(a, b)| i64::from(*a) * i64::from(b.cast_signed())).sum();
            prop_assert_eq!(i64::from(dot(&cue, &bytes)), sum);
            prop_assert_eq!(i64::from(dot_portable(&cue, &bytes)), sum);
        }
    }
}
