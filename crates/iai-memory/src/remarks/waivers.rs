//! Which sentences take back, wholly or in part, what the user asked for once: "you don't have to
//! ask me for that any more". Alone they tell nothing; they are held against the wishes before
//! them.
//!
//! English first, then the basics of German, Russian, French and Spanish.

use super::orders::{LEAD_INS, THAT_ONE, clauses, is_order_of, is_plural};
use super::phrase::{Wording, is_one_of};
use super::plain::OVER_AND_OVER;
use super::sentences::sentences;
use super::wishes::SINCE_TODAY;

/// Shorter sentences take back something that only who heard the talk knows.
const WORDS: std::ops::RangeInclusive<usize> = 3..=60;

/// What stands behind so many words may say why.
const REASON_WORDS_MIN: usize = 5;

/// How much of a wish somebody takes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waived {
    /// All that they speak of.
    Wholly,
    /// Some of it: there is an exception, or the rest is named.
    Partly,
}

/// Tells whether the user takes back what they asked for, and how much of it.
pub(crate) fn waived_by(sentence: &str) -> Option<Waived> {
    let wording = Wording::of(sentence);
    if wording.is_question || !WORDS.contains(&wording.len()) {
        return None;
    }
    let is_this_one = || wording.has_any(THIS_ONE) && !wording.has_any(THIS_PLACE);
    let is_one_off = || wording.has_any(ONE_OFF) || is_this_one();
    let is_lasting = || wording.has_any(LASTING) && !is_one_off();
    // "The importer no longer logs names" takes nothing back: it tells how things are.
    let is_addressed = wording.has_any(ADDRESSED);
    let is_may = || wording.has_any(MAY) && !wording.has_any(NO_LEAVE) && !is_one_off();
    // "We fix it today though it's Friday, exception" takes nothing back for tomorrow.
    let is_once = wording.has_any(ONCE) && !wording.has_any(LASTING);
    if is_once && !wording.has_any(NO_LONGER) && !wording.has_any(SINCE_TODAY) {
        return None;
    }
    let is_waiver = wording.has_any(NO_LONGER)
        || is_addressed && (wording.has_any(ENDED) || wording.has_any(EXCEPTIONS))
        || is_may()
        || is_given_up(sentence) && !is_one_off()
        || [ALLOWED, NEEDLESS, LIMITS].iter().any(|said| wording.has_any(said)) && is_lasting();
    let leaves_a_rest = wording.has_any(EXCEPTIONS) || wording.has_any(LIMITS);
    let how = if leaves_a_rest || !is_addressed { Waived::Partly } else { Waived::Wholly };
    is_waiver.then_some(how)
}

/// "I'm done with squash commits", "enough of the emojis", "no more recaps please": a habit. Who is
/// done with the migration, with reviewing or with step 2 reports a task.
fn is_given_up(sentence: &str) -> bool {
    let whole = Wording::of(sentence);
    let mut n_words_before = 0;
    clauses(sentence).any(|said| {
        let clause = Wording::of(said).without_lead_in(LEAD_INS);
        // "Dates as numbers, I'm tired of guessing" gives a reason.
        let is_reason = REASON_WORDS_MIN <= n_words_before;
        n_words_before += clause.len();
        let done = clause.possible(DONE_WITH).find_map(|done| clause.begins(done));
        let sick = clause.possible(SICK_OF).find_map(|sick| clause.begins(sick));
        let more = clause.possible("no more").find_map(|more| clause.begins(more));
        let is_asked = || whole.has_any("please|bitte");
        let named = |next: usize| clause.words().skip(next);
        let is_task = |word: &str| {
            is_one_of(word, THAT_ONE)
                || is_one_of(word, TASKS)
                || word.ends_with("ing")
                || word.chars().any(|letter| letter.is_ascii_digit())
        };
        let is_habit = |next: usize| !named(next).any(is_task);
        // A noun alone may be a task: "I'm done with login".
        let is_many = |next: usize| named(next).any(is_plural) || whole.has_any(OVER_AND_OVER);
        let is_trouble = clause.words().any(|word| is_one_of(word, TROUBLE));
        !is_trouble
            && (done.is_some_and(|next| is_habit(next) && is_many(next))
                || sick.is_some_and(|next| !is_reason && 0 < named(next).count())
                || more.is_some_and(|next| is_asked() && is_habit(next) && is_many(next)))
    })
}

