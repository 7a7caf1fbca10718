//! Whatever somebody says, finding out what it is about does not break.

use serde_json::json;

use super::{Source, taken_from};
use crate::fuzz::each_text;

#[test]
fn any_text_has_a_bounded_number_of_attributes() {
    let nothing = json!({});
    each_text(|text| {
        let provenance = json!({"tools": [text], "files": [text, text], "commands": [text]});
        for provenance in [&nothing, &provenance] {
            let source =
                Source { text, folders: [Some("/home/somebody/project"), None], provenance };
            let taken = taken_from(&source);
            assert!(taken.len() <= 32, "{text:?}");
        }
    });
}
