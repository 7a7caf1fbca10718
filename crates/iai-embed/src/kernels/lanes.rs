//! Sixteen floats or whole numbers side by side, in whatever registers the machine has.
//!
//! The vector versions must only run inside functions compiled for their instructions; the
//! dispatcher in `kernels.rs` sees to that.

use super::LANES;

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64 as arch;

/// How to multiply and add.
pub(super) trait Arithmetic {
    type Lanes: Lanes;
    type Sums: Sums<Floats = Self::Lanes>;
    /// Rows of [`LANES`] sums that fit into the registers, beside what is multiplied.
    const TILE_ROWS: usize;

    fn times_plus(a: f32, b: f32, c: f32) -> f32;
}

/// A row of a panel.
pub(super) trait Lanes: Copy {
    fn load(values: &[f32; LANES]) -> Self;
    fn store(self, values: &mut [f32; LANES]);
    /// `self · factor + sum`
    fn times_plus(self, factor: f32, sum: Self) -> Self;
    /// `self · others`
    fn times(self, others: Self) -> Self;
}

/// A row of whole sums.
pub(super) trait Sums: Copy {
    type Floats: Lanes;
    /// The weights of two inputs, ready to multiply with.
    type Weights: Copy;

    fn zero() -> Self;
    /// Widens the signed bytes of two inputs and puts the two of each output side by side.
    fn widen(bytes: &[[u8; LANES]; 2], wide: &mut [[i16; 2]; LANES]);
    fn load(wide: &[[i16; 2]; LANES]) -> Self::Weights;
    /// `self + first weights · first factor + second weights · second factor`
    fn plus(self, weights: Self::Weights, factors: &[i16; 2]) -> Self;
    fn to_floats(self) -> Self::Floats;
}

/// Rounds after multiplying and again after adding, as any machine can.
pub(super) struct Rounding;

/// Rounds once.
pub(super) struct Fusing;

impl Arithmetic for Rounding {
    type Lanes = [f32; LANES];
    type Sums = [i32; LANES];
    const TILE_ROWS: usize = 2;

    #[inline(always)]
    fn times_plus(a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }
}

impl Arithmetic for Fusing {
    #[cfg(target_arch = "x86_64")]
    type Lanes = Avx2;
    #[cfg(target_arch = "x86_64")]
    type Sums = Avx2Sums;
    #[cfg(target_arch = "aarch64")]
    type Lanes = Neon;
    #[cfg(target_arch = "aarch64")]
    type Sums = NeonSums;
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    type Lanes = [f32; LANES];
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    type Sums = [i32; LANES];
    const TILE_ROWS: usize = 6;

