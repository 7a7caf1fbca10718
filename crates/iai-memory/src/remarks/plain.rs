//! Wishes in plain and polite words: what stands behind a head that says where it holds ("one thing
//! for all projects: …"), an order or a prohibition beside the name of a place ("in this repo …"),
//! "with A, not B", and asking before anything of a kind is done.
//!
//! English first, then the basics of German, Russian, French and Spanish.

mod sealed;
mod styles;

use std::ops::Range;

use super::open::waits_for_somebody;
use super::orders::{
    ACTIONS, ANY_TIME, EVERY_TIME, HAPPENED, LABEL_BYTES_MAX, LABEL_WORDS_MAX, LEAD_INS, NO_ORDERS,
    ORDERS, THAT_ONE, clauses, is_forbidden, is_order, is_plural, is_told, without_quotations,
};
use super::phrase::{Wording, is_one_of};
use super::placed::{NEEDED, OF_EACH, SERVED};
use super::reach::names_all;
use super::wishes::{is_like_code, is_one_off};
use sealed::is_sealed_for_all;
pub(super) use styles::is_asked_politely;
use styles::{is_about_tone, is_about_written, is_on_everything, says_how_much};

/// Sentences before an order in which it may be announced.
const ANNOUNCED_BEFORE_MAX: usize = 3;
/// "For reports in this project" has so many words at most.
const PLACE_WORDS_MAX: usize = 7;
/// What goes on with a wish in passing, or denies a tool, is not longer.
const BRIEF_WORDS_MAX: usize = 9;
/// What is named without a verb has so many words.
const BARE_WORDS: std::ops::RangeInclusive<usize> = 3..=14;
/// A taste that is shared is told in so many words.
const TASTE_WORDS_MIN: usize = 6;

/// Tells whether a sentence asks in plain words for something that holds for longer.
pub(super) fn is_wish(sentence: &str) -> bool {
    let as_said = sentence;
    let sentence = &without_quotations(sentence);
    let whole = Wording::of(sentence);
    // Nearly every sentence has none of the words that its clauses are looked at for.
    let is_placed = || whole.has_any(PLACES);
    let is_asked = is_headed(sentence)
        || whole.has_any(WAYS) && is_way_of_all(sentence)
        || is_placed() && begins_with_place(sentence) && is_asked_there(sentence)
        || names_all(&whole) && begins_with_all(sentence) && is_ordered_behind(sentence)
        || is_placed() && (is_contrast_in_place(sentence) || is_wanted_there(&whole))
        || is_about_tone(as_said, &whole)
        || is_on_everything(sentence)
        || is_about_written(sentence)
        || whole.has_any(WITH) && whole.has_any(RUN) && is_done_with(sentence)
        || whole.has_any(TASTES) && is_taste_shared(sentence, &whole)
        || (whole.has_any(BROUGHT) || whole.has_any(PROPOSED)) && is_kept_out(sentence)
        || (whole.has_any("before") || whole.has_any(BARRED)) && is_of_any(sentence);
    is_asked && !is_of_now(sentence, &whole) || is_sealed_for_all(sentence)
}

/// Tells whether a clause is about anything of a kind that is done, or may not be.
fn is_of_any(sentence: &str) -> bool {
    clauses(sentence).any(|clause| {
        let clause = Wording::of(clause).without_lead_in(LEAD_INS);
        asks_before(&clause) || is_checked_before(&clause) || is_barred(&clause)
    })
}

/// Tells whether the orders behind a sentence are wishes, because it says that there is one: "I
/// have a change for all projects."
fn announces(sentence: &str) -> bool {
    let head = Wording::of(sentence.trim_end_matches(':'));
    head.has_any(WISHED) && is_head(&head)
}

/// The same for wishes in all projects.
pub(super) fn announces_for_all(sentence: &str) -> bool {
    announces(sentence) && is_head_of_all(&Wording::of(sentence))
}

