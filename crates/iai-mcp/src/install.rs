//! Wires hosts to this program and unwires them, in files that belong to somebody else.
//!
//! First a plan, which the user sees and agrees to; then each file on its own, so that one that
//! cannot be edited does not keep the others from it. Asking and printing is left to the command.

mod codex_config;
mod diff;
mod disk;
mod hooks;
mod hosts;
mod jsonc;
mod ledger;
mod marks;
mod plugins;
mod refusal;
mod servers;
mod splice;
mod wiring;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jiff::Timestamp;

use crate::home::Home;
use disk::Held;
use hosts::Content;
use ledger::{Entry, Ledger, sha256};

pub(crate) use hosts::{HOSTS, Host, HostFile, HostFolders, WHOLE_MARK};
pub(crate) use marks::Program;
pub(crate) use plugins::Plugin;
pub(crate) use refusal::Refusal;
pub(crate) use wiring::Wiring;

/// Everything the work needs to know.
pub(crate) struct Installer<'a> {
    pub(crate) home: &'a Home,
    pub(crate) folders: &'a HostFolders,
    pub(crate) program: Program,
    pub(crate) now: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Install,
    Uninstall,
}

/// What will happen to one file.
pub(crate) struct Step {
    pub(crate) file: HostFile,
    pub(crate) outlook: Outlook,
}

pub(crate) enum Outlook {
    Unchanged,
    /// It is left alone; the block is what a user could paste instead.
    Refused {
        refusal: Refusal,
        block: String,
    },
    Change(Change),
}

/// A change that waits for consent.
pub(crate) struct Change {
    old: Option<Held>,
    /// `None` deletes the file.
    new: Option<Vec<u8>>,
    pub(crate) means: Means,
}

/// How a change comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Means {
    /// The file is made.
    Create,
    /// Single entries are put in or taken out.
    Edit,
    /// The bytes from before the installation come back.
    Restore,
    /// A file we made goes.
    Delete,
}

/// One file of one host, as it is now.
pub(crate) struct Look {
    pub(crate) file: HostFile,
    pub(crate) wiring: Result<Wiring, Refusal>,
}

impl HostFile {
    /// What the file is for, as users call it.
    pub(crate) fn noun(&self) -> &'static str {
        self.content.noun()
    }
}

impl Change {
    /// Returns a unified diff for the user to read.
    pub(crate) fn diff(&self, path: &Path) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let old = self.old.as_ref().map(|held| text(&held.bytes));
        let new = self.new.as_ref().map(|bytes| text(bytes));
        let name = |side: &Option<String>| match side {
            Some(_) => path.display().to_string(),
            None => "/dev/null".to_owned(),
        };
        let body =
            diff::unified(&old.clone().unwrap_or_default(), &new.clone().unwrap_or_default());
        format!("--- {}\n+++ {}\n{body}", name(&old), name(&new))
    }
}

impl Change {
    /// Returns the group of the old file where the new one could not be given to it.
    pub(crate) fn lost_group(&self) -> Option<u32> {
        let is_written = self.new.is_some();
        self.old.as_ref().filter(|_| is_written).and_then(Held::lost_group)
    }
}

