//! Whatever bytes arrive, what reads them says what they are, or what is wrong with them.

use crate::entry::Entry;
use crate::invitation::{Invitation, InvitationCode, tests::code};
use crate::seal::{open, reread, tests};
use crate::{from_words, to_words};

macro_rules! corpus {
    ($name:literal) => {
        concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/", $name)
    };
}

#[test]
fn entries_are_read_to_the_last_whole_one() {
    iai_fuzz::fuzz(corpus!("entries"), |bytes| {
        let mut rest = bytes;
        let mut written = Vec::new();
        while let Ok((entry, after)) = Entry::read_from(rest) {
            entry.write_to(&mut written);
            rest = after;
        }
        assert_eq!(written, bytes[..bytes.len() - rest.len()]);
    });
}

#[test]
fn a_payload_opens_only_as_it_was_sealed() {
    iai_fuzz::fuzz(corpus!("payloads"), |bytes| {
        let is_opened = open(&tests::keys(), &tests::place(), bytes).is_ok();
        assert_eq!(is_opened, bytes == include_bytes!("../corpus/payloads/put"));
        assert!(Invitation::open(&code(), bytes, 0).is_err());
    });
}

#[test]
fn an_operation_is_understood_kept_or_refused() {
    iai_fuzz::fuzz(corpus!("operations"), |bytes| {
        let Ok(json) = str::from_utf8(bytes) else { return };
        if let Ok(crate::Opened::Known(stamped)) = reread(json.to_owned()) {
            let written = serde_json::to_string(&stamped).unwrap();
            assert!(matches!(reread(written), Ok(crate::Opened::Known(_))));
        }
    });
}

#[test]
fn a_code_and_words_are_read_or_refused() {
    iai_fuzz::fuzz(corpus!("typed"), |bytes| {
        let Ok(text) = str::from_utf8(bytes) else { return };
        if let Ok(code) = InvitationCode::parse(text) {
            assert_eq!(InvitationCode::parse(&code.to_text()).unwrap(), code);
        }
        if let Ok(key) = from_words(text) {
            assert_eq!(from_words(&to_words(&key)).unwrap(), key);
        }
    });
}
