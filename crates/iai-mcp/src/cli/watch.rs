//! `watch`: follows what is stored, as it is stored.
//!
//! The daemon answers when there is something to tell, so that nobody asks again and again. What is
//! stored while it is away is told when it is back: every memory has its place in the order.

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use serde_json::{Value, json};

use super::memories::{describe_line, items, page};
use super::output::Output;
use super::project_here;
use crate::client::Client;
use crate::exit;
use crate::fields::Fields as _;

/// How long one call waits for news.
const WAIT_MS: u64 = 15_000;
/// How long a daemon that is away is given to come back before the next try.
const RETRY: Duration = Duration::from_secs(1);

#[derive(Args)]
pub(super) struct WatchArguments {
    /// Only memories of this folder's project
    #[arg(long, value_name = "FOLDER")]
    project: Option<PathBuf>,
}

pub(super) fn run(
    client: &Client,
    arguments: &WatchArguments,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    end_when_unread()?;
    let project = arguments.project.as_ref().map(|folder| project_here(Some(folder)));
    let mut place = Value::Null;
    let mut is_away = false;
    loop {
        let asked = json!({"after": place, "project": project, "wait_ms": WAIT_MS});
        match client.call_daemon("memory_arrivals", &asked) {
            Ok(answer) => {
                // From here on nothing is missed: whoever tests or scripts this waits for the line.
                if place.is_null() {
                    output.remark("following new memories; Ctrl-C ends");
                } else if is_away {
                    output.remark("the daemon is back");
                }
                is_away = false;
                items(&answer, "memories").iter().for_each(|memory| show(memory, output));
                place = answer.at("next").clone();
            }
            Err(error) if error.is_passing() => {
                if !is_away {
                    output.remark("the daemon is not running; waiting for it");
                }
                is_away = true;
                thread::park_timeout(RETRY);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn show(memory: &Value, output: &Output) {
    // What this program made of other memories nobody said.
    if memory.at("provenance").at("generated") == true {
        return;
    }
    if output.is_json() {
        output.document(memory);
        return;
    }
    match output.look() {
        Some(look) => output.text(&format!("{}\n\n", page::arrived(memory, &look))),
        None => output.text(&describe_line(memory)),
    }
}

/// Ends the program when nobody reads it any more, which a write alone would only notice at the
/// next memory, maybe tomorrow.
fn end_when_unread() -> anyhow::Result<()> {
    let wait = || {
        Output::wait_until_unread();
        exit::leave(ExitCode::SUCCESS);
    };
    thread::Builder::new().name("reader".to_owned()).spawn(wait).context("watching the reader")?;
    Ok(())
}
