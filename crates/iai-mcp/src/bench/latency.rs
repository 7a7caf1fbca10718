//! How long recall takes over a large history: cold, warm, through MCP, while turns come in, and
//! while memories are organised; all of it beside the time that embedding the cue takes alone.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::corpus::{self, Bare, Written};
use super::figures::{Times, megabytes, or_unknown, ratio};
use super::household::{Household, n_unindexed};
use super::loading::Loader;
use super::mcp::Mcp;
use super::process::wait_for;
use super::procfs;
use super::sheet::Sheet;
use super::synthetic;
use crate::client::Client;
use crate::fields::Fields as _;
use crate::settings::Settings;

/// Questions of each warm series.
const N_QUESTIONS: usize = 200;
/// Starts of the daemon for the cold one.
const N_COLD: usize = 5;
/// A model that is not at work by then never will be.
const MODEL_LIMIT: Duration = Duration::from_secs(60);

/// Measures over a made-up history of `n_turns`; `keep` is where such histories are kept.
pub(crate) fn run(
    settings: &Settings,
    n_turns: usize,
    keep: Option<&Path>,
    progress: &dyn Fn(&str),
) -> anyhow::Result<Sheet> {
    let mut household = Household::new(settings)?;
    let written = corpus::provide(household.home(), n_turns, keep, progress)?;
    let has_model = corpus::has_model(household.home());
    let n_bytes = household.n_stored_bytes();
    progress("asking");
    let cold = measure_cold(&mut household, n_turns, has_model)?;
    let client = household.client();
    let (warm, through_mcp) = measure_warm(&household, n_turns)?;
    let common = ask_all(synthetic::common_cue, |params| timed(&client, params))?;
    let resident = household.daemon_pid().and_then(procfs::resident_kib).map(|kib| kib * 1024);
    let busy = measure_busy(&client, n_turns)?;
    let organising = measure_organising(&client, n_turns)?;
    let status = household.status()?;

    let mut sheet = Sheet::new(format!("recall over {n_turns} turns"), &status);
    let vectors = match has_model {
        true => "made up around 128 real ones; the cue's is the model's",
        false => "none: no model is installed",
    };
    sheet.add("vectors of the turns", vectors, vectors);
    if let Some(written) = written {
        tell_written(&written, &mut sheet);
    }
    cold.tell(&mut sheet);
    warm.tell("warm, socket", &mut sheet);
    through_mcp.tell("warm, MCP process", &mut sheet);
    let beside = ratio(&warm.embedding, &through_mcp.whole);
    sheet.add("MCP / embedding the cue, p50", or_unknown(beside.clone(), ""), beside);
    common.tell("only common words, socket", &mut sheet);
    busy.tell("while turns are stored, socket", &mut sheet);
    organising.tell("while memories are organised, socket", &mut sheet);
    for (name, meanwhile) in [("stored", &busy), ("organised", &organising)] {
        let beside = meanwhile.whole.milliseconds(95).zip(warm.whole.milliseconds(95));
        let ratio = beside.map(|(meanwhile, warm)| meanwhile / warm.max(f64::MIN_POSITIVE));
        let shown = or_unknown(ratio.map(|ratio| format!("{ratio:.1}x")), "");
        sheet.add(&format!("while {name} / warm, p95"), shown, ratio);
    }
    if let Some(model) = Bare::open(household.home())? {
        tell_speed(&model, n_turns, &warm.embedding, &mut sheet);
    }
    sheet.add("memory (RSS), warm", or_unknown(resident.map(megabytes), ""), resident);
    sheet.add("store on disk", megabytes(n_bytes), n_bytes);
    let n_pending = n_unindexed(&status);
    sheet.add("turns without a vector at the end", n_pending.to_string(), n_pending);
    Ok(sheet)
}

fn tell_written(written: &Written, sheet: &mut Sheet) {
    let seconds = |took: Duration| took.as_secs_f64();
    let text = match written.vectors {
        Some(took) => format!("{:.1} s + {:.1} s", seconds(written.storing), seconds(took)),
        None => format!("{:.1} s", seconds(written.storing)),
    };
    let values = json!([seconds(written.storing), written.vectors.map(seconds)]);
    sheet.add("storing turns, and vectors", text, values);
}

/// Recalls, and the part of them that was spent on giving the cue a vector.
#[derive(Default)]
struct Asked {
    whole: Times,
    embedding: Times,
    rest: Times,
    /// Of the rest, what the daemon tells apart.
    stages: [Times; STAGES.len()],
}

/// What the daemon tells of an answer beside the embedding, and what that is.
const STAGES: [(&str, &str); 2] =
    [("finding", "both lanes"), ("ranking", "scoring and reading the best")];

impl Asked {
    fn take(&mut self, took: Duration, answer: &Value) {
        self.whole.push(took);
        // Told only by a daemon with a model.
        let embedding = answer.at("timing_us").at("embedding").as_u64().filter(|took| 0 < *took);
        if let Some(micros) = embedding {
            let embedding = Duration::from_micros(micros);
            self.embedding.push(embedding);
            self.rest.push(took.saturating_sub(embedding));
            for ((field, _), times) in STAGES.iter().zip(&mut self.stages) {
                let micros = answer.at("timing_us").at(field).as_u64();
                times.push(Duration::from_micros(micros.unwrap_or(0)));
            }
        }
    }

