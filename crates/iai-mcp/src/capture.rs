//! From a host's transcript to a durable spool file, and a nudge to the daemon.
//!
//! Runs inside hooks: no store, no runtime, no child process, and nothing that can block for long.

mod cursor;
mod deliver;
mod privacy;
mod project;
mod secrets;
mod transcript;
mod waiting;

use std::borrow::Cow;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use iai_wire::SpoolEvent;
use jiff::Timestamp;

pub(crate) use deliver::{Delivery, deliver, nudge_daemon, write_for_checking};
pub(crate) use project::project_of;
pub(crate) use secrets::SecretPolicy;
pub(crate) use transcript::{Budget, Flow, Placed, Transcript, each_turn, read_transcript};
pub(crate) use waiting::{WaitingFile, n_waiting, waiting_files};

use crate::home::Home;
use crate::host::Turn;
use crate::settings::Settings;
use cursor::Cursor;
use project::Projects;

/// What one capture of a transcript did.
pub(crate) struct Captured {
    /// The spool file.
    pub(crate) file: PathBuf,
    pub(crate) n_turns: usize,
    /// Turns before the last `--max-turns`, left for another call.
    pub(crate) n_older: u64,
    /// Lines that could not be read.
    pub(crate) n_unreadable: u64,
    /// Why the file is no transcript we know, where that is so.
    pub(crate) unknown: Option<String>,
}

/// What the caller knows about the turns beside what the file says.
#[derive(Clone, Copy, Default)]
pub(crate) struct Told<'a> {
    pub(crate) session: Option<&'a str>,
    pub(crate) cwd: Option<&'a str>,
}

/// Writes the turns of a transcript to the spool. An empty transcript gives a header.
pub(crate) fn capture_transcript(
    settings: &Settings,
    told: &Told<'_>,
    transcript: &Transcript,
    now: Timestamp,
) -> anyhow::Result<Captured> {
    check_config(settings)?;
    let batch = SpoolBatch::new(settings, told, &transcript.turns, now);
    let delivery =
        Delivery { session: &batch.session, cwd: &batch.cwd, events: &batch.events, now };
    let file = deliver(&settings.home, &delivery)?;
    Ok(Captured {
        file,
        n_turns: batch.events.len(),
        n_older: transcript.n_older,
        n_unreadable: transcript.n_unreadable,
        unknown: transcript.unknown.clone(),
    })
}

/// Captures what a transcript gained since the last time, and remembers how far it was read.
///
/// Spool first, cursor after: a crash between the two delivers again, which stores nothing twice.
pub(crate) fn capture_new_turns(
    settings: &Settings,
    path: &Path,
    told: &Told<'_>,
    budget: Budget,
    now: Timestamp,
) -> anyhow::Result<usize> {
    check_config(settings)?;
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => bail!("the transcript is not a file"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error).context("looking at the transcript"),
    }
    let mut file = File::open(path).context("opening the transcript")?;
    let mut cursor = Cursor::load(&settings.home, path, &mut file).context("reading the cursor")?;
    let mut n_captured = 0;
    while n_captured < budget.n_turns_max && !budget.is_over() {
        let start = cursor.offset;
        let left = Budget { n_turns_max: budget.n_turns_max - n_captured, ..budget };
        let transcript = transcript::read_growth(&mut file, path, &mut cursor, left)
            .context("reading the transcript")?;
        if cursor.offset == start {
            break;
        }
        let batch = SpoolBatch::new(settings, told, &transcript.turns, now);
        if !batch.events.is_empty() {
            let delivery =
                Delivery { session: &batch.session, cwd: &batch.cwd, events: &batch.events, now };
            deliver(&settings.home, &delivery)?;
            nudge_daemon(&settings.home);
        }
        n_captured += transcript.turns.len();
        cursor.save(&settings.home, path, &mut file).context("remembering how far it was read")?;
    }
    Ok(n_captured)
}

/// A privacy setting that cannot be read must not mean that there is none.
fn check_config(settings: &Settings) -> anyhow::Result<()> {
    match &settings.config_error {
        None => Ok(()),
        Some(error) => bail!("{error}; nothing is captured until that file is mended"),
    }
}

/// Marks a whole file as read, so that hooks do not deliver it again.
pub(crate) fn mark_read(home: &Home, path: &Path) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut cursor = Cursor::load(home, path, &mut file)?;
    let no_limit = Budget { until: None, n_turns_max: usize::MAX };
    loop {
        let start = cursor.offset;
        transcript::read_growth(&mut file, path, &mut cursor, no_limit)?;
        if cursor.offset == start {
            return cursor.save(home, path, &mut file);
        }
    }
}

/// Turns on their way, with what is said about all of them.
pub(crate) struct SpoolBatch {
    pub(crate) session: String,
    pub(crate) cwd: String,
    pub(crate) events: Vec<SpoolEvent>,
}

impl SpoolBatch {
    /// Leaves out what the user switched off, and cuts what is private or secret.
    pub(crate) fn new(
        settings: &Settings,
        told: &Told<'_>,
        turns: &[Placed],
        now: Timestamp,
    ) -> Self {
        let here = told.cwd.map_or_else(current_folder, str::to_owned);
        let in_turns = turns.iter().rev();
        let cwd = in_turns.clone().find_map(|(_, turn)| turn.cwd.clone()).unwrap_or(here.clone());
        let said = turns.iter().find_map(|(_, turn)| turn.session.clone());
        let session = told.session.map(str::to_owned).or(said).unwrap_or_else(|| "-".to_owned());
        let folders = turns.iter().filter_map(|(_, turn)| turn.cwd.as_deref());
        let projects = Projects::of(folders.chain([here.as_str()]), &settings.switched_off);
        let mut events = Vec::new();
        for (place, turn) in turns {
            let said_in = turn.cwd.as_deref().unwrap_or(&here);
            if let Some(project) = projects.get(said_in) {
                events.push(spool_event(turn, *place, project, settings, now));
            }
        }
        Self { session, cwd, events }
    }
}

fn spool_event(
    turn: &Turn,
    place: u64,
    project: &str,
    settings: &Settings,
    now: Timestamp,
) -> SpoolEvent {
    let mut provenance = turn.provenance.clone();
    if turn.is_subagent {
        provenance.insert("subagent".to_owned(), true.into());
    }
    SpoolEvent {
        text: fit_to_keep(&turn.text, &settings.secrets).into_owned(),
        // The founding program filled this with a label that was the same for every turn; a label
        // finds nothing.
        cue: String::new(),
        tier: "episodic".to_owned(),
        role: turn.speaker.as_str().to_owned(),
        ts: now.to_string(),
        turn_ts: turn.at.map(|at| at.to_string()),
        source: Some(turn.host.to_owned()),
        uuid: turn.uuid.clone(),
        index: Some(place),
        cwd: turn.cwd.clone(),
        project: Some(project.to_owned()),
        provenance,
    }
}

/// Returns a text as it may touch the disk: what is private is cut, secrets are marks.
pub(crate) fn fit_to_keep<'a>(text: &'a str, policy: &SecretPolicy) -> Cow<'a, str> {
    match privacy::without_private(text) {
        Cow::Borrowed(text) => secrets::without_secrets(text, policy),
        Cow::Owned(text) => Cow::Owned(secrets::without_secrets(&text, policy).into_owned()),
    }
}

/// Returns the folder the process works in, never empty: the header promises one.
pub(crate) fn current_folder() -> String {
    let folder = std::env::current_dir().unwrap_or_else(|_| Path::new("/").to_owned());
    folder.to_string_lossy().into_owned()
}
