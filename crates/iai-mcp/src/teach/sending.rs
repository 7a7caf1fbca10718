//! Has passages stored by the daemon: many in a message, each once, with where it comes from.
//!
//! Killed half-way, it is run again: a passage is known by its file and its words.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::Context as _;
use iai_wire::{SpoolEvent, SpoolHeader};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::sample::{Asked, Sample, ask_back};
use super::{Part, Passage, Refusal, read_contained};
use crate::capture::{SecretPolicy, fit_to_keep};
use crate::client::{CallError, Client};
use crate::clock;
use crate::fields::Fields as _;

/// The host name of what was taught; the store knows it by this.
const TAUGHT_HOST: &str = "taught";
/// Passages and bytes of text of one message: one transaction. Escaped six times, it fits a frame.
const BATCH_PASSAGES_MAX: usize = 1000;
const BATCH_BYTES_MAX: usize = 512 * 1024;
/// A longer passage is no passage; only notes of other programs can be so long.
const PASSAGE_BYTES_MAX: usize = BATCH_BYTES_MAX;
/// Passages retired by one request.
const RETIRED_PER_CALL: usize = 1000;
/// How often a file can be taught again after it was removed.
const GENERATIONS_MAX: usize = 1000;

/// What is taught, and to whom.
pub(crate) struct Lesson<'a> {
    pub(crate) client: &'a Client,
    pub(crate) secrets: &'a SecretPolicy,
    /// The set that files belong to which were not taught before.
    pub(crate) set: &'a str,
    /// What becomes of passages that were removed on purpose.
    pub(crate) removed: Removed,
    /// Told how far it is after each message.
    pub(crate) watch: &'a dyn Fn(&Taught),
}

/// What becomes of passages that were removed on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Removed {
    StayAway,
    ComeBack,
}

/// One file, or the notes of one program.
#[derive(Debug)]
pub(crate) struct Material {
    /// What tells it from every other: its path, or the program's name.
    pub(crate) label: String,
    /// What it is called where its passages are shown.
    pub(crate) name: String,
    pub(crate) file: Option<PathBuf>,
    pub(crate) written_at: Timestamp,
    pub(crate) project: Option<String>,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub(crate) digest: String,
    pub(crate) passages: Vec<Passage>,
    pub(crate) vanished: Vanished,
}

/// What is known of a file beside its bytes.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    /// What it is called where its passages are shown; its ending tells what kind it is.
    pub(crate) name: String,
    /// Where it lies; `None` for bytes that somebody handed over.
    pub(crate) file: Option<PathBuf>,
    pub(crate) written_at: Timestamp,
    /// The project it belongs to.
    pub(crate) project: Option<String>,
}

impl Material {
    /// Reads the bytes of a file, in a process of its own where its format needs one.
    pub(crate) fn read(origin: Origin, bytes: Vec<u8>) -> anyhow::Result<Result<Self, Refusal>> {
        let Origin { name, file, written_at, project } = origin;
        let digest = digest_of(&bytes);
        let label = match &file {
            Some(file) => file.to_string_lossy().into_owned(),
            None => format!("handed over:{name}"),
        };
        let passages = read_contained(&name, bytes)?;
        Ok(passages.map(|passages| Self {
            label,
            name,
            file,
            written_at,
            project,
            digest,
            passages,
            vanished: Vanished::Retired,
        }))
    }
}

/// What becomes of passages that a file had and has no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vanished {
    /// They go; they may come back with the file's words.
    Retired,
    /// They stay: what is at hand is only a part.
    Kept,
}

/// What became of it.
#[derive(Debug, Default)]
pub(crate) struct Taught {
    pub(crate) n_files: usize,
    pub(crate) n_passages: usize,
    pub(crate) n_stored: u64,
    pub(crate) n_known: u64,
    /// Removed on purpose, and not back.
    pub(crate) n_forgotten: u64,
    /// No longer in their files, and gone.
    pub(crate) n_retired: u64,
    /// The same words in another file of this lesson; stored once.
    pub(crate) n_repeated: u64,
    /// With private or secret parts, which are not kept.
    pub(crate) n_cut: u64,
    /// Files that belong to another set already.
    pub(crate) elsewhere: Vec<(String, String)>,
    pub(crate) problems: Vec<String>,
    pub(crate) sample: Sample,
}

