//! The folder a conversation was held in, where only the path of its transcript tells.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::cursor::folded;
use super::recognise::{conversation, file_name};

/// The longest path that is read out of a file.
const PATH_BYTES_MAX: u64 = 4096;
/// The most folders looked into for one whose name has lost its signs.
const FOLDERS_MAX: usize = 2_000;

/// Returns the folder for turns that do not say theirs. Where nothing tells, it is the folder of
/// the transcript: better a project nobody has than somebody else's.
pub(crate) fn folder_of(transcript: &Path) -> Option<PathBuf> {
    let above = |name: &str| {
        let mut folders = transcript.ancestors().skip(1);
        folders.find(|folder| file_name(folder) == name).and_then(Path::parent)
    };
    if let Some(project) = above("agent-transcripts") {
        return Some(unfolded(file_name(project)).unwrap_or_else(|| project.to_owned()));
    }
    if let Some(project) = above("chats").filter(|_| is_gemini(transcript)) {
        return Some(told(&project.join(".project_root")).unwrap_or_else(|| project.to_owned()));
    }
    conversation(transcript).or_else(|| transcript.parent()).map(Path::to_owned)
}

fn is_gemini(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == ".gemini")
}

/// Returns the path a small file holds.
fn told(file: &Path) -> Option<PathBuf> {
    let mut text = String::new();
    File::open(file).ok()?.take(PATH_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(PathBuf::from(text.trim_end())).filter(|path| path.is_absolute())
}

/// Finds the folder Cursor named `name` after: every sign became a hyphen, so the disk is asked
/// which folders there are.
fn unfolded(name: &str) -> Option<PathBuf> {
    let mut left = vec![(PathBuf::from("/"), name.to_owned())];
    let mut n_looked = 0;
    while let Some((folder, rest)) = left.pop() {
        n_looked += 1;
        if FOLDERS_MAX < n_looked {
            return None;
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = folded(&entry.file_name().to_string_lossy());
            let Some(behind) = rest.strip_prefix(&name) else { continue };
            let is_folder = || entry.path().is_dir();
            if behind.is_empty() && is_folder() {
                return Some(entry.path());
            }
            if let Some(behind) = behind.strip_prefix('-').filter(|_| is_folder()) {
                left.push((entry.path(), behind.to_owned()));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_transcript_tells_the_folder() {
        let disk = tempfile::tempdir().unwrap();
        let work = disk.path().join("my.app-2/in side");
        fs::create_dir_all(&work).unwrap();
        fs::create_dir_all(disk.path().join("my/app")).unwrap();
        let check = |transcript: PathBuf, want: &Path| {
            assert_eq!(folder_of(&transcript).as_deref(), Some(want), "{transcript:?}");
        };
        let cursor = disk.path().join(".cursor/projects");
        let held_in = cursor.join(folded(work.to_str().unwrap()));
        check(held_in.join("agent-transcripts/u/u.jsonl"), &work);
        let gone = cursor.join("home-nobody-gone");
        check(gone.join("agent-transcripts/u.jsonl"), &gone);
        let gemini = disk.path().join(".gemini/tmp/h");
        fs::create_dir_all(&gemini).unwrap();
        check(gemini.join("chats/session-1.json"), &gemini);
        fs::write(gemini.join(".project_root"), "/home/u/app\n").unwrap();
        check(gemini.join("chats/session-1.json"), Path::new("/home/u/app"));
        check(disk.path().join("copies/s.jsonl"), &disk.path().join("copies"));
    }
}