/// Tells whether a sentence orders something that was announced as a wish before it.
pub(super) fn is_announced(text: &str, ranges: &[Range<usize>], place: usize) -> bool {
    let sentence = ranges.get(place).and_then(|range| text.get(range.clone())).unwrap_or_default();
    let Some(of_all) = announcement_before(text, ranges, place).map(announces_for_all) else {
        return false;
    };
    let whole = Wording::of(sentence);
    !is_of_now(sentence, &whole) && !whole.is_question && is_lasting(sentence, of_all)
}

/// Returns the sentence shortly before another one, in its paragraph, that announces wishes.
pub(super) fn announcement_before<'a>(
    text: &'a str,
    ranges: &[Range<usize>],
    place: usize,
) -> Option<&'a str> {
    let start = ranges.get(place)?.start;
    let before = ranges.get(place.saturating_sub(ANNOUNCED_BEFORE_MAX)..place)?.iter().rev();
    let mut before = before
        .take_while(|range| !text.get(range.end..start).unwrap_or_default().contains("\n\n"))
        .filter_map(|range| text.get(range.clone()));
    before.find(|sentence| announces(sentence))
}

/// Tells whether a sentence goes on with the wish before it: "and CTEs instead of subqueries",
/// "three sentences are enough for me".
pub(super) fn goes_on_with_a_wish(sentence: &str) -> bool {
    let whole = Wording::of(sentence);
    let is_beside = || whole.begins_any("and|also|plus|und|auch|y|et|и");
    whole.len() <= BRIEF_WORDS_MAX
        && !whole.is_question
        && (is_beside() && is_bare_contrast(&whole) || says_how_much(sentence))
}

/// Tells whether a head before a colon says that what stands behind it holds in all projects.
pub(super) fn is_headed_for_all(said: &str) -> bool {
    head_of(said).is_some_and(|(head, _)| is_head(&head) && is_head_of_all(&head))
}

fn is_of_now(sentence: &str, whole: &Wording) -> bool {
    is_one_off(whole)
        || is_told(&Wording::of(without_reason(sentence)))
        || [ANY_TIME, HAPPENED, FOR_NOW].iter().any(|told| whole.has_any(told))
        || is_like_code(sentence)
        || waits_for_somebody(sentence)
}

/// Leaves out why something is wished, which tells or thinks of something: "…, it's a single app
/// and every scope would be the same".
fn without_reason(sentence: &str) -> &str {
    let mut commas = sentence.match_indices(", ").map(|(at, _)| at);
    let is_reason = |at: &usize| {
        let reason = sentence.get(at + 1..).unwrap_or_default();
        Wording::of(reason).begins_any(REASONS)
    };
    commas.find(is_reason).and_then(|at| sentence.get(..at)).unwrap_or(sentence)
}

fn head_of(sentence: &str) -> Option<(Wording, &str)> {
    let (at, _) = sentence.match_indices(": ").next().filter(|(at, _)| *at <= LABEL_BYTES_MAX)?;
    Some((Wording::of(sentence.get(..at)?), sentence.get(at + 1..)?))
}

/// "One small thing for all projects: …", "for this repo: …". Of other words, a head is about
/// something: "the cache of this repo: …".
fn is_headed(sentence: &str) -> bool {
    let Some((head, rest)) = head_of(sentence) else { return false };
    let of_all = is_head_of_all(&head) || head.has_any(GENERAL);
    is_head(&head) && (is_lasting(rest, of_all) || is_head_of_all(&head) && is_bare(rest))
}

/// Tells whether something is named that is to be so: "commit messages in the imperative".
fn is_bare(said: &str) -> bool {
    let whole = Wording::of(said);
    let mut clauses = clauses(said).map(|clause| Wording::of(clause).without_lead_in(LEAD_INS));
    BARE_WORDS.contains(&whole.len())
        && !tells(&whole)
        && !clauses.any(|clause| {
            let is_deed = clause.begins_any(DONE_ONCE) || clause.begins_any(ACTIONS);
            is_deed && !clause.begins_any(OVER_AND_OVER)
        })
}

/// Tells whether somebody or something is said to do or to be something.
fn tells(said: &Wording) -> bool {
    said.words().any(|word| is_one_of(word, REPORTING))
}