/// Returns the digest of a file.
pub(crate) fn digest_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Teaches: stores, retires what the files have no more, asks some of it back.
pub(crate) fn send(lesson: &Lesson<'_>, materials: &[Material]) -> anyhow::Result<Taught> {
    let mut sender = Sender::new(lesson, known_files(lesson.client)?);
    for material in materials {
        sender.take(material)?;
    }
    sender.flush()?;
    sender.retire_vanished()?;
    let Sender { mut taught, stored, .. } = sender;
    taught.sample = ask_back(lesson.client, &stored)?;
    Ok(taught)
}

/// Tells whether teaching this would change nothing: the same words in the same file, and no more.
pub(crate) fn is_known(lesson: &Lesson<'_>, material: &Material) -> anyhow::Result<bool> {
    let mut sender = Sender::new(lesson, known_files(lesson.client)?);
    let mut events = sender.fit(material);
    let (session, is_known) = sender.session_for(material, &mut events)?;
    if !is_known || BATCH_PASSAGES_MAX < events.len() {
        return Ok(false);
    }
    events.iter_mut().for_each(|event| place(event, &session, lesson.set));
    let header = SpoolHeader::new(&session, "", &clock::now().to_string());
    let asked = json!({"header": header, "events": events});
    let told = lesson.client.call_daemon("turns_check", &asked)?;
    let is_all_there = told.at("missing") == &json!([]) && told.at("forgotten") == 0;
    Ok(is_all_there && passages_of(lesson.client, &session)?.len() == events.len())
}

/// Retires the passages of files below folders that are not there any more, and returns how many.
pub(crate) fn retire_lost(client: &Client, folders: &[PathBuf]) -> anyhow::Result<u64> {
    let mut n_retired = 0;
    for (session, known) in known_files(client)? {
        let is_below = folders.iter().any(|folder| known.file.starts_with(folder));
        let is_gone = std::fs::symlink_metadata(&known.file)
            .is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
        if is_below && is_gone {
            n_retired += retire(client, &passages_of(client, &session)?)?;
        }
    }
    Ok(n_retired)
}

/// A file as the daemon knows it.
struct KnownFile {
    set: String,
    file: PathBuf,
}

fn known_files(client: &Client) -> anyhow::Result<BTreeMap<String, KnownFile>> {
    let text = |file: &Value, name: &str| file.at(name).as_str().unwrap_or_default().to_owned();
    // Not from a store that nobody can write to.
    let known = all_pages(None, |ask| client.call_daemon("taught_list", ask))?;
    let known = known.iter().map(|file| {
        let known = KnownFile { set: text(file, "set"), file: text(file, "file").into() };
        (text(file, "session_id"), known)
    });
    Ok(known.collect())
}

/// Returns the files that were taught, as the daemon tells them; those of one set when it is named.
pub(crate) fn taught_files(client: &Client, set: Option<&str>) -> anyhow::Result<Vec<Value>> {
    all_pages(set, |ask| client.call("taught_list", ask))
}

fn all_pages(
    set: Option<&str>,
    call: impl Fn(&Value) -> Result<Value, CallError>,
) -> anyhow::Result<Vec<Value>> {
    let mut files = Vec::new();
    loop {
        let told = call(&json!({"set": set, "skip": files.len()}))?;
        let page = told.at("files").as_array().cloned().unwrap_or_default();
        if page.is_empty() {
            return Ok(files);
        }
        files.extend(page);
    }
}

fn passages_of(client: &Client, session: &str) -> anyhow::Result<BTreeSet<String>> {
    let told = client.call_daemon("taught_passages", &json!({"session": session}))?;
    let ids = told.at("ids").as_array().into_iter().flatten();
    Ok(ids.filter_map(Value::as_str).map(str::to_owned).collect())
}

/// Has passages gone that may come back, and returns how many.
fn retire(client: &Client, ids: &BTreeSet<String>) -> anyhow::Result<u64> {
    let ids: Vec<&String> = ids.iter().collect();
    for some in ids.chunks(RETIRED_PER_CALL) {
        let wishes = json!({"ids": some, "reason": "check"});
        let mut done = client.call_daemon("memory_forget", &wishes).context("retiring passages")?;
        while done.at("is_finished") != true && done.at("failed").is_null() {
            let receipt = json!({"receipt": done.at("receipt")});
            done = client.call_daemon("forget_status", &receipt)?;
        }
    }
    Ok(ids.len() as u64)
}

/// A file on its way: where its passages stand, and which of the lesson they are.
struct Begun {
    session: String,
    is_known: bool,
    vanished: Vanished,
    ids: BTreeSet<String>,
}

