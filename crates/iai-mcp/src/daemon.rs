//! The one process that owns the store: lock, bind, load, then one loop that decides everything.

mod connections;
mod drain;
mod face;
mod forgetting;
pub(crate) mod handlers;
#[cfg(target_os = "macos")]
mod launchd;
mod lifecycle;
mod listen;
mod models;
mod news;
mod opening;
mod organiser;
mod priority;
mod reflection;
mod scanning;
mod seats;
mod singleton;
mod sync;
mod tally;
mod watch;
mod workers;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use iai_memory::{Ingested, MemoryError, ReflectionOccasion, StoreError};
use iai_wire::{Call, PROTOCOL_VERSION, Params, code};
use serde_json::{Value, json};

use crate::capture::SecretPolicy;
use crate::clock;
use crate::home::{Home, UnusableFolder, ensure_inner_folder, ensure_private_folder};
use crate::settings::Settings;
use connections::Desk;
use face::Face;
use handlers::Failure;
use lifecycle::{Action, Event, Leave, Lifecycle, Phase};
use listen::Listening;
use opening::{OpenStore, Opened};
use seats::Seats;
use singleton::Singleton;
use workers::Workers;

pub(crate) use listen::ListenError;
pub(crate) use opening::{key_source, store_paths};
pub(crate) use singleton::{is_nobody_the_daemon, pid_in_lock};

/// Events on their way to the loop; a full queue makes their senders wait a moment.
const EVENTS_MAX: usize = 1024;
/// What a leaving daemon gives a drain to finish its batch.
const LEAVE_LIMIT: Duration = Duration::from_millis(1500);

/// Runs until asked to leave, or idle for long enough. Returns only when everything acknowledged is
/// on disk.
///
/// `on_ready` is called once, when the store is open, with the key file if this start made it.
pub(crate) fn run(settings: &Settings, on_ready: impl FnOnce(Option<&Path>)) -> anyhow::Result<()> {
    let home = &settings.home;
    let root = home.root().to_owned();
    ensure_private_folder(&root).map_err(|source| UnusableFolder { path: root, source })?;
    let seats = Seats::new(seats::raise_file_limit()?);
    let lock = Singleton::take(home)?;
    let listening = Listening::begin(home, &lock)?;
    let _log = crate::log::to_file(&home.daemon_log())?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "listening");
    let result = serve(settings, &listening, &lock, seats, on_ready);
    listening.end();
    tracing::info!("left");
    drop(lock);
    result
}

fn serve(
    settings: &Settings,
    listening: &Listening,
    lock: &Singleton,
    seats: Arc<Seats>,
    on_ready: impl FnOnce(Option<&Path>),
) -> anyhow::Result<()> {
    let (events, inbox) = mpsc::sync_channel(EVENTS_MAX);
    watch::signals(events.clone()).context("listening for signals")?;
    let store = Arc::new(OpenStore::default());
    let face = Arc::new(Face::new(clock::now(), settings.home.spool()));
    let answer = answerer(settings, Arc::clone(&store), Arc::clone(&face), events.clone());
    let workers = Workers::start(&answer).context("starting the workers")?;
    let desk = Desk { face: Arc::clone(&face), seats, workers, events: events.clone() };
    let listener = listening.listener.try_clone().context("sharing the socket")?;
    thread::Builder::new()
        .name("accept".to_owned())
        .spawn(move || connections::accept(&listener, &desk))
        .context("starting to accept")?;
    opening::open_in_background(settings, Arc::clone(&store), Arc::clone(&face), events.clone())?;
    let spool = settings.home.spool();
    ensure_inner_folder(&spool).context("making the spool folder")?;
    let watcher = watch::files(&spool, &lock.place, &events);
    if let Err(error) = &watcher {
        tracing::warn!(%error, "the spool folder cannot be watched; nudges still arrive");
    }
    let mut house = House { home: settings.home.clone(), store, face, events, draining: None };
    let life = Lifecycle::new(settings.idle_shutdown, Instant::now());
    let why = run_loop(life, &inbox, &mut house, on_ready);
    house.leave(why)
}

