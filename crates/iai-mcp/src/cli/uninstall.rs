//! `uninstall`: everything setup did, undone: no daemon, no service, every host's file as it was.
//! The memory itself stays, unless it is to be purged.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use serde_json::{Value, json};

use super::capture_hooks::{Done, folders, installer};
use super::checklist::{Checklist, Row, State};
use super::daemon::keeping::Keeping;
use super::output::{Output, counted};
use crate::client::{Client, delete_store, is_nobody_the_daemon};
use crate::exit::Exit;
use crate::home::foreign_files;
use crate::install::{Action, HOSTS, HostFile, HostFolders, Installer};
use crate::settings::Settings;

const DAEMON: &str = "daemon";
const HOSTS_ROW: &str = "hosts";
const UNFINISHED: &str = "unfinished";
const COPIES: &str = "copies";
const STORE: &str = "store";
/// Foreign files named one by one; the rest is a number.
const FOREIGN_NAMED_MAX: usize = 10;

#[derive(Args, Clone, Copy)]
pub(super) struct UninstallArguments {
    /// Delete the memory too: every turn, the key, the models; there is no undo
    #[arg(long)]
    purge: bool,
    /// Show what would happen, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// What would be undone.
struct Plan<'a> {
    settings: &'a Settings,
    installer: Installer<'a>,
    keeping: Keeping<'a>,
    hosts: Vec<Done>,
    /// Every file setup could have written, changed now or not.
    all_files: Vec<HostFile>,
    memory: Memory,
}

/// What becomes of the store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Memory {
    Kept,
    Purged,
}

pub(super) fn run(
    arguments: UninstallArguments,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let folders = folders(settings)?;
    let memory = if arguments.purge { Memory::Purged } else { Memory::Kept };
    if memory == Memory::Purged {
        check_nothing_foreign(settings)?;
    }
    let mut plan = Plan::look(settings, &folders, memory)?;
    if arguments.yes && !arguments.dry_run {
        return Ok(plan.carry_out(&folders.home, output));
    }
    let preview = show(&plan, &folders.home, output);
    if arguments.dry_run {
        output.show(&report(&plan, &preview, false), |_| "nothing was changed".to_owned());
        return Ok(exit(&preview));
    }
    if !is_agreed(&plan, output)? {
        output.text("nothing was changed");
        return Ok(Exit::Failure.into());
    }
    Ok(plan.carry_out(&folders.home, output))
}

/// Refuses before anything is touched, so that nobody is left half-way.
fn check_nothing_foreign(settings: &Settings) -> anyhow::Result<()> {
    let root = settings.home.root();
    if !root.exists() {
        return Ok(());
    }
    let foreign = foreign_files(&settings.home)
        .with_context(|| format!("looking through {}", root.display()))?;
    if foreign.is_empty() {
        return Ok(());
    }
    let named = foreign.iter().take(FOREIGN_NAMED_MAX).map(|path| path.display().to_string());
    let mut named: Vec<String> = named.collect();
    if FOREIGN_NAMED_MAX < foreign.len() {
        named.push(format!("and {} more", foreign.len() - FOREIGN_NAMED_MAX));
    }
    bail!(
        "nothing was changed: {} holds files that are not ours: {}; move them away, or leave \
         without --purge",
        root.display(),
        named.join(", ")
    )
}

impl<'a> Plan<'a> {
    fn look(
        settings: &'a Settings,
        folders: &'a HostFolders,
        memory: Memory,
    ) -> anyhow::Result<Self> {
        let installer = installer(settings, folders)?;
        let steps = installer.plan(Action::Uninstall, &HOSTS)?;
        let hosts = steps.into_iter().map(Done::of);
        let hosts = hosts.filter(|done| done.is_change() || done.failure.is_some()).collect();
        let keeping = Keeping::of_uninstall(settings, folders)?;
        let mut all_files: Vec<HostFile> =
            HOSTS.iter().flat_map(|host| host.files(folders)).collect();
        all_files.extend_from_slice(keeping.service_files());
        Ok(Self { settings, installer, keeping, hosts, all_files, memory })
    }

    fn files(&self) -> impl Iterator<Item = &Done> {
        self.keeping.files.iter().chain(&self.hosts)
    }

