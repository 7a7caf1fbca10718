//! Damaged texts for every room that reads what people say.

use crate::remarks::{Wording, is_remember_request};
use crate::trust::distrust;

/// Feeds `target` with texts, and with what damage makes of them.
pub(crate) fn each_text(target: impl Fn(&str)) {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/text");
    iai_fuzz::fuzz(corpus, |bytes| target(&String::from_utf8_lossy(bytes)));
}

#[test]
fn any_text_is_judged() {
    each_text(|text| {
        distrust(text);
        is_remember_request(text);
        assert!(Wording::of(text).len() <= text.len());
    });
}
