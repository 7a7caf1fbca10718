//! Wishes that say in the same sentence that they hold everywhere: "dates as 2026-11-18, all
//! repos", "whatever the project, no force-pushing". What is so in all projects ("the tests are
//! green, in every repo") is told, and wished by nobody.

use crate::remarks::orders::{LEAD_INS, clauses, is_order_of, is_told};
use crate::remarks::phrase::{Wording, is_one_of};
use crate::remarks::reach::is_only_reach;
use crate::remarks::wishes::is_one_off;

/// What is asked for has so many words …
const WORDS: std::ops::RangeInclusive<usize> = 3..=16;
/// … and, where it is forbidden, at least so many.
const FORBIDDEN_WORDS_MIN: usize = 2;
/// Clauses that are looked at.
const CLAUSES_MAX: usize = 12;

/// Tells whether a clause of a sentence orders something, forbids it, or names it without a verb,
/// and another says that this holds in all projects.
pub(super) fn is_sealed_for_all(sentence: &str) -> bool {
    let said: Vec<&str> = clauses(sentence).take(CLAUSES_MAX).collect();
    said.iter().any(|clause| is_only_reach(clause))
        && said.iter().any(|clause| !is_only_reach(clause) && is_rule(clause))
}

fn is_rule(clause: &str) -> bool {
    let wording = Wording::of(clause).without_lead_in(LEAD_INS);
    if wording.is_question || is_told(&wording) || is_one_off(&wording) {
        return false;
    }
    let is_long = WORDS.contains(&wording.len());
    let is_forbidden = FORBIDDEN_WORDS_MIN <= wording.len()
        && wording.begins_any("no|never|kein|keine|keinen|sin|pas de|никаких");
    // "Write the tests" is done once; with "everywhere" behind it, it is done in all projects once.
    let is_order = (is_order_of(clause) || wording.begins_any(HABITS)) && !wording.has_any(DEEDS);
    is_forbidden && !wording.begins_any(NO_RULES)
        || is_long && is_order
        || is_long && wording.has_any(AS_A_RULE) && !wording.words().any(is_verb)
}

/// How something is to look, without a verb.
const AS_A_RULE: &str = "\
     as|from now on|from today|from here on|only|always|never|per|in english|in german|in french|\
     instead of|rather than|not|without|style|spelling|ab jetzt|nur|immer|desde ahora|siempre|\
     désormais|toujours|теперь|всегда|только";

/// Says how something is, was, or is done by somebody.
fn is_verb(word: &str) -> bool {
    is_one_of(
        word,
        "is|are|was|were|be|been|has|have|had|does|did|do|went|got|gets|works|worked|runs|ran|\
         fails|failed|looks|looked|shows|showed|passes|passed|breaks|broke|changed|moved|renamed|\
         i|we|they|he|she|it|ist|sind|war|hat|habe|wir|ich",
    )
}

/// Orders that are for good only where somebody says so.
const HABITS: &str = "\
     make it a|make it only|make them a|write as|write in|write prose|write dates|use|keep|prefer|\
     avoid|stick to|answer|show me|give me|tell me|ask me|put the|put a";

/// Deeds that are done once, in how many places ever.
const DEEDS: &str = "\
     add the|add a|add an|fix the|rename the|rename it|update the|remove the|delete the|run the|\
     check the|check whether|check if|look at|look for|search for|grep|replace the|bump the|\
     change the|move the|merge the|push the|deploy the|write the|write a|write an";

const NO_RULES: &str = "\
     no idea|no problem|no rush|no worries|no need|no wonder|no longer|no luck|no change|\
     no changes|no difference|no errors|no failures|no hits|no matter|never mind|no one|nobody";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_everywhere_is_asked_for_or_told() {
        for (sentence, expect) in [
            ("Dates in docs as YYYY-MM-DD, always, all repos, I'm sick of guessing.", true),
            ("Whatever the project, no force-pushing, I lost a day that way.", true),
            ("Write prose with British spelling please, that goes for every repo I have.", true),
            ("American spelling from now on, in every repo, the translators insist.", true),
            ("Make it a plan only when more than eight files change, everywhere.", true),
            ("no emojis in commit messages, in none of my repositories", true),
            ("The tests are green, in all repos.", false),
            ("The rename is done, everywhere.", false),
            ("Rename the helper, everywhere.", false),
            ("I changed the licence, in every repo.", false),
            ("No idea, the same in all repos.", false),
            ("No errors, in all projects.", false),
            ("Could we use tabs, everywhere?", false),
            ("Use tabs in Go files.", false),
            ("They deploy on Fridays, in every project.", false),
        ] {
            assert_eq!(is_sealed_for_all(sentence), expect, "{sentence}");
        }
    }
}
