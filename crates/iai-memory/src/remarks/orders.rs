//! Standing orders that are worded like any other: an order, and a word that makes it one for every
//! time. "Show me the diff before every commit" is one, "show me the diff" is not.
//!
//! English first, then the basics of German, Russian, French and Spanish.

use std::borrow::Cow;

use super::phrase::{Wording, is_one_of};
use super::reach::{is_only_reach, names_all};
use super::waivers::waived_by;
use super::wishes::{ASKED_FOR, NO_THINGS, is_one_off};

/// What stands before a colon and calls the rest a rule is not longer.
pub(super) const LABEL_WORDS_MAX: usize = 9;
pub(super) const LABEL_BYTES_MAX: usize = 120;
/// Colons of one sentence that are looked at.
const LABELS_MAX: usize = 3;
/// Says that something is possible, not that it is wanted.
pub(super) const ANY_TIME: &str = "can always|could always|can never|could never";
/// What is forbidden or asked for in a few words.
const BRIEF_WORDS: std::ops::RangeInclusive<usize> = 3..=14;
/// What is said to hold everywhere has so many words.
const RULE_WORDS: std::ops::RangeInclusive<usize> = 3..=40;
/// What is asked for with a "please" has so many words with it, where it is for every time.
const ASKED_WORDS_MIN: usize = 3;
/// A plural has more letters than "is" and "this".
const PLURAL_LETTERS_MIN: usize = 5;

/// Tells whether a sentence orders something for every time.
pub(super) fn is_standing_order(sentence: &str) -> bool {
    let sentence = &without_quotations(sentence);
    let whole = Wording::of(sentence);
    if is_one_off(&whole) || is_told(&whole) || whole.has_any(ANY_TIME) {
        return false;
    }
    is_ruled(sentence)
        || is_sealed(sentence)
        || is_about_language(&whole)
        || is_conditional(sentence, &whole)
        || whole.has_any(TO_YOU) && (whole.has_any(EVERY_TIME) || waived_by(sentence).is_some())
        || clauses(sentence).filter(|said| !is_only_a_seal(said)).any(|said| {
            let clause = Wording::of(said).without_lead_in(LEAD_INS);
            let is_wide = || names_all(&clause) && !clause.begins_any(FOR_THE_MOMENT);
            is_order(&clause) && (clause.has_any(EVERY_TIME) || is_wide())
                || clause.begins_any(IN_GENERAL) && clause.has_any(HERE_ONLY)
                || clause.begins_any(OF_MANY) && clause.has_any(SINCE_A_DAY)
                || clause.begins_any(STYLE)
                || is_forbidden(&clause, whole.len())
                || Wording::of(said).has_any(ASKED_FOR) && is_in_general(&clause)
        })
}

/// Tells whether a sentence tells of something, or thinks of it. "Reasons only if I ask" and "a
/// short why" do not.
pub(super) fn is_told(wording: &Wording) -> bool {
    wording.has_any(TOLD)
        || wording.has_any("if i") && !wording.has_any(IF_I_ASK)
        || wording.has_any("would") && !wording.has_any(WOULD_LIKE)
        || wording.has_any("why") && !wording.has_any(A_WHY)
}

/// Leaves out what is quoted: who asks where "everywhere" is orders nothing for every time.
pub(super) fn without_quotations(sentence: &str) -> Cow<'_, str> {
    let is_mark = |letter: char| matches!(letter, '"' | '“' | '”' | '„');
    if sentence.chars().filter(|letter| is_mark(*letter)).count() < 2 {
        return Cow::Borrowed(sentence);
    }
    let outside = sentence.split(is_mark).step_by(2).collect::<Vec<&str>>();
    Cow::Owned(outside.join("it"))
}

/// "When you give me times, use UTC": whatever begins so and goes on with an order.
fn is_conditional(sentence: &str, whole: &Wording) -> bool {
    let said = Wording::of(sentence).without_lead_in(LEAD_INS);
    said.begins_any(WHEN_YOU)
        && !whole.has_any(WHEN_DONE)
        && clauses(sentence).skip(1).any(is_order_of)
}

