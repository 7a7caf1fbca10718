//! One message to the daemon: turns of several sessions, stored in one transaction or looked for.

use std::path::Path;

use iai_wire::{SpoolEvent, SpoolHeader};
use serde::Serialize;
use serde_json::Value;

use super::{Append, Purpose, SharedTally, Tally, Work, files};
use crate::clock;
use crate::fields::Fields as _;

/// Turns of one session that go into a message.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub(super) session: &'a str,
    pub(super) cwd: &'a str,
    pub(super) events: &'a [SpoolEvent],
    path: &'a Path,
}

/// The message as it is sent.
#[derive(Serialize)]
struct Sent<'a> {
    appends: Vec<SentAppend<'a>>,
}

#[derive(Serialize)]
struct SentAppend<'a> {
    header: SpoolHeader,
    events: &'a [SpoolEvent],
}

impl<'a> Piece<'a> {
    pub(super) fn of(append: &'a Append<'a>) -> Self {
        let batch = &append.batch;
        let path = append.source.path();
        Self { session: &batch.session, cwd: &batch.cwd, events: &batch.events, path }
    }
}

/// Sends turns. Nobody knows how large a message gets before it is written, so that one that is too
/// large is sent in halves, and a single turn that is too large goes by a file.
pub(super) fn send(
    work: &Work<'_>,
    pieces: &[Piece<'_>],
    tally: &SharedTally,
) -> anyhow::Result<()> {
    if pieces.iter().all(|piece| piece.events.is_empty()) {
        return Ok(());
    }
    let method = match work.purpose {
        Purpose::Store | Purpose::StoreUntrusted => "turns_store",
        Purpose::Verify => "turns_check",
    };
    let done = match work.client.call_daemon(method, &message_of(pieces)) {
        Err(error) if error.is_too_large() => match halves(pieces) {
            Halves::Two(left, right) => {
                send(work, &left, tally)?;
                return send(work, &right, tally);
            }
            Halves::One(piece) => files::send(work, &piece)?,
        },
        other => other?,
    };
    tally.with(|tally| {
        count(work, &done, pieces, tally);
        (work.watch)(tally);
    });
    Ok(())
}

fn message_of<'a>(pieces: &[Piece<'a>]) -> Sent<'a> {
    let now = clock::now().to_string();
    let append = |piece: &Piece<'a>| SentAppend {
        header: SpoolHeader::new(piece.session, piece.cwd, &now),
        events: piece.events,
    };
    Sent { appends: pieces.iter().map(append).collect() }
}

enum Halves<'a> {
    Two(Vec<Piece<'a>>, Vec<Piece<'a>>),
    /// A single turn, which has none.
    One(Piece<'a>),
}

fn halves<'a>(pieces: &[Piece<'a>]) -> Halves<'a> {
    if let [piece] = pieces {
        let (left, right) = piece.events.split_at(piece.events.len() / 2);
        let part = |events| Piece { events, ..*piece };
        return match left {
            [] => Halves::One(part(right)),
            _ => Halves::Two(vec![part(left)], vec![part(right)]),
        };
    }
    let (left, right) = pieces.split_at(pieces.len() / 2);
    Halves::Two(left.to_vec(), right.to_vec())
}

/// The daemon counts the turns of a message through, from 0.
fn count(work: &Work<'_>, done: &Value, pieces: &[Piece<'_>], tally: &mut Tally) {
    let places = |name: &str| {
        let places = done.at(name).as_array().into_iter().flatten();
        places.map(|place| place.as_u64().and_then(|place| find(pieces, place)))
    };
    let n_forgotten = done.at("forgotten").as_u64().unwrap_or(0);
    tally.n_forgotten += n_forgotten;
    match work.purpose {
        Purpose::Store | Purpose::StoreUntrusted => {
            tally.n_stored += done.at("stored").as_u64().unwrap_or(0);
            tally.n_known += done.at("known").as_u64().unwrap_or(0);
            let reasons = done.at("set_aside").as_array().into_iter().flatten();
            for (reason, place) in reasons.zip(places("set_aside_places")) {
                let path = place.map_or(Path::new("?"), |(piece, _)| piece.path);
                let reason = reason.as_str().unwrap_or_default();
                tally.add_problem(format!("{}: {reason}", path.display()));
            }
        }
        Purpose::Verify => {
            let n_sent: usize = pieces.iter().map(|piece| piece.events.len()).sum();
            let n_missing = done.at("missing").as_array().map_or(0, Vec::len);
            tally.n_known += (n_sent.saturating_sub(n_missing) as u64).saturating_sub(n_forgotten);
            for (piece, event) in places("missing").flatten() {
                tally.add_problem(format!("{}: {}", piece.path.display(), describe(event)));
            }
        }
    }
}

/// Finds a turn by its place in the message.
fn find<'a>(pieces: &[Piece<'a>], place: u64) -> Option<(Piece<'a>, &'a SpoolEvent)> {
    let mut turns = pieces.iter().flat_map(|piece| {
        let of_piece = |event| (*piece, event);
        piece.events.iter().map(of_piece)
    });
    turns.nth(usize::try_from(place).ok()?)
}

fn describe(event: &SpoolEvent) -> String {
    let when = event.turn_ts.as_deref().unwrap_or("no time");
    let place = event.index.unwrap_or_default();
    format!("turn {place} of {} ({when}, {} bytes) is not stored", event.role, event.text.len())
}