fn is_head(head: &Wording) -> bool {
    let is_placed = head.has_any(PLACES) || is_head_of_all(head);
    (is_placed || head.has_any(GENERAL))
        && head.len() <= LABEL_WORDS_MAX
        && !head.is_question
        && head.words().all(|word| is_one_of(word, HEAD_WORDS))
}

fn is_head_of_all(head: &Wording) -> bool {
    names_all(head) || head.ends_any("for everything|everywhere|für alles|überall|para todo")
}

/// Tells whether something is ordered that is not done once. What is said to hold in all projects
/// need not begin with the order: "in docs use British spelling".
fn is_lasting(said: &str, of_all: bool) -> bool {
    let n_words = Wording::of(said).len();
    clauses(said).any(|clause| {
        let clause = Wording::of(clause).without_lead_in(LEAD_INS);
        let is_order = clause.begins_any(ORDERS) && !clause.begins_any(NO_ORDERS);
        let is_of_each = clause.begins_any(OF_EACH)
            && (clause.has_any(NEEDED) || clause.has_any("should"))
            && !clause.has_any(SERVED);
        let is_any = clause.begins_any(LASTING) && !clause.has_any(THAT_ONE);
        let is_all = || of_all && !clause.begins_any(DONE_ONCE);
        1 < clause.len()
            && (is_of_each
                || is_forbidden(&clause, n_words)
                || is_order && (is_any || clause.has_any(EVERY_TIME) || is_all())
                || is_all() && clause.has_any(INSIDE) && !tells(&clause))
    })
}

/// "In every repo of mine, docs are written with British spelling."
fn is_way_of_all(sentence: &str) -> bool {
    begins_with_all(sentence)
        && !Wording::of(sentence).has_any("different|its own|their own|same|already|still")
}

fn begins_with_all(sentence: &str) -> bool {
    let first = clauses(sentence).next().map(Wording::of);
    let first = first.map(|first| first.without_lead_in(LEAD_INS));
    first.is_some_and(|first| first.begins_any("in|for|across") && names_all(&first))
}

/// "…, please do not add comments that repeat the code."
fn is_ordered_behind(sentence: &str) -> bool {
    clauses(sentence).skip(1).any(|clause| {
        let clause = Wording::of(clause).without_lead_in(LEAD_INS);
        is_order(&clause) && clause.begins_any(ORDERS) && !clause.begins_any(DONE_ONCE)
    })
}

/// "In this repo …", "for reports in this project, …".
fn begins_with_place(sentence: &str) -> bool {
    let mut said = clauses(sentence).map(|clause| Wording::of(clause).without_lead_in(LEAD_INS));
    said.next().is_some_and(|first| {
        first.begins_any(PLACES)
            || first.begins_any("in|for|on|für|bei|im")
                && first.ends_any(PLACES)
                && first.len() <= PLACE_WORDS_MAX
    })
}

/// Tells whether something is to be done there more than once.
fn is_asked_there(sentence: &str) -> bool {
    let n_words = Wording::of(sentence).len();
    let is_contrast = sentence.contains(", not ");
    clauses(sentence).any(|clause| {
        let clause = Wording::of(clause).without_lead_in(LEAD_INS);
        let clause = clause.without_lead_in(PLACES).without_lead_in(LEAD_INS);
        let is_report = clause.words().nth(1).is_some_and(|word| word.ends_with("ing"));
        let is_any = clause.begins_any(LASTING) && !clause.has_any(THAT_ONE) && !is_report;
        let is_kind = clause.begins_any(SHAPED) && clause.has_any(OVER_AND_OVER);
        let is_instead = is_contrast && is_order(&clause) && !clause.has_any(THAT_ONE);
        is_any || is_kind || is_instead || is_forbidden(&clause, n_words)
    })
}

/// "Two spaces instead of tabs in this repo": nobody does it, so it is how things are to be.
fn is_contrast_in_place(sentence: &str) -> bool {
    clauses(sentence).any(|clause| {
        let clause = Wording::of(clause).without_lead_in(LEAD_INS);
        let is_of_kind = clause.words().any(is_plural) || clause.has_any(OVER_AND_OVER);
        clause.ends_any(PLACES) && is_of_kind && is_bare_contrast(&clause)
    })
}

