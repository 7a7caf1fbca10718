//! Rules of a project that are said by its name: "no mocked database at Acme". Who names the
//! project they work in means all of it, not what lies on the table.
//!
//! English first, then the basics of German, Russian, French and Spanish.

use super::orders::{
    FOR_THE_MOMENT, HAPPENED, LEAD_INS, NO_ORDERS, REPORTED, TO_ME, clauses, is_order_of, is_told,
};
use super::phrase::{Wording, is_one_of};
use super::wishes::{NO_THINGS, is_like_code, is_one_off};
use crate::organise::is_stop_word;

/// A shorter name may be any word.
const NAME_LETTERS_MIN: usize = 4;
/// A rule says what it says in so many words.
const RULE_WORDS: std::ops::RangeInclusive<usize> = 4..=40;
/// What is forbidden beside where has so few words.
const BRIEF_WORDS_MAX: usize = 4;
/// Folders that are called so hold any project, or a part of one, or are what people talk of.
const ANY_NAME: &str = "\
     code|work|home|main|test|tests|docs|apps|project|projects|repo|repos|site|page|pages|server|\
     client|clients|service|services|backend|frontend|tools|scripts|build|data|demo|example|app|\
     website|packages|workspace|master|trunk|temp|local|root|user|users|desktop|documents|web|\
     downloads|model|models|config|infra|prod|staging|production|development|mobile|memory|api|\
     search|time|auth|core|shop|store|admin|billing|payments|dashboard|editor|game|games|blog|\
     rust|python|java|javascript|typescript|node|react|next|linux|windows|android|cloud|database|\
     cache|queue|worker|library|plugin|theme|notes|report|reports|email|chat|video|music|photos|\
     private|public|shared|common|utils|platform|system|product|company|team|school|thesis";
/// Where a rule holds stands behind these …
const IN: &str = "in|for|on|at|inside|within|im|bei|für|en|para|dans|pour|chez|в|для";
/// … or before these.
const ONLY: &str = "only|at least|nur|solo|seulement|только";
/// What is made, of which every one is to be so.
const MADE: &str = "\
     test|tests|commit|commits|pr|prs|migration|migrations|function|functions|endpoint|endpoints|\
     change|changes|release|releases|branch|branches|query|queries|file|files|module|modules";
/// Begins what is for every time; who shows, runs or adds something in a project does it once.
const RULED: &str = "\
     never|always|don't|do not|you write|you ask|you never|you always|you only|you don't|\
     you must|you may|you use|nie|immer|du schreibst|du fragst|nunca|siempre|jamais|toujours|\
     никогда|всегда";
/// The same in the middle of a clause.
const RULED_INSIDE: &str = "only where|only when|only if|only in|only for";
/// Begins what is said of many, …
pub(super) const OF_EACH: &str = "every|each|any|jede|jeder|jedes|cada|chaque|каждый";
/// … and makes a rule of it.
pub(super) const NEEDED: &str =
    "gets|get|needs|need|must|has to|have to|comes with|carries|goes through";
/// Who is served has needs of its own: "every user in Acme gets a mail" is a feature.
pub(super) const SERVED: &str = "\
     user|users|tenant|tenants|customer|customers|client|clients|player|players|account|accounts|\
     request|requests|visitor|visitors|session|sessions|row|rows|page|pages";
