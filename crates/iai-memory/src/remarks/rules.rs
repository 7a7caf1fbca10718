//! Which sentences say what was decided, or ask that something be remembered. The rules are narrow:
//! what they miss is still found by recall, what they take wrongly stands at the beginning of every
//! session.
//!
//! English first, then the basics of German, Russian, French and Spanish.

use super::phrase::{Wording, is_one_of};
use super::verdicts::is_verdict;

/// Shorter sentences say nothing by themselves, longer ones say more than one thing.
const WORDS: std::ops::RangeInclusive<usize> = 3..=40;

/// Who says a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    User,
    Assistant,
}

/// Tells whether a sentence says what was decided.
pub(crate) fn is_decision(sentence: &str, speaker: Speaker) -> bool {
    let wording = Wording::of(sentence);
    if speaker == Speaker::User && is_verdict(sentence) {
        return !wording.has_any(UNDECIDED) && !points_at_something(sentence, &wording);
    }
    if wording.is_question || !WORDS.contains(&wording.len()) {
        return false;
    }
    if wording.has_any(UNDECIDED) {
        return before_an_aside(sentence).is_some_and(|head| is_decision(head, speaker));
    }
    if is_labelled(sentence, LABELS) {
        return !wording.has_any("whether|tbd|open");
    }
    if speaker == Speaker::User && (is_sealed(sentence) || is_labelled(sentence, USER_LABELS)) {
        return !points_at_something(sentence, &wording);
    }
    let wording = wording.without_lead_in(LEAD_INS).without_lead_in(AGREEING);
    let is_told = |pattern: &str| {
        wording.find(pattern).is_some_and(|(at, _)| {
            let mut before = wording.words().take(at);
            let leading = at.checked_sub(1).and_then(|at| wording.word(at));
            leading.is_none_or(|word| is_one_of(word, LEADING) || is_one_of(word, LEAD_INS))
                && !before.any(|word| is_one_of(word, UNREAL))
        })
    };
    // What follows a comma gives the reason: "Ana reviews it from now on, Ben left".
    let head = Wording::of(sentence.split([',', ';']).next().unwrap_or_default());
    let is_from_now_on = wording.ends_any(FROM_NOW_ON) || head.ends_any(FROM_NOW_ON);
    let is_the_users = (wording.begins_any(USER_DECIDED)
        || is_named_choice(&wording)
        || is_from_now_on && WORDS.contains(&head.len()))
        && !points_at_something(sentence, &wording);
    wording.possible(DECIDED).any(is_told)
        || wording.begins_any(DECISION_OPENINGS)
        || is_resolved_to_act(&wording)
        || is_decided_by_others(&wording)
        || speaker == Speaker::User && is_the_users
}

/// Returns the first clause of a sentence that is undecided only in a later one: "we settled on
/// links, and passkeys come later maybe". A "maybe" that stands alone is about all of it.
fn before_an_aside(sentence: &str) -> Option<&str> {
    let mut clauses = sentence.split([',', ';']);
    let head = clauses.next().filter(|head| !Wording::of(head).has_any(UNDECIDED))?;
    let mut undecided = clauses.map(Wording::of).filter(|clause| clause.has_any(UNDECIDED));
    undecided.all(|clause| ASIDE_WORDS_MIN <= clause.len()).then_some(head)
}

/// Tells whether a sentence is about something that only who heard the talk knows. "The first" ends
/// a clause then; "in the first version" names something.
pub(super) fn points_at_something(sentence: &str, wording: &Wording) -> bool {
    let ends_so = |clause: &str| Wording::of(clause).ends_any(POINTING_AT_ONE);
    wording.has_any(POINTING) || sentence.split([',', ';', ':', '.']).any(ends_so)
}

/// Tells whether a sentence says nothing without the one before it: "we agreed on that".
pub(crate) fn points_back(sentence: &str) -> bool {
    let wording = Wording::of(sentence);
    wording.has_any(POINTING_BACK)
        || wording.begins_any(POINTING_THERE)
        || wording.has_any(POINTING_AT_A_WAY)
}

