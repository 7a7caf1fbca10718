//! Where a wish holds: in the project it was said in, or in all of them, because the user says so
//! ("in all repos") or because it is about how the assistant talks.
//!
//! English first, then the basics of German, Russian, French and Spanish.

use std::ops::Range;

use iai_store::{NewRemark, Reach, RemarkKind};

use super::orders::clauses;
use super::phrase::{Wording, is_one_of, is_question};
use super::placed::Place;
use super::plain::{announcement_before, announces_for_all, is_headed_for_all};

/// Sentences behind a wish in which it may be said where it holds, …
const BEHIND_MAX: usize = 3;
/// … each of so many words at most: a longer one is about something else.
const BEHIND_WORDS_MAX: usize = 14;
/// A sentence that says only that has so few words …
const ONLY_WORDS_MAX: usize = 9;
/// … and none but these.
const OF_REACH: &str = "\
     this|that|that's|it|these|is|are|and|goes|go|holds|hold|applies|apply|counts|count|meant|i|\
     mean|please|also|too|in|for|across|of|all|every|any|each|the|my|our|here|not|just|only|or|\
     anywhere|everywhere|elsewhere|really|repo|repos|repository|repositories|project|projects|\
     codebase|codebases|have|own|none|everything|make|do|no|matter|which|whatever|whichever|client|\
     clients|mine|das|gilt|für|alle|allen|jedem|projekte|projekten|это|для|всех|во|проектах|pour|\
     tous|les|projets|dans|para|todos|los|proyectos|en";

/// Notes which of the wishes of a text, and of what takes wishes back, hold in every project.
/// What names its project holds there, unless it names all of them, too.
pub(super) fn spread(
    found: &mut [NewRemark],
    (text, ranges): (&str, &[Range<usize>]),
    place: Option<&Place>,
) {
    let starts: Vec<(RemarkKind, usize)> =
        found.iter().map(|own| (own.kind, own.start_byte)).collect();
    for own in found {
        let is_meant = match own.kind {
            RemarkKind::Preference | RemarkKind::Waiver => true,
            RemarkKind::Decision | RemarkKind::Open | RemarkKind::Kept => false,
        };
        let said = text.get(own.start_byte..own.end_byte).unwrap_or_default();
        let after =
            starts.iter().filter(|(kind, start)| *kind == own.kind && own.end_byte <= *start);
        let next = after.map(|(_, start)| *start).min().unwrap_or(text.len());
        let is_sealed = || {
            let within = ranges.iter().filter(|own_range| {
                own.start_byte < own_range.start && own_range.end <= own.end_byte
            });
            within.filter_map(|range| text.get(range.clone())).any(is_only_reach)
        };
        let is_named = place.is_some_and(|place| place.is_named_in(said));
        let is_of_place = is_named && !names_all(&Wording::of(said)) && !names_the_others(said);
        if is_meant
            && !is_of_place
            && (holds_everywhere(said)
                || is_sealed()
                || is_announced(text, ranges, own.start_byte)
                || is_spread_behind(text, ranges, own.end_byte..next))
        {
            own.reach = Reach::Everywhere;
        }
    }
}

/// Tells whether the sentences behind a wish say that it holds in every project. `own` begins where
/// the wish ends, and ends where the next one begins.
fn is_spread_behind(text: &str, ranges: &[Range<usize>], own: Range<usize>) -> bool {
    let behind = ranges.iter().filter(|range| own.start <= range.start).take(BEHIND_MAX);
    let mut behind = behind
        .take_while(|range| !text.get(own.start..range.start).unwrap_or_default().contains("\n\n"));
    behind.any(|range| {
        let said = text.get(range.clone()).unwrap_or_default();
        let wording = Wording::of(said);
        // Behind the next wish it is about that one, unless it is said of all before it.
        let is_of_it = range.end <= own.end && wording.len() <= BEHIND_WORDS_MAX;
        is_only_reach(said) || is_of_it && (names_all(&wording) || names_the_others(said))
    })
}

/// Tells whether a sentence shortly before a wish says that it is one for every project.
fn is_announced(text: &str, ranges: &[Range<usize>], start_byte: usize) -> bool {
    let place = ranges.iter().position(|range| range.start == start_byte);
    let before = place.and_then(|place| announcement_before(text, ranges, place));
    before.is_some_and(announces_for_all)
}

