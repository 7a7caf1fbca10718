//! Whatever bytes arrive, what reads them says what they are, or what is wrong with them.

use std::io::Cursor;

use crate::{FrameReader, OpeningKey, Request, SpoolItem, SpoolReader, count_events};

macro_rules! corpus {
    ($name:literal) => {
        concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/", $name)
    };
}

#[test]
fn frames_are_lines() {
    iai_fuzz::fuzz(corpus!("frames"), |bytes| {
        let mut frames = FrameReader::new(Cursor::new(bytes));
        let mut lines = bytes.split(|byte| *byte == b'\n').collect::<Vec<_>>();
        lines.pop();
        for line in lines {
            assert_eq!(frames.next_frame().unwrap(), Some(line));
        }
        assert_eq!(frames.next_frame().unwrap(), None);
    });
}

#[test]
fn a_request_is_understood_or_answered_with_an_error() {
    iai_fuzz::fuzz(corpus!("requests"), |bytes| match Request::parse(bytes) {
        Ok(Request::Call(call)) => assert!(call.id.is_string() || call.id.is_number()),
        Ok(Request::Control(_)) => {}
        Err(malformed) => {
            let reply = malformed.reply;
            assert!(reply["error"].is_object() || reply["ok"] == false, "{reply}");
        }
    });
}

#[test]
fn a_spool_file_is_read_to_its_end() {
    let key = OpeningKey::from_bytes(&[7; 32]).unwrap();
    iai_fuzz::fuzz(corpus!("spool"), |bytes| {
        let mut items = SpoolReader::new(Cursor::new(bytes), Some(&key));
        let n_lines = bytes.split(|byte| *byte == b'\n').count();
        let mut n_items = 0;
        while let Some(item) = items.next_item().unwrap() {
            n_items += 1;
            if let SpoolItem::Bad { reason, .. } = item {
                assert!(!reason.is_empty());
            }
        }
        assert!(n_items <= n_lines);
        // A count for `status`: quick, and right for files that nobody damaged.
        assert!(count_events(Cursor::new(bytes)).unwrap() <= u64::try_from(n_lines).unwrap());
    });
}
