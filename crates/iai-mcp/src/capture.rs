//! From a host's transcript to a durable spool file, and a nudge to the daemon.
//!
//! Runs inside hooks: no store, no runtime, no child process, and nothing that can block for long.

mod deliver;
mod project;
mod transcript;
mod waiting;

use std::path::{Path, PathBuf};

use iai_wire::SpoolEvent;
use jiff::Timestamp;

pub(crate) use deliver::{DeliverError, Delivery, deliver, nudge_daemon};
pub(crate) use project::project_of;
pub(crate) use transcript::{Transcript, read_transcript};
pub(crate) use waiting::n_waiting;

use crate::home::Home;
use crate::host::Turn;

/// What one capture of a transcript did.
pub(crate) struct Captured {
    /// The spool file.
    pub(crate) file: PathBuf,
    pub(crate) n_turns: usize,
    /// Turns before the last `--max-turns`, left for another call.
    pub(crate) n_older: u64,
    /// Lines that could not be read.
    pub(crate) n_unreadable: u64,
}

/// Writes the turns of a transcript to the spool. A transcript that is not there is an empty one.
pub(crate) fn capture_transcript(
    home: &Home,
    session: &str,
    transcript: &Transcript,
    now: Timestamp,
) -> Result<Captured, DeliverError> {
    let cwd = current_folder();
    let projects = transcript.turns.iter().filter_map(|(_, turn)| turn.cwd.as_deref());
    let projects = project::Projects::of(projects.chain(std::iter::once(cwd.as_str())));
    let events = transcript.turns.iter().map(|(index, turn)| {
        let said_in = turn.cwd.as_deref().unwrap_or(&cwd);
        spool_event(turn, *index, projects.get(said_in), now)
    });
    let header_cwd = transcript.turns.iter().rev().find_map(|(_, turn)| turn.cwd.clone());
    let delivery = Delivery {
        session,
        cwd: &header_cwd.unwrap_or(cwd.clone()),
        events: &events.collect::<Vec<_>>(),
        now,
    };
    let file = deliver(home, &delivery)?;
    Ok(Captured {
        file,
        n_turns: transcript.turns.len(),
        n_older: transcript.n_older,
        n_unreadable: transcript.n_unreadable,
    })
}

fn spool_event(turn: &Turn, index: u64, project: &str, now: Timestamp) -> SpoolEvent {
    SpoolEvent {
        text: turn.text.clone(),
        // The founding program filled this with a label that was the same for every turn; a label
        // finds nothing.
        cue: String::new(),
        tier: "episodic".to_owned(),
        role: turn.speaker.as_str().to_owned(),
        ts: now.to_string(),
        turn_ts: turn.at.map(|at| at.to_string()),
        source: Some(turn.host.to_owned()),
        uuid: turn.uuid.clone(),
        index: Some(index),
        cwd: turn.cwd.clone(),
        project: Some(project.to_owned()),
        provenance: turn.provenance.clone(),
    }
}

/// Returns the folder the process works in, never empty: the header promises one.
pub(crate) fn current_folder() -> String {
    let folder = std::env::current_dir().unwrap_or_else(|_| Path::new("/").to_owned());
    folder.to_string_lossy().into_owned()
}
