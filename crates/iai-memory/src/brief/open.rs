//! What a project left open: at the end of its last session, and what earlier ones put off and
//! nobody took up since.

use std::collections::BTreeSet;

use iai_store::{MemoryId, Reader};

use super::material::{Session, Told, recent_sessions, told};
use crate::error::Result;
use crate::organise::{is_alike, is_stop_word};
use crate::remarks::Wording;
use crate::remarks::open::{OpenThread, Why, open_threads};

/// Shorter words say little about what a sentence is about.
const TELLING_LETTERS_MIN: usize = 4;
/// Words by which something is put off; whoever takes it up does not repeat them.
const PUTTING_OFF: &str = "\
     next|leave|left|stays|stay|remains|remaining|later|todo|tomorrow|have|remind|continue|let's|\
     missing|unfinished|open|half|bleibt|offen|fehlt|müssen|morgen|später|lass|machen|weiter|\
     нужно|завтра|осталось|продолжим|открыт|reste|faire|demain|continue|queda|pendiente|mañana|\
     seguimos";

/// Returns what is open, the latest first.
pub(super) fn left_open(sessions: &[Session]) -> Vec<Told> {
    let tell = |thread: OpenThread<'_>| {
        let why = match thread.why {
            Why::Unanswered => "not answered",
            Why::AwaitsTheUser => "waits for the user",
            Why::Next => "named as next",
            Why::PutOff => "put off",
        };
        told(thread.turn, thread.sentence, Some(why))
    };
    threads(sessions).into_iter().map(tell).collect()
}

/// Returns the memories that leave something open in a project, the latest first, but for those of
/// one session.
pub(crate) fn open_in(reader: &Reader, project: &str, except: &str) -> Result<Vec<MemoryId>> {
    let sessions = recent_sessions(reader, project, except)?;
    Ok(threads(&sessions).iter().map(|thread| thread.turn.id).collect())
}

fn threads(sessions: &[Session]) -> Vec<OpenThread<'_>> {
    let mut found = Vec::new();
    for (session_idx, session) in sessions.iter().enumerate() {
        let later = sessions.get(..session_idx).unwrap_or_default();
        found.extend(open_threads(&session.last).into_iter().filter(|thread| {
            later.is_empty() || thread.why == Why::PutOff && !is_taken_up(thread.sentence, later)
        }));
    }
    found
}

/// Tells whether most of what a sentence is about was spoken of in later sessions.
fn is_taken_up(sentence: &str, later: &[Session]) -> bool {
    let turns = later.iter().flat_map(|session| session.first.iter().chain(&session.last));
    let spoken: BTreeSet<String> = turns.flat_map(|turn| telling_words(&turn.text)).collect();
    let words = telling_words(sentence);
    let n_spoken = words.iter().filter(|word| is_among(&spoken, word)).count();
    words.is_empty() || words.len() < 2 * n_spoken
}

/// Tells whether one of the words is a form of this one.
fn is_among(words: &BTreeSet<String>, word: &str) -> bool {
    let beginning: String = word.chars().take(TELLING_LETTERS_MIN).collect();
    let near = words.range(beginning.clone()..).take_while(|own| own.starts_with(&beginning));
    near.into_iter().any(|own| is_alike(own, word))
}

fn telling_words(text: &str) -> BTreeSet<String> {
    let tells = |word: &&str| {
        TELLING_LETTERS_MIN <= word.chars().count()
            && !is_stop_word(word)
            && PUTTING_OFF.split('|').all(|own| own != *word)
    };
    Wording::of(text).words().filter(tells).map(str::to_owned).collect()
}
