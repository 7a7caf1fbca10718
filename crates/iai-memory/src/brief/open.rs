//! What a project left open: at the end of its last session, and what earlier ones put off and
//! nobody took up since.

use iai_store::{MemoryId, Reader, Remark, RemarkKind};
use jiff::SignedDuration;

use super::material::{Session, may_be_told, recent_sessions};
use super::remarked::{Asked, folded};
use super::telling::{spoken_to, tells_enough};
use super::told::{Told, told};
use crate::error::Result;
use crate::remarks::open::{OpenThread, Spoken, Why};

/// What is told of all that was left open.
const OPEN_MAX: usize = 12;
/// What was put off is read to choose from, …
const PUT_OFF_READ_MAX: usize = 16;
/// … and no longer told where nobody came back to it for so long: by then it is done or given up.
const PUT_OFF_KEPT: SignedDuration = SignedDuration::from_hours(24 * 70);

/// Returns what the user put off in the middle of a session, or long ago, the latest first.
pub(super) fn put_off(reader: &Reader, asked: &Asked<'_>) -> Result<Vec<Told>> {
    // Only what the step has come to: what was taken up since is known to it alone.
    let mut all = folded(reader.remarks(RemarkKind::Open, asked.project, PUT_OFF_READ_MAX)?);
    let is_kept = |at| asked.now.duration_since(at) <= PUT_OFF_KEPT;
    all.retain(|remark| is_kept(remark.memory.turn_at) && may_be_told(&remark.memory));
    all.truncate(asked.limit);
    Ok(all.iter().map(|remark| told(&remark.memory, remark.sentence(), Some("put off"))).collect())
}

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
    let threads = threads(&sessions, &open);
    let mut ids: Vec<MemoryId> = threads.iter().map(|thread| thread.turn.id).collect();
    let put_off = reader.remarks(RemarkKind::Open, project, PUT_OFF_READ_MAX)?;
    let is_of_another = |own: &&Remark| own.memory.session != except;
    let put_off = put_off.iter().filter(is_of_another).filter(|own| may_be_told(&own.memory));
    for id in put_off.map(|own| own.memory.id) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids.truncate(OPEN_MAX);
    Ok(ids)
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