/// The loop: the only place that changes the lifecycle.
fn run_loop(
    mut life: Lifecycle,
    inbox: &Receiver<Event>,
    house: &mut House,
    on_ready: impl FnOnce(Option<&Path>),
) -> Leave {
    let mut on_ready = Some(on_ready);
    loop {
        let event = match life.wake_at() {
            None => inbox.recv().unwrap_or(Event::StopAsked),
            Some(at) => match inbox.recv_timeout(at.saturating_duration_since(Instant::now())) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => Event::Timer,
                Err(RecvTimeoutError::Disconnected) => Event::StopAsked,
            },
        };
        let (next, action) = life.step(event, Instant::now());
        life = next;
        house.face.show_phase(life.phase);
        if life.phase == Phase::Ready
            && let Some(on_ready) = on_ready.take()
        {
            let made_key = house.store.now().and_then(|opened| opened.made_key.clone());
            on_ready(made_key.as_deref());
        }
        match action {
            None => {}
            Some(Action::StartDrain) => house.start_drain(),
            Some(Action::Leave(why)) => return why,
        }
    }
}

/// What the loop acts on.
struct House {
    home: Home,
    store: Arc<OpenStore>,
    face: Arc<Face>,
    events: SyncSender<Event>,
    draining: Option<JoinHandle<()>>,
}

impl House {
    fn start_drain(&mut self) {
        let Some(opened) = self.store.now() else { return };
        let (face, events) = (Arc::clone(&self.face), self.events.clone());
        let pass = thread::Builder::new().name("drain".to_owned()).spawn(move || {
            let event = drain_once(&opened, &face);
            events.send(event).ok();
        });
        match pass {
            Ok(handle) => self.draining = Some(handle),
            Err(error) => tracing::error!(%error, "no thread for the drain"),
        }
    }

    fn leave(self, why: Leave) -> anyhow::Result<()> {
        tracing::info!(?why, "leaving");
        if why == Leave::StoreRefused {
            return Err(self.store.refusal().context("opening the store"));
        }
        if why == Leave::StoreGone {
            // Another store may be in its place by now; nothing of ours must be put beside it.
            tracing::warn!(root = %self.home.root().display(), "the store was removed or replaced");
            return Ok(());
        }
        self.store.is_stopping.store(true, Ordering::Relaxed);
        if let Some(draining) = self.draining {
            wait_for(draining, LEAVE_LIMIT);
        }
        if let Some(opened) = self.store.now() {
            opened.engine.stop_tending();
            opened.engine.stop_embedding();
            opened.engine.stop_organising();
            opened.reflection.stop();
            opened.sync.stop();
            let why = json!({"why": format!("{why:?}")});
            if let Err(error) = opened.engine.record_event("daemon_stopped", why, clock::now()) {
                tracing::warn!(%error, "leaving without a note");
            }
            if let Err(error) = opened.engine.write_down_uses(clock::now()) {
                tracing::warn!(%error, "leaving without writing down what was of use");
            }
            if let Err(error) = opened.engine.seal_index() {
                tracing::warn!(%error, "leaving with an index that the next start has to make");
            }
            // Everything acknowledged is durable already; this only keeps the log file short.
            if let Err(error) = opened.engine.checkpoint() {
                tracing::warn!(%error, "leaving without a checkpoint");
            }
        }
        match why {
            Leave::WriterBroke => Err(MemoryError::WriterBroken.into()),
            Leave::Asked | Leave::Idle | Leave::StoreRefused | Leave::StoreGone => {
                tracing::info!(root = %self.home.root().display(), "the store is closed");
                Ok(())
            }
        }
    }
}

fn wait_for(handle: JoinHandle<()>, limit: Duration) {
    let (done, is_done) = mpsc::sync_channel(1);
    let waiting = thread::Builder::new().name("join".to_owned()).spawn(move || {
        handle.join().ok();
        done.send(()).ok();
    });
    if waiting.is_ok() && is_done.recv_timeout(limit).is_err() {
        tracing::warn!("leaving before the drain has finished; its file waits in the spool");
    }
}

