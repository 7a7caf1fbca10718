//! The thread that exchanges with the remotes of vaults. Without a vault there is no thread, and
//! nothing is ever connected.
//!
//! One more thread per remote waits there for news and rings; what is exchanged, and when to begin
//! anew, the engine knows.

mod asked;

pub(super) use asked::answer;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use iai_memory::{
    ExchangeError, ExchangeWork, Exchanged, MemoryEngine, MemoryError, SyncIdentity, VaultView,
};
use iai_sync::{MachineId, MachineKey, RandomError, Remote as _, RemoteError, VaultId, random};
use jiff::Timestamp;
use serde_json::json;

use super::face::Face;
use super::forgetting::Forgetter;
use crate::clock;
use crate::sync::remote::{self, Place};

/// How long a remote is listened to before it is asked anyway.
const LISTEN_PATIENCE: Duration = Duration::from_secs(60);
/// A remote that is away is tried again after so long, and then after twice that, …
const RETRY_FIRST: Duration = Duration::from_secs(5);
/// … up to this.
const RETRY_LAST: Duration = Duration::from_secs(300);
/// Several changes in a row travel together.
const GATHER: Duration = Duration::from_millis(300);
/// Memories that wait for their vectors are looked at again.
const VECTORS_WAIT: Duration = Duration::from_secs(5);

/// The way to the thread.
pub(super) struct Syncing {
    shared: Arc<Shared>,
}

struct Shared {
    engine: Arc<MemoryEngine>,
    forgetter: Arc<Forgetter>,
    face: Arc<Face>,
    is_stopping: Arc<AtomicBool>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_running: bool,
    /// Counts wishes for an exchange …
    n_rung: u64,
    /// … and which of them are done.
    n_done: u64,
    /// Addresses that are listened to.
    listening: BTreeSet<String>,
    /// What the last exchange with each vault did, and when it ended well.
    last: BTreeMap<String, (Exchanged, Timestamp)>,
}

impl Syncing {
    /// Begins to exchange, where there is a vault.
    pub(super) fn start(
        engine: Arc<MemoryEngine>,
        forgetter: Arc<Forgetter>,
        face: Arc<Face>,
        is_stopping: Arc<AtomicBool>,
    ) -> anyhow::Result<Self> {
        let state = Mutex::default();
        let changed = Condvar::new();
        let shared = Shared { engine, forgetter, face, is_stopping, state, changed };
        let syncing = Self { shared: Arc::new(shared) };
        if !syncing.shared.engine.sync_status()?.vaults.is_empty() {
            syncing.run()?;
        }
        Ok(syncing)
    }

    /// Says that something changed here; costs nothing where there is no vault.
    pub(super) fn ring(&self) {
        if self.shared.state().is_running {
            self.shared.ring();
        }
    }

    /// Ends the thread soon: a remote may have to answer first.
    pub(super) fn stop(&self) {
        self.shared.changed.notify_all();
    }

    /// Has an exchange done now, and returns its number.
    fn run(&self) -> anyhow::Result<u64> {
        let mut state = self.shared.state();
        state.n_rung += 1;
        let number = state.n_rung;
        if !state.is_running {
            let shared = Arc::clone(&self.shared);
            thread::Builder::new()
                .name("sync".to_owned())
                .spawn(move || shared.work())
                .context("starting the thread that exchanges with other machines")?;
            state.is_running = true;
        }
        drop(state);
        self.shared.changed.notify_all();
        Ok(number)
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self) {
        self.state().n_rung += 1;
        self.changed.notify_all();
    }

