//! The engine against a plain forward pass over the unquantised weights.

use crate::source::{EPSILON, HEADS, HIDDEN, LAYERS};
use crate::tiny::Tiny;
use iai_embed::{Embedder as _, Pooling};

const TEXTS: &[&str] =
    &["a", "the cat sat.", "hello the world of the", "x y z ab cd ef gh ij kl mn op qr st"];

/// Signed bytes in groups of 64 cost a little.
const COSINE_MIN: f32 = 0.999;

#[test]
fn vectors_are_those_of_a_plain_forward_pass() {
    for (mode, pooling) in [("mean", Pooling::Mean), ("cls", Pooling::Cls)] {
        let tiny = Tiny::with_pooling(mode);
        let model = tiny.model();
        assert_eq!(model.identity().pooling, pooling);
        for text in TEXTS {
            let got = model.embed(&[text]).unwrap().remove(0);
            let want = plain(&tiny, &model.token_ids(text), pooling);
            let cosine: f32 = got.iter().zip(&want).map(|(got, want)| got * want).sum();
            assert!(cosine > COSINE_MIN, "{mode}, {text}: {cosine}");
        }
    }
}

type Rows = Vec<Vec<f32>>;

fn plain(tiny: &Tiny, ids: &[u32], pooling: Pooling) -> Vec<f32> {
    let values = |name: &str| tiny.tensors[name].1.as_slice();
    let row = |name: &str, at: usize| values(name)[at * HIDDEN..(at + 1) * HIDDEN].to_vec();
    let mut rows: Rows = Vec::new();
    for (position, id) in ids.iter().enumerate() {
        let word = row("embeddings.word_embeddings.weight", *id as usize);
        let place = row("embeddings.position_embeddings.weight", position);
        let kind = row("embeddings.token_type_embeddings.weight", 0);
        rows.push((0..HIDDEN).map(|at| word[at] + place[at] + kind[at]).collect());
    }
    let linear = |rows: &Rows, name: &str| -> Rows {
        let (weight, bias) = (values(&format!("{name}.weight")), values(&format!("{name}.bias")));
        let one = |row: &Vec<f32>| -> Vec<f32> {
            let product =
                |weights: &[f32]| row.iter().zip(weights).map(|(x, w)| x * w).sum::<f32>();
            weight
                .chunks(row.len())
                .zip(bias)
                .map(|(weights, bias)| product(weights) + bias)
                .collect()
        };
        rows.iter().map(one).collect()
    };
    let norm = |rows: Rows, name: &str| -> Rows {
        let (weight, bias) = (values(&format!("{name}.weight")), values(&format!("{name}.bias")));
        let one = |row: Vec<f32>| -> Vec<f32> {
            let n = row.len() as f32;
            let mean = row.iter().sum::<f32>() / n;
            let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / n;
            let scale = (variance + EPSILON).sqrt();
            (0..row.len()).map(|at| (row[at] - mean) / scale * weight[at] + bias[at]).collect()
        };
        rows.into_iter().map(one).collect()
    };
    rows = norm(rows, "embeddings.LayerNorm");
    for layer in 0..LAYERS {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let query = linear(&rows, &name("attention.self.query"));
        let key = linear(&rows, &name("attention.self.key"));
        let value = linear(&rows, &name("attention.self.value"));
        let gathered = attend(&query, &key, &value);
        let attended = linear(&gathered, &name("attention.output.dense"));
        rows = norm(added(&rows, &attended), &name("attention.output.LayerNorm"));
        let mut wide = linear(&rows, &name("intermediate.dense"));
        wide.iter_mut().flatten().for_each(|x| *x = gelu(*x));
        let narrow = linear(&wide, &name("output.dense"));
        rows = norm(added(&rows, &narrow), &name("output.LayerNorm"));
    }
    let counted = if pooling == Pooling::Mean { &rows[..] } else { &rows[..1] };
    let mut vector = vec![0.0; HIDDEN];
    counted.iter().for_each(|row| (0..HIDDEN).for_each(|at| vector[at] += row[at]));
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter().map(|x| x / length).collect()
}

fn attend(query: &Rows, key: &Rows, value: &Rows) -> Rows {
    let width = HIDDEN / HEADS;
    let mut gathered = vec![vec![0.0; HIDDEN]; query.len()];
    for head in (0..HIDDEN).step_by(width) {
        let columns = head..head + width;
        for (at, query) in query.iter().enumerate() {
            let score = |key: &Vec<f32>| {
                let product: f32 = columns.clone().map(|at| query[at] * key[at]).sum();
                (product / (width as f32).sqrt()).exp()
            };
            let scores: Vec<f32> = key.iter().map(score).collect();
            let total: f32 = scores.iter().sum();
            for (score, value) in scores.iter().zip(value) {
                columns.clone().for_each(|c| gathered[at][c] += score / total * value[c]);
            }
        }
    }
    gathered
}

fn added(one: &Rows, other: &Rows) -> Rows {
    let sum = |(one, other): (&Vec<f32>, &Vec<f32>)| {
        one.iter().zip(other).map(|(one, other)| one + other).collect()
    };
    one.iter().zip(other).map(sum).collect()
}

/// By the definition: `x` times the integral of the bell curve up to `x`, in small steps.
#[expect(clippy::cast_possible_truncation, reason = "the sum needs more digits than the result")]
fn gelu(x: f32) -> f32 {
    const STEPS: u32 = 200;
    let (x, mut area) = (f64::from(x), 0.0);
    let step = x / f64::from(STEPS);
    for at in 0..STEPS {
        let middle = (f64::from(at) + 0.5) * step;
        area += (-middle * middle / 2.0).exp() * step;
    }
    (x * (0.5 + area / (2.0 * std::f64::consts::PI).sqrt())) as f32
}