/// "Commit messages in English from today": what is written in which language, for more than once.
fn is_about_language(whole: &Wording) -> bool {
    let is_for_good = || whole.has_any(FOR_GOOD);
    let is_of_work =
        || whole.has_any(OF_WORK) && (whole.has_any(EVERY_TIME) || whole.has_any(HERE));
    0 < languages_wanted(whole).count() && (is_for_good() || is_of_work())
        || whole.possible(WRITE_IN).any(|write| {
            let next = whole.find(write).and_then(|(_, next)| whole.word(next));
            next.is_some_and(names_language)
        })
}

/// Returns the languages that something is to be in. "The new colleague is Dutch" wants none.
pub(crate) fn languages_wanted(wording: &Wording) -> impl Iterator<Item = &str> {
    let words = wording.words().enumerate().filter(|(_, word)| names_language(word));
    let is_wanted = |place: usize| {
        let before = place.checked_sub(1).and_then(|before| wording.word(before));
        before.is_none_or(|before| is_one_of(before, BEFORE_LANGUAGES))
    };
    words.filter(move |(place, _)| is_wanted(*place)).map(|(_, word)| word)
}

fn names_language(word: &str) -> bool {
    is_one_of(word, LANGUAGE_NAMES)
}

/// Tells whether a sentence says only that what was said before it is meant for every time.
pub(super) fn is_only_a_seal(sentence: &str) -> bool {
    let wording = Wording::of(sentence);
    !wording.is_question
        && (wording.possible(SEALS).any(|seal| wording.begins(seal) == Some(wording.len()))
            || is_only_reach(sentence))
}

/// Tells whether a sentence may be what a seal behind it means for every time. What is said to hold
/// in all projects need be no order: "UTC in logs and docs. All projects."
pub(super) fn can_be_sealed(sentence: &str, seal: &str) -> bool {
    if is_only_reach(seal) {
        let wording = Wording::of(sentence);
        return RULE_WORDS.contains(&wording.len())
            && !wording.is_question
            && !is_told(&wording)
            && (!wording.has_any(HAPPENED) || clauses(sentence).any(is_order_of))
            && !is_one_off(&wording);
    }
    let is_asked_for = |clause: &str| {
        let wording = Wording::of(clause);
        ASKED_WORDS_MIN <= wording.len() && wording.has_any(ASKED_FOR) && !wording.is_question
    };
    clauses(sentence).any(|clause| is_order_of(clause) || is_asked_for(clause))
}

pub(super) fn is_order_of(clause: &str) -> bool {
    is_order(&Wording::of(clause).without_lead_in(LEAD_INS))
}

pub(super) fn clauses(sentence: &str) -> impl Iterator<Item = &str> {
    // "unwrap()" is one word.
    let parts = sentence.split([',', ';', ':', '–', '—']).flat_map(|part| part.split(" ("));
    parts.filter(|clause| !clause.trim().is_empty())
}

/// "Rule for this repo: …", where the rest is more than a word.
fn is_ruled(sentence: &str) -> bool {
    let heads = sentence.match_indices(": ").take_while(|(at, _)| *at <= LABEL_BYTES_MAX);
    heads.take(LABELS_MAX).any(|(at, _)| {
        let rest = Wording::of(sentence.get(at + 1..).unwrap_or_default());
        let head = Wording::of(sentence.get(..at).unwrap_or_default());
        head.len() <= LABEL_WORDS_MAX
            && 1 < rest.len()
            && !head.has_any(OF_A_PIECE)
            && (head.has_any(RULES) || head.has_any(NOTES) && rest.has_any(ORDERS))
    })
}

/// "…, always." behind an order.
fn is_sealed(sentence: &str) -> bool {
    let mut parts = clauses(sentence);
    let is_many = |first: &str| is_order_of(first) || Wording::of(first).has_any("per|each|one");
    let Some(first) = parts.next() else { return false };
    is_many(first) && parts.any(is_only_a_seal) || is_conditional_for_all(sentence)
}

/// "Before larger work, give me a plan; in all my projects." What is to be done when the build is
/// green, or before somebody forgets it, is done once.
fn is_conditional_for_all(sentence: &str) -> bool {
    let said: Vec<&str> = clauses(sentence).collect();
    let [condition, ordered @ .., all] = said.as_slice() else { return false };
    let condition = Wording::of(condition).without_lead_in(LEAD_INS);
    condition.begins_any(CONDITIONS)
        && !condition.has_any(THAT_ONE)
        && !condition.has_any(OF_A_MOMENT)
        && ordered.iter().any(|order| is_order_of(order))
        && names_all(&Wording::of(all))
        && is_only_reach(all)
}

