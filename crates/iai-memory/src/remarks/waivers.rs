//! Which sentences take back, wholly or in part, what the user asked for once: "you don't have to
//! ask me for that any more". Alone they tell nothing; they are held against the wishes before
//! them.
//!
//! English first, then the basics of German, Russian, French and Spanish.

use super::phrase::Wording;

/// Shorter sentences take back something that only who heard the talk knows.
const WORDS: std::ops::RangeInclusive<usize> = 3..=60;

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
    let is_lasting = || wording.has_any(LASTING) && !wording.has_any(ONE_OFF);
    let is_waiver = wording.has_any(NO_LONGER)
        || wording.has_any(EXCEPTIONS)
        || wording.has_any(MAY) && !wording.has_any(ONE_OFF)
        || [ALLOWED, NEEDLESS, LIMITS].iter().any(|said| wording.has_any(said)) && is_lasting();
    is_waiver.then(|| match leaves_a_rest(sentence) {
        true => Waived::Partly,
        false => Waived::Wholly,
    })
}

/// Tells whether a sentence leaves something of what it takes back.
pub(crate) fn leaves_a_rest(sentence: &str) -> bool {
    let wording = Wording::of(sentence);
    wording.has_any(EXCEPTIONS) || wording.has_any(LIMITS)
}

/// Tells whether a sentence is only about the rest of what stands before it: "Anything else no."
pub(crate) fn is_rest(sentence: &str) -> bool {
    let wording = Wording::of(sentence);
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

/// Says by itself that something is over.
const NO_LONGER: &str = "\
     no longer|any more|anymore|any longer|stop asking|stop adding|stop doing|stop using|\
     stop writing|stop running|you can stop|you may stop|forget what i said|forget my|\
     forget the rule|forget about|forget the … rule|drop the … rule|drop the rule|drop that rule|\
     scrap the|scrap that rule|ignore my|ignore what i said|ignore the rule|rule is off|\
     rule is gone|rule is dead|rule is lifted|is lifted|doesn't apply|does not apply|\
     no longer applies|doesn't hold|i changed my mind|changed my mind|i've changed my mind|\
     i take back|take back what i said|i was wrong about|not a rule any|is over now|are over now|\
     freeze is over|ban is over|back to normal|relax the|loosen the|lift the|not that strict|\
     less strict|don't bother|no more asking|nicht mehr|keine … mehr|kein … mehr|vergiss|\
     gilt nicht|doch nicht|doch wieder|hat sich erledigt|больше не|уже не|забудь|отмен*|\
     plus besoin|n'est plus|ne … plus|oublie|annule|ya no|olvida|olvídate|cancela";

/// Says by itself that something may be from now on, or go.
const MAY: &str = "\
     no need for you to|you don't need to show me|you don't need to ask me|you don't have to|\
     so no need|ok if|okay if|fine if|they're noise|only the … you touch*|just the … you touch*|\
     only … from here|you may|you needn't|you need not|may use|may go|may be|may have|may stay|\
     may write|is allowed|are allowed|is fine in|are fine in|is fine on|are fine on|is fine for|\
     are fine for|as much as you like|can go too|can go now|are noise|is noise|isn't needed|\
     aren't needed|needn't|you can drop|is enough|leave that to|leave it to|is too much|\
     keeps the old rule|only if|only in these|only what you|only when you|everything else stays|\
     for everything else|anything else no|everything else|du darfst|darf|dürfen|reicht|puede|\
     basta con|suffit|хватит";

/// Says that something is needless or goes without, …
const NEEDLESS: &str = "\
     don't need to|don't need|do not need to|don't have to|do not have to|no need to|no need for|\
     needn't|not needed|not necessary|unnecessary|isn't needed|not required|can skip|skip the|\
     can leave out|leave out|brauchst|musst … nicht|nicht nötig|unnötig|не нужно|не надо|\
     pas besoin|pas la peine|no hace falta|no necesitas|no es necesario";
/// … or that it may be, …
const ALLOWED: &str = "\
     you can|you may|we can|we may|feel free|go ahead|is fine|are fine|is ok|are ok|is okay|\
     are okay|it's fine|it's ok|it's okay|fine by me|fine with me|is allowed|are allowed|\
     allowed to|i don't mind|happy with|i'm ok with|i'm fine with|just do|just push|just merge|\
     just run|kannst|darfst|dürfen|können|ist ok|ist okay|ist in ordnung|erlaubt|можешь|можно|\
     tu peux|on peut|c'est bon|puedes|podemos|está bien|se puede";
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
     exception|exceptions|except for|except in|except on|except when|except if|except the|except|\
     with the exception of|unless|other than|apart from|ausnahme|ausnahmen|außer|ausgenommen|\
     кроме|исключение|исключая|sauf|à l'exception|excepto|salvo|excepción";
/// … or what is left.
const LIMITS: &str = "\
     only for|only on|only in|only if|only when|only before|only after|only the|still for|\
     still ask|still want|still applies|still holds|just for|just on|just in|stays for|not for|\
     not on|not in|nur für|nur bei|nur noch|nur wenn|nur auf|nur in|bei … weiterhin|weiterhin|\
     только для|только на|seulement|uniquement|solo para|solo en|sólo para|sólo en|solo si";

/// With these, it is about what lies on the table.
const ONE_OFF: &str = "\
     today|tonight|tomorrow|this time|this once|for now|right now|just this|this one|that one|\
     heute|morgen|diesmal|vorerst|erstmal|сегодня|сейчас|aujourd'hui|cette fois|hoy|esta vez|\
     por ahora";

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
            "the release freeze is over, merge away",
            "Du brauchst mich dafür nicht mehr zu fragen",
            "du darfst Abhängigkeiten künftig selbst hinzufügen",
            "ya no hace falta que me preguntes",
            "тесты больше не нужны",
        ] {
            check(sentence, Some(Waived::Wholly));
        }
        for sentence in [
            "you don't need to ask me any more, only for prod",
            "exception: the generated client may have unwrap",
            "never on Fridays, except for hotfixes",
            "squash only for feature branches from now on, no longer everywhere",
            "nur noch bei Prod musst du fragen",
        ] {
            check(sentence, Some(Waived::Partly));
        }
        for sentence in [
            "do I still need to ask you any more?",
            "you can look at the log now if you like, this one",
            "no need to fix that today",
            "the tests are fine",
            "Always ask me before you run a migration.",
            "can you run it now",
        ] {
            check(sentence, None);
        }
    }
}
