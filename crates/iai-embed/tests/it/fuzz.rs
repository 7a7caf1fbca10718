//! Damaged model files: refused with a name, or as good as whole.

use std::fs;

use iai_embed::{Embedder as _, Model};

use crate::tiny::Tiny;

#[test]
fn any_model_file_is_refused_or_embeds() {
    let tiny = Tiny::new();
    let folder = tempfile::tempdir().unwrap();
    let corpus = folder.path().join("model");
    fs::create_dir(&corpus).unwrap();
    fs::copy(tiny.path(), corpus.join("tiny.iai")).unwrap();
    let file = folder.path().join("changed.iai");
    iai_fuzz::fuzz(corpus.to_str().unwrap(), |bytes| {
        fs::write(&file, bytes).unwrap();
        if let Ok(model) = Model::open(&file) {
            let vectors = model.embed(&["the red bicycle"]).unwrap();
            assert_eq!(vectors[0].len(), model.identity().dimension);
        }
    });
}
