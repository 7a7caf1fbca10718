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
use serde_json::Value;

pub(crate) use deliver::{DeliverError, Delivery, deliver, nudge_daemon, write_for_checking};
pub(crate) use privacy::{IGNORE_FILE, is_ignored};
pub(crate) use project::project_of;
pub(crate) use secrets::{SecretPolicy, all_marked, secret_marks, without_secrets};
pub(crate) use transcript::{
    Budget, Flow, Pass, Placed, Settled, Transcript, each_turn, read_transcript,
};
pub(crate) use waiting::{WaitingFile, in_words, n_waiting, waiting_files};

use crate::home::Home;
use crate::host::Turn;
use crate::settings::Settings;
pub(crate) use cursor::Cursor;
use project::Projects;

/// What one capture of a transcript did.
pub(crate) struct Captured {
    /// The spool files, one for each session; never none.
    pub(crate) files: Vec<PathBuf>,
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
    /// The session, whatever the turns say.
    pub(crate) session: Option<&'a str>,
    pub(crate) cwd: Option<&'a str>,
}

/// Writes the turns of a transcript to the spool. An empty transcript gives a header.
pub(crate) fn capture_transcript(
    settings: &Settings,
    told: &Told<'_>,
    transcript: Transcript,
    now: Timestamp,
) -> anyhow::Result<Captured> {
    check_config(settings)?;
    let (mut files, mut n_turns) = (Vec::new(), 0);
    for turns in by_session(told, transcript.turns) {
        let batch = SpoolBatch::new(settings, told, turns, now);
        let (session, cwd, events) = (&batch.session, &batch.cwd, &batch.events);
        files.push(deliver(&settings.home, &Delivery { session, cwd, events, now })?);
        n_turns += batch.events.len();
    }
    Ok(Captured {
        files,
        n_turns,
        n_older: transcript.n_older,
        n_unreadable: transcript.n_unreadable,
        unknown: transcript.unknown,
    })
}

/// Parts the turns where the file goes on in another session, unless the caller knows better: a
/// turn without an id of its own is told from others by its session.
fn by_session(told: &Told<'_>, turns: Vec<Placed>) -> Vec<Vec<Placed>> {
    let mut parts: Vec<Vec<Placed>> = vec![Vec::new()];
    for placed in turns {
        let is_same = |last: &Vec<Placed>| {
            told.session.is_some()
                || last.last().is_none_or(|(_, before)| before.session == placed.1.session)
        };
        match parts.last_mut().filter(|last| is_same(last)) {
            Some(last) => last.push(placed),
            None => parts.push(vec![placed]),
        }
    }
    parts
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
    let mut growth = Growth::open(&settings.home, path)?;
    let captured = growth.capture(settings, told, budget, now);
    if growth.has_delivered {
        // Last, when nothing is left to write: a daemon that drains meanwhile would make this
        // process wait for its place in the disk's journal.
        nudge_daemon(&settings.home);
    }
    captured
}

/// A transcript that is read on from where it was left.
struct Growth<'a> {
    path: &'a Path,
    file: File,
    cursor: Cursor,
    /// Something is in the spool, also where a later pass fails.
    has_delivered: bool,
}

impl<'a> Growth<'a> {
    fn open(home: &Home, path: &'a Path) -> anyhow::Result<Self> {
        let mut file = File::open(path).context("opening the transcript")?;
        let cursor = Cursor::load(home, path, &mut file).context("reading the cursor")?;
        Ok(Self { path, file, cursor, has_delivered: false })
    }

    fn capture(
        &mut self,
        settings: &Settings,
        told: &Told<'_>,
        budget: Budget,
        now: Timestamp,
    ) -> anyhow::Result<usize> {
        let mut n_captured = 0;
        while n_captured < budget.n_turns_max && !budget.is_over() && self.has_more()? {
            let start = self.cursor.offset;
            let left = Budget { n_turns_max: budget.n_turns_max - n_captured, ..budget };
            let transcript =
                transcript::read_growth(&mut self.file, self.path, &mut self.cursor, left)
                    .context("reading the transcript")?;
            if self.cursor.offset == start {
                break;
            }
            let n_turns = transcript.turns.len();
            let batch = SpoolBatch::new(settings, told, transcript.turns, now);
            if !batch.events.is_empty() {
                let (session, cwd, events) = (&batch.session, &batch.cwd, &batch.events);
                deliver(&settings.home, &Delivery { session, cwd, events, now })?;
                self.has_delivered = true;
            }
            n_captured += n_turns;
            self.cursor
                .save(&settings.home, self.path, &mut self.file)
                .context("remembering how far it was read")?;
        }
        Ok(n_captured)
    }

