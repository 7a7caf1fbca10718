//! Replaces the text of memories that hold what must not be kept.
//!
//! A text is written once, so that nobody edits it: the cleaned words become a memory of their
//! own, at the same place of the same session, and the old one is forgotten, with a receipt. A
//! transcript read again gives the cleaned words too, and finds them known.

use iai_store::{
    ForgetReason, ForgetSelection, Inserted, Memory, MemoryId, MemoryNumber, NewMemory,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};

/// Bytes of text in one answer, however few memories that are; at least one memory.
const BYTES_MAX: usize = 4 * 1024 * 1024;
/// What a receipt says instead of the kinds of wishes.
const SELECTION: &str = "secrets";

/// A text as it is stored, with what a report may say about it.
#[derive(Debug, Clone)]
pub struct StoredText {
    /// The number to go on after.
    pub number: u32,
    /// The memory.
    pub id: MemoryId,
    /// When it was said.
    pub turn_at: Timestamp,
    /// In which session.
    pub session: String,
    /// The words.
    pub text: String,
    /// The extra key it is found by.
    pub cue: Option<String>,
    /// What the host said about it.
    pub provenance: Value,
}

/// What a memory is to say instead.
#[derive(Debug, Clone)]
pub struct Replacement {
    /// Which memory.
    pub id: MemoryId,
    /// The words without what must not be kept.
    pub text: String,
    /// The cue without it.
    pub cue: Option<String>,
    /// What the host said, without it.
    pub provenance: Value,
}

impl MemoryEngine {
    /// Returns the next texts, in the order they were stored; none when all were told.
    pub fn texts_after(&self, after: u32, limit: usize) -> Result<Vec<StoredText>> {
        let after = MemoryNumber::new(after);
        let numbers: Vec<MemoryNumber> =
            self.with_index(|index| index.catalogue().after(after).take(limit).collect())?;
        let mut texts = Vec::new();
        let mut n_bytes = 0;
        self.read(|reader| {
            for number in numbers {
                for (number, memory) in reader.numbered(&[number])? {
                    n_bytes += memory.text.len();
                    texts.push(stored(number, memory));
                }
                if BYTES_MAX <= n_bytes {
                    break;
                }
            }
            Ok(texts)
        })
    }

    /// Returns one text; none when there is no such memory.
    pub fn stored_text(&self, id: &str) -> Result<Option<StoredText>> {
        let id = self.find(id)?;
        self.read(|reader| {
            let Some(number) = reader.number_of(id)? else { return Ok(None) };
            let found = reader.numbered(&[number])?.pop();
            Ok(found.map(|(number, memory)| stored(number, memory)))
        })
    }

    /// Stores cleaned words in the place of others and has those forgotten; returns the receipt,
    /// which [`MemoryEngine::work_off_forgetting`] works off.
    pub fn replace_texts(&self, replacements: &[Replacement], now: Timestamp) -> Result<u64> {
        let ids: Vec<MemoryId> = replacements.iter().map(|new| new.id).collect();
        let selection = ForgetSelection { ids: Some(ids), ..ForgetSelection::default() };
        let chosen = self.read(|reader| Ok(reader.selected(&selection)?))?;
        let old: Vec<MemoryNumber> = chosen.iter().map(|chosen| chosen.number).collect();
        self.remember(|writing| {
            for replacement in replacements {
                let unknown = || MemoryError::UnknownMemory { id: replacement.id.to_string() };
                let memory = writing.memory(replacement.id)?.ok_or_else(unknown)?;
                let number = writing.read().number_of(memory.id)?.ok_or_else(unknown)?;
                let inserted = writing.insert(&cleaned(memory, replacement), now)?;
                let (Inserted::New(id) | Inserted::Known(id)) = inserted else { continue };
                if let Some(new) = writing.read().number_of(id)? {
                    writing.take_place(number, new)?;
                }
            }
            Ok(writing.begin_forgetting(&old, SELECTION, ForgetReason::Secret, now)?)
        })
    }
}

fn stored(number: MemoryNumber, memory: Memory) -> StoredText {
    StoredText {
        number: number.get(),
        id: memory.id,
        turn_at: memory.turn_at,
        session: memory.session,
        text: memory.text,
        cue: memory.cue,
        provenance: memory.provenance,
    }
}

fn cleaned(memory: Memory, replacement: &Replacement) -> NewMemory {
    let mut provenance = replacement.provenance.clone();
    if let Some(fields) = provenance.as_object_mut() {
        fields.insert("secrets_removed".to_owned(), json!(true));
    }
    NewMemory {
        host: memory.host,
        session: memory.session,
        turn_uuid: memory.turn_uuid,
        turn_index: memory.turn_index,
        role: memory.role,
        tier: memory.tier,
        project: memory.project,
        cwd: memory.cwd,
        turn_at: memory.turn_at,
        captured_at: memory.captured_at,
        text: replacement.text.clone(),
        language: memory.language,
        tags: memory.tags,
        provenance,
        cue: replacement.cue.clone(),
        pinned: false,
    }
}
