//! Exports: reads the store beside a running daemon, all of it as of one moment.

use anyhow::Context as _;
use iai_memory::{ExportChoice, MemoryEngine};
use jiff::Timestamp;
use serde_json::Value;

use super::keeping::yield_to_others;
use crate::daemon::{key_source, store_paths};
use crate::settings::Settings;

/// Which memories are wanted; nothing set means all.
pub(crate) struct ExportWanted {
    pub(crate) project: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) since: Option<Timestamp>,
}

/// Hands over an export line by line.
pub(crate) fn export(
    settings: &Settings,
    wanted: &ExportWanted,
    each: &mut dyn FnMut(&str) -> std::io::Result<()>,
) -> anyhow::Result<Value> {
    yield_to_others();
    let engine = MemoryEngine::open_read_only(&store_paths(&settings.home), &key_source(settings))?;
    let choice = ExportChoice {
        project: wanted.project.clone(),
        session: wanted.session.clone(),
        since: wanted.since,
    };
    let told = engine.export_lines(&choice, each)?;
    serde_json::to_value(told).context("telling what was exported")
}
