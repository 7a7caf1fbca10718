//! Takes off a sentence what is about the saying of it: "Note:", "by the way", "from now on", and
//! the value it names only to deny it ("…, not 8080", "instead of Alice").

use super::tokens::{Token, tokens_of};

/// What leads in to a statement, before a colon, a comma or a dash. Any other word there may be
/// what the statement is about: "billing: the port is 80".
const LEAD_INS: &[&str] = &[
    "note",
    "please note",
    "careful",
    "attention",
    "heads up",
    "heads-up",
    "update",
    "correction",
    "small correction",
    "fyi",
    "btw",
    "by the way",
    "important",
    "reminder",
    "ps",
    "edit",
    "actually",
    "sorry",
    "no",
    "yes",
    "ok",
    "news",
    "change",
    "change of plan",
    "change of plans",
    "one more thing",
    "for the record",
    "hinweis",
    "achtung",
    "korrektur",
    "übrigens",
    "внимание",
    "кстати",
    "поправка",
    "attention",
    "au fait",
    "por cierto",
    "ojo",
];
/// A statement often ends in when it began to hold.
const TAILS: &[&str] = &[
    "any more",
    "anymore",
    "any longer",
    "from today on",
    "from now on",
    "from today",
    "as of today",
    "as of now",
    "since today",
    "since yesterday",
    "since last week",
    "since this week",
    "these days",
    "for now",
    "by the way",
    "ab heute",
    "ab jetzt",
    "ab sofort",
    "с сегодняшнего дня",
    "à partir de maintenant",
    "a partir de ahora",
];
/// What denies the value behind it, with the sign before it that makes it so.
const DENIALS: &[&str] = &[
    ", not ",
    " (not ",
    ", and not ",
    " instead of ",
    " rather than ",
    " (was ",
    " (formerly ",
    ", nicht ",
    " anstatt ",
    " statt ",
    ", а не ",
    " вместо ",
    ", pas ",
    " au lieu de ",
    " en lugar de ",
    " en vez de ",
];
/// A denied value has at most so many words: what is longer says more than that.
const DENIED_TOKENS_MAX: usize = 4;
/// … and with what denies it, no more blanks and commas than these.
const DENIAL_BLANKS_MAX: usize = 12;
/// Lead-ins taken off one sentence: "Sorry, correction: …".
const LEAD_INS_MAX: usize = 2;

/// Returns the tokens of what a sentence states.
pub(super) fn stated(sentence: &str) -> Vec<Token> {
    tokens_of(without_denial(without_tail(without_lead_ins(sentence))))
}

fn without_lead_ins(mut sentence: &str) -> &str {
    for _ in 0..LEAD_INS_MAX {
        let Some((lead, rest)) = sentence.split_once([':', ',', '–', '—']) else { break };
        let lead = lead.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
        if !LEAD_INS.contains(&lead.as_str()) {
            break;
        }
        sentence = rest.trim_start_matches(|letter: char| letter == '*' || letter.is_whitespace());
    }
    sentence
}

/// Cuts a denied value off the end. In "not 8080 but 9090" nothing is cut: it does not end there.
fn without_denial(sentence: &str) -> &str {
    let before_denied = |(place, _): (usize, char)| {
        let (said, rest) = sentence.split_at_checked(place)?;
        let denied = DENIALS.iter().find_map(|denial| rest.strip_prefix(denial))?;
        let is_end = !denied.contains([',', ';', ':']);
        let n_tokens = tokens_of(denied).len();
        (is_end && (1..=DENIED_TOKENS_MAX).contains(&n_tokens)).then_some(said)
    };
    // Every statement there is comes by here: only its end is searched, from behind.
    let begins = sentence.char_indices().rev().filter(|(_, letter)| matches!(letter, ' ' | ','));
    begins.take(DENIAL_BLANKS_MAX).find_map(before_denied).unwrap_or(sentence)
}

fn without_tail(sentence: &str) -> &str {
    let bare = sentence.trim_end_matches(|letter: char| !letter.is_alphanumeric());
    let before = |tail: &&str| {
        let (before, end) = bare.split_at_checked(bare.len().checked_sub(tail.len())?)?;
        (before.ends_with(' ') && end.to_lowercase() == **tail).then_some(before)
    };
    TAILS.iter().find_map(before).unwrap_or(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sentence: &str, expect: &str) {
        let tokens = stated(sentence);
        let words: Vec<&str> = tokens.iter().map(|token| token.folded.as_str()).collect();
        assert_eq!(words.join(" "), expect, "{sentence}");
    }

    #[test]
    fn what_leads_in_and_what_trails_is_not_what_is_stated() {
        check("Note: the port is 8081 now", "the port is 8081");
        check("Sorry, correction: the port is 8081", "the port is 8081");
        check("**Update:** the port is 8081 from today on.", "the port is 8081");
        check("By the way, the job is not enabled any more", "the job is not enabled");
        check("billing: the port is 8081", "billing the port is 8081");
    }

    #[test]
    fn a_denied_value_is_left_out() {
        check("The owner is Bob, not Alice.", "the owner is bob");
        check("The owner is Bob instead of Alice", "the owner is bob");
        check("The port is 9090 (was 8080)", "the port is 9090");
        check(
            "It is red, not because of us but by law, as ever",
            "it is red not because of us \
               but by law as ever",
        );
        check("We do not use it", "we do not use it");
    }
}