/// Tells whether a sentence only lets something be: nobody wishes that it is done, or how. Who need
/// not be asked any more wishes that it is done without.
pub(super) fn only_lets_be(sentence: &str) -> bool {
    let wording = Wording::of(sentence).without_lead_in(LEAD_INS);
    let let_be = wording.possible(LET_BE).find_map(|let_be| wording.begins(let_be));
    let deed = let_be.and_then(|next| wording.word(next));
    deed.is_some_and(|deed| !is_one_of(deed, "ask|asking|to|me|you|check|confirm"))
        && waived_by(sentence) == Some(Waived::Wholly)
        && !clauses(sentence).skip(1).any(is_order_of)
}

/// Tells how much all of the sentences of a waiver take back together.
pub(crate) fn waived_in(text: &str) -> Option<Waived> {
    let said = || sentences(text).into_iter().filter_map(|range| text.get(range));
    let how = said().find_map(waived_by)?;
    let is_partly = said().any(|one| is_rest(one) || waived_by(one) == Some(Waived::Partly));
    Some(if is_partly { Waived::Partly } else { how })
}

/// Tells whether a sentence is only about the rest of what stands before it: "Anything else no."
pub(crate) fn is_rest(sentence: &str) -> bool {
    let wording = Wording::of(sentence);
    if wording.is_question {
        return false;
    }
    wording.begins_any(RESTS) || wording.len() <= REST_WORDS_MAX && wording.has_any(AS_BEFORE)
}

/// How a sentence begins that names what is left, …
const RESTS: &str = "\
     everything else|anything else|for everything else|all else|the rest|otherwise|only|still|\
     sonst|alles andere|der rest|nur|lo demás|todo lo demás|solo|sólo|le reste|остальное|только";
/// … and what short ones say anywhere.
const AS_BEFORE: &str = "\
     still|the old rule|as it was|as before|as ever|weiterhin|wie bisher|wie gehabt|sigue|\
     como antes|toujours|comme avant|по прежнему";
const REST_WORDS_MAX: usize = 8;

/// Said of one time.
const ONCE: &str = "\
     today|tonight|this time|this once|just once|only once|heute|diesmal|сегодня|aujourd'hui|\
     cette fois|hoy|esta vez";

/// Says by itself that something is over.
const NO_LONGER: &str = "\
     no more … commits|no more … prefixes|no more … recaps|no more … emojis|no more … prefix|\
     rule is too strict|rule was too strict|rule is too much|line cap … is gone|\
     line limit … is gone|line limit forget it|lines limit forget it|thing forget it|\
     thing forget that|rule forget it|giving up on|given up on|i gave up on|stop asking|\
     stop adding|stop doing|stop using|stop writing|stop running|you can stop|you may stop|\
     forget what i said|forget my|forget the rule|forget about|forget the … rule|drop the … rule|\
     drop the rule|drop that rule|scrap the|scrap that rule|ignore my|ignore what i said|\
     ignore the rule|rule is off|rule is gone|rule is dead|rule is lifted|doesn't apply|\
     does not apply|doesn't hold|i changed my mind|changed my mind|i've changed my mind|\
     i take back|take back what i said|i was wrong about|is over now|are over now|freeze is over|\
     ban is over|back to normal|relax the|loosen the|lift the|not that strict|less strict|\
     don't bother|no more asking|vergiss|gilt nicht|doch wieder|hat sich erledigt|забудь|отмен*|\
     plus besoin|oublie|annule|olvida|olvídate|cancela";

/// Gives a habit up, or reports that a task is done.
const DONE_WITH: &str = "\
     i'm done with|im done with|i am done with|we're done with|we are done with|fertig mit|\
     j'en ai fini avec|he terminado con";
/// Gives up whatever is named.
const SICK_OF: &str = "\
     i'm sick of|im sick of|i am sick of|i'm tired of|im tired of|i am tired of|i'm fed up with|\
     im fed up with|enough of|i've had enough of|i had enough of|ich habe genug von|genug von|\
     schluss mit|basta de|estoy harto de|j'en ai marre de|assez de|хватит|надоели";
/// What is worked at, and done some time.
const TASKS: &str = "\
     work|task|tasks|part|parts|step|steps|phase|review|reviews|migration|migrations|release|\
     deploy|deployment|setup|refactor|refactors|feature|features|ticket|tickets|issue|issues|\
     pr|prs|lunch|dinner|meetings|call|calls|today|everything|all|backend|frontend|research|\
     edits|changes|tests|docs|for|you|life|school|exams|i|we|go|let's";
