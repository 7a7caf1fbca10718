//! Bodies of operations: lines of an export, and vectors as bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use iai_store::{
    ExportedDeed, ExportedMemory, Link, LinkKind, MemoryId, Model, ModelState, Part, Reach, Reader,
};
use iai_sync::CarriedVectors;
use jiff::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::error::{MemoryError, Result};
use crate::export::Line;

/// A body that was read: what it says.
pub(super) enum Body {
    Memory(Box<ExportedMemory>),
    Pin { reach: Reach, at: Timestamp },
    Profile { knob: String, value: Value, at: Timestamp },
    Identity { text: String, at: Timestamp },
    Link(Link),
}

/// Writes a memory as a body; for a team under the name it gave the project, without a folder.
pub(super) fn of_memory(
    mut exported: ExportedMemory,
    project: Option<&str>,
) -> Result<Box<RawValue>> {
    if let Some(project) = project {
        exported.memory.project = Some(project.to_owned());
        exported.memory.cwd = None;
    }
    // It follows from the corrections, and they travel by themselves.
    exported.memory.valid_to = None;
    raw(&Line::of_memory(exported)?)
}

pub(super) fn of_deed(deed: ExportedDeed) -> Result<Box<RawValue>> {
    raw(&Line::of_deed(deed))
}

pub(super) fn of_profile(
    knob: String,
    value: Value,
    updated_at: Timestamp,
) -> Result<Box<RawValue>> {
    raw(&Line::Profile { knob, value, updated_at })
}

pub(super) fn of_identity(text: String, updated_at: Timestamp) -> Result<Box<RawValue>> {
    raw(&Line::Identity { text, updated_at })
}

/// Reads a body; none where it is nothing this program knows.
pub(super) fn read(body: &RawValue) -> Option<Body> {
    Some(match Line::parse(body.get()).ok()? {
        Line::Memory(memory) => Body::Memory(Box::new(memory.to_exported().ok()?)),
        Line::Identity { text, updated_at: at } => Body::Identity { text, at },
        Line::Profile { knob, value, updated_at: at } => Body::Profile { knob, value, at },
        line => match line.to_deed().ok()? {
            ExportedDeed::Pin { reach, pinned_at: at, .. } => Body::Pin { reach, at },
            ExportedDeed::Link { src, dst, kind, weight, created_at, touched_at } => {
                Body::Link(Link { src, dst, kind, weight, created_at, touched_at })
            }
            ExportedDeed::LinkSession { .. } | ExportedDeed::Use { .. } => return None,
        },
    })
}

/// Returns the name under which a link travels.
pub(super) fn link_name(kind: LinkKind, src: MemoryId, dst: MemoryId) -> String {
    format!("link:{kind}:{src}:{dst}")
}

pub(super) fn uuid_of(id: MemoryId) -> Uuid {
    Uuid::from_bytes(*id.as_bytes())
}

pub(super) fn id_of(uuid: Uuid) -> MemoryId {
    MemoryId::from_bytes(uuid.into_bytes())
}

/// Returns the model whose vectors travel along.
pub(super) fn serving(reader: &Reader) -> Result<Option<Model>> {
    let models = reader.models()?;
    Ok(models.into_iter().find(|model| model.state == ModelState::Serving))
}

/// Everything that makes the vectors of one model incomparable with those of another.
pub(super) fn model_name(model: &Model) -> String {
    let facts = &model.facts;
    let hex: String = facts.sha256.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{hex} {} {} {} {}", facts.pooling, facts.dimension, facts.n_tokens_max, facts.prefix)
}

/// A component of the largest size; the others in proportion.
const LARGEST: f32 = 127.0;

pub(super) fn of_vectors(model: &Model, parts: &[Part]) -> CarriedVectors {
    let of_part = |part: &Part| {
        let largest = part.vector.iter().fold(f32::MIN_POSITIVE, |max, x| max.max(x.abs()));
        #[expect(clippy::cast_possible_truncation, reason = "from -127 to 127 by construction")]
        let byte = |x: &f32| (x / largest * LARGEST).round() as i8;
        let bytes: Vec<u8> = part.vector.iter().map(|x| byte(x).cast_unsigned()).collect();
        (u64::from(part.start), u64::from(part.end), BASE64.encode(bytes))
    };
    CarriedVectors { model: model_name(model), parts: parts.iter().map(of_part).collect() }
}

/// Reads vectors that fit a model and a text; none where anything about them is odd: they can be
/// made again.
pub(super) fn read_vectors(
    model: &Model,
    carried: &CarriedVectors,
    text: &str,
) -> Option<Vec<Part>> {
    if carried.model != model_name(model) || carried.parts.is_empty() {
        return None;
    }
    let read = |(start, end, encoded): &(u64, u64, String)| {
        let bytes = BASE64.decode(encoded).ok()?;
        let whole: Vec<f32> = bytes.iter().map(|byte| f32::from(byte.cast_signed())).collect();
        let length = whole.iter().map(|x| x * x).sum::<f32>().sqrt();
        let is_sound = bytes.len() == usize::from(model.facts.dimension) && 0.0 < length;
        let (start, end) = (u32::try_from(*start).ok()?, u32::try_from(*end).ok()?);
        let is_within = start <= end && usize::try_from(end).ok()? <= text.len();
        let vector = whole.into_iter().map(|x| x / length).collect();
        (is_sound && is_within).then_some(Part { start, end, vector })
    };
    carried.parts.iter().map(read).collect()
}

fn raw(line: &Line) -> Result<Box<RawValue>> {
    RawValue::from_string(line.to_text()?)
        .map_err(|error| MemoryError::bad("operation", error.to_string()))
}
