//! Looks for secrets in what is stored already, by the rules of the hook, and replaces them.
//!
//! Says of a secret its kind, its mark and where it stands, never what it is.

use iai_memory::{MemoryEngine, Replacement, StoredText};
use iai_wire::code;
use serde_json::{Value, json};

use super::face::Face;
use super::forgetting;
use super::handlers::{self, Failure};
use super::opening::Opened;
use crate::capture::{SecretPolicy, secret_marks, without_secrets};
use crate::clock;
use crate::fields::Fields as _;

/// Memories looked at in one call.
const MEMORIES_PER_CALL: usize = 2000;
/// Memories replaced in one call.
const REPLACED_PER_CALL_MAX: usize = 500;

/// Looks at the next memories, or at what is kept beside them.
pub(super) fn scan(
    opened: &Opened,
    secrets: &SecretPolicy,
    params: &Value,
) -> Result<Value, Failure> {
    let after = params.at("after").as_u64().and_then(|after| u32::try_from(after).ok());
    let after = after.unwrap_or(0);
    let texts = opened.engine.texts_after(after, MEMORIES_PER_CALL)?;
    let mut found: Vec<Value> = texts.iter().flat_map(|text| in_memory(text, secrets)).collect();
    let next = texts.last().map(|text| text.number);
    if after == 0 {
        found.extend(beside(opened, secrets)?);
    }
    Ok(json!({"found": found, "scanned": texts.len(), "next": next}))
}

/// Replaces the texts of memories with the same words without their secrets.
pub(super) fn fix(
    opened: &Opened,
    face: &Face,
    secrets: &SecretPolicy,
    params: &Value,
) -> Result<Value, Failure> {
    let cleaning = SecretPolicy { is_off: false, ..secrets.clone() };
    let engine = &opened.engine;
    if let Some(identity) = engine.identity()? {
        engine.set_identity(&without_secrets(&identity, &cleaning).text, clock::now())?;
    }
    let ids = params.at("ids").as_array().map(Vec::as_slice).unwrap_or_default();
    if REPLACED_PER_CALL_MAX < ids.len() {
        let why = format!("`ids` are {}; at most {REPLACED_PER_CALL_MAX} at once", ids.len());
        return Err(Failure::new(code::BAD_PARAMS, why));
    }
    let mut replacements = Vec::new();
    for id in ids.iter().filter_map(Value::as_str) {
        replacements.extend(replacement(engine, id, &cleaning)?);
    }
    if replacements.is_empty() {
        return Ok(json!({"is_finished": true, "forgotten": 0, "left": 0, "failed": null}));
    }
    let receipt = engine.replace_texts(&replacements, clock::now())?;
    forgetting::go_on(opened)?;
    let told = handlers::progress(engine, receipt)?;
    forgetting::show_counts(opened, face);
    Ok(told)
}

fn replacement(
    engine: &MemoryEngine,
    id: &str,
    cleaning: &SecretPolicy,
) -> Result<Option<Replacement>, Failure> {
    let Some(stored) = engine.stored_text(id)? else { return Ok(None) };
    let text = without_secrets(&stored.text, cleaning).text.into_owned();
    let cue = stored.cue.as_deref().map(|cue| without_secrets(cue, cleaning).text.into_owned());
    let said = stored.provenance.to_string();
    let provenance = without_secrets(&said, cleaning).text;
    let provenance = serde_json::from_str(&provenance).unwrap_or_else(|_| json!({}));
    let is_same = text == stored.text && cue == stored.cue && provenance == stored.provenance;
    Ok((!is_same).then_some(Replacement { id: stored.id, text, cue, provenance }))
}

fn in_memory(stored: &StoredText, secrets: &SecretPolicy) -> Vec<Value> {
    let provenance = stored.provenance.to_string();
    let cue = stored.cue.as_deref().unwrap_or_default();
    let places = [("text", stored.text.as_str()), ("cue", cue), ("provenance", &provenance)];
    let mut found = Vec::new();
    for (place, text) in places {
        for (kind, mark) in secret_marks(text, secrets) {
            found.push(json!({
                "kind": kind, "mark": mark, "place": place,
                "record_id": stored.id.to_string(), "ts": stored.turn_at.to_string(),
                "session_id": stored.session,
            }));
        }
    }
    found
}

/// What is kept beside the memories: who the user is, and what waits or was set aside in the spool.
fn beside(opened: &Opened, secrets: &SecretPolicy) -> Result<Vec<Value>, Failure> {
    let mut found = Vec::new();
    let mut look = |place: String, text: &str| {
        for (kind, mark) in secret_marks(text, secrets) {
            found.push(json!({"kind": kind, "mark": mark, "place": place, "record_id": null}));
        }
    };
    if let Some(identity) = opened.engine.identity()? {
        look("identity".to_owned(), &identity);
    }
    for (name, turns) in opened.drainer.waiting_turns() {
        for turn in turns {
            look(format!("spool file {name}"), &turn.text);
        }
    }
    Ok(found)
}
