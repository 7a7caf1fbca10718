//! Which sentences hold beyond their session. The rules are narrow: what they miss is still found
//! by recall, what they take wrongly stands at the beginning of every session.
//!
//! English first, then the basics of German, Russian, French and Spanish.

use super::phrase::{Wording, is_one_of};

/// Shorter sentences say nothing by themselves, longer ones say more than one thing.
const WORDS: std::ops::RangeInclusive<usize> = 3..=40;

/// Who says a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    User,
    Assistant,
}

/// Tells whether the user says how they want things to be done from now on.
pub(crate) fn is_preference(sentence: &str) -> bool {
    let wording = Wording::of(sentence);
    if wording.is_question || !WORDS.contains(&wording.len()) || is_like_code(sentence) {
        return false;
    }
    let wording = wording.without_lead_in(LEAD_INS);
    if wording.begins_any(WISHES) || is_labelled(sentence, TO_REMEMBER) {
        return !wording.has_any(ONE_OFF);
    }
    if wording.has_any(WISHED_BESIDE) || wording.begins_any(ROUTINES) && wording.has_any(EACH_TIME)
    {
        return !wording.has_any(ONE_OFF);
    }
    if wishes_none(sentence) || wording.begins_any(ANSWER) && wording.has_any(LANGUAGES) {
        return !wording.has_any(ONE_OFF);
    }
    let is_contrast = || CONTRASTING.iter().any(|not| sentence.contains(not));
    let is_brief = wording.len() <= BRIEF_WORDS_MAX && !wording.has_any(POINTING_BACK);
    if is_brief && is_contrast() && wording.has_any(ASKED_FOR) && !wording.has_any(POINTING) {
        return !wording.has_any(ONE_OFF);
    }
    if wording.begins_any(LIKES) && (wording.has_any(LIKED_MORE) || is_contrast()) {
        return !wording.has_any(ONE_OFF);
    }
    let beside = wording.possible(STANDING_BESIDE).find_map(|joined| Some(wording.find(joined)?.1));
    if let Some(next) = beside {
        return wording.word(next).is_some_and(is_order);
    }
    if let Some(next) = wording.possible(STANDING).find_map(|opening| wording.begins(opening)) {
        return wording.word(next).is_some_and(is_order);
    }
    wording.begins_any("use|don't use|do not use|verwende|nutze|utiliza|usa|utilise")
        && (wording.has_any(CONTRASTS) || is_contrast())
}

