//! One thread per connection: reads a frame, has it answered, writes the answer, in order.

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

use iai_wire::{
    Control, FRAME_BYTES_MAX, FrameError, FrameReader, Request, code, error_reply, peer_uid,
    write_frame,
};
use serde_json::{Value, json};

use super::face::{Asked, Face};
use super::lifecycle::Event;
use super::news;
use super::workers::{DEADLINE, Workers};
use crate::clock;
use crate::fields::Fields as _;

/// Connections at once; one more is told so and closed.
const CONNECTIONS_MAX: usize = 256;
/// Frames live on the heap; the stack has to hold JSON nested as deeply as the parser allows.
/// Untouched, it costs nothing.
const STACK_BYTES: usize = 2 * 1024 * 1024;
/// A client that does not read its answer is dropped.
const WRITE_LIMIT: Duration = Duration::from_secs(10);

/// What a connection needs from the daemon.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) face: Arc<Face>,
    pub(super) workers: Workers,
    pub(super) events: SyncSender<Event>,
}

/// Accepts for ever. Ends only with the process.
pub(super) fn accept(listener: &UnixListener, desk: &Desk) {
    let n_open = Arc::new(AtomicUsize::new(0));
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if is_passing(&error) => continue,
            Err(error) => {
                tracing::error!(%error, "cannot accept connections any more");
                desk.events.send(Event::StopAsked).ok();
                return;
            }
        };
        if let Err(refusal) = admit(&stream, &n_open) {
            refuse(&stream, &refusal);
            continue;
        }
        n_open.fetch_add(1, Ordering::Relaxed);
        let guard = OpenGuard { n_open: Arc::clone(&n_open), events: desk.events.clone() };
        let desk = desk.clone();
        let served = thread::Builder::new().name("connection".to_owned()).stack_size(STACK_BYTES);
        let served = served.spawn(move || {
            guard.events.send(Event::ConnectionOpened).ok();
            serve(stream, &desk);
            drop(guard);
        });
        if let Err(error) = served {
            tracing::warn!(%error, "no thread for a connection");
        }
    }
}

/// Counts a connection down however its thread ends.
struct OpenGuard {
    n_open: Arc<AtomicUsize>,
    events: SyncSender<Event>,
}

impl Drop for OpenGuard {
    fn drop(&mut self) {
        self.n_open.fetch_sub(1, Ordering::Relaxed);
        self.events.send(Event::ConnectionClosed).ok();
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted)
}

struct Refusal {
    code: i64,
    message: String,
}

fn admit(stream: &UnixStream, n_open: &AtomicUsize) -> Result<(), Refusal> {
    if CONNECTIONS_MAX <= n_open.load(Ordering::Relaxed) {
        let message = format!("{CONNECTIONS_MAX} connections are open already; close one");
        return Err(Refusal { code: code::BUSY, message });
    }
    let own = rustix::process::getuid().as_raw();
    match peer_uid(stream) {
        Ok(uid) if uid == own => Ok(()),
        Ok(_) | Err(_) => {
            let message = format!(
                "this memory belongs to user {own}; set IAI_MCP_STORE to a folder of yours"
            );
            Err(Refusal { code: code::FOREIGN_PEER, message })
        }
    }
}

fn refuse(mut stream: &UnixStream, refusal: &Refusal) {
    tracing::warn!(code = refusal.code, "refused a connection: {}", refusal.message);
    let reply = error_reply(&Value::Null, refusal.code, &refusal.message);
    if stream.set_write_timeout(Some(Duration::from_millis(100))).is_ok() {
        // Whoever is refused may not care to read why.
        write_frame(&mut stream, &reply).ok();
    }
}

fn serve(stream: UnixStream, desk: &Desk) {
    if let Err(error) = stream.set_write_timeout(Some(WRITE_LIMIT)) {
        tracing::warn!(%error, "a connection without a write limit is not served");
        return;
    }
    let mut reader = FrameReader::new(stream);
    loop {
        let reply = match reader.next_frame() {
            Ok(None) => return,
            Ok(Some(frame)) => answer(frame, desk),
            Err(FrameError::TooLong) => {
                let message = format!("a request may have {FRAME_BYTES_MAX} bytes; send less");
                error_reply(&Value::Null, code::FRAME_TOO_LONG, &message)
            }
            Err(FrameError::Io(_)) => return,
        };
        let mut stream = reader.stream();
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

/// Control messages set flags or report; none of them waits for the store.
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