/// What nobody asked for.
const TROUBLE: &str = "\
     flaky|broken|slow|failing|failed|bug|bugs|error|errors|crash|crashes|timeout|timeouts|warning|\
     warnings|problems|failures|conflicts|issues|question|questions|this|these|it|that|changes|\
     them|him|her|you|waiting|surprises|time|room|space|memory|than|is|are|was|were|has|have|pass|\
     passes|work|works|fail|fails|to";

/// Lets something be.
const LET_BE: &str = "\
     you can stop|you may stop|you can stop with|you may stop with|you can skip|you may skip|\
     you can drop|you may drop|you can omit|you may omit|you can leave out|you may leave out|\
     you can leave off|no need to|no need for|puedes omitir|puedes dejar de";

/// Says that something has ended, whoever may have ended it …
const ENDED: &str = "\
     no longer|any more|anymore|any longer|nicht mehr|keine … mehr|kein … mehr|больше не|уже не|\
     n'est plus|ne … plus|ya no|doch nicht";
/// … where the user speaks of what they ask for.
const ADDRESSED: &str = "\
     you|your|yourself|i no longer|i want|i need|we want|we use|we no longer|need to|have to|ask|\
     asking|fine|okay|allowed|rule|rules|exception|no need|never|always|stop|forget|please|\
     no … any more|no … anymore|only for|only on|du|dich|dir|mich|brauch*|musst|darfst|regel|nie|\
     immer|kein|keine|te|tú|necesit*|hace falta|puedes|regla|nunca|tu|besoin|règle|jamais|ты|\
     тебе|нужно|нужны|надо|правило";
/// Is no leave.
const NO_LEAVE: &str = "\
     you may want|you may need|you may see|you may notice|you may have|you may be";

/// Says by itself that something may be from now on, or go.
const MAY: &str = "\
     no need for you to|you don't need to|you don't have to|so no need|ok if|okay if|fine if|\
     they're noise|only the … you touch*|just the … you touch*|only … from here|you may|\
     you needn't|you need not|may use|may go|may stay|may write|is fine in|are fine in|is fine on|\
     are fine on|is fine for|are fine for|as much as you like|can go too|can go now|are noise|\
     is noise|isn't needed|aren't needed|needn't|you can drop|you can drop the|you may drop the|\
     is enough|leave that to|leave it to|is too much|keeps the old rule|only in these|\
     only what you|only when you|anything else no|du darfst|reicht|basta con|suffit|хватит|\
     is allowed|are allowed|everything else stays|everything else still|everything else … as ever|\
     for everything else still";

/// Says that something is needless or goes without, …
const NEEDLESS: &str = "\
     don't need to|don't need|do not need to|don't have to|do not have to|no need to|no need for|\
     not needed|not necessary|unnecessary|not required|can skip|skip the|can leave out|leave out|\
     brauchst|musst … nicht|nicht nötig|unnötig|не нужно|не надо|pas besoin|pas la peine|\
     no hace falta|no necesitas|no es necesario";
/// … or that it may be, …
const ALLOWED: &str = "\
     you can|we can|we may|feel free|go ahead|is fine|are fine|is ok|are ok|is okay|are okay|\
     it's fine|it's ok|it's okay|fine by me|fine with me|allowed to|i don't mind|happy with|\
     i'm ok with|i'm fine with|just do|just push|just merge|just run|kannst|darfst|dürfen|können|\
     ist ok|ist okay|ist in ordnung|erlaubt|можешь|можно|tu peux|on peut|c'est bon|puedes|\
     podemos|está bien|se puede";
/// … and not only this once.
const LASTING: &str = "\
     any more|anymore|from now on|from here on|going forward|in future|in the future|again|now|\
     without asking|without checking|without me|on your own|by yourself|yourself|directly|\
     straight|straight away|whenever|every time|each time|always|for … too|after all|these days|\
     since|as of|don't ask|no need to ask|anytime|generally|by default|in general|ab jetzt|\
     künftig|ab sofort|in zukunft|wieder|ohne zu fragen|ohne nachzufragen|ohne rückfrage|\
     jedes mal|immer|jetzt|direkt|selbst|selber|nur noch|теперь|снова|сам|без спроса|désormais|\
     sans demander|à nouveau|maintenant|toi même|ahora|sin preguntar|sin preguntarme|de nuevo|\
     siempre|directamente|tú mismo";

