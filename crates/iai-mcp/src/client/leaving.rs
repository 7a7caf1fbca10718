//! Deletes a store for good, because the user said so and nobody else has it open.

use anyhow::{Context as _, bail};

use crate::daemon::hold_store;
use crate::home::delete_all;
use crate::settings::Settings;

/// Deletes the store's folder with everything in it. Refuses while a daemon runs, and when the
/// folder holds files that are not ours.
pub(crate) fn delete_store(settings: &Settings) -> anyhow::Result<()> {
    let home = &settings.home;
    if !home.root().exists() {
        return Ok(());
    }
    let _held = hold_store(home)?;
    let foreign = delete_all(home)
        .with_context(|| format!("deleting {}; run this again", home.root().display()))?;
    if let Some(first) = foreign.first() {
        bail!("{} is not ours, so nothing was deleted; move it away", first.display());
    }
    Ok(())
}
