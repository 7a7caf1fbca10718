//! Values of which the later one holds, and links.

use iai_store::{Difference, LinkKind, MemoryId, NewDispute, Settlement, StoreError, VaultKind};
use iai_sync::{Operation, Stamped};

use super::Taking;
use crate::error::Result;
use crate::sync::bodies::{self, Body};

impl Taking<'_, '_> {
    /// Sets a value of which the later one holds, or joins a link.
    pub(super) fn set(&mut self, stamped: Stamped) -> Result<()> {
        let Operation::Set { name, of, body } = stamped.operation else { return Ok(()) };
        let body = match body {
            None => None,
            Some(body) => match bodies::read(&body) {
                Some(body) => Some(body),
                None => return self.odd(),
            },
        };
        if let Some(Body::Link(link)) = body {
            return self.link(&link);
        }
        // A team shares no pins, no profile and nobody's identity.
        if self.vault().kind == VaultKind::Team {
            return self.odd();
        }
        let stamp = (stamped.stamp.at, *stamped.stamp.by.as_bytes());
        if !self.writing.note_sync_value(&name, stamp)? {
            return Ok(());
        }
        let writing = self.writing;
        let memory = of.first().map(|uuid| bodies::id_of(*uuid));
        match (name.split_once(':'), memory, body) {
            (Some(("pin", _)), Some(id), Some(Body::Pin { reach, at })) => {
                writing.pin(id, reach, at)?;
            }
            (Some(("pin", _)), Some(id), None) => writing.unpin(id)?,
            (Some(("profile", _)), None, Some(Body::Profile { knob, value, at })) => {
                writing.set_profile(&knob, &value, at)?;
            }
            (Some(("profile", knob)), None, None) => writing.drop_profile(knob)?,
            (None, None, Some(Body::Identity { text, at })) => writing.set_identity(&text, at)?,
            (None, None, None) if name == "identity" => writing.set_identity("", self.now)?,
            _ => return self.odd(),
        }
        Ok(())
    }

    fn link(&mut self, link: &iai_store::Link) -> Result<()> {
        let is_correction = link.kind == LinkKind::Contradicts;
        let is_learned = link.kind == LinkKind::Hebbian && self.vault().kind == VaultKind::Personal;
        if !is_correction && !is_learned {
            return self.odd();
        }
        match self.writing.join_link(link) {
            Err(StoreError::Refused { .. }) => return self.odd(),
            other => other?,
        }
        if is_correction {
            self.look_for_rivals(link.src)?;
        }
        Ok(())
    }

    /// Two corrections of one memory, made apart: both stay, and somebody has to say which holds.
    fn look_for_rivals(&mut self, corrected: MemoryId) -> Result<()> {
        let reader = self.writing.read();
        if let Some(number) = reader.number_of(corrected)? {
            self.writing.settle_disputes(number, Settlement::Contradicted, self.now)?;
        }
        let mut rivals = reader.numbered(&self.writing.replacements_of(corrected)?)?;
        rivals.retain(|(_, memory)| memory.valid_to.is_none());
        rivals.sort_by_key(|(_, memory)| (memory.turn_at, memory.id));
        for pair in rivals.windows(2) {
            let [(earlier, one), (later, other)] = pair else { continue };
            let dispute = NewDispute {
                earlier: *earlier,
                later: *later,
                what: Difference::Name,
                old_value: one.text.clone(),
                new_value: other.text.clone(),
            };
            self.writing.put_dispute(&dispute, self.now)?;
        }
        Ok(())
    }
}