    #[inline(always)]
    fn times_plus(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

impl Lanes for [f32; LANES] {
    #[inline(always)]
    fn load(values: &[f32; LANES]) -> Self {
        *values
    }

    #[inline(always)]
    fn store(self, values: &mut [f32; LANES]) {
        *values = self;
    }

    #[inline(always)]
    fn times_plus(self, factor: f32, mut sum: Self) -> Self {
        for (sum, value) in sum.iter_mut().zip(self) {
            *sum += value * factor;
        }
        sum
    }

    #[inline(always)]
    fn times(mut self, others: Self) -> Self {
        for (value, other) in self.iter_mut().zip(others) {
            *value *= other;
        }
        self
    }
}

impl Sums for [i32; LANES] {
    type Floats = [f32; LANES];
    type Weights = [[i16; 2]; LANES];

    #[inline(always)]
    fn zero() -> Self {
        [0; LANES]
    }

    #[inline(always)]
    fn widen([first, second]: &[[u8; LANES]; 2], wide: &mut [[i16; 2]; LANES]) {
        for (wide, (first, second)) in wide.iter_mut().zip(first.iter().zip(second)) {
            *wide = [first.cast_signed().into(), second.cast_signed().into()];
        }
    }

    #[inline(always)]
    fn load(wide: &[[i16; 2]; LANES]) -> Self::Weights {
        *wide
    }

    #[inline(always)]
    fn plus(mut self, weights: Self::Weights, factors: &[i16; 2]) -> Self {
        for (sum, weights) in self.iter_mut().zip(weights) {
            let product = |(weight, factor): (i16, i16)| i32::from(weight) * i32::from(factor);
            *sum += weights.into_iter().zip(*factors).map(product).sum::<i32>();
        }
        self
    }

    #[inline(always)]
    #[expect(clippy::cast_precision_loss, reason = "as the registers do: to the nearest float")]
    fn to_floats(self) -> Self::Floats {
        self.map(|sum| sum as f32)
    }
}

/// Two registers of eight.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Avx2(arch::__m256, arch::__m256);

// SAFETY, for every block below: these functions are inlined into functions that are compiled for
// AVX2 and FMA and entered only where both were detected; the pointers are to the first and to the
// ninth of sixteen floats, and need not be aligned.
#[cfg(target_arch = "x86_64")]
impl Lanes for Avx2 {
    #[inline(always)]
    fn load(values: &[f32; LANES]) -> Self {
        let first = values.as_ptr();
        unsafe { Self(arch::_mm256_loadu_ps(first), arch::_mm256_loadu_ps(first.add(8))) }
    }

    #[inline(always)]
    fn store(self, values: &mut [f32; LANES]) {
        let first = values.as_mut_ptr();
        unsafe {
            arch::_mm256_storeu_ps(first, self.0);
            arch::_mm256_storeu_ps(first.add(8), self.1);
        }
    }

    #[inline(always)]
    fn times_plus(self, factor: f32, sum: Self) -> Self {
        unsafe {
            let factor = arch::_mm256_set1_ps(factor);
            Self(
                arch::_mm256_fmadd_ps(self.0, factor, sum.0),
                arch::_mm256_fmadd_ps(self.1, factor, sum.1),
            )
        }
    }

    #[inline(always)]
    fn times(self, others: Self) -> Self {
        unsafe {
            Self(arch::_mm256_mul_ps(self.0, others.0), arch::_mm256_mul_ps(self.1, others.1))
        }
    }
}

/// Two registers of eight whole numbers.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Avx2Sums(arch::__m256i, arch::__m256i);

// SAFETY, for every block below: as above; the pointers are to sixteen bytes, to the first and to
// the ninth of sixteen pairs, and to one pair.
#[cfg(target_arch = "x86_64")]
impl Sums for Avx2Sums {
    type Floats = Avx2;
    type Weights = (arch::__m256i, arch::__m256i);

    #[inline(always)]
    fn zero() -> Self {
        unsafe { Self(arch::_mm256_setzero_si256(), arch::_mm256_setzero_si256()) }
    }

    #[inline(always)]
    fn widen([first, second]: &[[u8; LANES]; 2], wide: &mut [[i16; 2]; LANES]) {
        let place = wide.as_mut_ptr();
        unsafe {
            let first = arch::_mm_loadu_si128(first.as_ptr().cast());
            let second = arch::_mm_loadu_si128(second.as_ptr().cast());
            let low = arch::_mm256_cvtepi8_epi16(arch::_mm_unpacklo_epi8(first, second));
            let high = arch::_mm256_cvtepi8_epi16(arch::_mm_unpackhi_epi8(first, second));
            arch::_mm256_storeu_si256(place.cast(), low);
            arch::_mm256_storeu_si256(place.add(8).cast(), high);
        }
    }

    #[inline(always)]
    fn load(wide: &[[i16; 2]; LANES]) -> Self::Weights {
        let first = wide.as_ptr();
        unsafe {
            let low = arch::_mm256_loadu_si256(first.cast());
            (low, arch::_mm256_loadu_si256(first.add(8).cast()))
        }
    }

    #[inline(always)]
    fn plus(self, weights: Self::Weights, factors: &[i16; 2]) -> Self {
        unsafe {
            let factors = factors.as_ptr().cast::<i32>().read_unaligned();
            let factors = arch::_mm256_set1_epi32(factors);
            let low = arch::_mm256_madd_epi16(weights.0, factors);
            let high = arch::_mm256_madd_epi16(weights.1, factors);
            Self(arch::_mm256_add_epi32(self.0, low), arch::_mm256_add_epi32(self.1, high))
        }
    }

    #[inline(always)]
    fn to_floats(self) -> Self::Floats {
        unsafe { Avx2(arch::_mm256_cvtepi32_ps(self.0), arch::_mm256_cvtepi32_ps(self.1)) }
    }
}

/// Four registers of four.
#[cfg(target_arch = "aarch64")]
#[derive(Clone, Copy)]
pub(super) struct Neon([std::arch::aarch64::float32x4_t; 4]);

// SAFETY, for every block below: NEON is a part of every 64-bit ARM we compile for; each pointer is
// to four of sixteen floats.
#[cfg(target_arch = "aarch64")]
impl Lanes for Neon {
    #[inline(always)]
    fn load(values: &[f32; LANES]) -> Self {
        let first = values.as_ptr();
        let four = |at| unsafe { std::arch::aarch64::vld1q_f32(first.add(at)) };
        Self([four(0), four(4), four(8), four(12)])
    }

    #[inline(always)]
    fn store(self, values: &mut [f32; LANES]) {
        for (four, place) in self.0.into_iter().zip(values.as_chunks_mut::<4>().0) {
            unsafe { std::arch::aarch64::vst1q_f32(place.as_mut_ptr(), four) };
        }
    }

    #[inline(always)]
    fn times_plus(self, factor: f32, sum: Self) -> Self {
        let [a, b, c, d] = self.0;
        let [e, f, g, h] = sum.0;
        let fused = |value, sum| unsafe { std::arch::aarch64::vfmaq_n_f32(sum, value, factor) };
        Self([fused(a, e), fused(b, f), fused(c, g), fused(d, h)])
    }

    #[inline(always)]
    fn times(self, others: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, others.0);
        let times = |value, other| unsafe { std::arch::aarch64::vmulq_f32(value, other) };
        Self([times(a, e), times(b, f), times(c, g), times(d, h)])
    }
}

/// Four registers of four whole numbers.
#[cfg(target_arch = "aarch64")]
#[derive(Clone, Copy)]
pub(super) struct NeonSums([std::arch::aarch64::int32x4_t; 4]);

// SAFETY, for every block below: as above; each pointer is to eight of sixteen pairs.
#[cfg(target_arch = "aarch64")]
impl Sums for NeonSums {
    type Floats = Neon;
    /// Eight outputs each, the first input's weights apart from the second's.
    type Weights = [std::arch::aarch64::int16x8x2_t; 2];

