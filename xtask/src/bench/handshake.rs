//! What a session costs: from the start of an MCP server to its first answer, and a recall.

use std::path::Path;
use std::time::Instant;

use super::Contender;
use crate::figures::{self, Times};
use crate::mcp::Mcp;
use crate::sample;

pub(crate) const N_RUNS: u32 = 50;
const BUDGET_TOKENS: u32 = 1500;

pub(crate) fn run(binary: &Path, n_runs: u32) -> Result<(), String> {
    let mut ours = Contender::ours(binary)?;
    let theirs = Contender::from_environment("Node wrapper", "IAI_NODE_WRAPPER")?;
    ours.product.start_daemon()?;
    let n_turns = u64::try_from(sample::turns()?.len()).unwrap_or(u64::MAX);
    ours.product.capture(&sample::path(), sample::SESSION)?;
    ours.product.wait_stored(|status| status.number("stored") >= Some(n_turns))?;

    let (mut initialize, mut first, mut second) =
        (Times::default(), Times::default(), Times::default());
    let mut their_initialize = Times::default();
    for _ in 0..n_runs {
        let mut mcp = Mcp::start(ours.product.command(&["mcp"]))?;
        initialize.push(mcp.initialized_after);
        time_recall(&mut mcp, &mut first)?;
        time_recall(&mut mcp, &mut second)?;
        drop(mcp);
        if let Some(theirs) = &theirs {
            // Its recalls need the other program's daemon; only the handshake is compared.
            their_initialize.push(Mcp::start(theirs.product.command(&[]))?.initialized_after);
        }
    }
    let mut rows = vec![
        ("start to initialize".to_owned(), initialize.summary()),
        ("first recall of a session".to_owned(), first.summary()),
        ("second recall of a session".to_owned(), second.summary()),
    ];
    if let Some(theirs) = &theirs {
        rows.push((format!("{}, start to initialize", theirs.name), their_initialize.summary()));
        let ratio = figures::ratio(&initialize, &their_initialize);
        rows.push((format!("{} / ours, p50", theirs.name), figures::or_unknown(ratio, "")));
    }
    println!("iai-mcp mcp:\n{}", figures::table(&rows));
    Ok(())
}

fn time_recall(mcp: &mut Mcp, times: &mut Times) -> Result<(), String> {
    let begin = Instant::now();
    mcp.recall(sample::CUE, BUDGET_TOKENS)?;
    times.push(begin.elapsed());
    Ok(())
}
