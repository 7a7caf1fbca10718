//! Whether a conversation was left open: an answer that never came, work put off, a list of what
//! remains.

use iai_store::{Memory, Role};

use super::phrase::Wording;
use super::sentences::sentences;

/// Turns at the end in which work may be put off.
const PUTTING_OFF_TURNS: usize = 4;
/// A request shorter than this says too little to be told of.
const REQUEST_WORDS_MIN: usize = 4;

/// What was left open, as a part of one of the turns.
#[derive(Debug, Clone)]
pub(crate) struct OpenThread<'a> {
    pub(crate) turn: &'a Memory,
    pub(crate) sentence: &'a str,
    pub(crate) why: Why,
}

/// Why it counts as open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// The user asked, and nobody answered.
    Unanswered,
    /// The assistant asked, and the user did not answer.
    AwaitsTheUser,
    /// It was named as what comes next.
    Next,
    /// It was put off.
    PutOff,
}

/// Returns what the last turns of a session leave open, the latest first.
pub(crate) fn open_threads(last_turns: &[Memory]) -> Vec<OpenThread<'_>> {
    let mut found: Vec<OpenThread<'_>> = Vec::new();
    for turn in last_turns.iter().rev().take(PUTTING_OFF_TURNS) {
        let said = parts(&turn.text);
        let put_off = said.iter().rev().find_map(|part| Some((*part, puts_off(part, turn.role)?)));
        if let Some((sentence, why)) = put_off {
            found.push(OpenThread { turn, sentence, why });
            break;
        }
    }
    let Some(last) = last_turns.last() else { return found };
    if found.iter().all(|thread| thread.turn.id != last.id)
        && let Some((sentence, why)) = left_hanging(last)
    {
        found.push(OpenThread { turn: last, sentence, why });
    }
    found
}

fn parts(text: &str) -> Vec<&str> {
    sentences(text).into_iter().filter_map(|range| text.get(range)).collect()
}

fn left_hanging(last: &Memory) -> Option<(&str, Why)> {
    let said = parts(&last.text);
    match last.role {
        Role::User => {
            let question = said.iter().rev().find(|part| Wording::of(part).is_question);
            let sentence = question.or_else(|| said.iter().find(|part| is_request(part)))?;
            Some((sentence, Why::Unanswered))
        }
        Role::Assistant => {
            let sentence = said.last().filter(|part| is_real_question(part))?;
            Some((sentence, Why::AwaitsTheUser))
        }
        Role::System => None,
    }
}

/// A request is an order or a wish; who tells how things are may expect no answer.
fn is_request(sentence: &str) -> bool {
    let wording = Wording::of(sentence);
    let is_telling = wording.begins_any(TELLING) && !wording.begins_any(WISHING);
    REQUEST_WORDS_MIN <= wording.len() && !is_telling && !wording.has_any(FAREWELLS)
}

/// A choice to be made or a fact to be told; offers and "what next?" are politeness.
fn is_real_question(sentence: &str) -> bool {
    let wording = Wording::of(sentence);
    let is_choice = wording.begins_any(CHOICES) && wording.has_any("or|oder|или|ou|o");
    let is_about_a_fact = wording.begins_any(FACTS) && !wording.has_any(COURTEOUS);
    let is_long_enough = REQUEST_WORDS_MIN <= wording.len();
    wording.is_question && is_long_enough && (is_choice || is_about_a_fact)
}

fn puts_off(sentence: &str, role: Role) -> Option<Why> {
    let wording = Wording::of(sentence);
    if wording.is_question {
        return None;
    }
    let lower = sentence.to_lowercase();
    let is_labelled = |labels: &str| {
        labels.split('|').any(|label| {
            lower.strip_prefix(label).is_some_and(|rest| rest.starts_with(':') && rest.len() > 3)
        })
    };
    if is_labelled(NEXT_LABELS) {
        return Some(Why::Next);
    }
    let is_put_off = match role {
        Role::User => wording.has_any(PUT_OFF) || wording.has_any(LEFT),
        Role::Assistant => wording.has_any(LEFT),
        Role::System => false,
    };
    let is_open = is_labelled(LABELS) || is_put_off && !wording.has_any(DONE);
    is_open.then_some(Why::PutOff)
}

