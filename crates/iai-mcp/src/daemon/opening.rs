//! Opens the store behind a socket that answers already, and lets calls wait for it.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use iai_memory::{Created, KeySource, MemoryEngine, StorePaths, damaged_logs};
use iai_wire::{OpeningKey, code};
use jiff::tz::TimeZone;
use serde_json::json;

use super::drain::Drainer;
use super::face::Face;
use super::forgetting::{self, Forgetter};
use super::handlers::Failure;
use super::lifecycle::Event;
use super::models::Models;
use super::organiser;
use super::priority::{self, Standing};
use super::reflection::Reflection;
use super::sync::Syncing;
use crate::clock;
use crate::home::Home;
use crate::settings::Settings;

/// How long a call waits for the store to open before it is told to try again.
const OPENING_LIMIT: Duration = Duration::from_secs(10);

/// The engine and its drain, once the store is open.
pub(super) struct Opened {
    pub(super) engine: Arc<MemoryEngine>,
    pub(super) drainer: Drainer,
    pub(super) models: Arc<Models>,
    pub(super) forgetter: Arc<Forgetter>,
    pub(super) sync: Syncing,
    pub(super) reflection: Arc<Reflection>,
    /// The key file, when this start made it.
    pub(super) made_key: Option<PathBuf>,
}

/// The store on its way from closed to open, or to refused.
#[derive(Default)]
pub(super) struct OpenStore {
    state: Mutex<StoreState>,
    changed: Condvar,
    pub(super) is_stopping: Arc<AtomicBool>,
}

#[derive(Default)]
enum StoreState {
    #[default]
    Opening,
    Open(Arc<Opened>),
    Refused(Arc<anyhow::Error>),
}

impl OpenStore {
    pub(super) fn now(&self) -> Option<Arc<Opened>> {
        match &*self.state.lock().unwrap_or_else(PoisonError::into_inner) {
            StoreState::Open(opened) => Some(Arc::clone(opened)),
            StoreState::Opening | StoreState::Refused(_) => None,
        }
    }

    fn set(&self, state: StoreState) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
        self.changed.notify_all();
    }

    /// Waits until the store is open, as long as a call may.
    pub(super) fn wait(&self) -> Result<Arc<Opened>, Failure> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_opening = |state: &mut StoreState| matches!(state, StoreState::Opening);
        let (state, _) = self
            .changed
            .wait_timeout_while(state, OPENING_LIMIT, is_opening)
            .unwrap_or_else(PoisonError::into_inner);
        match &*state {
            StoreState::Open(opened) => Ok(Arc::clone(opened)),
            StoreState::Opening => {
                Err(Failure::new(code::STARTING, "the store is still being opened; try again"))
            }
            StoreState::Refused(error) => Err(Failure::new(code::STORE, error.to_string())),
        }
    }

    pub(super) fn refusal(&self) -> anyhow::Error {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::take(&mut *state) {
            StoreState::Refused(error) => {
                Arc::try_unwrap(error).unwrap_or_else(|error| anyhow::anyhow!("{error}"))
            }
            StoreState::Opening | StoreState::Open(_) => anyhow::anyhow!("the store is open"),
        }
    }
}

/// Opens the store while the socket answers already.
pub(super) fn open_in_background(
    settings: &Settings,
    store: Arc<OpenStore>,
    face: Arc<Face>,
    events: SyncSender<Event>,
) -> anyhow::Result<()> {
    let settings = settings.clone();
    let opening = thread::Builder::new().name("open".to_owned());
    opening
        .spawn(move || {
            match open_store(&settings, &face, &store.is_stopping) {
                Ok(opened) => {
                    // Before anybody can add to it.
                    forgetting::show_counts(&opened, &face);
                    face.show_models(Arc::clone(&opened.models));
                    face.show_engine(Arc::clone(&opened.engine));
                    let opened = Arc::new(opened);
                    store.set(StoreState::Open(Arc::clone(&opened)));
                    events.send(Event::StoreOpened).ok();
                    keep_index(&opened, settings.idle_shutdown);
                }
                Err(error) => {
                    tracing::error!("the store cannot be opened: {error:#}");
                    store.set(StoreState::Refused(Arc::new(error)));
                    events.send(Event::StoreRefused).ok();
                }
            }
        })
        .context("starting to open the store")?;
    Ok(())
}

