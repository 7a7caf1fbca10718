//! What waits on its way in, and what was set aside there.

use std::fs;
use std::time::Duration;

use iai_wire::SealingKey;
use serde_json::{Value, json};

use super::super::output::counted;
use super::Check;
use crate::capture::waiting_files;
use crate::client::{CallError, Client};
use crate::fields::Fields as _;
use crate::settings::Settings;

/// A live buffer is taken after two minutes, everything else within one.
const WAITING_LONG: Duration = Duration::from_secs(5 * 60);

pub(super) fn waiting(settings: &Settings, status: &Result<Value, CallError>) -> Check {
    const NAME: &str = "spool";
    let public = settings.home.spool_public();
    if settings.home.has_store() && public.symlink_metadata().is_err() {
        let detail = format!("{} is missing, and hooks write nothing without it", public.display());
        return Check::fail(NAME, detail, "`iai-mcp daemon restart` makes it again");
    }
    if let Ok(text) = fs::read_to_string(&public)
        && SealingKey::parse(&text).is_err()
    {
        let detail = format!("{} was changed, and hooks write nothing by it", public.display());
        return Check::fail(NAME, detail, "`iai-mcp daemon restart` writes it again");
    }
    let files = waiting_files(&settings.home);
    let waiting = || files.iter().filter(|file| !file.is_set_aside);
    if let Some((file, why)) = waiting().find_map(|file| Some((file, file.stuck.as_ref()?))) {
        let detail = format!("{} stays in the spool: {why}", file.name);
        const NEXT: &str = "`iai-mcp spool list` shows every file that waits; `iai-mcp spool clear \
                            FILE` moves one aside";
        return Check::warn(NAME, detail, NEXT);
    }
    let n_waiting: u64 = waiting().map(|file| file.n_turns).sum();
    let ages = waiting().filter_map(|file| file.written_at?.elapsed().ok());
    let oldest = ages.max().unwrap_or_default();
    match (n_waiting, status.is_ok()) {
        (n, true) if 0 < n && WAITING_LONG < oldest => Check::warn(
            NAME,
            format!("{n} turns wait, the oldest for {} min", oldest.as_secs() / 60),
            "`iai-mcp spool list` says why; `iai-mcp spool retry` tries now",
        ),
        (0, _) => Check::pass(NAME, "nothing waits"),
        (n, true) => Check::warn(
            NAME,
            format!("{n} turns wait"),
            "they should be stored within a minute; else see `iai-mcp daemon logs`",
        ),
        (n, false) => {
            Check::warn(NAME, format!("{n} turns wait"), "`iai-mcp daemon start` stores them")
        }
    }
}

pub(super) fn set_aside(
    settings: &Settings,
    client: &Client,
    status: &Result<Value, CallError>,
) -> Check {
    const NAME: &str = "set aside";
    // Whoever does not answer a status answers nothing else either, and that takes long.
    let is_worth_asking = status.as_ref().map_or_else(CallError::is_down, |_| true);
    let told = is_worth_asking.then(|| client.call("store_overview", &json!({})).ok()).flatten();
    let n_files = waiting_files(&settings.home).iter().filter(|file| file.is_set_aside).count();
    let Some(n_lines) = told.and_then(|told| told.at("set_aside").as_u64()) else {
        return Check::unknown(NAME);
    };
    if (n_lines, n_files) == (0, 0) {
        return Check::pass(NAME, "no line was unreadable");
    }
    let n_lines = usize::try_from(n_lines).unwrap_or(usize::MAX);
    let files = match n_files {
        0 => String::new(),
        n => format!(", and {} with lines too long for it", counted(n, "file")),
    };
    Check::warn(
        NAME,
        format!("{} could not be understood; kept in the store{files}", counted(n_lines, "line")),
        "`iai-mcp import` takes their turns in from the transcripts; `iai-mcp spool aside` shows \
         them, `iai-mcp spool clear` takes them away",
    )
}