/// "I would like commit messages with the ticket in this repo."
fn is_wanted_there(whole: &Wording) -> bool {
    let next = whole.possible(I_WANT).find_map(|want| whole.begins(want));
    let is_thing = next.and_then(|next| whole.word(next)).is_some_and(|word| word != "to");
    is_thing && whole.has_any(OVER_AND_OVER)
}

/// "A instead of B", without a verb.
fn is_bare_contrast(said: &Wording) -> bool {
    said.has_any("instead of|rather than|statt|anstatt|вместо|plutôt que|en vez de")
        && !said.begins_any(DONE_ONCE)
        && !said.begins_any("can|could|change|replace|instead|make|update|rename|switch")
        && !said.words().any(|word| is_one_of(word, TELLING) || word.ends_with("ing"))
}

/// "Run the tests with cargo nextest, not cargo test."
fn is_done_with(sentence: &str) -> bool {
    let said: Vec<&str> = clauses(sentence).collect();
    said.array_windows().any(|[order, other]| {
        let order = Wording::of(order).without_lead_in(LEAD_INS);
        let other = Wording::of(other);
        let is_some = |said: &Wording, from: usize| {
            said.words().skip(from).all(|word| !is_one_of(word, THAT_ONE) && word != "one")
        };
        let with = order.possible(WITH).find_map(|with| order.find(with));
        order.begins_any(RUN)
            && order.has_any(RUN_OFTEN)
            && with.is_some_and(|(_, next)| is_some(&order, next))
            && other.begins_any("not|nicht|no|pas|не")
            && (2..=BRIEF_WORDS_MAX).contains(&other.len())
            && is_some(&other, 1)
    })
}

/// "Ines likes keywords in lower case, so do I."
fn is_taste_shared(sentence: &str, whole: &Wording) -> bool {
    let is_same = |clause: &str| {
        let clause = Wording::of(clause);
        clause.possible(ME_TOO).any(|too| clause.begins(too) == Some(clause.len()))
    };
    let likes = whole.possible(TASTES).find_map(|likes| whole.find(likes));
    let what = likes.and_then(|(_, next)| whole.word(next));
    TASTE_WORDS_MIN <= whole.len()
        && what.is_some_and(|what| !is_one_of(what, THAT_ONE) && what != "to")
        && clauses(sentence).any(is_same)
}

/// "Please do not bring in any frameworks here", and behind a reason "so please do not propose paid
/// services". What is left alone for the moment is no thing of a kind.
fn is_kept_out(sentence: &str) -> bool {
    let n_clauses = clauses(sentence).count();
    clauses(sentence).any(|said| {
        let whole = Wording::of(said);
        let clause = Wording::of(said).without_lead_in(LEAD_INS);
        let is_placed = clause.ends_any("here|hier|aquí|ici|здесь") || clause.has_any(PLACES);
        let is_reasoned = 1 < n_clauses && whole.begins_any("so|deshalb|also|donc|así que");
        let brought = clause.possible(BROUGHT).find_map(|deed| clause.begins(deed));
        let proposed = clause.possible(PROPOSED).find_map(|deed| clause.begins(deed));
        let next = brought.filter(|_| is_placed).or(proposed.filter(|_| is_placed || is_reasoned));
        next.is_some_and(|next| {
            let mut things = clause.words().skip(next).take(4);
            things.any(|word| is_plural(word) && !is_one_of(word, IN_THE_WORK))
                && !clause.words().skip(next).take(2).any(|word| is_one_of(word, THAT_ONE))
        })
    })
}

/// "Ask me before you add a dependency": any of them. "Before you push the branch" is about one.
fn asks_before(clause: &Wording) -> bool {
    let begun = clause.possible(ASK).find_map(|ask| clause.begins(ask));
    let before = begun.and_then(|_| clause.find("before")).map(|(_, next)| next);
    let Some(next) = before else { return false };
    let is_yours = clause.word(next) == Some("you");
    let deed = if is_yours { next + 1 } else { next };
    let is_deed = clause.word(deed).is_some_and(|deed| is_yours || deed.ends_with("ing"));
    let is_any = |word: &str| is_one_of(word, "a|an|any|anything|new") || is_plural(word);
    let what = [deed + 1, deed + 2].into_iter().filter_map(|place| clause.word(place));
    let mut what = what.take_while(|word| !is_one_of(word, THAT_ONE));
    is_deed && what.any(is_any) && !clause.begins_any(NO_ORDERS)
}

