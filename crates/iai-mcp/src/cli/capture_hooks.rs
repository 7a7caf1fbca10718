//! `capture-hooks`: shows what would change in the hosts' files, asks, and wires or unwires them.

mod target;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::output::{Output, Tone};
use crate::exit::Exit;
use crate::install::{
    Action, HOSTS, Host, HostFolders, Installer, Look, Means, Outlook, Plugin, Program, Step,
    Wiring,
};
use crate::settings::Settings;

pub(super) use target::Target;

/// Lines of a diff that are shown where several have to fit on one screen: both names, where, and
/// the first lines of what changes.
const FOLDED_LINES: usize = 7;
/// So many diffs, folded, fit on one screen; of more, each is told in a line.
const FOLDED_DIFFS_MAX: usize = 5;

#[derive(Clone, Copy, Subcommand)]
pub(super) enum CaptureHooksCommand {
    /// Make hosts send their turns here and offer them the tools
    Install(ChangeArguments),
    /// Show which hosts are wired
    Status {
        /// Which host, and whether it must be wired
        #[arg(long, value_enum)]
        target: Option<Target>,
    },
    /// Take out what install put in, byte for byte where nobody edited it since
    Uninstall(ChangeArguments),
}

#[derive(Args, Clone, Copy)]
pub(super) struct ChangeArguments {
    /// Which host; without it, every host that is here
    #[arg(long, value_enum)]
    target: Option<Target>,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(
    command: CaptureHooksCommand,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let folders = &folders(settings)?;
    let installer = installer(settings, folders)?;
    match command {
        CaptureHooksCommand::Install(arguments) => {
            change(&installer, Action::Install, arguments, output)
        }
        CaptureHooksCommand::Uninstall(arguments) => {
            change(&installer, Action::Uninstall, arguments, output)
        }
        CaptureHooksCommand::Status { target } => Ok(status(&installer, target, output)),
    }
}

/// Says how much of each host on this machine is wired; no host, no word.
pub(super) fn wired_hosts(settings: &Settings) -> anyhow::Result<Vec<(&'static str, Degree)>> {
    let folders = &folders(settings)?;
    let installer = installer(settings, folders)?;
    let present = HOSTS.into_iter().filter(|host| host.is_present(folders));
    Ok(degrees(&View::of(&installer, &present.collect::<Vec<_>>())))
}

/// The hosts' files, and the plugins in them.
struct View {
    looks: Vec<Look>,
    plugins: Vec<Plugin>,
}

impl View {
    fn of(installer: &Installer<'_>, hosts: &[Host]) -> Self {
        Self { looks: installer.look(hosts), plugins: installer.plugins(hosts) }
    }
}

pub(super) fn installer<'a>(
    settings: &'a Settings,
    folders: &'a HostFolders,
) -> anyhow::Result<Installer<'a>> {
    let path = std::env::current_exe().context("finding this program's own path")?;
    let program = Program::new(&path).with_context(|| {
        format!("{} is not a path hosts can be given; move this program", path.display())
    })?;
    let program = program.for_store(settings.home.root(), &usual_store(folders));
    Ok(Installer { home: &settings.home, folders, program, now: crate::clock::now() })
}

/// Where the memory is looked for by whoever is told nothing.
fn usual_store(folders: &HostFolders) -> PathBuf {
    folders.home.join(".iai-mcp")
}

/// What a user should know whose store is elsewhere.
pub(super) fn store_elsewhere(installer: &Installer<'_>) -> Option<String> {
    let root = installer.home.root();
    (root != usual_store(installer.folders)).then(|| {
        format!(
            "hosts are told to use this store, {}; a terminal and a plugin find it only where \
             IAI_MCP_STORE is set",
            root.display()
        )
    })
}

pub(super) fn folders(settings: &Settings) -> anyhow::Result<HostFolders> {
    let home = settings.user_home.clone();
    let home = home.context("HOME is not set, so no host can be found; set HOME")?;
    Ok(HostFolders {
        home,
        config: settings.config_folder.clone(),
        claude: settings.claude_folder.clone(),
        codex: settings.codex_folder.clone(),
    })
}

/// Returns the hosts that are here; a machine without any gets Claude.
fn present(installer: &Installer<'_>) -> Vec<Host> {
    let present = HOSTS.into_iter().filter(|host| host.is_present(installer.folders));
    let present: Vec<Host> = present.collect();
    if present.is_empty() { vec![Host::Claude] } else { present }
}

/// What happened to one file.
pub(super) struct Done {
    pub(super) step: Step,
    diff: String,
    pub(super) backup: Option<String>,
    pub(super) failure: Option<String>,
    /// What could not stay as it was.
    pub(super) remark: Option<String>,
}

