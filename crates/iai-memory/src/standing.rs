//! What the user says holds for good: who they are, and which memories stay in sight.

use iai_store::{ExportedDeed, MemoryId, NewEvent, Reach, Severity, Writing};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};
use crate::shelf::MemoryView;
use crate::trust::distrust;

/// More pins than this keep nothing in sight.
pub(crate) const PINS_MAX: usize = 100;

/// Whether the user knows that words to be pinned give orders to the assistant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// Nobody asked them.
    NotAsked,
    /// They said yes.
    Given,
}

/// What became of a pin.
#[derive(Debug, Serialize)]
pub struct PinAnswer {
    /// The memory.
    pub record_id: MemoryId,
    /// Whether it is pinned now.
    pub pinned: bool,
    /// Where it is told: `project`, `everywhere`, or nowhere.
    pub reach: Option<&'static str>,
}

impl MemoryEngine {
    /// Returns who the user is, in their own words.
    pub fn identity(&self) -> Result<Option<String>> {
        self.read(|reader| Ok(reader.identity()?))
    }

    /// Writes down who the user is; an empty text takes it back.
    pub fn set_identity(&self, text: &str, now: Timestamp) -> Result<()> {
        let text = text.trim();
        if self.identity()?.unwrap_or_default() == text {
            return Ok(());
        }
        self.write(|writing| {
            writing.set_identity(text, now)?;
            let data = json!({"chars": text.chars().count()});
            writing.event(&event("identity_updated", data, Vec::new(), now))?;
            Ok(())
        })
    }

    /// Keeps a memory in sight at the beginning of every session: of its project, or of all.
    /// One that gives orders to the assistant only with the user's consent to exactly that.
    pub fn pin(
        &self,
        id: &str,
        (reach, consent): (Reach, Consent),
        now: Timestamp,
    ) -> Result<PinAnswer> {
        let record_id = self.find(id)?;
        let memory = self.read(|reader| Ok(reader.memory(record_id)?))?;
        let doubt = memory.and_then(|memory| distrust(&memory.text));
        if let (Some(why), Consent::NotAsked) = (doubt, consent) {
            let why = format!("{why}, and every session would begin with it; pin it with `--yes`");
            return Err(MemoryError::bad("id", why));
        }
        let n_pinned = self.read(|reader| Ok(reader.n_pinned()?))?;
        if PINS_MAX <= n_pinned {
            let why = format!("would be pin {}; unpin one of them first", n_pinned + 1);
            return Err(MemoryError::bad("id", why));
        }
        self.write(|writing| {
            writing.pin(record_id, reach, now)?;
            let data = json!({"pinned": true, "reach": reach.as_str()});
            writing.event(&event("pin_updated", data, vec![record_id], now))?;
            Ok(())
        })?;
        Ok(PinAnswer { record_id, pinned: true, reach: Some(reach.as_str()) })
    }

    /// Lets a memory go out of sight; it stays stored.
    pub fn unpin(&self, id: &str, now: Timestamp) -> Result<PinAnswer> {
        let record_id = self.find(id)?;
        self.write(|writing| {
            writing.unpin(record_id)?;
            let data = json!({"pinned": false});
            writing.event(&event("pin_updated", data, vec![record_id], now))?;
            Ok(())
        })?;
        Ok(PinAnswer { record_id, pinned: false, reach: None })
    }

    /// Returns the pinned memories, the latest pin first.
    pub fn pins(&self) -> Result<Vec<MemoryView>> {
        self.read(|reader| Ok(crate::shelf::views(reader.all_pinned(PINS_MAX)?)))
    }
}

/// Pins what holds now in the place of what it corrects, where that is pinned. Words that give
/// orders to the assistant nobody has consented to: for them the pin stays where it is.
pub(crate) fn carry_pin(
    writing: &Writing<'_>,
    corrected: &[MemoryId],
    (correction, text): (MemoryId, &str),
    now: Timestamp,
) -> Result<()> {
    if distrust(text).is_some() {
        return Ok(());
    }
    let mut carried = None;
    for id in corrected {
        let pin = writing.read().exported_pin(*id)?;
        let Some(ExportedDeed::Pin { reach, pinned_at, .. }) = pin else { continue };
        // The old one first: together they never are more than there may be.
        writing.unpin(*id)?;
        let data = json!({"pinned": false});
        writing.event(&event("pin_updated", data, vec![*id], now))?;
        carried = carried.or(Some((reach, pinned_at)));
    }
    if let Some((reach, pinned_at)) = carried {
        writing.pin(correction, reach, pinned_at)?;
        let data = json!({"pinned": true, "reach": reach.as_str()});
        writing.event(&event("pin_updated", data, vec![correction], now))?;
    }
    Ok(())
}

fn event(kind: &str, data: Value, sources: Vec<MemoryId>, at: Timestamp) -> NewEvent {
    NewEvent {
        kind: kind.to_owned(),
        severity: Some(Severity::Info),
        domain: Some("profile".to_owned()),
        at,
        data,
        session: None,
        sources,
    }
}