/// Tells whether a clause says what to do.
pub(super) fn is_order(clause: &Wording) -> bool {
    !clause.is_question
        && 1 < clause.len()
        && (clause.begins_any(ORDERS) || clause.has_any(TO_ME) || clause.has_any(MUST))
        && !clause.begins_any(NO_ORDERS)
}

/// "No deploys on Fridays": things of a kind, and where or when; or nothing but the things.
pub(super) fn is_forbidden(clause: &Wording, n_words_said: usize) -> bool {
    let Some(next) = clause.possible(NONE_OF).find_map(|none| clause.begins(none)) else {
        return false;
    };
    let is_thing = clause.word(next).is_some_and(|word| !is_one_of(word, NO_THINGS));
    let mut things = (next..next + 3).filter_map(|place| clause.word(place));
    // "Nothing moves before it's here" has no things: what ends like a plural is its verb.
    let is_of_a_kind = !clause.begins_any("nothing")
        && things.any(|word| is_plural(word) && !is_one_of(word, REPORTED));
    let is_all = clause.len() == n_words_said || n_words_said <= *BRIEF_WORDS.end();
    // "No entries in the table" tells what is not there.
    let is_general = clause.has_any(BEYOND) || !clause.has_any("the|that|this|these|those");
    BRIEF_WORDS.contains(&clause.len())
        && is_thing
        && is_general
        && !clause.has_any(FOUND)
        && (clause.has_any(BEYOND) || is_of_a_kind && (clause.has_any(WHERE) || is_all))
}

/// "One commit per topic": for more than what lies on the table.
fn is_in_general(clause: &Wording) -> bool {
    BRIEF_WORDS.contains(&clause.len())
        && !clause.begins_any(ACTIONS)
        && !clause.has_any(THAT_ONE)
        && (clause.words().any(is_plural) || clause.has_any(OF_MANY))
}

pub(super) fn is_plural(word: &str) -> bool {
    PLURAL_LETTERS_MIN <= word.chars().count()
        && word.ends_with('s')
        && !word.ends_with("ss")
        && !word.ends_with("us")
        && !word.contains('\'')
        && !is_one_of(
            word,
            "always|unless|across|besides|sometimes|perhaps|towards|redis|basis|analysis",
        )
}

pub(super) const LEAD_INS: &str = "\
     please|pls|again|ok|okay|so|and|also|but|well|btw|yes|yeah|no wait|note|important|hey|right|\
     then|fine|great|good|nice|first|second|third|otherwise|generally|in general|actually|listen|\
     oh|bitte|und|gut|generell|grundsätzlich|außerdem|y|eso sí|otra|además|et|oui|aussi|и|а|да|ещё";

/// What calls the rest a rule …
const RULES: &str = "\
     rule|rules|convention|conventions|policy|guideline|guidelines|regel|regeln|grundregel|\
     hausregel|regla|reglas|règle|règles|правило|правила";
/// … or makes it one where it orders something.
const NOTES: &str = "\
     generally|in general|important|one thing|for the future|from now on|going forward|generell|\
     grundsätzlich|wichtig|una cosa|en general|importante|en général|important|важно|вообще";

/// … unless it is about what lies on the table.
const OF_A_PIECE: &str = "\
     this pr|this branch|this file|this commit|this function|this test|this change|this one|\
     this fix|this bug|this task|this session|diesen pr|diese datei|este pr|cette pr";

/// Says behind an order that it is one for every time.
const SEALS: &str = "\
     always|every time|each time|ever|never|never ever|every single time|without exception|immer|\
     jedes mal|nie|niemals|ausnahmslos|siempre|cada vez|nunca|toujours|chaque fois|jamais|всегда|\
     каждый раз|никогда";