/// Runs one pass. A pass that panics is over too, or no other would ever begin.
fn drain_once(opened: &Opened, face: &Face) -> Event {
    let _storing = face.storing();
    let later = Event::Drained { n_pending: 0, look_again_in: Some(Duration::from_secs(60)) };
    let show = |ingested: Ingested, n_pending| {
        face.show_pending(n_pending);
        face.add(ingested.stored, ingested.set_aside);
    };
    let passed = catch_unwind(AssertUnwindSafe(|| opened.drainer.pass(&show)));
    if opened.engine.is_broken() {
        return Event::WriterBroke;
    }
    match passed {
        Ok(Ok(pass)) => {
            let now = clock::now();
            face.show_drained(pass.n_pending, pass.n_foreign, pass.oldest_pending_at, now);
            if pass.ingested != Ingested::default() {
                opened.sync.ring();
                tracing::info!(?pass.ingested, pending = pass.n_pending, "drained");
            }
            Event::Drained { n_pending: pass.n_pending, look_again_in: pass.look_again_in }
        }
        Ok(Err(error)) => {
            tracing::error!(%error, "reading the spool folder");
            later
        }
        Err(_) => {
            tracing::error!("a drain panicked");
            later
        }
    }
}

/// Builds what the workers run for each call.
fn answerer(
    settings: &Settings,
    store: Arc<OpenStore>,
    face: Arc<Face>,
    events: SyncSender<Event>,
) -> Arc<workers::Answer> {
    let settings = settings.clone();
    Arc::new(move |call: &Call| match call.method.as_str() {
        "hello" => Ok(json!({
            "protocol": PROTOCOL_VERSION,
            "version": env!("CARGO_PKG_VERSION"),
        })),
        "spool_nudge" => {
            events.send(Event::SpoolChanged).ok();
            Ok(json!({"ok": true}))
        }
        "spool_drain" => drain_named(&*store.wait()?, &face, call.params.read()),
        "memory_forget" => {
            let opened = store.wait()?;
            let told = forgetting::forget(&opened, &face, call.params.read());
            opened.sync.ring();
            told
        }
        "memory_forget_asked" => {
            let opened = store.wait()?;
            let told = forgetting::forget_asked(&opened, &face, call.params.read());
            opened.sync.ring();
            told
        }
        "set_aside_clear" => clear_set_aside(&*store.wait()?, &face, call.params.read()),
        "secrets_scan" => {
            scanning::scan(&*store.wait()?, &settings.secrets_now(), call.params.read())
        }
        "secrets_fix" => {
            let secrets = settings.secrets_now();
            scanning::fix(&*store.wait()?, &face, &secrets, call.params.read())
        }
        "model_use" => {
            let name = call.params.read().get("name").and_then(Value::as_str).unwrap_or_default();
            store.wait()?.models.use_model(name)
        }
        "reflection_run" => Ok(store.wait()?.reflection.ask(ReflectionOccasion::Wish)?),
        "model_status" => Ok(store.wait()?.models.show()),
        "turns_check_file" => check_file(&*store.wait()?, &settings.home, call.params.read()),
        "spool_show" => {
            let name = spool_name(call.params.read())?;
            let turns = store.wait()?.drainer.preview(name);
            let turns = turns.map_err(|error| Failure::new(code::FAILED, format!("{error:#}")))?;
            Ok(handlers::turns::preview(&turns))
        }
        _ => answer_from_store(&settings, &*store.wait()?, &face, &events, call),
    })
}

