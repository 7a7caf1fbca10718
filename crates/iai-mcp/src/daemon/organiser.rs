//! The thread that organises memories behind everybody's back.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use iai_memory::{MemoryEngine, Pace};

use super::priority::{self, Standing};
use super::reflection::Reflection;
use crate::clock;

/// Idle work begins when nothing was asked and nothing came in for so long.
const IDLE_MIN: Duration = Duration::from_secs(300);
/// A daemon that leaves sooner than that still gives its work this share of the time.
const IDLE_SHARE: u32 = 3;

/// Organises until the engine is told to stop. Without this thread nothing is lost.
pub(super) fn start(
    engine: Arc<MemoryEngine>,
    reflection: Arc<Reflection>,
    idle_shutdown: Option<Duration>,
) -> anyhow::Result<()> {
    let idle_min = idle_shutdown.map_or(IDLE_MIN, |limit| IDLE_MIN.min(limit / IDLE_SHARE));
    let thread = thread::Builder::new().name("organise".to_owned());
    thread
        .spawn(move || {
            priority::stand(Standing::Last);
            let after_idle_round = || reflection.ask_when_idle();
            let pace = Pace { clock: &clock::now, idle_min, after_idle_round: &after_idle_round };
            // An error ends a round, not the thread: what comes in next is the next try.
            while let Err(error) = engine.organise_until_stopped(&pace) {
                tracing::error!(%error, "organising memories");
                if engine.is_broken() {
                    return;
                }
            }
        })
        .context("starting the organiser's thread")?;
    Ok(())
}
