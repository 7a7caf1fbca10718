//! Whether a conversation was left open: an answer that never came, work put off, a list of what
//! remains.

mod asking;
mod deeds;
mod matter;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use iai_store::{Memory, Role};

pub(crate) use asking::{asks, is_request};
pub(super) use deeds::reports_in;
pub(crate) use matter::{Spoken, matter_of, n_telling};

use super::phrase::{Wording, is_one_of, is_question};
use super::sentences::{beginning, sentences};
use crate::organise::n_shared;
use deeds::Deeds;

/// Turns at the end in which work may be put off in passing; what is labelled counts in all.
const PUTTING_OFF_TURNS: usize = 4;
/// An assistant says at its end what remains; the long rest is an answer.
const ENDING_BYTES: usize = 2000;
/// A user says it first or last, before or behind what they paste.
const SAID_BYTES: usize = 6000;
/// What one session may leave open …
const THREADS_MAX: usize = 6;
/// … and sentences that look so, from its end on. Who pastes more of them pastes a list.
const CANDIDATES_MAX: usize = 64;
/// What a sentence is about is said in so much of it.
const MATTER_BYTES_MAX: usize = 1000;
/// What is put off in words that tell less is told with the sentence before them.
const TELLING_MIN: usize = 2;
/// A request shorter than this says too little to be told of.
const REQUEST_WORDS_MIN: usize = 4;
/// What stands before the colon of a label has no more words …
const LABEL_WORDS_MAX: usize = 6;
/// … and no more bytes.
const LABEL_BYTES_MAX: usize = 100;
/// Whether work is named behind a label is seen in so much of it.
const NAMED_BYTES_MAX: usize = 100;

/// What was left open, as a part of one of the turns.
#[derive(Debug, Clone)]
pub(crate) struct OpenThread<'a> {
    pub(crate) turn: &'a Memory,
    pub(crate) sentence: &'a str,
    pub(crate) why: Why,
    /// What the other said before it.
    pub(crate) replied_to: Option<&'a Memory>,
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

impl OpenThread<'_> {
    /// Tells whether it waits for a session that takes it up, and not for an answer.
    pub(crate) fn is_put_off(&self) -> bool {
        matches!(self.why, Why::PutOff | Why::Next)
    }

    fn matter(&self) -> BTreeSet<String> {
        matter_of(beginning(self.sentence, MATTER_BYTES_MAX))
    }
}

/// Returns what the last turns of a session leave open, the latest first.
pub(crate) fn open_threads(last_turns: &[Memory]) -> Vec<OpenThread<'_>> {
    let mut found: Vec<OpenThread<'_>> = Vec::new();
    let mut deeds = Deeds::of(last_turns);
    for (place, thread) in candidates(last_turns).take(CANDIDATES_MAX) {
        let told = found.iter_mut().find(|later| is_repeated(&thread, later));
        let is_news = told.as_ref().is_none_or(|later| says_more(&thread, later));
        if is_news && !deeds.is_done_after(place, &thread.matter()) {
            match told {
                Some(later) => *later = thread,
                None => found.push(thread),
            }
        }
        if found.len() == THREADS_MAX {
            break;
        }
    }
    let Some(last) = last_turns.last() else { return found };
    if found.iter().all(|thread| thread.turn.id != last.id)
        && let Some((sentence, why)) = left_hanging(last)
    {
        found.insert(0, OpenThread { turn: last, sentence, why, replied_to: None });
    }
    found
}

/// Returns what is called open or put off, done or not, the latest first; each with the place of
/// its turn.
fn candidates(turns: &[Memory]) -> impl Iterator<Item = (usize, OpenThread<'_>)> {
    turns.iter().enumerate().rev().flat_map(move |(place, turn)| {
        let is_near_the_end = turns.len() - place <= PUTTING_OFF_TURNS;
        let ranges = looked_at(turn);
        (0..ranges.len()).rev().filter_map(move |at| {
            let range = ranges.get(at)?;
            let sentence = turn.text.get(range.clone())?;
            let in_passing = || is_near_the_end.then(|| puts_off(sentence, turn.role)).flatten();
            let (sentence, why) = labelled(sentence).or_else(in_passing)?;
            let before = at.checked_sub(1).and_then(|before| ranges.get(before));
            let sentence = match before.filter(|_| n_telling(sentence) < TELLING_MIN) {
                Some(before) => with_before(&turn.text, before, range).unwrap_or(sentence),
                None => sentence,
            };
            let replied_to = place.checked_sub(1).and_then(|before| turns.get(before));
            let replied_to = replied_to.filter(|before| before.role != turn.role);
            Some((place, OpenThread { turn, sentence, why, replied_to }))
        })
    })
}

