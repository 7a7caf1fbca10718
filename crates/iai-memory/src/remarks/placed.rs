//! Rules of a project that are said by its name: "no mocked database at Acme". Who names the project
//! they work in means all of it, not what lies on the table.
//!
//! English first, then the basics of German, Russian, French and Spanish.

use super::orders::{HAPPENED, LEAD_INS, NO_ORDERS, REPORTED, TOLD, clauses, is_order_of};
use super::phrase::{Wording, is_one_of};
use super::wishes::{NO_THINGS, is_one_off};

/// A shorter name may be any word.
const NAME_LETTERS_MIN: usize = 4;
/// A sentence that says nothing but where the one before it holds.
const SEAL_WORDS_MAX: usize = 6;
/// A rule says what it says in so many words.
const RULE_WORDS: std::ops::RangeInclusive<usize> = 4..=40;
/// Folders that are called so hold any project, or a part of one.
const ANY_NAME: &str = "\
     code|work|home|main|test|tests|docs|apps|project|projects|repo|repos|site|page|pages|server|\
     client|clients|service|services|backend|frontend|tools|scripts|build|data|demo|example|\
     website|packages|workspace|master|trunk|temp|local|root|user|users|desktop|documents|\
     downloads|model|models|config|infra|prod|staging";
/// Where a rule holds stands behind these …
const IN: &str = "in|for|on|at|inside|within|im|bei|für|en|para|dans|pour|chez|в|для";
/// … or before these.
const ONLY: &str = "only|at least|that is|i mean|nur|solo|seulement|только";
/// Begins what is for every time; who shows, runs or adds something in a project does it once.
const RULED: &str = "\
     never|always|don't|do not|no|nothing|only|keep|ask|leave|avoid|prefer|you|every|each|any|\
     anything|all|stick to|nie|immer|kein|keine|keinen|nur|jede|jeder|jedes|nunca|siempre|nada|\
     solo|cada|jamais|toujours|pas de|chaque|никогда|всегда|не|каждый";
/// The same in the middle of a clause.
const RULED_INSIDE: &str = "\
     only where|only when|only if|only for|come with|comes with|you write|you ask|you never|\
     you always|i want|i don't want|must|must not|mustn't|from here on|from now on";
/// Begins what the assistant did, or is asked to do at once.
const NOW: &str = "\
     you are|you're|you were|you have|you've|you had|you did|you didn't|you said|you broke|\
     you see|you know|you can see|all good|all done|all set|all green|all tests|any idea|any news|\
     no longer|keep going|keep at it|ask them|ask her|ask him|leave it|all of it|all of this";

/// The project something is said in, as people name it.
pub(super) struct Place {
    /// Patterns of its name with what says that something holds there, …
    named: String,
    /// … or there and nowhere else.
    limited: String,
}

impl Place {
    /// Returns the place that a project is, unless its name may be any word.
    pub(super) fn of(project: &str) -> Option<Self> {
        let name = project.rsplit(['/', '\\']).find(|part| !part.is_empty())?;
        let name = Wording::of(name).words().collect::<Vec<_>>().join(" ");
        let is_own = NAME_LETTERS_MIN <= name.chars().count() && !is_one_of(&name, ANY_NAME);
        let before = IN.split('|').map(|place| format!("{place} {name}"));
        let behind = ONLY.split('|').map(|only| format!("{name} {only}"));
        let limited = behind.collect::<Vec<_>>().join("|");
        let many = ["every", "each", "any"].iter().map(|many| format!("{many} {name}"));
        let named = before.chain(many).chain([limited.clone()]).collect::<Vec<_>>().join("|");
        is_own.then_some(Self { named, limited })
    }