/// Tells whether who says a sentence calls it so: "Decision: …".
pub(super) fn is_labelled(sentence: &str, labels: &str) -> bool {
    let Some((head, rest)) = sentence.split_once(':') else { return false };
    let is_label = |head: &Wording| {
        let whole = |label: &str| head.begins(label) == Some(head.len());
        head.possible(labels).any(whole)
    };
    let is_called = is_label(&Wording::of(head))
        || is_label(&Wording::of(head).without_lead_in(LEAD_INS).without_lead_in(AGREEING));
    is_called && rest.chars().any(char::is_alphanumeric)
}

/// Tells whether a sentence ends by saying that what stands before is settled: "… Decided."
fn is_sealed(sentence: &str) -> bool {
    let said = sentence.trim_end_matches(|letter: char| !letter.is_alphanumeric());
    let is_end_of = |ends: &[char], seals: &str| {
        said.rsplit_once(ends).is_some_and(|(head, seal)| {
            let is_said = Wording::of(head).len() >= SEALED_WORDS_MIN && !head.contains('?');
            is_said && is_seal(seal, seals)
        })
    };
    is_end_of(&['.', ';', '!', '–', '—'], SEALS) || is_end_of(&[','], STRONG_SEALS)
}

/// Tells whether a sentence says only that what was said before it is settled.
pub(crate) fn is_only_a_seal(sentence: &str) -> bool {
    is_seal(sentence, SEALS)
}

/// Tells whether a sentence may be what was settled.
pub(crate) fn can_be_sealed(sentence: &str) -> bool {
    let wording = Wording::of(sentence);
    let is_open = wording.is_question
        || wording.has_any(UNDECIDED)
        || points_at_something(sentence, &wording);
    !is_open && (SEALED_WORDS_MIN..=*WORDS.end()).contains(&wording.len())
}

fn is_seal(words: &str, seals: &str) -> bool {
    let wording = Wording::of(words);
    !wording.is_question
        && wording.possible(seals).any(|seal| wording.begins(seal) == Some(wording.len()))
}

/// "Ok, Postgres it is": a choice that is named. "No idea what it is" names none.
fn is_named_choice(wording: &Wording) -> bool {
    let n_named = wording.len().saturating_sub(if wording.ends_any("it is then") { 3 } else { 2 });
    let is_name = |word: &str| !is_one_of(word, NO_NAMES);
    wording.ends_any("it is|it is then")
        && (1..=NAMED_WORDS_MAX).contains(&n_named)
        && wording.words().take(n_named).all(is_name)
}

/// Tells whether people decided whose word counts: "the board has decided". A compiler has not.
fn is_decided_by_others(wording: &Wording) -> bool {
    wording.possible(OTHERS_DECIDED).any(|decided| {
        wording.find(decided).is_some_and(|(at, _)| {
            let who = at.checked_sub(1).and_then(|at| wording.word(at));
            who.is_some_and(|who| is_one_of(who, DECIDERS))
                && !wording.words().take(at).any(|word| is_one_of(word, UNREAL))
        })
    })
}

/// Tells whether somebody asks that this be remembered.
pub(crate) fn is_remember_request(text: &str) -> bool {
    let first = super::sentences::sentences(text).into_iter().next();
    let sentence = first.and_then(|range| text.get(range)).unwrap_or_default();
    let wording = Wording::of(sentence);
    if wording.is_question {
        return false;
    }
    let wording = wording.without_lead_in(LEAD_INS);
    wording.begins_any(REMEMBER)
        || wording.begins("remember").is_some_and(|next| {
            wording.word(next).is_some_and(|word| !is_one_of(word, "when|how|if|me|the time"))
        })
}

pub(super) const LEAD_INS: &str = "\
     please|again|ok|okay|so|and|also|but|well|btw|yes|yeah|no|note|important|hey|right|then|\
     fine|great|good|bitte|und|gut|пожалуйста|и|да|хорошо|s'il te plaît|s'il vous plaît|et|oui|\
     alors|por favor|y|sí|vale";

