//! `maintenance`: has everything consolidated now and shows how far it is, or reflection asked.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

use clap::Subcommand;
use serde_json::{Value, json};

use super::output::Output;
use crate::client::Client;
use crate::exit::Exit;
use crate::fields::Fields as _;

/// How long one look at the work waits for its end.
const LOOK_MS: u64 = 1000;
/// A cycle over a large store takes minutes; beyond this the daemon goes on alone.
const LOOKS_MAX: u32 = 1800;

#[derive(Clone, Copy, Subcommand)]
pub(super) enum MaintenanceCommand {
    /// Consolidate now: topics, summaries, patterns
    SleepCycle {
        /// Try steps again that rest because they failed
        #[arg(long)]
        reset_quarantine: bool,
        /// The same, as the Python program called it
        #[arg(long)]
        force: bool,
    },
    /// Ask the program of the setting `reflection` now instead of at night; once a night at most
    Reflect,
}

pub(super) fn run(
    command: MaintenanceCommand,
    client: &Client,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    match command {
        MaintenanceCommand::SleepCycle { reset_quarantine, force } => {
            sleep_cycle(client, reset_quarantine || force, output)
        }
        MaintenanceCommand::Reflect => reflect(client, output),
    }
}

fn reflect(client: &Client, output: &Output) -> anyhow::Result<ExitCode> {
    let answer = client.call_daemon("reflection_run", &json!({}))?;
    output.show(&answer, |answer| {
        let told = match answer.at("state").as_str().unwrap_or_default() {
            "begun" => "begun; `iai-mcp doctor` tells what became of it",
            "rests" => "it was asked less than a day ago, or failed three times; not asked again",
            "nothing_new" => "too little was said since the last time; not asked",
            "off" => "off; name a program as `reflection` in config.json and restart the daemon",
            _ => "not now",
        };
        told.to_owned()
    });
    Ok(ExitCode::SUCCESS)
}

fn sleep_cycle(client: &Client, try_resting: bool, output: &Output) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    output.explain("Sleep cycle started.");
    let working = output.working("waiting");
    let mut done = Done::default();
    let mut answer = Value::Null;
    for look in 0..LOOKS_MAX {
        let is_first = look == 0;
        let asked = json!({"wait_ms": LOOK_MS, "try_resting": try_resting && is_first});
        answer = client.call_daemon("memory_consolidate", &asked)?;
        done.add(answer.at("steps"));
        if answer.at("is_finished") == true {
            break;
        }
        working.say(&step_under_way(&answer));
        let count = |name: &str| answer.at(name).as_u64().unwrap_or(0);
        working.part(count("n_steps_over"), count("n_steps"));
    }
    drop(working);
    answer.set("steps", json!(done.0));
    answer.set("seconds", begun.elapsed().as_secs_f64());
    output.show(&answer, |answer| report(answer, &done));
    let is_resting = answer.at("resting").as_array().is_some_and(|steps| !steps.is_empty());
    Ok(if is_resting { Exit::Failure.into() } else { ExitCode::SUCCESS })
}

/// Effects by step. A look may come between two rounds, so that the larger number counts.
#[derive(Default)]
struct Done(BTreeMap<String, BTreeMap<String, u64>>);

impl Done {
    fn add(&mut self, steps: &Value) {
        for (step, effects) in steps.as_object().into_iter().flatten() {
            let known = self.0.entry(step.clone()).or_default();
            for (what, n) in effects.as_object().into_iter().flatten() {
                let known = known.entry(what.clone()).or_default();
                *known = n.as_u64().unwrap_or(0).max(*known);
            }
        }
    }
}

fn step_under_way(answer: &Value) -> String {
    let step = answer.at("at_step").as_str().unwrap_or("waiting");
    let effects = answer.at("steps").at(step).as_object().into_iter().flatten();
    let effects: Vec<String> = effects.map(|(what, n)| format!("{n} {}", spaced(what))).collect();
    if effects.is_empty() { step.to_owned() } else { format!("{step}: {}", effects.join(", ")) }
}

fn report(answer: &Value, done: &Done) -> String {
    // Those that found something to do; the rest of a cycle has nothing to tell.
    let n_steps = done.0.len();
    let mut lines: Vec<String> = Vec::new();
    for (place, (step, effects)) in (1..).zip(&done.0) {
        let effects: Vec<String> =
            effects.iter().map(|(what, n)| format!("{n} {}", spaced(what))).collect();
        lines.push(format!("[{place}/{n_steps}] {step} ... ok: {}", effects.join(", ")));
    }
    for step in answer.at("resting").as_array().into_iter().flatten() {
        lines.push(format!(
            "{step} failed three times and rests; --reset-quarantine tries it again"
        ));
    }
    let seconds = answer.at("seconds").as_f64().unwrap_or(0.0);
    lines.push(match answer.at("is_finished") == true {
        true => format!("Sleep cycle complete ({seconds:.1} s total)."),
        false => "Sleep cycle goes on behind; `iai-mcp daemon status` tells how far.".to_owned(),
    });
    lines.join("\n")
}

fn spaced(what: &str) -> String {
    what.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_is_numbered_to_its_end() {
        let mut done = Done::default();
        done.add(&json!({"facts": {"facts_taken": 2}, "topics": {"topics_found": 1}}));
        done.add(&json!({"facts": {"facts_taken": 1}}));
        let answer = json!({"n_steps": 16, "is_finished": true, "seconds": 0.25});
        insta::assert_snapshot!(report(&answer, &done), @r"
        [1/2] facts ... ok: 2 facts taken
        [2/2] topics ... ok: 1 topics found
        Sleep cycle complete (0.2 s total).
        ");
    }
}
