//! Whatever somebody says, comparing it does not break.

use super::differences::{differ_in_a_fact, is_same_wording};
use super::sentences::statements_in;
use crate::fuzz::each_text;

#[test]
fn any_text_is_cut_into_statements() {
    each_text(|text| {
        for statement in statements_in(text) {
            assert!(statement.tokens.iter().all(|token| !token.written.is_empty()), "{text:?}");
        }
    });
}

#[test]
fn a_text_does_not_contradict_itself() {
    each_text(|text| {
        assert!(!differ_in_a_fact(text, text), "{text:?}");
        assert!(is_same_wording(text, text), "{text:?}");
    });
}
