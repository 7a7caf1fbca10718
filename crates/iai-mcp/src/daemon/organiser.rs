//! The thread that organises memories behind everybody's back.

use std::sync::Arc;
use std::thread;

use anyhow::Context as _;
use iai_memory::MemoryEngine;

use super::models::yield_to_others;
use crate::clock;

/// Organises until the engine is told to stop. Without this thread nothing is lost.
pub(super) fn start(engine: Arc<MemoryEngine>) -> anyhow::Result<()> {
    let thread = thread::Builder::new().name("organise".to_owned());
    thread
        .spawn(move || {
            yield_to_others();
            // An error ends a round, not the thread: what comes in next is the next try.
            while let Err(error) = engine.organise_until_stopped(&clock::now) {
                tracing::error!(%error, "organising memories");
            }
        })
        .context("starting the organiser's thread")?;
    Ok(())
}
