//! What other memory programs noted: taken in as their notes, with their dates, never as something
//! the user or the assistant said.
//!
//! Three formats are documented well enough to be read: the JSON lines of the MCP reference memory
//! server, the export of claude-mem, and the Markdown that mempalace exports.

mod claude_mem;
#[cfg(test)]
mod fuzz;
mod memory_server;
mod mempalace;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use jiff::Timestamp;

use super::{SharedTally, Work};
use crate::clock;
use crate::teach::{self, Lesson, Material, Part, Passage, Removed, Vanished};

/// Notes are read as a whole; a larger file has to be split first.
const NOTES_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// A program whose notes can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    MemoryServer,
    ClaudeMem,
    MemPalace,
}

/// One note.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Note {
    text: String,
    /// What it belongs to there: a session, an entity, a room. Notes of one are neighbours.
    about: String,
    /// What it is called, the outermost name first.
    headings: Vec<String>,
    at: Option<Timestamp>,
}

/// What was read of a file.
#[derive(Debug, Default, PartialEq, Eq)]
struct Noted {
    notes: Vec<Note>,
    /// What could not be read, each with its reason.
    problems: Vec<String>,
}

impl Peer {
    /// Tells whose notes a file holds, by its beginning.
    pub(super) fn recognise(head: &[u8]) -> Option<Self> {
        let head = String::from_utf8_lossy(head);
        if memory_server::is_one(&head) {
            Some(Self::MemoryServer)
        } else if claude_mem::is_one(&head) {
            Some(Self::ClaudeMem)
        } else {
            mempalace::is_one(&head).then_some(Self::MemPalace)
        }
    }

    /// The name of the set its notes become.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::MemoryServer => "memory-server",
            Self::ClaudeMem => "claude-mem",
            Self::MemPalace => "mempalace",
        }
    }

    fn read(self, bytes: &[u8]) -> Result<Noted, String> {
        match self {
            Self::MemoryServer => Ok(memory_server::read(bytes)),
            Self::ClaudeMem => claude_mem::read(bytes),
            Self::MemPalace => Ok(mempalace::read(bytes)),
        }
    }
}

/// Takes the notes of a file in, as a set that is named after the program.
pub(super) fn take(
    work: &Work<'_>,
    path: &Path,
    peer: Peer,
    tally: &SharedTally,
) -> anyhow::Result<()> {
    let file = File::open(path).with_context(|| format!("opening {}", path.display()))?;
    let facts = file.metadata()?;
    if NOTES_BYTES_MAX < facts.len() {
        bail!("{} is larger than 256 MiB; split it first", path.display());
    }
    let mut bytes = Vec::new();
    file.take(NOTES_BYTES_MAX).read_to_end(&mut bytes)?;
    let noted = match peer.read(&bytes) {
        Ok(noted) => noted,
        Err(why) => bail!("{} cannot be read: {why}", path.display()),
    };
    for problem in &noted.problems {
        tally.add_problem(format!("{}: {problem}", path.display()));
    }
    let written_at = facts.modified().ok().and_then(|at| Timestamp::try_from(at).ok());
    let written_at = written_at.unwrap_or_else(clock::now);
    let is_wanted =
        |note: &Note| work.since.is_none_or(|since| since <= note.at.unwrap_or(written_at));
    let notes: Vec<Note> = noted.notes.into_iter().filter(is_wanted).collect();
    let materials = materials_of(peer, notes, written_at, &teach::digest_of(&bytes));
    let lesson = Lesson {
        client: work.client,
        secrets: &work.settings.secrets,
        set: peer.name(),
        removed: Removed::StayAway,
        watch: &|_| {},
    };
    let taught = teach::send(&lesson, &materials)?;
    for source in &taught.sample.missed {
        tally.add_problem(format!("{source}: stored, but not found by its own words"));
    }
    for problem in taught.problems {
        tally.add_problem(format!("{}: {problem}", path.display()));
    }
    tally.with(|tally| {
        tally.n_found += taught.n_passages as u64;
        tally.n_stored += taught.n_stored;
        tally.n_known += taught.n_known + taught.n_repeated;
        tally.n_forgotten += taught.n_forgotten;
        tally.n_cut += taught.n_cut;
        tally.n_notes += taught.n_passages as u64;
        (work.watch)(tally);
    });
    Ok(())
}

/// Groups notes by what they are about.
fn materials_of(
    peer: Peer,
    notes: Vec<Note>,
    written_at: Timestamp,
    digest: &str,
) -> Vec<Material> {
    let mut groups: BTreeMap<String, Vec<Passage>> = BTreeMap::new();
    for Note { text, about, headings, at } in notes {
        let part = Part { headings, ..Part::default() };
        groups.entry(about).or_default().push(Passage { text, part, at });
    }
    let material = |(about, passages): (String, Vec<Passage>)| Material {
        label: format!("{}:{about}", peer.name()),
        name: format!("{} notes", peer.name()),
        file: None,
        written_at,
        project: None,
        digest: digest.to_owned(),
        passages,
        // An export may be a part of what is there.
        vanished: Vanished::Kept,
    };
    groups.into_iter().map(material).collect()
}
