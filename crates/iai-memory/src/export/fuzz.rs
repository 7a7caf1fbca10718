//! Whatever a line of an export holds, it is taken as it was meant or refused with a reason.

use super::lines::Line;

#[test]
fn any_line_is_taken_or_refused_with_a_reason() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/export");
    iai_fuzz::fuzz(corpus, |bytes| {
        for text in String::from_utf8_lossy(bytes).lines() {
            match Line::parse(text) {
                Ok(line) => {
                    let written = line.to_text().unwrap();
                    assert!(Line::parse(&written).is_ok(), "{text}");
                    let refused = match &line {
                        Line::Memory(memory) => memory.to_exported().err(),
                        other => other.to_deed().err(),
                    };
                    assert!(refused.is_none_or(|why| !why.to_string().is_empty()));
                }
                Err(why) => assert!(!why.to_string().is_empty()),
            }
        }
    });
}
