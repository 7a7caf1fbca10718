//! Puts turns into a daemon the way `import` does: batches of one session over the socket.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use iai_wire::{SpoolEvent, SpoolHeader};
use serde_json::json;

use crate::client::Client;
use crate::clock;
use crate::fields::Fields as _;
use crate::import::{BATCH_BYTES_MAX, BATCH_TURNS_MAX};

/// Gathers turns into batches and sends them.
pub(super) struct Loader<'a> {
    client: Client,
    session: String,
    events: Vec<SpoolEvent>,
    n_bytes: usize,
    /// Told the id of each stored memory, in the order the turns were pushed.
    stored: &'a mut dyn FnMut(&str),
    /// What the daemon took to store everything so far.
    pub(super) took: Duration,
    pub(super) n_stored: u64,
}

impl<'a> Loader<'a> {
    pub(super) fn new(client: Client, stored: &'a mut dyn FnMut(&str)) -> Self {
        Self {
            client,
            session: String::new(),
            events: Vec::new(),
            n_bytes: 0,
            stored,
            took: Duration::ZERO,
            n_stored: 0,
        }
    }

    /// Adds a turn; it is stored at the latest by `flush`.
    pub(super) fn push(&mut self, session: &str, event: SpoolEvent) -> anyhow::Result<()> {
        let is_full = BATCH_TURNS_MAX <= self.events.len()
            || BATCH_BYTES_MAX <= self.n_bytes + event.text.len();
        if is_full || self.session != session {
            self.flush()?;
            session.clone_into(&mut self.session);
        }
        self.n_bytes += event.text.len();
        self.events.push(event);
        Ok(())
    }

    /// Stores what waits. When this returns, it is on disk.
    pub(super) fn flush(&mut self) -> anyhow::Result<()> {
        let events = std::mem::take(&mut self.events);
        self.n_bytes = 0;
        if events.is_empty() {
            return Ok(());
        }
        let header = SpoolHeader::new(&self.session, "", &clock::now().to_string());
        let params = json!({"header": header, "events": events, "tell_ids": true});
        let begun = Instant::now();
        let done = self.client.call_daemon("turns_store", &params).context("storing turns")?;
        self.took += begun.elapsed();
        self.n_stored += done.at("stored").as_u64().unwrap_or(0);
        let ids = done.at("ids").as_array().map_or(&[][..], Vec::as_slice);
        if ids.len() != events.len() {
            bail!("{} of {} turns were not stored: {done}", events.len() - ids.len(), events.len());
        }
        ids.iter().filter_map(|id| id.as_str()).for_each(&mut self.stored);
        Ok(())
    }
}