const NONE_OF: &str = "no|kein|keine|keinen|nada de|pas de|никаких";
/// Belongs to what is being done.
const OF_NOW: &str = "\
     i'll|i will|i'm|i am|im|forget|fail|fails|yet|until|now|while|you need to|you forgot|\
     you missed";

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
        let mut parts = project.rsplit(['/', '\\']).filter(|part| !part.is_empty());
        let name = Wording::of(parts.next()?).words().collect::<Vec<_>>().join(" ");
        let is_home = parts.next().is_some_and(|parent| is_one_of(parent, "home|Users"));
        let is_any = |word: &str| is_one_of(word, ANY_NAME) || is_stop_word(word);
        if name.chars().count() < NAME_LETTERS_MIN || is_home || name.split(' ').all(is_any) {
            return None;
        }
        let each = |words: &str, told: &dyn Fn(&str) -> String| -> String {
            words.split('|').map(told).collect::<Vec<_>>().join("|")
        };
        let within = each(IN, &|place| format!("{place} {name}"));
        let made = each(MADE, &|made| format!("{name} {made}"));
        let limited = each(ONLY, &|only| format!("{name} {only}"));
        Some(Self { named: format!("{within}|{made}"), limited })
    }

    /// Tells whether a sentence names the project as the place where something holds.
    pub(super) fn is_named_in(&self, sentence: &str) -> bool {
        Wording::of(sentence).has_any(&self.named) || self.ends_limited(sentence)
    }

    /// "…, Acme only"; "Acme only builds on Linux" tells how it is.
    fn ends_limited(&self, sentence: &str) -> bool {
        clauses(sentence).any(|said| Wording::of(said).ends_any(&self.limited))
    }

    /// Tells whether a sentence says how something is done in the project.
    pub(super) fn is_ruled_by(&self, sentence: &str) -> bool {
        let whole = Wording::of(sentence);
        RULE_WORDS.contains(&whole.len())
            && !whole.is_question
            && self.is_named_in(sentence)
            && !is_like_code(sentence)
            && !is_one_off(&whole)
            && !is_told(&whole)
            && ![HAPPENED, OF_NOW].iter().any(|told| whole.has_any(told))
            && (self.is_limited(sentence) || self.is_rule(sentence))
    }

    /// "…, Acme only" behind an order that is not for the moment.
    fn is_limited(&self, sentence: &str) -> bool {
        let is_lasting = |said: &str| {
            let order = Wording::of(said).without_lead_in(LEAD_INS);
            let is_once = order.begins_any(FOR_THE_MOMENT) && !order.has_any("each|every|per");
            is_order_of(said) && !is_once
        };
        self.ends_limited(sentence) && clauses(sentence).any(is_lasting)
    }

    fn is_rule(&self, sentence: &str) -> bool {
        let mut ends = clauses(sentence).map(Wording::of);
        let is_placed = ends.any(|said| said.ends_any(&self.named));
        let wishes = clauses(sentence).any(|said| Wording::of(said).has_any(TO_ME));
        clauses(sentence).any(|said| {
            let clause = Wording::of(said).without_lead_in(LEAD_INS);
            let begins_each = clause.begins_any(OF_EACH);
            let is_of_each = begins_each
                && !clause.has_any(SERVED)
                && (clause.has_any(NEEDED) || wishes && clause.has_any(&self.named));
            let clause = clause.without_lead_in(&self.named).without_lead_in(LEAD_INS);
            let is_ruled = clause.begins_any(RULED) && !clause.begins_any(NO_ORDERS);
            is_of_each
                || is_ruled
                || clause.has_any(RULED_INSIDE)
                || is_forbidden(&clause)
                    && is_placed
                    && (Wording::of(said).ends_any(&self.named) || clause.len() <= BRIEF_WORDS_MAX)
        })
    }
}

/// "No players" tells what there is not; "no idea" and "no problem" belong to talk.
fn is_forbidden(clause: &Wording) -> bool {
    let next = clause.possible(NONE_OF).find_map(|none| clause.begins(none));
    let is_thing =
        |word: &str| ![REPORTED, NO_THINGS, SERVED].iter().any(|told| is_one_of(word, told));
    next.and_then(|next| clause.word(next)).is_some_and(is_thing) && !clause.begins_any(NO_ORDERS)
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
            "run the migrations, osprey only",
            "don't run it, osprey only builds on linux",
            "no errors in osprey",
            "no tests in osprey cover this",
            "no players in osprey",
            "you broke the build in osprey",
            "You forgot the migration in osprey",
            "you need to restart the worker for osprey",
            "no idea what is going on in osprey",
            "in osprey the loop drifts",
            "don't deploy in osprey today",
            "don't touch the migration in osprey, I'm on it",
            "don't forget the changelog for osprey",
            "leave the failing test in osprey as it is",
            "keep `retry(3)` in osprey but drop the log line",
            "is there any test for osprey?",
            "I wonder whether every osprey test needs that",
            "I want a dark mode toggle in osprey",
            "the form in osprey must validate the email",
            "all endpoints in osprey return 500",
            "every user of the page in osprey gets a mail",
            "Each tenant in osprey has its own schema",
            "nothing in osprey uses redis",
            "only three tests fail in osprey",
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
        assert!(is_place("/w/osprey") && is_place("/w/falcon-gateway/"));
        for any in ["/w/docs", "/srv/api", "/", "/home/jens", "/w/my-app", "/w/time", "/w/---"] {
            assert!(!is_place(any), "{any}");
        }
        let place = Place::of("/w/falcon-gateway").unwrap();
        assert!(place.is_ruled_by("never log bodies in falcon-gateway, please"));
    }
}