fn change(
    installer: &Installer<'_>,
    action: Action,
    arguments: ChangeArguments,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let hosts = match (arguments.target, action) {
        (Some(target), _) => target.hosts(),
        (None, Action::Install) => present(installer),
        (None, Action::Uninstall) => HOSTS.to_vec(),
    };
    let mut all: Vec<Done> = installer.plan(action, &hosts)?.into_iter().map(Done::of).collect();
    let has_changes = all.iter().any(|done| done.is_change());
    for done in &all {
        output.explain(&done.preview(output));
    }
    if action == Action::Install && has_changes {
        for plugin in installer.plugins(&hosts) {
            output.explain(&format!("{}\n", twice(&plugin)));
        }
    }
    let is_agreed = has_changes && !arguments.dry_run && is_agreed(arguments, output)?;
    if is_agreed {
        all.iter_mut().for_each(|done| done.apply(installer, action));
    }
    let notes = if is_agreed { notes(installer, action, &hosts, &all) } else { Vec::new() };
    let is_refused = has_changes && !is_agreed && !arguments.dry_run;
    output.show(&report(action, is_agreed, &all, &notes), |_| {
        if is_refused { "nothing was changed".to_owned() } else { summary(&all, is_agreed, &notes) }
    });
    let has_failed = is_refused || all.iter().any(|done| done.failure.is_some());
    Ok(if has_failed { Exit::Failure.into() } else { ExitCode::SUCCESS })
}

/// Nobody's file is changed unless its owner said so, at the terminal or with `--yes`.
fn is_agreed(arguments: ChangeArguments, output: &Output) -> anyhow::Result<bool> {
    if arguments.yes {
        return Ok(true);
    }
    output.ask("write these changes?").context(
        "nothing was changed: there is no terminal to ask on; look with --dry-run, agree with \
         --yes",
    )
}

impl Done {
    pub(super) fn of(step: Step) -> Self {
        let path = &step.file.path;
        let (diff, failure) = match &step.outlook {
            Outlook::Unchanged => (String::new(), None),
            Outlook::Refused { refusal, .. } => {
                (String::new(), Some(format!("{} {refusal}", path.display())))
            }
            Outlook::Change(change) => (change.diff(path), None),
        };
        Self { step, diff, backup: None, failure, remark: None }
    }

    pub(super) fn is_change(&self) -> bool {
        matches!(self.step.outlook, Outlook::Change(_))
    }

    pub(super) fn apply(&mut self, installer: &Installer<'_>, action: Action) {
        let Outlook::Change(change) = &self.step.outlook else { return };
        let path = self.step.file.path.display();
        match installer.apply(action, &self.step.file, change) {
            Ok(backup) => {
                self.backup = backup.map(|backup| backup.display().to_string());
                self.remark = change.lost_group().map(|group| {
                    format!("{path} belongs to your group now: group {group} is not yours to give")
                });
            }
            Err(error) => self.failure = Some(format!("{path} {error:#}")),
        }
    }

    /// What is shown before the question.
    pub(super) fn preview(&self, output: &Output) -> String {
        match &self.step.outlook {
            Outlook::Unchanged => String::new(),
            Outlook::Change(_) => tinted(&self.diff, output),
            Outlook::Refused { block, .. } => {
                let failure = self.failure.as_deref().unwrap_or_default();
                let failure = output.tint(Tone::Bad, failure);
                if block.is_empty() {
                    format!("{failure}\n")
                } else {
                    let host = self.step.file.host;
                    format!("{failure}\nwhat {host} needs there:\n{block}")
                }
            }
        }
    }

    /// The same for who sees one screen with `n_changes` of these: how a long diff begins; of many
    /// nothing, since a line of each has to be enough.
    pub(super) fn folded(&self, n_changes: usize, output: &Output) -> String {
        if FOLDED_DIFFS_MAX < n_changes && self.is_change() {
            return String::new();
        }
        let n_more = self.diff.lines().count().saturating_sub(FOLDED_LINES);
        if n_more <= FOLDED_LINES || !self.is_change() {
            return self.preview(output);
        }
        let shown: String =
            self.diff.lines().take(FOLDED_LINES).map(|line| format!("{line}\n")).collect();
        let rest = output.tint(Tone::Quiet, &format!("… {n_more} more lines"));
        format!("{}{rest}\n", tinted(&shown, output))
    }

    /// How much changes: `+66 −1`, or that the file is new.
    pub(super) fn size(&self) -> String {
        let n_lines = |mark: char, name: &str| {
            let is_changed = |line: &&str| line.starts_with(mark) && !line.starts_with(name);
            self.diff.lines().filter(is_changed).count()
        };
        let (n_more, n_fewer) = (n_lines('+', "+++"), n_lines('-', "---"));
        match &self.step.outlook {
            Outlook::Change(change) if change.means == Means::Create => format!("new, +{n_more}"),
            _ => format!("+{n_more} −{n_fewer}"),
        }
    }

