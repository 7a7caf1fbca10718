//! What a session costs: from the start of an MCP server to its first answer, and a recall.

use std::time::Instant;

use serde_json::json;

use super::figures::{self, Times};
use super::hook::command_of;
use super::household::Household;
use super::loading::Loader;
use super::mcp::Mcp;
use super::sheet::Sheet;
use super::synthetic;
use crate::client::Client;
use crate::settings::Settings;

/// Turns in the store that is asked.
const N_TURNS: usize = 100;

/// Measures MCP processes; `beside` is another server's command line, of which only the handshake
/// is compared: its recalls would need its own daemon.
pub(crate) fn run(settings: &Settings, n_runs: u32, beside: Option<&str>) -> anyhow::Result<Sheet> {
    let mut household = Household::new(settings)?;
    household.start_daemon()?;
    store_made_up(&household.client(), N_TURNS)?;
    household.wait_indexed()?;
    let (mut initialize, mut first, mut second) =
        (Times::default(), Times::default(), Times::default());
    let mut theirs = Times::default();
    for n in (0..).take(n_runs as usize) {
        let mut mcp = Mcp::start(household.command(&["mcp"])?)?;
        initialize.push(mcp.initialized_after);
        for times in [&mut first, &mut second] {
            let arguments = json!({"cue": synthetic::cue(n, N_TURNS)});
            let begun = Instant::now();
            mcp.recall(&arguments)?;
            times.push(begun.elapsed());
        }
        drop(mcp);
        if let Some(line) = beside {
            theirs.push(Mcp::start(household.dress(command_of(line)?))?.initialized_after);
        }
    }
    let mut sheet = Sheet::new("MCP processes", &household.status()?);
    sheet.add_times("start to initialize", &initialize);
    sheet.add_times("first recall of a session", &first);
    sheet.add_times("second recall of a session", &second);
    if !theirs.is_empty() {
        sheet.add_times("the other server, start to initialize", &theirs);
        let ratio = figures::ratio(&initialize, &theirs);
        sheet.add("the other / ours, p50", figures::or_unknown(ratio.clone(), ""), ratio);
    }
    Ok(sheet)
}

/// Stores the first turns of the made-up history.
pub(super) fn store_made_up(client: &Client, n_turns: usize) -> anyhow::Result<()> {
    let mut ignore = |_: &str| {};
    let mut loader = Loader::new(client.clone(), &mut ignore);
    for n in 0..n_turns {
        let made_up = synthetic::turn(n);
        loader.push(&made_up.session, made_up.event)?;
    }
    loader.flush()
}
