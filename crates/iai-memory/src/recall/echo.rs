//! A question that was asked before tells nothing to whoever asks it again: what it has in common
//! with the cue is the cue. The replies to it are what is meant.

use std::collections::BTreeSet;

use super::cue::{Cue, words_of_in_order};
use super::when::is_telling;
use crate::organise::{is_alike, is_stop_word};
use crate::remarks::{Wording, sentences};

/// The share of a question's words that may be new while it is still the same; with more it may
/// propose an answer. And the share of the cue's words that it has at least.
const SAME_SHARE: f64 = 0.5;
/// A text longer than the cue by more than this factor …
const LENGTH_FACTOR: usize = 4;
/// … and these bytes says more than the cue.
const LENGTH_BYTES: usize = 80;
/// What parts what is asked from what is said.
const CLAUSE_ENDS: [char; 9] = ['.', ',', ';', ':', '!', '?', '？', '؟', '\n'];
/// What a question ends with.
const QUESTION_MARKS: [char; 3] = ['?', '？', '؟'];
/// How somebody asks for what they do time and again, which may be to ask.
const HABITS: &str = "\
     do i do|do i always|do i usually|i usually|i always|usually do|routine|habit|habits|regularly|\
     mache ich immer|gewöhnlich|regelmäßig";
/// Words by which somebody asks for the question itself.
const ABOUT_QUESTIONS: &str = "\
     ask asked question questions frage fragen gefragt demandé pregunta preguntado вопрос спросил \
     спросила";
/// Words that begin a request or a proposal, which tells what somebody wants.
const REQUESTS: &str = "\
     can could would will shall should may might let please and so also kannst könntest sollen \
     sollten bitte peux pouvez puedes podrías можешь можно";

/// A longer text without a question mark is not looked at.
const UNMARKED_BYTES_MAX: usize = 160;
/// A question shares so many words with a cue that asks for the same.
const ENDING_WORDS_MIN: usize = 2;
/// What stands beside a question in a longer text is what it is about.
const ASKING_BYTES_MAX: usize = 240;
/// Words before a question; words that begin one, of which some ask for a thing ("which port do
/// we …") or a number ("how many …") first; those that then tell instead of ask; and the verbs of
/// which one stands next, or among the next few words.
const LEAD_INS: &str = "and but so ok okay hm hmm btw also oh wait und aber";
const ASKING_OF_A_THING: &str = "what which whose welche welcher welches";
const ASKING: &str = "who whom where why how when wer wo wie warum wann";
const COUNTING: &str = "many much long often big large fast far old viele lange oft";
const TELLING: &str = "i we you he she they it that this if about";
const VERBS: &str = "\
     s re is are was were do does did has have had can could should will would shall ist sind war \
     haben hat";
const WORDS_UNTIL_VERB: usize = 4;

/// A longer text says something.
const CHATTER_BYTES_MAX: usize = 60;
/// Words that keep a talk going, beside those that only join others.
const CHATTER: &str = "\
     ok okay k yes yep yeah no nope sure thx thanks thank ty bye cya hello hi hey welcome nice \
     great perfect cool good fine fab awesome sweet smart wow ooh lol haha hm hmm sigh argh ouch \
     pls please sorry night morning evening today done works go try wait right well all happy fun \
     agreed correct exactly indeed lovely superb beautiful phew ugh cheers yup lgtm danke bitte \
     gut super toll klar genau ja nein gern merci oui non bien gracias sí vale \
     спасибо да нет хорошо ладно";

const AGREEING: &str = "\
     ok okay yes yep yeah yup sure agreed correct exactly indeed right lgtm go perfect great good \
     fine ja klar genau gern gut oui sí vale да хорошо ладно";
const REFUSING: &str = "no nope not wait nein nicht non нет";

/// Tells whether a text only keeps the talk going. It lies near to whatever was spoken of, because
/// it is understood together with what stands before it.
pub(super) fn is_chatter(cue: &Cue, text: &str) -> bool {
    if CHATTER_BYTES_MAX < text.len() || !cue.phrases.is_empty() {
        return false;
    }
    let words = words_of_in_order(text);
    // A letter alone may be a choice: "yes, use B".
    let is_empty_word = |word: &String| {
        (is_one_of(CHATTER, word) || is_stop_word(word) && 1 < word.chars().count())
            && cue.words.iter().all(|asked| asked != word || is_stop_word(asked))
    };
    words.iter().all(is_empty_word)
}

/// Tells whether a text that only keeps the talk going agrees to what was said before it.
pub(super) fn agrees(text: &str) -> bool {
    let words = words_of_in_order(text);
    let has = |list: &str| words.iter().any(|word| is_one_of(list, word));
    has(AGREEING) && !has(REFUSING)
}

