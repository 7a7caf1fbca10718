//! A model file that is not whole is never used, and never a crash.

use std::fs;
use std::path::Path;

use crate::source::config;
use crate::tiny::Tiny;
use iai_embed::{EmbedError, Embedder as _, Model, convert};
use proptest::prelude::{ProptestConfig, any};
use proptest::sample::select;
use proptest::{prop_assert, proptest};

#[test]
fn a_file_says_which_model_it_is() {
    let tiny = Tiny::new();
    let identity = tiny.model().identity().clone();
    assert_eq!((identity.name.as_str(), identity.dimension), ("tiny", 128));
    assert_eq!(identity.n_tokens_max, 48);
    let again = tiny.source().join("again.iai");
    assert_eq!(convert(&tiny.source(), "tiny", &again).unwrap(), identity);
    assert_ne!(convert(&tiny.source(), "other", &again).unwrap().sha256, identity.sha256);
    let names = fs::read_dir(tiny.source()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().ends_with(".new")));
}

#[test]
fn every_flipped_bit_of_the_frame_and_many_of_the_rest_are_noticed() {
    let tiny = Tiny::new();
    let whole = fs::read(tiny.path()).unwrap();
    let path = tiny.source().join("flipped.iai");
    let places =
        (0..64).chain((64..whole.len()).step_by(4099)).chain(whole.len() - 40..whole.len());
    for at in places {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&path, bytes).unwrap();
        assert!(Model::open(&path).is_err(), "byte {at}");
    }
}

#[test]
fn a_file_cut_anywhere_or_longer_is_refused() {
    let tiny = Tiny::new();
    let whole = fs::read(tiny.path()).unwrap();
    let path = tiny.source().join("cut.iai");
    for n_bytes in (0..64).chain((64..whole.len()).step_by(9973)).chain([whole.len() - 1]) {
        fs::write(&path, &whole[..n_bytes]).unwrap();
        assert!(Model::open(&path).is_err(), "{n_bytes} bytes");
    }
    fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
    assert!(matches!(Model::open(&path), Err(EmbedError::Damaged { .. })));
}

#[test]
fn the_next_format_is_left_to_the_next_program() {
    let tiny = Tiny::new();
    let mut bytes = fs::read(tiny.path()).unwrap();
    bytes[8] = 3;
    fs::write(tiny.path(), bytes).unwrap();
    let error = Model::open(&tiny.path()).err().unwrap();
    assert!(matches!(error, EmbedError::OtherFormat { found: 3, known: 2, .. }));
}

/// Puts a header of our making into a file whose hash fits.
fn with_header(path: &Path, whole: &[u8], change: impl Fn(String) -> String) {
    use sha2::{Digest as _, Sha256};
    let n_header = u32::from_le_bytes(whole[12..16].try_into().unwrap()) as usize;
    let header = String::from_utf8(whole[16..16 + n_header].to_vec()).unwrap();
    let header = change(header);
    let n_bytes = u32::try_from(header.len()).unwrap().to_le_bytes();
    let rest = &whole[16 + n_header..whole.len() - 32];
    let bytes = [&whole[..12], &n_bytes, header.as_bytes(), rest].concat();
    fs::write(path, [&bytes[..], &Sha256::digest(&bytes)].concat()).unwrap();
}

#[test]
fn a_lying_header_is_refused() {
    let tiny = Tiny::new();
    let whole = fs::read(tiny.path()).unwrap();
    let path = tiny.source().join("lying.iai");
    with_header(&path, &whole, |header| header);
    Model::open(&path).unwrap();
    let lies = [
        ("\"n_layers\":2", "\"n_layers\":3"),
        ("\"n_layers\":2", "\"n_layers\":0"),
        ("\"n_hidden\":128", "\"n_hidden\":6"),
        ("\"n_hidden\":128", "\"n_hidden\":4611686018427387904"),
        ("\"n_heads\":4", "\"n_heads\":0"),
        ("\"n_heads\":4", "\"n_heads\":3"),
        ("\"n_pieces\":60", "\"n_pieces\":59"),
        ("\"n_tokens_max\":48", "\"n_tokens_max\":49"),
        ("\"n_tokens_max\":48", "\"n_tokens_max\":0"),
        ("\"[CLS]\"", "\"[XXX]\""),
        ("\"offset\":", "\"offset\":1"),
        ("\"kind\":\"i8\"", "\"kind\":\"f32\""),
        ("{", "["),
    ];
    for (from, to) in lies {
        with_header(&path, &whole, |header| {
            assert!(header.contains(from), "{from} in {header}");
            header.replacen(from, to, 1)
        });
        assert!(Model::open(&path).is_err(), "{to}");
    }
}

const STARTS: &[&[u8]] = &[b"", b"IAIMODEL", b"IAIMODEL\x01\0\0\0"];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn noise_is_no_model(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
        start in select(STARTS),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("noise.iai");
        fs::write(&path, [start, &bytes].concat()).unwrap();
        prop_assert!(Model::open(&path).is_err());
    }
}

#[test]
fn sources_we_cannot_run_are_refused_by_name() {
    let cases = [
        ("model_type", "\"roberta\"", "its architecture is `roberta`, not `bert`"),
        ("hidden_act", "\"relu\"", "its activation is `relu`"),
        ("position_embedding_type", "\"rotary\"", "its kind of positions is `rotary`"),
        ("num_attention_heads", "3", "no multiple of 16"),
        ("num_hidden_layers", "3", "hold no `encoder.layer.2"),
        ("hidden_size", "64", "has the shape"),
    ];
    for (key, value, want) in cases {
        let tiny = Tiny::new();
        let mut changed = config();
        changed[key] = serde_json::from_str(value).unwrap();
        fs::write(tiny.source().join("config.json"), changed.to_string()).unwrap();
        let before = fs::read(tiny.path()).unwrap();
        let error = convert(&tiny.source(), "tiny", &tiny.path()).unwrap_err();
        assert!(error.to_string().contains(want), "{error}");
        assert_eq!(fs::read(tiny.path()).unwrap(), before, "what was there stays");
    }
}

#[test]
fn a_folder_without_weights_says_what_is_missing() {
    let tiny = Tiny::new();
    fs::rename(tiny.source().join("model.safetensors"), tiny.source().join("x")).unwrap();
    let error = convert(&tiny.source(), "tiny", &tiny.path()).unwrap_err().to_string();
    assert!(error.contains("it holds none of model.safetensors"), "{error}");
}
