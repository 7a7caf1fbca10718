//! Lets the user edit a text in their own editor, by way of a private file that does not stay.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use signal_hook::consts::SIGINT;

use crate::home::{FILE_MODE, ensure_private_folder};
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
    let file = Draft::write(settings.home.identity_draft(), draft)?;
    run(settings.editor.as_deref().unwrap_or(EDITOR), &file.0)?;
    file.read()
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