/// "Run the checks before you tell me that something is done."
fn is_checked_before(clause: &Wording) -> bool {
    is_order(clause)
        && clause.has_any(CALLED_DONE)
        && (clause.has_any("something|anything") || clause.has_any(PLACES))
}

/// "Nothing may be deployed in that time."
fn is_barred(clause: &Wording) -> bool {
    let barred = clause.possible(BARRED).find_map(|barred| clause.begins(barred));
    let deed = barred.and_then(|next| clause.word(next));
    deed.is_some_and(|deed| is_one_of(deed, DEEDS))
}

/// Where something holds: the project that is spoken in, by no name.
pub(super) const PLACES: &str = "\
     in this repo|in this repository|in this project|in this codebase|in this app|in this crate|\
     in this package|on this site|on this project|in this site|for this repo|for this repository|\
     for this project|for this codebase|for this app|for this site|for this website|\
     for this crate|for this package|für dieses projekt|für dieses repo|in diesem repo|\
     in diesem projekt|en este repo|en este proyecto|para este proyecto|dans ce projet|\
     pour ce projet|в этом проекте|для этого проекта";

/// The words of a head that says where something holds, and nothing else.
const HEAD_WORDS: &str = "\
     one|a|an|another|small|little|quick|short|new|general|generally|more|last|first|thing|things|\
     wish|wishes|request|requests|change|changes|note|point|rule|preference|i|have|we|here|is|\
     there|there's|also|and|ok|okay|so|btw|by|the|way|oh|please|as|for|in|on|at|across|of|all|\
     every|any|each|my|our|mine|ours|this|repo|repos|repository|repositories|project|projects|\
     codebase|codebases|app|crate|package|site|website|everything|everywhere|eine|ein|noch|kleine|\
     kleiner|bitte|wunsch|sache|regel|änderung|für|alle|alles|allen|überall|allgemein|allgemeines|\
     projekte|projekten|dieses|diesem|projekt|una|cosa|todos|los|todo|proyectos|este|proyecto|\
     para|en|une|chose|pour|tous|les|projets|ce|projet|dans|для|всех|во|проектов|проектах|этом|\
     этого|проекте|проекта";
const GENERAL: &str = "general|generally|allgemein|allgemeines";
/// Tells how things are.
const REPORTING: &str = "\
     is|are|was|were|has|have|had|does|did|can|could|will|i|we|he|she|it|they|there|this|that|\
     these|those|fails|failed|broke|works|needs|ist|sind|hat|war|está|son|est|sont";
/// Says that something is wished.
const WISHED: &str = "\
     wish|wishes|request|change|thing|rule|preference|note|one|wunsch|sache|änderung|cosa|chose";

/// Orders of how things are done, or not, rather than of one deed.
const LASTING: &str = "\
     never|always|don't|do not|keep|use|avoid|prefer|you don't|you never|you always|\
     you only|nie|niemals|immer|nur|nutze|verwende|benutze|vermeide|nunca|\
     siempre|usa|evita|jamais|toujours|utilise|évite|никогда|всегда|используй";
/// The same inside of a clause.
const INSIDE: &str = "\
     never|always|keep|use|avoid|prefer|nie|immer|nutze|verwende|nunca|siempre|usa|jamais|\
     toujours|utilise|никогда|всегда|используй";
/// Orders of one deed, wherever it is to be done.
const DONE_ONCE: &str = "\
     add|check|run|rerun|commit|tag|rebase|squash|show|give|tell|test|list|find|look|fix|update|\
     remove|delete|create|make|move|rename|explain|remind|ask|name|any|each|every";
/// Belongs to what is being done.
const FOR_NOW: &str = "\
     i'll|i will|i'm|i am|while|still|already|you forgot|you missed|in this session|\
     in this branch|in this pr|in this file|in this commit|in this function";

/// Begins why something is wished.
const REASONS: &str = "\
     it's|it is|because|since|there's|there is|they're|they are|that's because|weil|da|porque|\
     parce que|потому что";

