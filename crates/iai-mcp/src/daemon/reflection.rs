//! The thread that asks the user's own program to reflect, once a night, if the user wants it.
//!
//! When, about what, and what becomes of the answer the engine knows; this room only runs the
//! program.

mod child;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;

use anyhow::Context as _;
use iai_memory::{MemoryEngine, ReflectionAsk, ReflectionNext, ReflectionOccasion};
use serde_json::{Value, json};

use crate::capture::{IGNORE_FILE, SecretPolicy, fit_to_keep};
use crate::clock;
use crate::home::ensure_private_folder;
use crate::settings::{ReflectionSetting, Settings};
use child::Children;

/// Occasions on their way to the thread; more are the same occasion.
const WAITING_MAX: usize = 1;

/// The way to the thread; without a program there is none.
pub(super) struct Reflection {
    occasions: Option<SyncSender<Box<ReflectionAsk>>>,
    engine: Arc<MemoryEngine>,
    children: Arc<Children>,
}

impl Reflection {
    /// Starts the thread, where the user has named a program.
    pub(super) fn start(engine: Arc<MemoryEngine>, settings: &Settings) -> anyhow::Result<Self> {
        let children = Arc::new(Children::default());
        let Some(setting) = settings.reflection.clone() else {
            return Ok(Self { occasions: None, engine, children });
        };
        let (occasions, inbox) = mpsc::sync_channel(WAITING_MAX);
        let thinking = Thinking {
            engine: Arc::clone(&engine),
            setting,
            folder: settings.home.reflection(),
            secrets: settings.secrets.clone(),
            children: Arc::clone(&children),
        };
        thread::Builder::new()
            .name("reflect".to_owned())
            .spawn(move || thinking.work(&inbox))
            .context("starting the thread that reflects")?;
        Ok(Self { occasions: Some(occasions), engine, children })
    }

    /// Has the program asked if it is time, and tells what becomes of it without waiting.
    pub(super) fn ask(
        &self,
        occasion: ReflectionOccasion,
    ) -> Result<Value, iai_memory::MemoryError> {
        let Some(occasions) = &self.occasions else { return Ok(json!({"state": "off"})) };
        let state = match self.engine.next_reflection(occasion, clock::now())? {
            ReflectionNext::Notes(ask) => {
                occasions.try_send(ask).ok();
                "begun"
            }
            ReflectionNext::Rests => "rests",
            ReflectionNext::NotAtNight => "not_at_night",
            ReflectionNext::NothingNew => "nothing_new",
        };
        Ok(json!({"state": state}))
    }

    /// The same when idle work is over; nobody waits for the answer.
    pub(super) fn ask_when_idle(&self) {
        if let Err(error) = self.ask(ReflectionOccasion::Idle) {
            tracing::warn!(%error, "reflecting");
        }
    }

    /// Ends a program that is still thinking.
    pub(super) fn stop(&self) {
        self.children.end();
    }
}

/// What the thread works with.
struct Thinking {
    engine: Arc<MemoryEngine>,
    setting: ReflectionSetting,
    folder: PathBuf,
    secrets: SecretPolicy,
    children: Arc<Children>,
}

impl Thinking {
    fn work(&self, inbox: &Receiver<Box<ReflectionAsk>>) {
        while let Ok(ask) = inbox.recv() {
            let kept = self.think(&ask);
            let noted = match &kept {
                Ok(()) => Ok(()),
                Err(error) => self.engine.fail_reflection(&format!("{error:#}"), clock::now()),
            };
            match (kept, noted) {
                (Ok(()), _) => tracing::info!("reflected"),
                (Err(error), Ok(())) => tracing::warn!("reflecting: {error:#}"),
                (Err(error), Err(noting)) => tracing::error!(%noting, "reflecting: {error:#}"),
            }
        }
    }

    fn think(&self, ask: &ReflectionAsk) -> anyhow::Result<()> {
        self.ensure_folder().context("making a folder for it")?;
        let text = self.children.run(&self.setting, &self.folder, &ask.notes)?;
        self.engine.keep_reflection(ask, &fit_to_keep(text, &self.secrets).text, clock::now())?;
        Ok(())
    }

    /// The program may be an assistant with our hooks in it: what it says here is not captured.
    fn ensure_folder(&self) -> anyhow::Result<()> {
        ensure_private_folder(&self.folder)?;
        fs::write(self.folder.join(IGNORE_FILE), "")?;
        Ok(())
    }
}
