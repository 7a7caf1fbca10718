//! Replaces parts of a store together: staged aside, committed by one rename, put in place after
//! it.
//!
//! From the commit on, the staged parts are the store. A crash before it leaves the old parts and
//! a folder to sweep; a crash after it is finished by whoever opens the store next.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};
use crate::files::{self, StorePaths};

/// The folder in that of the store where staged parts stand once they count: where it is, a store
/// is on its way.
pub const COMMITTED_FOLDER: &str = ".next";
/// How the folder is named in which they are made ready.
const PREPARING: &str = ".next-preparing-";
/// How the folder is named that keeps what was replaced.
const REPLACED: &str = "replaced-";
/// Names what of the store's folder goes with what is replaced, a line each.
const ALONG: &str = ".along";
/// What goes along moves first, then everything is planned again.
const ROUNDS_MAX: u32 = 2;
const FOLDER_MODE: u32 = 0o700;
/// What SQLite keeps beside a database.
const BESIDE_DATABASE: [&str; 2] = ["-wal", "-shm"];

/// Parts of a store on their way; dropped without a commit, they are swept by the next opening.
pub(crate) struct Staging<'a> {
    paths: &'a StorePaths,
    folder: PathBuf,
}

impl<'a> Staging<'a> {
    /// Begins with nothing staged. The caller owns the store.
    pub(crate) fn begin(paths: &'a StorePaths) -> Result<Self> {
        let tag = u64::from_le_bytes(files::random()?);
        let folder = paths.folder.join(format!("{PREPARING}{tag:016x}"));
        make_folder(&folder)?;
        Ok(Self { paths, folder })
    }

    /// Lets the commit keep what it replaces, in a folder of the store with this ending.
    pub(crate) fn keep_replaced(&self, ending: &str) -> Result<PathBuf> {
        let name = format!("{REPLACED}{ending}");
        make_folder(&self.folder.join(&name))?;
        Ok(self.paths.folder.join(name))
    }

    /// Lets the commit move these folders of the store's folder to what it replaces.
    pub(crate) fn move_along(&self, names: &[&str]) -> Result<()> {
        self.put(Path::new(ALONG), names.join("\n").as_bytes())
    }

    /// Returns where to write the part that will stand at `place`, a path below the store's folder.
    pub(crate) fn path_for(&self, place: &Path) -> Result<PathBuf> {
        let inside = self.inside(place)?;
        if let Some(folder) = inside.parent().filter(|folder| !folder.is_dir()) {
            make_folder(folder)?;
        }
        Ok(inside)
    }

    /// Stages a small part.
    pub(crate) fn put(&self, place: &Path, bytes: &[u8]) -> Result<()> {
        let path = self.path_for(place)?;
        let mut file = files::create_private(&path)?;
        io::Write::write_all(&mut file, bytes)
            .and_then(|()| file.sync_all())
            .map_err(|e| StoreError::io("staging a file", &path, e))
    }

    /// Makes the staged parts the store, and puts them in place. When this returns, or when the
    /// process dies after the rename in it, the new parts hold; before it the old ones do.
    pub(crate) fn commit(self) -> Result<()> {
        let paths = self.paths;
        self.publish()?;
        finish(paths)
    }

    /// The commit itself: one rename.
    fn publish(self) -> Result<()> {
        files::sync_tree(&self.folder)?;
        let committed = self.paths.folder.join(COMMITTED_FOLDER);
        fs::rename(&self.folder, &committed)
            .map_err(|e| StoreError::io("committing staged files", &committed, e))?;
        files::sync_folder(&self.paths.folder)
    }

    /// Gives up what was staged.
    pub(crate) fn drop_staged(self) -> Result<()> {
        remove_folder(&self.folder)
    }

    fn inside(&self, place: &Path) -> Result<PathBuf> {
        let below = place.strip_prefix(&self.paths.folder).unwrap_or(place);
        if below.is_absolute() {
            let why = format!("{} is outside of the store", place.display());
            return Err(StoreError::refused("staged file", why));
        }
        Ok(self.folder.join(below))
    }
}

/// Finishes a committed exchange and sweeps what was never committed. Only for the store's owner.
pub(crate) fn settle(paths: &StorePaths) -> Result<()> {
    for name in names_in(&paths.folder)? {
        if name.starts_with(PREPARING) {
            remove_folder(&paths.folder.join(name))?;
        }
    }
    finish(paths)
}

/// Returns the paths of the vault and the key that count now: staged ones once committed.
pub(crate) fn current(paths: &StorePaths) -> StorePaths {
    let staged = |path: &PathBuf| match path.file_name() {
        Some(name) => {
            Some(paths.folder.join(COMMITTED_FOLDER).join(name)).filter(|path| path.exists())
        }
        None => None,
    };
    StorePaths {
        vault: staged(&paths.vault).unwrap_or_else(|| paths.vault.clone()),
        key_file: staged(&paths.key_file).unwrap_or_else(|| paths.key_file.clone()),
        ..paths.clone()
    }
}

/// Refuses to read while a committed database waits to be put in place by the store's owner.
pub(crate) fn check_no_database_waits(paths: &StorePaths) -> Result<()> {
    let name = paths.database.file_name().unwrap_or_default();
    if paths.folder.join(COMMITTED_FOLDER).join(name).exists() {
        return Err(StoreError::Unfinished { path: paths.folder.join(COMMITTED_FOLDER) });
    }
    Ok(())
}

/// One change to the folder; each is whole or not done at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    MakeFolder(PathBuf),
    Move { from: PathBuf, to: PathBuf },
    Remove(PathBuf),
    RemoveFolder(PathBuf),
}

