//! Whatever a transcript holds, reading it does not break, and may stop and go on at any line.

use super::testing::tell;
use super::{HostKind, LineParser, Source};

#[test]
fn any_transcript_is_read_to_its_end_by_every_host() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/transcripts");
    iai_fuzz::fuzz(corpus, |bytes| {
        for host in HostKind::ALL {
            let source = Source::lines(host);
            let mut parser = LineParser::new(&source);
            let mut stopping = LineParser::new(&source);
            let (mut whole, mut in_parts) = (Vec::new(), Vec::new());
            for line in bytes.split(|byte| *byte == b'\n') {
                whole.extend(parser.read(line).iter().map(tell));
                in_parts.extend(stopping.read(line).iter().map(tell));
                if stopping.is_settled() {
                    stopping = LineParser::resume(&source, &stopping.memo());
                }
            }
            whole.extend(parser.finish().iter().map(tell));
            in_parts.extend(stopping.finish().iter().map(tell));
            assert_eq!(whole, in_parts, "{host:?}");
            assert!(!whole.iter().any(|told| told.starts_with("wrong: ")), "{whole:?}");
        }
    });
}
