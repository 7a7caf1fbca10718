//! Looks at vectors before anybody stores them: a broken model must not fill a memory with noise.

use crate::error::EmbedError;

/// How far a vector's length may be from 1.
const NORM_ERROR_MAX: f32 = 1e-3;
/// From this cosine on, two vectors say the same.
const SAME_COSINE: f32 = 0.9999;

/// Refuses vectors of different texts that cannot come from a working model: not a number, not of
/// length 1, of unequal dimensions, or all (nearly) the same.
pub fn check_vectors(vectors: &[Vec<f32>]) -> Result<(), EmbedError> {
    let nonsense = |what: String| Err(EmbedError::Nonsense(what));
    let Some((first, others)) = vectors.split_first() else { return Ok(()) };
    for (at, vector) in vectors.iter().enumerate() {
        if vector.len() != first.len() {
            return nonsense(format!(
                "vector {at} has {} numbers, not {}",
                vector.len(),
                first.len()
            ));
        }
        if !vector.iter().all(|value| value.is_finite()) {
            return nonsense(format!("vector {at} holds something that is not a number"));
        }
        let norm = product(vector, vector).sqrt();
        if (norm - 1.0).abs() > NORM_ERROR_MAX {
            return nonsense(format!("vector {at} has the length {norm}, not 1"));
        }
    }
    let is_all_same = others.iter().all(|other| product(first, other) > SAME_COSINE);
    if is_all_same && !others.is_empty() {
        return nonsense(format!("the vectors of {} different texts are equal", vectors.len()));
    }
    Ok(())
}

fn product(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(vectors: &[&[f32]], want: Option<&str>) {
        let vectors: Vec<Vec<f32>> = vectors.iter().map(|vector| vector.to_vec()).collect();
        match (check_vectors(&vectors), want) {
            (Ok(()), None) => {}
            (Err(error), Some(want)) => assert!(error.to_string().contains(want), "{error}"),
            (got, want) => panic!("{got:?}, not {want:?}"),
        }
    }

    #[test]
    fn only_sensible_vectors_pass() {
        check(&[], None);
        check(&[&[1.0, 0.0]], None);
        check(&[&[1.0, 0.0], &[0.0, 1.0]], None);
        check(&[&[1.0, 0.0], &[1.0, 0.0], &[0.6, 0.8]], None);
        check(&[&[1.0, 0.0], &[1.0, 0.0]], Some("are equal"));
        check(&[&[1.0, 0.0], &[0.999_999, 0.001]], Some("are equal"));
        check(&[&[f32::NAN, 0.0]], Some("not a number"));
        check(&[&[f32::INFINITY, 0.0]], Some("not a number"));
        check(&[&[0.0, 0.0]], Some("the length 0"));
        check(&[&[2.0, 0.0]], Some("the length 2"));
        check(&[&[1.0, 0.0], &[1.0]], Some("1 numbers"));
        check(&[&[]], Some(", not 1"));
    }
}
