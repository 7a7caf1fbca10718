//! Whatever somebody asks, understanding it does not break.

use jiff::Timestamp;

use super::cue::Cue;
use super::when::{Days, anchor_in};
use crate::fuzz::each_text;

#[test]
fn any_cue_is_understood() {
    let now: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
    each_text(|text| {
        let cue = Cue::understand(text, now);
        assert!(cue.words.len() <= text.len());
        anchor_in(text);
    });
}

#[test]
fn any_time_has_a_beginning_before_its_end() {
    let now: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
    each_text(|text| {
        for days in [Days::named_in(text, now), Days::meant_by(text, now)].into_iter().flatten() {
            let (first, last) = days.millis();
            assert!(days.first <= days.last && first <= last, "{text:?}");
            assert!(days.distance(now).is_finite(), "{text:?}");
        }
    });
}