/// Answers what only needs the store, or the vaults.
fn answer_from_store(
    settings: &Settings,
    opened: &Opened,
    face: &Face,
    events: &SyncSender<Event>,
    call: &Call,
) -> Result<Value, Failure> {
    let method = call.method.as_str();
    let about_vaults = match &call.params {
        Params::Read(params) => sync::answer(&opened.sync, &opened.engine, method, params),
        Params::Written(_) => None,
    };
    if let Some(answer) = about_vaults {
        return answer;
    }
    // Whoever asks for quiet work must not be what it makes way for.
    let _asking = (!handlers::is_quiet(method)).then(|| opened.engine.asking());
    let (engine, now) = (&opened.engine, clock::now());
    let secrets = match handlers::is_write(method) {
        true => settings.secrets_now(),
        false => SecretPolicy::default(),
    };
    let _storing = handlers::is_write(method).then(|| face.storing());
    let answer = match &call.params {
        Params::Written(turns) => handlers::turns::answer(engine, method, turns, now),
        Params::Read(params) => handlers::answer(engine, &secrets, method, params, now),
    };
    if opened.engine.is_broken() {
        events.send(Event::WriterBroke).ok();
    }
    if let Ok(answer) = &answer {
        face.add(handlers::n_stored_by(method, answer), 0);
        if let Params::Read(params) = &call.params {
            face.add_tokens(handlers::n_tokens_by(method, params, answer));
        }
    }
    if handlers::is_write(method) {
        opened.sync.ring();
    }
    answer
}

/// Drains one file now, for `capture-transcript` without `--no-spawn`.
fn drain_named(opened: &Opened, face: &Face, params: &Value) -> Result<Value, Failure> {
    let _storing = face.storing();
    let drained = opened.drainer.drain_named(spool_name(params)?);
    let (ingested, news) =
        drained.map_err(|error| Failure::new(code::FAILED, format!("{error:#}")))?;
    face.add(news.stored, news.set_aside);
    Ok(json!(ingested))
}

/// Deletes the lines set aside that somebody has seen; what came before or after them stays.
fn clear_set_aside(opened: &Opened, face: &Face, params: &Value) -> Result<Value, Failure> {
    let number = |name: &str| {
        params.get(name).and_then(Value::as_u64).ok_or_else(|| {
            let why = format!("`{name}` must be the number of a line set aside");
            Failure::new(code::BAD_PARAMS, why)
        })
    };
    let seen = number("from")?..=number("through")?;
    let n_cleared = opened.engine.clear_set_aside(seen, clock::now())?;
    forgetting::show_counts(opened, face);
    Ok(json!({"cleared": n_cleared}))
}

/// Looks for turns that did not fit into a message.
fn check_file(opened: &Opened, home: &Home, params: &Value) -> Result<Value, Failure> {
    let turns = opened.drainer.read_turns(&home.capture_state(), spool_name(params)?);
    let turns = turns.map_err(|error| Failure::new(code::FAILED, format!("{error:#}")))?;
    let found = opened.engine.missing_turns(&turns)?;
    Ok(json!({"missing": found.missing, "forgotten": found.n_forgotten}))
}

/// A name comes from outside: it must not lead out of the spool.
fn spool_name(params: &Value) -> Result<&str, Failure> {
    let name = params.get("file").and_then(Value::as_str).unwrap_or_default();
    if name.is_empty() || name.contains('/') {
        return Err(Failure::new(code::BAD_PARAMS, "`file` must be the name of a spool file"));
    }
    Ok(name)
}

/// Keeps every daemon away from the store for as long as the value lives; an error while one runs.
pub(crate) fn hold_store(home: &Home) -> anyhow::Result<impl Sized + use<>> {
    let root = home.root().to_owned();
    ensure_private_folder(&root).map_err(|source| UnusableFolder { path: root, source })?;
    Ok(Singleton::take(home)?)
}

/// Tells whether an error is about the store or its key.
pub(crate) fn is_store_error(error: &(dyn std::error::Error + 'static)) -> bool {
    error.is::<MemoryError>() || error.is::<StoreError>()
}

/// Whether an error only says that something stands where something new was to be made.
pub(crate) fn is_taken_place(error: &(dyn std::error::Error + 'static)) -> bool {
    match (error.downcast_ref::<MemoryError>(), error.downcast_ref::<StoreError>()) {
        (Some(MemoryError::Store(error)), _) | (_, Some(error)) => error.is_taken_place(),
        (Some(_) | None, None) => false,
    }
}