struct Sender<'a> {
    lesson: &'a Lesson<'a>,
    known: BTreeMap<String, KnownFile>,
    taught: Taught,
    /// What was said in this lesson, by the digest of its words.
    said: BTreeSet<[u8; 32]>,
    begun: Vec<Begun>,
    /// Passages that wait to be sent, each with the place of its file in `begun`.
    waiting: Vec<(usize, SpoolEvent)>,
    n_bytes: usize,
    /// What can be asked back.
    stored: Vec<Asked>,
}

impl<'a> Sender<'a> {
    fn new(lesson: &'a Lesson<'a>, known: BTreeMap<String, KnownFile>) -> Self {
        Self {
            lesson,
            known,
            taught: Taught::default(),
            said: BTreeSet::new(),
            begun: Vec::new(),
            waiting: Vec::new(),
            n_bytes: 0,
            stored: Vec::new(),
        }
    }

    fn take(&mut self, material: &Material) -> anyhow::Result<()> {
        self.taught.n_files += 1;
        self.taught.n_passages += material.passages.len();
        let mut fit = self.fit(material);
        let (session, is_known) = self.session_for(material, &mut fit)?;
        let set = match self.known.get(&session) {
            Some(known) if is_known => known.set.clone(),
            _ => self.lesson.set.to_owned(),
        };
        if set != self.lesson.set {
            self.taught.elsewhere.push((material.name.clone(), set.clone()));
        }
        for event in &mut fit {
            place(event, &session, &set);
        }
        let file_idx = self.begun.len();
        let (vanished, ids) = (material.vanished, BTreeSet::new());
        self.begun.push(Begun { session, is_known, vanished, ids });
        for event in fit {
            if BATCH_PASSAGES_MAX <= self.waiting.len()
                || BATCH_BYTES_MAX < self.n_bytes + event.text.len()
            {
                self.flush()?;
            }
            self.n_bytes += event.text.len();
            self.waiting.push((file_idx, event));
        }
        Ok(())
    }

    /// Makes the passages of a file fit to be kept, each of the lesson once.
    fn fit(&mut self, material: &Material) -> Vec<SpoolEvent> {
        let mut events = Vec::new();
        for (passage_idx, passage) in material.passages.iter().enumerate() {
            let fit = fit_to_keep(passage.text.clone(), self.lesson.secrets);
            if PASSAGE_BYTES_MAX < fit.text.len() {
                let n_bytes = fit.text.len();
                let problem = format!("{}: a note of {n_bytes} bytes is too long", material.name);
                self.taught.problems.push(problem);
                continue;
            }
            if !self.said.insert(Sha256::digest(fit.text.as_bytes()).into()) {
                self.taught.n_repeated += 1;
                continue;
            }
            self.taught.n_cut += u64::from(fit.is_cut);
            let at = passage.at.unwrap_or(material.written_at).min(clock::now());
            events.push(SpoolEvent {
                text: fit.text,
                has_secret: fit.has_secret,
                cue: cue_of(material, &passage.part),
                tier: "semantic".to_owned(),
                role: "system".to_owned(),
                ts: at.to_string(),
                source: Some(TAUGHT_HOST.to_owned()),
                index: Some(passage_idx as u64),
                project: material.project.clone(),
                provenance: provenance_of(material, &passage.part),
                ..SpoolEvent::default()
            });
        }
        events
    }

    /// Finds where the passages of a file stand, or where they will: after a removal, elsewhere.
    fn session_for(
        &self,
        material: &Material,
        events: &mut [SpoolEvent],
    ) -> anyhow::Result<(String, bool)> {
        let first = format!("{TAUGHT_HOST}:{}", material.label);
        let generations = (2..GENERATIONS_MAX).map(|n| format!("{first}#{n}"));
        let mut all = std::iter::once(first.clone()).chain(generations.clone());
        let mut of_file = self
            .known
            .range(first.clone()..)
            .take_while(|(session, _)| session.starts_with(&first));
        if of_file.next().is_some()
            && let Some(known) = all.find(|session| self.known.contains_key(session))
        {
            return Ok((known, true));
        }
        if self.lesson.removed == Removed::StayAway {
            return Ok((first, false));
        }
        for session in std::iter::once(first.clone()).chain(generations) {
            for event in events.iter_mut() {
                place(event, &session, self.lesson.set);
            }
            let header = SpoolHeader::new(&session, "", &clock::now().to_string());
            let some = events.get(..events.len().min(BATCH_PASSAGES_MAX)).unwrap_or_default();
            let asked = json!({"header": header, "events": some});
            let told = self.lesson.client.call_daemon("turns_check", &asked)?;
            if told.at("forgotten") == 0 {
                return Ok((session, false));
            }
        }
        Ok((first, false))
    }

