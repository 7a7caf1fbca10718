//! Lets the user edit a text in their own editor, by way of a private file that does not stay.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::home::{FILE_MODE, Home, ensure_private_folder};
use crate::settings::Settings;

/// What nobody set; every system has it.
const EDITOR: &str = "vi";
/// More is no longer a few sentences.
const DRAFT_BYTES_MAX: u64 = 64 * 1024;

/// Shows the draft in the user's editor and returns what became of it.
pub(super) fn edit(settings: &Settings, draft: &str) -> anyhow::Result<String> {
    // Ctrl-C belongs to the editor now: if it ended us, the draft would stay behind.
    let interrupt = signal_hook::flag::register(SIGINT, Arc::default());
    interrupt.context("leaving Ctrl-C to the editor")?;
    ensure_private_folder(settings.home.root()).context("making the folder of the draft")?;
    let folder = lock(&settings.home).context("looking whether somebody else edits")?;
    let Some(_folder) = folder else {
        bail!("it is being edited already; end that editor first");
    };
    let path = settings.home.identity_draft();
    remove_when_told_to_end(path.clone()).context("waiting for signals")?;
    let file = Draft::write(path, draft)?;
    run(settings.editor.as_deref().unwrap_or(EDITOR), &file.0)?;
    file.read()
}

/// Tells whether a draft lies there that no living editor was started for.
pub(super) fn is_draft_left(home: &Home) -> bool {
    home.identity_draft().symlink_metadata().is_ok() && matches!(lock(home), Ok(Some(_)))
}

/// Removes a draft: its words are plain text.
#[expect(clippy::disallowed_methods, reason = "the draft is this room's own file")]
pub(super) fn remove_draft(home: &Home) -> io::Result<()> {
    match fs::remove_file(home.identity_draft()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Locks the folder as long as somebody edits. Not the draft: editors put a new file in its place.
fn lock(home: &Home) -> io::Result<Option<File>> {
    let folder = File::open(home.root())?;
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Has a closed terminal or a polite end take the draft along.
fn remove_when_told_to_end(path: PathBuf) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGHUP])?;
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            remove(&path);
            signal_hook::low_level::emulate_default_handler(signal).ok();
        }
    };
    std::thread::Builder::new().name("draft".to_owned()).spawn(wait).map(drop)
}

/// The file; it goes when it is dropped.
struct Draft(PathBuf);

impl Draft {
    fn write(path: PathBuf, text: &str) -> anyhow::Result<Self> {
        remove(&path);
        let mut options = File::options();
        let opened = options.write(true).create_new(true).mode(FILE_MODE).open(&path);
        let mut file = opened.with_context(|| format!("making {}", path.display()))?;
        let draft = Self(path);
        file.write_all(text.as_bytes()).context("writing the draft")?;
        Ok(draft)
    }

    fn read(&self) -> anyhow::Result<String> {
        let mut text = String::new();
        let file = File::open(&self.0).context("opening what was edited")?;
        file.take(DRAFT_BYTES_MAX).read_to_string(&mut text).context("reading what was edited")?;
        Ok(text)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

#[expect(clippy::disallowed_methods, reason = "the draft is this room's own file")]
fn remove(path: &Path) {
    fs::remove_file(path).ok();
}

/// Runs the editor; its setting may hold arguments.
#[expect(clippy::disallowed_methods, reason = "the user asked for their editor")]
fn run(editor: &str, path: &Path) -> anyhow::Result<()> {
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(EDITOR);
    let status = Command::new(program).args(words).arg(path).status();
    let status = status
        .with_context(|| format!("starting `{program}`; set VISUAL or EDITOR to your editor"))?;
    if !status.success() {
        bail!("the editor `{program}` failed ({status}); nothing was changed");
    }
    Ok(())
}