pub(super) fn holds_everywhere(said: &str) -> bool {
    let wording = Wording::of(said);
    names_all(&wording)
        || names_the_others(said)
        || is_headed_for_all(said)
        || clauses(said).skip(1).any(is_only_reach)
        || !wording.has_any(HERE) && is_of_talk(said)
}

/// Tells whether a clause is about how the assistant talks: "no emojis please in the shop" is about
/// the shop.
fn is_of_talk(said: &str) -> bool {
    let clauses = said.split([',', ';', '(', '–', '—', '.', '!']).map(Wording::of);
    let is_placed = |clause: &Wording| clause.has_any(PLACED) && !clause.has_any(IN_TALK);
    let mut talk = clauses.filter(|clause| clause.has_any(TALK));
    talk.any(|clause| !is_placed(&clause))
}

/// Tells whether a sentence says that something is for all projects.
pub(super) fn names_all(wording: &Wording) -> bool {
    let is_named = wording.has_any(ALL_PROJECTS)
        || wording.has_any("all of them") && wording.has_any("in this project|in this repo");
    is_named && !wording.has_any(NOT_ALL) && !wording.is_question
}

/// Tells whether a clause says that something is for the other projects, too, and nothing else:
/// "the same goes for my other repos". It makes no wish of a report: bugs are elsewhere, too.
fn names_the_others(said: &str) -> bool {
    let mut clauses = said.split([',', ';', '(', ')', '–', '—', '.', '!', '?']).map(Wording::of);
    let is_of_reach = |word: &str| is_one_of(word, OF_REACH) || is_one_of(word, OF_OTHERS);
    !is_question(said)
        && clauses.any(|clause| {
            clause.has_any(OTHERS)
                && clause.has_any(TOO)
                && clause.len() <= ONLY_WORDS_MAX
                && !clause.has_any("not|only|nicht|nur|no|solo|pas|не")
                && clause.words().all(is_of_reach)
        })
}

/// Tells whether a sentence says nothing else than that: "All repos."
pub(super) fn is_only_reach(sentence: &str) -> bool {
    let wording = Wording::of(sentence);
    let is_general = || wording.begins_any(GENERALLY) && wording.len() <= 2;
    let names_nothing_else = || wording.words().all(|word| is_one_of(word, OF_REACH));
    !wording.is_question
        && wording.len() <= ONLY_WORDS_MAX
        && (is_general()
            || (names_all(&wording) || wording.has_any(FOR_EVERYWHERE)) && names_nothing_else())
}

/// Tells whether a sentence is about one project only, and says so.
pub(crate) fn is_of_one_place(sentence: &str) -> bool {
    let wording = Wording::of(sentence);
    wording.has_any(HERE) || wording.has_any(NOT_ALL)
}

/// Alone behind an order: "Generally."
const GENERALLY: &str = "\
     generally|in general|everywhere|generell|grundsätzlich|überall|везде|вообще|partout|\
     en général|en general|en todas partes";

/// "It's everywhere" tells of a fault.
const FOR_EVERYWHERE: &str = "\
     for everywhere|goes everywhere|applies everywhere|holds everywhere|everywhere please";
const ALL_PROJECTS: &str = "\
     any of my repos|any of my projects|any of our repos|any of our projects|\
     each of my repos|each of my projects|all my repositories|all our repositories|\
     all of my repositories|all of our repos|all repos|all the repos|all my repos|all our repos|\
     all of my repos|all repositories|every repo|every repository|any repo|any repository|\
     each repo|all projects|all my projects|all our projects|all of my projects|\
     all of our projects|all the projects|every project|any project|each project|every codebase|\
     all codebases|any codebase|across projects|across repos|across all projects|across all repos|\
     everything i make|everything i do|whatever project|whichever project|whatever repo|\
     whichever repo|no matter which repo|no matter which project|no matter the project|\
     none of my repos|none of my repositories|none of my projects|none of our repos|\
     none of our repositories|none of our projects|whatever the project|whatever the repo|\
     here or anywhere|here and everywhere|here and elsewhere|not just here|not only here|\
     not only in this|not just in this|not here not anywhere|neither here nor anywhere|\
     any of my clients|any client of mine|all my clients|allen repos|allen projekten|\
     jedem projekt|jedem repo|alle projekte|alle repos|nicht nur hier|всех проектах|\
     всех репозиториях|любом проекте|не только здесь|tous les projets|tous les dépôts|\
     chaque projet|pas seulement ici|todos los proyectos|todos los repos|cualquier proyecto|\
     cada proyecto|no solo aquí";