fn finish(paths: &StorePaths) -> Result<()> {
    for _ in 0..ROUNDS_MAX {
        for step in plan(paths)? {
            step.run()?;
        }
    }
    files::sync_folder(&paths.folder)
}

/// Returns what is left to be done; nothing when no exchange was committed. Planned anew after a
/// crash: while a part is staged, whatever stands in its place is the old one. Where something goes
/// along with what is replaced, only that: new files may come into its place afterwards.
pub(crate) fn plan(paths: &StorePaths) -> Result<Vec<Step>> {
    let next = paths.folder.join(COMMITTED_FOLDER);
    if !next.is_dir() {
        return Ok(Vec::new());
    }
    let staged = |place: &Path| next.join(place.file_name().unwrap_or_default());
    let names = names_in(&next)?;
    let replaced = names.iter().find(|name| name.starts_with(REPLACED)).map(|name| next.join(name));
    if names.iter().any(|name| name == ALONG) {
        return plan_along(paths, &next.join(ALONG), replaced.as_deref());
    }
    let mut steps = Vec::new();
    let mut aside = |path: &Path| {
        if !path.exists() {
            return;
        }
        steps.push(match &replaced {
            Some(folder) => Step::Move {
                from: path.to_owned(),
                to: folder.join(path.file_name().unwrap_or_default()),
            },
            None => Step::Remove(path.to_owned()),
        });
    };
    if staged(&paths.database).exists() {
        // A log is replayed into whatever database stands beside it: it goes before its database.
        for ending in BESIDE_DATABASE {
            aside(&beside(&paths.database, ending));
        }
    }
    if replaced.is_some() && staged(&paths.vault).exists() {
        aside(&paths.spool_public);
        aside(&paths.key_file);
        aside(&paths.vault);
    }
    if replaced.is_some() && staged(&paths.database).exists() {
        aside(&paths.database);
    }
    // The keys go last: whoever finds the vault in place knows that their places were cleared.
    let ours = [&paths.database, &paths.vault, &paths.spool_public, &paths.key_file];
    let is_part = |path: &Path| ours.iter().any(|part| staged(part) == path);
    for name in &names {
        let path = next.join(name);
        if !is_part(&path) && replaced.as_deref() != Some(&path) {
            add_others(&path, &paths.folder.join(name), &mut steps)?;
        }
    }
    for place in ours {
        if staged(place).exists() {
            steps.push(Step::Move { from: staged(place), to: place.clone() });
        }
    }
    if let Some(folder) = &replaced {
        let name = folder.file_name().unwrap_or_default();
        steps.push(Step::Move { from: folder.clone(), to: paths.folder.join(name) });
    }
    steps.push(Step::RemoveFolder(next));
    Ok(steps)
}

fn plan_along(paths: &StorePaths, list: &Path, replaced: Option<&Path>) -> Result<Vec<Step>> {
    let names = fs::read_to_string(list).map_err(|e| StoreError::io("reading a list", list, e))?;
    let mut steps = Vec::new();
    for name in names.lines() {
        let from = paths.folder.join(name);
        let to = replaced.map(|folder| folder.join(name));
        // A hook may have made it again since it was moved.
        if let Some(to) = to.filter(|to| from.exists() && !to.exists()) {
            steps.push(Step::Move { from, to });
        }
    }
    steps.push(Step::Remove(list.to_owned()));
    Ok(steps)
}

/// Files that are no part of the store proper take an empty place and leave a taken one alone.
fn add_others(from: &Path, to: &Path, steps: &mut Vec<Step>) -> Result<()> {
    if !from.is_dir() {
        steps.push(match to.exists() {
            true => Step::Remove(from.to_owned()),
            false => Step::Move { from: from.to_owned(), to: to.to_owned() },
        });
        return Ok(());
    }
    if !to.is_dir() {
        steps.push(Step::MakeFolder(to.to_owned()));
    }
    for name in names_in(from)? {
        add_others(&from.join(&name), &to.join(&name), steps)?;
    }
    steps.push(Step::RemoveFolder(from.to_owned()));
    Ok(())
}

impl Step {
    #[expect(clippy::disallowed_methods, reason = "removes only what an exchange replaced")]
    pub(crate) fn run(&self) -> Result<()> {
        let (done, path) = match self {
            Self::MakeFolder(path) => return make_folder(path),
            Self::Move { from, to } => (fs::rename(from, to), to),
            Self::Remove(path) => (fs::remove_file(path), path),
            Self::RemoveFolder(path) => (fs::remove_dir(path), path),
        };
        done.map_err(|e| StoreError::io("putting staged files in place", path, e))?;
        // One after the other on the disk too, or a power failure could bring back an old log.
        files::sync_folder_of(path)
    }
}

/// Returns the path of a file that SQLite keeps beside its database.
pub(crate) fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(ending);
    PathBuf::from(path)
}

fn names_in(folder: &Path) -> Result<Vec<String>> {
    let failed = |e| StoreError::io("listing a folder", folder, e);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        names.extend(entry.map_err(failed)?.file_name().into_string().ok());
    }
    names.sort();
    Ok(names)
}

fn make_folder(path: &Path) -> Result<()> {
    match DirBuilder::new().mode(FOLDER_MODE).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        other => other.map_err(|e| StoreError::io("making a folder", path, e)),
    }
}

fn remove_folder(path: &Path) -> Result<()> {
    fs::remove_dir_all(path).map_err(|e| StoreError::io("sweeping staged files", path, e))
}

#[cfg(test)]
mod tests;