    fn has_more(&self) -> anyhow::Result<bool> {
        let metadata = self.file.metadata().context("looking at the transcript")?;
        Ok(self.cursor.offset < metadata.len())
    }
}

/// A privacy setting that cannot be read must not mean that there is none.
pub(crate) fn check_config(settings: &Settings) -> anyhow::Result<()> {
    match &settings.config_error {
        None => Ok(()),
        Some(error) => bail!("{error}; nothing is captured until that file is mended"),
    }
}

/// Marks a file as read as far as a pass over it came, so that hooks do not deliver it again.
/// A pass that cannot say how far it came is made once more.
pub(crate) fn mark_read(home: &Home, path: &Path, settled: Option<Settled>) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut cursor = Cursor::load(home, path, &mut file)?;
    match settled {
        // A hook may have come further meanwhile.
        Some(settled) if settled.offset <= cursor.offset => return Ok(()),
        Some(Settled { offset, n_turns, memo }) => {
            (cursor.offset, cursor.n_turns, cursor.memo) = (offset, n_turns, memo);
        }
        None => read_to_end(&mut file, path, &mut cursor)?,
    }
    cursor.save(home, path, &mut file)
}

fn read_to_end(file: &mut File, path: &Path, cursor: &mut Cursor) -> io::Result<()> {
    let no_limit = Budget { until: None, n_turns_max: usize::MAX };
    loop {
        let start = cursor.offset;
        transcript::read_growth(file, path, cursor, no_limit)?;
        if cursor.offset == start {
            return Ok(());
        }
    }
}

/// Turns on their way, with what is said about all of them.
pub(crate) struct SpoolBatch {
    pub(crate) session: String,
    pub(crate) cwd: String,
    pub(crate) events: Vec<SpoolEvent>,
    /// Turns of which a part is not kept.
    pub(crate) n_cut: u64,
}

impl SpoolBatch {
    /// Leaves out what the user switched off, and cuts what is private or secret.
    pub(crate) fn new(
        settings: &Settings,
        told: &Told<'_>,
        turns: Vec<Placed>,
        now: Timestamp,
    ) -> Self {
        let here = told.cwd.map_or_else(current_folder, str::to_owned);
        let in_turns = turns.iter().rev();
        let cwd = in_turns.clone().find_map(|(_, turn)| turn.cwd.clone()).unwrap_or(here.clone());
        let said = turns.iter().find_map(|(_, turn)| turn.session.clone());
        let session = told.session.map(str::to_owned).or(said).unwrap_or_else(|| "-".to_owned());
        let folders = turns.iter().filter_map(|(_, turn)| turn.cwd.as_deref());
        let projects = Projects::of(folders.chain([here.as_str()]), &settings.switched_off);
        let now = now.to_string();
        let mut batch = Self { session, cwd, events: Vec::with_capacity(turns.len()), n_cut: 0 };
        for (place, mut turn) in turns {
            let said_in = turn.cwd.as_deref().unwrap_or(&here);
            if let Some(project) = projects.get(said_in) {
                let text = fit_to_keep(std::mem::take(&mut turn.text), &settings.secrets);
                batch.n_cut += u64::from(text.is_cut);
                hide_in_commands(&mut turn, &settings.secrets);
                batch.events.push(spool_event(turn, text, place, project, &now));
            }
        }
        batch
    }
}

/// Arguments are not kept, but a secret may stand where a subcommand should.
fn hide_in_commands(turn: &mut Turn, policy: &SecretPolicy) {
    let commands = turn.provenance.get_mut("commands").and_then(Value::as_array_mut);
    for command in commands.into_iter().flatten() {
        if let Value::String(line) = command {
            *line = fit_to_keep(std::mem::take(line), policy).text;
        }
    }
}