/// Returns a sentence that names nothing with the one before it: "New disks in May. Remind me."
/// Where something stands between them, they have nothing to do with each other.
fn with_before<'a>(text: &'a str, before: &Range<usize>, range: &Range<usize>) -> Option<&'a str> {
    let is_joined = text.get(before.end..range.start)?.trim_matches(' ').is_empty();
    text.get(before.start..range.end).filter(|_| is_joined)
}

/// The sentences of a turn that may say that something is open: whole lines at the end of an
/// answer, and what a user says, but not the middle of all that may be pasted there.
fn looked_at(turn: &Memory) -> Vec<Range<usize>> {
    if turn.role == Role::User {
        return at_the_ends(&turn.text, SAID_BYTES);
    }
    let start = turn.text.ceil_char_boundary(turn.text.len().saturating_sub(ENDING_BYTES));
    let ending = turn.text.get(start..).unwrap_or_default();
    let lines = ending.split_once('\n').map_or(ending, |(_, lines)| lines);
    let ending = if start == 0 { ending } else { lines };
    let start = turn.text.len() - ending.len();
    let ranges = sentences(ending).into_iter();
    ranges.map(|range| start + range.start..start + range.end).collect()
}

/// Returns the sentences that stand in the first and the last bytes of a text. The whole of it is
/// cut: where the end begins inside of code, only what is before tells so.
fn at_the_ends(text: &str, n_bytes: usize) -> Vec<Range<usize>> {
    let last_from = text.len().saturating_sub(n_bytes);
    let ranges = sentences(text).into_iter();
    ranges.filter(|range| range.end <= n_bytes || last_from <= range.start).collect()
}

/// Tells whether a later thread says the same: one speaker in the words of the other, or one again.
fn is_repeated(thread: &OpenThread<'_>, later: &OpenThread<'_>) -> bool {
    let (words, others) = (thread.matter(), later.matter());
    let n_fewest = words.len().min(others.len());
    let n_shared = n_shared(&words, &others);
    match thread.turn.role == later.turn.role {
        true => thread.turn.id != later.turn.id && 1 < n_shared && n_shared == n_fewest,
        false => 0 < n_shared && n_fewest <= 2 * n_shared,
    }
}

/// Tells whether the user said in more words what the assistant only says to have noted.
fn says_more(thread: &OpenThread<'_>, later: &OpenThread<'_>) -> bool {
    let roles = (thread.turn.role, later.turn.role);
    roles == (Role::User, Role::Assistant) && later.matter().len() < thread.matter().len()
}

fn parts(text: &str) -> Vec<&str> {
    sentences(text).into_iter().filter_map(|range| text.get(range)).collect()
}

