//! Wishes about how things are written, or the assistant writes: in which tone the texts are, what
//! code has on everything, and what is asked for in general as a question.
//!
//! English first, then the basics of German, Russian, French and Spanish.

use super::{I_WANT, PLACES};
use crate::remarks::orders::{LEAD_INS, NO_ORDERS, clauses};
use crate::remarks::phrase::{Wording, is_one_of};
use crate::remarks::reach::names_all;
use crate::remarks::wishes::is_one_off;

/// "Texts in the interface should be formal": every text, and how it addresses people. How they are
/// ("the texts use du") is told only, and this page is one.
pub(super) fn is_about_tone(sentence: &str, whole: &Wording) -> bool {
    // "everything patients see in this app" is about all of a place.
    let is_this_one = whole.has_any("this|these|those") && !whole.has_any(PLACES);
    whole.has_any(TEXTS)
        && whole.has_any(SHOULD_BE)
        && !is_this_one
        && (whole.has_any(TONES) || addresses(sentence))
}

/// "Tests in this repo should be table-driven", "commit subjects here start with the ticket": what
/// is written again and again, by its place, and how. "The tests in this repo are slow" tells.
pub(super) fn is_about_written(sentence: &str) -> bool {
    clauses(sentence).any(|clause| {
        let clause = Wording::of(clause).without_lead_in(LEAD_INS);
        let written = clause.possible(WRITTEN).find_map(|things| clause.begins(things));
        written.is_some_and(|next| {
            let is_placed = clause.has_any(PLACES) || clause.word(next) == Some("here");
            is_placed && (clause.has_any(SHOULD_BE) || clause.has_any(LOOKS_SO))
        })
    })
}

/// A word for "you" in quotes.
fn addresses(sentence: &str) -> bool {
    let is_mark = |letter: char| matches!(letter, '"' | '“' | '”' | '„' | '«' | '»');
    let mut quoted = sentence.split(is_mark).skip(1).step_by(2);
    quoted.any(|quoted| is_one_of(quoted.trim().to_lowercase().as_str(), YOU))
}

/// "In this project I'd like type hints on everything." A thing of the product is a feature: "I'd
/// like a dark mode everywhere".
pub(super) fn is_on_everything(sentence: &str) -> bool {
    let is_placed = Wording::of(sentence).has_any(PLACES);
    is_placed
        && clauses(sentence).any(|clause| {
            let clause = Wording::of(clause).without_lead_in(LEAD_INS);
            let clause = clause.without_lead_in(PLACES).without_lead_in(LEAD_INS);
            let next = clause.possible(I_WANT).find_map(|want| clause.begins(want));
            next.is_some_and(|next| {
                let habit = clause.possible(OF_CODE).find_map(|habit| clause.find(habit));
                habit.is_some_and(|(at, _)| at <= next + 1)
            }) && clause.has_any(ON_EVERYTHING)
        })
}

/// "Could you keep the summaries shorter in general?" Whoever asks whether something can be done,
/// or for a deed, wishes nothing for longer.
pub(in crate::remarks) fn is_asked_politely(sentence: &str) -> bool {
    let whole = Wording::of(sentence).without_lead_in(LEAD_INS);
    let asked = |asking: &str| {
        let next = whole.possible(asking).find_map(|could| whole.begins(could))?;
        let is_courtesy = whole.word(next).is_some_and(|word| is_one_of(word, "please|also"));
        whole.word(next + usize::from(is_courtesy))
    };
    // "Could you use generics in general?" may be about anybody.
    let is_kept = asked("could you").is_some_and(|word| is_one_of(word, "keep|stop"));
    let is_please = || whole.has_any("please") && asked(COULD_YOU).is_some_and(is_habit);
    (is_kept || is_please())
        && (whole.has_any(IN_GENERAL) || is_of_all(sentence))
        && !is_one_off(&whole)
}

fn is_habit(word: &str) -> bool {
    is_one_of(word, "keep|stop|use|avoid|prefer")
}

/// A question names no projects, but what is asked for does.
fn is_of_all(sentence: &str) -> bool {
    names_all(&Wording::of(sentence.trim_end_matches(['?', '？', ' '])))
}

/// "Three sentences are enough for me."
pub(super) fn says_how_much(sentence: &str) -> bool {
    let mut said = clauses(sentence).map(Wording::of);
    said.any(|clause| clause.ends_any(ENOUGH) && !clause.begins_any(NO_ORDERS))
}

const TEXTS: &str = "\
     texts|all text|labels|messages|mails|emails|letters|notifications|the wording|the copy|\
     everything … see|everything … sees|everything … read|everything … reads|die texte|\
     alle texte|los textos|les textes|тексты";
const SHOULD_BE: &str = "\
     should use|should be|should stay|should address|has to be|have to be|must be|must use|\
     needs to be|need to be|sollen|sollten|müssen|deben|doivent|должны";
/// What is written again and again, not these that lie on the table.
const WRITTEN: &str = "\
     tests|unit tests|all tests|commits|commit messages|commit subjects|commit titles|branches|\
     branch names|pull requests|prs|pr titles|pr descriptions|functions|comments|doc comments|\
     docs|names|file names|variables|components|endpoints|migrations|errors|error messages|\
     log lines|logs|imports|queries|scripts|changelog entries";
const LOOKS_SO: &str = "\
     start with|begin with|end with|are written|are named|go in|go into|go under|should have|\
     must have|should start|should begin|should end|should go";
const TONES: &str = "\
     formal|informal|polite|impersonal|gender neutral|plain language|\
     simple language|sentence case|förmlich|informell|formales|informales|formels|informels|\
     вежливыми";
const YOU: &str = "you|du|sie|ihr|tu|vous|tú|usted|ustedes|вы|ты";

/// How code is written, rather than what it does.
const OF_CODE: &str = "\
     type hints|type annotations|types|strict types|docstrings|doc comments|comments|annotations|\
     semicolons|trailing commas|single quotes|double quotes|early returns|named arguments|\
     typannotationen|kommentare|docstrings";
const ON_EVERYTHING: &str = "\
     everything|everywhere|throughout|full|every function|every method|every class|each function|\
     all functions|all methods|all classes|überall|auf allem|en todo|partout";

const COULD_YOU: &str = "could you|can you|would you|will you";
const IN_GENERAL: &str = "\
     in general|generally|from now on|in future|in the future|going forward|every time|each time";
const ENOUGH: &str = "\
     is enough for me|are enough for me|is plenty for me|are plenty for me|will do for me|\
     would be enough for me|reichen mir|reicht mir|me basta|me bastan|me suffit|me suffisent|\
     мне хватит|мне достаточно";
