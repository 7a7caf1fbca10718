//! Which sentences say how the user wants things to be done from now on. The rules are narrow: what
//! they miss is still found by recall, what they take wrongly stands at the beginning of every
//! session.
//!
//! English first, then the basics of German, Russian, French and Spanish.

use super::orders::{ACTIONS, is_standing_order};
use super::phrase::{Wording, is_one_of};
use super::plain::{is_asked_politely, is_wish};
use super::rules::{LEAD_INS, POINTING, POINTING_BACK, is_labelled};
use super::waivers::only_lets_be;

/// Shorter sentences say nothing by themselves, longer ones say more than one thing.
const WORDS: std::ops::RangeInclusive<usize> = 3..=40;

/// Tells whether the user says how they want things to be done from now on.
pub(super) fn is_preference(sentence: &str) -> bool {
    let wording = Wording::of(sentence);
    if !WORDS.contains(&wording.len()) || is_like_code(sentence) {
        return false;
    }
    if wording.is_question {
        return is_asked_politely(sentence);
    }
    if only_lets_be(sentence) {
        return false;
    }
    let wording = wording.without_lead_in(LEAD_INS);
    if wording.begins_any(WISHES) || is_labelled(sentence, TO_REMEMBER) {
        return !is_one_off(&wording);
    }
    if wording.has_any(WISHED_BESIDE) || wording.begins_any(ROUTINES) && wording.has_any(EACH_TIME)
    {
        return !is_one_off(&wording);
    }
    if wishes_none(sentence) || wording.begins_any(ANSWER) && wording.has_any(LANGUAGES) {
        return !is_one_off(&wording);
    }
    let is_contrast = || CONTRASTING.iter().any(|not| sentence.contains(not));
    let is_brief = wording.len() <= BRIEF_WORDS_MAX && !wording.has_any(POINTING_BACK);
    if is_brief && is_contrast() && wording.has_any(ASKED_FOR) && !wording.has_any(POINTING) {
        return !is_one_off(&wording);
    }
    let is_compared = wording.has_any(LIKED_MORE) && !wording.has_any("take over|takes over");
    if wording.begins_any(LIKES) && (is_compared || is_contrast()) {
        return !is_one_off(&wording);
    }
    let beside = wording.possible(STANDING_BESIDE).find_map(|joined| Some(wording.find(joined)?.1));
    if let Some(next) = beside {
        return wording.word(next).is_some_and(is_order);
    }
    if let Some(next) = wording.possible(STANDING).find_map(|opening| wording.begins(opening)) {
        return wording.has_any(ASKED_FOR) || wording.word(next).is_some_and(is_order);
    }
    wording.begins_any("use|don't use|do not use|verwende|nutze|utiliza|usa|utilise")
        && (wording.has_any(CONTRASTS) || is_contrast())
        && !is_one_off(&wording)
        || is_standing_order(sentence)
        || is_wish(sentence)
}

/// Tells whether the user asks for something to be left out, in one clause: "no emojis please".
/// "No, the other one please" has a comma behind the "no".
fn wishes_none(sentence: &str) -> bool {
    // "Go on with the rest, I don't want two systems" is about what is being done.
    let is_of_a_deed = Wording::of(sentence).without_lead_in(BEFORE_A_NO).begins_any(ACTIONS);
    sentence.split([',', ';', ':', '.', '(', '–']).any(|clause| {
        let clause = Wording::of(clause).without_lead_in(BEFORE_A_NO);
        let none = clause.possible(NONE).find_map(|none| clause.begins(none));
        let is_asked = clause.possible(NONE_PLEASE).find_map(|none| clause.begins(none));
        let unwanted = clause.possible(UNWANTED).find_map(|none| clause.begins(none));
        let unwanted = unwanted.filter(|_| !is_of_a_deed);
        let next = is_asked.or(none.filter(|_| clause.ends_any(ASKED_FOR))).or(unwanted);
        let is_thing = |word: &str| !is_one_of(word, NO_THINGS);
        next.and_then(|next| clause.word(next)).is_some_and(is_thing)
            && clause.len() <= NONE_WORDS_MAX
            && !clause.has_any(POINTING)
    })
}

/// Tells whether a sentence is about a line of code rather than about work: a call, a path of
/// modules, a comment, an arrow.
pub(super) fn is_like_code(sentence: &str) -> bool {
    let is_call = |(at, open): (usize, &str)| {
        let (before, behind) = sentence.split_at_checked(at).unwrap_or_default();
        let inside = behind.get(open.len()..).unwrap_or_default();
        // "no unwrap() in handlers" is about work.
        let has_words = open == "[" || !inside.is_empty() && !inside.starts_with(')');
        before.ends_with(char::is_alphanumeric) && has_words && !is_commit_head(before, inside)
    };
    sentence.match_indices(['(', '[']).any(is_call)
        || ["→", "::", "//", " = ", "()`"].iter().any(|mark| sentence.contains(mark))
}

