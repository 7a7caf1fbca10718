//! What a project left open: at the end of its last session, and what earlier ones put off and
//! nobody took up since.

use iai_store::{MemoryId, Reader};

use super::material::{Session, Told, recent_sessions, told};
use crate::error::Result;
use crate::remarks::open::{OpenThread, Spoken, Why, open_threads};

/// What is told of all that was left open.
const OPEN_MAX: usize = 12;

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
        let turns = later.iter().flat_map(|session| session.first.iter().chain(&session.last));
        let spoken = Spoken::of(turns.map(|turn| turn.text.as_str()));
        let open = open_threads(&session.last).into_iter();
        found.extend(open.filter(|thread| match thread.why {
            Why::Next | Why::PutOff => later.is_empty() || !spoken.takes_up(thread.sentence),
            // Nobody waits for an answer any more once another session went by.
            Why::Unanswered | Why::AwaitsTheUser => later.is_empty(),
        }));
    }
    found.truncate(OPEN_MAX);
    found
}