/// Tells whether a text only asks what the cue asks.
pub(super) fn asks_the_same(cue: &Cue, text: &str) -> bool {
    let is_long = LENGTH_FACTOR * cue.text.len() + LENGTH_BYTES < text.len();
    if is_long || !only_asks_beside(cue, text) {
        return false;
    }
    let own: BTreeSet<String> =
        words_of_in_order(text).into_iter().filter(|word| is_telling(word)).collect();
    let asked = cue.words.iter().filter(|word| is_telling(word));
    let n_common = asked.clone().filter(|word| own.contains(*word)).count();
    let has_new_digit = |word: &String| {
        word.chars().any(char::is_numeric) && cue.words.iter().all(|asked| asked != word)
    };
    0 < n_common
        && SAME_SHARE <= share(n_common, own.len())
        && SAME_SHARE <= share(n_common, asked.count())
        && !own.iter().any(has_new_digit)
}

/// Tells whether a text only asks, and the cue is not about what was asked.
pub(super) fn only_asks_beside(cue: &Cue, text: &str) -> bool {
    cue.phrases.is_empty() && only_asks(text) && !is_about_questions(cue)
}

/// Tells whether the cue asks for what somebody asks, or does every Monday.
fn is_about_questions(cue: &Cue) -> bool {
    cue.words.iter().any(|word| is_one_of(ABOUT_QUESTIONS, word))
        || Wording::of(&cue.text).has_any(HABITS)
}

/// Tells whether all sentences of a text are questions, and none a request.
pub(crate) fn only_asks(text: &str) -> bool {
    // Most of what is found asks nothing, and need not be cut into sentences to see that.
    if !text.contains(QUESTION_MARKS) && UNMARKED_BYTES_MAX < text.len() {
        return false;
    }
    let sentences = sentences(text);
    let asks = |sentence: &str| {
        let words = words_of_in_order(sentence);
        let is_request = words.first().is_some_and(|first| is_one_of(REQUESTS, first));
        !is_request && is_question(sentence, &words)
    };
    !sentences.is_empty() && sentences.iter().all(|range| text.get(range.clone()).is_some_and(asks))
}

/// What a short text asks among what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    Nothing,
    /// Something else than the cue, or with a figure that may be the answer.
    Something,
    /// Something that the cue asks for.
    OfCue,
}

/// Tells what a short text asks among what it says.
pub(super) fn asks_among_others(cue: &Cue, text: &str) -> Asks {
    if ASKING_BYTES_MAX < text.len() || is_about_questions(cue) {
        return Asks::Nothing;
    }
    let is_asked = |word: &String| is_telling(word) && cue.words.contains(word);
    let is_new_figure =
        |word: &String| word.chars().any(char::is_numeric) && !cue.words.contains(word);
    let mut found = Asks::Nothing;
    for clause in text.split_inclusive(CLAUSE_ENDS) {
        let words = words_of_in_order(clause);
        if !is_question(clause, &words) {
            continue;
        }
        if words.iter().any(is_asked) && !words.iter().any(is_new_figure) {
            return Asks::OfCue;
        }
        found = Asks::Something;
    }
    found
}

/// Tells whether a text ends with a question about what the cue asks: whoever replies answers it.
pub(super) fn ends_with_question_of(cue: &Cue, text: &str) -> bool {
    if ASKING_BYTES_MAX < text.len() || is_about_questions(cue) || !cue.phrases.is_empty() {
        return false;
    }
    let last = sentences(text).pop().and_then(|range| text.get(range)).unwrap_or_default();
    let words = words_of_in_order(last);
    let is_asked = |word: &&String| cue.words.iter().any(|own| is_alike(own, word));
    let asked: BTreeSet<&String> =
        words.iter().filter(|word| is_telling(word)).filter(is_asked).collect();
    let is_new_figure =
        |word: &String| word.chars().any(char::is_numeric) && !cue.words.contains(word);
    last.ends_with(QUESTION_MARKS)
        && ENDING_WORDS_MIN <= asked.len()
        && !words.iter().any(is_new_figure)
}

fn is_question(sentence: &str, words: &[String]) -> bool {
    let is_heading = || sentence.contains(':');
    sentence.trim_end().ends_with(QUESTION_MARKS) || !is_heading() && is_worded_as_one(words)
}

/// Tells whether a sentence without a question mark asks: "where's grafana again", "which
/// breakpoints do we use", but not "what we need is …" or "when the build is red, stop".
fn is_worded_as_one(words: &[String]) -> bool {
    let mut words = words.iter().skip_while(|word| is_one_of(LEAD_INS, word));
    let Some(first) = words.next() else { return false };
    let rest: Vec<&String> = words.take(WORDS_UNTIL_VERB).collect();
    let second_is = |list: &str| rest.first().is_some_and(|second| is_one_of(list, second));
    if is_one_of(ASKING_OF_A_THING, first) || is_one_of(ASKING, first) && second_is(COUNTING) {
        return !second_is(TELLING) && rest.iter().any(|word| is_one_of(VERBS, word));
    }
    is_one_of(ASKING, first) && second_is(VERBS)
}

