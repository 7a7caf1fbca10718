//! Whether a turn says what it is about: "where were we" and "good morning" do not.

use crate::remarks::open::{asks, n_telling};
use crate::remarks::sentences;

/// Words that tell something, in what a turn states …
const STATED_MIN: usize = 2;
/// … or, where it asks, in all of it.
const ASKED_MIN: usize = 3;

/// Tells whether a turn says what a session is about.
pub(super) fn says_what_it_is_about(text: &str) -> bool {
    STATED_MIN <= n_stated(text) || ASKED_MIN <= n_telling_of(text, |_| true)
}

fn n_stated(text: &str) -> usize {
    n_telling_of(text, |sentence| !asks(sentence))
}

fn n_telling_of(text: &str, counts: impl Fn(&str) -> bool) -> usize {
    let said = sentences(text).into_iter().filter_map(|range| text.get(range));
    said.filter(|sentence| counts(sentence)).map(n_telling).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greetings_and_questions_about_the_last_time_are_about_nothing() {
        for (text, is_about) in [
            ("where were we", false),
            ("what did we leave open?", false),
            ("Good morning! Where did we stop yesterday?", false),
            ("back from holidays. where were we", false),
            ("Guten Morgen, was ist noch offen?", false),
            ("thanks, bye", false),
            ("who was to do the replica?", false),
            ("Why does the importer book payments twice?", true),
            ("release day! tag 2.3", true),
            ("The staging host is called otter.", true),
            ("Der Export hat bei Umlauten Müll in Excel", true),
            ("fix the ARM bug", true),
        ] {
            assert_eq!(says_what_it_is_about(text), is_about, "{text}");
        }
    }
}