const REMEMBER: &str = "\
     don't forget that|do not forget that|don't forget to|keep in mind|merk dir|merke dir|\
     запомни|помни что|retiens que|souviens toi que|recuerda que|recuerda siempre";

/// What makes a sentence a thought rather than a decision, wherever it stands.
const UNDECIDED: &str = "\
     haven't|have not|hasn't|has not|not decided|not agreed|yet to|undecided|maybe|perhaps|\
     probably|nehmen wir an|nehmen wir mal an|noch nicht|vielleicht|ещё не|еще не|может|возможно|\
     peut être|pas encore|quizás|tal vez|todavía";

/// What does so when the decision comes after it.
const UNREAL: &str = "\
     if|unless|whether|could|might|would|should|suppose|imagine|didn't|never|wish|ob|falls|wenn|\
     nicht|если|не|ли|si|pas|no|nunca";

/// Words that may lead to a decision; behind others it is only told of: "the plan we agreed on".
const LEADING: &str = "\
     then|finally|today|yesterday|because|therefore|now|dann|also|gestern|heute|тогда|сегодня|\
     donc|finalement|entonces|hoy|ayer";

/// Says of a decision, whoever says it.
const DECIDED: &str = "\
     we decided|we've decided|we have decided|we finally decided|it was decided that|\
     it was decided to|team decided|we agreed|we've agreed|we have agreed|we settled on|\
     we've settled on|we'll go with|we will go with|we're going with|we are going with|\
     we're switching to|we are switching to|we'll stick with|wir haben … entschieden|\
     wir haben … beschlossen|wir haben … vereinbart|wir bleiben bei|мы решили|договорились|\
     остановились на|решено|on a décidé|nous avons décidé|c'est décidé|on part sur|on reste sur|\
     decidimos|hemos decidido|hemos acordado|acordamos|nos quedamos con";

const DECISION_OPENINGS: &str = "\
     decided to|decided on|decided against|agreed on|agreed to|agreed that|settled on|\
     entscheidung|beschlossen|решение|décision|decisión";

/// What a decision begins with when it answers a proposal.
const AGREEING: &str = "\
     agreed|deal|alright|all right|then|einverstanden|abgemacht|na gut|also|also gut|dann|тогда|\
     ладно|d'accord|donc|de acuerdo|entonces";

/// Whose decision counts for the work …
const DECIDERS: &str = "\
     team|board|management|client|customer|boss|group|company|committee|council|manager|cto|ceo|\
     legal|vorstand|kunde|kundin|chef|chefin|leitung|geschäftsführung|geschäftsleitung|gruppe|\
     verein|gremium|команда|начальник|заказчик|équipe|client|cliente|direction|equipo|jefe|jefa|\
     dirección|junta|comité";
/// … and how it is told.
const OTHERS_DECIDED: &str = "\
     decided|has decided|have decided|agreed on|agreed to|has agreed on|has agreed to|settled on|\
     has settled on|have settled on|hat … beschlossen|haben … beschlossen|hat … entschieden|\
     hat … vereinbart|решила|решил|a décidé|ha decidido|ha acordado";

/// Says behind something that it is settled, as a sentence of its own …
const SEALS: &str = "\
     decided|agreed|settled|final|deal|that's decided|that's final|that's settled|it's decided|\
     it's final|so decided|beschlossen|entschieden|abgemacht|vereinbart|beschlossene sache|\
     so machen wir's|so machen wir es|so machen wir das|решено|договорились|décidé|c'est décidé|\
     decidido|acordado|queda decidido";
/// … or behind a comma, where "agreed" only agrees.
const STRONG_SEALS: &str = "\
     decided|that's decided|that's final|it's decided|beschlossen|abgemacht|решено|c'est décidé|\
     decidido";
const SEALED_WORDS_MIN: usize = 3;