fn is_one_of(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|own| own == word)
}

#[expect(clippy::cast_precision_loss, reason = "a text that is as short as a cue has few words")]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn a_text_may_end_with_a_question_of_the_cue() {
        let cue =
            Cue::understand("why is the importer in Go and not Python?", Timestamp::UNIX_EPOCH);
        let check = |text: &str, expect: bool| {
            assert_eq!(ends_with_question_of(&cue, text), expect, "{text}");
        };
        check("Left as is. Why is the importer no Python program?", true);
        check("Why is the importer no Python program? Just curious.", false);
        check("Left as is. Is Python 3 fine for the importer?", false);
        check("Left as is. Does the importer run?", false);
    }

    #[test]
    fn the_same_question_is_told_from_requests_answers_and_other_questions() {
        let cue = "what did we decide about the retry policy in the billing service?";
        for (cue, text, expect) in [
            (cue, "What did we decide on the retry policy in the billing service?", true),
            (cue, "how does the retry policy of the billing service work?", true),
            ("retry policy billing service", "What is the retry policy of the service?", true),
            (cue, "We decided about the retry policy in the billing service: five.", false),
            (cue, "should we decide about the retry policy in the billing service?", false),
            (cue, "is 5 the retry policy in the billing service?", false),
            (cue, "Five attempts. Did we decide about the retry policy in billing?", false),
            (cue, "does the nightly export of the billing service fail on Mondays?", false),
            (cue, "why?", false),
            ("who asked about the retry policy?", "who did the retry policy?", false),
            ("what do I do every Monday?", "what is new this Monday?", false),
            ("\"the retry policy\"", "the retry policy?", false),
            (cue, "", false),
        ] {
            let cue = Cue::understand(cue, Timestamp::UNIX_EPOCH);
            assert_eq!(asks_the_same(&cue, text), expect, "{text}");
        }
        let cue = Cue::understand("retry?", Timestamp::UNIX_EPOCH);
        assert!(asks_the_same(&cue, "retry?") && !asks_the_same(&cue, &"retry? ".repeat(20)));
    }

    #[test]
    fn a_question_is_told_by_its_words_where_nobody_marked_it() {
        let cue = Cue::understand("grafana breakpoints", Timestamp::UNIX_EPOCH);
        for (text, expect) in [
            ("which breakpoints do we use", (true, Asks::OfCue)),
            ("btw what's our spend so far", (true, Asks::Something)),
            ("cool. where's grafana again, my bookmark died", (false, Asks::OfCue)),
            ("fine. are the breakpoints at 600? I saw that", (false, Asks::Something)),
            ("no. what postgres are we on? I plan a thing", (false, Asks::Something)),
            ("what we need is a port", (false, Asks::Nothing)),
            ("what if it fails", (false, Asks::Nothing)),
            ("when you deploy, run the checks", (false, Asks::Nothing)),
            ("When the build is red, stop the breakpoints.", (false, Asks::Nothing)),
            ("Where the breakpoints are kept: css/grid", (false, Asks::Nothing)),
            ("Was broken, is fixed now", (false, Asks::Nothing)),
            ("how many breakpoints are there", (true, Asks::OfCue)),
            ("the breakpoints are 600 and 900", (false, Asks::Nothing)),
        ] {
            assert_eq!((only_asks(text), asks_among_others(&cue, text)), expect, "{text}");
        }
        let long = format!("which breakpoints do we use {}", "and more ".repeat(40));
        assert_eq!((only_asks(&long), asks_among_others(&cue, &long)), (false, Asks::Nothing));
    }

    #[test]
    fn a_refusal_is_no_agreement() {
        for (text, expect) in [
            ("yes, do that", true),
            ("correct", true),
            ("no", false),
            ("ok no", false),
            ("thanks, bye", false),
        ] {
            assert_eq!(agrees(text), expect, "{text}");
        }
    }

    #[test]
    fn what_keeps_a_talk_going_says_nothing() {
        let cue = Cue::understand("which payment provider do we use", Timestamp::UNIX_EPOCH);
        for text in ["thx, bye!", "ok", "then all happy. good night", "yes, do that", "👌"] {
            assert!(is_chatter(&cue, text), "{text}");
        }
        for text in ["ok, stripe for now", "yes, use B", "96.", "noon then", "no provider, thx"] {
            assert!(!is_chatter(&cue, text), "{text}");
        }
    }
}
