//! Waiting for the end from outside: a signal, or the death of the process that started us.
//!
//! A closed stdin is the ordinary end and is noticed in `doorway`; this is for hosts that die
//! without closing it, for example because another child of theirs inherited the pipe.

use std::io;
use std::time::Duration;

use rustix::process::{Pid, getppid};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::MissedTickBehavior;

/// How often the parent is looked at where the kernel cannot tell us.
const PARENT_CHECK_MS: u64 = 5_000;

/// Returns when the user or the system asks us to stop, or our parent is gone.
pub(super) async fn asked_to_stop() -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        () = parent_gone() => {}
    }
    Ok(())
}

/// A parent of 1 is not special: a container's init may well be the host. If we were orphaned
/// before this line, the new parent never dies before us and the closed stdin ends us instead.
async fn parent_gone() {
    let Some(parent) = getppid() else {
        // The parent lives in another pid namespace (`docker exec`): it can be neither named nor
        // watched.
        return std::future::pending().await;
    };
    if watch(parent).await.is_err() {
        look_now_and_then(parent).await;
    }
}

/// Waits on the process itself. `PR_SET_PDEATHSIG` would fire when the parent's spawning *thread*
/// ends, which multi-threaded hosts do all the time.
#[cfg(target_os = "linux")]
#[expect(
    deprecated,
    reason = "the successor is `unsafe`; an OwnedFd already keeps the promise it asks for"
)]
async fn watch(parent: Pid) -> io::Result<()> {
    use rustix::process::{PidfdFlags, pidfd_open};
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    let process = pidfd_open(parent, PidfdFlags::NONBLOCK)?;
    // The pid may have been reused between asking for it and opening it; then this is somebody
    // else's life.
    if getppid() != Some(parent) {
        return Ok(());
    }
    let process = AsyncFd::with_interest(process, Interest::READABLE)?;
    process.readable().await?.retain_ready();
    Ok(())
}

#[cfg(not(target_os = "linux"))]
async fn watch(_parent: Pid) -> io::Result<()> {
    std::future::ready(Err(io::ErrorKind::Unsupported.into())).await
}

async fn look_now_and_then(parent: Pid) {
    let mut ticks = tokio::time::interval(Duration::from_millis(PARENT_CHECK_MS));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while getppid() == Some(parent) {
        ticks.tick().await;
    }
}