impl Installer<'_> {
    /// Looks at every file of the hosts and says what would happen to it; writes nothing.
    pub(crate) fn plan(&self, action: Action, hosts: &[Host]) -> anyhow::Result<Vec<Step>> {
        self.plan_files(action, hosts.iter().flat_map(|host| host.files(self.folders)).collect())
    }

    /// The same for single files.
    pub(crate) fn plan_files(
        &self,
        action: Action,
        files: Vec<HostFile>,
    ) -> anyhow::Result<Vec<Step>> {
        let ledger = Ledger::load(self.home)?;
        let step = |file: HostFile| {
            let outlook = match action {
                Action::Install => self.outlook_of_install(&file),
                Action::Uninstall => self.outlook_of_uninstall(&file, ledger.get(&file.path)),
            };
            if outlook.is_err() && action == Action::Uninstall && self.is_untouched(&file, &ledger)
            {
                return Step { file, outlook: Outlook::Unchanged };
            }
            let refused = |refusal| {
                let block = match action {
                    Action::Install => file.content.block(&self.program),
                    Action::Uninstall => String::new(),
                };
                Outlook::Refused { refusal, block }
            };
            let outlook = outlook.unwrap_or_else(refused);
            Step { file, outlook }
        };
        Ok(files.into_iter().map(step).collect())
    }

    /// Does what the plan says for one file and returns the backup, where one was made.
    pub(crate) fn apply(
        &self,
        action: Action,
        file: &HostFile,
        change: &Change,
    ) -> anyhow::Result<Option<PathBuf>> {
        match action {
            Action::Install => self.install(file, change),
            Action::Uninstall => self.uninstall(file, change),
        }
    }

    /// Returns our plugin in each of these hosts that has it and runs it.
    pub(crate) fn plugins(&self, hosts: &[Host]) -> Vec<Plugin> {
        hosts.iter().filter_map(|host| plugins::enabled(*host, self.folders)).collect()
    }

    /// Returns every copy that was ever made of these hosts' files, spent or not.
    pub(crate) fn backups(&self, hosts: &[Host]) -> Vec<PathBuf> {
        let files = hosts.iter().flat_map(|host| host.files(self.folders));
        files.flat_map(|file| disk::backups_of(&file.path)).collect()
    }

    /// Deletes one of them.
    pub(crate) fn remove_backup(&self, backup: &Path) -> anyhow::Result<()> {
        disk::remove(backup).with_context(|| format!("deleting {}", backup.display()))
    }

    /// Returns the new texts of these files that somebody was killed over.
    pub(crate) fn unfinished(&self, files: &[HostFile]) -> Vec<PathBuf> {
        files.iter().flat_map(|file| disk::unfinished_of(&file.path)).collect()
    }

    /// Deletes them, and forgets the files that were never made, with the folders made for them.
    pub(crate) fn clear_unfinished(&self, files: &[HostFile]) -> anyhow::Result<()> {
        for path in self.unfinished(files) {
            disk::remove(&path).with_context(|| format!("deleting {}", path.display()))?;
        }
        let mut ledger = Ledger::load(self.home)?;
        let mut has_forgotten = false;
        for file in files.iter().filter(|file| std::fs::symlink_metadata(&file.path).is_err()) {
            let Some(entry) = ledger.get(&file.path).filter(|entry| entry.is_created()) else {
                continue;
            };
            entry.folders_made(&file.path).for_each(remove_if_empty);
            ledger.remove(&file.path);
            has_forgotten = true;
        }
        if has_forgotten { ledger.save(self.home) } else { Ok(()) }
    }

    /// Says how the hosts are wired now.
    pub(crate) fn look(&self, hosts: &[Host]) -> Vec<Look> {
        let files = hosts.iter().flat_map(|host| host.files(self.folders));
        let look = |file: HostFile| {
            let wiring = disk::read(&file.path).and_then(|held| {
                let text = held.as_ref().map_or(Ok(""), Held::text)?;
                file.content.look(text, &self.program)
            });
            Look { file, wiring }
        };
        files.map(look).collect()
    }

    /// Whether a file that cannot be understood is surely not ours to give back.
    fn is_untouched(&self, file: &HostFile, ledger: &Ledger) -> bool {
        let held = disk::read(&file.path);
        let is_silent = held.is_ok_and(|held| held.is_none_or(|held| !held.mentions(marks::NAME)));
        is_silent && ledger.get(&file.path).is_none()
    }

    fn outlook_of_install(&self, file: &HostFile) -> Result<Outlook, Refusal> {
        let old = disk::read(&file.path)?;
        let text = old.as_ref().map_or(Ok(""), Held::text)?;
        let new = file.content.wire(text, &self.program)?;
        let wiring = file.content.look(&new, &self.program)?;
        assert!(wiring.missing.is_empty(), "what is offered to the user does what it says");
        if new == text {
            return Ok(Outlook::Unchanged);
        }
        let means = if old.is_some() { Means::Edit } else { Means::Create };
        change(old, Some(new.into_bytes()), means)
    }

    fn outlook_of_uninstall(
        &self,
        file: &HostFile,
        entry: Option<&Entry>,
    ) -> Result<Outlook, Refusal> {
        let Some(old) = disk::read(&file.path)? else { return Ok(Outlook::Unchanged) };
        let is_ours = entry.is_some_and(|entry| entry.sha256_after == sha256(&old.bytes));
        let is_created = entry.is_some_and(Entry::is_created);
        if is_ours && is_created {
            return change(Some(old), None, Means::Delete);
        }
        let original = entry.and_then(Entry::original);
        let is_restorable = is_ours && entry.is_some_and(|entry| entry.is_restorable);
        if let Some(original) = original.clone().filter(|_| is_restorable) {
            return change(Some(old), Some(original), Means::Restore);
        }
        let text = old.text()?;
        let original = original.as_deref().and_then(|bytes| std::str::from_utf8(bytes).ok());
        // A file we made has an original too: nothing.
        let original = if is_created { Some(file.content.nothing()) } else { original };
        let new = file.content.unwire(text, &self.program, original)?;
        if new == text {
            return Ok(Outlook::Unchanged);
        }
        let is_all_ours = is_created || matches!(file.content, Content::Whole(_));
        if is_all_ours && file.content.is_hollow(&new) {
            return change(Some(old), None, Means::Delete);
        }
        change(Some(old), Some(new.into_bytes()), Means::Edit)
    }

    /// Backup first, then the ledger, then the file: whenever this is interrupted, what is on disk
    /// can be understood and undone.
    fn install(&self, file: &HostFile, change: &Change) -> anyhow::Result<Option<PathBuf>> {
        let mut ledger = Ledger::load(self.home)?;
        let new = change.new.as_deref().unwrap_or_default();
        let known = ledger.get(&file.path).cloned();
        let (entry, backup) = match (&change.old, known) {
            (None, _) => (entry_of_creation(&ledger, file), None),
            (Some(old), Some(known)) if known.sha256_after == sha256(&old.bytes) => (known, None),
            (Some(old), known) => {
                let backup = disk::back_up(&file.path, old, self.now.as_second())?;
                let entry = match known.filter(|_| self.has_us(file, old)) {
                    // The user has edited what we wrote: only entries can be taken out again.
                    Some(known) => Entry { is_restorable: false, ..known },
                    None => Entry {
                        sha256_before: Some(sha256(&old.bytes)),
                        sha256_after: String::new(),
                        backup: Some(backup.clone()),
                        is_folder_made: false,
                        outer_folders_made: Vec::new(),
                        is_restorable: !self.has_us(file, old),
                    },
                };
                (entry, Some(backup))
            }
        };
        ledger.set(&file.path, Entry { sha256_after: sha256(new), ..entry });
        ledger.save(self.home)?;
        disk::replace(&file.path, change.old.as_ref(), new)?;
        Ok(backup)
    }

    fn has_us(&self, file: &HostFile, held: &Held) -> bool {
        let wiring = held.text().and_then(|text| file.content.look(text, &self.program));
        wiring.is_ok_and(|wiring| !wiring.wired.is_empty())
    }

    fn uninstall(&self, file: &HostFile, change: &Change) -> anyhow::Result<Option<PathBuf>> {
        let mut ledger = Ledger::load(self.home)?;
        let Some(old) = &change.old else { return Ok(None) };
        let entry = ledger.get(&file.path).cloned();
        let mut backup = None;
        match &change.new {
            None => {
                disk::delete(&file.path, old)?;
                let made = entry.iter().flat_map(|entry| entry.folders_made(&file.path));
                made.for_each(remove_if_empty);
            }
            Some(new) => {
                if change.means == Means::Edit {
                    backup = Some(disk::back_up(&file.path, old, self.now.as_second())?);
                }
                disk::replace(&file.path, Some(old), new)?;
            }
        }
        ledger.remove(&file.path);
        ledger.save(self.home)?;
        // The file is its own backup again, or the one just made holds more. What the Python
        // program had there is kept, and so is a backup that is not what we wrote.
        let spent = entry.filter(|entry| entry.is_restorable && entry.original().is_some());
        if let Some(spent) = spent.and_then(|entry| entry.backup) {
            disk::remove(&spent).ok();
        }
        Ok(backup)
    }
}

fn remove_if_empty(folder: &Path) {
    // Fails on a folder that holds something by now, as it should.
    std::fs::remove_dir(folder).ok();
}

fn entry_of_creation(ledger: &Ledger, file: &HostFile) -> Entry {
    let is_new = |folder: &&Path| !folder.exists() || ledger.has_made(folder);
    let mut made = file.path.ancestors().skip(1).take_while(is_new);
    Entry {
        sha256_before: None,
        sha256_after: String::new(),
        backup: None,
        is_folder_made: made.next().is_some(),
        outer_folders_made: made.map(Path::to_owned).collect(),
        is_restorable: true,
    }
}

fn change(old: Option<Held>, new: Option<Vec<u8>>, means: Means) -> Result<Outlook, Refusal> {
    if old.as_ref().is_some_and(Held::is_read_only) {
        return Err(Refusal::ReadOnly);
    }
    Ok(Outlook::Change(Change { old, new, means }))
}

#[cfg(test)]
mod tests;
