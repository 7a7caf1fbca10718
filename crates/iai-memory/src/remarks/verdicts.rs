//! Short words with which a user settles something that was talked about: "GRDB then.", "that
//! is dropped", "moka, no redis". What they settle is in the turn before; the words name it.
//!
//! English first, then the basics of German, Russian, French and Spanish.

use super::phrase::{Wording, is_one_of};
use super::sentences::beginning;
use super::wishes::NO_THINGS;
use crate::organise::is_stop_word;

/// A verdict is short, and so is the name of what it is about.
const WORDS_MAX: usize = 26;
const NAMED_WORDS: std::ops::RangeInclusive<usize> = 2..=6;
const NONE_WORDS: std::ops::RangeInclusive<usize> = 2..=4;
const NONE_SAID_MAX: usize = 14;
/// What is picked is named in as few words.
const PICKED_WORDS_MAX: usize = 5;
const PICKED_LETTERS_MIN: usize = 3;
const PICK_SAID_MAX: usize = 24;
/// What is looked at of a proposal.
const PROPOSAL_BYTES_MAX: usize = 4000;

/// Tells whether the user settles something that the words name.
pub(super) fn is_verdict(sentence: &str) -> bool {
    let whole = Wording::of(sentence);
    if whole.is_question || WORDS_MAX < whole.len() || whole.has_any(NO_VERDICT) {
        return false;
    }
    let whole = whole.without_lead_in(LEAD_INS);
    let first = sentence.split([',', ';', '(', '–', '—']).find(|clause| {
        let clause = Wording::of(clause);
        0 < clause.len() && !clause.begins_any(LEAD_INS)
    });
    let first = Wording::of(first.unwrap_or_default());
    is_named_then(&first)
        || whole.has_any(SETTLED) && whole.words().any(is_name)
        || whole.begins_any(CHANGING)
        || is_out_and_in(sentence)
}

/// Tells whether a reply begins by picking something that the assistant proposed: "moka. no redis"
/// to a turn that weighs both.
pub(super) fn picks(proposal: &str, reply: &str) -> bool {
    let clause = reply.split([',', ';', '(', '–', '—', ':']).map(Wording::of);
    let mut clauses = clause.map(|clause| clause.without_lead_in(LEAD_INS));
    let is_said = |clause: &Wording| 0 < clause.len() && !clause.begins_any(LEAD_INS);
    let Some(first) = clauses.find(is_said) else { return false };
    let whole = Wording::of(reply);
    if whole.is_question || PICK_SAID_MAX < whole.len() || reply.trim_end().ends_with(':') {
        return false;
    }
    // "I've still got a shadow, no condensation commit" tells what there is.
    if whole.begins_any(TELLING) || whole.has_any(WRONG) {
        return false;
    }
    let proposed = Wording::of(beginning(proposal, PROPOSAL_BYTES_MAX));
    if !proposed.has_any(OFFERING) {
        return false;
    }
    if is_none_of_it(reply, &whole) {
        return true;
    }
    if PICKED_WORDS_MAX < first.len()
        || whole.has_any(NO_VERDICT)
        || first.begins_any(ACTIONS)
        || first.words().any(|word| is_one_of(word, NO_NAMES))
    {
        return false;
    }
    let is_offered = |word: &str| proposed.words().any(|own| own == word);
    let telling = || {
        let long = first.words().filter(|word| PICKED_LETTERS_MIN <= word.chars().count());
        long.filter(|word| !is_stop_word(word))
    };
    // Whoever picks names what was offered, and nothing else.
    telling().all(is_offered) && telling().any(|word| !is_one_of(word, NO_PICKS))
}

/// "GRDB then", "31 March then"; not "and then", not "do it then".
fn is_named_then(clause: &Wording) -> bool {
    NAMED_WORDS.contains(&clause.len())
        && clause.ends_any(THEN)
        && clause.words().all(|word| !is_one_of(word, NO_NAMES))
        && !clause.begins_any(ACTIONS)
}

/// "No SDK." as an answer, in a few words.
fn is_none_of_it(sentence: &str, whole: &Wording) -> bool {
    // Not at every stop: one stands inside of names from code, too.
    let clause = sentence.split([',', ';', ':', '–']).map(Wording::of);
    let mut clauses = clause.map(|clause| clause.without_lead_in(LEAD_INS));
    let is_none = |clause: &Wording| {
        let next = clause.begins("no").or_else(|| clause.begins("kein"));
        let next = next.or_else(|| clause.begins("keine"));
        let thing = next.and_then(|next| clause.word(next));
        let is_thing = |word: &str| is_name(word) && !is_one_of(word, NO_THINGS);
        NONE_WORDS.contains(&clause.len()) && thing.is_some_and(is_thing)
    };
    whole.len() <= NONE_SAID_MAX
        && clauses.any(|clause| is_none(&clause) && !clause.has_any(REPORT))
}

/// "zerolog out, slog in".
fn is_out_and_in(sentence: &str) -> bool {
    let ends = |word: &'static str| {
        move |clause: &str| {
            let clause = Wording::of(clause);
            1 < clause.len() && clause.ends_any(word)
        }
    };
    let is_out = ends("out|out completely|out then|raus");
    let is_in = ends("in|rein");
    sentence.split([',', ';']).any(is_out) && sentence.split([',', ';', '.']).any(is_in)
}

fn is_name(word: &str) -> bool {
    2 <= word.chars().count() && !is_one_of(word, NO_NAMES)
}

