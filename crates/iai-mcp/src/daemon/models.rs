//! The sentence models beside the store: opened once the store is, given to the engine, and kept
//! at work by one thread that yields to everybody else.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::Context as _;
use iai_memory::{Embedder, MemoryEngine, Model, ModelKept};
use iai_wire::code;
use serde_json::{Value, json};

use super::handlers::Failure;
use super::priority::{self, Standing};

/// The end of a model file's name.
const EXTENSION: &str = "iai";

/// The models of one store.
pub(super) struct Models {
    engine: Arc<MemoryEngine>,
    folder: PathBuf,
    state: Mutex<State>,
}

enum State {
    /// The files are being opened.
    Loading,
    /// Everything the store counts on is at work, which may be nothing.
    Loaded,
    /// A model cannot be used; words still find everything.
    Refused(String),
}

impl Models {
    /// Opens the models in the background and keeps them at work until the engine is told to stop.
    pub(super) fn start(engine: Arc<MemoryEngine>, folder: PathBuf) -> anyhow::Result<Arc<Self>> {
        let models = Arc::new(Self { engine, folder, state: Mutex::new(State::Loading) });
        let working = Arc::clone(&models);
        let thread = thread::Builder::new().name("models".to_owned());
        thread.spawn(move || working.work()).context("starting the models' thread")?;
        Ok(models)
    }

    /// Lets an installed model work; vectors of another one serve until it knows every memory.
    pub(super) fn use_model(&self, name: &str) -> Result<Value, Failure> {
        let failed = |error: anyhow::Error| Failure::new(code::FAILED, format!("{error:#}"));
        let model = self.open(name).map_err(failed)?;
        self.engine.attach_model(model)?;
        *self.state() = State::Loaded;
        Ok(self.show())
    }

    /// Says which models work and how far they are.
    pub(super) fn show(&self) -> Value {
        let status = self.engine.meaning_status();
        let state = self.state();
        let (name, reason) = match &*state {
            State::Loading => ("loading", None),
            State::Refused(reason) => ("refused", Some(reason.clone())),
            State::Loaded if status.model.is_none() => ("none", None),
            State::Loaded if 0 < status.pending + status.next_pending => ("filling", None),
            State::Loaded => ("ready", None),
        };
        json!({
            "state": name,
            "name": status.model,
            "pending": status.pending,
            "next_name": status.next_model,
            "next_pending": status.next_pending,
            "reason": reason,
        })
    }

    /// The name of the model that answers cues.
    pub(super) fn serving(&self) -> Option<String> {
        self.engine.meaning_status().model
    }

    /// How many memories wait for vectors; while that is not known, at least one.
    pub(super) fn n_pending(&self) -> u64 {
        let status = self.engine.meaning_status();
        match &*self.state() {
            State::Loading => (status.pending + status.next_pending).max(1),
            State::Loaded | State::Refused(_) => status.pending + status.next_pending,
        }
    }

    fn work(&self) {
        // The thread that opened the store loads its index meanwhile.
        let loaded = match self.load() {
            Ok(()) => State::Loaded,
            Err(error) => {
                tracing::error!("recall works on words alone: {error:#}");
                State::Refused(format!("{error:#}"))
            }
        };
        // Without the index nobody knows how many memories wait.
        if let Err(error) = self.engine.load_index() {
            tracing::error!(%error, "the index cannot be loaded");
        }
        *self.state() = loaded;
        // After the models are open: the threads that embed cues keep their priority, the ones
        // that embed memories inherit this one.
        priority::stand(Standing::Last);
        // An error ends a round, not the thread: the next turn that comes in is the next try.
        while let Err(error) = self.engine.embed_until_stopped() {
            tracing::error!(%error, "embedding memories");
            *self.state() = State::Refused(error.to_string());
        }
    }

    /// Opens what the store counts on; a store that counts on none takes the first there is.
    fn load(&self) -> anyhow::Result<()> {
        let kept = self.engine.models_kept().context("reading the models of the store")?;
        for model in &kept {
            self.engine.attach_model(self.open_kept(model)?)?;
        }
        if kept.is_empty()
            && let Some(name) = first_model(&self.folder)
        {
            tracing::info!(model = name, "the store has no model yet; using this one");
            self.engine.attach_model(self.open(&name)?)?;
        }
        Ok(())
    }

    /// Opens the very file that made the store's vectors.
    fn open_kept(&self, kept: &ModelKept) -> anyhow::Result<Arc<dyn Embedder>> {
        let model = self.open(&kept.name)?;
        if model.identity().sha256 != kept.sha256 {
            anyhow::bail!(
                "the model file of `{0}` is not the one that made the store's vectors; \
                 `iai-mcp model use {0}` makes them anew",
                kept.name
            );
        }
        Ok(model)
    }

    fn open(&self, name: &str) -> anyhow::Result<Arc<dyn Embedder>> {
        if name.is_empty() || name.contains(['/', '\0']) || name.starts_with('.') {
            anyhow::bail!("`{name}` is no name of a model; `iai-mcp model list` shows them");
        }
        let path = self.folder.join(format!("{name}.{EXTENSION}"));
        if !path.exists() {
            anyhow::bail!("the model `{name}` is not installed; `iai-mcp model install {name}`");
        }
        let model = Model::open(&path).with_context(|| format!("opening the model `{name}`"))?;
        Ok(Arc::new(model))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first installed model by name.
fn first_model(folder: &Path) -> Option<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(EXTENSION)?.strip_suffix('.')?.to_owned()))
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort_unstable();
    names.into_iter().next()
}