/// What makes an order one for every time.
pub(super) const EVERY_TIME: &str = "\
     always|never|ever|every time|each time|whenever|before each|before every|before any|\
     before you commit|before you push|before you run|before you change|before you touch|\
     before you delete|before you merge|before you write|\
     before committing|before pushing|before merging|\
     after each|after every|each new|every new|each pr|every pr|any change|any new|\
     when you write|when you change|when you add|when you report|when you touch|when you use|\
     when you rename|if you change|if you touch|if you add|from now on|from today|from here on|\
     from day one|as of today|generally|in general|going forward|in future|in the future|\
     don't … without|no … without|do not … without|nothing … without|anywhere|nowhere else|\
     without asking|without my ok|without me|unless i|ask me first|ask first|as always|as ever|\
     not even|also not|by yourself|on your own|per pr|per commit|per screen|per topic|per file|\
     per feature|no matter|at all times|everywhere|immer|nie|niemals|jedes mal|vor jedem|\
     nach jedem|ab jetzt|ab heute|ab sofort|künftig|generell|grundsätzlich|ohne zu fragen|\
     ohne rückfrage|überall|nirgends|siempre|nunca|cada vez|antes de cada|después de cada|\
     a partir de ahora|sin preguntar|toujours|jamais|chaque fois|avant chaque|après chaque|\
     désormais|sans demander|всегда|никогда|каждый раз|перед каждым|после каждого|впредь|\
     без спроса";

/// Makes one of what is forbidden, or wanted in general; who adds something in here does it once.
const HERE_ONLY: &str = "\
     in this repo|in this repository|in this project|in this codebase|for this repo|in here|\
     if you need|if you have to|in diesem repo|in diesem projekt|en este repo|en este proyecto|\
     dans ce projet|в этом проекте";
const IN_GENERAL: &str = "\
     never|always|don't|do not|no|nothing|only|keep|ask|you|nie|immer|kein|keine|keinen|nur|\
     nunca|siempre|nada|solo|jamais|toujours|pas de|никогда|всегда|не";

/// "All texts in the catalogue from day one."
const SINCE_A_DAY: &str = "from day one|from now on|from today|in the same commit|in one commit";

/// How an order begins.
pub(super) const ORDERS: &str = "\
     ask|show|tell|give|remind|warn|explain|keep|use|run|rerun|write|put|wrap|commit|test|add|\
     leave|avoid|check|name|pin|format|answer|reply|speak|talk|squash|rebase|tag|document|\
     mention|prefer|quote|never|always|don't|do not|no|nothing|only|stop|before every|\
     before each|before you|before any|after every|after each|whenever|when you|each|every|any|\
     you don't|you do not|you never|you always|you ask|you only|you use|you still|you must|\
     you may|you can|you needn't|frag|zeig|schreib|schreibe|nutze|verwende|benutze|mach|mache|\
     lass|kein|keine|keinen|nie|niemals|immer|nur|vor jedem|du darfst|du musst|du fragst|nada|\
     nunca|siempre|usa|escribe|háblame|habla|pregunta|pregúntame|muéstrame|avísame|no|antes de|\
     cada|ne|n'utilise|utilise|écris|demande|montre|toujours|jamais|avant chaque|не|никогда|\
     всегда|пиши|используй|спрашивай|показывай|перед каждым";
/// An order wherever it stands.
pub(super) const TO_ME: &str = "\
     ask me|show me|tell me|give me|remind me|warn me|let me know|i want|i don't want|i do want|\
     i wanna|i'd like you|i would like you|we'd like you|we would like you|i'd prefer|\
     i would prefer|we'd prefer|we would prefer|\
     frag mich|zeig mir|sag mir|pregúntame|muéstrame|demande moi|montre moi|спроси меня|\
     покажи мне";
const MUST: &str = "must|must not|mustn't|has to|have to|muss|müssen|debe|doit|должен|должны";
/// Begins like an order, and is none.
pub(super) const NO_ORDERS: &str = "\
     don't know|don't think|don't understand|don't see|don't get|don't care|don't worry|\
     don't mind|don't remember|don't have|don't need|do not know|do not need|no idea|no problem|\
     no rush|no need|no worries|no matter|no more questions|no one|no longer|no wonder|\
     never mind|never seen|never saw|never had|never heard|never worked|always the same|\
     always been|always had|always was|still|any idea|any news|any chance|any reason|\
     every now and then|nothing new|nothing happened|nothing else|nothing to do with|\
     nothing changed|nothing special|you can see|you can look|you can ignore|tell me why|\
     tell me how|tell me what|test failed|tests failed|run failed";

/// What forbids, …
const NONE_OF: &str = "\
     no|nothing|nada de|keine|keinen|kein|pas de|aucun|aucune|никаких|ningún|ninguna";
/// … where or when, …
const WHERE: &str = "\
     in|on|near|inside|before|after|please|pls|at all|en|bei|auf|im|dans|sur|в|на";