    fn rows(&self) -> Vec<Row> {
        let service = match self.keeping.files.is_empty() {
            true => String::new(),
            false => format!(", and its service would go: {}", self.keeping.paths()),
        };
        let mut rows = vec![match is_nobody_the_daemon(&self.settings.home) {
            true if service.is_empty() => Row::new(DAEMON, State::Already, "does not run"),
            _ => Row::new(DAEMON, State::Planned, format!("would be stopped{service}")),
        }];
        if self.hosts.is_empty() {
            rows.push(nothing_in_hosts());
        }
        rows.extend(self.hosts.iter().map(|done| host_row(done, false)));
        let unfinished = self.installer.unfinished(&self.all_files);
        if !unfinished.is_empty() {
            rows.push(Row::new(
                UNFINISHED,
                State::Planned,
                format!("would be {}", deleted(&unfinished)),
            ));
        }
        let copies = self.installer.backups(&HOSTS);
        if self.memory == Memory::Purged && !copies.is_empty() {
            rows.push(Row::new(
                COPIES,
                State::Planned,
                format!("would be deleted: {}", joined(&copies)),
            ));
        }
        rows.push(match self.memory {
            Memory::Kept => self.store_kept(),
            Memory::Purged => Row::new(STORE, State::Planned, format!("would be {}", self.loss())),
        });
        rows
    }

    /// Names what nobody will have any more.
    fn loss(&self) -> String {
        let home = &self.settings.home;
        let overview = Client::new(self.settings.clone()).call("store_overview", &json!({}));
        let n_waiting = crate::capture::n_waiting(home);
        let mut parts = vec![super::status::kept(&overview.unwrap_or_default())];
        if 0 < n_waiting {
            parts.push(format!("{n_waiting} turns not yet stored"));
        }
        if home.key_file().exists() {
            parts.push("the key, without which no backup opens".to_owned());
        }
        let models = crate::model::installed(home);
        if !models.is_empty() {
            parts.push(format!("{} ({})", counted(models.len(), "model"), models.join(", ")));
        }
        format!("deleted for good: {}; {}", home.root().display(), parts.join(", "))
    }

    fn store_kept(&self) -> Row {
        let root = self.settings.home.root();
        match root.exists() {
            true => Row::new(STORE, State::Skipped, format!("{} is kept", root.display()))
                .with_next("`iai-mcp uninstall --purge` deletes it, `iai-mcp setup` takes it up"),
            false => Row::new(STORE, State::Already, "there is none"),
        }
    }

    fn carry_out(&mut self, home: &Path, output: &Output) -> ExitCode {
        let mut checklist = Checklist::new(output, home);
        self.undo(&mut checklist);
        output.show(&report(self, &checklist, true), |_| self.farewell().join("\n"));
        exit(&checklist)
    }

    fn undo(&mut self, checklist: &mut Checklist<'_>) {
        // Asked while there is somebody to ask.
        let loss = (self.memory == Memory::Purged).then(|| self.loss());
        // First: a folder that is ours goes only when nothing is left in it.
        if let Some(row) = self.clear_unfinished() {
            checklist.add(row);
        }
        checklist.add(self.end_daemon());
        if self.hosts.is_empty() {
            checklist.add(nothing_in_hosts());
        }
        for done in &mut self.hosts {
            done.apply(&self.installer, Action::Uninstall);
            checklist.add(host_row(done, true));
        }
        let Some(loss) = loss else {
            checklist.add(self.store_kept());
            return;
        };
        if checklist.has(State::Failed) {
            // What was done to the hosts' files is written down in the store.
            let why = "not deleted, because something else could not be undone";
            checklist.add(Row::new(STORE, State::Skipped, why).with_next("see what failed above"));
            return;
        }
        checklist.add(self.drop_copies());
        checklist.add(self.purge(&loss));
    }

    /// Deletes what a setup that was killed has left beside the files it wrote.
    fn clear_unfinished(&self) -> Option<Row> {
        let unfinished = self.installer.unfinished(&self.all_files);
        match self.installer.clear_unfinished(&self.all_files) {
            Ok(()) if unfinished.is_empty() => None,
            Ok(()) => Some(Row::new(UNFINISHED, State::Done, deleted(&unfinished))),
            Err(error) => {
                let next = "delete it by hand, and run this again";
                Some(Row::failed(UNFINISHED, format!("{error:#}"), next))
            }
        }
    }