/// Loads the index behind everybody's back, then stores its segments as they become due, until the
/// daemon leaves. Without this thread all is slower and nothing is lost.
fn keep_index(opened: &Opened, idle_shutdown: Option<Duration>) {
    let Opened { engine, reflection, .. } = opened;
    let loaded = engine.load_index();
    // Only now: a thread of the lowest priority that began to load would keep all others waiting.
    let organised = organiser::start(Arc::clone(engine), Arc::clone(reflection), idle_shutdown);
    if let Err(error) = organised {
        tracing::error!("memories are not organised: {error:#}");
    }
    read_ahead(Arc::clone(engine));
    if let Err(error) = loaded.and_then(|()| engine.tend_until_stopped()) {
        tracing::warn!(%error, "the index is no longer stored; it is made again when needed");
    }
}

/// Reads what the next session is told before it asks, on a thread that stands behind whoever does.
fn read_ahead(engine: Arc<MemoryEngine>) {
    let reading = thread::Builder::new().name("ahead".to_owned());
    let begun = reading.spawn(move || {
        priority::stand(Standing::Second);
        if let Err(error) = engine.warm_briefs(clock::now()) {
            tracing::warn!(%error, "the next brief is not read ahead; it takes a little longer");
        }
    });
    if let Err(error) = begun {
        tracing::warn!(%error, "no thread to read the next brief ahead; it takes a little longer");
    }
}

fn open_store(
    settings: &Settings,
    face: &Arc<Face>,
    is_stopping: &Arc<AtomicBool>,
) -> anyhow::Result<Opened> {
    let keys = key_source(settings);
    let paths = store_paths(&settings.home);
    let (engine, created) = MemoryEngine::open(&paths, &keys, clock::now())?;
    let engine = engine.in_zone(TimeZone::system());
    tell_damaged_logs(&paths);
    match created {
        Created::Nothing => {}
        Created::Store => tracing::info!("made a new store"),
        Created::StoreAndKey => tracing::info!("made a key and a new store"),
    }
    let key = OpeningKey::from_bytes(&engine.spool_secret()?)?;
    let engine = Arc::new(engine);
    let drainer = Drainer::new(Arc::clone(&engine), settings.clone(), key, Arc::clone(is_stopping));
    engine.record_event(
        "daemon_started",
        json!({"version": env!("CARGO_PKG_VERSION")}),
        clock::now(),
    )?;
    let made_key = (created == Created::StoreAndKey).then(|| settings.home.key_file());
    let models = Models::start(Arc::clone(&engine), settings.home.models())?;
    let reflection = Arc::new(Reflection::start(Arc::clone(&engine), settings)?);
    let forgetter =
        Forgetter::new(Arc::clone(&engine), settings.home.clone(), Arc::clone(is_stopping));
    let forgetter = Arc::new(forgetter);
    forgetter.go_on()?;
    let sync = Syncing::start(
        Arc::clone(&engine),
        Arc::clone(&forgetter),
        Arc::clone(face),
        Arc::clone(is_stopping),
    )?;
    Ok(Opened { engine, drainer, models, forgetter, sync, reflection, made_key })
}

/// The store is open by now: whatever stands in the place of the folder is no reason to close it.
fn tell_damaged_logs(paths: &StorePaths) {
    let folders = damaged_logs(paths).unwrap_or_else(|error| {
        tracing::warn!(%error, "damaged logs that were kept cannot be listed");
        Vec::new()
    });
    for folder in folders {
        let folder = folder.display();
        tracing::error!("a damaged log is kept in {folder}; `iai-mcp verify` says what to do");
    }
}

/// Names the store's files for the engine.
pub(crate) fn store_paths(home: &Home) -> StorePaths {
    StorePaths {
        folder: home.root().to_owned(),
        database: home.database(),
        vault: home.vault(),
        key_file: home.key_file(),
        spool_public: home.spool_public(),
        aside: home.aside(),
    }
}

pub(crate) fn key_source(settings: &Settings) -> KeySource {
    KeySource { passphrase: settings.passphrase.clone().map(Into::into) }
}
