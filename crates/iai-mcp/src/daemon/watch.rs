//! Turns what happens outside into events: signals, and changes in the spool folder.

use std::io;
use std::path::Path;
use std::sync::mpsc::SyncSender;
use std::thread;

use notify::event::{AccessKind, AccessMode, CreateKind, EventKind, ModifyKind, RenameMode};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::lifecycle::Event;

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

/// Sends `SpoolChanged` when a file appears. Watching ends when the returned value is dropped.
pub(super) fn spool(
    folder: &Path,
    events: SyncSender<Event>,
) -> notify::Result<RecommendedWatcher> {
    let mut watcher = notify::recommended_watcher(move |change: notify::Result<notify::Event>| {
        let is_news = change.map_or(true, |change| {
            is_arrival(change.kind) && change.paths.iter().any(|path| is_whole(path))
        });
        if is_news {
            // The loop is gone only when the process is leaving.
            events.send(Event::SpoolChanged).ok();
        }
    })?;
    watcher.watch(folder, RecursiveMode::NonRecursive)?;
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
