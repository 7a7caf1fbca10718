//! What consolidation costs: how long a made-up history takes, what the daemon grows by, and how
//! much longer a recall takes meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::figures::{Times, megabytes, or_unknown};
use super::household::Household;
use super::loading::Loader;
use super::process::let_pass;
use super::procfs;
use super::sheet::Sheet;
use super::synthetic;
use crate::client::Client;
use crate::fields::Fields as _;
use crate::settings::Settings;

/// Questions while nothing else is done, and at least as many meanwhile.
const N_QUESTIONS: usize = 300;
/// Between two questions: somebody who asks without a pause leaves no time for anything.
const PAUSE: Duration = Duration::from_millis(20);
/// Words of a sentence: what is made up has none.
const WORDS_PER_SENTENCE: usize = 12;
const PROGRESS_EVERY: usize = 1000;

/// Measures over a made-up history of `n_turns`.
pub(crate) fn run(
    settings: &Settings,
    n_turns: usize,
    progress: &(dyn Fn(&str) + Sync),
) -> anyhow::Result<Sheet> {
    let mut household = Household::new(settings)?;
    household.start_daemon()?;
    let client = household.client();
    load(&client, n_turns, progress)?;
    progress("waiting for vectors");
    household.wait_indexed()?;
    let pid = household.daemon_pid().context("the daemon has no process id")?;
    let idle = ask(&client, n_turns, &|n| n < N_QUESTIONS, &mut |_| {})?;
    let before = procfs::resident_kib(pid);
    let mut peak = before;
    let is_over = AtomicBool::new(false);
    let (took, busy) = std::thread::scope(|scope| {
        let consolidating = scope.spawn(|| consolidate(&client, progress, &is_over));
        let go_on = |n: usize| !is_over.load(Ordering::Relaxed) || n < N_QUESTIONS;
        let busy = ask(&client, n_turns, &go_on, &mut |_| {
            peak = peak.max(procfs::resident_kib(pid));
        });
        let took = consolidating.join().map_err(|_| anyhow::anyhow!("consolidating broke"));
        anyhow::Ok((took??, busy?))
    })?;
    let again = consolidate(&client, &|_| {}, &is_over)?;
    let topology = client.call_daemon("topology", &json!({}))?;
    let mut sheet = Sheet::new(format!("consolidation of {n_turns} turns"), &household.status()?);
    sheet.add("whole", format!("{:.1} s", took.as_secs_f64()), took.as_secs_f64());
    sheet.add("once more", format!("{:.2} s", again.as_secs_f64()), again.as_secs_f64());
    sheet.add_times("recall, idle", &idle);
    sheet.add_times("recall, meanwhile", &busy);
    let ratio = busy.milliseconds(99).zip(idle.milliseconds(99)).map(|(b, i)| b / i.max(0.001));
    sheet.add("p99 meanwhile / idle", or_unknown(ratio.map(|r| format!("{r:.2}")), ""), ratio);
    for (name, kib) in [("memory (RSS) before", before), ("memory (RSS) at most", peak)] {
        let bytes = kib.map(|kib| kib * 1024);
        sheet.add(name, or_unknown(bytes.map(megabytes), ""), bytes);
    }
    tell_graph(&topology, &mut sheet);
    Ok(sheet)
}

fn tell_graph(topology: &Value, sheet: &mut Sheet) {
    let n_links: u64 = topology
        .at("links")
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(_, n)| n.as_u64())
        .sum();
    let n_memories = topology.at("N").as_u64().unwrap_or(0);
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
    let per_memory = n_links as f64 / n_memories.max(1) as f64;
    sheet.add("memories, summaries included", n_memories.to_string(), n_memories);
    let n_topics = topology.at("community_count").as_u64().unwrap_or(0);
    sheet.add("topics", n_topics.to_string(), n_topics);
    sheet.add("links per memory", format!("{per_memory:.2}"), per_memory);
}

/// Made-up turns with sentences in them.
fn load(client: &Client, n_turns: usize, progress: &dyn Fn(&str)) -> anyhow::Result<()> {
    let mut ignore = |_: &str| {};
    let mut loader = Loader::new(client.clone(), &mut ignore);
    for n in 0..n_turns {
        let mut made_up = synthetic::turn(n);
        let words: Vec<&str> = made_up.event.text.split(' ').collect();
        let sentences = words.chunks(WORDS_PER_SENTENCE).map(|words| words.join(" "));
        made_up.event.text = sentences.collect::<Vec<_>>().join(". ");
        loader.push(&made_up.session, made_up.event)?;
        if n.is_multiple_of(PROGRESS_EVERY) {
            progress(&format!("storing turn {n}"));
        }
    }
    loader.flush()
}

fn consolidate(
    client: &Client,
    progress: &dyn Fn(&str),
    is_over: &AtomicBool,
) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    let finished = loop {
        match client.call_daemon("memory_consolidate", &json!({"wait_ms": 1000})) {
            Ok(answer) if answer.at("is_finished") == true => break Ok(begun.elapsed()),
            Ok(answer) => progress(&format!("consolidating: {}", answer.at("at_step"))),
            Err(error) => break Err(error.into()),
        }
    };
    is_over.store(true, Ordering::Relaxed);
    finished
}

fn ask(
    client: &Client,
    n_turns: usize,
    go_on: &dyn Fn(usize) -> bool,
    between: &mut dyn FnMut(usize),
) -> anyhow::Result<Times> {
    let mut times = Times::default();
    let mut n = 0;
    while go_on(n) {
        let params = json!({"cue": synthetic::cue(n, n_turns)});
        let begun = Instant::now();
        client.call_daemon("memory_recall", &params)?;
        times.push(begun.elapsed());
        between(n);
        let_pass(PAUSE);
        n += 1;
    }
    Ok(times)
}
