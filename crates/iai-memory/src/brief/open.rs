//! What a project left open: at the end of its last session, and what earlier ones put off and
//! nobody took up since.

use iai_store::{MemoryId, Reader};

use super::material::{Session, Told, may_be_told, recent_sessions, told};
use super::telling::{spoken_to, tells_enough};
use crate::error::Result;
use crate::remarks::open::{OpenThread, Spoken, Why};

/// What is told of all that was left open.
const OPEN_MAX: usize = 12;

/// Returns what is open, the latest first, of what each session by itself leaves open.
pub(super) fn left_open(sessions: &[Session], open: &[Vec<OpenThread<'_>>]) -> Vec<Told> {
    let tell = |thread: &OpenThread<'_>| {
        let why = match thread.why {
            Why::Unanswered => "not answered",
            Why::AwaitsTheUser => "waits for the user",
            Why::Next => "named as next",
            Why::PutOff => "put off",
        };
        let before = thread.replied_to.filter(|before| may_be_told(before));
        let before = before.filter(|_| !tells_enough(thread.sentence));
        let replied = before.and_then(|before| spoken_to(&before.text, thread.sentence));
        let aside = replied.map_or_else(|| why.to_owned(), |replied| format!("{why}, {replied}"));
        told(thread.turn, thread.sentence, Some(&aside))
    };
    threads(sessions, open).into_iter().map(tell).collect()
}

/// Returns the memories that leave something open in a project, the latest first, but for those of
/// one session.
pub(crate) fn open_in(reader: &Reader, project: &str, except: &str) -> Result<Vec<MemoryId>> {
    let sessions = recent_sessions(reader, project, except)?;
    let open: Vec<Vec<OpenThread<'_>>> = sessions.iter().map(Session::open_threads).collect();
    Ok(threads(&sessions, &open).iter().map(|thread| thread.turn.id).collect())
}

fn threads<'a, 'b>(
    sessions: &'b [Session],
    open: &'a [Vec<OpenThread<'b>>],
) -> Vec<&'a OpenThread<'b>> {
    let mut found = Vec::new();
    let earlier = open.iter().skip(1).flatten().filter(|thread| thread.is_put_off());
    // Of the sessions after the one that is looked at, heard when something may be taken up in
    // them: the latest comes first.
    let mut spoken = Spoken::listening_for(earlier.map(|thread| thread.sentence));
    let mut n_heard = 0;
    for (session_idx, open) in open.iter().enumerate() {
        let is_latest = session_idx == 0;
        found.extend(open.iter().filter(|thread| {
            // Nobody waits for an answer any more once another session went by.
            if is_latest || !thread.is_put_off() {
                return is_latest;
            }
            let unheard = sessions.get(n_heard..session_idx).unwrap_or_default();
            unheard.iter().flat_map(Session::turns).for_each(|turn| spoken.hear(&turn.text));
            n_heard = session_idx;
            !spoken.takes_up(thread.sentence)
        }));
    }
    found.truncate(OPEN_MAX);
    found
}