    #[inline(always)]
    fn zero() -> Self {
        Self([unsafe { std::arch::aarch64::vdupq_n_s32(0) }; 4])
    }

    #[inline(always)]
    fn widen(bytes: &[[u8; LANES]; 2], wide: &mut [[i16; 2]; LANES]) {
        <[i32; LANES]>::widen(bytes, wide);
    }

    #[inline(always)]
    fn load(wide: &[[i16; 2]; LANES]) -> Self::Weights {
        let first = wide.as_ptr();
        let eight = |at| unsafe { std::arch::aarch64::vld2q_s16(first.add(at).cast()) };
        [eight(0), eight(8)]
    }

    #[inline(always)]
    fn plus(self, weights: Self::Weights, factors: &[i16; 2]) -> Self {
        use std::arch::aarch64 as arch;
        let [first, second] = *factors;
        let eight = |low, high, weights: arch::int16x8x2_t| unsafe {
            let low = arch::vmlal_n_s16(low, arch::vget_low_s16(weights.0), first);
            let low = arch::vmlal_n_s16(low, arch::vget_low_s16(weights.1), second);
            let high = arch::vmlal_high_n_s16(high, weights.0, first);
            (low, arch::vmlal_high_n_s16(high, weights.1, second))
        };
        let [a, b, c, d] = self.0;
        let [low, high] = weights;
        let ((a, b), (c, d)) = (eight(a, b, low), eight(c, d, high));
        Self([a, b, c, d])
    }

    #[inline(always)]
    fn to_floats(self) -> Self::Floats {
        Neon(self.0.map(|four| unsafe { std::arch::aarch64::vcvtq_f32_s32(four) }))
    }
}
