//! Every parser with damaged input: nothing panics, and whatever is read says something.

use super::{docx, html, markdown, pdf, source, split};

macro_rules! corpus {
    ($name:literal) => {
        concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/", $name)
    };
}

#[test]
fn text_survives_anything_and_keeps_its_words() {
    iai_fuzz::fuzz(corpus!("teach-text"), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        for read in [split::of_text, source::passages, markdown::passages] {
            let passages = read(&text);
            assert!(passages.iter().all(|passage| text.contains(&passage.text)));
            let all_lines = text.lines().count().max(1);
            let last =
                passages.iter().filter_map(|passage| passage.part.lines).map(|lines| lines.1);
            assert!(last.max().is_none_or(|last| last <= all_lines));
        }
    });
}

#[test]
fn pages_survive_anything() {
    iai_fuzz::fuzz(corpus!("teach-html"), |bytes| {
        let passages = html::passages(&String::from_utf8_lossy(bytes));
        assert!(passages.iter().all(|passage| !passage.text.trim().is_empty()));
    });
}

#[test]
fn documents_survive_anything() {
    iai_fuzz::fuzz(corpus!("teach-docx"), |bytes| {
        drop(docx::passages(bytes));
    });
}

#[test]
fn portable_documents_survive_anything() {
    iai_fuzz::fuzz(corpus!("teach-pdf"), |bytes| {
        // What panics inside the parser is a refusal.
        drop(pdf::passages(bytes));
    });
}