    pub(super) fn word(&self, is_applied: bool) -> &'static str {
        match (&self.step.outlook, &self.failure, is_applied) {
            (Outlook::Unchanged, ..) => "unchanged",
            (_, Some(_), _) => "refused",
            (Outlook::Refused { .. }, ..) => "refused",
            (Outlook::Change(change), None, true) => match change.means {
                Means::Create => "created",
                Means::Edit => "changed",
                Means::Restore => "restored",
                Means::Delete => "deleted",
            },
            (Outlook::Change(change), None, false) => match change.means {
                Means::Create => "would be created",
                Means::Edit => "would be changed",
                Means::Restore => "would be restored",
                Means::Delete => "would be deleted",
            },
        }
    }

    pub(super) fn as_json(&self, is_applied: bool) -> Value {
        let block = match &self.step.outlook {
            Outlook::Refused { block, .. } => Some(block),
            Outlook::Unchanged | Outlook::Change(_) => None,
        };
        json!({
            "host": self.step.file.host,
            "path": self.step.file.path,
            "outcome": self.word(is_applied),
            "diff": self.diff,
            "backup": self.backup,
            "problem": self.failure,
            "remark": self.remark,
            "block": block,
        })
    }

    fn line(&self, is_applied: bool) -> String {
        let file = &self.step.file;
        let word = self.word(is_applied);
        let line = format!("{}: {word} {} ({})", file.host, file.path.display(), file.noun());
        match (&self.backup, &self.failure) {
            (_, Some(failure)) => format!("{}: refused: {failure}", file.host),
            (Some(backup), None) => format!("{line}, backup {backup}"),
            (None, None) => line,
        }
    }
}

fn tinted(diff: &str, output: &Output) -> String {
    let line = |line: &str| match line.chars().next() {
        Some('+') => output.tint(Tone::Good, line),
        Some('-') => output.tint(Tone::Bad, line),
        Some('@') => output.tint(Tone::Quiet, line),
        _ => line.to_owned(),
    };
    diff.lines().map(|text| line(text) + "\n").collect()
}

/// What the user has to know or do now.
fn notes(installer: &Installer<'_>, action: Action, hosts: &[Host], all: &[Done]) -> Vec<String> {
    let mut notes = Vec::new();
    let has_changed =
        |host: &str| all.iter().any(|done| done.step.file.host == host && done.is_change());
    if hosts.contains(&Host::Codex) && action == Action::Install && has_changed("codex") {
        notes.push(
            "Codex runs new hooks only after you trust them: start it and open /hooks".to_owned(),
        );
    }
    notes.extend(all.iter().filter_map(|done| done.remark.clone()));
    if action == Action::Install {
        notes.extend(store_elsewhere(installer));
        notes.extend(installer.plugins(hosts).iter().map(twice));
    }
    notes.push("sessions that are open now notice it when they start again".to_owned());
    notes
}

/// What a user should know who has both.
fn twice(plugin: &Plugin) -> String {
    let Plugin { host, id, path } = plugin;
    format!(
        "{host} has the plugin {id} switched on ({}); with hooks of its own beside it every event \
         runs twice. Nothing is stored twice, but one of the two is enough: \
         `iai-mcp capture-hooks uninstall --target {host}` leaves the plugin",
        path.display()
    )
}

fn summary(all: &[Done], is_applied: bool, notes: &[String]) -> String {
    let lines = all.iter().map(|done| done.line(is_applied));
    lines.chain(notes.iter().map(|note| format!("note: {note}"))).collect::<Vec<_>>().join("\n")
}

fn report(action: Action, is_applied: bool, all: &[Done], notes: &[String]) -> Value {
    let files = all.iter().map(|done| done.as_json(is_applied));
    let action = match action {
        Action::Install => "install",
        Action::Uninstall => "uninstall",
    };
    json!({
        "action": action,
        "applied": is_applied,
        "files": files.collect::<Vec<_>>(),
        "notes": notes,
    })
}

/// How much of a host is wired.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Degree {
    Whole,
    Part,
    None,
}