/// Names what is taken out, …
const EXCEPTIONS: &str = "\
     exception|exceptions|except|unless|other than|apart from|ausnahme|ausnahmen|außer|\
     ausgenommen|кроме|исключение|исключая|sauf|excepto|salvo|excepción";
/// … or what is left.
const LIMITS: &str = "\
     only for|only on|only in|only if|only when|only before|only after|only the|still for|\
     still ask|still want|still applies|still holds|just for|just on|just in|stays for|not for|\
     not on|not in|nur für|nur bei|nur noch|nur wenn|nur auf|nur in|bei … weiterhin|weiterhin|\
     только для|только на|seulement|uniquement|solo para|solo en|sólo para|sólo en|solo si";

/// With these, it is about what lies on the table.
const ONE_OFF: &str = "\
     today|tonight|tomorrow|this time|this once|for now|right now|just this|\
     heute|morgen|diesmal|vorerst|erstmal|сегодня|сейчас|aujourd'hui|cette fois|hoy|esta vez|\
     por ahora";
/// … or these, unless they stand for a place.
const THIS_ONE: &str = "this one|that one";
const THIS_PLACE: &str = "this repo|this repository|this project|diesem repo|diesem projekt";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_is_taken_back_wholly_or_in_part() {
        let check = |sentence: &str, expect: Option<Waived>| {
            assert_eq!(waived_by(sentence), expect, "{sentence}");
        };
        for sentence in [
            "you don't need to ask me any more before a migration",
            "you don't need to ask me any more for dev migrations",
            "emojis are fine again btw",
            "forget what I said about tabs",
            "You can push to main directly from now on.",
            "I no longer want the long summaries at the end",
            "stop asking me before every commit",
            "no need to rerun the whole suite each time",
            "Du brauchst mich dafür nicht mehr zu fragen",
            "du darfst Abhängigkeiten künftig selbst hinzufügen",
            "ya no hace falta que me preguntes",
            "тесты больше не нужны",
            "ok, no more summaries, please",
        ] {
            check(sentence, Some(Waived::Wholly));
        }
        for sentence in [
            "you don't need to ask me any more, only for prod",
            "dev-only packages u dont need to ask about, only the ones that ship",
            "exception: the generated client may have unwrap",
            "never on Fridays, except for hotfixes",
            "squash only for feature branches from now on, no longer everywhere",
            "nur noch bei Prod musst du fragen",
            "the release freeze is over, merge away",
            "and in this repository, only in this one, you may commit by yourself",
            "commit messages: i'm done with feat/fix/chore.",
            "I'm done with squash commits",
            "ok, i'm sick of the emojis",
            "Enough of conventional commits.",
        ] {
            check(sentence, Some(Waived::Partly));
        }
        for sentence in [
            "do I still need to ask you any more?",
            "you can look at the log now if you like, this one",
            "no need to fix that today",
            "for now you don't need to run the slow tests in this repo",
            "the tests are fine",
            "Always ask me before you run a migration.",
            "can you run it now",
            "the importer no longer logs names",
            "the generated files are not committed any more",
            "that may be a bug in the migration",
            "You may want to look at the migration log",
            "everything else works",
            "no tests pass except the slow ones",
            "I'm done with the migration",
            "I'm done with login, next the cart",
            "I'm done with reviews",
            "i'm done with step 2",
            "commit messages: I'm done with the docs",
            "enough for today",
            "enough of the shards are up",
            "I'm sick of these flaky tests",
            "no more than three lines please",
            "no more errors please",
            "no more questions please",
        ] {
            check(sentence, None);
        }
    }

    #[test]
    fn who_only_lets_something_be_wishes_nothing() {
        for (said, expect) in [
            ("You can stop with the summary at the end of each session, in all projects.", true),
            ("you may skip the changelog from now on", true),
            ("No need to rerun the whole suite each time, please", true),
            ("you can stop asking me before every commit", false),
            ("You can skip the changelog from now on, always write a note instead", false),
            ("you may push branches now", false),
            ("never push to main", false),
        ] {
            assert_eq!(only_lets_be(said), expect, "{said}");
        }
    }
}