    /// Sends what waits. When this returns, it is stored.
    fn flush(&mut self) -> anyhow::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        self.n_bytes = 0;
        if waiting.is_empty() {
            return Ok(());
        }
        let now = clock::now().to_string();
        let mut appends: Vec<(usize, Vec<&SpoolEvent>)> = Vec::new();
        for (file_idx, event) in &waiting {
            match appends.last_mut() {
                Some((last, events)) if last == file_idx => events.push(event),
                _ => appends.push((*file_idx, vec![event])),
            }
        }
        let appends: Vec<Value> = appends
            .iter()
            .map(|(file_idx, events)| {
                let session = self.begun.get(*file_idx).map_or("", |begun| &begun.session);
                json!({"header": SpoolHeader::new(session, "", &now), "events": events})
            })
            .collect();
        let message = json!({"appends": appends, "tell_ids": true});
        let done = self.lesson.client.call_daemon("turns_store", &message)?;
        self.count(&done, waiting);
        (self.lesson.watch)(&self.taught);
        Ok(())
    }

    fn count(&mut self, done: &Value, sent: Vec<(usize, SpoolEvent)>) {
        let n = |name: &str| done.at(name).as_u64().unwrap_or(0);
        self.taught.n_stored += n("stored");
        self.taught.n_known += n("known");
        self.taught.n_forgotten += n("forgotten");
        let reasons = done.at("set_aside").as_array().into_iter().flatten();
        self.taught.problems.extend(reasons.filter_map(Value::as_str).map(str::to_owned));
        let has_forgotten = 0 < n("forgotten");
        let ids = done.at("ids").as_array().into_iter().flatten();
        for ((file_idx, event), id) in sent.into_iter().zip(ids) {
            let Some(id) = id.as_str() else { continue };
            if let Some(begun) = self.begun.get_mut(file_idx) {
                begun.ids.insert(id.to_owned());
            }
            // Which of a message were forgotten is not told; none of it is asked back.
            if !has_forgotten {
                let source = source_of(&event);
                self.stored.push(Asked { id: id.to_owned(), source, text: event.text });
            }
        }
    }

    fn retire_vanished(&mut self) -> anyhow::Result<()> {
        for begun in &self.begun {
            if begun.is_known && begun.vanished == Vanished::Retired {
                let stored = passages_of(self.lesson.client, &begun.session)?;
                let gone: BTreeSet<String> = stored.difference(&begun.ids).cloned().collect();
                if !gone.is_empty() {
                    self.taught.n_retired += retire(self.lesson.client, &gone)?;
                }
            }
        }
        Ok(())
    }
}

/// Puts a passage into a file's session and a set. The session is its place too, so that the same
/// words of the same file are the same memory in every set.
fn place(event: &mut SpoolEvent, session: &str, set: &str) {
    event.uuid = Some(session.to_owned());
    if let Some(taught) = event.provenance.get_mut(TAUGHT_HOST) {
        taught.set("set", set);
    }
}

/// An extra key to find a passage by: what the file and the headings above it are called.
fn cue_of(material: &Material, part: &Part) -> String {
    let names = std::iter::once(&material.name).chain(&part.headings);
    names.map(String::as_str).collect::<Vec<_>>().join(" › ")
}

fn provenance_of(material: &Material, part: &Part) -> Map<String, Value> {
    let file = material.file.as_ref().map(|file| file.to_string_lossy().into_owned());
    let mut taught = json!({"name": material.name, "part": part.describe()});
    taught.set("file", file.clone());
    taught.set("sha256", material.digest.clone());
    if !part.headings.is_empty() {
        taught.set("headings", part.headings.clone());
    }
    if let Some((first, last)) = part.lines {
        taught.set("lines", json!([first, last]));
    }
    if let Some(page) = part.page {
        taught.set("page", page);
    }
    let mut provenance = Map::new();
    provenance.insert(TAUGHT_HOST.to_owned(), taught);
    if let Some(file) = file {
        provenance.insert("files".to_owned(), json!([file]));
    }
    provenance
}

fn source_of(event: &SpoolEvent) -> String {
    let taught = event.provenance.get(TAUGHT_HOST).cloned().unwrap_or_default();
    let text = |name: &str| taught.at(name).as_str().unwrap_or_default().to_owned();
    format!("{} {}", text("name"), text("part")).trim_end().to_owned()
}
