//! What of a text is said to be so, and not asked for, thought of or proposed.

use std::borrow::Cow;

use crate::remarks::{Wording, sentences};

/// What is worded so is not so yet.
const THOUGHT_OF: &str = "\
     could|would|might|maybe|perhaps|i'd|we'd|suggest|propose|recommend|alternatively|shall|\
     should be|should it|should we|should i|what if|if you|if we|if it|wondering|thinking|used to|\
     könnte|könnten|würde|vielleicht|vorschlag";

/// … but who says so politely wants it.
const WISHED: &str = "would like|i'd like|we'd like|he'd like|she'd like|they'd like";

/// Leaves out of a text the sentences that ask, think of something or propose it.
pub(crate) fn stated_of(text: &str) -> Cow<'_, str> {
    let mut stated = String::new();
    let mut kept_until = 0;
    for range in sentences(text) {
        let wording = Wording::of(text.get(range.clone()).unwrap_or_default());
        let is_thought_of = wording.has_any(THOUGHT_OF) && !wording.has_any(WISHED);
        if wording.is_question || is_thought_of {
            stated.push_str(text.get(kept_until..range.start).unwrap_or_default());
            kept_until = range.end;
        }
    }
    if kept_until == 0 {
        return Cow::Borrowed(text);
    }
    stated.push_str(text.get(kept_until..).unwrap_or_default());
    Cow::Owned(stated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_and_thoughts_are_left_out_and_code_stays() {
        let check = |text: &str, expect: &str| assert_eq!(stated_of(text).trim(), expect, "{text}");
        check("The port is 8080.", "The port is 8080.");
        check("The port is 8080. Shall I change it?", "The port is 8080.");
        check("Should it be 5 instead of 10? Let me know.", "Let me know.");
        check("We could take 9. It is 4 now.", "It is 4 now.");
        check("I would like to take 9.", "I would like to take 9.");
        check("Why?\n```\nport = 80\n```", "```\nport = 80\n```");
        check("", "");
    }
}