/// Tells whether a sentence says what was decided.
pub(crate) fn is_decision(sentence: &str, speaker: Speaker) -> bool {
    let wording = Wording::of(sentence);
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
fn points_at_something(sentence: &str, wording: &Wording) -> bool {
    let ends_so = |clause: &str| Wording::of(clause).ends_any(POINTING_AT_ONE);
    wording.has_any(POINTING) || sentence.split([',', ';', ':', '.']).any(ends_so)
}

/// Tells whether a sentence says nothing without the one before it: "we agreed on that".
pub(crate) fn points_back(sentence: &str) -> bool {
    Wording::of(sentence).has_any(POINTING_BACK)
}

/// Tells whether who says a sentence calls it so: "Decision: …".
fn is_labelled(sentence: &str, labels: &str) -> bool {
    let Some((head, rest)) = sentence.split_once(':') else { return false };
    let is_label = |head: &Wording| {
        let whole = |label: &str| head.begins(label) == Some(head.len());
        head.possible(labels).any(whole)
    };
    let is_called = is_label(&Wording::of(head))
        || is_label(&Wording::of(head).without_lead_in(LEAD_INS).without_lead_in(AGREEING));
    is_called && rest.chars().any(char::is_alphanumeric)
}

/// Tells whether the user asks for something to be left out, in one clause: "no emojis please".
/// "No, the other one please" has a comma behind the "no".
fn wishes_none(sentence: &str) -> bool {
    sentence.split([',', ';', ':', '.', '(', '–']).any(|clause| {
        let clause = Wording::of(clause).without_lead_in(BEFORE_A_NO);
        let none = clause.possible(NONE).find_map(|none| clause.begins(none));
        let is_asked = clause.possible(NONE_PLEASE).find_map(|none| clause.begins(none));
        let unwanted = clause.possible(UNWANTED).find_map(|none| clause.begins(none));
        let next = is_asked.or(none.filter(|_| clause.ends_any(ASKED_FOR))).or(unwanted);
        let is_thing = |word: &str| !is_one_of(word, NO_THINGS);
        next.and_then(|next| clause.word(next)).is_some_and(is_thing)
            && clause.len() <= NONE_WORDS_MAX
            && !clause.has_any(POINTING)
    })
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

/// Tells whether a sentence is about a line of code rather than about work: a call, a path of
/// modules, a comment, an arrow.
fn is_like_code(sentence: &str) -> bool {
    let is_call = |pair: (char, char)| pair.0.is_alphanumeric() && matches!(pair.1, '(' | '[');
    sentence.chars().zip(sentence.chars().skip(1)).any(is_call)
        || ["→", "::", "//", " = "].iter().any(|mark| sentence.contains(mark))
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

const LEAD_INS: &str = "\
     please|again|ok|okay|so|and|also|but|well|btw|yes|yeah|no|note|important|hey|right|then|fine|\
     great|good|bitte|und|gut|пожалуйста|и|да|хорошо|s'il te plaît|s'il vous plaît|et|oui|alors|\
     por favor|y|sí|vale";

const REMEMBER: &str = "\
     don't forget that|do not forget that|don't forget to|keep in mind|merk dir|merke dir|\
     запомни|помни что|retiens que|souviens toi que|recuerda que|recuerda siempre";

/// Openings that say by themselves that something is wished for good.
const WISHES: &str = "\
     i prefer|i always want|i never want|i want you to always|i want you to never|\
     answer briefly|answer short|answer in short|keep answers|keep your answers|\
     be brief|be concise|\
     i like it when|i don't like it when|i hate it when|my preference is|from now on|\
     going forward|don't ever|do not ever|remember that|our convention is|\
     the convention here is|the rule here is|as a rule|ich bevorzuge|mir ist lieber|ab jetzt|\
     ab sofort|in zukunft|merk dir dass|merke dir dass|bitte immer|bitte nie|bitte niemals|\
     я предпочитаю|мне больше нравится|впредь|с этого момента|отныне|запомни|je préfère|\
     à partir de maintenant|dorénavant|désormais|retiens que|prefiero|yo prefiero|\
     a partir de ahora|de ahora en adelante|recuerda que";

/// Asked for with a contrast in a few words, it is how things are to be: "tabs please, not spaces".
const ASKED_FOR: &str = "please|bitte|пожалуйста|s'il te plaît|s'il vous plaît|por favor";
const BRIEF_WORDS_MAX: usize = 9;

/// Asked to be left out: with a courtesy before it, …
const NONE_PLEASE: &str = "\
     please no|please don't add|please don't use|bitte kein|bitte keine|bitte keinen|\
     bitte keinerlei|пожалуйста без|s'il te plaît pas de|s'il vous plaît pas de|por favor sin|\
     por favor nada de";
/// … or behind it; …
const NONE: &str = "no|kein|keine|keinen|без|pas de|sin|nada de";
/// … or by who does not want it at all.
const UNWANTED: &str = "\
     i don't want|i do not want|we don't want|we do not want|ich will keine|ich will keinen|\
     ich will kein|ich möchte keine|ich möchte keinen|ich möchte kein|wir wollen keine|\
     wir wollen keinen|wir wollen kein|я не хочу видеть|je ne veux pas de|no quiero ver";
const NONE_WORDS_MAX: usize = 14;
const BEFORE_A_NO: &str = "\
     ok|okay|so|and|also|but|well|btw|yes|yeah|hey|again|und|auch|aber|ja|gut|и|а|но|да|et|mais|\
     oui|y|pero|sí|vale";

/// What is not left out for good: it belongs to the moment, or to talk.
const NO_THINGS: &str = "\
     to|you|it|that|this|them|these|those|the|a|an|him|her|us|me|anything|another|one|more|\
     problem|problems|worries|worry|need|idea|rush|hurry|panic|way|thanks|change|changes|stress|\
     clue|doubt|longer|please|answer|reply|mehr|ahnung|sorge|sorgen|problem|eile|panik|\
     änderung|änderungen|lust|zeit|thema|frage|bitte|проблем|вопросов|problème|souci|changement|\
     problema|prisa|cambios";

/// Asks for answers in a language.
const ANSWER: &str = "\
     answer|reply|respond|talk to me|speak|antworte|antworten sie|sprich|отвечай|отвечайте|пиши|\
     réponds|répondez|parle|responde|contesta|habla";
const LANGUAGES: &str = "\
     in english|in german|in french|in spanish|in russian|in italian|in portuguese|in polish|\
     in dutch|in chinese|in japanese|speak english|speak german|auf deutsch|auf englisch|\
     auf französisch|auf spanisch|auf russisch|in deutsch|in englisch|на русском|по русски|\
     на английском|по английски|en français|en anglais|en español|en inglés";

/// Liking is a taste when something else is liked less.
const LIKES: &str = "\
     i like|i want|i'd rather have|i would rather have|i'd rather use|i would rather use|ich mag|\
     ich will|ich möchte|ich nutze|я люблю|me gusta|j'aime";
const LIKED_MORE: &str = "\
     over|and no|rather than|rather have … than|rather use … than|instead of|more than|\
     only before|only after|lieber als|lieber … als|statt|вместо|\
     plutôt que|más que|en vez de";

/// What stands before a colon and says the same.
const TO_REMEMBER: &str = "\
     remember|please remember|note for later|merke|merk dir|bitte merken|запомни|à retenir|\
     retiens|recuerda";

/// Says the same in the second half of a sentence.
const WISHED_BESIDE: &str = "\
     and i never want|and i always want|but i never want|but i always want|und ich will nie|\
     und ich will immer";

/// Needs an order behind it there: "that is fine, but always add a test".
const STANDING_BESIDE: &str = "but always|but please always|but please never|aber immer|\
     aber bitte immer|aber bitte nie";

/// What is done over and over …
const ROUTINES: &str = "\
     run|rerun|check|format|lint|update|regenerate|tag|bump|ask me|führe|prüfe|формат*|запускай|\
     lance|ejecuta";

/// … and when.
const EACH_TIME: &str = "\
     before each|before every|after each|after every|every time you|whenever you|vor jedem|\
     nach jedem|перед каждым|после каждого|avant chaque|après chaque|antes de cada|\
     después de cada";

/// With these, a wish is about what lies on the table.
const ONE_OFF: &str = "\
     option|the first|the second|that one|this one|the former|the latter|variante|вариант|\
     первый|la première|opción|today|tomorrow|tonight|for now|right now|this time|at the moment|\
     until|yet|heute|morgen|diesmal|vorerst|erstmal|erst mal|fürs erste|im moment|gerade|noch|\
     сейчас|сегодня|пока|pour l'instant|aujourd'hui|cette fois|por ahora|hoy|esta vez";

/// Openings that need an order behind them: "always run", not "always fails".
const STANDING: &str = "\
     always|never|we always|we never|immer|nie|niemals|всегда|никогда не|toujours|ne … jamais|\
     siempre|nunca";

/// What follows "always" or "never" in a complaint or a report.
const NO_ORDERS: &str = "\
     mind|again|been|had|has|have|was|is|are|the|a|an|same|thought|knew|got|did|saw|heard|seen|\
     said|happy|good|so|nice|too|not|wanted|noch|wieder|mehr|wenn|das|die|der|gesehen|одно|так|\
     был|была|было|видел|le|la|les|pas|un|une|he|ha|había|el|lo|me|es";

/// Tells whether a word may be an order. "fails", "failing" and "failed" are not.
fn is_order(word: &str) -> bool {
    let is_report = word.ends_with("ing")
        || word.ends_with('s') && !(word.ends_with("ss") || word.ends_with("us"))
        || word.ends_with("ed") && !(word.ends_with("eed") || word == "embed");
    let is_spanish_or_french = word.ends_with("ez") || word.ends_with("ons");
    !is_one_of(word, NO_ORDERS) && (!is_report || is_spanish_or_french)
}

const CONTRASTS: &str = "\
     instead of|rather than|in this project|in this repo|in this codebase|statt|anstatt|\
     en lugar de|en vez de";

/// "Use A, not B"; without the comma it is another sentence.
const CONTRASTING: [&str; 10] = [
    ", not ",
    ", never ",
    ", nicht ",
    ", nie ",
    ", niemals ",
    ", никогда ",
    ", no ",
    ", nunca ",
    ", pas ",
    ", jamais ",
];

/// What makes a sentence a thought rather than a decision, wherever it stands.
const UNDECIDED: &str = "\
     haven't|have not|hasn't|has not|not decided|not agreed|yet to|undecided|maybe|perhaps|\
     probably|nehmen wir an|nehmen wir mal an|noch nicht|vielleicht|ещё не|еще не|может|\
     возможно|peut être|pas encore|quizás|tal vez|todavía";

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
     so machen wir's|so machen wir es|so machen wir das|решено|договорились|décidé|\
     c'est décidé|decidido|acordado|queda decidido";
/// … or behind a comma, where "agreed" only agrees.
const STRONG_SEALS: &str = "\
     decided|that's decided|that's final|it's decided|beschlossen|abgemacht|решено|\
     c'est décidé|decidido";
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
     we don't use … any more|we don't use … anymore|i changed my mind|\
     i've changed my mind|lass uns … nehmen|lass uns … verwenden|lass uns … nutzen|\
     wir nehmen|ich habe mich … entschieden|будем использовать|давай использовать|\
     давайте использовать|переходим на|on va utiliser|nous allons utiliser|utilisons|\
     vamos a usar|vamos con|usaremos|going with|go with|we go with|we go for|we're going for|\
     let's settle on|let us settle on|nehmen wir|wir gehen mit|wir machen es mit|\
     wir machen das mit|machen wir es mit|machen wir das mit|wir setzen auf|setzen wir auf|\
     wir wechseln zu|wir wechseln auf|wir steigen auf … um|берём|usemos";

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
     decided|agreed|we decide|so we decide|we decided|we agreed|beschluss|beschlossen|entschieden|\
     vereinbart|abgemacht|wir entscheiden|entscheiden wir|решили|решено|договорились|on décide|\
     décidé|decidimos|decidido|acordado";

/// Without what was said before, nobody knows what "that one" is.
const POINTING: &str = "\
     option|options|that one|this one|these|those|with that|with this|with it|with a|with b|\
     use that|use this|use it|for now|variante|das hier|den hier|die da|den da|das da|erst mal|\
     vorerst";

/// At the end of a clause, nor which one of several.
const POINTING_AT_ONE: &str = "\
     the first|the second|den ersten|die erste|das erste|den zweiten|die zweite|das zweite";

/// An aside has so many words.
const ASIDE_WORDS_MIN: usize = 4;

/// What stands for something that was named before.
const POINTING_BACK: &str = "\
     it|them|on that|for that|with that|about that|to that|do that|that way|on this|for this|dafür|\
     damit|dabei|darauf|so machen|на этом|для этого|так и|pour ça|pour cela|comme ça|así|para eso";

/// "решили задачу" is a problem solved, "решили перейти" a decision.
fn is_resolved_to_act(wording: &Wording) -> bool {
    wording.begins("решили").and_then(|next| wording.word(next)).is_some_and(|word| {
        word == "что" || ["ть", "ться", "ти"].iter().any(|ending| word.ends_with(ending))
    })
}

#[cfg(test)]
mod tests;