fn left_hanging(last: &Memory) -> Option<(&str, Why)> {
    let said = parts(&last.text);
    match last.role {
        Role::User => {
            let question = said.iter().rev().find(|part| asks(part));
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

/// A choice to be made or a fact to be told; offers and "what next?" are politeness.
fn is_real_question(sentence: &str) -> bool {
    let wording = Wording::of(sentence);
    let is_choice = wording.begins_any(CHOICES) && wording.has_any("or|oder|или|ou|o");
    let is_about_a_fact = wording.begins_any(FACTS) && !wording.has_any(COURTEOUS);
    let is_long_enough = REQUEST_WORDS_MIN <= wording.len();
    wording.is_question && is_long_enough && (is_choice || is_about_a_fact)
}

/// Returns what is put off without being called so.
fn puts_off(sentence: &str, role: Role) -> Option<(&str, Why)> {
    let wording = Wording::of(sentence);
    if wording.is_question {
        return None;
    }
    let is_put_off = match role {
        Role::User => {
            wording.has_any(PUT_OFF)
                || wording.has_any(LEFT)
                || wording.ends_any(REMIND)
                || is_awaited(sentence, &wording)
                || REQUEST_WORDS_MIN <= wording.len() && wording.has_any(NOT_NOW)
        }
        // An assistant that names nothing only answers.
        Role::Assistant => wording.has_any(LEFT) && 0 < n_telling(sentence),
        Role::System => false,
    };
    (is_put_off && !wording.has_any(DONE)).then_some((sentence, Why::PutOff))
}

/// Tells whether a text says anywhere that something is not done yet.
pub(super) fn says_it_is_open(text: &str) -> bool {
    parts(text).into_iter().any(|sentence| {
        let wording = Wording::of(sentence);
        labelled(sentence).is_some()
            || [LEFT, PUT_OFF, NOT_NOW].iter().any(|said| wording.has_any(said))
    })
}

/// Tells whether the user waits for what somebody else is to send, for longer than a run takes.
pub(super) fn waits_for_somebody(sentence: &str) -> bool {
    let wording = Wording::of(sentence);
    !wording.is_question
        && wording.has_any(WAITING_FOR_OTHERS)
        && !wording.has_any(FROM_NOBODY)
        && !wording.has_any(HANGING)
}

/// Tells whether the user waits for somebody. A program waits too, but for a lock or an answer.
fn is_awaited(sentence: &str, wording: &Wording) -> bool {
    let mut clauses = sentence.split([',', ';', '.', '–', '(']).map(Wording::of);
    let is_waiting = wording.has_any(WE_WAIT) || wording.ends_any(WAITING_FOR_IT);
    (is_waiting || clauses.any(|clause| clause.begins_any(WAITING))) && !wording.has_any(HANGING)
}

/// Returns what somebody calls open, from the label on: "Not done yet: the read replica".
fn labelled(sentence: &str) -> Option<(&str, Why)> {
    if !sentence.contains(':') || is_question(sentence) {
        return None;
    }
    let ends = sentence.match_indices([';', '.', '!']).map(|(at, _)| at + 1);
    let dashes = sentence.match_indices(" - ").map(|(at, _)| at + 3);
    let mut starts: Vec<usize> = [0].into_iter().chain(ends).chain(dashes).collect();
    starts.sort_unstable();
    starts.into_iter().find_map(|start| {
        // A sentence may be one long line with a place to begin at every second letter: from each
        // of them only a little is read.
        let said = sentence.get(start..)?.trim_start();
        let (label, _) = beginning(said, LABEL_BYTES_MAX).split_once(':')?;
        let why = why_labelled(label)?;
        let rest = said.get(label.len() + 1..)?;
        let is_apart = rest.starts_with([' ', '*']);
        let named = beginning(rest.trim_start_matches(['*', ' ']), NAMED_BYTES_MAX);
        (is_apart && is_something(named.trim_end_matches(['*', ' ']))).then_some((said, why))
    })
}

fn why_labelled(label: &str) -> Option<Why> {
    let wording = Wording::of(label).without_lead_in(LEAD_INS);
    if LABEL_WORDS_MAX < wording.len() || !wording.word(0).is_some_and(begins_a_label) {
        return None;
    }
    let is_one = |labels: &str| {
        wording.possible(labels).any(|label| {
            wording.begins(label).is_some_and(|next| {
                wording.words().skip(next).all(|word| is_one_of(word, AFTER_LABELS))
            })
        })
    };
    match is_one(NEXT_LABELS) {
        true => Some(Why::Next),
        false => is_one(LABELS).then_some(Why::PutOff),
    }
}

/// Tells whether a label begins with this word: before most colons stands something else.
fn begins_a_label(word: &str) -> bool {
    static KNOWN: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
        let labels = LABELS.split('|').chain(NEXT_LABELS.split('|'));
        labels.filter_map(|label| label.split(' ').next()).collect()
    });
    KNOWN.contains(word)
}

/// Tells whether work is named: no figure, no path, no code, and not that nothing remains.
fn is_something(rest: &str) -> bool {
    let is_said =
        rest.starts_with(|first: char| first.is_alphabetic() || "\"'“„«(@".contains(first));
    is_said && 3 < rest.len() && !Wording::of(rest).begins_any(NOTHING)
}

/// Words before a label.
const LEAD_INS: &str = "\
     ok|okay|and|also|so|but|hm|well|then|i'll keep that|i keep that|und|also|gut|dann|и|так|et|\
     alors|y|entonces";

/// What stands before a colon and names what remains.
const LABELS: &str = "\
     todo|todos|to do|remaining|remains|still open|open|open question|open questions|open point|\
     open points|open item|open items|left to do|left open|left for later|left for next time|\
     for later|later|next time|parked|on hold|postponed|deferred|put off|pending|outstanding|\
     not done|not done yet|not yet done|not finished|not finished yet|not started|\
     not started yet|unfinished|still missing|still to do|still waiting for|waiting for|\
     waiting on|backlog|on the list|stays on the list|it stays on the list|remind me|follow up|\
     follow ups|bleibt auf der liste|offen|noch offen|offen geblieben|offener punkt|\
     offene punkte|offene frage|offene fragen|bleibt offen|für später|später|nächstes mal|\
     beim nächsten mal|zurückgestellt|vertagt|aufgeschoben|geparkt|ausstehend|steht noch aus|\
     noch nicht fertig|noch nicht erledigt|noch nicht gemacht|nicht erledigt|zu tun|noch zu tun|\
     es fehlt noch|fehlt noch|es fehlen noch|fehlen noch|wir warten auf|warten auf|erinnere mich|\
     осталось|ещё осталось|еще осталось|не сделано|ещё не сделано|еще не сделано|отложено|\
     на потом|позже|открыто|открытый вопрос|открытые вопросы|в следующий раз|ждём|ждем|напомни|\
     reste à faire|à faire|reste ouvert|point ouvert|points ouverts|pour plus tard|plus tard|\
     en attente|en suspens|mis de côté|pas encore fait|la prochaine fois|rappelle moi|pendiente|\
     pendientes|queda pendiente|por hacer|para después|para más tarde|más tarde|en espera|\
     sin terminar|sin hacer|la próxima vez|recuérdame";

/// With one of these, what comes next.
const NEXT_LABELS: &str = "\
     next|next up|next step|next steps|nächster schritt|nächste schritte|als nächstes|дальше|\
     следующий шаг|prochaine étape|prochaines étapes|próximo paso|próximos pasos";

/// What may stand between a label and its colon.
const AFTER_LABELS: &str = "\
     for|now|later|next|time|tomorrow|still|yet|remains|remaining|from|today|so|far|here|then|\
     items|points|für|später|morgen|heute|noch|bleibt|bleiben|nächstes|mal|завтра|пока|ещё|еще|\
     pour|demain|plus|tard|encore|para|mañana|después|todavía";

/// That nothing remains.
const NOTHING: &str = "\
     none|nothing|no|n/a|na|yes|true|false|all done|nichts|keine|keiner|nein|ничего|нет|rien|\
     aucun|aucune|nada|ninguno|ninguna";

/// Says that work goes on another time.
const PUT_OFF: &str = "\
     continue … tomorrow|continue … later|continue … next time|continue … monday|\
     tomorrow … continue|pick this up|pick it up … tomorrow|pick up … tomorrow|to be continued|\
     resume … tomorrow|tomorrow we need|tomorrow we will|tomorrow we'll|tomorrow i|\
     tomorrow let's|next time we|next time let's|we still need to|i still need to|still have to|\
     still to do|remind me to|leave … for tomorrow|morgen … weiter|morgen machen wir|\
     beim nächsten mal|müssen wir noch|wir müssen noch|продолжим|завтра … продолж*|\
     в следующий раз|ещё нужно|еще нужно|on continue demain|on reprend|la prochaine fois|\
     il reste à|seguimos mañana|continuamos mañana|mañana seguimos|queda pendiente|la próxima vez";

/// Says that something is not finished, whoever says it.
const LEFT: &str = "\
     stays open|remains open|still open|left open|stays unfinished|still unfinished|left to do|\
     remains to be done|still missing|section is missing|is not done yet|isn't done yet|\
     leave … for later|leave … unfinished|left a todo|leave a todo|not started yet|\
     noch nicht angefangen|still to write|still to be done|must look into|bleibt offen|\
     ist noch offen|sind noch offen|fehlt noch|fehlt nur noch|fehlt also noch|\
     fehlt also nur noch|fehlen noch|fehlen nur noch|noch nicht fertig|остаётся открыт*|\
     остается открыт*|ещё не готов*|еще не готов*|reste ouvert|reste à faire|\
     n'est pas encore fait|sigue pendiente|queda pendiente|falta por";

const DONE: &str = "don't|do not|no need|nicht nötig|не нужно|pas besoin";

/// Ends a sentence that says what to come back to.
const REMIND: &str = "\
     remind me|remind me then|remind me later|remind me tomorrow|remind us|erinnere mich|\
     erinner mich|erinnere mich daran|erinner mich dran|erinnere mich dann|напомни|напомни мне|\
     rappelle le moi|recuérdamelo";

/// Says that it has time.
const NOT_NOW: &str = "\
     maybe later|not today|not now|can wait|another time|on the list|kann warten|heute nicht|\
     nicht heute|nicht jetzt|jetzt nicht|vielleicht später|ein andermal|auf der liste|\
     auf die liste|не сегодня|не сейчас|может подождать|pas aujourd'hui|peut attendre|\
     une autre fois|hoy no|puede esperar|otro día";

/// Says that somebody's answer or work is waited for: wherever it stands, …
const WE_WAIT: &str = "\
     we're still waiting for|we are still waiting for|i'm still waiting for|\
     i am still waiting for|we still wait for|i still wait for|still owes|warten wir noch auf|\
     wir warten noch auf|ich warte noch auf|warte ich noch auf|всё ещё ждём|все еще ждем|\
     всё ещё жду|все еще жду|on attend encore|j'attends encore|seguimos esperando|sigo esperando";

/// … at the beginning of a clause, …
const WAITING: &str = "still waiting for|still waiting on|warten noch auf|warte noch auf";

/// … and at the end of a sentence.
const WAITING_FOR_IT: &str = "\
     waiting for it|waiting for them|waiting for him|waiting for her|warten noch darauf|\
     warte noch darauf";

/// Waits for something of somebody.
const WAITING_FOR_OTHERS: &str = "\
     i'm waiting for … from|i am waiting for … from|we're waiting for … from|\
     we are waiting for … from|i'm waiting on … from|we're waiting on … from|\
     we still wait for … from|i still wait for … from|still owes us|still owes me|\
     still has to send us|still has to send me|still have to send us|still needs to send us|\
     hasn't sent us|hasn't sent me|has not sent us|has not sent me|still waiting for … from|\
     still waiting on … from|ich warte auf … von|wir warten auf … von|estamos esperando … de|\
     j'attends … de|жду … от|ждём … от";

/// … and these are nobody else.
const FROM_NOBODY: &str = "\
     from you|from your|from the server|from the backend|from the api|from the endpoint|\
     from the queue|from the worker|from the build|from the pipeline|from ci|from upstream";

/// What a program waits for.
const HANGING: &str = "\
     lock|locks|mutex|semaphore|thread|threads|socket|response|timeout|event|signal|process|\
     hangs|hang|stuck|blocks|hängt|поток|bloqué|bloqueado";

const FAREWELLS: &str = "\
     thanks|thank you|thx|perfect|bye|good night|great work|well done|that's all|that is all|\
     looks good|lgtm|stop here|that's it for|done for today|enough for today|call it a day|\
     schluss für heute|на сегодня всё|на сегодня все|pour aujourd'hui|por hoy|never mind|\
     nevermind|danke|tschüss|спасибо|пока|merci|au revoir|gracias|adiós";

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