/// … and what makes it a rule of anything.
const BEYOND: &str = "\
     without asking|without my|without a|outside|outside of|anywhere|ever|near|except|unless|\
     ohne|außerhalb|außer|sin|fuera de|sans|hors de|без";
/// Of these is told that there are none.
pub(super) const REPORTED: &str = "\
     errors|warnings|problems|issues|questions|results|matches|hits|changes|conflicts|failures|\
     crashes|surprises|differences|regressions|comments|objections|complaints|leftovers|traces";

/// Begins what is told of all projects, or asked for once in each of them.
pub(super) const FOR_THE_MOMENT: &str = "\
     every|each|any|all|add|check|run|rerun|write|put|test|commit|tag|rebase|squash|format|show|\
     give|tell|name";

/// Asked for once.
pub(super) const ACTIONS: &str = "\
     fix|respond|reply|commit|push|merge|update|add|remove|delete|create|make|check|look|run|\
     change|move|rename|implement|continue|show|give|find|list|write|apply|revert|open|close|do|\
     go|let's|can|could|please fix|rebase|resolve|split|start|restart|deploy|install|test|try|\
     review|read|send";

/// Begins what is to be done each time …
const WHEN_YOU: &str = "\
     when you|whenever you|every time you|each time you|if you ever|wenn du|immer wenn du|cuando|\
     quand tu|когда ты";
/// … or whenever something is so, where it is said to hold in all projects: neither about what
/// lies on the table nor about somebody's moment …
const CONDITIONS: &str = "when|whenever|before|wenn|bevor|vor|cuando|antes de|quand|avant|когда";
const OF_A_MOMENT: &str = "\
     i|we|you're|you are|you have|done|ready|finished|possible|merged|green|user|users|lunch";
/// … rather than once.
const WHEN_DONE: &str = "\
     when you're|when you are|when you have|when you've|when you finish|when you get|\
     when you can|when you want|when you like|wenn du fertig|cuando puedas|quand tu peux";

/// How the assistant answers.
const STYLE: &str = "\
     short answers|keep answers|keep your answers|keep it short|keep it brief|no recap|no recaps|\
     no summary|no summaries|don't end with|don't sum up|don't summarise|don't summarize|\
     be brief|be concise|kurze antworten|keine zusammenfassung|fasse dich kurz|respuestas cortas|\
     keep doing that|keep doing this|keep it like that|do it like that always|\
     make that the default|sin resumen|réponses courtes|pas de résumé|короткие ответы|без итогов";

/// Says what the assistant does, may do or does not do.
const TO_YOU: &str = "\
     you don't|you do not|you never|you always|you ask|you only|you still|you must|you may|\
     you can|you needn't|you need not|you mustn't|you won't|du fragst|du darfst|du musst|\
     du brauchst|du kannst|puedes|debes|no tienes que|tu peux|tu dois|ты можешь|можешь|\
     тебе не нужно";

/// What stands before a language that something is to be in.
const BEFORE_LANGUAGES: &str = "\
     in|all|hi|ok|so|and|speak|talk|stay|auf|en|на|по|alles|todo|tout|parle|habla";
const LANGUAGE_NAMES: &str = "\
     english|german|french|spanish|russian|italian|portuguese|polish|dutch|chinese|japanese|\
     deutsch|englisch|französisch|spanisch|russisch|español|inglés|alemán|français|anglais|\
     allemand|русском|английском|russe|italiano|ucraniano|ukrainian|turkish|swedish|swahili|hindi";
const WRITE_IN: &str = "\
     write in|answer in|reply in|talk in|speak in|all in|schreib auf|antworte auf|escribe en|\
     responde en|háblame en|écris en|réponds en|пиши на|отвечай на";
/// For good, whatever it is.
const FOR_GOOD: &str = "\
     from now on|from today|as of today|in this repo|in this repository|in this project|ab jetzt|\
     ab heute|künftig|in diesem repo|a partir de ahora|en este repo|en este proyecto|désormais|\
     dans ce projet|впредь|отныне";
const HERE: &str = "here|all|please|pls|generally|as always|as ever|still|bitte|por favor|siempre";
/// Nothing is forbidden by who tells what is not there.
const FOUND: &str = "\
     found|yet|so far|were|was|are|is|left|needed|anymore|any more|failed|there|happened|came|\
     today|fail|fails|pass|passes|work|works";