/// "feat(gate): accept v3 frames" is how a commit is called.
fn is_commit_head(before: &str, inside: &str) -> bool {
    let kind = before.rsplit(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    let behind = inside.split_once(')').map(|(_, behind)| behind.trim_start_matches('!'));
    is_one_of(kind, COMMIT_KINDS) && behind.is_some_and(|behind| behind.starts_with(':'))
}

const COMMIT_KINDS: &str = "feat|fix|chore|docs|refactor|perf|test|build|ci|style|revert";

/// Openings that say by themselves that something is wished for good.
const WISHES: &str = "\
     i prefer|i always want|i never want|i want you to always|i want you to never|answer briefly|\
     answer short|answer in short|keep answers|keep your answers|be brief|be concise|\
     i like it when|i don't like it when|i hate it when|my preference is|from now on|\
     going forward|don't ever|do not ever|remember that|our convention is|the convention here is|\
     the rule here is|as a rule|ich bevorzuge|mir ist lieber|ab jetzt|ab sofort|in zukunft|\
     merk dir dass|merke dir dass|bitte immer|bitte nie|bitte niemals|я предпочитаю|\
     мне больше нравится|впредь|с этого момента|отныне|запомни|je préfère|à partir de maintenant|\
     dorénavant|désormais|retiens que|prefiero|yo prefiero|a partir de ahora|\
     de ahora en adelante|recuerda que";

/// Asked for with a contrast in a few words, it is how things are to be: "tabs please, not spaces".
pub(super) const ASKED_FOR: &str = "\
     please|bitte|пожалуйста|s'il te plaît|s'il vous plaît|por favor";
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
     i don't want|i do not want|we don't do|we do not do|we don't want|we do not want|\
     ich will keine|ich will keinen|ich will kein|ich möchte keine|ich möchte keinen|\
     ich möchte kein|wir wollen keine|wir wollen keinen|wir wollen kein|я не хочу видеть|\
     je ne veux pas de|no quiero ver";
const NONE_WORDS_MAX: usize = 14;
const BEFORE_A_NO: &str = "\
     ok|okay|so|and|also|but|well|btw|yes|yeah|hey|again|und|auch|aber|ja|gut|и|а|но|да|et|mais|\
     oui|y|pero|sí|vale";

/// What is not left out for good: it belongs to the moment, or to talk.
pub(super) const NO_THINGS: &str = "\
     to|you|it|that|this|them|these|those|the|a|an|him|her|us|me|anything|another|one|more|\
     problem|problems|worries|worry|need|idea|rush|hurry|panic|way|thanks|change|changes|stress|\
     clue|doubt|longer|please|answer|reply|mehr|ahnung|sorge|sorgen|problem|eile|panik|änderung|\
     änderungen|lust|zeit|thema|frage|bitte|проблем|вопросов|problème|souci|changement|problema|\
     prisa|cambios";

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
     only before|only after|lieber als|lieber … als|statt|вместо|plutôt que|más que|en vez de";

/// What stands before a colon and says the same.
const TO_REMEMBER: &str = "\
     remember|please remember|note for later|merke|merk dir|bitte merken|запомни|à retenir|\
     retiens|recuerda";

/// Says the same in the second half of a sentence.
const WISHED_BESIDE: &str = "\
     and i never want|and i always want|but i never want|but i always want|und ich will nie|\
     und ich will immer";

/// Needs an order behind it there: "that is fine, but always add a test".
const STANDING_BESIDE: &str = "\
     but always|but please always|but please never|aber immer|aber bitte immer|aber bitte nie";

/// What is done over and over …
const ROUTINES: &str = "\
     run|rerun|check|format|lint|update|regenerate|tag|bump|ask me|führe|prüfe|формат*|запускай|\
     lance|ejecuta";

/// … and when.
const EACH_TIME: &str = "\
     before each|before every|after each|after every|every time you|whenever you|vor jedem|\
     nach jedem|перед каждым|после каждого|avant chaque|après chaque|antes de cada|\
     después de cada";

/// Tells whether a wish is about what lies on the table.
pub(super) fn is_one_off(wording: &Wording) -> bool {
    wording.has_any(ONE_OFF) && !wording.has_any(SINCE_TODAY)
}

/// From a day on, and not only on it.
pub(super) const SINCE_TODAY: &str = "\
     from today|as of today|from tomorrow|as of now|ab heute|ab morgen|à partir d'aujourd'hui|\
     a partir de hoy|с сегодняшнего дня";
const ONE_OFF: &str = "\
     option|the first|the second|that one|this one|the former|the latter|variante|вариант|первый|\
     la première|opción|today|tomorrow|tonight|for now|right now|this time|at the moment|until|\
     yet|heute|morgen|diesmal|vorerst|erstmal|erst mal|fürs erste|im moment|gerade|noch|сейчас|\
     сегодня|пока|pour l'instant|aujourd'hui|cette fois|por ahora|hoy|esta vez";

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

#[cfg(test)]
mod tests;
