//! The daemon as a service: `daemon install` and `daemon uninstall`, and starting and stopping that
//! goes through the service manager where it keeps this store's socket.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use serde_json::{Value, json};

use super::super::capture_hooks::{Done, folders, installer};
use super::super::output::Output;
use crate::client::{
    Started, Stopped, check_key, check_store, is_nobody_the_daemon, start_daemon, stop_daemon,
    wake_daemon,
};
use crate::exit::Exit;
use crate::fields::Fields as _;
use crate::home::ensure_private_folder;
use crate::install::{Action, HostFile, HostFolders, Installer};
use crate::service::{Keeper, Service};
use crate::settings::Settings;

#[derive(Args, Clone, Copy)]
pub(in crate::cli) struct InstallArguments {
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// The service's files and what is to become of them.
pub(in crate::cli) struct Keeping<'a> {
    settings: &'a Settings,
    installer: Installer<'a>,
    service: Service,
    pub(in crate::cli) keeper: Keeper,
    pub(in crate::cli) files: Vec<Done>,
}

impl<'a> Keeping<'a> {
    /// Looks at what making it a service would change; without a manager nothing would.
    pub(in crate::cli) fn of_install(
        settings: &'a Settings,
        folders: &'a HostFolders,
    ) -> anyhow::Result<Self> {
        let (installer, service) = parts(settings, folders)?;
        let keeper = service.keeper();
        let files = match keeper {
            Keeper::Nobody(_) => Vec::new(),
            Keeper::Systemd | Keeper::Launchd => planned(&installer, Action::Install, &service)?,
        };
        Ok(Self { settings, installer, service, keeper, files })
    }

    /// Looks at what taking it away would change; the service of another store is left alone.
    pub(in crate::cli) fn of_uninstall(
        settings: &'a Settings,
        folders: &'a HostFolders,
    ) -> anyhow::Result<Self> {
        let (installer, service) = parts(settings, folders)?;
        let (keeper, files) = if service.is_installed() {
            (service.manager(), planned(&installer, Action::Uninstall, &service)?)
        } else {
            (Keeper::Nobody("it is no service here".to_owned()), Vec::new())
        };
        Ok(Self { settings, installer, service, keeper, files })
    }

    /// Whether the files are written and the manager listens.
    pub(in crate::cli) fn is_settled(&self) -> bool {
        !self.files.iter().any(Done::is_change) && self.service.is_listening(&self.keeper)
    }

    /// Writes the files and has the manager listen. Whoever runs now is stopped before: a manager
    /// takes the socket's path from under them, and two daemons cannot be.
    pub(in crate::cli) fn install(&mut self) -> anyhow::Result<()> {
        if let Some(failure) = self.files.iter().find_map(|done| done.failure.as_ref()) {
            bail!("{failure}");
        }
        if self.service.is_listening(&self.keeper) {
            self.service.stop(&self.keeper)?;
        }
        stop_daemon(self.settings)?;
        for folder in [self.settings.home.root().to_owned(), self.settings.home.logs()] {
            ensure_private_folder(&folder)
                .with_context(|| format!("making {}", folder.display()))?;
        }
        self.apply(Action::Install)?;
        self.service.start(&self.keeper)
    }

    /// Ends the daemon, however it was started, and takes the files away. Returns whether one ran.
    pub(in crate::cli) fn uninstall(&mut self) -> anyhow::Result<bool> {
        let was_running = !is_nobody_the_daemon(&self.settings.home);
        if !self.files.is_empty() {
            self.service.remove(&self.keeper)?;
        }
        stop_daemon(self.settings)?;
        self.apply(Action::Uninstall)?;
        self.service.removed(&self.keeper);
        Ok(was_running)
    }

    fn apply(&mut self, action: Action) -> anyhow::Result<()> {
        for done in &mut self.files {
            done.apply(&self.installer, action);
            if let Some(failure) = &done.failure {
                bail!("{failure}");
            }
        }
        Ok(())
    }

    /// Returns every file the service has where it is one.
    pub(in crate::cli) fn service_files(&self) -> &[HostFile] {
        self.service.files()
    }

    /// Returns the files' paths, for people.
    pub(in crate::cli) fn paths(&self) -> String {
        let paths = self.files.iter().map(|done| done.step.file.path.display().to_string());
        paths.collect::<Vec<_>>().join(", ")
    }
}

fn planned(
    installer: &Installer<'_>,
    action: Action,
    service: &Service,
) -> anyhow::Result<Vec<Done>> {
    let steps = installer.plan_files(action, service.files().to_vec())?;
    Ok(steps.into_iter().map(Done::of).collect())
}

fn parts<'a>(
    settings: &'a Settings,
    folders: &'a HostFolders,
) -> anyhow::Result<(Installer<'a>, Service)> {
    let program = std::env::current_exe().context("finding this program's own path")?;
    let service = Service::of(settings, folders, &program)?;
    Ok((installer(settings, folders)?, service))
}

