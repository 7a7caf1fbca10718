//! Names the project a folder belongs to: its git common directory, so that worktrees agree, else
//! the folder itself.
//!
//! Reads at most a handful of small files; git itself is never run.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::privacy::is_ignored;

const FOLDERS_UP_MAX: usize = 64;
const POINTER_BYTES_MAX: u64 = 4096;

/// The projects of a few folders, each looked up once; `None` for a folder that is switched off.
pub(super) struct Projects(BTreeMap<String, Option<String>>);

impl Projects {
    pub(super) fn of<'a>(folders: impl Iterator<Item = &'a str>, switched_off: &[String]) -> Self {
        let mut projects = BTreeMap::new();
        for folder in folders {
            if !projects.contains_key(folder) {
                let path = Path::new(folder);
                let project = (!is_ignored(path, switched_off)).then(|| project_of(path));
                projects.insert(folder.to_owned(), project);
            }
        }
        Self(projects)
    }

    /// Returns the project of one of the folders, unless it is switched off.
    pub(super) fn get(&self, folder: &str) -> Option<&str> {
        self.0.get(folder)?.as_deref()
    }
}

/// Returns the project of `folder`.
pub(crate) fn project_of(folder: &Path) -> String {
    // A slash at the end would make another project of the same folder.
    let folder: &Path = &folder.components().collect::<PathBuf>();
    let mut candidates = folder.ancestors().take(FOLDERS_UP_MAX);
    let project = candidates.find_map(|candidate| common_directory(&candidate.join(".git")));
    project.unwrap_or_else(|| folder.to_owned()).to_string_lossy().into_owned()
}

/// Follows `.git` to the repository it stands for, named by its working folder where it has one.
fn common_directory(dot_git: &Path) -> Option<PathBuf> {
    let metadata = fs::metadata(dot_git).ok()?;
    let git_dir = if metadata.is_dir() {
        dot_git.to_owned()
    } else {
        let pointer = read_small(dot_git)?;
        dot_git.parent()?.join(pointer.strip_prefix("gitdir:")?.trim())
    };
    let common = match read_small(&git_dir.join("commondir")) {
        Some(relative) => fs::canonicalize(git_dir.join(relative.trim())).ok()?,
        None => git_dir,
    };
    match common.file_name() {
        Some(name) if name == ".git" => common.parent().map(Path::to_owned),
        _ => Some(common),
    }
}

fn read_small(path: &Path) -> Option<String> {
    let mut text = String::new();
    fs::File::open(path).ok()?.take(POINTER_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_git_is_its_own_project() {
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("plain");
        fs::create_dir(&plain).unwrap();
        assert_eq!(project_of(&plain), plain.to_string_lossy());
        assert_eq!(project_of(&plain.join("")), plain.to_string_lossy(), "a slash at its end");
        assert_eq!(project_of(Path::new("/no/such/folder")), "/no/such/folder");
    }

    #[test]
    fn worktrees_and_subfolders_belong_to_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let repository = root.join("repo");
        let worktree = root.join("tree");
        let registered = repository.join(".git/worktrees/tree");
        fs::create_dir_all(&registered).unwrap();
        fs::create_dir_all(repository.join("src/deep")).unwrap();
        fs::create_dir(&worktree).unwrap();
        fs::write(registered.join("commondir"), "../..\n").unwrap();
        fs::write(worktree.join(".git"), format!("gitdir: {}\n", registered.display())).unwrap();
        let want = repository.to_string_lossy().into_owned();
        assert_eq!(project_of(&repository.join("src/deep")), want);
        assert_eq!(project_of(&worktree), want);
    }
}