/// A line that begins with one of these and a colon names what remains.
const LABELS: &str = "\
     todo|to do|remaining|still open|open question|open questions|left to do|offen|noch offen|\
     осталось|reste à faire|à faire|pendiente|por hacer";

/// With one of these, what is gone on with at once: after another session it is begun or dropped.
const NEXT_LABELS: &str = "\
     next|next up|next step|next steps|nächster schritt|nächste schritte|дальше|следующий шаг|\
     prochaine étape|próximo paso";

/// Says that work goes on another time.
const PUT_OFF: &str = "\
     continue … tomorrow|continue … later|continue … next time|continue … monday|\
     tomorrow … continue|pick this up|pick it up … tomorrow|pick up … tomorrow|to be continued|\
     resume … tomorrow|tomorrow we need|tomorrow we will|tomorrow we'll|tomorrow i|\
     tomorrow let's|next time we|next time let's|we still need to|i still need to|still have to|\
     still to do|remind me to|leave … for tomorrow|morgen … weiter|morgen machen wir|\
     beim nächsten mal|müssen wir noch|wir müssen noch|продолжим|завтра … продолж*|\
     в следующий раз|ещё нужно|еще нужно|on continue demain|on reprend|la prochaine fois|\
     il reste à|seguimos mañana|continuamos mañana|mañana seguimos|queda pendiente|\
     la próxima vez";

/// Says that something is not finished, whoever says it.
const LEFT: &str = "\
     stays open|remains open|still open|left open|stays unfinished|still unfinished|left to do|\
     remains to be done|still missing|section is missing|is not done yet|isn't done yet|\
     leave … for later|leave … unfinished|still to write|still to be done|must look into|\
     bleibt offen|ist noch offen|fehlt noch|noch nicht fertig|остаётся открыт*|остается открыт*|\
     ещё не готов*|еще не готов*|reste ouvert|reste à faire|n'est pas encore fait|\
     sigue pendiente|queda pendiente|falta por";

const DONE: &str = "don't|do not|no need|nicht nötig|не нужно|pas besoin";

/// How sentences begin that only tell something.
const TELLING: &str = "\
     i|i'm|i've|i'll|we|we've|we're|we'll|you|he|she|it|it's|its|they|that|that's|this|the|a|an|\
     there|my|our|your|yes|no|ok|okay|decided|decision|agreed|always|never|remember|note|ich|\
     wir|es|das|die|der|ja|nein|я|мы|это|он|она|да|нет|je|on|nous|c'est|le|la|les|il|oui|non|yo|\
     nosotros|es|el|los|las|sí";

const WISHING: &str = "\
     i need|i want|i'd like|i would like|we need|ich möchte|ich brauche|wir brauchen|мне нужно|\
     je voudrais|je veux|il faut|quiero|necesito";

const FAREWELLS: &str = "\
     thanks|thank you|thx|perfect|bye|good night|great work|well done|that's all|that is all|\
     looks good|lgtm|stop here|that's it for|done for today|enough for today|call it a day|\
     schluss für heute|на сегодня всё|на сегодня все|pour aujourd'hui|por hoy|\
     never mind|nevermind|danke|tschüss|спасибо|пока|merci|au revoir|gracias|\
     adiós";

/// How a question begins that leaves the user a choice.
const CHOICES: &str = "\
     should i|shall i|should we|want me to|do you want me to|soll ich|sollen wir|мне|dois je|\
     debo|quieres que";

/// How a question begins that only the user can answer.
const FACTS: &str = "\
     which|what|where|who|when|how many|how much|is|are|welche|welcher|welches|was|wo|wer|wann|\
     какой|какая|какие|где|кто|когда|сколько|quel|quelle|où|qui|quand|cuál|qué|dónde|quién";

/// What makes a question courtesy rather than a need.
const COURTEOUS: &str = "\
     you|your|you're|you'd|mate|next|mind|sound|feel|thoughts|anything|something|du|dir|sie|\
     ihnen|вы|вам|ты|тебе|tu|te|vous|autre|usted|te|algo";

#[cfg(test)]
mod tests;