/// What lies on the table.
pub(super) const THAT_ONE: &str = "\
     the|this|that|it|them|these|those|him|her|now|again|another|my|me|more|first|next|both|\
     which|what|one more|some";
/// What is for many.
const OF_MANY: &str = "per|only|all|any|each|every";

/// What is written in a language.
const OF_WORK: &str = "\
     commit|commits|message|messages|comment|comments|docs|doc|description|descriptions|text|\
     texts|string|strings|notes|names|answers|pr|prs|issues|kommentare|texte|nachrichten|\
     mensajes|comentarios|textos|commentaires|комментарии|сообщения";

/// Tells of something, or thinks of it.
const TOLD: &str = "\
     if we|could|might|i thought|i think|i wonder|seems|seem|it says|says that|\
     i noticed|i saw|i said|i told|those who|looks like|if user|if the|if a|if it|if they|\
     why does|why do|what if|i guess|maybe|perhaps|not sure|used to|that never|that always|\
     which never|which always|whether";

const IF_I_ASK: &str = "only if i|if i ask|if i say|unless i";
/// Who would like something asks for it.
const WOULD_LIKE: &str = "\
     i would like you|we would like you|i would prefer|we would prefer|i would rather|\
     i would like commit|we would like commit";
const A_WHY: &str = "a why|the why|short why|brief why|one line why";

/// Reports what happened: "The importer is down. All repos." wishes nothing.
pub(super) const HAPPENED: &str = "\
     is back|are back|is broken|are broken|is down|are down|is gone|are gone|is red|are red|\
     is green|are green|is slow|is stuck|was|were|wasn't|weren't|has been|have been|had|broke|\
     crashes|crashed|fails|failed|leaks|leaked|happened|happens|ist wieder|ist kaputt|war|waren|\
     wurde|wurden|ausgefallen|упал*|сломал*|est cassé|était|está caído|falló";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_for_every_time_stands() {
        for sentence in [
            "explain more when you change a model, a short why in the text",
            "rule for this repo: no new dependency without asking me first",
            "and generally: never touch the generated folder",
            "show me the schema before you run anything, always",
            "one migration per release, always, that is good as it is",
            "and no unwrap() outside of tests",
            "ok, no deploys on Fridays",
            "nothing goes to prod without my ok",
            "whenever you rename a table tell me",
            "before every commit run the complete suite",
            "conventional commits please",
            "css modules only please",
            "code comments and docs all English here",
            "commit messages in English from today",
            "hi, english from now on in this repo",
            "runbooks are for Beñat, write in Spanish",
            "and pls short answers, I can read the diff",
            "the database pods you don't restart, also not on staging",
            "don't take tickets of theirs without her label",
            "vor jedem Commit bitte alle Tests, immer",
            "nada de emojis en la salida",
            "when you give me times, use UTC pls",
            "all texts in the catalogue from day one",
            "dont take anything out of there without asking",
            "and pls keep changes here under 300 lines, big ones rot",
        ] {
            assert!(is_standing_order(sentence), "{sentence}");
        }
        assert!(
            is_only_a_seal("Every time.") && is_only_a_seal("always") && is_only_a_seal("Nie!")
        );
        assert!(!is_only_a_seal("always?") && !is_only_a_seal("always the same"));
    }

    #[test]
    fn what_is_asked_for_once_or_told_does_not() {
        for sentence in [
            "show me the diff",
            "I'm waiting for the certificate, nothing moves before it's here",
            "no tests fail on my machine",
            "tell me why it never retries when you change the port",
            "no errors in the log",
            "nothing obvious in the trace",
            "no tests were found",
            "fix the merge conflicts please",
            "respond to the review comments please",
            "let's continue please",
            "if the user comes back they always get a new token",
            "one never knows",
            "you can always look at the log yourself, I guess",
            "the server answers in German",
            "she speaks English and Spanish",
            "you asked me every time and I said yes each time",
            "today no deploys on prod",
            "run the tests",
            "when you're done, run the tests",
            "I always get a timeout on Windows",
            "explain why it always fails on CI",
            "the parser never goes through that branch",
            "add a comment in here",
            "run the tests in this project",
            "No entries in the table",
            "all tests pass, every time",
            "the german texts are still broken",
            "let's polish the page in this project",
        ] {
            assert!(!is_standing_order(sentence), "{sentence}");
        }
    }
}
