//! Whether a turn says what it is about: "where were we" and "good morning" do not. Nor does "moka
//! then": what that replied to does.

use std::collections::BTreeSet;

use super::lines::{cut, flat};
use crate::organise::{has_alike, is_stop_word};
use crate::remarks::open::{asks, is_request, n_telling};
use crate::remarks::{Wording, sentences};

/// Words that tell something, in what a turn states …
const STATED_MIN: usize = 2;
/// … or, where it asks, in all of it.
const ASKED_MIN: usize = 3;
/// What tells fewer words is told with what it replied to, …
const TELLING_MIN: usize = 3;
/// … in so many words at least, …
const REPLIED_WORDS_MIN: usize = 4;
/// … of which so much is shown; it is looked for at the end of a long turn.
const REPLIED_CHARS_MAX: usize = 110;
const REPLIED_BYTES_MAX: usize = 6000;

/// Tells whether a sentence can be understood without what it replied to.
pub(super) fn tells_enough(sentence: &str) -> bool {
    TELLING_MIN <= n_telling(sentence)
}

/// Returns, as an aside, to what a reply was said: the sentence that has most of its words, else
/// one that asks, else the first. Of several it is the first, which says what the rest is about.
pub(super) fn spoken_to(before: &str, reply: &str) -> Option<String> {
    let words: BTreeSet<String> = Wording::of(reply).words().map(str::to_owned).collect();
    let fits = |sentence: &&str| {
        let own = Wording::of(sentence);
        let is_same = |word: &&str| !is_stop_word(word) && has_alike(&words, word);
        let n_same = own.words().filter(is_same).count();
        (n_same, own.is_question)
    };
    let from = before.ceil_char_boundary(before.len().saturating_sub(REPLIED_BYTES_MAX));
    let before = before.get(from..).unwrap_or_default();
    let said = sentences(before).into_iter().rev().filter_map(|range| before.get(range));
    let long = said.filter(|sentence| REPLIED_WORDS_MIN <= Wording::of(sentence).len());
    let best = long.max_by_key(fits);
    best.map(|sentence| format!("to “{}”", cut(&flat(sentence), REPLIED_CHARS_MAX)))
}

/// Tells whether a turn says what a session is about.
pub(super) fn says_what_it_is_about(text: &str) -> bool {
    STATED_MIN <= n_stated(text) || ASKED_MIN <= n_telling_of(text, |_| true)
}

/// Tells whether a turn states something, rather than asking or greeting.
pub(super) fn states_something(text: &str) -> bool {
    STATED_MIN <= n_stated(text)
}

/// Returns the sentences of a text that neither ask nor order anything.
pub(super) fn statements(text: &str) -> impl Iterator<Item = &str> {
    let said = sentences(text).into_iter().filter_map(|range| text.get(range));
    said.filter(|sentence| !asks(sentence) && !is_request(sentence))
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
        for (text, is_about, states) in [
            ("where were we", false, false),
            ("what did we leave open?", false, false),
            ("Good morning! Where did we stop yesterday?", false, false),
            ("back from holidays. where were we", false, false),
            ("Guten Morgen, was ist noch offen?", false, false),
            ("thanks, bye", false, false),
            ("who was to do the replica?", false, false),
            ("Why does the importer book payments twice?", true, false),
            ("release day! tag 2.3", true, true),
            ("The staging host is called otter.", true, true),
            ("Der Export hat bei Umlauten Müll in Excel", true, true),
            ("fix the ARM bug", true, true),
        ] {
            assert_eq!(says_what_it_is_about(text), is_about, "{text}");
            assert_eq!(states_something(text), states, "{text}");
        }
        let said = "The host is otter. Deploy it to the host otter please. Is it up?";
        assert_eq!(statements(said).collect::<Vec<_>>(), ["The host is otter."]);
    }
}
