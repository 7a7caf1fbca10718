//! One thread per connection: reads a frame, has it answered, writes the answer, in order.

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

use iai_wire::{
    Control, FRAME_BYTES_MAX, FrameError, FrameReader, Request, code, error_reply, peer_uid,
    write_frame,
};
use rustix::io::Errno;
use serde_json::{Value, json};

use super::face::{Asked, Face};
use super::lifecycle::Event;
use super::news;
use super::seats::{Held, Seats};
use super::workers::{DEADLINE, Workers};
use crate::clock;
use crate::fields::Fields as _;

/// How long accepting rests when the system has no descriptor left for another connection.
const WITHOUT_DESCRIPTORS: Duration = Duration::from_millis(50);
/// Frames live on the heap; the stack has to hold JSON nested as deeply as the parser allows.
/// Untouched, it costs nothing.
const STACK_BYTES: usize = 2 * 1024 * 1024;
/// A client that does not read its answer is dropped.
const WRITE_LIMIT: Duration = Duration::from_secs(10);

/// What a connection needs from the daemon.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) face: Arc<Face>,
    pub(super) seats: Arc<Seats>,
    pub(super) workers: Workers,
    pub(super) events: SyncSender<Event>,
}

/// Accepts for ever. Ends only with the process.
pub(super) fn accept(listener: &UnixListener, desk: &Desk) {
    let mut is_short = false;
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if is_passing(&error) => continue,
            Err(error) if is_shortage(&error) => {
                if !std::mem::replace(&mut is_short, true) {
                    tracing::warn!(%error, "whoever connects has to wait");
                }
                desk.seats.make_room(Duration::ZERO);
                thread::park_timeout(WITHOUT_DESCRIPTORS);
                continue;
            }
            Err(error) => {
                tracing::error!(%error, "cannot accept connections any more");
                desk.events.send(Event::StopAsked).ok();
                return;
            }
        };
        is_short = false;
        match admit(stream, &desk.seats) {
            Ok(held) => begin(held, desk.clone()),
            Err((stream, refusal)) => refuse(&stream, &refusal),
        }
    }
}

fn begin(held: Held, desk: Desk) {
    let served = thread::Builder::new().name("connection".to_owned()).stack_size(STACK_BYTES);
    let guard = OpenGuard { events: desk.events.clone() };
    let served = served.spawn(move || {
        guard.events.send(Event::ConnectionOpened).ok();
        serve(&held, &desk);
        drop((held, guard));
    });
    if let Err(error) = served {
        tracing::warn!(%error, "no thread for a connection");
    }
}

/// Tells of a connection's end however its thread ends.
struct OpenGuard {
    events: SyncSender<Event>,
}

impl Drop for OpenGuard {
    fn drop(&mut self) {
        self.events.send(Event::ConnectionClosed).ok();
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted)
}

/// Descriptors and memory come back when somebody else gives theirs away.
fn is_shortage(error: &io::Error) -> bool {
    let shortages = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    shortages.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

struct Refusal {
    code: i64,
    message: String,
}

fn admit(stream: UnixStream, seats: &Arc<Seats>) -> Result<Held, (UnixStream, Refusal)> {
    let own = rustix::process::getuid().as_raw();
    // Before the seat: a stranger must not take one away from anybody.
    if !peer_uid(&stream).is_ok_and(|uid| uid == own) {
        let message =
            format!("this memory belongs to user {own}; set IAI_MCP_STORE to a folder of yours");
        return Err((stream, Refusal { code: code::FOREIGN_PEER, message }));
    }
    seats.take(stream).map_err(|stream| {
        let message = format!("{} connections are open already; close one", seats.n_max());
        (stream, Refusal { code: code::BUSY, message })
    })
}

fn refuse(mut stream: &UnixStream, refusal: &Refusal) {
    tracing::warn!(code = refusal.code, "refused a connection: {}", refusal.message);
    let reply = error_reply(&Value::Null, refusal.code, &refusal.message);
    if stream.set_write_timeout(Some(Duration::from_millis(100))).is_ok() {
        // Whoever is refused may not care to read why.
        write_frame(&mut stream, &reply).ok();
    }
}

fn serve(held: &Held, desk: &Desk) {
    let (seat, stream) = (&held.seat, &held.seat.stream);
    if let Err(error) = stream.set_write_timeout(Some(WRITE_LIMIT)) {
        tracing::warn!(%error, "a connection without a write limit is not served");
        return;
    }
    let mut reader = FrameReader::new(stream);
    loop {
        let frame = reader.next_frame();
        seat.begin_answer();
        let reply = match frame {
            Ok(None) => return,
            Ok(Some(frame)) => answer(frame, desk),
            Err(FrameError::TooLong) => {
                let message = format!("a request may have {FRAME_BYTES_MAX} bytes; send less");
                error_reply(&Value::Null, code::FRAME_TOO_LONG, &message)
            }
            Err(FrameError::Io(_)) => return,
        };
        let mut stream = *reader.stream();
        let written = match write_frame(&mut stream, &reply) {
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                let message = "the answer is larger than a frame; ask for less";
                let reply = error_reply(reply.at("id"), code::FRAME_TOO_LONG, message);
                write_frame(&mut stream, &reply)
            }
            other => other,
        };
        if written.is_err() {
            return;
        }
        seat.end_answer();
    }
}

fn answer(frame: &[u8], desk: &Desk) -> Value {
    desk.events.send(Event::Request).ok();
    match Request::parse(frame) {
        Err(malformed) => malformed.reply,
        Ok(Request::Control(control)) => answer_control(control, desk),
        Ok(Request::Call(call)) if call.method == news::METHOD => news::follow(&call, desk),
        Ok(Request::Call(call)) => desk.workers.answer(call, DEADLINE),
    }
}

/// Control messages set flags or report; none of them waits for the store to open or for a writer.
fn answer_control(control: Control, desk: &Desk) -> Value {
    let now = clock::now();
    match control {
        Control::Status => desk.face.status(now),
        Control::UserInitiatedSleep { .. } => match desk.face.consolidate() {
            Asked::Begun => json!({"ok": true, "state": "TRANSITIONING"}),
            Asked::UnderWay => json!({"ok": false, "reason": "already_sleeping"}),
            Asked::TooEarly => json!({"ok": false, "reason": "starting"}),
        },
        Control::ForceRem => match desk.face.consolidate() {
            Asked::Begun | Asked::UnderWay => json!({"ok": true, "reason": "rem_queued"}),
            Asked::TooEarly => json!({"ok": false, "reason": "starting"}),
        },
        Control::ForceWake => json!({"ok": true, "reason": "wake_queued"}),
        Control::Pause { seconds } => {
            desk.face.pause(seconds, now);
            json!({"ok": true, "paused": true})
        }
        Control::Resume => {
            desk.face.resume();
            json!({"ok": true, "paused": false})
        }
        Control::SessionOpen { session_id } => {
            desk.face.open_session(session_id);
            json!({"ok": true, "reason": "session_open_queued"})
        }
    }
}