const LEAD_INS: &str = "\
     ok|okay|yes|yeah|right|fine|good|great|nice|agreed|exactly|true|perfect|so|and|also|then|\
     well|hm|hmm|mm|mmm|pues|vale|ja|gut|also|genau|dann|oui|да|ну";

/// How somebody begins who tells how things are.
const TELLING: &str = "\
     i've|i have|i got|i'm|i am|i see|it's|it is|that's|that is|there's|there is|there are|we have|\
     we've|we got|still|in|on|when|after|running|ich habe|es ist|es gibt|wenn|hay|il y a|\
     у меня|это";
/// … or what is wrong with them.
const WRONG: &str = "\
     shows|fails|failed|failing|error|errors|doesn't|does not|isn't|aren't|broken|crash*|bug|bugs|\
     fehler|kaputt|ошибк*|erreur*|errores|falla";

const THEN: &str = "then|dann|entonces|alors";

/// How an assistant proposes, or weighs one against another.
const OFFERING: &str = "\
     or|alternatively|alternative|alternatives|options|either|i'd|i would|would be|i'd say|\
     recommend|suggest|propose|rather than|instead|oder|alternativ|alternativen|ich würde|\
     entweder|o|yo|alternativa|recomiendo|ou|je recommande|или|предлагаю|вариант*";
/// Named by who goes on rather than picks.
const NO_PICKS: &str = "\
     yes|tests|test|commit|pr|push|staging|prod|code|file|files|done|work|works|good|next|please|\
     first|second|both|all|error|again|today|tomorrow|later";

/// Stands for something, or is no thing at all.
const NO_NAMES: &str = "\
     it|that|this|them|these|those|he|she|we|i|you|they|what|why|how|who|where|when|which|and|\
     but|if|is|was|are|were|do|did|does|so|since|until|back|now|just|only|there|here|same|later|\
     by|from|the|all|more|skip|failing|implement|clear|file|needs|first|even|till|one|ones|\
     something|nothing|wait|see|let's|else|sure|need|idea|thanks|bye|tomorrow|talk|later|tonight";

const ACTIONS: &str = "\
     do|run|go|try|remove|delete|commit|push|merge|fix|leave|keep going|continue|start|stop|show|\
     check|look|add|make|write|rename|update|open|close|deploy|rebase|let's|please";

/// Says that something is settled.
const SETTLED: &str = "\
     is dropped|are dropped|was dropped|is off the table|off the table|out of the question|\
     finished topic|end of discussion|end of story|topic is done|is out then|are out then|\
     is settled|is dead then|we stay with|we stay on|stays then|definitely not|and that's final|\
     decided with|bleibt es bei|wir bleiben bei|ist gestrichen|ist vom tisch|y punto|\
     queda descartado|descartado|nos quedamos|on garde|on abandonne|остаёмся на|отказались от";

/// Orders a change of what is used.
const CHANGING: &str = "\
     switch … to|switch over to|move … over to|we go to|we go for|raise … to|lower … to|\
     stay with|stay on|wechsel auf|wechseln zu|steig auf|cambia a|pasa a|passe à|перейди на";

/// Asks, thinks or tells.
const NO_VERDICT: &str = "\
     could|would|should|might|maybe|perhaps|if|i think|i wonder|seems|what about|how about|why|\
     looks like|not sure|can you|can we|option|the first|the second|könnte|vielleicht|wenn|\
     quizás|si|peut être|если|может";

/// Tells what is not there.
const REPORT: &str = "\
     errors|error|warnings|problem|problems|issues|questions|results|matches|hits|conflicts|\
     failures|crashes|crash|surprises|difference|differences|drama|rush|yet|so|news|answer|luck|\
     change|changes|diff|output|response|effect|reason|reply|complaints|complaint|promise|code|\
     hurry|way|further|doubt|dependencies|time|budget|regrets";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_words_settle_what_they_name() {
        for sentence in [
            "GRDB then.",
            "31 March 2027 then",
            "HealthKit is dropped.",
            "zerolog out, slog in",
            "So we stay with Nordkante, Hetzner is off the table",
            "switch the broker to Redis, with AOF on",
            "rust puro y un binario musl, y punto",
        ] {
            assert!(is_verdict(sentence), "{sentence}");
        }
        for sentence in [
            "and then?",
            "do it then",
            "what was that then",
            "no errors so far",
            "no problem",
            "it works now, no idea why",
            "could we switch the broker to Redis",
            "the error stays",
            "no rows returned",
            "we keep getting 500s from the staging API",
            "when we go to the settings page it crashes",
            "it stays at 100% CPU",
            "the tests are dead slow",
            "thanks then",
            "talk tomorrow then",
        ] {
            assert!(!is_verdict(sentence), "{sentence}");
        }
    }

    #[test]
    fn a_reply_picks_or_refuses_what_was_offered() {
        let offered = "Redis would be one more service, or moka in the process.";
        for reply in ["moka", "moka. no redis", "no redis", "ok, moka then, it is small"] {
            assert!(picks(offered, reply), "{reply}");
            assert!(!picks("Done, the cache is there.", reply), "{reply}");
        }
        for reply in [
            "why moka?",
            "run the tests",
            "it is slow",
            "the moka cache is broken again",
            "I've still got redis, no moka",
            "it's a bit redis",
            "moka is run with context.Background() and no timeout.",
            "running moka shows a bunch of errors",
            "moka unconditionally evicts redis",
            "In the moka process, entries are only counted for redis",
        ] {
            assert!(!picks(offered, reply), "{reply}");
        }
    }
}