const NOT_ALL: &str = "\
     not in all|not for all|not all|other repos|other projects|the others|only in this|\
     only for this|only in this one|this one only|for this one|andere repos|\
     andere projekte|otros proyectos";
/// The rest of the projects, …
const OTHERS: &str = "\
     other projects|other repos|other repositories|other codebases|other ones|the others|\
     anderen projekte|anderen projekten|anderen repos|otros proyectos|autres projets|\
     других проектах|других проектов";
/// … beside this one, …
const TOO: &str = "\
     also|too|same|as well|likewise|auch|genauso|también|igual|aussi|pareil|тоже|также";
/// … and what is said of them beside.
const OF_OTHERS: &str = "\
     other|others|ones|same|as|well|likewise|with|to|auch|genauso|in|meinen|meine|\
     die|den|anderen|también|igual|mis|otros|aussi|pareil|mes|autres|тоже|также|и|в|других|\
     проектов";
/// How the assistant talks, wherever it does.
const TALK: &str = "\
     short answers|shorter answers|keep answers|keep your answers|keep the answers|\
     keep replies|keep your replies|no recap|no recaps|no recap list|don't recap|\
     no emojis please|please no emojis|don't apologise|don't apologize|stop apologising|\
     stop apologizing|don't flatter|no flattery|no praise|be brief with me|one question at a time|\
     questions one at a time|all questions at once|questions in one batch|\
     end your … answers|summary at the end of your|don't sum up|don't summarise|don't summarize|\
     answer me in|talk to me in|speak to me in|kurze antworten|keine emojis|antworte kurz|\
     eine frage nach der anderen|короткие ответы|без эмодзи|réponses courtes|pas d'emojis|\
     respuestas cortas|sin emojis";
/// … unless it is said of one place.
const HERE: &str = "\
     in this repo|in this project|in this repository|for this project|for this repo|here only|\
     only here|in diesem projekt|in diesem repo|en este proyecto|dans ce projet|в этом проекте";

