//! The exhaustive scan: compares the sign code of a cue with every code, counts distances, and
//! keeps the nearest.

use std::f64::consts::PI;
use std::ops::Range;

use super::codes::Codes;
use crate::index::kernels;
use crate::record::MemoryNumber;

/// Distances are computed for this many codes at a time; they stay in the fastest cache.
const CHUNK: usize = 1024;
/// With more codes than this a second thread saves more than it costs. Until then the words are
/// looked for beside the scan, and both cores have their work.
const ONE_THREAD_MAX: usize = 200_000;
const THREADS: usize = 2;
/// What was kept is thinned out when it is this many times what is wanted.
const KEPT_FACTOR_MAX: usize = 4;

/// What a scan found.
pub(super) struct Scanned {
    /// The positions of the nearest codes, in no particular order.
    pub(super) nearest: Vec<usize>,
    /// The mean of all estimated cosines.
    pub(super) mean: f64,
    /// Their standard deviation.
    pub(super) deviation: f64,
}

/// Returns the `n_wanted` nearest of the accepted codes; equally near ones by number and part.
pub(super) fn scan(
    codes: &Codes,
    cue: &[u64],
    dimension: u16,
    n_wanted: usize,
    accept: &(impl Fn(MemoryNumber) -> bool + Sync),
) -> Scanned {
    let look = |range: Range<usize>| {
        let mut tally = Tally::new(dimension, n_wanted);
        tally.count(codes, cue, range, accept);
        tally
    };
    let n_codes = codes.len();
    let tally = if n_codes <= ONE_THREAD_MAX {
        look(0..n_codes)
    } else {
        let share = n_codes.div_ceil(THREADS);
        let (mut first, second) = std::thread::scope(|scope| {
            let other = scope.spawn(|| look(share..n_codes));
            let first = look(0..share);
            (first, other.join())
        });
        match second {
            Ok(second) => first.merge(second),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        first
    };
    let (mean, deviation) = moments(&tally.counts, dimension);
    Scanned { nearest: tally.nearest(codes), mean, deviation }
}

/// How often each distance was seen, and which codes may be among the nearest.
struct Tally {
    n_wanted: usize,
    /// How many codes have each distance.
    counts: Vec<u32>,
    /// Every code seen so far that is no farther than the cut, and some that are.
    kept: Vec<(u16, usize)>,
    /// No farther code can be among the nearest.
    cut: u16,
}

impl Tally {
    fn new(dimension: u16, n_wanted: usize) -> Self {
        let n_distances = usize::from(dimension).saturating_add(1);
        Self { n_wanted, counts: vec![0; n_distances], kept: Vec::new(), cut: dimension }
    }

    fn count(
        &mut self,
        codes: &Codes,
        cue: &[u64],
        range: Range<usize>,
        accept: &impl Fn(MemoryNumber) -> bool,
    ) {
        let mut distances = [0; CHUNK];
        for start in range.clone().step_by(CHUNK) {
            let chunk = start..start.saturating_add(CHUNK).min(range.end);
            let words = chunk.start * codes.n_words..chunk.end * codes.n_words;
            let words = codes.words.get(words).unwrap_or_default();
            kernels::distances(words, cue, &mut distances);
            let memories = codes.memories.get(chunk).unwrap_or_default();
            for ((memory, distance), position) in memories.iter().zip(&distances).zip(start..) {
                if accept(*memory) {
                    self.note(*distance, position);
                }
            }
            self.lower_cut();
        }
    }

    #[inline]
    fn note(&mut self, distance: u16, position: usize) {
        if let Some(count) = self.counts.get_mut(usize::from(distance)) {
            *count = count.saturating_add(1);
        }
        if distance <= self.cut {
            self.kept.push((distance, position));
        }
    }

    fn merge(&mut self, other: Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count = count.saturating_add(more);
        }
        self.kept.extend(other.kept);
        self.lower_cut();
    }

    /// Lowers the cut to the smallest distance within which there are enough codes.
    fn lower_cut(&mut self) {
        let mut n_within = 0_usize;
        for (count, distance) in self.counts.iter().zip(0_u16..) {
            n_within = n_within.saturating_add(usize::try_from(*count).unwrap_or(usize::MAX));
            if n_within >= self.n_wanted {
                self.cut = distance;
                break;
            }
        }
        if self.kept.len() > self.n_wanted.saturating_mul(KEPT_FACTOR_MAX) {
            self.thin_out();
        }
    }

    fn thin_out(&mut self) {
        let cut = self.cut;
        self.kept.retain(|(distance, _)| *distance <= cut);
    }

    fn nearest(mut self, codes: &Codes) -> Vec<usize> {
        self.thin_out();
        if self.kept.len() > self.n_wanted {
            // Positions change when memories are forgotten, so they must not decide.
            self.kept.select_nth_unstable_by_key(self.n_wanted, |(distance, position)| {
                (*distance, codes.memories.get(*position), codes.parts.get(*position))
            });
            self.kept.truncate(self.n_wanted);
        }
        self.kept.into_iter().map(|(_, position)| position).collect()
    }
}

