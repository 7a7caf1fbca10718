//! What people and hosts say in a trial, and the hook that listens.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::dice::Dice;
use crate::product::Product;

/// Where transcripts lie that hooks look at.
const TALKS: &str = ".claude/projects/talk";

/// Returns the transcript of a session that hooks look at.
pub(crate) fn transcript(home: &Path, name: &str) -> PathBuf {
    home.join(TALKS).join(format!("{name}.jsonl"))
}

/// Runs the hook once, as the host does after a turn.
pub(crate) fn hook(product: &Product, name: &str, transcript: &Path) -> Result<(), String> {
    run_hook(product.command(&["hook", "stop"]), name, transcript)
}

/// Runs a hook that was made somewhere else.
pub(crate) fn run_hook(mut command: Command, name: &str, transcript: &Path) -> Result<(), String> {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("cannot run the hook: {error}"))?;
    let payload = json!({
        "session_id": name, "transcript_path": transcript, "cwd": transcript.parent(),
        "hook_event_name": "Stop",
    });
    if let Some(mut input) = child.stdin.take() {
        // A hook that reads nothing is seen by its turns being missing.
        drop(input.write_all(payload.to_string().as_bytes()));
    }
    let status = child.wait().map_err(|error| format!("cannot wait for the hook: {error}"))?;
    status.success().then_some(()).ok_or_else(|| format!("the hook ended with {status}"))
}

/// Appends turns to a transcript as a host writes it.
pub(crate) fn write_turns(
    path: &Path,
    name: &str,
    first: u64,
    n: u64,
    dice: &mut Dice,
) -> Result<(), String> {
    let failed = |error| format!("cannot write {}: {error}", path.display());
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
    let mut file = File::options().create(true).append(true).open(path).map_err(failed)?;
    for place in first..first + n {
        let role = if place.is_multiple_of(2) { "user" } else { "assistant" };
        let line = json!({
            "type": role, "uuid": format!("{name}/{place}"), "sessionId": name,
            "message": {"role": role, "content": sentence(name, place, dice)},
        });
        writeln!(file, "{line}").map_err(failed)?;
    }
    Ok(())
}

/// Words that no other turn has, of a few services so that there is something to organise.
pub(crate) fn sentence(name: &str, n: u64, dice: &mut Dice) -> String {
    const SERVICES: [&str; 5] = ["billing", "search", "Übersetzung", "支払い", "login 🔑"];
    const VERBS: [&str; 4] = ["listens on port", "retries after", "keeps rows for", "was moved to"];
    let service = dice.pick(&SERVICES).copied().unwrap_or_default();
    let verb = dice.pick(&VERBS).copied().unwrap_or_default();
    let mut text = format!("{name} fact {n}: the {service} service {verb} {}.", dice.below(9000));
    // A few are long enough for pages of their own.
    if dice.one_in(20) {
        let n_more = usize::try_from(dice.below(2000)).unwrap_or(0);
        text.push_str(&" And so on,\r\nas before.\u{0}".repeat(n_more));
    }
    text
}

/// Returns every transcript that hooks look at, with its session.
pub(crate) fn transcripts(home: &Path) -> Vec<(String, PathBuf)> {
    let folder = home.join(TALKS);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(String, PathBuf)> = entries
        .map(|entry| entry.path())
        .filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), path.clone())))
        .collect();
    found.sort();
    found
}
