//! Writes a made-up history of any size into a throw-away home, before a daemon owns it.
//!
//! A model gives about fifty turns a second their vectors, so that a million would take hours. Here
//! the vectors are made up as well; nothing else is. No daemon takes vectors from anybody, which is
//! why the store is written in this process, by the engine the daemon has.

mod scattered;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use iai_memory::{Embedder, KeySource, MemoryEngine, Model, NewMemory, Role, Tier, model_speed};
use serde_json::json;

use super::synthetic;
use crate::clock;
use crate::daemon::store_paths;
use crate::home::{Home, ensure_private_folder};
use scattered::Scattered;

/// Turns stored in one transaction.
const TURNS_PER_BATCH: usize = 4000;

/// What the bare model is measured with: enough to be sure of its rate.
const BARE_TURNS_MAX: usize = 1024;
/// Turns the daemon embeds together.
const BARE_TURNS_PER_BATCH: usize = 32;

/// What writing took.
pub(super) struct Written {
    /// Storing the turns, their words included.
    pub(super) storing: Duration,
    /// Storing their vectors; nothing without a model.
    pub(super) vectors: Option<Duration>,
}

/// Puts the first `n_turns` of the made-up history into a home: from a folder where an earlier run
/// kept them, or by writing them. `None` when they were kept.
pub(super) fn provide(
    home: &Home,
    n_turns: usize,
    keep: Option<&Path>,
    progress: &dyn Fn(&str),
) -> anyhow::Result<Option<Written>> {
    let kept = keep.map(|folder| folder.join(n_turns.to_string()));
    if let Some(kept) = kept.as_deref().filter(|kept| kept.is_dir()) {
        progress(&format!("taking {n_turns} turns from {}", kept.display()));
        copy_files(kept, home.root()).context("taking what was kept")?;
        return Ok(None);
    }
    let written = write(home, n_turns, progress)?;
    if let Some(kept) = kept {
        ensure_private_folder(&kept).with_context(|| format!("making {}", kept.display()))?;
        copy_files(home.root(), &kept).context("keeping the store")?;
    }
    Ok(Some(written))
}

/// The model of a home by itself: what the daemon is measured against.
pub(super) struct Bare(Model);

impl Bare {
    /// Opens the model the daemon would take, if there is one.
    pub(super) fn open(home: &Home) -> anyhow::Result<Option<Self>> {
        let path = first_model(home);
        path.map(|path| Model::open(&path).map(Self).context("opening the model")).transpose()
    }

    /// Gives the first turns their vectors, in batches as large as the daemon's; returns how many,
    /// and how long that took.
    pub(super) fn embed_turns(&self, n_turns: usize) -> anyhow::Result<(usize, Duration)> {
        let n_turns = n_turns.min(BARE_TURNS_MAX);
        let texts: Vec<String> = (0..n_turns).map(|n| turn(n).text).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let begun = Instant::now();
        for batch in texts.chunks(BARE_TURNS_PER_BATCH) {
            self.0.embed(batch)?;
        }
        Ok((n_turns, begun.elapsed()))
    }

    /// Returns the additions and multiplications that a cue takes, on average.
    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    pub(super) fn n_operations(&self, cues: impl ExactSizeIterator<Item = String>) -> f64 {
        let n_cues = cues.len().max(1);
        let n_tokens: usize = cues.map(|cue| self.0.token_ids(&cue).len()).sum();
        (n_tokens * self.0.n_operations_per_token()) as f64 / n_cues as f64
    }

    /// Returns what all threads of the model could do if there were nothing but arithmetic.
    #[expect(clippy::cast_precision_loss, reason = "a few threads")]
    pub(super) fn gigaflops_limit(&self) -> f64 {
        model_speed::arithmetic_limit() * self.0.n_threads() as f64
    }
}

/// Tells whether a daemon in this home has a model to work with.
pub(super) fn has_model(home: &Home) -> bool {
    first_model(home).is_some()
}

/// Copies the files of a folder; models are lent, not copied.
fn copy_files(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Writes the turns. With an installed model every turn gets a made-up vector in that model's name;
/// the daemon then believes that its work is done.
fn write(home: &Home, n_turns: usize, progress: &dyn Fn(&str)) -> anyhow::Result<Written> {
    let now = clock::now();
    let (engine, _) = MemoryEngine::open(&store_paths(home), &KeySource::default(), now)?;
    engine.load_index()?;
    std::thread::scope(|scope| {
        let tending = scope.spawn(|| engine.tend_until_stopped());
        let written = fill(&engine, home, n_turns, progress);
        engine.stop_tending();
        let tended = tending.join().map_err(|_| anyhow::anyhow!("the index broke"))?;
        tended.context("storing the index")?;
        while engine.tend_index()? {}
        engine.checkpoint()?;
        written
    })
}

fn fill(
    engine: &MemoryEngine,
    home: &Home,
    n_turns: usize,
    progress: &dyn Fn(&str),
) -> anyhow::Result<Written> {
    let begun = Instant::now();
    for first in (0..n_turns).step_by(TURNS_PER_BATCH) {
        progress(&format!("storing turn {first} of {n_turns}"));
        let last = n_turns.min(first + TURNS_PER_BATCH);
        let turns: Vec<NewMemory> = (first..last).map(turn).collect();
        engine.store_turns(&turns, clock::now())?;
    }
    let storing = begun.elapsed();
    let Some(path) = first_model(home) else { return Ok(Written { storing, vectors: None }) };
    let model = Model::open(&path).with_context(|| format!("opening {}", path.display()))?;
    let begun = Instant::now();
    give_vectors(engine, &model, n_turns, progress)?;
    Ok(Written { storing, vectors: Some(begun.elapsed()) })
}

fn give_vectors(
    engine: &MemoryEngine,
    model: &Model,
    n_turns: usize,
    progress: &dyn Fn(&str),
) -> anyhow::Result<()> {
    progress("embedding some turns");
    let texts: Vec<String> =
        scattered::TEXTS_EMBEDDED.map(|n| turn(synthetic::first_of_session(n)).text).collect();
    engine.attach_model(Arc::new(Scattered::around(model, &texts)?) as Arc<dyn Embedder>)?;
    while engine.embed_up_to(TURNS_PER_BATCH)? {
        let n_left = engine.meaning_status().pending;
        progress(&format!("vectors: {n_left} of {n_turns} to come"));
    }
    Ok(())
}

/// The model the daemon would take: the first by name.
fn first_model(home: &Home) -> Option<PathBuf> {
    let files = std::fs::read_dir(home.models()).ok()?;
    let paths = files.filter_map(|file| Some(file.ok()?.path()));
    paths.filter(|path| path.extension().is_some_and(|end| end == "iai")).min()
}

fn turn(n: usize) -> NewMemory {
    let made_up = synthetic::turn(n);
    let at = made_up.event.turn_ts.and_then(|at| at.parse().ok()).unwrap_or_default();
    let is_user = made_up.event.role == Role::User.as_str();
    NewMemory {
        host: "bench".to_owned(),
        session: made_up.session,
        turn_uuid: made_up.event.uuid,
        turn_index: None,
        role: if is_user { Role::User } else { Role::Assistant },
        tier: Tier::Episodic,
        project: None,
        cwd: None,
        turn_at: at,
        captured_at: at,
        text: made_up.event.text,
        language: None,
        tags: Vec::new(),
        provenance: json!({}),
        cue: None,
        pinned: false,
    }
}