/// Tells how something is done.
const WAYS: &str = "\
     is written|are written|is named|are named|are called|is formatted|are formatted|is kept|\
     are kept|are signed|are sorted|are squashed|we write|i write|we use|i use|we keep|i keep|\
     we name|i name|werden … geschrieben|wird … geschrieben|schreiben wir|nutzen wir|\
     verwenden wir|se escribe|se escriben|usamos|on écrit|on utilise|пишем|используем";

/// Says how something is made …
const SHAPED: &str = "\
     drop|skip|omit|leave out|leave off|put|write|use|keep|begin|start|end|prefix|shorten|lass|\
     schreib|schreibe|escribe|écris|пиши";
/// … that is made over and over.
pub(super) const OVER_AND_OVER: &str = "\
     commit messages|commit message|pr titles|pr texts|pr descriptions|pull request titles|\
     pull request descriptions|branch names|changelog entries|release notes|test names|answers|\
     commit nachrichten|mensajes de commit|messages de commit";

const I_WANT: &str = "\
     i want|i'd like|i would like|i'd prefer|i would prefer|we want|we'd like|we would like|\
     ich möchte|ich hätte gern|quiero|je voudrais|я хочу";

/// What is no part of a contrast without a verb.
const TELLING: &str = "\
     i|we|you|he|she|it|they|there|is|are|was|were|has|have|had|does|do|did|can|could|should|would|\
     will|gets|got|shows|returns|uses|used|the|a|an|that|these|those|what|why|how|when|if|because|\
     to|let's|lets|maybe|no|ich|wir|ist|sind|der|die|das|es|está|el|la|est|le";

/// What is run, …
const RUN: &str = "\
     run|build|install|format|lint|test|deploy|start|manage|call|execute|starte|baue|lance|ejecuta";
/// … over and over …
const RUN_OFTEN: &str = "\
     tests|suite|builds|migrations|scripts|commands|benchmarks|dependencies|packages|everything|\
     queries|linter";
/// … and with what.
const WITH: &str = "with|via|through|using|mit|über|con|avec|через";

const TASTES: &str = "likes|prefers|mag|bevorzugt|prefiere|préfère|предпочитает";
const ME_TOO: &str = "\
     so do i|me too|i do too|as do i|and so do i|and i do too|ich auch|yo también|moi aussi|я тоже";

/// What is not to come in, …
const BROUGHT: &str = "\
     don't use|do not use|don't bring in|do not bring in|don't bring|do not bring|\
     don't introduce|do not introduce|don't pull in|do not pull in|don't rely on|do not rely on|\
     never use|never bring in|never introduce|never pull in";
/// … or not to be spoken of, …
const PROPOSED: &str = "\
     don't propose|do not propose|don't suggest|do not suggest|don't recommend|do not recommend|\
     don't offer|do not offer|never propose|never suggest|never recommend";
/// … unless it is what the assistant just works at.
const IN_THE_WORK: &str = "\
     changes|fixes|solutions|edits|improvements|alternatives|implementations|options|ideas|steps|\
     words|lines|answers|names|refactorings|refactors";

/// Asks to be asked.
const ASK: &str = "\
     ask|ask me|check with me|talk to me|tell me|warn me|let me know|frag mich|frag|pregúntame|\
     demande moi";
/// When something is said to be done.
const CALLED_DONE: &str = "\
     before you tell me … done|before you tell me … ready|before you tell me … finished|\
     before you say … done|before you say … ready|before you say … finished|\
     before you call … done|before you call … finished|before you report … done|\
     before you claim … done|before you claim … works|before you say … works|\
     before you tell me … works|before calling … done";

/// Nobody is to do …
const BARRED: &str = "\
     nothing may be|nothing must be|nothing should be|nobody may|no one may|nothing is to be|\
     nichts darf|nada debe ser|rien ne doit être";
/// … what ends work.
const DEEDS: &str = "\
     deployed|merged|pushed|released|committed|shipped|published|deploy|merge|push|release|commit|\
     ship|publish|veröffentlicht";

#[cfg(test)]
mod tests;