/// … or of what is made …
const PLACED: &str = "in|on|for|im|auf|für|dans|sur|pour|en|para|в|на|для";
/// … and not of what is said.
const IN_TALK: &str = "\
     in chat|in the chat|in your|in answers|in the answers|in replies|in general|me in|im chat|\
     in den antworten|auf deutsch|auf englisch|dans les réponses|en el chat|en las respuestas|\
     en español|en français|en general";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remarks::remarks_of;
    use crate::trial::Trial;

    #[track_caller]
    fn check_wishes(trial: &Trial, text: &str, expect: &[(&str, Reach)]) {
        let id = trial.tell(&[text])[0];
        let memory = trial.engine.read(|reader| Ok(reader.memory(id)?)).unwrap().unwrap();
        let remarks = remarks_of(&memory);
        let wishes = remarks.iter().filter(|own| own.kind == RemarkKind::Preference);
        let found: Vec<(&str, Reach)> =
            wishes.map(|own| (&memory.text[own.start_byte..own.end_byte], own.reach)).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn a_wish_holds_where_its_user_says() {
        let trial = Trial::new();
        let check = |text: &str, expect: &[(&str, Reach)]| check_wishes(&trial, text, expect);
        let (here, all) = (Reach::Project, Reach::Everywhere);
        let tests = "Always run the tests before you commit.";
        check(tests, &[(tests, here)]);
        check(&format!("{tests} In every project."), &[(tests, all)]);
        let whole = format!("{tests} I can read the log. Any repo");
        check(&whole, &[(&whole, all)]);
        check(&format!("{tests} The other repos keep their hooks."), &[(tests, here)]);
        check(&format!("{tests}\n\nDoes any repo use make?"), &[(tests, here)]);
        let quoted = "please never push to main, in this project and in all of them";
        check(quoted, &[(quoted, all)]);
        let talk = "and please keep answers short, no recap list at the end.";
        check(talk, &[(talk, all)]);
        let only = "please keep answers short in this repo.";
        check(only, &[(only, here)]);
        let push = "Please never push.";
        check(&format!("{push} {tests} All repos."), &[(push, all), (tests, all)]);
        let here_too = format!("{push} {tests} It matters more than the time in any repo.");
        check(&here_too, &[(push, here), (tests, all)]);
        let small = "One small thing for all projects: please do not use emojis in code.";
        check(small, &[(small, all)]);
        let spelling = "one for everything: in docs use british spelling.";
        check(spelling, &[(spelling, all)]);
        let sentence = "Please write a plain sentence with the ticket number in front.";
        let change = "I have a change for all projects. The prefixes do not work for us.";
        check(&format!("{change} {sentence}"), &[(sentence, all)]);
        let wish = "One wish for this project: please do not amend commits.";
        check(wish, &[(wish, here)]);
        let first = "answer first, reasons only if i ask. all projects";
        check(&format!("your answers are getting long. {first}"), &[(first, all)]);
        let tastes = "ines likes keywords in lower case, so do i. and ctes instead of subqueries";
        check(tastes, &[(tastes, here)]);
        let utc = "utc in logs, docs and cron comments. all projects.";
        check(utc, &[(utc, all)]);
        check("Add the licence header to all repos.", &[]);
        check("Every project has its own Dockerfile.", &[]);
        check("The login bug is back. Same in every repo.", &[]);
        check("The Acme bug is back. All repos.", &[]);
        let placed = "Always no emojis please on the page of Acme.";
        check(placed, &[(placed, here)]);
        let train = "please keep answers short, I read them on the train.";
        check(train, &[(train, all)]);
        let plain = "plain imperative sentence, ticket at the end. everywhere";
        check(plain, &[(plain, all)]);
        let (deploy, emojis) = ("Always deploy through the bastion.", "No emojis please.");
        check(&format!("{deploy} {emojis}"), &[(deploy, here), (emojis, all)]);
        let plan = "Before larger work, give me a plan of five lines; in all my projects.";
        check(plan, &[(plan, all)]);
        let pushes = "No force pushes in any repo.";
        check(pushes, &[(pushes, all)]);
        let sealed = "One question at a time please. Generally.";
        check(&format!("Woah. {sealed}"), &[(sealed, all)]);
    }

    #[test]
    fn a_wish_may_hold_in_the_other_projects_too() {
        let trial = Trial::new();
        let check = |text: &str, expect: &[(&str, Reach)]| check_wishes(&trial, text, expect);
        let (here, all) = (Reach::Project, Reach::Everywhere);
        let push = "No, please never push, I always do that myself.";
        check(&format!("{push} Also for the other projects."), &[(push, all)]);
        check(&format!("{push} The same goes for my other repos."), &[(push, all)]);
        check(&format!("{push} Not for the other projects, though."), &[(push, here)]);
        check(&format!("{push} Also the other projects have a hook."), &[(push, here)]);
        let others = "Please never push, goes for the others too.";
        check(others, &[(others, all)]);
        check("The login page is blue. Also in the other projects.", &[]);
        let enough = "And could you keep the summaries a bit shorter in general? Three sentences \
                      are enough for me, in every project.";
        check(enough, &[(enough, all)]);
        let scope = "From now on I want conventional commits with a scope in all my repos, like \
                     feat(gate): accept v3 frames.";
        check(scope, &[(scope, all)]);
        check("From now on the retry calls send(frame): in all my repos.", &[]);
        check("You can stop with the summary at the end of each session, in all projects.", &[]);
    }

    #[test]
    fn what_is_said_of_all_projects_alone_seals_the_order_before_it() {
        for (said, expect) in [
            ("All repos.", true),
            ("in every project, I mean", true),
            ("generally", true),
            ("everywhere?", false),
            ("any project really", true),
            ("generally it works", false),
            ("which of all repos is it?", false),
            ("the other repos stay as they are", false),
            ("we looked at all repos", false),
            ("same in every repo", false),
            ("use pnpm in all repos", false),
            ("This goes for all projects.", true),
            ("That's for everywhere", true),
            ("it's everywhere", false),
            ("this goes for everywhere", true),
            ("the bug is everywhere", false),
        ] {
            assert_eq!(is_only_reach(said), expect, "{said}");
        }
    }
}