fn status(installer: &Installer<'_>, target: Option<Target>, output: &Output) -> ExitCode {
    let hosts = target.map_or_else(|| present(installer), Target::hosts);
    let view = View::of(installer, &hosts);
    let degrees: Vec<Degree> = degrees(&view).into_iter().map(|(_, degree)| degree).collect();
    // A host that was named must be wired; one that was not may be left alone, but not half done.
    let is_active = match target {
        Some(_) => degrees.iter().all(|degree| *degree == Degree::Whole),
        None => degrees.contains(&Degree::Whole) && !degrees.contains(&Degree::Part),
    };
    let word = if is_active { "ACTIVE" } else { "INACTIVE" };
    let files: Vec<Value> = view.looks.iter().map(described).collect();
    let plugins = view
        .plugins
        .iter()
        .map(|plugin| json!({"host": plugin.host, "id": plugin.id, "path": plugin.path}));
    let plugins: Vec<Value> = plugins.collect();
    output.show(&json!({"status": word, "files": files, "plugins": plugins}), |_| {
        let lines = view.looks.iter().map(|look| line(look, output));
        let plugins = view.plugins.iter().map(|plugin| plugin_line(plugin, &view, output));
        lines.chain(plugins).chain([format!("status: {word}")]).collect::<Vec<_>>().join("\n")
    });
    if is_active { ExitCode::SUCCESS } else { Exit::Failure.into() }
}

fn plugin_line(plugin: &Plugin, view: &View, output: &Output) -> String {
    let Plugin { host, id, path } = plugin;
    let state = output.tint(Tone::Good, "SWITCHED ON");
    let line = format!("{host}: plugin {id} {state} in {}", path.display());
    match degree_of_files(&view.looks, host) {
        Degree::None => line,
        Degree::Whole | Degree::Part => format!("{line}\nnote: {}", twice(plugin)),
    }
}

/// How much of each host is wired, by its files or by the plugin.
fn degrees(view: &View) -> Vec<(&'static str, Degree)> {
    let mut names: Vec<&'static str> = view.looks.iter().map(|look| look.file.host).collect();
    names.dedup();
    let degree = |host: &'static str| {
        let has_plugin = view.plugins.iter().any(|plugin| plugin.host == host);
        let degree = if has_plugin { Degree::Whole } else { degree_of_files(&view.looks, host) };
        (host, degree)
    };
    names.into_iter().map(degree).collect()
}

fn degree_of_files(looks: &[Look], host: &str) -> Degree {
    let mut looks = looks.iter().filter(|look| look.file.host == host).peekable();
    let all: Vec<Degree> = looks.by_ref().map(degree_of_file).collect();
    match all.as_slice() {
        [first, rest @ ..] if rest.iter().all(|degree| degree == first) => *first,
        _ => Degree::Part,
    }
}

fn degree_of_file(look: &Look) -> Degree {
    match &look.wiring {
        Ok(wiring) if wiring.wired.is_empty() => Degree::None,
        Ok(wiring) if is_sound(wiring) => Degree::Whole,
        Ok(_) | Err(_) => Degree::Part,
    }
}

fn is_sound(wiring: &Wiring) -> bool {
    wiring.missing.is_empty() && wiring.other_stores.is_empty() && gone(wiring).is_empty()
}

/// Returns the programs a file runs that are not there.
fn gone(wiring: &Wiring) -> Vec<&str> {
    let programs = wiring.programs.iter().map(String::as_str);
    programs.filter(|program| program.starts_with('/') && !Path::new(program).exists()).collect()
}

fn described(look: &Look) -> Value {
    let (wired, missing, gone, problem) = match &look.wiring {
        Ok(wiring) => (wiring.wired.clone(), wiring.missing.clone(), gone(wiring), None),
        Err(refusal) => (Vec::new(), Vec::new(), Vec::new(), Some(refusal.to_string())),
    };
    let other_stores = look.wiring.as_ref().map_or(&[][..], |wiring| &wiring.other_stores);
    json!({
        "host": look.file.host,
        "path": look.file.path,
        "kind": look.file.noun(),
        "wired": wired,
        "missing": missing,
        "gone": gone,
        "other_stores": other_stores,
        "problem": problem,
    })
}

fn line(look: &Look, output: &Output) -> String {
    let (tone, state) = match &look.wiring {
        Err(refusal) => (Tone::Bad, format!("unreadable: the file {refusal}")),
        Ok(wiring) if wiring.wired.is_empty() => (Tone::Quiet, "not wired".to_owned()),
        Ok(wiring) if !gone(wiring).is_empty() => {
            let gone = gone(wiring).join(", ");
            (Tone::Bad, format!("wired to a program that is gone: {gone}; run install again"))
        }
        Ok(wiring) if !wiring.other_stores.is_empty() => {
            let stores = wiring.other_stores.join(", ");
            (Tone::Careful, format!("WIRED TO ANOTHER STORE, {stores}; install leads it here"))
        }
        Ok(wiring) if !wiring.missing.is_empty() => {
            (Tone::Careful, format!("PARTLY WIRED, without {}", wiring.missing.join(", ")))
        }
        Ok(wiring) => (Tone::Good, format!("WIRED ({})", wiring.wired.join(", "))),
    };
    let file = &look.file;
    let state = output.tint(tone, &state);
    format!("{}: {} {state} in {}", file.host, file.noun(), file.path.display())
}
