//! Does what the plan says, step by step. A step that fails says so and leaves the others.

use super::super::checklist::{Checklist, Row, State};
use super::super::daemon::keeping;
use super::super::doctor::{Proof, prove};
use super::super::import::take_all;
use super::super::model::begin_to_use;
use super::super::output::{Output, counted};
use super::plan::{
    DAEMON, HISTORY, HOSTS_ROW, KEY, MODEL, Outlook, PROOF, Plan, SERVICE, no_hosts,
};
use crate::client::{Client, Started, create_key, is_room_missing, start_daemon, wake_daemon};
use crate::fields::Fields as _;
use crate::home::ensure_private_folder;
use crate::import::{Purpose, Source, Tally};
use crate::install::Action;
use crate::model::install_known;
use crate::settings::Settings;

/// Goes through every step and notes what came of it.
pub(super) fn carry_out(plan: &mut Plan<'_>, output: &Output, checklist: &mut Checklist<'_>) {
    checklist.add(key(plan));
    if checklist.has_failed(KEY) {
        for name in [SERVICE, DAEMON, HOSTS_ROW, MODEL, HISTORY, PROOF] {
            checklist.add(Row::new(name, State::Skipped, "there is no store to work with"));
        }
        return;
    }
    checklist.add(service(plan));
    checklist.add(daemon(plan.settings, checklist.has_failed(SERVICE)));
    hosts(plan, checklist);
    checklist.add(model(plan, output));
    if checklist.has_failed(DAEMON) {
        for name in [HISTORY, PROOF] {
            checklist.add(Row::new(name, State::Skipped, "the daemon does not run"));
        }
        return;
    }
    checklist.add(history(plan, output));
    let changed = if checklist.has(State::Done) { Changed::Something } else { Changed::Nothing };
    checklist.add(proof(plan.settings, changed));
}

fn key(plan: &Plan<'_>) -> Row {
    let home = &plan.settings.home;
    let path = home.key_file();
    match &plan.key {
        Outlook::Settled(row) => row.clone(),
        Outlook::Do((), _) => {
            let made = ensure_private_folder(home.root()).map_err(anyhow::Error::from);
            match made.and_then(|()| Ok(create_key(plan.settings)?)) {
                Ok(()) => Row::new(KEY, State::Done, format!("made {}", path.display())),
                Err(error) => {
                    let detail = format!("{}: {error:#}", path.display());
                    Row::failed(KEY, detail, way_out(&error))
                }
            }
        }
    }
}

/// What to do about a store that cannot be made.
fn way_out(error: &anyhow::Error) -> &'static str {
    match is_room_missing(error) {
        true => "free some space, or set IAI_MCP_STORE to a folder on another disk; then again",
        false => "free the path, or set IAI_MCP_STORE to a folder of yours; then again",
    }
}

fn service(plan: &mut Plan<'_>) -> Row {
    match &plan.service {
        Outlook::Settled(row) => row.clone(),
        Outlook::Do((), _) => match plan.keeping.install() {
            Ok(()) => {
                let name = plan.keeping.keeper.name();
                let detail = format!("{name} holds the socket and starts the daemon when wanted");
                Row::new(SERVICE, State::Done, detail)
            }
            Err(error) => Row::failed(
                SERVICE,
                format!("{error:#}; the daemon is started in the background instead"),
                "run setup again, or leave it with --no-service",
            ),
        },
    }
}

/// A daemon that is there and of this version is left alone.
fn daemon(settings: &Settings, is_service_broken: bool) -> Row {
    let start = || match is_service_broken {
        true => start_daemon(settings),
        false => keeping::start(settings),
    };
    let started = start().and_then(|started| match started {
        Started::Already(status) if keeping::is_other_version(&status) => {
            keeping::stop(settings)?;
            start()
        }
        other => Ok(other),
    });
    let woken = started.and_then(|started| Ok((started, wake_daemon(settings)?)));
    match woken {
        Ok((started, status)) => {
            let state = match started {
                Started::Now { .. } => State::Done,
                Started::Already(_) => State::Already,
            };
            Row::new(DAEMON, state, format!("runs, process {}", status.at("pid")))
        }
        Err(error) => Row::failed(DAEMON, format!("{error:#}"), "`iai-mcp doctor` looks into it"),
    }
}