/// Returns the service of this store and its manager, where there are both.
fn kept(settings: &Settings) -> Option<(Service, Keeper)> {
    let folders = folders(settings).ok()?;
    let program = std::env::current_exe().ok()?;
    let service = Service::of(settings, &folders, &program).ok()?;
    // The manager is asked only where there is something to ask about.
    let keeper = service.is_installed().then(|| service.manager())?;
    (!matches!(keeper, Keeper::Nobody(_))).then_some((service, keeper))
}

/// Starts a daemon, through the manager that keeps its socket or in the background.
pub(in crate::cli) fn start(settings: &Settings) -> anyhow::Result<Started> {
    let Some((service, keeper)) = kept(settings) else { return start_daemon(settings) };
    let was_running = !is_nobody_the_daemon(&settings.home);
    if !service.is_listening(&keeper) {
        stop_daemon(settings)?;
        service.start(&keeper)?;
    }
    let status = wake_daemon(settings).or_else(|error| {
        // Managers keep to themselves why a daemon ended; most often it is the store or its key.
        if settings.home.database().exists() {
            check_store(settings)?;
        }
        let why = || format!("{} does not bring it up; {}", keeper.name(), keeper.diary());
        Err(error).with_context(why)
    })?;
    Ok(match was_running {
        true => Started::Already(status),
        false => Started::Now { status, remarks: None },
    })
}

/// Stops the daemon and keeps it stopped: a socket that goes on listening would bring it back.
pub(in crate::cli) fn stop(settings: &Settings) -> anyhow::Result<Stopped> {
    let Some((service, keeper)) = kept(settings) else { return stop_daemon(settings) };
    let was_running = !is_nobody_the_daemon(&settings.home);
    service.stop(&keeper)?;
    Ok(match stop_daemon(settings)? {
        Stopped::NotRunning if was_running => Stopped::Left,
        stopped => stopped,
    })
}

/// Makes sure that stopping the daemon would not be the end of it: whoever runs may have the only
/// key in its memory.
pub(super) fn check_restart(settings: &Settings) -> anyhow::Result<()> {
    // A manager starts it with an environment of its own, which nobody sees from here.
    if is_nobody_the_daemon(&settings.home) || kept(settings).is_some() {
        return Ok(());
    }
    let vault = settings.home.vault();
    if settings.home.database().exists() && !vault.exists() {
        bail!(
            "the daemon was not stopped: {} is missing, and none could start without it; \
             `iai-mcp crypto rotate` has this one write a new key and vault",
            vault.display()
        );
    }
    check_key(settings).context("the daemon was not stopped, as none could start after it")
}

pub(super) fn install(
    arguments: InstallArguments,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let folders = folders(settings)?;
    let mut keeping = Keeping::of_install(settings, &folders)?;
    if let Keeper::Nobody(why) = &keeping.keeper {
        bail!("{why}; `iai-mcp daemon start` runs the daemon until this machine restarts");
    }
    let is_shown = arguments.dry_run || !arguments.yes;
    for done in keeping.files.iter().filter(|_| is_shown) {
        let path = done.step.file.path.display();
        output.explain(&format!("# Would install to: {path}\n{}", done.preview(output)));
    }
    let is_agreed = !arguments.dry_run && (arguments.yes || is_agreed("write these?", output)?);
    if is_agreed {
        keeping.install()?;
        start(settings)?;
    }
    let report = report(&keeping, is_agreed);
    output.show(&report, |_| match (is_agreed, arguments.dry_run) {
        (true, _) => format!("Installed to {}", keeping.paths()),
        (false, true) => String::new(),
        (false, false) => "Install cancelled.".to_owned(),
    });
    let is_cancelled = !is_agreed && !arguments.dry_run;
    Ok(if is_cancelled { Exit::Failure.into() } else { ExitCode::SUCCESS })
}

pub(super) fn uninstall(
    is_agreed_to: bool,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let folders = folders(settings)?;
    let mut keeping = Keeping::of_uninstall(settings, &folders)?;
    let question = "stop the daemon and take its service away?";
    if !is_agreed_to && !is_agreed(question, output)? {
        output.remark("Uninstall cancelled.");
        return Ok(Exit::Failure.into());
    }
    keeping.uninstall()?;
    output.show(&report(&keeping, true), |_| "Daemon uninstalled. State files removed.".to_owned());
    Ok(ExitCode::SUCCESS)
}

fn is_agreed(question: &str, output: &Output) -> anyhow::Result<bool> {
    output
        .ask(question)
        .context("nothing was changed: there is no terminal to ask on; agree with --yes")
}

fn report(keeping: &Keeping<'_>, is_applied: bool) -> Value {
    let files: Vec<Value> = keeping.files.iter().map(|done| done.as_json(is_applied)).collect();
    json!({"applied": is_applied, "keeper": keeping.keeper.name(), "files": files})
}

/// Whether a daemon that answers is of another version than this program.
pub(in crate::cli) fn is_other_version(status: &Value) -> bool {
    status.at("version").as_str() != Some(env!("CARGO_PKG_VERSION"))
}
