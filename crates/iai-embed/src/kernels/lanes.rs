//! Sixteen floats side by side, in whatever registers the machine has.
//!
//! The vector versions must only run inside functions compiled for their instructions; the
//! dispatcher in `kernels.rs` sees to that.

use super::LANES;

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64 as arch;

/// How to multiply and add.
pub(super) trait Arithmetic {
    type Lanes: Lanes;
    /// Rows of [`LANES`] sums that fit into the registers, beside what is multiplied.
    const TILE_ROWS: usize;

    fn times_plus(a: f32, b: f32, c: f32) -> f32;
}

/// A row of a panel.
pub(super) trait Lanes: Copy {
    fn load(values: &[f32; LANES]) -> Self;
    fn store(self, values: &mut [f32; LANES]);
    /// Signed bytes times `scales`.
    fn dequantise(quants: &[u8; LANES], scales: Self) -> Self;
    /// `self · factor + sum`
    fn times_plus(self, factor: f32, sum: Self) -> Self;
}

/// Rounds after multiplying and again after adding, as any machine can.
pub(super) struct Rounding;

/// Rounds once.
pub(super) struct Fusing;

impl Arithmetic for Rounding {
    type Lanes = [f32; LANES];
    const TILE_ROWS: usize = 2;

    #[inline(always)]
    fn times_plus(a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }
}

impl Arithmetic for Fusing {
    #[cfg(target_arch = "x86_64")]
    type Lanes = Avx2;
    #[cfg(target_arch = "aarch64")]
    type Lanes = Neon;
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    type Lanes = [f32; LANES];
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
    fn dequantise(quants: &[u8; LANES], mut scales: Self) -> Self {
        for (scale, quant) in scales.iter_mut().zip(quants) {
            *scale *= f32::from(quant.cast_signed());
        }
        scales
    }

    #[inline(always)]
    fn times_plus(self, factor: f32, mut sum: Self) -> Self {
        for (sum, value) in sum.iter_mut().zip(self) {
            *sum += value * factor;
        }
        sum
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
    fn dequantise(quants: &[u8; LANES], scales: Self) -> Self {
        unsafe {
            // Widened straight from memory, eight at a time.
            let eight = |at| arch::_mm_loadl_epi64(quants.as_ptr().add(at).cast());
            let first = arch::_mm256_cvtepi32_ps(arch::_mm256_cvtepi8_epi32(eight(0)));
            let last = arch::_mm256_cvtepi32_ps(arch::_mm256_cvtepi8_epi32(eight(8)));
            Self(arch::_mm256_mul_ps(first, scales.0), arch::_mm256_mul_ps(last, scales.1))
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
    fn dequantise(quants: &[u8; LANES], scales: Self) -> Self {
        let floats = quants.map(|quant| f32::from(quant.cast_signed()));
        let (Self([a, b, c, d]), Self([e, f, g, h])) = (Self::load(&floats), scales);
        let times = |value, scale| unsafe { std::arch::aarch64::vmulq_f32(value, scale) };
        Self([times(a, e), times(b, f), times(c, g), times(d, h)])
    }

    #[inline(always)]
    fn times_plus(self, factor: f32, sum: Self) -> Self {
        let [a, b, c, d] = self.0;
        let [e, f, g, h] = sum.0;
        let fused = |value, sum| unsafe { std::arch::aarch64::vfmaq_n_f32(sum, value, factor) };
        Self([fused(a, e), fused(b, f), fused(c, g), fused(d, h)])
    }
}