    fn must_stop(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// Exchanges whenever somebody rings, until the daemon leaves or there is no vault any more.
    fn work(self: Arc<Self>) {
        let mut places: BTreeMap<String, Place> = BTreeMap::new();
        let mut retry = RETRY_FIRST;
        while !self.must_stop() {
            let n_rung = self.state().n_rung;
            let vaults = match self.engine.sync_status() {
                Ok(status) if status.vaults.is_empty() => {
                    if self.has_ended(n_rung) {
                        return;
                    }
                    continue;
                }
                Ok(status) => status.vaults,
                Err(error) => {
                    tracing::error!(%error, "reading the vaults");
                    Vec::new()
                }
            };
            let mut is_well = !vaults.is_empty();
            for vault in &vaults {
                is_well &= self.exchange(vault, &mut places);
                self.listen(&vault.address);
            }
            let mut state = self.state();
            state.n_done = state.n_done.max(n_rung);
            drop(state);
            self.changed.notify_all();
            retry = if is_well { RETRY_FIRST } else { retry.saturating_mul(2).min(RETRY_LAST) };
            self.wait(n_rung, if is_well { self.next_look() } else { Some(retry) });
        }
        self.state().is_running = false;
        self.changed.notify_all();
    }

    /// Ends where there is no vault, unless somebody has rung since that was looked at: it may be
    /// for a new one.
    fn has_ended(&self, n_rung: u64) -> bool {
        let mut state = self.state();
        if state.n_rung != n_rung {
            return false;
        }
        state.is_running = false;
        state.n_done = n_rung;
        drop(state);
        self.changed.notify_all();
        true
    }

    /// Memories without vectors are told a little later; nothing else needs a look without a ring.
    fn next_look(&self) -> Option<Duration> {
        let is_behind = self.engine.sync_is_behind().unwrap_or(false);
        is_behind.then_some(VECTORS_WAIT)
    }

    fn wait(&self, n_rung: u64, limit: Option<Duration>) {
        let is_quiet = |state: &mut State| state.n_rung == n_rung && !self.must_stop();
        let state = self.state();
        let rung = match limit {
            None => self.changed.wait_while(state, is_quiet).is_ok(),
            Some(limit) => self
                .changed
                .wait_timeout_while(state, limit, is_quiet)
                .is_ok_and(|(_, waited)| !waited.timed_out()),
        };
        if rung {
            self.rest(GATHER);
        }
    }

    /// Waits, unless the daemon leaves.
    fn rest(&self, limit: Duration) {
        let is_staying = |_: &mut State| !self.must_stop();
        drop(self.changed.wait_timeout_while(self.state(), limit, is_staying));
    }

    /// Waits until an exchange is done, or the limit is over.
    fn wait_for(&self, number: u64, limit: Duration) {
        let is_under_way = |state: &mut State| state.n_done < number && !self.must_stop();
        drop(self.changed.wait_timeout_while(self.state(), limit, is_under_way));
    }

    /// Exchanges with one vault; false when it has to be tried again.
    fn exchange(&self, vault: &VaultView, places: &mut BTreeMap<String, Place>) -> bool {
        let _storing = self.face.storing();
        let done = self.try_exchange(vault, places);
        let trouble = match &done {
            Ok(done) => done.renamed.as_ref().map(|why| format!("began a new chain: {why}")),
            Err(error) => Some(error.to_string()),
        };
        match &done {
            Ok(done) => self.tell(vault, done),
            Err(error) => tracing::warn!(vault = vault.name, %error, "exchanging"),
        }
        let is_news = trouble != vault.trouble || vault.heard_at.is_none();
        if is_news
            && let Err(error) =
                self.engine.sync_note(vault.number, trouble.as_deref(), clock::now())
        {
            tracing::warn!(%error, "noting how a vault is");
        }
        let id = vault.id.clone();
        match done {
            Ok(done) => {
                self.state().last.insert(id, (done, clock::now()));
                true
            }
            // Nothing will be better by trying: somebody has to change something.
            Err(ExchangeError::Remote(RemoteError::Refused(_))) => true,
            Err(_) => {
                places.remove(&vault.address);
                false
            }
        }
    }

    fn try_exchange(
        &self,
        vault: &VaultView,
        places: &mut BTreeMap<String, Place>,
    ) -> Result<Exchanged, ExchangeError> {
        let place = match places.entry(vault.address.clone()) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(free) => {
                free.insert(remote::open(&vault.address)?)
            }
        };
        let work = ExchangeWork {
            clock: &clock::now,
            draw_name: &draw_name,
            must_stop: &|| self.must_stop(),
        };
        self.engine.sync_exchange(vault.number, place, &work)
    }

    fn tell(&self, vault: &VaultView, done: &Exchanged) {
        self.face.add(done.new_memories, 0);
        if done.receipt.is_some()
            && let Err(error) = self.forgetter.go_on()
        {
            tracing::error!("forgetting what others forgot: {error:#}");
        }
        if *done == Exchanged::default() {
            return;
        }
        tracing::info!(vault = vault.name, ?done, "exchanged");
        let mut data = json!(done);
        if let Some(data) = data.as_object_mut() {
            data.insert("vault".to_owned(), json!(vault.name));
        }
        if let Err(error) = self.engine.record_event("sync_exchanged", data, clock::now()) {
            tracing::warn!(%error, "noting an exchange");
        }
    }

    /// Has somebody wait for news at an address, once.
    fn listen(self: &Arc<Self>, address: &str) {
        if !self.state().listening.insert(address.to_owned()) {
            return;
        }
        let (shared, address) = (Arc::clone(self), address.to_owned());
        let thread = thread::Builder::new().name("sync-listen".to_owned());
        if let Err(error) = thread.spawn(move || shared.listen_until_stopped(&address)) {
            tracing::warn!(%error, "no thread that listens for other machines");
        }
    }

    fn listen_until_stopped(&self, address: &str) {
        let mut place = None;
        let mut retry = RETRY_FIRST;
        while !self.must_stop() {
            let vaults = self.vaults_at(address);
            if vaults.is_empty() {
                break;
            }
            match hear(&mut place, address, &vaults) {
                Ok(()) => {
                    retry = RETRY_FIRST;
                    self.ring();
                }
                Err(_) => {
                    place = None;
                    self.rest(retry);
                    retry = retry.saturating_mul(2).min(LISTEN_PATIENCE);
                }
            }
        }
        self.state().listening.remove(address);
    }

    fn vaults_at(&self, address: &str) -> Vec<VaultId> {
        let vaults = self.engine.sync_status().map(|status| status.vaults).unwrap_or_default();
        let here = vaults.into_iter().filter(|vault| vault.address == address);
        here.filter_map(|vault| vault.id.parse().ok()).collect()
    }
}

/// Waits at a place for news of vaults. News is of what was asked for there, so each is asked for.
fn hear(place: &mut Option<Place>, address: &str, vaults: &[VaultId]) -> Result<(), RemoteError> {
    let place = match place {
        Some(place) => place,
        None => place.insert(remote::open(address)?),
    };
    for vault in vaults {
        place.heads(*vault)?;
    }
    place.wait(LISTEN_PATIENCE)
}

/// Draws who this machine is.
fn draw_identity(name: String) -> Result<SyncIdentity, MemoryError> {
    let key = random().map_err(|error| no_randomness(&error))?;
    Ok(SyncIdentity { id: draw_name()?, name, key: MachineKey::from_bytes(&key) })
}

fn draw_name() -> Result<MachineId, MemoryError> {
    random().map(MachineId::from_random).map_err(|error| no_randomness(&error))
}

fn no_randomness(error: &RandomError) -> MemoryError {
    MemoryError::BadParameter { name: "machine", why: error.to_string() }
}
