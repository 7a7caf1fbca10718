//! Writes what an export carries: every field as it was, and nothing over what is there already.

use jiff::Timestamp;
use rusqlite::params;
use serde_json::Value;

use super::{STRENGTH_NEW, Writing, held, weight};
use crate::error::{Result, StoreError};
use crate::index::changes::Prepared;
use crate::record::memory::{Json, Millis};
use crate::record::{ExportedDeed, ExportedMemory, Inserted, Link, MemoryId, NewMemory};

impl Writing<'_> {
    /// Stores an exported memory unless it is there. Its id has to follow from its fields: it is
    /// how everything else names it.
    pub fn import_memory(&self, exported: &ExportedMemory) -> Result<Inserted> {
        let memory = &exported.memory;
        if MemoryId::derive(&memory.identity()) != memory.id {
            let why = format!("{} does not follow from its fields; it was changed", memory.id);
            return Err(StoreError::refused("exported memory", why));
        }
        let strength = weight(memory.strength)?;
        let new = NewMemory {
            host: memory.host.clone(),
            session: memory.session.clone(),
            turn_uuid: memory.turn_uuid.clone(),
            turn_index: memory.turn_index,
            role: memory.role,
            tier: memory.tier,
            project: memory.project.clone(),
            cwd: memory.cwd.clone(),
            turn_at: memory.turn_at,
            captured_at: memory.captured_at,
            text: memory.text.clone(),
            language: memory.language.clone(),
            tags: memory.tags.clone(),
            provenance: memory.provenance.clone(),
            cue: memory.cue.clone(),
            // Told by the pin itself, which knows since when.
            pinned: false,
        };
        let inserted = self.insert_prepared(Prepared::of(&new), memory.stored_at)?;
        let is_as_inserted = strength.to_bits() == STRENGTH_NEW.to_bits()
            && memory.valid_from == memory.turn_at
            && written(&memory.tags).as_deref() == Some(&*exported.tags)
            && written(&memory.provenance).as_deref() == Some(&*exported.provenance);
        if matches!(inserted, Inserted::New(_)) && !is_as_inserted {
            self.reader.run("storing an exported memory", |c| {
                c.prepare_cached(
                    "UPDATE memory SET strength = ?2, valid_from_ms = ?3, tags = ?4, provenance = ?5
                      WHERE uuid = ?1",
                )?
                .execute(params![
                    memory.id,
                    strength,
                    Millis(memory.valid_from),
                    exported.tags,
                    exported.provenance
                ])
                .map(drop)
            })?;
        }
        Ok(inserted)
    }

    /// Stores what a user did. Doing it twice changes nothing.
    pub fn import_deed(&self, deed: &ExportedDeed) -> Result<()> {
        match deed {
            ExportedDeed::Link { src, dst, kind, weight, created_at, touched_at } => {
                self.link(&Link {
                    src: *src,
                    dst: *dst,
                    kind: *kind,
                    weight: *weight,
                    created_at: *created_at,
                    touched_at: *touched_at,
                })
            }
            ExportedDeed::LinkSession { src, dst, session } => {
                let (src, dst) = (self.number(*src)?, self.number(*dst)?);
                self.reader.run("storing who strengthened a link", |c| {
                    c.prepare_cached("INSERT OR IGNORE INTO link_session VALUES (?, ?, ?)")?
                        .execute(params![src, dst, session])
                        .map(drop)
                })
            }
            ExportedDeed::Pin { memory, reach, pinned_at } => self.pin(*memory, *reach, *pinned_at),
            ExportedDeed::Use { memory, n_recalled, n_reinforced, last_at } => {
                let number = self.number(*memory)?;
                let n_recalled = held("number of uses", *n_recalled)?;
                let n_reinforced = held("number of uses", *n_reinforced)?;
                self.reader.run("storing uses", |c| {
                    c.prepare_cached(PUT_USE)?
                        .execute(params![number, n_recalled, n_reinforced, Millis(*last_at)])
                        .map(drop)
                })
            }
        }
    }

    /// Takes over an identity where nobody said who they are.
    pub fn import_identity(&self, text: &str, at: Timestamp) -> Result<()> {
        if self.reader.export_identity()?.is_some() {
            return Ok(());
        }
        self.set_identity(text, at)
    }

    /// Takes over a knob that nobody set.
    pub fn import_profile(&self, knob: &str, value: &Value, at: Timestamp) -> Result<()> {
        self.reader.run("setting the profile", |c| {
            c.prepare_cached("INSERT OR IGNORE INTO profile VALUES (?, ?, ?)")?
                .execute(params![knob, Json(value), Millis(at)])
                .map(drop)
        })
    }
}

const PUT_USE: &str = "
    INSERT INTO memory_use (memory, place, n_recalled, n_reinforced, last_ms)
    SELECT number, place, ?2, ?3, ?4 FROM memory WHERE number = ?1
        ON CONFLICT (memory) DO UPDATE
       SET n_recalled = max(n_recalled, excluded.n_recalled),
           n_reinforced = max(n_reinforced, excluded.n_reinforced),
           last_ms = max(last_ms, excluded.last_ms)";

fn written(value: &impl serde::Serialize) -> Option<String> {
    serde_json::to_string(value).ok()
}