    fn tell(&self, name: &str, sheet: &mut Sheet) {
        sheet.add_times(name, &self.whole);
        if !self.embedding.is_empty() {
            sheet.add_times(&format!("{name}: embedding the cue"), &self.embedding);
            sheet.add_times(&format!("{name}: the rest"), &self.rest);
            for ((_, what), times) in STAGES.iter().zip(&self.stages) {
                sheet.add_times(&format!("{name}: of that, {what}"), times);
            }
        }
    }
}

/// Starts of the daemon, each up to its first answers.
#[derive(Default)]
struct Cold {
    status: Times,
    first: Times,
    /// Until an answer came from both lanes; nothing without a model.
    whole: Times,
}

impl Cold {
    fn tell(&self, sheet: &mut Sheet) {
        sheet.add_times("start to first status", &self.status);
        sheet.add_times("start to first recall", &self.first);
        if !self.whole.is_empty() {
            sheet.add_times("start to first recall with the model", &self.whole);
        }
    }
}

fn measure_cold(
    household: &mut Household,
    n_turns: usize,
    has_model: bool,
) -> anyhow::Result<Cold> {
    let mut cold = Cold::default();
    for n in 0..N_COLD {
        household.stop_daemon()?;
        let begun = Instant::now();
        let started = household.start_daemon()?;
        cold.status.push(started.answering);
        let params = json!({"cue": synthetic::cue(n, n_turns)});
        let client = household.client();
        let mut answer = timed(&client, &params)?;
        cold.first.push(begun.elapsed());
        if has_model {
            wait_for("the model's answer", MODEL_LIMIT, || {
                if 0 < answer.at("timing_us").at("embedding").as_u64().unwrap_or(0) {
                    return Ok(Some(()));
                }
                answer = timed(&client, &params)?;
                Ok(None)
            })?;
            cold.whole.push(begun.elapsed());
        }
    }
    Ok(cold)
}

/// Asks turn about through the socket and through an MCP process, so that both meet the same
/// weather; no question is asked twice.
fn measure_warm(household: &Household, n_turns: usize) -> anyhow::Result<(Asked, Asked)> {
    let client = household.client();
    let mut mcp = Mcp::start(household.command(&["mcp"])?)?;
    let (mut warm, mut through_mcp) = (Asked::default(), Asked::default());
    for n in 0..N_QUESTIONS {
        let cue = |n: usize| json!({"cue": synthetic::cue(n, n_turns)});
        let begun = Instant::now();
        let answer = timed(&client, &cue(2 * n))?;
        warm.take(begun.elapsed(), &answer);
        let begun = Instant::now();
        let answer = mcp.recall(&cue(2 * n + 1))?;
        through_mcp.take(begun.elapsed(), &answer);
    }
    Ok((warm, through_mcp))
}

fn ask_all(
    cue: impl Fn(usize) -> String,
    mut ask: impl FnMut(&Value) -> anyhow::Result<Value>,
) -> anyhow::Result<Asked> {
    let mut asked = Asked::default();
    for n in 0..N_QUESTIONS {
        let params = json!({"cue": cue(n)});
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
                store(client, next..next + 20)?;
                next += 20;
            }
            Ok(())
        });
        let cue = |n: usize| synthetic::cue(n, n_turns);
        let asked = ask_all(cue, |params| timed(client, params));
        is_over.store(true, Ordering::Relaxed);
        let stored = storing.join().map_err(|_| anyhow::anyhow!("storing broke"))?;
        stored.context("storing beside the questions")?;
        asked
    })
}

/// Asks while the daemon does the work it would do at night.
fn measure_organising(client: &Client, n_turns: usize) -> anyhow::Result<Asked> {
    client.control(&json!({"type": "force_rem"})).context("beginning to organise")?;
    ask_all(|n| synthetic::cue(n, n_turns), |params| timed(client, params))
}

/// Tells how near to the arithmetic of this processor the model comes.
fn tell_speed(model: &Bare, n_turns: usize, embedding: &Times, sheet: &mut Sheet) {
    let cues = (0..N_QUESTIONS).map(|n| synthetic::cue(2 * n, n_turns));
    let limit = model.gigaflops_limit();
    let reached = embedding.milliseconds(50).map(|took| model.n_operations(cues) / (took * 1e6));
    let shown = reached.map(|reached| {
        format!("{reached:.0} of {limit:.0} GFLOP/s, {:.1}x the time", limit / reached)
    });
    let value = json!({"gflops": reached, "gflops_limit": limit});
    sheet.add("embedding the cue against the arithmetic limit", or_unknown(shown, ""), value);
}

/// Stores turns as `import` does.
fn store(client: &Client, turns: std::ops::Range<usize>) -> anyhow::Result<()> {
    let mut ignore = |_: &str| {};
    let mut loader = Loader::new(client.clone(), &mut ignore);
    for n in turns {
        let made_up = synthetic::turn(n);
        loader.push(&made_up.session, made_up.event)?;
    }
    loader.flush()
}