    fn end_daemon(&mut self) -> Row {
        let has_service = !self.keeping.files.is_empty();
        match (self.keeping.uninstall(), has_service) {
            (Ok(_), true) => Row::new(DAEMON, State::Done, "stopped, and its service is gone"),
            (Ok(true), false) => Row::new(DAEMON, State::Done, "stopped"),
            (Ok(false), false) => Row::new(DAEMON, State::Already, "does not run"),
            (Err(error), _) => {
                Row::failed(DAEMON, format!("{error:#}"), "stop it, and run this again")
            }
        }
    }

    fn drop_copies(&self) -> Row {
        let copies = self.installer.backups(&HOSTS);
        if copies.is_empty() {
            return Row::new(COPIES, State::Already, "none of a host's file is left");
        }
        let dropped: anyhow::Result<()> =
            copies.iter().try_for_each(|copy| self.installer.remove_backup(copy));
        match dropped {
            Ok(()) => Row::new(COPIES, State::Done, format!("deleted {}", joined(&copies))),
            Err(error) => Row::failed(COPIES, format!("{error:#}"), "delete them by hand"),
        }
    }

    fn purge(&self, loss: &str) -> Row {
        let root = self.settings.home.root();
        if !root.exists() {
            return Row::new(STORE, State::Already, "there is none");
        }
        match delete_store(self.settings) {
            Ok(()) => Row::new(STORE, State::Done, loss),
            Err(error) => Row::failed(STORE, format!("{error:#}"), "then run this again"),
        }
    }

    /// Says what is left to do, because no program can do it for them.
    fn farewell(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.hosts.iter().any(Done::is_change) {
            let told = "sessions that are open go on running the hook until they end; end them";
            lines.push(told.to_owned());
        }
        let copies = self.installer.backups(&HOSTS);
        if !copies.is_empty() {
            lines.push(format!("copies of files you had edited are kept: {}", joined(&copies)));
        }
        if let Ok(program) = std::env::current_exe() {
            lines.push(format!("the program itself is {}", program.display()));
        }
        lines
    }
}

fn deleted(unfinished: &[PathBuf]) -> String {
    format!("deleted, left by a setup that was ended early: {}", joined(unfinished))
}

fn nothing_in_hosts() -> Row {
    Row::new(HOSTS_ROW, State::Already, "nothing of ours is in any host's file")
}

fn host_row(done: &Done, is_applied: bool) -> Row {
    let file = &done.step.file;
    let state = if is_applied { State::Done } else { State::Planned };
    match &done.failure {
        Some(failure) => Row::failed(file.host, failure, "then run `iai-mcp uninstall` again"),
        None => {
            Row::new(file.host, state, format!("{} {}", done.word(is_applied), file.path.display()))
        }
    }
}

fn show<'a>(plan: &Plan<'_>, home: &'a Path, output: &'a Output) -> Checklist<'a> {
    for done in plan.files() {
        output.explain(&done.preview(output));
    }
    output.explain("What uninstall does");
    let mut preview = Checklist::new(output, home);
    for row in plan.rows() {
        preview.add(row);
    }
    preview
}

fn is_agreed(plan: &Plan<'_>, output: &Output) -> anyhow::Result<bool> {
    let question = match plan.memory {
        Memory::Kept => "undo all this?",
        Memory::Purged => "undo all this, and lose the memory for good?",
    };
    output.ask(question).context(
        "nothing was changed: there is no terminal to ask on; look with `iai-mcp uninstall \
         --dry-run`, agree with `--yes`",
    )
}

fn report(plan: &Plan<'_>, checklist: &Checklist<'_>, is_applied: bool) -> Value {
    let files: Vec<Value> = plan.files().map(|done| done.as_json(is_applied)).collect();
    json!({
        "ok": !checklist.has(State::Failed),
        "applied": is_applied,
        "purged": is_applied && plan.memory == Memory::Purged,
        "steps": checklist.as_json(),
        "files": files,
        "what_now": plan.farewell(),
    })
}

fn joined(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn exit(checklist: &Checklist<'_>) -> ExitCode {
    if checklist.has(State::Failed) { Exit::Failure.into() } else { ExitCode::SUCCESS }
}
