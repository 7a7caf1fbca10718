//! What every embedder keeps to, the real one and the fake.

use crate::tiny::Tiny;
use iai_embed::{Embedder, FakeEmbedder, Model, N_WINDOWS_MAX, check_vectors};

const TEXTS: &[&str] =
    &["", "the cat", "a much longer text about the weather", "a b", "cat", "zz", "한 word."];

fn each(check: impl Fn(&dyn Embedder)) {
    check(&FakeEmbedder::default());
    check(&Tiny::new().model());
}

#[test]
fn vectors_are_of_length_one_and_differ() {
    each(|embedder| {
        let vectors = embedder.embed(TEXTS).unwrap();
        assert_eq!(vectors.len(), TEXTS.len());
        assert!(vectors.iter().all(|vector| vector.len() == embedder.identity().dimension));
        check_vectors(&vectors).unwrap();
        assert!(embedder.embed(&[]).unwrap().is_empty());
    });
}

#[test]
fn a_batch_gives_what_its_texts_give_alone() {
    each(|embedder| {
        let many: Vec<&str> = TEXTS.iter().copied().cycle().take(100).collect();
        for (text, batched) in many.iter().zip(embedder.embed(&many).unwrap()) {
            let alone = embedder.embed(&[text]).unwrap().remove(0);
            let off = alone.iter().zip(&batched).map(|(a, b)| (a - b).abs());
            assert!(off.fold(0.0, f32::max) <= 1e-5, "{text}");
        }
    });
}

#[test]
fn texts_that_share_words_are_near_for_the_fake() {
    let vectors = FakeEmbedder::default()
        .embed(&["the red bicycle", "a red bicycle", "quarterly tax report"])
        .unwrap();
    let cosine = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let (near, far) = (cosine(&vectors[0], &vectors[1]), cosine(&vectors[0], &vectors[2]));
    assert!(near > far + 0.3, "{near} {far}");
}

#[test]
fn windows_cover_a_text_and_overlap() {
    let texts = [
        String::new(),
        "  short ".to_owned(),
        "the cat sat. ".repeat(400),
        "x".repeat(5_000),
        "x.".repeat(2_000),
        format!("{} end", "the ".repeat(50)),
    ];
    each(|embedder| {
        for text in &texts {
            let windows = embedder.windows(text);
            assert_eq!(windows.first().unwrap().start, 0);
            assert_eq!(windows.last().unwrap().end, text.len());
            for pair in windows.windows(2) {
                assert!(pair[0].start < pair[1].start && pair[1].start <= pair[0].end);
                assert!(text[pair[1].start..].starts_with(|c: char| !c.is_whitespace()));
            }
            assert!(windows.iter().all(|window| text.get(window.clone()).is_some()));
        }
        assert_eq!(embedder.windows("short").len(), 1);
        assert!(embedder.windows(&texts[2]).len() > 2);
    });
}

#[test]
fn no_window_loses_a_token() {
    let model = Tiny::new().model();
    let n_max = model.identity().n_tokens_max;
    let text = "the cat sat on the mat. unaffable zz ".repeat(60);
    let windows = model.windows(&text);
    for window in &windows {
        // One more token than the window has, and it would have been cut.
        let ids = model.token_ids(&text[window.clone()]);
        assert!(ids.len() <= n_max);
        let longer = model.token_ids(&format!("{} the", &text[window.clone()]));
        assert!(ids.len() == n_max || longer.len() == ids.len() + 1);
    }
    let spaces = |at: usize| text[..at].ends_with(' ');
    assert!(windows.iter().skip(1).all(|window| spaces(window.start)), "cut at whitespace");
}

#[test]
fn the_number_of_windows_has_an_end() {
    let model = Tiny::new().model();
    let windows = model.windows(&"the ".repeat(60_000));
    assert_eq!(windows.len(), N_WINDOWS_MAX);
}

#[test]
fn one_thread_gives_the_same_vectors_as_many() {
    let tiny = Tiny::new();
    let alone = tiny.model().with_threads(std::num::NonZeroUsize::MIN);
    assert_eq!(alone.n_threads(), 1);
    let together: Model = tiny.model();
    assert_eq!(alone.embed(TEXTS).unwrap(), together.embed(TEXTS).unwrap());
}