/// What is no name before "it is", and how many words a name may have.
const NO_NAMES: &str = "\
     what|how|where|who|which|why|when|that|this|as|if|whether|like|than|i|we|you|he|she|they|it|\
     because|so|is|not|idea|know|see|sure|think|because|whatever|there|here|one|first|second|\
     third|other";
const NAMED_WORDS_MAX: usize = 4;

/// An assistant says these of its next step, a user of the project.
const USER_DECIDED: &str = "\
     let's use|let's go with|let us use|let us go with|let's stick with|let's switch to|\
     we'll use|we will use|i decided|i've decided|i have decided|i'm going with|i'll go with|\
     we're moving to|we are moving to|we're dropping|we are dropping|we drop|we no longer use|\
     we don't use … any more|we don't use … anymore|i changed my mind|i've changed my mind|\
     lass uns … nehmen|lass uns … verwenden|lass uns … nutzen|wir nehmen|\
     ich habe mich … entschieden|будем использовать|давай использовать|давайте использовать|\
     переходим на|on va utiliser|nous allons utiliser|utilisons|vamos a usar|vamos con|usaremos|\
     going with|go with|we go with|we go for|we're going for|let's settle on|let us settle on|\
     nehmen wir|wir gehen mit|wir machen es mit|wir machen das mit|machen wir es mit|\
     machen wir das mit|wir setzen auf|setzen wir auf|wir wechseln zu|wir wechseln auf|\
     wir steigen auf … um|берём|usemos|we use … now|we're using … now|we do … now|\
     wir verwenden … jetzt|wir nutzen … jetzt|wir benutzen … jetzt|usamos … ahora|\
     on utilise … maintenant|теперь используем";

/// How a sentence ends that says what holds now: "Postgres from here on."
const FROM_NOW_ON: &str = "\
     from here on|from now on|from today on|from today|as of today|ab jetzt|ab heute|ab sofort|\
     с сегодняшнего дня|à partir d'aujourd'hui|a partir de hoy";

/// What stands before a colon and a decision.
const LABELS: &str = "\
     decision|final decision|change of plan|change of plans|new plan|planänderung|entscheidung|\
     решение|décision|decisión";

/// What a user says there.
const USER_LABELS: &str = "\
     decided|agreed|we decide|so we decide|we decided|we agreed|beschluss|beschlossen|\
     entschieden|vereinbart|abgemacht|wir entscheiden|entscheiden wir|решили|решено|договорились|\
     on décide|décidé|decidimos|decidido|acordado";

/// Without what was said before, nobody knows what "that one" is.
pub(super) const POINTING: &str = "\
     option|options|that one|this one|these|those|with that|with this|with it|with a|with b|\
     use that|use this|use it|for now|variante|das hier|den hier|die da|den da|das da|erst mal|\
     vorerst";

/// At the end of a clause, nor which one of several.
const POINTING_AT_ONE: &str = "\
     the first|the second|den ersten|die erste|das erste|den zweiten|die zweite|das zweite";

/// An aside has so many words.
const ASIDE_WORDS_MIN: usize = 4;

/// What stands for something that was named before.
pub(super) const POINTING_BACK: &str = "\
     in that time|during that time|it|them|on that|for that|with that|about that|to that|\
     do that|that way|on this|for this|dafür|damit|dabei|darauf|so machen|на этом|для этого|так и|\
     pour ça|pour cela|comme ça|así|para eso";

/// "That's how I want it", "you can drop that".
const POINTING_AT_A_WAY: &str = "\
     that's how|that is how|this is how|drop that|skip that|leave that out|stop that|so will ich|\
     вот так|c'est comme ça|así es como";

/// … where a sentence begins so.
const POINTING_THERE: &str = "there|then there|da|dort|allí|ahí|là|там";

/// "решили задачу" is a problem solved, "решили перейти" a decision.
fn is_resolved_to_act(wording: &Wording) -> bool {
    wording.begins("решили").and_then(|next| wording.word(next)).is_some_and(|word| {
        word == "что" || ["ть", "ться", "ти"].iter().any(|ending| word.ends_with(ending))
    })
}

#[cfg(test)]
mod tests;