    /// Tells whether a sentence says how something is done in the project.
    pub(super) fn is_ruled_by(&self, sentence: &str) -> bool {
        let whole = Wording::of(sentence);
        if !RULE_WORDS.contains(&whole.len())
            || whole.is_question
            || !whole.has_any(&self.named)
            || is_one_off(&whole)
            || whole.has_any(TOLD)
        {
            return false;
        }
        let is_limited = whole.has_any(&self.limited);
        clauses(sentence).any(|said| {
            let clause = || Wording::of(said).without_lead_in(LEAD_INS);
            let behind_name = clause().without_lead_in(&self.named).without_lead_in(LEAD_INS);
            is_rule(&clause()) || is_rule(&behind_name) || is_limited && is_order_of(said)
        })
    }

    /// Tells whether a sentence says nothing but that the one before it holds in the project.
    pub(super) fn is_only_named_in(&self, sentence: &str) -> bool {
        let wording = Wording::of(sentence).without_lead_in(LEAD_INS);
        wording.len() <= SEAL_WORDS_MAX
            && !wording.is_question
            && wording.begins_any(&self.named)
            && !clauses(sentence).any(is_order_of)
            && !wording.has_any(HAPPENED)
    }
}

fn is_rule(clause: &Wording) -> bool {
    let is_ruled = clause.begins_any(RULED) && !is_report(clause);
    (is_ruled || clause.has_any(RULED_INSIDE))
        && !clause.begins_any(NOW)
        && !clause.has_any(HAPPENED)
}

/// "No players on Acme" tells what there is not; "no idea" and "no problem" belong to talk.
fn is_report(clause: &Wording) -> bool {
    let is_told = |word: &str| is_one_of(word, REPORTED) || is_one_of(word, NO_THINGS);
    let begins_no = clause.begins("no").or_else(|| clause.begins("nothing"));
    clause.begins_any(NO_ORDERS)
        || begins_no.is_some_and(|next| clause.word(next).is_none_or(is_told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_names_the_project_means_all_of_it() {
        let place = Place::of("/home/ana/osprey").unwrap();
        for sentence in [
            "no mocked database at Osprey",
            "in Osprey do not run the nightly suite by day, it eats the database",
            "on osprey you write first the failing test and then the code",
            "for Osprey, claims about speed come with a measured number",
            "every osprey test gets a fixed seed, flaky tests are a pain",
            "any speed change in osprey, i want numbers from before",
            "keep the feat prefixes only in osprey, the changelog needs them",
            "comments only where the reason isn't obvious, osprey at least",
            "plain sql in osprey, no orm",
            "show me two variants of a page with what speaks for each, osprey only",
        ] {
            assert!(place.is_ruled_by(sentence), "{sentence}");
        }
        for sentence in [
            "show me the config in osprey",
            "run the tests in osprey",
            "no errors in osprey",
            "you broke the build in osprey",
            "no idea what is going on in osprey",
            "in osprey the loop drifts",
            "don't deploy in osprey today",
            "is there any test for osprey?",
            "I wonder whether every osprey test needs that",
            "no mocked database at Heron",
            "keep the prefixes, the changelog needs them",
            "all tests in osprey are green",
        ] {
            assert!(!place.is_ruled_by(sentence), "{sentence}");
        }
    }

    #[test]
    fn a_name_that_may_be_any_word_names_nothing() {
        let is_place = |project: &str| Place::of(project).is_some();
        assert!(is_place("/work/osprey") && is_place("/work/falcon-gateway/"));
        assert!(!is_place("/work/docs") && !is_place("/srv/api") && !is_place("/"));
        let place = Place::of("/work/falcon-gateway").unwrap();
        assert!(place.is_ruled_by("never log bodies in falcon-gateway, please"));
    }

    #[test]
    fn a_name_alone_says_where_the_sentence_before_holds() {
        let place = Place::of("/home/ana/osprey").unwrap();
        let check = |sentence: &str, expect: bool| {
            assert_eq!(place.is_only_named_in(sentence), expect, "{sentence}");
        };
        check("in osprey that is, elsewhere whatever", true);
        check("osprey only", true);
        check("for osprey", true);
        check("in osprey it crashed", false);
        check("in osprey?", false);
        check("in heron", false);
    }
}