fn hosts(plan: &mut Plan<'_>, checklist: &mut Checklist<'_>) {
    if plan.hosts.is_empty() {
        checklist.add(no_hosts());
    }
    for done in &mut plan.hosts {
        let was_refused = done.failure.is_some();
        done.apply(&plan.installer, Action::Install);
        let file = &done.step.file;
        let detail = format!("{} in {}", file.noun(), file.path.display());
        checklist.add(match (&done.failure, done.is_change()) {
            (Some(failure), _) if was_refused => {
                let next = "paste the block above, or mend the file and run setup again";
                Row::failed(file.host, failure, next)
            }
            (Some(failure), _) => Row::failed(file.host, failure, "run setup again"),
            (None, true) => Row::new(file.host, State::Done, detail)
                .with_next(done.remark.clone().unwrap_or_default()),
            (None, false) => Row::new(file.host, State::Already, detail),
        });
    }
}

/// Words work without a model, so that one that cannot be had is no failure.
fn model(plan: &Plan<'_>, output: &Output) -> Row {
    let offer = match &plan.model {
        Outlook::Settled(row) => return row.clone(),
        Outlook::Do(offer, _) => offer,
    };
    let mut tell = |text: &str| output.progress(text);
    let installed = install_known(&plan.settings.home, offer.name, &mut tell);
    output.end_progress();
    match installed {
        Ok(installed) => {
            let path = installed.path.display();
            match begin_to_use(&Client::new(plan.settings.clone()), offer.name) {
                Ok(_) => Row::new(MODEL, State::Done, format!("{} is at work: {path}", offer.name)),
                Err(why) => {
                    Row::new(MODEL, State::Done, format!("installed: {path}")).with_next(why)
                }
            }
        }
        Err(error) => {
            let detail = format!("memories are found by their words alone: {error:#}");
            let next = "`iai-mcp model install` tries again";
            Row::new(MODEL, State::Skipped, detail).with_next(next)
        }
    }
}

fn history(plan: &Plan<'_>, output: &Output) -> Row {
    let sources = match &plan.history {
        Outlook::Settled(row) => return row.clone(),
        Outlook::Do(sources, _) => sources,
    };
    match take_all(sources, Purpose::Store, None, plan.settings, output) {
        Ok(tally) => {
            if 0 < tally.n_stored {
                // Wishes and decisions are found now, so that the first session is told of them.
                let begin = serde_json::json!({"type": "force_rem"});
                Client::new(plan.settings.clone()).control(&begin).ok();
            }
            taken(sources, &tally)
        }
        Err(error) => {
            let next = "`iai-mcp import` goes on where this ended";
            Row::failed(HISTORY, format!("{error:#}"), next)
        }
    }
}

/// Says of a history that nothing in it is new.
pub(super) fn known(n_files: usize, tally: &Tally) -> String {
    let forgotten = match tally.n_forgotten {
        0 => String::new(),
        n => format!(", {n} forgotten on purpose"),
    };
    let (files, n_known) = (counted(n_files, "transcript"), tally.n_found - tally.n_forgotten);
    format!("{files}: {n_known} turns are known{forgotten}")
}

fn taken(sources: &[Source], tally: &Tally) -> Row {
    let files = counted(sources.len(), "transcript");
    let (state, detail) = match tally.n_stored {
        0 => (State::Already, known(sources.len(), tally)),
        n => (State::Done, format!("{files}: {n} of {} turns stored", tally.n_found)),
    };
    let row = Row::new(HISTORY, state, detail);
    match tally.problems.first() {
        None => row,
        Some(first) => row.with_next(format!(
            "{} could not be read, such as {first}; `iai-mcp import` lists them",
            counted(usize::try_from(tally.n_problems).unwrap_or(usize::MAX), "part")
        )),
    }
}

/// Whether a step before the proof did anything.
#[derive(Clone, Copy)]
pub(super) enum Changed {
    Something,
    Nothing,
}

/// Where nothing was changed, what is proved was so before.
pub(super) fn proof(settings: &Settings, changed: Changed) -> Row {
    let state = match changed {
        Changed::Something => State::Done,
        Changed::Nothing => State::Already,
    };
    match prove(settings) {
        Proof::Flown(detail) => Row::new(PROOF, state, detail),
        Proof::Unproved { detail, next, is_broken: true } => Row::failed(PROOF, detail, next),
        Proof::Unproved { detail, next, is_broken: false } => {
            Row::new(PROOF, State::Skipped, detail).with_next(next)
        }
    }
}
