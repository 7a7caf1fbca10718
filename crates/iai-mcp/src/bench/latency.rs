//! How long recall takes over a large history: cold, warm, through MCP, and while turns come in.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::figures::Times;
use super::household::{Household, n_unindexed};
use super::loading::{Loader, Vectors};
use super::mcp::Mcp;
use super::sheet::Sheet;
use super::synthetic;
use crate::client::Client;
use crate::fields::Fields as _;
use crate::settings::Settings;

/// Questions of each warm series.
const N_QUESTIONS: usize = 200;
/// Starts of the daemon for the cold one.
const N_COLD: usize = 5;
const PROGRESS_EVERY: usize = 1000;

/// Measures over a made-up history of `n_turns`.
pub(crate) fn run(
    settings: &Settings,
    n_turns: usize,
    progress: &dyn Fn(&str),
) -> anyhow::Result<Sheet> {
    let mut household = Household::new(settings)?;
    household.start_daemon()?;
    let loading = load(&household.client(), 0..n_turns, progress)?;
    progress("waiting for vectors");
    household.wait_indexed()?;
    let cold = measure_cold(&mut household, n_turns)?;
    let client = household.client();
    let warm = ask_all(n_turns, |params| timed(&client, params))?;
    let mut mcp = Mcp::start(household.command(&["mcp"])?)?;
    let through_mcp = ask_all(n_turns, |params| mcp.recall(params))?;
    let busy = measure_busy(&client, n_turns)?;
    let status = household.status()?;

    let mut sheet = Sheet::new(format!("recall over {n_turns} turns"), &status);
    cold.tell("cold, first after a start, socket", &mut sheet);
    warm.tell("warm, socket", &mut sheet);
    through_mcp.tell("warm, MCP process", &mut sheet);
    busy.tell("while turns are stored, socket", &mut sheet);
    sheet.add("loading", format!("{:.1} s", loading.as_secs_f64()), loading.as_secs_f64());
    let n_pending = n_unindexed(&status);
    sheet.add("turns without a vector at the end", n_pending.to_string(), n_pending);
    Ok(sheet)
}

/// Recalls, and the part of them that was spent on giving the cue a vector.
#[derive(Default)]
struct Asked {
    whole: Times,
    embedding: Times,
    rest: Times,
}

impl Asked {
    fn take(&mut self, took: Duration, answer: &Value) {
        self.whole.push(took);
        // Told only by a daemon with a model.
        if let Some(micros) = answer.at("timing_us").at("embedding").as_u64() {
            let embedding = Duration::from_micros(micros);
            self.embedding.push(embedding);
            self.rest.push(took.saturating_sub(embedding));
        }
    }

    fn tell(&self, name: &str, sheet: &mut Sheet) {
        sheet.add_times(name, &self.whole);
        if !self.embedding.is_empty() {
            sheet.add_times(&format!("{name}: embedding the cue"), &self.embedding);
            sheet.add_times(&format!("{name}: the rest"), &self.rest);
        }
    }
}

fn load(
    client: &Client,
    turns: std::ops::Range<usize>,
    progress: &dyn Fn(&str),
) -> anyhow::Result<Duration> {
    let mut ignore = |_: &str| {};
    let mut loader = Loader::new(client.clone(), Vectors::Synthetic, &mut ignore);
    for n in turns {
        let made_up = synthetic::turn(n);
        loader.push(&made_up.session, made_up.event)?;
        if n.is_multiple_of(PROGRESS_EVERY) {
            progress(&format!("storing turn {n}"));
        }
    }
    loader.flush()?;
    Ok(loader.took)
}

fn measure_cold(household: &mut Household, n_turns: usize) -> anyhow::Result<Asked> {
    let mut asked = Asked::default();
    for n in 0..N_COLD {
        household.stop_daemon()?;
        household.start_daemon()?;
        let client = household.client();
        let params = json!({"cue": synthetic::cue(n, n_turns), "tell_timing": true});
        let begun = Instant::now();
        let answer = client.call_daemon("memory_recall", &params)?;
        asked.take(begun.elapsed(), &answer);
    }
    Ok(asked)
}

fn ask_all(
    n_turns: usize,
    mut ask: impl FnMut(&Value) -> anyhow::Result<Value>,
) -> anyhow::Result<Asked> {
    let mut asked = Asked::default();
    for n in 0..N_QUESTIONS {
        let params = json!({"cue": synthetic::cue(n, n_turns)});
        let begun = Instant::now();
        let answer = ask(&params)?;
        asked.take(begun.elapsed(), &answer);
    }
    Ok(asked)
}

/// Asks the daemon, which says where its time went; hosts, through MCP, cannot ask for that.
fn timed(client: &Client, params: &Value) -> anyhow::Result<Value> {
    let mut params = params.clone();
    params.set("tell_timing", true);
    Ok(client.call_daemon("memory_recall", &params)?)
}

/// Asks while another thread stores one session after the other.
fn measure_busy(client: &Client, n_turns: usize) -> anyhow::Result<Asked> {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let storing = scope.spawn(|| -> anyhow::Result<()> {
            let mut next = n_turns;
            while !is_over.load(Ordering::Relaxed) {
                load(client, next..next + 20, &|_| {})?;
                next += 20;
            }
            Ok(())
        });
        let asked = ask_all(n_turns, |params| timed(client, params));
        is_over.store(true, Ordering::Relaxed);
        let stored = storing.join().map_err(|_| anyhow::anyhow!("storing broke"))?;
        stored.context("storing beside the questions")?;
        asked
    })
}
