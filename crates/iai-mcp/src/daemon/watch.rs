//! Turns what happens outside into events: signals, changes in the spool folder, the end of the
//! store under us.

use std::io;
use std::path::Path;
use std::sync::mpsc::SyncSender;
use std::thread;

use notify::event::{AccessKind, AccessMode, CreateKind, EventKind, ModifyKind, RenameMode};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::lifecycle::Event;
use super::singleton::LockPlace;

/// Sends `StopAsked` for every signal that asks to leave.
pub(super) fn signals(events: SyncSender<Event>) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    let waiting = thread::Builder::new().name("signals".to_owned());
    waiting.spawn(move || {
        for _ in signals.forever() {
            if events.send(Event::StopAsked).is_err() {
                return;
            }
        }
    })?;
    Ok(())
}

/// Sends `SpoolChanged` when a file appears, and `StoreGone` when the lock is no longer in its
/// place. Watching ends when the returned value is dropped.
pub(super) fn files(
    spool: &Path,
    lock: &LockPlace,
    events: &SyncSender<Event>,
) -> notify::Result<RecommendedWatcher> {
    let place = lock.clone();
    let look_at_lock = move || place.is_lost().then_some(Event::StoreGone);
    let (path, is_lost) = (lock.path.clone(), look_at_lock.clone());
    let sender = events.clone();
    let mut watcher = notify::recommended_watcher(move |change: notify::Result<notify::Event>| {
        let event = match change {
            Ok(change) if change.kind.is_access() && !is_arrival(change.kind) => None,
            Ok(change) if change.paths.contains(&path) => is_lost(),
            Ok(change) => {
                let is_news = is_arrival(change.kind) && change.paths.iter().any(|p| is_whole(p));
                is_news.then_some(Event::SpoolChanged)
            }
            Err(_) => Some(Event::SpoolChanged),
        };
        // The loop is gone only when the process is leaving.
        event.map(|event| sender.send(event).ok());
    })?;
    watcher.watch(spool, RecursiveMode::NonRecursive)?;
    // Without it the daemon learns later that its store was removed, and stores nothing meanwhile.
    if let Err(error) = watcher.watch(&lock.path, RecursiveMode::NonRecursive) {
        tracing::warn!(%error, "the lock cannot be watched");
    }
    // It may have gone before anybody watched.
    look_at_lock().map(|event| events.send(event).ok());
    Ok(watcher)
}

/// A file under its temporary name is not for us yet.
fn is_whole(path: &Path) -> bool {
    path.file_name().is_some_and(|name| !name.as_encoded_bytes().starts_with(b"."))
}

/// Our own deleting must not wake us, or a drain would cause the next one.
fn is_arrival(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Modify(ModifyKind::Name(RenameMode::To | RenameMode::Both | RenameMode::Any))
            | EventKind::Access(AccessKind::Close(AccessMode::Write))
            | EventKind::Create(CreateKind::File)
    )
}