fn spool_event(turn: Turn, text: FitText, place: u64, project: &str, now: &str) -> SpoolEvent {
    let mut provenance = turn.provenance;
    if turn.is_subagent {
        provenance.insert("subagent".to_owned(), true.into());
    }
    SpoolEvent {
        text: text.text,
        has_secret: text.has_secret,
        // The founding program filled this with a label that was the same for every turn; a label
        // finds nothing.
        cue: String::new(),
        tier: "episodic".to_owned(),
        role: turn.speaker.as_str().to_owned(),
        ts: now.to_owned(),
        turn_ts: turn.at.map(|at| at.to_string()),
        source: Some(turn.host.to_owned()),
        uuid: turn.uuid,
        index: Some(place),
        cwd: turn.cwd,
        project: Some(project.to_owned()),
        provenance,
    }
}

/// A text as it may touch the disk.
pub(crate) struct FitText {
    pub(crate) text: String,
    /// A part of it is not what was said.
    pub(crate) is_cut: bool,
    /// A secret stood in it, so that under another setting it was kept with other words.
    pub(crate) has_secret: bool,
}

/// Makes a text fit to touch the disk: what is private is cut, secrets are marks.
pub(crate) fn fit_to_keep(text: String, policy: &SecretPolicy) -> FitText {
    let public = replaced(privacy::without_private(&text));
    let is_private = public.is_some();
    let text = public.unwrap_or(text);
    let secrets::Searched { text: marked, has_secret } = secrets::without_secrets(&text, policy);
    let marked = replaced(marked);
    let is_cut = is_private || marked.is_some();
    FitText { text: marked.unwrap_or(text), is_cut, has_secret }
}

/// Nearly every text stays as it is, and is not copied.
fn replaced(text: Cow<'_, str>) -> Option<String> {
    match text {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    }
}

/// Returns the folder the process works in, never empty: the header promises one.
pub(crate) fn current_folder() -> String {
    let folder = std::env::current_dir().unwrap_or_else(|_| Path::new("/").to_owned());
    folder.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_marked_in_what_was_run_too() {
        let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
        let mut turn = Turn {
            host: "claude-code",
            speaker: crate::host::Speaker::Assistant,
            text: String::new(),
            uuid: None,
            session: None,
            at: None,
            cwd: None,
            is_subagent: false,
            provenance: serde_json::Map::new(),
        };
        let run = serde_json::json!(["cargo test", format!("gh {token}"), "x <private>y", 7]);
        turn.provenance.insert("commands".to_owned(), run);
        hide_in_commands(&mut turn, &SecretPolicy::default());
        let kept = Value::Object(turn.provenance).to_string();
        assert!(kept.contains("\"cargo test\"") && kept.contains("\"x [private]\""), "{kept}");
        assert!(!kept.contains(token), "{kept}");
    }

    #[test]
    fn what_a_pass_has_read_is_marked_and_never_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().join("store"), None);
        crate::home::ensure_private_folder(home.root()).unwrap();
        let path = folder.path().join("t.jsonl");
        let line = "{\"type\":\"user\",\"message\":{\"content\":\"words\"}}\n";
        fs::write(&path, line.repeat(2)).unwrap();
        let marked = || Cursor::load(&home, &path, &mut File::open(&path).unwrap()).unwrap();
        let settled = each_turn(&path, |_| Flow::On).unwrap().settled;
        mark_read(&home, &path, settled).unwrap();
        assert_eq!((marked().offset, marked().n_turns), (2 * line.len() as u64, 2));
        mark_read(&home, &path, Some(Settled { offset: 1, ..Settled::default() })).unwrap();
        assert_eq!(marked().n_turns, 2);
        fs::write(&path, format!("{}{}", line.repeat(3), line.trim_end())).unwrap();
        let settled = each_turn(&path, |_| Flow::On).unwrap().settled;
        mark_read(&home, &path, settled).unwrap();
        assert_eq!((marked().offset, marked().n_turns), (3 * line.len() as u64, 3));
    }
}