/// Returns mean and standard deviation of the cosines that distances stand for: two vectors at an
/// angle `a` differ in `a / pi` of their signs.
fn moments(counts: &[u32], dimension: u16) -> (f64, f64) {
    let cosine = |distance: u16| (PI * f64::from(distance) / f64::from(dimension)).cos();
    let weighted = || counts.iter().map(|count| f64::from(*count)).zip((0..).map(cosine));
    let n: f64 = counts.iter().map(|count| f64::from(*count)).sum();
    if n == 0.0 {
        return (0.0, 0.0);
    }
    let mean = weighted().map(|(count, cosine)| count * cosine).sum::<f64>() / n;
    let spread = weighted().map(|(count, cosine)| count * (cosine - mean).powi(2)).sum::<f64>();
    (mean, (spread / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn codes(bits: &[u8]) -> Codes {
        let mut codes = Codes::new(128);
        for (n_negative, memory) in bits.iter().zip(0..) {
            let components: Vec<u8> =
                (0..128).map(|at: u8| if at < *n_negative { 0x81 } else { 1 }).collect();
            codes.push(MemoryNumber::new(memory), 0, &components);
        }
        codes
    }

    proptest! {
        #[test]
        fn the_nearest_are_those_of_a_sort(
            bits in prop::collection::vec(0_u8..=128, 0..3000),
            n_wanted in 0_usize..50,
            every in 1_u32..4,
        ) {
            let codes = codes(&bits);
            let accept = |memory: MemoryNumber| memory.get().is_multiple_of(every);
            let found = scan(&codes, &[u64::MAX; 2], 128, n_wanted, &accept);
            let mut expect: Vec<(u8, usize)> = (bits.iter().copied().zip(0..))
                .filter(|(_, at)| at % usize::try_from(every).unwrap() == 0)
                .collect();
            let n = f64::from(u32::try_from(expect.len().max(1)).unwrap());
            let sum: f64 =
                expect.iter().map(|(bits, _)| (PI * f64::from(*bits) / 128.0).cos()).sum();
            prop_assert!((found.mean - sum / n).abs() < 1e-9);
            expect.sort_unstable();
            expect.truncate(n_wanted);
            let mut nearest: Vec<_> = found.nearest.iter().map(|at| (bits[*at], *at)).collect();
            nearest.sort_unstable();
            prop_assert_eq!(nearest, expect);
        }
    }

    #[test]
    fn two_threads_find_what_one_finds() {
        let bits: Vec<u8> = (0..ONE_THREAD_MAX + 5000)
            .map(|at| u8::try_from(at.wrapping_mul(2_654_435_761) >> 7 & 127).unwrap())
            .collect();
        let many = codes(&bits);
        let cue = [u64::MAX; 2];
        let mut one = Tally::new(128, 700);
        one.count(&many, &cue, 0..many.len(), &|_| true);
        let moments = moments(&one.counts, 128);
        let two = scan(&many, &cue, 128, 700, &|_| true);
        assert_eq!((two.mean, two.deviation), moments);
        let sorted = |mut nearest: Vec<usize>| {
            nearest.sort_unstable();
            nearest
        };
        assert_eq!(sorted(two.nearest), sorted(one.nearest(&many)));
    }
}
